"""Layouts to code that is proved and validated before anyone sees it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from layoutdsl.code.emitting import validated
from layoutdsl.code.proved import require_proved
from layoutdsl.files.ownership import overwrites
from layoutdsl.language.declaration import declaration
from layoutdsl.language.elaborate.shelf import find_layout
from layoutdsl.language.meaning.arguments import FLAG, PATH, TEXT, expect, integers
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.storage import ITEMS, StorageName, stored
from layoutdsl.language.texts.source import LayoutError
from layoutdsl.language.texts.values import brief

if TYPE_CHECKING:
    from layoutdsl.code import EmittedModule
    from layoutdsl.code.native.program import EmittedProgram
    from layoutdsl.code.validate.outcome import Certificates
    from layoutdsl.proof.prover.verdict import Checked

# CERTIFICATE and VALIDATED in the head of code for an undecided layout begin with this word.
UNPROVED = "unproved"


@dataclass(frozen=True, slots=True)
class Generated:
    """A module that packs and unpacks one layout, as text."""

    layout: Layout
    checked: Checked
    emitted: EmittedModule
    certificates: Certificates = ()
    """The theorems of `pack` and `unpack`, if the text was read back."""

    __repr__ = brief

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

    @overwrites
    def write(self, path: str | PathLike[str], *, force: bool = False) -> Path:
        """Write the text to ``path``, whole or not at all, and return where it is.

        Args:
            path: of the file; its folder exists.
            force: whether to replace a file that layoutdsl did not write.

        Raises:
            OccupiedError: there is such a file, without `force`.
            OSError: it cannot be written.
        """
        from layoutdsl.files.whole import write_whole

        expect(path=(path, PATH), force=(force, FLAG))
        write_whole(Path(path), self.text)
        return Path(path)

    def load(self) -> ModuleType:
        """Import the text without a file."""
        from layoutdsl.code import load as load_emitted

        return load_emitted(self.emitted)


class UnvalidatedError(ValueError):
    """It was not shown that the generated text does what the layout means; says what is missing.

    Attributes:
        reason: what is missing.
        is_written: there is a text, which was not validated.
    """

    is_written = True

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"the code for `{name}` was not validated: {reason}")
        self.reason = reason

    @classmethod
    def without_text(cls, name: str, reason: str) -> UnvalidatedError:
        """Return the error that says why there is no C at all."""
        found = cls(name, reason)
        found.args, found.is_written = (f"there is no C for `{name}`: {reason}",), False
        return found


def generate(
    layout: Layout | str,
    *,
    source: str | None = None,
    storage: StorageName = "items",
    validate: bool = True,
    unproved: bool = False,
) -> Generated:
    """Prove a layout for all shapes, and return numpy code that packs and unpacks it.

    The code is read back, and it is proved that it does what the layout means: its head says
    ``VALIDATED``, with the hash of that proof.

    Args:
        layout: without open parameters, or the name of one of the library: ``NCHWc<8>``.
        source: what to quote in the head, which states the layout by itself; the layout as the
            language writes it if left out.
        storage: ``items`` for one item an element; with another, such as ``u32`` or ``bytes``, the
            module also packs into words that leave no room between elements, and unpacks those.
        validate: with `False` the code is not read back, and says ``VALIDATED = False``.
        unproved: also generate code for an undecided layout. ``CERTIFICATE`` and ``VALIDATED`` in
            its head then begin with ``unproved``, and nothing checks the shapes it is called with.

    Raises:
        RefusedError: the layout is refuted.
        UnprovedError: the layout is undecided.
        UnvalidatedError: it was not shown that the code does what the layout means.
        ValueError: the layout has open parameters, or ``source`` does not state it; or there is no
            such storage, or the layout fills no whole words of it.
    """
    from layoutdsl.code.arrays import WAYS, generate_views

    layout = find_layout(layout)
    expect(source=(source, TEXT.or_none()))
    expect(storage=(storage, TEXT), validate=(validate, FLAG), unproved=(unproved, FLAG))
    checked = require_proved(layout, unproved=unproved)
    text = _quoted(layout, source)
    how = None if storage == ITEMS else stored(layout, storage)
    certificate = certificate_of(checked)
    emit = partial(generate_views, layout, source=text, certificate=certificate, stored=how)
    if not validate:
        return Generated(layout, checked, emit())
    # The text does what the layout means, and that may be wrong: both are said in one place.
    mark = "" if checked.status == "proved" else f"{UNPROVED}: "
    missing: UnvalidatedError | None = None
    for way in WAYS:
        try:
            shown = _validated(emit(way=way), layout, text, mark)
            return Generated(layout, checked, *shown)
        except UnvalidatedError as error:
            missing = missing or error
    assert missing is not None
    raise missing


def _validated(
    emitted: EmittedModule, layout: Layout, source: str, mark: str
) -> tuple[EmittedModule, Certificates]:
    """Return the module with the hash of the proof that it does what the layout means, and that."""
    from layoutdsl.code.arrays.head import stamped
    from layoutdsl.code.validate.arrays import validate
    from layoutdsl.code.validate.outcome import NotValidated

    found = validate(emitted.text, layout, source=source)
    if isinstance(found, NotValidated):
        raise UnvalidatedError(layout.name, found.reason)
    return replace(emitted, text=stamped(emitted.text, f"{mark}{found.seal}")), found.certificates


def _quoted(layout: Layout, source: str | None) -> str:
    """What the head quotes: a text that states the layout, and nobody has to believe it does."""
    from layoutdsl.language.elaborate.shelf import parse

    if source is None:
        return declaration(layout)
    try:
        stated = parse(source, "source").layouts.get(layout.name)
    except LayoutError as fault:
        raise ValueError(f"`source` does not state `{layout.name}` by itself:\n{fault}") from None
    if stated != layout:
        raise ValueError(
            f"`source` does not state `{layout.name}`, which is:\n{declaration(layout)}"
        )
    return source


def certificate_of(checked: Checked) -> str:
    """Return the hash of the proofs; where one is missing, why."""
    from layoutdsl.proof.prover.verdict import Proved, Undecided, certificate_hash

    for finding in checked.findings:
        if isinstance(finding, Undecided):
            return f"{UNPROVED}: {finding.property}: {finding.reason}"
    proved = (each for each in checked.findings if isinstance(each, Proved))
    hashes = sorted({certificate_hash(each) for each in proved if each.certificate})
    return hashes[0] if len(hashes) == 1 else sha256("\n".join(hashes).encode()).hexdigest()


def generate_c(
    layout: Layout | str,
    *,
    source: str | None = None,
    widths: tuple[int, ...] | None = None,
    where: str | None = None,
    validate: bool = True,
    unproved: bool = False,
) -> GeneratedC:
    """Prove a layout for all shapes, and return C that packs and unpacks it.

    The C is read back as a nest of loops over a few fixed kernels, and it is proved that this does
    what the layout means, for all shapes: its head names the proofs.

    Args:
        layout: without open parameters, or the name of one of the library: ``NCHWc<8>``.
        source: what to quote in the head, as for `generate`.
        widths: bytes of an element, of 1, 2, 4 and 8; those of the layout's element type if left
            out, and all four where it has none.
        where: the shapes that it is for, as after ``where``: ``C == 64, H <= 112``. Extents that
            are given are numbers in the code, which is faster where they are small.
        validate: with `False` the C is not read back, and the head says so.
        unproved: also generate code for a layout that is undecided in this range; the head says so.

    Raises:
        RefusedError: the layout is refuted, or has no such shapes.
        UnprovedError: the layout is undecided.
        UnvalidatedError: there is no C, or it was not shown that it does what the layout means.
        CompilerError: the package `pycparser` is missing, which reads it back.
        ValueError: the layout has open parameters, ``source`` does not state it, a width is none
            of the four, or ``where`` is no range.
    """
    from layoutdsl.code.loops.moves import NoCode
    from layoutdsl.code.native import WIDTHS
    from layoutdsl.code.native.classes import settled
    from layoutdsl.code.native.compilers import expect_reader
    from layoutdsl.code.native.program import generate_c as emitted
    from layoutdsl.proof.claims import range_of

    layout = find_layout(layout)
    expect(source=(source, TEXT.or_none()), validate=(validate, FLAG))
    expect(where=(where, TEXT.or_none()), unproved=(unproved, FLAG))
    if widths is not None:
        widths = integers(widths, "widths", "bytes of elements: some of 1, 2, 4 and 8")
    text = _quoted(layout, source)
    if where is not None:
        layout = replace(layout, where=(*layout.where, *range_of(layout, where)))
        text = f"{text}\nOnly shapes where {where}."
    checked = require_proved(layout, unproved=unproved)
    if widths is None:
        widths = WIDTHS if layout.element is None else (layout.element.item[1],)
    if validate:
        expect_reader()
    certificate = certificate_of(checked)
    program = emitted(settled(layout), source=text, certificate=certificate, widths=widths)
    if isinstance(program, NoCode):
        raise UnvalidatedError.without_text(layout.name, program.reason)
    if validate:
        program = validated(program)
    if isinstance(program, NoCode):
        raise UnvalidatedError(layout.name, program.reason)
    program = replace(program, decided=checked.status == "proved")
    return GeneratedC(layout, checked, program)


@dataclass(frozen=True, slots=True)
class GeneratedC:
    """C that packs and unpacks one layout, as text.

    `program.header` is what it offers, and `program.text` the C, which stands alone; what is
    written is `program.nests` instead, which is short and includes a header of kernels.
    """

    layout: Layout
    checked: Checked
    program: EmittedProgram

    __repr__ = brief

    @property
    def certificates(self) -> Certificates:
        """The theorems of each function, if the C was read back."""
        return self.program.certificates

    def files(self, path: str | PathLike[str]) -> dict[Path, str]:
        """Return the text of each file: ``NAME.c``, ``NAME.h``, and ``layout-kernels.h``.

        The last one is the same for all layouts.

        Raises:
            ValueError: ``NAME.h`` would be that one.
        """
        from layoutdsl.code.native.kernel_text import KERNELS, kernels_header

        expect(path=(path, PATH))
        place = Path(path)
        if place.with_suffix(".h").name == KERNELS:
            raise ValueError(f"`{KERNELS}` holds the kernels: choose another name for the rest")
        return {
            place.with_suffix(".c"): self.program.nests,
            place.with_suffix(".h"): self.program.header,
            place.with_name(KERNELS): kernels_header(),
        }

    @overwrites
    def write(self, path: str | PathLike[str], *, force: bool = False) -> tuple[Path, ...]:
        """Write these files, and return where they are.

        Args:
            path: of the ``.c``; the others lie beside it.
            force: whether to replace files that layoutdsl did not write.

        Raises:
            ValueError: as `files` raises it.
            OccupiedError: there is a file of somebody else, without `force`; none is written.
            OSError: a file cannot be written.
        """
        from layoutdsl.files.places import replaceable
        from layoutdsl.files.whole import write_whole

        expect(force=(force, FLAG))
        found = self.files(path)
        for place in found:
            replaceable(place)
        for place, text in found.items():
            write_whole(place, text)
        return tuple(found)
