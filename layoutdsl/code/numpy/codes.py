"""Carried by modules whose elements are codes: numbers to codes, and back.

A code is the nearest to ``number/scale + zero_point``, of two as near the one an even number of
steps from the zero point, and no code is beyond the least or the largest. This is so exactly, for
every float: a quotient that was rounded lies on the same side of each half as the true one, unless
it is a half itself, and of those `fmod` leaves the exact rest. Nothing here knows of layouts: what
is packed are codes, by the functions that are proved.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from numpy.typing import NDArray

from layoutdsl.code.numpy.support import _Array, _array, _destination, _within

# --------------------------------------------------------------------------------------------------

_Codes = tuple[str, int, int, int, int, str, bool, bool]
_Floats = NDArray[np.float64]
_Scales = tuple[_Floats, _Floats]


def _reals(values: object, name: str) -> _Array:
    """Return an array of real numbers that are floats of 64 bits; TypeError or ValueError else."""
    array = _array(values, name)
    dtype = array.dtype
    known = dtype.kind in "iuf" or (dtype.kind == "V" and dtype.char != "V")
    if not known or dtype.itemsize > 8:
        raise TypeError(f"`{name}` holds {dtype}, and real numbers of up to 64 bits have codes")
    if dtype.kind in "iu":
        if dtype.itemsize == 8 and array.size:
            for number in (int(array.min()), int(array.max())):
                if abs(number) > 2**53:
                    raise ValueError(f"`{name}` holds {number}, which no float of 64 bits is")
        return array
    unknown = np.isnan(array)
    if unknown.any():
        place = tuple([int(each[0]) for each in np.nonzero(unknown)])
        raise ValueError(f"`{name}` holds NaN at {place}, which has no code")
    return array


def _parameter(values: object, name: str, shape: tuple[int, ...]) -> _Array:
    """Return one number, or one for each index along the axis of scales, as an array."""
    if values is None:
        raise TypeError(f"`{name}` is missing: elements are codes of real numbers")
    if isinstance(values, (bool, str)) or not isinstance(
        values, (int, float, np.generic, np.ndarray, list, tuple)
    ):
        raise TypeError(f"`{name}` is a {type(values).__name__}, and no number or array of numbers")
    array = np.asarray(values)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise TypeError(f"`{name}` holds {array.dtype}, and has to be real numbers")
    if array.shape != () and (array.shape != shape or not shape):
        wanted = f"{shape} or ()" if shape else "()"
        raise ValueError(f"`{name}` has shape {array.shape}, not {wanted}")
    return array


def _scales(scale: object, zero_point: object, extents: tuple[int, ...], codes: _Codes) -> _Scales:
    """Return scales and zero points as they go with a tensor of some extents.

    Raises:
        TypeError, ValueError: a scale is not positive and finite, or a zero point no code.
    """
    _, low, high, rank, axis, _, _, _ = codes
    if len(extents) != rank:
        raise ValueError(f"the layout takes tensors of rank {rank}, not {len(extents)}")
    shape = (extents[axis],) if axis >= 0 else ()
    sizes = _parameter(scale, "scale", shape).astype("f8")
    if not (np.isfinite(sizes) & (sizes > 0)).all():
        raise ValueError("`scale` is not positive and finite")
    zeros = _parameter(zero_point, "zero_point", shape)
    if zeros.dtype.kind == "f":
        raise TypeError(f"`zero_point` holds {zeros.dtype}, and a zero point is a code")
    for number in zeros.reshape(-1).tolist():
        if not low <= number <= high:
            raise ValueError(f"`zero_point` is {number}, and codes are {low} to {high}")
    along = tuple([extent if place == axis else 1 for place, extent in enumerate(extents)])
    one = (1,) * rank
    return (
        sizes.reshape(along if sizes.shape else one),
        zeros.astype("f8").reshape(along if zeros.shape else one),
    )


def _steps(numbers: _Floats, scales: _Floats) -> _Floats:
    """Return how many steps numbers are from 0: the nearest integers, of two the even one."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        quotients = np.asarray(numbers / scales)  # which of no dimensions numpy makes a number
        steps = np.asarray(np.rint(quotients))
        twice = quotients + quotients
        halves = (steps != quotients) & (np.rint(twice) == twice)
        if not halves.any():
            return steps
        size = np.abs(numbers[halves])
        step = np.broadcast_to(scales, numbers.shape)[halves]
        rest = np.fmod(size, step)
        room = step - rest
        away = np.floor(np.abs(quotients[halves])) + (rest > room)
        signed = np.copysign(away, numbers[halves])
        steps[halves] = np.where(rest == room, steps[halves], signed)
    return steps


def _part(array: _Array, axis: int, part: slice) -> _Array:
    """Return a part along an axis, or all of what is the same everywhere along it."""
    return array if array.shape[axis] == 1 else array[(*[slice(None)] * axis, part)]


def _in_parts(work: Callable[..., None], *arrays: _Array) -> None:
    """Do the work part by part: what is worked out for one is still in the cache for the next."""
    first = arrays[0]
    if first.size <= 2**14:
        work(*arrays)
        return
    axis = next(place for place, extent in enumerate(first.shape) if extent > 1)
    half = first.shape[axis] // 2
    for part in (slice(0, half), slice(half, None)):
        _in_parts(work, *[_part(each, axis, part) for each in arrays])


def _store_codes(
    found: _Array, numbers: _Array, scales: _Floats, least: _Floats, most: _Floats, zeros: _Floats
) -> None:
    """Store the codes of numbers, which are between two numbers of steps from 0."""
    steps = _steps(numbers.astype("f8"), scales)
    found[...] = np.minimum(np.maximum(steps, least), most) + zeros


def _store_numbers(found: _Array, items: _Array, scales: _Floats, zeros: _Floats) -> None:
    """Store what codes stand for."""
    found[...] = (items.astype("f8") - zeros) * scales


def _quantised(src: object, scale: object, zero_point: object, codes: _Codes) -> _Array:
    """Return the codes of real numbers; NaN has none."""
    item, low, high, _, _, _, _, _ = codes
    numbers = _reals(src, "src")
    scales, zeros = _scales(scale, zero_point, numbers.shape, codes)
    found = np.empty(numbers.shape, item)
    _in_parts(_store_codes, found, numbers, scales, low - zeros, high - zeros, zeros)
    return found


def _numbers(
    src: object, scale: object, zero_point: object, dtype: object, codes: _Codes
) -> _Array:
    """Return what codes stand for, as floats of 64 bits rounded to a type.

    Raises:
        TypeError, ValueError: these are no codes, or the type cannot hold what one stands for.
    """
    item, low, high, _, _, name, _, _ = codes
    items = _array(src, "src")
    if items.dtype != np.dtype(item):
        raise TypeError(
            f"`src` holds {items.dtype}, and codes of {name} travel as {np.dtype(item)}"
        )
    _within(items, low, high)
    wanted = np.dtype(dtype)  # type: ignore[call-overload]
    if wanted.kind != "f" or wanted.itemsize > 8:
        raise TypeError(f"`dtype` is {wanted}, and numbers are float16, float32 or float64")
    scales, zeros = _scales(scale, zero_point, items.shape, codes)
    with np.errstate(over="ignore", under="ignore"):
        most = (np.maximum(high - zeros, zeros - low) * scales).astype(wanted)
        if not np.isfinite(most).all() or (scales < np.finfo(wanted).tiny).any():
            raise ValueError(f"{wanted} cannot hold what codes stand for at this scale")
        found: _Array = np.empty(items.shape, wanted)
        _in_parts(_store_numbers, found, items, scales, zeros)
    return found


def _fill_of(
    box_of: Callable[..., tuple[int, ...]],
    zero_point: object,
    shape: tuple[int, ...],
    codes: _Codes,
) -> int | None:
    """Return the code in padding, where the layout says that it is the quantised zero."""
    if not codes[6]:
        return None
    zeros = np.asarray(zero_point).reshape(-1).tolist()
    if all(each == zeros[0] for each in zeros) or prod(box_of(shape)) == prod(shape):
        return int(zeros[0]) if zeros else codes[1]
    words = "`fill` is missing: zero points differ, and padding is no part of one channel"
    raise ValueError(f"{words}: give the code that it holds")


def _pack_numbers(
    packs: Callable[..., _Array],
    box_of: Callable[..., tuple[int, ...]],
    src: object,
    scale: object,
    zero_point: object,
    out: object,
    fill: object,
    codes: _Codes,
) -> _Array:
    """Pack the codes of real numbers."""
    items = _quantised(src, scale, zero_point, codes)
    given = _fill_of(box_of, zero_point, items.shape, codes) if fill is None else fill
    if given is None:
        return packs(items, out)
    return packs(items, out, fill=given)


def _unpack_numbers(
    unpacks: Callable[..., _Array],
    src: object,
    shape: tuple[int, ...] | list[int],
    scale: object,
    zero_point: object,
    out: object,
    dtype: object,
    codes: _Codes,
) -> _Array:
    """Unpack codes, and return what they stand for."""
    if codes[7]:  # what has no slot is 0
        items = np.empty(shape, codes[0])
        items[...] = _scales(scale, zero_point, items.shape, codes)[1]
        unpacks(src, shape, items)
    else:
        items = unpacks(src, shape)
    kind = dtype if out is None else _array(out, "out").dtype
    found = _numbers(items, scale, zero_point, kind, codes)
    if out is None:
        return found
    target = _destination(out, found.shape, found)
    target[...] = found
    return target
