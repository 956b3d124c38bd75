"""libdnnl by ctypes: its tags, its sizes, and what it writes. `test_oracle_onednn` asks it."""

from __future__ import annotations

import ctypes
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

U8, S8, F32 = 6, 5, 3
NUMPY = {U8: np.uint8, S8: np.int8, F32: np.float32}
"""Numbers of `dnnl_data_type_t`, and what they are to numpy."""

ALPHABET = "abcdefghijkl"
_FROM, _TO = 1, 17
"""`DNNL_ARG_FROM` and `DNNL_ARG_TO`."""

S32, _ANY, _WEIGHTS, _BLOCKS = 2, 1, 131, 263
"""`dnnl_s32`, `dnnl_format_tag_any`, `dnnl_query_weights_md`, `dnnl_query_inner_nblks_s32`."""
_INFERENCE, _DIRECT = 96, 1
"""`dnnl_forward_inference` and `dnnl_convolution_direct`."""


class _Argument(ctypes.Structure):
    _fields_ = (("arg", ctypes.c_int), ("memory", ctypes.c_void_p))


class RefusedError(Exception):
    """The library says no; the status is the argument."""


def shared_library() -> Path | None:
    """Where pip puts the library, if it has."""
    found = sorted(Path(sys.prefix, "lib").glob("libdnnl.so*"))
    return found[-1] if found else None


def aliases() -> dict[str, str]:
    """What names stand for, by `dnnl_types.h` of the development package; empty without it."""
    header = Path(sys.prefix, "include/oneapi/dnnl/dnnl_types.h")
    if not header.exists():
        return {}
    enumeration = header.read_text(encoding="utf-8").split("} dnnl_format_tag_t;")[0]
    plain = re.sub(r"///.*", "", enumeration[enumeration.rindex("typedef enum") :])
    return dict(re.findall(r"\bdnnl_(\w+)\s*=\s*dnnl_(\w+)", plain))


@dataclass(frozen=True)
class Descriptor:
    """A `dnnl_memory_desc_t` and the bytes that it says it takes."""

    handle: ctypes.c_void_p
    size: int


class Library:
    """The functions that the tests call; every status other than success is raised."""

    def __init__(self, path: Path) -> None:
        self._dnnl = ctypes.CDLL(str(path))
        self._dnnl.dnnl_fmt_tag2str.restype = ctypes.c_char_p
        self._dnnl.dnnl_memory_desc_get_size.restype = ctypes.c_size_t
        self._dnnl.dnnl_memory_desc_get_size.argtypes = [ctypes.c_void_p]
        self._engine, self._stream = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("dnnl_engine_create", ctypes.byref(self._engine), 1, ctypes.c_size_t(0))
        self._call("dnnl_stream_create", ctypes.byref(self._stream), self._engine, 1)

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._dnnl, name)(*arguments)
        if status != 0:
            raise RefusedError(f"{name}: {status}")

    def tags(self) -> dict[str, int]:
        """Every tag that says where elements lie, with its number."""
        found: dict[str, int] = {}
        while (name := self._dnnl.dnnl_fmt_tag2str(len(found)).decode()) != "unknown fmt_tag":
            found[name] = len(found)
        return {
            name: k for name, k in found.items() if name not in ("undef", "any", "format_tag_last")
        }

    def descriptor(self, shape: tuple[int, ...], kind: int, tag: int | str) -> Descriptor:
        """What the library makes of a tag: by its number, or by its letters."""
        made = ctypes.c_void_p()
        name = "dnnl_memory_desc_create_with_" + ("string_tag" if isinstance(tag, str) else "tag")
        dims = (ctypes.c_int64 * 12)(*shape)
        given = tag.encode() if isinstance(tag, str) else tag
        self._call(name, ctypes.byref(made), len(shape), dims, kind, given)
        return Descriptor(made, self._dnnl.dnnl_memory_desc_get_size(made))

    def convolution_weights(self, shape: tuple[int, int, int, int]) -> Descriptor:
        """What the library wants the weights of a convolution of bytes with signs to be."""
        o, i, h, w = shape
        sides = [
            self.descriptor((1, i, h + 3, w + 3), S8, _ANY),
            self.descriptor(shape, S8, _ANY),
            self.descriptor((1, o, 4, 4), S32, _ANY),
        ]
        made, two = ctypes.c_void_p(), ctypes.c_int64 * 12
        source, weights, result = (each.handle for each in sides)
        self._call(
            "dnnl_convolution_forward_primitive_desc_create",
            ctypes.byref(made), self._engine, _INFERENCE, _DIRECT, source, weights, None, result,
            two(1, 1), two(0, 0), two(0, 0), two(0, 0), None,
        )  # fmt: skip
        self._dnnl.dnnl_primitive_desc_query_md.restype = ctypes.c_void_p
        found = ctypes.c_void_p(self._dnnl.dnnl_primitive_desc_query_md(made, _WEIGHTS, 0))
        wanted = ctypes.c_void_p()
        self._call("dnnl_memory_desc_clone", ctypes.byref(wanted), found)
        self._call("dnnl_primitive_desc_destroy", made)
        self.free(*sides)
        return Descriptor(wanted, self._dnnl.dnnl_memory_desc_get_size(wanted))

    def blocks(self, of: Descriptor) -> list[tuple[int, int]]:
        """The blocks of a layout, most major first: of which axis, and how large."""
        count = ctypes.c_int()
        sizes, axes = ctypes.POINTER(ctypes.c_int64)(), ctypes.POINTER(ctypes.c_int64)()
        for number, each in enumerate((count, sizes, axes)):
            self._call("dnnl_memory_desc_query", of.handle, _BLOCKS + number, ctypes.byref(each))
        return [(axes[k], sizes[k]) for k in range(count.value)]

    def pack(self, tensor: np.ndarray, kind: int, tag: int | str) -> np.ndarray:
        """What the library writes where the tensor is reordered from rows to the tag."""
        packed = self.descriptor(tensor.shape, kind, tag)
        return self.reordered(tensor, kind, packed).view(NUMPY[kind])

    def reordered(self, tensor: np.ndarray, kind: int, packed: Descriptor) -> np.ndarray:
        """The bytes that it writes where rows are reordered to what is described; frees that."""
        rows = self.descriptor(tensor.shape, kind, ALPHABET[: tensor.ndim])
        source = np.ascontiguousarray(tensor)
        room = np.full(packed.size, 0xAA, dtype=np.uint8)
        made, primitive = ctypes.c_void_p(), ctypes.c_void_p()
        e = self._engine
        self._call(
            "dnnl_reorder_primitive_desc_create",
            ctypes.byref(made), rows.handle, e, packed.handle, e, None,
        )  # fmt: skip
        self._call("dnnl_primitive_create", ctypes.byref(primitive), made)
        memories = [self._memory(rows, source), self._memory(packed, room)]
        arguments = (_Argument * 2)(
            *(_Argument(k, m) for k, m in zip((_FROM, _TO), memories, strict=True))
        )
        self._call("dnnl_primitive_execute", primitive, self._stream, 2, arguments)
        self._call("dnnl_stream_wait", self._stream)
        for memory in memories:
            self._call("dnnl_memory_destroy", memory)
        self._call("dnnl_primitive_destroy", primitive)
        self._call("dnnl_primitive_desc_destroy", made)
        self.free(rows, packed)
        return room

    def _memory(self, descriptor: Descriptor, room: np.ndarray) -> ctypes.c_void_p:
        made = ctypes.c_void_p()
        address = ctypes.c_void_p(room.ctypes.data)
        self._call(
            "dnnl_memory_create", ctypes.byref(made), descriptor.handle, self._engine, address
        )
        return made

    def free(self, *descriptors: Descriptor) -> None:
        """Give the descriptors back."""
        for each in descriptors:
            self._call("dnnl_memory_desc_destroy", each.handle)
