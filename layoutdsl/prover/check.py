"""A claim -> what was found of each of its properties.

A proof is tried first; where there is none, a counterexample is looked for; where there is neither,
the answer is *undecided*, with the reason why there is no proof.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from layoutdsl.integers.expr import Expr
from layoutdsl.kernel import lemmas
from layoutdsl.kernel.budget import shared
from layoutdsl.kernel.certificate import Certificate, establish
from layoutdsl.kernel.script import Stuck
from layoutdsl.kernel.theorem import Have, Proof, Theorem
from layoutdsl.meaning.claims import (
    Aligns,
    AnyClaim,
    Claim,
    Computes,
    EqualsFormula,
    EqualsLayout,
    Fits,
    Keeps,
    OffsetsFit,
    Sound,
    TableClaim,
)
from layoutdsl.meaning.model import Layout
from layoutdsl.meaning.shapes import Values
from layoutdsl.properties.predicates import (
    Predicate,
    common_range,
    conditions_of,
    property_of,
    same_domains,
    spoken_of,
    stated,
)
from layoutdsl.prover.layout_check import in_bounds, layout_findings
from layoutdsl.prover.table_check import table_findings
from layoutdsl.prover.verdict import Checked, Finding, Proved, Refuted, Undecided
from layoutdsl.refute import refute, widths
from layoutdsl.refute.counterexample import Counterexample
from layoutdsl.refute.exhaust import everywhere, whole_range
from layoutdsl.refute.predicates import tries
from layoutdsl.statements import run_statement
from layoutdsl.statements.run_statement import start_of
from layoutdsl.statements.sound import PROPERTIES
from layoutdsl.statements.table_statement import table_properties
from layoutdsl.statements.terms import Unstated
from layoutdsl.tactics.claim_proof import Splits, prove_equations, splits_of
from layoutdsl.tactics.width_proof import prove_width

Progress = Callable[[str], None]


def check(claim: AnyClaim, progress: Progress | None = None) -> Checked:
    """Return what was found of each property of a claim about a layout or a table.

    A solver that is missing, dies or hangs makes properties undecided, with the reason.

    Args:
        claim: the claim; its polarity plays no part in what is found.
        progress: told what is being done.
    """
    try:
        with shared():
            return _check(claim, progress or (lambda _: None))
    except RecursionError:
        return given_up(claim, "its expressions are nested too deeply for a proof")


def _check(claim: AnyClaim, tell: Progress) -> Checked:
    if isinstance(claim, TableClaim):
        return Checked(claim, table_findings(claim, tell))
    layout, predicate = claim.ranged, claim.predicate
    match predicate:
        case Sound():
            return Checked(claim, layout_findings(layout, tell))
        case EqualsLayout() | EqualsFormula() | Keeps() | Aligns():
            return Checked(claim, (_found(claim, layout, predicate, tell),))
        case Fits() | OffsetsFit() | Computes():
            return Checked(claim, (_found(claim, layout, predicate, tell),))
        case _:
            assert_never(predicate)


def given_up(claim: AnyClaim, reason: str) -> Checked:
    """Return a claim with all of its properties undecided."""
    if isinstance(claim, TableClaim):
        return Checked(claim, tuple(Undecided(name, reason) for name in table_properties(claim)))
    predicate = claim.predicate
    names = PROPERTIES if isinstance(predicate, Sound) else (property_of(predicate),)
    return Checked(claim, tuple(Undecided(name, reason) for name in names))


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
    if refute.first_element(common_range(layout, predicate)) is None:
        return Undecided(property_of(predicate), "no shape of the range was found")
    with shared():
        return _proved(layout, predicate)


def _found(claim: Claim, layout: Layout, predicate: Predicate, tell: Progress) -> Finding:
    name = property_of(predicate)
    common = common_range(layout, predicate)
    if refute.first_element(common) is None:
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
    at = tries(layout, predicate, finding.property)
    if at is None:
        return finding
    if isinstance(predicate, Fits):
        example = widths.overflow(layout, predicate)
        if example is not None:
            return Refuted(finding.property, example)
    examples = everywhere(shapes, at)
    if examples:
        return Refuted(finding.property, examples[finding.property])
    return Proved(finding.property, conditions_of(layout, predicate))


def _proved(layout: Layout, predicate: Predicate) -> Finding:
    name = property_of(predicate)
    try:
        proofs = [*_domains(layout, predicate), _proof(layout, predicate)]
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
    return Proved(name, conditions_of(layout, predicate), certificate, questions)


def _domains(layout: Layout, predicate: Predicate) -> list[tuple[Theorem, Proof]]:
    """Where one of two layouts has a domain: that the other has the same."""
    if not isinstance(predicate, EqualsLayout):
        return []
    found: list[tuple[Theorem, Proof]] = []
    for theorem in same_domains(layout, predicate):
        premises = tuple(f"hyp.{number}" for number in range(len(theorem.hypotheses)))
        goals = enumerate(dict.fromkeys(theorem.goals))
        found.append((theorem, tuple(Have(f"f.{n}", goal, premises) for n, goal in goals)))
    return found


def _proof(layout: Layout, predicate: Predicate) -> tuple[Theorem, Proof]:
    """Return the theorem that states a predicate, and a proof of it."""
    ground, theorem, spoken = stated(layout, predicate)
    if isinstance(predicate, Fits | OffsetsFit | Computes):
        return theorem, prove_width(ground, theorem, predicate, lemmas.stated())
    splits: Splits = ()
    if isinstance(predicate, Keeps | Aligns):
        splits = splits_of(start_of(predicate.run))
    return theorem, prove_equations(ground, theorem, spoken, lemmas.stated(), splits)


def _example(layout: Layout, predicate: Predicate, name: str) -> Counterexample | None:
    """Return the smallest counterexample that a bounded search finds."""
    exprs: tuple[Expr, ...] = ()
    match predicate:
        case Fits() | OffsetsFit() | Computes():
            too_large = widths.overflow(layout, predicate)
            if too_large is not None:
                return too_large
        case EqualsLayout(other):
            exprs = spoken_of(other)
        case EqualsFormula(formula):
            exprs = (formula,)
        case Keeps(run) | Aligns(run):
            exprs = tuple(each.value for each in run)
    at = tries(layout, predicate, name)
    if at is None:
        return None
    width = isinstance(predicate, Fits | OffsetsFit | Computes)
    hint = None if width else _theorem(layout, predicate)
    return refute.search(layout, exprs, at, _passes(layout, predicate), hint).get(name)


def _passes(layout: Layout, predicate: Predicate) -> refute.Passes:
    """Return what tells soon that a claim holds at a shape."""
    from layoutdsl.refute import grid

    match predicate:
        case EqualsLayout(other):
            return lambda values: (
                layout.domain == other.domain
                and layout.size(values) == refute.layout_size(other, values)
                and grid.same_offsets(layout, other, values)
            )
        case EqualsFormula(formula):
            return lambda values: grid.same_formula(layout, formula, values)
        case Keeps(run):
            start, flat = start_of(run), run_statement.flat(run)
            return lambda values: grid.whole_runs(layout, start, flat, values)
        case Aligns(run, number, element):
            start, bits = start_of(run), (element.bits, 8 * number)
            return lambda values: grid.aligned_runs(layout, start, bits, values)
        case Fits() | OffsetsFit() | Computes():
            return lambda _: False


def _theorem(layout: Layout, predicate: Predicate) -> Theorem | None:
    try:
        return stated(layout, predicate)[1]
    except Unstated:
        return None
