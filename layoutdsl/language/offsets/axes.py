"""Which axis of one layout is which of another, and both over the same axes and extents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from layoutdsl.language.integers.bounds import ONE, ZERO, simplify
from layoutdsl.language.integers.expr import (
    Constant,
    Expr,
    Extent,
    Index,
    substitute,
)
from layoutdsl.language.meaning.arguments import Kind, expect
from layoutdsl.language.meaning.model import Axis, Condition, Layout, instantiate
from layoutdsl.language.meaning.parameters import constants

Axes: TypeAlias = str | Sequence[str] | Mapping[str, str]
"""``n=b, h=y``: axes of the first layout with those of the second; or all of the second's."""

_AXES = Kind(
    "names of axes: `n=b, h=y`, or all of the second layout's",
    lambda value: isinstance(value, list | tuple | str) and all(isinstance(e, str) for e in value),
)


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which axes are compared: pairs of names, in the order of the first layout.

    ``how`` says where the pairs come from: all names are the same, else the order, else the caller.
    ``left_out`` are axes of one element that only one layout has.
    """

    pairs: tuple[tuple[str, str], ...]
    how: Literal["name", "position", "given"]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Paired:
    """Two layouts over the same axes and extents, those of the first.

    Attributes:
        one: the first layout.
        other: the second, its axes and extents renamed.
        originals: both, their axes and extents as they were given.
        fixed: what the extents of one layout ask of those of the other: ``Y == 3``.
    """

    one: Layout
    other: Layout
    pairing: Pairing
    originals: tuple[Layout, Layout]
    fixed: tuple[Condition, ...] = ()

    @property
    def where(self) -> tuple[Condition, ...]:
        """The shapes for which both are defined, beyond `fixed`."""
        return tuple(dict.fromkeys((*self.one.where, *self.other.where)))


class Unpaired(ValueError):  # noqa: N818  an answer, not an error of ours
    """No shape is one of both layouts; says why."""


def paired(one: Layout, other: Layout, axes: Axes | None = None) -> Paired:
    """Return two layouts over the same axes.

    Raises:
        Unpaired: they have different numbers of axes, or no common extents.
        ValueError: ``axes`` names what there is not.
    """
    one, other, left_out = of_one_rank(one, other)
    chosen = pairing(one, other, axes)
    return over_same_axes(one, other, replace(chosen, left_out=left_out))


def of_one_rank(one: Layout, other: Layout) -> tuple[Layout, Layout, tuple[str, ...]]:
    """Return both layouts with as many axes, and which axes of one element were left out for it.

    Those that only one layout has are left out first.

    Raises:
        Unpaired: there are not so many axes of one element.
    """
    if one.rank == other.rank:
        return one, other, ()
    longer, least = (one, other.rank) if one.rank > other.rank else (other, one.rank)
    single = [axis.name for axis in longer.axes if axis.extent == ONE]
    known = {axis.name for axis in (other if longer is one else one).axes}
    single.sort(key=lambda name: name in known)
    single = single[: longer.rank - least]
    if longer.rank - len(single) != least:
        raise Unpaired(f"they have {one.rank} and {other.rank} axes")
    shorter = _without(longer, single)
    return (shorter, other, tuple(single)) if longer is one else (one, shorter, tuple(single))


def _without(layout: Layout, names: Sequence[str]) -> Layout:
    return _substituted(layout, dict.fromkeys(names, ZERO))


def pairing(one: Layout, other: Layout, axes: Axes | None) -> Pairing:
    """Return which axes are compared: as asked, or by name, or by position.

    What ``axes`` leaves out goes by name where the rest has the same names, else by position, axes
    of copies among each other.

    Raises:
        ValueError: ``axes`` names what there is not, or an axis twice.
    """
    left, right = (tuple(axis.name for axis in each.axes) for each in (one, other))
    given = {} if axes is None else _given(axes, left, right)
    for kind, name, known in (
        *(("first", a, left) for a in given),
        *(("second", b, right) for b in given.values()),
    ):
        if name not in known:
            raise ValueError(f"the {kind} layout has no axis `{name}`; it has {', '.join(known)}")
    if len(set(given.values())) < len(given):
        raise ValueError("an axis of the second layout is named twice")
    rest_left = [name for name in left if name not in given]
    rest_right = [name for name in right if name not in given.values()]
    by_name = set(rest_left) == set(rest_right)
    if not by_name:
        rest_left.sort(key=lambda name: name in one.copies)
        rest_right.sort(key=lambda name: name in other.copies)
    rest = rest_left if by_name else rest_right
    found = given | dict(zip(rest_left, rest, strict=True))
    how: Literal["name", "position", "given"] = "name" if by_name else "position"
    return Pairing(tuple((name, found[name]) for name in left), how if not given else "given")


def _given(axes: Axes, left: Sequence[str], right: Sequence[str]) -> dict[str, str]:
    if isinstance(axes, Mapping):
        return dict(axes)
    expect(axes=(axes, _AXES))
    words = [each.strip() for each in (axes.split(",") if isinstance(axes, str) else axes)]
    if not all("=" in each for each in words):
        if any("=" in each for each in words):
            raise ValueError("axes are either pairs, `n=b, h=y`, or all of the second layout's")
        if len(words) != len(left):
            raise ValueError(f"there are {len(left)} axes, and {len(words)} are named")
        return dict(zip(left, words, strict=True))
    found: dict[str, str] = {}
    for each in words:
        name, _, second = (part.strip() for part in each.partition("="))
        if name in found:
            raise ValueError(f"axis `{name}` is named twice")
        if name not in left and name in right and second in left:
            raise ValueError(f"in `{each}` the first layout's axis comes first: `{second}={name}`")
        found[name] = second
    return found


def over_same_axes(one: Layout, other: Layout, pairing: Pairing) -> Paired:
    """Return both layouts over the axes of the first, in the shapes that both have.

    Raises:
        Unpaired: an extent is one number in the first, another in the second; or elements have
            copies along an axis of one, and none along that of the other.
    """
    for name, theirs in pairing.pairs:
        if (name in one.copies) != (theirs in other.copies):
            copied, whole = (name, theirs) if name in one.copies else (theirs, name)
            raise Unpaired(f"`{copied}` counts copies of an element, and `{whole}` elements")
    second = {axis.name: axis for axis in other.axes}
    originals = one, other
    other = _renamed_apart(one, other)
    narrowed: dict[str, Expr] = {}
    mine: dict[str, Expr] = {}
    fixed: list[Condition] = []
    for name, theirs in pairing.pairs:
        axis = next(each for each in one.axes if each.name == name)
        extent = substitute(axis.extent, narrowed)
        match second[theirs].extent:
            case Extent(symbol) if symbol not in mine:
                if isinstance(axis.extent, Constant):
                    fixed.append(Condition(Extent(name.upper()), "==", axis.extent))
                else:
                    alike = (each for each, value in mine.items() if value == extent)
                    fixed += [Condition(Extent(each), "==", Extent(symbol)) for each in alike]
                mine[symbol] = extent
                continue
            case Extent(symbol):
                wanted = substitute(mine[symbol], narrowed)
            case Constant() as wanted:
                pass
        _unify(name, extent, wanted, narrowed, fixed)
    values: dict[str, Expr] = {theirs: Index(name) for name, theirs in pairing.pairs}
    values |= {symbol: substitute(extent, narrowed) for symbol, extent in mine.items()}
    one = _substituted(one, narrowed)
    other = replace(_substituted(other, values), axes=one.axes, copies=one.copies)
    parameters = tuple(dict.fromkeys((*one.parameters, *other.parameters)))
    one, other = (replace(each, parameters=parameters) for each in (one, other))
    return Paired(one, other, pairing, originals, tuple(dict.fromkeys(fixed)))


def with_copies_of(one: Layout, other: Layout, pairing: Pairing) -> tuple[Layout, Layout, Pairing]:
    """Return both layouts, the first as if it had the second's copies, and which axes are which.

    Args:
        one: without copies.
        other: perhaps with some.
        pairing: of the axes of tensors.
    """
    taken = {axis.name for axis in one.axes}
    axes, pairs = list(one.axes), list(pairing.pairs)
    for axis in [each for each in other.axes if each.name in other.copies]:
        name = axis.name
        while name in taken or name.upper() in one.symbols:
            name += "_"
        taken.add(name)
        fixed = isinstance(axis.extent, Constant)
        axes.append(Axis(name, axis.extent if fixed else Extent(name.upper())))
        pairs.append((name, axis.name))
    copies = tuple(axis.name for axis in axes[one.rank :])
    longer = replace(one, axes=tuple(axes), copies=copies)
    return longer, other, Pairing(tuple(pairs), pairing.how)


def _unify(
    name: str,
    extent: Expr,
    wanted: Expr,
    narrowed: dict[str, Expr],
    fixed: list[Condition],
) -> None:
    """Narrow the first layout until an extent of it is what the second one asks for."""
    match extent, wanted:
        case _ if extent == wanted:
            return
        case Constant(mine), Constant(theirs):
            raise Unpaired(f"axis `{name}` has {mine} elements in one, {theirs} in the other")
        case Extent(symbol), _:
            fixed.append(Condition(extent, "==", wanted))
            narrowed |= {key: substitute(each, {symbol: wanted}) for key, each in narrowed.items()}
            narrowed[symbol] = wanted
        case _, Extent(symbol):
            fixed.append(Condition(wanted, "==", extent))
            narrowed |= {key: substitute(each, {symbol: extent}) for key, each in narrowed.items()}
            narrowed[symbol] = extent


def _renamed_apart(one: Layout, other: Layout) -> Layout:
    """Parameters are the same where they are called the same; extents of the first are not they."""
    extents = {axis.extent.name for axis in one.axes if isinstance(axis.extent, Extent)}
    return _substituted(other, {e: Extent(f"{e}_2") for e in other.parameters if e in extents})


def _substituted(layout: Layout, values: Mapping[str, Expr]) -> Layout:
    """Return `instantiate` of a layout with extents simplified.

    Raises:
        Unpaired: no shape is left.
    """
    if not values:
        return layout
    found = instantiate(layout, values)
    where: list[Condition] = []
    for before, each in zip(layout.where, found.where, strict=True):
        left, right = simplify(each.left), simplify(each.right)
        condition = Condition(left, each.operator, right)
        if not (isinstance(left, Constant) and isinstance(right, Constant)):
            where.append(condition)
        elif not condition.holds({}):
            raise Unpaired(f"`{layout.name}` is defined where {before}, and never here")
    return replace(
        found,
        coordinates=tuple(replace(e, extent=simplify(e.extent)) for e in found.coordinates),
        start=simplify(found.start),
        where=tuple(where),
    )


def fixed_parameters(layout: Layout, values: Mapping[str, int]) -> Layout:
    """Return a layout with numbers for some of its parameters; it is called `NCHWc<8>`.

    Raises:
        Unpaired: it is not defined for them.
    """
    given = ", ".join(str(values.get(name, name)) for name in layout.parameters)
    found = _substituted(layout, constants(values))
    return replace(found, name=f"{layout.name}<{given}>")
