"""Every replay line that is printed runs, where it was printed, and shows what was said."""

from __future__ import annotations

import random
import re
import shlex
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
import test_cli_copies
import test_cli_json
from cli_shell import Shell, shell
from replaying import REPLAY, blocks, replayed
from texts import GOLDEN

__all__ = ["shell"]

HERE = Path(__file__).parents[1]

FILES = [
    "demo.layout",
    "my spec.layout",
    " .layout",
    "it's.layout",
    'a "quoted" one.layout',
    "größe ✓ 行.layout",
    "-dash.layout",
    "--json",
    "-",
    "a:b.layout",
    "a.layout:NCHW",
    "$HOME;ls>x|y&.layout",
    "*?[a].layout",
    "#!`id`\\.layout",
    "NCHW",
    "onednn:aBcd16b",
    "~",
    "sub folder/.hidden",
    "./../{here}/demo.layout",
]
"""Names that a shell, click, or the words of a command line take for something else."""

TEXT = """\
layout Bad(n, c) = [n, c%4] where C < 99
layout Good(n, c) = [n, c]
layout Turned(a, b) = [b, a]
layout Blocked<k>(n, c) = [n, c/k, c%k]
layout Fixed(y, x: 4) = [x, y]
layout Half(i: N, j: N) = [i*(i + 1)/2 + j : N*(N + 1)/2] where j <= i
table Twice(n, c)[i: N, j: 2*C] = (n = i, c = j/2)
prove Good == Turned
prove Good == [c, n]
prove Good == Blocked<4>
prove Good == onednn "ba"
prove Good == n + c*N
prove Blocked<4> fits int8
prove Blocked fits 24 bits
prove Good offsets fit int16
prove Good computes in int8
prove Good aligns c to 64 bytes of f32
prove Turned keeps b contiguous
prove Half fits uint64
prove Half == [i, j]
prove Twice inverts Good
prove NCHW fits int8
prove NCHWc<8> fits int64
"""
LINES = 19
"""Of what is refuted in it: two where two layouts, or two offsets, are named."""

SHORT = """\
layout Bad(n, c) = [n, c%4] where C < 99
layout Good(n, c) = [n, c]
layout Turned(a, b) = [b, a]
prove Good fits int8
prove Good == Turned
"""


def placed(name: str, text: str = TEXT) -> str:
    """Write a text to a file, and return the word that names it on a command line."""
    place = Path(name.format(here=Path.cwd().name))
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return f"./{place}" if name == "-" else str(place)


def refuted(text: str) -> list[str]:
    """The messages of a text that name an offset or a slot."""
    return [each for each in blocks(text) if each.startswith("refuted: ") and "\n    (" in each]


@pytest.mark.slow
def test_messages_of_every_kind(shell: Shell) -> None:
    out = shell("prove", placed("demo.layout")).out
    assert replayed(shell, out) == LINES
    without = [each for each in refuted(out) if " = replay: " not in each]
    assert without == []


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", FILES)
def test_files_of_any_name(shell: Shell, name: str) -> None:
    ended = shell("prove", "--", placed(name, SHORT))
    assert ended.code == 1
    assert replayed(shell, ended.out) == 4
    lines = REPLAY.findall(ended.out)
    assert read_by_a_shell(lines) == [shlex.split(each)[1:] for each in lines]


def read_by_a_shell(lines: list[str]) -> list[list[str]]:
    """The words that `sh` hands to `layoutdsl`; the oracle of `shlex`."""
    program = "layoutdsl() { printf '%s\\n' \"$@\"; echo; }"
    command = ["sh", "-c", "\n".join([program, *lines])]
    done = subprocess.run(command, capture_output=True, check=True)
    return [each.splitlines() for each in done.stdout.decode().split("\n\n") if each]


@pytest.mark.slow
def test_what_cannot_be_read_again_has_no_replay(shell: Shell) -> None:
    text = TEXT.encode()
    ended = shell("prove", "-", stdin=text)
    found = [shlex.split(line)[2] for line in REPLAY.findall(ended.out)]
    assert found == ["onednn:ba", "NCHW", "NCHWc<8>"]
    assert replayed(shell, ended.out, all_of_it=False) == 3
    assert not REPLAY.findall(shell("prove", "-:Bad", stdin=text).out)
    Path("two\nlines.layout").write_text(SHORT)
    assert not REPLAY.findall(shell("prove", "two\nlines.layout:Bad").out)


def test_what_a_library_name_means_here(shell: Shell) -> None:
    """A file that is called as a layout of the library comes first, so that is no way to it."""
    text = "prove NCHW fits int8"
    Path("my.layout").write_text(text)
    assert [shlex.split(each)[2] for each in REPLAY.findall(shell("prove", "my.layout").out)] == [
        "NCHW"
    ]
    Path("NCHW").write_text(text)
    assert not REPLAY.findall(shell("prove", "my.layout").out)


NOTATIONS = [
    "xla:f32[300,400]{0,1:T(8,128)}",
    "onednn:aBcd16b",
    "tvm:NCHW16c",
    "einops:n (co ci) h w -> n co h w ci, ci=16",
    "cute:S<3,4,3> o 0 o (8,64):(64,1)",
    "numpy:shape=(2, 3), strides=(4, 8), dtype=float32",
    "NCHWc<8>",
    "NCHWc",
    "demo.layout:Manual",
]


@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    ("one", "other"),
    [*pairwise(NOTATIONS), *pairwise(NOTATIONS[::-1]), ("NCHWc", "NCHWc<8>")],
)
def test_two_layouts_that_differ(shell: Shell, one: str, other: str) -> None:
    ended = shell("diff", one, other)
    count = replayed(shell, ended.out)
    assert count == 2 * ("-> offset" in ended.out)


def test_axes_of_one_element_are_left_out(shell: Shell) -> None:
    Path("my.layout").write_text(
        "layout Plain(y, x) = [y, x]\nlayout More(a: 1, y, b: 1, x) = [a, x, y, b]\n"
    )
    for pair in (("Plain", "More"), ("More", "Plain")):
        ended = shell("diff", *(f"my.layout:{each}" for each in pair))
        assert (ended.code, replayed(shell, ended.out)) == (1, 2)


def test_differences_of_a_text_that_is_gone(shell: Shell) -> None:
    ended = shell("diff", "-:Turned", "HtpNCHW", stdin=b"layout Turned(b, h, w, d) = [w, b, h, d]")
    assert [shlex.split(line)[2] for line in REPLAY.findall(ended.out)] == ["HtpNCHW"]
    assert replayed(shell, ended.out, all_of_it=False) == 1


FUNCTIONS = ["NCHW4c", "xla:f32[100000,400000]{0,1:T(8,128)}", "demo.layout:NCHW16c", "NCHWc<8>"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("written", FUNCTIONS)
@pytest.mark.parametrize("language", ["c", "cuda", "mlir"])
def test_functions_that_32_bits_are_too_narrow_for(
    shell: Shell, written: str, language: str
) -> None:
    ended = shell("formula", written, "--as", language, "--width", "32")
    assert ended.code == 1
    assert replayed(shell, ended.err) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("generate", "my file.layout:Bad", "-o", "x.py"),
        ("generate", "my file.layout:Bad", "--target", "c", "-o", "x.c"),
        ("formula", "my file.layout:Bad", "--as", "c"),
        ("pack", "my file.layout:Bad", "in.npy", "out.npy"),
        ("convert", "my file.layout:Bad", "my file.layout:Good", "in.npy", "x.npy", "--shape=2,5"),
    ],
    ids=lambda each: each[0],
)
def test_refused_code(shell: Shell, arguments: tuple[str, ...]) -> None:
    import numpy as np

    placed("my file.layout")
    np.save("in.npy", np.zeros((2, 5), np.uint8))
    ended = shell(*arguments)
    assert ended.code == 1
    assert replayed(shell, ended.err) == 1


def test_numbers_of_any_size(shell: Shell) -> None:
    """An extent at which 128 bits overflow has more digits than a text may have."""
    Path("my.layout").write_text(
        "layout Long(c) = [c, 5]\nprove Long fits int64\nprove Long fits uint64 in bytes of u8\n"
    )
    ended = shell("prove", "my.layout")
    assert replayed(shell, ended.out) == 2
    assert any(len(line.split("--index ")[1]) > 18 for line in REPLAY.findall(ended.out))


def drawn(seed: int) -> str:
    """A text with layouts that are mostly wrong, and claims that are."""
    choose = random.Random(seed)
    axes = choose.choice(["a, b", "a: 6, b", "a: N, b: N", "a, b: 3", "b, a"])
    lines, called = [], []
    for number in range(4):
        name = f"L{number}" + choose.choice(["", "x", "_"])
        radix = choose.choice([2, 3, 4, 8])
        parameter = choose.choice(["", "<k>"])
        cut = "k" if parameter else str(radix)
        digits = choose.choice(
            [
                [f"a/{cut}", "b", f"a%{radix + 1}"],
                [f"b/{cut}", f"a ^ b%{radix}", "b%2"],
                [f"(a, b)/{cut}", f"(a, b)%{radix}"],
                ["b", "a : 7"],
                [f"a%{radix}", f"b + a/{cut}"],
            ]
        )
        clause = choose.choice(["", " offset 3", " of u4 fill 1"])
        lines.append(f"layout {name}{parameter}({axes}) = [{', '.join(digits)}]{clause}")
        lines.append(f"refute {name}{'<4>' if parameter else ''} fits 3 bits")
        called.append(f"{name}{choose.choice(['<2>', '<5>'])}" if parameter else name)
        others = ["fits int8", "keeps a, b contiguous", "== [a, b]", "fits 24 bits"]
        others += [f"== {each}" for each in called[:-1]]
        lines += [f"prove {called[-1]} {claim}" for claim in choose.sample(others, 2)]
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(8))
def test_texts_drawn_at_random(shell: Shell, seed: int) -> None:
    name = random.Random(seed).choice(FILES)
    ended = shell("prove", "--", placed(name, drawn(seed)))
    assert ended.code in (1, 3), ended.err
    assert replayed(shell, ended.out)


def goldens() -> list[Path]:
    """The texts on disk that hold what was printed."""
    return [path for path in sorted((HERE / "golden").rglob("*")) if path.is_file()]


def test_golden_texts(shell: Shell) -> None:
    """Where a golden text has a replay, the layout that it names lies beside it."""
    for path in goldens():
        text = path.read_text(encoding="utf-8")
        if REPLAY.search(text):
            for each in path.parent.glob("*.layout"):
                Path(each.name).write_bytes(each.read_bytes())
            replayed(shell, text)


AGAIN = re.compile(r'^ *"text": .*$', re.MULTILINE)
"""A message of the shell in JSON, whose replay stands beside it."""
PRINTED = re.compile(r'(?:= replay: |"replay": ")(layoutdsl [^"\n]*)')


def test_replay_lines_of_golden_texts(shell: Shell) -> None:
    """Every one that a golden text holds runs, over the texts that it was printed of."""
    texts = {"my.layout": test_cli_json.SPEC, "table.layout": test_cli_json.TABLE}
    texts |= {"record.layout": test_cli_json.RECORD, "copies.layout": test_cli_copies.TEXT}
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
    lines = [
        line
        for place in sorted(GOLDEN.rglob("*.txt"))
        for line in PRINTED.findall(AGAIN.sub("", place.read_text(encoding="utf-8")))
    ]
    assert len(lines) > 5
    for line in dict.fromkeys(lines):
        _, *words = shlex.split(line)
        ended = shell(*words)
        assert ended.code == 0, f"{line}\n{ended.err}"
        assert shlex.join(shlex.split(line)) == line, "no word has blanks that it is not meant to"
