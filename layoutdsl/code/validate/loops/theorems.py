"""From what has to be shown of a tree to theorems of the checker. Trusted, but for proofs.

Fewer facts make a theorem that says more, and one that many leaves share: first each goal is stated
under those facts alone that speak of what it speaks of, and all of them only where that fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, combinations_with_replacement

from layoutdsl.code.validate.loops.stores import Need, is_plain
from layoutdsl.code.validate.terms import horner
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.checker import Term, Theorem, names, substitute
from layoutdsl.proof.kernel.theorem import Proof, Ring
from layoutdsl.proof.tactics.evaluate import Evaluator
from layoutdsl.proof.tactics.halves import Halves, halved
from layoutdsl.proof.tactics.polynomials import canonical

MOST_FACTS = 16
"""Hypotheses of which the products of every two are taken."""

Facts = Callable[[Need], tuple[Term, ...]]
"""Which facts a need is stated under."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A theorem, and the needs that it meets."""

    theorem: Theorem
    needs: tuple[Need, ...]


def every(need: Need) -> tuple[Term, ...]:
    """Return all facts."""
    return tuple(dict.fromkeys(need.facts))


def near(need: Need) -> tuple[Term, ...]:
    """Return those facts that a goal is connected to by names."""
    reached, left = set(_names(need.goal)), list(every(need))
    progress = True
    while progress:
        more = [fact for fact in left if not reached.isdisjoint(_names(fact))]
        left = [fact for fact in left if reached.isdisjoint(_names(fact))]
        reached.update(*map(_names, more))
        progress = bool(more)
    return tuple(fact for fact in every(need) if not reached.isdisjoint(_names(fact)))


@lru_cache(maxsize=10_000)
def _names(term: Term) -> frozenset[str]:
    return frozenset(names(term))


def stated(needs: Sequence[Need], facts: Facts, mark: str) -> list[Stated]:
    """Return theorems: one for all goals under the same facts, whatever variables are called.

    Args:
        needs: what has to be shown.
        facts: which of the facts are taken.
        mark: what names of theorems begin with.
    """
    groups: dict[tuple[Term, ...], list[Need]] = {}
    for need in needs:
        known = facts(need)
        if need.goal not in known and not is_plain(need.goal):
            groups.setdefault(known, []).append(need)
    bundles: dict[tuple[Term, ...], dict[Term, list[Need]]] = {}
    for known, group in groups.items():
        spoken = (name for each in (*known, *(n.goal for n in group)) for name in names(each))
        own = dict.fromkeys(name for name in spoken if name[0] == "v")
        called: dict[str, Term] = {name: f"v.{number}" for number, name in enumerate(own)}
        goals = bundles.setdefault(tuple(substitute(fact, called) for fact in known), {})
        for need in group:
            goals.setdefault(substitute(need.goal, called), []).append(need)
    found = list[Stated]()
    for given, goals in bundles.items():
        formulas, more = _linear((*given, *goals))
        assumed, shown = (*more, *formulas[: len(given)]), formulas[len(given) :]
        variables = sorted({name for each in (*assumed, *shown) for name in names(each)})
        theorem = Theorem(f"{mark}.{len(found)}", tuple(variables), assumed, shown)
        found.append(Stated(theorem, tuple(need for each in goals.values() for need in each)))
    return found


def _linear(formulas: tuple[Term, ...]) -> tuple[tuple[Term, ...], list[Term]]:
    """Return formulas with a name for what the checker has no word for, and what is known of that.

    For all values of what it is over there is one of its name, so nothing is assumed. Of bits it is
    known alone that they are the same where both sides are.
    """
    known: dict[tuple[str, Term, Term], str] = {}
    plain = tuple(_named(each, known) for each in formulas)
    facts: list[Term] = []
    for (word, *sides), name in known.items():
        if word in ("min", "max"):
            facts.append(("or", *(("=", name, side) for side in sides)))
            facts += [("<=", name, side) if word == "min" else ("<=", side, name) for side in sides]
    for ((word, *sides), name), ((again, *others), other) in combinations(known.items(), 2):
        if word == again and word in ("|", "^", "&"):
            same: list[Term] = [("=", *both) for both in zip(sides, others, strict=True)]
            facts.append(("=>", ("and", *same), ("=", name, other)))
    return plain, facts


def _named(term: Term, known: dict[tuple[str, Term, Term], str]) -> Term:
    if not isinstance(term, tuple):
        return term
    word, *parts = (term[0], *(_named(part, known) for part in term[1:]))
    if word not in ("min", "max", "|", "^", "&"):
        return (word, *parts)
    left, right = parts
    return known.setdefault((word, left, right), f"x.{len(known)}")


def joined(name: str, major: Term, minor: Term) -> tuple[Theorem, Proof]:
    """Return that two coordinates which follow each other may be read as one, with its proof.

    Of a coordinate below `A` and the next one below `B`, the number ``a*B + b`` is below ``A*B``
    and says both; every number below it is that of one pair; and an offset is the same, whatever
    stands before them. To be believed is that `coordinates` puts the number there.

    Args:
        name: of the theorem.
        major: the extent `A`.
        minor: the extent `B`.
    """
    a, b, one, before = "v.0", "v.1", "v.2", "v.3"
    both: Term = ("+", ("*", a, minor), b)
    size: Term = ("*", major, minor)
    high, low = ("div", one, minor), ("mod", one, minor)
    offsets = horner((before, a, b), (1, major, minor)), horner((before, both), (1, size))
    assumed: tuple[Term, ...] = (
        *(("<=", 0, a), ("<", a, major), ("<=", 0, b), ("<", b, minor)),
        *(("<=", 0, one), ("<", one, size)),
    )
    shown: tuple[Term, ...] = (
        *(("<=", 0, both), ("<", both, size)),
        *(("=", ("div", both, minor), a), ("=", ("mod", both, minor), b)),
        *(("<=", 0, high), ("<", high, major), ("<=", 0, low), ("<", low, minor)),
        ("=", ("+", ("*", high, minor), low), one),
        ("=", *offsets),
    )
    spoken = dict.fromkeys((a, b, one, before, *names(major), *names(minor)))
    theorem = Theorem(name, tuple(spoken), assumed, shown)
    builder = ProofBuilder(theorem, lemmas.stated())
    builder.use("PAIR", {"a": a, "b": b, "A": major, "B": minor})
    builder.have(("<", 0, minor), *builder.hypotheses)
    builder.use("UNPAIR", {"x": one, "A": major, "B": minor})
    builder.calculate(offsets[0], Ring(offsets[1]))
    return theorem, builder.proof


def by_halves(theorem: Theorem) -> Proof:
    """Return a proof of goals with halves of squares: ``j*(j + 1)/2`` is where a row begins.

    Each half gets a name, and of what is not negative the products of every two are taken; the
    rest is linear. So an element of a triangle lies before its end.

    Raises:
        NoProof: nothing is halved, or there are too many hypotheses.
    """
    builder = ProofBuilder(theorem, lemmas.stated())
    values = Evaluator(builder, frozenset())
    halves = Halves(values)
    halves.teach(*theorem.goals)
    if not halves.facts or len(theorem.hypotheses) > MOST_FACTS:
        raise NoProof("no halves of squares")
    facts = [*halves.facts, *(values.equation(("div", d, 2)) for d in halved(theorem.goals))]
    positive = dict[Term, None]()
    for less in _differences(theorem.hypotheses):
        value, fact = values.normal(less)
        builder.have(("<=", 0, canonical(value)), *builder.hypotheses, fact)
        positive[canonical(value)] = None
    for both in combinations_with_replacement(positive, 2):
        facts += builder.use("PRODUCT", dict(zip("ab", both, strict=True)))
        facts.append(values.equation(("*", *both)))
    for goal in theorem.goals:
        builder.have(goal, *builder.hypotheses, *facts)
    return builder.proof


def _differences(formulas: Sequence[Term]) -> Iterator[Term]:
    """What comparisons say is not negative."""
    for each in formulas:
        match each:
            case ("<=" | "<" as word, left, right):
                yield ("-", ("-", right, left), 1 if word == "<" else 0)
