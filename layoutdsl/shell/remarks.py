"""What is amiss, each with its place, for programs that show it beside the text.

A remark is a fault of a text, a warning about it, or a claim of which not that was found which it
says. `sarif` and `annotations` are two ways to write remarks down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from layoutdsl.language.texts import resources
from layoutdsl.language.texts.source import Diagnostic, Label, LayoutError, Mend
from layoutdsl.shell.targets import Target

if TYPE_CHECKING:
    from layoutdsl.language.meaning.claims import AnyClaim
    from layoutdsl.shell.verdicts import Verdict

Level: TypeAlias = Literal["error", "warning"]

OUTCOMES = {
    "refuted": "A claim is refuted by a shape",
    "undecided": "A claim is neither proved nor refuted",
    "proved": "A claim says that something is wrong, and it is proved",
}
"""Remarks on claims: what their rules are called, and what these say."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that is amiss.

    Attributes:
        rule: the code of a fault, or one of `OUTCOMES`.
        message: in a line, or in several.
        places: the first is the primary one; there is none where no text says it.
        help: how to mend it, where that is known.
        mend: the same for an editor.
        about: the claim, which stays the same when lines move.
    """

    rule: str
    level: Level
    message: str
    places: tuple[Label, ...] = ()
    help: str | None = None
    mend: Mend | None = None
    about: str = ""


def of_text(found: Diagnostic) -> Remark:
    """Return a fault of a text, or a warning about it, as a remark."""
    places = (found.primary, *found.others)
    return Remark(found.code, found.severity, found.message, places, found.help, found.mend)


def of_texts(failure: LayoutError) -> tuple[Remark, ...]:
    """Return all faults of texts as remarks."""
    return tuple(map(of_text, failure.diagnostics))


def of_warnings(chosen: Sequence[Target]) -> Iterator[Remark]:
    """Yield what is legal in some texts and hardly meant, each once."""
    return map(of_text, dict.fromkeys(said for each in chosen for said in each.warnings))


def of_verdict(verdict: Verdict, written: AnyClaim) -> Remark | None:
    """Return what was found of a claim as a remark; ``None`` where it is what the claim says.

    Args:
        verdict: what was found.
        written: the claim as its text has it; the one that was looked at may be narrower.
    """
    from layoutdsl.shell.verdicts import plain_text

    checked = verdict.checked
    if checked.passed:
        return None
    level: Level = "warning" if checked.status == "undecided" else "error"
    places = () if verdict.named is None else _places(verdict.named, written)
    message = plain_text(verdict)
    return Remark(checked.status, level, message, places, about=checked.claim.text)


def _places(chosen: Target, claim: AnyClaim) -> tuple[Label, ...]:
    """Where a claim stands, and the name of what it is about where that is declared."""
    said, name = chosen.module.span_of(claim), chosen.module.name_span_of(claim)
    declared = chosen.module.name_span_of(claim.subject)
    if said is None or name is None:
        return ()
    if declared is None or declared == name:
        return (Label(name),)
    return Label(said), Label(declared, f"`{declared.text}` is declared here")


def file_of(name: str) -> str | None:
    """Return a file that a place is in, relative to where we are; ``None`` where it is in none."""
    path = Path(name)
    if name == "<stdin>" or not path.exists():
        library = resources.folder("language/library") / name
        return str(library) if path.suffix == ".layout" and library.exists() else None
    here = Path.cwd()
    absolute = here / path
    return str(absolute.relative_to(here) if absolute.is_relative_to(here) else absolute)
