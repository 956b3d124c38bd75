"""What ``bench`` prints: a row per move, what they say together, and tables for a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from layoutdsl.commands.bench.limits import machine
from layoutdsl.commands.bench.measure import NOISY
from layoutdsl.commands.bench.moves import Task
from layoutdsl.commands.bench.peers.ours import TWO_PASSES
from layoutdsl.commands.bench.peers.peer import Peer, version_of
from layoutdsl.commands.bench.peers.shelf import ONE_THREAD, OURS, PEERS
from layoutdsl.commands.bench.run import Measured, Outcome, Plan, Result, Skipped, Wrong
from layoutdsl.commands.bench.summary import (
    Group,
    Standing,
    faults,
    grouped,
    reasons,
    reference_of,
    standings,
    worst,
)
from layoutdsl.language.integers.expr import coordinate_text
from layoutdsl.shell.output import terminal_width

SHARED = {"native", "numpy"}
"""Of these the share of the floor is shown, of all others how many times longer they take."""

MOST_NAMED = 2

# 79 characters, so that a terminal of 80 columns shows a candidate in a line.
_STANDINGS = "  {:<11}{:>5}{:>6}  {:<11}{:>6}{:>10}{:>11}{:>9}{:>6}"


def head(plan: Plan) -> str:
    """Return what is measured, and where."""
    threads = "1 thread" if plan.threads == 1 else f"{plan.threads} threads"
    return f"{machine()}; {threads}\n{_versions(plan.candidates)}".rstrip()


def _versions(candidates: Iterable[Peer]) -> str:
    known = {each.package: version_of(each.package) for each in candidates if each.package}
    return ", ".join(f"{name} {version}" for name, version in known.items())


class Rows:
    """The rows of moves, with a head where their columns change.

    A terminal that is too narrow for a row gets the name of the case on a line of its own, above
    the rows of the case.
    """

    def __init__(self, candidates: Sequence[Peer]) -> None:
        self._names = [each.name for each in candidates]
        self._names_shown: list[str] = []
        self._case_shown = ""

    def lines(self, result: Result) -> str:
        """Return the row of a result, below a head where there has to be one."""
        names = _columns(self._names, result.task.verb)
        head, row, case = _row_head(names), _row(result, names).rstrip(), result.task.name
        narrow = len(head) > terminal_width()
        if narrow:
            head, row = (f"  {each[_CASE:]}" for each in (head, row))
        lines = []
        if names != self._names_shown:
            lines += ["", click.style(head, bold=True)]
            self._names_shown, self._case_shown = names, ""
        if narrow and case != self._case_shown:
            lines.append(case)
            self._case_shown = case
        return "\n".join([*lines, row])


_CASE = 27
"""Columns of the name of a case."""


def _columns(names: Sequence[str], verb: str) -> list[str]:
    """What another way to convert took is shown where something is converted."""
    return [each for each in names if verb == "convert" or each != TWO_PASSES]


def _row_head(names: list[str]) -> str:
    cells = "".join(f" {each:>{_width(each)}}" for each in names)
    return f"{'case':<{_CASE}}{'type':<9}{'shape':<16}{'verb':<8}{'us':>9} {cells}"


def _row(result: Result, names: list[str]) -> str:
    task = result.task
    took = result.outcomes[result.reference] if result.reference is not None else None
    micros = f"{took.seconds.median * 1e6:9.1f}" if isinstance(took, Measured) else f"{'-':>9}"
    cells = "".join(
        f" {_cell(each, result.outcomes[each]):>{_width(each)}}"
        for each in names
        if each in result.outcomes
    )
    shape = "x".join(map(str, task.shape))
    return f"{task.name:<{_CASE}}{task.dtype:<9}{shape:<16}{task.verb:<8}{micros} {cells}"


def _width(name: str) -> int:
    return max(6, len(name))


def _cell(name: str, outcome: Outcome) -> str:
    match outcome:
        case Measured(share=share, ratio=ratio):
            noise = "~" if share.noisy else " "
            return (
                f"{share.median:.2f}{noise}" if name in SHARED else f"{_times(ratio.median)}{noise}"
            )
        case Skipped():
            return "- "
        case Wrong():
            return "wrong "


def _times(ratio: float) -> str:
    return f"{ratio:.1f}x" if ratio < 99.95 else f"{ratio:.0f}x"


def ending(results: Sequence[Result], missing: dict[str, str], count: int) -> str:
    """Return what all results say together, what was skipped, and so many worst cases last."""
    blocks = [_skipped(results), _missing(missing), _noise(results)]
    for title, some in _parts(results):
        blocks.append(_standings_text(title, some))
    blocks += [_faulty(results), _worst(results, count)]
    return "\n".join(f"\n{each}" for each in blocks if each)


def _parts(results: Sequence[Result]) -> list[tuple[str, list[Result]]]:
    moved = [each for each in results if each.task.verb != "convert"]
    converted = [each for each in results if each.task.verb == "convert"]
    named = (("packing and unpacking", moved), ("conversions", converted))
    return [(title, some) for title, some in named if some]


def _standings_text(title: str, results: list[Result]) -> str:
    reference = reference_of(results)
    lines = [
        f"{title}: geometric means over {_count(len(results), 'move')}",
        click.style(
            _STANDINGS.format(
                "",
                "moves",
                "share",
                "middle half",
                "least",
                f"x {reference or '-'}",
                "wins of it",
                "at least",
                "built",
            ),
            bold=True,
        ),
    ]
    shown = [each for each in standings(results) if each.measured or each.wrong]
    return "\n".join([*lines, *map(_standing_line, shown)])


def _standing_line(each: Standing) -> str:
    if each.share is None or each.shares is None or each.worst is None:
        return f"  {each.name:<11}{each.measured:>5}"
    beside = ["", "", ""]
    if each.beside is not None:
        wins = f"{each.beside.wins}/{each.beside.count}"
        beside = [_times(each.beside.mean), wins, f"{each.beside.least.value:.2f}x"]
    return _STANDINGS.format(
        each.name,
        each.measured,
        f"{each.share:.2f}",
        f"{each.shares.low:.2f}..{each.shares.high:.2f}",
        f"{each.worst.value:.2f}",
        *beside,
        f"{each.compiled:.1f}s",
    )


def _skipped(results: Sequence[Result]) -> str:
    lines = [
        f"  {name}: {reason} ({_named(tasks)})"
        for (name, reason), tasks in reasons(results).items()
        if name != TWO_PASSES or any(task.verb == "convert" for task in tasks)
    ]
    return "\n".join(["skipped:", *lines]) if lines else ""


def _missing(missing: dict[str, str]) -> str:
    lines = [f"  {name}: {reason}" for name, reason in missing.items()]
    return "\n".join(["left out:", *lines]) if lines else ""


def _noise(results: Sequence[Result]) -> str:
    found = [each for part in results for each in part.outcomes.values()]
    measured = [each for each in found if isinstance(each, Measured)]
    noisy = sum(each.share.noisy for each in measured)
    if not noisy:
        return ""
    words = f"{_count(noisy, 'share')} of {len(measured)} {'is' if noisy == 1 else 'are'} noisy (~)"
    return f"{words}: the middle half is wider than {NOISY:.0%} of the median"


def _faulty(results: Sequence[Result]) -> str:
    lines = [
        f"  {name}: {reason} ({_named(tasks)})" for (name, reason), tasks in faults(results).items()
    ]
    return "\n".join(["wrong, and not timed:", *lines]) if lines else ""


def _worst(results: Sequence[Result], count: int) -> str:
    """The worst cases of the reference: beside the floor, and beside each other candidate."""
    reference = reference_of(results)
    lines = list[str]()
    for number, each in enumerate(worst(results, count)):
        words = "" if number else "beside the floor"
        lines.append(f"  {words:<20}{each.value:.2f}   {each.task}")
        if count > 1:
            lines.append(f"  {'':<27}{_layouts(each.task)}")
    lines += [
        f"  beside {each.name:<13}{each.beside.least.value:.2f}x  {each.beside.least.task}"
        for each in standings(results)
        if each.beside is not None
    ]
    return "\n".join([f"where {reference} does worst:", *lines]) if lines else ""


def _layouts(task: Task) -> str:
    """The coordinates of a layout, which its title does not tell."""
    written = [each for each in (task.source, task.target) if each is not None]
    return " -> ".join(f"[{', '.join(map(coordinate_text, each.coordinates))}]" for each in written)


def _named(tasks: Sequence[Task]) -> str:
    if len(tasks) <= MOST_NAMED:
        return "; ".join(map(str, tasks))
    return _count(len(tasks), "move")


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def markdown(plan: Plan, results: Sequence[Result], missing: dict[str, str], count: int) -> str:
    """Return the tables for a document: the machine, all together, by case, the worst cases."""
    blocks = [head(plan).strip().replace("\n", "  \n")]
    for title, some in _parts(results):
        blocks.append(_standings_table(title, some))
        blocks.append(_groups_table(plan, grouped(some), some))
    blocks += [_skipped(results), _missing(missing), _faulty(results), _worst(results, count)]
    listed = [each.replace("\n  ", "\n- ", 1).replace("\n  ", "\n- ") for each in blocks if each]
    return "\n\n".join(each.replace(":\n- ", ":\n\n- ", 1) for each in listed)


def _standings_table(title: str, results: list[Result]) -> str:
    reference = reference_of(results)
    says = {each.name: each.says for each in (*OURS, ONE_THREAD, *PEERS)}
    lines = [
        f"{title.capitalize()}, {_count(len(results), 'move')}:",
        "",
        f"| | what | moves | share of the floor | middle half | least | times `{reference}`"
        f" | wins of `{reference}` |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for each in standings(results):
        if each.share is None or each.shares is None or each.worst is None:
            continue
        beside = each.beside
        times = f"{beside.mean:.1f} | {beside.wins} of {beside.count}" if beside else "1 |"
        lines.append(
            f"| {each.name} | {says.get(each.name, '')} | {each.measured} | {each.share:.2f}"
            f" | {each.shares.low:.2f}..{each.shares.high:.2f} | {each.worst.value:.2f} | {times} |"
        )
    return "\n".join(lines)


def _groups_table(plan: Plan, groups: Sequence[Group], results: list[Result]) -> str:
    names = _columns([each.name for each in plan.candidates], results[0].task.verb)
    titles = [f"{name}, share" if name in SHARED else f"{name}, times" for name in names]
    lines = [
        f"| case | type | {' | '.join(titles)} |",
        f"| --- | --- |{' ---: |' * len(names)}",
    ]
    for each in groups:
        cells = [
            "-"
            if name not in each.shares
            else f"{each.shares[name]:.2f}"
            if name in SHARED
            else f"{each.ratios[name]:.1f}"
            for name in names
        ]
        lines.append(f"| {each.title} | {each.dtype} | {' | '.join(cells)} |")
    return "\n".join(lines)
