"""From moves to compiled functions that Python can call.

A library is made for one move, element width and class of shapes when that is first met, and kept
on disk. Where it is kept already nothing is generated, and nothing that generates is imported.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from layoutdsl.code.loops.moves import Move, NoCode
from layoutdsl.code.native.again import again_text
from layoutdsl.code.native.background import later
from layoutdsl.code.native.cache import Kind, keep, kept, mark
from layoutdsl.code.native.calls import PAST, Function, entry_text, function
from layoutdsl.code.native.classes import GENERAL, MOST, ShapeClass, class_of, special_move
from layoutdsl.code.native.compilers import (
    ANOTHER,
    Compiler,
    CompilerError,
    SlowCompilerError,
    build,
    compiler,
    data_caches,
)
from layoutdsl.code.native.images import loaded
from layoutdsl.code.private import passing_folder
from layoutdsl.language.texts.resources import fingerprint
from layoutdsl.language.texts.values import brief, exact

if TYPE_CHECKING:
    from layoutdsl.code.native.program import EmittedProgram

PLAIN_OPTIONS = ("-std=c11", "-O1", "-g0")
OPTIONS = (
    *("-std=c11", "-O2", "-g0", "-march=native"),
    *("-fpeel-loops", "-fno-schedule-insns2", "-fno-tree-loop-distribute-patterns"),
)
"""Loops of a few turns that gcc makes one after the other, and not in the order that it takes for
the best, are up to a tenth faster than what -O2 makes of them, and -O3 is no faster than that. A
short row is no call of `memcpy`, for which it takes a loop over vectors.
"""
STEP_OPTIONS = ("-mtune-ctrl=^inter_unit_moves_to_vec",)
"""Of bytes that go by steps, and of gcc for x86 alone. It else keeps numbers that it has no
register for in those of vectors, from where they come back behind all vectors, and no tile begins
before the last one has ended: such bytes are a tenth faster so, and woven rows a tenth slower.
"""
PART_OF_CACHE = 16
"""An output goes past the last cache if it is larger than such a part of it: what it is made from
is as large, and others use that cache as well. With 480 MiB, outputs of up to 28 MiB take as little
as a third of the time so, and those of 54 MiB a fifth more.
"""
LARGE = 1 << 26
"""Bytes of a move that is worth waiting for a compiler, whoever asks."""


def past_cache() -> str:
    """Return the option that tells C from how many bytes on an output goes past the cache."""
    _, largest = max(data_caches(), default=(0, 0))
    return f"-DSTREAM_BYTES={max(PAST, (largest << 10) // PART_OF_CACHE)}LL"


@dataclass(frozen=True, slots=True)
class Emitter:
    """What makes the C of a library.

    Attributes:
        make: from a move, the bytes of an element and a rank of its tree to C.
        check: returns the C once it is proved; ``None`` where nobody asks for a proof.
    """

    make: Callable[[Move, int, int], EmittedProgram | NoCode]
    check: Callable[[EmittedProgram], EmittedProgram | NoCode] | None = None

    def __call__(self, move: Move, width: int, rank: int = 0) -> EmittedProgram | NoCode:
        """Return C that may be run."""
        made = self.make(move, width, rank)
        return made if isinstance(made, NoCode) or self.check is None else self.check(made)

    @property
    def trust(self) -> str:
        """What tells its libraries from others of the same layouts."""
        return "as written" if self.check is None else "validated"


Untold: TypeAlias = Callable[[NoCode], None]
"""Is told that numpy serves."""


@dataclass(frozen=True, slots=True)
class _Pending:
    """Is being made, by a thread of this process."""

    process: int


_State: TypeAlias = Function | NoCode | CompilerError | _Pending
Key: TypeAlias = tuple[str, int, ShapeClass]
"""What there is a library for: a verb, the bytes of an element, and a class of shapes."""


@dataclass(frozen=True, slots=True)
class Built:
    """A library, and the function in it that Python calls."""

    function: Function
    library: bytes

    __repr__ = brief


class Libraries:
    """The functions of some moves, each compiled when a class of shapes is first met."""

    def __init__(
        self,
        name: str,
        moves: Mapping[str, Move],
        emit: Emitter,
        untold: Untold,
        waits: bool,
        options: tuple[str, ...] = (),
    ) -> None:
        """Prepare it; nothing is compiled yet.

        Args:
            name: of the layout, or of both.
            moves: by verb.
            emit: makes the C.
            untold: is told that there is none for a move.
            waits: for the compiler; else numpy serves in the meantime.
            options: more of the compiler, such as ``-DLAYOUT_VECTOR=16``.
        """
        self._name = name.lower()
        self._moves, self._emit, self._untold, self._waits = moves, emit, untold, waits
        self._options = (past_cache(), *options)
        self._known: dict[Key, _State] = {}
        self._lock = Lock()

    def of(self, verb: str, width: int, shape: tuple[int, ...], size: int) -> Function | None:
        """Return a compiled function; ``None`` where numpy serves, for now or for good.

        Args:
            verb: which move.
            width: bytes of an element.
            shape: of the tensor.
            size: bytes that are moved.

        Raises:
            CompilerError: it could not be compiled.
        """
        with self._lock:
            key = self.key(verb, width, shape)
            found = self._known.get(key)
            if found is None or (isinstance(found, _Pending) and found.process != os.getpid()):
                found = self._begun(key, size)
            elif isinstance(found, _Pending) and size >= LARGE:
                found = self._known[key] = self._made(key)
        match found:
            case CompilerError():
                raise CompilerError(found.message, found.remedy)
            case NoCode():
                self._untold(found)
            case Function():
                return found
        return None

    def key(self, verb: str, width: int, shape: tuple[int, ...]) -> Key:
        """Return what the library is found by that serves a shape."""
        key = (verb, width, class_of(self._moves[verb].layouts[0], shape))
        if key in self._known or sum(each[:2] == key[:2] for each in self._known) < MOST:
            return key
        return (verb, width, GENERAL)

    def _begun(self, key: Key, size: int) -> _State:
        """What there is of a class that is met for the first time."""
        found: _State | None = self._kept(key)
        if found is None:
            soon = not self._waits and size < LARGE and later(lambda: self._add(key))
            found = _Pending(os.getpid()) if soon else self._made(key)
        self._known[key] = found
        return found

    def _add(self, key: Key) -> None:
        found = self._made(key)
        with self._lock:
            self._known[key] = found

    def _kept(self, key: Key) -> Function | None:
        try:
            which = compiler()
        except CompilerError:
            return None
        return from_cache(self._called(key), self._asked(key, which))

    def _made(self, key: Key) -> _State:
        """Make a library; where that of a class cannot be, the one that serves all shapes."""
        try:
            found: _State = self._compiled(key)
        except SlowCompilerError as error:
            return error
        except CompilerError as error:
            found = error.with_traceback(None)
        if isinstance(found, Function) or key[2] == GENERAL:
            return found
        return self._made((*key[:2], GENERAL))

    def _compiled(self, key: Key) -> Function | NoCode:
        which = compiler()
        program = self.emitted(key)
        if isinstance(program, NoCode):
            return program
        found = self.built(key, program)
        keep(Kind.LIBRARY, self._asked(key, which), found.library)
        return found.function

    def emitted(self, key: Key, rank: int = 0) -> EmittedProgram | NoCode:
        """Return the C of a library, or why there is none.

        Args:
            key: what it is for.
            rank: of its tree; 0 for the one that seems to be the fastest.
        """
        verb, width, shapes = key
        return self._emit(special_move(self._moves[verb], shapes), width, rank)

    def built(self, key: Key, program: EmittedProgram) -> Built:
        """Return C as a library whose kernels were tried.

        Args:
            key: what it is for.
            program: its C.

        Raises:
            CompilerError: there is no compiler, or what it makes cannot be used.
        """
        which = compiler()
        marked = mark(self._asked(key, which))
        try:
            library = _built(which, program, marked, self._options)
            opened = loaded(library)
            try_kernels(opened, program, marked)
            return Built(function(opened, self._called(key), marked), library)
        except OSError as error:
            words = f"the compiled library cannot be used: {error}"
            raise CompilerError(words, f"{ANOTHER}, or $TMPDIR to another folder") from None

    def serve(self, key: Key, found: Built, lasting: bool = False) -> None:
        """Let a library serve from now on.

        Args:
            key: what it is for.
            found: made for that.
            lasting: for later processes as well.
        """
        with self._lock:
            self._known[key] = found.function
        if lasting:
            keep(Kind.LIBRARY, self._asked(key, compiler()), found.library)

    def forget(self, key: Key) -> None:
        """Look up anew what serves."""
        with self._lock:
            self._known.pop(key, None)

    def _called(self, key: Key) -> str:
        verb, width, _ = key
        return f"{self._name}_{verb}_{8 * width}"

    def _asked(self, key: Key, which: Compiler) -> str:
        """All that a library depends on."""
        verb, width, shapes = key
        move = special_move(self._moves[verb], shapes)
        meaning = f"{fingerprint()} {verb} {width} {' '.join(map(exact, move.layouts))}"
        options = (*OPTIONS, *STEP_OPTIONS, *self._options)
        return "\n".join([meaning, self._emit.trust, which.identity, *options])


def from_cache(name: str, asked: str) -> Function | None:
    """Return a function that was compiled before, and is kept.

    Args:
        name: of the function.
        asked: all that its library depends on.
    """
    library = kept(Kind.LIBRARY, asked)
    if library is not None:
        with suppress(OSError):  # it was made where it could be loaded
            return function(loaded(library), name, mark(asked))
    return None


def _built(which: Compiler, program: EmittedProgram, marked: str, more: tuple[str, ...]) -> bytes:
    from layoutdsl.code.native.self_check import check_text

    entries = [line for name in program.functions for line in entry_text(name, marked)]
    entries += again_text(marked)
    entries += check_text(f"kernels_{marked}", program.calls)
    with passing_folder() as folder:
        source, library = folder / f"{program.stem}.c", folder / "library.so"
        source.write_text("\n".join([program.text, *entries, ""]), encoding="utf-8")
        of_bytes = ("grid", 1) in map(attrgetter("kernel", "e"), program.calls)
        first = (*OPTIONS, *STEP_OPTIONS) if of_bytes else OPTIONS
        *ways, last = dict.fromkeys((first, OPTIONS, PLAIN_OPTIONS))
        for options in ways:
            try:
                build(which, (source,), library, (*options, *more))
            except SlowCompilerError:
                raise
            except CompilerError:
                continue
            return library.read_bytes()
        build(which, (source,), library, (*last, *more))
        return library.read_bytes()


def try_kernels(library: ctypes.CDLL, program: EmittedProgram, marked: str) -> None:
    """Run each kernel of a library on bytes that say where they lie.

    Raises:
        CompilerError: one does not do what it has to, as it was compiled here.
    """
    wrong = library[f"kernels_{marked}_checked"]()
    if wrong:
        call = sorted(program.calls)[wrong - 1]
        moves = f"moves of {call.rows} rows and {call.columns} columns of {call.e} bytes"
        raise CompilerError(
            f"as it was compiled here, the kernel `{call.kernel}` is wrong: {moves}"
        )
