"""Equations whose digits do not divide one another, as `k%24` over digits of 16. Not trusted.

Normal forms cut an index where every expression cuts it, and need places that divide one another.
Here nothing is cut: a remainder is what it is of, less what the quotient makes up, so that digits
of one number that are put together again are that number. What is left are polynomials over
quotients, which are equal or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.checker import By, Proof, Ring, Term, Theorem, polynomial
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.polynomials import canonical


def prove_by_remainders(theorem: Theorem, lemmas: Mapping[str, Theorem]) -> Proof:
    """Prove goals that are equations, by writing every remainder out.

    Args:
        theorem: its goals are equations.
        lemmas: the lemma library.

    Raises:
        NoProof: what is left of the two sides are other polynomials; or a goal is no equation.
    """
    builder = ProofBuilder(theorem, lemmas)
    for goal in theorem.goals:
        match goal:
            case ("=", ("mod", number, int(divisor)), 0):
                _divides(builder, number, divisor)
            case ("=", left, right):
                (one, first), (other, second) = (_written_out(builder, s) for s in (left, right))
                if one != other:
                    raise NoProof("the two sides differ where remainders are written out")
                fact = builder.calculate(left, By(first), By(second, backwards=True))
                if builder.formula(fact) != goal:
                    builder.have(goal, first, second)
            case _:
                raise NoProof("a goal is no equation")
    return builder.proof


def _divides(builder: ProofBuilder, number: Term, divisor: int) -> None:
    """Prove that a number is a multiple of another, as each of its terms is."""
    whole, same = _written_out(builder, number)
    value, fact = Arithmetic(builder).values.normal(("mod", whole, divisor))
    if value:
        raise NoProof("a term of it is no multiple where remainders are written out")
    builder.calculate(("mod", number, divisor), By(same), By(fact))


def _written_out(builder: ProofBuilder, term: Term) -> tuple[Term, str]:
    """A term without definitions and remainders, as a polynomial; and the fact that says so."""
    moves: list[By] = []
    end = term
    definitions = [name for name in reversed(builder.names) if name[:2] not in ("r.", "o.")]
    while (move := _next(builder, end, definitions)) is not None:
        moves.append(move)
        end = builder.right(builder.calculate(term, *moves))
    while (part := _innermost(end)) is not None:
        moves.append(By(_named(builder, part), backwards=True))
        end = builder.right(builder.calculate(term, *moves))
    whole = canonical(polynomial(end))
    return whole, builder.calculate(term, *moves, Ring(whole))


def _next(builder: ProofBuilder, term: Term, definitions: list[str]) -> By | None:
    """What is written out next: remainders and quotients of remainders, then definitions."""
    for part in sorted(set(_parts(term)), key=lambda part: (-len(str(part)), str(part))):
        match part:
            case ("div", ("mod", whole, int(above)), int(below)) if above % below == 0:
                return By(_quotient(builder, whole, above, below))
            case ("mod", whole, int(divisor)) if divisor > 0:
                (equal, _, _) = builder.use("DIVISION", _divided(builder, whole, divisor))
                plain = ("-", whole, ("*", ("div", whole, divisor), divisor))
                return By(builder.have(("=", part, plain), equal))
    return next((By(name) for name in definitions if name in set(_parts(term))), None)


def _innermost(term: Term) -> Term | None:
    """A quotient or remainder that has none in it: to a polynomial it is one number."""
    for part in _parts(term):
        match part:
            case ("div" | "mod", *inner) if not any(map(_innermost, inner)):
                return part
    return None


def _named(builder: ProofBuilder, part: Term) -> str:
    """The name of a quotient or remainder."""
    names = [each for each in builder.names if each.startswith("o.")]
    known = (each for each in names if builder.find_definition(each) == part)
    return next(known, None) or builder.define(f"o.{len(names)}", part)


def _quotient(builder: ProofBuilder, whole: Term, above: int, below: int) -> str:
    """``x % (a*b) / b`` is ``x/b`` less all that ``x/(a*b)`` stands for."""
    rest: Term = ("mod", whole, above)
    facts: list[str] = []
    for dividend, divisor in ((whole, above), (rest, below), (whole, below)):
        facts += builder.use("DIVISION", _divided(builder, dividend, divisor))
    times = ("*", ("div", whole, above), above // below)
    return builder.have(("=", ("div", rest, below), ("-", ("div", whole, below), times)), *facts)


def _divided(builder: ProofBuilder, whole: Term, divisor: int) -> dict[str, Term]:
    builder.have(("<", 0, divisor))
    return {"x": whole, "B": divisor}


def _parts(term: Term) -> Iterator[Term]:
    """A term, and all that it is made of."""
    yield term
    match term:
        case (_, *inner):
            for each in inner:
                yield from _parts(each)
