"""`formula`, `generate`, `explain` and `tour`."""

from __future__ import annotations

import ast
import json
import keyword
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sympy
from cli_shell import Shell, shell

from layoutdsl import Layout, library, parse
from layoutdsl.code.validate import arrays
from layoutdsl.code.validate.outcome import NotValidated

__all__ = ["shell"]

PYTHON = """\
# NCHW4c(n, c, h, w): where an element lies, in elements
offset = (((n*(-(-C//4)) + c//4)*H + h)*W + w)*4 + c%4
# the buffer, padding included
size = N*(-(-C//4))*H*W*4
physical_shape = (N, -(-C//4), H, W, 4)
padded_extents = (N, 4*(-(-C//4)), H, W)
# what the slot `_slot` holds
_u4 = _slot
_v4 = _u4%4
_u3 = _u4//4
_v3 = _u3%W
_u2 = _u3//W
_v2 = _u2%H
_u1 = _u2//H
_v1 = _u1%(-(-C//4))
_u0 = _u1//(-(-C//4))
_v0 = _u0
n = _v0
c = _v1*4 + _v4
h = _v2
w = _v3
# an element, where this holds; padding, where it does not
holds = n < N and c < C and h < H and w < W
"""


def test_a_sheet_of_python(shell: Shell) -> None:
    ended = shell("formula", "NCHW4c")
    assert (ended.code, ended.out, ended.err) == (0, PYTHON, "")
    assert shell("formula", "NCHW4c", "--as", "python").out == PYTHON


def test_the_sheet_of_python_is_right() -> None:
    layout, shape = library("NCHW4c"), (1, 6, 2, 3)
    forward, backward = PYTHON.split("# what the slot")
    extents = dict(zip("NCHW", shape, strict=True))
    for slot in range(layout.size(shape)):
        names: dict[str, object] = {**extents, "_slot": slot}
        exec("#" + backward, names)
        index = layout.decode(slot, shape)
        assert names["holds"] is (index is not None)
        if index is not None:
            assert tuple(names[axis] for axis in "nchw") == index
            exec(forward, names)
            assert names["offset"] == slot
            assert names["physical_shape"] == layout.physical_shape(shape)


SHEETS = {
    "sympy": [
        "from sympy import *",
        "",
        'n, c, h, w, _slot = symbols("n c h w _slot", integer=True, nonnegative=True)',
        'N, C, H, W = symbols("N C H W", integer=True, positive=True)',
        "",
        "# NCHW4c(n, c, h, w): where an element lies, in elements",
        "offset = (((n*ceiling(C/4) + floor(c/4))*H + h)*W + w)*4 + Mod(c, 4)",
    ],
    "latex": [
        "% NCHW4c(n, c, h, w): where an element lies, in elements",
        r"\begin{align*}",
        r"\mathit{offset} &= \left(\left(\left(n \cdot \left\lceil \frac{C}{4} \right\rceil + "
        r"\left\lfloor \frac{c}{4} \right\rfloor\right) \cdot H + h\right) \cdot W + w\right) "
        r"\cdot 4 + \left( c \bmod 4 \right) \\",
    ],
}


@pytest.mark.parametrize("language", list(SHEETS))
def test_sheets_in_other_languages(shell: Shell, language: str) -> None:
    lines = shell("formula", "NCHW4c", "--as", language).out.splitlines()
    assert lines[: len(SHEETS[language])] == SHEETS[language]


def test_a_latex_sheet_has_no_leading_underscores(shell: Shell) -> None:
    out = shell("formula", "MaceChannelMajor", "--as", "latex").out
    assert r"u_{2} &= \mathit{slot} \\" in out
    assert out.endswith("\\end{align*}\n")
    assert not re.search(r"(^|[ ({])_[a-z]", re.sub("%.*", "", out), re.MULTILINE)


def test_a_layout_without_a_closed_inverse(shell: Shell) -> None:
    Path("overlap.layout").write_text("layout Overlap(c, h) = [c/4, h, c%8]\n")
    ended = shell("formula", "overlap.layout:Overlap")
    assert ended.code == 0
    reason = "the digits of `c` do not follow one another: none steps by 8"
    assert ended.out.splitlines()[-1] == f"# no closed inverse: {reason}"
    found = json.loads(shell("formula", "overlap.layout:Overlap", "--json").out)
    assert found["inverse"] is None
    assert found["no_inverse"] == reason


def test_the_inverse_of_a_swizzle(shell: Shell) -> None:
    found = json.loads(shell("formula", "demo.layout:Swizzled", "--json").out)
    assert found["inverse"]["steps"][-1] == {"name": "_t1", "value": "_v1 ^ _v0%4"}
    assert found["inverse"]["index"] == {"h": "_v0", "w": "_t1"}


def test_formulas_as_json(shell: Shell) -> None:
    found = json.loads(shell("formula", "demo.layout:Gaps", "--json").out)
    assert found["offset"] == "3 + ((n*H + h)*6 + w)"
    assert found["physical_shape"] == [found["size"]] == ["3 + 70*6"]
    assert (found["inverse"], found["padded_extents"]) == (None, {})
    assert found["no_inverse"] == "the one that was read off the coordinates is not proved"


def test_what_comes_before_the_first_slot_is_no_element(shell: Shell) -> None:
    text = Path("demo.layout").read_text().replace(": 70, w : 6]", ": N*H + 1, w : W + 2]")
    Path("right.layout").write_text(text)
    found = json.loads(shell("formula", "right.layout:Gaps", "--json").out)
    assert found["inverse"]["holds_where"][:2] == ["_slot >= 3", "_x0 < H*N"]
    assert found["inverse"]["index"]["w"] == "_v1"


@pytest.mark.slow
def test_generate_into_a_file_and_compare(shell: Shell) -> None:
    generate = ("generate", "demo.layout:NCHW16c", "-o", "made.py")
    check = (*generate, "--check")
    assert shell(*check).out == "differs: made.py is not there\n"
    assert shell(*check).code == 1
    ended = shell(*generate)
    assert (ended.code, ended.out, ended.err) == (0, "wrote made.py\n", "")
    ended = shell(*check)
    assert (ended.code, ended.out) == (0, "same: made.py\n")
    text = Path("made.py").read_text()
    assert "layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]" in text
    assert shell("generate", "demo.layout:NCHW16c").out == text
    Path("made.py").write_text(text + "\n")
    ended = shell(*check)
    assert (ended.code, ended.out) == (1, "differs: made.py\n")
    assert Path("made.py").read_text() == text + "\n"


@pytest.mark.slow
def test_code_that_is_not_validated_has_to_be_asked_for(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No layout is known of which every text is refused, so the reader refuses all here."""
    reason = NotValidated("pack: an element's slot: a step of the proof does not follow")
    monkeypatch.setattr(arrays, "validate", lambda *_, **__: reason)
    text = "layout Odd(c, h, w) = [(c*H + h)*W + w + (c*c - c)%2 : C*H*W]\n"
    Path("odd.layout").write_text(text)
    generate = ("generate", "odd.layout:Odd", "-o", "odd.py", "--unproved")
    ended = shell(*generate)
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.splitlines() == [
        "error: the code for `Odd` was not validated: "
        "pack: an element's slot: a step of the proof does not follow",
        "  = help: `layoutdsl generate --unvalidated` writes it all the same, and its head says so",
    ]
    assert not Path("odd.py").exists()
    assert shell(*generate, "--unvalidated").code == 0
    assert "\nVALIDATED = False\n" in Path("odd.py").read_text()
    assert shell("generate", "demo.layout:Gaps", "--unvalidated").code == 1  # refuted all the same


@pytest.mark.slow
def test_generate_a_folder(shell: Shell) -> None:
    Path("two.layout").write_text(
        "layout A(c) = [c/4, c%4] layout B<k>(c) = [c/k, c%k] layout C = B<8>"
    )
    ended = shell("generate", "two.layout", "-o", "made/")
    assert (ended.code, ended.out) == (0, "wrote made/A.py\nwrote made/C.py\n")
    assert ended.err == "note: `B` has open parameters and is left out\n"
    assert shell("generate", "two.layout", "-o", "made", "--check").code == 0
    assert sorted(path.name for path in Path("made").iterdir()) == ["A.py", "C.py"]


@pytest.mark.slow
def test_a_generated_file_runs_on_numpy_alone(shell: Shell) -> None:
    shell("generate", "NCHW16c", "-o", "made.py")
    program = (
        "import sys, numpy, made; x = numpy.ones((2, 20, 3, 4)); "
        "print(made.pack(x).sum(), made.offset((1, 17, 2, 3), (2, 20, 3, 4)), "
        "[name for name in sys.modules if name.startswith('layoutdsl')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd="."
    )
    assert done.stdout == "480.0 753 []\n"


def test_a_fallback_is_said(shell: Shell) -> None:
    ended = shell("generate", "demo.layout:Swizzled", "-o", "made.py")
    assert ended.code == 0
    assert ended.out.startswith("wrote made.py  (element by element: ")
    assert "unproved: " not in Path("made.py").read_text()


@pytest.mark.slow
def test_what_is_not_proved_is_said_in_the_module(shell: Shell) -> None:
    Path("overlap.layout").write_text("layout Overlap(c, h) = [c/4, h, c%8]\n")
    assert shell("generate", "overlap.layout", "-o", "made.py", "--unproved").code == 0
    assert "unproved: " in Path("made.py").read_text()


def test_a_refuted_layout_is_refused(shell: Shell) -> None:
    Path("bad.layout").write_text("layout Bad(n, c) = [n, c%4] where C < 99")
    ended = shell("generate", "bad.layout", "-o", "made.py")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.endswith(
        "  = replay: layoutdsl where bad.layout:Bad --shape 1,5 --index 0,4\n"
        "error: `Bad` is refuted, so no code is generated\n"
    )
    assert not Path("made.py").exists()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("no/such/made.py", "`no/such/made.py` cannot be written: no such file or directory"),
        ("demo.layout/", "`demo.layout/` cannot be written: file exists"),
        ("/dev/full", "`/dev/full` cannot be written: no space left on device"),
    ],
)
def test_a_place_that_cannot_be_written(shell: Shell, output: str, message: str) -> None:
    ended = shell("generate", "NCHW16c", "-o", output)
    assert (ended.code, ended.out, ended.err) == (4, "", f"error: {message}\n")


def test_every_section_is_explained(shell: Shell) -> None:
    text = (Path(__file__).parents[2] / "grammar/errors.md").read_text(encoding="utf-8")
    codes = re.findall(r"^## (L[0-9]+)", text, re.MULTILINE)
    assert len(codes) > 10
    for code in codes:
        found = json.loads(shell("explain", code, "--json").out)
        assert list(found) == ["code", "title", "text"]
        assert f"## {code}: {found['title']}\n\n{found['text']}\n" in text


def test_explain(shell: Shell) -> None:
    for spelled in ("L202", "l202", "[L202]"):
        ended = shell("explain", spelled)
        assert ended.code == 0
        assert ended.out.startswith("L202: ")
    for unknown, hint in (("L20", "did you mean `L"), ("bogus", "known are L101, L102, ")):
        ended = shell("explain", unknown)
        assert ended.code == 2
        head = f"error: there is no message with the code `{unknown}`\n  = help: {hint}"
        assert ended.err.startswith(head)


def test_the_source_of_an_alias_is_written_out(shell: Shell) -> None:
    assert 'SOURCE = "layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]"' in (
        shell("generate", "NCHW16c").out
    )


@pytest.fixture(scope="module")
def tour() -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "layoutdsl", "tour"],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )


@pytest.mark.slow
def test_the_tour(tour: subprocess.CompletedProcess[str]) -> None:
    assert (tour.returncode, tour.stderr) == (0, "")
    assert "replay" not in tour.stdout
    for line in (
        "     offset = (((((b*ceil(H/8) + h/8)*ceil(W/8) + w/8)*ceil(D/32) + d/32)*8 + h%8)*8"
        " + w%8)*32 + d%32\n",
        "   proved     Crouton for all shapes  (",
        "   refuted: the formula is not the offset of `Mace`\n",
        "   refuted: `Crouton` does not fit int32\n",
        "   element (0, 8, 19, 49) is at offset 22641, and holds 9 there\n",
        "   all 9000 elements are in their places; 15576 slots of padding hold 31\n",
        "   unpack(packed) == tensor: every element is back\n",
    ):
        assert line in tour.stdout


@pytest.mark.slow
def test_the_tour_leads_on(tour: subprocess.CompletedProcess[str], shell: Shell) -> None:
    commands = tour.stdout.splitlines()[-1].removeprefix("Next: ").split(", layoutdsl ")
    for command in commands:
        assert shell(*command.removeprefix("layoutdsl ").split()).code == 0


NOT_OURS = [
    (("generate", "one.layout", "-o", "one.layout"), "`one.layout` is the spec itself"),
    (("generate", "one.layout", "-o", "./one.layout"), "`one.layout` is the spec itself"),
    (("generate", "one.layout", "-o", "link"), "`link` is the spec itself"),
    (("generate", "one.layout", "-o", "hard"), "`hard` is the spec itself"),
    (("generate", "one.c", "--target", "c", "-o", "one"), "`one.c` is the spec itself"),
    (("generate", "one.c", "--target", "c", "-o", "./one.c"), "`one.c` is the spec itself"),
    (
        ("generate", "one.layout", "-o", "mine.py"),
        "`mine.py` exists and was not written by layoutdsl",
    ),
    (
        ("generate", "one.layout", "-o", "made/"),
        "`made/A.py` exists and was not written by layoutdsl",
    ),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("arguments", "message"), NOT_OURS)
def test_no_file_is_lost(shell: Shell, arguments: tuple[str, ...], message: str) -> None:
    Path("one.layout").write_text("layout A(c) = [c]")
    Path("one.c").write_text("layout A(c) = [c]")
    Path("link").symlink_to("one.layout")
    Path("hard").hardlink_to("one.layout")
    Path("made").mkdir()
    for mine in ("mine.py", "made/A.py"):
        Path(mine).write_text('"""A module of mine."""\n')
    before = {path: path.read_text() for path in Path().rglob("*") if path.is_file()}
    ended = shell(*arguments)
    assert (ended.code, ended.out) == (4, "")
    foreign = "exists" in message
    kept = "" if foreign else ", and is not replaced"
    way = "use another name, or --force to replace it\n" if foreign else "choose another"
    assert ended.err.startswith(f"error: {message}{kept}\n  = help: {way}")
    assert {path: path.read_text() for path in Path().rglob("*") if path.is_file()} == before


@pytest.mark.slow
def test_a_generated_or_an_empty_file_is_replaced(shell: Shell) -> None:
    Path("made.py").touch()
    assert shell("generate", "NCHW16c", "-o", "made.py").code == 0
    assert shell("generate", "NCHW4c", "-o", "made.py").code == 0
    assert '\n"""NCHW4c' in Path("made.py").read_text()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("class", "`class.py` cannot be imported: `class` is a word of Python"),
        ("numpy", "`numpy.py` would hide the module `numpy`, which the code imports"),
    ],
)
def test_a_module_that_could_not_be_imported(shell: Shell, name: str, message: str) -> None:
    Path("one.layout").write_text(f"layout {name}(c) = [c]")
    hint = "choose another file: -o other_name.py"
    Path("made").mkdir()
    for output in (f"{name}.py", "made"):
        ended = shell("generate", "one.layout", "-o", output)
        said = message if output != "made" else message.replace("`", "`made/", 1)
        assert (ended.code, ended.out, ended.err) == (4, "", f"error: {said}\n  = help: {hint}\n")
    assert shell("generate", "one.layout", "-o", "other_name.py").code == 0
    assert shell("generate", "one.layout").code == 0


WORDS = """\
layout Plain(int, offset, holds, lambda) = [int, holds/16, offset, lambda, holds%16]
layout Xor(int, holds: 4) = [int, holds ^ int%4]
layout int64_t(int, int64_t, int_, min) = [int, int64_t, int_, min]
layout Gaps(n, h, w) = [(n, h) : 70, w : 6] offset 3
layout Open<k>(c) = [c/k, c%k]
layout Fixed(c: 4) = [c : 5]
"""
LAYOUTS = parse(WORDS)
SHAPES = {
    "Plain": (2, 3, 17, 2),
    "Xor": (5, 4),
    "int64_t": (2, 3, 2, 3),
    "Gaps": (2, 3, 4),
    "Open": (7, 3),
    "Fixed": (4,),
}


def sheet(shell: Shell, name: str, language: str) -> str:
    Path("words.layout").write_text(WORDS)
    ended = shell("formula", f"words.layout:{name}", "--as", language)
    assert (ended.code, ended.err) == (0, "")
    return ended.out


def spelled(text: str, layout: Layout) -> dict[str, str]:
    """How a sheet of Python spells the names of a layout; those that Python has get a mark."""
    names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    wanted = [*layout.symbols, *(axis.name for axis in layout.axes)]
    taken = {"offset", "size", "holds", "min", "max", *keyword.kwlist}
    found = {name: f"{name}_" if name in taken else name for name in wanted}
    assert len(set(found.values())) == len(found)
    assert set(found.values()) & names
    return found


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("language", ["python", "sympy"])
def test_a_sheet_runs_whatever_the_names(shell: Shell, name: str, language: str) -> None:
    text, layout, shape = sheet(shell, name, language), LAYOUTS[name], SHAPES[name]
    tree = ast.parse(text)
    assigned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert len([name for name in assigned if name.startswith("offset")]) == (
        2 if name == "Plain" else 1
    )
    names: dict[str, Any] = {}
    if language == "sympy":
        exec(text, names)
        assert isinstance(names.get("holds", sympy.true), sympy.logic.boolalg.Boolean)
        return
    forward, _, backward = text.partition("# what the slot")
    spoken = spelled(text, layout)
    extents = {spoken[name]: value for name, value in layout.bind(shape).items()}
    for slot in range(layout.size(shape)):
        index = layout.decode(slot, shape)
        if "no closed inverse" not in text:
            names = {**extents, "_slot": slot}
            exec("#" + backward, names)
            assert names["holds"] is (index is not None) or slot < 3
        if index is not None:
            names = {
                **extents,
                **dict(zip([spoken[a.name] for a in layout.axes], index, strict=True)),
            }
            exec(forward, names)
            assert (names["offset"], names["size"]) == (slot, layout.size(shape))


def test_words_of_latex_keep_their_letters_together(shell: Shell) -> None:
    out = sheet(shell, "Plain", "latex")
    assert r"\mathit{lambda} < \mathit{LAMBDA}" in out
    assert r"\lambda" not in out
