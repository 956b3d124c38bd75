"""Proofs of claims: both sides in normal form over common digits. Not trusted."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping

from layoutdsl.expr import Expr, Extent, Mod, indices, substitute
from layoutdsl.model import Condition
from layoutdsl.prove.arith import Arithmetic
from layoutdsl.prove.checker import By, Proof, Term, Theorem
from layoutdsl.prove.narrow import narrow
from layoutdsl.prove.refinement import refine
from layoutdsl.prove.script import Script, Stuck
from layoutdsl.prove.statement import Ground
from layoutdsl.prove.terms import Vocabulary


def prove_equations(
    ground: Ground, theorem: Theorem, exprs: Iterable[Expr], lemmas: Mapping[str, Theorem]
) -> Proof:
    """Prove goals that are equations, by bringing both sides into normal form.

    Args:
        ground: of the layout that the theorem speaks of.
        theorem: all of its goals are equations.
        exprs: whatever the theorem divides; it decides the digits.
        lemmas: the lemma library.

    Raises:
        Stuck: the two sides have different normal forms.
    """
    fixed: dict[str, Expr] = {
        each.left.name: each.right
        for each in ground.layout.where
        if isinstance(each.left, Extent) and each.operator == "==" and not indices(each.right)
    }
    exprs = tuple(substitute(each, fixed) for each in exprs)
    if any(isinstance(each.left, Mod) for each in ground.layout.where):
        try:
            return _by_normal_forms(ground, theorem, exprs, lemmas, ground.layout.where)
        except Stuck:
            pass  # what the range divides by may not fit to what the expressions divide by
    return _by_normal_forms(ground, theorem, exprs, lemmas, ())


def _by_normal_forms(
    ground: Ground,
    theorem: Theorem,
    exprs: tuple[Expr, ...],
    lemmas: Mapping[str, Theorem],
    range_: tuple[Condition, ...],
) -> Proof:
    script = Script(theorem, lemmas)
    arithmetic = Arithmetic(script, frozenset(name for name, _ in theorem.definitions))
    plain = Vocabulary(
        {expr: name for expr, name in ground.vocabulary.shared.items() if name.startswith("m.")}
    )
    refine(arithmetic, plain, exprs, range_)
    narrow(arithmetic)
    for goal in theorem.goals:
        match goal:
            case ("=", left, right):
                _equal(arithmetic, left, right)
            case _:
                raise Stuck(f"{goal} is no equation")
    return script.proof


def _equal(arithmetic: Arithmetic, left: Term, right: Term) -> None:
    (one, first), (other, second) = arithmetic.values.normal(left), arithmetic.values.normal(right)
    if one != other:
        raise Stuck("the two sides have different normal forms")
    if arithmetic.script.find(("=", left, right)) is None:
        fact = arithmetic.script.calculate(left, By(first), By(second, backwards=True))
        if arithmetic.script.formula(fact) != ("=", left, right):
            arithmetic.script.have(("=", left, right), first, second)


def prove_fits(
    theorem: Theorem, ceilings: Mapping[str, int], lemmas: Mapping[str, Theorem]
) -> Proof:
    """Prove that a size stays below a number, from the largest value of each extent.

    Args:
        theorem: its one goal bounds ``size``.
        ceilings: the largest value of each extent in the range, as far as there is one.
        lemmas: the lemma library.

    Raises:
        Stuck: an extent has no largest value.
    """
    script = Script(theorem, lemmas)
    bounded = _Bounded(script, ceilings)
    fact, _ = bounded.upper("size")
    (goal,) = theorem.goals
    script.have(goal, fact)
    return script.proof


def prove_numbers(theorem: Theorem) -> Proof:
    """Prove goals without variables, by working out every term from its parts.

    Raises:
        Stuck: a divisor is not positive.
    """
    script = Script(theorem, {})
    for goal in theorem.goals:
        script.have(goal, *_worked_out(script, goal))
    return script.proof


def _worked_out(script: Script, formula: Term) -> list[str]:
    match formula:
        case (("=" | "<=" | "<"), *sides):
            return [fact for side in sides for fact in _value(script, side)[1]]
        case (_, *parts):
            return [fact for part in parts for fact in _worked_out(script, part)]
    raise Stuck(f"{formula} is no formula")


_OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "div": operator.floordiv,
    "mod": operator.mod,
}


def _value(script: Script, term: Term) -> tuple[int, list[str]]:
    """Return the number that a term is, and the fact that says so, where it is no number itself."""
    match term:
        case int():
            return term, []
        case (str() as name, left, right):
            (one, first), (other, second) = _value(script, left), _value(script, right)
            if name in ("div", "mod") and other <= 0:
                raise Stuck(f"the divisor {other} is not positive")
            number = _OPERATIONS[name](one, other)
            larger_first = sorted((*first, *second), key=lambda f: -len(str(script.formula(f))))
            plain = script.calculate(term, *map(By, larger_first))
            return number, [script.have(("=", term, number), plain)]
    raise Stuck(f"{term} is no number")


class _Bounded:
    """Largest values of terms over extents, each with its proof."""

    def __init__(self, script: Script, ceilings: Mapping[str, int]) -> None:
        self._script = script
        self._arithmetic = Arithmetic(script)
        self._ceilings = ceilings

    def upper(self, term: Term) -> tuple[str, int]:
        """Return the fact ``term <= number``, and the number."""
        match term:
            case int():
                return self._script.have(("<=", term, term)), term
            case str():
                return self._name(term)
            case ("*", left, right):
                return self._product(left, right)
            case ("+", left, right):
                (one, first), (other, second) = self.upper(left), self.upper(right)
                return self._script.have(("<=", term, first + second), one, other), first + second
            case ("-", left, int(number)):
                fact, most = self.upper(left)
                return self._script.have(("<=", term, most - number), fact), most - number
            case ("div", left, int(divisor)):
                fact, most = self.upper(left)
                return self._script.have(("<=", term, most // divisor), fact), most // divisor
            case ("mod", _, int(divisor)):
                return self._script.have(("<=", term, divisor - 1)), divisor - 1
        raise Stuck("an extent has no largest value that is known")

    def _name(self, name: str) -> tuple[str, int]:
        definition = self._script.find_definition(name)
        if definition is not None:
            fact, most = self.upper(definition)
            return self._script.have(("<=", name, most), name, fact), most
        if name not in self._ceilings:
            raise Stuck(f"the range gives `{name.removeprefix('n.')}` no largest value")
        most = self._ceilings[name]
        return self._script.have(("<=", name, most), *self._script.hypotheses), most

    def _product(self, left: Term, right: Term) -> tuple[str, int]:
        (_, first), (_, second) = self.upper(left), self.upper(right)
        self._arithmetic.not_negative(left)
        self._arithmetic.not_negative(right)
        values: dict[str, Term] = {"a": left, "b": right, "A": first, "B": second}
        _, fact = self._script.use("BOUND", values)
        product = first * second
        return self._script.have(("<=", ("*", left, right), product), fact), product
