"""That two coordinates which follow each other may be read as one: a theorem of each such pair.

Of a coordinate below `A` and the next one below `B`, the number ``a*B + b`` is below ``A*B`` and
says both; every number below it is that of one pair; and an offset is the same, whatever stands
before them. `coordinates` names the pairs; to be believed is that it puts the number there.
"""

from __future__ import annotations

from collections.abc import Iterable

from layoutdsl.kernel import lemmas
from layoutdsl.kernel.builder import ProofBuilder
from layoutdsl.kernel.checker import Term
from layoutdsl.kernel.theorem import Proof, Ring, Theorem, names
from layoutdsl.validate.values import horner

Pair = tuple[Term, Term]
"""The extents of two coordinates that are read as one, the major one first."""

_A, _B, _ONE, _BEFORE = "v.0", "v.1", "v.2", "v.3"
"""Two coordinates, the number that they are, and what stands before them."""


def joined(pairs: Iterable[Pair]) -> list[tuple[Theorem, Proof]]:
    """Return for each pair of coordinates that they are one, with its proof."""
    found = (_theorem(f"tree.joined.{n}", *pair) for n, pair in enumerate(dict.fromkeys(pairs)))
    return [
        (each, _proof(each, *pair)) for each, pair in zip(found, dict.fromkeys(pairs), strict=True)
    ]


def _both(extent: Term) -> Term:
    return ("+", ("*", _A, extent), _B)


def _theorem(name: str, major: Term, minor: Term) -> Theorem:
    assumed: tuple[Term, ...] = (
        *(("<=", 0, _A), ("<", _A, major), ("<=", 0, _B), ("<", _B, minor)),
        *(("<=", 0, _ONE), ("<", _ONE, ("*", major, minor))),
    )
    high, low = ("div", _ONE, minor), ("mod", _ONE, minor)
    shown: tuple[Term, ...] = (
        *(("<=", 0, _both(minor)), ("<", _both(minor), ("*", major, minor))),
        *(("=", ("div", _both(minor), minor), _A), ("=", ("mod", _both(minor), minor), _B)),
        *(("<=", 0, high), ("<", high, major), ("<=", 0, low), ("<", low, minor)),
        ("=", ("+", ("*", high, minor), low), _ONE),
        ("=", *_offsets(major, minor)),
    )
    spoken = (_A, _B, _ONE, _BEFORE, *names(major), *names(minor))
    return Theorem(name, tuple(dict.fromkeys(spoken)), assumed, shown)


def _offsets(major: Term, minor: Term) -> tuple[Term, Term]:
    """What both coordinates add to an offset, and what the one adds that they are."""
    apart = horner((_BEFORE, _A, _B), (1, major, minor))
    return apart, horner((_BEFORE, _both(minor)), (1, ("*", major, minor)))


def _proof(theorem: Theorem, major: Term, minor: Term) -> Proof:
    builder = ProofBuilder(theorem, lemmas.stated())
    builder.use("PAIR", {"a": _A, "b": _B, "A": major, "B": minor})
    builder.have(("<", 0, minor), *builder.hypotheses)
    builder.use("UNPAIR", {"x": _ONE, "A": major, "B": minor})
    apart, one = _offsets(major, minor)
    builder.calculate(apart, Ring(one))
    return builder.proof
