"""A whole and its digits: cutting it by UNPAIR, and what its extent has to do with its reach."""

from __future__ import annotations

from layoutdsl.bounds import product
from layoutdsl.digits import Chain, Network, same
from layoutdsl.expr import CeilDiv, Expr
from layoutdsl.prove.arith import Arithmetic
from layoutdsl.prove.evaluate import Bounds, canonical
from layoutdsl.prove.growth import grown
from layoutdsl.prove.polynomial import polynomial
from layoutdsl.prove.statement import Ground
from layoutdsl.prove.theorem import By, Ring, Term


def split(
    arithmetic: Arithmetic,
    ground: Ground,
    network: Network,
    chain: Chain,
    whole: tuple[str, str, str],
) -> None:
    """Cut a whole into the digits of its chain; it becomes a polynomial in them.

    Args:
        arithmetic: where facts and bounds go.
        ground: the vocabulary.
        network: the wires.
        chain: how the whole is cut.
        whole: its name, and the facts ``0 <= name`` and ``name < reach``.
    """
    script = arithmetic.script
    name, low, high = whole
    radices, cap = radices_of(ground, network, chain)
    caps = [cap]
    for radix in reversed(radices):
        caps.insert(0, ("*", caps[0], radix))
    high = arithmetic.below(high, caps[0])
    rest, moves = name, list[By]()
    for number, radix in enumerate(radices):
        arithmetic.positive(radix)
        facts = script.use("UNPAIR", {"x": rest, "A": caps[number + 1], "B": radix})
        digit = script.define(f"g.{name}.{number}", ("mod", rest, radix))
        above = script.define(f"q.{name}.{number}", ("div", rest, radix))
        fold = (By(digit, backwards=True), By(above, backwards=True))
        low, high, digit_low, digit_high, equal = (script.rewrite(each, *fold) for each in facts)
        arithmetic.values.bounds[digit] = Bounds(radix, digit_low, digit_high)
        moves.append(By(equal, backwards=True))
        rest = above
    arithmetic.values.bounds[rest] = Bounds(caps[-1], low, high)
    if moves:
        joined = script.calculate(name, *moves)
        value = polynomial(script.right(joined))
        fact = script.calculate(name, By(joined), Ring(canonical(value)))
        arithmetic.values.know(name, value, fact)


def radices_of(ground: Ground, network: Network, chain: Chain) -> tuple[list[Term], Term]:
    """Return the radices of a chain, most minor first, and what its most major digit is below."""
    *minor, top = chain.cuts
    vocabulary = ground.vocabulary
    radices = [vocabulary.term(cut.radix) for cut in minor if cut.radix is not None]
    cap = top.radix if top.radix is not None else network.wires[top.wire].extent
    return radices, vocabulary.term(cap)


def at_most(
    arithmetic: Arithmetic, ground: Ground, network: Network, chain: Chain, extent: Term
) -> str:
    """Return the fact that the extent of a whole is at most the reach of its digits."""
    script = arithmetic.script
    reach = ground.vocabulary.term(chain.reach)
    fact = _ceilings(arithmetic, ground, network, chain)
    if fact is not None:
        match script.formula(fact):
            case ("<=", low, high):
                one, other = arithmetic.same(low, extent), arithmetic.same(high, reach)
                if one is not None and other is not None:
                    moved = script.rewrite(fact, By(other), By(one))
                    if script.formula(moved) == ("<=", extent, reach):
                        return moved
                    return script.have(("<=", extent, reach), fact, one, other)
    fact = grown(arithmetic, extent, reach)
    if fact is not None:
        return fact
    premises = (*script.hypotheses, *script.extent_definitions)
    return script.have(("<=", extent, reach), *premises)


def _ceilings(arithmetic: Arithmetic, ground: Ground, network: Network, chain: Chain) -> str | None:
    """``E <= ceil(...ceil(E/k)...) * k``, where the top digit has such an extent."""
    if not chain.cuts or chain.cuts[-1].radix is not None:
        return None
    script, vocabulary = arithmetic.script, ground.vocabulary
    extent: Expr = network.wires[chain.cuts[-1].wire].extent
    levels: list[tuple[Expr, Expr, Expr]] = []
    while isinstance(extent, CeilDiv):
        levels.append((extent, extent.left, extent.right))
        extent = extent.left
    divisor = product(tuple(block for _, _, block in levels))
    if not levels or not same(divisor, chain.cuts[-1].divisor):
        return None
    levels.reverse()
    ceiling, inner, block = levels[0]
    bound = _ceiling(arithmetic, ground, inner, block, ceiling)
    scale = vocabulary.term(block)
    for ceiling, inner, block in levels[1:]:
        step = _ceiling(arithmetic, ground, inner, block, ceiling)
        smaller: Term = vocabulary.term(inner)
        larger: Term = ("*", vocabulary.term(ceiling), vocabulary.term(block))
        arithmetic.not_negative(scale)
        assert script.formula(step) == ("<=", smaller, larger)
        (raised,) = script.use("MONOTONE", {"a": smaller, "b": larger, "k": scale})
        match script.formula(bound), script.formula(raised):
            case ("<=", low, _), ("<=", _, high):
                bound = script.have(("<=", low, high), bound, raised)
        scale = ("*", scale, vocabulary.term(block))
    return bound


def _ceiling(
    arithmetic: Arithmetic, ground: Ground, extent: Expr, block: Expr, ceiling: Expr
) -> str:
    """The fact ``extent <= ceiling * block``."""
    script, vocabulary = arithmetic.script, ground.vocabulary
    value, divisor = vocabulary.term(extent), vocabulary.term(block)
    arithmetic.positive(value)
    arithmetic.positive(divisor)
    _, fact = script.use("CEILING", {"E": value, "B": divisor})
    name = vocabulary.term(ceiling)
    return script.rewrite(fact, By(name, backwards=True)) if isinstance(name, str) else fact
