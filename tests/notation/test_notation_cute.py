"""CuTe as programs print it: meaning against plain integers, spellings, and what is refused."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
import texts
from cute_layouts import Drawn, draw, text
from notation_texts import assert_read_or_refused, mangled
from texts import HERE, refusal

import layoutdsl
from layoutdsl import Layout, LayoutError

SEEDS = range(300)
FLAGGED = "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)"
ELEMENTS = "S<3,3,3> o 0 o (8,64):(64,1)"


def read(written: str) -> Layout:
    return layoutdsl.from_notation("cute", written)


def printed(layout: Layout) -> str:
    return layoutdsl.to_notation(layout, "cute")


@pytest.mark.sampled(24)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_text_means_what_it_says_and_prints_back(seed: int) -> None:
    random = Random(seed)
    drawn = draw(random)
    offsets = drawn.offsets()
    if len(set(offsets.values())) < len(offsets):
        with pytest.raises(LayoutError, match="share offset") as raised:
            read(text(drawn))
        assert_shared(drawn, str(raised.value))
        return
    for written in (text(drawn), text(drawn, random)):
        layout = read(written)
        assert layout.shape_of({}) == tuple(drawn.extents)
        for index, offset in offsets.items():
            assert layout.offset(index, drawn.extents) == offset
        assert layout.size(drawn.extents) > max(offsets.values())
        assert printed(read(printed(layout))) == printed(layout)
        assert read(printed(layout)) == layout
    assert printed(read(text(drawn))) == text(drawn)


def assert_shared(drawn: Drawn, message: str) -> None:
    """The two indices that the message names are at the offset that it names."""
    words = message.partition("error[L406]: ")[2].partition("\n")[0]
    one, _, rest = words.partition(" and ")
    other, _, slot = rest.partition(" share offset ")
    places = [tuple(int(n) for _, n in _numbered(each)) for each in (one, other)]
    assert places[0] != places[1]
    assert [drawn.offset(place) for place in places] == [int(slot)] * 2


def _numbered(index: str) -> list[tuple[str, str]]:
    return [tuple(each.split("=")) for each in index.strip("()").split(", ")]


@pytest.mark.parametrize(
    ("written", "same", "shown"),
    [
        ("((3,2),):((2,6),)", "((3,2)):((2,6))", "((3,2)):((2,6))"),
        ("(4, 8) : (1, 4)", "(4,8):(1,4)", "(4,8):(1,4)"),
        ("(4,8)", "(4,8):(1,4)", "(4,8):(1,4)"),
        ("((2,3),(1,4))", "((2,3),(1,4)):((1,2),(6,6))", "((2,3),(1,4)):((1,2),(6,6))"),
        ("5", "5:1", "5:1"),
        ("(_4,_8):(_1,_4)", "(4,8):(1,4)", "(_4,_8):(_1,_4)"),
        ("(4,1):(1,0)", "(4,1):(1,0)", "(4,1):(1,0)"),
        ("SW_3_4_3 o 0 o (8, 64):(64, 1)", "S<3,4,3> o 0 o (8,64):(64,1)", None),
        ("Sw<3,4,3> o _0 o (_8,_64):(_64,_1)", "S<3,4,3> o 0 o (8,64):(64,1)", None),
        ("S<0,4,3> o 0 o (8,4):(1,8)", "(8,4):(1,8)", "S<0,4,3> o 0 o (8,4):(1,8)"),
        ("(4,8):(1,4) o (2,3):(1,2)", "(2,3):(1,2)", "(4,8):(1,4) o (2,3):(1,2)"),
        ("(4,8):(8,1) o 0 o (2,2):(1,4)", "(2,2):(8,1)", "(4,8):(8,1) o 0 o (2,2):(1,4)"),
        (FLAGGED, ELEMENTS, FLAGGED),
        (FLAGGED.replace("16b", "8b"), ELEMENTS.replace("S<3,3", "S<3,4"), None),
        (FLAGGED.replace("16b", "32b"), ELEMENTS.replace("S<3,3", "S<3,2"), None),
        (FLAGGED.replace("16b", "4b"), ELEMENTS.replace("S<3,3", "S<3,5"), None),
        (FLAGGED.replace("4,3> o", "0,3> o"), ELEMENTS.replace("S<3,3", "S<2,0"), None),
        ("Sw<3,4,3>_smem_ptr[16b](0x7f0000000400) o (_8,_64):(_64,_1)", ELEMENTS, None),
        ("Sw<3,4,3>_smem_ptr[16b](SMEM_ADDR_A) o (_8,_64):(_64,_1)", ELEMENTS, None),
        ("tensor<ptr<f16, smem, align<16>, S<3,4,3>> o (8,64):(64,1)>", ELEMENTS, None),
        ("tensor<ptr<f16, smem> o S<3,3,3> o 0 o (8,64):(64,1)>", ELEMENTS, None),
        ("gmem_ptr[16b](0x7f00) o (512,256):(256,_1)", "(512,256):(256,1)", None),
        ("tmem_[32b](0x0000.0000) o ((_128,_256),_1):((_65536,_1),_0)", None, None),
    ],
)
def test_spellings(written: str, same: str | None, shown: str | None) -> None:
    layout = read(written)
    if same is not None:
        assert read(same).coordinates == layout.coordinates
        assert read(same).start == layout.start
    normal = " ".join(written.split()).replace(", ", ",") if shown is None else shown
    assert printed(layout).replace(", ", ",") == normal


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("(?,64):(1,?)", "<stride_n>(m, n: 64) = [n, m : stride_n] fill any where M <= stride_n"),
        ("(?,8)", "(m, n: 8) = [n, m] fill any"),
        ("(?,8):(8,1)", "(m, n: 8) = [m, n] fill any"),
        (
            "(?{div=8},?):(?{i64 div=8},1)",
            "<stride_m>(m, n) = [m, n : stride_m] fill any"
            " where M%8 == 0, stride_m%8 == 0, N <= stride_m",
        ),
        ("((4,?),2):((1,8),4)", "(m, n: 2) = [m/4, n, m%4] fill any where M%4 == 0"),
        (
            "(1,4,?,32,1):(0,1,4,?{div=4},0)",
            "<stride_l>(m: 1, n: 4, k, l: 32, p: 1) = [l, k : stride_l/4, n] fill any"
            " where stride_l%4 == 0, 4*K <= stride_l",
        ),
        ("(4,5):(1,4) o 2 o (2,3):(1,2)", "(m: 2, n: 3) = [n, m] fill any offset 2"),
    ],
)
def test_what_is_not_known_is_an_extent_or_a_parameter(written: str, shown: str) -> None:
    layout = read(written)
    found = layoutdsl.translate(layout, "layout").text
    assert found is not None
    assert found.endswith(shown)
    assert printed(layout) == written


@pytest.mark.parametrize(
    ("written", "known", "shape"),
    [
        ("(?,6):(1,?)", "(3,6):(1,12)", (3, 6, 12)),
        ("(?,6):(1,?)", "(5,6):(1,5)", (5, 6, 5)),
        ("(?,?{div=2}):(?,2)", "(3,4):(14,2)", (3, 4, 14)),
        ("((3,?),2):((2,6),1)", "((3,5),2):((2,6),1)", (15, 2)),
        ("(?,?)", "(3,5):(1,3)", (3, 5)),
        ("S<1,0,2> o 0 o (?,4):(4,1)", "S<1,0,2> o 0 o (6,4):(4,1)", (6, 4)),
    ],
)
def test_unknown_numbers_mean_what_any_number_means(written: str, known: str, shape) -> None:
    layout, other = read(written), read(known)
    extents = other.shape_of({})
    for index in product(*map(range, extents)):
        assert layout.offset(index, shape) == other.offset(index, extents)


REFUSED = [
    ("(4,8):(1@0,1@1)", "L409", 8),
    ("tensor<(0,0) o (4,8):(1@0,1@1)>", "L409", 23),
    ("(?,?,4):(?,?,1)", "L407", 12),
    ("((?,3),4):((1,2),3)", "L407", 3),
    ("(?,3):(5,2)", "L407", 1),
    ("(?,3):(2,3)", "L407", 1),
    ("S<3,4,3> o ? o (8,64):(64,1)", "L407", 12),
    ("(4,8):(1,4) o 0 o (?,2):(1,?)", "L407", 1),
    ("(4,?):(1,4) o 0 o (2,2):(1,2)", "L407", 1),
    ("(?,3):(0,1)", "L406", 8),
    ("(512,128,32):(96,32,1)", "L406", 1),
    ("8:0 o 0 o 4:1", "L406", 1),
    ("(1024,1024):(1,1024) o 0 o (1024,65):(1,1024)", "L407", 1),
    ("(8,64):(64,1) o smem_ptr[16b](unset)", "L401", 1),
    ("(8,64):(64,1) o smem_ptr[16b](unset) o 4:1", "L401", 17),
    ("Sw<3,4,3>_smem_ptr[16b](0x410) o (_8,_64):(_64,_1)", "L407", 1),
    ("Sw<3,4,3>_smem_ptr[6b](0x400) o (_8,_64):(_64,_1)", "L405", 1),
    ("S<3,4,3> o -1 o (8,64):(64,1)", "L405", 12),
    ("S<3,-4,3> o 0 o (8,64):(64,1)", "L401", 5),
    ("(?{div=0},3):(3,1)", "L405", 2),
    ("(2,3:(1,2)", "L401", 1),
    ("(_,2)", "L401", 2),
]


@pytest.mark.parametrize(("written", "code", "column"), REFUSED)
def test_what_is_refused(written: str, code: str, column: int) -> None:
    assert refusal(read, written) == (code, column)


def test_declared_layouts_print_as_they_were_read() -> None:
    found = layoutdsl.parse(
        f'layout One(a, b) = cute "{FLAGGED}"\nlayout Two = One of f16\n'
        'layout Three(rows, columns: 64) = cute "(?,64):(?,_1)"'
    )
    assert printed(found["One"]) == FLAGGED
    assert printed(found["Two"]) == ELEMENTS
    assert printed(found["Three"]) == "(?,64):(?,_1)"


# What programs print.

PRINTED = [
    line
    for line in (HERE / "facts/cute_layouts.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("[b, a, 0 : 2]", "(4,8):(2,8)"),
        ("[b, a, 1]", "`1` moves the first element, and strides cannot"),
        ("[b, 3, a]", "`3` moves the first element, and strides cannot"),
        ("[a : 10, b]", "its buffer is not as large as shape and strides make it"),
        ("[0 : 2, b, a]", "its buffer is not as large as shape and strides make it"),
        ("[b + 16*a]", "its buffer is not as large as shape and strides make it"),
        ("[b + a*16 : 64]", "(4,8):(16,1)"),
        ("[b + 16*a : 64]", "(4,8):(16,1)"),
    ],
)
def test_declared_layouts_print_what_reads_as_the_same(body: str, shown: str) -> None:
    layout = texts.layout(f"layout A(a: 4, b: 8) = {body} of f32 fill any")
    if ":" not in shown:
        for notation in ("cute", "numpy"):
            with pytest.raises(ValueError, match=r"large|moves the first") as raised:
                layoutdsl.to_notation(layout, notation)
            assert notation == "numpy" or str(raised.value) == shown
        return
    assert printed(layout) == shown
    again = read(shown)
    assert again.size((4, 8)) == layout.size((4, 8))
    for index in product(range(4), range(8)):
        assert again.offset(index, (4, 8)) == layout.offset(index, (4, 8))


@pytest.mark.slow
def test_what_programs_printed_is_read_or_refused_for_what_it_is() -> None:
    same = 0
    for line in PRINTED:
        reason, _, written = line.partition(" ")
        if reason == "read":
            assert printed(read(written)) == written
            same += 1
        else:
            with pytest.raises(LayoutError) as raised:
                read(written)
            assert raised.value.diagnostics[0].code == reason, written
    assert same > 200


@pytest.mark.slow
def test_a_few_wrong_characters_are_refused_or_mean_something_else() -> None:
    random = Random(1)
    texts = [line.partition(" ")[2] for line in PRINTED]
    read_still = 0
    for _ in range(400):
        letters = "()_:,-0123456789S<> ow?{}=@ptr[b]x."
        written = mangled(random.choice(texts), letters, texts, random)
        read_still += assert_read_or_refused("cute", written)
    assert read_still > 10
