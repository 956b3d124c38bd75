"""From a layout to compiled kernels that Python can call.

A library is made for one layout and one element width when it is first needed, and kept on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from types import ModuleType
from typing import Any

from layoutdsl.codegen.native.cache import built_apart, cached
from layoutdsl.codegen.native.compilers import (
    Compiler,
    CompilerError,
    build,
    compiler,
    vector_bytes,
)
from layoutdsl.codegen.native.module import NativeModule
from layoutdsl.codegen.native.program import EmittedProgram, generate_c, sides, stem_of
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


def native_module(
    layout: Layout, plain: ModuleType, vector: int | None = None, digits: str | None = None
) -> NativeModule:
    """Return the module that packs by compiled C.

    Args:
        layout: every parameter has a value.
        plain: the generated numpy module of the same layout, loaded; it checks arguments.
        vector: bytes of the widest vector; what suits this machine if left out.
        digits: the hash of the proof that the digits it moves by are the layout's.

    Raises:
        CompilerError: nothing can be compiled here. That a compiler fails is said, by the same
            error, when an element width is first used.
    """
    reason = why_not()
    if reason is not None:
        raise CompilerError(reason)
    found = sides(layout)
    fallback = found.reason if isinstance(found, Apart) else None

    def emit(width: int) -> EmittedProgram:
        return generate_c(
            layout,
            source=plain.SOURCE,
            certificate=plain.CERTIFICATE,
            digits=digits,
            widths=(width,),
            vector=vector_bytes() if vector is None else vector,
        )

    return NativeModule(layout, plain, kernels(emit), stem_of(layout.name), fallback)


def kernels(emit: Callable[[int], EmittedProgram]) -> Callable[[int], tuple[Any, Any]]:
    """Return what gives a cffi handle and a library for an element width, compiled once."""
    known: dict[int, tuple[Any, Any]] = {}
    lock = Lock()

    def of(width: int) -> tuple[Any, Any]:
        with lock:
            if width not in known:
                known[width] = _opened(emit(width))
            return known[width]

    return of


def _opened(program: EmittedProgram) -> tuple[Any, Any]:
    import cffi

    ffi = cffi.FFI()
    ffi.cdef("\n".join(_declarations(program)))
    try:
        return ffi, ffi.dlopen(str(library(program)))
    except OSError:  # damaged on the disk, perhaps
        made = built_apart(lambda place: _compiled(_some_compiler(), program, place))
    try:
        return ffi, ffi.dlopen(str(made))
    except OSError as error:
        raise CompilerError(f"the compiled library cannot be loaded: {error}") from None


def _declarations(program: EmittedProgram) -> list[str]:
    lines = list[str]()
    for name in program.functions:
        lines.append(f"int64_t {name}_units(const int64_t *);")
        lines.append(f"int {name}_job(const void *, void *, const int64_t *);")
    return lines


def library(program: EmittedProgram) -> Path:
    """Return the shared library of a program, from the disk where it was compiled before.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    which = _some_compiler()
    key = "\n".join([which.identity, *OPTIONS, program.text])
    return cached(key, lambda place: _compiled(which, program, place))


def _some_compiler() -> Compiler:
    found = compiler()
    if found is None:
        raise CompilerError("there is no C compiler")
    return found


def _compiled(which: Compiler, program: EmittedProgram, place: Path) -> None:
    with TemporaryDirectory(prefix="layoutdsl-") as directory:
        source = Path(directory) / f"{program.stem}.c"
        source.write_text(program.text, encoding="utf-8")
        try:
            build(which, source, place, OPTIONS)
        except CompilerError:
            build(which, source, place, PLAIN_OPTIONS)
