"""Halves of quadratic expressions, as in ``i*(i + 1)/2``: what is divided is even.

For a number `x` the half of `x*(x + 1)` gets the name `t.x`. As `x*x` is then `2*t.x - x`, every
dividend that is even for all numbers becomes twice a polynomial, and its half is read off. Not
trusted: PARITY is the lemma, and every step goes through the builder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from layoutdsl.proof.kernel.checker import By, Polynomial, Ring, Term, total
from layoutdsl.proof.tactics.evaluate import Evaluator
from layoutdsl.proof.tactics.polynomials import canonical


class Halves:
    """Names for halves in one builder; `facts` say what each of them is."""

    def __init__(self, values: Evaluator) -> None:
        self._values = values
        self._builder = values.builder
        self._named: dict[str, str] = {}
        self.facts: list[str] = []

    def teach(self, *terms: Term) -> None:
        """Let the evaluator read off the halves in these terms, the inner ones first."""
        for dividend in halved(terms):
            self._teach(dividend)

    def _teach(self, dividend: Term) -> None:
        key, _ = self._values.normal(dividend)
        squares = [
            (factors[0], coefficient)
            for factors, coefficient in key.items()
            if len(factors) == 2 and factors[0] == factors[1] and isinstance(factors[0], str)
        ]
        if not squares:
            return
        value, moves = key, list[Ring | By]()
        for name, coefficient in squares:
            relation = self._half(name)
            rest = total([(value, 1), ({(name, name): 1, (name,): 1}, -coefficient)])
            moves.append(
                Ring(("+", ("*", coefficient, ("*", name, ("+", name, 1))), canonical(rest)))
            )
            moves.append(By(relation, backwards=True))
            value = total([(rest, 1), ({(f"t.{name}",): 2}, coefficient)])
        fact = self._builder.calculate(canonical(key), *moves, Ring(canonical(value)))
        self._values.know_sum(key, value, fact)

    def written_out(self, value: Polynomial) -> Polynomial:
        """Return a number with halves that are taken twice as what they are halves of.

        Two ways to the same number may differ by ``2*t.x - x - x*x``, and the lengths of rows are
        linear only where that is taken away. As it is where that makes it no shorter.
        """
        parts: list[tuple[Polynomial, int]] = []
        for factors, coefficient in value.items():
            named = [name for name in self._named if factors == (f"t.{name}",)]
            if named and coefficient % 2 == 0:
                (name,) = named
                parts.append(({(name, name): 1, (name,): 1}, coefficient // 2))
            else:
                parts.append(({factors: coefficient}, 1))
        return min(value, total(parts), key=len)

    def _half(self, name: str) -> str:
        """Return the fact ``2*t.x = x*(x + 1)``."""
        if name not in self._named:
            (parity,) = self._builder.use("PARITY", {"x": name})
            product: Term = ("*", name, ("+", name, 1))
            half = self._builder.define(f"t.{name}", ("div", product, 2))
            relation = self._builder.rewrite(parity, By(half, backwards=True))
            self._named[name] = relation
            plain: Term = ("+", ("*", name, name), name)
            self.facts.append(
                self._builder.calculate(("*", 2, half), By(relation), Ring(plain)),
            )
        return self._named[name]


def halved(terms: Iterable[Term]) -> Iterator[Term]:
    """Yield what is divided by 2 in some terms, each after what is inside it."""
    for term in terms:
        if isinstance(term, tuple):
            yield from halved(term[1:])
            if term[0] == "div" and term[2] == 2:
                yield term[1]
