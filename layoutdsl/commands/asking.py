"""What is asked of a pass over a model: one text that an engine and all wishes are read from.

A preference of the caller is one more line of the engine's text. So it is refused as that text
would be, and what was asked can be read again from the text alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias

from layoutdsl.graphs.engine_text import ENDING, engine_called, engine_in, engine_names
from layoutdsl.language.declaration import declaration
from layoutdsl.language.elaborate import shelf
from layoutdsl.language.meaning.arguments import Kind, expect
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.module import Module
from layoutdsl.language.meaning.operator import Engine

Named: TypeAlias = str | Layout
"""A layout, or its name in the text of the engine or in the library."""

ENGINE = Kind(
    "an engine, the name of one, or a path", lambda v: isinstance(v, str | PathLike | Engine)
)
PREFERENCES = Kind(
    "a mapping of operators to layouts, or several for each",
    lambda v: (
        isinstance(v, Mapping)
        and all(isinstance(name, str) and _are_layouts(each) for name, each in v.items())
    ),
)
ENDS = Kind(
    "a mapping of names to layouts",
    lambda v: (
        isinstance(v, Mapping)
        and all(isinstance(n, str) and isinstance(each, str | Layout) for n, each in v.items())
    ),
)


def _are_layouts(value: object) -> bool:
    if isinstance(value, tuple | list):
        return bool(value) and all(isinstance(each, str | Layout) for each in value)
    return isinstance(value, str | Layout)


@dataclass(frozen=True)
class Asked:
    """What is asked of a pass.

    Attributes:
        engine: rules, kernels and preferences.
        inputs: layouts in which the caller gives values, by their names.
        outputs: layouts in which the caller takes them.
        layouts: that give placings their names, those first that are preferred.
        names: what the layouts of inputs and of outputs are called in the text.
    """

    engine: Engine
    inputs: Mapping[str, Layout]
    outputs: Mapping[str, Layout]
    layouts: tuple[Layout, ...]
    names: tuple[Mapping[str, str], Mapping[str, str]]


def asked(
    engine: str | PathLike[str] | Engine | None,
    prefer: Mapping[str, Named | Sequence[Named]] | None,
    inputs: Mapping[str, Named] | None,
    outputs: Mapping[str, Named] | None,
) -> Asked:
    """Return what is asked.

    Args:
        engine: one that comes along, by its name, a text by its path, or one that was loaded.
        prefer: layouts of operators, which come before what the engine prefers.
        inputs: how the caller gives inputs.
        outputs: how the caller takes outputs.

    Raises:
        LayoutError: the text is at fault, or what is preferred does not fit an operator.
        ValueError: there is no such layout or engine.
        OSError: the text cannot be read.
    """
    expect(engine=(engine, ENGINE.or_none()), prefer=(prefer, PREFERENCES.or_none()))
    expect(inputs=(inputs, ENDS.or_none()), outputs=(outputs, ENDS.or_none()))
    preferred = {each: _several(few) for each, few in (prefer or {}).items()}
    given, taken = inputs or {}, outputs or {}
    text, name = _text(engine)
    shelf.parse(text, name)  # its own faults are told of it alone
    every = [layout for each in preferred.values() for layout in each]
    own = list(_declared([*every, *given.values(), *taken.values()]))
    lines = [f"prefer {each} = {', '.join(map(_name, few))}" for each, few in preferred.items()]
    ends = ({each: _name(layout) for each, layout in end.items()} for end in (given, taken))
    return read_asked("\n".join([*own, *lines, text]), *ends)


def read_asked(text: str, inputs: Mapping[str, str], outputs: Mapping[str, str]) -> Asked:
    """Return what a text asks, and the layouts that names stand for.

    Raises:
        LayoutError: the text is at fault.
        ValueError: there is no such layout.
    """
    module = shelf.parse(text, "<asked>")
    engine = replace(engine_in(module), text=text)
    given = {each: _layout(module, name) for each, name in inputs.items()}
    taken = {each: _layout(module, name) for each, name in outputs.items()}
    layouts = tuple(_layouts(engine, [*given.values(), *taken.values()]))
    return Asked(engine, given, taken, layouts, (inputs, outputs))


def _text(engine: str | PathLike[str] | Engine | None) -> tuple[str, str]:
    """The text of an engine, and what it is called."""
    match engine:
        case None:
            return "", "<none>"
        case Engine():
            if not engine.text and engine != Engine():
                raise ValueError("the engine has no text; `layoutdsl.load_engine` reads one")
            return engine.text, "<engine>"
        case str() if engine in engine_names():
            return engine_called(engine).text, f"{engine}{ENDING}"
    place = fspath(engine)
    if isinstance(engine, str) and "/" not in place and not place.endswith(ENDING):
        engine_called(place)  # says which there are
    return Path(place).read_text(encoding="utf-8-sig"), place


def _several(layouts: Named | Sequence[Named]) -> tuple[Named, ...]:
    return (layouts,) if isinstance(layouts, str | Layout) else tuple(layouts)


def _declared(layouts: Iterable[Named]) -> Iterator[str]:
    """Declarations of layouts that were given themselves, each once; the library has the others."""
    known = shelf.library_names()
    found = {each.name: each for each in layouts if isinstance(each, Layout)}
    for name, layout in found.items():
        if name not in known or shelf.library(name) != layout:
            yield declaration(layout)


def _name(layout: Named) -> str:
    return layout if isinstance(layout, str) else layout.name


def _layout(module: Module, name: str) -> Layout:
    """A layout of the text, or of the library."""
    bare = name.partition("<")[0].strip()
    if bare in module.layouts:
        return shelf.pick(module.layouts, name)
    return shelf.library(name)


def _layouts(engine: Engine, ends: Iterable[Layout]) -> Iterator[Layout]:
    found = [layout for each in engine.preferences for layout in each.layouts]
    found += ends
    for kernel in engine.kernels:
        found += [*kernel.operands.values(), *kernel.results]
    yield from dict.fromkeys(found)
