"""The entry of the command line, ``layoutdsl VERB``. No other package prints or exits.

A verb imports what it needs when it runs, so that help and a fault in a text come at once.
"""

import gc
import sys

OBJECTS = 100_000
"""That are made before Python looks for cycles among them, which are few; usually it is 700.

What is loaded stays, so to look through it again and again takes a sixth of a short run.
"""


def main() -> None:
    """Run the command line of this process and exit."""
    gc.set_threshold(OBJECTS)
    from layoutdsl.shell.shell import run

    sys.exit(run())
