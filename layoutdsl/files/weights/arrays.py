"""Arrays of numpy as tensors of weights: which element type a type of items is, and back.

Items of ml_dtypes are written by numpy as bytes without a name: `bfloat16` as ``V2``, `float8` as
``V1``. Which `float8` it was, no file says; a layout does not ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from layoutdsl.files.npy import Header
from layoutdsl.files.weights.bounds import element_type, refuse_size, shown, stored
from layoutdsl.files.weights.form import Contents, Entry, Head, Wanted
from layoutdsl.language.meaning.elements import ELEMENT_TYPES

TYPES: Mapping[str, str] = {
    "|b1": "bool",
    "|i1": "i8",
    "|u1": "u8",
    **{f"<{kind}{bits // 8}": f"{kind}{bits}" for kind in "iu" for bits in (16, 32, 64)},
    **{f"<f{bits // 8}": f"f{bits}" for bits in (16, 32, 64)},
    "<c8": "c64",
    "|V2": "bf16",
    "|V1": "f8",
}
"""The types of items, as numpy spells them, that are elements; no others can be laid out."""

_OPAQUE = {"bf16": "|V2", **dict.fromkeys(("f8", "f8e4m3", "f8e5m2", "e8"), "|V1")}


def entry(name: str, file: tuple[Path, int], found: Header) -> Entry:
    """Return an array in a file as a tensor; most significant bytes first are no elements."""
    is_plain = found.dtype.names is None
    kind = TYPES.get(found.dtype.str) if is_plain else None
    items = stored(file, found.data, kind, found.shape, found.end - found.data)
    if kind is not None and found.fortran:
        items = type(items)(*file, items.data, items.dtype, items.shape, fortran=True)
    return Entry(name, found.dtype.str, kind, found.shape, items)


def written_as(each: Wanted, given: Contents | None, form: str) -> tuple[np.dtype[Any], bool]:
    """Return the type of items of a tensor to be written, and whether its last axis is most major.

    Args:
        each: the tensor.
        given: what it is made from; what is kept is written as it was.
        form: the name of the form that is written.

    Raises:
        ValueError: it has no type in numpy, or another size.
    """
    found = _as_it_was(each, given, form)
    if found is not None:
        refuse_size(each, 8 * found.dtype.itemsize)
        return found.dtype, found.fortran
    kind = element_type(each, form)
    refuse_size(each, 8 * ELEMENT_TYPES[kind].item[1])
    return _dtype(kind), False


def _dtype(kind: str) -> np.dtype[Any]:
    item, width = ELEMENT_TYPES[kind].item
    return np.dtype(_OPAQUE.get(kind, f"<{item}{width}"))


def type_as(kind: str) -> str:
    """Return the element type that items of a type are read as."""
    return TYPES.get(_dtype(kind).str, kind)


def head_as(each: Wanted, written: tuple[np.dtype[Any], bool], start: int) -> Head:
    """Return what a header says of a tensor that is written as `written_as` returns."""
    dtype, fortran = written
    turned = fortran and dtype.names is None and dtype.str in TYPES
    return Head(each.name, dtype.str, each.shape, start, each.size, fortran=turned)


def _as_it_was(each: Wanted, given: Contents | None, form: str) -> Header | None:
    """What a file of the same form says of a tensor that is kept; blocks can only be kept."""
    if given is None or given.form != form:
        return None
    headers: Mapping[str, Header] = given.rest
    if each.kept is not None:
        return headers[each.kept.name]
    found = headers.get(each.name)
    if each.native is None or found is None:
        return None
    if each.type is None and (found.dtype.str, found.shape) == (each.native, each.shape):
        return found
    if found.fortran and found.shape == each.shape:
        words = f"{shown(each.name)} has its last axis most major, and nothing packed has"
        raise ValueError(f"{words}; write it with numpy.ascontiguousarray")
    return None
