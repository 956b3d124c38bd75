"""Generated conversions between two layouts, held against the meaning of both."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from arrays_in_memory import frame
from converting_cases import over_same_axes

import layoutdsl
from layoutdsl import Layout
from layoutdsl.code.arrays.axes import axes_of
from layoutdsl.code.conversion import StraightConversion
from layoutdsl.code.moves import Fallback
from layoutdsl.language.meaning.elements import FillAny

from .cases import Case, Fault, Refused
from .meaning import meaning
from .modules import LARGEST, default_of, fitting, item_of, layout_of, same, tensor_of


@lru_cache(maxsize=64)
def converted(text: str, other: str) -> StraightConversion | str:
    """The conversion that was validated, or why there is none that goes straight."""
    source, target = layout_of(text), layout_of(other)
    if None not in (source.element, target.element) and source.element != target.element:
        return "of two types"
    if isinstance(axes_of(*over_same_axes(source, target)), Fallback):
        return "through the tensor"
    try:
        found = layoutdsl.convert(source, target, compiled="numpy")
    except layoutdsl.RefusedError:
        return "refuted"
    except layoutdsl.UnprovedError:
        return "undecided"
    except layoutdsl.UnvalidatedError:
        return "not validated"
    assert isinstance(found, StraightConversion)
    return found


def check_conversion(case: Case) -> None:
    """Convert one buffer.

    Raises:
        Fault: the other buffer is not what is meant.
        Refused: there is no straight conversion, or a layout is wrong at the shape.
    """
    found = converted(case.text, case.other)
    if isinstance(found, str):
        raise Refused(found)
    one, other = (meaning(text, case.shape) for text in (case.text, case.other))
    if one is None or other is None or not (one.right and other.right):
        raise Refused("wrong at the shape")
    if max(one.size, other.size) > LARGEST:
        raise Refused("too large")
    source, target = layout_of(case.text), _typed(case)
    ways = fitting(target, case.ways)
    tensor = tensor_of(target, case.shape, ways)
    memory, view = frame(ways.source.replace("broadcast", "apart"), one.physical, tensor.dtype)
    buffer = view(memory)
    buffer[...] = one.packed(tensor, buffer.reshape(-1)).reshape(one.physical)
    before = memory.copy()
    given: dict[str, Any] = {"threads": ways.threads}
    given |= {} if ways.fill is None else {"fill": ways.fill}
    filled = np.empty(other.size, tensor.dtype)
    filled[...] = item_of(default_of(target) if ways.fill is None else ways.fill, tensor.dtype)
    wanted = other.packed(tensor, filled).reshape(other.physical)
    same(found(buffer, case.shape, **given), wanted, f"{source.name} to {target.name}")
    same(found(buffer.reshape(-1), list(case.shape), **given), wanted, "a flat buffer, converted")
    room, seen = frame(ways.target, other.physical, tensor.dtype)
    beside = room.copy()
    padding = seen(room).reshape(-1).copy()
    if not (isinstance(target.fill, FillAny) and ways.fill is None):
        padding[other.start :] = filled[other.start :]
    seen(beside)[...] = other.packed(tensor, padding).reshape(other.physical)
    out = seen(room)
    if found(buffer, case.shape, out, **given) is not out:
        raise Fault("convert returns another array than out")
    same(seen(room), seen(beside), "convert into out")
    same(room, beside, "memory around out")
    same(memory, before, "the buffer that was converted")


def _typed(case: Case) -> Layout:
    """The layout that is written, of the type of either."""
    source, target = layout_of(case.text), layout_of(case.other)
    return replace(target, element=source.element or target.element)
