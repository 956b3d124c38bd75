"""Validation of modules of layouts that hold only part of a shape.

The validator gets masks and conditions that no generator writes, one fault in each.
"""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest
from domain_masks import held, numbered
from proving import shapes
from text_mutants import Mutant, mutants
from texts import DOMAINS, LIBRARY, module

from layoutdsl import Layout, commands
from layoutdsl.code import generate_numpy
from layoutdsl.code.validate import NotValidated, Validated, validate
from layoutdsl.language.meaning.elements import FillAny, FillValue

POISON = -9


@cache
def text_of(name: str, by_element: bool = True) -> str:
    made = generate_numpy(DOMAINS[name], source=name, certificate=None, by_element=by_element)
    return made.text


@pytest.mark.sampled(60)
@pytest.mark.parametrize("by_element", [True, False], ids=["by element", "by rows"])
@pytest.mark.parametrize("name", DOMAINS)
def test_right_modules_are_validated(name: str, by_element: bool) -> None:
    text = text_of(name, by_element)
    found = validate(text, DOMAINS[name], source=name)
    assert isinstance(found, Validated), found
    assert not misbehaviour(text, DOMAINS[name])


@pytest.mark.slow
def test_bands_of_any_width_are_validated() -> None:
    band = module("layout Some = LapackBand<2, 1>", LIBRARY)["Some"]
    found = validate(generate_numpy(band, source="", certificate=None).text, band, source="")
    assert isinstance(found, Validated), found


# Each line: of which layout, what the text says, what it should not say.
WRONG = {
    "the condition is turned": ("Lower", "(i_j <= i_i)", "(i_j > i_i)"),
    "the condition is strict": ("Lower", "(i_j <= i_i)", "(i_j < i_i)"),
    "the condition is not strict": ("Strict", "(i_j < i_i)", "(i_j <= i_i)"),
    "another bound": ("Band", "(i_j <= i_i + 2)", "(i_j <= i_i + 1)"),
    "indices are exchanged": ("Lower", "(i_j <= i_i)", "(i_i <= i_j)"),
    "a condition is dropped": ("Band", " & (i_i <= i_j + 1)", ""),
    "a condition is added": ("Lower", "held = (", "held = (i_i != 1) & ("),
    "not every condition": ("Band", ") & (", ") | ("),
    "another parity": ("OddPlaces", "2 == 1)", "2 == 0)"),
    "numbers may leave 64 bits": ("Lower", "(i_j <= i_i)", f"(i_j*{2**62} <= i_i*{2**62})"),
    "the mask is of another piece": ("Lower", "np.arange(first, past", "np.arange(past, first"),
    "the mask has another shape": (
        "Trapezoid",
        "bool), (past - first, shape[1]))",
        "bool), (past - first, shape[0]))",
    ),
    "the mask is made of integers": ("Lower", "dtype=bool", "dtype=np.int64"),
    "offsets are not masked": (
        "Lower",
        "flat[_offsets(first, past, shape)[held]]",
        "flat[_offsets(first, past, shape)]",
    ),
    "elements are not masked": ("Lower", "tensor[first:past][held]", "tensor[first:past]"),
    "nothing is masked": ("Lower", "[held]", ""),
    "what has no slot is refused": (
        "Strict",
        "_refuse_outside(_offsets(first, past, shape)[held], size)",
        "_refuse_outside(_offsets(first, past, shape), size)",
    ),
    "masked twice": ("Lower", "[held] =", "[held][held] ="),
    "the buffer is not filled": ("Sparse", "    flat[0:] = item\n", ""),
    "the buffer is filled in part": ("Sparse", "flat[0:] = item", "flat[1:] = item"),
    "the tensor is not filled": ("Lower", "        tensor[...] = item\n", ""),
    "the tensor is filled in part": ("Lower", "tensor[...] = item", "tensor[1:] = item"),
    "`out` is filled": (
        "Lower",
        "        tensor[...] = item\n",
        "",
        "    for first, past in _pieces(shape):\n"
        "        held = _held(first, past, shape)\n        tensor",
        "    tensor[...] = item\n    for first, past in _pieces(shape):\n"
        "        held = _held(first, past, shape)\n        tensor",
    ),
    "filled after the elements": (
        "Lower",
        "    return tensor if",
        "    tensor[...] = item\n    return tensor if",
    ),
    "another fill": ("Lower", "_item(fill, buffer.dtype)", "_item(1, buffer.dtype)"),
    "another fill by default": (
        "Lower",
        "list[int],\n    out: _Array | None = None,\n    fill: _Number = 0,",
        "list[int],\n    out: _Array | None = None,\n    fill: _Number = 1,",
    ),
    "`offset` refuses nothing": (
        "Lower",
        "    if not i_j <= i_i:\n"
        "        raise ValueError('layout Lower holds elements where j <= i')\n",
        "",
    ),
    "`offset` refuses more": ("Lower", "if not i_j <= i_i:", "if not i_j < i_i:"),
    "`offset` refuses all": ("Strict", "if not i_j < i_i:", "if not i_i < i_i:"),
    "`offset` refuses others": ("Lower", "if not i_j <= i_i:", "if i_j <= i_i:"),
    "a refusal after a write": (
        "Lower",
        "    return tensor if",
        "    item = _item(fill, buffer.dtype)\n    return tensor if",
    ),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("what", WRONG)
def test_wrong_modules_are_not_validated(what: str) -> None:
    name, *changes = WRONG[what]
    text = text_of(name)
    for right, wrong in zip(changes[::2], changes[1::2], strict=True):
        assert right in text
        text = text.replace(right, wrong)
    assert isinstance(validate(text, DOMAINS[name], source=name), NotValidated), what


# The same of text that moves rows.
WRONG_ROWS = {
    "a row begins later": ("UpperRows", "np.maximum(0, i_i)", "np.maximum(1, i_i)"),
    "a row begins sooner": ("StrictUpper", "np.maximum(0, i_i + 1)", "np.maximum(0, i_i)"),
    "a row ends later": ("Lower", "i_i + 1)", "i_i + 2)"),
    "a row ends sooner": ("Lower", "i_i + 1)", "i_i)"),
    "rows end elsewhere": ("Lower", "_lows(first, past, shape)", "_highs(first, past, shape)"),
    "rows lie along another axis": ("Lower", "past],\n            1", "past],\n            0"),
    "rows are those of another axis": ("Lower", "(past - first, 1)", "(1, past - first)"),
    "rows are put elsewhere": ("Lower", "np.zeros(1", "np.ones(1"),
    "of another piece": ("Lower", "np.arange(first, past", "np.arange(past, first"),
    "numbers may leave 64 bits": ("Lower", "i_i + 1)", f"i_i*{2**62} + 1 - i_i*{2**62 - 1})"),
    "nothing is refused": ("Lower", "_refuse_rows(", "_extents(shape), ("),
    "runs in place of rows": ("Lower", "_scatter_rows", "_scatter"),
    "what is carried differs": ("Lower", "first + low : first", "first + low - 1 : first"),
    "pieces are cut across rows": ("Upper", "range(0, shape[1] if", "range(0, shape[0] if"),
    "another axis is cut": ("Upper", "tensor[:, first:past]", "tensor[first:past]"),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("what", WRONG_ROWS)
def test_wrong_rows_are_not_validated(what: str) -> None:
    name, right, wrong = WRONG_ROWS[what]
    text = text_of(name, by_element=False)
    assert right in text
    changed = text.replace(right, wrong)
    assert isinstance(validate(changed, DOMAINS[name], source=name), NotValidated)


@pytest.mark.slow
def test_another_domain_is_not_validated() -> None:
    assert isinstance(validate(text_of("Square"), DOMAINS["Square"], source="Square"), Validated)
    whole = commands.library("NHWC")
    assert isinstance(validate(text_of("Square"), whole, source="Square"), NotValidated)
    assert isinstance(
        validate(text_of("Band"), DOMAINS["BandBackwards"], source="Band"), NotValidated
    )


def test_another_way_to_say_the_domain_is_validated_in_offset() -> None:
    """Where integers have no bounds, it is enough that the tests hold together."""
    text = text_of("Lower")
    other = text.replace("if not i_j <= i_i:", "if not 2*i_j < 2*i_i + 1:")
    assert other != text
    assert isinstance(validate(other, DOMAINS["Lower"], source="Lower"), Validated)


MUTATED = ("Lower", "Strict", "Band", "BandRows", "Sparse", "Late")
TRIED = 50
"""Mutants are tried by default one in so many; the campaign tries all."""


@cache
def all_mutants(name: str, by_element: bool) -> tuple[Mutant, ...]:
    return tuple(mutants(text_of(name, by_element)))


@pytest.mark.slow
@pytest.mark.parametrize("by_element", [True, False], ids=["by element", "by rows"])
@pytest.mark.parametrize("name", MUTATED)
def test_mutants(name: str, by_element: bool, record_property: pytest.RecordProperty) -> None:
    _try_mutants(name, by_element, TRIED, record_property)


@pytest.mark.campaign
@pytest.mark.parametrize("by_element", [True, False], ids=["by element", "by rows"])
@pytest.mark.parametrize("name", MUTATED)
def test_all_mutants(name: str, by_element: bool, record_property: pytest.RecordProperty) -> None:
    _try_mutants(name, by_element, 1, record_property)


def _try_mutants(
    name: str, by_element: bool, step: int, record_property: pytest.RecordProperty
) -> None:
    """A mutant that is validated has to behave as the layout means, shape by shape."""
    layout, tried, equal = DOMAINS[name], 0, list[str]()
    for mutant in islice(all_mutants(name, by_element), step // 2, None, step):
        text = mutant.text
        if text is None:
            continue
        tried += 1
        if isinstance(validate(text, layout, source=name), Validated):
            wrong = misbehaviour(text, layout)
            assert not wrong, f"{mutant.what} was validated: {wrong}"
            equal.append(mutant.what)
    assert tried > len(equal)
    record_property("mutants", tried)
    record_property("validated and equal", len(equal))
    print(f"{name}: {tried} mutants, {tried - len(equal)} rejected, {equal} equal in behaviour")


def meant(layout: Layout, tensor: np.ndarray, fill: int, lead: int) -> np.ndarray:
    """The buffer by the definition."""
    shape = tensor.shape
    size = layout.size(shape)
    start = size - int(np.prod(layout.box(shape)))
    flat = np.full(size, fill, tensor.dtype)
    flat[:start] = lead
    for index in zip(*np.nonzero(held(layout, shape)), strict=True):
        flat[layout.offset([int(each) for each in index], shape)] = tensor[index]
    return flat.reshape(layout.physical_shape(shape))


def misbehaviour(text: str, layout: Layout) -> str:
    """What a module does wrong, by running it over shapes; empty where it does nothing wrong."""
    names: dict[str, Any] = {}
    try:
        exec(compile(text, "mutant", "exec", dont_inherit=True), names)
        for values in shapes(layout, 4, 20):
            _pack(names, layout, layout.shape_of(values))
            _unpack(names, layout, layout.shape_of(values))
            _offset(names, layout, layout.shape_of(values))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _pack(module: dict[str, Any], layout: Layout, shape: tuple[int, ...]) -> None:
    tensor = numbered(shape)
    wanted = meant(layout, tensor, 6, POISON)
    assert module["physical_shape"](shape) == wanted.shape
    for out in (np.full(wanted.shape, POISON, tensor.dtype), np.full_like(wanted.T, POISON).T):
        assert module["pack"](tensor, out, 6) is out
        assert np.array_equal(out, wanted), f"out at {shape}"
    assert np.array_equal(module["pack"](tensor.T.copy().T, fill=6), meant(layout, tensor, 6, 6))
    fill = layout.fill.value if isinstance(layout.fill, FillValue) else 0
    assert np.array_equal(module["pack"](tensor), meant(layout, tensor, fill, fill))
    if isinstance(layout.fill, FillAny):
        out = np.full(wanted.shape, POISON, tensor.dtype)
        module["pack"](tensor, out)
        assert np.array_equal(out, meant(layout, tensor, POISON, POISON)), f"kept at {shape}"


def _unpack(module: dict[str, Any], layout: Layout, shape: tuple[int, ...]) -> None:
    tensor, mask = numbered(shape), held(layout, shape)
    buffer = meant(layout, tensor, POISON, POISON)
    fill = layout.fill.value if isinstance(layout.fill, FillValue) else 0
    assert np.array_equal(module["unpack"](buffer, shape), np.where(mask, tensor, fill))
    assert np.array_equal(module["unpack"](buffer, shape, fill=5), np.where(mask, tensor, 5))
    for out in (np.full(shape, -7, tensor.dtype), np.full(shape[::-1], -7, tensor.dtype).T):
        assert module["unpack"](buffer, shape, out) is out
        assert np.array_equal(out, np.where(mask, tensor, -7)), f"unpack at {shape}"


def _offset(module: dict[str, Any], layout: Layout, shape: tuple[int, ...]) -> None:
    mask = held(layout, shape)
    for index in np.ndindex(*shape):
        try:
            found = module["offset"](index, shape)
        except ValueError:
            assert not mask[index], f"{index} of {shape} is refused"
        else:
            assert mask[index]
            assert found == layout.offset(index, shape)
