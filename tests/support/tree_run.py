"""A tree of loops carried out in plain integers, one element after the other: its meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from itertools import product

from layoutdsl.code.loops import tree
from layoutdsl.language.integers.expr import Expr
from layoutdsl.language.integers.value import evaluate

UNDEFINED = -9
"""What scratch holds before it is written."""


class OutsideError(Exception):
    """A place beyond its buffer, or the read of what nobody wrote."""


def run(
    node: tree.Node, buffers: MutableMapping[str, list[int]], values: Mapping[str, int], fill: int
) -> None:
    """Carry a tree out.

    Args:
        node: the tree.
        buffers: source and target; the target is written.
        values: of extents.
        fill: what padding holds.
    """
    match node:
        case tree.For(name, count, body):
            for turn in range(evaluate(count, values)):
                run(body, buffers, {**values, name: turn}, fill)
        case tree.Slide(name, extent, step, body):
            most = evaluate(extent, values)
            if most < step:
                raise OutsideError(f"{name} slides over {most} by {step}")
            for turn in range(0, most, step):
                run(body, buffers, {**values, name: min(turn, most - step)}, fill)
        case tree.If(condition, then, other):
            run(then if condition.holds(values) else other, buffers, values, fill)
        case tree.Seq(parts):
            for part in parts:
                run(part, buffers, values, fill)
        case tree.Scratch(name, size, filled, body):
            buffers[name] = [fill if filled else UNDEFINED] * size
            run(body, buffers, values, fill)
            del buffers[name]
        case tree.Fill() | tree.Run() | tree.Move():
            _leaf(node, buffers, values, fill)


def _leaf(
    node: tree.Fill | tree.Run | tree.Move,
    buffers: Mapping[str, list[int]],
    values: Mapping[str, int],
    fill: int,
) -> None:
    match node:
        case tree.Fill(target, count):
            first = evaluate(target.offset, values)
            for place in range(first, first + _count(count, values)):
                _write(buffers[target.buffer], place, fill)
        case tree.Run(target, source, count):
            one, other = (evaluate(each.offset, values) for each in (target, source))
            for step in range(_count(count, values)):
                got = _read(buffers[source.buffer], other + step)
                _write(buffers[target.buffer], one + step, got)
        case tree.Move():
            _move(node, buffers, values, fill)


def _count(count: Expr, values: Mapping[str, int]) -> int:
    found = evaluate(count, values)
    if found < 0:
        raise OutsideError(f"{found} elements")
    return found


def _move(
    move: tree.Move, buffers: Mapping[str, list[int]], values: Mapping[str, int], fill: int
) -> None:
    unit, edge = move.unit, move.edge
    into, out = buffers[move.target.buffer], buffers[move.source.buffer]
    first, other = (evaluate(each.offset, values) for each in (move.target, move.source))
    rows, columns = list(_offsets(move.rows, values)), list(_offsets(move.columns, values))
    limits = (len(rows), len(columns) * unit, len(columns), len(rows) * unit)
    given = (edge.rows_read, edge.read, edge.columns_written, edge.written)
    read, along, written, down = (
        most if each is None else _limit(evaluate(each, values), most)
        for each, most in zip(given, limits, strict=True)
    )
    for (r, row), (c, column), u in product(enumerate(rows), enumerate(columns), range(unit)):
        got = fill
        if r < read and c * unit + u < along:
            got = _read(out, other + row + c * unit + u)
        if c < written and r * unit + u < down:
            _write(into, first + column + r * unit + u, got)


def _limit(given: int, most: int) -> int:
    if not 0 <= given <= most:
        raise OutsideError(f"{given} of {most}")
    return given


def _offsets(table: tree.Table, values: Mapping[str, int]) -> Iterator[int]:
    strides = [evaluate(step.stride, values) for step in table]
    for digits in product(*(range(step.radix) for step in reversed(table))):
        yield sum(d * s for d, s in zip(reversed(digits), strides, strict=True))


def _read(buffer: list[int], place: int) -> int:
    if not 0 <= place < len(buffer) or buffer[place] == UNDEFINED:
        raise OutsideError(f"{place} is read")
    return buffer[place]


def _write(buffer: list[int], place: int, value: int) -> None:
    if not 0 <= place < len(buffer):
        raise OutsideError(f"{place} is written")
    buffer[place] = value
