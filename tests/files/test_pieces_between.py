"""Words, bits and real numbers in pieces: what comes of it is what packing at once gives.

Layouts, types, scales and memory are drawn; so is the moment at which a run is interrupted.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from cli_shell import Shell, shell
from texts import layout

from layoutdsl import Layout, TooLittleError, UnreadableError, pack_file, unpack_file
from layoutdsl import compile as compiled

__all__ = ["shell"]


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


WHOLE = ("[bit, n", "offset 3", ": N broadcast", ": K broadcast")
"""What is in texts of layouts that are one piece: the bit is outermost, or no whole byte begins a
piece, or there are as many copies as an axis is long, so that a part of it has others."""

# A text, what it is stored in, and the most that each extent is.
WORDS = [
    ("layout A(n, k) = [n, k/8, k%8] of u4", ("u32", "i32", "bytes"), (40, 60)),
    ("layout A(n, k) = [k/8, n, k%8] of u4 fill 9", ("u32", "bytes"), (9, 90)),
    ("layout A(n, k) = [n/4, k/8, n%4, k%8] of u2 fill 1", ("u16", "u64", "u8"), (40, 60)),
    ("layout A(n, k) = [n, k/8, k%8] of u3", ("bytes",), (50, 40)),
    ("layout A(n, k) = [n, k/4, k%4] of i6 fill -3", ("bytes",), (50, 40)),
    ("layout A(n, k) = [n/2, k, n%2] of u4 fill 5", ("bytes",), (60, 17)),
    ("layout A(n) = [n] of u4 where N%2 == 0", ("bytes",), (200,)),
    ("layout A(n) = [n/2, n%2] of u1 where N%32 == 0", ("bytes",), (20,)),
    ("layout A(n, k) = [n, k] of u4 where K%2 == 0", ("bytes",), (30, 11)),
    ("layout A(n, k) = [n, k/8, k%8] of u4 offset 6 fill 2", ("bytes",), (30, 30)),
    ("layout A(n, k) = [n, k] of u4 offset 3", ("bytes",), (30, 30)),
    ("layout A(n, k) = [n, k/32, k%32] of u16 fill 7", ("bytes", "u64"), (20, 70)),
    ("layout A(n, k) = [n, bit, k/8, k%8] of u4", ("items", "bytes", "u8"), (30, 40)),
    ("layout A(n, k) = [n, k/8, bit, k%8] of i6", ("items", "bytes"), (30, 40)),
    ("layout A(n, k) = [bit, n, k/8, k%8] of u2", ("bytes",), (12, 20)),
    ("layout A(n, k) = [n/4, k, bit, n%4] of u16", ("items", "bytes"), (20, 10)),
    ("layout A(n, k, c: 2 broadcast) = [n, c, k/8, k%8] of u4", ("u16", "bytes"), (40, 60)),
    ("layout A(n, k, c: 3 broadcast) = [n, bit, c, k/8, k%8] of u4", ("items", "bytes"), (30, 40)),
    ("layout A(n, c: 2 broadcast, k) = [n/4, k, c, bit, n%4] of i6", ("items", "bytes"), (30, 20)),
    ("layout A(n, k, c: N broadcast) = [n/4, c, bit, k, n%4] of u16", ("bytes",), (20, 9)),
]
NUMBERS = [
    ("layout A(n, k) = [n/4, k/8, n%4, k%8] of u8 as scale_offset", "items", (40, 50)),
    ("layout A(n, k) = [n, k/8, k%8] of i8 as scale_offset per n fill 5", "items", (40, 50)),
    ("layout A(n, k) = [n, k/8, k%8] of u8 as scale_offset per k fill 5", "items", (40, 50)),
    ("layout A(n, k) = [k/8, n, k%8] of u4 as scale_offset", "u32", (12, 70)),
    ("layout A(n, k) = [k/8, n, k%8] of u4 as scale_offset per k fill 3", "bytes", (12, 70)),
    ("layout A(n, k, c: 2 broadcast) = [n/4, c, k, n%4] of u8 as scale_offset", "items", (40, 30)),
    (
        "layout A(c: 3 broadcast, n, k) = [n, c, k/8, k%8] of i8 as scale_offset per k fill 5",
        "items",
        (40, 50),
    ),
    (
        "layout A(n, c: K broadcast, k) = [k/4, n, c, k%4] of u8 as scale_offset per n fill 1",
        "items",
        (12, 30),
    ),
    ("layout A(n, k, c: 2 broadcast) = [k/8, n, c, k%8] of u4 as scale_offset", "u32", (12, 70)),
]


def extents(found: Layout, draw: Random, most: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that the layout has, of whole words."""
    for _ in range(300):
        shape = tuple(draw.randint(1, each) for each in most)
        if "where" in str(found.where) or found.where:
            shape = tuple(each * draw.choice((1, 2, 8, 32)) for each in shape)
        try:
            found.bind(shape if found.bit_of is None else (*shape, found.bit_of.bits))
        except ValueError:
            continue
        return shape
    raise AssertionError("no shape was found")


def elements(found: Layout, draw: Random, shape: tuple[int, ...]) -> np.ndarray:
    element = found.tensor_element
    assert element is not None
    assert element.values is not None
    low, high = element.values
    kind, width = element.item
    values = np.random.default_rng(draw.randrange(2**32)).integers(low, high + 1, shape)
    return values.astype(f"{kind}{width}")


def least(run: Callable[[int], Any]) -> int:
    """The memory that is just enough; ends with a run."""
    mem = 1
    while True:
        try:
            run(mem)
        except TooLittleError as few:
            mem = few.needed
        else:
            return mem


def in_pieces(run: Callable[[int], Any], draw: Random) -> int:
    """Run in little memory; return in how many pieces."""
    mem = least(run)
    Path("out.npy").unlink(missing_ok=True)
    return int(run(mem * draw.choice((1, 1, 2))).pieces)


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", range(len(WORDS)))
def test_words_in_pieces_are_the_words_of_the_whole(case: int) -> None:
    text, storages, most = WORDS[case]
    found, several = layout(text), 0
    for seed in range(4):
        draw = Random(f"{case} {seed}")
        storage: Any = draw.choice(storages)
        module = compiled(found, "numpy", storage=storage)
        tensor, want = filled(found, draw, most, module)
        np.save("in.npy", tensor if draw.random() < 0.7 else np.asfortranarray(tensor))
        how: dict[str, Any] = {"target": "numpy", "storage": storage, "jobs": draw.choice((1, 2))}
        several += (
            in_pieces(
                lambda mem, how=how: pack_file(found, "in.npy", "out.npy", mem=mem, **how), draw
            )
            > 1
        )
        made = np.load("out.npy")
        assert (made.dtype, made.shape) == (want.dtype, want.shape)
        assert made.tobytes() == want.tobytes()
        np.save("packed.npy", want)
        shape = tensor.shape
        in_pieces(
            lambda mem, how=how, shape=shape: unpack_file(
                found, "packed.npy", "out.npy", shape, mem=mem, **how
            ),
            draw,
        )
        back = np.load("out.npy")
        assert (back.dtype, back.tobytes()) == (tensor.dtype, tensor.tobytes())
    assert several or any(each in text for each in WHOLE), "it was never cut"


def filled(
    found: Layout, draw: Random, most: tuple[int, ...], module: Any
) -> tuple[np.ndarray, np.ndarray]:
    """A tensor that fills whole words, and what packing at once makes of it."""
    for _ in range(100):
        tensor = elements(found, draw, extents(found, draw, most))
        try:
            return tensor, module.pack(tensor)
        except ValueError:
            continue
    raise AssertionError("no shape fills whole words")


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", range(len(NUMBERS)))
def test_numbers_in_pieces_are_those_of_the_whole(case: int) -> None:
    text, storage, most = NUMBERS[case]
    found, several = layout(text), 0
    for seed in range(4):
        draw = Random(f"{case} {seed}")
        module: Any = compiled(found, "numpy", storage=storage)  # type: ignore[call-overload]
        random = np.random.default_rng(draw.randrange(2**32))
        for _ in range(100):
            shape = extents(found, draw, most)
            tensor = random.normal(0, 3, shape).astype(draw.choice(("f2", "f4", "f8")))
            given = scales(found, draw, shape)
            try:
                want = module.pack(tensor, **given)
            except ValueError:
                continue
            break
        np.save("in.npy", tensor)
        how: dict[str, Any] = {"target": "numpy", "storage": storage, **given}
        several += (
            in_pieces(
                lambda mem, how=how: pack_file(found, "in.npy", "out.npy", mem=mem, **how), draw
            )
            > 1
        )
        made = np.load("out.npy")
        assert (made.dtype, made.shape) == (want.dtype, want.shape)
        assert made.tobytes() == want.tobytes()
        np.save("packed.npy", want)
        numbers = module.unpack(want, shape, dtype="f4", **given)
        in_pieces(
            lambda mem, how=how, shape=shape: unpack_file(
                found, "packed.npy", "out.npy", shape, mem=mem, **how
            ),
            draw,
        )
        assert np.load("out.npy").tobytes() == numbers.tobytes()
    assert several or any(each in text for each in WHOLE), "it was never cut"


def scales(found: Layout, draw: Random, shape: tuple[int, ...]) -> dict[str, Any]:
    """Scales and zero points: one of each, or those of the axis."""
    assert found.interface is not None
    per, element = found.interface.per, found.tensor_element
    assert element is not None
    assert element.values is not None
    low, high = element.values
    if per is None or draw.random() < 0.2:
        return {"scale": draw.uniform(0.01, 0.3), "zero_point": draw.randint(low, high)}
    count = shape[[axis.name for axis in found.tensor_axes].index(per)]
    random = np.random.default_rng(draw.randrange(2**32))
    zeros = random.integers(low, high + 1, count)
    return {"scale": random.uniform(0.01, 0.3, count), "zero_point": zeros}


@pytest.mark.slow
def test_an_interrupted_run_goes_on() -> None:
    found = layout(WORDS[0][0])
    tensor = elements(found, Random(1), (40, 64))
    np.save("in.npy", tensor)
    looks = [0]

    def look(_: np.ndarray) -> None:
        looks[0] += 1
        if looks[0] == 12:
            raise KeyboardInterrupt

    mem = least(lambda mem: pack_file(found, "in.npy", "o", mem=mem, storage="u32", target="numpy"))
    how: dict[str, Any] = {"mem": mem, "storage": "u32", "target": "numpy"}
    with pytest.raises(KeyboardInterrupt):
        pack_file(found, "in.npy", "out.npy", look=look, **how)
    done = pack_file(found, "in.npy", "out.npy", **how)
    assert (done.pieces, done.found) == (320, 11)
    want = compiled(found, "numpy", storage="u32").pack(tensor)
    assert np.array_equal(np.load("out.npy"), want)


@pytest.mark.slow
def test_a_number_that_has_no_code_is_named_in_the_tensor() -> None:
    found = layout(NUMBERS[0][0])
    tensor = np.zeros((40, 50), "f4")
    tensor[33, 7] = np.nan
    np.save("in.npy", tensor)
    with pytest.raises(UnreadableError, match=r"holds NaN at \(33, 7\)"):
        pack_file(found, "in.npy", "out.npy", mem=4096, scale=0.1, zero_point=3, target="numpy")
    assert not list(Path().glob("out*"))


WHOLE = """
import resource, sys
import numpy as np
from layoutdsl.commands import pack_file, unpack_file, parse
from layoutdsl.commands import compile as compiled
text, storage, shape, given, mem = {given}
layout = parse(text)["A"]
tensor = np.load("small.npy")
how = dict(storage=storage, target="numpy", **given)
small = tensor.shape
pack_file(layout, "small.npy", "out.npy", **how)  # what is needed once
unpack_file(layout, "out.npy", "back.npy", small, **how)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
pack_file(layout, "in.npy", "out.npy", mem=mem, **how)
unpack_file(layout, "out.npy", "back.npy", shape, mem=mem, **how)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "storage", "given"),
    [
        ("layout A(n, k) = [n/8, k/8, n%8, k%8] of u4", "u32", {}),
        ("layout A(n, k) = [n, k/8, k%8] of u3", "bytes", {}),
        ("layout A(n, k) = [n, bit, k/8, k%8] of u4", "bytes", {}),
        (NUMBERS[0][0], "items", {"scale": 0.1, "zero_point": 3}),
        (NUMBERS[3][0], "u32", {"scale": 0.1, "zero_point": 3}),
    ],
)
def test_memory_stays_below_what_was_given(text: str, storage: str, given: dict[str, Any]) -> None:
    found, mem = layout(text), 8 << 20
    small, shape = (8, 64), (4096, 4096)
    for name, extents_ in (("small.npy", small), ("in.npy", shape)):
        drawn = elements(found, Random(1), extents_)
        np.save(name, drawn.astype("f4") / 10 if given else drawn)
    asked = (text, storage, shape, given, mem)
    line = [sys.executable, "-W", "ignore", "-c", WHOLE.format(given=repr(asked))]
    ended = subprocess.run(line, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) < mem + (4 << 20), "besides pieces a proof and maps take some"
    assert prod(shape) > 1.5 * mem


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("text", "options", "back"),
    [
        (WORDS[0][0], ["--word", "u32"], []),
        (WORDS[12][0], ["--bytes"], []),
        (WORDS[12][0], [], []),
        (NUMBERS[0][0], ["--scale", "0.1", "--zero-point", "3"], ["--to", "f16"]),
        (NUMBERS[3][0], ["--scale", "s.npy", "--zero-point", "7", "--word", "u32"], []),
    ],
)
def test_the_shell_makes_the_same_in_pieces(
    shell: Shell, text: str, options: list[str], back: list[str]
) -> None:
    tensor = elements(layout(text), Random(1), (40, 48))
    scaled = "--scale" in options
    np.save("in.npy", tensor / np.float32(10) if scaled else tensor)
    np.save("s.npy", np.array(0.25))
    Path("a.layout").write_text(text)
    for end, more in (("whole", []), ("cut", ["--mem", "4K"])):
        assert shell("pack", "a.layout", "in.npy", f"{end}.npy", *options, *more).code == 0
        line = ["unpack", "a.layout", f"{end}.npy", f"b{end}.npy", "--shape", "40,48"]
        assert shell(*line, *options, *back, *more).code == 0
    assert Path("whole.npy").read_bytes() == Path("cut.npy").read_bytes()
    assert Path("bwhole.npy").read_bytes() == Path("bcut.npy").read_bytes()
