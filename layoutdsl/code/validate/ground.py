"""The layout in the terms of the checker: its extents, its buffer, its expressions. Trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from layoutdsl.code.validate.meaning import Meaning
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import (
    BitAnd,
    BitOr,
    BitXor,
    Constant,
    Expr,
    Extent,
    Index,
    Max,
    Min,
    MixedRadix,
)
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.checker import Term
from layoutdsl.proof.statements import statement as layout_statement
from layoutdsl.proof.statements.terms import Vocabulary, extremes

_OPAQUE = {BitAnd: "&", BitOr: "|", BitXor: "^", Min: "min", Max: "max"}


@dataclass
class Ground:
    """The layout's own terms: extents, box, start, and what is known of a shape of its range."""

    layout: Layout
    vocabulary: Vocabulary
    extremes: tuple[tuple[tuple[str, Term, Term], str], ...]
    hypotheses: tuple[Term, ...]
    extents: tuple[Term, ...]
    box: tuple[Term, ...]
    start: Term


def ground(layout: Layout) -> Ground:
    """Return the terms of a layout, none of its extents under a name of its own."""
    return grounds((layout,))[0]


def grounds(layouts: Sequence[Layout]) -> tuple[Ground, ...]:
    """Return the terms of layouts over the same extents, in the shapes that all of them have."""
    first, *more = layouts
    known = layout_statement.ground(first, more=tuple(more))
    conditions = [each for one in layouts for each in (*one.where, *one.domain)]
    sides = [side for each in conditions for side in (each.left, each.right)]
    spoken = [each.extent for one in layouts for each in one.all_coordinates]
    named = extremes([*spoken, *(one.start for one in layouts), *sides])
    plain = Vocabulary(named)
    said = tuple(
        (
            (
                "min" if isinstance(each, Min) else "max",
                plain.term(each.left),  # type: ignore[union-attr]
                plain.term(each.right),  # type: ignore[union-attr]
            ),
            name,
        )
        for each, name in named.items()
    )
    return tuple(
        Ground(
            layout,
            plain,
            said,
            known.hypotheses,
            tuple(plain.term(axis.extent) for axis in layout.axes),
            tuple(plain.term(each.extent) for each in layout.coordinates),
            plain.term(layout.start),
        )
        for layout in layouts
    )


@dataclass(frozen=True)
class Separate:
    """Goals with hypotheses of their own."""

    name: str
    hypotheses: tuple[Term, ...]
    goals: tuple[Term, ...]


@dataclass
class Stated:
    """What has to be shown of one module."""

    ground: Ground
    meaning: Meaning
    separate: list[Separate] = field(default_factory=list)


def said(ground: Ground, meaning: Meaning, expr: Expr, indices: Mapping[str, Term]) -> Term:
    """Return an expression of the layout; what terms cannot say gets a name, equals the same."""
    shared, named = ground.vocabulary.shared, dict(indices)

    def hidden(part: Expr) -> Expr:
        if part in shared or isinstance(part, Index | Extent | Constant):
            return part
        if isinstance(part, MixedRadix):
            places = tuple(replace(each, value=hidden(each.value)) for each in part.parts)
            return MixedRadix(places)
        both = type(part)(hidden(part.left), hidden(part.right))
        if not isinstance(both, BitAnd | BitOr | BitXor | Min | Max):
            return both
        vocabulary = replace(ground.vocabulary, indices=named)
        left, right = vocabulary.term(both.left), vocabulary.term(both.right)
        word = _OPAQUE[type(both)]
        name = f"_{len(named)}"
        named[name] = (meaning.bits if word in "&|^" else meaning.opaque)(word, left, right)
        return Index(name)

    simple = hidden(expr)
    return replace(ground.vocabulary, indices=named).term(simple)


def compared(ground: Ground, meaning: Meaning, condition: Condition) -> Term:
    """Return a condition of the layout on an index of its shape."""
    sides = {
        "left": said(ground, meaning, condition.left, {}),
        "right": said(ground, meaning, condition.right, {}),
    }
    plain = Condition(Index("left"), condition.operator, Index("right"))
    return Vocabulary(indices=sides).condition(plain)
