"""The natural extents of `&`, `|` and `^`: the bounds beside a second reading of the page."""

from itertools import product

import pytest
from mutants import oracle

import layoutdsl

SHAPES = ((6, 7, 2), (3, 7, 4), (1, 1, 1))
SIDES = (
    *("c", "d", "h", "0", "2", "3", "5", "-16", "0%2", "1 + 2", "(1, 2 : 3)", "C", "D - 1"),
    *("h%4", "c%3", "c + 1", "(d, h)", "c & d", "c & h%4", "c*4", "d%2 << 2", "c/4*8 - 16"),
)


@pytest.mark.parametrize(
    ("text", "shape", "slots"),
    [
        ("layout L(b) = [b, 0 & 2]", (2,), (2, 3)),  # found by the fuzz of emitted code
        ("layout L(b) = [b, 2 & 0%2]", (2,), (2, 2)),
        ("layout L(b) = [b, 2 & 0]", (2,), (2, 1)),
        ("layout L() = [0 & 2]", (), (3,)),
        ("layout L(c) = [3 & c]", (2,), (4,)),
        ("layout L(c: 2) = [c & 5]", (2,), (6,)),
        ("layout L(c: 12) = [6 & c]", (12,), (7,)),
        ("layout L(c: 12, h) = [h%4 & c]", (12, 5), (4,)),
        ("layout L(c, h) = [c & h]", (12, 5), (12,)),
        ("layout L(c, h) = [(c/4 << 3) | h%6]", (12, 5), (22,)),  # a sum
        ("layout L(c, h) = [c/4*4 | h%6]", (12, 5), (16,)),
        ("layout L(c, h) = [4*c | (h : 4)]", (3, 5), (12,)),  # no sum: `h` may exceed 4
    ],
)
def test_the_page(text: str, shape: tuple[int, ...], slots: tuple[int, ...]) -> None:
    assert layoutdsl.parse(text)["L"].physical_shape(shape) == slots


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("axes", ["c, d, h", "c: 6, d, h: 2", "c: 3, d: 7, h"])
def test_both_readings_agree(axes: str) -> None:
    agreed, refused = 0, set[str]()
    for left, symbol, right in product(SIDES, "&^|", SIDES):
        text = f"layout L({axes}) = [({left}) {symbol} ({right}), c, d, h]"
        try:
            layout = layoutdsl.parse(text)["L"]
        except layoutdsl.LayoutError as error:
            refused.update(each.code for each in error.diagnostics)
            continue
        reading = oracle.read(text)
        fixed = dict(zip("CDH", map(oracle.extent_of, reading.axes), strict=True))
        for shape in SHAPES:
            symbols = dict(zip("CDH", shape, strict=True))
            if all(fixed[each] in (each, symbols[each]) for each in symbols):
                values = {each: symbols[each] for each in reading.symbols}
                room = oracle.Room(reading, values, dict.fromkeys("cdh", 0))
                first, *_ = layout.physical_shape(shape)
                assert first == room.coordinate(reading.places[0]).high
                agreed += 1
    assert agreed > 500
    assert refused == {"L206"}  # no bound can be written
