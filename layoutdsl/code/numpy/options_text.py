"""What a caller may ask for beside, as Python: threads, and a view in place of a copy."""

from __future__ import annotations

from collections.abc import Sequence

from layoutdsl.code.numpy.words import indented

THREADS = "threads: int = 1"
COPY = "copy: bool | None = True"

SHARED = "threads: how many may share the work, 1 to 256; they do where it is large."
ALONE = "threads: 1 to 256; here one thread does all."
VIEWED = "copy: None returns a view where the items of `src` lie so already, False wants one."
MOVED = "copy: True or None; elements have to be moved, so False is refused."


def asked_threads() -> list[str]:
    """Return the lines that refuse what is no number of threads."""
    return ["if threads is not _ALONE:", "    _workers(threads)"]


def asked_copy(seen: str | None) -> list[str]:
    """Return the lines that do without a copy, or refuse to.

    Args:
        seen: the array with its axes turned, where that is all that is done.
    """
    view: Sequence[str] = ()
    if seen is not None:
        view = ("if out is None:", f"    return _seen({seen}, copy)")
    return ["if copy is not True:", *indented([*view, "_refuse_view(copy)"])]
