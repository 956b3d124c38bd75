"""Ways to run a node: which are offered, whether the checker follows them, and what is proved.

A plan has one way for each node, and the cheapest; here are all that are offered, and wrong ones
that no planner makes, which whoever checks a plan has to refuse.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_graphs import ENGINES, bound, found, graph, templates

from layoutdsl import Claim, library
from layoutdsl.graphs.placings.placing import Placing, as_written, inverse, transposed
from layoutdsl.graphs.placings.reading import placed
from layoutdsl.graphs.plan import Plan
from layoutdsl.graphs.planning.program import plan_of
from layoutdsl.graphs.proving.claims import pairs, placed_pairs
from layoutdsl.graphs.proving.pair import Pair
from layoutdsl.graphs.proving.theorems import decided, proved_rules, sound
from layoutdsl.graphs.roles.rejoined import follows
from layoutdsl.graphs.roles.roles import Template
from layoutdsl.graphs.roles.templates import offered
from layoutdsl.graphs.ways.ways import Ways
from layoutdsl.language.integers.expr import Coordinate, Index
from layoutdsl.language.meaning.claims import EqualsLayout
from layoutdsl.proof.prover.check import check


def planned(some: Ways, one: object) -> Plan:
    """The cheapest plan."""
    return plan_of(one, some.variants, some.given, some.wanted)  # type: ignore[arg-type]


def test_products_keep_what_is_summed_last() -> None:
    """Columns that lie between what is summed are no matrix: only as written is left."""
    one = graph("y = MatMul(x, w)", x=[3, 4, 5], w=(5, 6))
    own = bound(one)
    for order, fits in (
        ((0, 1, 2), True),
        ((1, 0, 2), True),
        ((0, 2, 1), False),
        ((2, 1, 0), False),
    ):
        turned = tuple((3, 4, 5)[axis] for axis in order)
        placing = transposed(as_written(turned), inverse(order))
        ways = list(offered(own, {"x": [placing], "y": [], "w": []}.__getitem__))
        assert bool(ways) is fits
        assert all(follows(own, each) for each in ways)


@pytest.mark.parametrize("layout", ENGINES)
@pytest.mark.parametrize("outputs", ["first", "all"])
def test_every_way_that_is_offered_is_one_that_the_checker_follows(
    layout: str, outputs: str
) -> None:
    """How ways are found, and how a way is read back, are two pieces of code."""
    text = """
        v = Conv(x, w)
        a = BatchNormalization(v, ones, ones, ones, ones)
        b = Relu(a)
        c = Add(a, b)
        p = MaxPool<kernel_shape=[2,2]>(c)
        q = Concat<axis=1>(c, c)
        r = Concat<axis=3>(c, a)
        s = ReduceSum<keepdims=0>(r, three)
        t = Transpose<perm=[0,2,3,1]>(q)
        u = Flatten(p)
        y = Softmax(t)
        z = Gemm(u, m)
    """
    known = {"ones": np.ones(20, "f4"), "three": np.array([3])}
    one = graph(
        text,
        "y z s" if outputs == "all" else "y",
        x=[2, 4, 6, 5],
        w=(20, 4, 1, 1),
        m=(400, 7),
        **known,
    )
    some = found(one, layout)
    seen = 0
    for number, own in enumerate(some.bound):
        assert not isinstance(own, str)
        for each in templates(some, number):
            if each.how not in ("anchor", "written"):
                seen += 1
                assert follows(own, each), (one.nodes[number].operator, each)
    assert seen > 5


def test_a_way_with_one_placing_changed_is_none() -> None:
    """Whoever checks a plan tells a way from one that is not."""
    one = graph(
        "v = Conv(x, w)\ny = Add(v, column)",
        x=[1, 4, 6, 5],
        w=(20, 4, 1, 1),
        column=(20, 1, 1),
    )
    own = bound(one)
    some = found(one, "NCHW8c")
    way = next(each for each in templates(some, -1) if "d1%8" in str(each.makes[0]))
    assert follows(own, way)
    others = [placed(library(each), (1, 20, 6, 5)) for each in ("NCHW", "NHWC", "NCHW16c")]
    for other in others:
        assert isinstance(other, Placing)
        assert not follows(own, Template((other, way.takes[1]), way.makes, way.how))
        assert not follows(own, Template(way.takes, (other,), way.how))


@pytest.mark.parametrize("layout", ENGINES)
def test_all_ways_of_a_graph_hold_and_not_only_those_of_the_plan(layout: str) -> None:
    text = """
        v = Conv(x, w)
        a = BatchNormalization(v, ones, ones, ones, ones)
        c = Add(a, v)
        p = MaxPool<kernel_shape=[2,2]>(c)
        q = Concat<axis=1>(c, c)
        r = Concat<axis=3>(c, a)
        s = Reshape(q, cut)
        t = Transpose<perm=[0,2,1,3,4]>(s)
        u = Flatten(p)
        z = Gemm(u, m)
    """
    known = {"ones": np.ones(20, "f4"), "cut": np.array([2, 2, 20, 6, 5])}
    one = graph(text, "z t r", x=[2, 4, 6, 5], w=(20, 4, 1, 1), m=(400, 7), **known)
    some = found(one, layout)
    seen = 0
    for number, own in enumerate(some.bound):
        for each in templates(some, number):
            if isinstance(own, str) or each.how in ("anchor", "written"):
                continue
            claims = pairs(own, each)
            assert not isinstance(claims, str)
            seen += len(claims)
            assert {decided(claim) for claim in claims} <= {"everywhere", "here"}
    assert seen > 20


def test_the_prover_is_asked_what_is_not_said_in_the_same_words() -> None:
    """NCHW16c where H and W are 1: two digits of channels are one run of them."""
    one = graph("y = Mul(x, column)", x=[1, 20, 6, 5], column=(20, 1, 1))
    own = bound(one)
    blocked = placed(library("NCHW16c"), (1, 20, 6, 5))
    column = placed(library("NCHW16c"), (1, 20, 1, 1))
    assert not isinstance(blocked, str)
    assert not isinstance(column, str)
    narrow = type(column)((20, 1, 1), tuple(replace(each, axis=0) for each in column.digits))
    claims = pairs(own, Template((blocked, narrow), (blocked,), "elementwise"))
    assert not isinstance(claims, str)
    said = [claim for claim in claims if not claim.is_reflexive]
    assert [str(claim.read.coordinates) for claim in said] == [
        "(<Coordinate d0/16>, <Coordinate d0%16>)"
    ]
    assert [decided(claim) for claim in said] == ["everywhere"]


def test_a_claim_that_is_changed_is_refuted() -> None:
    """Each wrong twin: channels swapped, a boundary one further, a digit of another block."""
    one = graph("y = Concat<axis=1>(a, b)", a=[1, 32, 3, 5], b=[1, 20, 3, 5])
    own = bound(one)
    joint = [placed(library("NCHW16c"), (1, extent, 3, 5)) for extent in (32, 20, 52)]
    claims = pairs(own, Template((joint[0], joint[1]), (joint[2],), "joined"))  # type: ignore[arg-type]
    assert not isinstance(claims, str)
    wrong = 0
    for claim in claims:
        assert decided(claim) == "everywhere"
        for number, each in enumerate(claim.read.coordinates):
            for value in (Index("d2"), Index("d3")):
                if each.value != value:
                    turned = list(claim.read.coordinates)
                    turned[number] = Coordinate(value, each.extent)
                    twin = replace(claim, read=replace(claim.read, coordinates=tuple(turned)))
                    assert decided(twin) == "refuted"
                    wrong += 1
    assert wrong > 20


def test_ways_that_no_digits_explain_are_refuted() -> None:
    """The top and the left of an image are not its own transpose."""
    one = graph("v = Conv(x, w)\ny = Relu(v)", x=[1, 4, 6, 5], w=(20, 4, 1, 1))
    some = found(one, "NHWC")
    plan = planned(some, one)
    last = plan.variants[-1]
    nchw = placed(library("NCHW"), (1, 20, 6, 5))
    assert not isinstance(nchw, str)
    assert last.takes[0] is not None
    twin = replace(last, takes=(replace(last.takes[0], placing=nchw),))
    wrong = replace(plan, variants=(*plan.variants[:-1], replace(twin, how="elementwise")))
    result = proved_rules(one, some, wrong)
    assert len(result.refuted) == 1
    assert "one order of digits" in result.refuted[0]


@pytest.mark.parametrize("name", ["NHWC", "NCHW16c", "OIhw16i16o"])
@pytest.mark.parametrize("shape", [(1, 3, 5, 5), (32, 20, 1, 1), (16, 16, 3, 1), (40, 12, 2, 2)])
def test_layouts_of_an_engine_are_what_their_placings_say(
    name: str, shape: tuple[int, ...]
) -> None:
    layout = library(name)
    placing = placed(layout, shape)
    assert not isinstance(placing, str)
    assert sound(layout) == "everywhere"
    assert [decided(each) for each in placed_pairs(layout, placing)] == ["everywhere"] * 2


def test_what_is_proved_of_placings_is_what_the_prover_says_of_layouts() -> None:
    """The claims that the design asks for, asked of the prover as they stand."""
    one = graph("a = Flatten(x)\ny = Relu(a)", x=[2, 3, 4, 5])
    own = bound(one, 0)
    placing = placed(library("NHWC"), (2, 3, 4, 5))
    assert not isinstance(placing, str)
    (claim,) = pairs(own, Template((placing, None), (None,), "view"))
    assert isinstance(claim, Pair)
    assert decided(claim) == "everywhere"
    asked = Claim("prove", claim.lies, EqualsLayout(claim.read), (), "prove flatten")
    assert check(asked).status == "proved"
