"""``bench``: what it prints, what it refuses, and how it ends; nothing here is about times."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_shell import Shell, shell

__all__ = ["shell"]

QUICK = ("--rounds", "2", "--target", "numpy")
TINY = ("--shape", "1,6,3,4", *QUICK)


def bare(text: str) -> str:
    """Numbers are the machine's."""
    return re.sub(r"\d+\.\d+", "#", re.sub(r" +", " ", text))


def test_a_row_for_each_move_and_the_worst_case_last(shell: Shell) -> None:
    ended = shell("bench", "NCHW4c", *TINY)
    assert (ended.code, ended.err) == (0, "")
    lines = bare(ended.out).splitlines()
    assert lines[0].endswith("; 1 thread")
    assert lines[3].split()[:5] == ["case", "type", "shape", "verb", "us"]
    assert lines[3].split()[5:] == ["numpy", "np.pad"]
    assert lines[4].startswith("NCHW4c float32 1x6x3x4 pack # #")
    assert lines[5].startswith("NCHW4c float32 1x6x3x4 unpack # #")
    assert "packing and unpacking: geometric means over 2 moves" in lines
    assert lines[-3] == "where numpy does worst:"
    assert lines[-1].startswith(" beside np.pad #x NCHW4c float32 1x6x3x4")


@pytest.mark.slow
def test_several_shapes_and_types_and_a_layout_with_its_own(shell: Shell) -> None:
    ended = shell(
        "bench", "NCHW4c", "demo.layout:Crouton", *TINY, "--shape", "N=2,C=3,H=1,W=2", "--json"
    )
    assert (ended.code, ended.out[:1]) == (2, "{")
    ended = shell("bench", "NCHW4c", *TINY, "--shape", "2,3,1,2", "--of", "u8", "--of", "bf16",
                  "--json")  # fmt: skip
    moves = json.loads(ended.out)["moves"]
    assert [(each["type"], each["shape"], each["verb"]) for each in moves] == [
        (kind, shape, verb)
        for shape in ([1, 6, 3, 4], [2, 3, 1, 2])
        for kind in ("uint8", "uint16")
        for verb in ("pack", "unpack")
    ]
    ended = shell("bench", "demo.layout:Crouton", *TINY, "--json")
    assert {each["type"] for each in json.loads(ended.out)["moves"]} == {"uint8"}


SPREAD = {"low", "median", "high"}


def test_json(shell: Shell) -> None:
    ended = shell("bench", "NCHW4c", *TINY, "--json")
    assert (ended.code, ended.err) == (0, "")
    found: dict[str, Any] = json.loads(ended.out)
    assert list(found) == [
        "status", "machine", "threads", "reference", "candidates", "missing", "asked", "moves",
        "standings",
    ]  # fmt: skip
    assert (found["status"], found["threads"], found["reference"]) == ("ok", 1, "numpy")
    assert [each["name"] for each in found["candidates"]] == ["numpy", "np.pad"]
    assert set(found["candidates"][0]) == {"name", "says", "version"}
    assert (found["missing"], found["asked"]) == ([], 2)
    move = found["moves"][0]
    assert set(move) == {
        "case", "seed", "verb", "source", "target", "type", "shape", "bytes", "rounds",
        "reference", "floor", "candidates",
    }  # fmt: skip
    assert (move["seed"], move["source"], move["bytes"], move["rounds"]) == (None, None, 288, 2)
    assert move["target"].startswith("layout NCHW4c(n, c, h, w) = ")
    assert set(move["floor"]) == SPREAD
    for each in move["candidates"]:
        assert (each["status"], each["reason"]) == ("measured", None)
        assert set(each["seconds"]) == set(each["share"]) == set(each["ratio"]) == SPREAD
        assert isinstance(each["noisy"], bool)
        assert each["compiled"] > 0
    assert [each["moves"] for each in found["standings"]] == ["pack and unpack"] * 2
    assert set(found["standings"][1]) == {
        "moves", "name", "measured", "skipped", "wrong", "noisy", "share", "shares", "worst",
        "ratio", "wins", "compared", "least", "compiled",
    }  # fmt: skip
    assert found["standings"][0]["ratio"] is None
    assert found["standings"][1]["compared"] == 2


@pytest.mark.slow
def test_whole_texts(shell: Shell, golden: Callable[[str, str], None]) -> None:
    """The keys, in order, and what was asked for; what is measured is another each time."""
    line = ("bench", "NCHW4c", *TINY, "--of", "u4", "--json")
    moved, turned = shell(*line), shell(*line, "--to", "NHWC")
    shown = [json.dumps(unmeasured(json.loads(each.out)), indent=2) for each in (moved, turned)]
    golden("json/bench.txt", "\n\n".join([*shown, ""]))


def unmeasured(value: Any) -> Any:
    """A result with the kind of each measurement in its place."""
    match value:
        case dict():
            kinds = ("machine", "version", "move", "noisy", "wins")
            return {
                key: type(each).__name__ if key in kinds and each is not None else unmeasured(each)
                for key, each in value.items()
            }
        case list():
            return [unmeasured(each) for each in value]
    return "seconds" if isinstance(value, float) else value


def test_markdown(shell: Shell) -> None:
    ended = shell("bench", "NCHW4c", *TINY, "--markdown")
    assert ended.code == 0
    text = bare(ended.out)
    assert "| numpy | our generated numpy, into out | 2 | # | #..# | # | 1 | |" in text
    assert "| case | type | numpy, share | np.pad, times |\n| --- | --- | ---: | ---: |\n" in text
    assert "| NCHW4c | float32 | # | # |" in text
    tables = [line for line in ended.out.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in tables} == {9, 5}


def test_a_conversion(shell: Shell) -> None:
    ended = shell("bench", "NCHW4c", "--to", "NHWC", *TINY, "--json")
    (move,) = json.loads(ended.out)["moves"]
    assert (ended.code, move["verb"], move["case"]) == (0, "convert", "NCHW4c -> NHWC")
    assert move["source"].startswith("layout NCHW4c")
    assert move["target"].startswith("layout NHWC")


@pytest.mark.slow
def test_axes_of_the_same_names_are_the_same(shell: Shell) -> None:
    ended = shell("bench", "NCHW4c", "--to", "tvm:NHWC", *TINY, "--json")
    (move,) = json.loads(ended.out)["moves"]
    assert (ended.code, move["target"]) == (0, "layout tvm_NHWC(n, c, h, w) = [n, h, w, c]")


def test_parts_of_the_default_set(shell: Shell) -> None:
    ended = shell("bench", "--only", "1x16x8x8", *QUICK, "--json")
    moves = json.loads(ended.out)["moves"]
    assert [(each["case"], each["verb"]) for each in moves] == [
        ("NCHW -> NCHW16c", "pack"),
        ("NCHW -> NCHW16c", "unpack"),
    ]


REFUSED = (
    (("NCHW4c",), "--shape is missing", "give it one number for each of N, C, H, W"),
    (("--shape", "1,2"), "--shape is about a layout, and none is named",
     "the default set has its own; name a layout, or use --only"),
    (("--only", "nowhere"), "there is no such case",
     "a word stands in the name, the type, the shape or the verb: Crouton, u8, 56, pack"),
    (("NCHW4c", *TINY, "--peers", "pandas"),
     "there is no peer `pandas`; known are np.pad, einops, torch, jax, onednn, tvm, numba", None),
    (("NCHW4c", "--shape", "1,2"), "layout `NCHW4c` has extents (N, C, H, W); 2 were given", None),
    (("NCHWc", *TINY), "`NCHWc` has open parameters", "give it values: `NCHWc<8>`"),
    (("NCHW4c", "--to", "demo.layout:Turned", *TINY),
     "`NCHW4c` and `Turned` take tensors of different ranks: they have 4 and 2 axes", None),
    (("demo.layout:Big", *TINY, "--of", "u8"),
     "`Big` is filled with 300, which uint8 is not", None),
)  # fmt: skip


@pytest.mark.parametrize(("arguments", "message", "hint"), REFUSED)
def test_what_is_refused(
    shell: Shell, arguments: tuple[str, ...], message: str, hint: str | None
) -> None:
    with Path("demo.layout").open("a") as file:
        file.write("layout Big(n, c, h, w) = [n, c/4, h, w, c%4] fill 300\n")
        file.write("layout Turned(h, w) = [w, h]\n")
    ended = shell("bench", *arguments)
    helped = f"\n  = help: {hint}" if hint else ""
    assert (ended.code, ended.err) == (2, f"error: {message}{helped}\n")
    assert ended.out == ""


def test_more_than_the_machine_has(shell: Shell) -> None:
    ended = shell("bench", "NCHW4c", *TINY, "--threads", "256")
    assert ended.code == 2
    assert ended.err.startswith("error: --threads is 256, and this process may use ")
    ended = shell("bench", "NCHW4c", "--shape", "1000,1000,1000,1000")
    assert ended.code == 2
    assert "GiB, and this machine has " in ended.err
    assert ended.err.endswith("\n  = help: measure a smaller shape\n")


def test_a_layout_that_is_refuted_is_not_measured(shell: Shell) -> None:
    Path("wrong.layout").write_text("layout Wrong(n, c) = [n, c%4]")
    ended = shell("bench", "wrong.layout", "--shape", "2,9")
    assert ended.code == 1
    assert "refuted: `Wrong`" in ended.out + ended.err
