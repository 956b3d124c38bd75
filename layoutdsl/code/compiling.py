"""Layouts to modules that run."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, overload

from layoutdsl.code.modules import CompileTarget as CompileTarget
from layoutdsl.code.modules import Moves, compiled, expect_target
from layoutdsl.code.native.compilers import CompilerError as CompilerError
from layoutdsl.language.meaning.arguments import FLAG, TEXT, expect
from layoutdsl.language.meaning.model import LAYOUT, Layout
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.storage import ITEMS, StorageName, stored

if TYPE_CHECKING:
    import numpy as np

    from layoutdsl.code.coded import QuantisedModule
    from layoutdsl.code.record import RecordModule
    from layoutdsl.code.stored import BitModule, StoredModule

Compiled: TypeAlias = "Moves | StoredModule | BitModule | QuantisedModule"
"""What `compile` returns: either has `pack`, `unpack` and `physical_shape`."""


def holds(dtype: np.dtype[np.generic], fill: float) -> bool:
    """Return whether items of a type can hold a fill; what they cannot, `pack` refuses."""
    from layoutdsl.code.numpy.support import _item

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
    unproved: bool = False,
) -> RecordModule: ...


@overload
def compile(  # noqa: A001
    layout: Layout,
    target: CompileTarget = "auto",
    *,
    storage: StorageName = "items",
    validate: bool = True,
    unproved: bool = False,
) -> Compiled: ...


def compile(  # noqa: A001  the verb of `re.compile`
    layout: Layout | Record,
    target: CompileTarget = "auto",
    *,
    storage: StorageName = "items",
    validate: bool = True,
    unproved: bool = False,
) -> Compiled | RecordModule:
    """Return a module with `pack`, `unpack`, `offset` and `physical_shape`, ready to run.

    Proved, generated and validated once per layout; what was is kept on the disk, for as long as
    this program stays as it is. With ``native`` the moves are compiled C, kept as well: a library
    for each class of shapes, when it is first met (`code/native/classes.py`). With ``auto`` they
    are where there is a C compiler that works, and the package `cffi`; numpy serves until it is
    done, unless a move is so large that it is worth to wait. The numpy code also serves layouts
    with a domain, which those who ask for ``native`` are told, and arguments that C does not take,
    such as arrays that are not contiguous. Of either it was proved, for all shapes, that it does
    what the layout means: the C is read back as a nest of loops over a few fixed kernels, which are
    run when they were compiled, on bytes that say where they lie. What there is no proof of is not
    run.

    Where elements are codes (``as scale_offset``), `pack` takes real numbers with `scale=` and
    `zero_point=`, and `unpack` returns them (`code/coded.py`).

    >>> compile(library("NCHW16c")).pack(np.ones((2, 20, 3, 4))).shape
    (2, 2, 3, 4, 16)

    Args:
        layout: without open parameters; or a record, whose module takes and returns its fields
            (`code/record.py`): all of them in one call of C, or each part of it as a layout of
            its own.
        target: ``auto``, ``native`` or ``numpy``.
        storage: ``items`` for one item an element. With ``bytes``, ``u32``, ``i32`` or the like the
            buffer is stored in words, without room between elements, as files have it. A layout
            that places the bits of its elements takes and returns these whole, whatever it is.
        validate: with `False` the numpy code is run without having been read back.
        unproved: also compile an undecided layout. Each call then checks at its shape, before it
            writes, that no two elements share a slot and none leaves the buffer; it raises
            `RefusedError` with both elements otherwise.

    Raises:
        RefusedError: the layout is refuted.
        UnprovedError: the layout is undecided; it names a range in which it is proved, if one was
            found.
        UnvalidatedError: it was not shown that the numpy code does what the layout means.
        CompilerError: ``native`` was asked for, and there is no C compiler or no `cffi`; says how
            to get them. Where a compiler fails, the calls that need it raise the same.
        ValueError: there is no such target or storage, or the layout fills no whole words of it.
    """
    expect_target("target", target)
    expect(storage=(storage, TEXT), validate=(validate, FLAG), unproved=(unproved, FLAG))
    if isinstance(layout, Record):
        if storage not in (ITEMS, "bytes"):
            raise ValueError(f"the record `{layout.name}` is stored in bytes, and not in {storage}")
        from layoutdsl.code.record_modules import record_module

        return record_module(layout, target, validate, unproved)
    expect(layout=(layout, LAYOUT))
    moves = _of_elements(layout.of_codes, target, storage, validate, unproved)
    if layout.interface is None:
        return moves
    from layoutdsl.code.coded import QuantisedModule

    slots = compiled(layout.of_codes, target, validate, unproved)
    return QuantisedModule(layout, moves, slots)


def _of_elements(
    layout: Layout, target: CompileTarget, storage: StorageName, validate: bool, unproved: bool
) -> Moves | StoredModule | BitModule:
    """Return the module of a layout's elements, whatever they stand for."""
    how = None if storage == ITEMS else stored(layout, storage)
    found = compiled(layout, target, validate, unproved)
    if how is not None:
        from layoutdsl.code.stored import StoredModule

        return StoredModule(layout, found, how)
    if layout.bit_of is not None:
        from layoutdsl.code.stored import BitModule

        return BitModule(layout, found)
    return found
