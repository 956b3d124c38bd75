"""The cheapest plan of a graph: a linear program, its vertex and its dual, both made integers.

The solver is not trusted: a plan is put together from what it chose and costed in integers, and the
bound is what `certificate.py` finds the dual to prove.

Source: HiGHS, by scipy 1.17, `scipy.optimize.linprog` and `milp`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from layoutdsl.graphs.graph import Array, Graph
from layoutdsl.graphs.plan import Plan
from layoutdsl.graphs.planning.certificate import Chosen, Moved, Program, program_of
from layoutdsl.graphs.planning.costs import costed
from layoutdsl.graphs.variants import Held, Variants

SCALES = (1, 2, 3, 4, 6, 12, 60)
"""What duals are multiplied by to be integers: the first at which they prove the whole cost."""

SECONDS = 60.0
"""That are spent on whole numbers where a vertex has fractions."""

WHOLE = 1e-6
"""How far from an integer a number of the solver may be."""


class UnsolvedError(RuntimeError):
    """The solver found no plan at all, though one exists for every graph."""


def plan_of(
    graph: Graph, variants: Variants, given: Mapping[str, Held], wanted: Mapping[str, Held]
) -> Plan:
    """Return the cheapest plan that is found, with what proves how cheap any can be.

    Args:
        graph: of nodes and values.
        variants: of each node, in its order.
        given: how the inputs lie that the caller gives.
        wanted: how the outputs lie that the caller takes.

    Raises:
        UnsolvedError: the solver gives up.
    """
    program = program_of(graph, variants, given, wanted)
    point, prices = _relaxed(program)
    chosen = _chosen(program, point)
    best = None if chosen is None else costed(graph, variants, given, wanted, chosen)
    cost = None if best is None else best[1]
    dual, scale, bound = _proved(program, prices, cost)
    if best is None or best[1] > bound:
        whole = _chosen(program, _whole(program))
        if whole is not None:
            other = costed(graph, variants, given, wanted, whole)
            best = other if best is None or other[1] < best[1] else best
    if best is None:
        raise UnsolvedError("no plan was found in time")
    ways, cost, moves = best
    return Plan(ways, moves, cost, bound, dual, scale)


def _matrix(program: Program) -> tuple[Any, Array]:
    from scipy.sparse import csc_array

    counts = [len(entries) for entries in program.entries]
    rows = np.array([row for entries in program.entries for row, _ in entries], np.int32)
    numbers = np.array([each for entries in program.entries for _, each in entries], float)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    shape = (program.rows, len(program.columns))
    return csc_array((numbers, rows, starts), shape=shape).tocsr(), np.array(program.costs, float)


def _relaxed(program: Program) -> tuple[Array, Array]:
    """The point of the linear program, and the price of each row."""
    from scipy.optimize import linprog

    matrix, costs = _matrix(program)
    first = program.readers
    found = linprog(
        costs,
        A_eq=matrix[:first],
        b_eq=np.ones(first),
        A_ub=matrix[first:] if program.rows > first else None,
        b_ub=np.zeros(program.rows - first) if program.rows > first else None,
        method="highs",
    )
    if found.x is None:
        raise UnsolvedError(str(found.message))
    below = found.ineqlin.marginals if program.rows > first else np.zeros(0)
    return np.asarray(found.x), np.concatenate([found.eqlin.marginals, below])


def _whole(program: Program) -> Array | None:
    """The point where every variant is chosen wholly or not; `None` where time runs out."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    matrix, costs = _matrix(program)
    first = program.readers
    lower = np.full(program.rows, -np.inf)
    lower[:first] = 1
    upper = np.zeros(program.rows)
    upper[:first] = 1
    found = milp(
        costs,
        constraints=LinearConstraint(matrix, lower, upper),
        bounds=Bounds(0, np.inf),
        integrality=np.array([isinstance(each, Chosen) for each in program.columns], int),
        options={"time_limit": SECONDS},
    )
    return None if found.x is None else np.asarray(found.x)


def _chosen(program: Program, point: Array | None) -> tuple[int, ...] | None:
    """The variant of each node, or `None` where a node has fractions of several."""
    if point is None:
        return None
    found: dict[int, int] = {}
    for column, share in zip(program.columns, point, strict=True):
        if isinstance(column, Chosen) and share > 1 - WHOLE:
            found[column.node] = column.variant
    return (
        tuple(found[node] for node in range(program.readers - 1))
        if (len(found) == program.readers)
        else None
    )


def _proved(program: Program, prices: Array, cost: int | None) -> tuple[tuple[int, ...], int, int]:
    """The dual in integers, what they are multiplied by, and the bound that they prove."""
    best: tuple[tuple[int, ...], int, int] | None = None
    for scale in SCALES:
        dual = _rounded(program, prices * scale, scale)
        bound = program.bound(dual, scale)
        assert isinstance(bound, int), bound
        if best is None or bound > best[2]:
            best = dual, scale, bound
        if cost is None or bound == cost:
            break
    assert best is not None
    return best


def _rounded(program: Program, prices: Array, scale: int) -> tuple[int, ...]:
    """Return integers near the solver's numbers that hold whatever these were.

    The inequalities are rounded, and drawn towards 0 where moves would cost less than is asked of
    them; the equations then follow: a node costs what its cheapest variant does.
    """
    first = program.readers
    dual = [0] * first + [min(0, round(float(each))) for each in prices[first:]]
    ready = zip(program.columns, program.costs, program.entries, strict=True)
    columns = list(ready)
    for column, cost, entries in columns:
        if isinstance(column, Moved):
            _draw(dual, entries, cost * scale)
    found: dict[int, int] = {}
    for column, cost, entries in columns:
        if isinstance(column, Chosen):
            left = cost * scale - sum(dual[row] * number for row, number in entries if row >= first)
            found[column.node] = min(left, found.get(column.node, left))
    return tuple(found[node] for node in range(first)) + tuple(dual[first:])


def _draw(dual: list[int], entries: Sequence[tuple[int, int]], most: int) -> None:
    """Draw numbers of a column towards 0 until it asks no more than it costs."""
    over = sum(dual[row] * number for row, number in entries) - most
    for row, number in entries:
        if over <= 0:
            return
        if number < 0:
            less = min(over, -dual[row])
            dual[row] += less
            over -= less
