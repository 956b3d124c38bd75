"""isl, which knows nothing of us, says the same of digit maps: one to one, and onto their boxes.

The offset is beyond isl, as products of extents are not affine; the map from indices to coordinates
is affine where blocks are numbers, and parametric in every extent.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

import pytest
from cli_shell import Shell, shell
from texts import LIBRARY

import layoutdsl
from layoutdsl import Layout

__all__ = ["shell"]

isl = pytest.importorskip("islpy")

SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


class NotAffineError(Exception):
    """isl has no word for it."""


def affine(text: str) -> str:
    """A formula, as the language or Python writes it, in the words of isl."""
    return _affine(ast.parse(text, mode="eval").body)


def _affine(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Constant(value=int(number)):
            return str(number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"(-{_affine(operand)})"
        case ast.BinOp(
            left=left, op=ast.Div() | ast.FloorDiv(), right=ast.Constant(value=int(block))
        ):
            return f"floor(({_affine(left)})/{block})"
        case ast.BinOp(left=left, op=ast.Mod(), right=ast.Constant(value=int(block))):
            return f"(({_affine(left)}) mod {block})"
        case ast.Call(
            func=ast.Name(id="ceil"),
            args=[ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=int(block)))],
        ):
            return f"ceil(({_affine(left)})/{block})"
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
            return f"({_affine(left)} {SIGNS[type(sign)]} {_affine(right)})"
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            if isinstance(left, ast.Constant) or isinstance(right, ast.Constant):
                return f"({_affine(left)}*{_affine(right)})"
    raise NotAffineError(ast.unparse(node))


def condition(text: str) -> str:
    node = ast.parse(text, mode="eval").body
    signs = {ast.Eq: "=", ast.LtE: "<=", ast.GtE: ">=", ast.Lt: "<", ast.Gt: ">", ast.NotEq: "!="}
    match node:
        case ast.Compare(left=left, ops=[sign], comparators=[right]):
            return f"{_affine(left)} {signs[type(sign)]} {_affine(right)}"
    raise NotAffineError(text)


def extent(node: ast.expr, axes: dict[str, str]) -> str:
    """How many values a digit has, where nothing else is declared of it."""
    match node:
        case ast.Name(id=name) if name in axes:
            return axes[name]
        case ast.BinOp(op=ast.Mod(), right=ast.Constant(value=int(radix))):
            return str(radix)
        case ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=int(block))):
            return f"ceil(({extent(left, axes)})/{block})"
    raise NotAffineError(ast.unparse(node))


def opened(body: str, axes: dict[str, str]) -> list[tuple[str, str]]:
    """Every coordinate as isl writes it, with its extent; tuples as their parts."""
    found = list[tuple[str, str]]()
    for place in re.split(r"[,;] (?![^(]*\))", body):
        value, _, declared = place.partition(" : ")
        if place.startswith("(") and place.endswith(")") and place.count("(") == 1:
            found += opened(place[1:-1], axes)
        elif ":" in value or "(" in value.replace("ceil(", ""):
            raise NotAffineError(place)
        else:
            node = ast.parse(value, mode="eval").body
            found.append((_affine(node), affine(declared) if declared else extent(node, axes)))
    return found


def compared(name: str, layout: Layout, inverse: dict[str, Any]) -> bool:
    """Whether isl was asked: one to one within the shape, and onto the box from the padded one."""
    found = re.match(r"layout \w+(?:<[^>]*>)?\((.*?)\) = \[(.*?)\]", str(layout))
    if found is None or inverse["domain"] or inverse["inverse"] is None:
        return False
    declared = [each.partition(": ") for each in found[1].split(", ")]
    axes = {a: size.removesuffix(" broadcast") or a.upper() for a, _, size in declared}
    try:
        places = opened(found[2], axes)
        padded = [affine(each) for each in inverse["padded_extents"].values()]
        range_ = [condition(str(each)) for each in layout.where]
    except (NotAffineError, SyntaxError):
        return False
    names = list(axes)
    assert names == list(inverse["padded_extents"]), name
    positive = [f"{symbol} >= 1" for symbol in layout.symbols]
    parameters = f"[{', '.join(layout.symbols)}] -> "
    outputs = ", ".join(value for value, _ in places)

    def digits(extents: list[str]) -> Any:
        inside = [f"0 <= {n} < {extent}" for n, extent in zip(names, extents, strict=True)]
        words = " and ".join([*inside, *positive, *range_])
        return isl.Map(f"{parameters}{{ [{', '.join(names)}] -> [{outputs}] : {words} }}")

    slots = [f"x{number}" for number in range(len(places))]
    inside = [f"0 <= {x} < {extent}" for x, (_, extent) in zip(slots, places, strict=True)]
    box = isl.Set(
        f"{parameters}{{ [{', '.join(slots)}] : {' and '.join([*inside, *positive, *range_])} }}"
    )
    elements, whole = digits(list(axes.values())), digits(padded)
    assert elements.is_injective(), name
    assert elements.range().is_subset(box), name
    assert whole.is_injective(), name
    # Where only extents and the first slot say what is padding, every place of the box is met.
    plain = {"_slot >=", *(f"{axis} <" for axis in names)}
    if all(" ".join(each.split()[:2]) in plain for each in inverse["inverse"]["holds_where"]):
        assert whole.range().is_equal(box), name
    return True


@pytest.mark.slow
def test_digit_maps_are_what_isl_says_of_them(shell: Shell, record_property: object) -> None:
    asked = []
    for name, layout in LIBRARY.items():
        if not layout.parameters:
            done = shell("formula", name, "--json")
            assert done.code == 0, done.err
            asked += [name] if compared(name, layout, json.loads(done.out)) else []
    record_property("compared", len(asked))  # type: ignore[operator]
    assert len(asked) >= 25


def test_isl_refuses_what_we_refute() -> None:
    claims = layoutdsl.parse("layout Bad(n, c) = [n, c/16, c%8]\nrefute Bad").claims
    assert layoutdsl.prove(claims).checked[0].status == "refuted"
    lost = isl.Map("[C] -> { [c] -> [floor(c/16), c mod 8] : 0 <= c < C and C >= 1 }")
    assert not lost.is_injective()
