"""A theorem on one layout used in a proof about another thing: its definitions come along.

What a theorem defines has to be given a value where it is used. A definition that has none yet is
made again, under a name with a mark. Not trusted.
"""

from __future__ import annotations

from collections.abc import Mapping

from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.checker import By, Term, Theorem, substitute
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.tactics.arith import Arithmetic

MARK = "~f"
"""The mark of names that come from a theorem that is used."""


class Borrowing:
    """Theorems used in one builder.

    Args:
        builder: the proof under construction.
        known: the theorems, by name.
    """

    def __init__(self, builder: ProofBuilder, known: Mapping[str, Theorem]) -> None:
        self.builder = builder
        self._known = known

    def define(self, name: str, values: Mapping[str, Term]) -> dict[str, Term]:
        """Give every name of a theorem a value, its variables by default their own name.

        Raises:
            NoProof: two theorems mean different things by one name.
        """
        theorem = self._known[name]
        names: dict[str, Term] = {**{each: each for each in theorem.variables}, **values}
        for each, term in theorem.definitions:
            if each in names:
                continue
            names[each] = f"{each}{MARK}"
            wanted = substitute(term, names)
            known = self.builder.find_definition(f"{each}{MARK}")
            if known is None:
                self.builder.define(f"{each}{MARK}", wanted)
            elif known != wanted:
                raise NoProof(f"{each} has two meanings")
        used = {*theorem.variables, *(each for each, _ in theorem.definitions)}
        return {each: value for each, value in names.items() if each in used}

    def use(self, name: str, values: Mapping[str, Term]) -> list[str]:
        """Use a theorem; returns the facts of its goals.

        Raises:
            NoProof: a condition is not known.
        """
        return self.builder.use(name, self.define(name, values))

    def arithmetic(self) -> Arithmetic:
        """Return what compares sizes, borrowed ones too."""
        borrowed = (name for name in self.builder.names if name[:2] in ("p.", "r."))
        return Arithmetic(self.builder, frozenset(name for name in borrowed if name.endswith(MARK)))

    def unfolded(self, name: str) -> str:
        """Return the fact that a borrowed slot equals a term over indices and extents."""
        folds = [
            By(each)
            for each in reversed(self.builder.names)
            if each.endswith(MARK) and each[:2] in ("v.", "h.", "r.")
        ]
        return self.builder.calculate(name, By(name), *folds)

    def moved(self, formula: Term, equal: str) -> str:
        """Return a known fact with the right side of an equation put back to its left."""
        fact = self.builder.find(formula)
        assert fact is not None
        return self.builder.rewrite(fact, By(equal, backwards=True))


def renamed(inner: Ground, outer: Ground) -> dict[str, Term]:
    """Return what the minima and maxima of one ground are called in another."""
    names = outer.vocabulary.shared
    return {
        name: names.get(expr, name)
        for expr, name in inner.vocabulary.shared.items()
        if name[:2] == "m."
    }
