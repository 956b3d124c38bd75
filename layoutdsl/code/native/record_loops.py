"""Loops of C over the elements of a part: bits between its field, and a tensor of items.

Every address is a sum of products of loop names and extents, and every shift a number, so that the
text can be read back as a map: which bit comes from where.
"""

from __future__ import annotations

from layoutdsl.code.placed import Placed
from layoutdsl.language.integers.expr import Expr
from layoutdsl.language.integers.languages import C, written
from layoutdsl.language.meaning.part import Part

INDENT = "    "


def extent_text(expr: Expr) -> str:
    """Return an expression over extents of the record, `C` of which is called `n_C`."""
    return written(expr, C, lambda name: f"n_{name}")


def item_bytes(placed: Placed) -> int:
    """Return the bytes of an item, as the C of the part's layout moves it."""
    element = placed.items.element
    assert element is not None, "a part says of what type it is"
    return element.item[1]


def loop(name: str, count: str, body: list[str]) -> list[str]:
    """Return a loop over the numbers below a count."""
    return [
        f"for (int64_t {name} = 0; {name} < {count}; {name}++) {{",
        *(INDENT + line for line in body),
        "}",
    ]


def shifted(value: str, right: int, mask: int | None, left: int = 0) -> str:
    """Return a value shifted down, cut to the bits of a mask, and shifted up."""
    found = f"{value} >> {right}" if right else value
    if mask is not None:
        found = f"{found} & {mask}"
    if not left:
        return found
    return f"({found}) << {left}" if found != value else f"{found} << {left}"


def gathered(placed: Placed) -> list[str]:
    """Return loops that put the bits that a part holds of each element into an item, or several."""
    part, width = placed.part, placed.part.field_type.item[1]
    bits, taken = part.element.bits, f"load(field, e, {width})"
    if placed.by_bit:
        lines = [
            f"tensor[{bits}*o + {k}] = (uint8_t)({shifted(taken, part.low + k, 1)});"
            for k in range(bits)
        ]
        return _over_elements(part, lines)
    mask = None if part.low + bits == 8 * width else (1 << bits) - 1
    value = shifted(taken, part.low, mask, placed.shift)
    return _over_elements(part, [f"store(tensor, o, {item_bytes(placed)}, {value});"])


def scattered(placed: Placed) -> list[str]:
    """Return loops that give each element of a field the bits that a part holds."""
    part, width = placed.part, placed.part.field_type.item[1]
    bits, own = part.element.bits, item_bytes(placed)
    if placed.by_bit:
        each = (f"({shifted(f'load(tensor, {bits}*o + {k}, 1)', 0, 1, k)})" for k in range(bits))
        value = " | ".join(each)
    else:
        mask = None if placed.shift + bits == 8 * own else (1 << bits) - 1
        value = shifted(f"load(tensor, o, {own})", placed.shift, mask)
    if not part.whole:
        value = f"load(field, e, {width}) | {shifted(f'({value})', 0, None, part.low)}"
    elif part.field_type.kind == "i" and bits < 8:
        value = f"with_sign({value}, {bits})"
    return _over_elements(part, [f"store(field, e, {width}, {value});"])


def _over_elements(part: Part, body: list[str]) -> list[str]:
    """Loops over the free digits; `e` is the element of the field, `o` its number among those."""
    digits = [each for picks in part.picks for each in picks]
    loops, element, own = [], "0", "0"
    for number, each in enumerate(digits):
        extent, name = extent_text(each.extent), f"i{number}"
        element = f"({element})*({extent}) + {name if each.name else each.fixed}"
        if each.name:
            own = f"({own})*({extent}) + {name}"
            loops.append((name, extent))
    lines = [f"const int64_t e = {element};", f"const int64_t o = {own};", *body]
    for name, extent in reversed(loops):
        lines = loop(name, extent, lines)
    return lines if loops else ["{", *(INDENT + line for line in lines), "}"]
