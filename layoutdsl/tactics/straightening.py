"""Twisted digits in the proof of `decode`: what a slot says of the digit before it was moved.

An exclusive or and a rotation are moved back in the same words, and evaluated like any term. Of a
shift the straight digit is what is known, and the coordinate is spoken of by it. Not trusted.
"""

from __future__ import annotations

from layoutdsl.digits.network import Fixed, Network, Rotation, Shift, Turn, Twist
from layoutdsl.digits.steps import digit_name, moved_name, straight_name
from layoutdsl.kernel.checker import By, Term
from layoutdsl.kernel.script import Stuck
from layoutdsl.statements.statement import Ground
from layoutdsl.statements.terms import step_name
from layoutdsl.tactics.arith import Arithmetic
from layoutdsl.tactics.polynomials import Bounds, canonical
from layoutdsl.tactics.turning import turn_back


def straightened(network: Network) -> set[str]:
    """Return the names of steps that are evaluated as they are written."""
    return {
        step_name(name)
        for twist in network.twists
        if not isinstance(twist.kind, Shift | Turn)
        for name, _ in twist.steps
    }


def know_twisted(
    arithmetic: Arithmetic, ground: Ground, network: Network, wire: int, bounds: Bounds
) -> None:
    """Remember the bounds of a twisted coordinate, which a guard may make narrower."""
    twist, name = network.twist_of(wire), step_name(digit_name(wire))
    assert twist is not None
    if isinstance(twist.kind, Shift | Fixed):
        arithmetic.values.bounds[name] = bounds
        return
    if isinstance(twist.kind, Rotation):
        radix = ground.vocabulary.term(twist.kind.radix)
        arithmetic.positive(radix)
        guard = arithmetic.script.find(("<", name, radix))
        if guard is None:
            guard = arithmetic.below(bounds.high, radix)
        bounds = Bounds(radix, bounds.low, guard)
    arithmetic.digit(name, bounds)


def straighten(arithmetic: Arithmetic, ground: Ground, twist: Twist) -> None:
    """Find the value of the digit that a coordinate was made of, and its bounds."""
    if isinstance(twist.kind, Shift):
        _shifted(arithmetic, ground, twist, twist.kind)
        return
    if isinstance(twist.kind, Turn):
        turn_back(arithmetic, ground, twist, twist.kind)
        return
    if isinstance(twist.kind, Fixed):
        _fixed(arithmetic, ground, twist.wire, twist.kind)
        return
    name = step_name(straight_name(twist.wire))
    value, equal = arithmetic.values.normal(name)
    for guard in twist.guards:
        formula = ground.vocabulary.condition(guard)
        match formula:
            case ("<", left, limit) if left == name:
                given = arithmetic.script.find(formula)
                bounds = arithmetic.values.reach(value)
                if given is None or bounds is None:
                    raise Stuck(f"{name} has no bounds that are known")
                high = arithmetic.script.rewrite(given, By(equal))
                _narrow(arithmetic, canonical(value), Bounds(limit, bounds.low, high))


def _fixed(arithmetic: Arithmetic, ground: Ground, wire: int, kind: Fixed) -> None:
    name, other = step_name(digit_name(wire)), ground.vocabulary.term(kind.other)
    if arithmetic.script.find(("=", name, other)) is None:
        raise Stuck(f"no guard says what {name} is")
    value, equal = arithmetic.values.normal(other)
    given = arithmetic.script.find(("=", name, other))
    assert given is not None
    arithmetic.values.know(name, value, arithmetic.script.calculate(name, By(given), By(equal)))


def _narrow(arithmetic: Arithmetic, term: Term, bounds: Bounds) -> None:
    if isinstance(term, str):
        arithmetic.values.bounds[term] = bounds
        return
    value, _ = arithmetic.values.normal(term)
    arithmetic.values.groups.insert(0, (value, bounds))


def _shifted(arithmetic: Arithmetic, ground: Ground, twist: Twist, kind: Shift) -> None:
    script, term = arithmetic.script, ground.vocabulary.term
    value, straight = step_name(digit_name(twist.wire)), step_name(straight_name(twist.wire))
    rest = step_name(moved_name(twist.wire)) if len(twist.steps) > 1 else straight
    limit, step, other = term(kind.limit), term(kind.step), term(kind.other)
    low, high = _guarded(
        arithmetic, rest, value, limit if rest == straight else _times(limit, step)
    )
    away: Term = straight
    equal = rest
    if rest != straight:
        high = arithmetic.below(high, _times(limit, step))
        arithmetic.positive(step)
        facts = script.use("UNPAIR", {"x": rest, "A": limit, "B": step})
        facts = [script.rewrite(fact, By(straight, backwards=True)) for fact in facts]
        low, high = facts[:2]
        away = _times(straight, step)
        exact = script.find(("=", ("mod", rest, step), 0))
        if exact is None:
            raise Stuck(f"no guard says that {step} divides {rest}")
        equal = script.have(("=", rest, away), facts[4], exact)
    arithmetic.digit(straight, Bounds(limit, low, high))
    moved: Term = ("+", other, away) if kind.sign > 0 else ("-", other, away)
    same = script.have(("=", value, moved), rest, equal)
    result, fact = arithmetic.values.normal(moved)
    arithmetic.values.know(value, result, script.calculate(value, By(same), By(fact)))


def _times(left: Term, right: Term) -> Term:
    return ("*", left, right)


def _guarded(arithmetic: Arithmetic, name: str, value: str, upper: Term) -> tuple[str, str]:
    """The facts that a step is in its bounds: by guards, or as the coordinate is in its own."""
    script = arithmetic.script
    own = arithmetic.values.bounds[value]
    premises = (name, own.low, own.high, *script.extent_definitions)
    low = script.have(("<=", 0, name), *premises)
    guards = [
        fact
        for fact in script.hypotheses
        if script.formula(fact)[:2] == ("<", name)  # type: ignore[index]
    ]
    return low, guards[0] if guards else script.have(("<", name, upper), *premises)
