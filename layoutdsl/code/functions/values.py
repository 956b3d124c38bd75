"""The parts of index functions as plain values, each expression as text."""

from __future__ import annotations

from typing import Any

from layoutdsl.code.functions.machine import Backward, Functions
from layoutdsl.language.digits.steps import SLOT
from layoutdsl.language.integers.expr import Arithmetic, Printer


def values(said: Functions, axes: tuple[str, ...], arithmetic: Arithmetic) -> dict[str, Any]:
    """Return what the functions work out, in the order of their text.

    Args:
        said: in names of the language.
        axes: the names that the layout itself gives its axes.
        arithmetic: of the language.
    """
    printer = Printer(arithmetic)
    write = printer.text
    found = {
        "offset": write(said.offset),
        "size": write(said.size),
        "physical_shape": [write(each) for each in said.box],
        "domain": [each.written(printer) for each in said.domain],
    }
    match said.backward:
        case str(reason):
            return {**found, "padded_extents": {}, "inverse": None, "no_inverse": reason}
        case Backward(padded, first, pieces, index, within):
            steps = [step for piece in pieces for step in piece.steps]
            guards = [each for piece in pieces for each in piece.guards]
            inverse = {
                "slot": SLOT,
                "steps": [{"name": name, "value": write(expr)} for name, expr in steps],
                "index": dict(zip(axes, (write(expr) for _, expr in index), strict=True)),
                "holds_where": [each.written(printer) for each in (*first, *guards, *within)],
            }
            extents = dict(zip(axes, map(write, padded), strict=True))
            return {**found, "padded_extents": extents, "inverse": inverse, "no_inverse": None}
