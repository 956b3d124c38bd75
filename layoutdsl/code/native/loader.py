"""A layout as a module that packs by compiled C, and what is said where there is none."""

from __future__ import annotations

import sys
from warnings import warn

from layoutdsl.code.loops.moves import move_of
from layoutdsl.code.native.compilers import CompilerError, compiler, expect_reader
from layoutdsl.code.native.libraries import Emitter, Libraries, Untold
from layoutdsl.code.native.module import Failed, NativeModule
from layoutdsl.code.numpy_module import NumpyModule
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.texts.resources import install_command


def expect_compiler() -> None:
    """Check that code can be compiled here, and called.

    Raises:
        CompilerError: it cannot; says what is missing, and where to get it.
    """
    try:
        import _cffi_backend  # noqa: F401
    except ImportError:
        raise CompilerError("the package `cffi` is missing", install_command("native")) from None
    expect_reader()
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
    plain: NumpyModule,
    emit: Emitter,
    *,
    failed: Failed = insist,
    untold: Untold = lambda _: None,
    waits: bool = True,
    options: tuple[str, ...] = (),
) -> NativeModule:
    """Return the module that packs by compiled C.

    Args:
        layout: every parameter has a value.
        plain: the NumPy module of the same layout; it checks arguments.
        emit: makes the C.
        failed: is told that a compiler failed, when a class of shapes is met that needs it.
        untold: is told that there is no C for a move.
        waits: for the compiler; else numpy serves in the meantime.
        options: more of the compiler.

    Raises:
        CompilerError: nothing can be compiled here.
    """
    expect_compiler()
    moves = {verb: move_of(layout, verb) for verb in ("pack", "unpack")}
    return NativeModule(
        layout, plain, Libraries(layout.name, moves, emit, untold, waits, options), failed
    )
