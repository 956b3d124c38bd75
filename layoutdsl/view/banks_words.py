"""What threads of a GPU touch together, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from layoutdsl.language.meaning.banks import LINE, SECTOR, Access, Banks
from layoutdsl.language.meaning.counterexample import index_text


def banks_text(title: str, found: Banks) -> str:
    """Return what threads wait for each other, and what is fetched for them.

    Args:
        title: of what they read, and at which shape.
        found: what they touch.
    """
    return "\n".join([f"{title}: {reads_text(found)}", *_conflicts(found), *_traffic(found)])


def reads_text(found: Banks) -> str:
    """Return how many threads read how much: ``32 threads read 16 bytes each, 8 at a time``."""
    threads = len(found.accesses)
    each = f"{threads} threads read" if threads > 1 else "1 thread reads"
    bytes_ = f"{found.bytes} byte{'' if found.bytes == 1 else 's'}"
    at_a_time = f", {found.together} at a time" if threads > found.together else ""
    return f"{each} {bytes_} each{at_a_time}"


def conflicts_text(found: Banks) -> str:
    """Return the verdict: ``8-way conflicts: 32 cycles instead of 4, 8 times as many``."""
    cycles = _plural(found.cycles, "cycle")
    if found.conflict is None:
        return f"no conflicts: {cycles}"
    times = f"{found.cycles / found.least_cycles:g}"[:4].rstrip(".")
    return (
        f"{found.ways}-way conflicts: {cycles} instead of {found.least_cycles}, "
        f"{times} times as many"
    )


def _conflicts(found: Banks) -> Iterator[str]:
    conflict, cycles = found.conflict, _plural(found.cycles, "cycle")
    if conflict is None:
        yield f"without conflicts: {cycles}"
        return
    yield f"{found.ways}-way conflicts: {cycles}, and {found.least_cycles} without"
    phase = "" if found.least_cycles == 1 else f"phase {conflict.phase}, "
    yield f"  {phase}bank {conflict.bank}:"
    for each in (conflict.one, conflict.other):
        yield f"    {access_text(each, found.bytes)}"


def _traffic(found: Banks) -> Iterator[str]:
    moved = found.sectors * SECTOR
    sectors, lines = _plural(found.sectors, "sector"), _plural(found.lines, "line")
    yield f"from global memory: {sectors} of {SECTOR} bytes, in {lines} of {LINE}"
    yield f"  {found.wanted_bytes} of {moved} bytes are wanted, {_share(found.wanted_bytes, moved)}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part // whole}%"


def access_text(access: Access, size: int) -> str:
    """Return which bytes a thread reads: ``thread 1 at (m=1, k=0) reads bytes 128..143``."""
    at = f" at {index_text(access.index)}" if access.index else ""
    return f"thread {access.thread}{at} reads {bytes_text(access.byte, size)}"


def bytes_text(first: int, size: int) -> str:
    """Return a run of bytes: ``bytes 128..143``."""
    return f"byte {first}" if size == 1 else f"bytes {first}..{first + size - 1}"


def threads_text(threads: Sequence[int]) -> str:
    """Return numbers of threads in little room.

    >>> threads_text([0, 1, 2, 8]), threads_text([5])
    ('0-2,8', '5')
    """
    runs: list[list[int]] = []
    for each in threads:
        if runs and each == runs[-1][-1] + 1:
            runs[-1].append(each)
        else:
            runs.append([each])
    return ",".join(str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
