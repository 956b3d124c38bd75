"""Texts and layouts that several tests look at."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod
from pathlib import Path

import numpy as np

from layoutdsl import Diagnostic, Layout, LayoutError, Module
from layoutdsl.language.elaborate.module import elaborate
from layoutdsl.language.elaborate.shelf import operator_rules
from layoutdsl.language.integers.expr import (
    CeilDiv,
    Constant,
    Extent,
    FloorDiv,
    Index,
    Mod,
    indices,
    walk,
)
from layoutdsl.language.syntax.parser import parse
from layoutdsl.language.texts import resources
from layoutdsl.language.texts.source import Source

HERE = Path(__file__).parents[1]
GOLDEN = HERE / "golden"


def module(text: str, known: dict[str, Layout] | None = None, name: str = "demo.layout") -> Module:
    return elaborate(parse(Source(name, text)), name, known, operators=operator_rules)


def layout(text: str) -> Layout:
    """The last layout of the text."""
    return list(module(text).layouts.values())[-1]


def coordinates(body: str, axes: str) -> Layout:
    return layout(f"layout Demo({axes}) = [{body}]")


def message(text: str, known: dict[str, Layout] | None = None) -> str:
    """The whole rendered text of what is wrong, or an empty one."""
    try:
        module(text, known)
    except LayoutError as error:
        return str(error)
    return ""


def said(text: str, known: dict[str, Layout] | None = None) -> tuple[Diagnostic, ...]:
    """What is wrong with a text; where nothing is, what it hardly means."""
    try:
        found = module(text, known).warnings
    except LayoutError as error:
        return error.diagnostics
    return tuple(each for about in found.values() for each in about)


LIBRARY_MODULES = tuple(module(text, name=name) for name, text in resources.library_families())
LIBRARY = {each.name: each for found in LIBRARY_MODULES for each in found.layouts.values()}
EXAMPLES = dict(module((HERE / "layouts/examples.layout").read_text(encoding="utf-8")).layouts)
EVERY = {**LIBRARY, **EXAMPLES}
DOMAINS = dict(module((HERE / "layouts/domains.layout").read_text(encoding="utf-8")).layouts)


def refusal(read: Callable[..., object], *given: str) -> tuple[str, int]:
    """The code of the one fault for which a text is refused, and the column that it points at."""
    try:
        read(*given)
    except LayoutError as refused:
        (found,) = refused.diagnostics
        span = found.primary.span
        return found.code, span.source.place(span.start)[1]
    raise AssertionError(f"{given} is read")


def blocks(layout: Layout, axis: str) -> set[int]:
    """The numbers by which the axis is cut."""
    found = set()
    for coordinate in layout.coordinates:
        for part in walk(coordinate.value):
            if (
                isinstance(part, FloorDiv | Mod)
                and axis in indices(part.left)
                and isinstance(part.right, Constant)
            ):
                found.add(part.right.value)
    return found


def defined(layout: Layout, choices: list[list[int]]) -> list[dict[str, int]]:
    """The bound values of every choice for which the layout is defined."""
    found = []
    for values in product(*choices):
        try:
            found.append(layout.bind(dict(zip(layout.symbols, values, strict=True))))
        except ValueError:
            continue
    return found


def edge_shapes(layout: Layout, most: int = 400_000) -> list[dict[str, int]]:
    """Shapes around every block, as many as hold ``most`` elements in all, the smallest first."""
    found = defined(layout, [_edges(layout, name) for name in layout.symbols])
    found.sort(key=lambda values: prod(layout.shape_of(values)))
    left, kept = most, []
    step = max(1, sum(prod(layout.shape_of(each)) for each in found) // most)
    for number, values in enumerate(found):
        if number % step == 0:
            left -= prod(layout.shape_of(values))
            kept.append(values)
    return kept


def _edges(layout: Layout, name: str) -> list[int]:
    if layout.parameters:
        return [1, 2, 3, 5, 9] if name in layout.parameters else [1, 2, 4, 7]
    edges = {1, 2, 3, 4}
    for axis in layout.axes:
        if axis.extent == Extent(name):
            for block in {*blocks(layout, axis.name), *_padded_to(layout, name)}:
                edges |= {block - 1, block, block + 1, 2 * block + 1} - {0}
                edges |= {2 * block} if layout.where else set()
    return sorted(edges)


def _padded_to(layout: Layout, name: str) -> set[int]:
    """The numbers to which declared extents round this one up."""
    parts = (part for coordinate in layout.coordinates for part in walk(coordinate.extent))
    rounded = [part for part in parts if isinstance(part, CeilDiv) and part.left == Extent(name)]
    return {part.right.value for part in rounded if isinstance(part.right, Constant)}


def small_extents(layout: Layout) -> list[range]:
    """1 to 5 for each extent, and 1 to 40 along axes that are cut into blocks."""
    cut = {
        axis.extent.name
        for axis in layout.axes
        if isinstance(axis.extent, Extent) and blocks(layout, axis.name)
    }
    return [range(1, 41 if name in cut else 6) for name in layout.symbols]


def small_shapes(layout: Layout) -> list[dict[str, int]]:
    """Every shape of small extents for which the layout is defined."""
    return defined(layout, [list(each) for each in small_extents(layout)])


def every_index(layout: Layout, values: dict[str, int]) -> dict[str, np.ndarray]:
    """Each axis with the index along it, of every element in row-major order."""
    grids = np.indices(layout.shape_of(values), dtype=np.int64)
    found = {axis.name: grid.ravel() for axis, grid in zip(layout.axes, grids, strict=True)}
    for condition in layout.domain:
        held = condition.holds({**values, **found})
        found = {name: index[held] for name, index in found.items()}
    return found


def names(layout: Layout) -> dict[str, Index | Extent]:
    """What each name of a printed formula stands for."""
    symbols = {name: Extent(name) for name in layout.symbols}
    return {**symbols, **{axis.name: Index(axis.name) for axis in layout.axes}}
