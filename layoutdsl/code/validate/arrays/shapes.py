"""That `physical_shape` and `offset` of a module are those of its layout. Trusted."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from layoutdsl.code.validate.arrays.frame import (
    BOTH_SHAPES,
    INTEGERS,
    conditions,
    shape_tests,
)
from layoutdsl.code.validate.arrays.matching import Function
from layoutdsl.code.validate.arrays.names import check_names
from layoutdsl.code.validate.arrays.numbers import condition, number
from layoutdsl.code.validate.loops.ranges import InRanges
from layoutdsl.code.validate.loops.words import compared, said
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.bounds import ZERO, product
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import Add, Expr, Index
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import offset_expr
from layoutdsl.proof.kernel.checker import Term

_SHAPE = "map(operator.index, shape)"


def check_physical_shape(
    function: Function, layout: Layout, same: Callable[[Expr, Expr], bool]
) -> None:
    """Refuse a function that takes other shapes than the layout has, or returns another one.

    Raises:
        Meaningless: it is another one.
    """
    _check_head(function, "shape: Sequence[int]", INTEGERS)
    last, env = _taken(function, layout)
    if not (isinstance(last, ast.Return) and _is_box(last.value, layout, env, same)):
        raise Meaningless("`physical_shape` returns another shape")


def check_physical_shapes(
    function: Function, source: Layout, target: Layout, same: Callable[[Expr, Expr], bool]
) -> None:
    """Refuse a function that takes other shapes than two layouts have, or returns other ones.

    Args:
        function: what `physical_shapes` is.
        source: the layout whose buffer is the first.
        target: the other one, of the same range of shapes.
        same: whether two numbers are equal.

    Raises:
        Meaningless: it is another one.
    """
    _check_head(function, "shape: Sequence[int]", BOTH_SHAPES)
    last, env = _taken(function, target)
    match last:
        case ast.Return(value=ast.Tuple(elts=[read, written])):
            if _is_box(read, source, env, same) and _is_box(written, target, env, same):
                return
    raise Meaningless("`physical_shapes` returns other shapes")


def _taken(function: Function, layout: Layout) -> tuple[ast.stmt, dict[str, Expr]]:
    """The last statement, and names, of a function that takes the shapes of a layout."""
    check_names(function.body, ["shape"], frozenset({"shape"}))
    first, *rest = function.body
    wanted = ast.unparse(ast.parse(" or ".join(shape_tests(layout)), mode="eval").body)
    match first:
        case ast.If(test=test, body=body, orelse=[]) if ast.unparse(test) == wanted:
            _check_refusal(body, ("shape",))
        case _:
            raise Meaningless("the shapes of other tensors are taken")
    env, asked = dict[str, Expr](), list[Condition]()
    rest = _named(rest, _SHAPE, [axis.extent for axis in layout.element_axes], env)
    *tests, last = rest or function.body[-1:]
    for each in tests:
        match each:
            case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=test), body=body, orelse=[]):
                _check_refusal(body, ("shape",))
                asked.append(condition(test, env))
            case _:
                raise Meaningless(f"`{ast.unparse(each)}` is not known")
    if _forms(asked, layout) != _forms(conditions(layout), layout):
        raise Meaningless("shapes outside the range of the layout are taken")
    return last, env


def _is_box(
    node: ast.expr | None,
    layout: Layout,
    env: Mapping[str, Expr],
    same: Callable[[Expr, Expr], bool],
) -> bool:
    """Whether a tuple is the shape of the buffer of a layout."""
    box = box_of(layout)
    match node:
        case ast.Tuple(elts=found) if len(found) == len(box):
            return all(same(number(a, env), b) for a, b in zip(found, box, strict=True))
    return False


def box_of(layout: Layout) -> list[Expr]:
    """Return the shape of the buffer of a layout, flat if slots lie before the first."""
    box: list[Expr] = [each.extent for each in layout.coordinates]
    return box if layout.start == ZERO else [Add(layout.start, product(tuple(box)))]


def check_offset(function: Function, layout: Layout) -> None:
    """Refuse a function that returns another offset, or takes what is no index of an element.

    Raises:
        Meaningless: it is another one.
    """
    _check_head(function, "index: Sequence[int], shape: Sequence[int]", "int")
    plain = [e for e in function.body if not (isinstance(e, ast.If) and _is_inside(e.test))]
    check_names(plain, ["index", "shape"], frozenset({"index", "shape"}))
    layout = layout.first_copy if layout.copies else layout
    first, *rest = function.body
    if ast.unparse(first) != "physical_shape(shape)":
        raise Meaningless("`offset` takes other shapes")
    env = dict[str, Expr]()
    rest = _named(rest, _SHAPE, [axis.extent for axis in layout.axes], env)
    index: list[Expr] = [Index(axis.name) for axis in layout.axes]
    if index:
        before = rest
        rest = _named(rest, "map(operator.index, index)", index, env)
        if len(rest) == len(before):
            raise Meaningless("`offset` takes no index")
    match rest:
        case [
            ast.If(test=test, body=body, orelse=[]),
            *tests,
            ast.Return(value=place),
        ] if _is_inside(test) and place is not None:
            _check_refusal(body, ("index", "shape"))
            _check_held(tests, layout, env)
            offset = number(place, env)
        case _:
            raise Meaningless("`offset` is another function")
    form, known = InRanges(()).form, _known(layout)
    if form(said(offset, known)) != form(said(offset_expr(layout), known)):
        raise Meaningless("`offset` is another formula")


_INSIDE = "not all((0 <= i < extent for i, extent in zip(index, shape, strict=True)))"


def _is_inside(test: ast.expr) -> bool:
    return ast.unparse(test) == _INSIDE


def _check_held(tests: Sequence[ast.stmt], layout: Layout, env: Mapping[str, Expr]) -> None:
    found = list[Condition]()
    for each in tests:
        match each:
            case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=test), body=body, orelse=[]):
                _check_refusal(body, ("index", "shape"))
                found.append(condition(test, env))
            case _:
                raise Meaningless(f"`{ast.unparse(each)}` is not known")
    if _forms(found, layout) != _forms(layout.domain, layout):
        raise Meaningless("`offset` takes other elements than the layout holds")


def _check_refusal(body: Sequence[ast.stmt], names: Sequence[str]) -> None:
    """Refuse what is no ValueError with a text that quotes at most the arguments."""
    match body:
        case [
            ast.Raise(
                exc=ast.Call(
                    func=ast.Name(id="ValueError"), args=[ast.JoinedStr(values=parts)], keywords=[]
                ),
                cause=None,
            )
        ]:
            found = [each for each in parts if isinstance(each, ast.FormattedValue)]
            said = [each.value for each in found]
            plain = all(each.conversion == -1 and each.format_spec is None for each in found)
            if plain and all(isinstance(e, ast.Name) and e.id in names for e in said):
                return
    raise Meaningless("something else than a ValueError is raised")


def _check_head(function: Function, arguments: str, result: str) -> None:
    if (function.arguments, function.result) != (arguments, result):
        raise Meaningless("a function takes or returns something else")


def _named(
    body: Sequence[ast.stmt], value: str, values: Sequence[Expr], env: dict[str, Expr]
) -> list[ast.stmt]:
    """Bind the names of a statement ``A, B = value``, if that is the first; the others are left."""
    match body:
        case [ast.Assign(targets=[ast.Tuple(elts=names)], value=found), *rest] if (
            ast.unparse(found) == value
        ):
            if len(names) != len(values) or not all(isinstance(n, ast.Name) for n in names):
                raise Meaningless("there are not as many names as values")
            pairs = zip(names, values, strict=True)
            env.update((n.id, v) for n, v in pairs if isinstance(n, ast.Name) and n.id != "_")
            return rest
    return list(body)


def _forms(conditions: Sequence[Condition], layout: Layout) -> list[Term]:
    """Comparisons as formulas, of which equal ones are the same."""
    return [InRanges(()).form(compared(each, _known(layout))) for each in conditions]


def _known(layout: Layout) -> dict[str, Term]:
    """Return the terms of extents and indices."""
    extents: dict[str, Term] = {name: f"n.{name}" for name in layout.symbols}
    return extents | {axis.name: f"i.{k}" for k, axis in enumerate(layout.axes)}
