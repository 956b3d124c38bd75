"""`linalg.pack` as IREE compiles and runs it, against the text of its attributes read by us.

It needs `pip install iree-base-compiler iree-base-runtime`. Packs are drawn at random, with ragged
tiles and any padding value, compiled twenty to a module for IREE's interpreter and for LLVM, and
run; `linalg.unpack` is run on what we pack. The default run samples; `pytest -m campaign -k iree
-s` says how much was compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import pytest
from cli_shell import Shell, shell

import layoutdsl
from layoutdsl import Layout

__all__ = ["shell"]

compiler = pytest.importorskip("iree.compiler")
runtime = pytest.importorskip("iree.runtime")

KINDS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "f32": np.float32}
AT_ONCE = 20
BACKENDS = {"vmvx": [], "llvm-cpu": ["--iree-llvmcpu-target-cpu=generic"]}


@dataclass(frozen=True)
class Pack:
    """A `linalg.pack`: the dimensions that are tiled, in the order of ``inner``."""

    shape: tuple[int, ...]
    kind: str
    inner: tuple[int, ...]
    tiles: tuple[int, ...]
    outer: tuple[int, ...] | None
    padding: int | None

    @property
    def attributes(self) -> str:
        outer = "" if self.outer is None else f"outer_dims_perm = {list(self.outer)} "
        return f"{outer}inner_dims_pos = {list(self.inner)} inner_tiles = {list(self.tiles)}"

    @property
    def ours(self) -> str:
        """The attributes as our notation takes them."""
        padding = "" if self.padding is None else f"padding_value({self.constant}) "
        return padding + self.attributes

    @property
    def constant(self) -> str:
        assert self.padding is not None
        return f"{self.padding}{'.0' if self.kind[0] == 'f' else ''} : {self.kind}"

    @property
    def box(self) -> tuple[int, ...]:
        """MLIR, `linalg.pack`: the outer dimensions, permuted, then the tiles."""
        tiled = dict(zip(self.inner, self.tiles, strict=True))
        outer = [-(-extent // tiled.get(n, 1)) for n, extent in enumerate(self.shape)]
        order = self.outer or range(len(self.shape))
        return (*(outer[n] for n in order), *self.tiles)

    @property
    def turns_in_a_circle(self) -> bool:
        """Whether three tiles or more stand in an order that is not its own way back.

        IREE 3.13 confuses it with the way back, on `vmvx`: its `linalg.unpack` does not undo its
        own `linalg.pack` of a 10x8x4 tensor by `inner_dims_pos = [2, 0, 1]` and
        `inner_tiles = [4, 5, 2]`; on `llvm-cpu` it does.
        """
        order = np.argsort(self.inner)
        return bool((order[order] != np.arange(len(order))).any())

    def functions(self, number: int) -> str:
        """Two functions: one packs, the other is the way back."""
        source = f"tensor<{'x'.join(map(str, self.shape))}x{self.kind}>"
        target = f"tensor<{'x'.join(map(str, self.box))}x{self.kind}>"
        constant = padding = ""
        if self.padding is not None:
            constant = f"%v = arith.constant {self.constant}"
            padding = f"padding_value(%v : {self.kind}) "
        return f"""
func.func @pack{number}(%x: {source}) -> {target} {{
  {constant}
  %e = tensor.empty() : {target}
  %p = linalg.pack %x {padding}{self.attributes} into %e : {source} -> {target}
  return %p : {target}
}}
func.func @unpack{number}(%x: {target}) -> {source} {{
  %e = tensor.empty() : {source}
  %p = linalg.unpack %x {self.attributes} into %e : {target} -> {source}
  return %p : {source}
}}
"""


def draw(random: Random) -> Pack:
    rank = random.randint(1, 4)
    inner = random.sample(range(rank), random.randint(1, rank))
    tiles = [random.choice((1, 2, 3, 4, 5, 8)) for _ in inner]
    most = 20 if rank < 3 else 9
    shape = [random.randint(1, most) for _ in range(rank)]
    if random.random() < 0.3:
        for dimension, tile in zip(inner, tiles, strict=True):
            shape[dimension] = tile * random.randint(1, 3)
    tiled = dict(zip(inner, tiles, strict=True))
    ragged = any(shape[n] % tile for n, tile in tiled.items())
    padding = random.choice((0, 7, -3)) if ragged or random.random() < 0.5 else None
    outer = tuple(random.sample(range(rank), rank)) if random.random() < 0.7 else None
    kind = random.choice(list(KINDS))
    return Pack(tuple(shape), kind, tuple(inner), tuple(tiles), outer, padding)


def compiled(packs: Sequence[Pack], backend: str) -> Any:
    text = "".join(pack.functions(number) for number, pack in enumerate(packs))
    made = compiler.compile_str(text, target_backends=[backend], extra_args=BACKENDS[backend])
    context = runtime.SystemContext(config=runtime.Config("local-task"))
    context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, made))
    return context.modules.module


def layout_of(pack: Pack) -> Layout:
    """Read on as many axes as the tensor has, which the attributes need not say."""
    axes = ", ".join(f"d{n}" for n in range(len(pack.shape)))
    return layoutdsl.parse(f'layout Drawn({axes}) = mlir "{pack.ours}"')["Drawn"]


def packed(layout: Layout, tensor: np.ndarray, padding: int) -> np.ndarray:
    """The buffer by `Layout.offset_at`."""
    names = [axis.name for axis in layout.axes]
    indices = dict(zip(names, np.indices(tensor.shape), strict=True))
    buffer = np.full(layout.size(tensor.shape), padding, tensor.dtype)
    buffer[layout.offset_at({**layout.bind(tensor.shape), **indices})] = tensor
    return buffer


def assert_packed_alike(pack: Pack, run: Any, random: Random, generated: bool) -> int:
    """By the code that we generate, where it is asked for, else by the definition."""
    layout = layout_of(pack)
    made = np.random.default_rng(random.getrandbits(32)).integers(8, 100, pack.shape)
    tensor = made.astype(KINDS[pack.kind])
    assert layout.box(pack.shape) == pack.box, pack
    theirs = np.asarray(run(tensor))
    if generated:
        module = layoutdsl.compile(layout, target="numpy")
        ours = module.pack(tensor)
        assert np.array_equal(module.unpack(theirs, pack.shape), tensor), pack
    else:
        ours = packed(layout, tensor, pack.padding or 0).reshape(pack.box)
    assert ours.dtype == theirs.dtype
    assert np.array_equal(ours, theirs), pack
    printed = layoutdsl.to_notation(layout, "mlir")
    again = packed(layoutdsl.from_notation("mlir", printed), tensor, pack.padding or 0)
    # A tile of 1 is not printed, so the box may have fewer dimensions; no element moves.
    assert np.array_equal(again, ours.reshape(-1)), (pack, printed)
    return ours.size


def lines(pack: Pack) -> list[str]:
    """The lines of a pack and of its way back, as IREE compiles them."""
    return [each.strip() for each in pack.functions(0).splitlines() if "pack %x" in each]


def assert_lines_alike(pack: Pack, shell: Shell) -> None:
    """A whole line says what its attributes do, at its shape, and is printed as one."""
    attributes = layout_of(pack)
    for line in lines(pack):
        layout = layoutdsl.from_notation("mlir", line)
        assert layout.physical_shape(layout.shape_of({})) == pack.box, line
        printed = shell("translate", f"mlir:{line}", "--to", "mlir").out.strip()
        again = layoutdsl.from_notation("mlir", printed)
        names = [axis.name for axis in layout.axes]
        indices = dict(zip(names, np.indices(pack.shape), strict=True))
        told = attributes.offset_at({**attributes.bind(pack.shape), **indices})
        assert np.array_equal(np.broadcast_to(layout.offset_at(indices), told.shape), told), line
        assert np.array_equal(np.broadcast_to(again.offset_at(indices), told.shape), told), line


def assert_unpacked_alike(pack: Pack, run: Any, random: Random) -> None:
    """What we pack is unpacked by IREE."""
    made = np.random.default_rng(random.getrandbits(32)).integers(8, 100, pack.shape)
    tensor = made.astype(KINDS[pack.kind])
    ours = packed(layout_of(pack), tensor, -1).reshape(pack.box)
    assert np.array_equal(np.asarray(run(ours)), tensor), pack


def compare(modules: int, seed: int, shell: Shell) -> None:
    random = Random(seed)
    count = unpacked = slots = ragged = 0
    for number in range(modules):
        packs = [draw(random) for _ in range(AT_ONCE)]
        backend = list(BACKENDS)[number % 2]
        found = compiled(packs, backend)
        for at, pack in enumerate(packs):
            run = getattr(found, f"pack{at}")
            assert_lines_alike(pack, shell)
            slots += assert_packed_alike(pack, run, random, generated=at % 5 == 0)
            if backend != "vmvx" or not pack.turns_in_a_circle:
                assert_unpacked_alike(pack, getattr(found, f"unpack{at}"), random)
                unpacked += 1
            ragged += any(pack.shape[n] % t for n, t in zip(pack.inner, pack.tiles, strict=True))
            count += 1
    print(f"IREE: {count} packs, {ragged} of them ragged, {slots} slots; {unpacked} unpacked")
    assert ragged > count / 4
    assert unpacked > count / 2


def test_a_sample_of_linalg_pack_by_iree(shell: Shell) -> None:
    compare(1, 1, shell)


def test_iree_can_refute() -> None:
    pack = Pack((5, 7), "i32", (0, 1), (2, 4), None, 7)
    wrong = Pack((5, 7), "i32", (1, 0), (4, 2), None, 7)
    found = compiled([pack], "vmvx")
    tensor = np.arange(8, 43, dtype=np.int32).reshape(5, 7)
    theirs = np.asarray(found.pack0(tensor)).reshape(-1)
    assert np.array_equal(packed(layout_of(pack), tensor, 7), theirs)
    assert not np.array_equal(packed(layout_of(wrong), tensor, 7), theirs)


@pytest.mark.campaign
def test_linalg_pack_at_random_by_iree(shell: Shell) -> None:
    compare(40, 2, shell)
