"""Compile layouts to modules that pack and unpack, and pack tensors by them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, cast, overload

from layoutdsl.code.modules import CompileTarget as CompileTarget
from layoutdsl.code.modules import Moves, compiled, expect_target
from layoutdsl.code.native.compilers import CompilerError as CompilerError
from layoutdsl.language.elaborate.shelf import find_layout, find_layout_or_record
from layoutdsl.language.meaning.arguments import FLAG, NUMBER, NUMBERS, TEXT, TYPE, expect, integers
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.storage import ITEMS, StorageName, stored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    from layoutdsl.code.record import RecordModule
    from layoutdsl.code.stored import BitModule, StoredModule

# `pack` and `unpack` keep modules by layout. A program that makes layouts in a loop must not keep
# them all.
REMEMBERED_MODULES = 256


class Compiled(Protocol):
    """Code that packs and unpacks tensors of one layout; `compile` returns it.

    >>> module: Compiled = compile("NCHW16c")
    >>> packed = module.pack(np.ones((2, 20, 3, 4)))
    >>> module.unpack(packed, (2, 20, 3, 4)).shape
    (2, 20, 3, 4)

    The module of a layout in items also has `offset(index, shape)`.
    """

    @property
    def FALLBACK(self) -> str | None:  # noqa: N802  (as in a generated module)
        """Why elements are moved one by one; ``None`` where they are moved in runs."""

    def pack(self, src: Any, *args: Any, **options: Any) -> NDArray[Any]:
        """Return the buffer of a tensor.

        Args:
            src: the tensor; real numbers where elements are codes (``as scale_offset``).
            args: ``out``, the buffer to write.
            options: ``fill``, the number in padding; ``threads``, how many may work at once; and
                ``scale`` and ``zero_point`` where elements are codes.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """

    def unpack(self, src: Any, shape: Sequence[int], *args: Any, **options: Any) -> NDArray[Any]:
        """Return the tensor of a buffer; padding is not read.

        Args:
            src: the buffer, of `physical_shape(shape)` or flat.
            shape: the extents of the tensor.
            args: ``out``, the tensor to write.
            options: ``threads``; and ``scale``, ``zero_point`` and ``dtype`` where elements are
                codes.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """

    def physical_shape(self, shape: Any) -> tuple[int, ...]:
        """Return the shape of the buffer of a tensor."""


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
    layout: Layout | str,
    target: CompileTarget = "auto",
    *,
    storage: StorageName = "items",
    validate: bool = True,
    unproved: bool = False,
) -> Compiled: ...


def compile(  # noqa: A001  the verb of `re.compile`
    layout: Layout | Record | str,
    target: CompileTarget = "auto",
    *,
    storage: StorageName = "items",
    validate: bool = True,
    unproved: bool = False,
) -> Compiled | RecordModule:
    """Return a module with `pack`, `unpack`, `offset` and `physical_shape`, ready to run.

    >>> compile("NCHW16c").pack(np.ones((2, 20, 3, 4))).shape
    (2, 2, 3, 4, 16)

    The layout is proved, code is generated and verified for all shapes, and the result is cached on
    disk until layoutdsl changes. Unverified code is never run.

    ``native`` compiles C: one library for each class of shapes, when the class is first met. NumPy
    code still serves layouts with a domain and arrays that C does not take, such as those that are
    not contiguous. ``auto`` compiles C where a compiler and the package `cffi` are found, and NumPy
    serves until the library is ready; a move that is large enough to be worth it waits.

    Where elements are codes (``as scale_offset``), `pack` takes real numbers with `scale=` and
    `zero_point=`, and `unpack` returns them. A record gives a `RecordModule`, which takes and
    returns its fields by name.

    Args:
        layout: a layout or record without open parameters, or the name of one of the library:
            ``NCHWc<8>``.
        target: ``auto``, ``native`` or ``numpy``.
        storage: ``items`` for one item an element. With ``bytes``, ``u32``, ``i32`` or the like the
            buffer is stored in words, without room between elements, as files have it. A layout
            that places the bits of its elements takes and returns whole elements in either case.
        validate: with `False` the NumPy code is run without having been read back.
        unproved: also compile an undecided layout. Each call then checks at its shape, before it
            writes, that no two elements share a slot and none leaves the buffer; it raises
            `RefusedError` with both elements otherwise.

    Raises:
        RefusedError: the layout is refuted.
        UnprovedError: the layout is undecided; the error names a range in which it is proved, if
            one was found.
        UnvalidatedError: the NumPy code could not be shown to do what the layout means.
        CompilerError: ``native`` was asked for, and there is no C compiler or no `cffi`; the error
            says how to get them. Where a compiler fails, the calls that need it raise the same.
        ValueError: there is no such name, target or storage, or the layout fills no whole words of
            that storage.
    """
    expect_target("target", target)
    expect(storage=(storage, TEXT), validate=(validate, FLAG), unproved=(unproved, FLAG))
    return _compiled(find_layout_or_record(layout), target, storage, validate, unproved)


def _compiled(
    layout: Layout | Record,
    target: CompileTarget,
    storage: StorageName,
    validate: bool,
    unproved: bool,
) -> Compiled | RecordModule:
    if isinstance(layout, Record):
        if storage not in (ITEMS, "bytes"):
            raise ValueError(f"the record `{layout.name}` is stored in bytes, and not in {storage}")
        from layoutdsl.code.record_modules import record_module

        return record_module(layout, target, validate, unproved)
    moves = _of_elements(layout.of_codes, target, storage, validate, unproved)
    if layout.interface is None:
        return cast("Compiled", moves)  # a module of Python, or a class with the same functions
    from layoutdsl.code.coded import QuantisedModule

    slots = compiled(layout.of_codes, target, validate, unproved)
    return cast("Compiled", QuantisedModule(layout, moves, slots))


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


def pack(
    layout: Layout | str,
    src: NDArray[Any],
    out: NDArray[Any] | None = None,
    *,
    fill: float | None = None,
    scale: object = None,
    zero_point: object = None,
    unproved: bool = False,
) -> NDArray[Any]:
    """Return the buffer of a tensor: `compile` the layout once, and call its `pack`.

    >>> pack("NCHW16c", np.ones((2, 20, 3, 4))).shape
    (2, 2, 3, 4, 16)

    ``layout.pack(src)`` is the same. Compiled layouts are remembered, so a loop may call this
    function; `compile` gives control over the target, the storage in words and the threads.

    Args:
        layout: without open parameters, or the name of one of the library: ``NCHWc<8>``.
        src: the tensor; real numbers where elements are codes.
        out: the buffer to write, which does not overlap `src`; new if left out.
        fill: the number in padding; that of the layout if left out.
        scale: of real numbers whose codes are the elements, as for `compile`.
        zero_point: the code of 0, likewise.
        unproved: also pack by an undecided layout, after a check of bounds and distinct slots at
            the shape of the tensor.

    Raises:
        RefusedError: the layout is refuted, or wrong at this shape.
        UnprovedError: the layout is undecided.
        UnvalidatedError: the code could not be shown to do what the layout means.
        ValueError, TypeError: the arguments do not fit; nothing was written.
    """
    expect(fill=(fill, NUMBER.or_none()), unproved=(unproved, FLAG))
    found, module = _remembered(layout, unproved)
    options = _scaled(found, scale, zero_point)
    if fill is not None:
        options["fill"] = fill
    return module.pack(src, out=out, **options)


def unpack(
    layout: Layout | str,
    src: NDArray[Any],
    shape: Sequence[int],
    out: NDArray[Any] | None = None,
    *,
    scale: object = None,
    zero_point: object = None,
    dtype: DTypeLike | None = None,
    unproved: bool = False,
) -> NDArray[Any]:
    """Return the tensor of a buffer: `compile` the layout once, and call its `unpack`.

    >>> buffer = pack("NCHW16c", np.ones((2, 20, 3, 4)))
    >>> unpack("NCHW16c", buffer, (2, 20, 3, 4)).shape
    (2, 20, 3, 4)

    ``layout.unpack(src, shape)`` is the same. Padding is not read.

    Args:
        layout: without open parameters, or the name of one of the library: ``NCHWc<8>``.
        src: the buffer, of the layout's `physical_shape` or flat.
        shape: the extents of the tensor, in axis order.
        out: the tensor to write, which does not overlap `src`; new if left out.
        scale: of codes, as for `pack`.
        zero_point: likewise.
        dtype: of the real numbers that codes become, ``float32`` if left out.
        unproved: also unpack by an undecided layout, after a check of bounds and distinct slots at
            this shape.

    Raises:
        RefusedError: the layout is refuted, or wrong at this shape.
        UnprovedError: the layout is undecided.
        UnvalidatedError: the code could not be shown to do what the layout means.
        ValueError, TypeError: the arguments do not fit; nothing was written.
    """
    expect(dtype=(dtype, TYPE.or_none()), unproved=(unproved, FLAG))
    extents = integers(shape, "shape", "an extent for each axis, in order")
    found, module = _remembered(layout, unproved)
    options = _scaled(found, scale, zero_point)
    if dtype is not None:
        if found.interface is None:
            raise ValueError(f"`dtype` is for codes, and the elements of `{found.name}` are none")
        options["dtype"] = dtype
    return module.unpack(src, extents, out=out, **options)


def _scaled(layout: Layout, scale: object, zero_point: object) -> dict[str, Any]:
    expect(scale=(scale, NUMBERS.or_none()), zero_point=(zero_point, NUMBERS.or_none()))
    if layout.interface is not None:
        return {"scale": scale, "zero_point": zero_point}
    if scale is not None or zero_point is not None:
        words = f"the elements of `{layout.name}` stand for themselves, and have no scale"
        raise ValueError(f"{words}; `of u8 as scale_offset` declares codes")
    return {}


def _remembered(layout: Layout | str, unproved: bool) -> tuple[Layout, Compiled]:
    if not isinstance(layout, Layout | Record | str):
        layout = find_layout(layout)  # raises: a value that has no hash is no key either
    return _module(layout, unproved)


@lru_cache(maxsize=REMEMBERED_MODULES)
def _module(layout: Layout | str, unproved: bool) -> tuple[Layout, Compiled]:
    found = find_layout_or_record(layout)
    if isinstance(found, Record):
        words = f"`layout` is the record `{found.name}`, and has to be a layout"
        raise ValueError(f"{words}; `layoutdsl.compile` returns a module that takes its fields")
    return found, cast("Compiled", _compiled(found, "auto", "items", True, unproved))
