"""TVM: the result as one computed tensor of fixed shape, under the best of a few schedules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from layoutdsl.commands.bench.moves import Move
from layoutdsl.commands.bench.peers.peer import Run, bits, fastest, not_installed
from layoutdsl.commands.bench.sides import Side

LANES = 64
"""Elements of a loop that is made of vectors, at most."""

Schedule = Callable[[Any, Any, Side, Side], None]


@dataclass(frozen=True, slots=True)
class Tvm:
    """``te.compute`` over the digits of the result, compiled by LLVM for this machine and shape."""

    name: str = "tvm"
    says: str = "te.compute for the very shape, the best of four schedules"
    package: str | None = "apache-tvm"

    def missing(self) -> str | None:
        """It may not be installed."""
        return not_installed("tvm", "apache-tvm")

    def cannot(self, move: Move) -> str | None:
        """What is no permutation of digits cannot be said so."""
        return move.sides if isinstance(move.sides, str) else None

    def prepare(self, move: Move, threads: int) -> Run:
        """Return a call of the fastest of the schedules."""
        tvm = import_module("tvm")
        assert not isinstance(move.sides, str)
        source, target = move.sides
        target = target.refined(source)
        function = _computed(tvm, move, source, target)
        read, write = (
            tvm.runtime.from_dlpack(bits(each.array).reshape(one.box))
            for each, one in ((move.read, source), (move.write, target))
        )
        ways: list[Run] = []
        for arrange in (_as_it_lies, _with_vectors, _source_around_vectors, _source_inside):
            schedule = tvm.s_tir.Schedule(function)
            block = schedule.get_sblock("moved")
            arrange(schedule, block, source, target)
            if threads > 1:
                schedule.parallel(schedule.get_loops(block)[0])
            ways.append(_call(_compiled(tvm, schedule), read, write))
        return fastest(ways)


def _call(function: Any, read: Any, write: Any) -> Run:
    function(read, write)
    return lambda: function(read, write)


def _compiled(tvm: Any, schedule: Any) -> Any:
    processor = tvm.target.codegen.llvm_get_system_cpu()
    target = tvm.target.Target({"kind": "llvm", "mcpu": processor})
    return tvm.compile(schedule.mod, target=target)["main"]


def _computed(tvm: Any, move: Move, source: Side, target: Side) -> Any:
    """The result, digit by digit of its buffer."""
    te = tvm.te
    kind = bits(move.read.array).dtype
    held = te.placeholder(source.box, str(kind), name="source")
    fill = int(bits(np.full(1, move.fill, move.read.array.dtype))[0])

    def element(*place: Any) -> Any:
        indices = [0] * len(target.shape)
        for position, number in enumerate(target.order):
            axis, divisor = target.owners[number]
            indices[axis] += place[position] * divisor
        digits = []
        for (axis, divisor), extent in zip(source.owners, source.split, strict=True):
            above = indices[axis] if divisor == 1 else te.indexdiv(indices[axis], divisor)
            whole = divisor * extent >= target.padded[axis]
            digits.append(above if whole else te.indexmod(above, extent))
        value = held[tuple(digits[number] for number in source.order)]
        inside = [
            indices[axis] < extent
            for axis, extent in enumerate(target.shape)
            if target.padded[axis] > extent
        ]
        if not inside:
            return value
        return te.if_then_else(te.all(*inside), value, tvm.tirx.const(fill, str(kind)))

    moved = te.compute(target.box, element, name="moved")
    return tvm.IRModule({"main": te.create_prim_func([held, moved])})


def _as_it_lies(schedule: Any, block: Any, source: Side, target: Side) -> None:
    """Loops in the order of the result."""


def _with_vectors(schedule: Any, block: Any, source: Side, target: Side) -> None:  # noqa: ARG001
    """The innermost loop in vectors."""
    last = schedule.get_loops(block)[-1]
    extent = target.box[-1]
    if extent > LANES:
        _, last = schedule.split(last, [None, LANES])
    schedule.vectorize(last)


def _source_around_vectors(schedule: Any, block: Any, source: Side, target: Side) -> None:
    """The same, and around the vectors the digit that lies innermost in the source."""
    loops = list(schedule.get_loops(block))
    inner = loops.pop(_innermost(source, target))
    if loops and _innermost(source, target) != len(target.box) - 1:
        schedule.reorder(*loops[:-1], inner, loops[-1])
    _with_vectors(schedule, block, source, target)


def _source_inside(schedule: Any, block: Any, source: Side, target: Side) -> None:
    """The loop of the digit that lies innermost in the source is innermost."""
    loops = list(schedule.get_loops(block))
    inner = loops.pop(_innermost(source, target))
    schedule.reorder(*loops, inner)


def _innermost(source: Side, target: Side) -> int:
    """The place in the result of the digit that lies innermost in the source, or holds it."""
    axis = source.owners[source.order[-1]][0]
    places = [k for k, number in enumerate(target.order) if target.owners[number][0] == axis]
    return min(places, key=lambda k: target.owners[target.order[k]][1])
