"""Each rule by which proofs of a solver are replayed: what it shows holds where its premises do.

The rules are trusted, and a solver uses few of them in any one proof.
"""

from __future__ import annotations

import contextlib
import random
from collections import Counter

import pytest
import rule_shapes
from rule_shapes import SHAPES, Refused, contradicted, drawn_step

from layoutdsl.proof.evidence.replay.arithmetic import ARITHMETIC
from layoutdsl.proof.evidence.replay.booleans import BOOLEANS
from layoutdsl.proof.evidence.replay.clauses import CLAUSES
from layoutdsl.proof.evidence.replay.equality import EQUALITY
from layoutdsl.proof.evidence.replay.follow import RULES
from layoutdsl.proof.evidence.replay.reading import read, term_of
from layoutdsl.proof.evidence.replay.rewrites import REWRITES, Rewrite
from layoutdsl.proof.evidence.replay.steps import Rule, Step, parts_of
from layoutdsl.proof.evidence.replay.tables import TABLES
from layoutdsl.proof.evidence.replay.terms import Term
from layoutdsl.proof.evidence.replay.whole import WHOLE
from layoutdsl.proof.kernel.solver import answers

DRAWN = {**EQUALITY, **BOOLEANS, **TABLES, **CLAUSES, **ARITHMETIC, **WHOLE}


def tried(rule: Rule, name: str, count: int, seed: int = 0) -> Counter[str]:
    """How many drawn steps a rule takes and refuses; none may be contradicted by a model."""
    source, found = random.Random(f"{name} {seed}"), Counter[str]()
    for number in range(count):
        shape = source.choice(SHAPES[name])
        spoiled = number % 2 == 1
        try:
            step = drawn_step(source, shape, spoiled)
            shown = rule(step)
        except Refused:
            found["refused", spoiled] += 1
            continue
        found["taken", spoiled] += 1
        model = contradicted(step, shown, source)
        assert model is None, (name, [str(each) for each in step.premises], str(shown), model)
    return found


def test_every_rule_has_a_shape_or_a_line() -> None:
    assert set(SHAPES) == set(DRAWN)
    assert set(RULES) == set(DRAWN) | set(REWRITES)
    assert len(RULES) == len(DRAWN) + len(REWRITES)
    assert all(rule.__doc__ for rule in DRAWN.values() if rule.__name__ != "rule")


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", DRAWN)
def test_what_a_rule_shows_holds(name: str) -> None:
    found = tried(DRAWN[name], name, 60)
    assert found["taken", False] > 0
    assert sum(found.values()) == 60


@pytest.mark.parametrize("name", RULES)
def test_a_rule_that_is_given_anything_refuses_it_or_not(name: str) -> None:
    memory = rule_shapes.memory()
    texts = ("true", "a", "1/2", "(and true)", "(not (= a b))", "(* a b)")
    words = [term_of(read(each)[0], memory.terms, {}) for each in texts]
    source = random.Random(name)
    for number in range(60):
        premises = tuple(source.choices(words, k=number % 4))
        arguments = source.choices([*words, (), (words[0],), ((),)], k=source.randrange(6))
        step = Step(memory, premises, tuple(arguments))
        with contextlib.suppress(Refused):  # and nothing else
            assert isinstance(RULES[name](step), Term)


@pytest.mark.campaign
@pytest.mark.parametrize("name", DRAWN)
def test_what_a_rule_shows_holds_of_more_steps(name: str) -> None:
    for seed in range(1, 21):
        tried(DRAWN[name], name, 500, seed)


# Rules with a fault: that one is found says that the test above can fail.


def _sum_less(step: Step) -> Term:
    found = ARITHMETIC["arith_sum_ub"](step)
    return step.make("<", *found.parts)


def _negative_kept(step: Step) -> Term:
    found = ARITHMETIC["arith_mult_neg"](step)
    relation = step.argument(1).operator
    return step.make("=>", found.parts[0], step.make(relation, *found.parts[1].parts))


def _scaled_by_any_sign(step: Step) -> Term:
    step.plain(1, 1)
    return step.argument(0)


def _bound_one_too_low(step: Step) -> Term:
    found = WHOLE["int_tight_ub"](step)
    number = found.parts[1].number
    assert number is not None
    return step.make("<=", found.parts[0], step.terms.integer(int(number) - 1))


def _other_branch(step: Step) -> Term:
    condition, _, no = parts_of(step.premises[0], "ite", "its premise")
    return step.make("or", step.negation(condition), no)


def _end(step: Step) -> Term:
    (formula,) = parts_of(step.premises[0], "not", "its premise")
    return parts_of(formula, "=>", "the formula")[1]


def _first_part(step: Step) -> Term:
    return parts_of(step.premises[0], "or", "its premise")[0]


def _taken_twice(step: Step) -> Term:
    """As if what is resolved were gone from both clauses in both signs."""
    return step.either(CLAUSES["resolution"](step).parts[1:])


def _less_named(step: Step) -> Term:
    step.plain(1, 1)
    return step.argument(0)


def _polynomials_without_numbers(step: Step) -> Term:
    step.plain(0, 1)
    return step.argument(0)


def _floored(step: Step) -> Term:
    """Division as C has it: towards 0."""
    term = step.argument(0)
    found = EQUALITY["evaluate"](step)
    if term.operator != "<" or term.parts[0].operator != "div":
        return found
    return step.make("=", term, step.terms.false)


FAULTS: dict[str, tuple[str, Rule]] = {
    "sums are less": ("arith_sum_ub", _sum_less),
    "multiples keep their relation": ("arith_mult_neg", _negative_kept),
    "factors of two signs": ("arith_poly_norm_rel", _scaled_by_any_sign),
    "a bound of integers is one too low": ("int_tight_ub", _bound_one_too_low),
    "the other branch": ("ite_elim1", _other_branch),
    "the end without its denial": ("not_implies_elim2", _end),
    "a part of `or`": ("factoring", _first_part),
    "too much resolved": ("resolution", _taken_twice),
    "formulas left out": ("reordering", _less_named),
    "any polynomial": ("arith_poly_norm", _polynomials_without_numbers),
    "any comparison of quotients": ("evaluate", _floored),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_rule_with_a_fault_is_found(fault: str) -> None:
    name, rule = FAULTS[fault]
    with pytest.raises(AssertionError):
        tried(rule, name, 400)


# Equations: each line of the table is a question of its own.

_SORTED = {"Int": ("Int",), "Real": ("Int", "Real"), "Bool": ("Bool",), "": ("Int", "Bool", "Real")}
_TOTAL = """\
(define-fun div_total ((x Int) (y Int)) Int (ite (= y 0) 0 (div x y)))
(define-fun mod_total ((x Int) (y Int)) Int (ite (= y 0) x (mod x y)))
"""


def as_question(name: str, number: int) -> str:
    """Whether a rewrite fails, of the sorts with this number."""
    rewrite = REWRITES[name]
    lines = [
        f"(declare-const {each} {_SORTED[sort][number % len(_SORTED[sort])]})"
        for each, sort in rewrite.names
    ]
    lines += [f"(assert {each})" for each in rewrite.premises]
    lines.append(f"(assert (not {rewrite.equation}))")
    text = "\n".join(lines).replace("0/1", "0.0")
    return f"(push 1)\n{_TOTAL}{text}\n(check-sat)\n(pop 1)\n"


def test_every_equation_holds() -> None:
    asked = [
        (name, number)
        for name, rewrite in REWRITES.items()
        for number in range(max(len(_SORTED[sort]) for _, sort in rewrite.names))
    ]
    given = answers("".join(as_question(*each) for each in asked), len(asked))
    found = dict(zip(asked, given.answers, strict=True))
    assert len(asked) > 70
    assert {each for each in asked if found[each] != "unsat"} == set()


def test_an_equation_that_does_not_hold_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {"wrong": Rewrite("t:Int s:Int", "(= (<= t s) (not (>= t s)))")}
    monkeypatch.setattr("test_replay_rules.REWRITES", wrong)
    assert answers(as_question("wrong", 0), 1).answers == ("sat",)


@pytest.mark.parametrize("name", REWRITES)
def test_an_equation_is_taken_of_its_sorts_alone(name: str) -> None:
    """What is left over, missing, or of another sort is refused."""
    memory = rule_shapes.memory()
    terms, rule = memory.terms, RULES[name]
    rewrite = REWRITES[name]
    right = {"Int": "a", "Real": "a", "Bool": "true", "": "a"}
    wrong = {"Int": "1/2", "Real": "true", "Bool": "a"}

    def given(words: list[str]) -> Step:
        named = dict(zip((each for each, _ in rewrite.names), words, strict=False))
        filled = {each: term_of(read(word)[0], terms, {}) for each, word in named.items()}
        premises = tuple(term_of(read(each)[0], terms, filled) for each in rewrite.premises)
        return Step(memory, premises, tuple(filled.values()))

    words = [right[sort] for _, sort in rewrite.names]
    assert rule(given(words)).operator == "="
    for place, (_, sort) in enumerate(rewrite.names):
        if sort and not rewrite.premises:
            with pytest.raises(Refused):
                rule(given([*words[:place], wrong[sort], *words[place + 1 :]]))
    step = given(words)
    for premises, arguments in (
        ((*step.premises, terms.true), step.arguments),
        (step.premises, (*step.arguments, terms.true)),
        (tuple(terms.true for _ in step.premises), step.arguments),
    ):
        if (premises, arguments) != (step.premises, step.arguments):
            with pytest.raises(Refused):
                rule(Step(memory, premises, arguments))
