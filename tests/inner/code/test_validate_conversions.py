"""Modules that convert buffers: right ones are validated, and no wrong one is.

The validator decides which generated texts may run, and no public door takes a wrong text.
"""

from __future__ import annotations

from itertools import pairwise, permutations
from random import Random

import pytest
from codegen_cases import layout_of
from conversion_modules import Layouts, check, drawn_pair, outcomes, pair_shapes
from converting_cases import BY_NAME, PAIRS, Pair, emitted, over_same_axes
from emitted_fuzz.modules import executed
from text_mutants import mutants

import layoutdsl
from layoutdsl.code import load
from layoutdsl.code.arrays import generate_conversion
from layoutdsl.code.loops.moves import Move
from layoutdsl.code.loops.trees import tree_of
from layoutdsl.code.moves import Fallback
from layoutdsl.code.validate.arrays import validate_conversion
from layoutdsl.code.validate.loops import validate_tree_conversion
from layoutdsl.code.validate.outcome import NotValidated, Validated


@pytest.mark.sampled(16)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_right_modules_are_validated(pair: Pair) -> None:
    text = emitted(pair).text
    found = validate_conversion(text, *pair.layouts, texts=pair.texts)
    assert isinstance(found, Validated), found
    check(text, pair.layouts, pair.shapes)


LIBRARY = (
    ("NCHW4c", "NCHW16c", "nChw8c", "NHWC", "NCHW", "FractalZFp16", "MaceChannelMajor"),
    ("R4FlatMemoryLayout", "R4Depth32MemoryLayout", "R4CroutonLayout", "R4Crouton2x2Layout"),
    ("OIhw16i16o", "OIhw4i16o4i", "OHWIo8i4", "HWIO", "HtpConvWeights"),
    ("XlaRowMajor", "XlaTile8x128", "XlaTile2x2", "XlaTile2x4x2"),
    ("MlirPack8x32", "CublasCol32", "CublasCol4_4R2_8C"),
)
BESIDE = [both for family in LIBRARY for pair in pairwise(family) for both in (pair, pair[::-1])]
APART = [both for family in LIBRARY for both in permutations(family, 2) if both not in BESIDE]
SMALL = {4: ((1, 5, 3, 2), (2, 33, 9, 3)), 2: ((3, 5), (17, 66))}


@pytest.mark.slow
@pytest.mark.sampled(15)
@pytest.mark.parametrize("names", BESIDE, ids="-".join)
def test_pairs_of_the_library(names: tuple[str, str]) -> None:
    """NumPy validated and run; of compiled code the tree."""
    _try_pair(names)


@pytest.mark.campaign
@pytest.mark.parametrize("names", APART, ids="-".join)
def test_more_pairs_of_the_library(names: tuple[str, str]) -> None:
    _try_pair(names)


def _try_pair(names: tuple[str, str]) -> None:
    pair = over_same_axes(*map(layoutdsl.library, names))
    made = generate_conversion(*pair, texts=("", ""))
    assert not isinstance(made, Fallback)
    found = validate_conversion(made.text, *pair, texts=("", ""))
    assert isinstance(found, Validated), found
    check(made.text, pair, SMALL[pair[0].rank])
    move = Move(*pair)
    assert isinstance(validate_tree_conversion(tree_of(move, 2), *pair, 2), Validated)


VIEWS = "    N, C, H, W = shape\n"
LOOP = "    for c, c1, c0 in _cut(C, 16):\n"
PART = "        part = source[:, c//16:c//16 + c1, :, :, :c0]"
FILL = "        target[:, C//16, :, :, C%16:] = item\n"
MOVE = "    for part, slots in _views(src, target, shape):\n"
TO_NHWC, TO_BLOCKS = "NCHW16c-NHWC", "NHWC-NCHW16c"
WRONG = {
    # of which pair, what the text says, what it should not say
    "one slot too far": (TO_NHWC, "c//16:c//16 + c1, :", "c//16 + 1:c//16 + 1 + c1, :"),
    "the wrong block is read": (TO_NHWC, "c//16:c//16 + c1, :", ":c1, :"),
    "padding is moved": (TO_NHWC, ":c0].transpose", ":16].transpose"),
    "a slice is clipped": (TO_NHWC, "c:c + c1*c0", "c:c + c1*16"),
    "parts are exchanged": (TO_NHWC, "yield part, slots", "yield slots, part"),
    "read from what is written": (TO_NHWC, "part = source[", "part = target["),
    "turned wrongly": (TO_NHWC, "transpose(0, 2, 3, 1, 4)", "transpose(0, 3, 2, 1, 4)"),
    "another cut": (TO_NHWC, "_cut(C, 16)", "_cut(C, 8)"),
    "the rest is left out": (TO_NHWC, "    if rest:\n", "    if whole:\n"),
    "extents of another array": (TO_NHWC, VIEWS, "    N, C, H, W = source.shape[:4]\n"),
    "the shape is another": (TO_NHWC, VIEWS, f"    shape = (1, 1, 1, 1)\n{VIEWS}"),
    "a buffer is another": (TO_NHWC, VIEWS, f"{VIEWS}    source = target\n"),
    "digits are exchanged": ("NCHW16c-NCHW4c", "(N, c2, H, W, c1, c0)", "(N, c1, H, W, c2, c0)"),
    "the fill is left out": (TO_BLOCKS, FILL, "        pass\n"),
    "the fill is in another place": (TO_BLOCKS, "C//16, :, :, C%16:", "0, :, :, C%16:"),
    "the fill comes last": (TO_BLOCKS, "    return target\n", "    target[...] = item\n"),
    "the fill is another": (TO_BLOCKS, FILL, f"        item = 7\n{FILL}"),
    "the target is another": (TO_BLOCKS, FILL, f"{FILL}    target = src\n"),
    "a fill yields": (TO_BLOCKS, FILL, f"{FILL}        yield target, target\n"),
    "another default": ("Crouton-NCHW16c", "fill: float = 0", "fill: float = 31"),
    "nothing is returned": (TO_BLOCKS, "    return target\n", ""),
    "another buffer is returned": (TO_BLOCKS, "return target", "return src"),
    "shapes are not checked": (
        TO_BLOCKS,
        "read, written = physical_shapes(shape)",
        "written, read = physical_shapes(shape)",
    ),
    "integers of 32 bits": (TO_BLOCKS, "map(operator.index, shape))\n    item", "shape)\n    item"),
    "the size of the source": (TO_BLOCKS, "    src = src.reshape(read)\n", ""),
    "a range is wider": ("Radix-Radix8", "if not C >= 5:", "if not C >= 4:"),
    "a range is narrower": ("Radix-Radix8", "if not C >= 5:", "if not C >= 6:"),
    "extents of 0": (TO_BLOCKS, "min(shape) < 1", "min(shape) < 0"),
    "shapes are exchanged": (
        TO_NHWC,
        "return (N, -(-C//16), H, W, 16), (N, H, W, C)",
        "return (N, H, W, C), (N, -(-C//16), H, W, 16)",
    ),
    "the source starts elsewhere": ("Lead-InnerGap", "source[7:]", "source[6:]"),
    "nothing before the first slot": ("Gaps-LeadBy", "    if out is None:\n", "    if C > 9:\n"),
    "it moves under a condition": (TO_NHWC, MOVE, f"    if not out:\n        return src\n{MOVE}"),
    "it moves twice": (TO_NHWC, "    return target\n", f"{MOVE}        pass\n    return target\n"),
    "a decorator": (TO_NHWC, "def convert(", "@np.vectorize\ndef convert("),
    "a default is executed": (TO_NHWC, "block: int)", "block: int = print())"),
    "a function nobody calls": (
        TO_NHWC,
        "def _views(",
        'def _cut9(a=print()):\n    """X."""\n    return\n\n\ndef _views(',
    ),
    "a function of the other kind": (
        TO_NHWC,
        "def _views(",
        'def offset(shape: int) -> int:\n    """X."""\n    return 0\n\n\ndef _views(',
    ),
    "another constant": (TO_NHWC, "\n\n\ndef phys", "\nFALLBACK = None\n\n\ndef phys"),
    "a branch that nobody reads": (TO_NHWC, LOOP, f"    if 0 > 1:\n        np = 1\n{LOOP}"),
    "a name of a builtin": (TO_NHWC, LOOP, f"    divmod = C\n{LOOP}"),
    "too deep": (TO_NHWC, LOOP, f"    x = {'1 + ' * 3000}1\n{LOOP}"),
    "TARGET is bound": (TO_NHWC, LOOP, f"    TARGET = C\n{LOOP}"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_modules_are_not_validated(what: str) -> None:
    name, right, wrong = WRONG[what]
    pair = BY_NAME[name]
    text = emitted(pair).text
    assert right in text, text
    found = validate_conversion(text.replace(right, wrong, 1), *pair.layouts, texts=pair.texts)
    assert isinstance(found, NotValidated), what


def unsound(pair: Layouts, text: str, random: Random, count: int) -> tuple[list[str], int]:
    """Mutants that are validated and behave otherwise; and how many were validated at all."""
    shapes = list(pair_shapes(pair, random, 4))
    every = list(mutants(text))
    wanted = outcomes(executed(text), pair, shapes)
    found, validated = list[str](), 0
    for mutant in random.sample(every, min(count, len(every))):
        changed = mutant.text
        if changed is None:
            continue
        if isinstance(validate_conversion(changed, *pair, texts=("", "")), Validated):
            validated += 1
            if outcomes(executed(changed), pair, shapes) != wanted:
                found.append(f"{pair}\n{mutant.what}")
    return found, validated


MUTATED = (
    ("NCHW16c-NCHW4c", ""),
    ("Lead-InnerGap", "u4"),
    ("Gaps-LeadBy", "i8"),
    ("Tile-Tile2", "f16"),
    ("TupleBlock-TupleQuad", "bool"),
    ("Radix-Radix8", ""),
    ("Zero-ZeroPoint", "u4"),
    ("NHWC-NCHW16c", "bf16"),
)


def _untold(name: str, element: str) -> tuple[Layouts, str]:
    """A pair of a type, and its module, which quotes nothing."""
    source, target = BY_NAME[name].texts
    said = f" of {element}" if element else ""
    pair = over_same_axes(layout_of(f"{source}"), layout_of(f"{target}{said}"))
    made = generate_conversion(*pair, texts=("", ""))
    assert not isinstance(made, Fallback)
    return pair, made.text


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "element"), MUTATED)
def test_mutants(name: str, element: str) -> None:
    pair, text = _untold(name, element)
    found, _ = unsound(pair, text, Random(name), 25)
    assert not found


@pytest.mark.campaign
@pytest.mark.parametrize(("name", "element"), MUTATED)
def test_all_mutants(name: str, element: str, capsys: pytest.CaptureFixture[str]) -> None:
    pair, text = _untold(name, element)
    found, validated = unsound(pair, text, Random(name), 10**6)
    assert not found
    with capsys.disabled():
        print(f"{name}: {validated} mutants validated, and right", end="; ")


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(20))
def test_mutants_of_drawn_pairs(seed: int) -> None:
    random, done = Random(seed), 0
    while done < 100:
        pair = drawn_pair(random)
        made = generate_conversion(*pair, texts=("", ""))
        if isinstance(made, Fallback):
            continue
        if isinstance(validate_conversion(made.text, *pair, texts=("", "")), Validated):
            found, _ = unsound(pair, made.text, random, 10)
            assert not found
            done += 10


def test_a_module_is_for_its_own_layouts() -> None:
    pair = BY_NAME["NCHW16c-NHWC"]
    source, target = pair.layouts
    text = emitted(pair).text
    other = layout_of("layout NCHW8c(n, c, h, w) = [n, c/8, h, w, c%8]")
    copied = layout_of("layout Two(n, c, h, w, k: 2 broadcast) = [k, n, h, w, c]")
    narrow = layout_of("layout NHWC(n, c, h, w) = [n, h, w, c] where C <= 9")
    typed = layout_of("layout NHWC(n, c, h, w) = [n, h, w, c] of u8")
    for wrong in (
        (target, source),
        (other, target),
        (source, other),
        (source, narrow),
        (source, typed),
        (source, copied),
    ):
        assert isinstance(validate_conversion(text, *wrong, texts=pair.texts), NotValidated)
    turned = pair.texts[::-1]
    assert isinstance(validate_conversion(text, source, target, texts=turned), NotValidated)


def test_the_text_is_the_same_every_time() -> None:
    pair = BY_NAME["Crouton-NCHW16c"]
    again = generate_conversion(*pair.layouts, texts=(pair.source, pair.target))
    assert again == emitted(pair)
    assert pair.target == load(emitted(pair)).TARGET
