"""z3 inside this process gives the answers of the program.

The kernel asks one solver in two ways, and each question has to get the same answer.
"""

from __future__ import annotations

import ctypes
import json
import random
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import z3
from cli_shell import Shell, shell
from processes import ended
from texts import LIBRARY_MODULES

import layoutdsl
from layoutdsl import Module
from layoutdsl.proof.kernel import in_process, lemmas, solver
from layoutdsl.proof.kernel.checker import check as checked
from layoutdsl.proof.kernel.checker import question
from layoutdsl.proof.kernel.in_process import eval_text
from layoutdsl.proof.kernel.process import MOST_OUTPUT, converse
from layoutdsl.proof.kernel.question import script
from layoutdsl.proof.kernel.solver import CVC5, WORK, Z3, NoSolver, ask, model
from layoutdsl.proof.kernel.theorem import Term, Theorem
from layoutdsl.shell.exits import Exit
from layoutdsl.shell.shell import SOLVER, SOLVERS

__all__ = ["shell"]

TRUE = question([], ("<", 0, 1))
FALSE = question([("<", 0, "x")], ("<", 1, "x"))
HARD = question(
    [("<", 0, "x"), ("<", 0, "y"), ("<", 0, "z")],
    ("not", ("=", ("+", ("*", ("*", "x", "x"), "x"), ("*", ("*", "y", "y"), "y")),
             ("*", ("*", "z", "z"), "z"))),
    opaque={},
)  # fmt: skip


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask z3 inside this process."""
    monkeypatch.setenv(solver.CHOICE, solver.IN_PROCESS)


def by_program(text: str, work: int = WORK) -> str:
    output, reason = converse(
        "z3", [solver.program(), "-smt2", "-in", f"rlimit={work}"], text, 60, MOST_OUTPUT
    )
    assert not reason
    return placeless(output)


def by_process(text: str, work: int = WORK) -> str:
    output, reason = eval_text(text, work, MOST_OUTPUT)
    assert not reason
    return placeless(output)


def placeless(output: str) -> str:
    """What was printed, but for columns of the first line: the budget is said before it there."""
    return re.sub(r"line 1 column \d+", "line 1 column _", output)


# Drawn texts: some are faulty, and z3 goes on behind what it complains of.

NUMBERS = (-3, -1, 0, 1, 2, 7, 16, 2**31, 2**63 - 1)


def drawn_term(draw: random.Random, depth: int) -> Term:
    if not depth or draw.random() < 0.2:
        return draw.choice((*"xyz", draw.choice(NUMBERS)))
    operator = draw.choice(("+", "-", "*", "div", "mod"))
    left = drawn_term(draw, depth - 1)
    simple = operator in ("div", "mod") or draw.random() < 0.8
    return (operator, left, draw.choice((1, 2, 3, 16)) if simple else drawn_term(draw, depth - 1))


def drawn_formula(draw: random.Random, depth: int) -> Term:
    if not depth or draw.random() < 0.4:
        relation = draw.choice(("<", "<=", "="))
        return (relation, drawn_term(draw, 2), drawn_term(draw, 2))
    operator = draw.choice(("and", "or", "not", "=>"))
    count = 1 if operator == "not" else 2
    return (operator, *(drawn_formula(draw, depth - 1) for _ in range(count)))


FAULTS = (
    *("(assert (< nothing 1))\n", "(assert (< x", ")", "hello", "(push 1", "\N{SNOWMAN}", '"'),
    *("(get-value (x))\n", "(get-model)\n", "(exit)\n", "(declare-const x Bool)\n", "\r\n;"),
)


def drawn_text(draw: random.Random) -> str:
    """Questions after another, as a proof asks, or one with its numbers, as a search does."""
    asked = [
        question(
            [drawn_formula(draw, 2) for _ in range(draw.randrange(4))],
            drawn_formula(draw, 2),
            **draw.choice(({}, {}, {"opaque": {}})),
        )
        for _ in range(draw.randint(1, 4))
    ]
    if draw.random() < 0.3:
        text = f"{asked[0]}(check-sat)\n(get-value (x y))\n(exit)\n"
    else:
        text = script(asked)
    if draw.random() < 0.3:
        place = draw.choice([0, *(each.end() for each in re.finditer(r"[\n)]", text))])
        text = text[:place] + draw.choice(FAULTS) + text[place:]
    return text


@pytest.mark.slow
def test_drawn_texts_are_answered_alike() -> None:
    met = set[str]()
    for seed in range(120):
        draw = random.Random(seed)
        text, work = drawn_text(draw), draw.choice((WORK, 3_000))
        output = by_process(text, work)
        assert output == by_program(text, work), (seed, text)
        met |= {word for word in ("unsat", "unknown", "(error", "((x ") if word in output}
        met |= {"sat"} if "sat" in output.split("\n") else set()
    assert met == {"sat", "unsat", "unknown", "(error", "((x "}


@pytest.mark.slow
@pytest.mark.sampled(20)
@pytest.mark.parametrize("module", LIBRARY_MODULES, ids=lambda module: module.name)
def test_the_library_is_answered_alike(module: Module, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is said to z3 while a family is proved, and searched for counterexamples."""
    said: list[tuple[str, int]] = []
    run = solver._run

    def heard(asked: solver.Solver, text: str, work: int, wall: float) -> tuple[str, str]:
        said.append((text, work))
        return run(asked, text, work, wall)

    monkeypatch.setattr(solver, "_run", heard)
    layoutdsl.prove(module)
    assert said
    for text, work in said:
        assert by_process(text, work) == by_program(text, work), text


def test_the_lemmas_are_answered_alike() -> None:
    known: dict[str, Theorem] = {}
    questions: list[str] = []
    for theorem, proof in lemmas.library():
        questions += [each.text for each in checked(theorem, proof, known)]
        known[theorem.name] = theorem
    text = script(questions)
    assert by_process(text) == by_program(text) == "unsat\n" * len(questions)


@pytest.mark.parametrize(
    "text", ["", "(", ")", "hello", "(exit)(check-sat)", "(set-option :nothing 1)(check-sat)", ";"]
)
def test_faulty_texts_are_complained_of_alike(text: str) -> None:
    assert by_process(text) == by_program(text)


def test_what_would_be_cut_off_is_not_asked() -> None:
    text = "(check-sat)\0(assert false)(check-sat)"
    assert eval_text(text, WORK, MOST_OUTPUT) == ("", "z3 is given a text with a NUL")


def test_output_without_end_is_none() -> None:
    output, reason = eval_text('(echo "much")\n' * 100, WORK, 50)
    assert len(output) == 50
    assert reason == "z3 prints without end, and was stopped"


@pytest.mark.usefixtures("inside")
def test_no_program_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def program() -> str:
        raise AssertionError("a program is looked for")

    monkeypatch.setattr(solver, "program", program)
    assert ask([TRUE, FALSE, HARD], work=20_000).answers == ("unsat", "sat", "unknown")
    found = model(question([("<", "x", -5)], ("<", 0, "x")), ["x"])
    assert found is not None
    assert found["x"] < -5
    assert Z3.command(1) == []


@pytest.mark.usefixtures("inside")
def test_several_at_once_do_not_disturb_each_other() -> None:
    questions = ([TRUE, HARD, FALSE], [FALSE], [HARD], [TRUE, TRUE])
    alone = [ask(each, work=20_000) for each in questions]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda each: ask(each, work=20_000), questions * 4)) == alone * 4


@pytest.mark.usefixtures("inside")
def test_an_error_does_not_end_the_process() -> None:
    given = ask([TRUE, "(assert (< nothing 1))\n", TRUE])
    assert given.answers == ("unknown",) * 3
    assert given.reason.startswith("z3 complains: (error ")


@pytest.mark.parametrize("chosen", ["process", "In-Process", " ", "x" * 99])
def test_another_choice_is_refused(chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(solver.CHOICE, chosen)
    given = ask([TRUE])
    assert given.answers == ("unknown",)
    way_out = "leave it out, or set it to in-process"
    assert given.reason == f"LAYOUTDSL_SOLVER is `{chosen[:40]}`: {way_out}"


@pytest.mark.parametrize("chosen", ["process", "In-Process", " ", "x" * 99])
@pytest.mark.parametrize("form", [(), ("--json",), ("--format", "github")], ids=str)
def test_the_shell_refuses_another_choice(
    chosen: str, form: tuple[str, ...], shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SOLVER, chosen)
    ended = shell("prove", "demo.layout:NCHW16c", *form)
    assert ended.code == Exit.USAGE
    words = [f"LAYOUTDSL_SOLVER is `{chosen[:40]}`", "leave it out, or set it to in-process"]
    if form == ("--json",):
        found = json.loads(ended.out)
        assert [found["status"], found["message"], found["help"]] == ["error", *words]
    else:
        assert all(each in ended.out + ended.err for each in words)
    assert shell("prove", "--help").code == shell("--version").code == shell().code == Exit.OK


def test_the_shell_knows_what_the_solver_knows() -> None:
    assert (SOLVER, SOLVERS) == (solver.CHOICE, ("", solver.IN_PROCESS))


def test_nothing_chosen_is_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(solver.CHOICE, "")
    assert Z3.command(1)[0] == solver.program()


def test_a_browser_needs_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(solver.CHOICE, raising=False)
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert Z3.command(1) == []
    with pytest.raises(NoSolver, match=r"^cvc5 is asked in a process of its own, and none"):
        CVC5.command(1)
    assert ask([TRUE], solver=CVC5).reason.endswith("started here: ask z3, which needs none")


@pytest.mark.usefixtures("inside")
def test_without_its_package_there_is_no_z3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_process.importlib.util, "find_spec", lambda _: None)
    reason = "the Python package of z3 is not installed: pip install z3-solver"
    assert ask([TRUE]) == solver.Answers(("unknown",), reason)


INTERRUPTED = """
import signal
import z3
from layoutdsl.proof.kernel.in_process import eval_text
signal.setitimer(signal.ITIMER_REAL, 0.2)
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
try:
    print(eval_text({text!r}, {work}, 99))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.slow
def test_an_interrupt_is_not_lost() -> None:
    """z3 would take it, and answer that it does not know."""
    program = INTERRUPTED.format(text=script([HARD] * 8), work=2_000_000)
    done = ended([sys.executable, "-c", program], text=True)
    assert done.stdout == "interrupted\n", done.stderr


@pytest.mark.parametrize(
    ("words", "raised"),
    [("argument 1: KeyboardInterrupt: ", KeyboardInterrupt), ("wrong type", ctypes.ArgumentError)],
)
def test_an_interrupt_between_python_and_z3_is_one(
    words: str, raised: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes while an argument is handed on, ctypes takes for a fault of that argument."""

    def made() -> None:
        raise ctypes.ArgumentError(words)

    monkeypatch.setattr(z3, "Context", made)
    with pytest.raises(raised):
        eval_text("(check-sat)", WORK, MOST_OUTPUT)
