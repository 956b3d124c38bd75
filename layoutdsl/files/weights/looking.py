"""What a file of weights holds, tensor by tensor; no item is read."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from math import prod

from layoutdsl.files.pieces.every_copy import shape_with_copies
from layoutdsl.files.pieces.packed import layout_shape
from layoutdsl.files.weights.faults import reading
from layoutdsl.files.weights.form import Entry
from layoutdsl.files.weights.held import Elaborate, Held, account_of, values_of
from layoutdsl.files.weights.opened import Weights, opened_weights
from layoutdsl.files.weights.packing import Place
from layoutdsl.files.weights.said import Fields, Said
from layoutdsl.language.meaning.elements import ELEMENT_TYPES


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
        made_of: its fields, where it is a record of several tensors.
        shard: the name of its file, if an index was inspected.
    """

    name: str
    type: str
    extents: tuple[int, ...]
    bytes: int
    layout: str | None = None
    original: tuple[int, ...] | None = None
    padding: float | None = None
    made_of: tuple[Source, ...] = ()
    shard: str | None = None

    @property
    def told(self) -> dict[str, object]:
        """Its attributes by name; ``made_of`` and ``shard`` only if it has them."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        made_of, shard = [asdict(each) for each in found.pop("made_of")], found.pop("shard")
        found |= {"made_of": made_of} if made_of else {}
        return found | ({} if shard is None else {"shard": shard})


@dataclass(frozen=True, slots=True)
class Source:
    """A tensor that is a field of a record now."""

    field: str
    name: str
    type: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Inspected:
    """A file of weights.

    Attributes:
        form: its format.
        packed: whether it says that layoutdsl has packed it.
        layouts: the texts of those that it speaks of.
        tensors: in the order of the file.
        order: of the bytes of items: ``<``, the least significant first, or ``>``.
    """

    form: str
    packed: bool
    layouts: tuple[str, ...]
    tensors: tuple[Tensor, ...]
    order: str = "<"


def inspect_weights(source: Place, elaborate: Elaborate) -> Inspected:
    """Return what a file of weights holds.

    Raises:
        UnfitError: it is no such file, or says what cannot be.
        OSError: it cannot be read.
    """
    with opened_weights(source.path, source.form) as weights:
        return inspect_opened(weights, elaborate)


def inspect_opened(weights: Weights, elaborate: Elaborate) -> Inspected:
    """Return what an open file of weights holds; it raises what `inspect_weights` does."""
    contents = weights.contents
    entries, form, order = contents.entries, contents.form, contents.order
    if contents.said is None:
        return Inspected(form, False, (), tuple(map(_plain, entries)), order)
    with reading(weights.place):
        about, held = account_of(weights, elaborate)
        tensors = tuple(_told(each, about.tensors[each.name], held) for each in entries)
    return Inspected(form, True, tuple(about.layouts.values()), tensors, order)


def _plain(entry: Entry) -> Tensor:
    size = entry.stored.end - entry.stored.data
    return Tensor(entry.name, entry.native, entry.shape, size)


def _told(entry: Entry, said: Said, held: Held) -> Tensor:
    found = _plain(entry)
    if said.fields is not None:
        return _of_fields(entry, said.fields, held)
    if said.layout is None:
        return found
    layout = held.layouts[said.layout]
    bits = ELEMENT_TYPES[said.type].item[1] * 8
    placed = said.words is not None or layout.bit_of is not None
    if placed and layout.tensor_element is not None:
        bits = 1 if layout.bit_of is not None else layout.tensor_element.bits
    original = said.shape if said.words is None else said.original
    shape = layout_shape(layout, shape_with_copies(layout, said.shape))
    filled = prod(shape) * bits / 8
    padding = 1 - filled / found.bytes if found.bytes else 0.0
    return Tensor(*_fields(found), layout.name, original, max(padding, 0.0))


def _of_fields(entry: Entry, made: Fields, held: Held) -> Tensor:
    found, record = _plain(entry), held.records[made.record]
    values = values_of(entry, record, made, held)
    padding = 1 - record.elements_bits(values) / 8 / found.bytes
    pairs = zip(record.fields, made.sources, strict=True)
    made_of = tuple(Source(f.name, s.name, s.native, s.shape) for f, s in pairs)
    shape = tuple(record.frame.shape_of(values))
    return Tensor(*_fields(found), record.name, shape, padding, made_of)


def _fields(found: Tensor) -> tuple[str, str, tuple[int, ...], int]:
    return found.name, found.type, found.extents, found.bytes
