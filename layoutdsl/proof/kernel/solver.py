"""Solvers, spoken to in SMT-LIB text: z3, and cvc5 for a second opinion.

The budget of a question is deterministic work; a wall around the whole run kills a solver that does
not stop. A solver that dies, hangs or complains makes its questions *unknown*, never answered.
Where no program may be started z3 is asked inside this process: the budget is all there is then.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from layoutdsl.proof.kernel.in_process import eval_text, is_installed
from layoutdsl.proof.kernel.process import MOST_OUTPUT, converse
from layoutdsl.proof.kernel.question import script

WORK = 4_000_000
"""z3 resource units for one question; the largest that the library needs is far below."""

CVC5_WORK = 1_000_000
"""The same in cvc5's own units."""

WALL = 20.0
"""Seconds without any answer after which the solver is taken for hanging."""

HINT_WALL = 2.0
"""The same, for a question whose answer is only a hint."""

CHOICE = "LAYOUTDSL_SOLVER"
"""The variable of the environment that says where z3 runs: `IN_PROCESS`, or it is left out."""

IN_PROCESS = "in-process"
"""z3 is asked inside this process, and no program is started; so it is in a browser."""

Answer: TypeAlias = Literal["sat", "unsat", "unknown"]
_ANSWERS: Mapping[str, Answer] = {"sat": "sat", "unsat": "unsat", "unknown": "unknown"}
_WHY_UNKNOWN = re.compile(r"unknown \([A-Z_]+\)")


class NoSolver(Exception):  # noqa: N818  what the user can mend, told as such
    """A solver's program is not installed; says how to get it."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message}: {remedy}")
        self.message, self.remedy = message, remedy


_WORKER = Path(__file__).with_name("cvc5_worker.py")
"""Run as a file, so that it waits for nothing of ours."""

_VALUE = re.compile(r"\(([^\s()]+)\s+(?:(\d+)|\(-\s+(\d+)\))\)")


@dataclass(frozen=True, slots=True)
class Answers:
    """One answer for each question; ``reason`` says why some are unknown."""

    answers: tuple[Answer, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Solver:
    """A solver by name, how it is called with a budget per question, and its usual budget.

    The call has no words where the solver is asked inside this process.
    """

    name: str
    command: Callable[[int], list[str]]
    work: int


@cache
def program() -> str:
    """Return the path of z3: the one that came with its Python package, else the one on PATH.

    Raises:
        NoSolver: there is none.
    """
    try:
        files = importlib.metadata.files("z3-solver") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name in ("z3", "z3.exe"):
            path = str(file.locate())
            if os.access(path, os.X_OK):
                return path
    found = shutil.which("z3")
    if found is None:
        raise NoSolver("the program z3 is not installed", "pip install z3-solver")
    return found


def _z3(work: int) -> list[str]:
    if sys.platform == "emscripten" or os.environ.get(CHOICE):
        return _in_process()
    return [program(), "-smt2", "-in", f"rlimit={work}"]


def _in_process() -> list[str]:
    chosen = os.environ.get(CHOICE) or IN_PROCESS
    if chosen != IN_PROCESS:
        raise NoSolver(f"{CHOICE} is `{chosen[:40]}`", f"leave it out, or set it to {IN_PROCESS}")
    if not is_installed():
        raise NoSolver("the Python package of z3 is not installed", "pip install z3-solver")
    return []


def _cvc5(work: int) -> list[str]:
    """Call the program on PATH, else the Python package by a worker of ours."""
    if sys.platform == "emscripten":
        message = "cvc5 is asked in a process of its own, and none can be started here"
        raise NoSolver(message, "ask z3, which needs none")
    found = shutil.which("cvc5")
    if found is not None:
        return [found, "--lang=smt2", "--incremental", f"--rlimit-per={work}"]
    if importlib.util.find_spec("cvc5") is None:
        raise NoSolver("cvc5 is not installed", "pip install cvc5")
    return [sys.executable, "-P", str(_WORKER), str(work)]


Z3 = Solver("z3", _z3, WORK)
CVC5 = Solver("cvc5", _cvc5, CVC5_WORK)
SOLVERS: Mapping[str, Solver] = {each.name: each for each in (Z3, CVC5)}


def ask(
    questions: Sequence[str], *, work: int | None = None, wall: float = WALL, solver: Solver = Z3
) -> Answers:
    """Return a solver's answer to each question, in order."""
    if not questions:
        return Answers(())
    return answers(script(questions), len(questions), work=work, wall=wall, solver=solver)


def answers(
    text: str, count: int, *, work: int | None = None, wall: float = WALL, solver: Solver = Z3
) -> Answers:
    """Return a solver's answers to a script that asks so many questions.

    Answers are told apart by their order only, so one line that is none spoils all of them.
    """
    name, budget = solver.name, solver.work if work is None else work
    output, reason = _run(solver, text, budget, wall)
    spoken = [each.strip() for each in output.split("\n") if each.strip()]
    lines = [_WHY_UNKNOWN.sub("unknown", each) for each in spoken]
    strange = next((line for line in lines if line not in _ANSWERS), "")
    if strange or len(lines) > count:
        nothing: list[Answer] = ["unknown"] * count
        return Answers(
            tuple(nothing), reason or f"{name} complains: {(strange or lines[-1])[:200]}"
        )
    given = [_ANSWERS[line] for line in lines]
    if len(given) < count:
        reason = reason or f"{name} ended early"
        given += ["unknown"] * (count - len(given))
    elif "unknown" in given:
        reason = f"{name} gave up after {budget} units of work"
    return Answers(tuple(given), reason)


def model(
    question: str, names: Sequence[str], *, work: int = WORK // 4, wall: float = HINT_WALL
) -> dict[str, int] | None:
    """Return numbers for ``names`` that make a question satisfiable.

    What comes back is a hint: it has to be replayed. ``None`` where z3 finds nothing in its budget.
    """
    text = f"{question}(check-sat)\n(get-value ({' '.join(names)}))\n(exit)\n"
    output, _ = _run(Z3, text, work, wall)
    if not output.lstrip().startswith("sat"):
        return None
    found = {
        name: int(positive) if positive else -int(negative)
        for name, positive, negative in _VALUE.findall(output)
    }
    return found if found.keys() >= set(names) else None


def _run(solver: Solver, text: str, work: int, wall: float) -> tuple[str, str]:
    try:
        command = solver.command(work)
    except NoSolver as missing:
        return "", str(missing)
    if not command:
        return eval_text(text, work, MOST_OUTPUT)
    return converse(solver.name, command, text, wall)
