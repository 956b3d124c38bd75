"""The cheapest plan against all plans, tried one by one; and duals that prove nothing refused.

The planner is asked of graphs of a few values in all ways, so that trying every plan is an oracle.
"""

from __future__ import annotations

import sys
from itertools import product
from random import Random

import numpy as np
import pytest
from processes import ended

from layoutdsl.graphs.graph import Graph, Node, Value
from layoutdsl.graphs.placings.placing import Digit, Placing, as_written, canonical
from layoutdsl.graphs.plan import Plan
from layoutdsl.graphs.planning.certificate import Program, program_of
from layoutdsl.graphs.variants import Held, Lane, Variant, Variants

SHAPE = (2, 20, 3)
WRITTEN = as_written(SHAPE)
LAST = Placing(SHAPE, canonical([Digit(0, 1, 2), Digit(2, 1, 3), Digit(1, 1, 20)]))
BLOCKED = Placing(
    SHAPE, canonical([Digit(0, 1, 2), Digit(1, 8, 3), Digit(2, 1, 3), Digit(1, 1, 8)])
)
WAYS = (Held(WRITTEN, None), Held(LAST, None), Held(BLOCKED, Lane(0)), Held(BLOCKED, Lane(0.5)))
ELEMENTS, SLOTS, WIDTH = 2 * 20 * 3, 2 * 24 * 3, 4


def drawn(random: Random) -> tuple[Graph, Variants, dict[str, Held], dict[str, Held]]:
    """A graph of a few nodes, and for each a few ways to hold what it takes and makes."""
    names = ["x"]
    nodes: list[Node] = []
    variants: list[tuple[Variant, ...]] = []
    for number in range(random.randint(1, 5)):
        takes = tuple(random.choice(names) for _ in range(random.randint(1, 2)))
        makes = tuple(f"{number}{each}" for each in "ab"[: random.randint(1, 2)])
        nodes.append(Node(number, "", "Any", takes, makes, {}))
        names += makes
        variants.append(
            tuple(
                Variant(
                    number,
                    tuple(random.choice(WAYS) for _ in takes),
                    tuple(random.choice(WAYS) for _ in makes),
                    "any",
                )
                for _ in range(random.randint(1, 3))
            )
        )
    values = {name: Value(name, SHAPE, np.dtype("f4")) for name in names}
    outputs = tuple(random.sample(names, random.randint(1, 2)))
    graph = Graph("drawn", 13, tuple(nodes), values, {}, ("x",), outputs)
    given = {"x": random.choice(WAYS)}
    return graph, tuple(variants), given, {name: random.choice(WAYS) for name in outputs}


def least(graph: Graph, variants: Variants, given: dict[str, Held], wanted: dict[str, Held]) -> int:
    """The cost of the cheapest plan, by trying all."""
    costs: list[int] = []
    for ways in product(*variants):
        held, asked = dict(given), set(wanted.items())
        for node, way in zip(graph.nodes, ways, strict=True):
            asked |= set(zip(node.inputs, way.takes, strict=True))
            held |= dict(zip(node.outputs, way.makes, strict=True))
        costs.append(sum(cost(held[name], target) for name, target in asked))
    return min(costs)


def cost(source: Held, target: Held) -> int:
    if source == target:
        return 0
    slots = SLOTS if target.placing == BLOCKED else ELEMENTS
    read = -ELEMENTS if source.placing == target.placing else ELEMENTS
    return 1000 * WIDTH * (slots + read) + 500


@pytest.mark.parametrize("seed", range(60))
def test_no_plan_is_cheaper_and_the_dual_says_so(seed: int) -> None:
    pytest.importorskip("scipy")
    from layoutdsl.graphs.planning.program import plan_of

    drawn_one = drawn(Random(seed))
    plan = plan_of(*drawn_one)
    assert plan.cost == sum(move.cost for move in plan.conversions) == least(*drawn_one)
    assert plan.bound <= plan.cost
    assert program_of(*drawn_one).bound(plan.dual, plan.scale) == plan.bound


def test_most_programs_have_whole_plans_and_duals() -> None:
    pytest.importorskip("scipy")
    from layoutdsl.graphs.planning.program import plan_of

    plans = [plan_of(*drawn(Random(seed))) for seed in range(60, 120)]
    assert sum(plan.bound == plan.cost for plan in plans) >= 57


def planned(seed: int) -> tuple[Program, Plan]:
    from layoutdsl.graphs.planning.program import plan_of

    return program_of(*drawn(Random(seed))), plan_of(*drawn(Random(seed)))


@pytest.mark.parametrize("seed", range(20))
def test_a_dual_that_is_changed_proves_less_or_nothing(seed: int) -> None:
    """Whatever is done to it, no bound above the cost of the best plan comes out."""
    pytest.importorskip("scipy")
    program, plan = planned(seed)
    random = Random(seed)
    for _ in range(40):
        dual = list(plan.dual)
        dual[random.randrange(len(dual))] += random.choice((-(10**6), -1, 1, 500, 10**6))
        found = program.bound(dual, plan.scale)
        assert isinstance(found, str) or found <= plan.cost
    assert isinstance(program.bound(plan.dual[1:], 1), str)
    assert isinstance(program.bound(plan.dual, 0), str)


def test_who_checks_a_certificate_loads_no_solver() -> None:
    code = "import sys, layoutdsl.graphs.planning.certificate; print(*sys.modules)"
    done = ended([sys.executable, "-c", code], text=True)
    assert not {"scipy", "onnx", "onnxruntime", "z3"} & set(done.stdout.split())
