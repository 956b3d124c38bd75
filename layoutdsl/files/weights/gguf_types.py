"""The types of GGUF: their numbers, how many elements a block has, and how many bytes.

Source: ggml.h, `enum ggml_type`; gguf-py 0.19.0, `GGML_QUANT_SIZES`, which a test compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Type:
    """A type of GGUF.

    Attributes:
        number: in files.
        elements: of a block.
        size: bytes of a block.
        kind: the element type of the language, where blocks are elements.
    """

    number: int
    elements: int
    size: int
    kind: str | None = None


TYPES: Mapping[str, Type] = {
    "F32": Type(0, 1, 4, "f32"),
    "F16": Type(1, 1, 2, "f16"),
    "Q4_0": Type(2, 32, 18),
    "Q4_1": Type(3, 32, 20),
    "Q5_0": Type(6, 32, 22),
    "Q5_1": Type(7, 32, 24),
    "Q8_0": Type(8, 32, 34),
    "Q8_1": Type(9, 32, 40),
    "Q2_K": Type(10, 256, 84),
    "Q3_K": Type(11, 256, 110),
    "Q4_K": Type(12, 256, 144),
    "Q5_K": Type(13, 256, 176),
    "Q6_K": Type(14, 256, 210),
    "Q8_K": Type(15, 256, 292),
    "IQ2_XXS": Type(16, 256, 66),
    "IQ2_XS": Type(17, 256, 74),
    "IQ3_XXS": Type(18, 256, 98),
    "IQ1_S": Type(19, 256, 50),
    "IQ4_NL": Type(20, 32, 18),
    "IQ3_S": Type(21, 256, 110),
    "IQ2_S": Type(22, 256, 82),
    "IQ4_XS": Type(23, 256, 136),
    "I8": Type(24, 1, 1, "i8"),
    "I16": Type(25, 1, 2, "i16"),
    "I32": Type(26, 1, 4, "i32"),
    "I64": Type(27, 1, 8, "i64"),
    "F64": Type(28, 1, 8, "f64"),
    "IQ1_M": Type(29, 256, 56),
    "BF16": Type(30, 1, 2, "bf16"),
    "TQ1_0": Type(34, 256, 54),
    "TQ2_0": Type(35, 256, 66),
    "MXFP4": Type(39, 32, 17),
    "NVFP4": Type(40, 64, 36),
    "Q1_0": Type(41, 128, 18),
    "Q2_0": Type(42, 64, 18),
}
BY_NUMBER: Mapping[int, str] = {each.number: word for word, each in TYPES.items()}
WORDS: Mapping[str, str] = {each.kind: word for word, each in TYPES.items() if each.kind}
"""The type for each element type that GGUF knows."""
