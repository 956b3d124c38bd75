"""Index functions of Triton, run under a stand-in on numpy arrays that divide and wrap as Triton's.

Where `triton` is installed, its compiler is given some of them too.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from functions_built import inverted, text
from texts import DOMAINS, EVERY, edge_shapes, every_index

from layoutdsl import Layout


class Tensor:
    """A tensor of integers: quotients go towards zero, and what is too large wraps."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    @staticmethod
    def of(value: object) -> Tensor:
        return value if isinstance(value, Tensor) else Tensor(np.asarray(value, np.int32))

    def _with(self, other: object, operation: Any) -> Tensor:
        one, two = self.values, Tensor.of(other).values
        wide = np.int64 if np.int64 in (one.dtype, two.dtype) else np.int32
        if one.dtype == two.dtype == np.bool_:
            wide = np.bool_
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Tensor(np.asarray(operation(one.astype(wide), two.astype(wide))))

    def __add__(self, other: object) -> Tensor:
        return self._with(other, np.add)

    def __sub__(self, other: object) -> Tensor:
        return self._with(other, np.subtract)

    def __mul__(self, other: object) -> Tensor:
        return self._with(other, np.multiply)

    def __floordiv__(self, other: object) -> Tensor:
        return self._with(other, towards_zero)

    def __mod__(self, other: object) -> Tensor:
        return self._with(other, np.fmod)

    def __and__(self, other: object) -> Tensor:
        return self._with(other, np.bitwise_and)

    def __xor__(self, other: object) -> Tensor:
        return self._with(other, np.bitwise_xor)

    def __lt__(self, other: object) -> Tensor:
        return self._with(other, np.less)

    def __le__(self, other: object) -> Tensor:
        return self._with(other, np.less_equal)

    def __gt__(self, other: object) -> Tensor:
        return self._with(other, np.greater)

    def __ge__(self, other: object) -> Tensor:
        return self._with(other, np.greater_equal)

    def __eq__(self, other: object) -> Tensor:  # type: ignore[override]
        return self._with(other, np.equal)

    __hash__ = None  # type: ignore[assignment]

    def __radd__(self, other: object) -> Tensor:
        return Tensor.of(other) + self

    def __rsub__(self, other: object) -> Tensor:
        return Tensor.of(other) - self

    def __rmul__(self, other: object) -> Tensor:
        return Tensor.of(other) * self


def towards_zero(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    return np.sign(one) * np.sign(two) * (np.abs(one) // np.abs(two))


def stand_in() -> tuple[ModuleType, ModuleType]:
    triton, language = ModuleType("triton"), ModuleType("triton.language")
    given: dict[str, Any] = {
        "jit": lambda function: function,
        "language": language,
    }
    vars(triton).update(given)
    tl: dict[str, Any] = {
        "int64": np.int64,
        "cast": lambda value, kind: Tensor(Tensor.of(value).values.astype(kind)),
        "minimum": lambda one, two: Tensor.of(one)._with(two, np.minimum),
        "maximum": lambda one, two: Tensor.of(one)._with(two, np.maximum),
    }
    vars(language).update(tl)
    return triton, language


@pytest.fixture
def standing_in(monkeypatch: pytest.MonkeyPatch) -> None:
    triton, language = stand_in()
    monkeypatch.setitem(sys.modules, "triton", triton)
    monkeypatch.setitem(sys.modules, "triton.language", language)


def loaded(layout: Layout, integers: str) -> SimpleNamespace:
    names: dict[str, Any] = {}
    exec(text(layout, "triton", integers), names)
    prefix = f"{layout.name}_"
    return SimpleNamespace(
        **{name.removeprefix(prefix): names[name] for name in names if name.startswith(prefix)}
    )


def numbers(found: object) -> np.ndarray:
    return np.asarray(found.values if isinstance(found, Tensor) else found)


@pytest.mark.slow
@pytest.mark.usefixtures("standing_in")
@pytest.mark.parametrize("integers", ["int32", "int64"])
def test_functions_are_the_meaning(integers: str) -> None:
    for layout in (*EVERY.values(), *DOMAINS.values()):
        functions = loaded(layout, integers)
        for values in edge_shapes(layout, most=1_500):
            check(layout, functions, values)


def check(layout: Layout, functions: SimpleNamespace, values: dict[str, int]) -> None:
    extents = [Tensor.of(values[name]) for name in layout.symbols]
    points = every_index(layout, values)
    given = [Tensor(points[axis.name].astype(np.int32)) for axis in layout.axes]
    meant = np.broadcast_to(layout.offset_at({**values, **points}), (len(given[0].values),))
    found = np.broadcast_to(numbers(functions.offset(*given, *extents)), meant.shape)
    assert np.array_equal(found, meant), (layout.name, values)
    size = layout.size(values)
    assert numbers(functions.size(*extents)) == size
    box = functions.physical_shape(*extents)
    box = box if isinstance(box, tuple) else (box,)
    assert tuple(int(numbers(each)) for each in box) == layout.physical_shape(values)
    if not inverted(layout):
        return
    *index, holds = functions.index(Tensor(np.arange(size, dtype=np.int32)), *extents)
    holding = np.broadcast_to(numbers(holds), (size,))
    assert np.array_equal(np.flatnonzero(holding), np.sort(meant)), (layout.name, values)
    for axis, along in zip(layout.axes, index, strict=True):
        assert np.array_equal(np.broadcast_to(numbers(along), (size,))[meant], points[axis.name])


@pytest.mark.usefixtures("standing_in")
def test_64_bits_are_worked_out_in_64_bits() -> None:
    """Beyond 32 bits nothing wraps, whatever integers come in; a text of 32 bits would."""
    layout = EVERY["NHWC"]
    values = {"N": 3, "H": 40000, "W": 40000, "C": 8}
    index = {"n": 2, "h": 39999, "w": 39999, "c": 7}
    extents = [Tensor.of(values[name]) for name in layout.symbols]
    order = [Tensor.of(index[axis.name]) for axis in layout.axes]
    meant = layout.offset(index, values)
    assert int(numbers(loaded(layout, "int64").offset(*order, *extents))) == meant
    assert int(numbers(loaded(layout, "int32").offset(*order, *extents))) != meant


KERNEL = """

@triton.jit
def kernel({parameters}):
    at = tl.arange(0, 64)
    x = tl.load(points + at)
    tl.store(out + at, {name}_offset({indices}))
    tl.store(out + 64, {name}_size({extents}))
    shape = {name}_physical_shape({extents})
"""
READING = """    {found}, holds = {name}_index({slot})
    tl.store(out + at, tl.where(holds, {added}, -1))
"""
COMPILED = ["NCHW16c", "GgufQ4_K", "Swizzle128", "Rotated", "Unused", "OneElement", "AtLeastFour"]


@pytest.mark.filterwarnings("default")  # of Triton's own settings
@pytest.mark.parametrize("integers", ["int32", "int64"])
@pytest.mark.parametrize("name", COMPILED)
def test_the_compiler_of_triton_takes_them(tmp_path: Path, name: str, integers: str) -> None:
    """No device is needed for that; an extent of 1 is a constant, as it is in a call."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("triton is not installed")
    compiler = importlib.import_module("triton.compiler")
    target = importlib.import_module("triton.backends.compiler").GPUTarget("cuda", 80, 32)
    layout = EVERY[name]
    extents, found = layout.symbols, [f"found_{axis.name}" for axis in layout.axes]
    words = {
        "name": name,
        "parameters": ", ".join(("points", "out", *extents)),
        "extents": ", ".join(extents),
        "indices": ", ".join(("x",) * layout.rank + extents),
        "slot": ", ".join(("x", *extents)),
        "found": ", ".join(found),
        "added": " + ".join(found),
    }
    path = tmp_path / f"kernel_{name}_{integers}.py"
    body = KERNEL.format(**words) + (READING.format(**words) if inverted(layout) else "")
    path.write_text(text(layout, "triton", integers) + body)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    types = {"points": "*i32", "out": "*i64", **dict.fromkeys(extents, "i32")}
    ones: list[dict[tuple[int, ...], int]] = [{}, {(2,): 1}]
    for constants in ones if extents else ones[:1]:
        signature = {**types, **({extents[0]: "constexpr"} if constants else {})}
        source = compiler.ASTSource(fn=module.kernel, signature=signature, constexprs=constants)
        assert "ptx" in compiler.compile(source, target=target).asm
