"""Products of matrices on buffers: rows in any order, sums over digits that both sides share.

A buffer whose last digits are those of the axis that is summed is a matrix of as many rows as there
are other elements, in whatever order; constant weights were laid by the same digits beforehand.
"""

from __future__ import annotations

from math import prod

from layoutdsl.graphs.emitting.emitting import Emitting
from layoutdsl.graphs.emitting.physical import Step
from layoutdsl.graphs.graph import Node
from layoutdsl.graphs.placings.placing import Digit, Placing, as_written
from layoutdsl.graphs.roles.bound import Bound
from layoutdsl.graphs.variants import Held, Variant

Cut = tuple[tuple[int, int], ...]
"""Divisors and extents of the digits of one axis."""


def emit_product(out: Emitting, bound: Bound, variant: Variant) -> bool:
    """Add the product as one of two matrices; false where the buffers are none."""
    node, held, result = bound.node, variant.takes[0], variant.makes[0]
    if node.operator not in ("MatMul", "Gemm") or node.attributes.get("transA", 0) != 0:
        return False
    other = _other(out, node, variant)
    if held is None or result is None or other is None:
        return False
    left = _rows(held.placing)
    turned = node.attributes.get("transB", 0) != 0
    right = _columns(other.placing, (1, 0) if turned else (0, 1))
    made = _rows(result.placing)
    if left is None or right is None or made is None:
        return False
    (rows, inner), (summed, columns), (kept, last) = left, right, made
    if inner != summed or columns != last or rows != kept or not _is_row(out, node, variant):
        return False
    count, size, width = (prod(extent for *_, extent in each) for each in (rows, inner, columns))
    if count != prod(held.placing.shape[:-1]) or width != result.placing.shape[-1]:
        return False
    source = out.take(node.inputs[0], held, (count, size))
    shape = (width, size) if turned else (size, width)
    weights = out.take(node.inputs[1], other, shape)
    more = tuple(out.take_usual(name, out.written(name)) for name in node.inputs[2:] if name)
    name = out.leave(node.outputs[0], result, (count, width))
    out.work.append(Step(node.operator, (source, weights, *more), (name,), node.attributes))
    return True


def _other(out: Emitting, node: Node, variant: Variant) -> Held | None:
    """How the second matrix lies, where it is one."""
    found = variant.takes[1] or out.written(node.inputs[1])
    return found if len(found.placing.shape) == 2 else None


def _rows(placing: Placing) -> tuple[tuple[tuple[int, int, int], ...], Cut] | None:
    """The digits before those of the last axis, and those; nothing where they are mixed."""
    last = len(placing.shape) - 1
    own = [each for each in placing.digits if each.axis == last]
    before = placing.digits[: len(placing.digits) - len(own)]
    if any(each.axis == last for each in before):
        return None
    return tuple((each.axis, each.divisor, each.extent) for each in before), _cut(own)


def _columns(placing: Placing, axes: tuple[int, int]) -> tuple[Cut, Cut] | None:
    """The digits of the axis that is summed and of the other one; nothing where they are mixed."""
    order = [each.axis for each in placing.digits]
    if order != sorted(order):
        return None
    summed, kept = ([each for each in placing.digits if each.axis == axis] for axis in axes)
    return _cut(summed), _cut(kept)


def _cut(digits: list[Digit]) -> Cut:
    return tuple((each.divisor, each.extent) for each in digits)


def _is_row(out: Emitting, node: Node, variant: Variant) -> bool:
    """Whether what is added, if anything is, is the same for every row and as it was written."""
    for name, held in zip(node.inputs[2:], variant.takes[2:], strict=True):
        if not name:
            continue
        shape = out.graph.values[name].shape
        if prod(shape[:-1]) != 1 or (held is not None and held.placing != as_written(shape)):
            return False
    return True
