"""Normal forms of terms drawn at random, held against their values in plain integers.

Theorems of the validator rest on these forms, so each is tried apart from any text.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import add, and_, floordiv, mod, mul, or_, sub, xor
from random import Random

import pytest

from layoutdsl.code.validate.loops.ranges import InRanges, below
from layoutdsl.code.validate.normal import Normal
from layoutdsl.proof.kernel.checker import Term

WORDS = {"+": add, "-": sub, "*": mul, "div": floordiv, "mod": mod, "^": xor, "|": or_, "&": and_}
DIVISORS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 48, 112)
NORMAL = Normal()


def value(term: Term, values: Mapping[str, int]) -> int:
    """What a term is worth."""
    match term:
        case int():
            return term
        case str():
            return values[term]
    word, left, right = term
    return WORDS[word](value(left, values), value(right, values))


def drawn(random: Random, depth: int) -> Term:
    if depth == 0:
        return random.choice(("i", "b", random.randrange(40)))
    word = random.choice((*WORDS, "^", "|", "&", "div", "mod"))
    numbered = word in ("div", "mod") or random.random() < 0.4
    right = random.choice(DIVISORS) if numbered else drawn(random, depth - 1)
    return (word, drawn(random, depth - 1), right)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "count"), [(1, 1500), pytest.param(2, 100_000, marks=pytest.mark.campaign)]
)
def test_normal_forms_have_the_value_of_their_terms(seed: int, count: int) -> None:
    random = Random(seed)
    for _ in range(count):
        term = drawn(random, random.randint(1, 4))
        form = NORMAL.form(term)
        for _ in range(4):
            known = {"i": random.randrange(400), "b": random.randrange(-50, 300)}
            assert value(form, known) == value(term, known), term


DIGITS = {below(f"v.{number}", most): most for number, most in enumerate((1, 2, 4, 6, 16, 48))}


def drawn_digits(random: Random, depth: int) -> Term:
    """Sums of digits times their steps, and of their quotients and remainders."""
    if depth == 0:
        return random.choice((*DIGITS, "i", random.randrange(-20, 40)))
    word = random.choice(("+", "+", "*", "div", "mod"))
    right = random.choice(DIVISORS) if word != "+" else drawn_digits(random, depth - 1)
    return (word, drawn_digits(random, depth - 1), right)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "count"), [(1, 3000), pytest.param(2, 200_000, marks=pytest.mark.campaign)]
)
def test_what_is_known_of_digits_changes_no_value(seed: int, count: int) -> None:
    random, changed = Random(seed), 0
    for _ in range(count):
        term = drawn_digits(random, random.randint(1, 5))
        form = InRanges().form(term)
        changed += form != NORMAL.form(term)
        for _ in range(6):
            known = {
                name: random.choice((0, most - 1, random.randrange(most)))
                for name, most in DIGITS.items()
            }
            known["i"] = random.randrange(-50, 300)
            assert value(form, known) == value(term, known), term
    assert changed > count // 20


@pytest.mark.parametrize(
    ("term", "form"),
    [
        (("div", ("+", "v.0.4", ("*", 4, "v.1")), 8), ("div", "v.1", 2)),
        (("mod", ("+", "v.0.4", ("*", 4, "v.1.2")), 8), ("+", ("*", 4, "v.1.2"), "v.0.4")),
        (("div", ("mod", ("+", "v.0.4", ("*", 4, "v.1")), 8), 4), ("mod", "v.1", 2)),
        (("div", ("+", "v.0.5", ("*", 4, "v.1")), 8),) * 2,
        (("mod", ("+", ("*", 3, "v.0"), ("*", 4, "v.1.16")), 12),) * 2,
        (("div", ("+", "v.0", ("*", 4, "v.1")), 8),) * 2,
    ],
)
def test_digits_are_taken_out_of_sums_of_digits(term: Term, form: Term) -> None:
    assert InRanges().form(term) == InRanges().form(form)
    plain = InRanges().form(term)
    assert (plain == NORMAL.form(term)) == (term == form)
