"""The verbs, composed: text to layouts, layouts to formulas, verdicts and running code.

The only room that knows both wings, the one that proves and the one that generates. Whatever is
heavy is imported by the verb that needs it, so a text with a fault in it waits for none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from layoutdsl.claims import Claim, Module, Sound
from layoutdsl.model import Condition, Layout
from layoutdsl.shelf import (
    elaborated,
    family_of,
    library,
    library_families,
    library_module,
    library_names,
    load,
    parse,
    pick,
    read,
)
from layoutdsl.show.declaration import declaration
from layoutdsl.source import LayoutError, Source

if TYPE_CHECKING:
    from layoutdsl.codegen import EmittedModule
    from layoutdsl.compare.identify import Match
    from layoutdsl.formula import Formula
    from layoutdsl.notation.notation import Reading
    from layoutdsl.prove.verdict import Checked, Status

__all__ = [
    "Generated",
    "LayoutError",
    "RefusedError",
    "Report",
    "Translation",
    "checks",
    "claims_about",
    "claims_of",
    "compile",
    "family_of",
    "formula",
    "from_notation",
    "generate",
    "identify",
    "library",
    "library_families",
    "library_module",
    "library_names",
    "load",
    "narrowed",
    "notations",
    "parse",
    "pick",
    "prove",
    "read",
    "reading_of",
    "to_notation",
    "translate",
]


def notations() -> tuple[str, ...]:
    """Return the names of the notations that layouts are read from and written in."""
    from layoutdsl.notation.notation import NAMES

    return NAMES


def from_notation(notation: str, text: str) -> Layout:
    """Return the layout that a text in another notation stands for.

    >>> from_notation("onednn", "aBcd16b").offset((1, 17, 2, 3), (2, 20, 3, 4))
    753

    Raises:
        LayoutError: there is no such notation, or the text is not in it.
    """
    return reading_of(notation, text).layout


def reading_of(notation: str, text: str) -> Reading:
    """Return what a text in another notation says, with what it says beyond its layout.

    Raises:
        LayoutError: there is no such notation, or the text is not in it.
    """
    from layoutdsl.notation.notation import read_text

    return read_text(notation, text)


def to_notation(layout: Layout, notation: str) -> str:
    """Return the text of a layout in another notation.

    >>> to_notation(library("NCHW16c"), "onednn")
    'nChw16c'

    Raises:
        ValueError: there is no such notation, or the layout cannot be written in it; says why.
    """
    from layoutdsl.notation.notation import write

    if notation not in notations():
        raise ValueError(f"there is no notation `{notation}`; known are {', '.join(notations())}")
    return write(notation, layout)


LANGUAGE = "layout"
"""How `translate` calls our own language."""


@dataclass(frozen=True, slots=True)
class Translation:
    """A layout in a notation, or why it has no text there.

    ``proved`` says that the text, read again, was proved to be the layout wherever both are
    defined; ``where`` is where the text is defined, if the layout is for more shapes.
    """

    notation: str
    text: str | None
    reason: str | None = None
    proved: bool = False
    where: tuple[Condition, ...] = ()


def translate(layout: Layout, notation: str, notes: Mapping[str, str] | None = None) -> Translation:
    """Return the text of a layout in a notation, or in our language, and whether it was proved.

    >>> translate(library("NCHW16c"), "onednn").text
    'nChw16c'

    Args:
        layout: any.
        notation: one of `notations`, or ``layout`` for our own language.
        notes: what a text in that notation said beyond the layout, to be said again.

    Raises:
        ValueError: there is no such notation.
    """
    if notation != LANGUAGE and notation not in notations():
        known = ", ".join((*notations(), LANGUAGE))
        raise ValueError(f"there is no notation `{notation}`; known are {known}")
    if notation == LANGUAGE:
        text = declaration(layout)
        return _read_back(layout, LANGUAGE, text, parse(text)[layout.name])
    from layoutdsl.notation.notation import Unwritable, read_text, write

    try:
        text = write(notation, layout, notes)
    except Unwritable as reason:
        return Translation(notation, None, str(reason))
    return _read_back(layout, notation, text, read_text(notation, text).layout)


def _read_back(layout: Layout, notation: str, text: str, again: Layout) -> Translation:
    from layoutdsl.compare.difference import Different, Equal, EqualWhere, Unknown, diff

    found = diff(layout, again)
    match found:
        case Equal():
            return Translation(notation, text, proved=True)
        case EqualWhere(agreements=agreements) if found.same:
            where = tuple(each for each in agreements[0].conditions if each not in layout.where)
            return Translation(notation, text, proved=True, where=where)
        case Unknown():
            return Translation(notation, text)
        case EqualWhere() | Different():
            reason = f"`{text}`, read again, is another layout"
            return Translation(notation, None, reason)


def identify(layout: Layout, progress: Callable[[str], None] | None = None) -> Iterator[Match]:
    """Yield each layout of the library that is equal to a layout, or is in a range of shapes.

    Names and order of the axes may differ; all of it is proved.

    >>> next(identify(from_notation("onednn", "aBcd8b"))).name
    'NCHWc<8>'
    """
    from layoutdsl.compare.identify import identify as look_up

    known = (each for family in library_families() for each in family.items())
    return look_up(layout, known, progress)


def formula(layout: Layout) -> Formula:
    """Return the offset, the size and the inverse of a layout as sympy expressions."""
    from layoutdsl.formula import formula as formula_of

    return formula_of(layout)


@dataclass(frozen=True, slots=True)
class Report:
    """What was found of several claims, in their order."""

    checked: tuple[Checked, ...]

    @property
    def status(self) -> Status:
        """Proved: every claim says what was found. Refuted: the contrary of one was found."""
        if all(each.passed for each in self.checked):
            return "proved"
        failed = [each for each in self.checked if not each.passed]
        return "refuted" if any(each.status != "undecided" for each in failed) else "undecided"

    @property
    def passed(self) -> bool:
        """Whether every claim says what was found."""
        return self.status == "proved"


def prove(
    subject: Layout | Module | Iterable[Claim], progress: Callable[[str], None] | None = None
) -> Report:
    """Return what is found of a layout, of a module with its claims, or of some claims.

    Every layout is checked without being claimed to be right; but not one that a bare
    ``refute NAME`` says is wrong.

    Args:
        subject: what to look at.
        progress: is told, in a few words, what is being asked.
    """
    return Report(tuple(checks(claims_of(subject), progress)))


def checks(
    claims: Iterable[Claim], progress: Callable[[str], None] | None = None
) -> Iterator[Checked]:
    """Yield what is found of each claim, as soon as it is found."""
    from layoutdsl.prove import check

    for claim in claims:
        yield check(claim, progress)


def claims_of(subject: Layout | Module | Iterable[Claim]) -> tuple[Claim, ...]:
    """Return the claims that `prove` looks at: that each layout is sound, then those written."""
    match subject:
        case Layout():
            return (_sound(subject),)
        case Module():
            refuted = {
                claim.layout
                for claim in subject.claims
                if claim.polarity == "refute" and isinstance(claim.predicate, Sound)
            }
            sound = [_sound(each) for each in subject.values() if each not in refuted]
            return (*sound, *subject.claims)
        case Iterable() if not isinstance(subject, str):
            found = tuple(subject)
            if all(isinstance(each, Claim) for each in found):
                return found
    raise TypeError(f"a layout, a module or claims are proved, not a {type(subject).__name__}")


def claims_about(module: Module, layout: Layout) -> tuple[Claim, ...]:
    """Return the claims that `prove` looks at for one layout of a module."""
    written = tuple(claim for claim in module.claims if claim.layout == layout)
    return claims_of(Module(module.name, {layout.name: layout}, written, {}))


def narrowed(claims: Iterable[Claim], where: str) -> tuple[Claim, ...]:
    """Return the claims for some shapes only: ``C <= 64, N == 1``, as after ``where``.

    Raises:
        LayoutError: the range is not in the language, or names what a layout has not.
        ValueError: the text is more than a range.
    """
    return tuple(
        replace(
            claim,
            where=(*claim.where, *_range(claim.layout, where)),
            text=f"{claim.text}{',' if claim.where else ' where'} {where}",
        )
        for claim in claims
    )


def _range(layout: Layout, where: str) -> tuple[Condition, ...]:
    name = layout.name.partition("<")[0]
    source = Source("--where", f"prove {name} where {where}")
    module = elaborated(source, {name: layout})
    if module or len(module.claims) != 1 or not isinstance(module.claims[0].predicate, Sound):
        raise ValueError(f"`{where}` is more than a range of shapes")
    return module.claims[0].where


def _sound(layout: Layout) -> Claim:
    return Claim("prove", layout, Sound(), (), f"prove {layout.name}")


class RefusedError(ValueError):
    """No code is generated for a layout that was refuted; carries what was found."""

    def __init__(self, checked: Checked) -> None:
        super().__init__(f"`{checked.claim.layout.name}` is refuted, so no code is generated")
        self.checked = checked


@dataclass(frozen=True, slots=True)
class Generated:
    """A module that packs and unpacks one layout, as text."""

    layout: Layout
    checked: Checked
    emitted: EmittedModule

    @property
    def name(self) -> str:
        """A module name; ``NAME.py`` is its usual file."""
        return self.emitted.name

    @property
    def text(self) -> str:
        """The module, in Python."""
        return self.emitted.text

    @property
    def fallback(self) -> str | None:
        """Why the module moves element by element, where it does."""
        return self.emitted.fallback

    def write(self, path: str | PathLike[str]) -> Path:
        """Write the text to ``path``, whole or not at all, and return where it is."""
        from layoutdsl.codegen import write_whole

        write_whole(Path(path), self.text)
        return Path(path)

    def load(self) -> ModuleType:
        """Import the text without a file."""
        from layoutdsl.codegen import load as load_emitted

        return load_emitted(self.emitted)


def generate(layout: Layout, *, source: str | None = None) -> Generated:
    """Prove a layout for all shapes, and return numpy code that packs and unpacks it.

    Where the proof is undecided the code says so in its head.

    Args:
        layout: without open parameters.
        source: what to quote in the head; the layout as the language writes it if left out.

    Raises:
        RefusedError: the layout is refuted.
        ValueError: the layout has open parameters.
    """
    from layoutdsl.codegen import generate_numpy

    checked = prove(layout).checked[0]
    if checked.status == "refuted":
        raise RefusedError(checked)
    text = declaration(layout) if source is None else source
    emitted = generate_numpy(layout, source=text, certificate=_certificate(checked))
    return Generated(layout, checked, emitted)


def _certificate(checked: Checked) -> str:
    """The hash of the proofs; where one is missing, why."""
    from layoutdsl.prove.verdict import Proved, Undecided

    for finding in checked.findings:
        if isinstance(finding, Undecided):
            return f"unproved: {finding.property}: {finding.reason}"
    proved = (each for each in checked.findings if isinstance(each, Proved))
    hashes = sorted({each.certificate for each in proved if each.certificate})
    return hashes[0] if len(hashes) == 1 else sha256("\n".join(hashes).encode()).hexdigest()


@cache
def compile(layout: Layout) -> ModuleType:  # noqa: A001  the verb of `re.compile`
    """Return a module with `pack`, `unpack`, `offset` and `physical_shape`, ready to run.

    Proved, generated and loaded once per layout.

    >>> compile(library("NCHW16c")).pack(np.ones((2, 20, 3, 4))).shape
    (2, 2, 3, 4, 16)

    Raises:
        RefusedError: the layout is refuted.
    """
    return generate(layout).load()
