"""The shape of the packed array where a layout has an `offset` clause, in all that states it.

`Layout.physical_shape` is compared with printed formulas, which are executed, and with modules.
"""

from __future__ import annotations

import sys
from math import prod
from random import Random
from types import ModuleType

import numpy as np
import pytest
from cli_shell import Shell, shell
from functions_built import COMPILERS, Called, built, text
from mlir_reader import functions, maps
from native_cases import needs_compiler
from test_functions_triton import Tensor, loaded, numbers, stand_in

import layoutdsl
from layoutdsl import Layout

OFFSETS = (
    "",
    "offset 0",
    "offset 3",
    "offset A%4",
    "offset max(0, 8 - B)",
    "offset 4%4",
    "offset A*B",
)
PLACES = ("a", "(a, b)", "b/4", "a + b", "(b + a)%4")
ENDS = ("", "", " : roundup(A, 4)", " : A + B", " : 64")
SHAPES = [(1, 1), (3, 8), (4, 9), (8, 16)]


def drawn(seed: int) -> tuple[str, Layout]:
    """A layout of two axes with offset, pitch and chunks; elements may share slots."""
    random = Random(seed)
    places = [random.choice(PLACES) + random.choice(ENDS) for _ in range(random.randint(1, 3))]
    separators = [", "] * (len(places) - 1)
    if separators and random.random() < 0.4:
        separators[random.randrange(len(separators))] = "; "
    body = "".join(map(str.__add__, places, [*separators, ""]))
    line = f"layout Drawn{seed}(a, b) = [{body}] {random.choice(OFFSETS)}"
    try:
        return line, layoutdsl.parse(line)[f"Drawn{seed}"]
    except layoutdsl.LayoutError:
        return drawn(seed + 1000)


__all__ = ["shell"]

TEXTS = [drawn(seed) for seed in range(60)]
DRAWN = [made for _, made in TEXTS]


def test_rank_depends_on_no_shape() -> None:
    for made in DRAWN:
        assert len({len(made.physical_shape(shape)) for shape in SHAPES}) == 1
        assert all(prod(made.physical_shape(shape)) == made.size(shape) for shape in SHAPES)
    assert any(made.physical_shape(SHAPES[1]) == (made.size(SHAPES[1]),) for made in DRAWN)


CLAUSES = [
    ("", (9, 4)),
    ("offset 0", (9, 4)),
    ("offset 4%4", (9, 4)),  # the number 0, for every shape: as no clause
    ("offset 3", (39,)),
    ("offset A%3", (37,)),
    ("offset A%4", (36,)),
    ("offset max(0, 8 - B)", (36,)),
]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("clause", "box"), CLAUSES)
@pytest.mark.parametrize("target", ["numpy", pytest.param("native", marks=needs_compiler)])
def test_buffer_is_flat_whatever_the_offset_comes_to(
    clause: str, box: tuple[int, ...], target: str
) -> None:
    made = layoutdsl.parse(f"layout L(a, b) = [b, a] {clause}")["L"]
    module = layoutdsl.compile(made, target)  # type: ignore[arg-type]
    tensor = np.arange(36, dtype="i2").reshape(4, 9)
    packed = module.pack(tensor)
    assert made.physical_shape((4, 9)) == tuple(module.physical_shape((4, 9))) == box
    assert packed.shape == box
    assert np.array_equal(packed.reshape(-1)[-36:].reshape(9, 4), tensor.T)
    assert np.array_equal(module.unpack(packed, (4, 9)), tensor)


def generated(made: Layout) -> ModuleType:
    module = ModuleType("made")
    exec(layoutdsl.generate(made).text, vars(module))
    return module


@pytest.mark.sampled(3)
@pytest.mark.parametrize("where", ["", " where A == 4", " where A == 4, B == 9"])
def test_a_range_does_not_change_the_rank(where: str) -> None:
    made = layoutdsl.parse(f"layout L(a, b) = [b, a] offset A%4{where}")["L"]
    assert generated(made).physical_shape((4, 9)) == made.physical_shape((4, 9)) == (36,)


@pytest.mark.sampled(14)
@pytest.mark.parametrize("clause", ["p + 3", "p*2", "p%4", "p*A%4", "max(0, p - 3)"])
@pytest.mark.parametrize("number", [1, 3, 4])
def test_offset_of_a_parameter_is_generated(clause: str, number: int) -> None:
    """A number is given in the text or in Python; both are the same layout."""
    line = f"layout L<p>(a, b) = [a, b] offset {clause}"
    written = layoutdsl.parse(f"{line}\nlayout L_{number} = L<{number}>")[f"L_{number}"]
    made = layoutdsl.parse(line)["L"](p=number)
    assert (made.start, made.is_flat) == (written.start, written.is_flat)
    assert layoutdsl.prove(made).status == "proved"
    module, tensor = generated(made), np.arange(12).reshape(3, 4)
    packed = module.pack(tensor)
    assert packed.shape == made.physical_shape((3, 4)) == written.physical_shape((3, 4))
    assert np.array_equal(module.unpack(packed, (3, 4)), tensor)


def test_sum_of_numbers_is_one_number() -> None:
    made = layoutdsl.parse("layout L<p>(c, h) = [c, h] offset p + 3")["L"](p=3)
    assert str(made.start) == str(layoutdsl.parse("layout L(c) = [c] offset 6")["L"].start)
    assert "return (C*H + 6,)" in layoutdsl.generate(made).text


@pytest.mark.slow
def test_conversion_into_and_out_of_a_flat_buffer() -> None:
    read = layoutdsl.parse("layout F(a, b) = [b, a] offset A%4\nlayout G(a, b) = [a, b]")
    tensor = np.arange(36).reshape(4, 9)
    flat = layoutdsl.convert(read["G"], read["F"])(tensor, (4, 9))
    assert flat.shape == (36,)
    assert np.array_equal(flat.reshape(9, 4), tensor.T)
    assert np.array_equal(layoutdsl.convert(read["F"], read["G"])(flat, (4, 9)), tensor)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("language", ["python", "sympy"])
def test_printed_formula_is_the_shape(language: str, shell: Shell) -> None:
    for line, made in TEXTS[:12]:
        ended = shell("formula", "-:" + made.name, "--as", language, stdin=line.encode())
        assert ended.code == 0, ended.err
        for shape in SHAPES:
            known: dict[str, object] = dict(zip("AB", shape, strict=True))
            if language == "python":
                exec(ended.out, known | {"a": 0, "b": 0, "_slot": 0}, known)
                found = known["physical_shape"]
            else:
                names: dict[str, object] = {}
                exec(f"{ended.out}\nphysical_shape = sympify(physical_shape)", names)
                symbols = {names[name]: known[name] for name in "AB"}
                box = names["physical_shape"]
                found = tuple(int(each.subs(symbols)) for each in box)  # type: ignore[attr-defined]
            assert found == made.physical_shape(shape), (line, shape)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "integers"), [("c", "int64"), ("opencl", "int64"), ("cuda", "int64")]
)
def test_compiled_function_is_the_shape(
    language: str, integers: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if COMPILERS[language][0] is None:
        pytest.skip(f"no compiler for {language}")
    library = built(DRAWN, language, integers, tmp_path_factory.mktemp("flat"))
    for made in DRAWN:
        for shape in SHAPES:
            size, *box = Called(library, made).sizes(made.bind(shape))
            assert (size, tuple(box)) == (made.size(shape), made.physical_shape(shape))


@pytest.mark.slow
def test_function_of_triton_is_the_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    triton, language = stand_in()
    monkeypatch.setitem(sys.modules, "triton", triton)
    monkeypatch.setitem(sys.modules, "triton.language", language)
    for made in DRAWN:
        functions_of = loaded(made, "int64")
        for shape in SHAPES:
            box = functions_of.physical_shape(*map(Tensor.of, shape))
            found = box if isinstance(box, tuple) else (box,)
            assert tuple(int(numbers(each)) for each in found) == made.physical_shape(shape)


@pytest.mark.slow
def test_function_and_map_of_mlir_are_the_shape() -> None:
    for made in DRAWN:
        written, name = text(made, "mlir", "int64"), f"{made.name}_physical_shape"
        for shape in SHAPES:
            box = made.physical_shape(shape)
            assert functions(written)[name](*shape) == box
            if name in maps(written):
                assert maps(written)[name]((), shape) == box
