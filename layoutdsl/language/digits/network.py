"""A layout read as digits: which part of which axis each coordinate is.

A digit is ``whole / divisor % radix``, where the whole is an index or the value of a tuple. Where
the digits of every whole follow one another without gap or overlap, the layout can be inverted in
closed form. This is a *reading* of the coordinates, not their meaning: what is built on it is
proved against `Layout.offset`, or tested.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import TypeAlias

from layoutdsl.language.digits.steps import digit_name, straight_name
from layoutdsl.language.integers.bounds import ONE, ZERO, simplify
from layoutdsl.language.integers.digit import Digit, Whole, read, same, times
from layoutdsl.language.integers.expr import (
    Constant,
    Coordinate,
    Expr,
    Index,
    MixedRadix,
    Sub,
    coordinate_text,
    text,
)
from layoutdsl.language.meaning.model import Condition, Layout


@dataclass(frozen=True, slots=True)
class Cut(Digit):
    """A digit and the wire that carries it."""

    wire: int


@dataclass(frozen=True, slots=True)
class Chain:
    """The digits of one whole, most minor first; each divisor is the product of the radices before.

    Attributes:
        whole: an index, or a tuple whose parts are wires of their own.
        cuts: none for an axis of one element, which needs no digit.
        reach: the whole stays below it: the largest extent for which the digits tell all apart.
        parts: the wires of a tuple's parts, most major first; empty for an index.
    """

    whole: Whole
    cuts: tuple[Cut, ...]
    reach: Expr
    parts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Wire:
    """A number below ``extent``: a coordinate, or a part of a tuple.

    ``radix`` is set where the digit stays below a smaller number than the extent, which leaves a
    gap of padding; ``constant`` where it is no digit at all.
    """

    value: Expr
    extent: Expr
    radix: Expr | None = None
    constant: int | None = None


@dataclass(frozen=True, slots=True)
class Exclusive:
    """``digit ^ other``, where ``other`` has so many bits."""

    digit: Expr
    limit: Expr
    other: Expr
    width: int


@dataclass(frozen=True, slots=True)
class Rotation:
    """``(other + sign*digit) % radix``."""

    digit: Expr
    limit: Expr
    other: Expr
    radix: Expr
    sign: int


@dataclass(frozen=True, slots=True)
class Shift:
    """``other + sign*step*digit``, where the digit may be a tuple of digits."""

    digit: Expr
    limit: Expr
    other: Expr
    step: Expr
    sign: int


@dataclass(frozen=True, slots=True)
class Turn:
    """``digit + other*(top - 2*digit)``: back and forth, where ``other`` is 0 or 1."""

    digit: Expr
    limit: Expr
    other: Expr

    @property
    def top(self) -> Expr:
        """The largest number that the digit may be."""
        return simplify(Sub(self.limit, ONE))


@dataclass(frozen=True, slots=True)
class Fixed:
    """``other``, which other coordinates tell; it has no digit of its own."""

    other: Expr
    digit: Expr = ZERO
    limit: Expr = ONE


Moved: TypeAlias = Exclusive | Rotation | Shift | Turn | Fixed
"""A coordinate that is a digit below ``limit`` moved by ``other``, both over indices."""


@dataclass(frozen=True, slots=True)
class Swizzle:
    """How a coordinate that is a digit moved by others is moved back.

    Attributes:
        wire: of the coordinate, or of the part of a tuple; its value is the moved digit.
        moved: how the digit was moved.
        other: what moved it, over the names of earlier steps.
        after: how many chains are put together before it can be straightened.
        steps: from the coordinate to the digit; the last is named by `straight_name`. None where
            there is no digit.
        guards: what holds of coordinates that the digit can be moved to.
    """

    wire: int
    moved: Moved
    other: Expr
    after: int
    steps: tuple[tuple[str, Expr], ...]
    guards: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Network:
    """How indices become coordinates: chains in the order in which a slot is decoded.

    The first wires are the coordinates of the layout, in their order; some may be swizzled.
    """

    wires: tuple[Wire, ...]
    chains: tuple[Chain, ...]
    swizzles: tuple[Swizzle, ...] = ()

    def swizzle_of(self, wire: int) -> Swizzle | None:
        """Return how a wire is swizzled, if it is."""
        return next((each for each in self.swizzles if each.wire == wire), None)

    def swizzles_before(self, chain: int) -> tuple[Swizzle, ...]:
        """Return the swizzles that are straightened just before a chain is put together."""
        return tuple(each for each in self.swizzles if each.after == chain)

    def name(self, wire: int) -> str:
        """Return the name of the step that gives the digit on a wire."""
        return digit_name(wire) if self.swizzle_of(wire) is None else straight_name(wire)


@dataclass(frozen=True, slots=True)
class NotDigits:
    """Why a layout is no network of digits.

    ``wires`` are the coordinates to point at, ``axis`` is one without any.
    """

    reason: str
    kind: str
    wires: tuple[int, ...] = ()
    axis: str = ""


@lru_cache(maxsize=256)  # every room asks, and asks again: a layout is read once
def network(layout: Layout) -> Network | NotDigits:
    """Return the layout as a network of digits, or why it is none."""
    wires = [Wire(each.value, each.extent) for each in layout.coordinates]
    pending = list(range(len(wires)))
    cuts: dict[Whole, list[Cut]] = {}
    parts: dict[Whole, tuple[int, ...]] = {}
    while pending:
        number = pending.pop(0)
        wire = wires[number]
        simple = simplify(wire.value)
        if isinstance(simple, Constant):
            wires[number] = Wire(wire.value, wire.extent, constant=simple.value)
            continue
        digit = read(wire.value)
        if digit is None:
            reason = f"`{text(wire.value)}` is not a digit of an axis"
            return NotDigits(reason, "free", (number,))
        if isinstance(digit.whole, MixedRadix) and digit.whole not in parts:
            first = len(wires)
            wires += [Wire(part.value, part.extent) for part in digit.whole.parts]
            parts[digit.whole] = tuple(range(first, len(wires)))
            pending += parts[digit.whole]
        cut = Cut(digit.whole, digit.divisor, digit.radix, number)
        cuts.setdefault(digit.whole, []).append(cut)
    for axis in layout.axes:
        cuts.setdefault(Index(axis.name), [])
    return _chained(layout, wires, cuts, parts)


def _chained(
    layout: Layout,
    wires: list[Wire],
    cuts: dict[Whole, list[Cut]],
    parts: dict[Whole, tuple[int, ...]],
) -> Network | NotDigits:
    chains: dict[Whole, Chain] = {}
    for whole, found in cuts.items():
        chain = _chain(layout, whole, found, wires, parts.get(whole, ()))
        if isinstance(chain, NotDigits):
            return chain
        chains[whole] = chain
        for cut in chain.cuts:
            wire = wires[cut.wire]
            if cut.radix is not None and not same(cut.radix, wire.extent):
                wires[cut.wire] = Wire(wire.value, wire.extent, radix=cut.radix)
    ordered = _in_order(list(chains.values()), len(layout.coordinates))
    if ordered is None:
        return NotDigits("a tuple is cut by its own digits", "overlap")
    return Network(tuple(wires), ordered)


def _chain(
    layout: Layout, whole: Whole, cuts: list[Cut], wires: list[Wire], parts: tuple[int, ...]
) -> Chain | NotDigits:
    name = text(whole) if isinstance(whole, Index) else coordinate_text(Coordinate(whole, ONE))
    if not cuts:
        axis = next(each for each in layout.axes if Index(each.name) == whole)
        if axis.extent == ONE:
            return Chain(whole, (), ONE)
        return NotDigits(f"axis `{name}` takes no part", "unused", axis=name)
    left, ordered = list(cuts), list[Cut]()
    reached: Expr = ONE
    while left:
        following = [cut for cut in left if same(cut.divisor, reached)]
        if len(following) != 1:
            return _broken(name, reached, ordered, left, following)
        cut = following[0]
        left.remove(cut)
        ordered.append(cut)
        if cut.radix is None:
            reached = times(reached, wires[cut.wire].extent)
            break
        reached = times(reached, cut.radix)
    if left:
        return _broken(name, reached, ordered, left, left)
    return Chain(whole, tuple(ordered), reached, parts)


def _broken(
    name: str, reached: Expr, below: list[Cut], left: list[Cut], following: list[Cut]
) -> NotDigits:
    above = following[0] if following else min(left, key=_step)
    wires = (above.wire, *(cut.wire for cut in below[-1:]))
    last = below[-1] if below else None
    past_last = last is not None and last.radix is None
    step = above.divisor
    if not following and not past_last:
        match reached, step:
            case Constant(low), Constant(high) if high > low:
                reason = f"the digits of axis `{name}` leave a gap between {low} and {high}"
                return NotDigits(reason, "gap", wires)
    reason = f"the digits of `{name}` do not follow one another: "
    shared = "overlap" if following or past_last else f"none steps by {text(reached)}"
    return NotDigits(reason + shared, "overlap", wires)


def _step(cut: Cut) -> tuple[float, str]:
    """Order cuts by what they step by; of names it is not known, and they come last."""
    known = cut.divisor.value if isinstance(cut.divisor, Constant) else inf
    return known, text(cut.divisor)


def _in_order(chains: list[Chain], coordinates: int) -> tuple[Chain, ...] | None:
    """Order the chains so that each one's digits are known when it is put together."""
    known, ordered = set(range(coordinates)), list[Chain]()
    while chains:
        ready = [chain for chain in chains if all(cut.wire in known for cut in chain.cuts)]
        if not ready:
            return None
        for chain in ready:
            chains.remove(chain)
            ordered.append(chain)
            known.update(chain.parts)
    return tuple(ordered)
