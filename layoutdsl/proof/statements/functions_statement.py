"""What has to be shown of index functions in integers of some width. Trusted.

The functions of a layout say where an index lies, how large the buffer is, and what a slot holds.
Written for a machine they divide as machines do, towards zero; ``ceil(E/k)`` is worked out as
``(E - 1)/k + 1``, and ``(a - b)%k`` as ``(a + (k - b%k))%k``. So there are goals for every value on
the way: it is a value of the type, what is divided is not negative, and what divides is positive.
Then the machine's quotients are those of the layout, and nothing wraps.

* places: for every index that the layout holds, the offset;
* domain: for every index of the shape, both sides of each condition;
* sizes: for every shape, the size, the extents of coordinates, padded extents;
* index: for every slot from the first on, what reads it, step by step. A function says *padding*
  as soon as a guard does not hold, so what is worked out later is so only where it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from layoutdsl.language.digits.inverse import Inverse
from layoutdsl.language.digits.steps import SLOT
from layoutdsl.language.integers.bounds import ONE, ZERO
from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
    Sub,
    indices,
)
from layoutdsl.language.meaning.elements import IntegerType
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.proof.kernel.theorem import Term, Theorem
from layoutdsl.proof.statements import statement
from layoutdsl.proof.statements.claim_statement import of_elements
from layoutdsl.proof.statements.statement import Definitions, Ground, decoded
from layoutdsl.proof.statements.terms import Vocabulary, step_name


def as_worked_out(expr: Expr) -> Expr:
    """Return an expression as a machine works it out: by Horner's rule, and by quotients only."""
    match expr:
        case MixedRadix(parts):
            total = as_worked_out(parts[0].value)
            for part in parts[1:]:
                total = Add(Mul(total, as_worked_out(part.extent)), as_worked_out(part.value))
            return total
        case CeilDiv(left, right):
            return Add(FloorDiv(Sub(as_worked_out(left), ONE), as_worked_out(right)), ONE)
        case Mod(Sub() as difference, right):
            block = as_worked_out(right)
            return Mod(_congruent(difference, block), block)
        case Index() | Extent() | Constant():
            return expr
        case _:
            return type(expr)(as_worked_out(expr.left), as_worked_out(expr.right))


def _congruent(expr: Expr, block: Expr) -> Expr:
    """Return a sum that leaves the same rest: for ``- e`` it has ``+ (block - e%block)``."""
    match expr:
        case Sub(left, right) if not isinstance(right, Constant):
            less = Sub(block, as_worked_out(Mod(right, block)))
            return Add(_congruent(left, block), less)
        case _:
            return as_worked_out(expr)


def offset(layout: Layout) -> Expr:
    """Return the offset as it is worked out."""
    value = as_worked_out(MixedRadix(layout.coordinates))
    return value if layout.start == ZERO else Add(as_worked_out(layout.start), value)


def size(layout: Layout) -> Expr:
    """Return the size as it is worked out."""
    total, *rest = (as_worked_out(each.extent) for each in layout.coordinates)
    for extent in rest:
        total = Mul(total, extent)
    return total if layout.start == ZERO else Add(as_worked_out(layout.start), total)


@dataclass(frozen=True, slots=True)
class Stated:
    """A theorem, and for each term that it bounds the expression that it stands for.

    ``radices`` are terms for the extents by which a slot is split, where it is; whoever proves the
    theorem may take them as a hint.
    """

    theorem: Theorem
    spoken: dict[Term, Expr]
    radices: tuple[Term, ...] = ()


def functions(
    layout: Layout, inverse: Inverse | None, type_: IntegerType
) -> tuple[tuple[Ground, Stated], ...]:
    """Return what says that every function of a layout computes in an integer type.

    Raises:
        NotExpressible: an operation is none of those that terms have.
    """
    common = statement.ground(layout)
    found = [_places(common, type_), _sizes(common, inverse, type_)]
    if layout.domain:
        everywhere = statement.ground(replace(layout, domain=()))
        found.append(_domain(everywhere, layout, type_))
    if inverse is not None:
        found += _index(common, inverse, type_)
    return tuple(found)


def _plain(ground: Ground) -> Vocabulary:
    """Words in which extents are worked out and not named; minima and maxima have names."""
    named = {expr: name for expr, name in ground.vocabulary.shared.items() if name.startswith("m.")}
    return Vocabulary(named, axes=ground.vocabulary.axes)


def _places(ground: Ground, type_: IntegerType) -> tuple[Ground, Stated]:
    goals, spoken = _goals([offset(ground.layout)], _plain(ground), type_)
    return ground, Stated(of_elements(ground, "places", (), goals), spoken)


def _domain(ground: Ground, layout: Layout, type_: IntegerType) -> tuple[Ground, Stated]:
    goals, spoken = _goals(_sides(layout.domain), _plain(ground), type_)
    return ground, Stated(of_elements(ground, "domain", (), goals), spoken)


def _sizes(ground: Ground, inverse: Inverse | None, type_: IntegerType) -> tuple[Ground, Stated]:
    padded = () if inverse is None else inverse.padded
    exprs = [size(ground.layout), *(as_worked_out(extent) for _, extent in padded)]
    goals, spoken = _goals(exprs, _plain(ground), type_)
    return ground, Stated(Theorem("sizes", ground.variables, ground.hypotheses, goals), spoken)


def stages(inverse: Inverse) -> tuple[tuple[tuple[str, ...], tuple[Condition, ...]], ...]:
    """Return the steps by name, in pieces, and the guards that are looked at after each piece.

    A function stops where a guard does not hold, so what comes after rests on it.
    """
    left = list(inverse.guards)
    found: list[tuple[tuple[str, ...], tuple[Condition, ...]]] = []
    met: set[str] = set()
    piece: list[str] = []
    for name, _ in inverse.steps:
        met.add(name)
        piece.append(name)
        known = tuple(each for each in left if indices(each.left) | indices(each.right) <= met)
        if known:
            found.append((tuple(piece), known))
            left = [each for each in left if each not in known]
            piece = []
    return (*found, (tuple(piece), ()))


def _index(ground: Ground, inverse: Inverse, type_: IntegerType) -> Iterator[tuple[Ground, Stated]]:
    read: dict[str, Term] = {axis.name: decoded(axis.name) for axis in ground.layout.axes}
    words = replace(_plain(ground), indices={SLOT: "slot", **read}, axes={})
    values = {name: as_worked_out(expr) for name, expr in inverse.steps}
    index = {name: as_worked_out(expr) for name, expr in inverse.index}
    definitions = [*box(ground.layout, words)]
    hypotheses = [*ground.hypotheses, *in_buffer(ground.layout, words)]
    pieces = stages(inverse)
    radices = tuple(words.term(as_worked_out(each)) for each in inverse.radices)
    for number, (names, guards) in enumerate(pieces):
        definitions += [(step_name(name), words.term(values[name])) for name in names]
        worked = [*(values[name] for name in names), *_sides(guards)]
        if number == len(pieces) - 1:
            definitions += [(decoded(name), words.term(expr)) for name, expr in index.items()]
            worked += [*index.values(), *_sides(ground.layout.domain)]
            worked += [axis.extent for axis in ground.layout.axes]
        goals, spoken = _goals(worked, words, type_)
        variables = (*ground.variables, "slot")
        theorem = Theorem(
            f"index.{number}", variables, tuple(hypotheses), goals, tuple(definitions)
        )
        if goals:  # without axes nothing is worked out after the last guard
            yield ground, Stated(theorem, spoken, radices)
        hypotheses += [words.condition(each) for each in guards]


def _sides(conditions: Iterable[Condition]) -> list[Expr]:
    return [as_worked_out(side) for each in conditions for side in (each.left, each.right)]


def box(layout: Layout, words: Vocabulary) -> Definitions:
    """Define ``p.j``, the slots of the coordinates up to ``j``."""
    found: list[tuple[str, Term]] = []
    for number, coordinate in enumerate(layout.coordinates):
        radix = words.term(as_worked_out(coordinate.extent))
        found.append((f"p.{number}", ("*", f"p.{number - 1}", radix) if number else radix))
    return tuple(found)


def in_buffer(layout: Layout, words: Vocabulary) -> tuple[Term, Term]:
    """Return what says that ``slot`` is one of the buffer, from the first slot on."""
    slots: Term = f"p.{len(layout.coordinates) - 1}"
    if layout.start == ZERO:
        return ("<=", 0, "slot"), ("<", "slot", slots)
    start = words.term(as_worked_out(layout.start))
    return ("<=", start, "slot"), ("<", "slot", ("+", start, slots))


def slot_and_start(ground: Ground) -> tuple[Term, Term]:
    """Return what is left of a slot after the elements before the first, and how many these are."""
    start = _plain(ground).term(as_worked_out(ground.layout.start))
    return ("slot", 0) if ground.layout.start == ZERO else (("-", "slot", start), start)


def _goals(
    exprs: Iterable[Expr], words: Vocabulary, type_: IntegerType
) -> tuple[tuple[Term, ...], dict[Term, Expr]]:
    """Return the goals for expressions as they are worked out, and what their terms stand for."""
    goals: list[Term] = []
    spoken: dict[Term, Expr] = {}
    for expr in exprs:
        goals += words.assumptions(expr)
        for each in _parts(expr):
            value = words.term(each)
            spoken.setdefault(value, each)
            if isinstance(each, FloorDiv | Mod):
                goals += [("<=", 0, words.term(each.left)), ("<=", 1, words.term(each.right))]
            goals += [("<=", type_.least, value), ("<=", value, type_.largest)]
    return tuple(dict.fromkeys(goals)), spoken


def _parts(expr: Expr) -> Iterator[Expr]:
    """Yield what an expression is worked out from, each before what needs it."""
    match expr:
        case Index() | Extent() | Constant():
            pass
        case MixedRadix() | CeilDiv():
            raise AssertionError("it is worked out as something else")
        case _:
            yield from (*_parts(expr.left), *_parts(expr.right))
    yield expr
