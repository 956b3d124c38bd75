"""A sheet of formulas as one piece of Python, C, LaTeX or sympy, each fit to be run as it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from layoutdsl.steps import SLOT

if TYPE_CHECKING:
    from layoutdsl.cli.sheet import Lines

_BUFFER = "the buffer, padding included"
_DOMAIN = "an index has a slot where this holds"
_HELD = f"what the slot `{SLOT}` holds"
_HOLDS = "an element, where this holds; padding, where it does not"


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
    text += [f'{name} = Function("{name}")' for name in ("BitAnd", "BitXor") if f"{name}(" in body]
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
        f"holds = {joined.join(back.conditions)}",
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
    conditions = r" \wedge ".join(back.conditions)
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


def c(lines: Lines) -> str:
    """Return the sheet as C functions, called as the layout is.

    Every name of ours starts with ``_`` or with the layout's, as no axis and no extent does.
    """
    name, extents = lines.name, [f"int64_t {each}" for each in lines.symbols]
    given = ", ".join([*(f"int64_t {axis}" for axis in lines.axes), *extents])
    text = [
        "#include <stdbool.h>",
        "#include <stdint.h>",
        "",
        f"/* {_title(lines)} */",
        *_function(f"int64_t {name}_offset({given})", [f"return {lines.offset};"]),
        f"/* {_BUFFER} */",
        *_function(
            f"int64_t {name}_size({', '.join(extents) or 'void'})", [f"return {lines.size};"]
        ),
        *_array(f"{name}_physical_shape", extents, lines.box),
    ]
    if lines.domain:
        test = [f"return {' && '.join(lines.domain)};"]
        text += [f"/* {_DOMAIN} */", *_function(f"bool {name}_has_slot({given})", test)]
    back = lines.backward
    if isinstance(back, str):
        return "\n".join([*text, f"/* no closed inverse: {back} */"])
    count = len(lines.axes)
    asked = ", ".join([f"int64_t {SLOT}", *extents, f"int64_t _index[{count}]"])
    steps = [f"const int64_t {step} = {value};" for step, value in (*back.steps, *back.index)]
    steps += [f"_index[{k}] = {axis};" for k, axis in enumerate(lines.axes)]
    steps += [f"return {' && '.join(back.conditions)};"]
    return "\n".join(
        [
            *text,
            *_array(f"{name}_padded_extents", extents, back.padded),
            f"/* {_HELD}: true for an element, false for padding */",
            *_function(f"bool {name}_index({asked})", steps)[:-1],
        ]
    )


def _array(name: str, extents: list[str], values: tuple[str, ...]) -> list[str]:
    given = ", ".join([*extents, f"int64_t _extents[{len(values)}]"])
    steps = [f"_extents[{k}] = {value};" for k, value in enumerate(values)]
    return _function(f"void {name}({given})", steps)


def _function(head: str, steps: list[str]) -> list[str]:
    return [f"static inline {head}", "{", *(f"    {step}" for step in steps), "}", ""]
