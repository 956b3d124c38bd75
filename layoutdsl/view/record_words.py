"""Where an element of a record lies, and what a byte of it holds, in words."""

from __future__ import annotations

from collections.abc import Sequence

from layoutdsl.language.meaning.part import PickedDigit
from layoutdsl.language.meaning.record import Field
from layoutdsl.view.record_places import BYTE, HeldBits, HeldByte, RecordPlacement, Run
from layoutdsl.view.words import at_shape, filled_text, terms_text


def record_placement_text(placement: RecordPlacement) -> str:
    """Return where the bits of an element lie: a table of coordinates for each part of it."""
    element = f"{placement.field}[{', '.join(map(str, placement.index))}]"
    head = f"{at_shape(placement.record.name, placement.shape)}: {element} of "
    lines = [head + placement.element.name]
    for run in placement.runs:
        bits = f"{bits_text(run.low, run.high)} of {element}"
        lines += ["", f"{bits} -> {address_text(run.address, run.high - run.low + 1)}"]
        lines += [f"  {_part(run)} -> offset {run.offset}", ""]
        lines += terms_text(run.terms, run.start, run.offset)
    for low, high in placement.missing:
        lines += ["", f"{bits_text(low, high)} of {element} -> no part"]
    return "\n".join(lines)


def _part(run: Run) -> str:
    return f"{run.part}, in slots of {run.slot_bits} bit{'' if run.slot_bits == 1 else 's'}"


def bits_text(low: int, high: int) -> str:
    """Return bits as messages write them.

    >>> bits_text(0, 3), bits_text(4, 4)
    ('bits 0..3', 'bit 4')
    """
    return f"bit {low}" if low == high else f"bits {low}..{high}"


def address_text(address: int, count: int) -> str:
    """Return where bits lie that are side by side: in the buffer, and in its bytes.

    >>> address_text(528, 4)
    'bits 528..531, bits 0..3 of byte 66'
    >>> address_text(0, 16)
    'bits 0..15, bytes 0..1'
    """
    last = address + count - 1
    return f"{bits_text(address, last)}, {_bytes(address, last)}"


def _bytes(first: int, last: int) -> str:
    (byte, low), (end, high) = divmod(first, BYTE), divmod(last, BYTE)
    if (low, high) == (0, BYTE - 1):
        return f"byte {byte}" if byte == end else f"bytes {byte}..{end}"
    if byte == end:
        return f"{bits_text(low, high)} of byte {byte}"
    return f"from bit {low} of byte {byte} to bit {high} of byte {end}"


def held_byte_text(held: HeldByte) -> str:
    """Return what a byte of the buffer holds: a line for each element in it."""
    head = at_shape(held.record.name, held.shape)
    lines = [f"{head}: byte {held.byte} of {held.bytes}", ""]
    rows = [(bits_text(each.low, each.high), _held(held, each)) for each in held.bits]
    width = max(len(bits) for bits, _ in rows)
    return "\n".join([*lines, *(f"  {bits:<{width}}  {words}" for bits, words in rows)])


def _held(held: HeldByte, bits: HeldBits) -> str:
    match bits:
        case HeldBits(holds="element", field=field, index=tuple(index), first=int(first)):
            last = first + bits.high - bits.low
            return f"{bits_text(first, last)} of {field}[{', '.join(map(str, index))}]"
        case HeldBits(holds="after"):
            return "behind the end of the buffer"
    return f"padding{filled_text(held.record.fill)}"


def axis_names(field: Field) -> tuple[str, ...]:
    """Return what each axis of a field is called.

    A part that has the whole index in one name says it; else the digits that the first part picks
    stand for it, with ``..`` for those that are fixed there. An axis without a name goes by its
    number, and so do axes of one name.
    """
    by_axis = list(zip(*(part.picks for part in field.parts), strict=True))
    names = [_axis_name(picks) or f"[{k}]" for k, picks in enumerate(by_axis)]
    return tuple(each if names.count(each) == 1 else f"[{k}]" for k, each in enumerate(names))


def _axis_name(picks: Sequence[tuple[PickedDigit, ...]]) -> str:
    alone = next((each[0].name for each in picks if len(each) == 1 and each[0].name), "")
    digits = [digit.name or ".." for digit in picks[0]]
    return alone or (f"({', '.join(digits)})" if {*digits} != {".."} else "")
