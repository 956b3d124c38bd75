"""A sheet of formulas as one piece of Python, LaTeX or sympy, each fit to be run as it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from layoutdsl.language.digits.steps import SLOT

Pairs = tuple[tuple[str, str], ...]

_BUFFER = "the buffer, padding included"
_DOMAIN = "an index has a slot where this holds"
_HELD = f"what the slot `{SLOT}` holds"
_HOLDS = "an element, where this holds; padding, where it does not"


@dataclass(frozen=True, slots=True)
class Backward:
    """From a slot to an index: steps and indices by name, and where they are an element's."""

    padded: tuple[str, ...]
    steps: Pairs
    index: Pairs
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """The formulas as text, with the names that the language takes.

    Attributes:
        domain: what an index satisfies that has a slot.
        backward: or why there is no closed inverse.
    """

    name: str
    title: str
    axes: tuple[str, ...]
    symbols: tuple[str, ...]
    offset: str
    size: str
    box: tuple[str, ...]
    domain: tuple[str, ...]
    backward: Backward | str


_BITWISE = ("BitAnd", "BitOr", "BitXor")


def _title(lines: Lines) -> str:
    return f"{lines.title}: where an element lies, in elements"


def python(lines: Lines) -> str:
    """Return the sheet as a Python script over extents, and an index or a slot."""
    return "\n".join(_script(lines, " and "))


def sympy(lines: Lines) -> str:
    """Return the sheet as a Python script for ``from sympy import *``."""
    body = "\n".join(map(_conjunction, _script(lines, ", ")))
    indices, extents = (*lines.axes, SLOT), lines.symbols
    text = ["from sympy import *", ""]
    text += [_symbols(indices, "nonnegative")]
    text += [_symbols(extents, "positive")] if extents else []
    text += [f'{name} = Function("{name}")' for name in _BITWISE if f"{name}(" in body]
    return "\n".join([*text, "", body])


def _conjunction(line: str) -> str:
    """sympy joins conditions by a function."""
    for name in ("holds = ", "has_slot = "):
        if line.startswith(name):
            return f"{name}And({line.removeprefix(name)})"
    return line


def _symbols(names: Iterable[str], sign: str) -> str:
    return f'{", ".join(names)} = symbols("{" ".join(names)}", integer=True, {sign}=True)'


def _script(lines: Lines, joined: str) -> list[str]:
    text = [
        f"# {_title(lines)}",
        f"offset = {lines.offset}",
        f"# {_BUFFER}",
        f"size = {lines.size}",
        f"physical_shape = {_tuple(lines.box)}",
    ]
    if lines.domain:
        text += [f"# {_DOMAIN}", f"has_slot = {joined.join(lines.domain)}"]
    back = lines.backward
    if isinstance(back, str):
        return [*text, f"# no closed inverse: {back}"]
    return [
        *text,
        f"padded_extents = {_tuple(back.padded)}",
        f"# {_HELD}",
        *(f"{name} = {value}" for name, value in (*back.steps, *back.index)),
        f"# {_HOLDS}",
        f"holds = {joined.join(back.conditions) or 'True'}",
    ]


def _tuple(values: tuple[str, ...]) -> str:
    return f"({', '.join(values)}{',' if len(values) == 1 else ''})"


def latex(lines: Lines) -> str:
    """Return the sheet as aligned equations of LaTeX with amsmath."""
    text = [
        f"% {_title(lines)}",
        r"\begin{align*}",
        rf"\mathit{{offset}} &= {lines.offset} \\",
        f"% {_BUFFER}",
        rf"\mathit{{size}} &= {lines.size} \\",
        rf"\mathit{{physical\ shape}} &= \left({', '.join(lines.box)}\right) \\",
    ]
    if lines.domain:
        held = r" \wedge ".join(lines.domain)
        text += [f"% {_DOMAIN}", rf"& {held} \\"]
    back = lines.backward
    if isinstance(back, str):
        return "\n".join([*text, f"% no closed inverse: {back}", r"\end{align*}"])
    conditions = r" \wedge ".join(back.conditions) or r"\mathrm{true}"
    return "\n".join(
        [
            *text,
            rf"\mathit{{padded\ extents}} &= \left({', '.join(back.padded)}\right) \\",
            "% what the slot holds",
            *(rf"{name} &= {value} \\" for name, value in (*back.steps, *back.index)),
            f"% {_HOLDS}",
            rf"& {conditions}",
            r"\end{align*}",
        ]
    )
