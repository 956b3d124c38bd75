"""C that says how large the buffer of a record is, and how much memory lies in between."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

from layoutdsl.code.native.record_loops import INDENT, extent_text, item_bytes
from layoutdsl.code.placed import Placed
from layoutdsl.code.record_shape import shape_exprs
from layoutdsl.language.integers.bounds import simplify
from layoutdsl.language.integers.expr import Add, Constant, Expr, Mul, substitute
from layoutdsl.language.meaning.bands import rows_along
from layoutdsl.language.meaning.record import Record

PIECE = 1 << 18
"""Bytes of a buffer that are moved at a time, where rows can be told apart."""


def apart(record: Record) -> str | None:
    """Return the extent along which rows know nothing of one another, and are whole bytes each."""
    _, *others = record.parts[0].over_record.coordinates or (None,)
    bits = prod(each.extent.value for each in others if isinstance(each.extent, Constant))
    return rows_along(record) if bits % 8 == 0 else None


def function(record: Record, head: str, body: list[str]) -> list[str]:
    """Return a function that knows the extents of a shape by name, as far as it speaks of them."""
    spoken = set(re.findall(r"\bn_(\w+)", "\n".join(body)))
    names = enumerate(record.frame.symbols)
    known = [f"const int64_t n_{name} = shape[{k}];" for k, name in names if name in spoken]
    silent = [] if known or any("shape" in line for line in body) else ["(void)shape;"]
    return [head, "{", *(INDENT + line for line in [*known, *silent, *body]), "}", ""]


def product_text(exprs: Sequence[Expr]) -> str:
    """Return a product of expressions over extents."""
    return "*".join(f"({extent_text(each)})" for each in exprs) or "1"


def bytes_lines(record: Record, stem: str) -> list[str]:
    """Return what says how large a buffer is, for a shape of the range."""
    body = [f"if (n_{name} < 1) return -1;" for name in record.frame.symbols]
    for each in record.where:
        test = f"{extent_text(each.left)} {each.operator} {extent_text(each.right)}"
        body.append(f"if (!({test})) return -1;")
    body.append("int64_t end = 0;")
    ends = dict[str, str]()
    for layout in record.laid:
        size = "1"
        for coordinate in layout.coordinates:
            size = f"times({size}, {extent_text(coordinate.extent)})"
        ends[f"{_bounded(layout.start)} + {size}"] = _bounded(layout.start)
    for number, (end, start) in enumerate(ends.items(), 1):
        body += [
            f"const int64_t end_{number} = {end};",
            f"if (end_{number} >= TOO_LARGE) return -1;",
            f"if ({start}%8 != 0) return -1;",
            f"if (end_{number} > end) end = end_{number};",
        ]
    body += ["if (end%8 != 0) return -1;", "return end/8;"]
    return function(record, f"int64_t {stem}_bytes(const int64_t *shape)", body)


def _bounded(expr: Expr) -> str:
    """An expression whose products do not leave 64 bits."""
    match expr:
        case Mul(left, right):
            return f"times({_bounded(left)}, {_bounded(right)})"
        case Add(left, right):
            return f"({_bounded(left)} + {_bounded(right)})"
        case _:
            return f"({extent_text(expr)})" if not isinstance(expr, Constant) else str(expr.value)


def pieces_lines(along: str | None) -> list[str]:
    """Return how many rows are moved at a time, and the bytes of each in the buffer."""
    if along is None:
        return []
    return [
        f"const int64_t each = bytes/n_{along};",
        f"const int64_t step = {PIECE}/(each + 1) + 1;",
    ]


def is_direct(placed: Placed) -> bool:
    """Whether the field is what the layout moves, as it is."""
    part, element = placed.part, placed.items.element
    assert element is not None, "a part says of what type it is"
    fixed = any(not each.name for digits in part.picks for each in digits)
    same = element.item[1] == part.field_type.item[1] and not placed.by_bit
    narrow = part.field_type.bits < 8 and part.field_type.kind == "i"
    return part.whole and not fixed and same and placed.bits == part.element.bits and not narrow


def scratch_lines(
    record: Record, parts: Sequence[Placed], stem: str, along: str | None
) -> list[str]:
    """Return what says how much memory lies in between: items and elements of the largest part."""
    body = [
        f"const int64_t bytes = {stem}_bytes(shape);",
        "if (bytes < 0) return -1;",
        *pieces_lines(along),
    ]
    if along is not None:
        body.append(f"const int64_t rows = n_{along} < step ? n_{along} : step;")
    body.append("int64_t most = 1;")
    for number, placed in enumerate(parts, 1):
        values = dict(placed.part.values)
        box = [simplify(substitute(each.extent, values)) for each in placed.items.coordinates]
        need = product_text(box)
        if not is_direct(placed):
            need = f"({need} + {product_text(shape_exprs(placed))})"
        if along is not None:
            need = re.sub(rf"\bn_{along}\b", "rows", need)
        body.append(f"const int64_t need_{number} = {need}*{item_bytes(placed)};")
        body.append(f"if (need_{number} > most) most = need_{number};")
    body.append("return most;")
    return function(record, f"int64_t {stem}_scratch(const int64_t *shape)", body)
