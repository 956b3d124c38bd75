"""Validation of generated text: right modules pass, wrong ones do not, and what passes behaves.

The validator is what vouches for generated text, so it gets texts that no generator writes.
"""

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
from expected_buffers import POISON, expected
from text_mutants import Mutant, mutants

import layoutdsl
from layoutdsl import Layout, commands
from layoutdsl.code import generate_numpy
from layoutdsl.code.numpy import moving, support, ways
from layoutdsl.code.validate import NotValidated, Validated, arrays, validate
from layoutdsl.code.validate.frame import SUPPORT_HASH
from layoutdsl.language.declaration import declaration
from layoutdsl.language.meaning.elements import FillValue

LIBRARY = [name for name in commands.library_names() if not commands.library(name).parameters]

# Layouts that are no layouts at some shapes, so that no text can do what they mean.
UNSOUND = {"Declared", "Pitch", "InnerGaps", "LeadGap", "Nested"}

# Right, and not shown to be so.
NOT_YET = {"TupleRadix"}


@pytest.mark.sampled(140)
@pytest.mark.parametrize("name", LIBRARY)
def test_every_layout_of_the_library_is_validated(name: str) -> None:
    layout = commands.library(name)
    emitted = generate_numpy(layout, source="", certificate=None)
    assert isinstance(validate(emitted.text, layout, source=""), Validated)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_right_modules_are_validated(case: Case) -> None:
    found = validate(emit(case.text).text, layout_of(case.text), source=case.text)
    passes = case.name not in UNSOUND | NOT_YET
    assert isinstance(found, Validated if passes else NotValidated), found


FIXED = [
    # Digits that just cover an extent that is fixed, or bounded: what is left over is 0, and said
    # not to be in the text, or the topmost digit stays below its radix by the range alone.
    "layout Demo(a: 4) = [a/2%2, a%2]",
    "layout Demo(a: 8, b) = [a/4%2, b, a/2%2, a%2]",
    "layout Demo(a: 6, b) = [a/2%3, b, a%2]",
    "layout Demo(a: 16, b: 32) = [a/4%4, b/8%4, a%4/2, b%8, a%2]",
    "layout Demo(a: 3) = [a/4%4, a%4]",
    "layout Demo(a: 1) = [a/2%2, a%2]",
    "layout Demo(a) = [a%2, 0] where A <= 2",
    "layout Demo(a, b) = [a/2%4, b%8, a%2] where A <= 7, B <= 5",
    # A digit of one value, in a tuple with one of another axis.
    "layout Demo(b, c) = [(b%2, c/4%1), c%4, c/4, b/2] where B % 2 == 0, C % 4 == 0",
    "layout Demo(b, c) = [(c/4%1, b%2, c/2%1), c%4, c/4, b/2] where B % 2 == 0, C % 4 == 0",
    "layout Demo(a, c) = [(a/2%2, c/4%1), (c/4, a/4, a%2, c%4)] where A % 4 == 0, C % 4 == 0",
    "layout Demo(a, b) = [(b/2%1, a/1%1), (b%2, a), (b/2, a%1)] where B % 2 == 0",
    "layout Demo(a, b, c) = [(b/8%2, a%1), (c%2, a/1, b%8), b/16, c/2] where B % 16 == 0",
]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("text", FIXED)
def test_digits_that_just_cover_an_extent_are_validated(text: str) -> None:
    found = validate(emit(text).text, layout_of(text), source=text)
    assert isinstance(found, Validated), found


# Axes read as one, of which each but the first is what is left of those before it.
SEVERAL = [
    "layout Demo(a, b, c) = [(a, b, c)/16, (a, b, c)%16]",
    "layout Demo(a, b, c, d) = [(a, b, c, d)/16, (a, b, c, d)%16]",
    "layout Demo(a, b: 1, c) = [(a, b, c)/8, (a, b, c)%8]",
    "layout Demo(a, b: 3, c) = [(a, b, c)/4%2, (a, b, c)/8, (a, b, c)%4]",
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", SEVERAL)
def test_several_axes_that_are_read_as_one_are_validated(text: str) -> None:
    found = validate(emit(text).text, layout_of(text), source=text)
    assert isinstance(found, Validated), found


# Wrong modules. Each line: of which layout, what the text says, what it should not say.
WRONG = {
    "transposed wrongly": ("NCHW16c", "transpose((0, 1, 3, 4, 2))", "transpose((0, 1, 4, 3, 2))"),
    "a slice too long": ("NCHW16c", "slice(0, 16*_q0)", "slice(0, 16*_q0 + 1)"),
    "a slice too short": ("NCHW16c", "slice(0, _q1))\n", "slice(0, _q1 - 1))\n"),
    "another block": ("NCHW16c", "divmod(n_C, 16)", "divmod(n_C, 8)"),
    "rounded down": ("NCHW16c", "(n_N, -(-n_C//16), n_H", "(n_N, n_C//16, n_H"),
    "no tail": ("NCHW16c", "    if _q1:\n", "    if _q1 and _q1 < 15:\n"),
    "the tail where there is none": ("NCHW16c", "    if _q1:\n", "    if _q0:\n"),
    "gaps not filled": ("NCHW16c", "        _fill(buffer[gap], item)", "        pass"),
    "gaps that are not looked at": ("NCHW16c", "for gap in gaps:", "for gap in ():"),
    "gaps filled with something else": (
        "NCHW16c",
        "_fill(buffer[gap], item)",
        "_fill(buffer[gap], 0)",
    ),
    "gaps filled from the start": ("NCHW16c", "slice(_q1, 16)", "slice(0, 16)"),
    "gaps filled in part": ("NCHW16c", "slice(_q1, 16)", "slice(_q1 + 1, 16)"),
    "packed the other way": (
        "NCHW16c",
        "_move(buffer[put], tensor[take].reshape(split).transpose((0, 1, 3, 4, 2)), threads)",
        "_move(tensor[take].reshape(split).transpose((0, 1, 3, 4, 2)), buffer[put], threads)",
    ),
    "nothing is returned": ("NCHW16c", "buffer if out is None", "buffer if box is None"),
    "another buffer is returned": (
        "NCHW16c",
        "return buffer if out is None else out",
        "return np.empty(_box(shape), tensor.dtype) if out is None else out",
    ),
    "the buffer is made anew": (
        "NCHW16c",
        "    for take, split, put in regions:\n        _move(buffer[put], tensor",
        "    if out is None:\n        buffer = np.empty(box, tensor.dtype)\n"
        "    for take, split, put in regions:\n        _move(buffer[put], tensor",
    ),
    "another fill": ("Crouton", "fill: _Number = 31", "fill: _Number = 0"),
    "the fill is not asked for": ("Crouton", "_item(fill, tensor.dtype)", "_item(0, tensor.dtype)"),
    "another type": (
        "NCHW16c",
        "np.empty(box, tensor.dtype)",
        "np.empty(box, 'f4')",
    ),
    "seen as another type": (
        "NCHW16c",
        "buffer[put], tensor[take]",
        "buffer[put].view('u1'), tensor[take]",
    ),
    "the shape is not asked about": (
        "Radix",
        "    extents = _extents(shape)\n    return _box",
        "    extents = shape\n    return _box",
    ),
    "the shape is not asked about for a turned tensor": (
        "NHWC",
        "_extents(tensor.shape)",
        "tensor.shape",
    ),
    "what is remembered is a buffer": (
        "NCHW16c",
        "    return _box(extents), ",
        "    return np.empty(_box(extents), 'f4'), ",
    ),
    "what is remembered grows": (
        "NCHW16c",
        "    for take, split, put in regions:\n        _move(buffer[put], tensor",
        "    gaps.append((slice(None), 0, 0, 0, 0))\n"
        "    for take, split, put in regions:\n        _move(buffer[put], tensor",
    ),
    "remembered by what is equal and not alike": (
        "NCHW16c",
        "    shape = _extents(shape)\n    box, _, regions = _plan(shape)",
        "    box, _, regions = _plan(shape)\n    shape = _extents(shape)",
    ),
    "decorated": ("NCHW16c", "@lru_cache(maxsize=256)\ndef _plan", "@gcd\ndef _plan"),
    "remembered, and moves": ("NCHW16c", "def pack(", "@lru_cache(maxsize=256)\ndef pack("),
    "a name of the support is hidden": (
        "NCHW16c",
        "def pack(",
        "def sorted(a): return a\n\n\ndef pack(",
    ),
    "a view turned wrongly": (
        "NHWC",
        "_seen(tensor.transpose((0, 2, 3, 1)), copy)",
        "_seen(tensor.transpose((0, 3, 2, 1)), copy)",
    ),
    "a view of the wrong side": (
        "NHWC",
        "_seen(buffer.transpose((0, 3, 1, 2)), copy)",
        "_seen(buffer, copy)",
    ),
    "a view where elements have to be moved": (
        "NCHW16c",
        "    if copy is not True:\n        _refuse_view(copy)\n    if out is None:\n        buffer",
        "    if copy is not True:\n        return _seen(tensor, copy)\n"
        "    if out is None:\n        buffer",
    ),
    "a view whatever is asked": (
        "NHWC",
        "            return _seen(tensor",
        "            copy = None\n            return _seen(tensor",
    ),
    "None is no copy": (
        "NHWC",
        "    if copy is not True:\n        if out is None:\n            return _seen(tensor",
        "    if copy is None:\n        if out is None:\n            return _seen(tensor",
    ),
    "moved for one number of threads": (
        "NHWC",
        "    _move(buffer, tensor",
        "    if threads is _ALONE:\n        _move(buffer, tensor",
    ),
    "moved for several threads only": (
        "NHWC",
        "    _move(buffer, tensor",
        "    if threads is not _ALONE:\n        _move(buffer, tensor",
    ),
    "a tensor where threads are asked": ("NHWC", "1)), threads)", "1)), shape)"),
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
    "pieces overlap": ("Xor", "else 0, rows)", "else 0, 1)"),
    "offsets are not looked at": (
        "Across",
        "_refuse_outside(_offsets(first, past, shape), size)",
        "size",
    ),
    "offsets of runs are not looked at": ("Xor", "_refuse_runs(", "_extents(shape), ("),
    "a buffer is turned": ("Xor", "buffer.reshape(-1)", "buffer.transpose((2, 1, 0)).reshape(-1)"),
    "a tensor is turned": ("Across", "tensor[first", "tensor.transpose((1, 0))[first"),
    "a tensor is turned in `pack`": (
        "Across",
        "= tensor[first",
        "= tensor.transpose((1, 0))[first",
    ),
    "a name of Python's is hidden": ("Xor", "    size = int(", "    np = 1\n    size = int("),
    "a function is hidden": ("NCHW16c", "def _box(", "def slice(a, b): return a\n\ndef _box("),
    "a function is defined twice": (
        "NCHW16c",
        "def pack(",
        "def _box(a): return a\n\ndef pack(",
    ),
    "the support differs": ("NCHW16c", "if count <= 32 else", "if count <= 33 else"),
    "something is imported": ("NCHW16c", "import numpy as np", "import numpy as np, os"),
    "something is done": ("NCHW16c", "def pack(", "print(1)\n\n\ndef pack("),
    "no Python": ("NCHW16c", "def pack(", "def pack"),
}


@pytest.mark.parametrize(
    ("fill", "right", "wrong"),
    [
        ("0.5", "= 0.5", "= 0.25"),
        ("-0.5", "= -0.5", "= 0.5"),
        ("-inf", "float('-inf')", "float('inf')"),
        ("inf", "float('inf')", "1e999"),
        ("inf", "float('inf')", "float('infinity')"),
        ("nan", "float('nan')", "float('inf')"),
        ("nan", "float('nan')", "_item('nan')"),
        ("inf", "def pack(", "def float(text): return 0\n\n\ndef pack("),
        ("inf", "def pack(", "float = int\n\n\ndef pack("),
    ],
)
def test_another_real_fill_is_not_validated(fill: str, right: str, wrong: str) -> None:
    source = f"layout Demo(n, c) = [n, c/4, c%4] fill {fill}"
    layout = layout_of(source)
    text = emit(source).text
    assert isinstance(validate(text, layout, source=source), Validated)
    assert right in text
    found = validate(text.replace(right, wrong), layout, source=source)
    assert isinstance(found, NotValidated), wrong


@pytest.mark.sampled(12)
@pytest.mark.parametrize("what", WRONG)
def test_wrong_modules_are_not_validated(what: str) -> None:
    name, right, wrong = WRONG[what]
    case = BY_NAME[name]
    text = emit(case.text).text
    assert right in text
    found = validate(text.replace(right, wrong), layout_of(case.text), source=case.text)
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


@pytest.mark.slow
@pytest.mark.sampled(12)
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
        if isinstance(validate(text, layout, source=case.text), Validated):
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


def test_what_is_put_into_a_number_is_not_validated() -> None:
    """An index without entries is no view, so that nothing reaches the tensor."""
    written = "layout L() = [0]"
    text, layout = emit(written).text, layout_of(written)
    assert isinstance(validate(text, layout, source=written), Validated)
    wrong = text.replace("_move(tensor.reshape(split)", "_move(tensor[take].reshape(split)")
    assert wrong != text
    assert isinstance(validate(wrong, layout, source=written), NotValidated)


def test_the_head_names_the_validation() -> None:
    layout = commands.library("NCHW4c")
    made = commands.generate(layout)
    found = arrays.validate(made.text, layout, source=declaration(layout))
    assert isinstance(found, Validated)
    assert f'\nVALIDATED = "{found.seal}"\n' in made.text


def test_the_head_says_that_nothing_was_validated() -> None:
    made = commands.generate(commands.library("NCHW4c"), validate=False)
    assert "\n# Nobody has shown" in made.text
    assert made.load().VALIDATED is False
    assert commands.compile(commands.library("NCHW4c"), "numpy", validate=False).VALIDATED is False


@pytest.mark.slow
def test_what_is_not_validated_is_not_generated() -> None:
    layout = layout_of("layout Odd(c, h, w) = [(c*H + h)*W + w + (c*c - c)%2 : C*H*W]")
    with pytest.raises(layoutdsl.UnvalidatedError, match="an element's slot"):
        commands.generate(layout, unproved=True)
    assert commands.generate(layout, validate=False, unproved=True).load().VALIDATED is False


@pytest.mark.slow
def test_validations_have_one_hash_in_every_process() -> None:
    program = (
        "import layoutdsl; print(layoutdsl.generate(layoutdsl.library('R4CroutonLayout')).text)"
    )
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
    """Where this fails, one of both was changed: see that `calls` still says what it means."""
    pieces = list[str]()
    for part in (support, ways, moving):
        text = Path(part.__file__).read_text("utf-8").split(f"\n# {'-' * 98}\n", 1)[1]
        lines = text.split("\n")
        for statement in ast.parse(text).body:
            first = min(
                [statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))]
            )
            pieces.append("\n".join(lines[first - 1 : statement.end_lineno]))
    assert hashlib.sha256("\n".join(pieces).encode()).hexdigest() == SUPPORT_HASH


# Modules of layouts with copies.

LANES = "layout Lanes(r, g, copy: 4 broadcast) = [r, g/8, copy, g%8]"

WRONG_COPIES = (
    ("return (extents[0], extents[1], 4)", "return (extents[0], extents[1], 5)"),
    ("return (extents[0], extents[1], 4)", "return (extents[1], extents[0], 4)"),
    ("_whole(tensor.shape), (2,))", "_whole(tensor.shape), (1,))"),
    ("_whole(tensor.shape), (2,))", "_all_extents(tensor.shape), (2,))"),
    ("return all_pack(tensor, out, fill, threads, copy)", "return all_pack(tensor, out, 0)"),
    ('tensor = _array(src, "src")\n    tensor = _spread', "tensor = _spread"),
    ("np.broadcast_to(tensor.reshape(single), whole)", "np.broadcast_to(tensor, whole)"),
    ("if axis in axes else", "if axis not in axes else"),
    ("part_g[2][0], 0, part_g[2][1])", "part_g[2][0], 1, part_g[2][1])"),
    ("    box, _, regions = _plan(shape)", "    box, _, regions = _all_plan(shape)"),
    ("return _all_box(extents), _all_gaps", "return _box(extents), _all_gaps"),
    ("if e_copy != 4", "if e_copy != 3"),
    ("def _whole(shape: object)", "def _whole(shape: object, more: object = 1)"),
    ("i_copy)*8 + i_g%8", "i_copy)*8 + i_g%4"),
    ("+ 0)*8 + i_g%8", "+ 1)*8 + i_g%8"),
    ("part_g[2][0], slice(None), part_g[2][1])", "part_g[2][0], slice(0, 3), part_g[2][1])"),
)  # fmt: skip


@cache
def with_copies() -> str:
    return layoutdsl.generate(layout_of(LANES)).text


def test_a_right_text_of_copies_is_validated() -> None:
    layout, text = layout_of(LANES), with_copies()
    assert isinstance(validate(text, layout, source=LANES), Validated)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("old", "new"), WRONG_COPIES)
def test_a_wrong_text_of_copies_is_not(old: str, new: str) -> None:
    layout, text = layout_of(LANES), with_copies()
    assert old in text, old
    mutant = text.replace(old, new)
    assert isinstance(validate(mutant, layout, source=LANES), NotValidated)


HIDING = (
    # what is called, what stands in its place, and what that does
    ("_move(buffer[put], tensor", "_all_move(buffer[put], tensor", "_all_move(a, b, c)"),
    ("_all_box(extents), _all_gaps", "all__box(extents), _all_gaps", "all__box(shape)"),
    ("gaps, regions = _all_plan(shape)", "gaps, regions = all__plan(shape)", "all__plan(shape)"),
    ("tensor = np.empty(shape", "tensor = all_np.empty(shape", "all_np(shape)"),
)  # fmt: skip


@pytest.mark.parametrize(("old", "new", "head"), HIDING)
def test_a_function_of_all_copies_hides_no_other(old: str, new: str, head: str) -> None:
    """Its usual name would be that of what every module carries, or of another function."""
    layout, text = layout_of(LANES), with_copies()
    assert old in text
    mutant = f"{text.replace(old, new, 1)}\n\ndef {head}:\n    return _all_box((1, 1, 4))\n"
    found = validate(mutant, layout, source=LANES)
    assert found == NotValidated("a function of all copies hides another")


@pytest.mark.slow
def test_a_text_is_of_its_own_copies_alone() -> None:
    """A module with copies is none without, nor of another axis, nor the other way round."""
    layout = layout_of(LANES)
    text = layoutdsl.generate(layout, source=LANES).text
    plain = layoutdsl.generate(layout.every_copy, source=None).text
    assert isinstance(validate(text, layout.every_copy, source=LANES), NotValidated)
    said = declaration(layout.every_copy)
    assert isinstance(validate(plain.replace(said, LANES), layout, source=LANES), NotValidated)
