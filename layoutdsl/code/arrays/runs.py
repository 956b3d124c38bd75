"""`_runs` of layouts without digits whose elements lie together in runs of one length: swizzles.

The offsets of whole runs are computed at once, and each run is moved as a row of the buffer.
"""

from __future__ import annotations

from layoutdsl.code.arrays.names import Names
from layoutdsl.code.loops.chains import multiple_of
from layoutdsl.code.loops.moves import Move
from layoutdsl.code.loops.trees import multiples
from layoutdsl.code.moves import Rows
from layoutdsl.code.validate.arrays.frame import GRID, RUNS, cut, function, indented
from layoutdsl.language.digits.inverse import tidy
from layoutdsl.language.digits.weighted import Axes
from layoutdsl.language.integers.bounds import ZERO, simplify
from layoutdsl.language.integers.expr import Add, Constant, Expr, FloorDiv, Index, Mul, substitute
from layoutdsl.language.integers.languages import NUMPY
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import offset_expr


def run_functions(layout: Layout, rows: Rows, names: Names) -> list[str] | None:
    """Return `_runs`, and what it calls; `None` if runs have no length of their own.

    Args:
        layout: without digits.
        rows: along which axis the runs lie, and their length.
        names: of its extents.
    """
    if rows.run is None or layout.domain or layout.start != ZERO:
        return None
    own, run = layout.axes[rows.axis], Constant(rows.run)
    is_ragged = multiple_of(own.extent, multiples(Move(None, layout))) % rows.run != 0
    first, number = names[own.name], names.fresh("run")
    many, size = names.fresh(f"{own.name}1"), names.fresh(f"{own.name}0")
    begin: Expr = Mul(run, Index(number))
    if is_ragged:
        begin = Add(Index(own.name), begin)
    else:
        many, size = names.text(FloorDiv(own.extent, run)), str(rows.run)
    row: Expr = FloorDiv(substitute(offset_expr(layout), {own.name: begin}), run)
    if not is_ragged:
        blocks = simplify(FloorDiv(own.extent, run))
        row = tidy(row, Axes({axis.name: axis.extent for axis in layout.axes} | {number: blocks}))
    extents = [names.text(axis.extent) for axis in layout.axes]
    split = [*extents[: rows.axis], many, size, *extents[rows.axis + 1 :]]
    kept = [k for k in range(len(split)) if k != rows.axis + 1]
    grid = [names[axis.name] if axis is not own else number for axis in layout.axes]
    counts = [many if axis is own else names.text(axis.extent) for axis in layout.axes]
    part = "tensor"
    if is_ragged:
        before = ":, " * rows.axis
        part = f"tensor[{before}{first}:{first} + {many}*{size}]"
    part = f"{part}.reshape({', '.join(split)})"
    if rows.axis + 1 != len(split) - 1:
        part += f".transpose({', '.join(map(str, [*kept, rows.axis + 1]))})"
    slots = f"buffer.reshape(-1, {rows.run})" + (f"[:, :{size}]" if is_ragged else "")
    body = [
        f"part = {part}",
        f"slots = {slots}",
        f"{', '.join(grid)}{',' * (len(grid) == 1)} = _grid({', '.join(counts)})",
        f"yield part, slots, {names.text(row, NUMPY)}",
    ]
    if is_ragged:
        loop = f"for {first}, {many}, {size} in _cut({names.text(own.extent)}, {rows.run}):"
        body = [loop, *indented(body)]
    said = '"""Yield runs of the tensor, rows of the buffer as long, and the row of each run."""'
    lines = [said, *names.named("tensor.shape", body)]
    found = function("_runs", "tensor: Array, buffer: Array", RUNS, lines)
    return [*found, *GRID, *(cut(1) if is_ragged else [])]
