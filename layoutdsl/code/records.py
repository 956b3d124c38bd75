"""Records to packages of modules that are proved, read back, and tried before anyone sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from layoutdsl.code.generating import (
    UNPROVED,
    UnvalidatedError,
    certificate_of,
    generate,
    generate_c,
)
from layoutdsl.code.proved import require_proved
from layoutdsl.code.record_trials import NotAsMeantError as NotAsMeantError
from layoutdsl.code.record_trials import try_package
from layoutdsl.files.ownership import overwrites
from layoutdsl.language.declaration import record_lines
from layoutdsl.language.elaborate.shelf import find_record
from layoutdsl.language.meaning.arguments import FLAG, PATH, TEXT, expect
from layoutdsl.language.meaning.model import LAYOUT, Layout
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.storage import StorageName
from layoutdsl.language.texts.values import brief

if TYPE_CHECKING:
    from layoutdsl.code.native.record_library import RecordProgram
    from layoutdsl.code.placed import Placed
    from layoutdsl.proof.prover.verdict import Checked

RecordTarget: TypeAlias = Literal["numpy", "c"]


@dataclass(frozen=True, slots=True)
class GeneratedRecord:
    """Code that packs and unpacks one record: a package of Python, or C, as files by name."""

    record: Record
    checked: Checked
    files: Mapping[str, str]

    __repr__ = brief

    @property
    def name(self) -> str:
        """A name for the folder."""
        return self.record.name

    @overwrites
    def write(self, path: str | PathLike[str], *, force: bool = False) -> Path:
        """Write the files into the folder ``path``, each whole, and return where it is.

        Args:
            path: of the folder, which is made where it is missing.
            force: whether to replace files that layoutdsl did not write.

        Raises:
            OccupiedError: there is a file of somebody else, without `force`; none is written.
            OSError: a file cannot be written.
        """
        from layoutdsl.files.places import replaceable
        from layoutdsl.files.whole import write_whole

        expect(path=(path, PATH), force=(force, FLAG))
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        for name in self.files:
            replaceable(folder / name)
        for name, text in self.files.items():
            write_whole(folder / name, text)
        return folder


def generate_record(
    record: Record | str,
    target: RecordTarget = "numpy",
    *,
    validate: bool = True,
    unproved: bool = False,
) -> GeneratedRecord:
    """Prove a record for all shapes, and return code that packs and unpacks its fields.

    The code of each part is read back, and it is proved that it does what its layout means; so is
    the C that puts parts together. In Python that is the same text for all records, over what this
    one says of its digits and windows; a package is tried at small shapes, bit by bit, before it is
    handed out.

    Args:
        record: without open parameters, or its name in the library: ``Q4_0``.
        target: ``numpy``, for a package with a module for each part; or ``c``, for a file with
            functions of all fields beside a file for each part.
        validate: with `False` the code of parts is not read back, and says so.
        unproved: also generate code for an undecided record; ``CERTIFICATE`` and ``VALIDATED`` in
            its head then begin with ``unproved``.

    Raises:
        RefusedError: the record is refuted.
        UnprovedError: the record is undecided.
        UnvalidatedError: it was not shown that the code of a part does what its layout means.
        CompilerError: C was asked for, and the package `pycparser` is missing, which reads it back.
        ValueError: the record or a layout of a part has open parameters; or no such target.
    """
    record = find_record(record)
    expect(target=(target, TEXT), validate=(validate, FLAG))
    expect(unproved=(unproved, FLAG))
    if target not in ("numpy", "c"):
        raise ValueError(f"there is no target `{target}`; known are numpy, c")
    from layoutdsl.code.placed import placed

    parts = placed(record)
    opened = [*record.parameters, *(each for part in parts for each in part.items.parameters)]
    if opened:
        message = f"the record `{record.name}` is laid out by `{opened[0]}`, which is open"
        raise ValueError(f"{message}: `compile` serves it, and no code is generated")
    checked = require_proved(record, unproved=unproved)
    if target == "c":
        program = record_program(record, parts, checked, validate)
        return GeneratedRecord(record, checked, program.files)
    made = GeneratedRecord(record, checked, _package(record, parts, checked, validate))
    try_package(record, made.write)
    return made


def generate_words(
    layout: Layout, storage: StorageName, *, validate: bool = True, unproved: bool = False
) -> GeneratedRecord:
    """Prove a layout that is stored in words, and return C that packs and unpacks it.

    The buffer is a record of one field: where each bit lies is proved, and so is the C.

    Args:
        layout: without open parameters.
        storage: ``bytes`` or a type of words, such as ``u32``.
        validate: with `False` the C is not read back, and says so.
        unproved: also generate code for an undecided layout; the head says so.

    Raises:
        RefusedError: the layout is refuted.
        UnprovedError: the layout is undecided.
        UnvalidatedError: it was not shown that the C does what the layout means.
        CompilerError: the package `pycparser` is missing, which reads it back.
        ValueError: the layout has open parameters, fills no whole words, or has padding that words
            do not hold; or there is no such storage.
    """
    from layoutdsl.code.placed import placed
    from layoutdsl.language.meaning.dense import dense
    from layoutdsl.language.meaning.storage import STORAGES

    expect(layout=(layout, LAYOUT), storage=(storage, TEXT), validate=(validate, FLAG))
    if layout.parameters:
        message = f"the layout `{layout.name}` has an open parameter `{layout.parameters[0]}`"
        raise ValueError(f"{message}: give it a number")
    record = dense(layout, storage)
    checked = require_proved(record, unproved=unproved)
    about = f"elements without room between them, in words of {STORAGES[storage].bits} bits"
    about = f"{about},\n   the lowest byte of each first"
    program = record_program(record, placed(record), checked, validate, about)
    return GeneratedRecord(record, checked, program.files)


def record_program(
    record: Record,
    parts: Sequence[Placed],
    checked: Checked,
    validate: bool,
    about: str | None = None,
) -> RecordProgram:
    """Return the C of a record.

    Args:
        record: without open parameters.
        parts: how each part is moved.
        checked: what was found of the record.
        validate: with `False` the C is not read back, and says so.
        about: what is in the buffer, where that is not several tensors.

    Raises:
        UnvalidatedError: it was not shown that it does what the record means.
        CompilerError: the package `pycparser` is missing, which reads it back.
    """
    from layoutdsl.code.native.compilers import expect_reader
    from layoutdsl.code.native.kernel_text import KERNELS, kernels_header
    from layoutdsl.code.native.program import stem_of
    from layoutdsl.code.native.record_header import SEVERAL, part_file, record_header
    from layoutdsl.code.native.record_library import RecordProgram
    from layoutdsl.code.native.record_text import head_text, record_c

    proofs = certificate_of(checked)
    stems = [stem_of(each.items.name) for each in parts]
    name = f"{record.name}.c"
    functions = record_c(record, parts, stems)
    if validate:
        expect_reader()
    seal = _sealed(record, functions, parts, stems) if validate else _UNSEALED
    if checked.status != "proved":
        seal = f"{UNPROVED}: {seal}"
    files = {
        name: head_text(record, len(parts), proofs, seal, about or SEVERAL) + functions,
        f"{record.name}.h": record_header(record, proofs, about or SEVERAL),
    }
    programs = {}
    for number, each in enumerate(parts):
        assert each.items.element is not None, "a part says of what type it is"
        width = each.items.element.item[1]
        # The record as a whole is proved or was allowed; a part alone need not be.
        made = generate_c(each.items, widths=(width,), validate=validate, unproved=True)
        programs[f"{part_file(number)}.c"] = made.program
        files[f"{part_file(number)}.c"] = made.program.nests
        files[f"{part_file(number)}.h"] = made.program.header
    files[KERNELS] = kernels_header()
    return RecordProgram(name, record.name.lower(), len(record.fields), files, programs)


_UNSEALED = "no proof that it does what the record means"


def _sealed(record: Record, functions: str, parts: Sequence[Placed], stems: Sequence[str]) -> str:
    """The hash of the proof that functions do what a record means.

    Raises:
        UnvalidatedError: there is none.
    """
    from layoutdsl.code.validate.outcome import NotValidated
    from layoutdsl.code.validate.records import validate_record

    found = validate_record(functions, record, parts, stems)
    if isinstance(found, NotValidated):
        raise UnvalidatedError(record.name, f"what puts its parts together: {found.reason}")
    return found.seal


def _package(
    record: Record, parts: Sequence[Placed], checked: Checked, validate: bool
) -> dict[str, str]:
    from layoutdsl.code.numpy.record_text import part_name, record_text

    found = {
        f"{part_name(number)}.py": generate(each.items, validate=validate, unproved=True).text
        for number, each in enumerate(parts)
    }
    text = record_text(
        record,
        parts,
        source=record_lines(record),
        certificate=certificate_of(checked),
        validated=validate,
    )
    return {"__init__.py": text, **found}
