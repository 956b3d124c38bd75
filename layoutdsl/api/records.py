"""Records to packages of modules that are proved, read back, and tried before anyone sees them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from layoutdsl.api.generating import certificate_of, generate, generate_c, refuse_refuted
from layoutdsl.meaning.arguments import FLAG, PATH, TEXT, expect
from layoutdsl.meaning.record import RECORD, Record
from layoutdsl.meaning.shapes import small
from layoutdsl.show.declaration import record_lines
from layoutdsl.texts.values import brief

if TYPE_CHECKING:
    from layoutdsl.codegen.placed import Placed
    from layoutdsl.prover.verdict import Checked

RecordTarget: TypeAlias = Literal["numpy", "c"]

MOST_VOLUME = 1 << 16
MOST_BITS = 1 << 17
"""Of a shape at which a package is tried before it is handed out."""

TRIED = 2
"""Shapes at which it is."""


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

    def write(self, path: str | PathLike[str]) -> Path:
        """Write the files into the folder ``path``, each whole, and return where it is."""
        from layoutdsl.files.whole import write_whole

        expect(path=(path, PATH))
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            write_whole(folder / name, text)
        return folder


class NotAsMeantError(RuntimeError):
    """A package did something else than its record means: a fault of ours."""


def generate_record(
    record: Record, target: RecordTarget = "numpy", *, validate: bool = True
) -> GeneratedRecord:
    """Prove a record for all shapes, and return code that packs and unpacks its fields.

    The code of each part is read back, and it is proved that it does what its layout means. What
    puts the parts together is the same for all records, over what this one says of its digits and
    windows. A package of Python is tried at small shapes, bit by bit, before it is handed out.

    Args:
        record: without open parameters.
        target: ``numpy``, for a package with a module for each part; or ``c``, for a file with
            functions of all fields beside a file for each part.
        validate: with `False` the code of parts is not read back, and says so.

    Raises:
        RefusedError: the record is refuted.
        UnvalidatedError: it was not shown that the code of a part does what its layout means.
        CompilerError: C was asked for, and the package `pycparser` is missing, which reads it back.
        ValueError: the record or a layout of a part has open parameters; or no such target.
    """
    expect(record=(record, RECORD), target=(target, TEXT), validate=(validate, FLAG))
    if target not in ("numpy", "c"):
        raise ValueError(f"there is no target `{target}`; known are numpy, c")
    from layoutdsl.codegen.placed import placed

    parts = placed(record)
    opened = [*record.parameters, *(each for part in parts for each in part.items.parameters)]
    if opened:
        message = f"the record `{record.name}` is laid out by `{opened[0]}`, which is open"
        raise ValueError(f"{message}: `compile` serves it, and no code is generated")
    checked = refuse_refuted(record)
    if target == "c":
        return GeneratedRecord(record, checked, _c_files(record, parts, checked, validate))
    made = GeneratedRecord(record, checked, _package(record, parts, checked, validate))
    _try(made)
    return made


def _c_files(
    record: Record, parts: Sequence[Placed], checked: Checked, validate: bool
) -> dict[str, str]:
    from layoutdsl.codegen.native.program import stem_of
    from layoutdsl.codegen.native.record_header import part_file, record_header
    from layoutdsl.codegen.native.record_text import record_c

    proofs = certificate_of(checked)
    stems = [stem_of(each.items.name) for each in parts]
    found = {
        f"{record.name}.c": record_c(record, parts, stems, proofs),
        f"{record.name}.h": record_header(record, proofs),
    }
    for number, each in enumerate(parts):
        assert each.items.element is not None, "a part says of what type it is"
        width = each.items.element.item[1]
        made = generate_c(each.items, widths=(width,), validate=validate)
        found[f"{part_file(number)}.c"] = made.program.text
        found[f"{part_file(number)}.h"] = made.program.header
    return found


def _package(
    record: Record, parts: Sequence[Placed], checked: Checked, validate: bool
) -> dict[str, str]:
    from layoutdsl.codegen.numpy.record_text import part_name, record_text

    found = {
        f"{part_name(number)}.py": generate(each.items, validate=validate).text
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


def _try(made: GeneratedRecord) -> None:
    """Pack and unpack at small shapes, against the meaning in plain integers.

    Raises:
        NotAsMeantError: a bit is not where it has to be.
    """
    record = made.record
    shapes = (
        values
        for values in small(record.frame, MOST_VOLUME)
        if record.elements_bits(values) <= MOST_BITS and record.size_bits_at(values) % 8 == 0
    )
    with TemporaryDirectory() as folder:
        module = loaded(made.write(Path(folder) / made.name), f"layoutdsl_tried_{made.name}")
        for values in islice(shapes, TRIED):
            if not _as_meant(record, module, values):
                given = " ".join(f"{name}={value}" for name, value in values.items())
                raise NotAsMeantError(f"the package of `{record.name}` errs at {given}")


def loaded(folder: Path, name: str) -> ModuleType:
    """Return the package in a folder, imported under a name that nothing else has."""
    spec = spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[""])
    assert spec is not None
    assert spec.loader is not None
    assert spec.submodule_search_locations is not None
    spec.submodule_search_locations[:] = [str(folder)]
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        for each in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
            del sys.modules[each]
    return module


def _as_meant(record: Record, module: ModuleType, values: dict[str, int]) -> bool:
    import numpy as np

    random = np.random.default_rng(0)
    fields: dict[str, Any] = {}
    plain: dict[str, Any] = {}
    for each in record.fields:
        kind, width = each.element.item
        most = 1 << min(each.element.bits, 8 * width)
        held = random.integers(0, most, each.shape(values), "u8").astype(f"u{width}")
        plain[each.name] = held
        if each.element.kind == "i" and each.element.bits < 8:
            held = ((held ^ most // 2) - most // 2 & 0xFF).astype("u1")
        fields[each.name] = (held & 1 if kind == "b" else held).view(f"{kind}{width}")
        if kind == "b":
            plain[each.name] = held & 1
    bits = np.zeros(record.size_bits_at(values), "u1")
    for _, held_bit, address in record.every_bit(values):
        bits[address] = int(plain[held_bit.field][held_bit.index]) >> held_bit.bit & 1
    wanted = np.packbits(bits, bitorder="little")
    packed = module.pack(**fields, shape=values)
    back = module.unpack(packed, values)._asdict()
    return np.array_equal(packed.reshape(-1), wanted) and all(
        back[name].tobytes() == each.tobytes() for name, each in fields.items()
    )
