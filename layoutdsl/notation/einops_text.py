"""A layout as einops writes it: digits that divide their axes, in an order of their own.

A name is none of Python's words, does not end with an underscore and is none of `rearrange`'s own
arguments, as sizes are given by name there. Where an axis may not be called as it is, or pieces of
another are called so, it is called otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from keyword import iskeyword
from math import prod

from layoutdsl.language.digits.network import NotDigits, network
from layoutdsl.language.integers.bounds import ONE
from layoutdsl.language.integers.expr import (
    Constant,
    Coordinate,
    Extent,
    MixedRadix,
    Mod,
    coordinate_text,
    text,
)
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Axis, Condition, Layout
from layoutdsl.notation.notation import Unwritable
from layoutdsl.notation.places import place_of, refuse_start

_TAKEN = ("axis", "pattern", "tensor")
"""Names that einops gives a meaning."""


@dataclass(slots=True)
class _Cut:
    """What is known of an axis: the size of each digit by its divisor, ``None`` of the rest.

    ``called`` is what its pieces begin with, or the whole of it where it is not cut.
    """

    axis: Axis
    sizes: dict[int, int | None]
    called: str = ""

    @property
    def rest(self) -> bool:
        """Whether a digit is all that the blocks leave."""
        return None in self.sizes.values()

    @property
    def block(self) -> int:
        """The elements of all blocks together."""
        return prod(size or 1 for size in self.sizes.values())

    def words(self) -> list[str]:
        """Return the names of its pieces, the most major first."""
        if self.axis.extent == ONE:
            return []
        if not any(self.sizes.values()):
            return [self.called]
        return [f"{self.called}{number}" for number in reversed(range(len(self.sizes)))]

    def word(self, divisor: int) -> str:
        """Return the name of a digit."""
        words = self.words()
        return words[sum(each > divisor for each in self.sizes)] if words else "1"


def write(layout: Layout) -> str:
    """Return the rearrangement that packs a tensor; the repetition, where elements have copies.

    Raises:
        Unwritable: einops has no text for it.
    """
    refuse_start(layout)
    wires = network(layout)
    if isinstance(wires, NotDigits):
        raise Unwritable(wires.reason)
    cuts = [_Cut(axis, {}) for axis in layout.axes]
    for each in layout.coordinates:
        _collect(layout, each, cuts)
    needed = _needed(cuts)
    if set(layout.where) != needed:
        strange = set(layout.where) ^ needed
        missing = min(map(str, strange))
        raise Unwritable(f"einops' blocks divide their axes, and the range is another: {missing}")
    _call(cuts)
    left = [_axis(each) for each in cuts if each.axis.name not in layout.copies]
    _refuse_cut_copies(layout, cuts)
    right = [_place(layout, each, cuts) for each in layout.coordinates]
    sizes = [size for each in cuts for size in _sizes(each)]
    return ", ".join([f"{' '.join(left)} -> {' '.join(right)}".strip(), *sizes])


def _refuse_cut_copies(layout: Layout, cuts: list[_Cut]) -> None:
    """Raise where copies are not one piece of their own, of a size that is a number."""
    for cut in cuts:
        if cut.axis.name not in layout.copies or cut.axis.extent == ONE:
            continue
        if len(cut.sizes) > 1 or not isinstance(cut.axis.extent, Constant):
            raise Unwritable(f"copies along `{cut.axis.name}` are no one piece of a fixed size")


def _collect(layout: Layout, coordinate: Coordinate, cuts: list[_Cut]) -> None:
    """Note the pieces of a coordinate."""
    if coordinate.declared:
        raise Unwritable(f"`{coordinate_text(coordinate)}` has a declared extent")
    match coordinate.value:
        case MixedRadix(parts):
            for part in parts:
                if isinstance(part.value, MixedRadix):
                    raise Unwritable(f"`{text(coordinate.value)}` has tuples in a tuple")
                _collect(layout, part, cuts)
            return
        case Constant():
            if coordinate.extent != ONE:
                raise Unwritable(f"`{coordinate_text(coordinate)}` is padding of its own")
            return
    digit = place_of(layout, coordinate.value)
    match digit.divisor, digit.radix:
        case Constant(divisor), Constant(size):
            cuts[digit.axis].sizes[divisor] = size
        case Constant(divisor), None:
            cuts[digit.axis].sizes[divisor] = None
        case _:
            raise Unwritable(f"a block of `{layout.axes[digit.axis].name}` is not a number")


def _needed(cuts: list[_Cut]) -> set[Condition]:
    """Return what the range has to say: that the blocks of every axis divide it."""
    needed: set[Condition] = set()
    for cut in cuts:
        name, block = cut.axis.name, cut.block
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


def _call(cuts: list[_Cut]) -> None:
    """Name the axes and their pieces, so that no name is that of another."""
    taken: set[str] = set()
    for cut in cuts:
        others = taken.union(each.axis.name for each in cuts if each is not cut)
        cut.called = cut.axis.name.rstrip("_")
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
    ordered = sorted(cut.sizes.items(), reverse=True)
    sizes = [f"{cut.word(divisor)}={size}" for divisor, size in ordered if size is not None]
    match cut.axis.extent:
        case Constant(extent) if extent > 1 and cut.rest:
            return [f"{cut.words()[0]}={extent // cut.block}", *sizes]
        case Constant(1):
            return []
    return sizes


def _place(layout: Layout, coordinate: Coordinate, cuts: list[_Cut]) -> str:
    match coordinate.value:
        case MixedRadix(parts):
            return f"({' '.join(_place(layout, part, cuts) for part in parts)})"
        case Constant():
            return "1"
    digit = place_of(layout, coordinate.value)
    return cuts[digit.axis].word(evaluate(digit.divisor, {}))
