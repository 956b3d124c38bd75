"""A layout as einops writes it: digits that divide their axes, in an order of their own.

A name is none of Python's words, does not end with an underscore and is none of `rearrange`'s own
arguments, as sizes are given by name there. Where an axis may not be called as it is, or pieces of
another are called so, it is called otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from keyword import iskeyword
from math import prod

from layoutdsl.digits.network import NotDigits, network
from layoutdsl.integers.bounds import ONE
from layoutdsl.integers.digit import read
from layoutdsl.integers.expr import (
    Constant,
    Coordinate,
    Extent,
    Index,
    MixedRadix,
    Mod,
    coordinate_text,
    text,
)
from layoutdsl.meaning.model import Axis, Condition, Layout
from layoutdsl.notation.notation import Unwritable
from layoutdsl.notation.places import refuse_start

_TAKEN = ("axis", "pattern", "tensor")
"""Names that einops gives a meaning."""


@dataclass(slots=True)
class _Cut:
    """What is known of an axis: the size of each block by its divisor, and whether a rest is left.

    ``called`` is what its pieces begin with, or the whole of it where it is not cut.
    """

    axis: Axis
    blocks: dict[int, int]
    rest: bool = False
    called: str = ""

    def words(self) -> list[str]:
        """Return the names of its pieces, the most major first."""
        if self.axis.extent == ONE:
            return []
        if not self.blocks:
            return [self.called]
        numbers = range(len(self.blocks) - (not self.rest), -1, -1)
        return [f"{self.called}{number}" for number in numbers]

    def word(self, divisor: int | None) -> str:
        """Return the name of a block, or with ``None`` of the rest."""
        words = self.words()
        if not words:
            return "1"
        if divisor is None:
            return words[0]
        return words[len(words) - 1 - sorted(self.blocks).index(divisor)]


def write(layout: Layout) -> str:
    """Return the rearrangement that packs a tensor.

    Raises:
        Unwritable: einops has no text for it.
    """
    refuse_start(layout)
    wires = network(layout)
    if isinstance(wires, NotDigits):
        raise Unwritable(wires.reason)
    cuts = {axis.name: _Cut(axis, {}) for axis in layout.axes}
    for each in layout.coordinates:
        _collect(each, cuts)
    needed = _needed(cuts)
    if set(layout.where) != needed:
        strange = set(layout.where) ^ needed
        missing = min(map(str, strange))
        raise Unwritable(f"einops' blocks divide their axes, and the range is another: {missing}")
    _call(cuts)
    left = [_axis(each) for each in cuts.values()]
    right = [_place(each, cuts) for each in layout.coordinates]
    sizes = [size for each in cuts.values() for size in _sizes(each)]
    return ", ".join([f"{' '.join(left)} -> {' '.join(right)}".strip(), *sizes])


def _collect(coordinate: Coordinate, cuts: dict[str, _Cut]) -> None:
    """Note the pieces of a coordinate."""
    if coordinate.declared:
        raise Unwritable(f"`{coordinate_text(coordinate)}` has a declared extent")
    match coordinate.value:
        case MixedRadix(parts):
            for part in parts:
                if isinstance(part.value, MixedRadix):
                    raise Unwritable(f"`{text(coordinate.value)}` has tuples in a tuple")
                _collect(part, cuts)
            return
        case Constant():
            if coordinate.extent != ONE:
                raise Unwritable(f"`{coordinate_text(coordinate)}` is padding of its own")
            return
    digit = read(coordinate.value)
    if digit is None or not isinstance(digit.whole, Index):
        raise Unwritable(f"`{text(coordinate.value)}` is not a digit of an axis")
    cut = cuts[digit.whole.name]
    match digit.divisor, digit.radix:
        case Constant(divisor), Constant(size):
            cut.blocks[divisor] = size
        case Constant(), None:
            cut.rest = True
        case _:
            raise Unwritable(f"a block of `{digit.whole.name}` is not a number")


def _needed(cuts: dict[str, _Cut]) -> set[Condition]:
    """Return what the range has to say: that the blocks of every axis divide it."""
    needed: set[Condition] = set()
    for name, cut in cuts.items():
        block = prod(cut.blocks.values())
        match cut.axis.extent:
            case Constant(extent) if extent % block:
                raise Unwritable(f"blocks of {block} do not divide the {extent} of `{name}`")
            case Constant(extent) if not cut.rest and extent != block:
                raise Unwritable(f"blocks of {block} are not the {extent} of `{name}`")
            case Extent() if not cut.rest:
                raise Unwritable(f"no digit of `{name}` is all the rest")
            case Extent() if block > 1:
                needed.add(Condition(Mod(cut.axis.extent, Constant(block)), "==", Constant(0)))
    return needed


def _call(cuts: dict[str, _Cut]) -> None:
    """Name the axes and their pieces, so that no name is that of another."""
    taken: set[str] = set()
    for name, cut in cuts.items():
        others = taken.union(each for each in cuts if each != name)
        cut.called = name.rstrip("_")
        while cut.called in others or any(map(_is_taken, cut.words())) or others & {*cut.words()}:
            cut.called += "x"
        taken |= {cut.called, *cut.words()}


def _is_taken(word: str) -> bool:
    return iskeyword(word) or word in _TAKEN


def _axis(cut: _Cut) -> str:
    words = cut.words()
    return f"({' '.join(words)})" if len(words) > 1 else (*words, "1")[0]


def _sizes(cut: _Cut) -> list[str]:
    """Return the sizes of the blocks of an axis, and where it is known, of what they leave."""
    sizes = [f"{cut.word(each)}={cut.blocks[each]}" for each in sorted(cut.blocks, reverse=True)]
    match cut.axis.extent:
        case Constant(extent) if extent > 1 and cut.rest:
            return [f"{cut.word(None)}={extent // prod(cut.blocks.values())}", *sizes]
        case Constant(1):
            return []
    return sizes


def _place(coordinate: Coordinate, cuts: dict[str, _Cut]) -> str:
    match coordinate.value:
        case MixedRadix(parts):
            return f"({' '.join(_place(part, cuts) for part in parts)})"
        case Constant():
            return "1"
    digit = read(coordinate.value)
    assert digit is not None
    assert isinstance(digit.whole, Index)
    assert isinstance(digit.divisor, Constant)
    cut = cuts[digit.whole.name]
    return cut.word(None if digit.radix is None else digit.divisor.value)
