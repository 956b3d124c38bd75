"""What elements are: other items, and numbers that no element is, are refused by all that packs."""

from __future__ import annotations

import random
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from codegen_cases import layout_of
from native_cases import needs_compiler

import layoutdsl
from layoutdsl import Layout

TARGETS = ["numpy", pytest.param("auto", marks=needs_compiler)]

BODIES = {
    "blocks": "layout Drawn(n, c) = [n, c/4, c%4]",
    "turned": "layout Drawn(n, c) = [c, n]",
    "apart": "layout Drawn(n, c) = [(n, c)/4, (n, c)%4]",
    "split": "layout Drawn(n, c) = [(n, c/4) : N*ceil(C/4) + 2, c%4]",
    "xor": "layout Drawn(n, c) = [n, c/4 ^ n%4, c%4]",
    "triangle": "layout Drawn(n, c) = [n, c] where c <= n",
    "lead": "layout Drawn(n, c) = [n, c/4, c%4] offset 5",
}
SHAPE = (3, 6)


@cache
def layout(body: str, element: str, fill: str = "") -> Layout:
    head, found, rest = BODIES[body].partition("]")
    return layout_of(f"{head}{found} of {element}{fill}{rest}")


@cache
def compiled(body: str, element: str, fill: str, target: str) -> ModuleType:
    return layoutdsl.compile(layout(body, element, fill), target)  # type: ignore[arg-type, return-value]


@cache
def element_type(name: str) -> Any:
    """Return the element type of a layout: its `item` and its `values`."""
    return layout("turned", name).element


def tensor(element: str, draw: random.Random) -> np.ndarray:
    kind, width = element_type(element).item
    low, high = element_type(element).values or (1, 100)
    numbers = [draw.randint(low, high) for _ in range(SHAPE[0] * SHAPE[1])]
    return np.array(numbers).astype(f"{kind}{width}").reshape(SHAPE)


def buffer(module: ModuleType, array: np.ndarray) -> np.ndarray:
    """What unpacks to an array, whatever its numbers; the padding is no element of any type."""
    flat = np.full(int(np.prod(module.physical_shape(SHAPE))), 99, array.dtype)
    for index in np.ndindex(SHAPE):
        if "where" not in module.SOURCE or index[1] <= index[0]:
            flat[module.offset(index, SHAPE)] = array[index]
    return flat.reshape(module.physical_shape(SHAPE))


@pytest.mark.sampled(78)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element", ["u4", "i4", "u2", "u1", "i1"])
@pytest.mark.parametrize("body", BODIES)
def test_numbers_that_are_no_elements_are_refused(body: str, element: str, target: str) -> None:
    module = compiled(body, element, "", target)
    draw = random.Random(f"{body} {element}")
    low, high = element_type(element).values or (0, 0)
    right = tensor(element, draw)
    held = np.tril(np.ones(SHAPE, bool)) if body == "triangle" else np.ones(SHAPE, bool)
    for _ in range(3):
        index = tuple(draw.choice(np.argwhere(held).tolist()))
        wrong = right.copy()
        wrong[index] = draw.choice([low - 1, high + 1]) if right.dtype.kind == "i" else high + 1
        for source, call in (
            (wrong, module.pack),
            (buffer(module, wrong), lambda src, out: module.unpack(src, SHAPE, out)),
        ):
            shape = module.physical_shape(SHAPE) if source is wrong else SHAPE
            out = np.full(shape, 77, right.dtype)
            for into in (None, out):
                with pytest.raises(ValueError, match="the range of the elements"):
                    call(source, into)
            assert (out == 77).all()
    assert (module.unpack(buffer(module, right), SHAPE)[held] == right[held]).all()
    filled = module.pack(right, np.full(module.physical_shape(SHAPE), 5, right.dtype))
    assert (module.unpack(filled, SHAPE)[held] == right[held]).all()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", TARGETS)
def test_elements_outside_the_domain_are_not_looked_at(target: str) -> None:
    module = compiled("triangle", "u4", "", target)
    array = np.full(SHAPE, 99, "u1")
    array[np.tril(np.ones(SHAPE, bool))] = 7
    assert set(module.pack(array).ravel()) == {7, 0}


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("body", BODIES)
def test_other_items_are_refused(body: str, target: str) -> None:
    names = ["u8", "i8", "f16", "bf16", "f8", "u4", "f64", "i32"]
    kinds = ["u1", "i1", "f2", "u2", "i2", "f4", "f8", "i4", "?", "c8", ">f2", "V2"]
    for name in names:
        module = compiled(body, name, "", target)
        element = element_type(name)
        for kind in kinds:
            array = np.ones(SHAPE, kind) if kind != "V2" else np.ones(SHAPE, "u2").view("V2")
            fits = (array.dtype.kind, array.dtype.itemsize) == element.item
            fits |= kind == "V2" and name == "bf16"
            if fits:
                packed = module.pack(array)
                assert module.unpack(packed, SHAPE).dtype == array.dtype
                continue
            for call in (
                lambda: module.pack(array),  # noqa: B023  called at once
                lambda: module.unpack(np.ones(module.physical_shape(SHAPE), array.dtype), SHAPE),  # noqa: B023
            ):
                with pytest.raises(TypeError, match="has to be of dtype"):
                    call()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", TARGETS)
def test_a_fill_that_is_no_element_is_refused(target: str) -> None:
    for fill in ("", " fill any", " fill zero_point"):
        module = compiled("blocks", "u4", fill, target)
        array = np.ones(SHAPE, "u1")
        with pytest.raises(ValueError, match="16 is outside 0 to 15"):
            module.pack(array, fill=16)
        assert module.pack(array, fill=15).max() == 15


@pytest.mark.parametrize("target", TARGETS)
def test_a_layout_of_any_type_takes_any(target: str) -> None:
    module = layoutdsl.compile(layout_of(BODIES["blocks"]), target)  # type: ignore[arg-type]
    for kind in ("u1", "f8", "c16", "?"):
        assert module.pack(np.ones(SHAPE, kind)).dtype == kind


@pytest.mark.sampled(2)
@pytest.mark.parametrize("compiled_by", TARGETS)
def test_conversions_refuse_as_well(compiled_by: str) -> None:
    one, plain = layout("blocks", "u4"), layout_of(BODIES["turned"])
    for source, target in ((one, plain), (plain, one), (one, layout("turned", "u4"))):
        conversion = layoutdsl.convert(source, target, compiled=compiled_by)  # type: ignore[arg-type]
        held = layoutdsl.compile(source, "numpy").physical_shape(SHAPE)
        assert conversion(np.full(held, 15, "u1"), SHAPE).max() == 15
        with pytest.raises(ValueError, match="16 is outside 0 to 15"):
            conversion(np.full(held, 16, "u1"), SHAPE)
        with pytest.raises(TypeError, match="of dtype uint8, not int8"):
            conversion(np.full(held, 1, "i1"), SHAPE)
    with pytest.raises(ValueError, match="elements are moved as they are"):
        layoutdsl.convert(one, layout("turned", "u8"))


# Padding of `fill any` is nobody's: a buffer that is given keeps its own.


@pytest.mark.sampled(16)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("body", BODIES)
def test_padding_of_fill_any_stays(body: str, target: str) -> None:
    found = layout_of(BODIES[body].replace("]", "] fill any", 1))
    assert "fill any" in found.clauses
    module = layoutdsl.compile(found, target)  # type: ignore[arg-type]
    for shape in ((3, 6), (1, 1), (4, 8), (5, 3), (2, 9)):
        array = np.arange(1, 1 + shape[0] * shape[1], dtype="i4").reshape(shape)
        want = np.full(module.physical_shape(shape), -9, "i4")
        flat = want.reshape(-1)
        for index in np.ndindex(shape):
            if body != "triangle" or index[1] <= index[0]:
                flat[module.offset(index, shape)] = array[index]
        for _ in range(2):  # what a call finds out is remembered
            out = np.full(want.shape, -9, "i4")
            module.pack(array)
            assert module.pack(array, out) is out
            assert np.array_equal(out, want), (shape, out)
        filled = module.pack(array, np.full(want.shape, -9, "i4"), fill=4)
        start = 5 if body == "lead" else 0
        assert (
            filled.reshape(-1)[start:] == np.where(want == -9, 4, want).reshape(-1)[start:]
        ).all()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("compiled_by", TARGETS)
def test_conversions_leave_padding_of_fill_any(compiled_by: str) -> None:
    source = layout_of("layout From(n, c) = [c/3, n, c%3]")
    target = layout_of("layout Into(n, c) = [n, c/4, c%4 : 5] fill any")
    conversion = layoutdsl.convert(source, target, compiled=compiled_by)  # type: ignore[arg-type]
    array = np.arange(1, 19, dtype="u2").reshape(SHAPE)
    held = layoutdsl.compile(source, "numpy").pack(array)
    out = np.full((3, 2, 5), 99, "u2")
    assert conversion(held, SHAPE, out) is out
    want = layoutdsl.compile(target, "numpy").pack(array, np.full((3, 2, 5), 99, "u2"))
    assert np.array_equal(out, want)
    assert (want == 99).sum() == 30 - 18


# What VALIDATED names is this text, this layout, and these proofs.


@pytest.mark.slow
def test_each_module_has_a_hash_of_its_own() -> None:
    texts = [
        "layout A(n, c) = [n, c]",
        "layout B(n, c) = [n, c]",
        "layout A(n, h) = [n, h]",
        "layout A(n, c) = [n, c] fill 3",
        "layout A(n, c) = [n, c] of u8",
        "layout A(n, c) = [c, n]",
        "layout A(n, c) = [n, 0, c]",
    ]
    modules = [layoutdsl.generate(layout_of(text)).load() for text in texts]
    assert len({module.VALIDATED for module in modules}) == len(texts)


def test_what_the_head_quotes_is_the_layout() -> None:
    found = layout_of("layout A(n, c) = [n, c/4, c%4]")
    quoted = "layout A(n, c) =\n    [n, c/4, c%4]  # in one line elsewhere"
    assert quoted == layoutdsl.generate(found, source=quoted).load().SOURCE
    for wrong in ("layout A(n, c) = [n, c/8, c%8]", "layout B(n, c) = [n, c/4, c%4]"):
        with pytest.raises(ValueError, match="does not state `A`"):
            layoutdsl.generate(found, source=wrong)
    with pytest.raises(ValueError, match="by itself"):
        layoutdsl.generate(found, source="layout A(n, c) = [n, c/4,")
