"""The head of a module: its docstring, its imports, and the texts that it carries."""

from __future__ import annotations

import re
from collections.abc import Sequence

from layoutdsl.code.arrays.names import literal
from layoutdsl.code.numpy.numpy_text import MARKS

UNVALIDATED = ("# Nobody has shown that this text does what SOURCE means.", "VALIDATED = False")


def head(
    said: str, constants: Sequence[str], body: Sequence[str], details: Sequence[str] = ()
) -> list[str]:
    """Return the lines before the functions of a module.

    Args:
        said: the first line of the docstring.
        constants: the lines that give names to texts.
        body: the functions.
        details: further lines of the docstring, of words and of codes.
    """
    names = [each for each in ("Callable", "Iterator") if any(f"{each}[" in line for line in body)]
    return [
        *MARKS,
        *([f'"""{said}', *details, '"""'] if details else [f'"""{said}"""']),
        "",
        "import math",
        "import operator",
        f"from collections.abc import {', '.join([*names, 'Sequence'])}",
        *(["from math import prod"] if details else []),
        "from typing import Any, TypeAlias",
        "",
        "import numpy as np",
        "from numpy.typing import ArrayLike, NDArray",
        "",
        "Array: TypeAlias = NDArray[Any]",
        *constants,
    ]


def refuse_name(name: str) -> None:
    """Raise ValueError if a layout's name cannot name a module."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise ValueError(f"`{name}` cannot name a module")


def stamped(text: str, validation: str) -> str:
    """Return the text of a module with the hash of its validation in its head."""
    unsaid = "\n".join(UNVALIDATED)
    assert text.count(unsaid) == 1, "a module says whether it was validated"
    return text.replace(unsaid, f"VALIDATED = {literal(validation)}")
