"""The lemma library: what splitting and joining numbers needs, proved from two facts of arithmetic.

Only PRODUCT and DIVISION are asked of the solver in its own arithmetic of products and quotients;
the others follow from them by steps that the checker follows. PAIR joins two digits, UNPAIR splits
a number in two, EUCLID reads a quotient and a remainder off a sum, CONGRUENT drops multiples of the
divisor from it, PARITY halves the product of two neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from layoutdsl.proof.kernel.builder import ProofBuilder
from layoutdsl.proof.kernel.theorem import By, Native, Proof, Ring, Term, Theorem

_QUOTIENT: Term = ("div", "x", "B")
_REMAINDER: Term = ("mod", "x", "B")
_CEILING: Term = ("div", ("+", "E", ("-", "B", 1)), "B")


PRODUCT = Theorem(
    "PRODUCT",
    ("a", "b"),
    (),
    (("=>", ("and", ("<=", 0, "a"), ("<=", 0, "b")), ("<=", 0, ("*", "a", "b"))),),
)
DIVISION = Theorem(
    "DIVISION",
    ("x", "B"),
    (("<", 0, "B"),),
    (
        ("=", ("+", ("*", _QUOTIENT, "B"), _REMAINDER), "x"),
        ("<=", 0, _REMAINDER),
        ("<", _REMAINDER, "B"),
    ),
)
POSITIVE = Theorem(
    "POSITIVE",
    ("a", "b"),
    (("<", 0, "a"), ("<", 0, "b")),
    (("<", 0, ("*", "a", "b")),),
)
MONOTONE = Theorem(
    "MONOTONE",
    ("a", "b", "k"),
    (("<=", "a", "b"), ("<=", 0, "k")),
    (("<=", ("*", "a", "k"), ("*", "b", "k")),),
)
BOUND = Theorem(
    "BOUND",
    ("a", "b", "A", "B"),
    (("<=", 0, "a"), ("<=", "a", "A"), ("<=", 0, "b"), ("<=", "b", "B")),
    (("<=", 0, ("*", "a", "b")), ("<=", ("*", "a", "b"), ("*", "A", "B"))),
)
UNIQUE = Theorem(
    "UNIQUE",
    ("q", "r", "a", "b", "B"),
    (
        ("<=", 0, "r"),
        ("<", "r", "B"),
        ("<=", 0, "b"),
        ("<", "b", "B"),
        ("=", ("+", ("*", "q", "B"), "r"), ("+", ("*", "a", "B"), "b")),
    ),
    (("=", "q", "a"), ("=", "r", "b")),
)
_JOINED: Term = ("+", ("*", "a", "B"), "b")
EUCLID = Theorem(
    "EUCLID",
    ("a", "b", "B"),
    (("<=", 0, "b"), ("<", "b", "B")),
    (("=", ("div", _JOINED, "B"), "a"), ("=", ("mod", _JOINED, "B"), "b")),
)
CONGRUENT = Theorem(
    "CONGRUENT",
    ("a", "b", "B"),
    (("<", 0, "B"),),
    (
        ("=", ("mod", _JOINED, "B"), ("mod", "b", "B")),
        ("<", ("mod", "b", "B"), "B"),
    ),
)
PAIR = Theorem(
    "PAIR",
    ("a", "b", "A", "B"),
    (("<=", 0, "a"), ("<", "a", "A"), ("<=", 0, "b"), ("<", "b", "B")),
    (
        ("<=", 0, _JOINED),
        ("<", _JOINED, ("*", "A", "B")),
        ("=", ("div", _JOINED, "B"), "a"),
        ("=", ("mod", _JOINED, "B"), "b"),
    ),
)
UNPAIR = Theorem(
    "UNPAIR",
    ("x", "A", "B"),
    (("<=", 0, "x"), ("<", "x", ("*", "A", "B")), ("<", 0, "B")),
    (
        ("<=", 0, _QUOTIENT),
        ("<", _QUOTIENT, "A"),
        ("<=", 0, _REMAINDER),
        ("<", _REMAINDER, "B"),
        ("=", ("+", ("*", _QUOTIENT, "B"), _REMAINDER), "x"),
    ),
)
CEILING = Theorem(
    "CEILING",
    ("E", "B"),
    (("<", 0, "E"), ("<", 0, "B")),
    (("<", 0, _CEILING), ("<=", "E", ("*", _CEILING, "B"))),
)
MIRROR = Theorem(
    "MIRROR",
    ("E", "B"),
    (("<", 0, "B"),),
    (("=", ("div", ("-", 0, "E"), "B"), ("-", 0, _CEILING)),),
)
FACTOR = Theorem(
    "FACTOR",
    ("a", "b"),
    (("<=", 0, "a"), ("<", 0, ("*", "a", "b"))),
    (("<", 0, "b"),),
)
_NEIGHBOURS: Term = ("*", "x", ("+", "x", 1))
PARITY = Theorem(
    "PARITY",
    ("x",),
    (),
    (("=", ("*", 2, ("div", _NEIGHBOURS, 2)), _NEIGHBOURS),),
)


def _product(builder: ProofBuilder, left: Term, right: Term, expanded: Term) -> list[str]:
    """Two non-negative numbers have a non-negative product, which is `expanded`."""
    (fact,) = builder.use("PRODUCT", {"a": left, "b": right})
    return [fact, builder.calculate(("*", left, right), Ring(expanded))]


def _close(builder: ProofBuilder, *premises: str) -> None:
    for goal in builder.theorem.goals:
        builder.have(goal, *builder.hypotheses, *premises)


def _positive(builder: ProofBuilder) -> None:
    expanded = ("+", ("-", ("-", ("*", "a", "b"), "a"), "b"), 1)
    _close(builder, *_product(builder, ("-", "a", 1), ("-", "b", 1), expanded))


def _monotone(builder: ProofBuilder) -> None:
    expanded = ("-", ("*", "b", "k"), ("*", "a", "k"))
    _close(builder, *_product(builder, ("-", "b", "a"), "k", expanded))


def _bound(builder: ProofBuilder) -> None:
    (low,) = builder.use("PRODUCT", {"a": "a", "b": "b"})
    one = _product(builder, ("-", "A", "a"), "b", ("-", ("*", "A", "b"), ("*", "a", "b")))
    other = _product(builder, "A", ("-", "B", "b"), ("-", ("*", "A", "B"), ("*", "A", "b")))
    _close(builder, low, *one, *other)


def _unique(builder: ProofBuilder) -> None:
    above = ("-", ("-", ("*", "q", "B"), ("*", "a", "B")), "B")
    below = ("-", ("-", ("*", "a", "B"), ("*", "q", "B")), "B")
    facts = _product(builder, ("-", ("-", "q", "a"), 1), "B", above)
    facts += _product(builder, ("-", ("-", "a", "q"), 1), "B", below)
    same = builder.have(("=", "q", "a"), *builder.hypotheses, *facts)
    builder.have(("=", "r", "b"), *builder.hypotheses, same)


def _euclid(builder: ProofBuilder) -> None:
    builder.have(("<", 0, "B"), *builder.hypotheses)
    whole, *_ = builder.use("DIVISION", {"x": _JOINED, "B": "B"})
    assert whole
    values: dict[str, Term] = {
        "q": ("div", _JOINED, "B"),
        "r": ("mod", _JOINED, "B"),
        "a": "a",
        "b": "b",
        "B": "B",
    }
    builder.use("UNIQUE", values)


def _congruent(builder: ProofBuilder) -> None:
    """Multiples of the divisor leave the remainder as it is."""
    whole, *_ = builder.use("DIVISION", {"x": "b", "B": "B"})
    above: Term = ("+", "a", ("div", "b", "B"))
    rest: Term = ("mod", "b", "B")
    _, same = builder.use("EUCLID", {"a": above, "b": rest, "B": "B"})
    joined: Term = ("+", ("*", above, "B"), rest)
    apart: Term = ("+", ("*", "a", "B"), ("+", ("*", ("div", "b", "B"), "B"), rest))
    equal = builder.calculate(joined, Ring(apart), By(whole))
    builder.calculate(("mod", _JOINED, "B"), By(equal, backwards=True), By(same))


def _pair(builder: ProofBuilder) -> None:
    builder.use("EUCLID", {"a": "a", "b": "b", "B": "B"})
    (low,) = builder.use("PRODUCT", {"a": "a", "b": "B"})
    room = ("-", ("-", "A", 1), "a")
    expanded = ("-", ("-", ("*", "A", "B"), "B"), ("*", "a", "B"))
    facts = [low, *_product(builder, room, "B", expanded)]
    for goal in builder.theorem.goals[:2]:
        builder.have(goal, *builder.hypotheses, *facts)


def _unpair(builder: ProofBuilder) -> None:
    facts = builder.use("DIVISION", {"x": "x", "B": "B"})
    negative = ("-", ("-", 0, "B"), ("*", _QUOTIENT, "B"))
    facts += _product(builder, ("-", ("-", 0, 1), _QUOTIENT), "B", negative)
    too_large = ("-", ("*", _QUOTIENT, "B"), ("*", "A", "B"))
    facts += _product(builder, ("-", _QUOTIENT, "A"), "B", too_large)
    for goal in builder.theorem.goals[:2]:
        builder.have(goal, *builder.hypotheses, *facts)


def _ceiling(builder: ProofBuilder) -> None:
    facts = builder.use("DIVISION", {"x": ("+", "E", ("-", "B", 1)), "B": "B"})
    facts += _product(builder, ("-", 0, _CEILING), "B", ("-", 0, ("*", _CEILING, "B")))
    _close(builder, *facts)


def _mirror(builder: ProofBuilder) -> None:
    """What is left of rounding up is what rounding the opposite down leaves out."""
    rounded: Term = ("+", "E", ("-", "B", 1))
    whole, low, high = builder.use("DIVISION", {"x": rounded, "B": "B"})
    rest: Term = ("-", ("-", "B", 1), ("mod", rounded, "B"))
    builder.have(("<=", 0, rest), high)
    builder.have(("<", rest, "B"), low)
    opposite: Term = ("-", 0, _CEILING)
    quotient, _ = builder.use("EUCLID", {"a": opposite, "b": rest, "B": "B"})
    joined: Term = ("+", ("*", opposite, "B"), rest)
    apart: Term = ("-", ("-", "B", 1), ("+", ("*", _CEILING, "B"), ("mod", rounded, "B")))
    same = builder.calculate(joined, Ring(apart), By(whole), Ring(("-", 0, "E")))
    builder.calculate(("div", ("-", 0, "E"), "B"), By(same, backwards=True), By(quotient))


def _factor(builder: ProofBuilder) -> None:
    _close(builder, *_product(builder, "a", ("-", 0, "b"), ("-", 0, ("*", "a", "b"))))


def _parity(builder: ProofBuilder) -> None:
    """Of two neighbours one is even: with ``x = 2*q + r``, ``r*r`` is ``r``."""
    builder.have(("<", 0, 2))
    whole, low, high = builder.use("DIVISION", {"x": "x", "B": 2})
    quotient: Term = ("div", "x", 2)
    bit: Term = ("mod", "x", 2)
    square: Term = ("*", bit, bit)
    facts = _product(builder, bit, bit, square)
    facts += _product(builder, bit, ("-", 1, bit), ("-", bit, square))
    less = ("-", 1, bit)
    facts += _product(builder, less, less, ("+", ("-", 1, ("*", 2, bit)), square))
    cut: Term = ("+", ("*", quotient, 2), bit)
    one = ("*", cut, ("+", cut, 1))
    fours = ("*", 4, ("*", quotient, quotient))
    mixed = ("+", ("*", 4, ("*", quotient, bit)), ("*", 2, quotient))
    sum_: Term = ("+", ("+", fours, mixed), ("+", square, bit))
    divided = builder.calculate(one, Ring(sum_))
    back = builder.rewrite(divided, By(whole))
    builder.have(builder.theorem.goals[0], low, high, back, *facts)


_PROOFS: tuple[tuple[Theorem, Callable[[ProofBuilder], Any] | None], ...] = (
    (PRODUCT, None),
    (DIVISION, None),
    (POSITIVE, _positive),
    (MONOTONE, _monotone),
    (BOUND, _bound),
    (UNIQUE, _unique),
    (EUCLID, _euclid),
    (CONGRUENT, _congruent),
    (PAIR, _pair),
    (UNPAIR, _unpair),
    (CEILING, _ceiling),
    (MIRROR, _mirror),
    (FACTOR, _factor),
    (PARITY, _parity),
)


@cache
def library() -> tuple[tuple[Theorem, Proof], ...]:
    """Return every lemma with its proof, each after those that it uses."""
    known: dict[str, Theorem] = {}
    proved: list[tuple[Theorem, Proof]] = []
    for theorem, prove in _PROOFS:
        if prove is None:
            proved.append((theorem, Native()))
        else:
            builder = ProofBuilder(theorem, known)
            prove(builder)
            proved.append((theorem, builder.proof))
        known[theorem.name] = theorem
    return tuple(proved)


def stated() -> dict[str, Theorem]:
    """Return every lemma by name, for whoever writes proofs; nothing is confirmed by it."""
    return {theorem.name: theorem for theorem, _ in library()}
