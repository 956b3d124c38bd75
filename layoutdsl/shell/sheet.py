"""The formulas of one layout, in a language of people, as plain values or on a sheet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from layoutdsl.code.functions.names import renamed, renamed_inverse
from layoutdsl.language.digits.inverse import Inverse
from layoutdsl.language.digits.steps import SLOT
from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.integers.expr import Expr, Index, substitute
from layoutdsl.language.integers.languages import PYTHON, written
from layoutdsl.language.meaning.model import Condition
from layoutdsl.language.meaning.offsets import offset_expr, physical_exprs, size_expr
from layoutdsl.shell import sheet_text as sheets
from layoutdsl.shell.sheet_text import Backward, Lines

if TYPE_CHECKING:
    from layoutdsl.language.meaning.model import Layout

_LATEX = {"<=": r"\leq", ">=": r"\geq", "!=": r"\neq"}


def sheet_text(layout: Layout, language: str) -> str:
    """Return the formulas of a layout: offset, size, extents, and the inverse step by step."""
    lines = lines_of(layout, language)
    match language:
        case "latex":
            return sheets.latex(lines)
        case "sympy":
            return sheets.sympy(lines)
        case _:
            return sheets.python(lines)


def sheet_json(layout: Layout, language: str) -> dict[str, Any]:
    """Return the formulas in the order of the sheet."""
    lines = lines_of(layout, language)
    axes = [axis.name for axis in layout.axes]
    found = {
        "layout": layout,
        "language": language,
        "offset": lines.offset,
        "size": lines.size,
        "physical_shape": lines.box,
        "domain": lines.domain,
    }
    match lines.backward:
        case str(reason):
            return {**found, "padded_extents": {}, "inverse": None, "no_inverse": reason}
        case Backward(padded, steps, index, conditions):
            inverse = {
                "slot": SLOT,
                "steps": [{"name": name, "value": value} for name, value in steps],
                "index": dict(zip(axes, (value for _, value in index), strict=True)),
                "holds_where": conditions,
            }
            extents = dict(zip(axes, padded, strict=True))
            return {**found, "padded_extents": extents, "inverse": inverse, "no_inverse": None}


def lines_of(layout: Layout, language: str) -> Lines:
    """Return the formulas of a layout as text; an inverse only where it was proved to be one."""
    from layoutdsl.commands import closed_inverse

    spoken, write = renamed(layout, language), _writer(language)
    inverse = renamed_inverse(closed_inverse(layout), layout, language)
    return Lines(
        layout.name,
        f"{layout.name}({', '.join(axis.name for axis in layout.axes)})",
        tuple(write(Index(axis.name)) for axis in spoken.axes),
        spoken.symbols,
        write(offset_expr(spoken)),
        write(size_expr(spoken)),
        tuple(map(write, physical_exprs(spoken))),
        _domain(spoken, language, write),
        _backward(spoken, inverse, language, write)
        if isinstance(inverse, Inverse)
        else inverse.reason,
    )


def _backward(
    layout: Layout, inverse: Inverse, language: str, write: Callable[[Expr], str]
) -> Backward:
    shown: dict[str, Expr] = {
        name: Index(_presentable(name, language)) for name in (SLOT, *dict(inverse.steps))
    }

    def written(expr: Expr) -> str:
        return write(substitute(expr, shown))

    first = Condition(Index(SLOT), ">=", layout.start)
    guards = [
        _comparison(written(each.left), each.operator, written(each.right), language)
        for each in (*([] if layout.start == ZERO else [first]), *inverse.guards)
    ]
    shape = [f"{write(Index(axis.name))} < {write(axis.extent)}" for axis in layout.axes]
    return Backward(
        tuple(write(extent) for _, extent in inverse.padded),
        tuple((written(Index(name)), written(step)) for name, step in inverse.steps),
        tuple((write(Index(name)), written(value)) for name, value in inverse.index),
        (*guards, *shape, *_domain(layout, language, write)),
    )


def _domain(layout: Layout, language: str, write: Callable[[Expr], str]) -> tuple[str, ...]:
    return tuple(
        _comparison(write(each.left), each.operator, write(each.right), language)
        for each in layout.domain
    )


def _presentable(name: str, language: str) -> str:
    """LaTeX has no leading underscore: `_v12` is written v with the subscript 12."""
    if language != "latex":
        return name
    return r"\mathit{slot}" if name == SLOT else f"{name[1]}_{name[2:]}"


def _comparison(left: str, operator: str, right: str, language: str) -> str:
    match operator, language:
        case "==", "latex":
            return f"{left} = {right}"
        case (("==" | "!="), "sympy"):
            return f"{'Eq' if operator == '==' else 'Ne'}({left}, {right})"
        case (("<=" | ">=" | "!="), "latex"):
            return rf"{left} {_LATEX[operator]} {right}"
        case _:
            return f"{left} {operator} {right}"


def _writer(language: str) -> Callable[[Expr], str]:
    if language == "python":
        return lambda expr: written(expr, PYTHON)
    from layoutdsl.code.formula import latex, symbolic, sympy_text

    write = latex if language == "latex" else sympy_text
    return lambda expr: write(symbolic(expr))
