"""Pages of `prove` and `diff`: verdicts as cards, counterexamples drawn, and what was proved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import dedent
from typing import TYPE_CHECKING

import click

from layoutdsl.shell.verdicts import Verdict, verdict_text
from layoutdsl.view.html import Tone, banner, block, card, facts, heading, page, paragraph, picture

if TYPE_CHECKING:
    from layoutdsl.language.meaning.model import Layout
    from layoutdsl.proof.prover.verdict import Refuted
    from layoutdsl.view.compare.difference import Difference

MOST_DRAWN = 40
"""Refuted claims that are drawn on one page; the others are described in words."""

MOST_EXAMPLES = 12
"""Layouts without a counterexample that are drawn, at a small shape."""

_ORDER: dict[Tone, int] = {"bad": 0, "doubt": 1, "good": 2}
_TIME = re.compile(r"\s+\(([^()]*)\)$")


def verdict_page(verdicts: Sequence[Verdict], summary: str, verbosity: int) -> str:
    """Return a page with a section for each layout: its text, its claims, and a picture.

    Layouts with a claim that failed come first, then undecided ones. Counterexamples are drawn.

    Args:
        verdicts: in the order of the text.
        summary: what the shell says in the end.
        verbosity: of the words.
    """
    title, *others = click.unstyle(summary).splitlines()
    took = _TIME.search(title)
    title = _TIME.sub("", title)
    notes = [*([took[1]] if took else []), *others]
    top = banner(_worst(verdicts), title, *(paragraph(each, "faint") for each in notes))
    sections: dict[tuple[type, str], list[Verdict]] = {}
    for each in verdicts:
        subject = each.checked.claim.subject
        sections.setdefault((type(subject), subject.name), []).append(each)
    room = _Room()
    first = sorted(sections.values(), key=lambda each: _ORDER[_worst(each)])
    parts = [part for each in first for part in _section(each, verbosity, room)]
    return page(title, top, *parts)


class _Room:
    """How many more pictures the page takes."""

    def __init__(self) -> None:
        self.refuted, self.examples = MOST_DRAWN, MOST_EXAMPLES


def _worst(verdicts: Sequence[Verdict]) -> Tone:
    tones = {_tone(each) for each in verdicts}
    return "bad" if "bad" in tones else "doubt" if "doubt" in tones or not tones else "good"


def _tone(verdict: Verdict) -> Tone:
    if verdict.checked.passed:
        return "good"
    return "doubt" if verdict.checked.status == "undecided" else "bad"


def _section(verdicts: Sequence[Verdict], verbosity: int, room: _Room) -> Iterator[str]:
    from layoutdsl.commands.illustrations import declared, example

    subject = verdicts[0].checked.claim.subject
    yield heading(f"{type(subject).__name__} `{subject.name}`")
    yield block(declared(subject))
    for each in sorted(verdicts, key=lambda each: _ORDER[_tone(each)]):
        yield _card(each, verbosity, room)
    if all(each.checked.passed for each in verdicts) and room.examples:
        drawn = example(subject)
        if drawn is not None:
            room.examples -= 1
            yield picture(drawn)


def _card(verdict: Verdict, verbosity: int, room: _Room) -> str:
    from layoutdsl.commands.illustrations import counterexamples
    from layoutdsl.proof.prover.verdict import Proved, Refuted, milliseconds

    checked = verdict.checked
    first, *lines = click.unstyle(verdict_text(verdict, verbosity)).splitlines()
    parts: list[str] = []
    if checked.status == "refuted":
        refuted = [each for each in checked.findings if isinstance(each, Refuted)]
        found = [part for each in refuted for part in _counterexample(verdict, each)]
        if checked.passed:
            found = ["<details><summary>counterexample</summary>", *found, "</details>"]
        elif room.refuted:
            pictures = counterexamples(checked)
            room.refuted -= bool(pictures)
            found += map(picture, pictures)
        parts += [*found, block("\n".join(_hints(lines)))]
    elif checked.status == "proved" and not checked.passed:
        parts.append(paragraph(first, "sentence"))
    else:
        proved = [each for each in checked.findings if isinstance(each, Proved)]
        properties = [each.property for each in proved] if len(proved) > 1 else []
        told = [each for each in lines if not each.startswith("  proved  ")]
        parts += [facts(properties), block(dedent("\n".join(told)))]
    claim, took = checked.claim.text, milliseconds(verdict.seconds)
    return card(_tone(verdict), checked.outcome, claim, *parts, took=took)


def _counterexample(verdict: Verdict, found: Refuted) -> Iterator[str]:
    sentence, *lines = found.example.lines
    yield paragraph(sentence, "sentence")
    yield block(dedent("\n".join(lines)))
    replays = verdict.replays(found)
    if replays and not verdict.checked.passed:
        yield paragraph("Run it again:", "faint")
        yield block("\n".join(replays))


def _hints(lines: Sequence[str]) -> list[str]:
    return [each.strip() for each in lines if each.startswith("  = help: ")]


def difference_page(
    names: tuple[str, str],
    words: str,
    found: Difference,
    layouts: tuple[Layout, Layout],
    axes: str | None,
) -> str:
    """Return a page with both layouts, drawn at the smallest shape at which they differ.

    Args:
        names: both layouts, as they were written on the command line.
        words: what the shell says.
        found: what `diff` found of them.
        layouts: both.
        axes: which axes are which, as `diff` was told.
    """
    from layoutdsl.commands.illustrations import declared, differences, example
    from layoutdsl.view.compare.difference import Unknown

    first, *lines = click.unstyle(words).splitlines()
    took = _TIME.search(first)
    answer = re.sub(r"\s\s+", ": ", _TIME.sub("", first).strip(), count=1)
    tone: Tone = "doubt" if isinstance(found, Unknown) else "good" if found.same else "bad"
    top = banner(
        tone, answer, paragraph(took[1], "faint") if took else "", block(dedent("\n".join(lines)))
    )
    parts = [top]
    for name, layout in zip(names, layouts, strict=True):
        parts += [heading(f"`{name}`"), block(declared(layout))]
    pictures = differences(*layouts, found, axes)
    if not pictures and found.same:
        drawn = example(layouts[0])
        pictures = () if drawn is None else (drawn,)
    return page(f"{found.status}: {names[0]} and {names[1]}", *parts, *map(picture, pictures))
