"""Which bits go where: from an element to its item, and from there to a byte, or back.

It is what the record means, for one turn of every loop; the text of a part has to say the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from layoutdsl.code.validate.records.bits import (
    NONE,
    Address,
    Bit,
    Held,
    address,
    behind,
    byte,
    places,
)
from layoutdsl.code.validate.records.reading import Group, Loops, Stores
from layoutdsl.code.validate.records.sides import Side, cut_box, horner, plus, times
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.bounds import product, simplify
from layoutdsl.language.integers.expr import Add, Constant, Expr, FloorDiv, Index


def elements(side: Side, verb: str, little: bool) -> Stores:
    """Return which bits go from elements to items, or back."""
    placed, part = side.placed, side.placed.part
    digits = [each for picks in part.picks for each in picks]
    values: list[Expr] = [
        Index(f"i{k}") if each.name else Constant(each.fixed) for k, each in enumerate(digits)
    ]
    element = horner(values, [each.extent for each in digits])
    free = side.free
    own = horner([Index(name) for name, _ in free], [extent for _, extent in free])
    loops = tuple((name, address(extent)) for name, extent in free)
    width, bits = part.field_type.item[1], part.element.bits
    field = _Number("field", address(times(width, element)), width, little)
    base = times(side.width, side.size)
    if placed.by_bit:
        items = [
            _Number("scratch", address(Add(base, plus(times(bits, own), k))), 1, little)
            for k in range(bits)
        ]
        pairs = {part.low + k: items[k].bit(0) for k in range(bits)}
    else:
        items = [_Number("scratch", address(Add(base, times(side.width, own))), side.width, little)]
        pairs = {part.low + k: items[0].bit(placed.shift + k) for k in range(bits)}
    if verb == "pack":
        back = {bit: field.bit(k) for k, bit in pairs.items()}
        return {(loops, None): {key: held for each in items for key, held in each.stores(back)}}
    if not part.whole:
        kept = {field.bit(k): frozenset({field.bit(k)}) for k in range(8 * width)}
        joined = {field.bit(k): frozenset({bit}) for k, bit in pairs.items()}
        sets = {bit: held | joined.get(bit, NONE) for bit, held in kept.items()}
        return {(loops, None): dict(field.sets(sets))}
    if part.field_type.kind == "i" and bits < 8:
        pairs |= dict.fromkeys(range(bits, 8 * width), pairs[bits - 1])
    return {(loops, None): dict(field.stores({field.bit(k): bit for k, bit in pairs.items()}))}


@dataclass(frozen=True, slots=True)
class _Number:
    """A number in memory: of which array, from which byte on, and of how many."""

    array: str
    at: Address
    width: int
    little: bool

    def bit(self, number: int) -> Bit:
        """Where one of its bits lies."""
        return Bit(self.array, places(self.at, self.width, self.little)[number // 8], number % 8)

    def sets(self, held: Mapping[Bit, Held]) -> list[tuple[tuple[str, Address], tuple[Held, ...]]]:
        """What its bytes become."""
        found = []
        for where in places(self.at, self.width, self.little):
            bits = (Bit(self.array, where, number) for number in range(8))
            found.append(((self.array, where), tuple(held.get(bit, NONE) for bit in bits)))
        return found

    def stores(self, bits: Mapping[Bit, Bit]) -> list[tuple[tuple[str, Address], tuple[Held, ...]]]:
        """What its bytes become, where each bit is one of another number, or 0."""
        held = ((self.bit(k), bits.get(self.bit(k))) for k in range(8 * self.width))
        return self.sets({bit: frozenset({other}) for bit, other in held if other is not None})


def blocks(side: Side, verb: str, little: bool) -> Stores:
    """Return which bits go from items to the bytes of a buffer, or back."""
    placed, slot = side.placed, side.placed.bits
    window = placed.window
    if window is not None:
        many, left = divmod(8 * window.count, slot)
        before, _ = cut_box(side.box, many)
        if left:
            raise Meaningless("a window holds a part of an item")
        count = simplify(product(tuple(simplify(each.extent) for each in before)))
        loops: Loops = (("b", address(count)),)
        stores = _block(side, verb, little, many, Index("b"), window.block, window.first)
        return {(loops, None): stores}
    group = next(bytes_ for bytes_ in range(1, 9) if 8 * bytes_ % slot == 0)
    many = 8 * group // slot
    count = FloorDiv(side.size, Constant(many)) if many > 1 else side.size
    found: Stores = {
        ((("b", address(count)),), None): _block(side, verb, little, many, Index("b"), group, 0)
    }
    for rest in range(1, many):
        key: Group = ((), rest)
        found[key] = _block(side, verb, little, rest, count, group, 0, many)
    return found


def _block(
    side: Side,
    verb: str,
    little: bool,
    many: int,
    number: Expr,
    block: int,
    first: int,
    of: int | None = None,
) -> dict[tuple[str, Address], tuple[Held, ...]]:
    """The bits of the items of one block."""
    slot, width = side.placed.bits, side.width
    begin = address(Add(side.start, plus(times(block, number), first)))
    items = address(times(width * (of or many), number))
    buffer = "out" if verb == "pack" else "in"
    pairs: list[tuple[_Number, int, Bit]] = []
    for item in range(many):
        held = _Number("scratch", behind(items, width * item), width, little)
        for bit in range(slot):
            byte_, low = divmod(slot * item + bit, 8)
            pairs.append((held, bit, Bit(buffer, behind(begin, byte_), low)))
    if verb == "unpack":
        numbers = {id(held): held for held, _, _ in pairs}
        bits = {held.bit(bit): other for held, bit, other in pairs}
        return dict(one for each in numbers.values() for one in each.stores(bits))
    found: dict[tuple[str, Address], tuple[Held, ...]] = {}
    for byte_ in range(-(-many * slot // 8)):
        at = behind(begin, byte_)
        found[(buffer, at)] = byte(buffer, at)
    for held, bit, other in pairs:
        key = (buffer, other.address)
        was = list(found[key])
        was[other.number] |= {held.bit(bit)}
        found[key] = tuple(was)
    return found
