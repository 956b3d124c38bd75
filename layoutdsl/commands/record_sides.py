"""The fields of a record in files: opened where they lie, and arranged as an archive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from math import prod
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from layoutdsl.language.meaning.record import Record

if TYPE_CHECKING:
    from layoutdsl.files.pieces.files import Stored
    from layoutdsl.files.pieces.runs import Given
    from layoutdsl.language.meaning.model import Shape

File: TypeAlias = str | PathLike[str]


def values_of(
    record: Record, module: Any, stored: Mapping[str, Stored], shape: Shape | None
) -> dict[str, int]:
    """Return the shape of the record, of which the fields in files are.

    Raises:
        ValueError: they are of none, or of another type.
    """
    if shape is None:  # arrays of the shapes and types of the fields, which take no memory
        empty = {n: np.broadcast_to(np.zeros((), s.dtype), s.shape) for n, s in stored.items()}
        values: dict[str, int] = module.shape_of(**empty)
    else:
        values = record.bind(shape)
    for field in record.fields:
        found, wanted = stored[field.name].shape, field.shape(values)
        if found != wanted:
            raise ValueError(f"`{field.name}` has the shape {found}, and takes {wanted}")
    for field in record.fields:
        kind, width = field.element.item
        dtype = stored[field.name].dtype
        if (dtype.kind, dtype.itemsize) != (kind, width):
            words = f"`{field.name}` holds {dtype}, and {field.element.name} is stored as"
            raise ValueError(f"{words} {np.dtype(f'{kind}{width}')}")
    return values


@contextmanager
def opened_fields(
    record: Record, source: File | Mapping[str, File]
) -> Iterator[tuple[tuple[Given, ...], dict[str, Stored]]]:
    """Open the fields of a record: members of an archive, or a file each.

    Raises:
        UnreadableError: one is missing, or lies in another order.
    """
    from layoutdsl.files.npy import UnreadableError
    from layoutdsl.files.pieces.files import stored_npy
    from layoutdsl.files.pieces.tensors import opened_input

    with ExitStack() as stack:
        if isinstance(source, Mapping):
            files = [stack.enter_context(opened_input(Path(each))) for each in source.values()]
            found = {
                name: stored_npy(each.place, each.handle)
                for name, each in zip(source, files, strict=True)
            }
            given = tuple(files)
        else:
            one = stack.enter_context(opened_input(Path(source)))
            found, given = _members(one), (one,)
        for field in record.fields:
            if field.name not in found:
                raise UnreadableError(f"holds no `{field.name}`, a field of `{record.name}`")
            if found[field.name].fortran:
                words = f"holds `{field.name}` in Fortran order, of which rows lie nowhere together"
                raise UnreadableError(words)
        yield given, {each.name: found[each.name] for each in record.fields}


def _members(given: Given) -> dict[str, Stored]:
    """The arrays of an archive, where they lie in it."""
    from layoutdsl.files.weights.npz import Npz

    contents = Npz().read(given.place, given.handle)
    headers = contents.rest
    return {
        each.name: replace(
            each.stored, dtype=headers[each.name].dtype, shape=headers[each.name].shape
        )
        for each in contents.entries
    }


def archive_of(record: Record, values: Mapping[str, int]) -> tuple[Any, dict[str, Any]]:
    """Return an archive of the fields, arranged, and the type of what each holds."""
    from layoutdsl.files.weights.arrays import TYPES
    from layoutdsl.files.weights.form import Wanted
    from layoutdsl.files.weights.npz import Npz

    types = {each.name: np.dtype("{}{}".format(*each.element.item)) for each in record.fields}
    wanted = []
    for field in record.fields:
        shape, dtype = field.shape(values), types[field.name]
        size = prod(shape) * dtype.itemsize
        wanted.append(Wanted(field.name, TYPES[dtype.str], None, shape, size))
    return Npz().arrange(None, wanted, ""), types
