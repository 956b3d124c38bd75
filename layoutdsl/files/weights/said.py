"""The account of a packed file: which layouts, of which tensors, and checksums of everything.

The account stands under the key ``layoutdsl``, as JSON. Layouts are named by the hash of their
text and stand once. Whoever reads it elaborates the text anew and compares: nothing is taken for
granted. Every tensor has its bytes as stretches, each with a checksum by the token
(`files/pieces/sums.py`), so that a bit that has changed is found without the file that it was made
from. The account itself, and the header of the file, have the checksum ``check``.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeAlias

from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.weights.bounds import shown
from layoutdsl.files.weights.form import Head
from layoutdsl.files.weights.json_object import are_numbers, read_object
from layoutdsl.language.meaning.elements import ELEMENT_TYPES
from layoutdsl.language.meaning.storage import STORAGES

PLAIN, OF_RECORDS, OF_WORDS = 1, 2, 3
"""Versions of accounts without ``check``, as layoutdsl 0.1.0 wrote them: of layouts alone; with
records; with fields of records that were packed in words before. They are read, not written."""

VERSION = 4
"""The version of accounts that have ``check``. A file of this version without it is refused, so
that cutting out the checksum alone is noticed."""

NOTHING = "0" * 32
"""Stands for a checksum, and for the token, until it is known: as long as they are."""

UNCHECKED = "0" * 64
"""Stands for ``check`` until it is known."""

Stretch: TypeAlias = tuple[int, str]
"""Bytes, and their checksum."""


@dataclass(frozen=True, slots=True)
class Words:
    """A tensor that was packed before: in words of this type, by a layout, by its hash."""

    word: str
    layout: str


@dataclass(frozen=True, slots=True)
class Source:
    """A tensor that has become a field of a record: its name, shape and type, as it was.

    Attributes:
        words: how it was packed before, where it was; ``elements`` is then its shape in elements.
    """

    name: str
    shape: tuple[int, ...]
    type: str
    native: str
    words: Words | None = None
    elements: tuple[int, ...] = ()

    @property
    def field_shape(self) -> tuple[int, ...]:
        """The extents of the field."""
        return self.shape if self.words is None else self.elements


@dataclass(frozen=True, slots=True)
class Fields:
    """Tensors that became one.

    Attributes:
        record: by its hash.
        sources: the tensor of each field, in the order of the record.
    """

    record: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of a tensor.

    Attributes:
        stretches: its bytes in the file.
        layout: by its hash; `None` where the tensor was kept.
        shape: of the tensor before it was packed, in elements.
        type: of the items, before it was packed.
        native: the word that its format had for them.
        words: how it was packed before, where it was; ``original`` is then the shape of those.
        fields: what it was made of, where it was made of several.
    """

    stretches: tuple[Stretch, ...]
    layout: str | None = None
    shape: tuple[int, ...] = ()
    type: str = ""
    native: str = ""
    words: Words | None = None
    original: tuple[int, ...] = ()
    fields: Fields | None = None

    @property
    def is_packed(self) -> bool:
        """Whether it is anything but kept."""
        return self.layout is not None or self.fields is not None


@dataclass(frozen=True, slots=True)
class About:
    """What a file says.

    Attributes:
        token: that the checksums were made with.
        form: the format that the tensors were in.
        layouts: their texts, and those of records, by the hash of each.
        tensors: by their names.
        order: where groups moved tensors: for each tensor that unpacking makes, its position in the
            original file; empty where they come in that order anyway.
        check: of the account without ``check``, and of the header; `None` in an older file.
    """

    token: str
    form: str
    layouts: Mapping[str, str]
    tensors: Mapping[str, Said]
    order: tuple[int, ...] = ()
    check: str | None = UNCHECKED

    @property
    def unpacked_names(self) -> list[str]:
        """The tensors that unpacking makes, in the order of the packed file."""
        made = []
        for name, each in self.tensors.items():
            made += [name] if each.fields is None else [s.name for s in each.fields.sources]
        return made


def key_of(text: str) -> str:
    """Return the hash that a layout goes by."""
    return sha256(text.encode()).hexdigest()


def written(about: About) -> str:
    """Return the text; it has the same length whatever the checksums are."""
    check = {} if about.check is None else {"check": about.check}
    return _json({**_document(about), **check})


def check_of(about: About, byte_order: str, heads: Sequence[Head]) -> str:
    """Return the checksum of an account and of the header that it stands in.

    Args:
        about: the account; its own ``check`` is left out.
        byte_order: of the items, as `Contents` has it.
        heads: what the header says of each tensor, in the order of the file.
    """
    rows = [[h.name, h.native, h.shape, h.start, h.size, h.fortran] for h in heads]
    return sha256(_json([_document(about), byte_order, rows], sort_keys=True).encode()).hexdigest()


def _json(value: object, *, sort_keys: bool = False) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=sort_keys)


def _document(about: About) -> dict[str, Any]:
    """The account as JSON has it, without its own checksum."""
    found = {
        "version": _version(about),
        "token": about.token,
        "form": about.form,
        "layouts": {key: {"text": text} for key, text in about.layouts.items()},
        "tensors": {name: _plain(each) for name, each in about.tensors.items()},
    }
    return found | ({"order": about.order} if about.order else {})


def _version(about: About) -> int:
    """The version of an account; an older one has the first that knows all that it says."""
    if about.check is not None:
        return VERSION
    fields = [each.fields.sources for each in about.tensors.values() if each.fields is not None]
    if any(source.words is not None for some in fields for source in some):
        return OF_WORDS
    return OF_RECORDS if fields else PLAIN


def _row(source: Source) -> list[Any]:
    found: list[Any] = [source.name, source.shape, source.type, source.native]
    if source.words is not None:
        found += [source.words.word, source.words.layout, source.elements]
    return found


def _plain(said: Said) -> dict[str, Any]:
    if said.fields is not None:
        rows = [_row(each) for each in said.fields.sources]
        return {"record": said.fields.record, "fields": rows, "sums": said.stretches}
    found: dict[str, Any] = {}
    if said.layout is not None:
        found = {"layout": said.layout, "shape": said.shape}
    if said.type:
        found |= {"dtype": said.type, "native": said.native}
    if said.words is not None:
        found |= {"word": said.words.word, "from": said.words.layout, "original": said.original}
    return found | {"sums": said.stretches}


def read(text: str) -> About:
    """Return what a file says of itself.

    Raises:
        UnreadableError: it says what no run of layoutdsl writes.
    """
    found = read_object("packed", text.encode(), "what it says under `layoutdsl`")
    version = found.get("version")
    if type(version) is int and not PLAIN <= version <= VERSION:
        raise _unfit(f"is of version {version}, and this program knows {VERSION}")
    match found:
        case {
            "version": int(),
            "token": str(token),
            "form": str(form),
            "layouts": dict(layouts),
            "tensors": dict(tensors),
        }:
            optional = {"order"} if version == VERSION else set[str]()
            _refuse_keys(found, _KEYS | ({"check"} if version == VERSION else set()), optional)
            check = found.get("check")
            if check is not None and not _is_check(check):
                raise _unfit("has no checksum under `check`")
            texts = {key: _text(key, each) for key, each in layouts.items()}
            said = {name: _said(name, each, texts) for name, each in tensors.items()}
            order = _order(found.get("order", []))
            about = About(token, form, texts, said, order, check)
            if version != _version(about):
                raise _unfit(f"is not of version {version}, as it claims")
            if order and len(order) != len(about.unpacked_names):
                raise _unfit("puts other tensors in order than it names")
            return about
    raise _unfit("has neither layouts nor tensors")


_KEYS = {"version", "token", "form", "layouts", "tensors"}


def _refuse_keys(found: Mapping[str, Any], needed: set[str], optional: set[str]) -> None:
    missing = needed - found.keys()
    if missing:
        raise _unfit(f"lacks {shown(min(missing))}: a part of it was removed")
    unknown = found.keys() - needed - optional
    if unknown:
        raise _unfit(f"has the unknown key {shown(min(unknown))}")


def _is_check(found: Any) -> bool:
    return isinstance(found, str) and len(found) == len(UNCHECKED)


def _order(found: Any) -> tuple[int, ...]:
    if are_numbers(found) and sorted(found) == list(range(len(found))):
        return tuple(found)
    raise _unfit("names no order of tensors under `order`")


def _unfit(words: str) -> UnreadableError:
    return UnreadableError(f"says under `layoutdsl` what {words}; pack it again")


def _text(key: str, said: Any) -> str:
    match said:
        case {"text": str(text)} if len(said) == 1:
            if key_of(text) == key:
                return text
            raise _unfit(f"is no layout of its hash: {shown(text)}")
    raise _unfit("is no text of a layout")


def _said(name: str, said: Any, texts: Mapping[str, str]) -> Said:
    wrong = _unfit(f"makes no sense of the tensor {shown(name)}")
    match said:
        case {"sums": list(sums)} if all(map(_is_stretch, sums)):
            stretches = tuple((size, sum_) for size, sum_ in sums)
        case _:
            raise wrong
    if "record" in said or "fields" in said:
        held = _fields(said, texts)
        if held is None:
            raise wrong
        return Said(stretches, fields=held)
    match said:
        case {
            "layout": str(key),
            "shape": list(shape),
            "dtype": str(type_),
            "native": str(native),
        }:
            if key not in texts or not _is_shape(shape) or type_ not in ELEMENT_TYPES:
                raise wrong
        case {"dtype": str(type_), "native": str(native)} if type_ in ELEMENT_TYPES:
            if len(said) != 3:
                raise wrong
            return Said(stretches, type=type_, native=native)
        case _:
            if len(said) != 1:
                raise wrong
            return Said(stretches)
    match said:
        case {"word": str(word), "from": str(source), "original": list(original)}:
            unlike = word not in STORAGES or source not in texts or not _is_shape(original)
            if unlike or len(said) != 8:
                raise wrong
            words = Words(word, source)
            return Said(stretches, key, tuple(shape), type_, native, words, tuple(original))
    if len(said) != 5:
        raise wrong
    return Said(stretches, key, tuple(shape), type_, native)


def _fields(said: Mapping[str, Any], texts: Container[str]) -> Fields | None:
    """What a tensor was made of; nothing where that makes no sense."""
    match said:
        case {"record": str(record), "fields": list(rows), "sums": _} if record in texts:
            found = [_source(each, texts) for each in rows]
            sources = [each for each in found if each is not None]
            if len(sources) == len(rows) and len(said) == 3:
                return Fields(record, tuple(sources))
    return None


def _source(said: Any, texts: Container[str]) -> Source | None:
    """The tensor of a field; nothing where it is none."""
    match said:
        case [str(name), list(shape), str(type_), str(native), *packed]:
            if not _is_shape(shape) or type_ not in ELEMENT_TYPES:
                return None
        case _:
            return None
    match packed:
        case []:
            return Source(name, tuple(shape), type_, native)
        case [str(word), str(key), list(elements)]:
            if word in STORAGES and key in texts and _is_shape(elements):
                words = Words(word, key)
                return Source(name, tuple(shape), type_, native, words, tuple(elements))
    return None


def _is_stretch(said: Any) -> bool:
    match said:
        case [int(size), str(sum_)]:
            return size >= 0 and len(sum_) == len(NOTHING)
    return False


def _is_shape(shape: Sequence[Any]) -> bool:
    """Whether it is a row of extents; `True` is none."""
    return len(shape) <= 64 and all(type(each) is int and 0 <= each < 1 << 63 for each in shape)
