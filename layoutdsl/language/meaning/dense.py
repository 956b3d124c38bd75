"""A layout whose elements lie without room between them, as a record of one field.

Bit `b` of the element at offset `o` lies at `bits*o + b`, and words begin with their lowest byte;
so a buffer of words is a buffer of bits, and a record says where each of these lies.
"""

from __future__ import annotations

from dataclasses import replace

from layoutdsl.language.integers.bounds import product, simplify
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import Constant, Extent, Mod, Mul
from layoutdsl.language.meaning.elements import FillAny, FillValue
from layoutdsl.language.meaning.model import ZERO, Layout
from layoutdsl.language.meaning.part import Part, PickedDigit
from layoutdsl.language.meaning.record import Field, Record
from layoutdsl.language.meaning.storage import stored

FIELD = "tensor"
"""What the field is called."""


def dense(layout: Layout, storage: str) -> Record:
    """Return a layout's buffer in words as a record: one field, the tensor.

    Args:
        layout: with an element type, and without open parameters.
        storage: a name in `STORAGES`.

    Raises:
        NoWordsError, ValueError: the layout fills no whole words, or padding holds something.
    """
    how = stored(layout, storage)
    if layout.domain or layout.copies:
        held = "elements of a domain only" if layout.domain else "copies of elements"
        raise ValueError(f"`{layout.name}` holds {held}, and in words there is no code for that")
    if layout.start != ZERO:
        message = f"slots before the first of `{layout.name}` are nobody's"
        raise ValueError(f"{message}, and in words they would be cleared")
    if layout.fill not in (FillValue(0), FillAny()):
        message = f"padding of `{layout.name}` holds something else than 0"
        raise ValueError(f"{message}: in words it is 0, so write `fill 0` or `fill any`")
    names = sorted({axis.extent.name for axis in layout.axes if isinstance(axis.extent, Extent)})
    part = Part(
        FIELD,
        tuple((PickedDigit(axis.name, 0, axis.extent),) for axis in layout.tensor_axes),
        0,
        replace(layout, name=f"{layout.name}_items", fill=FillValue(0), interface=None),
        tuple((name, Extent(name)) for name in names),
        how.element,
    )
    extents = tuple(axis.extent for axis in layout.tensor_axes)
    last = layout.coordinates[len(layout.coordinates) - how.joined :]
    bits = simplify(Mul(Constant(how.slot_bits), product(tuple(each.extent for each in last))))
    whole = Condition(Mod(bits, Constant(how.words.bits)), "==", Constant(0))
    where = layout.where if isinstance(bits, Constant) else (*layout.where, whole)
    field = Field(FIELD, how.element, extents, (part,))
    return Record(layout.name, layout.tensor_axes, (field,), (part,), where)
