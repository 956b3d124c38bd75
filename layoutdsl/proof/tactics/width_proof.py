"""Proofs about the width of integers: by the largest values of extents, or of products of them.

Not trusted.
"""

from __future__ import annotations

from collections.abc import Mapping

from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.theorem import By, Proof, Ring, Term, Theorem, substitute
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.statements.terms import index_name
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.claim_proof import prove_fits
from layoutdsl.proof.tactics.enclosure import Enclosure, largest
from layoutdsl.proof.tactics.products import Products
from layoutdsl.proof.tactics.refinement import refine


def prove_size(ground: Ground, theorem: Theorem, known: dict[str, Theorem]) -> Proof:
    """Return a proof that the size is as small as the goal says.

    Raises:
        NoProof: the range bounds neither each extent nor a product that the size is.
    """
    try:
        return prove_fits(theorem, largest(ground), known)
    except NoProof as reason:
        builder = ProofBuilder(theorem, known)
        products = Products(Arithmetic(builder))
        if not products:
            raise reason from None
        premises = _of_size(builder, ground, "size")
        for goal in theorem.goals:
            builder.have(goal, *premises)
        return builder.proof


def _of_size(builder: ProofBuilder, ground: Ground, size: Term) -> list[str]:
    """Facts from which it follows that a size is as small as a product that the range bounds.

    Size and range are brought to normal form, so that both speak of the same products.
    """
    arithmetic = Arithmetic(builder, frozenset(builder.names))
    spoken = [side for each in ground.layout.where for side in (each.left, each.right)]
    spoken += [each.extent for each in ground.layout.coordinates]
    refine(arithmetic, ground.vocabulary, spoken, ground.layout.where)
    return [*Products(arithmetic).facts(), arithmetic.values.normal(size)[1]]


def prove_intervals(ground: Ground, theorem: Theorem, known: dict[str, Theorem]) -> Proof:
    """Return a proof that what the goals name is as small as they say.

    Raises:
        NoProof: an extent has no largest value, or something may be negative.
    """
    builder = ProofBuilder(theorem, known)
    _prove_goals(builder, _enclosure(builder, ground))
    return builder.proof


def _prove_goals(builder: ProofBuilder, enclosure: Enclosure) -> None:
    for goal in builder.theorem.goals:
        match goal:
            case ("<=", int(least), term):
                found = enclosure.of(term)
                follows = least <= found.low
            case ("<=", ("*", int(bits), ("+", term, 1)), int(most)):
                found = enclosure.of(term)
                follows = bits * (found.high + 1) <= most
            case ("<=", term, int(most)):
                found = enclosure.of(term)
                follows = found.high <= most
            case _:
                raise NoProof(f"{goal} bounds no term")
        if not follows:
            raise NoProof("the range does not bound a value tightly enough")
        builder.have(goal, *found.facts)


def _enclosure(builder: ProofBuilder, ground: Ground) -> Enclosure:
    extents = {index_name(axis.name): ground.extent(axis.name) for axis in ground.layout.axes}
    return Enclosure(builder, largest(ground), extents)


def prove_by_size(
    ground: Ground, theorem: Theorem, known: Mapping[str, Theorem], inside: Theorem
) -> Proof:
    """Return a proof that rests on the size: every offset is below it.

    Whatever a sum or a product of numbers that are not negative is made of is at most its value, so
    the size bounds what the offset is computed from as well.

    Args:
        ground: of the layout.
        theorem: speaks of the offset, and perhaps of what it is computed from.
        known: lemmas.
        inside: every offset is in the buffer.

    Raises:
        NoProof: the range bounds no product that the size is.
    """
    builder = ProofBuilder(theorem, {**known, inside.name: inside})
    if not Products(Arithmetic(builder)):
        raise NoProof("the range bounds no product of extents")
    values = builder.take_over(inside, _MARK)
    builder.use(inside.name, values)
    slot = values["slot"]
    start, size = (substitute(each, values) for each in _buffer(inside))
    within = [
        builder.have(("<=", start, slot)),
        builder.have(("<", slot, size)),
        Arithmetic(builder).not_negative(start),
        *_of_size(builder, ground, size),
    ]
    if builder.find_definition("left") is not None:
        within.append(_equal(builder, "left", slot))
        for goal in theorem.goals:
            builder.have(goal, *within)
        return builder.proof
    enclosure = _enclosure(builder, ground)
    match theorem.goals[-1]:
        case ("<=", whole, int(most)):
            within.append(_equal(builder, whole, slot))
            enclosure.at_most(whole, most, builder.have(("<=", whole, most), *within))
    _prove_goals(builder, enclosure)
    return builder.proof


_MARK = "~b"
"""The mark of names that only the theorem about the buffer has."""


def _buffer(inside: Theorem) -> tuple[Term, Term]:
    """The first slot of a buffer, and the one after its last, as the theorem says them."""
    starts, ends = list[Term](), list[Term]()
    for goal in inside.goals:
        match goal:
            case ("<=", start, "slot"):
                starts.append(start)
            case ("<", "slot", end):
                ends.append(end)
    return starts[-1], ends[-1]


def _equal(builder: ProofBuilder, whole: Term, slot: Term) -> str:
    """Return the fact that an offset is the slot: both are one polynomial, written out."""
    definitions = [By(name) for name in reversed(builder.names)]
    one, other = (builder.calculate(each, *definitions) for each in (whole, slot))
    same = Ring(builder.right(other))
    return builder.calculate(whole, By(one), same, By(other, backwards=True))
