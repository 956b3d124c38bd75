"""Index functions of Triton, run under a stand-in on numpy arrays that divide and wrap as Triton's.

Where `triton` is installed, its interpreter runs them too.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from functions_built import inverted, text
from texts import DOMAINS, EVERY, edge_shapes, every_index

from layoutdsl.model import Layout


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
    assert tuple(int(numbers(each)) for each in box) == layout.box(values)
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
def kernel(points, out, sizes, slots, read, COUNT: tl.constexpr, SLOTS: tl.constexpr, {extents}):
    at = tl.arange(0, COUNT)
{loads}
    tl.store(out + at, {name}_offset({indices}, {extents}))
    tl.store(sizes, {name}_size({extents}))
    s = tl.arange(0, SLOTS)
    {found}, holds = {name}_index(tl.load(slots + s), {extents})
{stores}
    tl.store(read + s*{width} + {rank}, tl.cast(holds, tl.int64))
"""


@pytest.fixture
def interpreter(monkeypatch: pytest.MonkeyPatch) -> Any:
    if importlib.util.find_spec("triton") is None or importlib.util.find_spec("torch") is None:
        pytest.skip("triton and torch are not installed")
    monkeypatch.setitem(os.environ, "TRITON_INTERPRET", "1")
    return importlib.import_module("torch")


@pytest.mark.parametrize("integers", ["int32", "int64"])
@pytest.mark.parametrize(
    ("name", "shape"),
    [("NCHW16c", (2, 20, 3, 4)), ("R4CroutonLayout", (1, 9, 9, 33)), ("GgufQ4_K", (3, 256))],
)
def test_the_interpreter_of_triton_runs_them(
    interpreter: Any, tmp_path: Path, name: str, shape: tuple[int, ...], integers: str
) -> None:
    torch, layout = interpreter, EVERY[name]
    values = layout.bind(shape)
    axes = [axis.name for axis in layout.axes]
    body = KERNEL.format(
        name=name,
        rank=layout.rank,
        width=layout.rank + 1,
        extents=", ".join(layout.symbols),
        indices=", ".join(f"i_{axis}" for axis in axes),
        found=", ".join(f"f_{axis}" for axis in axes),
        loads="\n".join(
            f"    i_{axis} = tl.load(points + at*{layout.rank} + {k})"
            for k, axis in enumerate(axes)
        ),
        stores="\n".join(
            f"    tl.store(read + s*{layout.rank + 1} + {k}, tl.cast(f_{axis}, tl.int64))"
            for k, axis in enumerate(axes)
        ),
    )
    path = tmp_path / f"kernel_{name}_{integers}.py"
    path.write_text(text(layout, "triton", integers) + body)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    grid = np.stack(list(every_index(layout, values).values()), axis=-1)
    count, size = len(grid), layout.size(values)
    rows, slots = 1 << (count - 1).bit_length(), 1 << (size - 1).bit_length()
    points = torch.zeros((rows, layout.rank), dtype=torch.int32)
    points[:count] = torch.from_numpy(grid)
    out = torch.full((rows,), -9, dtype=torch.int64)
    sizes = torch.zeros(1, dtype=torch.int64)
    asked = torch.clamp(torch.arange(slots, dtype=torch.int32), max=size - 1)
    read = torch.full((slots, layout.rank + 1), -9, dtype=torch.int64)
    extents = [values[each] for each in layout.symbols]
    module.kernel[(1,)](points, out, sizes, asked, read, rows, slots, *extents)
    meant = layout.offset_at({**values, **dict(zip(axes, grid.T, strict=True))})
    assert np.array_equal(out.numpy()[:count], meant)
    assert int(sizes[0]) == size
    found = read.numpy()[:size]
    assert np.array_equal(np.flatnonzero(found[:, -1]), np.sort(meant))
    assert np.array_equal(found[meant, :-1], grid)
