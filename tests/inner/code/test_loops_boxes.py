"""Which box a move is made of, where costs that are left out would choose one that is slow."""

from __future__ import annotations

import layoutdsl
from layoutdsl.code.loops.boxes import Box, cheapest
from layoutdsl.code.loops.chains import Chains
from layoutdsl.code.loops.leaf import held
from layoutdsl.code.loops.moves import move_of
from layoutdsl.code.loops.trees import digits
from layoutdsl.code.native.classes import class_of, special


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
    for text, shape, width in (
        ("(k, m) = [m/6, k, m%6]", (1472, 930), 1),
        ("(k, m) = [m/12, k, m%12]", (376, 300), 1),
        ("(k, m) = [m/6, k, m%6]", (568, 548), 2),
    ):
        lanes = 8 if shape == (1472, 930) else 4
        for verb in ("pack", "unpack"):
            box = box_of(text, shape, verb, width)
            assert box.is_gathered
            few, many = sorted((held(box.rows), held(box.columns)))
            assert few % lanes == 0
            assert many >= 2 * lanes
