"""What a model of ONNX says of an initialiser: its name, type and shape, and where its items lie.

Source: onnx.proto of 1.23; onnx, docs/ExternalData.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from layoutdsl.files.npy import MOST_AXES, UnreadableError
from layoutdsl.files.weights.bounds import MOST_HEADER, exactly, shown, unreadable
from layoutdsl.files.weights.onnx_numbers import FIELDS, MOST_RUNS, Numbers
from layoutdsl.files.weights.onnx_types import BY_NUMBER, TYPES
from layoutdsl.files.weights.protobuf import Field, Messages

DIMS, TYPE, NAME, RAW, OUTSIDE, WHERE = 1, 2, 8, 9, 13, 14
"""Fields of a tensor."""

KEY, VALUE = 1, 2
"""Fields of an entry of metadata, and of what says where items lie."""

_FLOATS, _DOUBLES = 4, 10
_AS_THEY_LIE = {"FLOAT": _FLOATS, "COMPLEX64": _FLOATS, "DOUBLE": _DOUBLES, "COMPLEX128": _DOUBLES}
_OUTSIDE, _MOST_NAME = 1, 1 << 16


@dataclass(slots=True)
class Spans:
    """Stretches of a file, those side by side as one."""

    found: list[tuple[int, int]] = field(default_factory=list)

    def add(self, start: int, end: int) -> None:
        """Add a stretch behind all others."""
        if self.found and self.found[-1][1] == start:
            start = self.found.pop()[0]
        self.found.append((start, end))

    def read(self, handle: int) -> bytes:
        """Return all of their bytes, which are not many.

        Raises:
            UnreadableError: they are too many.
        """
        size = sum(end - start for start, end in self.found)
        refuse_more(size)
        return b"".join(exactly(handle, start, end - start) for start, end in self.found)


def refuse_more(size: int) -> None:
    """Fail where so many bytes besides initialisers are too many.

    Raises:
        UnreadableError: they are.
    """
    if size > MOST_HEADER:
        words = f"has {size} bytes besides initialisers, and {MOST_HEADER} are the most"
        raise UnreadableError(f"{words}; make its large constants initialisers")


@dataclass(frozen=True, slots=True)
class Tensor:
    """What a model says of an initialiser.

    Attributes:
        name: as the graph has it.
        word: its type.
        shape: the extents.
        span: the bytes of its field in the model.
        items: the bytes of its items there; where these are numbers that have to be written out;
            ``None`` where they lie in another file.
        outside: what is said of that: ``location``, ``offset``, ``length``.
        more: fields that say something else, as they stand.
    """

    name: str
    word: str
    shape: tuple[int, ...]
    span: tuple[int, int]
    items: tuple[int, int] | Numbers | None
    outside: Mapping[str, str]
    more: Spans

    @property
    def size(self) -> int:
        """The bytes of all that the model says of it."""
        return self.span[1] - self.span[0]


@dataclass(slots=True)
class Parts:
    """What the fields of a tensor say, the last of each kind; of items the first of them, too."""

    name: str = ""
    number: int = 0
    where: int = 0
    shape: list[int] = field(default_factory=list)
    outside: dict[str, str] = field(default_factory=dict)
    items: dict[int, list[Field]] = field(default_factory=dict)
    more: Spans = field(default_factory=Spans)

    @property
    def is_outside(self) -> bool:
        """Whether its items lie in another file."""
        return self.where == _OUTSIDE


def parts_of(messages: Messages, tensor: Field) -> Parts:
    """Return what the fields of a tensor say.

    Raises:
        UnreadableError: they make no sense.
    """
    found = Parts()
    for each in messages.fields(tensor.data, tensor.end):
        match each.number:
            case 1:
                room = MOST_AXES + 1 - len(found.shape)
                found.shape += islice(messages.numbers(each), max(room, 0))
            case 2:
                found.number = each.value & 0xFFFFFFFF
            case 8:
                found.name = messages.text(each, _MOST_NAME)
            case 13 if each.kind == "run":
                key, value = pair(messages, each, _MOST_NAME)
                found.outside[key] = value
            case 14:
                found.where = each.value
            case 3 | 4 | 5 | 6 | 7 | 9 | 10 | 11:
                held = found.items.setdefault(each.number, [])
                del held[MOST_RUNS:]  # so many are too many; the last is kept
                held.append(each)
            case _:
                found.more.add(each.start, each.end)
    return found


def tensor_of(messages: Messages, tensor: Field) -> Tensor | None:
    """Return what an initialiser is; ``None`` where its items are no numbers of its type.

    Raises:
        UnreadableError: it says what cannot be.
    """
    if tensor.kind != "run":
        raise unreadable("onnx", "an initialiser of it is no message")
    found = parts_of(messages, tensor)
    word, span = BY_NUMBER.get(found.number), (tensor.start, tensor.end)
    items = None
    if not found.is_outside:
        items = _items(word, found.items, tensor)
        if word is None or items is None:
            return None
    elif found.items:
        raise unreadable("onnx", f"items of {shown(found.name)} lie in it and in another file")
    elif word is None:
        words = f"has the initialiser {shown(found.name)} of the type {found.number}"
        raise UnreadableError(f"{words}, and {', '.join(TYPES)} are known")
    shape = tuple(found.shape)
    return Tensor(found.name, word, shape, span, items, found.outside, found.more)


def _items(
    word: str | None, held: Mapping[int, Sequence[Field]], tensor: Field
) -> tuple[int, int] | Numbers | None:
    """Where the items of an initialiser lie; nothing where they are no numbers of its type."""
    if not held:
        return tensor.end, tensor.end
    (number, runs), *others = held.items()
    if others or any(each.kind != "run" for each in runs):
        return None
    last = runs[-1]
    if number == RAW or (len(runs) == 1 and number == _AS_THEY_LIE.get(word or "")):
        return last.data, last.end
    if number != FIELDS.get(word or "") or len(runs) > MOST_RUNS:
        return None
    return Numbers(number, tuple((each.data, each.end) for each in runs))


def pair(messages: Messages, found: Field, most: int) -> tuple[str, str]:
    """Return an entry of metadata: its key and its value.

    Raises:
        UnreadableError: one of them is longer than ``most`` bytes, or no text.
    """
    texts = {KEY: "", VALUE: ""}
    for each in messages.fields(found.data, found.end):
        if each.number in texts:
            texts[each.number] = messages.text(each, most)
    return texts[KEY], texts[VALUE]
