"""What one has to do to one of two layouts to get the other: the mistakes that are made often.

Each hint was tried at several shapes; `proved` says whether it holds for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TypeAlias

from layoutdsl.language.integers.bounds import ZERO, simplify
from layoutdsl.language.integers.digit import opened, read
from layoutdsl.language.integers.digit import same as same_extent
from layoutdsl.language.integers.expr import (
    Coordinate,
    coordinate_text,
    text,
)
from layoutdsl.language.meaning.application import offset_of
from layoutdsl.language.meaning.claims import Claim, EqualsFormula
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import size_expr
from layoutdsl.language.offsets.axes import Paired, Pairing, Unpaired, over_same_axes, pairing
from layoutdsl.language.offsets.maps import first_difference
from layoutdsl.proof.prover.check import attempt
from layoutdsl.proof.prover.verdict import Proved
from layoutdsl.view.compare.lanes import LanesPermuted, lanes
from layoutdsl.view.compare.offsets import RAGGED, Mismatch, ragged, same
from layoutdsl.view.compare.ranges import proof

MOST_AXES = 6
"""Layouts of more axes are not tried under all permutations."""


@dataclass(frozen=True, slots=True)
class AxesPermuted:
    """The layouts are equal where other axes are taken for each other; ``axes`` says which."""

    pairs: tuple[tuple[str, str], ...]
    axes: str
    proved: bool

    kind = "axes"


@dataclass(frozen=True, slots=True)
class CoordinatesReordered:
    """Both have the same coordinates, most major first, in different orders."""

    one: tuple[str, ...]
    other: tuple[str, ...]
    proved: bool = True

    kind = "coordinates"

    @property
    def exchanged(self) -> tuple[str, str] | None:
        """The two coordinates that changed places, where no others did."""
        moved = [pair for pair in zip(self.one, self.other, strict=True) if pair[0] != pair[1]]
        return moved[0] if len(moved) == 2 else None


@dataclass(frozen=True, slots=True)
class OnlySizes:
    """Every element lies at the same offset; only the buffers are of different sizes."""

    one: str
    other: str
    proved: bool

    kind = "sizes"


@dataclass(frozen=True, slots=True)
class OnlyStarts:
    """The layouts are equal but for where they start."""

    one: str
    other: str
    proved: bool

    kind = "starts"


Hint: TypeAlias = AxesPermuted | CoordinatesReordered | LanesPermuted | OnlySizes | OnlyStarts


def hints(pair: Paired, found: Mismatch) -> tuple[Hint, ...]:
    """Return how one of two different layouts is made the other."""
    if found.index is None:
        return tuple(_only_sizes(pair))
    starts = tuple(_only_starts(pair))
    if starts:
        return starts
    return (*axes_permuted(pair), *(tuple(_reordered(pair)) or lanes(pair)))


def axes_permuted(pair: Paired) -> Iterator[AxesPermuted]:
    """Yield the permutation that moves fewest axes and makes both layouts equal, if one does."""
    one, other = pair.originals
    if one.rank > MOST_AXES:
        return
    names = tuple(second for _, second in pair.pairing.pairs)
    orders = sorted(permutations(names), key=lambda order: _moved(names, order))
    for order in orders[1:]:
        pairs = tuple(zip((axis.name for axis in one.axes), order, strict=True))
        turned = _turned(pair, Pairing(pairs, "given", pair.pairing.left_out))
        if turned is not None and alike(turned):
            proved = isinstance(proof(turned), Proved)
            yield AxesPermuted(pairs, axes_text(one, other, pairs, pair.pairing), proved)
            return


def _moved(names: tuple[str, ...], order: tuple[str, ...]) -> int:
    return sum(1 for one, other in zip(names, order, strict=True) if one != other)


def _turned(pair: Paired, chosen: Pairing) -> Paired | None:
    try:
        turned = over_same_axes(*pair.originals, chosen)
    except Unpaired:
        return None
    return turned if len(turned.fixed) <= len(pair.fixed) else None


def alike(pair: Paired) -> bool:
    """Return whether two layouts agree at a few telling shapes, of which there is one."""
    found = None
    for values in ragged(pair):
        found = values
        if not same(pair.one, pair.other, values):
            return False
    return found is not None


def axes_text(
    one: Layout,
    other: Layout,
    pairs: tuple[tuple[str, str], ...],
    usual: Pairing | None = None,
) -> str:
    """Return what ``--axes`` is given for these pairs: those that change, or all."""
    before = set() if usual is None else set(usual.pairs)
    changed = ",".join(f"{a}={b}" for a, b in pairs if (a, b) not in before)
    if changed and pairing(one, other, changed).pairs == pairs:
        return changed
    return ",".join(b for _, b in pairs)


def _only_sizes(pair: Paired) -> Iterator[OnlySizes]:
    for values in ragged(pair):
        if first_difference(pair.one, pair.other, values, RAGGED) is not None:
            return
    where = tuple(each for each in pair.other.where if each not in pair.one.where)
    claim = Claim("prove", pair.one, EqualsFormula(offset_of(pair.other)), where)
    proved = isinstance(attempt(claim), Proved)
    yield OnlySizes(_size(pair.one), _size(pair.other), proved)


def _size(layout: Layout) -> str:
    return text(simplify(size_expr(layout)))


def _only_starts(pair: Paired) -> Iterator[OnlyStarts]:
    one, other = pair.one.start, pair.other.start
    if same_extent(one, other):
        return
    moved = replace(pair, one=replace(pair.one, start=ZERO), other=replace(pair.other, start=ZERO))
    if alike(moved):
        yield OnlyStarts(text(one), text(other), isinstance(proof(moved), Proved))


def _reordered(pair: Paired) -> Iterator[CoordinatesReordered]:
    one, other = (opened(each.coordinates) for each in (pair.one, pair.other))
    keys = [[_key(each) for each in every] for every in (one, other)]
    alike = sorted(keys[0]) == sorted(keys[1]) and pair.one.start == pair.other.start
    if alike and keys[0] != keys[1]:
        spelled = dict(zip(keys[0], map(coordinate_text, one), strict=True))
        first, second = (tuple(spelled[key] for key in every) for every in keys)
        yield CoordinatesReordered(first, second)


def _key(coordinate: Coordinate) -> tuple[str, str]:
    """What two coordinates have in common that mean the same: ``c%16/4`` and ``c/4%4``."""
    digit = read(coordinate.value)
    extent = text(simplify(coordinate.extent))
    if digit is None:
        return text(coordinate.value), extent
    radix = "" if digit.radix is None else text(simplify(digit.radix))
    return f"{text(digit.whole)} {text(simplify(digit.divisor))} {radix}", extent
