"""``view``: the page on this machine, for one file or for none."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import click

import layoutdsl
from layoutdsl.shell.exits import Exit, Failure, reason
from layoutdsl.shell.output import error, say


@click.command(short_help="Look at a file in a browser, while you write it.")
@click.argument("file", metavar="[FILE]", required=False)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    metavar="N",
    help="Where the page is; by default at any port that is free.",
)
@click.option("--no-browser", is_flag=True, help="Open no browser; the address is printed.")
def view(file: str | None, port: int | None, no_browser: bool) -> int:
    """Show a file as a page: verdicts, pictures, formulas and code, as it is written.

    The page follows the file: save it in your editor, and what it says is proved anew. What is
    typed into the page stays there; the file is never written. Without FILE it begins with an
    example.

    Nothing leaves this machine: the page is served at 127.0.0.1 alone, to whoever has the address
    that is printed, which holds a token. It ends with Ctrl-C.

    \b
      layoutdsl view demo.layout
      layoutdsl view --port 8123 --no-browser
    """
    from layoutdsl.shell.web.answerers import Answerers
    from layoutdsl.shell.web.server import Server
    from layoutdsl.shell.web.watched import held

    refused = held(Path(file)).reason if file is not None else ""
    if refused:
        raise Failure(Exit.INPUT, refused)
    answerers = Answerers((sys.executable, "-m", "layoutdsl.shell.answering"), _environment())
    try:
        server = Server(port or 0, None if file is None else Path(file).absolute(), answerers)
    except OSError as failure:
        message = f"port {port or 0} cannot be used: {reason(failure)}"
        hint = "choose another, or leave out --port for any that is free"
        raise Failure(Exit.INPUT, message, hint) from None
    say(server.address)
    sys.stdout.flush()
    error("the page is there until Ctrl-C")
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if not no_browser:
            _open(server.address)
        server.serve_forever()
    except KeyboardInterrupt:
        return Exit.OK
    finally:
        signal.signal(signal.SIGTERM, before)
        server.server_close()
        answerers.close()
    return Exit.OK


def _environment() -> dict[str, str]:
    """Those that answer find the package that is running here, and print no colours."""
    here = str(Path(layoutdsl.__file__).parent.parent)
    path = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    plain = {key: value for key, value in os.environ.items() if key != "FORCE_COLOR"}
    return {**plain, "PYTHONPATH": path, "NO_COLOR": "1", "PYTHONSAFEPATH": "1"}


def _open(address: str) -> None:
    import webbrowser

    try:
        opened = webbrowser.open(address)
    except webbrowser.Error:
        opened = False
    if not opened:
        error("note: no browser was found: open the address yourself")
