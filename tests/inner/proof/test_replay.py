"""Proofs of cvc5 replayed: what is committed is accepted, and what is not a proof is refused.

The checker of cvc5's proofs is trusted, so wrong proofs are put before it one by one.
"""

from __future__ import annotations

import random
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest
from proof_faults import (
    Proved,
    Twin,
    accepted_by_ethos,
    ethos,
    held_step_by_step,
    judged,
    proofs_of,
    script_of,
    twins,
    with_a_model,
)
from rule_shapes import drawn_formula

import layoutdsl
from layoutdsl import commands
from layoutdsl.proof.evidence.replay import Refused, follow, replay
from layoutdsl.proof.evidence.replay.steps import Step
from layoutdsl.proof.evidence.replay.terms import Term
from layoutdsl.proof.kernel.question import PREAMBLE
from layoutdsl.proof.kernel.solver import CVC5_PROOFS, Z3, answers

COMMITTED = Path(layoutdsl.__file__).parent.parent / "proofs"
SCRIPTS = sorted(COMMITTED.rglob("*.smt2"))

pytestmark = [
    pytest.mark.skipif(not find_spec("cvc5"), reason="cvc5 is not installed"),
    pytest.mark.skipif(not SCRIPTS, reason="this is no checkout"),
]


@pytest.fixture(scope="module")
def some() -> list[Proved]:
    """The proofs of few scripts, with products, divisions and cases."""
    chosen = [COMMITTED / "lemmas.smt2", *SCRIPTS[20::60]]
    return [each for script in chosen for each in proofs_of(script.read_text())]


# What is committed.


@pytest.mark.slow
def test_some_questions_by_their_proofs(some: list[Proved]) -> None:
    assert len(some) > 60
    assert all(replay(each.question, each.proof) > 0 for each in some)


@pytest.mark.slow
def test_steps_hold_in_plain_numbers(some: list[Proved], monkeypatch: pytest.MonkeyPatch) -> None:
    steps = sum(held_step_by_step(each, monkeypatch) for each in some[::6])
    assert steps > 300


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda each: each.stem)
def test_every_question_by_its_proof(script: Path) -> None:
    """As `layoutdsl recheck --solver cvc5 --proofs` does it: none is left, none taken on trust."""
    found = proofs_of(script.read_text()) if "(check-sat)" in script.read_text() else []
    for each in found:
        replay(each.question, each.proof)
        assert "trust" not in each.proof


def test_questions_nobody_chose() -> None:
    assert drawn_questions(40, 0)["replayed"] > 12


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(20))
def test_more_questions_nobody_chose(block: int) -> None:
    print(drawn_questions(500, block + 1))


def drawn_questions(count: int, seed: int) -> Counter[str]:
    """What becomes of cvc5's proofs of drawn questions; what is replayed has no model for z3."""
    source, asked = random.Random(seed), list[str]()
    for _ in range(count):
        lines = [f"(declare-const {each} Int)\n" for each in "abc"]
        formulas = [drawn_formula(source, source.randint(1, 2)) for _ in range(6)]
        lines += [f"(assert {each})\n" for each in formulas if not _foreign(each)]
        asked.append(PREAMBLE + "".join(lines))
    given = answers(script_of(asked), count, solver=CVC5_PROOFS, wall=60)
    other = answers(script_of(asked), count, solver=Z3, wall=60)
    found = Counter[str]()
    for question, answer, proof, second in zip(
        asked, given.answers, given.proofs, other.answers, strict=True
    ):
        found[answer] += 1
        if answer == "unsat":
            try:
                replay(question, proof)
            except Refused as refused:
                found[str(refused).partition(": ")[2]] += 1
                continue
            found["replayed"] += 1
            assert second != "sat", question
    return found


def _foreign(formula: str) -> bool:
    """What SMT-LIB does not say as proofs do."""
    words = ("@purify", "mod_total", "to_real", "/")
    return any(each in formula for each in words)


# What is no proof.


@pytest.mark.slow
def test_no_wrong_twin_is_accepted(some: list[Proved], monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(0)
    found = [twin for each in source.sample(some, 40) for twin in twins(source, each, 6)]
    counts = judged(found, monkeypatch)
    assert counts["all"] > 150
    assert counts["refused"] > 0.7 * counts["all"]
    assert counts["wrong"] > 20


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(20))
def test_no_wrong_twin_of_more_is_accepted(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(1000 + block)
    scripts = [each for each in SCRIPTS[block::20] if "(check-sat)" in each.read_text()]
    proved = [one for each in scripts for one in proofs_of(each.read_text())[:400]]
    chosen = source.sample(proved, min(len(proved), 150))
    print(judged([twin for each in chosen for twin in twins(source, each, 10)], monkeypatch))


@pytest.mark.campaign
@pytest.mark.skipif(ethos() is None, reason="no `ethos` with LAYOUTDSL_CPC, the rules of cvc5")
def test_another_checker_accepts_what_ours_does(some: list[Proved], tmp_path: Path) -> None:
    command = ethos()
    assert command is not None
    right = [each for each in some if accepted_by_ethos(command, each, tmp_path)]
    assert len(right) >= len(some) - 1  # of `(and F)`, as PRODUCT has it, cvc5 assumes `F`
    source, counts = random.Random(7), Counter[str]()
    for each in source.sample(right, 60):
        for twin in twins(source, each, 12):
            theirs = accepted_by_ethos(command, twin.changed, tmp_path)
            counts[f"ours {twin.accepted}, theirs {theirs}"] += 1
            if twin.accepted != theirs:
                print(twin.fault, twin.accepted, theirs, twin.refusal)
    print(counts)
    assert counts["ours True, theirs False"] == 0


@pytest.mark.slow
def test_a_checker_with_a_fault_is_found(
    some: list[Proved], monkeypatch: pytest.MonkeyPatch
) -> None:
    """That wrong twins are refused says something, because here they are not."""

    rules = dict(follow.RULES)

    def polynomials_unread(step: Step) -> Term:
        step.plain(0, 1)
        return step.argument(0)

    monkeypatch.setattr(follow, "RULES", rules | {"arith_poly_norm": polynomials_unread})
    source = random.Random(3)
    found = [twin for each in some for twin in twins(source, each, 6)]
    model = with_a_model([each.changed for each in found])
    assert any(each.accepted and wrong for each, wrong in zip(found, model, strict=True))


# Texts that are hardly proofs.

QUESTION = f"{PREAMBLE}(declare-const a Int)\n(assert (< a 0))\n(assert (not (< a 1)))\n"
SMALL = "(assume @p1 (< a 0))\n"


@pytest.mark.parametrize(
    ("proof", "reason"),
    [
        ("", "it does not end with `false`"),
        ("()", "it does not end with `false`"),
        (SMALL, "it does not end with `false`"),
        ("(", "a bracket is not closed"),
        (")", "a bracket is closed that was not opened"),
        ("hello", "no line of a proof"),
        ("(assume @p1 (< a 1))", "step `@p1`: `(< a 1)` is no assertion of the question"),
        ("(assume @p1 false)", "is no assertion"),
        ("(assume @p1 b)", "`b` is not declared"),
        ("(assume @p1 (< a))", "`<` does not take such arguments"),
        ("(assume @p1 (and a a))", "`and` does not take such arguments"),
        ("(declare-const b Int)", "the question does not declare it so"),
        ("(declare-const a Bool)", "the question does not declare it so"),
        ("(define a () 5)", "it is no new name for a term"),
        ("(define @t1 () 5)\n(define @t1 () 6)", "it is no new name for a term"),
        ("(define @t1 () @t1)", "`@t1` is not declared"),
        ("(define @t1 () 1/0)", "a number is divided by 0"),
        ("(define @t1 () (@list a))\n(assume @p1 @t1)", "a list stands where a term should"),
        ("(step @p1 false :rule trust)", "the rule `trust` is not known here"),
        ("(step @p1 false :rule contra :premises (@p9 @p8))", "`@p9` is not shown above"),
        ("(step @p1 :rule contra)", "it has 0 premises and not 2"),
        ("(step @p1)", "it is no step with a rule"),
        ("(step @p1 :rule refl :args (5) :args (6))", "it is no step with a rule"),
        ("(step @p1 :rule refl :args (5) more)", "it is no step with a rule"),
        ("(step @p1 false :rule refl :args (5))", "it says `false`, and shows `(= 5 5)`"),
        ("(step @p1 :rule evaluate :args ((div 1 0)))", "has an unknown, or divides by 0"),
        ("(step @p1 :rule evaluate :args (a))", "has an unknown, or divides by 0"),
        ("(step @p1 :rule reordering :args (5))", "it has 0 premises and not 1"),
        ("(assume-push @p1 false)", "an assumption is not taken back"),
        ("(step-pop @p1 :rule scope :premises (@p2))", "`@p2` is not shown above"),
        (f"{SMALL}(step-pop @p2 :rule scope :premises (@p1))", "it takes no assumption back"),
        (f"{SMALL}(step @p2 :rule scope :premises (@p1))", "the rule `scope` is not known here"),
    ],
)
def test_what_is_no_proof_is_refused(proof: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        replay(QUESTION, proof)
    assert reason in str(refused.value)


def test_what_is_shown_below_an_assumption_is_forgotten() -> None:
    below = "(assume-push @p1 false)\n(step-pop @p2 :rule scope :premises (@p1))\n"
    with pytest.raises(Refused, match="`@p1` is not shown above"):
        replay(QUESTION, f"{below}(step @p3 :rule and_intro :premises (@p1))")
    with pytest.raises(Refused, match="does not end with `false`"):
        replay(QUESTION, below)
    within = "(assume-push @p1 false)\n(step @p2 :rule true_intro :premises (@p1))\n"
    with pytest.raises(Refused, match="an assumption is not taken back"):
        replay(QUESTION, f"{within}(step @p3 :rule and_intro :premises (@p1))")


@pytest.mark.parametrize(
    ("proof", "reason"),
    [
        (f"(define @t1 () {'(not ' * 500}true{')' * 500})", "the text is too deep"),
        (
            "(define @t0 () a)\n"
            + "".join(f"(define @t{n + 1} () (+ @t{n} @t{n}))\n" for n in range(400)),
            "a term is too deep",
        ),
        (
            "(define @t0 () 7)\n"
            + "".join(f"(define @t{n + 1} () (* @t{n} @t{n}))\n" for n in range(100))
            + "(step @p1 :rule evaluate :args (@t100))",
            "a number is too large",
        ),
        (
            "(define @t0 () (+ a (mul a 1) (mul a 2) 1))\n"
            + "".join(f"(define @t{n + 1} () (* @t{n} @t{n}))\n" for n in range(60))
            + "(step @p1 :rule arith_poly_norm :args ((= @t60 @t59)))",
            "too large to follow",
        ),
        (
            "(define @t0 () a)\n"
            + "".join(f"(define @t{n + 1} () (* @t{n} @t{n}))\n" for n in range(60))
            + "(step @p1 :rule arith_poly_norm :args ((= @t60 @t59)))",
            "too many factors",
        ),
        (
            "(define @t0 () a)\n"
            + "".join(f"(define @t{n + 1} () (+ @t{n} @t{n}))\n" for n in range(249))
            + "(step @p1 :rule evaluate :args (@t249))",
            "has an unknown",
        ),
        (
            "(define @t0 () a)\n"
            + "".join(f"(define @t{n + 1} () (+ @t{n} @t{n}))\n" for n in range(249))
            + "(step @p1 :rule arith_poly_norm :args ((= @t249 @t248)))",
            "its sides are two polynomials",
        ),
        (f"(assume @p1 (or {'(< a 5) ' * 5000}))", r"^.{1,400}$"),
        (f"(define @t0 () {'9' * 5000})", "is not declared"),
        (f"(define @t0 () {'9' * 1300})", "is not declared"),
        (f"(define @t0 () {'9' * 1200})", "does not end"),
        (
            "(define @t0 () (< a 0))\n"
            + "".join(f"(define @t{n + 1} () (and @t{n} @t{n}))\n" for n in range(200))
            + "(step @p1 :rule aci_norm :args ((= @t200 @t0)))",
            "does not end",
        ),
    ],
)
def test_what_has_no_end_is_given_up(proof: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        replay(QUESTION, proof)


@pytest.mark.parametrize(
    "question",
    [
        "(assert (< a 0))",
        "(declare-const a Int)\n(assert a)",
        "(declare-const and Int)",
        "(declare-const @p Int)",
        "(declare-const 5 Int)",
        "(declare-const a Int)\n(declare-const a Bool)",
        "(declare-const a Word)",
        "(declare-fun f (Int) (Int))",
        "(define-fun f () Int 5)",
        "(check-sat)",
    ],
)
def test_a_question_that_is_more_or_less_is_refused(question: str) -> None:
    with pytest.raises(Refused):
        replay(question, SMALL)


def test_a_text_that_nobody_would_write() -> None:
    source = random.Random(5)
    words = ["(", ")", "step", "@p1", "@t1", ":rule", ":premises", ":args", "define", "assume"]
    words += [
        "assume-push",
        "step-pop",
        "scope",
        "@list",
        "1/2",
        "-",
        "not",
        "a",
        "=",
        "false",
        ";",
    ]
    words += sorted(follow.RULES)
    for _ in range(400):
        text = " ".join(source.choices(words, k=source.randrange(1, 40)))
        with pytest.raises(Refused):
            replay(QUESTION, text)


# In the verb.


@pytest.mark.slow
def test_what_is_not_replayed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from test_evidence import SUBJECTS

    from layoutdsl.proof.evidence import Kind, recheck
    from layoutdsl.proof.evidence.replay import follow as followed

    rules = {name: rule for name, rule in followed.RULES.items() if name != "arith_sum_ub"}
    monkeypatch.setattr(followed, "RULES", rules)
    lemmas, found = recheck(SUBJECTS[:1], COMMITTED, [CVC5_PROOFS], lambda _: None)
    for each in (lemmas, found):
        kinds = {one.kind for one in each.problems}
        assert (each.status, kinds) == ("undecided", {Kind.UNREPLAYED})
        assert each.replayed == each.questions - len(each.problems) > 0
    assert lemmas.problems[0].place == "lemma: PRODUCT native"
    assert "the rule `arith_sum_ub` is not known here" in lemmas.problems[0].message


@pytest.mark.slow
def test_an_answer_without_proof_is_named() -> None:
    from dataclasses import replace

    from test_evidence import SUBJECTS

    from layoutdsl.proof.evidence import Kind, recheck

    silent = replace(CVC5_PROOFS, command=lambda work: CVC5_PROOFS.command(work)[:-1])
    first, *_ = recheck(SUBJECTS[:1], COMMITTED, [silent], lambda _: None)
    assert (first.replayed, first.questions, len(first.problems)) == (0, 20, 20)
    assert {each.kind for each in first.problems} == {Kind.UNREPLAYED}
    assert first.problems[0].message == "the solver says unsat, and has no proof"


@pytest.mark.slow
def test_by_the_api() -> None:
    from test_evidence import SUBJECTS

    found = list(commands.recheck(SUBJECTS[:1], COMMITTED, ("z3", "cvc5 with proofs")))
    assert [each.status for each in found] == ["confirmed", "confirmed"]
    assert all(each.replayed == each.questions > 0 for each in found)


def test_another_twin_is_refused_by_name(some: list[Proved]) -> None:
    found = twins(random.Random(1), some[0], 30)
    assert all(isinstance(each, Twin) for each in found)
    assert all(each.refusal.startswith(("step `", "it ", "an ")) for each in found if each.refusal)
