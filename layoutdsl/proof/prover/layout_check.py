"""The checks that every layout has to pass, property by property."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from layoutdsl.language.digits.inverse import Inverse, ReadBack, readings
from layoutdsl.language.digits.network import NotDigits
from layoutdsl.language.meaning.counterexample import Counterexample
from layoutdsl.language.meaning.elements import INTEGER_TYPES
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.shapes import Values, size_is_bounded
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.certificate import Certificate, Outcome, establish
from layoutdsl.proof.kernel.theorem import Calculate, Proof, Theorem
from layoutdsl.proof.properties.seen import IN_INTEGERS, seen_to_hold
from layoutdsl.proof.prover.domain_check import add_proofs, domain_in_bounds
from layoutdsl.proof.prover.verdict import Finding, Proved, Refuted, Undecided, in_words
from layoutdsl.proof.refute import refute
from layoutdsl.proof.refute.empty import no_shape
from layoutdsl.proof.refute.exhaust import everywhere, whole_range
from layoutdsl.proof.statements import (
    applied_statement,
    claim_statement,
    domain_statement,
    statement,
)
from layoutdsl.proof.statements.applied_statement import INDICES, index_map
from layoutdsl.proof.statements.interface_statement import interface_conditions, interface_theorems
from layoutdsl.proof.statements.printed import printed
from layoutdsl.proof.statements.sound import (
    BOUNDS,
    EXTENTS,
    FILLING,
    ONTO,
    RANGE,
    SIZE,
    UNBOUNDED,
    rests_on,
)
from layoutdsl.proof.statements.terms import NotExpressible
from layoutdsl.proof.tactics.claim_proof import prove_equations, prove_fits, prove_numbers
from layoutdsl.proof.tactics.enclosure import largest
from layoutdsl.proof.tactics.indices import prove_indices
from layoutdsl.proof.tactics.interface_proof import interface_proofs
from layoutdsl.proof.tactics.soundness import Soundness
from layoutdsl.proof.tactics.tries import tried
from layoutdsl.proof.tactics.within import prove_bounds


def layout_findings(layout: Layout, tell: Callable[[str], None]) -> tuple[Finding, ...]:
    """Return what was found of each property, in the order of `sound.rests_on`."""
    tell(f"proving {layout.name}")
    element = refute.first_element(layout)
    if element is None:
        empty = no_shape(layout)
        return (Undecided(RANGE, empty) if isinstance(empty, str) else Refuted(RANGE, empty),)
    findings = _proved_or_undecided(layout, *element)
    if isinstance(findings[SIZE], Undecided):
        int64 = INTEGER_TYPES["int64"]
        example = refute.overflow(layout, int64.largest, int64.name)
        if example is not None:
            findings[SIZE] = Refuted(SIZE, example)
    if any(isinstance(findings.get(name), Undecided) for name in IN_INTEGERS):
        tell(f"looking for a counterexample to {layout.name}")
        shapes = whole_range(layout)
        if shapes is not None:
            return _tried(layout, findings, shapes)
        tried = refute.Tried()
        is_open = isinstance(findings.get(INDICES), Undecided)
        for name, example in _examples(layout, tried, indices=is_open).items():
            findings[name] = Refuted(name, example)
        findings |= _in_bounds_alone(layout, findings)
        for name in IN_INTEGERS:
            finding = findings.get(name)
            if isinstance(finding, Undecided):
                findings[name] = replace(finding, tried=str(tried))
    return tuple(findings.values())


def is_proved(layout: Layout) -> bool:
    """Return whether every property of a layout is proved; no counterexample is searched."""
    element = refute.first_element(layout)
    if element is None:
        return False
    findings = _proved_or_undecided(layout, *element)
    return all(isinstance(each, Proved) for each in findings.values())


def _proved_or_undecided(
    layout: Layout, values: Values, index: tuple[int, ...]
) -> dict[str, Finding]:
    proved, reasons, outcomes = _established(layout, values, index)
    if not all(name in outcomes and outcomes[name].established for name in FILLING):
        proved = [each for each in proved if each[0].name not in FILLING]
        outcomes = {name: each for name, each in outcomes.items() if name not in FILLING}
    certificate = Certificate(tuple(proved))
    findings: dict[str, Finding] = {
        name: _finding(name, theorems, outcomes, reasons, certificate, layout)
        for name, theorems in rests_on(layout, outcomes).items()
    }
    if "fits" not in outcomes and not size_is_bounded(layout):
        findings[SIZE] = Proved(SIZE, UNBOUNDED, certificate)
    return findings


def _established(
    layout: Layout, values: Values, index: tuple[int, ...]
) -> tuple[list[tuple[Theorem, Proof]], dict[str, str], dict[str, Outcome]]:
    """Return the proofs of the first reading that is proved, or of the first reading at all."""
    first = None
    for read in readings(layout):
        proved, reasons = _proofs(layout, values, index, read)
        proved += interface_proofs(interface_theorems(layout))
        proved += _of_indices(layout, reasons)
        outcomes = establish(proved)
        found = proved, reasons, outcomes
        if layout.domain or all(name in outcomes and outcomes[name].established for name in _SOUND):
            return found
        first = first or found
    assert first is not None
    return first


def _tried(
    layout: Layout, findings: dict[str, Finding], shapes: tuple[Values, ...]
) -> tuple[Finding, ...]:
    """Decide a range of few shapes by trying every index.

    A padded box there is only with a closed inverse, and that only where it is seen to be one.
    """
    examples = everywhere(shapes, refute.unsound(layout))
    if examples:
        return tuple(
            Refuted(name, examples[name]) if name in examples else finding
            for name, finding in findings.items()
        )
    decided = seen_to_hold(layout, shapes)
    return tuple(
        Proved(name) if name in decided and isinstance(finding, Undecided) else finding
        for name, finding in findings.items()
        if name != ONTO or name in decided or isinstance(finding, Proved)
    )


def _in_bounds_alone(layout: Layout, findings: dict[str, Finding]) -> dict[str, Finding]:
    """What needs no inverse, where it is open still."""
    open_ = [name for name in (EXTENTS, BOUNDS) if isinstance(findings[name], Undecided)]
    if not open_:
        return {}
    try:
        proved = bounds_alone(layout)
    except (NoProof, NotExpressible):
        return {}
    (outcome,) = establish([proved]).values()
    if not outcome.established:
        return {}
    certificate = Certificate((proved,))
    return {name: Proved(name, (), certificate, outcome.questions) for name in open_}


def bounds_alone(layout: Layout) -> tuple[Theorem, Proof]:
    """Return the theorem that coordinates and offsets are in bounds, with a proof.

    Raises:
        NoProof: no proof was found.
        NotExpressible: the layout says what the checker's terms cannot.
    """
    ground = statement.ground(layout)
    theorem = statement.bounds(ground)
    return theorem, tried(lambda w: prove_bounds(ground, theorem, lemmas.stated(), w)).proof


def _examples(layout: Layout, tried: refute.Tried, *, indices: bool) -> dict[str, Counterexample]:
    """Search for counterexamples; `indices` says that those of applied layouts are undecided."""
    theorem: Theorem | None = None
    try:
        if indices:
            theorem = applied_statement.indices(layout)[1]
        else:
            theorem = statement.collision(statement.ground(layout))
    except NotExpressible:
        pass
    from layoutdsl.proof.refute import grid

    every = (*layout.all_coordinates, *index_map(layout).coordinates)
    asked = tuple(
        side for each in index_map(layout).coordinates for side in (each.value, each.extent)
    )
    at = refute.unsound(layout)
    return refute.search(
        layout, asked, at, lambda values: grid.no_fault(layout, every, values), theorem, tried
    )


def _finding(
    name: str,
    theorems: tuple[str, ...],
    outcomes: dict[str, Outcome],
    reasons: dict[str, str],
    certificate: Certificate,
    layout: Layout,
) -> Finding:
    questions = 0
    for theorem in theorems:
        outcome = outcomes.get(theorem)
        if outcome is None or not outcome.established:
            return Undecided(name, _why(theorem, outcomes, reasons))
        questions += outcome.questions
    return Proved(name, interface_conditions(layout, name), certificate, questions)


def _why(theorem: str, outcomes: Mapping[str, Outcome], reasons: Mapping[str, str]) -> str:
    """Return why a theorem is open: what was found of the one that it rests on in the end."""
    while theorem in outcomes:
        reason = outcomes[theorem].reason
        on = re.fullmatch(
            r"it rests on `(.+)`|the proof was rejected: there is no theorem (.+)", reason
        )
        if on is None:
            return in_words(reason)
        theorem = on[1] or on[2]
    return reasons.get(theorem, "no proof was found")


def _proofs(
    layout: Layout, values: Values, index: tuple[int, ...], found: ReadBack | NotDigits
) -> tuple[list[tuple[Theorem, Proof]], dict[str, str]]:
    """Return every theorem with its proof, and for those without one the reason."""
    proved: list[tuple[Theorem, Proof]] = []
    reasons: dict[str, str] = {}
    inverse = None if isinstance(found, NotDigits) else found.inverse
    try:
        theorem = _nonempty(layout, values, index)
        proved.append((theorem, prove_numbers(theorem)))
        proved += _fits(layout, reasons)
        proved.append(prove_printed(layout, inverse))
    except (NoProof, NotExpressible) as reason:
        text = f"no proof was found: {reason}"
        reasons |= dict.fromkeys(("range", "printed"), text)
    if layout.domain:
        add_proofs(layout, proved, reasons)
        return proved, reasons
    if isinstance(found, NotDigits):
        why = f"proofs need coordinates that are digits; {found.reason}"
        reasons |= dict.fromkeys(_SOUND, why)
        return proved, reasons
    try:
        for each in Soundness(layout, found, lemmas.stated()).theorems():
            proved.append(each)
    except (NoProof, NotExpressible) as reason:
        done = {theorem.name for theorem, _ in proved}
        text = f"no proof was found: {reason}"
        reasons |= {name: text for name in _SOUND if name not in done}
    return proved, reasons


def _of_indices(layout: Layout, reasons: dict[str, str]) -> list[tuple[Theorem, Proof]]:
    """Applied indices stay in their shapes, for a layout that applies others."""
    if not layout.applied:
        return []
    try:
        return [prove_indices(layout)]
    except (NoProof, NotExpressible) as reason:
        reasons[applied_statement.THEOREM] = f"no proof was found: {reason}"
        return []


def _nonempty(layout: Layout, values: dict[str, int], index: tuple[int, ...]) -> Theorem:
    ground = statement.ground(layout)
    if not layout.domain:
        return statement.nonempty(ground, values)
    names = [axis.name for axis in layout.axes]
    return domain_statement.nonempty(ground, values, dict(zip(names, index, strict=True)))


_SOUND = ("shape", "encode", "element", "injective", "decode", "padding")


def in_bounds(layout: Layout) -> list[tuple[Theorem, Proof]]:
    """Return theorems with their proofs, the last of which says that every offset is in bounds.

    Raises:
        NoProof: no proof was found.
        NotExpressible: the layout says what the checker's terms cannot.
    """
    if layout.domain:
        return domain_in_bounds(layout)
    reason: NoProof | NotExpressible | None = None
    first: list[tuple[Theorem, Proof]] = []
    for found in readings(layout):
        if isinstance(found, NotDigits):
            return [bounds_alone(layout)]
        proved: list[tuple[Theorem, Proof]] = []
        try:
            for each in Soundness(layout, found, lemmas.stated()).theorems():
                proved.append(each)
                if each[0].name == "element":
                    break
        except (NoProof, NotExpressible) as failed:
            reason = reason or failed
            continue
        if all(outcome.established for outcome in establish(proved).values()):
            return proved
        first = first or proved
    if not first and reason is not None:
        raise reason
    return first


def _fits(layout: Layout, reasons: dict[str, str]) -> list[tuple[Theorem, Proof]]:
    """The size fits int64 for every shape, where the range says how large extents are."""
    ground = statement.ground(layout)
    theorem = claim_statement.fits(ground, INTEGER_TYPES["int64"].largest)
    try:
        return [(theorem, prove_fits(theorem, largest(ground), lemmas.stated()))]
    except NoProof as reason:
        reasons["fits"] = f"no proof was found: {reason}"
        return []


def prove_printed(layout: Layout, inverse: Inverse | None) -> tuple[Theorem, Proof]:
    """Return the theorem that the Python text of every formula, read back, is what it was.

    Raises:
        NoProof: no proof was found.
        NotExpressible: the layout says what the checker's terms cannot.
    """
    ground, theorem, read = printed(layout, inverse)
    match theorem.goals:
        case (("=", left, right),) if left == right:  # word for word: no normal form is needed
            return theorem, [Calculate("same", left, ())]
    spoken = [each.extent for each in layout.all_coordinates]
    return theorem, prove_equations(ground, theorem, [*spoken, *read.values()], lemmas.stated())
