"""C that is read back: shown to be right for every shape, or refused.

The validator is what vouches for generated C, so it gets texts that no generator writes.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from dataclasses import replace
from itertools import product
from random import Random

import numpy as np
import pytest
from c_faults import NAME, fault, faulty, kinds, text_of, validated
from codegen_cases import layout_of
from native_cases import needs_compiler
from native_fuzz import Case, cases
from random_digits import Written
from tree_faults import small_shapes

import layoutdsl
from layoutdsl.code import emitting
from layoutdsl.code.loops.moves import Move, NoCode, move_of
from layoutdsl.code.native.program import moved
from layoutdsl.code.validate.loops import validate_c, validate_c_conversion
from layoutdsl.code.validate.outcome import NotValidated, Validated
from layoutdsl.commands.bench.drawn import drawn_tasks

# Layouts whose C has every form: pieces of several loops, slides, edges, scratch, runs and fills.
LAYOUTS = {
    "layout A(c, w) = [c/4, w, c%4]": ((1, 3, 4, 5), (1, 15, 16, 17, 33)),
    "layout A(n, m) = [n/4, m/4, n%4, m%4]": ((1, 4, 5), (3, 15, 17)),
    "layout A(h, c) = [c, h]": ((1, 15, 17, 33), (7, 16, 33)),
    "layout A(w) = [w/8, w%8] offset 3": ((1, 7, 8, 9, 17),),
    "layout A(c: 3, w) = [w, c : 4] fill 7": ((3,), (1, 15, 17)),
    "layout A(o, i, h: 3) = [o/4, h, i/4, o%4, i%4]": ((1, 5), (3, 9), (3,)),
    # an axis of one index between two that are read as one
    "layout A(o, h: 1, i) = [o, i, h]": ((1, 2, 5), (1,), (1, 3, 17)),
    # by rows: bits, a part of a shape, blocks within others that are no multiples of them
    "layout A(i, j) = [i, (j/4) ^ (i%4), j%4]": ((1, 3, 8), (4, 7, 16)),
    "layout A(i, j) = [i + 2 - j : 5, j] fill 7 where j <= i + 2, i <= j + 2": ((1, 4), (1, 3, 5)),
    "layout A(c) = [c/6, 1 + c%6 : 8]": ((1, 6, 7, 20),),
}
# Three passes, whose slots are digits of digits: this line fails once a proof is found.
CASES = [*product(LAYOUTS, ("pack", "unpack"))]
CONVERTED = tuple(
    Case(
        (Written(f"layout A(c, w) = {one}"), Written(f"layout A(c, w) = {other}")),
        "convert",
        4,
        shapes,
    )
    for one, other in (
        ("[c/4, w, c%4]", "[c/8, w, c%8]"),
        ("[c/6, w, c%6]", "[w, c/8, c%8]"),
        ("[c, (w/4) ^ (c%4), w%4]", "[w/8, c, w%8]"),
    )
    for shapes in [((1, 4), (5, 3), (8, 16), (9, 17))]
)


def case_of(text: str, verb: str, width: int = 4) -> Case:
    return Case((Written(text),), verb, width, tuple(product(*LAYOUTS[text])))


def known(case: Case) -> str:
    text = text_of(case)
    assert text is not None
    return text


def changed(case: Case, most: int, seed: int) -> Counter[str]:
    random, text = Random(seed), known(case)
    found = Counter[str]()
    for kind, each in kinds(case, text, (faulty(text, random) for _ in range(most))):
        assert kind != "wrong, VALID", each
        found[kind] += 1
    return found


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", [*(case_of(*each) for each in CASES), *CONVERTED], ids=str)
@pytest.mark.parametrize("most", [4, pytest.param(400, marks=pytest.mark.campaign, id="many")])
def test_no_wrong_text_is_validated(case: Case, most: int) -> None:
    assert isinstance(validated(case, known(case)), Validated)
    assert all(fault(case, known(case), shape) is None for shape in case.shapes)
    found = changed(case, most, most)
    assert most < 100 or found["wrong, refused"]


# What is put for what in the text of a transposition, and what is said of it then.
HC = "layout A(h, c) = [c, h]"
FAULTS = {
    ("first; u < past; u++", "first; u <= past; u++"): "pieces of another form",
    ("u = first", "u = 0"): "pieces of another form",
    ("const int64_t n_H = shape[0]", "const int64_t n_H = shape[1]"): "",
    ("shape[0]", "shape[2]"): "",
    ("int64_t n_H", "int n_H"): "",
    (", n_C = shape[1];", ", n_H = shape[1];"): "`n_H` is given twice",
    (", stream);", ", u);"): "a call of another form",
    ("    const int64_t n_H = s", "    (void)u;\n    const int64_t n_H = s"): (
        "something is done before the nest"
    ),
    ("    const int large = (n_C*n_H)*4 >= STREAM_BYTES;\n", ""): "a call of another form",
    ("INLINED void", "void"): "",
    ("least(", "most("): "a loop in steps of another form",
    ("d + ", "s + "): "`source` is written, and should not be",
    ("grid(4", "grid(2"): "a kernel that is not known",
    ("grid(4", "weave(4"): "a kernel is asked for what it does not do",
    ("grid(4", "shuffle(4"): "a kernel is asked for what it does not do",
    (
        "steps(rows, 1, 16, ",
        "steps(rows, 1, 2, 4);\n    steps(rows, 2, 8, ",
    ): "a kernel is asked for what it does not do",
    ("fetched(large", "fetched(first"): "a call of another form",
    ("fetched(large, s", "fetched(large, t"): "an address of another form",
    ("rows, 16, 64", "shape, 16, 64"): "a call of another form",
    ("rows, 16, 64", "rows, n_H, 64"): "a call of another form",
    ("rows, 16, 64", "rows, 17, 64"): "a call of another form",
    (
        "    if (!(",
        "    const int large = n_H*n_H >= STREAM_BYTES;\n    if (!(",
    ): "it is not asked first whether numbers fit",
    (" >= STREAM_BYTES;", " >= first;"): "the part of a walk has another form",
    ("return 3;", "return 0;"): "it is not asked first whether numbers fit",
    ("return 1;", "return 0;"): "it is not asked first whether numbers fit",
    (" < 4611686018427387904.0)) return 3", " + 1.0 < 4611686018427387904.0)) return 3"): (
        "pieces are counted where they are not done"
    ),
    ("memcpy(rest + k", "memcpy(rest + 0"): "the part of a walk has another form",
    (f", 0, {NAME}_units", f", 1, {NAME}_units"): "the whole of a walk has another form",
    ("shape, fill, 0", "shape, 0, 0"): "the whole of a walk has another form",
    ("rows", "plain_of"): "`plain_of` may be a macro",
    ("{0}", "{0, 0}"): "a table of another form",
    (" + 1", " + '1'"): "the text has characters that are not expected",
    ("{", "{ // "): "the text has characters that are not expected",
    (f"int64_t {NAME}_units", "int64_t units"): "the functions are others than those of a move",
}


def test_arrays_are_small() -> None:
    case = case_of(HC, "pack")
    text = known(case)
    large = text.replace("rows[16]", f"rows[{2**32}]").replace(
        "steps(rows, 1, 16", f"steps(rows, 1, {2**32}"
    )
    found = validated(case, large)
    assert isinstance(found, NotValidated)
    assert found.reason == f"an array of {2**35} bytes"


@pytest.mark.sampled(12)
@pytest.mark.parametrize("put", FAULTS)
def test_what_is_missing_is_said(put: tuple[str, str]) -> None:
    case = case_of(HC, "pack")
    text = known(case).replace(*put)
    assert text != known(case), "it is no fault of this text"
    found = validated(case, text)
    assert isinstance(found, NotValidated)
    assert FAULTS[put] in found.reason


# Pieces that are too few, that are others, that overlap, and that all write in one place.
PIECES = (
    ("return ((n_C + 240)/256)", "return ((n_C + 240)/512)"),
    ("return ((n_C + 240)/256)", "return ((n_C - 1)/16 + 1)"),
    ("{x} = u;", "{x} = u / 2;"),
    ("{x} = u;", "{x} = u % 2;"),
    ("+ 1 == ((n_C + 240)/256) ?", "+ 1 == (n_C/8) ?"),
    ("? n_C : (p", "? (n_C - 1) : (p"),
    ("t_{x} = p_{x} * 256", "t_{x} = p_{x} * 128"),
    ("if (n_C >= 16)", "if (n_C >= 32)"),
    ("d + (4*n_H*{x}", "d + (0*n_H*{x}"),
)
BEYOND_A_PIECE = ((1, 800), (1, 1600), (17, 520), (17, 800), (17, 20), (33, 47), (290, 17))


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("one", "other"), PIECES)
def test_pieces_are_all_turns_and_apart(one: str, other: str) -> None:
    case = case_of(HC, "pack")
    (index,) = set(re.findall(r"p_(i_\w+) = u;", known(case))) - {"i_h", "i_h_16"}
    one, other = (each.replace("{x}", index) for each in (one, other))
    text = known(case).replace(one, other, 1)
    assert text != known(case), "it is no fault of this text"
    assert isinstance(validated(case, text), NotValidated)
    assert any(fault(case, text, shape) for shape in (*case.shapes, *BEYOND_A_PIECE))


def test_a_comment_says_nothing() -> None:
    case = case_of(HC, "pack")
    noted = known(case).replace("{\n", "{ /* c, 16 at a time: 'h' */\n")
    assert isinstance(validated(case, noted), Validated)
    for hidden in ("/* *\\\n/ x */", "/* ??/ */", "/* no end", "//* x */", "\u00a0", "\f", r"?\?("):
        found = validated(case, known(case).replace("{\n", f"{{ {hidden}\n", 1))
        assert isinstance(found, NotValidated)


def test_what_is_sealed_is_the_text_and_what_it_is_for() -> None:
    case, seals = case_of(HC, "pack"), set[str]()
    for other in (case, replace(case, layouts=(Written("layout A(h, c) = [c, h] fill 7"),))):
        for text in (known(case), known(case) + "\n"):
            found = validated(other, text)
            assert isinstance(found, Validated)
            seals.add(found.seal)
    assert len(seals) == 4


@pytest.mark.parametrize(
    ("large", "told"),
    [
        (f"{2**40}*n_H*n_H", "a number may leave 64 bits"),
        (f"{2**63 - 1} + n_H", "a number may leave 64 bits"),
        (f"{2**20}*{2**20}", "a number leaves 32 bits"),
        (f"{2**63}", "a number of another form"),
    ],
)
def test_numbers_leave_no_bits(large: str, told: str) -> None:
    case = case_of(HC, "pack")
    text = known(case).replace("(n_H >= 16)", f"(n_H + ({large}) - ({large}) >= 16)")
    found = validated(case, text)
    assert isinstance(found, NotValidated)
    assert found.reason.startswith(told)


def test_a_quotient_that_is_rounded_down_limits_nothing() -> None:
    """Where C is 1 there is one slot of 3*C/2, which says less of 3*C than twice as many would."""
    case = Case((Written("layout A(h, c) = [h : H*H, c : 3*C/2]"),), "pack", 4, ((2, 2),))
    text = known(case)
    assert isinstance(validated(case, text), Validated)
    large = "least(n_H, n_H + 12000*n_H*n_H*n_C)"
    height = 2**25 - 1
    assert 4 * height**2 < 2**52 < 2**63 < 12000 * height**2
    found = validated(case, text.replace("(i_h < n_H)", f"(i_h < {large})"))
    assert isinstance(found, NotValidated)
    assert found.reason.startswith("a number may leave 64 bits")


# C of layouts that lose elements at some shape, and what no proof is found for yet.
MOST_REFUSED = 0.1


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "count"),
    [
        (4, 2),
        pytest.param(6, 8, marks=pytest.mark.slow, id="more"),
        pytest.param(5, 1000, marks=pytest.mark.campaign, id="many"),
    ],
)
def test_c_of_random_layouts_is_validated(seed: int, count: int) -> None:
    random, found = Random(seed), Counter[bool]()
    for drawn in cases(seed, count):
        text, case = text_of(drawn), replace(drawn, shapes=tuple(small_shapes(random, drawn)))
        if text is None:
            continue
        right = isinstance(validated(case, text), Validated)
        assert not right or all(fault(case, text, shape) is None for shape in case.shapes), case
        found[right] += 1
    assert found[False] <= MOST_REFUSED * found.total() + 1


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(4))
def test_no_wrong_text_of_random_layouts_is_validated(seed: int) -> None:
    random, found = Random(seed), Counter[str]()
    for drawn in cases(seed, 60):
        text, case = text_of(drawn), replace(drawn, shapes=tuple(small_shapes(random, drawn)))
        if text is not None and isinstance(validated(case, text), Validated):
            found += changed(case, 40, seed)
    assert found["wrong, refused"] > 1000


@pytest.mark.campaign
def test_c_of_what_the_benchmark_draws_is_validated() -> None:
    """All of it: these are layouts that programs use, and each one has compiled code."""
    for task in drawn_tasks(120, 1100):
        move, width = Move(task.source, task.target), np.dtype(task.dtype).itemsize
        found = moved(NAME, move, width)
        assert not isinstance(found, NoCode), task
        if task.verb == "convert":
            shown = validate_c_conversion(found.text, NAME, *move.layouts, width)
        else:
            shown = validate_c(found.text, NAME, *move.layouts, task.verb, width)
        assert isinstance(shown, Validated), (task, shown)


@pytest.mark.slow
@pytest.mark.parametrize("name", layoutdsl.library_names())
def test_c_of_the_library_is_validated(name: str) -> None:
    layout = layoutdsl.library(name)
    given = layout.with_parameters(**dict.fromkeys(layout.parameters, 16))
    refused = list[object]()
    for verb, width in product(("pack", "unpack"), (1, 4)):
        of = given if verb == "pack" else given.first_copy
        move = Move(None, of) if verb == "pack" else Move(of, None)
        found = moved(NAME, move, width)
        if not isinstance(found, NoCode):
            shown = validate_c(found.text, NAME, of, verb, width)  # type: ignore[arg-type]
            refused += [] if isinstance(shown, Validated) else [(verb, width, shown)]
    assert not refused


@needs_compiler
@pytest.mark.slow
def test_what_is_not_proved_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numpy serves, which those who asked for native are told."""
    monkeypatch.setattr(emitting, "read_back", lambda _: NotValidated("no reason"))
    source = layout_of("layout Lonely(n, c) = [c/4, n, c%4]")
    target = layout_of("layout Strange(n, c) = [c, n]")
    buffer = np.arange(40, dtype="u1").reshape(2, 5, 4)
    want = layoutdsl.convert(source, target, compiled="numpy")(buffer, (5, 7))
    words = "numpy serves in place of compiled code: `lonely_to_strange_convert_8` was not"
    with pytest.warns(RuntimeWarning, match=words) as said:
        found = layoutdsl.convert(source, target, compiled="native")(buffer, (5, 7))
    assert said[0].filename == __file__
    assert np.array_equal(found, want)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(layoutdsl.convert(source, target)(buffer, (5, 7)), want)
        trusted = layoutdsl.convert(source, target, compiled="native", validate=False)
        assert np.array_equal(trusted(buffer, (5, 7)), want)
    with pytest.raises(layoutdsl.UnvalidatedError, match="no reason"):
        layoutdsl.generate_c(source)


PAIRS = "layout A(r, g, c: 2 broadcast) = [c, r, g]"
LANES = "layout Lanes(r, g, copy: 4 broadcast) = [r, g/8, copy, g%8]"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("text", "other"),
    [
        (LANES, LANES.replace("copy: 4", "copy: 2")),
        (LANES, LANES.replace("copy: 4 broadcast", "copy: 4")),
        (PAIRS, PAIRS.replace("[c, r, g]", "[r, c, g]")),
        (PAIRS, "layout A(r: 2 broadcast, g, c) = [c, r, g]"),
    ],
)  # fmt: skip
def test_c_of_other_copies_is_not_validated(text: str, other: str) -> None:
    made = moved("a_pack", move_of(layout_of(text), "pack"), 4)
    assert isinstance(validate_c(made.text, "a_pack", layout_of(text), "pack", 4), Validated)
    assert isinstance(validate_c(made.text, "a_pack", layout_of(other), "pack", 4), NotValidated)
