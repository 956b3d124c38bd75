"""Every layout of the library has values of its own: by its source's formula, and as printed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from library_formulas import BOXES, FORMULAS, WORKED, Index
from texts import LIBRARY, every_index


def test_every_layout_is_transcribed() -> None:
    assert set(FORMULAS) == set(LIBRARY)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", FORMULAS)
def test_offsets_are_those_of_the_source(name: str) -> None:
    """Its formula, transcribed by hand, for every index of some ragged shapes."""
    layout, (formula, shapes) = LIBRARY[name], FORMULAS[name]
    for shape in shapes:
        values = layout.bind(shape)
        extents = layout.shape_of(values)
        said = [formula(index, shape) for index in product(*map(range, extents))]
        found = layout.offset_at({**values, **every_index(layout, values)})
        assert np.array_equal(found, [each for each in said if each is not None])


@pytest.mark.parametrize("name", [name for name in FORMULAS if LIBRARY[name].domain])
def test_what_the_source_does_not_store_has_no_slot(name: str) -> None:
    layout, (formula, shapes) = LIBRARY[name], FORMULAS[name]
    for shape in shapes:
        for index in product(*map(range, layout.shape_of(layout.bind(shape)))):
            if formula(index, shape) is None:
                with pytest.raises(ValueError, match="no slot"):
                    layout.offset(index, shape)


@pytest.mark.parametrize(("name", "shape", "index", "offset"), WORKED)
def test_worked_value(name: str, shape: Index, index: Index, offset: int) -> None:
    assert offset == LIBRARY[name].offset(index, shape)


@pytest.mark.parametrize(("name", "shape", "box"), BOXES)
def test_padded_shape(name: str, shape: Index, box: Index) -> None:
    assert box == LIBRARY[name].physical_shape(shape)
