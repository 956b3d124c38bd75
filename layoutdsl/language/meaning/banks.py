"""What threads of a GPU touch when they read together: banks of shared memory, and sectors.

Plain integers, as the programming guides have it: shared memory is 32 banks of words of 4 bytes, in
turn. Threads that want one word get it at once; those that want other words of one bank wait for
each other. Reads of 4 bytes and less go 32 threads at a time, of 8 bytes 16, of 16 bytes 8. Global
memory comes in sectors of 32 bytes, four of them a line.

Source: CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x and later, and "Device
Memory Accesses"; that wide reads go by halves and quarters of a warp is what NVIDIA's engineers say
of them ("shared memory bank conflicts with vectorized access").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from layoutdsl.language.integers.expr import Expr
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.texts.values import said

BANKS = 32
WORD = 4
"""Bytes that a bank gives at a time."""

SECTOR, LINE = 32, 128
WARP = 32
WIDTHS = (1, 2, 4, 8, 16)
"""Bytes that a thread can read at once."""

MOST_THREADS = 1024


@dataclass(frozen=True, slots=True)
class Reading:
    """What threads read together.

    Attributes:
        bytes: that each thread reads, from the element at its index on.
        thread: the name of its number.
        threads: how many there are.
        index: of the element at which a thread starts, over its number and the extents.
        element: the type of the elements.
    """

    bytes: int
    thread: str
    threads: int
    index: tuple[tuple[str, Expr], ...]
    element: ElementType

    def at(self, thread: int, values: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
        """Return the index at which a thread starts."""
        known = {**values, self.thread: thread}
        return tuple((name, evaluate(expr, known)) for name, expr in self.index)


@dataclass(frozen=True, slots=True)
class Access:
    """A thread: the index of the element that it starts at, and the byte where this lies."""

    thread: int
    index: tuple[tuple[str, int], ...]
    byte: int


class UnreadableError(ValueError):
    """A thread reads what cannot be read: outside of the tensor, or across a border of words."""

    def __init__(self, message: str, index: tuple[tuple[str, int], ...]) -> None:
        super().__init__(message)
        self.index = index


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two threads of one phase that want other words of one bank."""

    phase: int
    bank: int
    one: Access
    other: Access


@dataclass(frozen=True)
class Banks:
    """What threads touch.

    Attributes:
        bytes: that each of them reads.
        accesses: one for each thread.
    """

    bytes: int
    accesses: tuple[Access, ...]

    def __repr__(self) -> str:
        words = f"{len(self.accesses)} threads of {self.bytes} bytes: {self.cycles} cycles"
        return said(self, f"{words}, {self.ways}-way")

    @property
    def together(self) -> int:
        """How many threads read in one phase."""
        return min(WARP, WARP * WORD // self.bytes)

    @cached_property
    def phases(self) -> tuple[dict[int, dict[int, list[Access]]], ...]:
        """For each phase the words of each bank in the order of threads, and who wants them."""
        found = []
        for warp in range(0, len(self.accesses), WARP):
            threads = self.accesses[warp : warp + WARP]
            parts = range(0, len(threads), self.together)
            found += [_banks(threads[k : k + self.together], self.bytes) for k in parts]
        return tuple(found)

    @property
    def ways(self) -> int:
        """How many words of one bank are wanted in one phase, at most; 1 is no conflict."""
        return max(len(words) for phase in self.phases for words in phase.values())

    @property
    def cycles(self) -> int:
        """How many times the banks are asked: in each phase as often as its busiest bank."""
        return sum(max(map(len, phase.values())) for phase in self.phases)

    @property
    def least_cycles(self) -> int:
        """How many there would be without conflicts."""
        return len(self.phases)

    @property
    def conflict(self) -> Conflict | None:
        """The first two threads that wait for each other."""
        for number, phase in enumerate(self.phases):
            for bank, words in sorted(phase.items()):
                if len(words) > 1:
                    one, other = (each[0] for each in list(words.values())[:2])
                    return Conflict(number, bank, one, other)
        return None

    @property
    def sectors(self) -> int:
        """How many sectors of global memory are fetched: for each warp those that it touches."""
        return self._touched(SECTOR)

    @property
    def lines(self) -> int:
        """How many lines of global memory these lie in, for each warp."""
        return self._touched(LINE)

    @property
    def wanted_bytes(self) -> int:
        """Bytes that are read, each counted once for each warp."""
        return sum(len(touched) for touched in self._bytes())

    def _touched(self, size: int) -> int:
        return sum(len({byte // size for byte in touched}) for touched in self._bytes())

    def _bytes(self) -> list[set[int]]:
        """The bytes that each warp reads."""
        warps = [self.accesses[k : k + WARP] for k in range(0, len(self.accesses), WARP)]
        return [{each.byte + k for each in warp for k in range(self.bytes)} for warp in warps]


def _banks(threads: Iterable[Access], size: int) -> dict[int, dict[int, list[Access]]]:
    found: dict[int, dict[int, list[Access]]] = {}
    for access in threads:
        for word in range(access.byte // WORD, (access.byte + size - 1) // WORD + 1):
            found.setdefault(word % BANKS, {}).setdefault(word, []).append(access)
    return found


def banks(layout: Layout, reading: Reading, values: Mapping[str, int]) -> Banks:
    """Return what threads touch at a shape.

    Args:
        layout: of what they read.
        reading: what each of them reads.
        values: every extent and parameter.

    Raises:
        UnreadableError: a thread reads outside of the tensor or of the buffer, or from an address
            that is no multiple of what it reads.
    """
    return Banks(
        reading.bytes,
        tuple(_access(layout, reading, values, thread) for thread in range(reading.threads)),
    )


def _access(layout: Layout, reading: Reading, values: Mapping[str, int], thread: int) -> Access:
    index = reading.at(thread, values)
    known = {**values, **dict(index)}
    for axis, extent in zip(layout.axes, layout.shape_of(values), strict=True):
        if not 0 <= known[axis.name] < extent:
            message = f"reads at {axis.name}={known[axis.name]}, outside 0..{extent - 1}"
            raise UnreadableError(f"thread {thread} {message}", index)
    if not layout.holds(known):
        raise UnreadableError(f"thread {thread} reads at an index that has no slot", index)
    byte, rest = divmod(layout.offset_at(known) * reading.element.bits, 8)
    if rest or byte % reading.bytes:
        where = f"byte {byte}" + (f" and {rest} bits" if rest else "")
        message = f"reads {reading.bytes} bytes from {where}, no multiple of {reading.bytes}"
        raise UnreadableError(f"thread {thread} {message}", index)
    if (byte + reading.bytes) * 8 > -(-layout.size(values) * reading.element.bits // 8) * 8:
        message = f"reads bytes {byte}..{byte + reading.bytes - 1}, beyond the buffer"
        raise UnreadableError(f"thread {thread} {message}", index)
    return Access(thread, index, byte)
