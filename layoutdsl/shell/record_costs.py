"""What a record costs, in words: its bytes, the bits of each field, and those that none holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from layoutdsl.shell.cost_text import at_text, extremes, number, rows_text

if TYPE_CHECKING:
    from layoutdsl.proof.padding.record_cost import RecordCost, RecordShapeCost


def records_text(costs: Sequence[RecordCost]) -> str:
    """Return what each record costs, one after the other."""
    return "\n\n".join(map(record_cost_text, costs))


def record_cost_text(cost: RecordCost) -> str:
    """Return the formulas, the worst and the best case, and the numbers at the shape asked for."""
    range_ = f" where {', '.join(cost.where)}" if cost.where else ""
    fields = [(each.name, each.element.name, each.elements, each.bits) for each in cost.fields]
    blocks = [
        f"{cost.record}: the bits that each of {cost.elements} costs, for all shapes{range_}",
        rows_text([("buffer", f"{cost.bytes} bytes"), ("padding", _bits(cost.padding))]),
        _table([("field", "of", "elements", "bits"), *fields]),
        rows_text(extremes(cost.spread)),
    ]
    if cost.at is not None:
        blocks += _at(cost.at)
    return "\n\n".join(blocks)


def _bits(count: str) -> str:
    return "none: every bit is held" if count == "0" else f"{count} bits"


def _at(at: RecordShapeCost) -> list[str]:
    shared = "bits are shared: the record is wrong"
    padding = shared if at.padding < 0 else _bits(str(at.padding))
    rows = [("buffer", f"{at.bytes} bytes"), ("padding", padding)]
    rows.append(("ratio", f"{number(at.ratio)} bits for each of {at.elements}"))
    head = ("field", "elements", "bits", "bits of the buffer for each")
    fields = [
        (each.name, str(each.elements), str(each.bits), number(each.ratio)) for each in at.fields
    ]
    return [f"{at_text(at.shape)}\n{rows_text(rows)}", _table([head, *fields])]


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(["", *(cell.ljust(width) for cell, width in zip(row, widths, strict=True))])
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)
