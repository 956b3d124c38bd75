"""What a file of weights holds, tensor by tensor; no item is read."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import prod

from layoutdsl.meaning.elements import ELEMENT_TYPES
from layoutdsl.meaning.model import Layout
from layoutdsl.weights.faults import reading
from layoutdsl.weights.form import Entry
from layoutdsl.weights.opened import opened_weights
from layoutdsl.weights.packing import Place
from layoutdsl.weights.said import Said
from layoutdsl.weights.unpacking import Elaborate, about_of, layouts_of


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of a file.

    Attributes:
        name: as the file has it.
        type: the format's word for its type.
        extents: that the file says.
        bytes: of its items.
        layout: by which it is packed; `None` where it is not.
        original: the shape that it had before.
        padding: the share of its bytes that holds no element; `None` where it is not packed.
    """

    name: str
    type: str
    extents: tuple[int, ...]
    bytes: int
    layout: str | None = None
    original: tuple[int, ...] | None = None
    padding: float | None = None

    @property
    def told(self) -> dict[str, object]:
        """The fields by their names."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


@dataclass(frozen=True, slots=True)
class Inspected:
    """A file of weights.

    Attributes:
        form: its format.
        packed: whether it says that layoutdsl has packed it.
        layouts: the texts of those that it speaks of.
        tensors: in the order of the file.
    """

    form: str
    packed: bool
    layouts: tuple[str, ...]
    tensors: tuple[Tensor, ...]


def inspect_weights(source: Place, elaborate: Elaborate) -> Inspected:
    """Return what a file of weights holds.

    Raises:
        UnfitError: it is no such file, or says what cannot be.
        OSError: it cannot be read.
    """
    with opened_weights(source.path, source.form) as weights, reading(source.path):
        entries, form = weights.contents.entries, weights.contents.form
        if weights.contents.said is None:
            return Inspected(form, False, (), tuple(map(_plain, entries)))
        about = about_of(weights)
        layouts = layouts_of(about, elaborate)
        tensors = tuple(_told(each, about.tensors[each.name], layouts) for each in entries)
        return Inspected(form, True, tuple(about.layouts.values()), tensors)


def _plain(entry: Entry) -> Tensor:
    size = entry.stored.end - entry.stored.data
    return Tensor(entry.name, entry.native, entry.shape, size)


def _told(entry: Entry, said: Said, layouts: dict[str, Layout]) -> Tensor:
    found = _plain(entry)
    if said.layout is None:
        return found
    layout = layouts[said.layout]
    bits = ELEMENT_TYPES[said.type].item[1] * 8
    if said.words is not None and layout.tensor_element is not None:
        bits = layout.tensor_element.bits
    original = said.shape if said.words is None else said.original
    held = prod(said.shape) * bits / 8
    padding = 1 - held / found.bytes if found.bytes else 0.0
    return Tensor(*_fields(found), layout.name, original, max(padding, 0.0))


def _fields(found: Tensor) -> tuple[str, str, tuple[int, ...], int]:
    return found.name, found.type, found.extents, found.bytes
