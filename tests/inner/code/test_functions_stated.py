"""What is stated of index functions is what their texts work out; and what is proved holds.

The prover of index functions rests on these statements, which no printed text shows.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from texts import DOMAINS, EVERY, edge_shapes, layout

from layoutdsl import Layout
from layoutdsl.code.functions.machine import Backward, Functions, functions
from layoutdsl.language.digits.inverse import Inverse, invert
from layoutdsl.language.digits.steps import SLOT
from layoutdsl.language.integers.expr import Constant, Expr, Extent, Index, walk
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.elements import INTEGER_TYPES
from layoutdsl.language.meaning.model import Condition
from layoutdsl.proof.prover.functions import Enough, attempt, attempts, bounded
from layoutdsl.proof.prover.verdict import Proved, Undecided
from layoutdsl.proof.statements.functions_statement import functions as stated

INT32, INT64, UINT32 = (INTEGER_TYPES[name] for name in ("int32", "int64", "uint32"))
ALL = {**{f"domain {name}": each for name, each in DOMAINS.items()}, **EVERY}
POWER = 4


def reads(found: Layout) -> Inverse | None:
    """The inverse that functions are stated of."""
    inverse = invert(found)
    return inverse if isinstance(inverse, Inverse) else None


def narrow(found: Layout, power: int = POWER) -> Layout:
    """The layout with extents up to a power of two."""
    most = Constant(1 << power)
    bounds = tuple(Condition(Extent(name), "<=", most) for name in found.symbols)
    return replace(found, where=(*found.where, *bounds))


def forward(said: Functions) -> list[Expr]:
    return [said.offset, *(side for each in said.domain for side in (each.left, each.right))]


def sizes(said: Functions) -> list[Expr]:
    padded = said.backward.padded if isinstance(said.backward, Backward) else ()
    return [said.size, *said.box, *padded]


def spoken(found: Layout) -> dict[str, set[Expr]]:
    """What is bounded, by the functions that it is stated of."""
    each = stated(found, reads(found), INT64)
    parts: dict[str, set[Expr]] = {}
    for _, one in each:
        name = "index" if one.theorem.name.startswith("index") else one.theorem.name
        parts.setdefault(name, set()).update(one.spoken.values())
    return parts


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ALL)
def test_every_part_of_a_function_is_stated(name: str) -> None:
    """Numbers are worked out beforehand in texts; what is left of them is a number."""
    found = ALL[name]
    inverted = invert(found)
    said, parts = functions(found, inverted), spoken(found)
    values = {evaluated(each) for kind in parts.values() for each in kind}

    def missing(exprs: list[Expr], kinds: tuple[str, ...]) -> list[Expr]:
        known = {folded(each) for kind in kinds for each in parts.get(kind, ())}
        unknown = {part for each in exprs for part in walk(each)} - known
        return [
            each for each in unknown if evaluated(each) is None or evaluated(each) not in values
        ]

    assert not missing(forward(said), ("places", "domain"))
    assert not missing(sizes(said), ("sizes",))
    if isinstance(said.backward, Backward) and isinstance(inverted, Inverse):
        back = said.backward
        exprs = [expr for piece in back.pieces for _, expr in piece.steps]
        exprs += [expr for _, expr in back.index]
        guards = [each for piece in back.pieces for each in piece.guards]
        exprs += [side for each in (*guards, *back.within) for side in (each.left, each.right)]
        copies = (SLOT, *dict(inverted.steps), *dict(inverted.index))
        assert {
            each for each in missing(exprs, ("index",)) if each not in map(Index, copies)
        } == set()


def evaluated(expr: Expr) -> int | None:
    named = any(isinstance(each, Index | Extent) for each in walk(expr))
    return None if named else evaluate(expr, {})


def folded(expr: Expr) -> Expr:
    """The expression with numbers in place of its parts that are known."""
    number = evaluated(expr)
    if number is not None:
        return Constant(number)
    if isinstance(expr, Index | Extent):
        return expr
    return type(expr)(folded(expr.left), folded(expr.right))  # type: ignore[union-attr,call-arg,arg-type]


@pytest.mark.sampled(36)
@pytest.mark.parametrize("name", ALL)
def test_every_layout_is_proved_in_some_range(name: str) -> None:
    found = narrow(ALL[name])
    proved = attempts(found, reads(found), [INT32])
    if isinstance(proved, Undecided) and found.where and "%" in str(found.where):
        proved = attempts(
            narrow(ALL[name], 9), reads(found), [INT32]
        )  # a multiple of 256 has to be in it
    assert isinstance(proved, Enough), proved


def worked_out(found: Layout, values: dict[str, int], slot: int) -> Iterator[tuple[Expr, int]]:
    """Every value that reading a slot works out, and every value of the sizes."""
    said = functions(found, invert(found))
    for expr in sizes(said):
        yield from ((part, evaluate(part, values)) for part in walk(expr))
    index = found.decode(slot, values)
    if index is not None:
        at = {**values, **dict(zip((a.name for a in found.axes), index, strict=True))}
        for expr in forward(said):
            yield from ((part, evaluate(part, at)) for part in walk(expr))
    if not isinstance(said.backward, Backward):
        return
    point = {**values, SLOT: slot}
    for piece in said.backward.pieces:
        for name, expr in piece.steps:
            yield from ((part, evaluate(part, point)) for part in walk(expr))
            point[name] = evaluate(expr, point)
        if not all(each.holds(point) for each in piece.guards):
            return
    for _, expr in said.backward.index:
        yield from ((part, evaluate(part, point)) for part in walk(expr))


@pytest.mark.sampled(24)
@pytest.mark.parametrize("name", list(ALL)[::3])
def test_what_is_proved_holds_at_every_value(name: str) -> None:
    """The least type of some that is proved: no value leaves it, and no negative one is divided."""
    found = narrow(ALL[name], 9)
    types = [
        INTEGER_TYPES[f"{sign}int{bits}"] for bits in (8, 16, 24, 32, 64) for sign in ("u", "")
    ]
    proved = attempts(found, reads(found), types)
    assert not isinstance(proved, Undecided), proved.reason
    type_ = proved.type
    shuffled = random.Random(name)
    shapes = [
        each for each in edge_shapes(ALL[name], most=4_000) if max(each.values(), default=1) <= 512
    ]
    for values in shuffled.sample(shapes, min(3, len(shapes))):
        size, first = found.size(values), evaluate(found.start, values)
        for slot in shuffled.sample(range(first, size), min(size - first, 12)):
            for expr, value in worked_out(found, values, slot):
                assert type_.least <= value <= type_.largest, (expr, values, slot)


WRONG = [
    ("layout L(r, c) = [r, c]", "R <= 46341, C <= 46341", "int32"),
    ("layout L(r, c) = [r, c]", "R <= 65536, C <= 65536", "uint32"),
    ("layout L(c) = [c/16, c%16]", "C <= 2147483633", "int32"),
    ("layout L(c) = [c] offset 8", "C <= 2147483640", "int32"),
    ("layout L(c) = [C - 1 - c] offset 1", "C <= 2147483647", "int32"),
    ("layout L(n: 1, c) = [n - c + C]", "C <= 9", "uint32"),
]


@pytest.mark.parametrize(("text", "where", "integers"), WRONG)
def test_what_does_not_fit_is_not_proved(text: str, where: str, integers: str) -> None:
    found = layout(f"{text} where {where}")
    assert isinstance(attempt(found, reads(found), INTEGER_TYPES[integers]), Undecided)


def test_one_less_is_proved() -> None:
    for text, where, integers in (
        ("layout L(r, c) = [r, c]", "R <= 46340, C <= 46341", "int32"),
        ("layout L(r, c) = [r, c]", "R <= 65535, C <= 65536", "uint32"),
        ("layout L(c) = [c/16, c%16]", "C <= 2147483632", "int32"),
        ("layout L(c) = [c] offset 8", "C <= 2147483639", "int32"),
        ("layout L(n: 1, c) = [n - c + C]", "C <= 9", "int32"),
    ):
        found = layout(f"{text} where {where}")
        assert isinstance(attempt(found, reads(found), INTEGER_TYPES[integers]), Proved)


def test_the_range_that_is_found_is_the_largest() -> None:
    found = bounded(EVERY["NCHW16c"], reads(EVERY["NCHW16c"]), [INT32])
    assert found is not None
    assert [str(each) for each in found.layout.where] == [f"{name} <= 128" for name in "NCHW"]
    assert isinstance(
        attempt(narrow(EVERY["NCHW16c"], 8), reads(EVERY["NCHW16c"]), INT32), Undecided
    )


def test_a_range_without_a_shape_is_none() -> None:
    ranged = layout("layout L(c, d) = [c, d] where C%32 == 0, D <= 9999")
    found = bounded(ranged, reads(ranged), [UINT32])
    assert found is not None
    assert str(found.layout.where[-1]) == "C <= 262144"
