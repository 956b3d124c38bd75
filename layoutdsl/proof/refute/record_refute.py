"""Records tried in plain integers: which bit two parts hold, which none does, what sizes differ."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import islice, product
from math import prod

from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.counterexample import Counterexample, Point, example_at
from layoutdsl.language.meaning.part import Part, part_size
from layoutdsl.language.meaning.record import Held, Record
from layoutdsl.language.meaning.shapes import Values, small
from layoutdsl.proof.refute import refute
from layoutdsl.proof.refute.refute import Examples
from layoutdsl.proof.statements.applied_statement import index_map
from layoutdsl.proof.statements.record_statement import AFTER, APART, DEFINED, SIZE, WHOLE, labels

MOST_VOLUME = 1 << 14
"""Of shapes that are tried, in the extents of a record."""

MOST_BITS = 1 << 21
"""That are looked at in all, and at most in one shape on record."""

MOST_SHAPES = 1 << 12
"""At which it is seen without looking at bits whether buffers fit together."""

AT_ONCE = frozenset({DEFINED, SIZE, AFTER})
"""What is seen of a shape without looking at bits."""


def record_examples(record: Record, sought: Collection[str]) -> Examples:
    """Return counterexamples at the first small shape at which something that is sought fails.

    Args:
        record: that is looked at.
        sought: the properties that were not proved, as `record_statement` calls them.
    """
    left, wanted = MOST_BITS, frozenset(sought)
    for values in islice(small(record.frame, MOST_VOLUME), MOST_SHAPES):
        if not wanted <= AT_ONCE:
            left -= max(1, bits_at(record, values))
            wanted = wanted if left >= 0 else wanted & AT_ONCE
        if not wanted:
            break
        found = fails_at(record, values, wanted)
        if found:
            return found
    return {}


def bits_at(record: Record, values: Values) -> int:
    """Return how many bits there are to look at in a shape."""
    held = sum(part.element.bits * _elements(part, values) for part in record.parts)
    return abs(held) + abs(record.elements_bits(values))


def _elements(part: Part, values: Values) -> int:
    return prod(max(1, evaluate(extent, values)) for extent in part.extents().values())


def fails_at(record: Record, values: Values, sought: Collection[str]) -> Examples:
    """Return what fails at a shape of the properties that are sought, in plain integers."""
    undefined = _undefined(record, values)
    if undefined is not None:
        return {DEFINED: undefined} if DEFINED in sought else {}
    from layoutdsl.proof.refute import grid  # with numpy, which proofs do without

    found: Examples = {}
    for part, label in zip(record.parts, labels(record), strict=True):
        own = part.shape(values)
        looked_at = any(each.startswith(f"{label}: ") for each in sought)
        every = (*part.layout.all_coordinates, *index_map(part.layout).coordinates)
        if looked_at and not grid.no_fault(part.layout, every, own):
            layout = replace(part.layout, name=f"{record.name}.{label}")
            for name, example in refute.unsound(layout)(own).items():
                found[f"{label}: {name}"] = example_at(values, example.sentence, *example.points)
    sizes = _sizes(record, values)
    if sizes is not None:
        found[SIZE] = sizes
    after = _after(record, values)
    if after is not None:
        found[AFTER] = after
    if WHOLE in sought or (APART in sought and not _all_apart(record, values)):
        found |= _held(record, values)
    return {name: example for name, example in found.items() if name in sought}


def _all_apart(record: Record, values: Values) -> bool:
    from layoutdsl.proof.refute import grid

    return grid.all_apart((part.in_bits, part.shape(values)) for part in record.parts)


def _undefined(record: Record, values: Values) -> Counterexample | None:
    """Which part has no shape, and nothing that could be looked at, though the record has one."""
    for part, label in zip(record.parts, labels(record), strict=True):
        own = part.shape(values)
        empty = next((name for name, value in own.items() if value < 1), None)
        if empty is not None:
            return example_at(values, f"`{label}` has no element: {empty} is {own[empty]}")
        left = next((each for each in part.layout.where if not each.holds(own)), None)
        if left is not None:
            return example_at(values, f"`{label}` is not defined: it asks for {left}")
    return None


def _sizes(record: Record, values: Values) -> Counterexample | None:
    for first, *others in record.regions:
        for other in others:
            one, two = part_size(first, values), part_size(other, values)
            if one != two:
                fills = f"`{first.label}` fills {one} bits, and `{other.label}` {two}"
                sentence = f"parts of `{record.name}` have other buffers: {fills}"
                return example_at(values, sentence)
    return None


def _after(record: Record, values: Values) -> Counterexample | None:
    end = 0
    for region in record.regions:
        first = region[0]
        start = _start(first, values)
        if start < end:
            words = f"`{first.label}` starts at bit {start}, and what is before it ends at {end}"
            return example_at(values, f"regions of `{record.name}` overlap: {words}")
        end = part_size(first, values)
    return None


def _start(part: Part, values: Values) -> int:
    return evaluate(part.in_bits.start, part.shape(values))


def _held(record: Record, values: Values) -> Examples:
    """Which bit of the buffer holds two, and which bit of an element is in no part, or in two."""
    found: Examples = {}
    places: dict[int, Held] = {}
    seen: dict[Held, int] = {}
    shapes = {each.name: each.shape(values) for each in record.fields}
    for _, held, address in record.every_bit(values):
        if not all(map(int.__lt__, held.index, shapes[held.field])) and WHOLE not in found:
            sentence = f"a bit of `{record.name}` is of no element"
            found[WHOLE] = example_at(values, sentence, _at(held, address))
        if held in seen and WHOLE not in found:
            sentence = f"a bit of `{record.name}` is held twice"
            first, second = _at(held, seen[held]), _at(held, address)
            found[WHOLE] = example_at(values, sentence, first, second)
        seen.setdefault(held, address)
        other = places.setdefault(address, held)
        if other != held and APART not in found:
            sentence = f"two parts of `{record.name}` share a bit"
            found[APART] = example_at(values, sentence, _at(other, address), _at(held, address))
    if WHOLE not in found:
        missing = next(_missing(record, values, seen), None)
        if missing is not None:
            sentence = f"a bit of `{record.name}` is nowhere"
            found[WHOLE] = example_at(values, sentence, Point((), f"{missing} -> no part"))
    return found


def _at(held: Held, address: int) -> Point:
    byte, bit = divmod(address, 8)
    return Point((), f"{held} -> bit {address}, bit {bit} of byte {byte}")


def _missing(record: Record, values: Values, seen: dict[Held, int]) -> Iterator[Held]:
    for field in record.fields:
        for index in product(*map(range, field.shape(values))):
            for bit in range(field.element.bits):
                held = Held(field.name, index, bit)
                if held not in seen:
                    yield held


def differ_at(record: Record, other: Record, values: Values) -> Counterexample | None:
    """Return the first bit that two records put elsewhere at a shape, or that only one holds."""
    sentence = f"`{record.name}` is not `{other.name}`"
    mine, theirs = _places(record, values), _places(other, values)
    for held in (*mine, *theirs):
        here, there = mine.get(held), theirs.get(held)
        if here != there:
            words = f"{_lies(here)} in `{record.name}`, {_lies(there)} in `{other.name}`"
            return example_at(values, sentence, Point((), f"{held} -> {words}"))
    sizes = record.size_bits_at(values), other.size_bits_at(values)
    if sizes[0] != sizes[1]:
        return example_at(values, f"{sentence}: their buffers have {sizes[0]} and {sizes[1]} bits")
    return None


def _places(record: Record, values: Values) -> dict[Held, int]:
    """Where each bit lies; of a bit that is held twice the first place, as in `bit_address`."""
    found: dict[Held, int] = {}
    for _, held, address in record.every_bit(values):
        found.setdefault(held, address)
    return found


def _lies(address: int | None) -> str:
    return "nowhere" if address is None else f"bit {address}"


def differences(record: Record, other: Record) -> Counterexample | None:
    """Return the first difference of two records at a small shape, where one is found."""
    left = MOST_BITS
    both = replace(record, where=tuple(dict.fromkeys((*record.where, *other.where))))
    for values in small(both.frame, MOST_VOLUME):
        left -= max(1, bits_at(record, values) + bits_at(other, values))
        if left < 0:
            return None
        found = differ_at(record, other, values)
        if found is not None:
            return found
    return None
