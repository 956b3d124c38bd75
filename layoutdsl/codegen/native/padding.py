"""Padding that a caller's buffer keeps: C writes whole vectors, so it is put back afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from layoutdsl.codegen.native.calls import Array, Ready, moved


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
    shape, dtype = prepared[4:6]
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        return None
    if hasattr(plain, "_offsets"):  # it has no boxes of padding
        return None
    with _kept(plain, out, extents):
        return moved(prepared, src, out, threads)


@contextmanager
def _kept(plain: ModuleType, buffer: Array, extents: tuple[int, ...]) -> Iterator[None]:
    """Leave the padding of a buffer as it is, whatever is written there meanwhile.

    Args:
        plain: a numpy module that says in boxes which slots hold no element.
        buffer: in the shape of the layout's buffer.
        extents: of the tensor, checked.
    """
    places = list(plain._beyond(buffer, extents)) if hasattr(plain, "_beyond") else []
    if hasattr(plain, "_gaps"):
        slots = plain._slots(buffer, extents) if hasattr(plain, "_slots") else buffer
        places += [slots[gap] for gap in plain._gaps(extents)]
    held = [each.copy() for each in places]
    try:
        yield
    finally:
        for place, before in zip(places, held, strict=True):
            place[...] = before
