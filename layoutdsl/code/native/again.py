"""Calls that are like one before, by a function of C that Python calls itself.

A small tensor is moved in less time than it takes to look up in Python what has to be done, and to
ask two arrays where they lie. So each call that was found right leaves a function behind that knows
the shapes and the type: it looks whether they are the same, and moves. It takes CPython, whose
functions it calls are in the stable ABI since 3.11; elsewhere each call is looked up.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from sys import byteorder
from typing import Any

import numpy as np

Again = Callable[..., bool]
"""Of the source, the target and, where one is asked for, the shape: whether it was moved."""

_FUNCTIONS = (
    *("PyBytes_AsString", "PyObject_GetBuffer", "PyBuffer_Release", "PyObject_Type", "Py_DecRef"),
    *("PyTuple_Size", "PyTuple_GetItem", "PyLong_AsLongLong", "PyErr_Clear"),
    *("PyEval_SaveThread", "PyEval_RestoreThread", "PyBool_FromLong"),
)
"""In the order of `python` in `again.c`; after them come three types."""
_CREATE = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
"""What makes a function: of its description, what it holds, and its module."""
_FORMAT = 8
"""Bytes of how numpy spells a type, the end of it included."""


def again_text(mark: str) -> list[str]:
    """Return the C of a library that is called so.

    Args:
        mark: of the library, which the name of its one function carries.
    """
    carried = files("layoutdsl.code.native").joinpath("again.c").read_text("utf-8")
    return [
        "",
        carried,
        f"void *again_{mark}(void *const *functions);",
        f"void *again_{mark}(void *const *functions)",
        "{",
        "    static struct { const char *name; void *(*call)(void *, void *const *, intptr_t);",
        "                    int flags; const char *says; } method",
        '        = {"again", again, FAST_CALL, 0};',
        "    memcpy(&python, functions, sizeof python);",
        "    return &method;",
        "}",
    ]


def never(*_: object) -> bool:
    """No call is like one before."""
    return False


def method(library: ctypes.CDLL, mark: str) -> int | None:
    """Return where a library describes its function; ``None`` where Python has not what it calls.

    Raises:
        OSError: it is another library.
    """
    try:
        found = library[f"again_{mark}"]
    except AttributeError as error:
        raise OSError(str(error)) from None
    places = _places()
    if places is None:
        return None
    found.restype = ctypes.c_void_p
    place: int = found(places)
    return place


@cache
def _places() -> Any:
    """Where the functions and the types lie."""
    api = getattr(ctypes, "pythonapi", None)
    try:
        functions = [ctypes.cast(api[name], ctypes.c_void_p).value for name in _FUNCTIONS]  # type: ignore[index]
    except (AttributeError, TypeError):
        return None
    found = [*functions, *map(id, (np.ndarray, tuple, int))]
    return (ctypes.c_void_p * len(found))(*found)


def again(
    place: int,
    move: int,
    dtype: np.dtype[Any],
    shapes: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...] | None],
    job: list[int],
) -> Again:
    """Return a function that moves what is like this.

    Args:
        place: as `method` found it.
        move: where the function is that moves.
        dtype: of both arrays.
        shapes: of the source, of the target, and the one that is asked for.
        job: what else the function takes.
    """
    try:
        spelled = np.empty(0, dtype).data.format.encode()
    except ValueError:  # a type that only numpy knows, such as of dates
        return never
    if len(spelled) >= _FORMAT:
        return never
    words = [move, int.from_bytes(spelled.ljust(_FORMAT, b"\0"), byteorder, signed=True)]
    for shape in shapes:
        words += [-1] if shape is None else [len(shape), *shape]
    held = struct.pack(f"={len(words) + len(job)}q", *words, *job)
    made: Again = _CREATE(("PyCFunction_NewEx", ctypes.pythonapi))(place, held, None)
    return made
