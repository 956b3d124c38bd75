"""Amounts in words: sizes, rates, the time that is left, and a line of them cut to a width."""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

from layoutdsl.files.pieces.amount import Amount
from layoutdsl.language.texts.values import printable

WINDOW = 5.0
"""Seconds that a rate is of."""

SOON = 1.0
"""Seconds before which nothing is said of a rate."""

GAP = "  "
MARK = "..."
_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")


@dataclass(slots=True)
class Pace:
    """How fast bytes were moved in the last seconds, by amounts and when they were told."""

    moved: deque[tuple[float, int]] = field(default_factory=deque)

    def take(self, now: float, amount: Amount) -> None:
        """Take note of an amount; times are in seconds, and do not go back."""
        self.moved.append((now, amount.done_bytes - amount.found_bytes))
        while len(self.moved) > 1 and self.moved[1][0] <= now - WINDOW:
            self.moved.popleft()

    @property
    def rate(self) -> float | None:
        """Bytes a second; nothing where it is too soon to say."""
        (first, less), (last, more) = self.moved[0], self.moved[-1]
        return None if last - first < SOON else max(more - less, 0) / (last - first)

    def left(self, amount: Amount) -> float | None:
        """The seconds that the rest takes at that rate."""
        rate = self.rate
        return (amount.total_bytes - amount.done_bytes) / rate if rate else None


def amount_parts(verb: str, amount: Amount, pace: Pace) -> list[str]:
    """Return what a line says of an amount; its second part is the name.

    >>> amount_parts("pack", Amount("w", 41, 226, 12 * 10**9, 68 * 10**9), Pace(deque([(0.0, 0)])))
    ['pack', 'w', '41 of 226', '12.0 of 68.0 GB']
    """
    parts = [verb, amount.name, f"{amount.number} of {amount.count}"]
    if amount.total_bytes:
        power = _power(amount.total_bytes)
        done, total = (_scaled(each, power) for each in (amount.done_bytes, amount.total_bytes))
        parts.append(f"{done} of {total} {_UNITS[power]}")
    rate, left = pace.rate, pace.left(amount)
    if rate is not None:
        parts.append(f"{_scaled(rate, _power(rate))} {_UNITS[_power(rate)]}/s")
    if left:
        parts.append(f"{time_text(left)} left")
    return parts


def time_text(seconds: float) -> str:
    """Return a time that is left as a person says it.

    >>> time_text(39.2), time_text(600), time_text(12_300)
    ('40 s', '10 min', '3 h 25 min')
    """
    if seconds <= 99:
        return f"{ceil(seconds)} s"
    minutes = ceil(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _power(size: float) -> int:
    """Of a thousand; what would be rounded to a thousand is one of the next unit."""
    power = 0
    while power < len(_UNITS) - 1 and size >= (1000 if power == 0 else 999.95):
        size, power = size / 1000, power + 1
    return power


def _scaled(size: float, power: int) -> str:
    return f"{size / 1000**power:.1f}" if power else f"{round(size)}"


def fitted(parts: Sequence[str], width: int) -> str:
    """Return parts as a line that is no wider than a terminal; the name gives way first.

    Args:
        parts: the second is a name, of which the end tells most.
        width: columns.
    """
    whole = list(parts)
    over = _wide(joined(whole)) - width
    if over > 0 and len(whole) > 1:
        name = printable(whole[1])
        whole[1] = _end(name, _wide(name) - over)
    return _start(joined(whole), width)


def joined(parts: Sequence[str]) -> str:
    """Return parts as a line, whatever its width."""
    return GAP.join(printable(each) for each in parts if each)


def _end(name: str, width: int) -> str:
    """The end of a name, behind a mark; nothing where no letter of it has room."""
    kept = name
    while kept and _wide(kept) > width - len(MARK):
        kept = kept[1:]
    return f"{MARK}{kept}" if kept else ""


def _start(line: str, width: int) -> str:
    while _wide(line) > width:
        line = line[:-1]
    return line


def _wide(words: str) -> int:
    """The columns that words take."""
    return len(words) + sum(unicodedata.east_asian_width(each) in "WF" for each in words)
