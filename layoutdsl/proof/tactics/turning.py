"""Digits that are turned round in every other row, and turned round once more.

With a switch `s` that is 0 or 1, `s*s` is `s`. So turned twice, `d + s*(top - 2*d)` is `d` again;
and that it is from 0 to `top` follows from four products that are not negative. Not trusted.
"""

from __future__ import annotations

from layoutdsl.language.digits.network import Swizzle, Turn
from layoutdsl.language.digits.steps import digit_name, straight_name
from layoutdsl.language.integers.expr import Expr
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.polynomial import Polynomial, product, total
from layoutdsl.proof.kernel.theorem import By, Ring, Term
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.statements.terms import step_name
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.polynomials import Bounds, canonical

ONE: Polynomial = {(): 1}


def turn(arithmetic: Arithmetic, ground: Ground, moved: Turn, digit: Term) -> None:
    """Bound a digit of the index when it is turned, and let it be read off again."""
    turning = _Turning(arithmetic, ground, moved, moved.other)
    straight, _ = arithmetic.values.normal(digit)
    low, high = arithmetic.in_range(canonical(straight), turning.limit)
    turned, bounds = turning.bounds(straight, low, high)
    arithmetic.values.groups.append((turned, bounds))
    key, fact = turning.back(turned, straight)
    arithmetic.values.know_sum(key, straight, fact)


def turn_back(arithmetic: Arithmetic, ground: Ground, swizzle: Swizzle, moved: Turn) -> None:
    """Find the digit that was turned, with its bounds; the coordinate is spoken of by it."""
    builder, values = arithmetic.builder, arithmetic.values
    turning = _Turning(arithmetic, ground, moved, swizzle.other)
    name, value = step_name(straight_name(swizzle.wire)), step_name(digit_name(swizzle.wire))
    own = values.bounds[value]
    definition = builder.find_definition(name)
    assert definition is not None
    written, equal = values.normal(definition)
    same = builder.calculate(name, By(name), By(equal))
    low, high = (builder.find(each) for each in (("<=", 0, name), ("<", name, turning.limit)))
    if low is None or high is None:
        _, found = turning.bounds({(value,): 1}, own.low, arithmetic.below(own.high, turning.limit))
        low = builder.calculate_in(found.low, ("<=", 0, name), same)
        high = builder.calculate_in(found.high, ("<", name, turning.limit), same)
    turned = turning.turned({(value,): 1})
    if turned != written:
        raise NoProof(f"{name} is not {value} turned back")
    straight: Polynomial = {(name,): 1}
    again = turning.turned(straight)
    unfolded, fact = turning.back(turned, {(value,): 1})
    assert unfolded == turning.turned(turned)
    spelled = turning.spelled(name)
    moves = (Ring(spelled), By(same), Ring(canonical(unfolded)), By(fact))
    known = builder.calculate(canonical(again), *moves)
    arithmetic.digit(name, Bounds(turning.limit, low, high))
    values.know(value, again, builder.calculate(value, By(known, backwards=True)))


class _Turning:
    """The arithmetic of one switch."""

    def __init__(self, arithmetic: Arithmetic, ground: Ground, moved: Turn, switch: Expr) -> None:
        self._builder = arithmetic.builder
        value, _ = arithmetic.values.normal(ground.vocabulary.term(switch))
        name = canonical(value)
        bounds = arithmetic.values.bounds.get(name) if isinstance(name, str) else None
        if bounds is None or bounds.upper != 2 or not isinstance(name, str):
            raise NoProof("what turns a digit round is no digit below 2")
        self._switch, self._on_or_off = name, (bounds.low, bounds.high)
        self.limit = ground.vocabulary.term(moved.limit)
        self._top, _ = arithmetic.values.normal(ground.vocabulary.term(moved.top))
        self._known = (*self._builder.hypotheses, *self._builder.extent_definitions)

    def turned(self, digit: Polynomial) -> Polynomial:
        """Return the digit plus the switch times what it lacks to the top."""
        lacking = total([(self._top, 1), (digit, -2)])
        return total([(digit, 1), (product({(self._switch,): 1}, lacking), 1)])

    def spelled(self, name: str) -> Term:
        """Return a turned digit as a term in which its name stands by itself."""
        lacking: Term = ("-", canonical(self._top), ("*", 2, name))
        return ("+", name, ("*", self._switch, lacking))

    def bounds(self, digit: Polynomial, low: str, high: str) -> tuple[Polynomial, Bounds]:
        """Return the turned digit and its bounds, from those of the digit."""
        builder = self._builder
        plain, above = canonical(digit), total([(self._top, 1), (digit, -1)])
        room = builder.have(("<=", 0, canonical(above)), high, *self._known)
        off: Term = ("-", 1, self._switch)
        premises = [low, high, room, *self._on_or_off, *self._known]
        premises.append(builder.have(("<=", 0, off), *self._on_or_off))
        for one in (self._switch, off):
            for other in (plain, canonical(above)):
                (fact,) = builder.use("PRODUCT", {"a": one, "b": other})
                whole = product(_of(one), digit if other == plain else above)
                same = builder.calculate(("*", one, other), Ring(canonical(whole)))
                premises += [fact, same]
        value = self.turned(digit)
        least = builder.have(("<=", 0, canonical(value)), *premises)
        most = builder.have(("<", canonical(value), self.limit), *premises)
        return value, Bounds(self.limit, least, most)

    def back(self, turned: Polynomial, digit: Polynomial) -> tuple[Polynomial, str]:
        """Return a turned digit turned once more, and the fact that this is the digit."""
        key = self.turned(turned)
        switch, plain = self._switch, canonical(digit)
        lacking: Term = ("-", canonical(self._top), ("*", 2, plain))
        nothing: Term = ("*", 2, ("*", ("-", switch, ("*", switch, switch)), lacking))
        moves = (Ring(("+", plain, nothing)), By(self._square()), Ring(plain))
        return key, self._builder.calculate(canonical(key), *moves)

    def _square(self) -> str:
        """The fact that the square of the switch is the switch."""
        builder, switch = self._builder, self._switch
        off: Term = ("-", 1, switch)
        builder.have(("<=", 0, off), *self._on_or_off)
        facts = list(self._on_or_off)
        for one, other in ((switch, switch), (switch, off), (off, off)):
            (fact,) = builder.use("PRODUCT", {"a": one, "b": other})
            whole = canonical(product(_of(one), _of(other)))
            facts += [fact, builder.calculate(("*", one, other), Ring(whole))]
        return builder.have(("=", ("*", switch, switch), switch), *facts)


def _of(term: Term) -> Polynomial:
    match term:
        case ("-", 1, str() as name):
            return {(): 1, (name,): -1}
    return {(term,): 1}
