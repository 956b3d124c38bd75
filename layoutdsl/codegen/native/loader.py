"""From a layout to compiled kernels that Python can call.

A library is made for one layout, direction and element width when it is first needed, and kept on
disk. Where it is kept already nothing is generated, and nothing that generates is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING
from warnings import warn

from layoutdsl.codegen.native.cache import Kind, keep, kept, mark
from layoutdsl.codegen.native.calls import Function, entry_text, function
from layoutdsl.codegen.native.compilers import (
    ANOTHER,
    Compiler,
    CompilerError,
    SlowCompilerError,
    build,
    compiler,
    vector_bytes,
)
from layoutdsl.codegen.native.images import loaded
from layoutdsl.codegen.native.module import Failed, Kernels, NativeModule
from layoutdsl.files.private import passing_folder
from layoutdsl.meaning.model import Layout
from layoutdsl.texts.resources import fingerprint
from layoutdsl.texts.values import exact

if TYPE_CHECKING:
    from layoutdsl.codegen.native.program import EmittedProgram

OPTIONS = ("-std=c11", "-O1", "-g0", "-march=native")
PLAIN_OPTIONS = ("-std=c11", "-O1", "-g0")


def expect_compiler() -> None:
    """Check that code can be compiled here, and called.

    Raises:
        CompilerError: it cannot; says what is missing, and where to get it.
    """
    try:
        import _cffi_backend  # noqa: F401
    except ImportError:
        words = "the package `cffi` is missing"
        raise CompilerError(words, "pip install 'layoutdsl[native]'") from None
    compiler()


def why_not() -> str | None:
    """Return why nothing can be compiled here, in a few words; ``None`` where it can."""
    try:
        expect_compiler()
    except CompilerError as error:
        return str(error)
    return None


def insist(failure: CompilerError) -> None:
    """Raise what failed: compiled code was asked for, and nothing else."""
    raise CompilerError(failure.message, failure.remedy)


def say(words: str) -> None:
    """Warn of something, at the line that called a module or `compile`."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("layoutdsl."):
        frame, level = frame.f_back, level + 1
    warn(words, RuntimeWarning, stacklevel=level)


def native_module(
    layout: Layout,
    plain: ModuleType,
    vector: int | None = None,
    digits: str | None = None,
    failed: Failed = insist,
) -> NativeModule:
    """Return the module that packs by compiled C.

    Args:
        layout: every parameter has a value.
        plain: the generated numpy module of the same layout, loaded; it checks arguments.
        vector: bytes of the widest vector; what suits this machine if left out.
        digits: the hash of the proof that the digits it moves by are the layout's.
        failed: is told that a compiler failed, when an element width is used that needs it.

    Raises:
        CompilerError: nothing can be compiled here.
    """
    expect_compiler()
    lanes = vector_bytes() if vector is None else vector

    def emit(verb: str, width: int) -> EmittedProgram:
        from layoutdsl.codegen.native.program import generate_c

        return generate_c(
            layout,
            source=plain.SOURCE,
            certificate=plain.CERTIFICATE,
            digits=digits,
            widths=(width,),
            verbs=(verb,),
            vector=lanes,
        )

    made = kernels(layout.name, f"{exact(layout)} {lanes}", emit)
    return NativeModule(layout, plain, made, failed)


def kernels(name: str, meaning: str, emit: Callable[[str, int], EmittedProgram]) -> Kernels:
    """Return what gives the function for a verb and an element width, compiled once.

    Args:
        name: of the layout.
        meaning: everything that the program depends on, but for the verb, the width and ourselves.
        emit: makes the program.
    """
    known: dict[tuple[str, int], Function] = {}
    lock = Lock()

    def of(verb: str, width: int) -> Function:
        with lock:
            if (verb, width) not in known:
                key = f"{fingerprint()} {verb} {width} {meaning}"
                called = f"{name.lower()}_{verb}_{8 * width}"
                known[verb, width] = _opened(called, key, lambda: emit(verb, width))
            return known[verb, width]

    return of


def _opened(name: str, meaning: str, emit: Callable[[], EmittedProgram]) -> Function:
    which = compiler()
    key = "\n".join([meaning, which.identity, *OPTIONS])
    library = kept(Kind.LIBRARY, key)
    if library is not None:
        with suppress(OSError):  # it was made where it could be loaded
            return function(loaded(library), name, mark(key))
    try:
        library = _compiled(which, emit(), mark(key))
        found = function(loaded(library), name, mark(key))
    except OSError as error:
        words = f"the compiled library cannot be used: {error}"
        raise CompilerError(words, f"{ANOTHER}, or $TMPDIR to another folder") from None
    keep(Kind.LIBRARY, key, library)
    return found


def _compiled(which: Compiler, program: EmittedProgram, marked: str) -> bytes:
    entries = [line for name in program.functions for line in entry_text(name, marked)]
    with passing_folder() as folder:
        source, library = folder / f"{program.stem}.c", folder / "library.so"
        source.write_text("\n".join([program.text, *entries, ""]), encoding="utf-8")
        try:
            build(which, source, library, OPTIONS)
        except SlowCompilerError:
            raise
        except CompilerError:
            build(which, source, library, PLAIN_OPTIONS)
        return library.read_bytes()
