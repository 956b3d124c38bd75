"""Index functions as text in the languages of kernels: where an element lies, what a slot holds."""

from __future__ import annotations

from typing import Any

from layoutdsl.code.functions.c_family import LANGUAGES as C_FAMILY
from layoutdsl.code.functions.machine import Functions, functions
from layoutdsl.code.functions.mlir_text import LANGUAGE as MLIR
from layoutdsl.code.functions.names import renamed, renamed_inverse
from layoutdsl.code.functions.text import Known, Language
from layoutdsl.code.functions.triton_text import LANGUAGE as TRITON
from layoutdsl.code.functions.values import values
from layoutdsl.language.digits.inverse import Inverse
from layoutdsl.language.digits.network import NotDigits
from layoutdsl.language.meaning.elements import IntegerType
from layoutdsl.language.meaning.model import Layout

__all__ = ["LANGUAGES", "Known", "Language", "parts", "write"]

LANGUAGES: dict[str, Language] = {each.name: each for each in (*C_FAMILY, TRITON, MLIR)}
"""The languages by name."""


def write(layout: Layout, inverse: Inverse | NotDigits, language: str, known: Known) -> str:
    """Return the index functions of a layout as text, an end of line after every line.

    Args:
        layout: its ``where`` clause is the range for which the functions were proved.
        inverse: the closed inverse that was proved to be one, or why there is none.
        language: one of `LANGUAGES`.
        known: what was proved of the functions; the text says so and rests on it.
    """
    return LANGUAGES[language].write(_spoken(layout, inverse, language), known) + "\n"


def parts(
    layout: Layout, inverse: Inverse | NotDigits, language: str, integers: IntegerType
) -> dict[str, Any]:
    """Return the expressions in the text as plain values; none where the language has none."""
    arithmetic = LANGUAGES[language].arithmetic
    if arithmetic is None:
        return {}
    axes = tuple(axis.name for axis in layout.axes)
    return values(_spoken(layout, inverse, language), axes, arithmetic(integers))


def _spoken(layout: Layout, inverse: Inverse | NotDigits, language: str) -> Functions:
    spoken = renamed(layout, language)
    return functions(spoken, renamed_inverse(inverse, layout, language))
