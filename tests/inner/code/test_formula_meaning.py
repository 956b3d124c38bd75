"""The printed formula, and the inverse, are the meaning: for every index and every slot.

Texts are read back by `read_python`; indices of a shape are evaluated all at once, as numpy arrays
in place of integers, and a few of them one by one through `Layout.offset` and `Layout.decode`.

Proofs read formulas back by `read_python`, so that reader is tested on what no layout contains.
"""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
from collections.abc import Callable, Iterable
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from printing import AXES, any_expression, python
from printing import c as c_text
from texts import (
    EVERY,
    LIBRARY_MODULES,
    edge_shapes,
    every_index,
    names,
    small_extents,
    small_shapes,
)

from layoutdsl import Layout
from layoutdsl.language.digits.inverse import Inverse, invert
from layoutdsl.language.digits.steps import SLOT
from layoutdsl.language.integers.expr import (
    Add,
    BitAnd,
    BitXor,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    Max,
    Min,
    Mod,
    Mul,
    Sub,
)
from layoutdsl.language.integers.read_python import read_python
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Condition
from layoutdsl.language.meaning.offsets import offset_expr, size_expr

NO_INVERSE = {"Overlapping", "LapackPackedUpper", "LapackPackedLower", "LapackBand"}
"""Not read as digits, swizzled or not."""

DOCUMENTS = {f"{family}.layout" for family in ("blocked", "flat", "htp", "mace", "packed", "xla")}
OF_THE_FIELD = {name for each in LIBRARY_MODULES if each.name not in DOCUMENTS for name in each}
"""Cut as those of the documents are: edges in every run, all small shapes in a campaign."""

named = pytest.mark.parametrize("name", EVERY)


def exhaustive(names: Iterable[str]) -> pytest.MarkDecorator:
    """Layouts with few small shapes in every run, those that cut several axes in a campaign."""
    few = [
        name
        for name in names
        if name not in OF_THE_FIELD and prod(map(len, small_extents(EVERY[name]))) <= 5_000
    ]
    many = [name for name in names if name not in few]
    marked = [pytest.param(name, marks=pytest.mark.campaign) for name in many]
    return pytest.mark.parametrize("name", [*few, *marked])


def read_back(layout: Layout, expr: Expr) -> Expr:
    return read_python(python(expr), names(layout))


def check_offsets(layout: Layout, shapes: list[dict[str, int]]) -> None:
    offset, size = read_back(layout, offset_expr(layout)), read_back(layout, size_expr(layout))
    box = [read_back(layout, each.extent) for each in layout.coordinates]
    for values in shapes:
        point = {**values, **every_index(layout, values)}
        meant, printed = layout.offset_at(point), evaluate(offset, point)
        assert np.array_equal(meant, printed), values
        assert layout.size(values) == evaluate(size, values)
        assert layout.box(values) == tuple(evaluate(extent, values) for extent in box)


@pytest.mark.sampled(45)
@named
def test_printed_offset_size_and_box_are_the_meaning(name: str) -> None:
    check_offsets(EVERY[name], edge_shapes(EVERY[name]))


@pytest.mark.sampled(84)
@exhaustive(EVERY)
def test_printed_offset_is_the_meaning_for_every_small_shape(name: str) -> None:
    check_offsets(EVERY[name], small_shapes(EVERY[name]))


def any_element(layout: Layout, values: dict[str, int], shuffled: random.Random) -> dict[str, int]:
    shape = layout.shape_of(values)
    while True:
        index = {a.name: shuffled.randrange(e) for a, e in zip(layout.axes, shape, strict=True)}
        if layout.holds({**values, **index}):
            return index


@pytest.mark.sampled(8)
@named
def test_one_index_at_a_time(name: str) -> None:
    layout = EVERY[name]
    offset = read_back(layout, offset_expr(layout))
    shuffled = random.Random(name)
    for values in shuffled.choices(edge_shapes(layout), k=40):
        index = any_element(layout, values, shuffled)
        assert layout.offset(index, values) == evaluate(offset, {**values, **index})


def check_inverse(layout: Layout, values: dict[str, int]) -> None:
    said = invert(layout)
    assert isinstance(said, Inverse)
    size, shape = layout.size(values), layout.shape_of(values)
    owner = np.full(size, -1)
    offsets = layout.offset_at({**values, **every_index(layout, values)})
    owner[np.broadcast_to(offsets, prod(shape))] = np.arange(prod(shape))

    start = evaluate(layout.start, values)
    point = {**values, SLOT: np.arange(start, size)}
    for step, expr in said.steps:
        point[step] = evaluate(expr, point)
    index = [evaluate(expr, point) for _, expr in said.index]
    element = np.ones(size - start, dtype=bool)
    for guard in said.guards:
        element &= holds(guard, point)
    padded = [evaluate(extent, values) for _, extent in said.padded]
    for number, extent, reach in zip(index, shape, padded, strict=True):
        assert reach >= extent
        element &= (number >= 0) & (number < extent)
    flat = np.zeros(size - start, dtype=np.int64)
    for number, extent in zip(index, shape, strict=True):
        flat = flat * extent + number
    assert np.array_equal(owner[start:], np.where(element, flat, -1)), values


def holds(guard: Condition, point: dict[str, object]) -> object:
    left, right = evaluate(guard.left, point), evaluate(guard.right, point)
    return {"<": left < right, "==": left == right, ">=": left >= right}[guard.operator]


INVERTED = [name for name in EVERY if isinstance(invert(EVERY[name]), Inverse)]


def test_which_layouts_have_no_closed_inverse() -> None:
    assert set(EVERY) - set(INVERTED) == NO_INVERSE


@pytest.mark.sampled(28)
@pytest.mark.parametrize("name", INVERTED)
def test_inverse_steps_read_every_slot(name: str) -> None:
    for values in edge_shapes(EVERY[name], most=50_000):
        check_inverse(EVERY[name], values)


@pytest.mark.sampled(84)
@exhaustive(INVERTED)
def test_inverse_steps_read_every_slot_of_every_small_shape(name: str) -> None:
    for values in small_shapes(EVERY[name]):
        check_inverse(EVERY[name], values)


# The printers, on expressions that no layout would contain.

POINT = st.fixed_dictionaries(
    {
        "c": st.integers(0, 50),
        "h": st.integers(0, 50),
        "C": st.integers(1, 50),
        "H": st.integers(1, 50),
    }
)
leaves = st.sampled_from(list(AXES.values())) | st.integers(-9, 40).map(Constant)
divisors = st.sampled_from([AXES["C"], AXES["H"], Constant(3), Constant(8), Mul(*[AXES["C"]] * 2)])


def compounds(parts: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    plain = st.sampled_from([Add, Sub, Mul, BitAnd, BitXor, Min, Max])
    divided = st.sampled_from([FloorDiv, CeilDiv, Mod])
    return st.builds(lambda kind, a, b: kind(a, b), plain, parts, parts) | st.builds(
        lambda kind, a, b: kind(a, b), divided, parts, divisors
    )


expressions = st.recursive(leaves, compounds, max_leaves=12)


@pytest.mark.slow
@given(expressions, POINT)
def test_python_text_of_any_expression_says_the_same(expr: Expr, point: dict[str, int]) -> None:
    assert evaluate(expr, point) == evaluate(read_python(python(expr), AXES), point)


# C, compiled.

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
NEGATIVE = [
    FloorDiv(Sub(AXES["c"], Constant(7)), Constant(3)),
    Mod(Sub(AXES["c"], Constant(7)), Constant(3)),
    CeilDiv(Sub(AXES["c"], Constant(7)), Constant(3)),
    FloorDiv(Sub(AXES["c"], AXES["h"]), AXES["C"]),
    Mod(Sub(AXES["c"], AXES["h"]), AXES["C"]),
    CeilDiv(Sub(AXES["c"], AXES["h"]), AXES["C"]),
    Sub(Constant(1), FloorDiv(Sub(AXES["h"], Constant(20)), Constant(8))),
    Mul(Constant(2), Mod(Sub(AXES["h"], Constant(20)), Constant(8))),
    Add(Min(AXES["c"], AXES["h"]), Max(Sub(AXES["c"], AXES["h"]), Constant(-3))),
    BitXor(BitAnd(AXES["c"], Constant(12)), Add(AXES["h"], Constant(1))),
    Sub(AXES["c"], Sub(AXES["h"], AXES["C"])),
    FloorDiv(FloorDiv(Sub(AXES["c"], Constant(30)), Constant(4)), Constant(3)),
    CeilDiv(FloorDiv(AXES["c"], Constant(4)), Constant(3)),
    Mul(Mul(Constant(65536), Constant(65536)), AXES["c"]),
    Mod(Add(Add(Constant(2**31 - 1), Constant(2**31 - 1)), AXES["c"]), AXES["C"]),
]


DRAWN = [*NEGATIVE, *(any_expression(random.Random(seed), 4) for seed in range(600))]


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_c_text_compiled_says_the_same(tmp_path: Path) -> None:
    cases = [(offset_expr(each), each, names(each)) for each in EVERY.values()]
    texts = [c_text(said, placed(list(known))) for said, _, known in cases]
    texts += [c_text(expr, placed(list(AXES))) for expr in DRAWN]
    compiled = compile_c(texts, tmp_path)

    shuffled = random.Random(0)
    for number, (_, layout, known) in enumerate(cases):
        for values in shuffled.choices(edge_shapes(layout), k=20):
            shape = layout.shape_of(values)
            index = {a.name: shuffled.randrange(e) for a, e in zip(layout.axes, shape, strict=True)}
            point = {**values, **index}
            assert layout.offset_at(point) == call(compiled, number, [point[n] for n in known])
    for number, expr in enumerate(DRAWN, start=len(cases)):
        for _ in range(50):
            numbers = [shuffled.randrange(50) for _ in "ch"] + [
                shuffled.randint(1, 9) for _ in "CH"
            ]
            point = dict(zip(AXES, numbers, strict=True))
            assert evaluate(expr, point) == call(compiled, number, numbers), (expr, point)


def placed(known: list[str]) -> Callable[[str], str]:
    return {name: f"v[{number}]" for number, name in enumerate(known)}.__getitem__


def compile_c(texts: list[str], folder: Path) -> ctypes.CDLL:
    lines = [
        f"long long f{number}(const long long *v) {{ return {text}; }}"
        for number, text in enumerate(texts)
    ]
    source, library = folder / "formulas.c", folder / "formulas.so"
    source.write_text("\n".join(lines), encoding="utf-8")
    assert COMPILER is not None
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, source], check=True)
    return ctypes.CDLL(str(library))


def call(compiled: ctypes.CDLL, number: int, numbers: list[int]) -> int:
    function = compiled[f"f{number}"]
    function.restype = ctypes.c_longlong
    return int(function((ctypes.c_longlong * max(1, len(numbers)))(*numbers)))


# What is printed of single operations, and what the reader refuses.

C, H, c, h = Extent("C"), Extent("H"), Index("c"), Index("h")

TEXTS = [
    # expression, Python, C
    (FloorDiv(c, Add(C, Constant(1))), "c//(C + 1)", "c/(C + 1)"),
    (FloorDiv(FloorDiv(c, C), H), "c//C//H", "c/C/H"),
    (FloorDiv(c, FloorDiv(C, H)), "c//(C//H)", "c/(C/H)"),
    (Mul(FloorDiv(c, C), H), "c//C*H", "c/C*H"),
    (Mul(H, FloorDiv(c, C)), "H*(c//C)", "H*(c/C)"),
    (Mul(Add(c, h), C), "(c + h)*C", "(c + h)*C"),
    (Mod(Mul(c, C), H), "c*C%H", "c*C%H"),
    (Mod(c, Mul(C, H)), "c%(C*H)", "c%(C*H)"),
    (Sub(c, Sub(h, C)), "c - (h - C)", "c - (h - C)"),
    (Sub(c, Add(h, C)), "c - (h + C)", "c - (h + C)"),
    (CeilDiv(C, Constant(16)), "-(-C//16)", "((C - 1)/16 + 1)"),
    (Mul(CeilDiv(C, Constant(16)), Constant(16)), "(-(-C//16))*16", "((C - 1)/16 + 1)*16"),
]


@pytest.mark.parametrize(("expr", "in_python", "in_c"), TEXTS)
def test_parentheses(expr: Expr, in_python: str, in_c: str) -> None:
    assert python(expr) == in_python
    assert c_text(expr) == in_c


def test_names_are_renamed_everywhere() -> None:
    said = Add(FloorDiv(c, C), Mod(h, C))
    assert python(said, lambda name: f"_{name}") == "_c//_C + _h%_C"


REFUSED = [
    "",
    "c +",
    "c; h",
    "c = 1",
    "x",
    "__import__('os')",
    "c.real",
    "c[0]",
    "c ** 2",
    "c / 2",
    "c << 2",
    "1.5",
    "True",
    "'c'",
    "c if C else h",
    "lambda: c",
    "[c]",
    "c == h",
    "c and h",
    "not c",
    "~c",
    "max(c)",
    "max(c, h, C)",
    "max(c, key=h)",
    "abs(c)",
    "(c := 1)",
    "f'{c}'",
]


@pytest.mark.parametrize("text", REFUSED)
def test_reader_takes_integer_arithmetic_only(text: str) -> None:
    with pytest.raises(ValueError, match="not a formula"):
        read_python(text, {"c": c, "h": h, "C": C})
