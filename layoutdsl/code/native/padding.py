"""Padding that a caller's buffer keeps: C writes whole vectors, so it is put back afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from layoutdsl.code.native.calls import Array, Ready, moved

SHORT = 8
"""Bytes of padding in a row that take longer to put back than to go round."""
FEW = 1 << 12
"""Slots of padding that are put back in no time."""


def moved_beside_padding(
    plain: Any,
    prepared: Ready,
    src: object,
    out: object,
    extents: tuple[int, ...],
    threads: int,
) -> Array | None:
    """Return ``out`` with the elements in it, its padding as it was; ``None`` where numpy has to.

    Args:
        plain: the numpy module of the same layout, or what stands for it.
        prepared: as for `moved`, and so are the arrays and threads.
        extents: of the tensor, checked.
    """
    plain, extents = of_every_copy(plain, extents)
    if not isinstance(out, np.ndarray) or out.shape != prepared.result:
        return None
    if out.dtype != prepared.dtype:
        return None
    if hasattr(plain, "_offsets"):  # it has no boxes of padding
        return None
    places = _padding(plain, out, extents)
    if any(each.size > FEW and each.shape[-1] * each.itemsize < SHORT for each in places):
        return None  # numpy, which leaves it alone, is sooner done
    with _kept(places):
        return moved(prepared, src, out, threads)


class _EveryCopy:
    """The functions of a numpy module that are of all copies, by their usual names."""

    def __init__(self, plain: Any) -> None:
        self._plain = plain

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, f"_all{name}")


def of_every_copy(plain: Any, extents: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
    """Return what says where everything of a buffer lies, and the extents that it takes.

    To the functions of a tensor in its first copies the slots of the others are padding.
    """
    if not hasattr(plain, "_whole"):
        return plain, extents
    return _EveryCopy(plain), plain._whole(extents)


def _padding(plain: Any, buffer: Array, extents: tuple[int, ...]) -> list[Array]:
    """The boxes of slots that hold no element.

    Args:
        plain: a numpy module that says which these are.
        buffer: in the shape of the layout's buffer.
        extents: of the tensor, checked.
    """
    places = list(plain._beyond(buffer, extents)) if hasattr(plain, "_beyond") else []
    if hasattr(plain, "_gaps"):
        slots = plain._slots(buffer, extents) if hasattr(plain, "_slots") else buffer
        places += [slots[gap] for gap in plain._gaps(extents)]
    return places


@contextmanager
def _kept(places: list[Array]) -> Iterator[None]:
    """Leave some boxes as they are, whatever is written there meanwhile."""
    held = [each.copy() for each in places]
    try:
        yield
    finally:
        for place, before in zip(places, held, strict=True):
            place[...] = before
