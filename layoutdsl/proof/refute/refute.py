"""Counterexamples, looked for in plain integers.

Nothing here knows of proofs: a shape is tried by evaluating layouts at its indices, smallest shapes
first, within a budget of evaluations. What is found has been replayed by being found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice

from layoutdsl.language.integers.expr import (
    BitAnd,
    BitOr,
    BitXor,
    Coordinate,
    Expr,
    coordinate_text,
    text,
    walk,
)
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.counterexample import Counterexample, example_at, point_at
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.shapes import (
    Values,
    bind_index,
    ceilings,
    in_range,
    indices,
    small,
    spikes,
    telling,
    volume,
)
from layoutdsl.proof.kernel.question import question
from layoutdsl.proof.kernel.solver import WORK, model
from layoutdsl.proof.kernel.theorem import Theorem
from layoutdsl.proof.statements.applied_statement import INDICES
from layoutdsl.proof.statements.domain_statement import contradiction
from layoutdsl.proof.statements.sound import BOUNDS, EXTENTS, INJECTIVE
from layoutdsl.proof.statements.statement import ground
from layoutdsl.proof.statements.terms import NotExpressible, extent_name

EVALUATIONS = 40_000
"""Indices that are evaluated in search of one counterexample, in each of two rounds."""

FEW = 2_000
"""Indices that are evaluated before all of a shape are looked at at once, which loads numpy."""

USUAL_NODES = 100
"""Operators and names of a layout; where it has more, fewer of its indices are evaluated."""

LONG = 1_000_000
LONGEST = 1 << 15
"""Indices of all shapes with one long axis, which are evaluated all at once, and of one of them.

One by one, which is how a fault is found, the longest takes half a second.
"""

ONE_BY_ONE = 24
"""How much longer it takes to evaluate an index by itself than among all at once."""

LARGEST = 300_000
"""Elements of the largest shape that is tried at the solver's hint."""

CANDIDATES = 20_000
"""Shapes at the borders of the numbers in a layout that are looked at."""

Examples = dict[str, Counterexample]
"""The first counterexample to each property, by the name of the property."""

At = Callable[[Values], Examples]


Passes = Callable[[Values], bool]
"""Whether nothing can fail at a shape; a no says nothing."""


@dataclass(slots=True)
class Tried:
    """The shapes that a search tried, each once, and the elements of the largest of them."""

    shapes: set[tuple[int, ...]] = field(default_factory=set)
    elements: int = 0

    def add(self, values: Values, size: int) -> None:
        """Count a shape of `size` elements, unless it was tried before."""
        self.shapes.add(tuple(values.values()))
        self.elements = max(self.elements, size)

    def __str__(self) -> str:
        return f"{len(self.shapes):,} shapes of up to {self.elements:,} elements were tried"


def search(
    layout: Layout,
    exprs: tuple[Expr, ...],
    at: At,
    passes: Passes,
    refuted: Theorem | None = None,
    tried: Tried | None = None,
) -> Examples:
    """Return what fails at the smallest shape at which anything does, as far as the budget goes.

    Args:
        layout: gives the shapes.
        exprs: further expressions whose numbers make a shape worth trying.
        at: tries one shape.
        passes: tells soon of most shapes that they need not be tried.
        refuted: a theorem that fails where the layout does; the solver is asked for such a shape
            where none was found.
        tried: takes the shapes that are tried.
    """
    tried = tried or Tried()
    weight = _weight(layout, exprs)
    for shapes in (small(layout, EVALUATIONS), telling(layout, exprs, CANDIDATES)):
        left = EVALUATIONS // weight
        for values in shapes:
            size = volume(layout, values)
            left -= size + 8
            if left < 0:
                break
            soon = left > (EVALUATIONS - FEW) // weight
            found = at(values) if soon or not passes(values) else {}
            tried.add(values, size)
            if found:
                return found
    left = LONG
    for values in spikes(layout, exprs):
        size = volume(layout, values)
        if size > LONGEST:
            continue
        left -= size * weight + 8
        if left < 0:
            break
        tried.add(values, size)
        if not passes(values):
            found = at(values)
            if found:
                return found
            left -= ONE_BY_ONE * size * weight
    hint = None if refuted is None or _bitwise(layout, exprs) else _hint(layout, refuted)
    if hint is None or volume(layout, hint) > LARGEST:
        return {}
    return at(hint)


def _weight(layout: Layout, exprs: tuple[Expr, ...]) -> int:
    """How much longer than most it takes to evaluate an index."""
    spoken = [*exprs, *(side for each in layout.coordinates for side in (each.value, each.extent))]
    nodes = sum(1 for each in spoken for _ in walk(each))
    return max(1, nodes // USUAL_NODES)


def _bitwise(layout: Layout, exprs: tuple[Expr, ...]) -> bool:
    """Whether bits are looked at, of which the solver's own arithmetic seldom finds a model."""
    spoken = (*exprs, *(each.value for each in layout.coordinates))
    return any(isinstance(each, BitAnd | BitOr | BitXor) for expr in spoken for each in walk(expr))


def _hint(layout: Layout, theorem: Theorem) -> Values | None:
    """Ask the solver, in its own arithmetic, for a small shape at which a theorem fails."""
    equations = [("=", name, term) for name, term in theorem.definitions]
    asked = question([*theorem.hypotheses, *equations], ("and", *theorem.goals), opaque={})
    return _smallest_shape(layout, asked)


def _smallest_shape(layout: Layout, asked: str) -> Values | None:
    """Ask for a shape, then again and again for one with half the sum of extents."""
    names = [extent_name(name) for name in layout.symbols]
    found = model(asked, names) if names else None
    if found is None:
        return None
    total, low = sum(found.values()), len(names)
    while low < total:
        middle = (low + total) // 2
        bounded = f"{asked}(assert (<= (+ 0 {' '.join(names)}) {middle}))\n"
        smaller = model(bounded, names, work=WORK // 16)
        if smaller is None:
            low = middle + 1
        else:
            found, total = smaller, sum(smaller.values())
    values = {name: found[extent_name(name)] for name in layout.symbols}
    return values if min(values.values()) >= 1 and in_range(layout, values) else None


def witness(layout: Layout) -> Values | None:
    """Return a shape of the range, the smallest that a short search finds."""
    most = ceilings(layout)
    corner = {name: max(1, most.get(name, 1)) for name in layout.symbols}
    candidates = chain(
        islice(small(layout, 400), 1),
        islice(telling(layout, (), CANDIDATES), 1),
        (corner,) if in_range(layout, corner) else (),
    )
    found = next(candidates, None)
    if found is not None:
        return found
    try:
        hypotheses = ground(layout).hypotheses
    except NotExpressible:
        return None
    return _smallest_shape(layout, question(hypotheses, ("<", 0, 0), opaque={}))


def first_element(layout: Layout) -> tuple[Values, tuple[int, ...]] | None:
    """Return a shape of the range at which the layout holds an element, and that element."""
    if not layout.domain:
        values = witness(layout)
        return None if values is None else (values, (0,) * layout.rank)
    left = LARGEST
    for values in chain(small(layout, 400), telling(layout, (), CANDIDATES)):
        left -= volume(layout, values) + 8
        if left < 0:
            break
        found = layout.first(values)
        if found is not None:
            return values, found
    hint = _hint_of_element(layout)
    found = None if hint is None or volume(layout, hint) > LARGEST else layout.first(hint)
    return None if hint is None or found is None else (hint, found)


def _hint_of_element(layout: Layout) -> Values | None:
    try:
        theorem = contradiction(ground(layout))
    except NotExpressible:
        return None
    return _hint(layout, theorem)


def unsound(layout: Layout) -> At:
    """Return what tries a layout itself: extents, bounds, slots that two elements share, and the
    shapes of applied layouts.
    """
    every = layout.all_coordinates

    def at(values: Values) -> Examples:
        found: Examples = {}
        start, size = evaluate(layout.start, values), layout.size(values)
        taken: dict[int, tuple[int, ...]] = {}
        for index in indices(layout, values):
            bound = bind_index(layout, values, index)
            for each in every:
                value, extent = evaluate(each.value, bound), evaluate(each.extent, bound)
                if not 0 <= value < extent and EXTENTS not in found:
                    name = f"coordinate `{coordinate_text(each)}` of `{layout.name}`"
                    words = f"-> {value}, outside 0..{extent - 1}"
                    point = point_at(layout, index, words)
                    found[EXTENTS] = example_at(values, f"{name} leaves its extent", point)
            if INDICES not in found:
                outside = index_outside(layout, bound)
                if outside is not None:
                    sentence, words = outside
                    point = point_at(layout, index, words)
                    found[INDICES] = example_at(values, sentence, point)
            offset = layout.offset_at(bound)
            if not start <= offset < size and BOUNDS not in found:
                point = point_at(layout, index, f"-> offset {offset}, outside {start}..{size - 1}")
                found[BOUNDS] = example_at(values, f"`{layout.name}` leaves its buffer", point)
            first = taken.setdefault(offset, index)
            if first != index and INJECTIVE not in found:
                words = f"-> offset {offset}"
                points = (point_at(layout, first, words), point_at(layout, index, words))
                sentence = f"`{layout.name}` is not injective"
                found[INJECTIVE] = example_at(values, sentence, *points)
        return found

    return at


def index_outside(layout: Layout, bound: Values) -> tuple[str, str] | None:
    """Return the first applied index outside the shape of its layout, in words, if any is."""
    for one in layout.applied:
        for each in one.index:
            value, extent = evaluate(each.value, bound), evaluate(each.extent, bound)
            if not 0 <= value < extent:
                sentence = f"`{layout.name}` leaves the shape of `{one.layout}`"
                return sentence, index_words(each, value, extent)
    return None


def index_words(index: Coordinate, value: int, extent: int) -> str:
    """Return an applied index outside its extent in words."""
    return f"-> `{text(index.value)}` is {value}, outside 0..{extent - 1}"


def overflow(layout: Layout, largest: int, type_name: str) -> Counterexample | None:
    """Return a smallest shape of the range whose buffer has more than ``largest`` elements."""
    values = smallest(layout, lambda shape: layout_size(layout, shape) > largest)
    if values is None:
        return None
    return too_large_at(layout, values, largest, type_name)


def too_large_at(
    layout: Layout, values: Values, largest: int, type_name: str
) -> Counterexample | None:
    """Return a shape as counterexample, where its buffer has more than ``largest`` elements."""
    size = layout_size(layout, values)
    if size <= largest:
        return None
    sentence = f"`{layout.name}` does not fit {type_name}"
    last = tuple(extent - 1 for extent in layout.shape_of(values))
    bound = bind_index(layout, values, last)
    if not layout.holds(bound):
        return example_at(values, f"{sentence}: its buffer has {size} elements")
    words = f"-> offset {layout.offset_at(bound)}; the size is {size}, at most {largest} fits"
    return example_at(values, sentence, point_at(layout, last, words))


def smallest(layout: Layout, exceeds: Callable[[Values], bool]) -> Values | None:
    """Return a shape of the range that exceeds something, each extent as small as it can be.

    Args:
        layout: gives the range.
        exceeds: what is exceeded by large extents rather than by small ones.
    """
    values = _too_large(layout, exceeds)
    if values is None:
        return None
    for name in reversed(layout.symbols):
        low, high = 1, values[name]
        while low < high:
            middle = (low + high) // 2
            if exceeds({**values, name: middle}):
                high = middle
            else:
                low = middle + 1
        for extent in range(low, min(low + 4096, values[name]) + 1):
            smaller = {**values, name: extent}
            if in_range(layout, smaller) and exceeds(smaller):
                values = smaller
                break
    return values


def layout_size(layout: Layout, values: Mapping[str, int]) -> int:
    """Return the elements of the buffer for bound extents, in the range or not."""
    total = 1
    for coordinate in layout.coordinates:
        total *= evaluate(coordinate.extent, values)
    return total + evaluate(layout.start, values)


def _too_large(layout: Layout, exceeds: Callable[[Values], bool]) -> Values | None:
    most = ceilings(layout)
    for power in range(65):
        values = {name: min(most.get(name, 1 << power), 1 << power) for name in layout.symbols}
        if in_range(layout, values) and exceeds(values):
            return values
    for values in _longest(layout):
        if exceeds(values):
            return values
    corner = {name: most.get(name, 1) for name in layout.symbols}
    return corner if in_range(layout, corner) and exceeds(corner) else None


def _longest(layout: Layout) -> Iterator[Values]:
    """Yield shapes with one axis as long as the range lets it be, and all others short.

    A range that bounds a product leaves room for them.
    """
    least = first_element(layout)
    if least is None:
        return
    for name in layout.symbols:
        values = least[0]
        for step in reversed([1 << power for power in range(65)]):
            longer = {**values, name: values[name] + step}
            if in_range(layout, longer):
                values = longer
        yield values
