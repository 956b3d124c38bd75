"""What padding costs, in words: formulas, bounds and numbers, or a line for each layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

    from layoutdsl.proof.padding.cost import AxisCost, Cost, ShapeCost
    from layoutdsl.proof.padding.extremes import Bound

Row = tuple[str, str]


def number(value: Fraction) -> str:
    """Return a fraction as a decimal, with its exact value where the decimal is not."""
    if value.denominator == 1:
        return str(value.numerator)
    return f"{float(value):.4g} ({value.numerator}/{value.denominator})"


def cost_text(cost: Cost) -> str:
    """Return the formulas, the worst and the best case, and the numbers at the shape asked for."""
    range_ = f" where {', '.join(cost.where)}" if cost.where else ""
    blocks = [
        f"{cost.layout}: the slots that an element costs, for all shapes{range_}",
        rows_text(_formulas(cost)),
        rows_text(extremes(cost)),
    ]
    if cost.at is not None:
        blocks.append(f"{at_text(cost.at.shape)}\n{rows_text(_numbers(cost, cost.at))}")
    return "\n\n".join(blocks)


def rows_text(rows: list[Row]) -> str:
    """Return names with what is said of each, one a line."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name:<{width}}  {words}" for name, words in rows)


def _formulas(cost: Cost) -> list[Row]:
    rows = [("elements", cost.elements), ("size", f"{cost.size} slots")]
    if cost.element is not None:
        rows.append(("", f"{cost.bytes} bytes of {cost.element.name}"))
    return [*rows, ("padding", f"{cost.padding} slots"), ("ratio", f"{cost.ratio}")]


def extremes(cost: Cost) -> list[Row]:
    """Return the worst ratio, the best, and what it comes down to."""
    rows = [("at most", _most(cost)), ("at least", _least(cost))]
    if cost.far is not None:
        rows.append(("in the end", f"{number(cost.far)}, where all extents are large"))
    if cost.least.value is not None and cost.least.value < 1:
        rows.append(("note", "below 1 elements share slots: the layout is wrong for such shapes"))
    return rows


def _most(cost: Cost) -> str:
    match cost.most.how:
        case "unbounded":
            return "no bound: there are shapes for every ratio"
        case "undecided":
            return _undecided(cost.most, "at most")
    how = "proved" if cost.proved else "worked out, not proved"
    return f"{_where(cost.most)}  ({how})"


def _least(cost: Cost) -> str:
    undecided = cost.least.how == "undecided"
    return _undecided(cost.least, "at least") if undecided else _where(cost.least)


def _undecided(bound: Bound, side: str) -> str:
    beyond = "no bound was found" if bound.beyond is None else f"{side} {number(bound.beyond)}"
    return f"undecided: {_value(bound)} at {_shape(bound.shape)}, and {beyond}"


def _where(bound: Bound) -> str:
    if bound.how == "limit":
        return f"{_value(bound)}, a limit: shapes come as near as one likes"
    at = f" at {_shape(bound.shape)}" if bound.shape else ""
    return f"{_value(bound)}, reached{at}"


def _value(bound: Bound) -> str:
    return "no bound" if bound.value is None else number(bound.value)


def at_text(shape: tuple[tuple[str, int], ...]) -> str:
    """Return at which shape numbers are."""
    return f"at {_shape(shape)}" if shape else "at its only shape"


def _shape(shape: tuple[tuple[str, int], ...]) -> str:
    return " ".join(f"{name}={value}" for name, value in shape)


def _numbers(cost: Cost, at: ShapeCost) -> list[Row]:
    share = 100 * at.padding / at.size
    size = f"{at.size} slots"
    if cost.element is not None:
        size += f", {at.bytes} bytes of {cost.element.name}"
    rows = [("elements", str(at.elements)), ("size", size)]
    rows.append(("padding", f"{at.padding} slots, {share:.3g} % of the buffer"))
    rows.append(("ratio", number(at.ratio)))
    rows += [(f"  axis {each.axis}", _axis(each)) for each in at.axes or ()]
    if at.axes is None:
        rows.append(("  axes", "not told apart: no padded extents were proved"))
    if at.gaps != 1:
        rows.append(("  gaps", f"times {number(at.gaps)}"))
    if at.before:
        rows.append(("  before", f"{at.before} slots before the first"))
    return rows


def _axis(axis: AxisCost) -> str:
    return f"{axis.extent} -> {axis.padded}, times {number(axis.ratio)}"


def table(costs: list[Cost]) -> str:
    """Return one line a layout; the numbers at a shape come first where one was asked for."""
    head = ["layout", "at most", "at least"]
    if costs[0].at is not None:
        head = ["layout", "slots", *(["bytes"] if costs[0].at.bytes is not None else [])]
        head += ["padding", "ratio", "at most", "at least"]
    lines = [head, *(_cells(each, head) for each in costs)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    written = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    title = [] if costs[0].at is None else [at_text(costs[0].at.shape)]
    return "\n".join([*title, *written])


def _cells(cost: Cost, head: list[str]) -> list[str]:
    cells = {
        "layout": cost.layout,
        "at most": _short(cost.most, ">="),
        "at least": _short(cost.least, "<="),
    }
    if cost.at is not None:
        cells |= {
            "slots": str(cost.at.size),
            "bytes": "-" if cost.at.bytes is None else str(cost.at.bytes),
            "padding": str(cost.at.padding),
            "ratio": number(cost.at.ratio),
        }
    return [cells[name] for name in head]


def _short(bound: Bound, unsure: str) -> str:
    words = {
        "undecided": f"undecided, {unsure} {_value(bound)}",
        "limit": f"{_value(bound)}, a limit",
    }
    return words.get(bound.how, _value(bound))
