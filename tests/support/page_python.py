"""Runs the Python of a page, block by block, in one namespace: the program behind `page_blocks`.

Its text is given to `python -c`, so that modules are looked for in the folder of the page, and
what a block defines is pickled as it would be in a script. A line of JSON comes in for each block,
with its text and the line where it begins; a line of JSON goes back, with what was printed.
"""

import doctest
import io
import json
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout


def _compared(page: str, text: str, line: int, names: dict[str, object]) -> None:
    """Run a block that is written as a session, `>>> `, and print what differs."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    session = doctest.DocTestParser().get_doctest(text, {}, page, page, line)
    session.globs = names
    doctest.DocTestRunner(optionflags=flags, verbose=False).run(session, clear_globs=False)


def _done(page: str, text: str, line: int, names: dict[str, object]) -> str:
    """Run a block, and return all that was printed, a traceback included."""
    with redirect_stdout(io.StringIO()) as printed, redirect_stderr(printed):
        try:
            if text.lstrip().startswith(">>> "):
                _compared(page, text, line, names)
            else:
                exec(compile("\n" * line + text, page, "exec"), names)
        except (Exception, SystemExit):
            traceback.print_exc()
    return printed.getvalue()


def main() -> None:
    """Answer each line of the standard input."""
    answers, names = sys.stdout, vars(sys.modules["__main__"])
    for asked in sys.stdin:
        print(json.dumps(_done(*json.loads(asked), names)), file=answers, flush=True)


if __name__ == "__main__":
    main()
