"""What is found of a claim about a table: a proof first, then a counterexample, or why neither."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from layoutdsl.language.digits.inference import NoLayout, flat, infer
from layoutdsl.language.digits.inverse import read_back
from layoutdsl.language.digits.network import NotDigits
from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.integers.expr import MixedRadix
from layoutdsl.language.meaning.claims import Sound, TableClaim
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.shapes import small
from layoutdsl.language.meaning.table import Table
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.certificate import Certificate, establish
from layoutdsl.proof.kernel.checker import Proof, Theorem
from layoutdsl.proof.prover.verdict import Finding, Proved, Refuted, Undecided, in_words
from layoutdsl.proof.refute import refute, table_refute
from layoutdsl.proof.refute.refute import At
from layoutdsl.proof.refute.table_refute import collected, few_shapes, table_tries
from layoutdsl.proof.statements import table_statement
from layoutdsl.proof.statements.sound import RANGE
from layoutdsl.proof.statements.table_statement import (
    common,
    sides,
    table_conditions,
    table_properties,
)
from layoutdsl.proof.statements.terms import NotExpressible
from layoutdsl.proof.tactics.table_proof import Inversion

SMALL = 24
"""Elements of the shapes at which a second fault is looked for, after a first was found."""


def table_findings(claim: TableClaim, tell: Callable[[str], None]) -> tuple[Finding, ...]:
    """Return what was found of each property that the claim speaks of."""
    table, names = common(claim), table_properties(claim)
    if refute.witness(table.frame) is None:
        words = "no shape of the range was found, and of none anything holds"
        return (Undecided(RANGE, words),)
    tell(f"proving {claim.text}")
    findings = _proved(claim, names)
    if any(isinstance(each, Undecided) for each in findings):
        tell(f"looking for a counterexample to {claim.text}")
        findings = _tried(table, table_tries(claim), findings)
    conditions = table_conditions(claim)
    return tuple(
        replace(each, conditions=conditions) if isinstance(each, Proved) else each
        for each in findings
    )


def _tried(table: Table, at: At, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """What comes of trying shapes: all of them, where the range has few."""
    shapes = few_shapes(table)
    if shapes is not None:
        examples = collected(shapes, at, len(findings))
        findings = tuple(Proved(each.property) for each in findings)
    else:
        sparing = table_refute.sparingly(table, at)
        examples = refute.search(table.frame, table_refute.borders(table), sparing, lambda _: False)
        if examples:
            again = table_refute.sparingly(table, at)
            soon = collected(small(table.frame, SMALL), again, len(findings))
            examples = {**soon, **examples}
    return tuple(
        Refuted(each.property, examples[each.property]) if each.property in examples else each
        for each in findings
    )


def _proved(claim: TableClaim, names: tuple[str, ...]) -> tuple[Finding, ...]:
    plain, target = sides(claim)
    reasons: list[str] = []
    for candidate in dict.fromkeys((infer(plain), target)):
        match candidate, target:
            case Layout(), Layout():
                try:
                    theorems = _theorems(plain, target, flat(candidate))
                except (NoProof, NotExpressible) as found:
                    reasons.append(f"no proof was found: {found}")
                    continue
                bare = isinstance(claim.predicate, Sound)
                says = f"it inverts `{target.name}`" if bare else ""
                wanted = table_statement.theorems(plain, target)
                outcome = _established(wanted, theorems, names, says)
                if not isinstance(outcome, str):
                    return outcome
                reasons.append(outcome)
            case NoLayout(reason), _:
                reasons.append(f"no layout was read off it: {reason}")
    return tuple(Undecided(name, reasons[0]) for name in names)


def _theorems(table: Table, layout: Layout, digits: Layout) -> list[tuple[Theorem, Proof]]:
    """Return the theorems that make a table the inverse of a layout, after those they rest on.

    Raises:
        NoProof: no proof was found.
        NotExpressible: the table says what the checker's terms cannot.
    """
    read = read_back(digits)
    if isinstance(read, NotDigits):
        raise NoProof(f"proofs need coordinates that are digits; {read.reason}")
    tuples = any(isinstance(each.whole, MixedRadix) for each in read.network.chains)
    if tuples or read.network.swizzles or read.inverse.guards or digits.start != ZERO:
        raise NoProof("proofs need a layout whose every slot is read by plain digits")
    return list(Inversion(table, layout, digits, read, lemmas.stated()).theorems())


def _established(
    wanted: tuple[Theorem, ...],
    theorems: list[tuple[Theorem, Proof]],
    names: tuple[str, ...],
    says: str,
) -> tuple[Finding, ...] | str:
    """Return what was proved, or why it was not; ``wanted`` is what had to be shown."""
    if not set(wanted) <= {theorem for theorem, _ in theorems}:
        return "what was proved is not what was to be shown"
    outcomes = establish(theorems)
    failed = next((each for each in outcomes.values() if not each.established), None)
    if failed is not None:
        return in_words(failed.reason)
    questions = sum(each.questions for each in outcomes.values())
    certificate = Certificate(tuple(theorems))
    first, *others = names
    return (
        Proved(first, (), certificate, questions, says),
        *(Proved(name, (), certificate) for name in others),
    )
