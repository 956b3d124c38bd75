"""The shell's door: ``layoutdsl VERB``. The only room that prints or exits.

A verb imports what it needs when it runs, so that help and a fault in a text come at once.
"""

import sys


def main() -> None:
    """Run the command line of this process and exit."""
    from layoutdsl.cli.shell import run

    sys.exit(run())
