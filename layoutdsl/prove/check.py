"""A claim -> what was found of each of its properties.

A proof is tried first; where there is none, a counterexample is looked for; where there is neither,
the answer is *undecided*, with the reason why there is no proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from layoutdsl.claims import Aligns, Claim, EqualsFormula, EqualsLayout, Fits, Keeps, Sound
from layoutdsl.expr import Expr
from layoutdsl.model import Layout
from layoutdsl.prove import claim_statement, lemmas, refute, statement
from layoutdsl.prove.certificate import Certificate, establish
from layoutdsl.prove.checker import Proof, Theorem
from layoutdsl.prove.claim_proof import prove_equations, prove_fits
from layoutdsl.prove.exhaust import everywhere, whole_range
from layoutdsl.prove.layout_check import in_bounds, layout_findings
from layoutdsl.prove.refute import At
from layoutdsl.prove.script import Stuck
from layoutdsl.prove.shapes import Values, ceilings
from layoutdsl.prove.statement import Ground
from layoutdsl.prove.terms import Unstated, extent_name
from layoutdsl.prove.verdict import Checked, Counterexample, Finding, Proved, Refuted, Undecided

Progress = Callable[[str], None]


def check(claim: Claim, progress: Progress | None = None) -> Checked:
    """Return what was found of each property of a claim.

    A solver that is missing, dies or hangs makes properties undecided, with the reason.

    Args:
        claim: the claim; its polarity plays no part in what is found.
        progress: told what is being done.
    """
    tell = progress or (lambda _: None)
    layout, predicate = claim.ranged, claim.predicate
    match predicate:
        case Sound():
            return Checked(claim, layout_findings(layout, tell))
        case EqualsLayout() | EqualsFormula() | Fits() | Keeps() | Aligns():
            return Checked(claim, (_found(claim, layout, predicate, tell),))
        case _:
            assert_never(predicate)


def attempt(claim: Claim) -> Finding:
    """Return what comes of trying to prove a claim of one property; never a refutation.

    Whoever looks for a range in which a claim holds asks for many proofs, and knows the
    counterexamples already.

    Raises:
        ValueError: the claim is that a layout is right, which has several properties.
    """
    layout, predicate = claim.ranged, claim.predicate
    if isinstance(predicate, Sound):
        raise ValueError("that a layout is right is more than one property")
    if refute.witness(_common(layout, predicate)) is None:
        return Undecided(_property(predicate), "no shape of the range was found")
    return _proved(layout, predicate)


Predicate = EqualsLayout | EqualsFormula | Fits | Keeps | Aligns


def _property(predicate: Predicate) -> str:
    match predicate:
        case EqualsLayout(other):
            return f"equals {other.name}"
        case EqualsFormula():
            return "equals the formula"
        case Fits(type_):
            return f"fits {type_.name}"
        case Keeps():
            return "keeps the run contiguous"
        case Aligns(bytes=number):
            return f"aligns the run to {number} bytes"


def _found(claim: Claim, layout: Layout, predicate: Predicate, tell: Progress) -> Finding:
    name = _property(predicate)
    common = _common(layout, predicate)
    if refute.witness(common) is None:
        return Undecided(name, "no shape of the range was found, and of none anything holds")
    tell(f"proving {claim.text}")
    finding = _proved(layout, predicate)
    if not isinstance(finding, Undecided):
        return finding
    tell(f"looking for a counterexample to {claim.text}")
    shapes = whole_range(common)
    if shapes is not None:
        return _tried(layout, predicate, finding, shapes)
    example = _example(layout, predicate, name)
    return finding if example is None else Refuted(name, example)


def _tried(
    layout: Layout, predicate: Predicate, finding: Undecided, shapes: tuple[Values, ...]
) -> Finding:
    """What comes of trying every index of every shape of the range."""
    tries = _tries(layout, predicate, finding.property)
    if tries is None:
        return finding
    if isinstance(predicate, Fits):
        example = refute.overflow(layout, predicate.type.largest, predicate.type.name)
        if example is not None:
            return Refuted(finding.property, example)
    examples = everywhere(shapes, tries)
    if examples:
        return Refuted(finding.property, examples[finding.property])
    return Proved(finding.property, _conditions(layout, predicate))


def _proved(layout: Layout, predicate: Predicate) -> Finding:
    name = _property(predicate)
    try:
        proofs = [_proof(layout, predicate)]
        if isinstance(predicate, Fits):
            proofs += in_bounds(layout)
    except (Stuck, Unstated) as reason:
        return Undecided(name, f"no proof was found: {reason}")
    outcomes = establish(proofs).values()
    failed = next((each for each in outcomes if not each.established), None)
    if failed is not None:
        return Undecided(name, failed.reason)
    questions = sum(each.questions for each in outcomes)
    certificate = Certificate(tuple(proofs))
    return Proved(name, _conditions(layout, predicate), certificate.hash, questions)


def _common(layout: Layout, predicate: Predicate) -> Layout:
    """The layout in the shapes for which both sides are defined."""
    other = predicate.other.where if isinstance(predicate, EqualsLayout) else ()
    return replace(layout, where=tuple(dict.fromkeys((*layout.where, *other))))


def _conditions(layout: Layout, predicate: Predicate) -> tuple[str, ...]:
    match predicate:
        case Aligns(bytes=number):
            return (f"the buffer starts at a multiple of {number} bytes",)
        case EqualsLayout(other):
            further = [each for each in other.where if each not in layout.where]
            defined = ", ".join(map(str, further))
            return (f"`{other.name}` is defined: {defined}",) if further else ()
    return ()


def _stated(layout: Layout, predicate: Predicate) -> tuple[Ground, Theorem, tuple[Expr, ...]]:
    """Return the theorem that states a predicate, and the expressions that it divides."""
    other = predicate.other if isinstance(predicate, EqualsLayout) else None
    common = _common(layout, predicate)
    ground = statement.ground(common, more=() if other is None else (other,))
    match predicate:
        case EqualsLayout(other):
            return ground, claim_statement.equals_layout(ground, other), _spoken(layout, other)
        case EqualsFormula(formula):
            theorem = claim_statement.equals_formula(ground, formula)
            return ground, theorem, (*_spoken(layout), formula)
        case Keeps(run):
            values = (*_spoken(layout), *(each.value for each in run))
            return ground, claim_statement.keeps(ground, predicate), values
        case Aligns(run):
            values = (*_spoken(layout), *(each.value for each in run))
            return ground, claim_statement.aligns(ground, predicate), values
        case Fits(type_):
            return ground, claim_statement.fits(ground, type_.largest), ()


def _proof(layout: Layout, predicate: Predicate) -> tuple[Theorem, Proof]:
    """Return the theorem that states a predicate, and a proof of it."""
    ground, theorem, spoken = _stated(layout, predicate)
    if isinstance(predicate, Fits):
        most = {extent_name(name): value for name, value in ceilings(layout).items()}
        return theorem, prove_fits(theorem, most, lemmas.stated())
    return theorem, prove_equations(ground, theorem, spoken, lemmas.stated())


def _spoken(*layouts: Layout) -> tuple[Expr, ...]:
    coordinates = [each for layout in layouts for each in layout.coordinates]
    return tuple(expr for each in coordinates for expr in (each.value, each.extent))


def _tries(layout: Layout, predicate: Predicate, name: str) -> At | None:
    """Return what tries one shape; ``None`` where the predicate cannot be tried."""
    match predicate:
        case Fits(type_):
            return refute.outside(layout, type_, name)
        case EqualsLayout(other):
            return refute.different(layout, other, name)
        case EqualsFormula(formula):
            return refute.wrong_formula(layout, formula, name)
        case Keeps() | Aligns():
            try:
                return refute.broken_run(layout, predicate, name)
            except Unstated:
                return None


def _example(layout: Layout, predicate: Predicate, name: str) -> Counterexample | None:
    """Return the smallest counterexample that a bounded search finds."""
    exprs: tuple[Expr, ...] = ()
    match predicate:
        case Fits(type_):
            too_large = refute.overflow(layout, type_.largest, type_.name)
            if too_large is not None:
                return too_large
        case EqualsLayout(other):
            exprs = _spoken(other)
        case EqualsFormula(formula):
            exprs = (formula,)
        case Keeps(run) | Aligns(run):
            exprs = tuple(each.value for each in run)
    at = _tries(layout, predicate, name)
    if at is None:
        return None
    hint = None if isinstance(predicate, Fits) else _theorem(layout, predicate)
    return refute.search(layout, exprs, at, hint).get(name)


def _theorem(layout: Layout, predicate: Predicate) -> Theorem | None:
    try:
        return _stated(layout, predicate)[1]
    except Unstated:
        return None
