"""Two models of ONNX held next to each other, piece by piece: what is there, and what has to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from layoutdsl.graphs.checking.warrant import KEY
from layoutdsl.graphs.emitting.physical import Emission
from layoutdsl.graphs.graph import Array
from layoutdsl.graphs.models.onnx_read import Model
from layoutdsl.graphs.models.onnx_write import shell_of
from layoutdsl.language.texts.values import printable

PIECE = 1 << 22
"""Bytes that are compared at once."""


def different(
    written: Any, weights: Mapping[str, Array], model: Model, emission: Emission
) -> Iterator[str]:
    """Yield what is there, and is not what a plan comes to.

    Args:
        written: the model that is there, without its weights.
        weights: of it.
        model: that was planned.
        emission: what it comes to.
    """
    said = {each.key: each.value for each in written.metadata_props if each.key == KEY}
    wanted, constants = shell_of(model, emission, said)
    missing = constants.keys() - weights.keys()
    yield from (f"the weight `{name}` is missing" for name in missing)
    more = weights.keys() - constants.keys()
    yield from (f"the weight `{name}` is none of the plan" for name in more)
    for name in constants:
        if name in weights and not _same(constants[name], weights[name]):
            yield f"the weight `{name}` is not what the model has, packed"
    if wanted.SerializeToString(deterministic=True) != written.SerializeToString(
        deterministic=True
    ):
        yield from _parts("", wanted, written)


def _same(one: Array, other: Array) -> bool:
    return one.dtype == other.dtype and one.shape == other.shape and same_bytes(one, other)


def same_bytes(one: Array, other: Array) -> bool:
    """Return whether arrays of one type have the same items, bit for bit, without copying them."""
    if one.dtype.hasobject:
        return bool(one.tolist() == other.tolist())
    bits, more = (np.ascontiguousarray(each).reshape(-1).view(np.uint8) for each in (one, other))
    return len(bits) == len(more) and all(
        np.array_equal(bits[start : start + PIECE], more[start : start + PIECE])
        for start in range(0, len(bits), PIECE)
    )


def _parts(place: str, wanted: Any, found: Any) -> Iterator[str]:
    """The first part of a message that is another one, named by its place in it."""
    for field in wanted.DESCRIPTOR.fields:
        own, other = getattr(wanted, field.name), getattr(found, field.name)
        where = f"{place}.{field.name}" if place else field.name
        if field.message_type is None:
            if own != other:
                yield f"`{where}` is {_short(other)}, and has to be {_short(own)}"
                return
        elif not _is_message(own):
            if len(own) != len(other):
                yield f"`{where}` has {len(other)} entries, and has to have {len(own)}"
                return
            for number, (one, two) in enumerate(zip(own, other, strict=True)):
                if one != two:
                    yield from _parts(f"{where}[{number}]", one, two)
                    return
        elif own != other:
            yield from _parts(where, own, other)
            return


def _is_message(value: Any) -> bool:
    return hasattr(value, "DESCRIPTOR")


def _short(value: object) -> str:
    text = str(list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value)
    clean = printable(text)
    return clean if len(clean) <= 80 else f"{clean[:77]}..."
