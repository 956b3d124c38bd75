"""Operations on whole layouts: compose, inverse, complement, product, divide, coalesce."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from layoutdsl.algebra.maps import Given, Size, below, fresh, given, known, merge, size_of
from layoutdsl.algebra.spelling import canonical, padded_extents, shortest
from layoutdsl.algebra.theorems import (
    PreconditionError,
    derived,
    equal,
    evidence,
    made,
    pullback,
    with_findings,
)
from layoutdsl.language.digits.domains import replaced
from layoutdsl.language.digits.inverse import ReadBack, read_back
from layoutdsl.language.digits.network import NotDigits
from layoutdsl.language.digits.steps import digit_name
from layoutdsl.language.digits.weighted import Axes, weighted
from layoutdsl.language.integers.bounds import ONE, ZERO, at_least
from layoutdsl.language.integers.bounds import product as product_of
from layoutdsl.language.integers.digit import exact_quotient, nested, same, times
from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Extent,
    Index,
    Mul,
    extents,
    substitute,
    text,
)
from layoutdsl.language.integers.written_out import written_out
from layoutdsl.language.meaning.application import (
    composes_by_index,
    digits_of,
    exact,
    extents_of_slots,
    natural,
    offset_of,
)
from layoutdsl.language.meaning.claims import Claim, Sound
from layoutdsl.language.meaning.model import Axis, Condition, Layout
from layoutdsl.language.meaning.offsets import offset_expr, size_expr
from layoutdsl.proof.prover.check import check
from layoutdsl.proof.prover.verdict import Finding, Proved, Refuted, Undecided
from layoutdsl.proof.statements.sound import INJECTIVE, INVERSE, ONTO

By = Literal["slot", "index"]
Box = Literal["padded", "shape"]


def compose(
    layout: Given, inner: Given, /, shape: Mapping[str, Size] | None = None, by: By = "slot"
) -> Layout:
    """Return ``R(c) = A(B(c))``: the buffer of `B` is the tensor of `A`.

    If `B` has as many coordinates as `A` has axes, each coordinate is the index along one axis.
    Otherwise the slot of `B` is the row-major number of an element of `A` (CuTe counts
    colexicographically, so its layouts come in with their modes reversed). Packing by the result is
    packing by `B` and then by `A`.

    >>> tiles = layoutdsl.parse("layout Tiles(y, x) = [y/8, x/16, y%8, x%16]")["Tiles"]
    >>> rows = layoutdsl.parse("layout Rows(y, x) = [y, x : roundup(X, 128)]")["Rows"]
    >>> print(compose(tiles, rows))
    layout Tiles_o_Rows(y, x) = [y/8, x/16 : 8*ceil(X/128), y%8, x%16]

    Args:
        layout: the outer layout, or the name of one in the library.
        inner: the inner layout, or the name of one in the library.
        shape: the extents of axes of the outer layout, if they are not those of the coordinates of
            the inner one. Its first extent may be left open.
        by: ``"index"``: the coordinates of the inner layout are indices of the outer one, whose
            extents may be larger.

    Raises:
        ValueError: an extent of the outer layout is unknown.
        PreconditionError: a slot of `B` is no element of `A`; the smallest shape shows it.
    """
    a, b = given(layout), given(inner)
    if by not in ("slot", "index"):
        raise ValueError(f"`by` is {by!r}, and has to be 'slot' or 'index'")
    values = _values(a, shape or {})
    name, sentence = f"{a.name}_o_{b.name}", f"R(c) = {a.name}({b.name}(c))"
    refusal = f"the buffer of `{b.name}` is not the tensor of `{a.name}`"
    index_map = replace(b, chunk_rank=None)
    if by == "index" or (not values and composes_by_index(a, b)):
        if len(a.axes) != len(b.coordinates):
            message = (
                f"`{a.name}` has {len(a.axes)} axes, `{b.name}` {len(b.coordinates)} coordinates"
            )
            raise ValueError(message)
        smaller = by == "index"
        return pullback(a, index_map, name, sentence, refusal=refusal, smaller=smaller)
    sizes = extents_of_slots(a, size_expr(b), values)
    if isinstance(sizes, Axis):
        hint = f"pass shape={{{sizes.name!r}: ...}}"
        raise ValueError(f"the extent of `{sizes.name}` of `{a.name}` is unknown: {hint}")
    digits = digits_of(offset_of(b), sizes)
    unfolded = made(index_map, coordinates=digits, start=ZERO)
    found = pullback(a, unfolded, name, sentence, refusal=refusal, inner=b)
    whole = made(unfolded, name="slot", coordinates=(below(offset_expr(b), size_expr(unfolded)),))
    return with_findings(found, _is_number(unfolded, whole, a, values))


def _values(layout: Layout, shape: Mapping[str, Size]) -> dict[str, Expr]:
    """The extents of a layout that are given by the names of axes."""
    known(layout, list(shape))
    extent_of = {axis.name: axis.extent for axis in layout.axes}
    found: dict[str, Expr] = {}
    for name, size in shape.items():
        extent = extent_of[name]
        if not isinstance(extent, Extent):
            raise ValueError(f"the extent of `{name}` of `{layout.name}` is {text(extent)}")
        found[extent.name] = size_of(size)
    return found


def _is_number(digits: Layout, whole: Layout, a: Layout, values: Mapping[str, Expr]) -> Finding:
    """Whether the digits that index `a` make up the slot; if need be, of any slot below a size."""
    found = equal(digits, whole)
    if isinstance(found, Proved):
        return found
    some = Extent("SLOT")
    sizes = extents_of_slots(a, some, values)
    assert not isinstance(sizes, Axis), "they are known of this layout"
    every = Layout("slot", (Axis("slot", some),), digits_of(Index("slot"), sizes))
    every = made(every, where=(Condition(some, "<=", product_of(sizes)),))
    return equal(every, made(every, coordinates=(below(Index("slot"), size_expr(every)),)))


def inverse(layout: Given, /, box: Box = "padded") -> Layout:
    """Return the layout from slots to elements: ``R(A(c))`` is the row-major number of ``c``.

    The axes of the result are the coordinates of `A`, and its buffer is the tensor of `A`. Slots in
    gaps hold no element and are outside the domain of the result.

    >>> print(inverse("NCHW16c"))
    layout NCHW16c_inverse(n, s1, h, w, s4: 16) = [n, (s1, s4), h, w]

    Args:
        layout: a layout, or the name of one in the library.
        box: ``"padded"``: elements are numbered in the padded box of `A`; ``"shape"``: in its
            shape, and slots of padding are outside the domain too.

    Raises:
        PreconditionError: the coordinates of `A` are no digits, or slots come before the first.
    """
    a = given(layout)
    if box not in ("padded", "shape"):
        raise ValueError(f"`box` is {box!r}, and has to be 'padded' or 'shape'")
    found = read_back(a)
    if isinstance(found, NotDigits):
        raise PreconditionError(f"`{a.name}` has no closed inverse: {found.reason}")
    if a.start != ZERO or a.domain:
        raise PreconditionError(f"`{a.name}` has slots before the first, or only some elements")
    back = _Back(a, found, box)
    result, sentence = back.layout(), f"R({a.name}(c)) = c and {a.name}(R(s)) = s"
    findings: tuple[Finding, ...] = back.findings(result)
    if box == "padded" and not all(isinstance(each, Proved) for each in findings):
        # The prover shows of `A` itself that its inverse, step by step, is one.
        held = {each.property: each for each in check(Claim("prove", a, Sound())).findings}
        read = equal(result, made(result, name="read", coordinates=back.raw))
        onto = held.get(ONTO, Undecided(ONTO, "the padded box is not known to be filled"))
        findings = (read, held[INVERSE], onto)
    return derived(result, sentence, findings)


class _Back:
    """The inverse as a layout: an axis for each coordinate, a coordinate for each axis."""

    def __init__(self, a: Layout, found: ReadBack, box: Box) -> None:
        self._a = a
        self._coordinates = found.spelled.coordinates
        self.axes, self._known = list[Axis](), dict[str, Expr]()
        self._swaps: dict[Expr, Extent] = {}
        for number, place in enumerate(self._coordinates):
            self._add(number, place)
        for step, value in found.inverse.steps:
            self._known.setdefault(step, substitute(value, self._known))
        padded = {name: exact(extent) for name, extent in found.inverse.padded}
        shape: dict[str, Expr] = {axis.name: axis.extent for axis in a.axes}
        self._sizes = padded if box == "padded" else shape
        self.raw = tuple(
            below(self._slotwise(value), replaced(self._sizes[name], self._swaps))
            for name, value in found.inverse.index
        )
        self._domain = [
            Condition(self._slotwise(each.left), each.operator, self._slotwise(each.right))
            for each in found.inverse.guards
        ]
        self._domain += [
            Condition(place.value, "<", place.extent)
            for place, axis in zip(self.raw, a.axes, strict=True)
            if not same(self._sizes[axis.name], padded[axis.name])
        ]

    def _add(self, number: int, place: Coordinate) -> None:
        """Add the axis of a coordinate; it keeps the name of an index that is the coordinate."""
        taken = {axis.name for axis in self.axes}
        is_index = isinstance(place.value, Index) and place.value.name not in taken
        name = place.value.name if is_index else f"s{number}"  # type: ignore[union-attr]
        extent = place.extent
        if not isinstance(extent, Constant | Extent):
            extent = self._swaps.setdefault(extent, Extent(name.upper()))
        self.axes.append(Axis(name, extent))
        self._known[digit_name(number)] = Index(name)

    def _slotwise(self, expr: Expr) -> Expr:
        return replaced(substitute(expr, self._known), self._swaps)

    def layout(self) -> Layout:
        sizes: dict[str, Expr] = {axis.name: axis.extent for axis in self.axes}
        places = tuple(shortest(each, Axes(sizes)) for each in self.raw)
        name = f"{self._a.name}_inverse"
        found = Layout(name, tuple(self.axes), places, domain=tuple(self._domain))
        found = made(natural(found))
        where = [
            Condition(new, "==", old)
            for old, new in self._swaps.items()
            if extents(old) & {*found.parameters}
        ]
        return made(found, where=tuple(where)).as_written

    def findings(self, result: Layout) -> tuple[Finding, Finding]:
        """Of ``R(A(c)) = c`` for each element, and ``A(R(s)) = s`` for each slot in the domain."""
        a, old = self._a, {new.name: each for each, new in self._swaps.items()}
        names = [axis.name for axis in self.axes]
        values = [each.value for each in self._coordinates]
        back = dict(zip(names, values, strict=True))
        there = made(a, name="there", coordinates=_at(result.coordinates, back, old))
        here = made(
            a,
            name="c",
            coordinates=tuple(
                below(Index(axis.name), place.extent)
                for axis, place in zip(a.axes, there.coordinates, strict=True)
            ),
        )
        held = {
            each.left.name: each.right
            for each in self._domain
            if each.operator == "==" and isinstance(each.left, Index)
        }
        slots = made(
            result,
            name="s",
            coordinates=tuple(
                below(held.get(axis.name, Index(axis.name)), axis.extent) for axis in self.axes
            ),
        )
        index = {
            axis.name: place.value for axis, place in zip(a.axes, result.coordinates, strict=True)
        }
        forth = tuple(
            below(place.value, replaced(place.extent, self._swaps))
            for place in _at(a.coordinates, index, {})
        )
        return equal(here, there), equal(slots, made(result, name="forth", coordinates=forth))


def _at(
    places: Sequence[Coordinate], values: Mapping[str, Expr], sizes: Mapping[str, Expr]
) -> tuple[Coordinate, ...]:
    return tuple(
        below(substitute(place.value, values), substitute(place.extent, sizes)) for place in places
    )


def complement(layout: Given, /, slots: Size | None = None) -> Layout:
    """Return the steps that a layout leaves out: ``(c, g) -> A(c) + R(g)`` meets each slot once.

    >>> outer = layoutdsl.parse("layout A(i: 4) = [i, 0 : 2]")["A"]
    >>> print(complement(outer, slots=24))
    layout A_rest(g1: 3, g0: 2) = [g1, 0 : 4, g0]

    Args:
        layout: a layout, or the name of one in the library.
        slots: the number of slots that are met; the last repetition may go beyond, as in CuTe. By
            default the buffer of the layout, with its index in the padded box.

    Raises:
        PreconditionError: a stride is no multiple of the slots below it, or two elements share one.
    """
    a = given(layout)
    total = size_expr(a) if slots is None else size_of(slots)
    padded = padded_extents(a) if slots is None else None
    if slots is None and padded is None:
        raise PreconditionError(f"the padded box of `{a.name}` is unknown: pass slots=...")
    found = canonical(a, padded)
    if found is None or a.start != ZERO or a.domain:
        raise PreconditionError(f"`{a.name}` is no sum of digits from slot 0 on")
    terms = [
        (each, exact(weight), exact(found.limit(each) or ZERO)) for each, weight in found.terms
    ]
    ordered = nested([x for x in terms if not same(x[2], ONE)], lambda term: term[1])
    if ordered is None:
        raise PreconditionError(f"the strides of `{a.name}` do not divide one another")
    rest = _Rest(a)
    for digit, weight, limit in ordered:
        rest.gap(weight, exact_quotient(weight, rest.reached))
        rest.digit(digit.value, weight, limit)
    room = exact_quotient(exact(total), rest.reached)
    if room is None and slots is not None:
        room = exact(CeilDiv(total, rest.reached))
    rest.gap(total, room)
    return rest.derived()


class _Rest:
    """The complement of a layout while its digits are passed, from the fastest on."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.reached: Expr = ONE
        self._left: Expr = ONE
        self._axes, self._where = list[Axis](), list[Condition]()
        self._places, self._every = list[Coordinate](), list[Coordinate]()

    def gap(self, weight: Expr, room: Expr | None) -> None:
        """Fill the slots below a stride, by an axis with as many steps as there is room."""
        if room is None or not at_least(exact(room), 1):
            have = f"{text(weight)} slots are no multiple of the {text(self.reached)} below"
            raise PreconditionError(f"`{self._layout.name}`: {have}")
        room = exact(room)
        if same(room, ONE):
            return
        name = fresh(f"g{len(self._axes)}", self._layout)
        extent = room if isinstance(room, Constant | Extent) else Extent(name.upper())
        if extent is not room:
            self._where.append(Condition(extent, "==", room))
        self._axes.insert(0, Axis(name, extent))
        gap = exact_quotient(self.reached, self._left) or ONE
        below_it = [] if same(gap, ONE) else [below(ZERO, gap)]
        self._places[:0] = [Coordinate(Index(name), extent), *below_it]
        self._every.insert(0, below(Index(name), room))
        self._left = times(self.reached, room)

    def digit(self, value: Expr, weight: Expr, limit: Expr) -> None:
        """Pass a digit of the layout."""
        self._every.insert(0, below(value, limit))
        self.reached = times(weight, limit)

    def derived(self) -> Layout:
        a, nothing = self._layout, (Coordinate(ZERO, ONE),)
        where = (*a.where, *self._where)
        places = tuple(self._places) or nothing
        result = made(Layout(f"{a.name}_rest", tuple(self._axes), places, where=where))
        axes = (*self._axes, *a.axes)
        both = made(Layout("both", axes, tuple(self._every) or nothing, where=where))
        slot = below(Add(offset_expr(result), offset_expr(a)), size_expr(both))
        packs = {each.property: each for each in check(Claim("prove", both, Sound())).findings}
        if isinstance(shared := packs[INJECTIVE], Refuted):
            raise PreconditionError(f"two elements of `{a.name}` share a slot", shared.example)
        sum_ = equal(both, made(both, name="sum", coordinates=(slot,)))
        sentence = f"{a.name}(c) + R(g) is each slot, once"
        return derived(result, sentence, (sum_, packs[INJECTIVE]))


def product(layout: Given, grid: Given, /) -> Layout:
    """Return a copy of a layout for each element of a grid: ``R(b, a) = size(A)*B(b) + A(a)``.

    >>> tile = layoutdsl.parse("layout Tile(y: 8, x: 16) = [y, x]")["Tile"]
    >>> outer = layoutdsl.parse("layout Outer(gy, gx) = [gy, gx]")["Outer"]
    >>> print(product(tile, outer))
    layout Tile_x_Outer(gy, gx, y: 8, x: 16) = [gy, gx, y, x]

    Args:
        layout: the layout of one tile, or its name in the library.
        grid: the layout of the tiles, or its name in the library.

    Raises:
        ValueError: both have an axis or an extent of one name.
        PreconditionError: one holds only part of its shape, or the grid starts behind slot 0.
    """
    a, b = given(layout), given(grid)
    clash = {x.name for x in a.axes} & {x.name for x in b.axes} | set(a.symbols) & set(b.symbols)
    if clash:
        names = ", ".join(sorted(clash))
        raise ValueError(f"`{a.name}` and `{b.name}` both have {names}: rename the axes of one")
    if b.start != ZERO or b.domain or a.domain:
        message = f"`{b.name}` starts behind slot 0, or one of the layouts has a domain"
        raise PreconditionError(message)
    tiles = a.coordinates if a.start == ZERO else (below(offset_expr(a), size_expr(a)),)
    found = made(
        Layout(
            f"{a.name}_x_{b.name}",
            (*b.axes, *a.axes),
            (*b.coordinates, *tiles),
            None,
            a.fill,
            a.element or b.element,
            where=(*b.where, *a.where),
            copies=(*b.copies, *a.copies),
        )
    )
    size = Mul(size_expr(b), size_expr(a))
    slot = below(Add(Mul(offset_expr(b), size_expr(a)), offset_expr(a)), size)
    proof = equal(found, made(found, name="it", coordinates=(slot,)))
    return derived(found, f"R(b, a) = size({a.name})*{b.name}(b) + {a.name}(a)", (proof,))


def divide(layout: Given, by: Given, /) -> Layout:
    """Return a layout divided by another one, CuTe's logical divide: ``A o (B*, B)``.

    The axes of `B` index within a tile, and those of its complement `B*` the tiles.

    >>> line = layoutdsl.parse("layout Line(x: 24) = [x]")["Line"]
    >>> pairs = layoutdsl.parse("layout Pairs(i: 4) = [i, 0 : 2]")["Pairs"]
    >>> print(divide(line, pairs))
    layout Line_o_Pairs_and_rest(g1: 3, g0: 2, i: 4) = [(g1, i, g0)]

    Args:
        layout: the layout that is divided, or its name in the library.
        by: the layout of a tile, or its name in the library.

    Raises:
        PreconditionError: the complement of `B` does not exist, or its slots are not those of `A`.
    """
    a, b = given(layout), given(by)
    size = exact(product_of(tuple(axis.extent for axis in a.axes)))
    if not isinstance(size, Constant | Extent):
        raise PreconditionError(f"`{a.name}` has {text(size)} elements: merge its axes first")
    slots = size.value if isinstance(size, Constant) else size.name
    rest = complement(b, slots)
    steps = (below(Add(offset_expr(b), offset_expr(rest)), size),)
    both = Layout(f"{b.name}_and_rest", (*rest.axes, *b.axes), steps, where=(*b.where, *rest.where))
    return with_findings(compose(a, made(both)), *evidence(rest).findings)


def coalesce(layout: Given, /) -> Layout:
    """Return a layout with neighbouring axes merged where they are adjacent in the buffer.

    >>> print(coalesce("NCHW"))
    layout NCHW_merged(nchw) = [nchw]

    Args:
        layout: a layout, or the name of one in the library.
    """
    a = given(layout)
    result, at = derived(a, f"R = {a.name}"), 0
    while at + 1 < len(result.axes):
        pair = (result.axes[at].name, result.axes[at + 1].name)
        if _joins(result, pair):
            found = merge(replace(result, derivation=None), **{fresh("".join(pair), result): pair})
            result = with_findings(
                replace(found, name=f"{a.name}_merged", derivation=found.derivation),
                *evidence(result).findings,
            )
        else:
            at += 1
    return _shorter(result)


def _joins(layout: Layout, pair: tuple[str, str]) -> bool:
    """Whether two axes make one digit fewer if they are one index. Not proved."""
    if layout.domain or set(pair) & set(layout.copies):
        return False
    axes: dict[str, Expr] = {axis.name: axis.extent for axis in layout.axes}
    extents_ = [axes[name] for name in pair]
    digits = digits_of(Index("_p"), extents_)
    both: dict[str, Expr] = dict(zip(pair, (each.value for each in digits), strict=True))
    axes["_p"] = product_of(tuple(extents_))
    before = canonical(layout)
    after = weighted(substitute(written_out(offset_expr(layout)), both), Axes(axes))
    return before is not None and after is not None and len(after.terms) < len(before.terms)


def _shorter(layout: Layout) -> Layout:
    """A coalesced layout with fewer coordinates, in terms of the merged extents alone."""
    digits = None if layout.domain else canonical(layout)
    for size in () if digits is None else (None, size_expr(layout)):
        assert digits is not None
        places = digits.places(size)
        if places is None or len(places) > len(layout.coordinates):
            continue
        shorter = natural(
            made(layout, coordinates=tuple(below(p.value, exact(p.extent)) for p in places))
        )
        proof = equal(shorter, layout)
        if not isinstance(proof, Proved):
            continue
        plain = made(shorter, where=())
        kept_ = {*plain.symbols} if not plain.parameters else {*layout.symbols}
        where = tuple(c for c in layout.where if extents(c.left) | extents(c.right) <= kept_)
        found = evidence(layout)
        return derived(
            made(plain, where=where), found.sentence, (*found.findings, proof), found.notes
        )
    return layout
