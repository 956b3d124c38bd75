"""What is wrong with a block of a page is seen: pages with a fault each, and their right twins."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_blocks import blocks, matches, plain, run_page

from layoutdsl import LayoutError


def page(kind: str, text: str) -> str:
    return f"# A page\n\nWords.\n\n```{kind}\n{text}```\n"


RIGHT = {
    "a proof": page("layout", "layout A(n, c) = [n, c/16, c%16]\n"),
    "a refutation": page("layout", "# refuted: A\nlayout A(n, c) = [n, c]\nprove A == c*N + n\n"),
    "a layout that is refuted": page("layout", "# refuted\nlayout A(n, c) = [n, c%4]\n"),
    "an undecided one": page("layout", "# undecided: A\nlayout A(i) = [i*i : I*I]\n"),
    "a wrong text": page("layout", "# wrong: L202\nlayout A(n, c) = [n, c/16, c%8]\n"),
    "two faults": page(
        "layout", "# wrong: L202, L201\nlayout A(n, c) = [n, c/16, c%8]\nlayout B(n, c) = [n, x]\n"
    ),
    "a session": page(
        "console", "$ layoutdsl where NCHW16c --shape 1,20,1,1 --index 0,17,0,0\n...\n"
    ),
    "a shell": page("console", "$ echo a | tr a b\nb\n"),
    "a file": page("layout a.layout", "layout A(n) = [n]\n")
    + page("console", "$ cat a.layout\nlayout A(n) = [n]\n"),
    "one namespace": page("python", "a = 1\n") + page("python", "assert a == 1\n"),
    "a Python session": page("python", ">>> 1 + 1\n2\n>>> b = 3\n") + page("python", ">>> b\n3\n"),
    "a module beside the page": page("console", "$ echo 'C = 2' > beside.py\n")
    + page("python", "import beside\nassert beside.C == 2\n"),
    "a file of Python": page("python beside.py", "C = 3\n")
    + page("python", "import beside\nassert beside.C == 3\n"),
    "a file of C": page("c main.c", "int main;\n") + page("console", "$ cat main.c\nint main;\n"),
    "no such package": page("python no_such_package_at_all", "assert False\n"),
    "within a list": "1. First\n\n   ```python\n   assert True\n   ```\n",
}

WRONG = {
    "a claim that does not hold": page("layout", "layout A(n, c) = [n, c]\nprove A == c*N + n\n"),
    "a layout that is not right": page("layout", "layout A(n, c) = [n, c%4]\n"),
    "no fault, and one is told": page("layout", "# wrong: L202\nlayout A(n, c) = [n, c]\n"),
    "another fault": page("layout", "# wrong: L101\nlayout A(n, c) = [n, c/16, c%8]\n"),
    "more faults": page(
        "layout", "# wrong: L202\nlayout A(n, c) = [n, c/16, c%8]\nlayout B(n, c) = [n, x]\n"
    ),
    "a fault that is not told": page("layout", "layout A(n, c) = [n, c/16, c%8]\n"),
    "nothing is refuted": page("layout", "# refuted\nlayout A(n, c) = [n, c]\n"),
    "another is refuted": page(
        "layout", "# refuted: B\nlayout A(n, c) = [n, c]\nlayout B(n) = [n]\nprove A == c*N + n\n"
    ),
    "refuted, and not undecided": page("layout", "# undecided\nlayout A(n, c) = [n, c%4]\n"),
    "undecided, and not refuted": page("layout", "# refuted\nlayout A(i) = [i*i : I*I]\n"),
    "both": page("layout", "# refuted\nlayout A(i) = [i*i : I*I]\nlayout B(n, c) = [n, c%4]\n"),
    "an empty claim": page("layout", "# refuted\n"),
    "other words": page("console", "$ echo a\nb\n"),
    "words that are missing": page("console", "$ echo a\n"),
    "a verb that says something else": page("console", "$ layoutdsl prove NCHW16c\nrefuted\n"),
    "a replay that shows something else": page(
        "console",
        "$ echo 'x -> offset 3\n  = replay: layoutdsl where NCHW16c --shape 1,1,1,1'\n...\n",
    ),
    "a file that is not there": page("console", "$ cat nothing.layout\n"),
    "another file": page("c main.c", "int main;\n") + page("console", "$ cat main.c\nint;\n"),
    "an assertion": page("python", "assert 1 == 2\n"),
    "what is printed": page("python", "print(1)\n"),
    "a warning": page("python", "import warnings\nwarnings.warn('old', stacklevel=1)\n"),
    "a name of another page": page("python", "blocks\n"),
    "a Python session with another answer": page("python", ">>> 1 + 1\n3\n"),
    "the end of Python": page("python", "raise SystemExit(1)\n"),
    "within a list": "1. First\n\n   ```python\n   assert False\n   ```\n",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", RIGHT)
def test_a_page_that_is_right(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(name, RIGHT[name], tmp_path)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", WRONG)
def test_a_page_that_is_wrong(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((AssertionError, LayoutError, ValueError)) as caught:
        run_page(name, WRONG[name], tmp_path)
    assert caught.value.__notes__[-1].startswith(f"in the block at {name}:")


def test_where_a_block_stands() -> None:
    assert [block.line for block in blocks(page("text", "a\n"))] == [5]
    assert [block.words for block in blocks(page("python numpy scipy", "a\n"))] == [
        ("numpy", "scipy")
    ]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("layoutdsl prove a.layout", ["prove", "a.layout"]),
        ("layoutdsl diff A 'einops:n (c d)'", ["diff", "A", "einops:n (c d)"]),
        ("layoutdsl formula A --where 'N < 4'", ["formula", "A", "--where", "N < 4"]),
        ("layoutdsl prove a.layout > b", None),
        ("layoutdsl prove a.layout | head", None),
        ("layoutdsl prove a.layout; true", None),
        ("layoutdsl prove *.layout", None),
        ("layoutdsl prove $HOME", None),
        ("cat a.layout", None),
        ("layoutdsl", None),
    ],
)
def test_lines_that_need_no_shell(line: str, words: list[str] | None) -> None:
    assert plain(line) == words


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n", "a\nb\n", False),
        ("a\n...\n", "a\nb\nc\n", True),
        ("...\nc\n", "a\nb\nc\n", True),
        ("a\n...\nc\n", "a\nc\n", True),
        ("a\n...\nd\n", "a\nb\nc\n", False),
        ("a ...\n", "a b\n", False),
        ("1 proved  (376 ms)\n", "1 proved  (75.1 s)\n", True),
        ("1 proved  (376 ms)\n", "2 proved  (376 ms)\n", False),
        ("", "", True),
    ],
)
def test_what_is_left_out(expected: str, found: str, same: bool) -> None:
    assert matches(expected, found) is same
