"""The C of records, built as a library and held against the definition of every bit."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from functions_built import C
from random_records import Values, elements, meant, shapes

from layoutdsl import GeneratedRecord, Record

NEEDS_C = pytest.mark.skipif(C is None, reason="there is no C compiler")


OPTIONS = ("-std=c11", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror")


SANITIZED = ("-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all")


GUARD = 64


def fields_of(record: Record, values: Values, random: Random) -> dict[str, np.ndarray]:
    seed = np.random.default_rng(random.randrange(10**6))
    return {each.name: elements(each.element, each.shape(values), seed) for each in record.fields}


class Library:
    """The C files of a folder as a library.

    Args:
        name: of the record, or of the layout that is stored in words.
        symbols: the extents that its functions take, in order.
        folder: of the C files.
        options: of the compiler.
    """

    def __init__(self, name: str, symbols: Sequence[str], folder: Path, *options: str) -> None:
        self._stem, self._symbols = name.lower(), symbols
        texts = sorted(map(str, folder.glob("*.c")))
        command = [str(C), *OPTIONS, *(options or ("-O2",)), "-o", str(folder / "lib.so"), *texts]
        subprocess.run(command, check=True, timeout=300)
        self._library = ctypes.CDLL(str(folder / "lib.so"))

    def _shape(self, values: Values) -> ctypes.Array[ctypes.c_int64]:
        names = self._symbols
        return (ctypes.c_int64 * len(names))(*(values[name] for name in names))

    def said(self, what: str, values: Values) -> int:
        """What ``_bytes`` or ``_scratch`` says of a shape."""
        function = self._library[f"{self._stem}_{what}"]
        function.restype = ctypes.c_int64
        return int(function(self._shape(values)))

    def call(self, verb: str, values: Values, *arrays: np.ndarray) -> int:
        """Move all fields, and see that nothing behind the memory in between was written."""
        size = self.said("scratch", values)
        scratch = np.full(size + GUARD, 0xA5, "u1")
        pointers = [ctypes.c_void_p(each.ctypes.data) for each in (*arrays, scratch)]
        found = self._library[f"{self._stem}_{verb}"](
            *pointers[:-1], self._shape(values), pointers[-1]
        )
        assert (scratch[size:] == 0xA5).all()
        return int(found)


class Built(Library):
    """The C of a record as a library."""

    def __init__(self, made: GeneratedRecord, folder: Path, *options: str) -> None:
        self.record = made.record
        made.write(folder)
        super().__init__(made.record.name, made.record.frame.symbols, folder, *options)


def check_c(built: Built, values: Values, random: Random) -> None:
    record = built.record
    fields = {n: np.ascontiguousarray(e) for n, e in fields_of(record, values, random).items()}
    wanted = meant(record, values, fields)
    assert built.said("bytes", values) == len(wanted)
    out = np.full(len(wanted) + GUARD, 0x5A, "u1")
    assert built.call("pack", values, *fields.values(), out) == 0
    assert (out[: len(wanted)] == wanted).all(), (record, dict(values))
    assert (out[len(wanted) :] == 0x5A).all()
    back = {name: np.full_like(each, 1) for name, each in fields.items()}
    assert built.call("unpack", values, wanted, *back.values()) == 0
    for name, each in fields.items():
        assert back[name].tobytes() == each.tobytes(), (record, name, dict(values))


def whole_bytes(record: Record, random: Random, count: int, most: int) -> Iterator[Values]:
    for values in shapes(record, random, count, most):
        if record.size_bits(values) % 8 == 0:
            yield values
