"""From a layout to compiled kernels that Python can call.

A library is made for one layout and one element width when it is first needed, and kept on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from types import ModuleType

from layoutdsl.codegen.native.cache import built_apart, cached
from layoutdsl.codegen.native.calls import Function, entry_text, function
from layoutdsl.codegen.native.compilers import (
    Compiler,
    CompilerError,
    build,
    compiler,
    vector_bytes,
)
from layoutdsl.codegen.native.module import Kernels, NativeModule
from layoutdsl.codegen.native.program import EmittedProgram, generate_c, sides
from layoutdsl.codegen.native.sides import Apart
from layoutdsl.model import Layout

OPTIONS = ("-std=c11", "-O1", "-march=native")
PLAIN_OPTIONS = ("-std=c11", "-O1")


def why_not() -> str | None:
    """Return why nothing can be compiled here, in a few words; ``None`` where it can."""
    try:
        metadata.version("cffi")
    except metadata.PackageNotFoundError:
        return "the package `cffi` is missing: pip install layoutdsl[native]"
    try:
        found = compiler()
    except CompilerError as error:
        return str(error)
    if found is None:
        return "there is no C compiler: set $CC, or pip install layoutdsl[ziglang]"
    return None


def native_module(layout: Layout, plain: ModuleType, vector: int | None = None) -> NativeModule:
    """Return the module that packs by compiled C.

    Args:
        layout: every parameter has a value.
        plain: the generated numpy module of the same layout, loaded; it checks arguments.
        vector: bytes of the widest vector; what suits this machine if left out.

    Raises:
        CompilerError: nothing can be compiled here. That a compiler fails is said, by the same
            error, when an element width is first used.
    """
    reason = why_not()
    if reason is not None:
        raise CompilerError(reason)
    found = sides(layout)
    fallback = found.reason if isinstance(found, Apart) else None

    def emit(verb: str, width: int) -> EmittedProgram:
        return generate_c(
            layout,
            source=plain.SOURCE,
            certificate=plain.CERTIFICATE,
            widths=(width,),
            verbs=(verb,),
            vector=vector_bytes() if vector is None else vector,
        )

    return NativeModule(layout, plain, kernels(emit), fallback)


def module_in_any_case(layout: Layout, plain: ModuleType) -> NativeModule:
    """Return the same; where nothing can be compiled, one that says so once, and uses numpy."""
    reason = why_not()
    if reason is None:
        return native_module(layout, plain)

    def refuse(*_: object) -> Function:
        raise CompilerError(reason)

    return NativeModule(layout, plain, refuse, None)


def kernels(emit: Callable[[str, int], EmittedProgram]) -> Kernels:
    """Return what gives the function for a verb and an element width, compiled once."""
    known: dict[tuple[str, int], Function] = {}
    lock = Lock()

    def of(verb: str, width: int) -> Function:
        with lock:
            if (verb, width) not in known:
                known[verb, width] = _opened(emit(verb, width))
            return known[verb, width]

    return of


def _opened(program: EmittedProgram) -> Function:
    (name,) = program.functions
    with suppress(OSError):  # damaged on the disk, perhaps
        return function(library(program), name)
    made = built_apart(lambda place: _compiled(_some_compiler(), program, place))
    try:
        return function(made, name)
    except OSError as error:
        raise CompilerError(f"the compiled library cannot be loaded: {error}") from None


def library(program: EmittedProgram) -> Path:
    """Return the shared library of a program, from the disk where it was compiled before.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    which = _some_compiler()
    key = "\n".join([which.identity, *OPTIONS, _text(program)])
    return cached(key, lambda place: _compiled(which, program, place))


def _text(program: EmittedProgram) -> str:
    """The program with what Python calls."""
    lines = [line for name in program.functions for line in entry_text(name)]
    return "\n".join([program.text, *lines, ""])


def _some_compiler() -> Compiler:
    found = compiler()
    if found is None:
        raise CompilerError("there is no C compiler")
    return found


def _compiled(which: Compiler, program: EmittedProgram, place: Path) -> None:
    with TemporaryDirectory(prefix="layoutdsl-") as directory:
        source = Path(directory) / f"{program.stem}.c"
        source.write_text(_text(program), encoding="utf-8")
        try:
            build(which, source, place, OPTIONS)
        except CompilerError:
            build(which, source, place, PLAIN_OPTIONS)
