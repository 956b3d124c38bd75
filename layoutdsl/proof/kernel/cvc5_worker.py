"""``python cvc5_worker.py WORK``: the cvc5 of the Python package as a program.

It reads SMT-LIB from the standard input and prints cvc5's answers, each as soon as it is there, as
``cvc5 --incremental --rlimit-per=WORK`` would. The caller stops it.
It imports nothing of ours.
"""

from __future__ import annotations

import sys
from typing import Any


def run(text: str, work: int) -> None:
    """Print the answer to every command of a script."""
    import cvc5

    package: Any = cvc5
    solver = package.Solver()
    solver.setOption("incremental", "true")
    solver.setOption("rlimit-per", str(work))
    parser = package.InputParser(solver)
    parser.setStringInput(package.InputLanguage.SMT_LIB_2_6, text, "questions")
    symbols = parser.getSymbolManager()
    while True:
        try:
            command = parser.nextCommand()
            if command.isNull() or command.getCommandName() == "exit":
                return
            answer = command.invoke(solver, symbols)
        except RuntimeError as failure:
            answer = f'(error "{" ".join(str(failure).split())}")\n'
            sys.stdout.write(answer)
            return
        sys.stdout.write(answer)
        sys.stdout.flush()


if __name__ == "__main__":
    run(sys.stdin.read(), int(sys.argv[1]))
