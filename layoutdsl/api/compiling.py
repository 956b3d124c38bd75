"""Layouts to modules that run."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Literal, TypeAlias

from layoutdsl.api.generating import generate
from layoutdsl.model import Layout

if TYPE_CHECKING:
    from layoutdsl.codegen.native.conversion import Conversion
    from layoutdsl.codegen.native.module import NativeModule

CompileTarget: TypeAlias = Literal["auto", "native", "numpy"]
Compiled: TypeAlias = "ModuleType | NativeModule"
"""What `compile` returns: either has `pack`, `unpack`, `offset` and `physical_shape`."""


@cache
def compile(  # noqa: A001  the verb of `re.compile`
    layout: Layout, target: CompileTarget = "auto", *, validate: bool = True
) -> Compiled:
    """Return a module with `pack`, `unpack`, `offset` and `physical_shape`, ready to run.

    Proved, generated and validated once per layout; what was is kept on the disk, for as long as
    this program stays as it is. With ``auto`` and ``native`` the moves are compiled C, kept as
    well, where there is a C compiler and the package `cffi`; elsewhere the numpy code serves, which
    is said once to those who asked for ``native``. What was validated by proof is the numpy code;
    the compiled code is held against the meaning by tests.

    >>> compile(library("NCHW16c")).pack(np.ones((2, 20, 3, 4))).shape
    (2, 2, 3, 4, 16)

    Args:
        layout: without open parameters.
        target: ``auto``, ``native`` or ``numpy``.
        validate: with `False` the numpy code is run without having been read back.

    Raises:
        RefusedError: the layout is refuted.
        UnvalidatedError: it was not shown that the code does what the layout means.
        ValueError: there is no such target.
    """
    if target not in ("auto", "native", "numpy"):
        raise ValueError(f"there is no target `{target}`; known are auto, native, numpy")
    plain = _plain(layout, validate)
    return plain if target == "numpy" else _native(layout, plain, target)


@cache
def _plain(layout: Layout, validate: bool) -> ModuleType:
    """The numpy module: what this very program proved of this very layout before is kept."""
    from layoutdsl.codegen import EmittedModule, load
    from layoutdsl.codegen.native.cache import keep_text, kept_text
    from layoutdsl.resources import fingerprint

    key = f"{fingerprint()} numpy {validate} {layout!r}"
    text = kept_text(key)
    if text is not None:
        return load(EmittedModule(layout.name, text, None))
    made = generate(layout, validate=validate)
    if made.checked.status == "proved":  # the undecided may be decided with more time
        keep_text(key, made.text)
    return made.load()


def _native(layout: Layout, plain: ModuleType, target: CompileTarget) -> Compiled:
    from layoutdsl.codegen.native.loader import native_module, why_not

    tell = _say_once if target == "native" else _keep_quiet
    reason = why_not()
    if reason is None:
        return native_module(layout, plain, tell=tell)
    tell(reason)
    return plain


@cache
def compile_conversion(source: Layout, target: Layout) -> Conversion:
    """Return what `convert`s buffers of one layout into those of another, without the tensor.

    >>> both = compile_conversion(library("NCHW16c"), library("NHWC"))
    >>> both.convert(np.zeros((2, 2, 3, 4, 16)), (2, 20, 3, 4)).shape
    (2, 3, 4, 20)

    Axes are matched by position. Where there is no direct way, `Conversion.direct` says why, and
    the tensor is unpacked and packed again; without a compiler numpy does that.

    Raises:
        RefusedError: a layout is refuted.
        ValueError: the layouts take different tensors.
    """
    from layoutdsl.codegen.native.conversion import Conversion
    from layoutdsl.codegen.native.loader import module_in_any_case

    first, second = (module_in_any_case(each, _plain(each, True)) for each in (source, target))
    return Conversion(first, second)


@cache
def _say_once(reason: str) -> None:
    from layoutdsl.codegen.native.loader import say

    say(reason)


def _keep_quiet(_: str) -> None:
    """Who asked for what there is, is not told what there is not."""
