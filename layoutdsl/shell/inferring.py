"""What `probe` and `identify` say of a function whose layout is looked for."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, cast

import click

from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.imported import imported
from layoutdsl.shell.output import error, say, say_json
from layoutdsl.shell.progress import Progress
from layoutdsl.shell.shapes import numbers

if TYPE_CHECKING:
    from layoutdsl.view.compare.infer import Inferred

STATUS = {"inferred": Exit.OK, "none": Exit.REFUTED}
"""Exit codes; of all others `UNDECIDED`."""


def inferred(function: str, shape: str | None, dtype: str, array: str) -> Inferred:
    """Import a function, and look for its layout.

    Raises:
        Failure: there is no such function, or no such shape.
    """
    hint = "write one number for each axis of the tensor, as 1,20,3,4 or N=1,C=20,H=3,W=4"
    if shape is None:
        raise Failure(Exit.USAGE, "--shape is missing", f"a shape that it takes: {hint}")
    extents = numbers(shape, "--shape", hint)
    from layoutdsl.commands import axes_of, infer

    with usage():
        axes_of(extents)
    called = imported(function)
    progress = Progress()
    with usage(), redirect_stdout(sys.stderr):
        found = infer(called, extents, dtype=dtype, array=cast("Any", array), progress=progress)
    progress.clear()
    if os.environ.get("LAYOUTDSL_DEBUG") == "1" and found.raised is not None:
        error("".join(traceback.format_exception(found.raised)).rstrip())
    return found


def status(found: Inferred) -> str:
    """Return what was found in a word."""
    if found.layout is not None:
        return "doubtful" if found.doubts else "inferred"
    return "none" if found.lost else "undecided"


def say_inferred(function: str, shape: str | None, dtype: str, array: str, form: str) -> int:
    """Look for the layout of a function, and print what was found; return the exit code."""
    return say_found(inferred(function, shape, dtype, array), function, form)


def say_found(found: Inferred, function: str, form: str) -> int:
    """Print what was found of a function; return the exit code."""
    if form == "json":
        from layoutdsl.shell.encode import plain

        say_json({"status": status(found), "function": function, **plain(found)})
    else:
        say("\n".join(lines(found, function)))
    return STATUS.get(status(found), Exit.UNDECIDED)


def lines(found: Inferred, function: str) -> Iterator[str]:
    """Yield the text of the layout, which can be kept, or why there is none."""
    calls = f"{found.calls} {'call' if found.calls == 1 else 'calls'}"
    if found.layout is None:
        known = "is no layout" if found.lost else "is no layout that was understood"
        colour = "red" if found.lost else "yellow"
        head = click.style(status(found), fg=colour, bold=True)
        yield f"{head}  `{function}` {known}  ({calls})"
        yield f"  {found.reason}"
        return
    shapes = f"{found.shapes} {'shape' if found.shapes == 1 else 'shapes'}"
    yield f"# `{function}` at {shapes}, {found.drawn} of them drawn: tested in {calls}, not proved"
    ranges = (f"{n.upper()} {low}" + f"..{most}" * (low < most) for n, low, most in found.tried)
    yield f"# tried: {', '.join(ranges)}; what only shows beyond that was not seen"
    for name, words in found.refused:
        yield f"# not taken, along `{name}`: {_one_line(words)}"
    if found.padding or not found.steady:
        values = [f"{value:g}" for value in found.padding]
        yield f"# padding held {', '.join([*values, *([] if found.steady else ['garbage'])])}"
    for words in found.doubts:
        yield f"# not determined: for which shapes; {_one_line(words)}"
    yield found.text or ""


def _one_line(words: str) -> str:
    return " ".join(words.split())
