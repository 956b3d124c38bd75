"""The verbs, composed: text to layouts, layouts to formulas, verdicts and running code.

The only room that knows both wings, the one that proves and the one that generates. Whatever is
heavy is imported by the verb that needs it, so a text with a fault in it waits for none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from importlib.resources.abc import Traversable
from os import PathLike
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import TYPE_CHECKING, Literal, TypeAlias
from warnings import warn

from layoutdsl.claims import AnyClaim, Claim, Module, Sound, TableClaim
from layoutdsl.model import ELEMENT_TYPES, Condition, Layout, Shape
from layoutdsl.shelf import (
    declared,
    elaborated,
    family_of,
    library,
    library_families,
    library_module,
    library_names,
    load,
    parse,
    pick,
    pick_table,
    read,
)
from layoutdsl.show.declaration import declaration
from layoutdsl.source import LayoutError, Source
from layoutdsl.table import Table

if TYPE_CHECKING:
    from layoutdsl.codegen import EmittedModule
    from layoutdsl.codegen.native.conversion import Conversion
    from layoutdsl.codegen.native.module import NativeModule
    from layoutdsl.codegen.native.program import EmittedProgram
    from layoutdsl.compare.identify import Match
    from layoutdsl.evidence import Rechecked, Recorded, Subject
    from layoutdsl.formula import Formula
    from layoutdsl.notation.notation import Reading
    from layoutdsl.padding.cost import Cost
    from layoutdsl.prove.verdict import Checked, Status

CompileTarget: TypeAlias = Literal["auto", "native", "numpy"]
Compiled: TypeAlias = "ModuleType | NativeModule"
"""What `compile` returns: either has `pack`, `unpack`, `offset` and `physical_shape`."""

__all__ = [
    "Compiled",
    "Generated",
    "GeneratedC",
    "LayoutError",
    "RefusedError",
    "Report",
    "Translation",
    "UnvalidatedError",
    "checks",
    "claims_about",
    "claims_of",
    "compile",
    "compile_conversion",
    "cost",
    "declared",
    "family_of",
    "formula",
    "from_notation",
    "generate",
    "generate_c",
    "identify",
    "left_over",
    "lemma_files",
    "library",
    "library_families",
    "library_module",
    "library_names",
    "load",
    "missing_solver",
    "narrowed",
    "notations",
    "parse",
    "pick",
    "pick_table",
    "prove",
    "read",
    "reading_of",
    "recheck",
    "record",
    "subjects",
    "timed_checks",
    "to_notation",
    "translate",
    "write_files",
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


def cost(
    layout: Layout, shape: Shape | None = None, *, of: str | None = None, where: str | None = None
) -> Cost:
    """Return what padding costs: formulas, the worst ratio of slots to elements, numbers.

    >>> cost(library("NCHW16c"), (1, 20, 3, 4)).at.ratio
    Fraction(8, 5)

    Args:
        layout: its ``where`` clause is the range of shapes.
        shape: gives the numbers at this shape as well.
        of: the element type by name, for bytes; that of the layout if left out.
        where: narrows the range: ``C <= 64, N == 1``.

    Raises:
        LayoutError: the range is not in the language, or names what the layout has not.
        ValueError: the shape does not fit, the type is unknown, or the range is empty.
    """
    from layoutdsl.padding.cost import cost as cost_of

    if of is not None and of not in ELEMENT_TYPES:
        raise ValueError(f"there is no element type `{of}`; known are {', '.join(ELEMENT_TYPES)}")
    conditions = () if where is None else _range(layout, where)
    narrow = replace(layout, where=(*layout.where, *conditions))
    return cost_of(narrow, shape, None if of is None else ELEMENT_TYPES[of])


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
    subject: Layout | Table | Module | Iterable[AnyClaim],
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Return what is found of a layout or table, of a module with its claims, or of some claims.

    Every layout and table is checked without being claimed to be right; but not one that a bare
    ``refute NAME`` says is wrong.

    Args:
        subject: what to look at.
        progress: is told, in a few words, what is being asked.
    """
    return Report(tuple(checks(claims_of(subject), progress)))


def checks(
    claims: Iterable[AnyClaim], progress: Callable[[str], None] | None = None
) -> Iterator[Checked]:
    """Yield what is found of each claim, as soon as it is found."""
    return (checked for checked, _ in timed_checks(tuple(claims), progress, jobs=1))


def timed_checks(
    claims: Sequence[AnyClaim],
    progress: Callable[[str], None] | None = None,
    jobs: int | None = None,
) -> Iterator[tuple[Checked, float]]:
    """Yield what is found of each claim, in their order, and the seconds that it took.

    Args:
        claims: what to look at.
        progress: is told, in a few words, what is being done.
        jobs: processes at a time; as many as the work is worth, if left out. A process that dies
            leaves its claim undecided.
    """
    from layoutdsl.prove import jobs as pool

    number = pool.usual(len(claims)) if jobs is None else min(jobs, len(claims))
    if number <= 1:
        yield from (_timed(each, progress) for each in claims)
        return
    found = pool.shared(_timed, claims, number, _undecided)
    for count, each in enumerate(found, start=1):
        yield each
        if progress is not None and count < len(claims):
            progress(f"proving: {count} of {len(claims)} claims")


def _timed(claim: AnyClaim, progress: Callable[[str], None] | None = None) -> tuple[Checked, float]:
    from layoutdsl.prove import check

    started = perf_counter()
    checked = check(claim, progress)
    return checked, perf_counter() - started


def _undecided(claim: AnyClaim, ending: str) -> tuple[Checked, float]:
    from layoutdsl.prove.check import given_up

    return given_up(claim, f"the process that was proving it died: {ending}"), 0.0


def claims_of(subject: Layout | Table | Module | Iterable[AnyClaim]) -> tuple[AnyClaim, ...]:
    """Return the claims that `prove` looks at: that all in it is sound, then those written."""
    match subject:
        case Layout() | Table():
            return (_sound(subject),)
        case Module():
            refuted = {
                claim.layout
                for claim in subject.claims
                if claim.polarity == "refute" and isinstance(claim.predicate, Sound)
            }
            sound = [_sound(each) for each in subject.values() if each not in refuted]
            even = [_sound(each) for each in _not_refuted_tables(subject)]
            return (*sound, *subject.claims, *even, *subject.table_claims)
        case Iterable() if not isinstance(subject, str):
            found = tuple(subject)
            if all(isinstance(each, Claim | TableClaim) for each in found):
                return found
    words = f"not a {type(subject).__name__}"
    raise TypeError(f"a layout, a table, a module or claims are proved, {words}")


def _not_refuted_tables(module: Module) -> Iterator[Table]:
    refuted = {
        claim.table
        for claim in module.table_claims
        if claim.polarity == "refute" and isinstance(claim.predicate, Sound)
    }
    return (table for table in module.tables.values() if table not in refuted)


def claims_about(module: Module, subject: Layout | Table) -> tuple[AnyClaim, ...]:
    """Return the claims that `prove` looks at for one layout or table of a module."""
    match subject:
        case Layout(name=name):
            written = tuple(claim for claim in module.claims if claim.layout == subject)
            return claims_of(Module(module.name, {name: subject}, written, {}))
        case Table(name=name):
            said = tuple(claim for claim in module.table_claims if claim.table == subject)
            return claims_of(Module(module.name, {}, (), {}, {name: subject}, said))


def narrowed(claims: Iterable[AnyClaim], where: str) -> tuple[AnyClaim, ...]:
    """Return the claims for some shapes only: ``C <= 64, N == 1``, as after ``where``.

    Raises:
        LayoutError: the range is not in the language, or names what a layout has not.
        ValueError: the text is more than a range.
    """
    return tuple(
        replace(
            claim,
            where=(*claim.where, *_range(_shaped(claim), where)),
            text=f"{claim.text}{',' if claim.where else ' where'} {where}",
        )
        for claim in claims
    )


def _shaped(claim: AnyClaim) -> Layout:
    return claim.layout if isinstance(claim, Claim) else claim.table.frame


def _range(layout: Layout, where: str) -> tuple[Condition, ...]:
    name = layout.name.partition("<")[0]
    source = Source("--where", f"prove {name} where {where}")
    module = elaborated(source, {name: layout})
    if module or len(module.claims) != 1 or not isinstance(module.claims[0].predicate, Sound):
        raise ValueError(f"`{where}` is more than a range of shapes")
    return module.claims[0].where


def _sound(subject: Layout | Table) -> AnyClaim:
    text = f"prove {subject.name}"
    match subject:
        case Layout():
            return Claim("prove", subject, Sound(), (), text)
        case Table():
            return TableClaim("prove", subject, Sound(), (), text)


def subjects(
    module: Module, subject: Layout | Table | None = None, family: str = ""
) -> tuple[Subject, ...]:
    """Return the claims of a module by the certificates that they share.

    Args:
        module: a text.
        subject: only what is claimed about this layout or table.
        family: the folder of the certificates, for a family of the library.
    """
    from layoutdsl.evidence import subjects as grouped

    claims = claims_of(module) if subject is None else claims_about(module, subject)
    return grouped(claims, family)


def record(subject: Subject, checked: Sequence[Checked]) -> Recorded:
    """Return the certificate for what was found of the claims of a subject."""
    from layoutdsl.evidence import record as recorded

    return recorded(subject, checked)


def write_files(folder: Path, files: Iterable[tuple[str, str]]) -> None:
    """Write texts to files below a folder, each whole or not at all.

    Raises:
        OSError: a file was not written; those before it were.
    """
    from layoutdsl.codegen import write_whole

    for name, text in files:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, text)


def lemma_files() -> tuple[tuple[str, str], ...]:
    """Return the certificate of the lemma library, on which all others rest."""
    from layoutdsl.evidence import lemma_files as files

    return files()


def left_over(found: Iterable[Subject], folder: Traversable) -> tuple[str, ...]:
    """Return the files of certificates in a folder that belong to none of these subjects."""
    from layoutdsl.evidence import left_over as files

    return tuple(files(found, folder))


def recheck(
    found: Iterable[Subject],
    folder: Traversable,
    solvers: Sequence[str] = ("z3",),
    progress: Callable[[str], None] | None = None,
) -> Iterator[Rechecked]:
    """Yield what comes of each certificate in a folder, checked again; the lemmas first.

    Args:
        found: what certificates have to be there for.
        folder: where they are.
        solvers: ``z3``, ``cvc5``, or both.
        progress: is told which certificate is being checked.

    Raises:
        OSError: a file cannot be read.
    """
    from layoutdsl.evidence import recheck as checked
    from layoutdsl.prove.solver import SOLVERS

    asked = [SOLVERS[each] for each in solvers]
    return checked(found, folder, asked, progress or (lambda _: None))


def missing_solver(name: str) -> str | None:
    """Return why a solver cannot be asked, and how to mend it; ``None`` where it can."""
    from layoutdsl.prove.solver import SOLVERS, NoSolver

    try:
        SOLVERS[name].command(1)
    except NoSolver as missing:
        return str(missing)
    return None


class RefusedError(ValueError):
    """No code is generated for a layout that was refuted; carries what was found."""

    def __init__(self, checked: Checked) -> None:
        super().__init__(f"`{checked.claim.subject.name}` is refuted, so no code is generated")
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


class UnvalidatedError(ValueError):
    """It was not shown that the generated text does what the layout means; says what is missing."""

    def __init__(self, layout: Layout, reason: str) -> None:
        super().__init__(f"the code for `{layout.name}` was not validated: {reason}")
        self.reason = reason


def generate(layout: Layout, *, source: str | None = None, validate: bool = True) -> Generated:
    """Prove a layout for all shapes, and return numpy code that packs and unpacks it.

    The code is read back, and it is proved that it does what the layout means: its head says
    ``VALIDATED``, with the hash of that proof. Where the proof of the layout is undecided, its
    head says so too.

    Args:
        layout: without open parameters.
        source: what to quote in the head; the layout as the language writes it if left out.
        validate: with `False` the code is not read back, and says ``VALIDATED = False``.

    Raises:
        RefusedError: the layout is refuted.
        UnvalidatedError: it was not shown that the code does what the layout means.
        ValueError: the layout has open parameters.
    """
    from layoutdsl.codegen import generate_numpy

    checked = prove(layout).checked[0]
    if checked.status == "refuted":
        raise RefusedError(checked)
    text = declaration(layout) if source is None else source
    emitted = generate_numpy(layout, source=text, certificate=_certificate(checked))
    if validate:
        emitted = _validated(layout, emitted)
    return Generated(layout, checked, emitted)


def _validated(layout: Layout, emitted: EmittedModule) -> EmittedModule:
    """The module with the hash of the proof that its text does what the layout means."""
    from layoutdsl.codegen import stamp
    from layoutdsl.validate import NotValidated
    from layoutdsl.validate import validate as read_back

    found = read_back(emitted.text, layout)
    if isinstance(found, NotValidated):
        raise UnvalidatedError(layout, found.reason)
    return stamp(emitted, found.certificate)


def _certificate(checked: Checked) -> str:
    """The hash of the proofs; where one is missing, why."""
    from layoutdsl.prove.verdict import Proved, Undecided, certificate_hash

    for finding in checked.findings:
        if isinstance(finding, Undecided):
            return f"unproved: {finding.property}: {finding.reason}"
    proved = (each for each in checked.findings if isinstance(each, Proved))
    hashes = sorted({certificate_hash(each) for each in proved if each.certificate})
    return hashes[0] if len(hashes) == 1 else sha256("\n".join(hashes).encode()).hexdigest()


def generate_c(
    layout: Layout, *, source: str | None = None, widths: tuple[int, ...] | None = None
) -> GeneratedC:
    """Prove a layout for all shapes, and return C that packs and unpacks it.

    Args:
        layout: without open parameters.
        source: what to quote in the head; the layout as the language writes it if left out.
        widths: bytes of an element, of 1, 2, 4 and 8; those of the layout's element type if left
            out, and all four where it has none.

    Raises:
        RefusedError: the layout is refuted.
        ValueError: the layout has open parameters, or a width is none of the four.
    """
    from layoutdsl.codegen.native.program import WIDTHS
    from layoutdsl.codegen.native.program import generate_c as emitted

    checked = prove(layout).checked[0]
    if checked.status == "refuted":
        raise RefusedError(checked)
    if widths is None:
        widths = WIDTHS if layout.element is None else (max(1, layout.element.bits // 8),)
    text = declaration(layout) if source is None else source
    program = emitted(layout, source=text, certificate=_certificate(checked), widths=widths)
    return GeneratedC(layout, checked, program)


@dataclass(frozen=True, slots=True)
class GeneratedC:
    """C that packs and unpacks one layout, as text: `program.text` and `program.header`."""

    layout: Layout
    checked: Checked
    program: EmittedProgram

    def write(self, path: str | PathLike[str]) -> tuple[Path, Path]:
        """Write ``NAME.c`` and ``NAME.h`` beside it, and return where they are."""
        from layoutdsl.codegen import write_whole

        places = Path(path).with_suffix(".c"), Path(path).with_suffix(".h")
        write_whole(places[0], self.program.text)
        write_whole(places[1], self.program.header)
        return places


@cache
def compile(  # noqa: A001  the verb of `re.compile`
    layout: Layout, target: CompileTarget = "auto", *, validate: bool = True
) -> Compiled:
    """Return a module with `pack`, `unpack`, `offset` and `physical_shape`, ready to run.

    Proved, generated and validated once per layout. With ``auto`` and ``native`` the moves are
    compiled C, kept on the disk, where there is a C compiler and the package `cffi`; elsewhere the
    numpy code serves, which is said once to those who asked for ``native``. What was validated by
    proof is the numpy code; the compiled code is held against the meaning by tests.

    >>> compile(library("NCHW16c")).pack(np.ones((2, 20, 3, 4))).shape
    (2, 2, 3, 4, 16)

    Args:
        layout: without open parameters.
        target: ``auto``, ``native`` or ``numpy``.
        validate: with `False` the numpy code is run without having been read back.

    Raises:
        RefusedError: the layout is refuted.
        UnvalidatedError: it was not shown that the code does what the layout means.
        ValueError: there is no such target.
    """
    if target not in ("auto", "native", "numpy"):
        raise ValueError(f"there is no target `{target}`; known are auto, native, numpy")
    plain = _plain(layout, validate)
    return plain if target == "numpy" else _native(layout, plain, target)


@cache
def _plain(layout: Layout, validate: bool) -> ModuleType:
    return generate(layout, validate=validate).load()


def _native(layout: Layout, plain: ModuleType, target: CompileTarget) -> Compiled:
    from layoutdsl.codegen.native.loader import native_module, why_not

    reason = why_not()
    if reason is None:
        return native_module(layout, plain)
    if target == "native":
        _say_once(reason)
    return plain


@cache
def compile_conversion(source: Layout, target: Layout) -> Conversion:
    """Return what `convert`s buffers of one layout into those of another, without the tensor.

    >>> both = compile_conversion(library("NCHW16c"), library("NHWC"))
    >>> both.convert(buffer, (2, 20, 3, 4)).shape
    (2, 3, 4, 20)

    Axes are matched by position. Where there is no direct way, `Conversion.direct` says why, and
    the tensor is unpacked and packed again; without a compiler numpy does that.

    Raises:
        RefusedError: a layout is refuted.
        ValueError: the layouts take different tensors.
    """
    from layoutdsl.codegen.native.conversion import Conversion
    from layoutdsl.codegen.native.loader import module_in_any_case

    first, second = (module_in_any_case(each, _plain(each, True)) for each in (source, target))
    return Conversion(first, second)


@cache
def _say_once(reason: str) -> None:
    warn(f"numpy serves in place of compiled code: {reason}", RuntimeWarning, stacklevel=4)
