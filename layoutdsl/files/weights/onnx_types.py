"""The types of ONNX: their numbers, and the bits of an element.

Source: onnx.proto of 1.23, `TensorProto.DataType`, which a test compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Type:
    """A type of ONNX.

    Attributes:
        number: in files.
        bits: of an element; those of less than 8 lie side by side.
        kind: the element type of the language, where items are elements.
    """

    number: int
    bits: int
    kind: str | None = None


TYPES: Mapping[str, Type] = {
    "FLOAT": Type(1, 32, "f32"),
    "UINT8": Type(2, 8, "u8"),
    "INT8": Type(3, 8, "i8"),
    "UINT16": Type(4, 16, "u16"),
    "INT16": Type(5, 16, "i16"),
    "INT32": Type(6, 32, "i32"),
    "INT64": Type(7, 64, "i64"),
    "BOOL": Type(9, 8, "bool"),
    "FLOAT16": Type(10, 16, "f16"),
    "DOUBLE": Type(11, 64, "f64"),
    "UINT32": Type(12, 32, "u32"),
    "UINT64": Type(13, 64, "u64"),
    "COMPLEX64": Type(14, 64, "c64"),
    "COMPLEX128": Type(15, 128),
    "BFLOAT16": Type(16, 16, "bf16"),
    "FLOAT8E4M3FN": Type(17, 8, "f8e4m3"),
    "FLOAT8E4M3FNUZ": Type(18, 8, "f8"),
    "FLOAT8E5M2": Type(19, 8, "f8e5m2"),
    "FLOAT8E5M2FNUZ": Type(20, 8, "f8"),
    "UINT4": Type(21, 4),
    "INT4": Type(22, 4),
    "FLOAT4E2M1": Type(23, 4),
    "FLOAT8E8M0": Type(24, 8, "e8"),
    "UINT2": Type(25, 2),
    "INT2": Type(26, 2),
    "FLOAT6E2M3": Type(27, 6),
    "FLOAT6E3M2": Type(28, 6),
}
"""All but ``STRING``, whose items have no width."""

BY_NUMBER: Mapping[int, str] = {each.number: word for word, each in TYPES.items()}
WORDS: Mapping[str, str] = {
    each.kind: word for word, each in TYPES.items() if each.kind not in (None, "f8")
}
"""The type for each element type that ONNX knows."""
