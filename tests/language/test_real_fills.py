"""`fill -inf`, `fill nan`, `fill 0.5`: what the language says, and the bits in padding.

numpy and ml_dtypes are the oracles of what a number is in a type.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from cli_shell import Shell, shell
from texts import layout, module

import layoutdsl

__all__ = ["shell"]

SPECIAL = ("inf", "-inf", "nan", "-0.0", "0.5", "-0.5", "1e-3", "1e-30", "0.1", "448.5")
TYPES = ("f16", "f32", "f64")
CODED = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}


def drawn(random: Random) -> str:
    """A number as a text of the language has it; whole ones are exact or refused when packing."""
    if random.random() < 0.5:
        return random.choice(SPECIAL)
    while True:
        sign, digits = random.choice(("", "-")), random.uniform(0, random.choice((1, 500, 70000)))
        found = f"{sign}{digits:.{random.randint(1, 17)}g}".replace("e+", "e")
        if not float(found).is_integer():
            return found


def dtype_of(name: str) -> np.dtype[Any]:
    if name in CODED:
        ml_dtypes = pytest.importorskip("ml_dtypes")
        return np.dtype(getattr(ml_dtypes, CODED[name]))
    return np.dtype(name.replace("16", "2").replace("32", "4").replace("64", "8"))


def bits(array: np.ndarray[Any, Any]) -> list[int]:
    return np.ascontiguousarray(array).ravel().view(f"u{array.dtype.itemsize}").tolist()


def item_of(number: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    with np.errstate(over="ignore"):
        item = np.array(float(number)).astype(dtype)
    # 0 has no sign where numpy has no name for the type
    return np.zeros_like(item) if dtype.name in CODED.values() and item == 0 else item


def overflows(number: str, item: np.ndarray[Any, Any]) -> bool:
    """Whether the type has no such number: it became an infinity or NaN."""
    given, found = float(number), float(item)
    return bool(np.isfinite(given) != np.isfinite(found) or np.isinf(given) != np.isinf(found))


@pytest.mark.parametrize("element", [*TYPES, *CODED])
@pytest.mark.parametrize("target", ["numpy", "native"])
def test_padding_has_the_bits_of_the_number(element: str, target: Any) -> None:
    random, dtype, refused = Random(element), dtype_of(element), 0
    for _ in range(12):
        number = drawn(random)
        text = f"layout L(n, c) = [n, c/4, c%4] fill {number} of {element}"
        item = item_of(number, dtype)
        if overflows(number, item):
            refused += 1
            with pytest.raises(layoutdsl.LayoutError, match="cannot hold"):
                layout(text)
            continue
        made = layout(text)
        assert layout(str(made)) == made
        tensor = np.ones((2, 6), dtype)
        compiled = layoutdsl.compile(made, target=target)
        packed = compiled.pack(tensor)
        want = np.full((2, 8), item, dtype)
        want[:, :6] = 1
        if float(number) != float(number):  # NaN has many bits: the usual one is meant
            assert np.isnan(packed.reshape(2, 8)[:, 6:].astype(float)).all(), text
        assert bits(packed) == bits(want), text
        assert bits(compiled.unpack(packed, (2, 6))) == bits(tensor)


@pytest.mark.parametrize("element", [*TYPES, *CODED])
def test_the_fill_is_the_nearest_number_of_the_type(element: str) -> None:
    random, dtype = Random(7), dtype_of(element)
    for _ in range(200):
        number = drawn(random)
        item = item_of(number, dtype)
        if not overflows(number, item):
            found = layout(f"layout L(n) = [n] fill {number} of {element}").fill
            assert bits(np.array(found.value, dtype)) == bits(item), number  # type: ignore[union-attr]


@pytest.mark.parametrize("number", ["-inf", "0.5", "nan"])
def test_any_type_takes_the_fill_if_it_can_hold_it(number: str) -> None:
    made = layout(f"layout L(n, c) = [n, c/4, c%4] fill {number}")
    for dtype, target in product(("f2", "f4", "f8", "c8"), ("numpy", "native")):
        packed = layoutdsl.compile(made, target=target).pack(np.ones((1, 3), dtype))  # type: ignore[call-overload]
        assert str(packed.ravel()[3]) == str(np.array(float(number)).astype(dtype)[()])
    for dtype, target in product(("i4", "u1", "?"), ("numpy", "native")):
        with pytest.raises(ValueError, match="cannot hold"):
            layoutdsl.compile(made, target=target).pack(np.ones((1, 3), dtype))  # type: ignore[call-overload]


def test_fills_are_equal_if_their_bits_are() -> None:
    def of(fill: str) -> Any:
        return layout(f"layout L(n) = [n, 0 : 2] fill {fill}")

    assert of("nan") == of("nan")
    assert hash(of("nan")) == hash(of("nan"))
    assert of("2.0") == of("2")
    assert of("0.0") == of("0")
    assert of("-0.0") != of("0")
    assert of("inf") != of("-inf")
    assert of("0.1 of f32") == of("0.10000000149011612 of f32")


@pytest.mark.parametrize("element", ["u8", "i32", "u4", "bool", "f8", "f4", "f6", "e8"])
@pytest.mark.parametrize("fill", ["0.5", "-inf", "nan"])
def test_types_without_real_numbers_are_errors(element: str, fill: str) -> None:
    with pytest.raises(layoutdsl.LayoutError) as caught:
        layout(f"layout L(n) = [n] fill {fill} of {element}")
    (found,) = caught.value.diagnostics
    assert found.code == "L208"
    assert found.help


def test_whole_numbers_are_fills_of_integers_however_they_are_written() -> None:
    assert str(layout("layout L(n) = [n] fill 2.0 of u8")).endswith("fill 2 of u8")


@pytest.mark.filterwarnings("ignore:numpy serves")
@pytest.mark.parametrize("target", ["numpy", "native"])
def test_domains_conversions_and_offsets(target: Any) -> None:
    lower = layout("layout L(i: N, j: N) = [i*(i + 1)/2 + j : N*(N + 1)/2] where j <= i fill nan")
    packed = layoutdsl.compile(lower, target=target).pack(np.ones((3, 3), np.float32))
    assert packed.shape == (6,)
    tensor = layoutdsl.compile(lower, target=target).unpack(packed, (3, 3))
    assert (np.isnan(tensor) == np.triu(np.ones((3, 3), bool), 1)).all()
    source, goal = (
        layout("layout S(n, c) = [n, c]"),
        layout("layout T(n, c) = [c/4, n, c%4] fill -0.5"),
    )
    found = layoutdsl.convert(source, goal, compiled=target)(np.ones((2, 5), np.float16), (2, 5))
    assert sorted(found.ravel().tolist()) == [-0.5] * 6 + [1] * 10
    late = layout("layout O(n) = [n/4, n%4] fill inf offset 2")
    packed = layoutdsl.compile(late, target=target).pack(np.zeros(3, np.float32))
    assert packed[2:].tolist() == [0, 0, 0, np.inf]


def test_a_tensor_view_shows_the_fill_outside_its_domain() -> None:
    lower = layout("layout L(i: N, j: N) = [i*(i + 1)/2 + j : N*(N + 1)/2] where j <= i fill 0.5")
    packed = layoutdsl.pack(lower, np.ones((2, 2), np.float32))
    assert layoutdsl.unpack(lower, packed, (2, 2)).tolist() == [[1, 0.5], [1, 1]]


def test_dask() -> None:
    dask = pytest.importorskip("dask.array")
    from layoutdsl import dask as packing

    made = layout("layout L(n, c) = [n, c/4, c%4] fill nan of f32")
    packed = packing.pack(dask.ones((2, 6), chunks=(1, 6), dtype="f4"), made).compute()
    assert np.isnan(packed.ravel()).tolist() == [*[False] * 6, True, True] * 2


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    made = layout("layout L(n, c) = [n, c/4, c%4] fill -inf")
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        packed = layoutdsl.torch.pack(made, torch.ones((1, 3), dtype=dtype))
        assert packed.dtype == dtype
        assert packed.ravel()[3].item() == float("-inf")


def test_json_and_the_shell(tmp_path: Path, shell: Shell) -> None:
    path = tmp_path / "a.layout"
    path.write_text("layout L(n, c) = [n, c/4, c%4] fill -inf\n")
    ended = shell("check", str(path), "--json")
    assert '"-inf"' in ended.out
    json.loads(ended.out)
    np.save(tmp_path / "x.npy", np.ones((1, 3), np.float32))
    ended = shell("pack", f"{path}:L", str(tmp_path / "x.npy"), str(tmp_path / "y.npy"))
    assert ended.code == 0, ended.err
    assert np.load(tmp_path / "y.npy").ravel()[3] == -np.inf
    np.save(tmp_path / "i.npy", np.ones((1, 3), np.int32))
    ended = shell("pack", f"{path}:L", str(tmp_path / "i.npy"), str(tmp_path / "z.npy"))
    assert ended.code != 0
    assert "cannot hold" in ended.err
    assert not (tmp_path / "z.npy").exists()


def test_notations_without_real_padding_say_so() -> None:
    made = layout("layout L(n, c) = [n/4, c/4, n%4, c%4] fill 0.5")
    for notation in ("mlir", "zarr", "onednn", "tvm"):
        assert "0.5" in layoutdsl.translate(made, notation).reason or notation in ("mlir", "zarr")
        assert layoutdsl.translate(made, notation).text is None


def test_probe_compares_nan_with_nan() -> None:
    made = layout("layout L(c) = [c : 4] fill nan")

    def padded(array: Any) -> Any:
        return np.pad(array.astype("f4"), (0, 1), constant_values=np.nan)

    assert layoutdsl.probe(padded, made, (3,), dtype="f4")
    with pytest.raises(ValueError, match="float type"):
        layoutdsl.probe(padded, made, (3,))


def test_weights_are_packed_and_verified(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    rules = module('layout T(n, k) = [n/4, k, n%4] fill -inf\ntensor "w" = T\ntensor "h" = T')
    source, packed = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    tensors = {"w": np.ones((3, 2), np.float32), "h": np.ones((5, 2), np.float16)}
    safetensors.save_file(tensors, source)
    layoutdsl.pack_weights(source, packed, rules)
    assert layoutdsl.verify_weights(packed, source)
    found = safetensors.load_file(packed)
    assert np.isneginf(found["w"].ravel()).sum() == 2
    assert np.isneginf(found["h"].ravel()).sum() == 6
