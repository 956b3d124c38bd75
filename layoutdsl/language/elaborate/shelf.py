"""Text to layouts, and the library: what every verb starts from.

A family of the library is read when one of its layouts is first asked for, so that a text that
uses none waits for none.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from os import PathLike
from pathlib import Path
from typing import BinaryIO, TypeVar

from layoutdsl.language.meaning.arguments import PATH, TEXT, Kind, expect
from layoutdsl.language.meaning.model import LAYOUT, Layout
from layoutdsl.language.meaning.module import Module
from layoutdsl.language.meaning.operator import OperatorRule
from layoutdsl.language.meaning.record import RECORD, Record
from layoutdsl.language.meaning.table import Table
from layoutdsl.language.meaning.unplaced import unknown_name_help
from layoutdsl.language.texts import resources
from layoutdsl.language.texts.faults import UnknownNameError
from layoutdsl.language.texts.source import LayoutError, Source
from layoutdsl.language.texts.values import shortened

_Found = TypeVar("_Found")

_DECLARED = re.compile(r"^[ \t]*layout[ \t]+([A-Za-z_]\w*)", re.MULTILINE | re.ASCII)
_RECORDS = re.compile(r"^[ \t]*record[ \t]+([A-Za-z_]\w*)", re.MULTILINE | re.ASCII)
_TABLES = re.compile(r"^[ \t]*table[ \t]+([A-Za-z_]\w*)", re.MULTILINE | re.ASCII)
_CLAIMS = re.compile(r"^(?:prove|refute)\b.*\n(?:[ \t]+.*\n)*", re.MULTILINE)
_WITH_ARGUMENTS = re.compile(r"([A-Za-z_]\w*)\s*<([\s\w,]*)>", re.ASCII)


def load(path: str | PathLike[str]) -> Module:
    """Return the layouts and claims of a `.layout` file.

    Raises:
        LayoutError: with every fault of the text.
        OSError: the file cannot be read.
        UnicodeDecodeError: it is not UTF-8.
        TypeError: ``path`` is no path.
    """
    expect(path=(path, PATH))
    with Path(path).open("rb") as file:
        return read(file, str(path))


def read(stream: BinaryIO, name: str) -> Module:
    """Return the layouts and claims of a stream, as `load` does of a file.

    No more is read than a text may have.
    """
    from layoutdsl.language.syntax.parser import MOST_CHARACTERS

    most = 4 * MOST_CHARACTERS + 4
    data = stream.read(most)
    decoder = getincrementaldecoder("utf-8-sig")()
    return parse(decoder.decode(data, final=len(data) < most), name)


def parse(text: str, name: str = "<text>") -> Module:
    """Return the layouts and claims of a text; the layouts of the library may be used by name.

    Raises:
        LayoutError: with every fault of the text.
        TypeError: ``text`` or ``name`` is no text.
    """
    expect(text=(text, TEXT), name=(name, TEXT))
    try:
        return elaborated(Source(name, text), _Shelf(), _TableShelf(), _RecordShelf())
    except LayoutError as wrong:
        if not (text.strip().endswith(".layout") and "\n" not in text.strip()):
            raise
        hint = f"`layoutdsl.load({text.strip()!r})` reads a file; `parse` takes its text"
        first, *others = wrong.diagnostics
        raise LayoutError((replace(first, help=hint), *others)) from None


def parse_beside(
    text: str,
    name: str,
    layouts: Mapping[str, Layout],
    tables: Mapping[str, Table],
    records: Mapping[str, Record],
) -> Module:
    """Return what `parse` does of a text that may use others by name too, before the library's.

    Raises:
        LayoutError: with every fault of the text.
    """
    return elaborated(
        Source(name, text),
        _Beside(layouts, _Shelf()),
        _Beside(tables, _TableShelf()),
        _Beside(records, _RecordShelf()),
    )


def elaborated(
    source: Source,
    known: Mapping[str, Layout],
    tables: Mapping[str, Table] | None = None,
    records: Mapping[str, Record] | None = None,
) -> Module:
    """Return the layouts and claims of a text that may use those of the library by name.

    Raises:
        LayoutError: with every fault of the text.
    """
    from layoutdsl.language.elaborate.module import elaborate
    from layoutdsl.language.syntax import parser

    return elaborate(parser.parse(source), source.name, known, tables, records, operator_rules)


@cache
def operator_rules() -> tuple[OperatorRule, ...]:
    """Return what is known of operators without being told: those of ONNX."""
    from layoutdsl.language.elaborate.module import elaborate
    from layoutdsl.language.syntax import parser

    found: list[OperatorRule] = []
    for name, text in resources.operator_rules():
        engine = elaborate(parser.parse(Source(name, text)), name).engine
        found += () if engine is None else engine.rules
    return tuple(found)


def pick(module: Mapping[str, Layout], name: str, where: str = "here") -> Layout:
    """Return a layout by name; ``NCHWc<8>`` gives its parameters values, and is `NCHWc_8`.

    Raises:
        ValueError: there is none of that name.
    """
    applied = _WITH_ARGUMENTS.fullmatch(name)
    wanted = applied[1] if applied else name
    if wanted not in module:
        hint = unknown_name_help(wanted, module)
        if wanted in _record_families():
            hint = f"`{wanted}` is a record: `layoutdsl.library_record` returns it"
        elif wanted in _table_families():
            hint = f'`{wanted}` is a table: `layoutdsl.library_module()["{wanted}"]` returns it'
        raise UnknownNameError(f"there is no layout `{wanted}` {where}", hint)
    if applied is None:
        return module[name]
    made = "_".join([wanted, *re.findall(r"\w+", applied[2])])
    return elaborated(Source(name, f"layout {made} = {name}"), module).layouts[made]


def pick_table(tables: Mapping[str, Table], name: str) -> Table | None:
    """Return a table by name, its parameters perhaps given as in ``T<8>``; ``None`` if not there.

    Raises:
        LayoutError: the parameters do not fit.
    """
    wanted = _bare(name)
    if wanted not in tables or wanted == name.strip():
        return tables.get(wanted)
    claims = elaborated(Source(name, f"prove {name}"), {}, tables).table_claims
    return claims[0].table


def pick_record(records: Mapping[str, Record], name: str) -> Record | None:
    """Return a record by name, its parameters perhaps given as in ``T<8>``; ``None`` if not there.

    Raises:
        LayoutError: the parameters do not fit.
    """
    wanted = _bare(name)
    if wanted not in records or wanted == name.strip():
        return records.get(wanted)
    claims = elaborated(Source(name, f"prove {name}"), {}, {}, records).record_claims
    return claims[0].record


def library_record(name: str) -> Record:
    """Return a record of the library: several tensors in one buffer.

    >>> library_record("Q4_0").field_shapes((1, 64))
    {'d': (1, 2), 'q': (1, 64)}

    Raises:
        ValueError: the library has none of that name.
        TypeError: ``name`` is no text.
    """
    expect(name=(name, TEXT))
    found = pick_record(_RecordShelf(), name)
    if found is None:
        hint = unknown_name_help(_bare(name), _record_families())
        raise UnknownNameError(f"there is no record `{name}` in the library", hint)
    return found


def library_record_names() -> tuple[str, ...]:
    """Return the names of the library's records, family by family."""
    return tuple(_record_families())


def library(name: str) -> Layout:
    """Return a layout of the library.

    >>> library("NCHW16c").physical_shape((2, 20, 3, 4))
    (2, 2, 3, 4, 16)

    Raises:
        ValueError: the library has none of that name.
        TypeError: ``name`` is no text.
    """
    expect(name=(name, TEXT))
    return pick(_Shelf(), name, "in the library")


def find_layout(layout: Layout | str, argument: str = "layout") -> Layout:
    """Return a layout that a caller gave as a value or by its name in the library.

    Public functions call this helper, `find_record`, `find_layout_or_record` or `find_subject` for
    each such argument, so all of them take the same names.

    Args:
        layout: a layout, or a name such as ``NCHW16c`` or ``NCHWc<8>``.
        argument: the name of the argument, for messages.

    Raises:
        TypeError: the value is neither a layout nor a name.
        UnknownNameError: the library has no such name; suggests a similar one.
        ValueError: the name is that of a record or table.
        LayoutError: the parameters after the name do not fit.
    """
    found = find_subject(layout, argument, LAYOUT)
    assert isinstance(found, Layout)
    return found


def find_record(record: Record | str, argument: str = "record") -> Record:
    """Return a record that a caller gave as a value or by its name; see `find_layout`."""
    found = find_subject(record, argument, RECORD)
    assert isinstance(found, Record)
    return found


_LAYOUT_OR_RECORD = Kind(
    "a layout or a record", lambda v: LAYOUT.holds(v) or RECORD.holds(v), LAYOUT.help
)


def find_layout_or_record(
    subject: Layout | Record | str, argument: str = "layout"
) -> Layout | Record:
    """Return a layout or record that a caller gave as a value or by name; see `find_layout`."""
    found = find_subject(subject, argument, _LAYOUT_OR_RECORD)
    assert isinstance(found, Layout | Record)
    return found


_SUBJECT = Kind(
    "a layout, a record or a table",
    lambda v: isinstance(v, Layout | Record | Table),
    LAYOUT.help,
)


def find_subject(
    subject: Layout | Record | Table | str, argument: str, kind: Kind = _SUBJECT
) -> Layout | Record | Table:
    """Return a layout, record or table that a caller gave as a value or by name.

    Args:
        subject: the value, or a name of the library.
        argument: the name of the argument, for messages.
        kind: the kinds that the caller takes.

    Raises:
        TypeError, UnknownNameError, ValueError, LayoutError: as `find_layout` does.
    """
    if not isinstance(subject, str):
        named = Kind(f"{kind.words}, or the name of one", kind.holds, kind.help)
        expect(**{argument: (subject, named)})
        return subject
    found = _in_library(subject, argument, kind)
    if not kind.holds(found):
        other = type(found).__name__.lower()
        words = f"`{argument}` is `{subject}`, the name of a {other}, and has to be {kind.words}"
        raise ValueError(words)
    return found


def _in_library(name: str, argument: str, kind: Kind) -> Layout | Record | Table:
    bare = _bare(name).strip()
    if bare in _families():
        return pick(_Shelf(), name.strip(), "in the library")
    found = pick_record(_RecordShelf(), name) or pick_table(_TableShelf(), name)
    if found is not None:
        return found
    hint = unknown_name_help(bare, (*_families(), *_record_families(), *_table_families()))
    if hint is None:
        hint = "`layoutdsl.load` reads a file, `layoutdsl.parse` the text of one"
    given = shortened(name, _MOST_OF_A_NAME)
    wanted = kind.words.removeprefix("a ").replace(" a ", " ")
    words = f"`{argument}` is `{given}`, and the library has no {wanted} of that name"
    raise UnknownNameError(words, hint)


_MOST_OF_A_NAME = 40
"""Characters of a wrong name that a message quotes: a caller may give a whole source."""


def library_names() -> tuple[str, ...]:
    """Return the names of the library's layouts, family by family."""
    return tuple(_families())


def library_module() -> Module:
    """Return the whole library as one module, with its claims."""
    found = library_families()
    layouts = {name: layout for each in found for name, layout in each.layouts.items()}
    texts = {name: text for each in found for name, text in each.texts.items()}
    tables = {name: table for each in found for name, table in each.tables.items()}
    records = {name: record for each in found for name, record in each.records.items()}
    claims = tuple(c for each in found for c in each.claims)
    said = tuple(c for each in found for c in each.table_claims)
    held = tuple(c for each in found for c in each.record_claims)
    return Module("library", layouts, claims, texts, tables, said, None, records, held)


def library_families() -> tuple[Module, ...]:
    """Return the modules of the library, one per file; each is called as its file is."""
    return tuple(map(_family, dict.fromkeys(_texts())))


def family_of(name: str) -> Module:
    """Return the family that a layout, table or record belongs to; parameters may follow the name.

    Raises:
        ValueError: the library has none of that name.
    """
    wanted = _bare(name)
    if wanted in _table_families():
        return _family(_table_families()[wanted])
    if wanted in _record_families():
        return _family(_record_families()[wanted])
    if wanted not in _families():
        pick(_Shelf(), name, "in the library")
    return _family(_families()[wanted])


@cache
def declared(file: str) -> Module:
    """Return a family of the library without its claims, which are most of the work of reading it.

    Args:
        file: the name of the family's file, as `resources.library_families` gives it.
    """
    text = _CLAIMS.sub(lambda claim: "\n" * claim[0].count("\n"), _texts()[file] + "\n")
    return elaborated(Source(file, text), _Shelf())


def _bare(name: str) -> str:
    return re.split(r"\s*<", name, maxsplit=1)[0]


@cache
def _texts() -> Mapping[str, str]:
    return dict(resources.library_families())


@cache
def _families() -> Mapping[str, str]:
    """The file of each layout, read off the text without parsing it."""
    return {name: file for file, text in _texts().items() for name in _DECLARED.findall(text)}


@cache
def _table_families() -> Mapping[str, str]:
    """The file of each table, read off the text without parsing it."""
    return {name: file for file, text in _texts().items() for name in _TABLES.findall(text)}


@cache
def _record_families() -> Mapping[str, str]:
    """The file of each record, read off the text without parsing it."""
    return {name: file for file, text in _texts().items() for name in _RECORDS.findall(text)}


@cache
def _family(file: str) -> Module:
    return elaborated(Source(file, _texts()[file]), _Shelf())


class _Shelf(Mapping[str, Layout]):
    """The library by name; a family is read when one of its layouts is first asked for."""

    def __getitem__(self, name: str) -> Layout:
        return _family(_families()[name]).layouts[name]

    def __contains__(self, name: object) -> bool:
        return name in _families()

    def __iter__(self) -> Iterator[str]:
        return iter(_families())

    def __len__(self) -> int:
        return len(_families())

    def __bool__(self) -> bool:
        return True  # whoever asks whether there is a library must not make us read it


class _Beside(Mapping[str, _Found]):
    """What is known by name, and behind it a shelf."""

    def __init__(self, first: Mapping[str, _Found], shelf: Mapping[str, _Found]) -> None:
        self._first, self._shelf = first, shelf

    def __getitem__(self, name: str) -> _Found:
        return self._first[name] if name in self._first else self._shelf[name]

    def __contains__(self, name: object) -> bool:
        return name in self._first or name in self._shelf

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._first), **dict.fromkeys(self._shelf)})

    def __len__(self) -> int:
        return len(set(self._first) | set(self._shelf))

    def __bool__(self) -> bool:
        return True  # as a shelf


class _TableShelf(Mapping[str, Table]):
    """The library's tables by name; a family is read when one of them is first asked for."""

    def __getitem__(self, name: str) -> Table:
        return _family(_table_families()[name]).tables[name]

    def __contains__(self, name: object) -> bool:
        return name in _table_families()

    def __iter__(self) -> Iterator[str]:
        return iter(_table_families())

    def __len__(self) -> int:
        return len(_table_families())


class _RecordShelf(Mapping[str, Record]):
    """The library's records by name; a family is read when one of them is first asked for."""

    def __getitem__(self, name: str) -> Record:
        return _family(_record_families()[name]).records[name]

    def __contains__(self, name: object) -> bool:
        return name in _record_families()

    def __iter__(self) -> Iterator[str]:
        return iter(_record_families())

    def __len__(self) -> int:
        return len(_record_families())
