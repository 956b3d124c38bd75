"""Trees of loops shown to be right for every shape, and wrong ones that are not.

The validator of trees is trusted, so it gets trees that no planner makes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from random import Random

import pytest
from codegen_cases import layout_of
from native_cases import needs_compiler
from native_fuzz import MACHINE, Case, cases, faults
from proving import elements, leaves_extent
from random_digits import Shape, Written
from tree_faults import faulty, kinds, small_shapes, validated
from tree_fuzz import fault, node_of

import layoutdsl
from layoutdsl import Layout
from layoutdsl.code.loops import tree
from layoutdsl.code.validate.loops.sides import Pair, buffer, sides, tensor
from layoutdsl.code.validate.loops.theorems import joined
from layoutdsl.code.validate.outcome import NotValidated, Validated
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    Index,
    Min,
    Mul,
    Sub,
)
from layoutdsl.proof.kernel.builder import by_hypotheses
from layoutdsl.proof.kernel.certificate import establish
from layoutdsl.proof.kernel.theorem import Term


@dataclass(frozen=True)
class Held:
    """A layout of the library, in place of one that was drawn."""

    text: str
    layout: Layout


N, ZERO, FOUR, EIGHT = Extent("N"), Constant(0), Constant(4), Constant(8)


def times(number: int, loop: str) -> Expr:
    return Mul(Constant(number), Index(loop))


def two_passes() -> tree.Node:
    """Blocks of 4 by 8 are turned in scratch, whole ones; the rest is filled there first."""
    blocks, left = CeilDiv(N, EIGHT), Sub(N, Mul(EIGHT, Index("b")))
    inside = tree.For(
        "m",
        FOUR,
        tree.Run(
            tree.Place("s", times(8, "m")),
            tree.Place(tree.SOURCE, Add(Mul(Index("m"), N), times(8, "b"))),
            Min(left, EIGHT),
        ),
    )
    out = tree.Move(
        tree.Place(tree.TARGET, times(32, "b")),
        tree.Place("s", ZERO),
        1,
        (tree.Step(4, EIGHT),),
        (tree.Step(8, FOUR),),
    )
    return tree.For("b", blocks, tree.Scratch("s", 32, True, tree.Seq((inside, out))))


TURNED = Case((Written("layout A(m: 4, n) = [n/8, n%8, m]"),), "pack", 4, ((4, 1), (4, 8), (4, 17)))


def three_deep() -> tree.Node:
    """The same by way of a second scratch, which holds the block as it is."""
    node = two_passes()
    assert isinstance(node, tree.For)
    scratch = node.body
    assert isinstance(scratch, tree.Scratch)
    assert isinstance(scratch.body, tree.Seq)
    inside, out = scratch.body.parts
    assert isinstance(out, tree.Move)
    copied = tree.Run(tree.Place("t", ZERO), tree.Place("s", ZERO), Constant(32))
    last = replace(out, source=tree.Place("t", ZERO))
    second = tree.Scratch("t", 32, False, tree.Seq((copied, last)))
    return replace(node, body=replace(scratch, body=tree.Seq((inside, second))))


SCRATCH = (two_passes(), three_deep())


@pytest.mark.parametrize("node", SCRATCH)
def test_scratch_holds_places_of_the_source(node: tree.Node) -> None:
    assert all(fault(TURNED, node, shape) is None for shape in TURNED.shapes)
    found = validated(TURNED, node)
    assert isinstance(found, Validated), found


# Layouts whose trees have every kind of node and edge, with extents around the ends of blocks.
TREES: dict[str, tuple[tuple[int, ...], ...]] = {
    "layout A(c, w) = [c/4, w, c%4]": ((1, 3, 4, 5), (1, 15, 16, 17, 33)),
    "layout A(n, m) = [n/4, m/4, n%4, m%4]": ((1, 4, 5), (3, 15, 16, 17, 20)),
    "layout A(h, c) = [c, h]": ((1, 15, 16, 17), (7, 16, 33)),
    "layout A(n) = [n%4, n/4]": ((1, 3, 4, 5, 63, 64, 65),),
    "layout A(w) = [w/8, w%8] offset 3": ((1, 7, 8, 9, 17),),
    "layout A(c: 3, w) = [w, c : 4] fill 7": ((3,), (1, 15, 16, 17)),
}


def case_of(text: str, verb: str) -> Case:
    return Case((Written(text),), verb, 4, tuple(product(*TREES[text])))


def changed(case: Case, node: tree.Node, most: int | None) -> Counter[str]:
    changes = list(dict.fromkeys(faulty(node)))
    if most is not None:
        changes = Random(1).sample(changes, min(most, len(changes)))
    found = Counter[str]()
    for kind, each in kinds(case, node, changes):
        assert kind != "wrong, VALID", each
        found[kind] += 1
    return found


@pytest.mark.slow
@pytest.mark.sampled(8)
@pytest.mark.parametrize(("text", "verb"), [*product(TREES, ("pack", "unpack"))])
@pytest.mark.parametrize(
    "most", [12, pytest.param(None, marks=pytest.mark.campaign, id="every change")]
)
def test_no_wrong_tree_is_validated(text: str, verb: str, most: int | None) -> None:
    case = case_of(text, verb)
    node = node_of(case)
    assert node is not None
    assert isinstance(validated(case, node), Validated)
    assert changed(case, node, most)["wrong, refused"]


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("node", SCRATCH)
def test_no_wrong_scratch_is_validated(node: tree.Node) -> None:
    assert changed(TURNED, node, 30)["wrong, refused"]


def refused(case: Case, node: tree.Node) -> str:
    found = validated(case, node)
    assert isinstance(found, NotValidated)
    return found.reason


PRODUCT = ("*", "H", "W")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "pair", [("H", "W"), ("H", 16), (4, 8), (PRODUCT, "C"), ("C", PRODUCT), (("+", "H", 3), 1)]
)
def test_two_coordinates_are_one(pair: Pair) -> None:
    theorem, proof = joined("tree.joined.0", *pair)
    assert establish([(theorem, proof)])[theorem.name].established
    for number, goal in enumerate(theorem.goals):
        goals = list(theorem.goals)
        goals[number] = _wrong(goal)
        changed = replace(theorem, goals=tuple(goals))
        ways = (proof, by_hypotheses(changed))
        assert not any(establish([(changed, way)])[theorem.name].established for way in ways)


def _wrong(goal: Term) -> Term:
    """What says a little more or something else."""
    word, left, right = goal
    return (word, ("+", left, 1), right) if word == "=" else (word, ("+", left, 2), right)


def test_pairs_are_theorems_of_what_is_validated() -> None:
    """Axes `h` and `w` are one on both sides; digits that follow each other are one coordinate."""
    layout = layout_of("layout A(h, w, c) = [c/4, h, w/8, w%8, c%4]")
    ((blocks, block),) = sides(layout, tensor(layout), buffer(layout), (ZERO, ZERO)).pairs
    assert (blocks[0], block) == ("div", 8)
    whole = layoutdsl.library("NCHW16c")
    assert sides(whole, tensor(whole), buffer(whole), (ZERO, ZERO)).pairs == (("n.H", "n.W"),)


@pytest.mark.parametrize(
    ("places", "pairs"),
    [
        ("[o, i, h]", (("n.O", "n.I"),)),
        ("[h, o, i]", (("n.O", "n.I"),)),
        ("[o, h : 4, i]", ()),
        ("[o + h, i]", ()),
        ("[i, o, h]", ()),
    ],
)
def test_an_axis_of_one_index_is_passed_over_where_it_is_one(
    places: str, pairs: tuple[Pair, ...]
) -> None:
    layout = layout_of(f"layout A(o, h: 1, i) = {places}")
    assert sides(layout, tensor(layout), buffer(layout), (ZERO, ZERO)).pairs == pairs


def test_what_is_missing_is_said() -> None:
    case = case_of("layout A(w) = [w/8, w%8] offset 3", "pack")
    run = tree.Run(tree.Place(tree.TARGET, Constant(3)), tree.Place(tree.SOURCE, ZERO), Extent("W"))
    assert refused(case, run) == "a slot is written: a step of the proof does not follow"
    named = tree.For("W", Constant(1), run)
    assert refused(case, named) == "`W` is an extent"
    loose = replace(run, count=Index("nothing"))
    assert refused(case, loose) == "`nothing` has no value here"
    scratch = replace(run, source=tree.Place("s", ZERO))
    assert refused(case, scratch) == "`s` is read, and should not be"
    early = replace(run, target=tree.Place(tree.TARGET, ZERO))
    assert refused(case, early).startswith("a place in the target")


def below_the_diagonal() -> tree.Node:
    """Each element of a triangle, from where it lies in a tensor or like in one."""
    at = Add(Mul(Index("i"), Extent("J")), Index("j"))
    run = tree.Run(tree.Place(tree.TARGET, at), tree.Place(tree.SOURCE, at), Constant(1))
    held = tree.If(Condition(Index("j"), "<=", Index("i")), run, tree.EMPTY)
    return tree.For("i", Extent("I"), tree.For("j", Extent("J"), held))


ALL = tree.Fill(tree.Place(tree.TARGET, ZERO), Mul(Extent("I"), Extent("J")))


@pytest.mark.parametrize("verb", ["pack", "unpack"])
def test_what_no_layout_holds_is_filled_when_packing_and_kept_when_unpacking(verb: str) -> None:
    triangle = Written("layout A(i, j) = [i, j] fill 7 where j <= i")
    case = Case((triangle,), verb, 4, ((1, 1), (2, 2), (3, 4)))
    bare = below_the_diagonal()
    filled = tree.Seq((ALL, bare))
    right, wrong = (filled, bare) if verb == "pack" else (bare, filled)
    assert isinstance(validated(case, right), Validated)
    assert all(fault(case, right, shape) is None for shape in case.shapes)
    assert isinstance(validated(case, wrong), NotValidated)
    assert fault(case, wrong, (2, 2)) is not None


def test_the_only_slot_is_not_filled() -> None:
    case = Case((Written("layout A(c: 1) = [c]"),), "pack", 4, ((1,),))
    fill = tree.Fill(tree.Place(tree.TARGET, ZERO), Constant(1))
    run = tree.Run(fill.target, tree.Place(tree.SOURCE, ZERO), Constant(1))
    assert isinstance(validated(case, tree.Seq((fill, run))), Validated)
    assert refused(case, tree.Seq((run, fill))).startswith("an element is filled")


def test_what_is_sealed_is_the_tree_and_what_it_is_for() -> None:
    case = case_of("layout A(h, c) = [c, h]", "pack")
    node = node_of(case)
    assert node is not None
    seals = set[str]()
    for other in (case, replace(case, width=8)):
        for each in (node, tree.Seq((node,))):
            found = validated(other, each)
            assert isinstance(found, Validated)
            seals.add(found.seal)
    assert len(seals) == 4


# Trees of layouts that lose elements at some shape; and those that no proof was found for.
MOST_REFUSED = 0.1


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "count"),
    [
        (4, 3),
        pytest.param(6, 10, marks=pytest.mark.slow, id="more"),
        pytest.param(2, 1000, marks=pytest.mark.campaign, id="many"),
    ],
)
def test_trees_of_random_layouts_are_validated(seed: int, count: int) -> None:
    found = Counter[bool]()
    for case in cases(seed, count):
        node = node_of(case)
        if node is None:
            continue
        shown = validated(case, node)
        right = isinstance(shown, Validated)
        assert all(fault(case, node, shape) is None for shape in case.shapes), case
        found[right] += 1
    assert found[False] <= MOST_REFUSED * found.total() + 1


@pytest.mark.campaign
def test_no_wrong_tree_of_random_layouts_is_validated() -> None:
    random, found = Random(3), Counter[str]()
    for drawn in cases(3, 100):
        case = replace(drawn, small=None, shapes=tuple(small_shapes(random, drawn)))
        node = node_of(case)
        if node is not None and isinstance(validated(case, node), Validated):
            found += changed(case, node, 40)
    assert found["wrong, refused"] > 1000


def triangle(row: str, size: str = "N*(N + 1)/2") -> str:
    return f"[{row} : {size}] where j <= i"


TRIANGLES = (
    triangle("i*(i + 1)/2 + j"),
    triangle("i + j*(2*N - j - 1)/2"),
    triangle("j*N - j*(j - 1)/2 + i - j"),
    triangle("i*(i + 1)/2 + j + 3", "N*(N + 1)/2 + 3"),
    triangle("i*(i + 1)/2 + j", "N*(N + 3)/2"),
    "[i*(i - 1)/2 + j : N*(N - 1)/2] where j < i",
    "[i*(i + 1)/2 + j : N*(N + 1)/2, b] where j <= i",
    "[b, j*(j + 1)/2 + i : N*(N + 1)/2] where i <= j",
    "[b, i*(i + 1)/2 + j : N*(N + 1)/2] where i/2 <= j, j <= i",  # a quotient among facts
)
TOO_SHORT = (
    triangle("i*(i + 1)/2 + j", "N*(N + 1)/2 - 1"),
    triangle("i*(i + 1)/2 + j + 1"),
    triangle("i*(i + 1)/2 + j", "N*(N - 1)/2"),
    triangle("i*(i + 3)/2 + j"),
)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("verb", ["pack", "unpack"])
@pytest.mark.parametrize("places", [*TRIANGLES, *TOO_SHORT])
def test_triangles_are_validated_where_elements_lie_before_their_end(
    places: str, verb: str
) -> None:
    """Rows begin at halves of squares, which no linear question is about."""
    axes = "i: N, j: N, b" if "b" in places else "i: N, j: N"
    case = Case((Written(f"layout A({axes}) = {places}"),), verb, 4, ())
    node = node_of(case)
    assert node is not None
    assert isinstance(validated(case, node), Validated) == (places in TRIANGLES)


# Half of the drawn triangles have a row, a size or a domain that may be wrong.
DRAWN_ROWS = (
    *("i*(i + 1)/2 + j", "i*(i - 1)/2 + j", "i + j*(2*N - j - 1)/2", "j*(j + 1)/2 + i"),
    *("j*N - j*(j - 1)/2 + i - j", "i*(i + 3)/2 + j", "i*(i + 1)/2 + j + 1"),
)
DRAWN_SIZES = (*("N*(N + 1)/2", "N*(N + 1)/2", "N*(N - 1)/2", "N*(N + 3)/2", "N*(N + 1)/2 - 1"),)
DRAWN_DOMAINS = ("j <= i", "i <= j", "j < i", "j <= i, i - j <= 5", "i/2 <= j, j <= i")
DRAWN_AXES = (("", "", ""), ("b, ", "b, ", ""), ("b: 8, ", "b, ", ""), ("b, ", "b/16, ", ", b%16"))


def drawn_triangles(seed: int, count: int) -> Iterator[Case]:
    random = Random(seed)
    for _ in range(count):
        row, size, where = map(random.choice, (DRAWN_ROWS, DRAWN_SIZES, DRAWN_DOMAINS))
        axes, before, behind = random.choice(DRAWN_AXES)
        text = f"layout A({axes}i: N, j: N) = [{before}{row} : {size}{behind}] where {where}"
        outer = [()] if not axes else [(8,)] if "8" in axes else [(1,), (17,)]
        few = tuple((*first, n, n) for first in outer for n in (2, 3, 7, 16, 33))
        verb, width = random.choice(("pack", "unpack")), random.choice((1, 2, 4, 8))
        yield Case((Written(text),), verb, width, few)


def is_inside(case: Case, shape: Shape) -> bool:
    """Whether each element that the layout holds lies in the extents of all coordinates."""
    layout = case.layouts[0].layout
    return not any(leaves_extent(layout, each) for each in elements(layout, layout.bind(shape)))


@pytest.mark.ci(1)
@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_what_is_validated_of_drawn_triangles_is_right(seed: int) -> None:
    """A triangle that leaves its buffer is refused; the C of a validated one does what it means."""
    found, right = Counter[tuple[bool, bool]](), list[Case]()
    for case in drawn_triangles(seed, 60):
        node = node_of(case)
        assert node is not None
        shown = isinstance(validated(case, node), Validated)
        inside = all(is_inside(case, shape) for shape in case.shapes)
        assert inside or not shown, case
        found[shown, inside] += 1
        right += [case] if shown else []
    assert min(found[True, True], found[False, False]) > 10, found
    assert not [f"{kind}: {case}" for case, kind in faults(right, MACHINE.sanitized.apart)]


@pytest.mark.slow
@pytest.mark.parametrize("name", layoutdsl.library_names())
def test_trees_of_the_library_are_validated(name: str) -> None:
    layout = layoutdsl.library(name)
    known = layout.with_parameters(**dict.fromkeys(layout.parameters, 16))
    for verb, width in product(("pack", "unpack"), (1, 4)):
        case = Case((Held(name, known),), verb, width, ())  # type: ignore[arg-type]
        node = node_of(case)
        assert node is None or isinstance(validated(case, node), Validated), (verb, width)


# Conversions whose proofs were once beyond the solver, or took steps over two coordinates.
DRAWN = {
    "[a/16, b/2, a/2%8, b%2, a%2]": ("[a, b/16, b%4, b/4%4]", "a, b", 1),
    "[a, b/16, b%16]": ("[a, b/4, b%2, b/2%2]", "a, b: 16", 4),
    "[a, b/4, c, d, b%4]": ("[a, c, d/8, b, d%8]", "a: 6, b: 16, c, d: 48", 1),
    "[a/8, b/4, c/32, b%4, c%32, a%8]": ("[b, c, a/16, a%16]", "a: 16, b, c: 28", 4),
}


@pytest.mark.slow
@pytest.mark.parametrize("source", DRAWN)
def test_drawn_conversions_are_validated(source: str) -> None:
    target, axes, width = DRAWN[source]
    texts = (Written(f"layout A({axes}) = {places}") for places in (source, target))
    case = Case(tuple(texts), "convert", width, ())
    node = node_of(case)
    assert node is not None
    found = validated(case, node)
    assert isinstance(found, Validated), found
