"""Layouts as tests of pytest: what is collected, how it is named, what fails, what is kept."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

DEMO = """\
layout NCHW16(n, c, h, w) = [n, c/16, h, w, c%16]   fill 0

prove NCHW16 keeps c%16 contiguous
prove NCHW16 fits int32   where N <= 64, C <= 4096, H <= 64, W <= 64
"""
WRONG = "prove NCHW16 == ((n*(C/16) + c/16)*H*W + h*W + w)*16 + c%16\n"
NAMES = [
    "demo.layout::prove NCHW16",
    "demo.layout::prove NCHW16 keeps c%16 contiguous",
    "demo.layout::prove NCHW16 fits int32 where N <= 64, C <= 4096, H <= 64, W <= 64",
]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Run pytest with the plugin in a folder of its own, with a text `demo.layout` in it."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    Path("demo.layout").write_text(DEMO)

    def started(*arguments: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess("-p", "layoutdsl.pytest", "-p", "no:zarr", *arguments)

    return started


def ini(**said: str) -> None:
    rows = (f"{key} = {value}\n" for key, value in said.items())
    Path("pytest.ini").write_text("[pytest]\n" + "".join(rows))


def named(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line and not line.startswith("FAILED")]


def test_every_layout_and_claim_is_a_test(run) -> None:
    assert named(run("--layouts", "--collect-only", "-q")) == NAMES
    run("--layouts").assert_outcomes(passed=3)


def test_without_being_asked_nothing_is_collected(run) -> None:
    run().assert_outcomes()


@pytest.mark.slow
def test_a_file_that_is_named_is_collected(run) -> None:
    run("demo.layout").assert_outcomes(passed=3)
    run(NAMES[1]).assert_outcomes(passed=1)
    run("--layouts", "-k", "fits").assert_outcomes(passed=1, deselected=2)


def test_a_refutation_is_the_whole_message_with_its_line(run) -> None:
    Path("demo.layout").write_text(DEMO + WRONG)
    result = run("--layouts", "-rf", "--junitxml=found.xml")
    result.assert_outcomes(passed=3, failed=1)
    text = "\n".join(result.outlines)
    assert (
        "refuted: the formula is not the offset of `NCHW16`\n"
        "  at shape N=2 C=1 H=1 W=1\n"
        "    (n=1, c=0, h=0, w=0) -> offset 16, the formula gives 0\n"
        f"  = claim: {WRONG}"
        "  = replay: layoutdsl where demo.layout:NCHW16 --shape 2,1,1,1 --index 1,0,0,0\n"
    ) in text
    assert "Traceback" not in text
    assert "\x1b" not in text


def test_the_line_of_a_claim_is_where_it_stands(run) -> None:
    Path("conftest.py").write_text(
        "def pytest_itemcollected(item): print(item.reportinfo()[1], item.name)\n"
    )
    printed = run("--layouts", "--collect-only", "-q", "-s").outlines
    lines = [line.partition(" ")[0] for line in printed if " prove NCHW16" in line]
    assert lines[:3] == ["0", "2", "3"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"layout A(n) = [n,, n]", "error[L101]: expected"),
        (b"layout A(n) = [n] # \xff", "it is not UTF-8"),
        (b"# nothing\n", "it has no layout and no claim, so there is nothing to prove"),
    ],
)
def test_a_text_that_is_not_in_order_is_one_test_that_fails(run, text: bytes, words: str) -> None:
    Path("bad.layout").write_bytes(text)
    result = run("--layouts")
    result.assert_outcomes(passed=3, failed=1)
    assert any(line.startswith(words) for line in result.outlines)
    assert "bad.layout::is well formed" in "\n".join(result.outlines)


def test_what_says_nothing_but_of_operators_passes(run) -> None:
    Path("engine.layout").write_text("prefer Conv = NHWC\n")
    run("engine.layout").assert_outcomes(passed=1)


def test_the_same_claim_twice_is_one_and_another_by_the_same_words_is_counted(run) -> None:
    text = 'layout B<k>(n, c) = [n, c/k, c%k]\ntensor "a" = B<2>\nprove B\nprove B\n'
    Path("demo.layout").write_text(text)
    found = named(run("--layouts", "--collect-only", "-q"))
    assert found == ["demo.layout::prove B", "demo.layout::prove B #2"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "outcome"), [("fail", "failed"), ("xfail", "xfailed"), ("skip", "skipped")]
)
def test_what_is_undecided(run, way: str, outcome: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOUTDSL_SOLVER", "none")
    ini(layouts_undecided=way)
    result = run("--layouts", "-rxs")
    result.assert_outcomes(**{outcome: 3})
    assert "LAYOUTDSL_SOLVER is `none`" in "\n".join(result.outlines)


@pytest.mark.slow
def test_files_of_an_ini_file_are_collected_besides(run) -> None:
    Path("kernels").mkdir()
    Path("demo.layout").rename("kernels/demo.layout")
    Path("other.layout").write_text(DEMO)
    Path("checks").mkdir()
    Path("checks/test_it.py").write_text("def test_it(): pass\n")
    ini(layouts="kernels/*.layout", testpaths="checks")
    run().assert_outcomes(passed=4)
    run("checks").assert_outcomes(passed=1)
    run("kernels").assert_outcomes(passed=3)
    ini(layouts="**/*.layout")
    run().assert_outcomes(passed=7)


@pytest.mark.parametrize(
    "said",
    [{"layouts": "none/*.layout"}, {"layouts": "/*.layout"}, {"layouts_undecided": "pass"}],
)
def test_an_ini_file_that_asks_for_nothing_is_refused(run, said: dict[str, str]) -> None:
    ini(**said)
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert next(iter(said)) in "\n".join(result.errlines)


@pytest.mark.slow
def test_what_was_proved_is_kept_and_nothing_else(run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a solver only what was kept passes; a refutation needs none."""
    Path("demo.layout").write_text(DEMO + WRONG)
    run("--layouts").assert_outcomes(passed=3, failed=1)
    monkeypatch.setenv("LAYOUTDSL_SOLVER", "none")
    result = run("--layouts")
    result.assert_outcomes(passed=3, failed=1)
    assert "refuted" in "\n".join(result.outlines)
    Path("demo.layout").write_text("\n" + DEMO.replace("C <= 4096", "C <= 2048"))
    result = run("--layouts", "-rf")
    result.assert_outcomes(passed=2, failed=1)
    (failed,) = [line for line in result.outlines if line.startswith("FAILED")]
    assert "prove NCHW16 fits int32 where N <= 64, C <= 2048, H <= 64, W <= 64" in failed
    run("--layouts", "-p", "no:cacheprovider").assert_outcomes(failed=3)
    run("--layouts", "--cache-clear").assert_outcomes(failed=3)
    monkeypatch.delenv("LAYOUTDSL_SOLVER")
    run("--layouts").assert_outcomes(passed=3)


@pytest.mark.slow
def test_a_cache_that_is_damaged_is_not_read(run) -> None:
    run("--layouts").assert_outcomes(passed=3)
    (kept,) = Path(".pytest_cache").rglob("proved")
    for text in ('{"a": 1}', "[1, null]", "no json"):
        kept.write_text(text)
        run("--layouts").assert_outcomes(passed=3)


def test_a_layout_that_is_hardly_meant_warns(run) -> None:
    Path("demo.layout").write_text(
        "layout Idle<k>(n, c) = [n, c]\nprove Idle fits int64 where N <= 8, C <= 8\n"
    )
    result = run("--layouts", "-W", "default")
    result.assert_outcomes(passed=2, warnings=1)
    assert "warning[L213]: the parameter `k` is not used" in "\n".join(result.outlines)
    run("--layouts", "-W", "error").assert_outcomes(passed=1, failed=1)


def test_the_fixture(run) -> None:
    Path("sub").mkdir()
    Path("sub/near.layout").write_text("layout A(n) = [n]\n")
    Path("sub/bad.layout").write_text("layout A(n) = [n\n")
    Path("sub/test_it.py").write_text(
        "def test_it(layouts):\n"
        "    assert layouts('demo.layout')['NCHW16'].offset((0, 17, 0, 0), (1, 20, 1, 1)) == 17\n"
        "    assert [*layouts('near.layout')] == ['A']\n"
        "def test_gone(layouts): layouts('gone.layout')\n"
        "def test_bad(layouts): layouts('bad.layout')\n"
    )
    result = run("sub")
    result.assert_outcomes(passed=1, failed=2)
    text = "\n".join(result.outlines)
    assert "there is no file" in text
    assert "error[L101]" in text


@pytest.mark.slow
def test_workers_share_the_tests_and_tell_what_was_proved(run) -> None:
    if find_spec("xdist") is None:
        pytest.skip("xdist is not installed")
    Path("demo.layout").write_text(DEMO + WRONG)
    ini(layouts="*.layout")
    run("-n", "2").assert_outcomes(passed=3, failed=1)
    (kept,) = Path(".pytest_cache").rglob("proved")
    assert kept.read_text().count('"') == 6


def test_it_costs_a_run_without_layouts_nothing(pytester: pytest.Pytester) -> None:
    program = (
        "import sys, layoutdsl.pytest\n"
        "print([each for each in sys.modules if each.split('.')[0] in "
        "('lark', 'z3', 'numpy', 'sympy', 'click') or each.startswith('layoutdsl.')])\n"
    )
    found = pytester.run(sys.executable, "-c", program)
    assert found.outlines == ["['layoutdsl.pytest']"]
