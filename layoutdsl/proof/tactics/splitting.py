"""A whole and its digits: cutting it by UNPAIR, and what its extent has to do with its reach."""

from __future__ import annotations

from collections.abc import Iterator

from layoutdsl.language.digits.network import Chain, Network
from layoutdsl.language.integers.bounds import product, simplify
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import CeilDiv, Constant, Expr, Mul
from layoutdsl.proof.kernel.builder import ProofBuilder
from layoutdsl.proof.kernel.theorem import By, Ring, Term, Theorem, names, replaced
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.growth import grown
from layoutdsl.proof.tactics.polynomials import canonical, in_terms


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
    radices, cap = radices_of(ground, network, chain)
    arithmetic.cut(whole, radices, cap)


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
    builder = arithmetic.builder
    reach = ground.vocabulary.term(chain.reach)
    fact = _ceilings(arithmetic, ground, network, chain)
    if fact is not None:
        match builder.formula(fact):
            case ("<=", low, high):
                one, other = arithmetic.same(low, extent), arithmetic.same(high, reach)
                if one is not None and other is not None:
                    moved = builder.rewrite(fact, By(other), By(one))
                    if builder.formula(moved) == ("<=", extent, reach):
                        return moved
                    return builder.have(("<=", extent, reach), fact, one, other)
    fact = grown(arithmetic, extent, reach)
    if fact is not None:
        return fact
    premises = [*builder.hypotheses, *builder.extent_definitions]
    for each in names(reach):
        premises += arithmetic.quotient_facts(builder.find_definition(each) or each)
    quotients = list(_quotients(reach))
    for quotient in quotients:
        premises += arithmetic.quotient_facts(quotient)
    products = list(_bounded_products(builder))
    premises += _exact(arithmetic, products) if products else ()
    for each in (*products, *((reach, extent) if products else (reach,) if quotients else ())):
        # To the solver `a*b` and `b*a` are two unknowns, so products are put in a fixed order.
        premises.append(builder.calculate(each, Ring(canonical(in_terms(each)))))
    return builder.have(("<=", extent, reach), *premises)


def _exact(arithmetic: Arithmetic, products: list[Term]) -> Iterator[str]:
    """Yield what products are if a number divides one of their extents: ``o*p = o*32*(p/32)``."""
    builder = arithmetic.builder
    for fact in builder.hypotheses:
        match builder.formula(fact):
            case ("=", ("mod", str() as extent, int(block)), 0):
                arithmetic.positive(block)
                joined, *_ = builder.use("DIVISION", {"x": extent, "B": block})
                whole: Term = ("*", ("div", extent, block), block)
                equal = builder.have(("=", extent, whole), joined, fact)
                for each in products:
                    if extent in names(each):
                        there = canonical(in_terms(replaced(each, extent, whole)))
                        yield builder.calculate(each, By(equal), Ring(there))


def multiples(ground: Ground, network: Network, theorem: Theorem) -> set[str]:
    """Return the names of extents such as ``8*q``, if digits are cut at ``32*q`` or the like.

    Only ``q`` says that one divides the other, so these names are replaced by what they stand for.
    """
    divisors = (cut.divisor for chain in network.chains for cut in chain.cuts)
    if not any(_is_multiple(ground.vocabulary.term(each)) for each in divisors):
        return set()
    shared = ((name, term) for name, term in theorem.definitions if name.startswith("r."))
    return {name for name, term in shared if _is_multiple(term)}


def _is_multiple(extent: Term) -> bool:
    value = in_terms(extent)
    return len(value) == 1 and all(factors and count > 1 for factors, count in value.items())


def _bounded_products(builder: ProofBuilder) -> Iterator[Term]:
    """The products of extents that the range compares, as in ``I <= o*32*q``."""
    for fact in builder.hypotheses:
        match builder.formula(fact):
            case ("<=" | "<", left, right):
                for each in (left, right):
                    if any(len(factors) > 1 for factors in in_terms(each)):
                        yield each


def _quotients(term: Term) -> Iterator[Term]:
    """The quotients in a term."""
    if isinstance(term, tuple):
        if term[0] == "div":
            yield term
        for each in term[1:]:
            yield from _quotients(each)


def _ceilings(arithmetic: Arithmetic, ground: Ground, network: Network, chain: Chain) -> str | None:
    """``E <= ceil(...ceil(E/k)...) * k``, where the top digit has such an extent."""
    if not chain.cuts or chain.cuts[-1].radix is not None:
        return None
    builder, vocabulary = arithmetic.builder, ground.vocabulary
    extent: Expr = network.wires[chain.cuts[-1].wire].extent
    rounded = _rounded(extent)
    extent = extent if rounded is None else rounded.left
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
        assert builder.formula(step) == ("<=", smaller, larger)
        (raised,) = builder.use("MONOTONE", {"a": smaller, "b": larger, "k": scale})
        match builder.formula(bound), builder.formula(raised):
            case ("<=", low, _), ("<=", _, high):
                bound = builder.have(("<=", low, high), bound, raised)
        scale = ("*", scale, vocabulary.term(block))
    return bound if rounded is None else _round_up(arithmetic, ground, bound, rounded, scale)


def _rounded(extent: Expr) -> CeilDiv | None:
    """The quotient in an extent that is rounded up to a multiple of a number."""
    match simplify(extent):
        case Mul(Constant(number), CeilDiv(_, Constant(block)) as quotient) if number == block:
            return quotient
    return None


def _round_up(
    arithmetic: Arithmetic, ground: Ground, bound: str, rounded: CeilDiv, scale: Term
) -> str:
    """From ``E <= c*scale``, the fact ``E <= ceil(c/k)*k*scale``."""
    builder, term = arithmetic.builder, ground.vocabulary.term
    inner, block = term(rounded.left), term(rounded.right)
    arithmetic.positive(inner)
    arithmetic.positive(block)
    _, step = builder.use("CEILING", {"E": inner, "B": block})
    match builder.formula(step):
        case ("<=", _, larger):
            arithmetic.not_negative(scale)
            (raised,) = builder.use("MONOTONE", {"a": inner, "b": larger, "k": scale})
            match builder.formula(bound), builder.formula(raised):
                case ("<=", low, _), ("<=", _, high):
                    return builder.have(("<=", low, high), bound, raised)
    return bound


def _ceiling(
    arithmetic: Arithmetic, ground: Ground, extent: Expr, block: Expr, ceiling: Expr
) -> str:
    """The fact ``extent <= ceiling * block``."""
    builder, vocabulary = arithmetic.builder, ground.vocabulary
    value, divisor = vocabulary.term(extent), vocabulary.term(block)
    arithmetic.positive(value)
    arithmetic.positive(divisor)
    _, fact = builder.use("CEILING", {"E": value, "B": divisor})
    name = vocabulary.term(ceiling)
    return builder.rewrite(fact, By(name, backwards=True)) if isinstance(name, str) else fact
