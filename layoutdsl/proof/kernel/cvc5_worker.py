"""``python cvc5_worker.py WORK [proofs]``: the cvc5 of the Python package as a program.

It reads SMT-LIB from the standard input and prints cvc5's answers, each as soon as it is there, as
``cvc5 --incremental --rlimit-per=WORK`` would. With `proofs` a line follows each answer: cvc5's
proof of *unsat*, in its format CPC, as a string of JSON; an empty one of any other answer.
Whoever starts it stops it.
It imports nothing of ours.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def run(text: str, work: int, proofs: bool) -> None:
    """Print the answer to every command of a script, and its proof where that is asked for."""
    import cvc5

    package: Any = cvc5
    solver = package.Solver()
    solver.setOption("incremental", "true")
    solver.setOption("rlimit-per", str(work))
    if proofs:  # every rewriting as steps of its own, so that none has to be taken on trust
        solver.setOption("produce-proofs", "true")
        solver.setOption("proof-granularity", "dsl-rewrite")
    parser = package.InputParser(solver)
    parser.setStringInput(package.InputLanguage.SMT_LIB_2_6, text, "questions")
    symbols = parser.getSymbolManager()
    while True:
        try:
            command = parser.nextCommand()
            if command.isNull() or command.getCommandName() == "exit":
                return
            said = command.invoke(solver, symbols)
            if proofs and command.getCommandName() == "check-sat":
                said += f"{json.dumps(_proof(package, solver, said))}\n"
        except RuntimeError as failure:
            said = f'(error "{" ".join(str(failure).split())}")\n'
            sys.stdout.write(said)
            return
        sys.stdout.write(said)
        sys.stdout.flush()


def _proof(package: Any, solver: Any, said: str) -> str:
    if said.strip() != "unsat":
        return ""
    form = package.ProofFormat.CPC
    return "".join(solver.proofToString(each, form).decode() for each in solver.getProof())


if __name__ == "__main__":
    run(sys.stdin.read(), int(sys.argv[1]), sys.argv[2:] == ["proofs"])
