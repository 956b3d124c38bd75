"""What a model says of its plan: written and read back, and anything else refused in a sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from layoutdsl.propagation.checking.warrant import UnreadableWarrantError, Warrant, read, written

SOUND = Warrant(
    engine="prefer Conv = NHWC",
    rules="00ff",
    shapes={"x": (1, 3, 8, 8)},
    inputs={"x": "NHWC"},
    outputs={},
    choice="first",
    kind="functions",
    chosen=(0, 2, 1),
    cost=1500,
    scale=1,
    rows=6,
    dual={0: 1500, 4: -1500},
)


def test_it_is_read_as_it_was_written() -> None:
    assert read(written(SOUND)) == SOUND
    assert read(written(replace(SOUND, kind="plain", choice="any"))).kind == "plain"
    assert SOUND.numbers == (1500, 0, 0, 0, -1500, 0)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", 2),
        ("rows", -1),
        ("rows", 10**12),
        ("rows", 4),
        ("rows", True),
        ("cost", 1.5),
        ("cost", "1500"),
        ("dual", {"x": 1}),
        ("dual", {"9": 1}),
        ("dual", [1, 2]),
        ("dual", {"1": 0.5}),
        ("chosen", None),
        ("chosen", ["a"]),
        ("shapes", {"x": "1,3"}),
        ("shapes", []),
        ("engine", None),
        ("inputs", {"x": 3}),
        ("choice", "best"),
        ("kind", "../out"),
        ("more", 1),
    ],
)
def test_whatever_else_it_says_is_refused(key: str, value: Any) -> None:
    said = {**json.loads(written(SOUND)), key: value}
    with pytest.raises(UnreadableWarrantError, match="the certificate"):
        read(json.dumps(said))


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '{"version": 1}', "[" * 100_000])
def test_no_text_ends_in_an_error_of_another_kind(text: str) -> None:
    with pytest.raises(UnreadableWarrantError):
        read(text)
