"""Whether the indices of applied layouts stay in their shapes, by itself.

The other properties of the layout are not looked at: an operation on layouts has this one as its
precondition.
"""

from __future__ import annotations

from dataclasses import replace

from layoutdsl.language.integers.expr import Expr
from layoutdsl.language.meaning.counterexample import example_at, point_at
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.shapes import Values, bind_index, indices
from layoutdsl.proof.kernel.budget import shared
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.certificate import Certificate, establish
from layoutdsl.proof.kernel.theorem import Theorem
from layoutdsl.proof.prover.verdict import Finding, Proved, Refuted, Undecided, in_words
from layoutdsl.proof.refute import refute
from layoutdsl.proof.refute.refute import Examples, index_outside
from layoutdsl.proof.statements import applied_statement
from layoutdsl.proof.statements.applied_statement import INDICES, index_map
from layoutdsl.proof.statements.terms import NotExpressible
from layoutdsl.proof.tactics.indices import prove_indices


def indices_finding(layout: Layout) -> Finding:
    """Return whether applied indices stay in their shapes, for all elements of a layout."""
    if refute.first_element(layout) is None:
        return Undecided(INDICES, "no element of a shape of the range was found")
    theorem: Theorem | None = None
    with shared():
        try:
            theorem = applied_statement.indices(layout)[1]
            proved = prove_indices(layout)
            (outcome,) = establish([proved]).values()
            if outcome.established:
                return Proved(INDICES, (), Certificate((proved,)), outcome.questions)
            reason = in_words(outcome.reason)
        except (NoProof, NotExpressible) as failed:
            reason = f"no proof was found: {failed}"
        example = refute.search(layout, _spoken(layout), _at(layout), _passes(layout), theorem)
    if INDICES in example:
        return Refuted(INDICES, example[INDICES])
    return Undecided(INDICES, reason)


def _spoken(layout: Layout) -> tuple[Expr, ...]:
    return tuple(
        side for each in index_map(layout).coordinates for side in (each.value, each.extent)
    )


def _at(layout: Layout) -> refute.At:
    def at(values: Values) -> Examples:
        for index in indices(layout, values):
            outside = index_outside(layout, bind_index(layout, values, index))
            if outside is not None:
                sentence, words = outside
                point = point_at(layout, index, words)
                return {INDICES: example_at(values, sentence, point)}
        return {}

    return at


def _passes(layout: Layout) -> refute.Passes:
    from layoutdsl.proof.refute import grid

    every, bare = index_map(layout).coordinates, replace(layout, applied=())
    return lambda values: grid.stay_inside(bare, every, values)
