"""The prover decides layouts in usual spellings: drawn ones, and formulas of public code."""

from __future__ import annotations

import json
from itertools import islice, product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from cli_shell import Shell, shell

import layoutdsl
from yardstick.__main__ import contradiction, drawn, formulas
from yardstick.judging import fault_of, shapes, verdict

__all__ = ["shell"]

FORMULAS = formulas()


@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", range(20))
def test_drawn_layouts_are_proved_and_right(seed: int) -> None:
    """Of each ten layouts nine are proved, or more."""
    found = [verdict(text) for text in drawn(f"test {seed}", 10)]
    assert not [words for each in found if (words := contradiction(each))]
    assert sum(each.status == "proved" for each in found) >= 9, found


@pytest.mark.sampled(30)
@pytest.mark.ci(8)
@pytest.mark.parametrize("name", FORMULAS)
def test_no_verdict_about_a_formula_is_wrong(name: str) -> None:
    found = verdict(FORMULAS[name])
    assert found.status in ("proved", "undecided"), found
    assert not contradiction(found)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(12))
def test_certificates_of_drawn_layouts_are_confirmed(seed: int, shell: Shell) -> None:
    """A layout is proved by one of several readings, and its certificate says by which."""
    texts = [text.replace("layout L", f"layout L{n}") for n, text in enumerate(drawn(seed, 12))]
    Path("drawn.layout").write_text("\n".join(texts))
    shell("prove", "drawn.layout", "--write", "--into", "proofs")
    ended = shell("recheck", "drawn.layout", "--dir", "proofs", "--json")
    found = json.loads(ended.out)["certificates"]
    assert [each for each in found if each["problems"]] == []
    assert len(found) > len(texts) * 0.9


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(12))
def test_offsets_at_once_are_those_of_each_element(seed: int) -> None:
    random = Random(seed)
    for text in drawn(f"offsets {seed}", 8):
        layout = layoutdsl.parse(text)["L"]
        for shape in islice(shapes(text, layout, random), 3):
            found = layout.offsets(shape)
            for index in product(*map(range, found.shape)):
                try:
                    offset = layout.offset(index, shape)
                except ValueError:  # the domain does not have this element
                    offset = -1
                assert found[index] == offset, (text, shape)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:numpy serves in place of compiled code")
@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(12))
def test_compiled_code_of_drawn_layouts_moves_as_they_say(seed: int) -> None:
    """C is planned from the digits of a layout, which may be another spelling of it."""
    random, compiled = Random(seed), 0
    for text in drawn(f"compiled {seed}", 4):
        layout = layoutdsl.parse(text)["L"]
        try:
            module = layoutdsl.compile(layout, "native")
        except (layoutdsl.UnvalidatedError, layoutdsl.UnprovedError):
            continue
        compiled += 1
        for shape in islice(shapes(text, layout, random), 6):
            offsets = layout.offsets(shape)
            tensor = np.arange(1, offsets.size + 1).reshape(offsets.shape)
            buffer = np.zeros(layout.size(shape), np.int64)
            buffer[offsets] = tensor
            packed = module.pack(tensor)
            assert np.array_equal(packed.reshape(-1), buffer), (text, shape)
            assert np.array_equal(module.unpack(packed, offsets.shape), tensor), (text, shape)
    assert compiled >= 3


def test_counting_finds_what_is_wrong() -> None:
    for text in (
        "layout L(c, h) = [(c + h)/2, h]",
        "layout L(c, h) = [c*H + h : C*H - 1]",
        "layout L(c) = [c%8]",
    ):
        assert fault_of(text, Random(1)), text


def test_the_same_seed_gives_the_same_texts() -> None:
    assert drawn(5, 3) == drawn(5, 3)
    assert drawn(1, 2) == [
        "layout L(t, n) = [(t/4)*4 + t%4 + (n >> 3)*ceil(T/4)*4 : (N/8)*ceil(T/4)*4, n%8 : 8 + 1]"
        " where N % 8 == 0",
        "layout L(d, c: 8) = [d, ((c & 3), (c >> 2))]",
    ]
