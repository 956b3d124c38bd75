"""What `prove` and `diff` found, as a page: their words, and what is wrong drawn beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from layoutdsl.shell.verdicts import Verdict, verdict_text
from layoutdsl.view.html import report

if TYPE_CHECKING:
    from layoutdsl.language.meaning.model import Layout
    from layoutdsl.view.compare.difference import Difference

MOST_DRAWN = 40
"""Refuted claims that are drawn on one page; of the others words say what is wrong."""


def verdict_page(verdicts: Sequence[Verdict], summary: str, verbosity: int) -> str:
    """Return a page with every verdict, and the counterexamples drawn, the refuted claims first.

    Args:
        verdicts: in the order of the text.
        summary: what the shell says in the end.
        verbosity: of the words.
    """
    from layoutdsl.commands.illustrations import counterexamples

    parts, drawn = [], 0
    for each in sorted(verdicts, key=lambda each: each.checked.passed):
        pictures = counterexamples(each.checked) if drawn < MOST_DRAWN else ()
        drawn += bool(pictures)
        words = click.unstyle(verdict_text(each, verbosity))
        parts.append((each.checked.claim.text, words, pictures))
    return report(click.unstyle(summary), parts)


def difference_page(
    names: tuple[str, str],
    words: str,
    found: Difference,
    layouts: tuple[Layout, Layout],
    axes: str | None,
) -> str:
    """Return a page with both layouts drawn at the smallest shape at which they differ.

    Args:
        names: both layouts, as they were written on the command line.
        words: what the shell says.
        found: what `diff` found of them.
        layouts: both.
        axes: which axes are which, as `diff` was told.
    """
    from layoutdsl.commands.illustrations import differences

    title = f"{names[0]} and {names[1]}"
    pictures = differences(*layouts, found, axes)
    return report(title, [(found.status, click.unstyle(words), pictures)])
