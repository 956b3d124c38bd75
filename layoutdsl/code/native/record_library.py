"""The C of a record as a library: made once, kept on the disk, and called from Python.

It moves all fields in one call. Threads share rows where these know nothing of one another. Where
the library is kept already nothing is generated, and nothing that generates is imported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from layoutdsl.code.loops.moves import NoCode
from layoutdsl.code.native.background import later
from layoutdsl.code.native.cache import Kind, keep, kept, mark
from layoutdsl.code.native.calls import SHARE_BYTES, foreign, symbol
from layoutdsl.code.native.compilers import (
    ANOTHER,
    Compiler,
    CompilerError,
    SlowCompilerError,
    build,
    compiler,
)
from layoutdsl.code.native.images import loaded
from layoutdsl.code.native.libraries import LARGE, past_cache, try_kernels
from layoutdsl.code.native.threads import shared
from layoutdsl.code.private import passing_folder

if TYPE_CHECKING:
    from layoutdsl.code.native.program import EmittedProgram

Verb: TypeAlias = Literal["pack", "unpack"]
OPTIONS = ("-std=c11", "-O3", "-g0", "-march=native")
"""Loops over items gain from more than `-O1`; those of the parts lose nothing."""
PLAIN_OPTIONS = ("-std=c11", "-O2", "-g0")
MOST_KEPT = 1 << 23
"""Bytes of memory in between that are kept from call to call: new ones are touched page by page."""


@dataclass(frozen=True, slots=True)
class RecordProgram:
    """The C of a record.

    Attributes:
        name: of the file with the functions that move all fields.
        stem: what the names of these start with.
        fields: how many there are.
        files: texts by their names, headers too.
        parts: the program of each part's layout, by the name of its file.
    """

    name: str
    stem: str
    fields: int
    files: Mapping[str, str]
    parts: Mapping[str, EmittedProgram]


@dataclass(frozen=True, slots=True)
class _Functions:
    """What a library offers: both moves, and how much memory one of them needs."""

    moves: Mapping[str, Any]
    scratch: Any


@dataclass(frozen=True, slots=True)
class _Pending:
    """Is being made, by a thread of this process."""

    process: int


_State: TypeAlias = _Functions | NoCode | CompilerError | _Pending


class RecordCode:
    """Moves the fields of one record by compiled C."""

    def __init__(
        self,
        stem: str,
        key: str,
        make: Callable[[], RecordProgram | NoCode],
        untold: Callable[[NoCode], None],
        failed: Callable[[CompilerError], None],
        waits: bool,
    ) -> None:
        """Prepare it; nothing is compiled yet.

        Args:
            stem: what the names of its functions start with.
            key: all that the C depends on.
            make: makes the C, or says why there is none.
            untold: is told why there is none.
            failed: is told that a compiler failed.
            waits: for the compiler; else numpy serves in the meantime.
        """
        self._stem, self._key, self._make = stem, key, make
        self._untold, self._failed, self._waits = untold, failed, waits
        self._state: _State | None = None
        self._lock = Lock()
        self._kept: list[NDArray[np.uint8]] = []

    def move(
        self,
        verb: Verb,
        flat: NDArray[np.uint8],
        fields: Sequence[NDArray[Any]],
        shape: Sequence[int],
        along: int | None,
        threads: int,
    ) -> bool:
        """Move all fields; returns whether it was done, else nothing was written.

        Args:
            verb: which way.
            flat: the buffer, in one piece.
            fields: in the order of the record.
            shape: of the record.
            along: which of its extents counts rows that know nothing of one another.
            threads: how many may work at once.
        """
        if not all(each.flags.c_contiguous and each.dtype.isnative for each in fields):
            return False
        functions = self._functions(flat.nbytes + sum(each.nbytes for each in fields))
        if functions is None:
            return False
        arrays, call = (flat, *fields), functions.moves[verb]
        places = [each.ctypes.data for each in arrays]
        if along is None or threads == 1 or flat.nbytes % shape[along]:
            return self._called(functions, call, places, shape) == 0
        steps = [each.nbytes // shape[along] for each in arrays]

        def share(rows: tuple[int, int]) -> int:
            first, past = rows
            begun = [at + first * step for at, step in zip(places, steps, strict=True)]
            some = (*shape[:along], past - first, *shape[along + 1 :])
            return self._called(functions, call, begun, some)

        shares = _shares(shape[along], min(threads, flat.nbytes // SHARE_BYTES + 1))
        return shared(share, shares, threads) == 0

    def _called(
        self, functions: _Functions, call: Any, places: Sequence[int], shape: Sequence[int]
    ) -> int:
        ffi = foreign()
        extents = ffi.new("int64_t[]", list(shape))
        size = functions.scratch(extents)
        if size < 0:
            return 2
        scratch = self._memory(size)
        given = ffi.new("void *[]", [ffi.cast("void *", place) for place in places])
        failed: int = call(given, extents, ffi.cast("void *", scratch.ctypes.data))
        if scratch.nbytes <= MOST_KEPT:
            self._kept.append(scratch)
        return failed

    def _memory(self, size: int) -> NDArray[np.uint8]:
        """Memory that no other thread has."""
        with suppress(IndexError):
            found = self._kept.pop()
            if found.nbytes >= size:
                return found
        return np.empty(size, "u1")

    def _functions(self, size: int) -> _Functions | None:
        """What was compiled; ``None`` where numpy serves, for now or for good.

        Raises:
            CompilerError: it could not be compiled, and nothing else was asked for.
        """
        with self._lock:
            found = self._state
            if found is None or (isinstance(found, _Pending) and found.process != os.getpid()):
                found = self._state = self._begun(size)
            elif isinstance(found, _Pending) and size >= LARGE:
                found = self._state = self._made()
        match found:
            case CompilerError():
                self._failed(found)
            case NoCode():
                self._untold(found)
            case _Functions():
                return found
        return None

    def _begun(self, size: int) -> _State:
        found: _State | None = self._from_cache()
        if found is None:
            soon = not self._waits and size < LARGE and later(self._add)
            found = _Pending(os.getpid()) if soon else self._made()
        return found

    def _add(self) -> None:
        found = self._made()
        with self._lock:
            self._state = found

    def _made(self) -> _State:
        try:
            return self._compiled()
        except CompilerError as error:
            return error.with_traceback(None)

    def _asked(self, which: Compiler) -> str:
        """All that the library depends on."""
        return "\n".join([self._key, which.identity, past_cache(), *OPTIONS])

    def _from_cache(self) -> _Functions | None:
        try:
            asked = self._asked(compiler())
        except CompilerError:
            return None
        library = kept(Kind.LIBRARY, asked)
        if library is not None:
            with suppress(OSError):  # it was made where it could be loaded
                return self._opened(loaded(library), mark(asked))
        return None

    def _compiled(self) -> _Functions | NoCode:
        which = compiler()
        program = self._make()
        if isinstance(program, NoCode):
            return program
        asked = self._asked(which)
        marked = mark(asked)
        try:
            library = _built(which, program, marked)
            opened = loaded(library)
            for number, each in enumerate(program.parts.values()):
                try_kernels(opened, each, f"{marked}_{number}")
            found = self._opened(opened, marked)
        except OSError as error:
            words = f"the compiled library cannot be used: {error}"
            raise CompilerError(words, f"{ANOTHER}, or $TMPDIR to another folder") from None
        keep(Kind.LIBRARY, asked, library)
        return found

    def _opened(self, library: Any, marked: str) -> _Functions:
        form = "int (*)(void **, const int64_t *, void *)"
        moves = {
            verb: symbol(library, f"{self._stem}_{verb}_{marked}", form)
            for verb in ("pack", "unpack")
        }
        scratch = symbol(library, f"{self._stem}_scratch", "int64_t (*)(const int64_t *)")
        return _Functions(moves, scratch)


def _shares(rows: int, most: int) -> list[tuple[int, int]]:
    """Rows in about equal shares: the first of each, and the one behind its last."""
    count = max(1, min(rows, most))
    ends = [rows * each // count for each in range(count + 1)]
    return list(pairwise(ends))


def _built(which: Compiler, program: RecordProgram, marked: str) -> bytes:
    from layoutdsl.code.native.record_header import entry_text
    from layoutdsl.code.native.self_check import check_text

    with passing_folder() as folder:
        more = {program.name: entry_text(program.stem, program.fields, marked)}
        for number, (name, part) in enumerate(program.parts.items()):
            more[name] = check_text(f"kernels_{marked}_{number}", part.calls)
        for name, text in program.files.items():
            added = "\n".join([text, *more.get(name, []), ""])
            (folder / name).write_text(added, encoding="utf-8")
        sources = [folder / name for name in more]
        library = folder / "library.so"
        try:
            build(which, sources, library, (past_cache(), *OPTIONS))
        except SlowCompilerError:
            raise
        except CompilerError:
            build(which, sources, library, PLAIN_OPTIONS)
        return library.read_bytes()
