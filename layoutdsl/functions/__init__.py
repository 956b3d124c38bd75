"""Index functions as text in the languages of kernels: where an element lies, what a slot holds."""

from __future__ import annotations

from typing import Any

from layoutdsl.claims import IntegerType
from layoutdsl.functions.c_family import LANGUAGES as C_FAMILY
from layoutdsl.functions.machine import functions
from layoutdsl.functions.mlir_text import LANGUAGE as MLIR
from layoutdsl.functions.names import renamed
from layoutdsl.functions.text import Known, Language
from layoutdsl.functions.triton_text import LANGUAGE as TRITON
from layoutdsl.functions.values import values
from layoutdsl.model import Layout

__all__ = ["LANGUAGES", "Known", "Language", "parts", "write"]

LANGUAGES: dict[str, Language] = {each.name: each for each in (*C_FAMILY, TRITON, MLIR)}
"""The languages by name."""


def write(layout: Layout, language: str, known: Known) -> str:
    """Return the index functions of a layout as text, an end of line after every line.

    Args:
        layout: its ``where`` clause is the range for which the functions were proved.
        language: one of `LANGUAGES`.
        known: what was proved of the functions; the text says so and rests on it.
    """
    spoken = renamed(layout, language)
    return LANGUAGES[language].write(functions(spoken), known) + "\n"


def parts(layout: Layout, language: str, integers: IntegerType) -> dict[str, Any]:
    """Return the expressions in the text as plain values; none where the language has none."""
    spelling = LANGUAGES[language].spelling
    if spelling is None:
        return {}
    axes = tuple(axis.name for axis in layout.axes)
    return values(functions(renamed(layout, language)), axes, spelling(integers))
