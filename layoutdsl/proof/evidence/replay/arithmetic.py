"""Rules about numbers: polynomials, sums and multiples of bounds, signs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from layoutdsl.proof.evidence.replay.steps import Rule, Step, numbers, parts_of
from layoutdsl.proof.evidence.replay.terms import Refused, Term
from layoutdsl.proof.evidence.replay.values import polynomial, sign

RELATIONS = ("=", "<", "<=", ">", ">=")
_TURNED: Mapping[str, str] = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OUTCOMES: Mapping[str, frozenset[int]] = {
    "=": frozenset({0}),
    "<": frozenset({-1}),
    ">": frozenset({1}),
    "<=": frozenset({-1, 0}),
    ">=": frozenset({0, 1}),
}
"""Of each relation, the signs of left minus right at which it holds."""


def related(formula: Term) -> tuple[str, Term, Term]:
    """Return the relation of two numbers that a formula is.

    Raises:
        Refused: it is none.
    """
    if formula.operator not in RELATIONS:
        raise Refused(f"`{formula}` compares no numbers")
    left, right = formula.parts
    numbers(left, right)
    return formula.operator, left, right


def _zero(step: Step, like: Term) -> Term:
    return step.terms.literal(0, like.sort)


def arith_poly_norm(step: Step) -> Term:
    """Two numbers that are one polynomial are equal, whatever the unknowns are."""
    step.plain(0, 1)
    left, right = parts_of(step.argument(0), "=", "its argument")
    numbers(left, right)
    known = step.memory.polynomials
    if polynomial(left, known) != polynomial(right, known):
        raise Refused("its sides are two polynomials")
    return step.argument(0)


def arith_poly_norm_rel(step: Step) -> Term:
    """Where `a*(x1 - x2)` is `b*(y1 - y2)`, the differences are 0 together, as `a` and `b` are not;
    where these have one sign, the differences have one sign too."""
    step.plain(1, 1)
    left, right = parts_of(step.argument(0), "=", "its argument")
    relation, *before = related(left)
    other, *after = related(right)
    if relation != other:
        raise Refused("its sides are two relations")
    scaled = parts_of(step.premises[0], "=", "its premise")
    signs = [_scale(each, pair) for each, pair in zip(scaled, (before, after), strict=True)]
    if relation != "=" and signs[0] != signs[1]:
        raise Refused("its factors have two signs")
    return step.argument(0)


def _scale(product: Term, difference: list[Term]) -> int:
    """The sign of the number that a difference is multiplied by."""
    parts = parts_of(product, "*", "a side of its premise")
    if len(parts) != 2 or not parts[0].number:
        raise Refused("its premise does not multiply by a number other than 0")
    found = parts[1]
    if found.operator == "to_real":
        (found,) = found.parts
    if found.operator != "-" or list(found.parts) != difference:
        raise Refused("its premise is about other differences")
    return sign(parts[0].number)


def arith_sum_ub(step: Step) -> Term:
    """Sums of what is at most as large are at most as large, and less where one of them is less."""
    step.plain(len(step.premises), 0)
    if not step.premises:
        raise Refused("it has no premises")
    found = [related(each) for each in step.premises]
    relations = {relation for relation, _, _ in found}
    if not relations <= {"<", "<=", "="}:
        raise Refused("a premise is no upper bound")
    left = step.make("+", *(each for _, each, _ in found))
    right = step.make("+", *(each for _, _, each in found))
    return step.make("<" if "<" in relations else "<=", left, right)


def arith_mult_pos(step: Step) -> Term:
    """What is multiplied by a positive number stays related as it was."""
    step.plain(0, 2)
    factor, formula = step.argument(0), step.argument(1)
    relation, left, right = related(formula)
    numbers(factor)
    above = step.make(">", factor, _zero(step, factor))
    product = step.make(relation, step.make("*", factor, left), step.make("*", factor, right))
    return step.make("=>", step.make("and", above, formula), product)


def arith_mult_neg(step: Step) -> Term:
    """What is multiplied by a negative number is related the other way round."""
    step.plain(0, 2)
    factor, formula = step.argument(0), step.argument(1)
    relation, left, right = related(formula)
    numbers(factor)
    below = step.make("<", factor, _zero(step, factor))
    products = step.make("*", factor, left), step.make("*", factor, right)
    return step.make(
        "=>", step.make("and", below, formula), step.make(_TURNED[relation], *products)
    )


def arith_trichotomy(step: Step) -> Term:
    """A number is below, at or above another one; two of the three being out, it is the third."""
    step.plain(2, 0)
    plain = [each.parts[0] if each.operator == "not" else each for each in step.premises]
    (_, *sides), (_, *others) = map(related, plain)
    if sides != others:
        raise Refused("its premises compare other numbers")
    left = _outcomes(step.premises[0]) & _outcomes(step.premises[1])
    for relation in ("<", "=", ">"):
        if left == _OUTCOMES[relation]:
            return step.make(relation, *sides)
    raise Refused("its premises do not leave one of three")


def _outcomes(formula: Term) -> frozenset[int]:
    """At which signs of left minus right a relation holds, which may be denied."""
    if formula.operator == "not":
        return frozenset({-1, 0, 1}) - _outcomes(formula.parts[0])
    return _OUTCOMES[related(formula)[0]]


def arith_mult_sign(step: Step) -> Term:
    """The sign of a product is that of its factors: even powers of what is not 0 are positive."""
    step.plain(0, 2)
    formula, product = step.argument(0), step.argument(1)
    known: dict[Term, int] = {}
    for each in formula.parts if formula.operator == "and" else (formula,):
        denied = each.operator == "not"
        relation, left, right = related(each.parts[0] if denied else each)
        if right.number != 0 or (denied, relation) not in ((True, "="), (False, "<"), (False, ">")):
            raise Refused("a condition says no sign")
        known[left] = 0 if denied else 1 if relation == ">" else -1
    found = 1
    for factor, power in Counter(parts_of(product, "*", "its second argument")).items():
        if factor not in known or (known[factor] == 0 and power % 2):
            raise Refused(f"the sign of `{factor}` is not known")
        found *= known[factor] ** power if known[factor] else 1
    relation = ">" if found > 0 else "<"
    return step.make("=>", formula, step.make(relation, product, _zero(step, product)))


def arith_mult_tangent(step: Step) -> Term:
    """`(x - a)*(y - b)` is at least 0 where both factors are on one side of 0, and at most 0 where
    they are on two; `x*y` beside `b*x + a*y - a*b` is that product beside 0."""
    step.plain(0, 5)
    x, y, a, b, above = (step.argument(place) for place in range(5))
    numbers(x, y, a, b)
    if above not in (step.terms.true, step.terms.false):
        raise Refused("it says neither `true` nor `false`")
    relation, other = (">=", "<=") if above is step.terms.true else ("<=", ">=")
    sums = step.make("+", step.make("*", b, x), step.make("*", a, y))
    tangent = step.make("-", sums, step.make("*", a, b))
    cases = [
        step.make("and", step.make("<=", x, a), step.make(other, y, b)),
        step.make("and", step.make(">=", x, a), step.make(relation, y, b)),
    ]
    product = step.make(relation, step.make("*", x, y), tangent)
    return step.make("=", product, step.make("or", *cases))


def arith_mult_abs_comparison(step: Step) -> Term:
    """Products of equal amounts are equal amounts. Of a larger amount and others that are larger,
    or equal and not 0, the product is larger."""
    step.plain(len(step.premises), 0)
    if not step.premises:
        raise Refused("it has no premises")
    relation = step.premises[0].operator
    pairs = [_amounts(relation, each) for each in step.premises]
    if relation not in ("=", ">"):
        raise Refused("its first premise is neither `=` nor `>`")
    sides = (step.make("abs", step.make("*", *each)) for each in zip(*pairs, strict=True))
    return step.make(relation, *sides)


def _amounts(relation: str, premise: Term) -> tuple[Term, Term]:
    """What a premise compares the amounts of, as the first one does, or as equal and not 0."""
    match premise:
        case Term(found, (Term("abs", (left,)), Term("abs", (right,)))) if found == relation:
            return left, right
        case Term(
            "and",
            (
                Term("=", (Term("abs", (left,)), Term("abs", (right,)))),
                Term("not", (Term("=", (same, zero)),)),
            ),
        ) if same is left and zero.number == 0:
            return left, right
    raise Refused("a premise compares no such amounts")


ARITHMETIC: dict[str, Rule] = {
    "arith_poly_norm": arith_poly_norm,
    "arith_poly_norm_rel": arith_poly_norm_rel,
    "arith_sum_ub": arith_sum_ub,
    "arith_mult_pos": arith_mult_pos,
    "arith_mult_neg": arith_mult_neg,
    "arith_mult_sign": arith_mult_sign,
    "arith_mult_tangent": arith_mult_tangent,
    "arith_mult_abs_comparison": arith_mult_abs_comparison,
    "arith_trichotomy": arith_trichotomy,
}
