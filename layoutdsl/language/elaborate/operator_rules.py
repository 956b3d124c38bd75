"""Tree -> meaning for rules of operators: what each is to the axes of its operands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import get_args

from layoutdsl.language.elaborate.rules import refuse_repeats, twice
from layoutdsl.language.elaborate.scope import Scope
from layoutdsl.language.integers.expr import Expr, Extent
from layoutdsl.language.meaning.model import Condition
from layoutdsl.language.meaning.operator import AxisPattern, OperandPattern, OperatorRule, Role
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_declaration
from layoutdsl.language.syntax.walk import names_in, operands
from layoutdsl.language.texts.faults import did_you_mean, fault

CODE = "L217"
THROUGH: Role = "through"
KEEP: Role = "keep"
ROLES: tuple[Role, ...] = tuple(each for each in get_args(Role) if each != THROUGH)
OF_AXES: tuple[Role, ...] = tuple(each for each in ROLES if each != KEEP)


def rule_of(declared: ast.OperatorRuleDecl) -> OperatorRule:
    """Return what a rule says.

    Raises:
        Fault: it contradicts itself, or speaks of what it does not have.
    """
    refuse_repeats("operator", declared.operators)
    _refuse_names_twice([*declared.operands, *declared.results])
    for before in declared.operands[:-1]:
        if before.many:
            message = "any number of operands can only be the last ones"
            raise fault(CODE, message, before.span)
    taken = tuple(map(_operand, declared.operands))
    _refuse_many_unlike(declared.operands)
    _refuse_roles_unlike(declared.operands)
    known = [axis for each in taken for axis in each.axes or ()]
    results = tuple(_result(each, known) for each in declared.results)
    refuse_repeats("attribute", [each.name for each in declared.settings])
    source = declared.span.source
    return OperatorRule(
        tuple(each.text for each in declared.operators),
        taken,
        results,
        {each.name.text: _role(each.role, ROLES) for each in declared.settings if each.role},
        print_declaration(declared),
        f"{source.name}:{source.place(declared.span.start)[0]}",
        {each.name.text: each.default for each in declared.settings if each.default is not None},
        _where(declared.where, [axis.name for axis in known if not axis.many]),
    )


def scope_of_attributes(where: ast.WhereClause, axes: Iterable[str]) -> Scope:
    """Return what names stand for in a condition of nodes: attributes, and extents of axes.

    An attribute that divides is at least 1 wherever the condition can hold, as an extent is.

    Args:
        where: in which any name that is no capital is an attribute.
        axes: of the operator's rule.
    """
    symbols: dict[str, Expr] = {each.upper(): Extent(each.upper()) for each in axes if each}
    sides = tuple(_sides(where))
    divisors = {each for side in sides for each in _small(_divisors(side))}
    symbols |= {each: Extent(each) for each in divisors}
    small = {each for side in sides for each in _small([side])} - divisors
    return Scope({each: Extent(each) for each in sorted(small)}, symbols, "an attribute")


def _small(expressions: Iterable[ast.Expression]) -> Iterator[str]:
    for name in (name for each in expressions for name in names_in(each)):
        if name.text != name.text.upper():
            yield name.text


def _divisors(expression: ast.Expression) -> Iterator[ast.Expression]:
    if isinstance(expression, ast.Operation) and expression.symbol in ("/", "%"):
        yield expression.right
    for each in operands(expression):
        yield from _divisors(each)


def _where(where: ast.WhereClause | None, axes: Sequence[str]) -> tuple[Condition, ...]:
    if where is None:
        return ()
    shapes, attributes = scope_of_attributes(where, axes).restrictions(where)
    return (*shapes, *attributes)


def _sides(where: ast.WhereClause) -> Iterable[ast.Expression]:
    for each in where.conditions:
        match each:
            case ast.Within(value, low, high):
                yield from (value, low, high)
            case ast.Comparison(sides):
                yield from sides


def _operand(declared: ast.OperandDecl) -> OperandPattern:
    name = "" if declared.name is None else declared.name.text
    if declared.axes is None:
        return OperandPattern(name, None, declared.optional, declared.many)
    refuse_repeats("axis", [each.name for each in declared.axes if each.name is not None])
    many = [each for each in declared.axes if each.many]
    if len(many) > 1:
        message = "two patterns stand for any number of axes, and where one ends is not said"
        raise fault(CODE, message, many[1].span)
    axes = tuple(map(_axis, declared.axes))
    return OperandPattern(name, axes, declared.optional, declared.many)


def _axis(declared: ast.AxisPatternDecl) -> AxisPattern:
    name = "" if declared.name is None else declared.name.text
    if declared.name is not None and (name != name.lower() or not name[0].isalpha()):
        hint = f"write `{name.lower().lstrip('_') or 'c'}`"
        message = f"the axis `{name}` is not in lower case"
        raise fault("L204", message, declared.name.span, help=hint)
    role = THROUGH if declared.role is None else _role(declared.role, OF_AXES)
    return AxisPattern(name, role, declared.many)


def _role(written: ast.Name, roles: Sequence[Role]) -> Role:
    for each in roles:
        if each == written.text:
            return each
    hint = did_you_mean(written.text, roles) or f"known are {', '.join(roles)}"
    if written.text == THROUGH:
        hint = "leave it out: an axis without a role is straight through"
    if written.text == KEEP:
        hint = "it is of an attribute, as in `with keepdims: keep`"
    raise fault(CODE, f"`{written.text}` is no role of an axis", written.span, help=hint)


def _result(declared: ast.OperandDecl, known: Sequence[AxisPattern]) -> OperandPattern:
    """A result, all of whose axes are of an operand, and say there what becomes of them."""
    names = {each.name for each in known}
    for each in declared.axes or ():
        if each.role is not None:
            message = "the role of an axis is written on the operand"
            raise fault(CODE, message, each.role.span, help=f"leave out `: {each.role.text}`")
        name = "" if each.name is None else each.name.text
        if name not in names:
            called = f"the axis `{name}` of the result" if name else "`..` of the result"
            hint = did_you_mean(name, names - {""}) or "name it there, or leave out the brackets"
            raise fault("L201", f"{called} is of no operand", each.span, help=hint)
    return _operand(declared)


def _refuse_names_twice(declared: Sequence[ast.OperandDecl]) -> None:
    seen: dict[str, ast.Name] = {}
    for each in declared:
        if each.name is None:
            continue
        if seen.setdefault(each.name.text, each.name) is not each.name:
            raise twice("operand", each.name, seen[each.name.text])


def _refuse_many_unlike(declared: Sequence[ast.OperandDecl]) -> None:
    """Raise where a name is one axis here and any number there."""
    seen: dict[str, bool] = {}
    for operand in declared:
        for each in operand.axes or ():
            name = "" if each.name is None else each.name.text
            if seen.setdefault(name, each.many) != each.many:
                message = f"`{name}` is one axis here, and any number of them elsewhere"
                raise fault(CODE, message, each.span, help=f"call one of them `{name}2`")


def _refuse_roles_unlike(declared: Sequence[ast.OperandDecl]) -> None:
    """Raise where a sum is said of an axis of one operand, and not of the same axis of another."""
    seen: dict[str, ast.AxisPatternDecl] = {}
    for operand in declared:
        for each in operand.axes or ():
            if each.name is None:
                continue
            first = seen.setdefault(each.name.text, each)
            one, other = (axis.role and axis.role.text for axis in (first, each))
            if one != other and "sum" in (one, other):
                message = f"`{each.name.text}` is summed in one operand and not in another"
                hint = f"write `{each.name.text}: sum` in both"
                raise fault(CODE, message, each.span, help=hint)
