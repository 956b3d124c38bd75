"""What a page asks of one text: a command line, with what may be asked of it, and its answer.

`answer` serves the page of `layoutdsl view` and the one in a browser alike. A verb reads the text
of the page and the library, and nothing else; it writes to its standard output alone. What the page
may say is listed here, and everything else is refused with a sentence.

Run as a program it is the process that `layoutdsl view` asks: a line of JSON in, a line of it out.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from itertools import islice
from pathlib import Path
from typing import Any

from layoutdsl.shell.exits import Exit, Failure
from layoutdsl.shell.shell import run

FILE = "{file}"
"""Stands for the text in a command line."""

USUAL_NAME = "page.layout"
MOST_TEXT = 1 << 20
"""Characters of a text."""

MOST_ARGUMENTS = 40
MOST_ARGUMENT = 10_000
"""Characters of one argument."""

FORMS = "--json"

FLAGS: Mapping[str, tuple[str, ...]] = {
    "check": (FORMS,),
    "prove": (FORMS, "-v", "--verbose"),
    "where": (FORMS,),
    "at": (FORMS,),
    "show": ("--all",),
    "formula": (FORMS,),
    "cost": (FORMS,),
    "diff": (FORMS,),
    "identify": (FORMS,),
    "translate": (FORMS,),
    "banks": (FORMS,),
    "explain": (FORMS,),
    "list": (FORMS,),
    "generate": ("--unvalidated",),
}
"""The verbs that a page may ask, each with its options that stand alone."""

VALUES: Mapping[str, tuple[str, ...]] = {
    "check": ("--format",),
    "prove": ("--format", "--where", "--as"),
    "where": ("--shape", "--index", "--bit"),
    "at": ("--shape", "--byte", "--bit"),
    "show": ("--shape", "--as", "--colour", "--color", "--columns", "--of", "--rows"),
    "formula": ("--as", "--where", "--width"),
    "cost": ("--shape", "--where", "--of"),
    "diff": ("--axes", "--as"),
    "translate": ("--to",),
    "banks": ("--shape", "--thread", "--bytes", "--threads", "--of", "--as"),
    "list": ("--search",),
    "generate": ("--target", "--shape", "--where", "--storage"),
}
"""Their options with a value; no value is a path. `identify --shape` would run a function."""

WORDS = {"explain": (0,), "at": (1,), "list": (0,)}
"""Which operands of a verb are words or numbers, and never name a layout."""

_FILE_NAME = re.compile(r"\w[\w .+-]{0,99}")
_LAYOUT = re.compile(r"[A-Za-z_]\w*\s*(<[\s\w,]*>)?", re.ASCII)


def answer(request: object) -> dict[str, Any]:
    """Return what the shell says to a command line about a text.

    One at a time in a process: the text lies in a folder of its own, which is the current one as
    long as the verb runs.

    Args:
        request: ``arguments``, ``text`` and ``name``; docs/playground.md has them in full.

    Returns:
        ``exit``, the exit code; ``output`` and ``errors``, what was printed.
    """
    try:
        arguments, text, name = _asked(request)
    except Failure as refused:
        return said(refused.code, "", f"{refused}\n")
    with tempfile.TemporaryDirectory(prefix="layoutdsl-") as folder, _inside(folder):
        Path(name).write_bytes(text)
        return _run(arguments)


def said(code: int, output: str, errors: str) -> dict[str, Any]:
    """Return an answer."""
    return {"exit": int(code), "output": output, "errors": errors}


@contextmanager
def _inside(folder: str) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _run(arguments: Sequence[str]) -> dict[str, Any]:
    output, errors = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", newline="\n") for _ in range(2)
    )
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO())
    try:
        with redirect_stdout(output), redirect_stderr(errors):
            code = run(arguments)
    finally:
        sys.stdin = before
    return said(code, *(_printed(each) for each in (output, errors)))


def _printed(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def _refused(message: str, hint: str | None = None) -> Failure:
    return Failure(Exit.USAGE, message, hint)


def _asked(request: object) -> tuple[list[str], bytes, str]:
    """Return the command line, the text as bytes, and the name of the file that holds it.

    Raises:
        Failure: something in it may not be asked, or is not what it has to be.
    """
    if not isinstance(request, Mapping):
        raise _refused("the request is no JSON object")
    strange = sorted({str(each) for each in request} - {"arguments", "text", "name"})
    if strange:
        raise _refused(f"the request has `{strange[0][:40]}`", "it has arguments, text and name")
    arguments, text = request.get("arguments"), request.get("text", "")
    name = request.get("name", USUAL_NAME)
    if not isinstance(text, str) or len(text) > MOST_TEXT:
        raise _refused(f"the text of the request is no string of at most {MOST_TEXT} characters")
    if not isinstance(name, str) or not _FILE_NAME.fullmatch(name):
        raise _refused("the name in the request is no plain file name", "as `demo.layout`")
    if not isinstance(arguments, Sequence) or isinstance(arguments, str):
        raise _refused("the arguments of the request are no list")
    if len(arguments) > MOST_ARGUMENTS or not all(map(_is_word, arguments)):
        words = f"{MOST_ARGUMENTS} strings of at most {MOST_ARGUMENT} characters"
        raise _refused(f"the arguments of the request are not at most {words}")
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError:
        raise _refused("the text of the request has half a character") from None
    return _allowed(arguments, name), content, name


def _is_word(argument: object) -> bool:
    """Whether an argument is text that a command line could hold."""
    if not isinstance(argument, str) or len(argument) > MOST_ARGUMENT or "\0" in argument:
        return False
    return not any("\ud800" <= each <= "\udfff" for each in argument)


def _allowed(arguments: Sequence[str], name: str) -> list[str]:
    """Return a command line that may be run, the text in it by its name.

    Raises:
        Failure: it may not be run; says which word is why.
    """
    if not arguments:
        raise _refused("a verb is missing", f"a page may ask {', '.join(FLAGS)}")
    verb, *rest = arguments
    if verb not in FLAGS:
        raise _refused(f"`{verb[:40]}` is not for pages", f"a page may ask {', '.join(FLAGS)}")
    values, flags = VALUES.get(verb, ()), FLAGS[verb]
    words, operands = [verb], 0
    left = iter(rest)
    for each in left:
        option, equals, _ = each.partition("=")
        if not each.startswith("-"):
            words.append(each if operands in WORDS.get(verb, ()) else _named(each, name))
            operands += 1
        elif option in values:
            words += [each] if equals else [each, *islice(left, 1)]
        elif each in flags:
            words.append(each)
        else:
            hint = f"a page may give `{verb}` {', '.join((*flags, *values))}"
            raise _refused(f"`{option[:40]}` is not for pages", hint)
    return words


def _named(written: str, name: str) -> str:
    """Return what an operand stands for: the text, the library, or another notation."""
    from layoutdsl.commands import notations

    if written == FILE:
        return name
    of_file, colon, layout = written.partition(":")
    if of_file == FILE and colon and _LAYOUT.fullmatch(layout):
        return f"{name}:{layout}"
    if _LAYOUT.fullmatch(written) or (colon and of_file in notations()):
        return written
    hint = f"{FILE}, {FILE}:NAME, a name of the library, or NOTATION:TEXT"
    raise _refused(f"`{written[:40]}` is not for pages", f"a page may name {hint}")


def serve() -> None:
    """Answer each line of the standard input by a line of the standard output."""
    asked = sys.stdin.buffer
    told = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    for line in asked:
        told.write(json.dumps(answer(json.loads(line))).encode() + b"\n")
        told.flush()


if __name__ == "__main__":
    serve()
