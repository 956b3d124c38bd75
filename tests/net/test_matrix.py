"""The library x storage x interface against the plain integers: three combinations a subject.

All of them: `python -m tests.net.matrix`, or `pytest -m campaign -k matrix`.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from net import matrix
from net.matrix import INTERFACES, STORAGES, Subject, outcome, subjects

TURNS = 3


def offered(subject: Subject, start: int) -> tuple[str, str, matrix.Outcome]:
    """The first combination from a place on that is offered, and what came of it."""
    pairs = [(storage, interface) for storage in STORAGES for interface in INTERFACES]
    places = [*range(len(pairs))]
    Random(f"{subject.name} {start}").shuffle(places)
    for place in places:
        found = outcome(subject, *pairs[place], seed=start, count=1)
        if found.tested or found.failures:
            return (*pairs[place], found)
    pytest.skip(f"no combination of {subject.name} has a small shape")


@pytest.mark.slow
@pytest.mark.sampled(28)
@pytest.mark.parametrize("turn", range(TURNS))
@pytest.mark.parametrize("subject", subjects(), ids=lambda subject: subject.name)
def test_a_combination_gives_what_plain_integers_say(subject: Subject, turn: int) -> None:
    storage, interface, found = offered(subject, turn)
    assert not found.failures, f"{subject.name}, {storage}, {interface}: {found.failures}"


@pytest.mark.campaign
@pytest.mark.parametrize("subject", subjects(), ids=lambda subject: subject.name)
def test_the_whole_matrix(subject: Subject) -> None:
    found = {
        (storage, interface): outcome(subject, storage, interface, seed=1, count=2)
        for storage in STORAGES
        for interface in INTERFACES
    }
    assert {cell: each.failures for cell, each in found.items() if each.failures} == {}
    assert all(each.tested or each.reason for each in found.values())


@pytest.mark.parametrize(
    ("subject", "storage", "interface", "reason"),
    [
        (Subject("layout", "NCHW16c"), "codes", "numpy", "elements are no codes"),
        (Subject("layout", "NCHW16c"), "u32", "convert", "buffers are converted in items"),
        (Subject("record", "Q4_0"), "bytes", "Tensor", "a record is several tensors"),
        (Subject("record", "Q4_0"), "items", "numpy", "records are stored in bytes"),
        (
            Subject("table", "MaceWidthMajorTable"),
            "items",
            "c",
            "a table is read, and packs nothing",
        ),
    ],
)
def test_what_is_not_offered_has_a_reason(
    subject: Subject, storage: str, interface: str, reason: str
) -> None:
    found = outcome(subject, storage, interface, seed=0, count=1)
    assert (found.tested, found.reason, found.failures) == (0, reason, [])


@pytest.mark.slow
def test_a_wrong_item_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(_: matrix.Case, index: Any, tensor: Any) -> Any:
        return tensor[tuple(n - 1 - i for i, n in zip(index, tensor.shape, strict=True))]

    subject = Subject("layout", "OIhw4i16o4i")
    assert outcome(subject, "items", "numpy", seed=2, count=2).failures == []
    monkeypatch.setattr(matrix.Case, "item", other)
    assert outcome(subject, "items", "numpy", seed=2, count=2).failures


@pytest.mark.slow
def test_a_wrong_bit_is_seen(tmp_path: Path) -> None:
    record = matrix.layoutdsl.library_record("Q4_0")
    case = matrix.RecordCase("Q4_0", record, {"R": 1, "K": 32}, Random(1), tmp_path)
    matrix.record_compiled(case, "numpy")
    case.meant[-1] ^= 16
    with pytest.raises(matrix.Failed, match="byte 17 is"):
        matrix.record_compiled(case, "numpy")
