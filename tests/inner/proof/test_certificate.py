"""Certificates: the same text everywhere, and no step that can be removed or altered unnoticed.

The kernel is trusted, so every step that it could wrongly take is tried one by one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from texts import HERE, LIBRARY, layout, module

import layoutdsl
from layoutdsl import Layout, Table
from layoutdsl.language.digits.inference import flat, infer
from layoutdsl.language.digits.inverse import ReadBack, read_back
from layoutdsl.language.digits.network import NotDigits
from layoutdsl.language.integers.expr import Expr
from layoutdsl.language.meaning.claims import EqualsFormula, EqualsLayout, Fits
from layoutdsl.language.meaning.shapes import ceilings
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.certificate import Certificate, establish, known_lemmas
from layoutdsl.proof.kernel.checker import (
    By,
    Calculate,
    Define,
    Have,
    Native,
    Proof,
    Rejected,
    Rewrite,
    Ring,
    Step,
    Term,
    Theorem,
    Use,
    _Checking,
)
from layoutdsl.proof.kernel.solver import ask
from layoutdsl.proof.statements import claim_statement, statement, table_statement
from layoutdsl.proof.statements.terms import extent_name
from layoutdsl.proof.tactics.claim_proof import prove_equations, prove_fits
from layoutdsl.proof.tactics.soundness import Soundness
from layoutdsl.proof.tactics.table_proof import Inversion

Proved = tuple[tuple[Theorem, Proof], ...]

LAYOUTS = {
    "NCHW16c": "layout L(n, c, h, w) = [n, c/16, h, w, c%16]",
    "crouton": "layout L(b, h, w, d) = [b, h/8, w/8, d/32; h%8, w%8, d%32]",
    "weights": "layout L(h, w, i, o) = [o/32, i/32, h, w; i%32/4, o%32, i%4]",
    "tuple cut by a block": "layout L(n, c) = [(n, c)/4, (n, c)%4]",
    "declared extents": "layout L(y, x) = [x : 5, y : 3] where Y <= 3, X <= 5",
    "gap and offset": "layout L(c, h) = [c/4, h : H + 2, c%4] offset 2*H",
}
CLAIMS = {
    "an equality": "layout L(c, h) = [c/8, h, c%8]\nprove L == [c/8, (h, c%8)]",
    "a formula": "layout L(c, h) = [c/8, h, c%8]\n"
    "prove L == (c/8*H + h)*8 + c%8 + (C + 7)/8 - ceil(C/8)",
    "a range": "layout L(c, h) = [c/4, h, c%4]\nprove L fits int16 where C <= 64, H <= 9",
}


def sound(text: str) -> Proved:
    made = layout(text)
    read = read_back(made)
    assert not isinstance(read, NotDigits)
    return tuple(Soundness(made, read, lemmas.stated()).theorems())


def claimed(text: str) -> Proved:
    claim = module(text).claims[0]
    made = claim.ranged
    spoken: list[Expr] = [e for each in made.coordinates for e in (each.value, each.extent)]
    match claim.predicate:
        case Fits(type_):
            theorem = claim_statement.fits(statement.ground(made), type_.largest)
            most = {extent_name(name): value for name, value in ceilings(made).items()}
            return ((theorem, prove_fits(theorem, most, lemmas.stated())),)
        case EqualsLayout(other):
            ground = statement.ground(made, more=(other,))
            theorem = claim_statement.equals_layout(ground, other)
            spoken += [e for each in other.coordinates for e in (each.value, each.extent)]
        case EqualsFormula(formula):
            ground = statement.ground(made)
            theorem = claim_statement.equals_formula(ground, formula)
            spoken.append(formula)
        case _:
            raise AssertionError
    return ((theorem, prove_equations(ground, theorem, spoken, lemmas.stated())),)


CERTIFICATES = {name: sound(text) for name, text in LAYOUTS.items()} | {
    name: claimed(text) for name, text in CLAIMS.items()
}


@pytest.mark.parametrize("name", CERTIFICATES)
def test_it_is_established(name: str) -> None:
    outcomes = establish(CERTIFICATES[name])
    assert [each.reason for each in outcomes.values()] == [""] * len(CERTIFICATES[name])


HARMLESS = {
    "premise dropped": "the solver was given more than it needed",
    "move dropped": "a product in another order, which later steps bring in order too",
    "turned": "the same",
    "value": "a quotient that is read off, and cancels out anyway",
    "formula": "a bound that is weaker or stronger, and still good enough",
}
"""Why a proof may be altered and still be one; what it proves is the statement's, not its own."""


def removed(proof: tuple[Step, ...]) -> Iterator[tuple[str, tuple[Step, ...]]]:
    for number in range(len(proof)):
        yield "step removed", proof[:number] + proof[number + 1 :]


def altered(proof: tuple[Step, ...]) -> Iterator[tuple[str, tuple[Step, ...]]]:
    for number, step in enumerate(proof):
        for kind, other in _altered(step):
            yield kind, (*proof[:number], other, *proof[number + 1 :])


def _altered(step: Step) -> Iterator[tuple[str, Step]]:
    match step:
        case Define(_, term):
            yield "definition", replace(step, term=_more(term))
        case Have(_, formula, premises):
            for other in _formulas(formula):
                yield "formula", replace(step, formula=other)
            for number in range(len(premises)):
                yield "premise dropped", replace(step, premises=_without(premises, number))
        case Use(_, _, values, premises):
            for number, (name, value) in enumerate(values):
                changed = (*values[:number], (name, _more(value)), *values[number + 1 :])
                yield "value", replace(step, values=changed)
            for number in range(len(premises)):
                yield "condition dropped", replace(step, premises=_without(premises, number))
            if premises[::-1] != premises:
                yield "conditions turned round", replace(step, premises=premises[::-1])
        case Calculate(_, term):
            yield "term", replace(step, term=_more(term))
            yield from _moved(step)
        case Rewrite():
            yield from _moved(step)


def _moved(step: Calculate | Rewrite) -> Iterator[tuple[str, Step]]:
    for number, move in enumerate(step.moves):
        match move:
            case Ring(target):
                other: Ring | By = Ring(_more(target))
                yield "ring", replace(step, moves=_with(step.moves, number, other))
            case By(_, backwards):
                other = replace(move, backwards=not backwards)
                yield "turned", replace(step, moves=_with(step.moves, number, other))
        yield "move dropped", replace(step, moves=_without(step.moves, number))


def _more(term: Term) -> Term:
    return term + 1 if isinstance(term, int) else ("+", term, 1)


def _formulas(formula: Term) -> Iterator[Term]:
    """Weaker, stronger, and shifted by one."""
    assert isinstance(formula, tuple)
    operator, left, right = formula
    for other in {"=", "<", "<="} - {operator}:
        yield (other, left, right)
    yield (operator, _more(left), right)
    yield (operator, left, _more(right))


def _without(parts: tuple, number: int) -> tuple:
    return (*parts[:number], *parts[number + 1 :])


def _with(parts: tuple, number: int, part: object) -> tuple:
    return (*parts[:number], part, *parts[number + 1 :])


def survivors(proved: Proved) -> tuple[Counter[str], Counter[str]]:
    """How many tampered proofs there are, and how many of them prove it another way, by kind.

    Every theorem but the tampered one is taken as known, so that only its own proof counts. A move
    that finds nothing to replace can be dropped or turned round: then every fact is as it was, and
    the proof is the same.
    """
    known = dict(known_lemmas())
    tried: Counter[str] = Counter()
    accepted: list[tuple[str, list[str]]] = []
    right: set[str] = set()
    for theorem, proof in proved:
        assert not isinstance(proof, Native)
        steps, (facts, asked) = tuple(proof), followed(theorem, proof, known)
        right.update(asked)
        for kind, other in chain(removed(steps), altered(steps)):
            tried[kind] += 1
            try:
                found, asked = followed(theorem, other, known)
            except Rejected:
                continue
            if found != facts or set(asked) - right:
                accepted.append((kind, asked))
        known[theorem.name] = theorem
    questions = sorted({each for _, asked in accepted for each in asked})
    answers = dict(zip(questions, ask(questions).answers, strict=True))
    held = [kind for kind, asked in accepted if {answers[each] for each in asked} <= {"unsat"}]
    return tried, Counter(held)


def followed(
    theorem: Theorem, proof: Sequence[Step], known: Mapping[str, Theorem]
) -> tuple[dict[str, Term], list[str]]:
    """The facts that a proof comes by, and its questions."""
    checking = _Checking(theorem, known)
    questions = [each.text for each in checking.run(proof)]
    return checking._facts, questions


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", CERTIFICATES)
def test_no_tampering_goes_unnoticed(name: str) -> None:
    tried, held = survivors(CERTIFICATES[name])
    assert tried["step removed"] == sum(len(proof) for _, proof in CERTIFICATES[name])
    assert set(held) <= set(HARMLESS)
    assert sum(held.values()) <= 20


def test_hypotheses_come_from_the_statement() -> None:
    """The one way to smuggle is to change the theorem; then it is another theorem."""
    theorem, proof = CERTIFICATES["NCHW16c"][1]
    absurd = replace(theorem, hypotheses=(*theorem.hypotheses, ("<", 0, 0)))
    goals = [
        Have(f"g.{n}", goal, (f"hyp.{len(theorem.hypotheses)}",))
        for n, goal in enumerate(theorem.goals)
    ]
    assert establish([(absurd, goals)])["encode"].established
    assert establish([(theorem, goals)])["encode"].reason == (
        f"the proof was rejected: there is no fact hyp.{len(theorem.hypotheses)}"
    )
    assert Certificate(((absurd, goals),)).hash != Certificate(((theorem, proof),)).hash


def test_the_text_names_every_step() -> None:
    """Those of the lemmas too; a native lemma is one line for its proof."""
    proved = (*lemmas.library(), *CERTIFICATES["declared extents"])
    lines = [1 if isinstance(proof, Native) else len(proof) for _, proof in proved]
    text = Certificate(CERTIFICATES["declared extents"]).text
    assert len(text.splitlines()) == sum(lines) + len(proved)


def test_every_certificate_has_a_hash_of_its_own() -> None:
    hashes = {Certificate(each).hash for each in CERTIFICATES.values()}
    assert len(hashes) == len(CERTIFICATES)


HASHES = """
import sys
sys.path.insert(0, sys.argv[1])
from proving import claimed, sound
from texts import LIBRARY
from layoutdsl.proof.prover.verdict import Proved, certificate_hash
found = [sound(each) for each in [*LIBRARY.values()][::4]]
found.append(claimed("prove R4CroutonLayout fits int32 where B <= 8, H <= 99, W <= 99, D <= 99"))
found.append(claimed("prove NCHW16c == [n, c/16, h, (w, c%16)]"))
for checked in found:
    for each in checked.findings:
        print(each.property, certificate_hash(each) if isinstance(each, Proved) else each)
"""


@pytest.mark.slow
def test_hashes_are_the_same_in_every_process() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", HASHES, str(HERE / "support")],
            check=True,
            capture_output=True,
            cwd=Path(__file__).parents[3],
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1
    (output,) = outputs
    layouts = [LIBRARY[name] for name in [*LIBRARY][::4]]
    assert output.count(b"\n") == sum(9 if each.interface is None else 14 for each in layouts) + 2


# Certificates of tables that were tampered with.


def table_of(text: str) -> Table:
    return layoutdsl.parse(text).tables["T"]


RIGHT_TABLE = "table T(c, h)[a: ceil(C/4), b: H, k: 4] = (c = a*4 + k, h = b)"
WRONG_TABLE = "table T(c, h)[a: ceil(C/4), b: H, k: 4] = (c = a*4 + 3 - k, h = b)"


def table_proofs(text: str, digits: Layout) -> list[tuple[Theorem, Proof]]:
    read = read_back(digits)
    assert isinstance(read, ReadBack)
    made = Inversion(table_of(text), digits, digits, read, lemmas.stated())
    return list(made.theorems())


def right_digits() -> Layout:
    inferred = infer(table_of(RIGHT_TABLE))
    assert isinstance(inferred, Layout)
    return flat(inferred)


def test_a_wrong_table_has_no_proof() -> None:
    assert all(
        each.established for each in establish(table_proofs(RIGHT_TABLE, right_digits())).values()
    )
    with pytest.raises(NoProof):
        table_proofs(WRONG_TABLE, right_digits())


@pytest.mark.parametrize("name", ["held", "single", "through"])
def test_a_proof_of_a_table_is_none_of_another(name: str) -> None:
    """The statements are those of the wrong table, the proofs those of the right one."""
    digits = right_digits()
    wrong = table_of(WRONG_TABLE)
    wanted = {each.name: each for each in table_statement.theorems(wrong, digits)}
    reading = dict(
        table_statement.reading(
            table_statement.ground(table_of(WRONG_TABLE), digits), table_of(WRONG_TABLE)
        )
    )
    tampered: list[tuple[Theorem, Proof]] = []
    for theorem, proof in table_proofs(RIGHT_TABLE, digits):
        if theorem.name == name:
            definitions = tuple((n, reading.get(n, term)) for n, term in theorem.definitions)
            tampered.append((replace(theorem, definitions=definitions), proof))
            assert name == "through" or wanted[name] == tampered[-1][0]
        else:
            tampered.append((theorem, proof))
    assert not establish(tampered)[name].established


@pytest.mark.parametrize("name", ["box", "room", "held", "single"])
def test_statements_differ_from_table_to_table_of(name: str) -> None:
    digits = right_digits()
    other = table_of(RIGHT_TABLE.replace("ceil(C/4)", "ceil(C/4) + 1").replace("a*4", "a*8"))
    one = {each.name: each for each in table_statement.theorems(table_of(RIGHT_TABLE), digits)}
    two = {each.name: each for each in table_statement.theorems(other, digits)}
    assert one[name] != two[name]
