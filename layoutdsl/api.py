"""The verbs, composed: text to layouts, layouts to formulas, verdicts and running code.

The only room that knows both wings, the one that proves and the one that generates. Whatever is
heavy is imported by the verb that needs it, so a text with a fault in it waits for none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal, TypeAlias
from warnings import warn

from layoutdsl.claims import Claim, Module, Sound
from layoutdsl.model import ELEMENT_TYPES, Condition, Layout, Shape
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
    from layoutdsl.codegen.native.conversion import Conversion
    from layoutdsl.codegen.native.module import NativeModule
    from layoutdsl.codegen.native.program import EmittedProgram
    from layoutdsl.formula import Formula
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
    "checks",
    "claims_about",
    "claims_of",
    "compile",
    "compile_conversion",
    "cost",
    "family_of",
    "formula",
    "generate",
    "generate_c",
    "library",
    "library_families",
    "library_module",
    "library_names",
    "load",
    "narrowed",
    "parse",
    "pick",
    "prove",
    "read",
]


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
def compile(layout: Layout, target: CompileTarget = "auto") -> Compiled:  # noqa: A001  the verb of `re.compile`
    """Return a module with `pack`, `unpack`, `offset` and `physical_shape`, ready to run.

    Proved and generated once per layout. With ``auto`` and ``native`` the moves are compiled C,
    kept on the disk, where there is a C compiler and the package `cffi`; elsewhere numpy serves,
    which is said once to those who asked for ``native``.

    >>> compile(library("NCHW16c")).pack(np.ones((2, 20, 3, 4))).shape
    (2, 2, 3, 4, 16)

    Args:
        layout: without open parameters.
        target: ``auto``, ``native`` or ``numpy``.

    Raises:
        RefusedError: the layout is refuted.
        ValueError: there is no such target.
    """
    if target not in ("auto", "native", "numpy"):
        raise ValueError(f"there is no target `{target}`; known are auto, native, numpy")
    plain = _plain(layout)
    return plain if target == "numpy" else _native(layout, plain, target)


@cache
def _plain(layout: Layout) -> ModuleType:
    return generate(layout).load()


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

    first, second = (module_in_any_case(each, _plain(each)) for each in (source, target))
    return Conversion(first, second)


@cache
def _say_once(reason: str) -> None:
    warn(f"numpy serves in place of compiled code: {reason}", RuntimeWarning, stacklevel=4)
