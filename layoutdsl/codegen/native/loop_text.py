"""A loop as C, and where a turn of it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from layoutdsl.codegen.native.nest import Loop

Ends: TypeAlias = Mapping[int, tuple[str, str]]
"""For an axis, the names of how many of its indices are valid, and of how many have a slot."""


@dataclass(frozen=True, slots=True)
class At:
    """Where the loops around have come to.

    Attributes:
        source: the name of the pointer into the source.
        target: the name of that into the target.
        indices: of each axis, as a sum of what its loops add.
    """

    source: str
    target: str
    indices: tuple[str, ...]

    def moved(self, axis: int, index: str) -> tuple[str, ...]:
        """Return the indices with another one for an axis."""
        return tuple(index if k == axis else each for k, each in enumerate(self.indices))


def indented(lines: Iterable[str]) -> list[str]:
    """Return the lines, one step further in."""
    return [f"    {line}" if line else line for line in lines]


def counted(at: At, number: int, loop: Loop) -> tuple[str, ...]:
    """Return the indices in a turn: the loop adds its own to that of its axis."""
    term = f"k{number}*{loop.step}" if loop.step > 1 else f"k{number}"
    before = at.indices[loop.axis]
    return at.moved(loop.axis, term if before == "0" else f"{before} + {term}")


def turns(number: int, loop: Loop, at: At) -> list[str]:
    """Return the line that says how many turns, `m`, slots are left for."""
    slots = f"r{loop.axis} - ({at.indices[loop.axis]})"
    count = f"least(c{number}, ({slots} + {loop.step - 1})/{loop.step})"
    return [f"const int64_t m{number} = {count};"]


def may_slide(loop: Loop) -> str:
    """Return when a last turn of a loop can start early."""
    axis = loop.axis
    multiple = f" && e{axis} % {loop.slides} == 0" if loop.slides > 1 else ""
    return f"e{axis} >= {loop.step}{multiple}"


def looped(
    number: int, loop: Loop, at: At, ends: tuple[str, str], body: Callable[[At], list[str]]
) -> list[str]:
    """Return a loop from one turn up to another, around a body that knows where it is."""
    first, past = ends
    start, inner = _turn(number, loop, at)
    variable = f"k{number}"
    return [
        f"for (int64_t {variable} = {first}; {variable} < {past}; {variable}++) {{",
        *indented([*start, *body(inner)]),
        "}",
    ]


def _turn(number: int, loop: Loop, at: At) -> tuple[list[str], At]:
    names = f"p{number + 1}", f"q{number + 1}"
    if not loop.slides:
        lines = [
            f"const uint8_t *{names[0]} = {at.source} + k{number}*a{number};",
            f"uint8_t *{names[1]} = {at.target} + k{number}*b{number};",
        ]
        return lines, At(*names, counted(at, number, loop))
    axis, base = loop.axis, at.indices[loop.axis]
    away = f"(at{number} - ({base}))/{loop.slides}"
    lines = [
        f"int64_t at{number} = {base} + k{number}*{loop.step};",
        f"if (at{number} + {loop.step} > e{axis} && {may_slide(loop)})",
        f"    at{number} = e{axis} - {loop.step};",
        f"const uint8_t *{names[0]} = {at.source} + {away}*ua{number};",
        f"uint8_t *{names[1]} = {at.target} + {away}*ub{number};",
    ]
    return lines, At(*names, at.moved(axis, f"at{number}"))
