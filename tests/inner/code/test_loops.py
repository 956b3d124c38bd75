"""Which tree a move becomes: what loops walk, what lies together, and faults that were found.

The planner is tested by itself, as only the speed of what is compiled shows which boxes it takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources

import pytest
from native_fuzz import Case, cases
from random_digits import Shape, Written
from tree_faults import validated
from tree_fuzz import fault, node_of

import layoutdsl
from layoutdsl.code import native
from layoutdsl.code.loops import costs, tree
from layoutdsl.code.loops.boxes import Box, cheapest
from layoutdsl.code.loops.chains import Chains
from layoutdsl.code.loops.leaf import held
from layoutdsl.code.loops.moves import move_of
from layoutdsl.code.loops.trees import digits
from layoutdsl.code.native import calls
from layoutdsl.code.native.classes import class_of, special
from layoutdsl.code.native.tuning import RANKS
from layoutdsl.code.validate.outcome import Validated
from layoutdsl.language.integers.expr import Constant, text

FOUND = (
    # what is filled behind the end of one axis lies before the end of all others
    (
        "layout A(n, c, k) = [n/8, c/4, (k/7, n%8, k%7), c%4] fill any",
        "layout A(n, c, k) = [k/7, c, n/8, k%7, n%8]",
        (2, 2, 2),
    ),
    (
        "layout A(n: 3, k, c, h: 3) = [k, n/6/2, h, n/6%2, n%6%2, n%6/2, c] fill 31",
        "layout A(n: 3, k, c, h: 3) = [h, n/2/4, k/2, n%2, k%2, n/2%4, c]",
        (3, 1, 1, 3),
    ),
    # a digit of a block that is never full
    (
        "layout A(w, k) = [k, w/32/4, w%32, w/32%4/2, w/32%4%2] fill any",
        "layout A(w, k) = [w/128, k/2, k%2, w%128%64/32, w%128/64, w%128%64%32] fill 7",
        (192, 3),
    ),
    # an axis without a digit in the source, which the target pads
    ("layout A(h: 1, w) = [w]", "layout A(h: 1, w) = [h/4, w, h%4] fill 3", (1, 9)),
    # axes that are called as loops of our own are
    (
        "layout A(a0_1, b0_1, a0) = [b0_1/4, a0/8, b0_1%4, a0_1, a0%8]",
        "layout A(a0_1, b0_1, a0) = [a0_1/2, b0_1, a0/4, a0_1%2, a0%4]",
        (3, 7, 13),
    ),
)
ALIKE = ("layout A(k) = [k%2, k/2]", "layout B(k) = [k/4, k%4]", (2,))
"""At two elements, digits of one stride."""
PADDED = ("layout A(k, n, h: 3) = [h, n/4, n%4, k] fill 31", (129, 9, 3))


def tree_of(text_: str, verb: str, width: int) -> tree.Node:
    node = node_of(Case((Written(text_),), verb, width, ()))
    assert node is not None
    return node


def nodes(node: tree.Node) -> Iterator[tree.Node]:
    yield node
    match node:
        case tree.For(body=body) | tree.Slide(body=body) | tree.Scratch(body=body):
            yield from nodes(body)
        case tree.If(_, then, other):
            yield from nodes(then)
            yield from nodes(other)
        case tree.Seq(parts):
            for part in parts:
                yield from nodes(part)


def loops(node: tree.Node) -> list[tree.For | tree.Slide]:
    return [each for each in nodes(node) if isinstance(each, tree.For | tree.Slide)]


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_of_axes_that_are_exchanged_the_one_of_the_target_is_inside(width: int) -> None:
    """Else lines of rows that begin within one are brought in for each part that is written."""
    outer, inner, *_ = loops(tree_of("layout A(a, b) = [b, a]", "pack", width))
    assert isinstance(outer, tree.Slide)
    assert isinstance(inner, tree.Slide)
    assert (outer.name[0], inner.name[0]) == ("b", "a")
    assert (outer.together, inner.together) == ((128, 192) if width == 1 else (256, 512))


def test_bytes_of_numbers_are_exchanged_likewise_and_those_of_several_lines_are_not() -> None:
    outer, inner, *_ = loops(tree_of("layout A(a, b: 112, c: 8) = [c, b, a]", "pack", 1))
    assert (outer.name[0], inner.name[0]) == ("b", "a")
    outer, inner, *_ = loops(tree_of("layout A(a, b, c: 8) = [c, b, a]", "unpack", 1))
    assert (outer.name[0], inner.name[0]) == ("b", "a"), "as the source goes"


@pytest.mark.parametrize("verb", ["pack", "unpack"])
def test_long_runs_go_in_the_order_whose_last_loop_has_few_turns(verb: str) -> None:
    """Each turn is in a page of its own on one side."""
    found = loops(tree_of("layout A(a: 8, b, c) = [b, a, c]", verb, 2))
    assert [each.name for each in found] == ["b", "a"]
    found = loops(tree_of("layout A(a, b, c) = [b, a, c]", verb, 2))
    assert [each.name for each in found] == (["a", "b"] if verb == "pack" else ["b", "a"])


@pytest.mark.sampled(18)
@pytest.mark.parametrize(("source", "target", "shape"), FOUND)
@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_what_was_found_wrong_is_right(source: str, target: str, shape: Shape, width: int) -> None:
    case = Case((Written(source), Written(target)), "convert", width, (shape,))
    node = node_of(case)
    assert node is not None
    assert fault(case, node, shape) is None


@pytest.mark.parametrize("rank", range(RANKS))
def test_digits_of_one_stride_are_not_taken_for_each_other(rank: int) -> None:
    """As one of them is always 0, what ends in it was taken for the end of the other."""
    *texts, shape = ALIKE
    case = Case(tuple(map(Written, texts)), "convert", 4, (shape,), rank, small=8)
    node = node_of(case)
    assert node is not None
    assert fault(case, node, shape) is None
    assert isinstance(validated(case, node), Validated)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_padding_over_which_an_axis_goes_on_is_filled(width: int) -> None:
    layout, shape = PADDED
    case = Case((Written(layout),), "pack", width, (shape,))
    node = node_of(case)
    assert node is not None
    assert fault(case, node, shape) is None


def test_of_a_box_by_way_of_scratch_but_one_part_ends() -> None:
    """The parts before the end are whole, and those behind it are filled and not moved."""
    node = tree_of("layout A(o, i, k: 9) = [o/32, i/16, k, i%16/4, o%32, i%4]", "unpack", 1)
    found = [
        (each.then, each.other.then, each.other.other)
        for each in nodes(node)
        if isinstance(each, tree.If) and isinstance(each.other, tree.If)
        if isinstance(each.then, tree.Move)
    ]
    assert found
    for whole, part, nothing in found:
        assert isinstance(whole, tree.Move)
        assert isinstance(part, tree.Move)
        assert whole.edge == tree.WHOLE != part.edge
        assert nothing == tree.Fill(whole.target, Constant(64))


@pytest.mark.parametrize(("width", "slides"), [(4, {"b_c_32": 32}), (8, {})])
def test_extents_that_are_numbers_slide_as_others_do(width: int, slides: dict[str, int]) -> None:
    """In steps of lines, and not in what divides their product; of 8 bytes in that."""
    node = tree_of("layout A(a: 128, b: 99, c: 26) = [b, c, a/2%8, a%2, a/16]", "unpack", width)
    assert {e.name: e.step for e in nodes(node) if isinstance(e, tree.Slide)} == slides


def test_loops_are_called_by_what_they_walk() -> None:
    node = tree_of("layout A(n, c, h, w) = [n, c/16, h, w, c%16]", "pack", 4)
    found = {each.name: each.note for each in loops(node)}
    assert found["n"] == "n"
    assert found["c_16"] == "c/16"
    assert any(name.startswith("h_w") and "(h, w)" in note for name, note in found.items())


@pytest.mark.slow
def test_no_loop_is_called_as_one_around_it() -> None:
    def unique(node: tree.Node, around: frozenset[str]) -> bool:
        match node:
            case tree.For(name=name, body=body) | tree.Slide(name=name, body=body):
                return name not in around and unique(body, around | {name})
            case tree.If(_, then, other):
                return unique(then, around) and unique(other, around)
            case tree.Seq(parts):
                return all(unique(part, around) for part in parts)
            case tree.Scratch(body=body):
                return unique(body, around)
        return True

    for case in cases(seed=4, count=20):
        node = node_of(case)
        assert node is None or unique(node, frozenset()), case


@pytest.mark.parametrize(
    ("layout", "count"),
    [
        ("layout A(i, j: 64) = [i, (j/8) ^ (i%8), j%8]", "8"),
        ("layout A(i, j) = [j, i] where j <= i", "1"),
        ("layout A(i, j) = [i/4 ^ i%2, i%4, j]", "J"),
    ],
)
def test_layouts_without_digits_go_by_what_lies_together(layout: str, count: str) -> None:
    node = tree_of(layout, "pack", 4)
    runs = [each for each in nodes(node) if isinstance(each, tree.Run)]
    assert text(runs[0].count) == count
    assert not any(isinstance(each, tree.Move) for each in nodes(node))


def test_blocks_with_a_large_common_multiple_go_by_what_divides_both() -> None:
    texts = "layout A(c, w) = [c/7, w, c%7]", "layout A(c, w) = [c/128, w, c%128]"
    node = node_of(Case(tuple(map(Written, texts)), "convert", 4, ()))
    assert node is not None
    runs = [each for each in nodes(node) if isinstance(each, tree.Run)]
    assert runs[0].count == Constant(1)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("layout", "by_boxes"),
    [
        ("layout A(c, w) = [c/{0}, w, c%{0}]", True),
        ("layout A(c, h, w: 16) = [c/{0}, h, c%{0}, w]", True),
        ("layout A(c, h, w: 64) = [c/{0}, h, c%{0}, w]", False),  # 256 bytes at once
        ("layout A(c, h, w) = [c/{0}, h, c%{0}, w]", False),
    ],
)
def test_blocks_without_common_digits_are_boxed_where_no_rows_are_long(
    layout: str, by_boxes: bool
) -> None:
    texts = (Written(layout.format(block)) for block in (6, 8))
    case = Case(tuple(texts), "convert", 4, ())
    node = node_of(case)
    assert node is not None
    boxes = [each for each in nodes(node) if isinstance(each, tree.Scratch)]
    assert bool(boxes) == by_boxes
    assert all(each.size % 24 == 0 for each in boxes)
    assert isinstance(validated(case, node), Validated)


def test_extents_that_are_numbers_have_no_loops_for_digits_that_never_step() -> None:
    node = tree_of("layout A(d: 8, c) = [d/128, c, d/4%32, d%4]", "unpack", 4)
    assert not {"d_128", "d_4"} & {each.name for each in loops(node)}


def box_of(text: str, shape: tuple[int, ...], verb: str, width: int) -> Box:
    """The box that is chosen in the class of a shape."""
    layout = layoutdsl.parse(f"layout A{text}")["A"]
    chains = digits(move_of(special(layout, dict(class_of(layout, shape))), verb))
    assert isinstance(chains, Chains)
    return cheapest(chains, width)


def written(box: Box, width: int) -> int:
    """Bytes that lie together in the target."""
    return held(box.together("target")) * width


def test_columns_that_share_sets_are_written_in_long_runs() -> None:
    """In runs of a line they took 1.8 and 3.3 times as long: 15 and 43 columns share a few sets."""
    padded = box_of("(a, b, c) = [c, b, a : 32*ceil(A/32)]", (24, 16, 15), "pack", 8)
    assert written(padded, 8) >= 256
    unknown = box_of("(a, b, c, d) = [c, d, b, a]", (43, 16, 136, 16), "unpack", 4)
    assert written(unknown, 4) >= 256


def test_columns_in_sets_of_their_own_are_written_line_by_line() -> None:
    assert written(box_of("(a, b) = [b, a]", (999, 999), "pack", 4), 4) == 64


def test_scratch_is_taken_where_it_gains_more_than_it_costs() -> None:
    """So the first took 2.2 times as long, the second 1.4 times, and the third a quarter less."""
    assert box_of("(a, b, c, d) = [a, c/4, b, d, c%4]", (3, 17, 8, 15), "pack", 2).both is None
    weights = "(o, i, h: 3, w: 3) = [o/16, i/8, h, w, i%8/4, o%16, i%4]"
    assert box_of(weights, (32, 56, 3, 3), "pack", 1).both is None
    weights = "(o, i, h: 5, w: 5) = [o/32, i/8, h, w, i%8/2, o%32, i%2]"
    assert box_of(weights, (96, 1719, 5, 5), "unpack", 1).both is not None


def test_panels_are_gathered_by_as_many_as_there_are_lanes() -> None:
    """By way of scratch they took 1.5 times as long, and run by run 1.9 times."""
    for layout, shape, width in (
        ("(k, m) = [m/6, k, m%6]", (1472, 930), 1),
        ("(k, m) = [m/12, k, m%12]", (376, 300), 1),
        ("(k, m) = [m/6, k, m%6]", (568, 548), 2),
    ):
        lanes = 8 if shape == (1472, 930) else 4
        for verb in ("pack", "unpack"):
            box = box_of(layout, shape, verb, width)
            assert box.is_gathered
            few, many = sorted((held(box.rows), held(box.columns)))
            assert few % lanes == 0
            assert many >= 2 * lanes


def test_planner_kernels_and_buffers_stream_from_as_many_bytes_on() -> None:
    kernels = resources.files(native).joinpath("kernels.c").read_text()
    (said,) = re.findall(r"#define STREAM_BYTES \(\(int64_t\)(\d+) << 20\)", kernels)
    assert calls.PAST == costs.PAST == int(said) << 20
    assert calls.LINE == costs.LINE == 64
