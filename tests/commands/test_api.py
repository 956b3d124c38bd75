"""The Python surface: what `import layoutdsl` offers."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import layoutdsl
from layoutdsl import LayoutError, RefusedError

TEXT = """\
layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]
layout NCHWc<k>(n, c, h, w) = [n, c/k, h, w, c%k]
layout Broken(n, c) = [n, c%4]
refute Broken
prove NCHW16c fits int32 where N <= 8, C <= 64, H <= 64, W <= 64
"""
INDEX = {"n": 1, "c": 17, "h": 2, "w": 3}
SHAPE = {"N": 2, "C": 20, "H": 3, "W": 4}


@pytest.fixture(scope="module")
def module() -> layoutdsl.Module:
    return layoutdsl.parse(TEXT)


def test_every_name_is_there() -> None:
    for name in layoutdsl.__all__:
        assert getattr(layoutdsl, name) is not None
    assert dir(layoutdsl) == sorted(layoutdsl.__all__)
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = layoutdsl.no_such_name  # type: ignore[attr-defined]


def test_no_package_has_the_name_of_a_command() -> None:
    """An import of the package would replace the function of that name."""
    folder = Path(layoutdsl.__file__).parent
    packages = {each.relative_to(folder).parts[0] for each in folder.glob("*/**/*.py")}
    assert packages >= {"language", "proof", "shell"}
    assert not packages & set(layoutdsl.__all__)


def test_a_module_is_a_mapping(module: layoutdsl.Module) -> None:
    assert list(module) == ["NCHW16c", "NCHWc", "Broken"]
    assert module["NCHW16c"].offset((1, 17, 2, 3), (2, 20, 3, 4)) == 753
    assert module["NCHW16c"].offset(INDEX, SHAPE) == 753


def test_load(tmp_path: Path) -> None:
    path = tmp_path / "demo.layout"
    path.write_text(TEXT)
    assert list(layoutdsl.load(path)) == list(layoutdsl.load(str(path)))
    assert layoutdsl.load(path).name == str(path)
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert layoutdsl.load(path)["NCHW16c"] == layoutdsl.parse(TEXT)["NCHW16c"]
    with pytest.raises(FileNotFoundError):
        layoutdsl.load(tmp_path / "none.layout")
    path.write_bytes(b"\xff")
    with pytest.raises(UnicodeDecodeError):
        layoutdsl.load(path)


def test_an_endless_file_is_refused() -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("no /dev/zero on this system")
    with pytest.raises(LayoutError, match="L10"):
        layoutdsl.load("/dev/zero")


def test_a_text_cut_within_a_character_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "long.layout"
    path.write_text("#" + "\N{SNOWMAN}" * 500_000, encoding="utf-8")
    with pytest.raises(LayoutError, match="L103"):
        layoutdsl.load(path)


def test_the_library_is_used_by_name() -> None:
    module = layoutdsl.parse("layout Mine = NCHWc<8> prove Mine == NCHW16c where C <= 8")
    assert module["Mine"].physical_shape((2, 20, 3, 4)) == (2, 3, 3, 4, 8)
    with pytest.raises(LayoutError, match="did you mean `NCHW16c`"):
        layoutdsl.parse("layout Mine = NCHW16")


def test_the_library() -> None:
    names = layoutdsl.library_names()
    assert len(set(names)) == len(names) > 20
    assert tuple(layoutdsl.library_module().layouts) == names
    for name in names:
        assert layoutdsl.library(name).name == name
    assert layoutdsl.library("NCHWc<16>").physical_shape((2, 20, 3, 4)) == (2, 2, 3, 4, 16)
    with pytest.raises(ValueError, match="no layout `NCHW16` in the library; did you mean"):
        layoutdsl.library("NCHW16")


def test_picking_with_parameters(module: layoutdsl.Module) -> None:
    layout = module["NCHWc<16>"]
    assert (layout.name, layout.parameters) == ("NCHWc_16", ())
    assert layout.coordinates == module["NCHW16c"].coordinates
    with pytest.raises(LayoutError, match="L210"):
        layoutdsl.library("NCHW16c<2>")
    with pytest.raises(KeyError, match="`NCHW16c` has no parameters"):
        _ = module["NCHW16c<2>"]
    with pytest.raises(KeyError, match="Nothing<2>"):
        _ = module["Nothing<2>"]


def test_what_is_checked_without_asking(module: layoutdsl.Module) -> None:
    assert [each.claim.text for each in layoutdsl.prove(module).checked] == [
        "prove NCHW16c",
        "prove NCHWc",
        "refute Broken",
        "prove NCHW16c fits int32 where N <= 8, C <= 64, H <= 64, W <= 64",
    ]
    (alone,) = layoutdsl.prove(module["Broken"]).checked
    assert alone.claim.text == "prove Broken"


def test_prove(module: layoutdsl.Module) -> None:
    asked: list[str] = []
    report = layoutdsl.prove(module, asked.append)
    assert [each.status for each in report.checked] == ["proved", "proved", "refuted", "proved"]
    assert (report.status, report.passed) == ("proved", True)
    assert asked
    assert layoutdsl.prove(module["Broken"]).status == "refuted"
    assert layoutdsl.prove(module.claims[:1]).passed


OPEN = """\
layout Blocked<k>(n, c) = [n, c/k, c%k] where C % k == 0
layout Two<j, k>(n: 4, c) = [n, c/j, c%j/k, c%k : 2*k] fill 3 of u8 offset k where c < k*j
layout Over<n0>(m) = [m/n0, m%n0]
table Slots<k>(c)[i: ceil(C/k), l: k] = (c = i*k + l) where C > k
"""


def test_parameters_are_given_as_in_a_text() -> None:
    module = layoutdsl.parse(OPEN)
    for name in ("Blocked<16>", "Blocked< 16 >", "Two<8,2>", "Two<8, 2>", "Over<3>"):
        assert name in module
    assert (
        module["Blocked<16>"] == module["Blocked< 16 >"] == module["Blocked"].with_parameters(k=16)
    )
    assert module["Two<8,2>"] == module["Two<8, 2>"] == module["Two"].with_parameters(j=8, k=2)
    assert module["Over<3>"] == module["Over"].with_parameters(n0=3)
    assert module["Blocked<16>"].name == "Blocked_16"
    assert list(module.layouts) == ["Blocked", "Two", "Over"]
    for name in layoutdsl.library_names():
        layout = layoutdsl.library(name)
        if layout.parameters:
            given = {each: 2 + number for number, each in enumerate(layout.parameters)}
            written = f"{name}<{', '.join(map(str, given.values()))}>"
            assert layout.with_parameters(**given) == layoutdsl.library(written)


def test_parameters_one_at_a_time() -> None:
    two = layoutdsl.parse(OPEN)["Two"]
    half = two.with_parameters(j=8)
    assert (half.name, half.parameters) == ("Two_8_k", ("k",))
    assert half.offset((1, 5), (4, 9, 2)) == two.offset((1, 5), (4, 9, 8, 2))
    whole = half.with_parameters(k=2)
    assert whole.parameters == ()
    assert replace(whole, name="Two_8_2") == two.with_parameters(k=2, j=8)
    assert whole.with_parameters() is whole
    read = layoutdsl.from_notation("mlir", "affine_map<(d0)[s0] -> (d0 floordiv s0, d0 mod s0)>")
    assert read.with_parameters(s0=4).physical_shape((9,)) == (3, 4)
    table = layoutdsl.parse(OPEN).tables["Slots"].with_parameters(k=4)
    assert (table.name, table.parameters) == ("Slots_4", ())
    assert table.decode((1, 2), (7,)) == (6,)


def test_a_call_gives_parameters() -> None:
    """The same as `with_parameters`, of layouts, tables and records."""
    module = layoutdsl.parse(f"{OPEN}record Rows<k>(n) = {{ a(n, b: k) = [n, b] of u8 }}\n")
    two, table, rows = module["Two"], module.tables["Slots"], module.records["Rows"]
    assert two(j=8, k=2) == module["Two<8, 2>"]
    assert two(j=8)(k=2) == two.with_parameters(j=8).with_parameters(k=2)
    assert two() is two
    assert two(j=8).parameters == ("k",)
    assert layoutdsl.library("NCHWc")(k=16) == layoutdsl.library("NCHWc<16>")
    assert table(k=4) == table.with_parameters(k=4)
    assert rows(k=4) == rows.with_parameters(k=4)
    assert rows(k=4).name == "Rows_4"


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda m: m["Two"](8, 2), TypeError, "layout `Two` takes its parameters by name, as in "),
        (lambda m: m["Two"](8, 2, 3), TypeError, "as in (j=8, k=2)"),
        (lambda m: m["Two"](i=8), ValueError, "layout `Two` has no parameter `i`; it has `j`, `k`"),
        (lambda m: m["Two"](j=0), ValueError, "parameter `j` of layout `Two` is 0, must be >= 1"),
        (lambda m: m["Two"](k="8"), TypeError, "parameter `k` is a str, and has to be an integer"),
        (lambda m: m["Two<8,2>"](8), TypeError, "layout `Two_8_2` has no parameters"),
        (lambda m: m["Two<8,2>"](j=8), ValueError, "has no parameter `j`; it has none"),
        (lambda m: m.tables["Slots"](4), TypeError, "table `Slots` takes its parameters by name"),
    ],
)
def test_a_call_that_gives_no_parameters(call: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=re.escape(said)):
        call(layoutdsl.parse(OPEN))


NONE = "the source has no layout, table or record"
HELD = "it has `Blocked`, `Two`, `Over`, `Slots`"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *((name, f"{NONE} `{name}`; {HELD}") for name in ("Nope", "Nope<3>", 3, None)),
        ("Blocked<k>", f"{NONE} `Blocked<k>`; did you mean `Blocked`?"),
        ("Blockd", f"{NONE} `Blockd`; did you mean `Blocked`?"),
        ("Blocked<3, 4>", "layout `Blocked` has <k>, and not `Blocked<3, 4>`"),
        ("Blocked<0>", "parameter `k` of layout `Blocked` is 0, must be >= 1"),
    ],
)
def test_a_module_has_no_such_layout(name: Any, said: Any) -> None:
    module = layoutdsl.parse(OPEN)
    with pytest.raises(KeyError) as caught:
        module[name]
    assert caught.value.args == (said,)
    assert name not in module
    assert module.get(name) is None


def test_wrong_parameters() -> None:
    blocked = layoutdsl.parse(OPEN)["Blocked"]
    with pytest.raises(ValueError, match="layout `Blocked` has no parameter `m`; it has `k`"):
        blocked.with_parameters(m=3)
    with pytest.raises(ValueError, match="parameter `k` of layout `Blocked` is -1, must be >= 1"):
        blocked.with_parameters(k=-1)


def test_formula(module: layoutdsl.Module) -> None:
    found = layoutdsl.formula(module["NCHW16c"])
    values = {**INDEX, **SHAPE}
    assert found.offset.subs({s: values[s.name] for s in found.offset.free_symbols}) == 753


def test_generate(module: layoutdsl.Module, tmp_path: Path) -> None:
    made = layoutdsl.generate(module["NCHW16c"], source=module.texts["NCHW16c"])
    assert made.name == "NCHW16c"
    assert made.fallback is None
    assert module.texts["NCHW16c"] in made.text
    assert "unproved" not in made.text
    assert made.text == layoutdsl.generate(module["NCHW16c"]).text
    path = made.write(tmp_path / "made.py")
    assert path.read_text() == made.text
    assert made.load().offset((1, 17, 2, 3), (2, 20, 3, 4)) == 753


def test_the_certificate_is_in_the_head(module: layoutdsl.Module) -> None:
    made = layoutdsl.generate(module["NCHW16c"])
    certificate = made.load().CERTIFICATE
    assert len(certificate) == 64
    int(certificate, 16)


@pytest.mark.slow
def test_an_unproved_layout_says_so() -> None:
    layout = layoutdsl.parse("layout Overlap(c, h) = [c/4, h, c%8]")["Overlap"]
    made = layoutdsl.generate(layout, unproved=True)
    assert made.load().CERTIFICATE.startswith("unproved: ")
    assert made.fallback is None  # runs of four
    uneven = layoutdsl.parse("layout Odd(c) = [c/4, c%7]")["Odd"]
    odd = layoutdsl.generate(uneven, unproved=True)
    assert odd.fallback is not None


def test_a_refuted_layout_is_refused(module: layoutdsl.Module) -> None:
    for verb in (layoutdsl.generate, layoutdsl.compile):
        with pytest.raises(ValueError, match="`Broken` is refuted") as caught:
            verb(module["Broken"])
        assert isinstance(caught.value, RefusedError)
        assert caught.value.checked.status == "refuted"


def test_open_parameters_are_refused(module: layoutdsl.Module) -> None:
    with pytest.raises(ValueError, match="NCHWc has parameters without a value"):
        layoutdsl.generate(module["NCHWc"])


def test_compile(module: layoutdsl.Module) -> None:
    layout = module["NCHW16c"]
    ready = layoutdsl.compile(layout)
    tensor = np.arange(2 * 20 * 3 * 4).reshape(2, 20, 3, 4)
    packed = ready.pack(tensor)
    assert packed.shape == layout.physical_shape(tensor.shape)
    assert np.array_equal(ready.unpack(packed, tensor.shape), tensor)
    assert layoutdsl.compile(layoutdsl.parse(TEXT)["NCHW16c"]) is ready
