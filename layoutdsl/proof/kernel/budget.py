"""How much work the search for a proof may be; beyond it there is none, on every machine alike.

Work is counted in names and numbers of the facts that are written down, as these are what every
later step reads. What the library needs is a fortieth of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MOST_WORK = 400_000
"""For all theorems of one claim together."""

MOST_TERMS = 120
"""Of one sum; longer ones are nested so deeply that nothing could follow them."""


class NoProof(Exception):  # noqa: N818  the generator's answer "I cannot"
    """No proof was found; says where the generator got stuck."""


class Budget:
    """What is left to spend."""

    def __init__(self, work: int) -> None:
        self._work = self._left = work

    def spend(self, work: int) -> None:
        """Take what a step costs.

        Raises:
            NoProof: that is more than is left.
        """
        self._left -= work
        if self._left < 0:
            raise NoProof(f"it takes more than the {self._work} units of work that one claim has")


_SHARED: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def shared(work: int = MOST_WORK) -> Iterator[None]:
    """Let all proofs that are looked for inside rest on one budget."""
    token = _SHARED.set(Budget(work))
    try:
        yield
    finally:
        _SHARED.reset(token)


def current() -> Budget:
    """Return the budget that is shared here; else a new one."""
    return _SHARED.get() or Budget(MOST_WORK)
