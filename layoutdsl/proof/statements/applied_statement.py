"""Applications ``A[e, f]`` need each index to stay in the shape of ``A``: the theorem. Trusted.

Example: ``NCHW16c[n, c, h1*8 + h0 : H, w]`` asks for ``0 <= h1*8 + h0 < H`` at every element of the
layout that uses it. Outside the shape of ``A`` no offset is defined, so equal coordinates are no
evidence.
"""

from __future__ import annotations

from dataclasses import replace

from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.theorem import Term, Theorem
from layoutdsl.proof.statements import statement
from layoutdsl.proof.statements.domain_statement import shape_and_domain
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.statements.terms import index_name

INDICES = "every applied index stays in its shape"
THEOREM = "indices"


def applied_properties(layout: Layout) -> dict[str, tuple[str, ...]]:
    """Return the property with the theorem that it is; nothing if no layout is applied."""
    return {INDICES: (THEOREM,)} if layout.applied else {}


def index_map(layout: Layout) -> Layout:
    """Return a layout of the same elements whose coordinates are the applied indices."""
    index = tuple(each for one in layout.applied for each in one.index)
    return replace(layout, coordinates=index, chunk_rank=None, start=ZERO, applied=())


def indices(layout: Layout) -> tuple[Ground, Theorem]:
    """Return the theorem that each applied index of an element is below its extent.

    Raises:
        NotExpressible: the checker's terms cannot say an index.
    """
    ground = statement.ground(index_map(layout))
    given: dict[str, Term] = {axis.name: index_name(axis.name) for axis in layout.axes}
    goals = list(statement.assumptions(ground, ground.vocabulary))
    for each in ground.layout.coordinates:
        value, extent = ground.vocabulary.term(each.value), ground.vocabulary.term(each.extent)
        goals += [("<=", 0, value), ("<", value, extent)]
    return ground, Theorem(
        THEOREM,
        (*ground.variables, *map(str, given.values())),
        (*ground.hypotheses, *shape_and_domain(ground, given)),
        tuple(goals),
        ground.definitions,
    )
