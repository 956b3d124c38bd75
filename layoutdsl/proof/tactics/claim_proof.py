"""Proofs of claims: both sides in normal form over common digits. Not trusted."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from layoutdsl.language.integers.expr import Expr, Extent, Mod, indices, substitute
from layoutdsl.language.meaning.model import Condition
from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.polynomial import total
from layoutdsl.proof.kernel.theorem import By, Proof, Term, Theorem
from layoutdsl.proof.statements.run_statement import Start
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.statements.terms import Vocabulary, extent_name, index_name, step_name
from layoutdsl.proof.tactics import leftover
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.halves import Halves
from layoutdsl.proof.tactics.narrow import narrow
from layoutdsl.proof.tactics.polynomials import Bounds, canonical
from layoutdsl.proof.tactics.refinement import refine
from layoutdsl.proof.tactics.remainders import prove_by_remainders

Splits: TypeAlias = Sequence[tuple[str, tuple[str, ...]]]
"""The name of a value, and those of its parts, most major first."""


def prove_equations(
    ground: Ground,
    theorem: Theorem,
    exprs: Iterable[Expr],
    lemmas: Mapping[str, Theorem],
    splits: Splits = (),
) -> Proof:
    """Prove goals that are equations, by bringing both sides into normal form.

    Args:
        ground: of the layout that the theorem speaks of.
        theorem: its goals are equations, or ``<=`` where there is room that is easily seen.
        exprs: whatever the theorem divides; it decides the digits.
        lemmas: the lemma library.
        splits: how values are split into parts that are defined; the parts stay as they are, and
            put together give the value.

    Raises:
        NoProof: the two sides have different normal forms.
    """
    fixed: dict[str, Expr] = {
        each.left.name: each.right
        for each in ground.layout.where
        if isinstance(each.left, Extent) and each.operator == "==" and not indices(each.right)
    }
    exprs = tuple(substitute(each, fixed) for each in exprs)
    if any(isinstance(each.left, Mod) for each in ground.layout.where):
        try:
            return _by_normal_forms(ground, theorem, exprs, lemmas, ground.layout.where, splits)
        except NoProof:
            pass  # what the range divides by may not fit to what the expressions divide by
    try:
        return _by_normal_forms(ground, theorem, exprs, lemmas, (), splits)
    except NoProof as reason:
        try:
            return prove_by_remainders(theorem, lemmas)
        except NoProof:
            raise reason from None


def _by_normal_forms(
    ground: Ground,
    theorem: Theorem,
    exprs: tuple[Expr, ...],
    lemmas: Mapping[str, Theorem],
    range_: tuple[Condition, ...],
    splits: Splits,
) -> Proof:
    builder = ProofBuilder(theorem, lemmas)
    parts = {name for _, found in splits for name in found}
    names = {name for name, _ in theorem.definitions if name not in parts}
    arithmetic = Arithmetic(builder, frozenset(names))
    plain = Vocabulary(
        {expr: name for expr, name in ground.vocabulary.shared.items() if name.startswith("m.")},
        axes=ground.vocabulary.axes,
    )
    _know_single(arithmetic, ground)
    refine(arithmetic, plain, exprs, range_)
    narrow(arithmetic)
    for value, found in splits:
        _put_together(arithmetic, value, found)
    if ground.layout.where:
        names_of_indices = (index_name(axis.name) for axis in ground.layout.axes)
        symbols = map(extent_name, ground.layout.symbols)
        leftover.shorten(arithmetic, (*names_of_indices, *symbols))
    leftover.resolve(arithmetic, plain)
    spoken = (*(term for _, term in theorem.definitions), *theorem.goals)
    Halves(arithmetic.values).teach(*spoken)
    for goal in theorem.goals:
        match goal:
            case ("=", left, right):
                _equal(arithmetic, left, right)
            case ("<=", left, right) if left != 0:  # bitwise operations rest on others
                _no_more(arithmetic, left, right)
    arithmetic.assumed(theorem)
    return builder.proof


def splits_of(start: Start) -> Splits:
    """Return how the tuples that a run cuts are split where it starts."""
    names = [name for name, _ in start.steps]
    found: list[tuple[str, tuple[str, ...]]] = []
    for value in (name for name in names if "_" not in name[1:]):
        minor = [each for each in names if each.startswith(f"{value}_") and "_r" not in each]
        if minor:
            parts = (f"{value}_r0", *reversed(minor))
            found.append((step_name(value), tuple(map(step_name, parts))))
    return found


def _put_together(arithmetic: Arithmetic, value: str, parts: tuple[str, ...]) -> None:
    """Parts that were split off a value, most major first, are the value again."""
    builder, joined, folds = arithmetic.builder, parts[0], list[By]()
    whole: Term = joined
    above = parts[0]
    for name in parts[1:]:
        match builder.find_definition(name):
            case ("mod", rest, extent):
                arithmetic.positive(extent)
                facts = builder.use("DIVISION", {"x": rest, "B": extent})
                names = (By(name, backwards=True), By(above, backwards=True))
                equal, low, high = (builder.rewrite(fact, *names) for fact in facts)
                arithmetic.values.bounds[name] = Bounds(extent, low, high)
                whole = ("+", ("*", whole, extent), name)
                folds.append(By(equal))
                above = rest
    (key, first), (split, second) = (
        arithmetic.values.normal(whole),
        arithmetic.values.normal(value),
    )
    if key != split:
        moves = (By(first, backwards=True), *folds, By(second))
        fact = builder.calculate(canonical(key), *moves)
        arithmetic.values.know_sum(key, split, fact)


def _know_single(arithmetic: Arithmetic, ground: Ground) -> None:
    """The only index along an axis of one element is zero."""
    for axis in ground.layout.axes:
        name = index_name(axis.name)
        low = arithmetic.builder.find(("<=", 0, name))
        high = arithmetic.builder.find(("<", name, 1))
        if low is not None and high is not None:
            zero = arithmetic.builder.have(("=", name, 0), low, high)
            arithmetic.values.know(name, {}, zero)


def _equal(arithmetic: Arithmetic, left: Term, right: Term) -> None:
    """Prove that two terms are equal: part by part where they are built alike, else as a whole."""
    parts = _parts_alike(arithmetic, left, right)
    if parts is not None:
        moves = sorted(dict.fromkeys(parts), key=lambda move: -len(str(_left(arithmetic, move))))
        fact = arithmetic.builder.calculate(left, *moves)
        if arithmetic.builder.formula(fact) == ("=", left, right):
            return
    (one, _), (other, _) = arithmetic.values.normal(left), arithmetic.values.normal(right)
    if one == other:
        _equal_as_a_whole(arithmetic, left, right)
    else:
        leftover.equal(arithmetic, left, right)


def _no_more(arithmetic: Arithmetic, left: Term, right: Term) -> None:
    """Prove ``left <= right``: they are equal, or what is between is a sum of products of sizes.

    What is rounded up is no less than what was rounded.
    """
    builder = arithmetic.builder
    (one, first), (other, second) = arithmetic.values.normal(left), arithmetic.values.normal(right)
    between = total([(other, 1), (one, -1)])
    premises = [first, second]
    if any(coefficient < 0 for coefficient in between.values()):
        rounded = list(_quotients(builder, right))
        if not rounded:
            _equal(arithmetic, left, right)
            premises.append(builder.have(("=", left, right)))
        premises += [right] if isinstance(right, str) else []
        for dividend, divisor in rounded:
            arithmetic.positive(divisor)
            premises += builder.use("DIVISION", {"x": dividend, "B": divisor})
            premises.append(arithmetic.values.normal(dividend)[1])
        premises += [*arithmetic.premises(one), *arithmetic.premises(other)]
    else:
        premises += [arithmetic.positive(canonical({each: 1})) for each in between if each]
    builder.have(("<=", left, right), *premises)


def _quotients(builder: ProofBuilder, term: Term) -> Iterator[tuple[Term, int]]:
    """What is divided by a number in a term, and by which."""
    match term:
        case str():
            definition = builder.find_definition(term)
            if definition is not None:
                yield from _quotients(builder, definition)
        case ("div", dividend, int(divisor)):
            yield dividend, divisor
        case (_, *parts):
            for each in parts:
                yield from _quotients(builder, each)


def _left(arithmetic: Arithmetic, move: By) -> Term:
    return arithmetic.builder.formula(move.fact)[1]  # type: ignore[index]


def _parts_alike(arithmetic: Arithmetic, left: Term, right: Term) -> list[By] | None:
    """Return what turns one term into the other, where they differ in small parts only."""
    if left == right:
        return []
    match left, right:
        case (str() as one, *lefts), (str() as other, *rights) if (
            isinstance(left, tuple) and isinstance(right, tuple) and one == other
        ):
            pairs = zip(lefts, rights, strict=True)
            found = [_parts_alike(arithmetic, each, twin) for each, twin in pairs]
            inner = [each for each in found if each is not None]
            if len(inner) == len(found):
                return [move for each in inner for move in each]
            if one in ("+", "-", "*"):
                return None
    try:
        return [By(_equal_as_a_whole(arithmetic, left, right))]
    except NoProof:
        return None


def _equal_as_a_whole(arithmetic: Arithmetic, left: Term, right: Term) -> str:
    (one, first), (other, second) = arithmetic.values.normal(left), arithmetic.values.normal(right)
    if one != other:
        raise NoProof("the two sides have different normal forms")
    known = arithmetic.builder.find(("=", left, right))
    if known is not None:
        return known
    fact = arithmetic.builder.calculate(left, By(first), By(second, backwards=True))
    if arithmetic.builder.formula(fact) != ("=", left, right):
        return arithmetic.builder.have(("=", left, right), first, second)
    return fact


def prove_fits(
    theorem: Theorem, ceilings: Mapping[str, int], lemmas: Mapping[str, Theorem]
) -> Proof:
    """Prove that a size stays below a number, from the largest value of each extent.

    Args:
        theorem: its one goal bounds ``size``.
        ceilings: the largest value of each extent in the range, as far as there is one.
        lemmas: the lemma library.

    Raises:
        NoProof: an extent has no largest value.
    """
    builder = ProofBuilder(theorem, lemmas)
    bounded = _Bounded(builder, ceilings)
    fact, _ = bounded.upper("size")
    (goal,) = theorem.goals
    builder.have(goal, fact)
    return builder.proof


def prove_numbers(theorem: Theorem) -> Proof:
    """Prove goals without variables, by working out every term from its parts.

    Raises:
        NoProof: a divisor is not positive.
    """
    builder = ProofBuilder(theorem, {})
    for goal in theorem.goals:
        builder.have(goal, *_worked_out(builder, goal))
    return builder.proof


def _worked_out(builder: ProofBuilder, formula: Term) -> list[str]:
    match formula:
        case (("=" | "<=" | "<"), *sides):
            return [fact for side in sides for fact in _value(builder, side)[1]]
        case (_, *parts):
            return [fact for part in parts for fact in _worked_out(builder, part)]
    raise NoProof(f"{formula} is no formula")


_OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "div": operator.floordiv,
    "mod": operator.mod,
}


def _value(builder: ProofBuilder, term: Term) -> tuple[int, list[str]]:
    """Return the number that a term is, and the fact that says so, where it is no number itself."""
    match term:
        case int():
            return term, []
        case (str() as name, left, right):
            (one, first), (other, second) = _value(builder, left), _value(builder, right)
            if name in ("div", "mod") and other <= 0:
                raise NoProof(f"the divisor {other} is not positive")
            number = _OPERATIONS[name](one, other)
            larger_first = sorted((*first, *second), key=lambda f: -len(str(builder.formula(f))))
            plain = builder.calculate(term, *map(By, larger_first))
            return number, [builder.have(("=", term, number), plain)]
    raise NoProof(f"{term} is no number")


class _Bounded:
    """Largest values of terms over extents, each with its proof."""

    def __init__(self, builder: ProofBuilder, ceilings: Mapping[str, int]) -> None:
        self._builder = builder
        self._arithmetic = Arithmetic(builder)
        self._ceilings = ceilings

    def upper(self, term: Term) -> tuple[str, int]:
        """Return the fact ``term <= number``, and the number."""
        match term:
            case int():
                return self._builder.have(("<=", term, term)), term
            case str():
                return self._name(term)
            case ("*", left, right):
                return self._product(left, right)
            case ("+", left, right):
                (one, first), (other, second) = self.upper(left), self.upper(right)
                return self._builder.have(("<=", term, first + second), one, other), first + second
            case ("-", left, int(number)):
                fact, most = self.upper(left)
                return self._builder.have(("<=", term, most - number), fact), most - number
            case ("div", left, int(divisor)):
                fact, most = self.upper(left)
                return self._builder.have(("<=", term, most // divisor), fact), most // divisor
            case ("mod", _, int(divisor)):
                return self._builder.have(("<=", term, divisor - 1)), divisor - 1
        raise NoProof("an extent has no largest value that is known")

    def _name(self, name: str) -> tuple[str, int]:
        definition = self._builder.find_definition(name)
        if definition is not None:
            fact, most = self.upper(definition)
            return self._builder.have(("<=", name, most), name, fact), most
        if name not in self._ceilings:
            raise NoProof(f"the range gives `{name.removeprefix('n.')}` no largest value")
        most = self._ceilings[name]
        return self._builder.have(("<=", name, most), *self._builder.hypotheses), most

    def _product(self, left: Term, right: Term) -> tuple[str, int]:
        (_, first), (_, second) = self.upper(left), self.upper(right)
        self._arithmetic.not_negative(left)
        self._arithmetic.not_negative(right)
        values: dict[str, Term] = {"a": left, "b": right, "A": first, "B": second}
        _, fact = self._builder.use("BOUND", values)
        product = first * second
        return self._builder.have(("<=", ("*", left, right), product), fact), product
