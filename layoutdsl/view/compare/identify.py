"""Which known layouts a layout is equal to, under whatever names and order of axes.

Of each known layout one of three things is said: it is equal, with a proof; it differs, with a
shape; or no difference was found and no proof either. Shapes are looked at first; what they do not
tell apart is asked of the prover, with as much time as `diff` gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, permutations, product
from math import prod
from typing import TypeAlias

from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.shapes import Values, in_range
from layoutdsl.language.offsets.axes import (
    Paired,
    Pairing,
    Unpaired,
    fixed_parameters,
    of_one_rank,
    over_same_axes,
    pairing,
)
from layoutdsl.language.offsets.cuts import all_numbers, numbers_of
from layoutdsl.proof.prover.check import check
from layoutdsl.proof.prover.verdict import Finding, Proved, Refuted, certificate_hash
from layoutdsl.view.compare.hints import MOST_AXES, axes_text
from layoutdsl.view.compare.offsets import (
    ELEMENTS,
    Mismatch,
    common,
    mismatch,
    same,
    telling_shapes,
)
from layoutdsl.view.compare.ranges import agreements, equality, is_single, proof
from layoutdsl.view.compare.seen import Apart, Match, Seen, Untold

MOST_PARAMETERS = 2
MOST_VARIANTS = 36
"""Parameters that are given numbers, and how many numbers are tried."""

MOST_SHAPES = 48
MOST_ELEMENTS = 5000
"""Shapes at which a layout is looked at for agreement in a range, and elements of one."""


Tell: TypeAlias = Callable[[str], None]


def identify(
    layout: Layout, known: Iterable[tuple[str, Layout]], progress: Tell | None = None
) -> Iterator[Match | Untold]:
    """Yield each known layout that is equal to ``layout``, in some range of shapes, or perhaps.

    Args:
        layout: what to look for.
        known: layouts with the names to call them.
        progress: told which one is looked at.
    """
    return (each for each in look(layout, known, progress) if not isinstance(each, Apart))


def look(
    layout: Layout, known: Iterable[tuple[str, Layout]], progress: Tell | None = None
) -> Iterator[Seen]:
    """Yield what is found of each known layout; several, where its parameters fit several ways.

    The arguments are those of `identify`.
    """
    tell = progress or (lambda _: None)
    for name, candidate in known:
        tell(f"looking at {name}")
        apart: list[Apart] = []
        found: list[Match | Untold] = []
        for variant, called in _variants(layout, candidate, name):
            for seen in _looked_at(layout, variant, called, tell):
                if isinstance(seen, Apart):
                    apart.append(seen)
                else:
                    found.append(seen)
        yield from found
        if not found:
            yield _all_apart(layout, candidate, name, apart)


def _all_apart(layout: Layout, candidate: Layout, name: str, apart: list[Apart]) -> Apart:
    """Put together how a known layout differs, whatever its parameters are."""
    if layout.rank != candidate.rank and all(each.mismatch is None for each in apart):
        reason = apart[0].reason if apart else f"they have {layout.rank} and {candidate.rank} axes"
        return Apart(name, reason, None, len(apart), complete=True)
    opened = bool(_open(layout, candidate))
    tried = sum(each.tried for each in apart)
    complete = not opened and all(each.complete for each in apart)
    first = next((each for each in apart if each.mismatch is not None), None)
    if first is None:
        reason = apart[0].reason if apart else "no number for its parameters was found"
        return Apart(name, reason, None, tried, complete)
    return Apart(name, None, first.mismatch, tried, complete)


def _looked_at(layout: Layout, candidate: Layout, name: str, tell: Tell) -> tuple[Seen, ...]:
    """Return what is found of one layout without parameters to choose."""
    matches: list[Match] = []
    untold: Untold | None = None
    first: Mismatch | None = None
    reason: str | None = None
    tried = 0
    for pair in _pairs(layout, candidate):
        tried += 1
        if isinstance(pair, Unpaired):
            reason = reason or str(pair)
            continue
        found = _difference(pair)
        if found is not None:
            first = first or found
            continue
        finding = _settled(pair, tell)
        if isinstance(finding, Proved):
            matches.append(_match(pair, name, finding))
            if not layout.symbols or set(matches[-1].where) == set(layout.where):
                break
        elif isinstance(finding, Refuted):
            first = first or _replayed(pair, finding)
            reason = reason or finding.example.sentence
        elif untold is None:
            untold = Untold(name, pair.pairing, _axes(pair), finding.reason)
    if matches:  # of several orders, the one that asks for least
        return (min(matches, key=lambda each: len(each.where)),)
    complete = max(layout.rank, candidate.rank) <= MOST_AXES
    apart = Apart(name, None if first else reason, first, tried, complete)
    perhaps = tuple(each for each in (_near(layout, candidate, name), untold) if each is not None)
    return perhaps or (apart,)


def _difference(pair: Paired) -> Mismatch | None:
    """Return where two layouts differ at one of the shapes that tell most, if they do."""
    shapes = telling_shapes(pair)
    found = (mismatch(pair.one, pair.other, values, ELEMENTS) for values in shapes)
    return next(filter(None, found), None)


def _replayed(pair: Paired, finding: Refuted) -> Mismatch | None:
    values = dict(finding.example.shape)
    if values.keys() != set(pair.one.symbols):
        return None
    return mismatch(pair.one, pair.other, values)


def _settled(pair: Paired, tell: Tell) -> Finding:
    """Return what comes of a quick proof, and if that fails, of one with more time."""
    finding = proof(pair)
    if isinstance(finding, Proved):
        return finding
    (finding,) = check(equality(pair), tell).findings
    return finding


def _match(pair: Paired, name: str, finding: Proved) -> Match:
    where = tuple(dict.fromkeys((*pair.fixed, *pair.where)))
    certificate = certificate_hash(finding)
    return Match(name, pair.pairing, _axes(pair), where, (), certificate, finding.queries)


def _open(layout: Layout, candidate: Layout) -> tuple[str, ...]:
    return tuple(each for each in candidate.parameters if each not in layout.parameters)


def _variants(layout: Layout, candidate: Layout, name: str) -> Iterator[tuple[Layout, str]]:
    """Yield the candidate with numbers for its parameters, those by which the layout is cut."""
    names = _open(layout, candidate)
    if not names or len(names) > MOST_PARAMETERS:
        yield candidate, name
        return
    for values in islice(product(all_numbers(layout), repeat=len(names)), MOST_VARIANTS):
        given = dict(zip(names, values, strict=True))
        shown = ", ".join(str(given.get(each, each)) for each in candidate.parameters)
        try:
            yield fixed_parameters(candidate, given), f"{name}<{shown}>"
        except Unpaired:
            continue


def _pairs(layout: Layout, candidate: Layout) -> Iterator[Paired | Unpaired]:
    """Yield both layouts over the same axes, or why no shape is one of both.

    First as `diff` pairs their axes, then in every other order, unless there are too many.
    """
    try:
        one, other, left_out = of_one_rank(layout, candidate)
    except Unpaired as reason:
        yield reason
        return
    usual = pairing(one, other, None)
    names = [axis.name for axis in one.axes]
    orders = permutations(second for _, second in usual.pairs)
    for order in islice(orders, None if one.rank <= MOST_AXES else 1):
        pairs = tuple(zip(names, order, strict=True))
        how = usual.how if pairs == usual.pairs else "given"
        try:
            yield over_same_axes(one, other, Pairing(pairs, how, left_out))
        except Unpaired as reason:
            yield reason


def _axes(pair: Paired) -> str | None:
    usual = pairing(*pair.originals, None)
    if usual.pairs == pair.pairing.pairs:
        return None
    return axes_text(*pair.originals, pair.pairing.pairs, usual)


def _near(layout: Layout, candidate: Layout, name: str) -> Match | None:
    """Return the range in which the two agree, where it asks for no axis of one element."""
    shapes: tuple[Values, ...] = ()
    for pair in _pairs(layout, candidate):
        if isinstance(pair, Unpaired) or not pair.one.symbols:
            continue
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
