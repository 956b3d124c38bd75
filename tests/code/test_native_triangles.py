"""C of triangles drawn at random: what is validated stays in the buffer, and puts elements there.

Rows begin at halves of squares (`by_halves` of `code/validate/loops/theorems.py`). Half of what is
drawn has a row, a size or a condition that may be wrong; which those are, plain integers say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from random import Random

import pytest
from native_cases import needs_compiler
from native_fuzz import MACHINE, Case, faults
from random_digits import Shape, Written
from tree_faults import validated
from tree_fuzz import node_of

from layoutdsl.code.validate.outcome import Validated
from layoutdsl.language.integers.conditions import all_hold
from layoutdsl.language.integers.value import evaluate

pytestmark = needs_compiler

ROWS = ("i*(i + 1)/2 + j", "i*(i - 1)/2 + j", "i + j*(2*N - j - 1)/2", "j*(j + 1)/2 + i")
ROWS = (*ROWS, "j*N - j*(j - 1)/2 + i - j", "i*(i + 3)/2 + j", "i*(i + 1)/2 + j + 1")
SIZES = ("N*(N + 1)/2", "N*(N + 1)/2", "N*(N - 1)/2", "N*(N + 3)/2", "N*(N + 1)/2 - 1")
WHERE = ("j <= i", "i <= j", "j < i", "j <= i, i - j <= 5", "i/2 <= j, j <= i")
AROUND = (("", "", ""), ("b, ", "b, ", ""), ("b: 8, ", "b, ", ""), ("b, ", "b/16, ", ", b%16"))


def triangles(seed: int, count: int) -> Iterator[Case]:
    random = Random(seed)
    for _ in range(count):
        row, size, where = map(random.choice, (ROWS, SIZES, WHERE))
        axes, before, behind = random.choice(AROUND)
        text = f"layout A({axes}i: N, j: N) = [{before}{row} : {size}{behind}] where {where}"
        outer = [()] if not axes else [(8,)] if "8" in axes else [(1,), (17,)]
        few = tuple((*first, n, n) for first in outer for n in (2, 3, 7, 16, 33))
        verb, width = random.choice(("pack", "unpack")), random.choice((1, 2, 4, 8))
        yield Case((Written(text),), verb, width, few)


def is_inside(case: Case, shape: Shape) -> bool:
    """Whether each element that the layout holds lies in the extents of all coordinates."""
    layout = case.layouts[0].layout
    values, names = layout.bind(shape), [axis.name for axis in layout.axes]
    for index in product(*map(range, shape)):
        here = {**values, **dict(zip(names, index, strict=True))}
        if all_hold(layout.domain, here):
            for each in layout.coordinates:
                if not 0 <= evaluate(each.value, here) < evaluate(each.extent, here):
                    return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_what_is_validated_of_drawn_triangles_is_right(seed: int) -> None:
    """What is outside at some shape is refused, and the C of what is not does what it means."""
    found, right = Counter[tuple[bool, bool]](), list[Case]()
    for case in triangles(seed, 60):
        node = node_of(case)
        assert node is not None
        shown = isinstance(validated(case, node), Validated)
        inside = all(is_inside(case, shape) for shape in case.shapes)
        assert inside or not shown, case
        found[shown, inside] += 1
        right += [case] if shown else []
    assert min(found[True, True], found[False, False]) > 10, found
    assert not [f"{kind}: {case}" for case, kind in faults(right, MACHINE.sanitized.apart)]
