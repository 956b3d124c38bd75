"""Ranges that contain no shape, or no element."""

from __future__ import annotations

from layoutdsl.language.meaning.counterexample import Counterexample
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.builder import by_hypotheses
from layoutdsl.proof.kernel.certificate import establish
from layoutdsl.proof.statements import domain_statement, statement
from layoutdsl.proof.statements.terms import NotExpressible


def no_shape(layout: Layout) -> Counterexample | str:
    """Return that the range is proved to contain no shape; or why that is not known."""
    conditions = ", ".join(map(str, (*layout.where, *layout.domain)))
    try:
        ground = statement.ground(layout)
        theorem = statement.contradiction(ground)
        if layout.domain:
            theorem = domain_statement.contradiction(ground)
    except NotExpressible as reason:
        return f"no shape was found where {conditions}; {reason}"
    outcome = establish([(theorem, by_hypotheses(theorem))])[theorem.name]
    if outcome.established:
        nothing = "holds no element" if layout.domain else "is defined for no shape"
        sentence = f"`{layout.name}` {nothing}: `where {conditions}` never holds"
        return Counterexample(sentence, (), ())
    return f"no shape was found where {conditions}"
