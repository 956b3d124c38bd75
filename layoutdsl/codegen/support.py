"""What every generated module carries, word for word: checks of arguments, and moves.

This is ordinary code, checked and tested as such; `numpy_text` copies everything below the line of
dashes into what it writes. It imports numpy alone, because what is generated does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# --------------------------------------------------------------------------------------------------

_Array = NDArray[np.generic]
_Number = bool | int | float | complex | np.generic
_Part = tuple[slice, tuple[int, ...], tuple[slice, ...]]
_Region = tuple[tuple[slice, ...], tuple[int, ...], tuple[slice | int, ...]]


def _array(value: object, name: str) -> _Array:
    """Return the argument as a plain array on the same memory; TypeError where it is none."""
    if not isinstance(value, np.ndarray):
        raise TypeError(f"`{name}` is a {type(value).__name__}, not a numpy array")
    dtype = value.dtype
    if dtype.hasobject or dtype.kind not in "biufcmMSUV" or dtype.itemsize == 0:
        raise TypeError(f"`{name}` holds items of type {dtype}, which are no plain bytes")
    return value if type(value) is np.ndarray else value.view(np.ndarray)


def _integers(values: object, count: int, name: str) -> tuple[int, ...]:
    """Return as many non-negative integers as asked for; TypeError or ValueError otherwise."""
    if not isinstance(values, (tuple, list)):
        raise TypeError(f"`{name}` is a {type(values).__name__}, not a tuple or a list")
    if len(values) != count:
        raise ValueError(f"`{name}` has {len(values)} numbers, not {count}")
    for value in values:
        integer = type(value) is int or isinstance(value, (int, np.integer))
        if not integer or isinstance(value, bool):
            raise TypeError(f"`{name}` holds {value!r}, which is no integer")
        if value < 0:
            raise ValueError(f"`{name}` holds {value}, which is negative")
    return tuple([int(value) for value in values])


def _index(values: object, extents: tuple[int, ...]) -> tuple[int, ...]:
    """Return one number per axis, each below its extent; TypeError or ValueError otherwise."""
    index = _integers(values, len(extents), "index")
    for axis, extent in enumerate(extents):
        if index[axis] >= extent:
            raise ValueError(f"`index` holds {index[axis]} for axis {axis}, which has {extent}")
    return index


def _boxed(source: _Array, shape: tuple[int, ...]) -> _Array:
    """Return the buffer in its shape; a flat one of the same size is taken too."""
    if source.shape == shape:
        return source
    if source.shape != (int(np.prod(shape, dtype=object)),):
        raise ValueError(f"`src` has shape {source.shape}, not {shape}")
    return source.reshape(shape)


def _refuse_outside(offsets: NDArray[np.int64], size: int) -> None:
    """Refuse offsets outside the buffer, before anything is written."""
    if offsets.size and not 0 <= int(offsets.min()) <= int(offsets.max()) < size:
        raise ValueError("the layout leaves its buffer at this shape")


def _item(fill: object, dtype: np.dtype[np.generic]) -> _Array:
    """Return the fill as one item; ValueError where the type cannot hold it.

    Whole numbers are held exactly or refused, fractions are rounded. Types that are no numbers
    are filled with zero bytes, which is the fill 0.
    """
    if type(fill) is int and fill == 0:
        return np.zeros((), dtype)
    number = fill.item() if isinstance(fill, np.generic) else fill
    if not isinstance(number, (bool, int, float, complex)):
        raise TypeError(f"`fill` is a {type(fill).__name__}, not a number")
    refused = ValueError(f"`fill` is {number!r}, which {dtype} cannot hold")
    kind = dtype.kind
    if kind in "mMSUV" and number == 0:
        return np.zeros((), dtype)
    if kind in "mMSUV" or (isinstance(number, complex) and kind != "c"):
        raise refused
    whole = not isinstance(number, complex) and number % 1 == 0
    if kind in "biu":
        bits = 8 * dtype.itemsize - (kind == "i")
        low = -(2**bits) if kind == "i" else 0
        high = 1 if kind == "b" else 2**bits - 1
        if not whole or not low <= number.real <= high:
            raise refused
        return np.array(int(number.real), dtype)
    if isinstance(number, int) and number.bit_length() > 1023:
        raise refused
    with np.errstate(over="ignore"):
        item = np.array(number).astype(dtype)
    if bool(np.isfinite(item)) != (number - number == 0):
        raise refused
    if isinstance(number, int) and item.item() != number:
        raise refused
    return item


def _destination(out: object, shape: tuple[int, ...], source: _Array) -> _Array:
    """Return ``out`` where it can take what is asked for; nothing is written yet."""
    target = _array(out, "out")
    if target.shape != shape:
        raise ValueError(f"`out` has shape {target.shape}, not {shape}")
    if target.dtype != source.dtype:
        raise ValueError(f"`out` holds {target.dtype}, not {source.dtype}")
    if not target.flags.writeable:
        raise ValueError("`out` is read-only")
    if 0 in target.strides:
        for extent, stride in zip(target.shape, target.strides, strict=True):
            if stride == 0 and extent > 1:
                raise ValueError("`out` has several places in one piece of memory")
    if np.may_share_memory(target, source, max_work=100_000):  # type: ignore[arg-type]
        raise ValueError("`out` overlaps `src`")
    return target


def _joins(target: _Array, source: _Array) -> bool:
    """Whether the last two dimensions are one to numpy, on both sides."""
    return all(each.strides[-2] == each.strides[-1] * each.shape[-1] for each in (target, source))


def _move(target: _Array, source: _Array) -> None:
    """Copy a region.

    A run that both sides hold along the last dimension is copied as one wide item, so that numpy's
    inner loop goes over the next dimension. A short last dimension is unrolled for the same reason.
    Where the source steps by 1024 bytes, its lines push each other out of the cache: row by row, a
    copy brings them together first.
    """
    if target.ndim == 0 or target.size < 1024:
        target[...] = source
        return
    width, lanes = target.dtype.itemsize, target.shape[-1]
    if lanes == 1:
        _move(target[..., 0], source[..., 0])
    elif target.strides[-1] == source.strides[-1] == width and width * lanes <= 4096:
        wide = {2: "u2", 4: "u4", 8: "u8", 16: "c16"}.get(width * lanes, f"V{width * lanes}")
        _move(target.view(wide)[..., 0], source.view(wide)[..., 0])
    elif lanes <= 8 and lanes < max(target.shape[-3:-1], default=0) and not _joins(target, source):
        for lane in range(lanes):
            _move(target[..., lane], source[..., lane])
    elif lanes > 8 and source.strides[-1] % 1024 == 0 and width in source.strides[-3:-2]:
        for row in range(target.shape[-2]):
            target[..., row, :] = source[..., row, :].copy()
    else:
        target[...] = source
