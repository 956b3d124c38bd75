"""The checker takes right steps and nothing else; every lemma needs every one of its hypotheses.

The kernel is trusted, so its rules are tested one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from proving import sound, words

from layoutdsl import library
from layoutdsl.language.integers.bits import arithmetic, assumed
from layoutdsl.language.integers.expr import (
    Add,
    BitAnd,
    BitXor,
    Constant,
    Expr,
    FloorDiv,
    Index,
    Mod,
    Mul,
)
from layoutdsl.language.integers.value import evaluate
from layoutdsl.proof.kernel import budget, lemmas
from layoutdsl.proof.kernel.budget import MOST_WORK, Budget, NoProof, shared
from layoutdsl.proof.kernel.certificate import establish, known_lemmas
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
    check,
    names,
    question,
    show,
)
from layoutdsl.proof.kernel.solver import ask

HALF = Theorem("HALF", ("a",), (("<=", 0, "a"),), (("<=", ("div", "a", 2), "a"),))
NAMED = Theorem(
    "NAMED", ("a",), (("<", 0, "a"),), (("<", 1, "d"),), definitions=(("d", ("+", "a", 1)),)
)
KNOWN = {"HALF": HALF, "NAMED": NAMED}
POSITIVE: Term = ("<", 0, "x")


def about(goal: Term, *hypotheses: Term, **definitions: Term) -> Theorem:
    return Theorem("T", ("x", "y"), hypotheses, (goal,), tuple(definitions.items()))


X = about(POSITIVE, ("<", 1, "x"), ("=", "y", ("+", "x", "x")), z=("*", "x", "y"))
HAVE = Have("done", POSITIVE, ("hyp.0",))


@pytest.mark.parametrize(
    ("questions", "theorem", "steps"),
    [
        (1, X, [HAVE]),
        (0, about(POSITIVE, POSITIVE), []),
        (0, about(("=", "z", ("*", "x", 2)), z=("*", "x", 2)), []),
        (0, about(("=", "z", ("*", "x", "y")), z=("*", "x", "y")), [Define("w", "z")]),
        (0, about(("<", 0, "x"), POSITIVE, POSITIVE), []),
        (1, X, [Define("w", ("*", "x", "x")), Define("v", ("mod", "w", 3)), HAVE]),
        (
            1,
            about(("<=", ("div", "x", 2), "x"), POSITIVE),
            [Have("f", ("<=", 0, "x"), ("hyp.0",)), Use("g", "HALF", (("a", "x"),), ("f",))],
        ),
        (
            0,
            about(("<", 1, "z"), POSITIVE, z=("+", "x", 1)),
            [Use("g", "NAMED", (("a", "x"), ("d", "z")), ("hyp.0", "z"))],
        ),
        (
            0,
            about(("=", ("*", ("+", "x", 1), ("-", "x", 1)), ("-", ("*", "x", "x"), 1))),
            [
                Calculate(
                    "f",
                    ("*", ("+", "x", 1), ("-", "x", 1)),
                    (Ring(("-", ("*", "x", "x"), 1)),),
                )
            ],
        ),
        (
            0,
            about(("=", ("div", "y", "x"), ("div", 3, "x")), ("=", "y", 3)),
            [Calculate("f", ("div", "y", "x"), (By("hyp.0"),))],
        ),
        (
            0,
            about(("=", ("mod", ("+", "x", "y"), 4), ("mod", ("+", "y", "x"), 4))),
            [Calculate("f", ("mod", ("+", "x", "y"), 4), (Ring(("mod", ("+", "y", "x"), 4)),))],
        ),
        (
            0,
            about(("<", 0, "y"), ("=", "x", "y"), POSITIVE),
            [Rewrite("f", "hyp.1", (By("hyp.0"),))],
        ),
        (
            0,
            about(POSITIVE, ("=", "x", "y"), ("<", 0, "y")),
            [Rewrite("f", "hyp.1", (By("hyp.0", backwards=True),))],
        ),
    ],
)
def test_right_steps(questions: int, theorem: Theorem, steps: list[Step]) -> None:
    assert len(check(theorem, steps, KNOWN)) == questions
    before: list[tuple[Theorem, Proof]] = [
        (HALF, [Have("f", HALF.goals[0], ("hyp.0",))]),
        (NAMED, [Have("f", NAMED.goals[0], ("hyp.0", "d"))]),
    ]
    assert establish([*before, (theorem, steps)])["T"].established


NO_NAMES = ["", "0x", "x y", "x)(assert false", "|x|", "x\n", "é", ".x", "~x", "x;", 'x"', "-1"]


@pytest.mark.parametrize(
    ("message", "steps"),
    [
        ("the name x is taken, or no name", [Define("x", 1)]),
        ("the name z is taken, or no name", [Define("z", 1)]),
        ("the name w is taken, or no name", [Define("w", 1), Define("w", 1)]),
        *((f"the name {each} is taken, or no name", [Define(each, 1)]) for each in NO_NAMES),
        ("the fact hyp.0 is given twice", [Define("hyp.0", 1)]),
        ("the fact z is given twice", [Have("z", POSITIVE, ())]),
        ("the fact f is given twice", [Have("f", POSITIVE, ()), Have("f", ("<", 1, 0), ())]),
        ("'w' is not a term here", [Define("w", "w")]),
        ("'q' is not a term here", [Define("w", ("+", "x", "q"))]),
        ("'x) (assert false' is not a term here", [Define("w", "x) (assert false")]),
        ("True is not a term here", [Define("w", True)]),
        ("1.0 is not a term here", [Define("w", 1.0)]),  # type: ignore[arg-type]
        ("None is not a term here", [Define("w", None)]),  # type: ignore[arg-type]
        ("() is not a term here", [Define("w", ())]),
        ("('+', 'x') is not a term here", [Define("w", ("+", "x"))]),
        ("('div', 'x') is not a term here", [Define("w", ("div", "x"))]),
        ("('*', 'x', 'x', 'x') is not a term here", [Define("w", ("*", "x", "x", "x"))]),
        ("('^', 'x', 1) is not a term here", [Define("w", ("^", "x", 1))]),
        ("('<', 'x', 1) is not a term here", [Define("w", ("<", "x", 1))]),
        (
            "('+ 0 0) (assert false) (', 'x', 1) is not a term here",
            [Define("w", ("+ 0 0) (assert false) (", "x", 1))],
        ),
        ("['+', 'x', 1] is not a term here", [Define("w", ["+", "x", 1])]),  # type: ignore[arg-type]
        ("'false' is not a formula", [Have("f", "false", ())]),
        ("1 is not a formula", [Have("f", 1, ())]),
        ("() is not a formula", [Have("f", (), ())]),
        ("('xor', ('<', 0, 'x')) is not a formula", [Have("f", ("xor", POSITIVE), ())]),
        ("('<', 0) is not a formula", [Have("f", ("<", 0), ())]),
        ("('=', 'x', 'x', 'x') is not a formula", [Have("f", ("=", "x", "x", "x"), ())]),
        ("('and',) is not a formula", [Have("f", ("and",), ())]),
        (
            "('not', ('<', 0, 'x'), ('<', 0, 'x')) is not a formula",
            [Have("f", ("not", POSITIVE, POSITIVE), ())],
        ),
        ("('=>', ('<', 0, 'x')) is not a formula", [Have("f", ("=>", POSITIVE), ())]),
        ("('<', 0, 'x') is not a term here", [Have("f", ("=", POSITIVE, POSITIVE), ())]),
        ("'x' is not a formula", [Have("f", ("not", "x"), ())]),
        ("there is no fact f", [Have("g", POSITIVE, ("f",))]),
        ("there is no fact g", [Have("g", POSITIVE, ("g",))]),
        ("there is no fact hyp.2", [Have("g", POSITIVE, ("hyp.2",))]),
        ("there is no theorem T", [Use("f", "T", (("x", "x"), ("y", "y")), ())]),
        ("there is no theorem NOPE", [Use("f", "NOPE", (), ())]),
        ("'a' is not a term here", [Use("f", "HALF", (), ())]),
        (
            "HALF is used with values for ['a', 'b']",
            [Use("f", "HALF", (("a", "x"), ("b", "x")), ("hyp.0",))],
        ),
        ("'d' is not a term here", [Use("f", "NAMED", (("a", "x"),), ("hyp.0",))]),
        ("'q' is not a term here", [Use("f", "HALF", (("a", "q"),), ("hyp.0",))]),
        ("HALF is used without ['(<= 0 x)']", [Use("f", "HALF", (("a", "x"),), ())]),
        ("HALF is used without ['(<= 0 x)']", [Use("f", "HALF", (("a", "x"),), ("hyp.0",))]),
        (
            "NAMED is used without ['(< 0 y)', '(= z (+ y 1))']",
            [Use("f", "NAMED", (("a", "y"), ("d", "z")), ("hyp.0", "z"))],
        ),
        (
            "(mul x x) is not (mul x y) as a polynomial",
            [Calculate("f", ("*", "x", "x"), (Ring(("*", "x", "y")),))],
        ),
        (
            "(* 2 (div x 2)) is not x as a polynomial",
            [Calculate("f", ("*", 2, ("div", "x", 2)), (Ring("x"),))],
        ),
        ("'q' is not a term here", [Calculate("f", "x", (Ring("q"),))]),
        ("'q' is not a term here", [Calculate("f", "q", ())]),
        ("the fact hyp.0 is no equation", [Calculate("f", "x", (By("hyp.0"),))]),
        ("there is no fact f", [Calculate("f", "x", (By("f"),))]),
        ("there is no fact f", [Rewrite("g", "f", ())]),
        ("the fact hyp.0 is no equation", [Rewrite("f", "hyp.1", (By("hyp.0"),))]),
        ("the goal (< 0 x) is not reached", []),
        ("the goal (< 0 x) is not reached", [Have("f", ("<", 0, "y"), ())]),
        ("the goal (< 0 x) is not reached", [Rewrite("f", "hyp.0", ())]),
    ],
)
def test_wrong_steps(message: str, steps: list[Any]) -> None:
    with pytest.raises(Rejected) as rejected:
        check(X, steps, KNOWN)
    assert str(rejected.value) == message


@pytest.mark.parametrize(
    ("message", "theorem"),
    [
        ("the name x is taken, or no name", Theorem("T", ("x", "x"), (), ())),
        ("the name x is taken, or no name", Theorem("T", ("x",), (), (), (("x", 1),))),
        ("'d' is not a term here", Theorem("T", (), (), (), (("d", "d"),))),
        ("'x' is not a term here", Theorem("T", (), (POSITIVE,), ())),
        ("'x' is not a term here", Theorem("T", (), (), (POSITIVE,))),
    ],
)
def test_statements_are_checked_too(message: str, theorem: Theorem) -> None:
    with pytest.raises(Rejected) as rejected:
        check(theorem, [], KNOWN)
    assert str(rejected.value) == message


@pytest.mark.parametrize(
    "steps",
    [
        [Have("f", ("<", 1, 0), ()), Have("g", ("<", 0, "x"), ("f",))],
        [Have("f", ("<", 0, "x"), ())],
        [Have("f", ("=", ("*", "x", "x"), ("*", "y", "y")), ()), Have("g", POSITIVE, ("f",))],
        [Define("w", ("div", 1, 0)), Have("g", POSITIVE, ("w",))],
        [Define("w", ("-", "x", 1)), Rewrite("v", "w", ()), Have("g", POSITIVE, ("v", "w"))],
    ],
)
def test_what_does_not_follow_is_answered_sat(steps: list[Step]) -> None:
    outcome = establish([(about(POSITIVE), steps)])["T"]
    assert outcome.reason == "a step of the proof does not follow"


def test_nothing_but_the_library_is_asked_natively() -> None:
    true = about(("<=", 0, ("*", "x", "x")))
    reason = "the proof was rejected: only the lemma library asks in the solver's own arithmetic"
    assert establish([(true, Native())])["T"].reason == reason


FALSE: Term = ("<", 0, 0)
INJECTED = "and true))(assert false)(assert (or"
"""An operator that ends the assertion which it stands in, and adds a false one."""


@pytest.mark.parametrize(
    ("message", "theorem"),
    [
        ("is not a term here", about(FALSE, z=("+", "z", 1))),
        ("the name x is taken", about(FALSE, x=("+", "y", 1))),
        ("is not a formula", about(FALSE, (INJECTED, ("=", "x", "x")))),
        ("is not a term here", about(FALSE, ("=", "x Int)\n(assert false)\n(declare-const z", 0))),
        ("is not a term here", about(("<", 0, True))),
        ("is not a formula", about(("distinct", 0, 1))),
    ],
)
def test_a_native_theorem_is_looked_at_like_others(message: str, theorem: Theorem) -> None:
    """The solver answers *unsat* for the first four, which are false or no theorems."""
    with pytest.raises(Rejected, match=message):
        check(theorem, Native(), {})


@pytest.mark.parametrize("term", [(INJECTED, ("=", "x", "x")), ("ite", "x", 1, 2), ("/", "x", 2)])
def test_a_script_holds_no_other_operators(term: Term) -> None:
    with pytest.raises(ValueError, match="is no operator"):
        show(term)


def test_a_script_holds_no_other_names() -> None:
    with pytest.raises(ValueError, match="is no name"):
        question((), ("<", 0, "x Int)\n(assert false)\n(declare-const z"))


@pytest.mark.parametrize("name", ["true", "and", "mul", "rem.", "let", "distinct", "as"])
def test_names_that_solvers_reserve(name: str) -> None:
    """A solver complains about them, and its answers to the whole script are then unknown."""
    theorem = Theorem("T", (name,), (), (("<=", name, ("+", name, 1)),))
    with pytest.raises(Rejected, match=f"the name {name} is taken, or no name"):
        check(theorem, [Have("f", theorem.goals[0], ())], {})


@pytest.mark.parametrize("proof", [(), Native()])
def test_a_theorem_without_goals_says_nothing(proof: Proof) -> None:
    with pytest.raises(Rejected, match="it has no goals"):
        check(Theorem("T", ("x",), (), ()), proof, {})


@pytest.mark.parametrize("taken", [["T", "T"], ["PAIR"], ["T", "UNPAIR"]])
def test_a_theorem_has_a_name_of_its_own(taken: list[str]) -> None:
    true = about(POSITIVE, POSITIVE)
    with pytest.raises(ValueError, match=r"^a theorem has a name that is taken$"):
        establish([(replace(true, name=name), ()) for name in taken])


def test_a_theorem_cannot_use_what_comes_later_or_itself() -> None:
    false = about(POSITIVE)
    use = Use("f", "T", (("x", "x"), ("y", "y")), ())
    assert establish([(false, [use])])["T"].reason == (
        "the proof was rejected: there is no theorem T"
    )
    other = replace(false, name="S")
    steps = [replace(use, theorem="S")]
    outcomes = establish([(false, steps), (other, [replace(use, theorem="T")])])
    assert {name: each.reason for name, each in outcomes.items()} == {
        "T": "the proof was rejected: there is no theorem S",
        "S": "the proof was rejected: there is no theorem T",
    }


def test_what_rests_on_a_false_theorem_falls_with_it() -> None:
    values: tuple[tuple[str, Term], ...] = (("x", "x"), ("y", "y"))
    chain: list[tuple[Theorem, Proof]] = [(about(POSITIVE), [Have("f", POSITIVE, ())])]
    for before, name in (("T", "S"), ("S", "R")):
        chain.append((replace(about(POSITIVE), name=name), [Use("f", before, values, ())]))
    outcomes = establish(chain)
    assert {name: each.reason for name, each in outcomes.items()} == {
        "T": "a step of the proof does not follow",
        "S": "it rests on `T`",
        "R": "it rests on `S`",
    }


LIBRARY = {theorem.name: (theorem, proof) for theorem, proof in lemmas.library()}


def test_the_library_holds() -> None:
    assert list(known_lemmas()) == list(LIBRARY)
    natives = [name for name, (_, proof) in LIBRARY.items() if isinstance(proof, Native)]
    assert natives == ["PRODUCT", "DIVISION"]


@pytest.mark.parametrize("name", LIBRARY)
def test_each_lemma_by_small_numbers(name: str) -> None:
    assert fails_at(LIBRARY[name][0]) is None


WEAKENED = [
    (name, number)
    for name, (theorem, _) in LIBRARY.items()
    for number in range(len(theorem.hypotheses))
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "number"), WEAKENED)
def test_each_hypothesis_is_needed(name: str, number: int) -> None:
    """Without it the lemma is false, its proof breaks, and the solver says so where it can."""
    theorem, proof = LIBRARY[name]
    left = theorem.hypotheses[:number] + theorem.hypotheses[number + 1 :]
    weaker = replace(theorem, name="WEAKER", hypotheses=left)
    assert fails_at(weaker) is not None
    assert "unsat" not in ask([each.text for each in check(weaker, Native(), {})]).answers
    if not isinstance(proof, Native):
        assert not establish([(weaker, moved(proof, number))])["WEAKER"].established


def moved(proof: Any, number: int) -> list[Step]:
    """The proof with the hypotheses counted again after one is gone."""

    def renamed(premises: tuple[str, ...]) -> tuple[str, ...]:
        kept = [each for each in premises if each != f"hyp.{number}"]
        return tuple(
            f"hyp.{int(each[4:]) - 1}" if each[:4] == "hyp." and int(each[4:]) > number else each
            for each in kept
        )

    return [
        replace(step, premises=renamed(step.premises)) if hasattr(step, "premises") else step
        for step in proof
    ]


def fails_at(theorem: Theorem) -> dict[str, int] | None:
    """Numbers from -3 to 3 at which a theorem is false, by Euclid's division."""
    for numbers in product(range(-3, 4), repeat=len(theorem.variables)):
        values = dict(zip(theorem.variables, numbers, strict=True))
        try:
            holds = all(truth(each, values) for each in theorem.hypotheses)
            if holds and not all(truth(each, values) for each in theorem.goals):
                return values
        except ZeroDivisionError:
            continue
    return None


def truth(formula: Any, values: Mapping[str, int]) -> bool:
    operator, *parts = formula
    if operator in ("=>", "and"):
        left, right = (truth(each, values) for each in parts)
        return (not left or right) if operator == "=>" else left and right
    left, right = (number(each, values) for each in parts)
    return {"=": left == right, "<=": left <= right, "<": left < right}[operator]


def number(term: Any, values: Mapping[str, int]) -> int:
    if not isinstance(term, tuple):
        return values[term] if isinstance(term, str) else term
    left, right = (number(each, values) for each in term[1:])
    match term[0]:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    rest = left % abs(right)
    return rest if term[0] == "mod" else (left - rest) // right


def test_a_theorem_speaks_of_its_own_names_only() -> None:
    for theorem, _ in LIBRARY.values():
        spoken = {name for each in (*theorem.hypotheses, *theorem.goals) for name in names(each)}
        assert spoken == set(theorem.variables)


# Bitwise operations, in the words of arithmetic that theorems are stated in.

A, B = Index("a"), Index("b")
SMALL = [
    Mod(B, Constant(8)),
    Mod(B, Constant(6)),
    BitAnd(B, Constant(40)),
    Mul(Mod(B, Constant(4)), Constant(4)),
    FloorDiv(Mod(B, Constant(32)), Constant(4)),
    FloorDiv(Mod(B, Constant(32)), Constant(3)),
    Add(Mod(B, Constant(4)), Mod(A, Constant(3))),
    BitXor(Mod(B, Constant(4)), Mod(FloorDiv(A, Constant(3)), Constant(8))),
    Constant(0),
    Constant(13),
]
LARGE = [A, FloorDiv(A, Constant(8)), Mul(A, Constant(4)), BitXor(A, Mod(B, Constant(16)))]


@pytest.mark.sampled(36)
@pytest.mark.parametrize("operation", [BitXor, BitAnd])
@pytest.mark.parametrize("small", SMALL)
@pytest.mark.parametrize("large", LARGE)
def test_arithmetic_says_what_bits_do(
    operation: type[BitXor] | type[BitAnd], small: Expr, large: Expr
) -> None:
    """Negative numbers included: what is evident holds whatever the names stand for."""
    for expr in (operation(large, small), operation(small, large)):
        said = arithmetic(expr, {})
        assert said is not None
        assert list(assumed(expr, {})) == []
        for a, b in product((*range(-9, 10), 37, -70, 1 << 20), (*range(-5, 9), 44, 63, -100)):
            point = {"a": a, "b": b}
            assert evaluate(said, point) == evaluate(expr, point), point


def test_what_is_not_evident_is_assumed() -> None:
    expr = BitXor(A, B)
    assert arithmetic(expr, {}) is None
    assert list(assumed(expr, {"b": Constant(6)})) == [(B, 8)]
    said = arithmetic(expr, {"b": Constant(6)})
    assert said is not None
    for a, b in product(range(-20, 20), range(8)):
        assert evaluate(said, {"a": a, "b": b}) == a ^ b
    assert evaluate(said, {"a": 0, "b": 8}) != 8  # why it has to be shown that b is below 8


# The work of one claim is bounded. Where the kernel stops is no part of a verdict, so its budget is
# spent here by hand.


def test_what_is_beyond_the_budget_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MOST_WORK", 2_000)
    monkeypatch.setattr(shared.__wrapped__, "__defaults__", (2_000,))  # type: ignore[attr-defined]
    found = sound(library("Swizzle128"))
    assert found.status == "undecided"
    reason = "it takes more than the 2000 units of work that one claim has"
    assert any(reason in words(each) for each in found.findings)


def test_the_library_needs_a_small_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[int] = []
    plain = Budget.spend
    monkeypatch.setattr(Budget, "spend", lambda self, n: (spent.append(n), plain(self, n))[1])
    assert sound(library("Swizzle128")).status == "proved"
    assert sum(spent) < MOST_WORK / 4


def test_a_budget_is_shared_by_what_is_looked_for_inside() -> None:
    with shared(10):
        budget.current().spend(6)
        with pytest.raises(NoProof, match="more than the 10 units"):
            budget.current().spend(6)
    budget.current().spend(11)
