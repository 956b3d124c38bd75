"""Conversions to blocks of channels and back by onnxruntime's own operators, which know the blocks.

An operator `Transpose` that moves single numbers is many times slower than one that moves rows. So
where channels change their order besides, rows are moved first, and blocks are made of them then.

Source: onnxruntime 1.32, contrib_ops/cpu/nchwc_ops.cc; core/providers/cpu/tensor/transpose.cc.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from layoutdsl.graphs.emitting.emit_ort import blocked, kernel
from layoutdsl.graphs.emitting.emitting import Emitting
from layoutdsl.graphs.emitting.moves import Moving, turn
from layoutdsl.graphs.placings.placing import Digit, Placing, as_written, canonical
from layoutdsl.graphs.plan import Conversion

REORDERED = 4
"""What the number of channels is a multiple of where onnxruntime converts."""

LEAST = 16
"""Elements of a row that is moved as one."""


def emit_reorder(out: Emitting, move: Conversion) -> bool:
    """Add a conversion by onnxruntime's own operators; false where it has none for it."""
    source, target = move.source.placing, move.target.placing
    if source == target or out.dtype(move.value) != np.float32:
        return False
    return _of_channels(out, move) or _of_rows(out, move)


def _of_channels(out: Emitting, move: Conversion) -> bool:
    """Between NCHW and its blocks, of which the last may have padding."""
    source, target = move.source.placing, move.target.placing
    shape = source.shape
    if len(shape) != 4 or shape[1] % REORDERED:
        return False
    lane = None if move.target.lane is None else move.target.lane.number
    if blocked(target, out.block) and source == as_written(shape) and not lane:
        inputs = (out.take(move.value, move.source, shape),)
        name = out.leave(move.value, move.target, target.padded_shape)
        out.work.append(kernel("ReorderInput", inputs, name, {}))
        return True
    if blocked(source, out.block) and target == as_written(shape):
        inputs = (out.take(move.value, move.source, source.padded_shape),)
        name = out.leave(move.value, move.target, shape)
        out.work.append(kernel("ReorderOutput", inputs, name, {"channels": shape[1]}))
        return True
    return False


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows that blocks of channels are made of.

    Attributes:
        placing: the same elements, a row behind the other: `[batch, channel.., row..]`.
        extents: of that as pictures of one row each, which onnxruntime's operators take.
    """

    placing: Placing
    extents: tuple[int, int, int, int]


def rows_of(blocks: Placing, other: Placing, block: int) -> Rows | None:
    """Return the rows that blocks are made of, in their order; `None` where they are of none.

    Args:
        blocks: `[batch, channel.., row.., channel..]`, the last as many as a block has.
        other: that ends in the same rows.
        block: channels of a block.
    """
    digits = blocks.digits
    batch = digits[:1] if digits[:1] == other.digits[:1] and digits[0].axis == 0 else ()
    for size in range(len(other.digits) - len(batch), 0, -1):
        row = other.digits[-size:]
        for start in range(len(batch), len(digits) - size + 1):
            outer, inner = digits[len(batch) : start], digits[start + size :]
            if digits[start : start + size] != row or _elements(inner) != block:
                continue
            length = _elements(row)
            if length < LEAST or any(each.axis == 0 for each in (*outer, *inner)):
                return None
            placing = Placing(blocks.shape, canonical((*batch, *outer, *inner, *row)))
            return Rows(placing, (_elements(batch), _elements(outer) * block, length, 1))
    return None


def _elements(digits: tuple[Digit, ...]) -> int:
    return prod(digit.extent for digit in digits)


def _of_rows(out: Emitting, move: Conversion) -> bool:
    """Between blocks without padding and rows that lie behind one another, in any order of them."""
    source, target = move.source.placing, move.target.placing
    if source.padded_axes or target.padded_axes:
        return False
    if (rows := rows_of(target, source, out.block)) is not None:
        base = out.base(move.value, move.source)
        moving = Moving(base.name, base.extents, out.new_name(f"{move.value}@move"))
        turn(moving, source, rows.placing, rows.extents)
        out.work += moving.steps
        name = out.leave(move.value, move.target, rows.extents)
        out.work.append(kernel("ReorderInput", (moving.name,), name, {}))
        return True
    if (rows := rows_of(source, target, out.block)) is not None:
        taken = out.take(move.value, move.source, rows.extents)
        first, wanted = out.new_name(f"{move.value}@rows"), out.form(move.target).extents
        moving = Moving(first, rows.extents, out.new_name(f"{move.value}@move"))
        turn(moving, rows.placing, target, wanted)
        said = {"channels": rows.extents[1]}
        steps = [kernel("ReorderOutput", (taken,), first, said), *moving.steps]
        name = out.leave(move.value, move.target, wanted)
        out.work += [*steps[:-1], replace(steps[-1], outputs=(name,))]
        return True
    return False
