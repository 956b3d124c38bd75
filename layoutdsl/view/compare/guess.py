"""From digits and strides at some shapes to the text of a layout that has them at each.

A text is a guess: whoever makes it reads it, and holds it against every shape that was watched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd, prod

from layoutdsl.view.compare.crossings import Run
from layoutdsl.view.compare.digits_seen import DigitSeen
from layoutdsl.view.compare.taken import Taken
from layoutdsl.view.compare.watching import Watched

MOST_JOINED = 4
"""Coordinates that are made one where their extent is declared together."""


MOST_MORE = 257
"""What is added to an extent is below it, such as the room that keeps banks apart."""

MOST_STARTS = 512
"""Slots before the buffer that are tried."""


class Stuck(Exception):  # noqa: N818  an answer: what was seen is nothing that we look for
    """No text was found; says why, and at which shape."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A shape at which every digit takes a step, and where each of them leads."""

    watched: Watched
    strides: dict[DigitSeen, int]


@dataclass(frozen=True, slots=True)
class Frame:
    """What a text says besides its coordinates."""

    name: str
    axes: tuple[str, ...]
    taken: tuple[Taken, ...]
    fill: str

    def extent(self, axis: int) -> str:
        """Return the extent of an axis as a text says it."""
        own = self.taken[axis]
        return str(own.least) if own.fixed else self.axes[axis].upper()

    def text(self, coordinates: Sequence[str], start: int) -> str:
        """Return a declaration."""
        declared = (
            f"{name}: {own.least}" if own.fixed else name
            for name, own in zip(self.axes, self.taken, strict=True)
        )
        where = [
            condition
            for name, own in zip(self.axes, self.taken, strict=True)
            if not own.fixed
            for condition in own.conditions(name.upper())
        ]
        clauses = [self.fill] if self.fill else []
        clauses += [f"offset {start}"] if start else []
        clauses += [f"where {', '.join(where)}"] if where else []
        head = f"layout {self.name}({', '.join(declared)}) = [{', '.join(coordinates)}]"
        return " ".join([head, *clauses])


def guess(
    frame: Frame, digits: Sequence[DigitSeen], runs: Sequence[Run], samples: Sequence[Sample]
) -> str:
    """Return a text that has the strides of all samples.

    Raises:
        Stuck: there is none of those that are looked for.
    """
    first = samples[0]
    order = sorted(digits, key=lambda each: first.strides[each])
    for sample in samples:
        steps = [sample.strides[each] for each in order]
        if any(low >= high for low, high in pairwise(steps)):
            raise Stuck(f"the order of digits is another at shape {sample.watched.extents}")
    starts = [each.watched.first for each in samples]
    tried = [*dict.fromkeys([min(starts), 0, *range(min(starts))])][:MOST_STARTS]
    stuck: Stuck | None = None
    for start in tried:
        try:
            coordinates = _Coordinates(frame, order, runs, samples, start).found()
        except Stuck as reason:
            stuck = stuck or reason
            continue
        return frame.text(coordinates, start)
    raise stuck or Stuck("no buffer begins there")


class _Coordinates:
    """Works out coordinates and their extents, from the most minor, behind so many slots."""

    def __init__(
        self,
        frame: Frame,
        order: Sequence[DigitSeen],
        runs: Sequence[Run],
        samples: Sequence[Sample],
        start: int,
    ) -> None:
        self._frame, self._order, self._samples = frame, order, samples
        self._by = {each.moved: each.by for each in runs}
        self._start = start
        self._more = self._constants()

    def _constants(self) -> list[int]:
        """What is added to each digit, and to the most minor slot, so that the first element lies
        where it does; a gap before the buffer, such as a header, is not among them."""
        left = [each.watched.first - self._start for each in self._samples]
        found: list[int] = []
        for at in reversed(range(len(self._order))):
            more = {rest // step for rest, step in zip(left, self._steps(at), strict=True)}
            if len(more) > 1:
                raise Stuck("the first element lies at another offset at each shape")
            found.insert(0, more.pop())
            left = [rest % step for rest, step in zip(left, self._steps(at), strict=True)]
        if len({*left}) > 1:
            raise Stuck("the first element lies at another offset at each shape")
        return [left[0], *found]

    def found(self) -> list[str]:
        """Return the coordinates, most major first."""
        gap, least = self._steps(0), self._more[0]
        texts: list[str] = []
        if {*gap} != {1}:
            declared = _fitting([least + 1] * len(gap), str(least + 1), gap)
            if declared is None or not self._order:
                raise Stuck("the most minor digit has another stride at each shape")
            texts.append(f"{least} : {declared}" if declared else str(least))
        joined: list[tuple[int, str]] = []  # the lowest digit of each coordinate, and its text
        for at, digit in enumerate(self._order):
            more = self._more[at + 1]
            joined.append((at, f"{self._digit(digit)} + {more}" if more else self._digit(digit)))
            self._declare(joined, at)
        return [text for _, text in reversed(joined)] + texts

    def _declare(self, joined: list[tuple[int, str]], at: int) -> None:
        """Say the extent of the last coordinate, put together with some before it if need be."""
        for count in range(1, min(len(joined), MOST_JOINED) + 1):
            low = joined[-count][0]
            ratios = self._ratios(low, at + 1)
            if ratios is None or any(" : " in text for _, text in joined[-count:]):
                continue
            own = range(low, at + 1)
            naturals = [prod(self._count(each, s) for each in own) for s in self._samples]
            fixed = all(self._order[each].radix is not None for each in own)
            declared = _fitting(naturals, self._extent(own), ratios, fixed=fixed)
            if declared is None or (count > 1 and declared == ""):
                continue
            texts = [text for _, text in reversed(joined[-count:])]
            whole = texts[0] if count == 1 else f"({', '.join(texts)})"
            joined[-count:] = [(low, f"{whole} : {declared}" if declared else whole)]
            return
        extents = self._samples[0].watched.extents
        raise Stuck(
            f"the extent of coordinate `{joined[-1][1]}` follows from no axis of its own, "
            f"as at shape {extents}"
        )

    def _count(self, at: int, sample: Sample) -> int:
        """How many values a coordinate has, with what is added to its digit."""
        digit = self._order[at]
        return digit.count(sample.watched.extents[digit.axis]) + self._more[at + 1]

    def _steps(self, at: int) -> list[int]:
        """The stride of a digit at each sample; behind the last one, the slots that are left."""
        if at < len(self._order):
            return [each.strides[self._order[at]] for each in self._samples]
        return [each.watched.slots - self._start for each in self._samples]

    def _ratios(self, low: int, high: int) -> list[int] | None:
        pairs = list(zip(self._steps(low), self._steps(high), strict=True))
        if any(above % below for below, above in pairs):
            return None
        return [above // below for below, above in pairs]

    def _digit(self, digit: DigitSeen) -> str:
        others = (self._plain(each) for each in self._by.get(digit, ()))
        return " ^ ".join([self._plain(digit), *others])

    def _plain(self, digit: DigitSeen) -> str:
        name = self._frame.axes[digit.axis]
        cut = f"{name}/{digit.divisor}" if digit.divisor > 1 else name
        return cut if digit.radix is None else f"{cut}%{digit.radix}"

    def _extent(self, own: Sequence[int]) -> str:
        texts = [self._own_extent(each) for each in reversed(own)]
        return texts[0] if len(texts) == 1 else "*".join(f"({t})" if "+" in t else t for t in texts)

    def _own_extent(self, at: int) -> str:
        digit, more = self._order[at], self._more[at + 1]
        if digit.radix is not None:
            return str(digit.radix + more)
        whole = self._frame.extent(digit.axis)
        found = f"ceil({whole}/{digit.divisor})" if digit.divisor > 1 else whole
        return f"{found} + {more}" if more else found


def _fitting(
    naturals: Sequence[int], text: str, wanted: Sequence[int], *, fixed: bool = False
) -> str | None:
    """Return the extent that is ``wanted`` where the natural one is ``naturals``.

    An empty text is the natural extent; ``None``: there is none of those that are tried.
    """
    if list(wanted) == list(naturals):
        return ""
    if any(each < own for each, own in zip(wanted, naturals, strict=True)):
        return None
    if len({*wanted}) == 1 and (fixed or len({*naturals}) > 1 or len(naturals) == 1):
        return str(wanted[0])
    for form in _forms(wanted):
        if all(form.of(own) == each for own, each in zip(naturals, wanted, strict=True)):
            return form.text(text)
    return str(wanted[0]) if len({*wanted}) == 1 else None


@dataclass(frozen=True, slots=True)
class _Form:
    """An extent that follows from a natural one: rounded up, times a number, more, and at least."""

    step: int = 1
    times: int = 1
    more: int = 0
    least: int = 1

    def of(self, own: int) -> int:
        return max(-(-own // self.step) * self.step * self.times + self.more, self.least)

    def text(self, own: str) -> str:
        found = f"roundup({own}, {self.step})" if self.step > 1 else own
        found = f"({found})*{self.times}" if self.times > 1 else found
        found = f"{found} + {self.more}" if self.more else found
        return f"max({found}, {self.least})" if self.least > 1 else found


def _forms(wanted: Sequence[int]) -> Iterator[_Form]:
    """Yield forms that an extent may have, the simplest first."""
    common = gcd(*wanted)
    yield from (_Form(step=each) for each in _divisors(common))
    yield from (_Form(more=each) for each in range(1, MOST_MORE))
    yield from (_Form(times=each) for each in _divisors(common))
    yield _Form(least=min(wanted))
    yield from (_Form(step=1 << bit, more=each) for bit in range(1, 9) for each in (1, 2, 4, 8, 16))


def _divisors(number: int) -> Iterator[int]:
    """Yield the divisors of a number, but for 1, the largest of a few thousand first."""
    for each in range(min(number, 4096), 1, -1):
        if number % each == 0:
            yield each
