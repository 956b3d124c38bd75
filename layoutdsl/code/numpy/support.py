"""Checks of arguments, which packages of records and functions of words and codes carry.

Generators copy the lines below the dashes into what they print, so these need numpy alone. The
usual case is looked at first: a call on a small tensor costs little more than its checks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# --------------------------------------------------------------------------------------------------

_Array = NDArray[np.generic]
_Number = bool | int | float | complex | np.generic


def _array(value: object, name: str) -> _Array:
    """Return the argument as a plain array on the same memory; TypeError where it is none."""
    if type(value) is np.ndarray and value.dtype.char in "?bBhHiIlLqQefd":
        return value
    if not isinstance(value, np.ndarray):
        named = type(value).__name__
        torch = "give `tensor.numpy()`, of bfloat16 `tensor.view(torch.uint16).numpy()` and of "
        torch = torch + "float8 that of uint8, or call `layoutdsl.torch.pack`"
        new = f"give `np.array({name}, dtype=...)`"
        ways = {"Tensor": torch, "Parameter": torch, "ArrayImpl": "give `np.asarray(array)`"}
        ways = {**ways, "list": new, "tuple": new}
        words = f"`{name}` is a {named}, not a numpy array"
        raise TypeError(f"{words}: {ways[named]}" if named in ways else words)
    dtype = value.dtype
    if dtype.hasobject or dtype.kind not in "biufcmMSUV" or dtype.itemsize == 0:
        words = f"`{name}` has dtype {dtype}, whose items have no fixed number of bytes"
        raise TypeError(f"{words}: convert it with `astype`")
    return value if type(value) is np.ndarray else value.view(np.ndarray)


def _travels(array: _Array, kind: str, width: int) -> None:
    """Refuse items of another kind or width than elements travel in; TypeError.

    Types that numpy lacks come as unsigned integers, or as what another package makes of them:
    that is of kind V, but for a float of 8 bits, which is of kind f.
    """
    dtype = array.dtype
    taken = kind if kind != "u" else "uVf" if width == 1 else "uV"
    if dtype.itemsize != width or dtype.kind not in taken:
        names = {"i": "int", "u": "uint", "f": "float", "c": "complex", "b": "bool"}
        bits = "" if kind == "b" else 8 * width
        wanted, way = f"{names[kind]}{bits}", "convert it with `astype`"
        if kind == "u" and dtype.kind == "f":
            way = f"give bf16 and f8 as arrays of ml_dtypes, or as their bits in {wanted}"
        raise TypeError(f"the array has to be of dtype {wanted}, not {dtype}: {way}")


def _within(array: _Array, low: int, high: int) -> None:
    """Refuse numbers that are no values of an element, and bits that are none; ValueError."""
    if array.size:
        held = array if array.dtype.kind in "iu" else array.view(np.uint8)
        for number in (int(held.min()), int(held.max())):
            if not low <= number <= high:
                raise ValueError(f"{number} is outside {low} to {high}, the range of the elements")


def _integers(values: object, count: int, name: str) -> tuple[int, ...]:
    """Return as many non-negative integers as asked for; TypeError or ValueError otherwise."""
    if type(values) is tuple and len(values) == count:
        for value in values:
            if type(value) is not int or value < 0:
                break
        else:
            return values
    if not isinstance(values, (tuple, list)):
        raise TypeError(f"`{name}` is a {type(values).__name__}, not a tuple or a list")
    if len(values) != count:
        if name == "shape":  # `pack` takes it from the tensor, and has no such argument
            raise ValueError(f"the shape has {len(values)} extents, and {count} are needed")
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


def _item(fill: object, dtype: np.dtype[np.generic]) -> _Array:
    """Return the fill as one item; ValueError where the type cannot hold it.

    Whole numbers are held exactly or refused, fractions are rounded; types that another package
    makes hold what they hold exactly. Types that are no numbers are filled with zero bytes, which
    is the fill 0.
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
    plain = kind in "mMSU" or dtype.char == "V"
    if plain or (isinstance(number, complex) and kind != "c"):
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
    with np.errstate(over="ignore", invalid="ignore"):
        item = np.array(number).astype(dtype)
    if kind == "V" and item.item() != number and (item == item or number == number):
        raise refused
    if bool(np.isfinite(item)) != (number - number == 0):
        raise refused
    if isinstance(number, int) and item.item() != number:
        raise refused
    return item


def _destination(out: object, shape: tuple[int, ...], source: _Array) -> _Array:
    """Return ``out`` where it can take what is asked for; nothing is written yet."""
    if type(out) is np.ndarray and out.dtype is source.dtype and out.shape == shape:
        flags = out.flags
        own = flags.owndata and source.flags.owndata and out is not source
        if flags.carray and (own or not np.may_share_memory(out, source)):
            return out
    target = _array(out, "out")
    if target.shape != shape:
        raise ValueError(f"`out` has shape {target.shape}, not {shape}")
    if target.dtype != source.dtype:
        raise ValueError(f"`out` holds {target.dtype}, not {source.dtype}")
    if not target.flags.writeable:
        raise ValueError("`out` is read-only: give a writeable array, or leave it out")
    reach = target.itemsize
    for stride, extent in sorted((abs(target.strides[k]), shape[k]) for k in range(target.ndim)):
        if stride < reach and extent > 1:
            raise ValueError("`out` has several places in one piece of memory")
        reach = reach + stride * (extent - 1)
    if np.may_share_memory(target, source) and np.may_share_memory(
        target,
        source,
        max_work=100_000,  # type: ignore[arg-type]
    ):
        raise ValueError("`out` overlaps `src`")
    return target


def _workers(threads: object) -> None:
    """Refuse what is no number of threads; TypeError or ValueError."""
    if type(threads) is not int:
        raise TypeError(f"`threads` is a {type(threads).__name__}, not an int")
    if not 1 <= threads <= 256:
        raise ValueError(f"`threads` is {threads}, not 1 to 256")
