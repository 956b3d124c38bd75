"""Index functions of MLIR, read back by a reader of the tests; by MLIR's own where it is there."""

from __future__ import annotations

import importlib
import importlib.util
import random

import pytest
from functions_built import inverted, text
from mlir_reader import functions, maps
from texts import DOMAINS, EVERY, edge_shapes

from layoutdsl import Layout

ALL = {**{f"domain {name}": each for name, each in DOMAINS.items()}, **EVERY}


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.parametrize("integers", ["int32", "int64"])
def test_functions_and_maps_are_the_meaning(integers: str) -> None:
    for layout in ALL.values():
        written = text(layout, "mlir", integers)
        read, drawn = functions(written), maps(written)
        shuffled = random.Random(layout.name)
        shapes = edge_shapes(layout, most=2_000)
        for values in shuffled.sample(shapes, min(4, len(shapes))):
            extents = tuple(values[name] for name in layout.symbols)
            size = layout.size(values)
            assert read[f"{layout.name}_size"](*extents) == (size,)
            assert read[f"{layout.name}_physical_shape"](*extents) == layout.physical_shape(values)
            if f"{layout.name}_size" in drawn:
                assert drawn[f"{layout.name}_size"]((), extents) == (size,)
                assert drawn[f"{layout.name}_physical_shape"]((), extents) == layout.physical_shape(
                    values
                )
            for slot in shuffled.sample(range(size), min(size, 25)):
                check_slot(layout, values, slot, read, drawn)


def check_slot(layout: Layout, values: dict[str, int], slot: int, read: dict, drawn: dict) -> None:  # type: ignore[type-arg]
    extents = tuple(values[name] for name in layout.symbols)
    index = layout.decode(slot, values)
    if inverted(layout):
        holds, *found = read[f"{layout.name}_index"](slot, *extents)
        assert (tuple(found) if holds else None) == index, (layout.name, values, slot)
    if index is None:
        return
    assert read[f"{layout.name}_offset"](*index, *extents) == (slot,), (layout.name, values)
    if f"{layout.name}_offset" in drawn:
        assert drawn[f"{layout.name}_offset"](index, extents) == (slot,)
    if f"{layout.name}_index" in drawn:
        assert drawn[f"{layout.name}_index"]((slot,), extents) == index
    if layout.domain:
        assert read[f"{layout.name}_has_slot"](*index, *extents) == (1,)


@pytest.mark.slow
def test_which_layouts_have_no_affine_map() -> None:
    without = {
        name
        for name, layout in EVERY.items()
        if f"{layout.name}_offset" not in maps(text(layout, "mlir", "int64"))
    }
    spelled = {
        name
        for name in without
        if any(
            sign in f"{each.value} {each.extent}"
            for each in EVERY[name].coordinates
            for sign in ("^", "&", "|", "min(", "max(")
        )
    }
    assert without - spelled == {"LapackPackedUpper", "LapackPackedLower"}
    assert {"Swizzle128", "AtLeastFour", "Swizzled"} <= without
    assert "// no affine map Swizzle128_offset: `" in text(EVERY["Swizzle128"], "mlir", "int32")


def test_mlir_reads_every_text() -> None:
    """A parser of MLIR itself, with its verifier."""
    if importlib.util.find_spec("jaxlib") is None:
        pytest.skip("jaxlib, which brings MLIR, is not installed")
    ir = importlib.import_module("jaxlib.mlir.ir")
    jax = importlib.import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext")
    registry = ir.DialectRegistry()
    jax.register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for layout in ALL.values():
        for integers in ("int32", "int64"):
            module = ir.Module.parse(used(text(layout, "mlir", integers)), context)
            assert module.operation.verify()


def used(written: str) -> str:
    """An alias is looked at only where it is used."""
    names = [line.split()[0] for line in written.splitlines() if line.startswith("#")]
    attributes = ", ".join(f"a{number} = {name}" for number, name in enumerate(names))
    return f"{written}\nfunc.func private @all() attributes {{{attributes}}}\n"
