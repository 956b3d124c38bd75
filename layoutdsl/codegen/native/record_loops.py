"""Loops of C over the elements that a part of a record holds, and what is done with each."""

from __future__ import annotations

from layoutdsl.codegen.placed import Placed
from layoutdsl.integers.expr import Expr
from layoutdsl.integers.languages import C, written
from layoutdsl.meaning.part import Part


def extent_name(name: str) -> str:
    """Return what an extent of the record is called."""
    return f"n_{name}"


def extent_text(expr: Expr) -> str:
    """Return an expression over extents of the record."""
    return written(expr, C, extent_name)


def element_loops(placed: Placed, width: int, *, pack: bool) -> list[str]:
    """Loops over the elements that a part holds, and what is done with each."""
    part = placed.part
    digits = [each for picks in part.picks for each in picks]
    lines, indent, address = ["    int64_t o = 0;"], "    ", "0"
    for number, each in enumerate(digits):
        address = f"({address})*({extent_text(each.extent)}) + " + (
            f"i{number}" if each.name else str(each.fixed)
        )
        if each.name:
            loop = (
                f"for (int64_t i{number} = 0; i{number} < {extent_text(each.extent)}; i{number}++)"
            )
            lines.append(f"{indent}{loop} {{")
            indent += "    "
    body = _taken(part, placed, width) if pack else _given(part, placed, width)
    lines += [f"{indent}const int64_t e = {address};", *(f"{indent}{line}" for line in body)]
    while len(indent) > 4:
        indent = indent[:-4]
        lines.append(f"{indent}}}")
    return lines


def _mask(bits: int) -> str:
    return f"UINT64_C(0x{(1 << bits) - 1:x})"


def _taken(part: Part, placed: Placed, width: int) -> list[str]:
    """An element's bits, as an item or several of a bit each."""
    value = f"load(field, e, {part.field_type.item[1]}) >> {part.low}"
    if placed.by_bit:
        bits = part.element.bits
        return [
            f"const uint64_t value = {value};",
            f"for (int k = 0; k < {bits}; k++) tensor[o++] = (uint8_t)(value >> k & 1);",
        ]
    mask = _mask(part.element.bits)
    return [f"store(tensor, o++, {width}, ({value} & {mask}) << {placed.shift});"]


def _given(part: Part, placed: Placed, width: int) -> list[str]:
    """An element of a field with the bits that a part holds of it."""
    bits, bytes_ = part.element.bits, part.field_type.item[1]
    if placed.by_bit:
        lines = [
            "uint64_t value = 0;",
            f"for (int k = 0; k < {bits}; k++) value |= (uint64_t)(tensor[o++] & 1) << k;",
        ]
    else:
        value = f"load(tensor, o++, {width}) >> {placed.shift} & {_mask(bits)}"
        lines = [f"uint64_t value = {value};"]
    if not part.whole:
        lines.append(f"value = load(field, e, {bytes_}) | value << {part.low};")
    elif part.field_type.kind == "i" and bits < 8:
        lines.append(f"value = with_sign(value, {bits});")
    return [*lines, f"store(field, e, {bytes_}, value);"]
