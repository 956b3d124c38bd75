"""libdnnl by ctypes: reorders between two tags, prepared once and run often."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from pathlib import Path
from typing import Any
from weakref import finalize

from layoutdsl.commands.bench.meaning import Array
from layoutdsl.commands.bench.peers.peer import CannotError

MOST_DIMENSIONS = 12
_FROM, _TO = 1, 17
"""`DNNL_ARG_FROM` and `DNNL_ARG_TO`."""

KINDS: dict[str, tuple[int, ...]] = {
    "f4": (3, 4),
    "i4": (4, 3),
    "u4": (4, 3),
    "f2": (1, 2),
    "i2": (2, 1),
    "u2": (2, 1),
    "i1": (5, 6),
    "u1": (6, 5),
}
"""Numbers of `dnnl_data_type_t` that hold the bits of numpy's types, the best first."""


class _Argument(ctypes.Structure):
    _fields_ = (("arg", ctypes.c_int), ("memory", ctypes.c_void_p))


def shared_library() -> Path | None:
    """Return where pip puts the library, if it has."""
    found = sorted(Path(sys.prefix, "lib").glob("libdnnl.so*"))
    return found[-1] if found else None


class Reorder:
    """One reorder between two buffers; what the library was given lives as long as it."""

    def __init__(
        self, library: Library, kind: int, shape: tuple[int, ...], tags: tuple[str, str]
    ) -> None:
        """Make it.

        Raises:
            CannotError: the library has none.
        """
        self._library = library
        self._sides = [library.descriptor(shape, kind, tag) for tag in tags]
        made, self._primitive = ctypes.c_void_p(), ctypes.c_void_p()
        engine = library.engine
        one, other = self._sides
        library.call(
            "dnnl_reorder_primitive_desc_create",
            ctypes.byref(made), one, engine, other, engine, None,
        )  # fmt: skip
        library.call("dnnl_primitive_create", ctypes.byref(self._primitive), made)
        library.call("dnnl_primitive_desc_destroy", made)
        self._buffers: tuple[Array, ...] = ()
        self._arguments: Any = None
        self._owned = [("primitive", self._primitive)]
        self._owned += [("memory_desc", each) for each in self._sides]
        finalize(self, library.free, self._owned)

    def between(self, read: Array, write: Array) -> None:
        """Say which buffers.

        Raises:
            CannotError: the library takes them to be of another size.
        """
        memories = []
        for descriptor, buffer in zip(self._sides, (read, write), strict=True):
            size = self._library.size(descriptor)
            if size != buffer.nbytes:
                raise CannotError(f"its buffer has {size} bytes, and not {buffer.nbytes}")
            memories.append(self._library.memory(descriptor, buffer))
            self._owned.insert(0, ("memory", memories[-1]))
        both = (_Argument(k, m) for k, m in zip((_FROM, _TO), memories, strict=True))
        self._buffers, self._arguments = (read, write), (_Argument * 2)(*both)

    def __call__(self) -> None:
        """Run it, and wait for it."""
        self._library.execute(self._primitive, self._arguments)


class Library:
    """The functions that a reorder needs; every status other than success is raised."""

    def __init__(self, path: Path) -> None:
        self._dnnl = ctypes.CDLL(str(path))
        self._dnnl.dnnl_memory_desc_get_size.restype = ctypes.c_size_t
        self._dnnl.dnnl_memory_desc_get_size.argtypes = [ctypes.c_void_p]
        self.engine, self._stream = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("dnnl_engine_create", ctypes.byref(self.engine), 1, ctypes.c_size_t(0))
        self.call("dnnl_stream_create", ctypes.byref(self._stream), self.engine, 1)
        self._execute, self._wait = self._dnnl.dnnl_primitive_execute, self._dnnl.dnnl_stream_wait

    def call(self, name: str, *arguments: object) -> None:
        """Call a function by name."""
        status = getattr(self._dnnl, name)(*arguments)
        if status != 0:
            words = {2: "invalid arguments", 3: "unimplemented"}.get(status, f"status {status}")
            raise CannotError(f"{name} says: {words}")

    def descriptor(self, shape: tuple[int, ...], kind: int, tag: str) -> ctypes.c_void_p:
        """Return what the library makes of a tag, by its letters."""
        made = ctypes.c_void_p()
        dims = (ctypes.c_int64 * MOST_DIMENSIONS)(*shape)
        name = "dnnl_memory_desc_create_with_string_tag"
        self.call(name, ctypes.byref(made), len(shape), dims, kind, tag.encode())
        return made

    def size(self, descriptor: ctypes.c_void_p) -> int:
        """Return the bytes of a buffer."""
        return int(self._dnnl.dnnl_memory_desc_get_size(descriptor))

    def memory(self, descriptor: ctypes.c_void_p, buffer: Array) -> ctypes.c_void_p:
        """Return a handle to a buffer, which has to outlive it."""
        made, address = ctypes.c_void_p(), ctypes.c_void_p(buffer.ctypes.data)
        self.call("dnnl_memory_create", ctypes.byref(made), descriptor, self.engine, address)
        return made

    def free(self, owned: list[tuple[str, ctypes.c_void_p]]) -> None:
        """Give back what was made, by what it is."""
        for kind, handle in owned:
            self.call(f"dnnl_{kind}_destroy", handle)

    def execute(self, primitive: ctypes.c_void_p, arguments: Any) -> None:
        """Run a primitive, and wait for it."""
        status = self._execute(primitive, self._stream, 2, arguments)
        status = status or self._wait(self._stream)
        if status != 0:
            raise CannotError(f"dnnl_primitive_execute says: status {status}")


@cache
def library() -> Library:
    """Return the library, loaded once."""
    path = shared_library()
    if path is None:
        raise CannotError("libdnnl is not there")
    return Library(path)
