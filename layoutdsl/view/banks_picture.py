"""What threads of a GPU touch together, drawn: a column a bank, a row a cycle.

Threads that want one word share a cell. Words of one bank lie below each other, one cycle each: all
but the first are red, as whoever wants them waits.
"""

from __future__ import annotations

from collections.abc import Iterator

from layoutdsl.language.meaning.banks import BANKS, WORD, Access, Banks
from layoutdsl.view.banks_words import bytes_text, conflicts_text, reads_text, threads_text
from layoutdsl.view.cells import Cell, Drawn, Entry, Line, Tensor
from layoutdsl.view.grounds import EIGHT
from layoutdsl.view.panels import panels

MOST_IN_A_CELL = 7
"""Characters of the threads that are written in a cell; more are counted."""


def drawn_banks(title: str, found: Banks) -> Drawn:
    """Return the picture.

    Args:
        title: of what is read, and at which shape.
        found: what threads touch.
    """
    lines = tuple(_lines(found))
    where: dict[int, list[int]] = {}
    for line in lines:
        for cell in line.cells:
            for thread in cell.holds:
                where.setdefault(thread, []).append(cell.number)

    def entry(place: tuple[int, ...]) -> Entry:
        access = found.accesses[place[0]]
        ground = access.thread % len(EIGHT)
        return Entry(access.thread, str(access.byte), tuple(where[access.thread]), ground)

    axes = (("thread", len(found.accesses)),)
    counts = f"{reads_text(found)}; {conflicts_text(found)}"
    return Drawn(
        title,
        counts,
        "cycle",
        ("phase",),
        lines,
        (Tensor("", axes, 0, panels(axes, entry, axes[0][1], 8)),),
        tuple(_legend(found)),
        (),
        len(EIGHT),
        "",
        "",
        tuple(map(str, range(BANKS))),
    )


def _legend(found: Banks) -> Iterator[str]:
    yield f"Each column is one of the {BANKS} banks, {WORD} bytes wide."
    yield "Each row is one cycle; a cell shows the threads that are served."
    yield "Each thread shows the first byte that it reads."
    yield "Grey banks are idle in this cycle."
    if found.conflict is not None:
        yield "Red threads wait: their bank is busy with another word of the same phase."


def _lines(found: Banks) -> Iterator[Line]:
    cycle = 0
    for number, phase in enumerate(found.phases):
        for row in range(max(map(len, phase.values()))):
            cells = tuple(_cell(bank, cycle, row, phase.get(bank, {})) for bank in range(BANKS))
            yield Line(cycle, (str(number),), cells, opens=2 if cycle and not row else 0)
            cycle += 1


def _cell(bank: int, cycle: int, row: int, words: dict[int, list[Access]]) -> Cell:
    number = cycle * BANKS + bank
    if row >= len(words):
        return Cell(number, "before", "", reason=f"bank {bank} is idle in cycle {cycle}")
    word, accesses = list(words.items())[row]
    threads = [each.thread for each in accesses]
    label = threads_text(threads)
    if len(label) > MOST_IN_A_CELL:
        label = f"{len(threads)} thr"
    who = "thread" if len(threads) == 1 else "threads"
    reason = f"cycle {cycle}, bank {bank}: {bytes_text(word * WORD, WORD)} for {who} "
    return Cell(
        number,
        "shared" if row else "element",
        label,
        threads[0] % len(EIGHT),
        tuple(threads),
        reason + threads_text(threads),
    )
