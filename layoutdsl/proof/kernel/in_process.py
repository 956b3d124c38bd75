"""z3 inside this process, for places that start no programs: a text goes in, its answers come back.

The answers are those of the program: a context of its own for each text, with the same budget, and
an error is printed and passed over. There is no wall: the budget alone ends it, and an interrupt
waits until then. It imports nothing of ours, and z3 only when it is asked.
"""

from __future__ import annotations

import importlib.util
from typing import Any


def is_installed() -> bool:
    """Whether z3's Python package can be imported."""
    return importlib.util.find_spec("z3") is not None


def eval_text(text: str, work: int, most: int) -> tuple[str, str]:
    """Return what z3 prints about a text, and why that is not all of it.

    Args:
        text: in SMT-LIB.
        work: z3's resource units for each question in it.
        most: characters of output after which it is taken for running wild.
    """
    import ctypes

    if "\0" in text:  # z3 is handed a string of C, and would answer what stands before it alone
        return "", "z3 is given a text with a NUL"
    try:
        output = _answers(text, work)
    except ctypes.ArgumentError as failed:
        if "KeyboardInterrupt" not in str(failed):
            raise
        raise KeyboardInterrupt from None  # it came while Python handed z3 an argument
    if len(output) > most:
        return output[:most], "z3 prints without end, and was stopped"
    return output, ""


def _answers(text: str, work: int) -> str:
    import z3

    # `Z3_mk_context` alone has no handler of errors, and the first `(error ...)` ends the process.
    context = z3.Context()
    # A budget that is given to the context itself is not kept. It ends no line, so that complaints
    # name the lines of the text.
    _printed(context, f"(set-option :rlimit {work})")
    # Else z3 takes an interrupt for itself, and Python never hears of it. An old z3 does so anyhow,
    # and complains of the option, which is as good as silence.
    _printed(context, "(set-option :ctrl_c false)")
    return _printed(context, text)


def _printed(context: Any, text: str) -> str:
    import z3

    try:
        output = z3.Z3_eval_smtlib2_string(context.ref(), text)
    except z3.Z3Exception as failed:  # raised at the end of the text: its value is the whole output
        output = failed.value
    return output.decode(errors="replace") if isinstance(output, bytes) else str(output)
