"""Packages of records, tried bit by bit before anyone sees them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.shapes import small

MOST_VOLUME = 1 << 16
MOST_BITS = 1 << 17
"""Of a shape at which a package is tried before it is handed out."""

TRIED = 2
"""Shapes at which it is."""


class NotAsMeantError(RuntimeError):
    """A package did something else than its record means: a fault of ours."""


def try_package(record: Record, write: Callable[[Path], Path]) -> None:
    """Pack and unpack at small shapes, against the meaning in plain integers.

    Args:
        record: that is packed.
        write: writes the package into a folder, and returns where it is.

    Raises:
        NotAsMeantError: a bit is not where it has to be.
    """
    shapes = (
        values
        for values in small(record.frame, MOST_VOLUME)
        if record.elements_bits(values) <= MOST_BITS and record.size_bits_at(values) % 8 == 0
    )
    with TemporaryDirectory() as folder:
        module = loaded(write(Path(folder) / record.name), f"layoutdsl_tried_{record.name}")
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
