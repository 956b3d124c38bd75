"""Validation of generated text: right modules pass, wrong ones do not, and what passes behaves."""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
from functools import cache
from itertools import islice, product
from pathlib import Path

import numpy as np
import pytest
from codegen_cases import BY_NAME, CASES, Case, emit, layout_of, tensor_of
from test_codegen_meaning import POISON, expected
from text_mutants import Mutant, mutants

import layoutdsl
from layoutdsl import api
from layoutdsl.codegen import generate_numpy, support
from layoutdsl.model import FillValue, Layout
from layoutdsl.validate import NotValidated, Validated, validate
from layoutdsl.validate.frame import SUPPORT_HASH

LIBRARY = [name for name in api.library_names() if not api.library(name).parameters]

# Layouts that are no layouts at some shapes, so that no text can do what they mean.
UNSOUND = {"Declared", "Pitch", "InnerGaps", "LeadGap", "Nested"}

# Right, and not shown to be so.
NOT_YET = {"TupleRadix"}


@pytest.mark.parametrize("name", LIBRARY)
def test_every_layout_of_the_library_is_validated(name: str) -> None:
    layout = api.library(name)
    emitted = generate_numpy(layout, source="", certificate=None)
    assert isinstance(validate(emitted.text, layout), Validated)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_right_modules_are_validated(case: Case) -> None:
    found = validate(emit(case.text).text, layout_of(case.text))
    passes = case.name not in UNSOUND | NOT_YET
    assert isinstance(found, Validated if passes else NotValidated), found


# Wrong modules. Each line: of which layout, what the text says, what it should not say.
WRONG = {
    "transposed wrongly": ("NCHW16c", "transpose((0, 1, 3, 4, 2))", "transpose((0, 1, 4, 3, 2))"),
    "a slice too long": ("NCHW16c", "slice(0, 16*_q0)", "slice(0, 16*_q0 + 1)"),
    "a slice too short": ("NCHW16c", "slice(0, _q1))\n", "slice(0, _q1 - 1))\n"),
    "another block": ("NCHW16c", "divmod(n_C, 16)", "divmod(n_C, 8)"),
    "rounded down": ("NCHW16c", "(n_N, -(-n_C//16), n_H", "(n_N, n_C//16, n_H"),
    "no tail": ("NCHW16c", "    if _q1:\n", "    if _q1 and _q1 < 15:\n"),
    "the tail where there is none": ("NCHW16c", "    if _q1:\n", "    if _q0:\n"),
    "gaps not filled": ("NCHW16c", "box[...] = item", "pass"),
    "gaps filled from the start": ("NCHW16c", "slice(_q1, 16)", "slice(0, 16)"),
    "gaps filled in part": ("NCHW16c", "slice(_q1, 16)", "slice(_q1 + 1, 16)"),
    "packed the other way": (
        "NCHW16c",
        "_move(slots[put], tensor[take].reshape(split).transpose((0, 1, 3, 4, 2)))",
        "_move(tensor[take].reshape(split).transpose((0, 1, 3, 4, 2)), slots[put])",
    ),
    "another buffer is returned": (
        "NCHW16c",
        "return buffer if out is None else out",
        "return np.empty(_box(shape), tensor.dtype) if out is None else out",
    ),
    "the buffer is made anew": (
        "NCHW16c",
        "    slots = _slots(buffer, shape)\n    for take, split, put in _regions(shape):\n"
        "        _move(slots[put], tensor",
        "    if out is None:\n        buffer = np.empty(_box(shape), tensor.dtype)\n"
        "    slots = _slots(buffer, shape)\n    for take, split, put in _regions(shape):\n"
        "        _move(slots[put], tensor",
    ),
    "another fill": ("Crouton", "fill: _Number = 31", "fill: _Number = 0"),
    "the fill is not asked for": ("Crouton", "_item(fill, tensor.dtype)", "_item(0, tensor.dtype)"),
    "another type": (
        "NCHW16c",
        "np.empty(_box(shape), tensor.dtype)",
        "np.empty(_box(shape), 'f4')",
    ),
    "seen as another type": (
        "NCHW16c",
        "slots[put], tensor[take]",
        "slots[put].view('u1'), tensor[take]",
    ),
    "the shape is not asked about": ("Radix", "_extents(tensor.shape)", "tensor.shape"),
    "a condition is weaker": ("Skew", "if not (n_J) <= (4):", "if not (n_J) <= (5):"),
    "a shape is refused": ("NCHW16c", 'shape, 4, "shape")\n', 'shape, 5, "shape")\n'),
    "an offset off by one": ("NCHW16c", "*16 + i_c%16", "*16 + i_c%16 + 1"),
    "the start is overwritten": ("Lead", "buffer = buffer[7:]", "buffer = buffer[6:]"),
    "the start is not filled": ("Lead", "buffer[:7] = item", "buffer[:6] = item"),
    "a copy is not put back": ("TupleBlock", "turned[...] = joined", "turned[...] = turned"),
    "a copy is made for every region": (
        "TupleBlock",
        "_move(joined[take]",
        "_move(tensor.transpose((0, 1, 2)).reshape((n_H*n_N, n_W))[take]",
    ),
    "elements are filled": ("Xor", "flat[0:] = item", "flat[1:] = item"),
    "filled after the elements": (
        "Rotate",
        "        flat[_offsets(first, past, shape)] = tensor[first:past]\n",
        "        flat[_offsets(first, past, shape)] = tensor[first:past]\n    flat[0:] = item\n",
    ),
    "filled between the elements": (
        "Rotate",
        "        flat[_offsets(first, past, shape)] = tensor[first:past]\n",
        "        flat[0:] = item\n"
        "        flat[_offsets(first, past, shape)] = tensor[first:past]\n",
    ),
    "the tensor is filled": ("Rotate", "flat[0:] = item", "tensor[0:] = item"),
    "another formula": ("Xor", "i_j//8 ^ i_i%8", "i_j//8 & i_i%8"),
    "pieces overlap": ("Xor", "range(0, shape[0], rows)", "range(0, shape[0], 1)"),
    "offsets are not looked at": (
        "Xor",
        "_refuse_outside(_offsets(first, past, shape), size)",
        "size",
    ),
    "a buffer is turned": ("Xor", "buffer.reshape(-1)", "buffer.transpose((2, 1, 0)).reshape(-1)"),
    "a tensor is turned": ("Across", "tensor[first", "tensor.transpose((1, 0))[first"),
    "a tensor is turned in `pack`": (
        "Across",
        "= tensor[first",
        "= tensor.transpose((1, 0))[first",
    ),
    "a name of Python's is hidden": ("Xor", "    size = int(", "    np = 1\n    size = int("),
    "a function is hidden": ("NCHW16c", "def _slots(", "def slice(a, b): return a\n\ndef _slots("),
    "a function is defined twice": (
        "NCHW16c",
        "def pack(",
        "def _slots(a, b): return a\n\ndef pack(",
    ),
    "the support differs": ("NCHW16c", "lanes <= 8 and lanes <", "lanes <= 7 and lanes <"),
    "something is imported": ("NCHW16c", "import numpy as np", "import numpy as np, os"),
    "something is done": ("NCHW16c", "def pack(", "print(1)\n\n\ndef pack("),
    "no Python": ("NCHW16c", "def pack(", "def pack"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_modules_are_not_validated(what: str) -> None:
    name, right, wrong = WRONG[what]
    case = BY_NAME[name]
    text = emit(case.text).text
    assert right in text
    found = validate(text.replace(right, wrong), layout_of(case.text))
    assert isinstance(found, NotValidated), what


MUTATED = (
    "NCHW16c",
    "Crouton2x2",
    "OIhw4i16o4i",
    "BA16a64b4a",
    "Gap",
    "LeadBy",
    "TupleApart",
    "Fixed",
    "Constants",
    "Radix",
    "Xor",
    "Triangle",
)
TRIED = 6
"""Mutants of each that are tried by default; the campaign tries all."""


@cache
def all_mutants(name: str) -> tuple[Mutant, ...]:
    return tuple(mutants(emit(BY_NAME[name].text).text))


@pytest.mark.parametrize("name", MUTATED)
def test_mutants(name: str, record_property: pytest.RecordProperty) -> None:
    _try_mutants(name, len(all_mutants(name)) // TRIED, record_property)


@pytest.mark.campaign
@pytest.mark.parametrize("name", MUTATED)
def test_all_mutants(name: str, record_property: pytest.RecordProperty) -> None:
    _try_mutants(name, 1, record_property)


def _try_mutants(name: str, step: int, record_property: pytest.RecordProperty) -> None:
    """A mutant that is validated has to behave as the layout means, shape by shape."""
    case = BY_NAME[name]
    layout = layout_of(case.text)
    assert not misbehaviour(emit(case.text).text, layout, case, offsets=True)
    tried, equal = 0, list[str]()
    for mutant in islice(all_mutants(name), step // 2, None, step):
        text = mutant.text
        if text is None:
            continue
        tried += 1
        if isinstance(validate(text, layout), Validated):
            offsets = mutant.function.name in ("offset", "_extents")
            wrong = misbehaviour(text, layout, case, offsets=offsets)
            assert not wrong, f"{mutant.what} was validated: {wrong}"
            equal.append(mutant.what)
    assert tried > len(equal)
    record_property("mutants", tried)
    record_property("validated and equal", len(equal))
    print(
        f"{name}: {tried} mutants, {tried - len(equal)} rejected, {len(equal)} equal in behaviour"
    )


def misbehaviour(text: str, layout: Layout, case: Case, *, offsets: bool) -> str:
    """What a module does wrong, by running it over shapes; empty where it does nothing wrong."""
    fill = layout.fill.value if isinstance(layout.fill, FillValue) else 6
    names: dict[str, object] = {}
    try:
        exec(compile(text, "mutant", "exec", dont_inherit=True), names)
        module = type(
            "module", (), {key: staticmethod(f) for key, f in names.items() if callable(f)}
        )
        for shape in case.shapes:
            _run(module, layout, shape, fill)
            for index in product(*map(range, shape)) if offsets else ():
                assert module.offset(index, shape) == layout.offset(index, shape)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


@cache
def meant(layout: Layout, shape: tuple[int, ...], fill: int, lead: int) -> np.ndarray:
    """The buffer by the definition; computed once for many mutants."""
    return expected(layout, tensor_of(shape), fill, lead)


def _run(module: type, layout: Layout, shape: tuple[int, ...], fill: int) -> None:
    tensor = tensor_of(shape)
    want, fresh = meant(layout, shape, fill, POISON), meant(layout, shape, fill, fill)
    assert module.physical_shape(shape) == want.shape
    out = np.full(want.shape, POISON, tensor.dtype)
    assert module.pack(tensor, out, fill) is out
    assert np.array_equal(out, want), f"out at {shape}"
    assert np.array_equal(module.pack(tensor, fill=fill), fresh), f"pack at {shape}"
    if isinstance(layout.fill, FillValue):
        assert np.array_equal(module.pack(tensor), fresh), f"fill at {shape}"
    poisoned = meant(layout, shape, POISON, POISON)
    assert np.array_equal(module.unpack(poisoned, shape), tensor), f"unpack at {shape}"
    back = np.full(shape, POISON, tensor.dtype)
    assert module.unpack(poisoned, shape, back) is back
    assert np.array_equal(back, tensor), f"unpack into out at {shape}"
    turned = np.full(shape[::-1], POISON, tensor.dtype).T
    assert np.array_equal(module.unpack(poisoned, shape, turned), tensor), f"turned at {shape}"
    assert np.array_equal(module.pack(np.asfortranarray(tensor)), fresh) or fill == 6


def test_the_head_names_the_validation() -> None:
    layout = api.library("NCHW4c")
    made = api.generate(layout)
    found = validate(made.text, layout)
    assert isinstance(found, Validated)
    assert f"\nVALIDATED = '{found.certificate}'\n" in made.text
    assert found.certificate == api.compile(layout, "numpy").VALIDATED


def test_the_head_says_that_nothing_was_validated() -> None:
    made = api.generate(api.library("NCHW4c"), validate=False)
    assert "\n# Nobody has shown" in made.text
    assert made.load().VALIDATED is False
    assert api.compile(api.library("NCHW4c"), "numpy", validate=False).VALIDATED is False


def test_what_is_not_validated_is_not_generated() -> None:
    layout = layout_of(BY_NAME["TupleRadix"].text)
    with pytest.raises(layoutdsl.UnvalidatedError, match="an element's place"):
        api.generate(layout)
    assert api.generate(layout, validate=False).load().VALIDATED is False


def test_validations_have_one_hash_in_every_process() -> None:
    program = "from layoutdsl import api; print(api.generate(api.library('R4CroutonLayout')).text)"
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1


def test_the_support_is_the_one_that_was_read() -> None:
    """Where this fails, `support` was changed: see that `calls` still says what it means."""
    text = Path(support.__file__).read_text("utf-8").split(f"\n# {'-' * 98}\n", 1)[1]
    lines, pieces = text.split("\n"), list[str]()
    for statement in ast.parse(text).body:
        pieces.append("\n".join(lines[statement.lineno - 1 : statement.end_lineno]))
    assert hashlib.sha256("\n".join(pieces).encode()).hexdigest() == SUPPORT_HASH
