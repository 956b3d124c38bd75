"""Swizzled digits in the proof of `decode`: what a slot says of the digit before it was moved.

An exclusive or and a rotation are moved back in the same words, and evaluated like any term. Of a
shift the straight digit is what is known, and the coordinate is spoken of by it. Not trusted.
"""

from __future__ import annotations

from layoutdsl.language.digits.network import Fixed, Network, Rotation, Shift, Swizzle, Turn
from layoutdsl.language.digits.steps import digit_name, moved_name, straight_name
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.checker import By, Term
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.statements.terms import step_name
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.polynomials import Bounds, canonical
from layoutdsl.proof.tactics.turning import turn_back


def straightened(network: Network) -> set[str]:
    """Return the names of steps that are evaluated as they are written."""
    return {
        step_name(name)
        for swizzle in network.swizzles
        if not isinstance(swizzle.moved, Shift | Turn)
        for name, _ in swizzle.steps
    }


def know_swizzled(
    arithmetic: Arithmetic, ground: Ground, network: Network, wire: int, bounds: Bounds
) -> None:
    """Remember the bounds of a swizzled coordinate, which a guard may make narrower."""
    swizzle, name = network.swizzle_of(wire), step_name(digit_name(wire))
    assert swizzle is not None
    if isinstance(swizzle.moved, Shift | Fixed):
        arithmetic.values.bounds[name] = bounds
        return
    if isinstance(swizzle.moved, Rotation):
        radix = ground.vocabulary.term(swizzle.moved.radix)
        arithmetic.positive(radix)
        guard = arithmetic.builder.find(("<", name, radix))
        if guard is None:
            guard = arithmetic.below(bounds.high, radix)
        bounds = Bounds(radix, bounds.low, guard)
    arithmetic.digit(name, bounds)


def straighten(arithmetic: Arithmetic, ground: Ground, swizzle: Swizzle) -> None:
    """Find the value of the digit that a coordinate was made of, and its bounds."""
    if isinstance(swizzle.moved, Shift):
        _shifted(arithmetic, ground, swizzle, swizzle.moved)
        return
    if isinstance(swizzle.moved, Turn):
        turn_back(arithmetic, ground, swizzle, swizzle.moved)
        return
    if isinstance(swizzle.moved, Fixed):
        _fixed(arithmetic, ground, swizzle)
        return
    name = step_name(straight_name(swizzle.wire))
    value, equal = arithmetic.values.normal(name)
    for guard in swizzle.guards:
        formula = ground.vocabulary.condition(guard)
        match formula:
            case ("<", left, limit) if left == name:
                given = arithmetic.builder.find(formula)
                bounds = arithmetic.values.reach(value)
                if given is None or bounds is None:
                    raise NoProof(f"{name} has no bounds that are known")
                high = arithmetic.builder.rewrite(given, By(equal))
                narrow(arithmetic, canonical(value), Bounds(limit, bounds.low, high))


def _fixed(arithmetic: Arithmetic, ground: Ground, swizzle: Swizzle) -> None:
    name, other = step_name(digit_name(swizzle.wire)), ground.vocabulary.term(swizzle.other)
    if arithmetic.builder.find(("=", name, other)) is None:
        raise NoProof(f"no guard says what {name} is")
    value, equal = arithmetic.values.normal(other)
    given = arithmetic.builder.find(("=", name, other))
    assert given is not None
    arithmetic.values.know(name, value, arithmetic.builder.calculate(name, By(given), By(equal)))


def narrow(arithmetic: Arithmetic, term: Term, bounds: Bounds) -> None:
    """Remember bounds of a term that are narrower than those of its digits."""
    if isinstance(term, str):
        arithmetic.values.bounds[term] = bounds
        return
    value, _ = arithmetic.values.normal(term)
    arithmetic.values.groups.insert(0, (value, bounds))


def _shifted(arithmetic: Arithmetic, ground: Ground, swizzle: Swizzle, moved: Shift) -> None:
    builder, term = arithmetic.builder, ground.vocabulary.term
    value, straight = step_name(digit_name(swizzle.wire)), step_name(straight_name(swizzle.wire))
    rest = step_name(moved_name(swizzle.wire)) if len(swizzle.steps) > 1 else straight
    limit, step, other = term(moved.limit), term(moved.step), term(swizzle.other)
    low, high = _guarded(
        arithmetic, rest, value, limit if rest == straight else _times(limit, step)
    )
    away: Term = straight
    equal = rest
    if rest != straight:
        high = arithmetic.below(high, _times(limit, step))
        arithmetic.positive(step)
        facts = builder.use("UNPAIR", {"x": rest, "A": limit, "B": step})
        facts = [builder.rewrite(fact, By(straight, backwards=True)) for fact in facts]
        low, high = facts[:2]
        away = _times(straight, step)
        exact = builder.find(("=", ("mod", rest, step), 0))
        if exact is None:
            raise NoProof(f"no guard says that {step} divides {rest}")
        equal = builder.have(("=", rest, away), facts[4], exact)
    arithmetic.digit(straight, Bounds(limit, low, high))
    spelled: Term = ("+" if moved.sign > 0 else "-", other, away)
    same = builder.have(("=", value, spelled), rest, equal)
    result, fact = arithmetic.values.normal(spelled)
    if swizzle.wire >= len(ground.layout.coordinates):
        # A tuple of this part alone may be cut: then its digits are what was read.
        read, equal = arithmetic.values.normal(value)
        moved_back = builder.calculate(canonical(result), By(fact, backwards=True))
        turned = builder.have(("=", canonical(result), canonical(read)), moved_back, same, equal)
        arithmetic.values.know_sum(result, read, turned)
    arithmetic.values.know(value, result, builder.calculate(value, By(same), By(fact)))


def _times(left: Term, right: Term) -> Term:
    return ("*", left, right)


def _guarded(arithmetic: Arithmetic, name: str, value: str, upper: Term) -> tuple[str, str]:
    """The facts that a step is in its bounds: by guards, or as the coordinate is in its own."""
    builder = arithmetic.builder
    own = arithmetic.values.bounds[value]
    premises = (name, own.low, own.high, *builder.extent_definitions)
    low = builder.have(("<=", 0, name), *premises)
    guards = [
        fact
        for fact in builder.hypotheses
        if builder.formula(fact)[:2] == ("<", name)  # type: ignore[index]
    ]
    return low, guards[0] if guards else builder.have(("<", name, upper), *premises)
