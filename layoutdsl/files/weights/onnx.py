"""Models of ONNX: initialisers, in the model or in files beside it; written into one such file.

The package onnx is not used: it builds all of a model in memory, and does not say where items lie
in the file. What is written is the model with initialisers that lie in `NAME.data`, and the rest of
it to the byte. The shape of what was packed is that of the buffer, so such a graph is for a program
that knows of it: types are not inferred from it any more.

Source: onnx, docs/ExternalData.md.
"""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from layoutdsl.files.near import opened_near
from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.weights.bounds import (
    AGAIN,
    MOST_HEADER,
    counted,
    cut_short,
    exactly,
    item_bits,
    refuse_wanted,
    rounded,
    shown,
    stored,
    unreadable,
    word_of,
)
from layoutdsl.files.weights.form import Arranged, Contents, Entry, Wanted, heads_of
from layoutdsl.files.weights.onnx_model import (
    GRAPH,
    INITIALIZER,
    INPUT,
    MARK,
    METADATA,
    SAID,
    Model,
    read,
)
from layoutdsl.files.weights.onnx_numbers import Numbers, WrittenOut
from layoutdsl.files.weights.onnx_tensors import (
    DIMS,
    KEY,
    NAME,
    OUTSIDE,
    TYPE,
    VALUE,
    WHERE,
    Tensor,
)
from layoutdsl.files.weights.onnx_types import TYPES, WORDS
from layoutdsl.files.weights.protobuf import number, run

INSIDE = 1024
"""Bytes of an initialiser that is kept in the model, where shapes are inferred from it."""

_MOST_INSIDE = 1 << 15

_MOST_FILES = 256
_DATA = ".data"
_SMALL, _PAGE, _LARGE = 64, 4096, 1 << 16
"""Tensors lie at multiples of 64 bytes, large ones at pages, so that they can be mapped."""

_EMPTY = number(1, 10) + run(8, run(1, "") + number(2, 21))
"""A model of no nodes: version 10 of the format, 21 of its operators."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What a model says besides its initialisers.

    Attributes:
        model: fields of the model.
        graph: fields of the graph.
        inside: small initialisers, as they stand.
        more: what is said of an initialiser besides type, shape and items.
        inputs: names of those of the graph.
        marked: inputs that stand for tensors which have become fields, as they stand.
    """

    model: bytes
    graph: bytes
    inside: Mapping[str, bytes] = field(default_factory=dict)
    more: Mapping[str, bytes] = field(default_factory=dict)
    inputs: Container[str] = ()
    marked: Mapping[str, bytes] = field(default_factory=dict)


class Onnx:
    """The format of ONNX."""

    name = "onnx"
    suffixes: tuple[str, ...] = (".onnx",)

    def read(self, place: Path, handle: int) -> Contents:
        """Return what an open file says; files beside it are opened, items are not looked at.

        Raises:
            UnreadableError: it is no such file, or says what cannot be.
            OSError: it, or one beside it, cannot be read.
        """
        found, entries = read(handle, os.fstat(handle).st_size), dict[str, Entry]()
        with ExitStack() as stack:
            beside, out = _Beside(place, stack), WrittenOut(handle, stack)
            for tensor in found.tensors:
                if tensor.name in entries:
                    words = f"two initialisers are called {shown(tensor.name)}"
                    raise unreadable(self.name, words)
                entries[tensor.name] = _entry(tensor, (place, handle), beside, out)
            rest = _rest(found, handle)
            stack.pop_all()
        files = tuple(beside.files.values())
        return Contents(
            self.name, tuple(entries.values()), found.said, rest, files, unnamed=out.handles
        )

    def arrange(self, given: Contents | None, wanted: Sequence[Wanted], said: str) -> Arranged:
        """Return how a model with these initialisers looks, and the file that they lie in.

        Raises:
            ValueError: the format cannot hold one of them.
        """
        refuse_wanted(wanted)
        is_model = given is not None and given.form == self.name
        rest: Rest = given.rest if is_model and given else Rest(_EMPTY, run(2, "weights"))
        place, starts, words = 0, list[int](), list[str]()
        for each in wanted:
            words.append(word_of(each, TYPES, _word, self.name))
            _refuse_size(each, words[-1])
            starts.append(rounded(place, _PAGE if each.size >= _LARGE else _SMALL))
            place = starts[-1] + each.size

        inputs = _inputs(given.entries if is_model and given else (), rest, wanted, said)

        def is_inside(each: Wanted) -> bool:
            return each.kept is not None and each.kept.name == each.name in rest.inside

        def model(location: str) -> bytes:
            initialisers = [
                rest.inside[each.name]
                if is_inside(each)
                else _initialiser(each, word, location, start, rest.more.get(each.name, b""))
                for each, word, start in zip(wanted, words, starts, strict=True)
            ]
            key = [run(METADATA, run(KEY, SAID) + run(VALUE, said))] if said else []
            graph = run(GRAPH, b"".join((rest.graph, *inputs, *initialisers)))
            return b"".join((rest.model, *key, graph))

        heads = tuple(
            replace(head, start=None) if is_inside(each) else head
            for each, head in zip(wanted, heads_of(wanted, words, starts), strict=True)
        )
        return Arranged(place, (), tuple(starts), heads, data=_DATA, model=model)

    def type_of(self, kind: str) -> str:
        """Return the element type that items of a type are read as."""
        return TYPES[_word(kind)].kind or kind


def _rest(found: Model, handle: int) -> Rest:
    """What is said again in a model that is made of this one."""
    inside, more = dict[str, bytes](), dict[str, bytes]()
    small = [each for each in found.tensors if each.items is not None and each.size < INSIDE]
    for tensor in small[:_MOST_INSIDE]:
        inside[tensor.name] = exactly(handle, tensor.span[0], tensor.size)
    for tensor in found.tensors:
        if tensor.more.found:
            more[tensor.name] = tensor.more.read(handle)
    if sum(map(len, more.values())) > MOST_HEADER:
        words = f"says more than {MOST_HEADER} bytes of its initialisers besides items"
        raise UnreadableError(f"{words}; write it with shorter texts")
    marked = {
        name: exactly(handle, start, end - start) for name, (start, end) in found.marked.items()
    }
    model, graph = found.model.read(handle), found.graph.read(handle)
    return Rest(model, graph, inside, more, found.inputs, marked)


def _inputs(
    entries: Sequence[Entry], rest: Rest, wanted: Sequence[Wanted], said: str
) -> list[bytes]:
    """Inputs that stand for tensors which nodes name, and which are fields of others now.

    Where something is packed, each that is gone becomes one; unpacked, it is there again.
    """
    there = {each.name for each in wanted}
    if not said:
        return [data for name, data in rest.marked.items() if name not in there]
    gone = (each for each in entries if each.name not in there and each.name not in rest.inputs)
    return [*rest.marked.values(), *map(_input, gone)]


def _input(entry: Entry) -> bytes:
    """A field of a graph: an input of the type and shape of a tensor."""
    dims = b"".join(run(1, number(1, extent)) for extent in entry.shape)
    kind = run(1, number(1, TYPES[entry.native].number) + run(2, dims))
    return run(INPUT, run(1, entry.name) + run(2, kind) + run(3, MARK))


class _Beside:
    """The files that items lie in, each opened once, and closed where something fails."""

    def __init__(self, place: Path, stack: ExitStack) -> None:
        self.files: dict[str, tuple[Path, int]] = {}
        self._place, self._stack = place, stack

    def opened(self, tensor: Tensor) -> tuple[Path, int]:
        location = tensor.outside.get("location", "")
        if location not in self.files:
            if len(self.files) == _MOST_FILES:
                words = f"has items in more than {_MOST_FILES} files"
                raise UnreadableError(f"{words}; save it with all tensors in one file")
            what = f"items of {shown(tensor.name)}"
            handle = opened_near(self._place.parent, location, what)
            self._stack.callback(os.close, handle)
            self.files[location] = self._place.parent / location, handle
        return self.files[location]


def _entry(tensor: Tensor, model: tuple[Path, int], beside: _Beside, out: WrittenOut) -> Entry:
    """An initialiser, where its items have the bytes that its shape and type say."""
    found, name = TYPES[tensor.word], tensor.name
    if any(extent >> 63 for extent in tensor.shape):
        raise unreadable("onnx", f"{shown(name)} has an extent below 0")
    size = -(-counted(tensor.shape, name) * found.bits // 8)
    if isinstance(tensor.items, Numbers):
        handle, start = out.items(name, tensor.word, tensor.items, size)
        items = stored((model[0], handle), start, found.kind, tensor.shape, size)
        return Entry(name, tensor.word, found.kind, tensor.shape, items, inline=True)
    if tensor.items is not None:
        start, end = tensor.items
        if end - start != size:
            words = f"{shown(name)} has {end - start} bytes of items, and its shape and type say"
            raise unreadable("onnx", f"{words} {size}")
        items = stored(model, start, found.kind, tensor.shape, size)
        return Entry(name, tensor.word, found.kind, tensor.shape, items, inline=True)
    start = _number(tensor, "offset", 0)
    if _number(tensor, "length", size) != size:
        words = f"{shown(name)} has {tensor.outside['length']} bytes, and its shape and type say"
        raise unreadable("onnx", f"{words} {size}")
    file = beside.opened(tensor)
    whole = os.fstat(file[1]).st_size
    if start + size > whole:
        fact = cut_short(whole, start + size).fact
        raise UnreadableError(f"has items of {shown(name)} in {shown(file[0].name)}, which {fact}")
    items = stored(file, start, found.kind, tensor.shape, size)
    return Entry(name, tensor.word, found.kind, tensor.shape, items)


def _number(tensor: Tensor, key: str, otherwise: int) -> int:
    said = tensor.outside.get(key)
    if said is None:
        return otherwise
    if not (said.isascii() and said.isdigit() and len(said) < 20):
        words = f"the {key} of {shown(tensor.name)} is {shown(said)}, which is no place in a file"
        raise UnreadableError(f"says what cannot be: {words}; {AGAIN}")
    return int(said)


def _word(kind: str) -> str:
    return WORDS.get(kind) or f"UINT{item_bits(kind)}"


def _refuse_size(each: Wanted, word: str) -> None:
    count = 1
    for extent in each.shape:
        count *= extent
    if -(-count * TYPES[word].bits // 8) != each.size:
        words = f"{shown(each.name)} has {each.size} bytes, and its shape and type {word} say"
        raise ValueError(
            f"{words} {-(-count * TYPES[word].bits // 8)}; give the shape of its items"
        )


def _initialiser(each: Wanted, word: str, location: str, start: int, more: bytes) -> bytes:
    """A field of a graph: a tensor of which the items lie in another file."""
    where = {"location": location, "offset": str(start), "length": str(each.size)}
    parts = [number(DIMS, extent) for extent in each.shape]
    parts += [number(TYPE, TYPES[word].number), run(NAME, each.name), more]
    parts += [run(OUTSIDE, run(KEY, key) + run(VALUE, value)) for key, value in where.items()]
    return run(INITIALIZER, b"".join((*parts, number(WHERE, 1))))
