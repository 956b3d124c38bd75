"""`infer`: the layout of a function that nobody told us, found by calling it.

Layouts are drawn, and the `pack` of their generated modules is the function. What is found has to
be the drawn layout, by a proof, wherever it says that it is one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from cli_shell import Shell, shell
from random_declarations import right
from texts import LIBRARY, module
from texts import layout as parsed

import layoutdsl
from layoutdsl import Equal, EqualWhere, Inferred, Layout, diff, infer

__all__ = ["shell"]

Array = Any
TYPES = {"f16": "f2", "bf16": "u2", "f32": "f4", "i8": "i1", "i4": "i1", "i2": "i1", "i32": "i4"}
EXTENTS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 64, 256)


def a_shape(layout: Layout, random: Random) -> dict[str, int] | None:
    for _ in range(300):
        values = {name: random.choice(EXTENTS) for name in layout.symbols}
        if all(each.holds(values) for each in layout.where):
            shape = layout.shape_of(values)
            return {a.name.upper(): e for a, e in zip(layout.axes, shape, strict=True)}
    return None


def packing(made: Any) -> Callable[[Array], Array]:
    """A function of one argument: `pack` has others, which are not for us."""
    return lambda x: made.pack(x)  # noqa: PLW0108


def found_of(layout: Layout, random: Random) -> Inferred | None:
    shape = a_shape(layout, random)
    if shape is None:
        return None
    # some drawn layouts have no proof of their code; what it does is what is looked for here
    made = layoutdsl.compile(layout, target="numpy", validate=False)
    name = layout.element.name if layout.element is not None else "u8"
    widest = 8 if layout.element is None else layout.element.bits - (name[0] == "i")
    return infer(packing(made), shape, dtype=TYPES.get(name, "u1"), bits=min(4, widest))


def outcome(layout: Layout, random: Random) -> str:
    """What came of a layout; one that was found is the drawn one, or the test fails."""
    found = found_of(layout, random)
    if found is None:
        return "no shape"
    assert not found.lost, (layout, found.reason)
    if found.layout is None:
        return "undecided"
    if found.doubts:
        return "doubtful"
    compared = diff(layout, found.layout)
    same = isinstance(compared, Equal) or (isinstance(compared, EqualWhere) and compared.same)
    assert same, (layout, found.text, compared)
    return "found"


def drawn(count: int, seed: int) -> Counter[str]:
    random, outcomes = Random(seed), Counter[str]()
    for _ in range(count):
        outcomes[outcome(parsed(right(random, block=False)), random)] += 1
    return outcomes


SWIZZLED = [
    "[a, b/4 ^ a%4, b%4]",
    "[a/8, b/16, a%8, b%16/4 ^ a%8/2, b%4]",
    "[b/64, a, b%64/8 ^ a%8, b%8] where A % 8 == 0, B % 64 == 0",
    "[b/32, a, b%32/8 ^ a%8/2, b%8] fill 3",
]
ONES = [
    ("layout L(n, c, h, w) = [n, c/16, h, w, c%16]", (1, 20, 3, 4)),
    ("layout L(h, w) = [h, w : roundup(W, 128)]", (3, 5)),
    ("layout L(c, h, w) = [c, (h, w) : roundup(H*W, 64)] fill any", (3, 5, 6)),
    ("layout L(h, w) = [h, w : W + 1] offset 3", (3, 5)),
    ("layout L(a: 16, b: 8) = [(a%8, b/2), (a/8, b%2)]", (16, 8)),
    ("layout L(r, k) = [r, k/32, 2 + k%16 : 18, k%32/16] where K % 32 == 0", (3, 64)),
    ("layout L(a) = [a/4, a%4] where A in 3..21", (7,)),
    ("layout L(a, b) = [b, a] where A != 6", (5, 3)),
    *((f"layout L(a, b) = {body}", (16, 64)) for body in SWIZZLED),
]


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("text", "shape"), ONES)
def test_layouts_of_the_field(text: str, shape: tuple[int, ...]) -> None:
    layout = parsed(text)
    made = layoutdsl.compile(layout, target="numpy")
    names = (axis.name.upper() for axis in layout.axes)
    found = infer(packing(made), dict(zip(names, shape, strict=True)))
    assert found.layout is not None, found.reason
    assert not found.doubts
    assert isinstance(diff(layout, found.layout), Equal)
    assert found.layout.where == layout.where or "in" in text or "!=" in text


@pytest.mark.slow
@pytest.mark.parametrize("count", [8, pytest.param(24, marks=pytest.mark.slow)])
def test_drawn_layouts_are_found(count: int) -> None:
    outcomes = drawn(count, 1)
    assert outcomes["found"] >= count * 7 // 8, outcomes


@pytest.mark.campaign
def test_hundreds_of_drawn_layouts_are_found() -> None:
    outcomes = drawn(600, 2)
    print(f"infer: {dict(outcomes)}")
    assert outcomes["found"] >= 540, outcomes


@pytest.mark.campaign
def test_layouts_of_the_library_are_found() -> None:
    random, outcomes = Random(3), Counter[str]()
    for layout in LIBRARY.values():
        real = layout.of_codes != layout or "fill zero_point" in layout.clauses
        if not (layout.copies or layout.parameters or layout.domain or real):
            outcomes[outcome(layout, random)] += 1
    print(f"infer, library: {dict(outcomes)}")
    assert outcomes["found"] >= 60, outcomes


def blocks(x: Array) -> Array:
    n, c, h, w = x.shape
    return x[:, : c // 16 * 16].reshape(n, c // 16, 16, h, w).transpose(0, 1, 3, 4, 2)


def edges(x: Array) -> Array:
    return blocks(np.pad(x, ((0, 0), (0, -x.shape[1] % 16), (0, 0), (0, 0)), mode="edge"))


def test_what_it_does_only_for_some_shapes_is_said() -> None:
    for function in (blocks, edges):
        found = infer(function, {"N": 1, "C": 32, "H": 3, "W": 4})
        assert found.text is not None
        assert found.text.endswith("(n, c, h, w) = [n, c/16, h, w, c%16] where C % 16 == 0")
        assert [name for name, _ in found.refused] == ["c"]


def skewed(x: Array) -> Array:
    return np.stack([np.roll(row, number) for number, row in enumerate(x)])


def late(x: Array) -> Array:
    """As rows, but for long ones."""
    return x.T if x.shape[1] > 300 else x


def twice(x: Array) -> Array:
    return np.concatenate([x, x])


def summed(x: Array) -> Array:
    return x.cumsum(axis=0, dtype=x.dtype)


_CALLS = [0]


def moody(x: Array) -> Array:
    _CALLS[0] += 1
    return np.roll(x, _CALLS[0])


def spoiled(x: Array) -> Array:
    x[0] = 0
    return x


def growing(x: Array) -> Array:
    return np.concatenate([x.ravel(), np.zeros(int(x.flat[-1]), x.dtype)])


@pytest.mark.parametrize(
    ("function", "lost", "words"),
    [
        (skewed, False, "goes to offset"),
        (late, False, "at shape"),
        (twice, True, "at shape A=6 B=8 element (a=0, b=0) goes to offset 0, and to 48 too"),
        (summed, True, "at shape A=6 B=8 element (a=1, b=0) goes nowhere"),
        (moody, True, "at shape A=6 B=8 it returns something else at each call with the same"),
        (spoiled, True, "at shape A=6 B=8 it changes the array that it is given"),
        (growing, True, "at shape A=6 B=8 it returns 63 elements at one call, 48 at another"),
        (len, True, "at shape A=6 B=8 element (a=0, b=0) goes nowhere"),
        (repr, True, "at shape A=6 B=8 it returns str of <U"),
    ],
)
def test_what_is_no_layout(function: Callable[..., Array], lost: bool, words: str) -> None:
    found = infer(function, (6, 8))
    assert found.layout is None
    assert found.lost == lost
    assert words in (found.reason or "")


def test_garbage_in_padding_is_any() -> None:
    def packed(x: Array) -> Array:
        _CALLS[0] += 1
        found = np.full((x.shape[0], -(-x.shape[1] // 8) * 8), _CALLS[0] % 251, x.dtype)
        found[:, : x.shape[1]] = x
        return found

    found = infer(packed, (3, 5), dtype="i4")
    assert found.text == "layout packed(a, b) = [a, b : roundup(B, 8)] fill any"
    assert not found.steady


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((), "a shape of 1 to 8 axes is needed, not of 0"),
        ((0, 2), "extent `A` is 0, and has to be at least 1"),
        ({"bit": 2}, "`bit` cannot be the name of one axis"),
        ({"N": 2, "n": 3}, "`n` cannot be the name of one axis"),
        ({"a b": 2}, "`a b` cannot be the name of one axis"),
    ],
)
def test_shapes_that_are_none(shape: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        infer(lambda x: x, shape)


MINE = """\
import numpy as np

def pack(x):
    n, c, h, w = x.shape
    wide = np.zeros((n, -(-c // 16) * 16, h, w), x.dtype)
    wide[:, :c] = x
    return wide.reshape(n, -1, 16, h, w).transpose(0, 1, 3, 4, 2)

def rolled(x):
    return np.stack([np.roll(row, number) for number, row in enumerate(x)])

def unlucky(x):
    raise KeyError("luck")

def ending(x):
    raise SystemExit(3)

def few(x):
    if x.shape[0] + x.shape[1] == 41:
        raise ValueError("not on\\na Monday")
    return x
"""


@pytest.fixture
def mine(shell: Shell) -> Shell:
    Path("mine.py").write_text(MINE)
    return shell


def test_the_shell_prints_a_text_that_can_be_kept(mine: Shell) -> None:
    ended = mine("probe", "mine.py:pack", "--shape", "N=1,C=20,H=3,W=4")
    assert (ended.code, ended.err) == (0, "")
    *remarks, text = ended.out.splitlines()
    assert text == "layout pack(n, c, h, w) = [n, c/16, h, w, c%16] fill 0"
    assert all(each.startswith("# ") for each in remarks)
    assert "24 of them drawn" in remarks[0]
    assert remarks[1].startswith("# tried: N 1..")
    assert remarks[2] == "# padding held 0"
    assert list(module(ended.out)) == ["pack"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("rolled", "--shape", "4,8"), 3, "undecided  `mine.py:rolled` is no layout that was"),
        (("unlucky", "--shape", "4,8"), 1, "at shape A=4 B=8 it raises KeyError: 'luck' ("),
        (("ending", "--shape", "4,8"), 1, "at shape A=4 B=8 it raises SystemExit: 3 ("),
        (("ending", "--shape", "1,20,3,4", "--against", "NCHW16c"), 1, "raises SystemExit: 3 ("),
        (("pack", "--shape", "4,8"), 1, "none  `mine.py:pack` is no layout  (1 call)"),
    ],
)
def test_the_shell_says_why_not(
    mine: Shell, arguments: tuple[str, ...], code: int, words: str
) -> None:
    ended = mine("probe", f"mine.py:{arguments[0]}", *arguments[1:])
    assert (ended.code, ended.err) == (code, "")
    assert words in ended.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("probe", "mine.py:pack"), "--shape is missing"),
        (("probe", "mine.py:pack", "--shape", "0,1"), "extent `A` is 0, and has to be at least 1"),
        (("probe", "mine.py:pack", "--shape", "N=1,bit=2"), "`bit` cannot be the name of one axis"),
        (("probe", "mine.py:pack", "--shape", "4", "--unpack"), "without --against a function that "
         "packs is needed: how large a buffer is, only that says"),
        (("identify", "mine.py:pack"), "--shape is missing"),
        (("identify", "mine.py:gone", "--shape", "4"), "`mine.py` has no `gone`"),
        (("probe", "mine.py:pack", "--shape", "4", "--dtype", "U1"), "`U1` is no type of integers "
         "or floats"),
    ],
)  # fmt: skip
def test_misuse(mine: Shell, arguments: tuple[str, ...], message: str) -> None:
    ended = mine(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert f"error: {message}" in ended.err.splitlines()


@pytest.mark.slow
def test_identify_takes_a_function(mine: Shell) -> None:
    ended = mine("identify", "mine.py:pack", "--shape", "N=1,C=20,H=3,W=4")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0] == "`mine.py:pack` is"
    assert any(re.match(r"  equal +`NCHW16c` +for all shapes$", line) for line in lines)
    assert "layout pack(n, c, h, w) = [n, c/16, h, w, c%16] fill 0" in lines
    assert "onednn    nChw16c" in lines
    assert mine("identify", "mine.py:rolled", "--shape", "4,8").code == 3


def test_a_remark_is_one_line(mine: Shell) -> None:
    ended = mine("probe", "mine.py:few", "--shape", "3,4")
    assert list(module(ended.out)) == ["few"]
