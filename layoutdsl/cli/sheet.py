"""The formulas of one layout on a sheet, in one of four languages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from layoutdsl.digits import NotDigits
from layoutdsl.expr import Expr, Index, substitute
from layoutdsl.inverse import SLOT

if TYPE_CHECKING:
    from layoutdsl.model import Layout


@dataclass(frozen=True, slots=True)
class _Language:
    """How a language writes a formula, an assignment, a list and a remark."""

    formula: Callable[[Any], str]
    assign: str
    several: str
    remark: str
    joined: str


@dataclass(frozen=True, slots=True)
class _Lines:
    """The formulas as text: each with its name."""

    offset: str
    size: str
    box: tuple[str, ...]
    padded: tuple[tuple[str, str], ...]
    steps: tuple[tuple[str, str], ...]
    index: tuple[tuple[str, str], ...]
    conditions: tuple[str, ...]
    no_inverse: str | None


def sheet_text(layout: Layout, language: str) -> str:
    """Return the formulas of a layout: offset, size, extents, and the inverse step by step."""
    spoken, lines = _language(language), _lines(layout, language)
    axes = ", ".join(axis.name for axis in layout.axes)

    def assign(name: str, value: str) -> str:
        return spoken.assign.format(name=name, value=value)

    def word(name: str) -> str:
        return rf"\text{{{name.replace('_', ' ')}}}" if language == "latex" else name

    def several(name: str, values: tuple[str, ...]) -> str:
        listed = ", ".join(values)
        comma = "," if language == "python" and len(values) == 1 else ""
        return spoken.several.format(name=name, count=len(values), values=listed + comma)

    text = [
        spoken.remark.format(f"{layout.name}({axes}): where an element lies, in elements"),
        assign(word("offset"), lines.offset),
        spoken.remark.format("the buffer, padding included"),
        assign(word("size"), lines.size),
        several(word("physical_shape"), lines.box),
    ]
    if lines.no_inverse is not None:
        return "\n".join([*text, spoken.remark.format(f"no closed inverse: {lines.no_inverse}")])
    return "\n".join(
        [
            *text,
            several(word("padded_extents"), tuple(value for _, value in lines.padded)),
            spoken.remark.format("what the slot `_slot` holds"),
            *(assign(name, value) for name, value in (*lines.steps, *lines.index)),
            spoken.remark.format("an element, where this holds; padding, where it does not"),
            spoken.joined.format(lines.conditions and _and(language).join(lines.conditions)),
        ]
    )


def sheet_json(layout: Layout, language: str) -> dict[str, Any]:
    """Return the formulas as plain values, in the order of the sheet."""
    lines = _lines(layout, language)
    return {
        "layout": layout.name,
        "language": language,
        "offset": lines.offset,
        "size": lines.size,
        "physical_shape": list(lines.box),
        "padded_extents": dict(lines.padded),
        "inverse": None
        if lines.no_inverse is not None
        else {
            "slot": "_slot",
            "steps": [{"name": name, "value": value} for name, value in lines.steps],
            "index": dict(lines.index),
            "holds_where": list(lines.conditions),
        },
        "no_inverse": lines.no_inverse,
    }


def _lines(layout: Layout, language: str) -> _Lines:
    from layoutdsl.api import formula
    from layoutdsl.formula import symbolic

    write = _language(language).formula
    found = formula(layout)
    head = write(found.offset), write(found.size), tuple(map(write, found.box))
    if isinstance(found.inverse, NotDigits):
        return _Lines(*head, (), (), (), (), found.inverse.reason)
    names = {name: _presentable(name, language) for name, _ in found.inverse.steps}
    names[SLOT] = _presentable(SLOT, language)
    indices: dict[str, Expr] = {name: Index(shown) for name, shown in names.items()}

    def written(expr: Expr) -> str:
        return write(symbolic(substitute(expr, indices)))

    guards = [
        f"{written(each.left)} {_sign(each.operator, language)} {written(each.right)}"
        for each in found.inverse.guards
    ]
    shape = [f"{written(Index(axis.name))} < {written(axis.extent)}" for axis in layout.axes]
    return _Lines(
        *head,
        tuple((name, write(value)) for name, value in found.padded or ()),
        tuple(
            (write(symbolic(indices[name])), written(step)) for name, step in found.inverse.steps
        ),
        tuple(
            (write(symbolic(Index(name))), written(value)) for name, value in found.inverse.index
        ),
        (*guards, *shape),
        None,
    )


def _presentable(name: str, language: str) -> str:
    """LaTeX has no leading underscore: `_v12` is written v with the subscript 12."""
    if language != "latex":
        return name
    return "slot" if name == SLOT else f"{name[1]}_{name[2:]}"


def _sign(operator: str, language: str) -> str:
    return "=" if operator == "==" and language == "latex" else operator


def _and(language: str) -> str:
    return {"python": " and ", "c": " && ", "latex": r" \wedge ", "sympy": " & "}[language]


def _language(name: str) -> _Language:
    from layoutdsl import formula_text

    match name:
        case "c":
            return _Language(
                formula_text.c,
                "const int64_t {name} = {value};",
                "const int64_t {name}[{count}] = {{{values}}};",
                "/* {} */",
                "const bool holds = {};",
            )
        case "latex":
            return _Language(
                formula_text.latex,
                r"{name} &= {value} \\",
                r"{name} &= \left({values}\right) \\",
                "% {}",
                r"& {}",
            )
        case _:
            write = formula_text.python if name == "python" else formula_text.sympy_text
            return _Language(write, "{name} = {value}", "{name} = ({values})", "# {}", "holds = {}")
