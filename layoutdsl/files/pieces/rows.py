"""Records taken apart: along one extent, so many rows are a record of their own, in one stretch.

Each part of a record is a layout. Where its first coordinate has a seam along that extent, which
`proof` shows for all shapes, rows between two seams lie in it as they would alone. Where moreover
all parts begin at the first bit, and so many rows are as many bits in each, rows of the record do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd, lcm, prod

from layoutdsl.code.seams import Seam, extent_of, flat
from layoutdsl.files.pieces.cut import Cost, Piece, TooLargeError
from layoutdsl.files.pieces.proof import seam_at
from layoutdsl.language.integers.expr import Constant, Expr, Extent, FloorDiv, extents
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import ZERO
from layoutdsl.language.meaning.part import Part
from layoutdsl.language.meaning.record import Record

BYTE = 8


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a record of some shape, so many at a time.

    Attributes:
        record: what is taken apart.
        values: its shape.
        extent: the name of that along which it is; empty where the record has none.
        step: rows from one piece to the next; the last has what is left.
        bits: of a step.
    """

    record: Record
    values: Mapping[str, int]
    extent: str
    step: int
    bits: int

    @property
    def count(self) -> int:
        """How many pieces there are; one at least."""
        return max(-(-self._all // self.step), 1)

    @property
    def largest(self) -> Piece:
        """The first: only the last is smaller."""
        return self.piece(0)

    @property
    def units(self) -> tuple[int, ...]:
        """The rows of one."""
        return (self.step,)

    @property
    def _all(self) -> int:
        return self.values.get(self.extent, 1)

    def of(self, rows: int) -> dict[str, int]:
        """Return the shape of so many rows."""
        return shape_of_rows(self.values, self.extent, rows)

    def piece(self, number: int) -> Piece:
        """Return a piece by its number: its rows, and the bytes that these fill."""
        first = number * self.step
        rows = min(self.step, self._all - first)
        size = self.record.size_bits_at(self.of(rows)) // BYTE
        return Piece((first,), (rows,), number * self.bits // BYTE, size)


def shape_of_rows(values: Mapping[str, int], extent: str, rows: int) -> dict[str, int]:
    """Return a shape with so many rows along an extent, if it has that."""
    return {name: rows if name == extent else each for name, each in values.items()}


def cut_rows(record: Record, values: Mapping[str, int], room: int, cost: Cost) -> Rows:
    """Return pieces of a record, each as large as the room allows.

    Args:
        record: any; one that cannot be taken apart is one piece.
        values: its shape.
        room: bytes that one piece may take.
        cost: what so many rows, and the bytes that they fill, take.

    Raises:
        TooLargeError: the smallest piece does not fit.
    """
    size = record.size_bits_at(values) // BYTE
    first = next(iter(values), "")
    found = _step(record, values)
    if isinstance(found, str):
        whole = Rows(record, values, first, max(values.get(first, 1), 1), size * BYTE)
        needed = cost(whole.step, size)
        if needed > room:
            raise TooLargeError(needed, found)
        return whole
    all_of = max(values[found.extent], 1)
    if cost(all_of, size) <= room:
        return Rows(record, values, found.extent, all_of, size * BYTE)
    one = cost(found.step, found.bits // BYTE)
    if one > room:
        raise TooLargeError(one, f"{found.step} of `{found.extent}` belong together")
    low, high = 1, -(-all_of // found.step)
    while high - low > 1:
        middle = (low + high) // 2
        fits = cost(middle * found.step, middle * found.bits // BYTE) <= room
        low, high = (middle, high) if fits else (low, middle)
    return Rows(record, values, found.extent, low * found.step, low * found.bits)


def _step(record: Record, values: Mapping[str, int]) -> Rows | str:
    """The fewest rows that are a record of their own, of whole bytes; or why none are."""
    if any(each.start != ZERO for each in record.laid):
        return "its parts lie one behind the other"
    names = {_rows_of(record.fields[0].extents[0])} if record.fields[0].extents else {None}
    name = next(iter(names))
    if name is None or name not in values:
        return f"`{record.fields[0].name}` has no rows"
    steps = [_of_part(part, name) for part in record.parts]
    for each in steps:
        if isinstance(each, str):
            return each
    step = lcm(*(each[0] for each in steps if not isinstance(each, str)))
    sizes = set()
    for part, found in zip(record.parts, steps, strict=True):
        assert not isinstance(found, str)
        rows, blocks = found
        own = part.shape(values)
        inner = prod(evaluate(each.extent, own) for each in flat(part.in_bits).coordinates[1:])
        sizes.add(step // rows * blocks * inner)
    if len(sizes) > 1:
        return f"{step} of `{name}` are not as many bits in each of its parts"
    (bits,) = sizes
    together = BYTE // gcd(BYTE, bits)
    found_ = Rows(record, values, name, step * together, bits * together)
    return _refused(found_) or found_


def _refused(rows: Rows) -> str | None:
    """Why some rows are outside the range of shapes, where they are."""
    whole = rows.values[rows.extent]
    for count in {min(rows.step, whole), whole % rows.step or rows.step}:
        try:
            rows.record.bind(rows.of(count))
        except ValueError as outside:
            return str(outside)
    return None


def _of_part(part: Part, name: str) -> tuple[int, int] | str:
    """How many rows lie between two seams of a part, and the blocks that they are; or why none."""
    layout = flat(part.in_bits)
    seam = seam_at(layout, 0)
    if not isinstance(seam, Seam):
        return f"{part.label}: {seam}"
    own = extent_of(layout, seam.axis).name
    given = dict(part.values)
    divisor = _divisor(given[own], name)
    first, *others = part.picks[0]
    digits = [*others, *(each for picks in part.picks[1:] for each in picks)]
    spoken = [each.extent for each in digits]
    spoken += [expr for called, expr in given.items() if called != own]
    if divisor is None or first.name != seam.axis or any(name in extents(e) for e in spoken):
        return f"{part.label}: its rows are not those of the record"
    return seam.unit * divisor, seam.blocks


def _rows_of(expr: Expr) -> str | None:
    """The extent that a first extent speaks of, if it is but one."""
    names = extents(expr)
    return next(iter(names)) if len(names) == 1 else None


def _divisor(expr: Expr, name: str) -> int | None:
    """How many rows are one index: where an extent is that of the record, or a part of it."""
    match expr:
        case Extent(found) if found == name:
            return 1
        case FloorDiv(Extent(found), Constant(number)) if found == name and number > 0:
            return number
    return None
