"""Which known layouts a layout is equal to, under whatever names and order of axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, permutations, product
from math import prod

from layoutdsl.compare.axes import (
    Paired,
    Pairing,
    Unpaired,
    fixed_parameters,
    over_same_axes,
    paired,
)
from layoutdsl.compare.cuts import numbers_of
from layoutdsl.compare.hints import MOST_AXES, alike, axes_text
from layoutdsl.compare.offsets import common, same
from layoutdsl.compare.ranges import Agreement, agreements, is_single, proof
from layoutdsl.model import Condition, Layout
from layoutdsl.prove.shapes import Values, in_range
from layoutdsl.prove.verdict import Proved, certificate_hash

MOST_PARAMETERS = 2
MOST_VARIANTS = 12
"""Parameters that are given numbers, and how many numbers are tried."""

MOST_SHAPES = 48
MOST_ELEMENTS = 5000
"""Shapes at which a layout is looked at for agreement in a range, and elements of one."""


@dataclass(frozen=True, slots=True)
class Match:
    """A known layout that is equal to the one asked about.

    Attributes:
        name: of the known layout, with its parameters: ``NCHWc<8>``.
        pairing: which of its axes are which.
        axes: what ``--axes`` of ``diff`` is given, where names and order do not do.
        where: the shapes for which both are defined, where one of them is not for all.
        agreements: ranges in which they are equal, where they are not for all shapes.
    """

    name: str
    pairing: Pairing
    axes: str | None
    where: tuple[Condition, ...]
    agreements: tuple[Agreement, ...]
    certificate: str = ""
    queries: int = 0

    @property
    def everywhere(self) -> bool:
        """Whether the layouts are equal wherever both are defined."""
        return not self.agreements


def identify(
    layout: Layout,
    known: Iterable[tuple[str, Layout]],
    progress: Callable[[str], None] | None = None,
) -> Iterator[Match]:
    """Yield each known layout that is equal to ``layout``, or is in some range of shapes.

    Args:
        layout: what to look for.
        known: layouts with the names to call them.
        progress: told which one is looked at.
    """
    tell = progress or (lambda _: None)
    for name, candidate in known:
        tell(f"looking at {name}")
        found = None
        for variant, called in _variants(layout, candidate, name):
            found = _equal(layout, variant, called) or _near(layout, variant, called)
            if found is not None:
                yield found


def _variants(layout: Layout, candidate: Layout, name: str) -> Iterator[tuple[Layout, str]]:
    """Yield the candidate with numbers for its parameters, those by which the layout is cut."""
    names = tuple(each for each in candidate.parameters if each not in layout.parameters)
    if not names or len(names) > MOST_PARAMETERS:
        yield candidate, name
        return
    numbers = sorted({each for cuts in numbers_of(layout).values() for each in cuts} - {1})
    for values in islice(product(numbers, repeat=len(names)), MOST_VARIANTS):
        given = dict(zip(names, values, strict=True))
        shown = ", ".join(str(given.get(each, each)) for each in candidate.parameters)
        try:
            yield fixed_parameters(candidate, given), f"{name}<{shown}>"
        except Unpaired:
            continue


def _pairs(layout: Layout, candidate: Layout) -> Iterator[Paired]:
    """Yield both layouts over the same axes: as `diff` pairs them, then in every other order."""
    try:
        first = paired(layout, candidate)
    except Unpaired:
        return
    yield first
    if first.originals[0].rank > MOST_AXES:
        return
    names = [axis.name for axis in first.originals[0].axes]
    for order in permutations(second for _, second in first.pairing.pairs):
        pairs = tuple(zip(names, order, strict=True))
        if pairs == first.pairing.pairs:
            continue
        try:
            turned = Pairing(pairs, "given", first.pairing.left_out)
            yield over_same_axes(*first.originals, turned)
        except Unpaired:
            continue


def _equal(layout: Layout, candidate: Layout, name: str) -> Match | None:
    for pair in _pairs(layout, candidate):
        if not alike(pair):
            continue
        finding = proof(pair)
        if isinstance(finding, Proved):
            where = tuple(dict.fromkeys((*pair.fixed, *pair.where)))
            axes = _axes(pair)
            return Match(
                name, pair.pairing, axes, where, (), certificate_hash(finding), finding.queries
            )
    return None


def _axes(pair: Paired) -> str | None:
    usual = paired(*pair.originals).pairing
    if usual.pairs == pair.pairing.pairs:
        return None
    return axes_text(*pair.originals, pair.pairing.pairs, usual)


def _near(layout: Layout, candidate: Layout, name: str) -> Match | None:
    """Return the range in which the two agree, where it asks for no axis of one element."""
    shapes: tuple[Values, ...] = ()
    for pair in _pairs(layout, candidate):
        shapes = shapes or tuple(_wide(common(pair)))
        if not _ever_alike(pair, shapes):
            continue
        found = tuple(
            each for each in agreements(pair).proved if not any(map(is_single, each.conditions))
        )
        if found:
            where = tuple(dict.fromkeys((*pair.fixed, *pair.where)))
            return Match(name, pair.pairing, _axes(pair), where, found)
    return None


def _ever_alike(pair: Paired, shapes: tuple[Values, ...]) -> bool:
    symbols = set(pair.one.symbols)
    return any(
        same(pair.one, pair.other, values)
        for values in shapes
        if symbols == values.keys() and in_range(pair.one, values) and in_range(pair.other, values)
    )


def _wide(both: Layout) -> Iterator[Values]:
    """Yield shapes whose extents are two, three, and blocks of either layout."""
    blocks = sorted({each for found in numbers_of(both).values() for each in found} - {1})
    choices = [2, *blocks[-4:], 3]
    boxes = sorted(islice(product(choices, repeat=len(both.symbols)), 4000), key=prod)
    shapes = [dict(zip(both.symbols, box, strict=True)) for box in boxes]
    found = [values for values in shapes if prod(both.shape_of(values)) <= MOST_ELEMENTS]
    yield from found[:: max(1, len(found) // MOST_SHAPES)]
