"""What operators that name axes ask of the dimensions of a buffer, and of their node."""

from __future__ import annotations

from dataclasses import replace

from layoutdsl.graphs.emitting.emitting import Emitting
from layoutdsl.graphs.graph import Node
from layoutdsl.graphs.placings.forms import same_memory
from layoutdsl.graphs.placings.placing import Digit
from layoutdsl.graphs.variants import Held

Digits = tuple[Digit, ...]


def extents_of(digits: Digits) -> tuple[int, ...]:
    """Return the shape of a buffer with these dimensions."""
    return tuple(digit.extent for digit in digits)


def axis_of(node: Node, otherwise: int, rank: int) -> int:
    """Return the axis that a node names, counted from the front."""
    found = node.attributes.get("axis", otherwise)
    assert isinstance(found, int)
    return found + rank if found < 0 else found


def numbers_of(out: Emitting, node: Node, number: int) -> list[int] | None:
    """Return the numbers that an operand holds; nothing where it is left out or not known."""
    if number >= len(node.inputs) or node.inputs[number] not in out.graph.constants:
        return None
    found: list[int] = out.graph.constants[node.inputs[number]].reshape(-1).tolist()
    return found


def scales_of(out: Emitting, node: Node) -> tuple[float, ...] | None:
    """Return the factors of a Resize; nothing where it says sizes instead."""
    if len(node.inputs) < 3 or node.inputs[2] not in out.graph.constants:
        return None
    found: list[float] = out.graph.constants[node.inputs[2]].reshape(-1).tolist()
    return tuple(found) or None


def whole(digits: Digits, axis: int, extent: int) -> int | None:
    """Return the dimension that is all of an axis; nothing where that is several, or padded."""
    own = [number for number, digit in enumerate(digits) if digit.axis == axis]
    if len(own) == 1 and digits[own[0]].divisor == 1 and digits[own[0]].extent == extent:
        return own[0]
    return None


def cut_down(digits: Digits, top: int, held: Held, axis: int) -> Digits | None:
    """Return the digits of a piece along an axis, which has fewer of the highest one."""
    extent = held.placing.padded_shape[axis] // digits[top].divisor
    found = (*digits[:top], replace(digits[top], extent=extent), *digits[top + 1 :])
    return found if same_memory(held.placing, found) else None
