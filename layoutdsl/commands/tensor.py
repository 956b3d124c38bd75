"""A tensor where it lies: a buffer, its layout, a shape, and what its elements stand for.

>>> tensor = Tensor.pack("NCHW16c", np.ones((1, 20, 2, 2), "f4"))
>>> tensor[0, 17, 1, 0]
np.float32(1.0)
>>> tensor[0, 16:, 0, 0] = 3
>>> tensor.buffer.shape
(1, 2, 2, 2, 16)
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from layoutdsl.code.proved import check_undecided
from layoutdsl.language.elaborate.shelf import find_layout
from layoutdsl.language.meaning.elements import FillValue
from layoutdsl.language.meaning.model import Layout, Shape
from layoutdsl.language.meaning.selection import Selection, selection
from layoutdsl.language.texts.values import said

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from layoutdsl.code.coded import QuantisedModule


class Tensor:
    """What is read and written is found by the offset of the layout, and read as it says.

    Where the layout holds copies of elements, all of them are written, and the first is read.

    Elements are picked as in numpy, by integers, slices and ``...``; what is read is a copy.
    Where elements are codes, real numbers go in and out, and `raw` has the codes. Elements that the
    layout holds no slot for are read as `unpack` returns them, and cannot be written.

    Attributes:
        layout: how it lies.
        shape: its extents.
        buffer: the memory: of the layout's physical shape, or flat; shared with whoever gave it.
        scale: of codes; ``None`` where elements stand for themselves.
        zero_point: likewise.
        dtype: of what is read.
    """

    def __init__(
        self,
        layout: Layout | str,
        shape: Shape,
        buffer: NDArray[Any] | None = None,
        *,
        scale: object = None,
        zero_point: object = None,
        dtype: DTypeLike | None = None,
        unproved: bool = False,
    ) -> None:
        """Look at a buffer as a tensor.

        Args:
            layout: without open parameters, or the name of one of the library: ``NCHWc<8>``.
            shape: the extents, or each by its name.
            buffer: contiguous; without it one is made, of zeros, its padding filled.
            scale: a positive real number, or one for each index where the layout says ``per``.
            zero_point: the code of 0, or such an array.
            dtype: of the real numbers that are read, ``float32`` if left out; or of the items of a
                new buffer, where the layout has no element type.
            unproved: also take an undecided layout, after a check of bounds and distinct slots at
                this shape.

        Raises:
            ValueError, TypeError: the arguments do not fit.
            RefusedError: the layout is refuted, or wrong at this shape.
            UnprovedError: the layout is undecided.
        """
        import numpy as np

        from layoutdsl.code.compiling import compile as ready

        layout = find_layout(layout)
        if layout.bit_of is not None:
            words = f"`{layout.name}` places the bits of its elements, each by itself"
            raise ValueError(f"{words}: `compile(layout)` packs them")
        self.layout, self._values = layout, layout.bind(shape)
        self.shape: tuple[int, ...] = layout.element_shape(self._values)
        self.scale, self.zero_point = scale, zero_point
        self._module: Any = ready(layout, unproved=unproved)
        if unproved:
            check_undecided(layout, self.shape)
        self._codes = _codes(layout, scale, zero_point, self.shape)
        wanted = np.dtype("float32" if dtype is None else dtype)
        if buffer is None:
            zeros = np.zeros(self.shape, _item(layout) or wanted)
            buffer = _packed(layout, zeros, scale, zero_point, None, unproved)
        self.buffer = buffer
        self._flat = _flat(layout, buffer, self.shape)
        self.dtype: np.dtype[Any] = buffer.dtype if self._codes is None else wanted

    @classmethod
    def pack(
        cls,
        layout: Layout | str,
        array: NDArray[Any],
        *,
        scale: object = None,
        zero_point: object = None,
        fill: float | None = None,
        dtype: DTypeLike | None = None,
        unproved: bool = False,
    ) -> Tensor:
        """Return a tensor with the numbers of an array, packed.

        Args:
            layout: without open parameters, or the name of one of the library: ``NCHWc<8>``.
            array: of the layout's items; or of real numbers, where elements are codes.
            scale: as for `Tensor`.
            zero_point: as for `Tensor`.
            fill: what padding holds; what the layout says if left out.
            dtype: of the real numbers that are read.
            unproved: as for `Tensor`.

        Raises:
            ValueError, TypeError: the arguments do not fit.
            RefusedError: the layout is refuted, or wrong at this shape.
            UnprovedError: the layout is undecided.
        """
        layout = find_layout(layout)
        buffer = _packed(layout, array, scale, zero_point, fill, unproved)
        return cls(
            layout,
            array.shape,
            buffer,
            scale=scale,
            zero_point=zero_point,
            dtype=dtype,
            unproved=unproved,
        )

    def __repr__(self) -> str:
        extents = ", ".join(map(str, self.shape))
        return said(self, f"{self.layout.name} of ({extents}), {self.dtype}")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a tensor without axes has no length")
        return self.shape[0]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements of the shape."""
        return prod(self.shape)

    @property
    def raw(self) -> Raw:
        """The items themselves: codes, where elements are such."""
        return Raw(self)

    def numpy(self) -> NDArray[Any]:
        """Return all elements as an array of their own, in the order of the axes."""
        if self._codes is None:
            found: NDArray[Any] = self._module.unpack(self.buffer, self.shape)
            return found.copy() if found.base is not None else found
        given = {"scale": self.scale, "zero_point": self.zero_point, "dtype": self.dtype}
        numbers: NDArray[Any] = self._module.unpack(self.buffer, self.shape, **given)
        return numbers

    def __array__(
        self,
        dtype: DTypeLike | None = None,
        copy: bool | None = None,
    ) -> NDArray[Any]:
        if copy is False:
            raise ValueError("elements lie in the order of the layout: an array of them is a copy")
        found = self.numpy()
        return found if dtype is None else found.astype(dtype)

    def __getitem__(self, key: object) -> Any:
        picked = selection(key, self.shape)
        items, slots = self._read(picked)
        if self._codes is None:
            return items.reshape(picked.shape)[()]
        found = self._codes.dequantise(items, dtype=self.dtype, **self._scales(picked))
        found[slots < 0] = 0
        return found.reshape(picked.shape)[()]

    def __setitem__(self, key: object, value: ArrayLike) -> None:
        import numpy as np

        picked = selection(key, self.shape)
        if self._codes is None:
            self._write(picked, np.asarray(value))
            return
        numbers = np.array(np.broadcast_to(np.asarray(value), picked.shape))
        codes = self._codes.quantise(numbers.reshape(picked.box), **self._scales(picked))
        self._write(picked, codes.reshape(picked.shape))

    def _scales(self, picked: Selection) -> dict[str, Any]:
        """The scale and the zero point of what is picked."""
        import numpy as np

        assert self.layout.interface is not None
        per, found = self.layout.interface.per, dict[str, Any]()
        for name, each in (("scale", self.scale), ("zero_point", self.zero_point)):
            found[name] = each
            if per is not None and np.ndim(each) == 1:  # type: ignore[arg-type]
                axis = [each.name for each in self.layout.element_axes].index(per)
                found[name] = np.asarray(each)[list(picked.runs[axis])]
        return found

    def _slots(self, picked: Selection) -> NDArray[np.int64]:
        """The offset of each copy of each picked element, -1 where it has none: copies first."""
        import numpy as np

        from layoutdsl.language.offsets.arrays import slots

        rank, layout = len(picked.runs), self.layout
        extents = layout.shape_of(self._values)
        axes = [axis.name for axis in layout.axes]
        counts = [extents[axes.index(name)] for name in layout.copies]
        every = np.indices(counts, np.int64).reshape(len(counts), prod(counts), *(1,) * rank)
        grids = dict(zip(layout.copies, every, strict=True))
        for axis, run in enumerate(picked.runs):
            along = np.array(run, np.int64).reshape([-1 if k == axis else 1 for k in range(rank)])
            grids[layout.element_axes[axis].name] = along
        found = slots(layout, self._values, [grids[name] for name in axes])
        return np.array(np.broadcast_to(found, (prod(counts), *picked.box)), np.int64)

    def _read(self, picked: Selection) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The items of what is picked, in its box, and their slots: those of the first copies."""
        import numpy as np

        from layoutdsl.code.numpy.support import _item

        slots = self._slots(picked)[0]
        fill = self.layout.fill.value if isinstance(self.layout.fill, FillValue) else 0
        if self._codes is None and not (slots < 0).any():
            return self._flat[slots], slots
        item = 0 if self._codes is not None else _item(fill, self._flat.dtype)
        items = np.full(picked.box, item, self._flat.dtype)
        held = slots >= 0
        items[held] = self._flat[slots[held]]
        return items, slots

    def _write(self, picked: Selection, items: NDArray[Any]) -> None:
        """Store items where they belong, all or none.

        Raises:
            ValueError: an element has no slot, or an item is no value of it.
        """
        import numpy as np

        slots = self._slots(picked)
        if (slots < 0).any():
            held = " and ".join(map(str, self.layout.domain))
            raise ValueError(f"`{self.layout.name}` holds elements where {held}, and no others")
        if not self._flat.flags.writeable:
            raise ValueError("the buffer is read-only")
        given = np.broadcast_to(items, picked.shape).reshape(picked.box)
        self._flat[slots] = _stored(given, self._flat.dtype, self.layout)


class Raw:
    """The items of a tensor as they are stored, read and written like it."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def __repr__(self) -> str:
        return said(self, f"{self._tensor.layout.name}, items of {self._tensor.buffer.dtype}")

    def __getitem__(self, key: object) -> Any:
        picked = selection(key, self._tensor.shape)
        items, _ = self._tensor._read(picked)
        return items.reshape(picked.shape)[()]

    def __setitem__(self, key: object, value: ArrayLike) -> None:
        import numpy as np

        self._tensor._write(selection(key, self._tensor.shape), np.asarray(value))


def _packed(
    layout: Layout,
    array: NDArray[Any],
    scale: object,
    zero_point: object,
    fill: float | None,
    unproved: bool,
) -> NDArray[Any]:
    """The buffer of an array."""
    from layoutdsl.code.compiling import compile as ready

    given: dict[str, Any] = {} if fill is None else {"fill": fill}
    if layout.interface is not None:
        given |= {"scale": scale, "zero_point": zero_point}
    packed: NDArray[Any] = ready(layout, unproved=unproved).pack(array, **given)
    return packed


def _codes(
    layout: Layout, scale: object, zero_point: object, shape: tuple[int, ...]
) -> QuantisedModule | None:
    """What makes codes of numbers, where elements are codes; it moves nothing here."""
    from layoutdsl.code.coded import QuantisedModule

    if layout.interface is None:
        if scale is not None or zero_point is not None:
            words = "elements stand for themselves, without a scale and a zero point"
            raise ValueError(f"of `{layout.name}` {words}: write `of u8 as scale_offset`")
        return None
    found = QuantisedModule(layout, None, None)
    found.expect(scale, zero_point, shape)
    return found


def _item(layout: Layout) -> str | None:
    """The type of the items that elements travel in, where the layout says what they are."""
    if layout.element is None or layout.interface is not None:
        return None
    return "{}{}".format(*layout.element.item)


def _flat(layout: Layout, buffer: object, shape: tuple[int, ...]) -> NDArray[Any]:
    """The buffer as one row of items, on the same memory.

    Raises:
        ValueError, TypeError: it is no buffer of the layout.
    """
    from layoutdsl.code.numpy.support import _array, _boxed, _travels

    array = _array(buffer, "buffer")
    if layout.element is not None:
        _travels(array, *layout.element.item)
    box = layout.physical_shape(shape)
    if array.shape not in (box, (prod(box),)):
        raise ValueError(f"`buffer` has shape {array.shape}, not {box}")
    if not array.flags.c_contiguous:
        raise ValueError("`buffer` is not contiguous: give a copy")
    found: NDArray[Any] = _boxed(array, box).reshape(-1)
    return found


def _stored(items: NDArray[Any], dtype: np.dtype[Any], layout: Layout) -> NDArray[Any]:
    """Items in the type of a buffer; whole numbers are held exactly or refused.

    Raises:
        ValueError, TypeError: one of them is no value of the elements.
    """
    import numpy as np

    from layoutdsl.code.numpy.support import _within

    found = items
    if items.dtype != dtype:
        known = "biufcV" if dtype.kind == "c" else "biufV"
        if items.dtype.kind not in known or items.dtype.char == "V":
            raise TypeError(f"numbers are {items.dtype}, and the buffer holds {dtype}")
        with np.errstate(over="ignore", invalid="ignore"):
            found = items.astype(dtype)
            held = (
                found == items if dtype.kind in "biu" else np.isfinite(found) | ~np.isfinite(items)
            )
        if not held.all():
            raise ValueError(f"{dtype} cannot hold every number that is given")
    element = layout.element
    if element is not None and element.values is not None and not element.fills_item:
        _within(found, *element.values)
    return found
