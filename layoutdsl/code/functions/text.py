"""What a text of index functions says of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from textwrap import wrap

from layoutdsl.code.functions.machine import Functions
from layoutdsl.language.digits.steps import SLOT
from layoutdsl.language.integers.expr import Arithmetic
from layoutdsl.language.meaning.elements import IntegerType
from layoutdsl.language.meaning.model import Layout

BUFFER = "the buffer, padding included"
DOMAIN = "an index has a slot where this holds"
HELD = f"what the slot `{SLOT}` holds"

WIDTH = 92


@dataclass(frozen=True, slots=True)
class Known:
    """What was proved of the functions of a layout, for all shapes of its range.

    Attributes:
        integers: the type that all values on the way are of.
        certificate: the hash of the proof.
        layout: the hash of the proof that the layout is right, or why there is none.
    """

    integers: IntegerType
    certificate: str
    layout: str


@dataclass(frozen=True, slots=True)
class Language:
    """A language that index functions are written in.

    Attributes:
        types: the integer types of the claims that it has, each by its own name; of two of one
            width, the better one first.
        write: the text, from functions in names of the language.
        arithmetic: how it writes integers of a type, where it has expressions of them.
    """

    name: str
    types: dict[str, str]
    write: Callable[[Functions, Known], str]
    arithmetic: Callable[[IntegerType], Arithmetic] | None = None


def remarks(functions: Functions, known: Known, written: str) -> Iterator[str]:
    """Yield the lines that stand above the functions.

    Args:
        functions: of a layout, in names of the language.
        known: what was proved.
        written: the integer type as the language calls it.
    """
    layout = functions.layout
    called = f"{layout.name}({', '.join(functions.axes)})"
    yield f"{called}: where an element lies, in elements."
    yield ""
    shapes = ", ".join(map(str, layout.where))
    where = f"where {shapes}" if shapes else "for all shapes"
    yield from wrap(
        f"Proved {where}: every value on the way is of type {written}, and none is negative that "
        "is divided.",
        WIDTH,
        break_long_words=False,
    )
    yield from wrap(f"To be called within that range only, with {_asked(layout)}.", WIDTH)
    yield f"Proof of the integers: {known.certificate}"
    yield f"Proof of the layout:   {known.layout}"


def _asked(layout: Layout) -> str:
    extents = "extents of at least 1, " if layout.symbols else ""
    holding = " that has a slot" if layout.domain else ""
    return f"{extents}an index of the shape{holding}, a slot of the buffer"
