"""Swizzled coordinates: a digit moved by what the other coordinates tell, and how it is moved back.

`j/8 ^ i%8` is the digit `j/8`, moved by bits of `i`; `(i + j) % 32` is `j % 32`, rotated; `i + j`
is `j`, shifted. With each such coordinate read as its digit, a layout is a network like others; and
once the rest is known from a slot, the digit is too. Which digit is moved is tried out: like every
reading, this one is not trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, product
from typing import TypeAlias

from layoutdsl.language.digits.extents import no_less
from layoutdsl.language.digits.network import (
    Chain,
    Cut,
    Exclusive,
    Fixed,
    Moved,
    Network,
    NotDigits,
    Rotation,
    Shift,
    Swizzle,
    Turn,
    network,
)
from layoutdsl.language.digits.steps import digit_name, moved_name, straight_name
from layoutdsl.language.digits.swizzled import moved, rounds
from layoutdsl.language.integers.bits import largest
from layoutdsl.language.integers.bounds import ONE, ZERO, simplify
from layoutdsl.language.integers.digit import Digit, Whole, apart, exact_quotient, read, same, times
from layoutdsl.language.integers.expr import (
    Add,
    BitXor,
    Constant,
    Coordinate,
    Expr,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
    Sub,
    children,
)
from layoutdsl.language.meaning.model import Condition, Layout

_Way: TypeAlias = tuple[tuple[tuple[str, Expr], ...], tuple[Condition, ...]]
"""The way back from a coordinate to its digit: steps and guards of a `Swizzle`."""

MOST_TRIES = 64
MOST_CHOICES = 1024
"""Choices of the digits that are moved: tried, and looked at."""


def reading(layout: Layout) -> Network | NotDigits:
    """Return a layout as a network of digits, some of them swizzled, or why it is none."""
    plain = network(layout)
    if isinstance(plain, Network) or plain.kind in ("gap", "unused"):
        return plain
    choices = [moved(layout, coordinate) for coordinate in layout.coordinates]
    tries = sorted(islice(product(*choices), MOST_CHOICES), key=_oddity)
    for chosen in tries[:MOST_TRIES]:
        found = _straightened(layout, chosen)
        if found is not None and _reaches(layout, found):
            return found
    return plain


def _reaches(layout: Layout, found: Network) -> bool:
    """Whether the digits tell all indices apart, as far as the text alone shows."""
    for axis in layout.axes:
        chain = next(each for each in found.chains if each.whole == Index(axis.name))
        if chain.cuts and chain.cuts[-1].radix is not None:
            match chain.reach, axis.extent:
                case Constant(reached), Constant(extent) if reached >= extent:
                    continue
            if not no_less(chain.reach, axis.extent):
                return False
    return True


def _oddity(chosen: tuple[Moved | None, ...]) -> int:
    """Coordinates without a digit come last."""
    return sum(isinstance(each, Fixed) for each in chosen)


def _straightened(layout: Layout, chosen: tuple[Moved | None, ...]) -> Network | None:
    parts = _Parts(layout)
    coordinates = tuple(
        parts.straight(coordinate)
        if swizzle is None
        else Coordinate(parts.digit(swizzle.digit), swizzle.limit, declared=True)
        for coordinate, swizzle in zip(layout.coordinates, chosen, strict=True)
    )
    found = network(replace(layout, coordinates=coordinates))
    if isinstance(found, NotDigits):
        return None
    swizzled = {wire: each for wire, each in enumerate(chosen) if each is not None}
    written = {wire: each.value for wire, each in enumerate(layout.coordinates)}
    for chain in found.chains:
        for wire, (value, swizzle) in zip(chain.parts, parts.of(chain.whole), strict=False):
            written[wire] = value
            if swizzle is not None:
                swizzled[wire] = swizzle
    return _Order(layout, parts.written(found, written), swizzled).ordered()


class _Parts:
    """Parts of tuples that are moved digits: ``(k/4, (k + n%8)%4 : 4)`` is ``k/4, k%4``.

    Each is read in the first way in which its digit fills the part.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._tuples: dict[Whole, MixedRadix] = {}
        self._moved: dict[Whole, tuple[Moved | None, ...]] = {}

    def straight(self, coordinate: Coordinate) -> Coordinate:
        """Return a coordinate with the digits themselves in its tuples."""
        return replace(coordinate, value=self.digit(coordinate.value))

    def digit(self, value: Expr) -> Expr:
        """Return a digit with the digits themselves in the tuple that it is cut from."""
        found = read(value)
        if found is None or not isinstance(found.whole, MixedRadix):
            return value
        moved_parts = tuple(self._moved_part(each) for each in found.whole.parts)
        whole = MixedRadix(
            tuple(
                self.straight(part if each is None else replace(part, value=each.digit))
                for part, each in zip(found.whole.parts, moved_parts, strict=True)
            )
        )
        if whole == found.whole:
            return value
        self._tuples[whole] = found.whole
        self._moved[whole] = moved_parts
        return Digit(whole, found.divisor, found.radix).value

    def _moved_part(self, part: Coordinate) -> Moved | None:
        if read(part.value) is not None or isinstance(simplify(part.value), Constant):
            return None
        for each in moved(self._layout, part):
            if isinstance(each, Exclusive | Rotation | Shift) and same(each.limit, part.extent):
                return each
        return None

    def of(self, whole: Whole) -> Iterator[tuple[Expr, Moved | None]]:
        """Yield the parts of a tuple as the layout writes them, and how they are moved."""
        if whole in self._tuples:
            parts = self._tuples[whole].parts
            yield from zip((each.value for each in parts), self._moved[whole], strict=True)

    def written(self, found: Network, values: dict[int, Expr]) -> Network:
        """Return a network whose wires and tuples are those that the layout writes."""
        wires = tuple(
            replace(wire, value=values.get(number, wire.value))
            for number, wire in enumerate(found.wires)
        )
        chains = tuple(
            replace(
                chain,
                whole=self._tuples[chain.whole],
                cuts=tuple(replace(cut, whole=self._tuples[chain.whole]) for cut in chain.cuts),
            )
            if chain.whole in self._tuples
            else chain
            for chain in found.chains
        )
        return Network(wires, chains)


class _Order:
    """Chains and swizzles in an order in which each rests on what is known before."""

    def __init__(self, layout: Layout, found: Network, swizzled: dict[int, Moved]) -> None:
        self._layout = layout
        self._found = found
        self._swizzled = swizzled
        self._given = set(range(len(layout.coordinates)))
        self._known = self._given - set(swizzled)
        self._chains: list[Chain] = []
        self._swizzles: list[Swizzle] = []

    def ordered(self) -> Network | None:
        """Return the network with its swizzles, or nothing where they rest on one another."""
        chains, wires = list(self._found.chains), list(self._swizzled)
        while chains or wires:
            straight = [wire for wire in wires if wire in self._given and self._straighten(wire)]
            wires = [wire for wire in wires if wire not in straight]
            whole = [chain for chain in chains if self._knows(chain)]
            for chain in whole:
                chains.remove(chain)
                self._chains.append(chain)
                self._given.update(chain.parts)
                self._known.update(set(chain.parts) - set(self._swizzled))
            if not (straight or whole):
                return None
        return Network(self._found.wires, tuple(self._chains), tuple(self._swizzles))

    def _knows(self, chain: Chain) -> bool:
        return all(cut.wire in self._known for cut in chain.cuts)

    def _extent(self, wire: int) -> Expr:
        if wire < len(self._layout.coordinates):
            return self._layout.coordinates[wire].extent
        return self._found.wires[wire].extent

    def _name(self, wire: int) -> str:
        return straight_name(wire) if wire in self._swizzled else digit_name(wire)

    def _straighten(self, wire: int) -> bool:
        swizzle = self._swizzled[wire]
        other, needed = recovered(swizzle.other, self._found, self._name)
        if not needed - {wire} <= self._known:
            return False
        if wire in needed and not isinstance(swizzle, Exclusive):
            return False
        extent = self._extent(wire)
        back: _Way | None
        match swizzle:
            case Exclusive():
                back = self._exclusive(wire, swizzle, wire in needed)
            case Rotation():
                back = _rotation(wire, swizzle, other, extent)
            case Turn():
                back = _turn(wire, swizzle, other, extent)
            case Shift():
                back = _shift(wire, swizzle, other, extent)
            case Fixed():
                back = (), (Condition(Index(digit_name(wire)), "==", other),)
        if back is None:
            return False
        self._swizzles.append(Swizzle(wire, swizzle, other, len(self._chains), *back))
        self._known.add(wire)
        return True

    def _exclusive(self, wire: int, swizzle: Exclusive, by_itself: bool) -> _Way | None:
        """``t = v ^ other``; where the digit moves itself, as often as its bits hang together."""
        count = rounds(swizzle) if by_itself else 1
        if count is None:
            return None
        steps: list[tuple[str, Expr]] = []
        own = digit_name(wire)
        for number in range(1, count + 1):
            so_far = own

            def name(each: int, so_far: str = so_far) -> str:
                return so_far if each == wire else self._name(each)

            other, _ = recovered(swizzle.other, self._found, name)
            if largest(other) is None:
                other = Mod(other, Constant(1 << swizzle.width))
            own = straight_name(wire) if number == count else f"{moved_name(wire)}_{number}"
            steps.append((own, BitXor(Index(digit_name(wire)), other)))
        extent = self._extent(wire)
        straight = Index(straight_name(wire))
        guards = () if same(swizzle.limit, extent) else (Condition(straight, "<", swizzle.limit),)
        return tuple(steps), guards


def _rotation(wire: int, swizzle: Rotation, other: Expr, extent: Expr) -> _Way:
    value, straight = Index(digit_name(wire)), Index(straight_name(wire))
    back = Mod(_back(value, other, swizzle.sign), swizzle.radix)
    guards = [] if same(swizzle.radix, extent) else [Condition(value, "<", swizzle.radix)]
    if not same(swizzle.limit, swizzle.radix):
        guards.append(Condition(straight, "<", swizzle.limit))
    return ((straight.name, back),), tuple(guards)


def _turn(wire: int, swizzle: Turn, other: Expr, extent: Expr) -> _Way:
    value, straight = Index(digit_name(wire)), Index(straight_name(wire))
    back = Add(value, Mul(other, Sub(swizzle.top, Mul(Constant(2), value))))
    inside = same(swizzle.limit, extent)
    guards = () if inside else _between(straight, (ZERO,), (swizzle.limit,))
    return ((straight.name, back),), guards


def _shift(wire: int, swizzle: Shift, other: Expr, extent: Expr) -> _Way:
    value, straight = Index(digit_name(wire)), Index(straight_name(wire))
    back = _back(value, other, swizzle.sign)
    least = ZERO if swizzle.sign > 0 else simplify(Sub(extent, ONE))
    low = () if same(other, least) else (ZERO,)
    if swizzle.step == ONE:
        high = () if not low and same(swizzle.limit, extent) else (swizzle.limit,)
        return ((straight.name, back),), _between(straight, low, high)
    rest = Index(moved_name(wire))
    steps = ((rest.name, back), (straight.name, FloorDiv(rest, swizzle.step)))
    guards = _between(rest, low, (times(swizzle.limit, swizzle.step),))
    exact = Condition(Mod(rest, swizzle.step), "==", ZERO)
    return steps, (*guards, exact)


def _between(value: Expr, low: tuple[Expr, ...], high: tuple[Expr, ...]) -> tuple[Condition, ...]:
    return (
        *(Condition(value, ">=", least) for least in low),
        *(Condition(value, "<", limit) for limit in high),
    )


def _back(value: Expr, other: Expr, sign: int) -> Expr:
    return simplify(Sub(other, value) if sign < 0 else Sub(value, other))


def join(found: Network, chain: Chain) -> Expr:
    """Return the whole from its digits, by Horner's rule."""
    return _horner(chain.cuts, found.name)


def _horner(cuts: tuple[Cut, ...], name: Callable[[int], str]) -> Expr:
    if not cuts:
        return ZERO
    *minor, top = cuts
    value: Expr = Index(name(top.wire))
    for cut in reversed(minor):
        assert cut.radix is not None
        value = Add(Mul(value, cut.radix), Index(name(cut.wire)))
    return value


def recovered(expr: Expr, found: Network, name: Callable[[int], str]) -> tuple[Expr, set[int]]:
    """Return an expression over the names of digits, and the wires that it needs.

    Args:
        expr: over indices and extents.
        found: which digits there are.
        name: of each wire.
    """
    digit = read(expr)
    if digit is not None and isinstance(digit.whole, Index):
        chain = next(each for each in found.chains if each.whole == digit.whole)
        cuts = _overlapping(digit, chain)
        return _cut_out(digit, cuts, name), {cut.wire for cut in cuts}
    if not children(expr):
        return expr, set()
    if isinstance(expr, MixedRadix):
        parts = [recovered(part.value, found, name) for part in expr.parts]
        whole = tuple(
            Coordinate(value, part.extent, declared=True)
            for (value, _), part in zip(parts, expr.parts, strict=True)
        )
        return MixedRadix(whole), set().union(*(needed for _, needed in parts))
    left, right = (recovered(each, found, name) for each in children(expr))
    return type(expr)(left[0], right[0]), left[1] | right[1]  # type: ignore[call-arg, arg-type]


def _overlapping(digit: Digit, chain: Chain) -> tuple[Cut, ...]:
    """The digits of a whole that one more digit of it has a part of, as far as can be seen."""
    return tuple(cut for cut in chain.cuts if not apart(digit, cut))


def _cut_out(digit: Digit, cuts: tuple[Cut, ...], name: Callable[[int], str]) -> Expr:
    value = _horner(cuts, name)
    if not cuts:
        return value
    start, last = cuts[0].divisor, cuts[-1]
    divisor = exact_quotient(digit.divisor, start)
    if divisor is None:
        return ZERO
    if not same(divisor, ONE):
        value = FloorDiv(value, divisor)
    if digit.radix is None:
        return value
    if last.end is not None and digit.end is not None and same(last.end, digit.end):
        return value
    return Mod(value, digit.radix)
