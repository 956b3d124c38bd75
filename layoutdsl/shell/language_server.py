"""``lsp``: a server for editors, over the standard streams."""

from __future__ import annotations

import click

from layoutdsl import __version__
from layoutdsl.language.texts.resources import install_command
from layoutdsl.shell.exits import Exit, Failure


@click.command(short_help="Answer an editor: the language server.")
@click.option("--stdio", is_flag=True, help="What editors say; it is the only way.")
def lsp(stdio: bool) -> int:  # noqa: ARG001  many editors add it
    """Answer an editor over the standard streams, by the language server protocol.

    While you type, faults are shown with their way out. Half a second behind the last key, or when
    the text is saved, it is proved, and a verdict stands above each layout and claim. Hover, go to
    definition, references, rename, completion and formatting are there too. An editor starts it;
    docs/editors.md says how to tell yours. It needs the extra `lsp`.

    \b
      layoutdsl lsp
    """
    try:
        from layoutdsl.shell.editing.server import serve
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.split(".")[0] not in ("pygls", "lsprotocol"):
            raise
        message = f"`{missing.name}` is not installed"
        raise Failure(Exit.USAGE, message, install_command("lsp")) from None
    serve(__version__)
    return Exit.OK
