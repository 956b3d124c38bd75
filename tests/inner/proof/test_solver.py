"""A solver that is missing, dies, hangs, raves or gives up leaves questions open, and says why.

The kernel trusts no solver, so it is given ones that misbehave in each way.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from proving import sound
from texts import layout

from layoutdsl import Claim
from layoutdsl.language.meaning.claims import Fits
from layoutdsl.language.meaning.elements import INTEGER_TYPES
from layoutdsl.proof.kernel import solver
from layoutdsl.proof.kernel.certificate import known_lemmas
from layoutdsl.proof.kernel.checker import question
from layoutdsl.proof.kernel.solver import CVC5, NoSolver, Solver, answers, ask, model
from layoutdsl.proof.prover.check import check
from layoutdsl.proof.prover.verdict import Undecided
from layoutdsl.proof.statements.sound import PROPERTIES, SIZE

TRUE = question([], ("<", 0, 1))
FALSE = question([("<", 0, "x")], ("<", 1, "x"))
HARD = question(
    [("<", 0, "x"), ("<", 0, "y"), ("<", 0, "z")],
    ("not", ("=", ("+", ("*", ("*", "x", "x"), "x"), ("*", ("*", "y", "y"), "y")),
             ("*", ("*", "z", "z"), "z"))),
    opaque={},
)  # fmt: skip

Fake = Callable[[str], None]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Fake]:
    """Put a shell script in the place of z3; nothing is known until it has answered.

    z3 is then a program, wherever the other tests ask it.
    """
    monkeypatch.delenv(solver.CHOICE, raising=False)

    def replace(text: str) -> None:
        path = tmp_path / "z3"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        monkeypatch.setattr(solver, "program", lambda: str(path))

    known_lemmas.cache_clear()
    for function in (ask, model):
        monkeypatch.setitem(function.__kwdefaults__, "wall", 0.3)
    yield replace
    known_lemmas.cache_clear()


def test_answers_come_in_order() -> None:
    assert ask([TRUE, FALSE, TRUE]).answers == ("unsat", "sat", "unsat")
    assert ask([]).answers == ()


def test_a_budget_is_work() -> None:
    given = ask([TRUE, HARD, FALSE], work=20_000)
    assert given.answers == ("unsat", "unknown", "sat")
    assert given.reason == "z3 gave up after 20000 units of work"


def test_a_large_script_passes_through_the_pipes() -> None:
    many = [TRUE + f"; {'x' * 400}\n"] * 6_000
    assert set(ask(many).answers) == {"unsat"}


def test_an_error_spoils_every_answer() -> None:
    given = ask([TRUE, "(assert (< nothing 1))\n", TRUE])
    assert given.answers == ("unknown",) * 3
    assert given.reason.startswith("z3 complains: (error ")
    assert "unknown constant nothing" in given.reason


WALL = "z3 gave no answer for 0.3 seconds, and was stopped"

BROKEN = [
    ("exit 3", "z3 ended early"),
    ("cat > /dev/null", "z3 ended early"),
    ("cat > /dev/null; kill -9 $$", "z3 ended early"),
    ("cat > /dev/null; echo unsat", "z3 ended early"),
    ("cat > /dev/null; echo unsat; kill -9 $$", "z3 ended early"),
    ("exec sleep 60", WALL),
    ("cat > /dev/null; exec sleep 60", WALL),
    ("echo unsat; exec sleep 60", WALL),
    ("exec 1>&-; exec 2>&-; exit 0", "z3 ended early"),
    ("cat > /dev/null; echo hello", "z3 complains: hello"),
    ("cat > /dev/null; echo unsat; echo hello; echo unsat", "z3 complains: hello"),
    ("cat > /dev/null; echo unsupported; echo unsat; echo unsat", "z3 complains: unsupported"),
    ("cat > /dev/null; yes unsat | head -n 100", "z3 complains: unsat"),
    ("cat > /dev/null; echo 'UNSAT'", "z3 complains: UNSAT"),
    ("cat > /dev/null; printf '\\377\\376'", "z3 complains: \N{REPLACEMENT CHARACTER}" * 1),
    ("cat > /dev/null; echo 'Segmentation fault' >&2", "z3 complains: Segmentation fault"),
    ("exec yes unsat", "z3 prints without end, and was stopped"),
    ("exec cat /dev/zero", "z3 prints without end, and was stopped"),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("script", "reason"), BROKEN)
def test_a_broken_solver_answers_nothing(fake: Fake, script: str, reason: str) -> None:
    fake(script)
    given = ask([TRUE, TRUE])
    assert len(given.answers) == 2
    assert given.answers[1] == "unknown"
    assert given.reason.startswith(reason)


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize(("script", "reason"), BROKEN)
def test_nothing_is_proved_with_it(fake: Fake, script: str, reason: str) -> None:
    fake(script)
    found = sound(layout("layout L(c, h) = [c/4, h, c%4] where C <= 999, H <= 999"))
    assert found.status == "undecided"
    assert not found.passed
    assert [each.property for each in found.findings] == list(PROPERTIES)
    for each in found.findings:
        assert isinstance(each, Undecided)
        assert each.reason.startswith(reason)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("script", ["exit 3", "cat > /dev/null; yes unsat | head -n 9999"])
def test_no_claim_passes_with_it(fake: Fake, script: str) -> None:
    fake(script)
    made = layout("layout L(c) = [c/4, c%4] where C <= 9999")
    for polarity in ("prove", "refute"):
        found = check(Claim(polarity, made, Fits(INTEGER_TYPES["int16"])))
        assert found.status == "undecided"
        assert not found.passed


def test_a_counterexample_needs_no_solver(fake: Fake) -> None:
    fake("exit 3")
    assert sound(layout("layout L(c, h) = [c/4, h, c%2]\nrefute L")).status == "refuted"


def test_a_solver_that_always_says_unsat_needs_as_many_lines_as_questions(fake: Fake) -> None:
    fake("grep check-sat | sed 's/.*/unsat/'")
    assert set(ask([TRUE, FALSE]).answers) == {"unsat"}


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ("missing", "z3 does not run: No such file or directory"),
        ("text", "z3 does not run: Permission denied"),
        ("folder", "z3 does not run: Permission denied"),
        ("garbage", "z3 does not run: Exec format error"),
    ],
)
@pytest.mark.usefixtures("fake")
def test_a_program_that_does_not_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, made: str, reason: str
) -> None:
    path = tmp_path / made
    if made == "folder":
        path.mkdir()
    elif made != "missing":
        path.write_bytes(b"\0\1\2\3")
        path.chmod(0o755 if made == "garbage" else 0o644)
    monkeypatch.setattr(solver, "program", lambda: str(path))
    assert ask([TRUE]) == solver.Answers(("unknown",), reason)
    assert model(f"{FALSE}", ["x"]) is None
    found = sound(layout("layout L(c) = [c]"))
    reasons = {each.reason for each in found.findings if isinstance(each, Undecided)}
    assert reasons == {reason}


@pytest.mark.usefixtures("fake")
def test_no_program_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def program() -> str:
        raise NoSolver("the program z3 is not installed", "pip install z3-solver")

    monkeypatch.setattr(solver, "program", program)
    found = sound(layout("layout L(c) = [c ^ 1]"))
    reasons = [each.reason for each in found.findings if isinstance(each, Undecided)]
    assert "the program z3 is not installed: pip install z3-solver" in reasons
    assert [each.property for each in found.findings if not isinstance(each, Undecided)] == [SIZE]


def test_the_program_is_found_without_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def no_files(_: str) -> None:
        raise solver.importlib.metadata.PackageNotFoundError

    monkeypatch.setattr(solver.importlib.metadata, "files", no_files)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = solver.program.__wrapped__
    with pytest.raises(NoSolver, match=r"^the program z3 is not installed: pip install z3-solver$"):
        found()
    (tmp_path / "z3").write_text("#!/bin/sh\n")
    (tmp_path / "z3").chmod(0o755)
    assert found() == str(tmp_path / "z3")


def test_a_model_is_a_hint() -> None:
    text = question([("<", "x", -5), ("<", 7, "y")], ("<", 0, "x"))
    found = model(text, ["x", "y"])
    assert found is not None
    assert found["x"] < -5
    assert found["y"] > 7
    assert model(TRUE, ["x"]) is None
    assert model(question([("<", 0, "x")], ("<", 1, 0)), ["y"]) is None


@pytest.mark.sampled(2)
@pytest.mark.parametrize("script", [each for each, _ in BROKEN])
def test_no_model_from_a_broken_solver(fake: Fake, script: str) -> None:
    fake(script)
    assert model(FALSE, ["x"]) is None


# The second solver.

needs_cvc5 = pytest.mark.skipif(not find_spec("cvc5"), reason="cvc5 is not installed")


@needs_cvc5
def test_cvc5_answers_in_order() -> None:
    assert ask([TRUE, FALSE, TRUE], solver=CVC5).answers == ("unsat", "sat", "unsat")


@needs_cvc5
def test_the_budget_of_cvc5_is_work() -> None:
    given = ask([TRUE, HARD, FALSE], work=5_000, solver=CVC5, wall=60)
    assert given.answers == ("unsat", "unknown", "sat")
    assert given.reason == "cvc5 gave up after 5000 units of work"


@needs_cvc5
def test_an_error_of_cvc5_spoils_every_answer() -> None:
    given = ask([TRUE, "(assert (< nothing 1))\n", TRUE], solver=CVC5)
    assert given.answers == ("unknown",) * 3
    assert given.reason.startswith("cvc5 complains: (error ")


@pytest.mark.sampled(2)
@needs_cvc5
@pytest.mark.parametrize(
    "text", ["", "(", ")", "(set-logic ALL)(exit)(check-sat)", "\0", "; unsat"]
)
def test_cvc5_reads_any_text(text: str) -> None:
    found = answers(text, 1, solver=CVC5, wall=60)
    assert found.answers == ("unknown",)
    assert found.reason.startswith(("cvc5 ended early", "cvc5 complains: (error "))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("script", "reason"), BROKEN)
def test_a_broken_second_solver_answers_nothing(tmp_path: Path, script: str, reason: str) -> None:
    path = tmp_path / "cvc5"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    broken = Solver("cvc5", lambda _: [str(path)], 1)
    given = ask([TRUE, TRUE], solver=broken, wall=0.3)
    assert given.answers[1] == "unknown"
    assert given.reason.startswith(reason.replace("z3", "cvc5"))


def test_cvc5_is_the_program_on_the_path_else_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(solver.importlib.util, "find_spec", lambda name: name)
    assert CVC5.command(5)[0] == sys.executable
    assert CVC5.command(5)[-1] == "5"
    (tmp_path / "cvc5").write_text("#!/bin/sh\n")
    (tmp_path / "cvc5").chmod(0o755)
    assert CVC5.command(5) == [
        str(tmp_path / "cvc5"), "--lang=smt2", "--incremental", "--rlimit-per=5",
    ]  # fmt: skip


def test_without_cvc5_nothing_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver.shutil, "which", lambda _: None)
    monkeypatch.setattr(solver.importlib.util, "find_spec", lambda _: None)
    reason = "cvc5 is not installed: pip install cvc5"
    assert ask([TRUE], solver=CVC5) == solver.Answers(("unknown",), reason)


if sys.platform == "win32":
    pytest.skip("the fakes are shell scripts", allow_module_level=True)
