"""What is packed and unpacked, and the bytes that have to come of it: those of the whole."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from texts import layout

from layoutdsl import Layout, TooLittleError, pack_file, unpack_file
from layoutdsl import compile as compiled
from layoutdsl.files.pieces.tensors import Done

LAYOUTS = (
    "layout Blocked(n, c) = [n, c/16, c%16]",
    "layout Other(n, c) = [n, c/16, c%16] fill 3",
    "layout Columns(n, c) = [c, n]",
    "layout Late(n, c) = [n, c/4, c%4] offset 5",
    "layout Tiled(n, c) = [n/8, c/8; n%8, c%8] fill 7",
    "layout Whole(n, c) = [(n, c)%3, (n, c)/3]",
)
SHAPES = ((30, 35), (9, 70), (61, 16), (16, 48))
TYPES = ("u1", "<f4", ">i2")


@dataclass(frozen=True)
class Work:
    """What is asked for. The input is what lies in ``in`` then."""

    verb: str
    text: str
    shape: tuple[int, ...]
    dtype: str
    raw: bool
    fill: int | None
    pieces: int
    jobs: int

    @property
    def layout(self) -> Layout:
        return read(self.text)

    @property
    def stored(self) -> tuple[int, ...]:
        """The shape of the input."""
        return self.shape if self.verb == "pack" else self.layout.physical_shape(self.shape)

    @property
    def mem(self) -> int:
        """The memory for pieces of the size that is wanted."""
        return self.jobs * room(self.text, self.shape, self.dtype, self.verb, self.pieces)

    def items(self, seed: int) -> np.ndarray:
        """An input; other seeds have other ones."""
        count = prod(self.stored) * np.dtype(self.dtype).itemsize
        return np.frombuffer(Random(seed).randbytes(count), self.dtype).reshape(self.stored)

    def content(self, seed: int) -> bytes:
        """The input as a file."""
        return self._bytes(self.items(seed))

    def want(self, content: bytes) -> bytes | None:
        """The output for an input; nothing where that is not one."""
        try:
            if self.raw:
                items = np.frombuffer(content, self.dtype).reshape(self.stored)
            else:
                items = np.load(io.BytesIO(content), allow_pickle=False)
        except (ValueError, EOFError):
            return None
        if (items.shape, items.dtype) != (self.stored, self.dtype):
            return None
        code = compiled(self.layout, "numpy")
        if self.verb == "unpack":
            return self._bytes(code.unpack(items, self.shape))
        given = {} if self.fill is None else {"fill": self.fill}
        return self._bytes(code.pack(items, **given))

    def _bytes(self, items: np.ndarray) -> bytes:
        if self.raw:
            return items.tobytes()
        file = io.BytesIO()
        np.save(file, np.ascontiguousarray(items))
        return file.getvalue()

    def run(self, look: Callable[[np.ndarray], None]) -> Done:
        """Do it, from ``in`` to ``out``."""
        how: dict[str, Any] = {"target": "numpy", "jobs": self.jobs, "look": look, "mem": self.mem}
        raw = self.dtype if self.raw else None
        if self.verb == "pack":
            how["shape"] = self.shape if self.raw else None
            return pack_file(self.layout, "in", "out", fill=self.fill, raw=raw, force=True, **how)
        return unpack_file(self.layout, "in", "out", self.shape, raw=raw, force=True, **how)


@cache
def read(text: str) -> Layout:
    return layout(text)


@cache
def room(text: str, shape: tuple[int, ...], dtype: str, verb: str, pieces: int) -> int:
    """The bytes of a piece that is so many times the smallest one."""
    one = Work(verb, text, shape, dtype, True, None, 1, 1)
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "in"), Path(folder, "out")
        source.write_bytes(one.content(0))
        how: dict[str, Any] = {"raw": dtype, "target": "numpy"}
        try:
            if verb == "pack":
                pack_file(one.layout, source, target, mem=1, shape=shape, **how)
            else:
                unpack_file(one.layout, source, target, shape, mem=1, **how)
        except TooLittleError as few:
            return few.needed * pieces
    raise AssertionError("a byte is enough")


def drawn(draw: Random) -> Work:
    """Return some work."""
    verb = draw.choice(("pack", "pack", "unpack"))
    fill = draw.choice((None, None, 9)) if verb == "pack" else None
    text, shape, dtype = draw.choice(LAYOUTS), draw.choice(SHAPES), draw.choice(TYPES)
    return Work(
        verb,
        text,
        shape,
        dtype,
        draw.random() < 0.5,
        fill,
        draw.choice((2, 3, 5, 9)),
        draw.randint(1, 3),
    )


def changed(work: Work, draw: Random) -> Work:
    """Return what somebody else may ask for, with the same input or one like it."""
    match draw.choice(("layout", "fill", "pieces", "jobs", "shape", "raw", "verb")):
        case "layout":
            return replace(work, text=draw.choice(LAYOUTS))
        case "fill" if work.verb == "pack":
            return replace(work, fill=draw.choice((None, 9, 11)))
        case "pieces":
            return replace(work, pieces=draw.choice((2, 3, 4, 9)))
        case "jobs":
            return replace(work, jobs=draw.randint(1, 3))
        case "shape":
            return replace(work, shape=draw.choice(SHAPES))
        case "raw":
            return replace(work, raw=not work.raw)
        case "verb":
            return replace(work, verb="unpack" if work.verb == "pack" else "pack", fill=None)
    return work
