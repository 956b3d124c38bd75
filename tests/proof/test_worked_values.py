"""Numbers that vendors print, or that their own programs give; each row names its source."""

from __future__ import annotations

import json
from typing import Any

import pytest
from texts import HERE, LIBRARY, layout

ROWS = json.loads((HERE / "facts/worked_values.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['source']} {row['index']}")
def test_worked_value(row: dict[str, Any]) -> None:
    worked, shape, index = layout(row["layout"]), row["shape"], row["index"]
    for said, found in {
        "offset": worked.offset(index, shape),
        "size": worked.size(shape),
        "chunk": list(worked.chunk(index, shape)),
        "place": list(worked.place(index, shape)),
    }.items():
        assert row.get(said, found) == found
    assert worked.decode(worked.offset(index, shape), shape) == tuple(index)


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("XlaColumnMajor", "a d b e c f"),
        ("XlaRowMajor", "a b c d e f"),
        ("XlaPaddedExample", "a d 0 b e 0 c f 0 0 0 0 0 0 0"),
    ],
)
def test_xla_reads_its_two_by_three(name: str, reads: str) -> None:
    shape, tensor = (2, 3), {(y, x): "abcdef"[3 * y + x] for y in range(2) for x in range(3)}
    decoded = [LIBRARY[name].decode(slot, shape) for slot in range(LIBRARY[name].size(shape))]
    assert reads.split() == ["0" if index is None else tensor[index] for index in decoded]


CROUTON = [
    # "The data gets padded to 1x8x8x32": one chunk; padding where the source marks it.
    ((1, 3, 5, 30), (0, 0, 0, 29), 29),
    ((1, 3, 5, 30), 30, None),
    ((1, 3, 5, 30), 31, None),
    ((1, 3, 5, 30), (0, 0, 1, 0), 32),
    ((1, 3, 5, 30), 5 * 32, None),
    ((1, 3, 5, 30), (0, 1, 0, 0), 256),
    ((1, 3, 5, 30), (0, 2, 4, 29), 669),
    ((1, 3, 5, 30), 2047, None),
    # "If there is 2x9x20x50 tensor": where its chunks begin and end.
    ((2, 9, 20, 50), (0, 7, 7, 31), 2047),
    ((2, 9, 20, 50), (0, 0, 0, 32), 2048),
    ((2, 9, 20, 50), (0, 0, 8, 0), 2 * 2048),
    ((2, 9, 20, 50), (0, 0, 8, 32), 3 * 2048),
    ((2, 9, 20, 50), (0, 0, 16, 0), 4 * 2048),
    ((2, 9, 20, 50), (0, 8, 0, 0), 6 * 2048),
    ((2, 9, 20, 50), (1, 0, 0, 0), 12 * 2048),
]


@pytest.mark.parametrize(("shape", "index", "offset"), CROUTON)
def test_crouton_listing(
    shape: tuple[int, ...], index: tuple[int, ...] | int, offset: int | None
) -> None:
    crouton = LIBRARY["R4CroutonLayout"]
    if isinstance(index, int):
        assert crouton.is_padding(index, shape)
    else:
        assert offset == crouton.offset(index, shape)
        assert index == crouton.decode(crouton.offset(index, shape), shape)


SIZES = [
    ("R4CroutonLayout", (2, 9, 20, 50), 2 * 16 * 24 * 64),
    ("R4CroutonLayout", (1, 3, 5, 30), 8 * 8 * 32),
    ("HtpConvWeights", (3, 3, 32, 50), 3 * 3 * 32 * 64),
    ("NCHW16c", (1, 20, 3, 4), 384),
    ("NCHW16c", (2, 20, 3, 4), 768),
    ("MaceChannelMajor", (1, 1, 5, 6), 10 * 4),
]


@pytest.mark.parametrize(("name", "shape", "size"), SIZES)
def test_padded_size(name: str, shape: tuple[int, ...], size: int) -> None:
    assert size == LIBRARY[name].size(shape)
