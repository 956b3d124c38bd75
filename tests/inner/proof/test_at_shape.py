"""The exact check of a shape finds what plain integers find, however its boxes are cut.

Inner, as no public call says how large a box is: tensors that need several have millions of
elements, of which plain integers are too slow an oracle.
"""

from __future__ import annotations

import random

import pytest

import layoutdsl
from layoutdsl.proof.refute import at_shape
from layoutdsl.proof.refute.refute import unsound

SPELLINGS = (
    "layout A(i, j, k) = [i*{p} + j*{q} + k : I*{p} + J*{q} + K]",
    "layout A(i, j, k) = [(i + j)%{p}, k]",
    "layout A(i, j) = [i*(i + 1)/2 + j : {q}] where j <= i",
    "layout A(i, j) = [(j - i)*{p} + i*{q} : J*{p} + I*{q}] where i < j",
    "layout A(i, j, k) = [i/{p}, k, j%{p}, i%{p}]",
    "layout A(i, j) = [j, i] offset {p}",
    "layout A(i, j, k) = [(i, j%{p}), k - 1 : K]",
    "layout A(i, j) = [i*1000000007*1000000009 + j : I*1000000007*1000000009 + J]",
    "layout A(i, j, c: 2 broadcast) = [i ^ j%{p} : 16, j, c]",
    "layout A(i, j) = NCHW[i, j*{p} : {q}, i%{p}, 0]",
)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(40))
def test_boxes_find_what_plain_integers_find(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    monkeypatch.setattr(at_shape, "FEW_ELEMENTS", 0)
    monkeypatch.setattr(at_shape, "BOX_ELEMENTS", draw.choice((1, 2, 7, 50)))
    text = draw.choice(SPELLINGS).format(p=draw.randint(2, 5), q=draw.randint(1, 20))
    (layout,) = layoutdsl.parse(text).layouts.values()
    for _ in range(10):
        values = layout.bind(tuple(draw.randint(1, 7) for _ in layout.element_axes))
        found, wanted = at_shape.faults_at_shape(layout, values), unsound(layout)(values)
        assert bool(found) == bool(wanted), (text, values)
        assert found.keys() <= wanted.keys(), (text, values)
        for name, example in found.items():
            assert example.sentence == wanted[name].sentence
            assert name != "injective" or collides(layout, values, example), (text, values)


def collides(layout: layoutdsl.Layout, values: dict[str, int], example: object) -> bool:
    first, second = (dict(point.index) for point in example.points)  # type: ignore[attr-defined]
    offsets = {layout.offset_at({**values, **each}) for each in (first, second)}
    return first != second and len(offsets) == 1
