"""Layouts to modules that run."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Literal, TypeAlias, overload

from layoutdsl.api.emitting import validated
from layoutdsl.api.generating import generate, refuse_refuted
from layoutdsl.codegen.native.compilers import CompilerError as CompilerError
from layoutdsl.meaning.arguments import FLAG, TEXT, expect
from layoutdsl.meaning.model import LAYOUT, Layout
from layoutdsl.meaning.record import Record
from layoutdsl.meaning.storage import ITEMS, StorageName, stored
from layoutdsl.texts.values import exact

if TYPE_CHECKING:
    import numpy as np

    from layoutdsl.codegen.coded import QuantisedModule
    from layoutdsl.codegen.loops.moves import Move, NoCode
    from layoutdsl.codegen.native.module import Failed, NativeModule
    from layoutdsl.codegen.native.program import EmittedProgram
    from layoutdsl.codegen.record import RecordModule
    from layoutdsl.codegen.stored import BitModule, StoredModule

CompileTarget: TypeAlias = Literal["auto", "native", "numpy"]
TARGETS = ("auto", "native", "numpy")
SUBSTITUTE = "numpy serves in place of compiled code"
"""How those are told who asked for compiled code and do not get it."""
Moves: TypeAlias = "ModuleType | NativeModule"
Compiled: TypeAlias = "Moves | StoredModule | BitModule | QuantisedModule"
"""What `compile` returns: either has `pack`, `unpack` and `physical_shape`."""


def holds(dtype: np.dtype[np.generic], fill: float) -> bool:
    """Return whether items of a type can hold a fill; what they cannot, `pack` refuses."""
    from layoutdsl.codegen.numpy.support import _item

    try:
        _item(fill, dtype)
    except ValueError:
        return False
    return True


@overload
def compile(  # noqa: A001
    layout: Record,
    target: CompileTarget = "auto",
    *,
    storage: StorageName = "items",
    validate: bool = True,
) -> RecordModule: ...


@overload
def compile(  # noqa: A001
    layout: Layout,
    target: CompileTarget = "auto",
    *,
    storage: StorageName = "items",
    validate: bool = True,
) -> Compiled: ...


def compile(  # noqa: A001  the verb of `re.compile`
    layout: Layout | Record,
    target: CompileTarget = "auto",
    *,
    storage: StorageName = "items",
    validate: bool = True,
) -> Compiled | RecordModule:
    """Return a module with `pack`, `unpack`, `offset` and `physical_shape`, ready to run.

    Proved, generated and validated once per layout; what was is kept on the disk, for as long as
    this program stays as it is. With ``native`` the moves are compiled C, kept as well: a library
    for each class of shapes, when it is first met (`codegen/native/classes.py`). With ``auto`` they
    are where there is a C compiler that works, and the package `cffi`; numpy serves until it is
    done, unless a move is so large that it is worth to wait. The numpy code also serves layouts
    with a domain, which those who ask for ``native`` are told, and arguments that C does not take,
    such as arrays that are not contiguous. Of either it was proved, for all shapes, that it does
    what the layout means: the C is read back as a nest of loops over a few fixed kernels, which are
    run when they were compiled, on bytes that say where they lie. What there is no proof of is not
    run.

    Where elements are codes (``as scale_offset``), `pack` takes real numbers with `scale=` and
    `zero_point=`, and `unpack` returns them (`codegen/coded.py`).

    >>> compile(library("NCHW16c")).pack(np.ones((2, 20, 3, 4))).shape
    (2, 2, 3, 4, 16)

    Args:
        layout: without open parameters; or a record, whose module takes and returns its fields
            (`codegen/record.py`), each part of it moved as a layout of its own.
        target: ``auto``, ``native`` or ``numpy``.
        storage: ``items`` for one item an element. With ``bytes``, ``u32``, ``i32`` or the like the
            buffer is stored in words, without room between elements, as files have it. A layout
            that places the bits of its elements takes and returns these whole, whatever it is.
        validate: with `False` the numpy code is run without having been read back.

    Raises:
        RefusedError: the layout is refuted.
        UnvalidatedError: it was not shown that the numpy code does what the layout means.
        CompilerError: ``native`` was asked for, and there is no C compiler or no `cffi`; says how
            to get them. Where a compiler fails, the calls that need it raise the same.
        ValueError: there is no such target or storage, or the layout fills no whole words of it.
    """
    expect_target("target", target)
    expect(storage=(storage, TEXT), validate=(validate, FLAG))
    if isinstance(layout, Record):
        if storage not in (ITEMS, "bytes"):
            raise ValueError(f"the record `{layout.name}` is stored in bytes, and not in {storage}")
        return _record_module(layout, target, validate)
    expect(layout=(layout, LAYOUT))
    moves = _of_elements(layout.of_codes, target, storage, validate)
    if layout.interface is None:
        return moves
    from layoutdsl.codegen.coded import QuantisedModule

    return QuantisedModule(layout, moves, compiled(layout.of_codes, target, validate))


def _of_elements(
    layout: Layout, target: CompileTarget, storage: StorageName, validate: bool
) -> Moves | StoredModule | BitModule:
    """Return the module of a layout's elements, whatever they stand for."""
    how = None if storage == ITEMS else stored(layout, storage)
    found = compiled(layout, target, validate)
    if how is not None:
        from layoutdsl.codegen.stored import StoredModule

        return StoredModule(layout, found, how)
    if layout.bit_of is not None:
        from layoutdsl.codegen.stored import BitModule

        return BitModule(layout, found)
    return found


@cache
def _record_module(record: Record, target: CompileTarget, validate: bool) -> RecordModule:
    """Return the module of a record; that it is proved is kept, as the text of a module is."""
    from layoutdsl.codegen.native.cache import keep_text, kept_text
    from layoutdsl.codegen.placed import placed
    from layoutdsl.codegen.record import RecordModule
    from layoutdsl.texts.resources import fingerprint

    if record.parameters:
        message = f"the record `{record.name}` has an open parameter `{record.parameters[0]}`"
        raise ValueError(
            f"{message}: give it a number, as `record({record.parameters[0]}=16)` does"
        )
    key = f"{fingerprint()} record {exact(record)}"
    if kept_text(key) != "proved":
        checked = refuse_refuted(record)
        if checked.status == "proved":
            keep_text(key, "proved")
        else:
            _say_once(f"`{record.name}` is moved, and not proved: it is undecided")
    parts = placed(record)
    for each in parts:  # what is refused is refused now, not at a call
        if not each.items.parameters:
            compiled(each.items, target, validate)
    return RecordModule(record, parts, lambda items: compiled(items, target, validate))


def expect_target(name: str, target: CompileTarget) -> None:
    """Check what is to run.

    Raises:
        TypeError: it is no text.
        ValueError: there is no such target.
    """
    expect(**{name: (target, TEXT)})
    if target not in TARGETS:
        raise ValueError(f"there is no target `{target}`; known are {', '.join(TARGETS)}")


@cache
def compiled(layout: Layout, target: CompileTarget, validate: bool) -> Moves:
    """Return the module of a layout's slots, an item each; its arguments are those of `compile`."""
    compiles = can_compile(target)
    plain = plain_module(layout, validate)
    found = _native(layout, plain, target, validate) if compiles else plain
    if found is plain and plain.FALLBACK is not None:
        _say_once(f"`{layout.name}` is moved element by element: {plain.FALLBACK}")
    return found


@cache
def plain_module(layout: Layout, validate: bool) -> ModuleType:
    """Return the numpy module: what this very program proved of this very layout before is kept."""
    from layoutdsl.codegen import EmittedModule, load
    from layoutdsl.codegen.native.cache import keep_text, kept_text
    from layoutdsl.texts.resources import fingerprint

    key = f"{fingerprint()} numpy {validate} {exact(layout)}"
    text = kept_text(key)
    if text is not None:
        return load(EmittedModule(layout.name, text, None))
    made = generate(layout, validate=validate)
    if made.checked.status == "proved":  # the undecided may be decided with more time
        keep_text(key, made.text)
    return made.load()


def _native(layout: Layout, plain: ModuleType, target: CompileTarget, validate: bool) -> Moves:
    if layout.domain:
        numpy_serves(target, f"`{layout.name}` holds elements of a domain only")
        return plain
    from layoutdsl.codegen.native.libraries import Emitter
    from layoutdsl.codegen.native.loader import native_module

    def make(move: Move, width: int) -> EmittedProgram | NoCode:
        from layoutdsl.codegen.native.program import generate_c

        return generate_c(
            move.layouts[0],
            source=plain.SOURCE,
            certificate=plain.CERTIFICATE,
            widths=(width,),
            verbs=(move.verb,),
        )

    return native_module(
        layout,
        plain,
        Emitter(make, validated if validate else None),
        failed=failing(target),
        untold=lambda found: numpy_serves(target, found.reason),
        waits=target == "native",
    )


def can_compile(target: CompileTarget) -> bool:
    """Return whether C is compiled for a target.

    Raises:
        CompilerError: it cannot be, and nothing else was asked for.
    """
    from layoutdsl.codegen.native.cache import refusal
    from layoutdsl.codegen.native.loader import expect_compiler, why_not

    if target != "native":
        return target == "auto" and why_not() is None
    expect_compiler()
    reason = refusal()
    if reason is not None:
        _say_once(f"nothing is kept of what is compiled: {reason}")
    return True


def failing(target: CompileTarget) -> Failed:
    """Return who is told that a compiler failed: who asked for ``auto`` gets numpy in its place."""
    from layoutdsl.codegen.native.loader import insist

    return insist if target == "native" else _forgo


def _forgo(_: CompilerError) -> None:
    """Who asked for what there is, is not told what there is not."""


def numpy_serves(target: CompileTarget, reason: str) -> None:
    """Tell those who asked for ``native``, once, that it is not for these layouts."""
    if target == "native":
        _say_once(f"{SUBSTITUTE}: {reason}")


@cache
def _say_once(words: str) -> None:
    from layoutdsl.codegen.native.loader import say

    say(words)
