"""An undecided layout moves no data, unless its shape is checked first.

The oracle of the check is `Layout.offset`, evaluated for every element in plain integers.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import layoutdsl

KV = "layout KV(b, t, h, d) = [b, (t/16%4096*H + h)*D + d : 4096*H*D, t%16]"
SQUARES = "layout Squares(i, j: 2) = [(i*i + j)%1000003, j]"
RIGHT, WRONG = (1, 65536, 1, 1), (1, 65600, 1, 1)


def layout(text: str) -> layoutdsl.Layout:
    (found,) = layoutdsl.parse(text).layouts.values()
    return found


def tensor(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.arange(1, 1 + int(np.prod(shape)), dtype="i4").reshape(shape)


def saved(place: Path, shape: tuple[int, ...]) -> Path:
    np.save(place, tensor(shape))
    return place


DOORS: dict[str, Callable[[layoutdsl.Layout, Path], object]] = {
    "compile": lambda kv, _: layoutdsl.compile(kv),
    "compile numpy": lambda kv, _: layoutdsl.compile(kv, "numpy"),
    "compile without validation": lambda kv, _: layoutdsl.compile(kv, "numpy", validate=False),
    "compile bytes": lambda kv, _: layoutdsl.compile(kv, storage="bytes"),
    "generate": lambda kv, _: layoutdsl.generate(kv),
    "generate_c": lambda kv, _: layoutdsl.generate_c(kv),
    "convert from": lambda kv, _: layoutdsl.convert(kv, rows(kv)),
    "convert to": lambda kv, _: layoutdsl.convert(rows(kv), kv),
    "Tensor": lambda kv, _: layoutdsl.Tensor(kv, RIGHT),
    "Tensor.pack": lambda kv, _: layoutdsl.Tensor.pack(kv, tensor(RIGHT)),
    "pieces_of": lambda kv, _: layoutdsl.pieces_of(kv, RIGHT, 1 << 20),
    "pack_file": lambda kv, at: layoutdsl.pack_file(
        kv, saved(at / "in.npy", RIGHT), at / "out.npy"
    ),
    "unpack_file": lambda kv, at: layoutdsl.unpack_file(
        kv, saved(at / "in.npy", (1, 65536, 16)), at / "out.npy", RIGHT
    ),
}


def rows(kv: layoutdsl.Layout) -> layoutdsl.Layout:
    names = ", ".join(axis.name for axis in kv.axes)
    return layout(f"layout Rows({names}) = [{names}]")


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_an_undecided_layout_is_refused(door: str, tmp_path: Path) -> None:
    kv = layout(KV + " of i4") if "bytes" in door else layout(KV)
    with pytest.raises(layoutdsl.UnprovedError) as refused:
        DOORS[door](kv, tmp_path)
    assert "no two elements share a slot" in str(refused.value)
    assert "it is proved where T <= 65536" in str(refused.value)
    assert "unproved=True" in str(refused.value)
    assert refused.value.checked.status == "undecided"
    assert not [*tmp_path.glob("out.npy*")]


@pytest.mark.slow
def test_dask_refuses_an_undecided_layout() -> None:
    pytest.importorskip("dask.array")
    import dask.array as da

    import layoutdsl.dask

    array = da.zeros(RIGHT, chunks=RIGHT, dtype="i4")
    for door in (
        lambda: layoutdsl.dask.pack(array, layout(KV)),
        lambda: layoutdsl.dask.unpack(da.zeros((1, 4096, 16)), layout(KV), RIGHT),
    ):
        with pytest.raises(layoutdsl.UnprovedError):
            door()


def test_torch_refuses_an_undecided_layout_and_checks_shapes() -> None:
    torch = pytest.importorskip("torch")
    import layoutdsl.torch as moves

    right, wrong = (torch.from_numpy(tensor(shape)) for shape in (RIGHT, WRONG))
    for door in (
        lambda: moves.compiled(layout(KV)),
        lambda: moves.pack(layout(KV), right),
        lambda: moves.unpack(layout(KV), right, RIGHT),
        lambda: moves.convert(layout(KV), layout(KV), right, RIGHT),
        lambda: moves.custom_op("tests::undecided", layout(KV)),
    ):
        with pytest.raises(layoutdsl.UnprovedError):
            door()
    packed = moves.pack(layout(KV), right, unproved=True)
    assert torch.equal(moves.unpack(layout(KV), packed, RIGHT, unproved=True), right)
    with pytest.raises(layoutdsl.RefusedError):
        moves.pack(layout(KV), wrong, unproved=True)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", ["numpy", "auto"])
def test_unproved_packs_a_shape_that_is_right(target: Any) -> None:
    module = layoutdsl.compile(layout(KV), target, unproved=True)
    packed = module.pack(tensor(RIGHT))
    assert np.array_equal(module.unpack(packed, RIGHT), tensor(RIGHT))


@pytest.mark.parametrize("target", ["numpy", "auto"])
def test_unproved_writes_nothing_at_a_shape_that_is_wrong(target: Any) -> None:
    module = layoutdsl.compile(layout(KV), target, unproved=True)
    out = np.full(module.physical_shape(WRONG), -1, "i4")
    with pytest.raises(layoutdsl.RefusedError) as refused:
        module.pack(tensor(WRONG), out)
    assert (out == -1).all()
    example = refused.value.checked.findings[0].example
    first, second = (dict(point.index) for point in example.points)
    assert first != second
    assert layout(KV).offset(first, WRONG) == layout(KV).offset(second, WRONG)
    with pytest.raises(layoutdsl.RefusedError):
        module.unpack(out, WRONG)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kept", [KV, SQUARES])
def test_unproved_files_are_checked_as_a_whole(kept: str, tmp_path: Path) -> None:
    """Each piece of these is right alone, and two pieces share slots."""
    shape = WRONG if kept == KV else (600_000, 2)
    source, out = saved(tmp_path / "in.npy", shape), tmp_path / "out.npy"
    with pytest.raises(layoutdsl.RefusedError):
        layoutdsl.pack_file(layout(kept), source, out, mem=1 << 20, unproved=True)
    assert not [*tmp_path.glob("out.npy*")]


@pytest.mark.slow
def test_unproved_conversions_check_both_layouts() -> None:
    kv = layout(KV)
    into = layoutdsl.convert(rows(kv), kv, unproved=True)
    back = layoutdsl.convert(kv, rows(kv), unproved=True)
    assert np.array_equal(back(into(tensor(RIGHT), RIGHT), RIGHT), tensor(RIGHT))
    with pytest.raises(layoutdsl.RefusedError):
        into(tensor(WRONG), WRONG)


@pytest.mark.slow
def test_unproved_tensors_are_checked() -> None:
    kept = layoutdsl.Tensor.pack(layout(KV), tensor(RIGHT), unproved=True)
    assert kept[0, 65535, 0, 0] == 65536
    with pytest.raises(layoutdsl.RefusedError):
        layoutdsl.Tensor(layout(KV), WRONG, unproved=True)


@pytest.mark.slow
def test_generated_code_says_that_it_is_unproved() -> None:
    module = layoutdsl.generate(layout(KV), unproved=True).load()
    assert module.CERTIFICATE.startswith("unproved: ")
    assert module.VALIDATED.startswith("unproved: ")
    head = layoutdsl.generate_c(layout(KV), unproved=True).program.nests.partition("*/")[0]
    assert "Proofs: unproved: " in head
    assert "Validated: unproved: " in head
    proved = layoutdsl.generate(layout(KV + " where T <= 65536")).load()
    assert "unproved" not in f"{proved.CERTIFICATE} {proved.VALIDATED}"


@pytest.mark.slow
def test_a_record_is_checked_too() -> None:
    """Fused rows with open K stay undecided; they are right."""
    record = layoutdsl.parse(
        """
        record F(r, k) = {
          q(r, k) = [r, k : K + 8] of u8
          s(r) = [r, K/4 : K/4 + 2] of f32
          b(r) = [r, K/4 + 1 : K/4 + 2] of f32
        } where K % 4 == 0
        """
    ).records["F"]
    fields = {
        "q": np.arange(3 * 8, dtype="u1").reshape(3, 8),
        "s": np.array([1, 2, 3], "f4"),
        "b": np.array([4, 5, 6], "f4"),
    }
    if layoutdsl.prove(record).status == "undecided":
        with pytest.raises(layoutdsl.UnprovedError):
            layoutdsl.compile(record)
    module = layoutdsl.compile(record, unproved=True)
    found = module.unpack(module.pack(**fields), {"R": 3, "K": 8})
    for name, field in fields.items():
        assert np.array_equal(getattr(found, name), field)


# Spellings that no proof is found of; numbers are drawn, so some are wrong from some shape on.
SPELLINGS = (
    "layout A(i, j) = [(i*i + j)%{p}, j]",
    "layout A(i, j) = [i/{p}%{q}, j, i%{p}]",
    "layout A(i, j) = [(i*{p} + j)%{q}]",
    "layout A(i, j) = [i*{p} + j*{q} : I*{p} + J*{q}]",
    "layout A(i, j) = [i*{p} + j : {p}*{q}] where j <= i",
    "layout A(i, j, k) = [(i + j)%{p}, k, j]",
    "layout A(i, j) = [j, (i*{p})%{q}] offset {p}",
    "layout A(i, j) = [i - j + {p} : I + {p}, j]",
)


def is_right(kept: layoutdsl.Layout, shape: tuple[int, ...]) -> bool:
    """Bounds of every coordinate and offset, and distinct slots, by the definition."""
    values, met = kept.bind(shape), set[int]()
    for index in product(*map(range, shape)):
        known = {**values, **dict(zip((axis.name for axis in kept.axes), index, strict=True))}
        if not kept.holds(known):
            continue
        try:
            offset = kept.offset(index, shape)
        except ValueError:
            return False
        if offset in met or not 0 <= offset < kept.size(values):
            return False
        met.add(offset)
    return True


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.sampled(16)
def test_drawn_layouts_are_packed_exactly_if_they_are_right(seed: int) -> None:
    draw = random.Random(seed)
    text = draw.choice(SPELLINGS).format(p=draw.randint(2, 12), q=draw.randint(1, 60))
    kept = layout(text)
    try:
        module = layoutdsl.compile(kept, "numpy", unproved=True)
    except layoutdsl.RefusedError:
        return  # the counterexample of the verdict is replayed elsewhere
    for _ in range(12):
        shape = tuple(draw.randint(1, 14) for _ in kept.axes)
        given = tensor(shape)
        try:
            packed = module.pack(given)
        except layoutdsl.RefusedError:
            assert not is_right(kept, shape), (text, shape)
            continue
        assert is_right(kept, shape), (text, shape)
        flat = packed.reshape(-1)
        for index in product(*map(range, shape)):
            known = {
                **kept.bind(shape),
                **dict(zip((a.name for a in kept.axes), index, strict=True)),
            }
            if kept.holds(known):
                assert flat[kept.offset(index, shape)] == given[index], (text, shape, index)
