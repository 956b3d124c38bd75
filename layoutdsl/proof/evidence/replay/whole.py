"""Rules about integers: bounds that are tightened, and what division is."""

from __future__ import annotations

import math
from fractions import Fraction

from layoutdsl.proof.evidence.replay.steps import Rule, Step, integers, numbers, parts_of
from layoutdsl.proof.evidence.replay.terms import Refused, Term
from layoutdsl.proof.evidence.replay.values import sign


def int_tight_ub(step: Step) -> Term:
    """An integer below a number is at most the integer before it."""
    step.plain(1, 0)
    left, right = parts_of(step.premises[0], "<", "its premise")
    return step.make("<=", left, step.terms.integer(math.ceil(_bound(left, right)) - 1))


def int_tight_lb(step: Step) -> Term:
    """An integer above a number is at least the integer after it."""
    step.plain(1, 0)
    left, right = parts_of(step.premises[0], ">", "its premise")
    return step.make(">=", left, step.terms.integer(math.floor(_bound(left, right)) + 1))


def _bound(left: Term, right: Term) -> Fraction:
    integers(left)
    if right.number is None:
        raise Refused("its premise has no number on the right")
    return right.number


def arith_reduction(step: Step) -> Term:
    """What division is, by what quotient and remainder say of each other; and what `abs` is."""
    step.plain(0, 1)
    term = step.argument(0)
    match term:
        case Term("div", (left, right)):
            unknown, total = step.make("@int_div_by_zero", left), "div_total"
        case Term("mod", (left, right)):
            unknown, total = step.make("@mod_by_zero", left), "mod_total"
        case Term("div_total", (left, right)):
            whole = step.make("@purify", term)
            return step.make("and", step.make("=", term, whole), _divided(step, left, right))
        case Term("mod_total", (left, right)):
            whole = step.make("@purify", step.make("div_total", left, right))
            rest = step.make("-", left, step.make("*", right, whole))
            return step.make("and", step.make("=", term, rest), _divided(step, left, right))
        case Term("abs", (inner,)):
            below = step.make("<", inner, step.terms.literal(0, inner.sort))
            return step.make("=", term, step.make("ite", below, step.make("-", inner), inner))
        case _:
            raise Refused(f"`{term}` is neither a division nor an amount")
    by_zero = step.make("=", right, step.terms.integer(0))
    return step.make("=", term, step.make("ite", by_zero, unknown, step.make(total, left, right)))


def _divided(step: Step, left: Term, right: Term) -> Term:
    """The quotient times the divisor is at most the number, and one more, or less, is above it."""
    whole = step.make("@purify", step.make("div_total", left, right))
    at_most = step.make("<=", step.make("*", right, whole), left)

    def bounds(more: int) -> Term:
        following = step.make("+", whole, step.terms.integer(more))
        return step.make("and", at_most, step.make("<", left, step.make("*", right, following)))

    if right.number is not None:
        if right.number == 0:
            raise Refused("it divides by 0")
        return bounds(sign(right.number))
    zero = step.terms.integer(0)
    positive, negative = step.make(">", right, zero), step.make("<", right, zero)
    return step.make(
        "and", step.make("=>", positive, bounds(1)), step.make("=>", negative, bounds(-1))
    )


def arith_int_eq_conflict(step: Step) -> Term:
    """An integer is no number with a fraction: `to_int` of that is another number."""
    step.plain(1, 2)
    whole, number = step.argument(0), step.argument(1)
    integers(whole)
    _fractional(step, number)
    equation = step.make("=", step.make("to_real", whole), number)
    return step.make("=", equation, step.terms.false)


def arith_int_geq_tighten(step: Step) -> Term:
    """An integer is at least a number with a fraction where it is at least the next integer."""
    step.plain(2, 3)
    whole, number, following = (step.argument(place) for place in range(3))
    integers(whole, following)
    _fractional(step, number)
    after = step.make("+", step.make("to_int", number), step.terms.integer(1))
    if step.premises[1] is not step.make("=", following, after):
        raise Refused("its second premise does not say what the next integer is")
    before = step.make(">=", step.make("to_real", whole), number)
    return step.make("=", before, step.make(">=", whole, following))


def _fractional(step: Step, number: Term) -> None:
    numbers(number)
    same = step.make("=", step.make("to_real", step.make("to_int", number)), number)
    if step.premises[0] is not step.make("=", same, step.terms.false):
        raise Refused("its first premise does not say that the number has a fraction")


WHOLE: dict[str, Rule] = {
    "int_tight_ub": int_tight_ub,
    "int_tight_lb": int_tight_lb,
    "arith_reduction": arith_reduction,
    "arith-int-eq-conflict": arith_int_eq_conflict,
    "arith-int-geq-tighten": arith_int_geq_tighten,
}
