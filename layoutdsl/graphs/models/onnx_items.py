"""The items of a weight of ONNX: in the file of the model, or in one beside it.

Source: onnx.proto of 1.23; onnx, docs/ExternalData.md.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from layoutdsl.files.near import opened_near
from layoutdsl.files.npy import UnreadableError
from layoutdsl.graphs.graph import Array
from layoutdsl.graphs.models.onnx_wire import Piece, WireError, read_into

MOST_WEIGHTS = 1 << 36
"""Bytes of all weights, in the model and beside it."""

RAW_DATA = 9
"""Of a weight its items: `onnx.proto` numbers them."""

Stamp: TypeAlias = tuple[int, ...]
"""What of a file is another when somebody writes into it, or puts another one in its place."""


def is_plain(dtype: np.dtype[Any]) -> bool:
    """Return whether items of a type lie in a model as they lie in memory."""
    return dtype.isbuiltin == 1 and dtype.kind in "biufc" and sys.byteorder == "little"


def count_of(tensor: Any) -> int:
    """Return how many items a weight has.

    Raises:
        UnreadableError: it is none.
    """
    if not tensor.name or any(extent < 0 for extent in tensor.dims):
        raise UnreadableError("has an initialiser without a name or with an extent below 0")
    return int(np.prod(tensor.dims, dtype=object))


def stamp_of(handle: int) -> Stamp:
    """Return the stamp of a file."""
    found = os.fstat(handle)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def raw_items(tensor: Any, raw: Piece, handle: int) -> Array | None:
    """Return items that lie in a file as they do in memory: no copy of them is made.

    Args:
        tensor: what is said of them.
        raw: where they lie.
        handle: of the file.

    Returns:
        The array; ``None`` where they lie otherwise, and the package onnx has to read them.

    Raises:
        UnreadableError: there are more or fewer than is said.
        OSError: they cannot be read.
    """
    dtype = _dtype_of(tensor)
    if dtype is None or not is_plain(dtype) or tensor.HasField("segment"):
        return None
    count, size = count_of(tensor), raw.end - raw.inside
    if size != count * dtype.itemsize:
        why = f"{size} bytes of items, and type and shape say {count * dtype.itemsize}"
        words = f"has the initialiser {_named(tensor)}, which cannot be read: {why}"
        raise UnreadableError(words)
    array: Array = np.empty(count, dtype)
    try:
        read_into(handle, raw.inside, array.view(np.uint8).data)
    except WireError:
        raise UnreadableError("was cut short while it was read") from None
    return array.reshape(tuple(tensor.dims))


def inside(tensor: Any) -> Array:
    """Return the items of a weight that is there as a whole.

    Raises:
        UnreadableError: it says what cannot be.
    """
    from onnx import numpy_helper

    try:
        array: Array = numpy_helper.to_array(tensor)
    except Exception as error:  # whatever the package makes of it: the file is at fault
        words = f"has the initialiser {_named(tensor)}, which cannot be read: {error}"
        raise UnreadableError(words) from None
    return array


def outside(tensor: Any, folder: Path) -> tuple[Array, str, Stamp]:
    """Return the items of a weight in a file beside the model, the name of this, and its stamp.

    Raises:
        UnreadableError: what is said of it cannot be, or the file is not there.
        OSError: it cannot be read.
    """
    said = {each.key: each.value for each in tensor.external_data}
    count, what = count_of(tensor), f"items of {_named(tensor)}"
    dtype = _dtype_of(tensor)
    try:
        start, length = int(said.get("offset", "0")), int(said.get("length", "-1"))
    except ValueError:
        dtype = None
    if dtype is None:
        raise UnreadableError(f"says of {what} what cannot be")
    size = count * dtype.itemsize
    if start < 0:
        raise UnreadableError(f"says that {what} begin at byte {start} of their file")
    if length not in (-1, size) or size > MOST_WEIGHTS:
        raise UnreadableError(f"says {length} bytes of {what}, and type and shape say {size}")
    location = said.get("location", "")
    handle = opened_near(folder, location, what)
    try:
        stamp = stamp_of(handle)
        if os.fstat(handle).st_size < start + size:
            raise UnreadableError(f"has {what} in a file that is cut short")
        with open(handle, "rb", closefd=False) as file:
            file.seek(start)
            array: Array = np.fromfile(file, dtype, count).reshape(tuple(tensor.dims))
    finally:
        os.close(handle)
    return array, location, stamp


def _named(tensor: Any) -> str:
    return f"`{tensor.name[:80]}`"


def _dtype_of(tensor: Any) -> np.dtype[Any] | None:
    from onnx import helper

    try:
        return np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type))
    except (KeyError, TypeError):
        return None
