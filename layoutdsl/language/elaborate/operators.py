"""Tree -> meaning for what a text says of operators: rules, kernels and preferences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias, get_args

from layoutdsl.language.elaborate.layout import Layouts
from layoutdsl.language.elaborate.rules import refuse_repeats, silent, twice
from layoutdsl.language.elaborate.scope import Scope
from layoutdsl.language.integers.expr import Constant, Expr, Extent, text
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.language.meaning.operator import (
    AxisPattern,
    Engine,
    Kernel,
    OperandPattern,
    OperatorRule,
    Preference,
    Role,
)
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_body, print_declaration
from layoutdsl.language.syntax.walk import names_in, operands
from layoutdsl.language.texts.faults import Fault, did_you_mean, fault

RULE_CODE = "L217"
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
            raise fault(RULE_CODE, message, before.span)
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
        _where_of_rule(declared.where, [axis.name for axis in known if not axis.many]),
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


def _where_of_rule(where: ast.WhereClause | None, axes: Sequence[str]) -> tuple[Condition, ...]:
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
        raise fault(RULE_CODE, message, many[1].span)
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
    raise fault(RULE_CODE, f"`{written.text}` is no role of an axis", written.span, help=hint)


def _result(declared: ast.OperandDecl, known: Sequence[AxisPattern]) -> OperandPattern:
    """A result, all of whose axes are of an operand, and say there what becomes of them."""
    names = {each.name for each in known}
    for each in declared.axes or ():
        if each.role is not None:
            message = "the role of an axis is written on the operand"
            raise fault(RULE_CODE, message, each.role.span, help=f"leave out `: {each.role.text}`")
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
                raise fault(RULE_CODE, message, each.span, help=f"call one of them `{name}2`")


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
                raise fault(RULE_CODE, message, each.span, help=hint)


CODE = "L218"
Known: TypeAlias = Callable[[], Sequence[OperatorRule]]
"""Rules that a text may speak of without having them; they are read where one is asked for."""


def engine_of(
    declared: Sequence[ast.OperatorDecl],
    layouts: Layouts,
    known: Known,
    report: Callable[[Fault], None],
) -> Engine:
    """Return what a text says of operators and has no fault, in its order.

    Args:
        declared: as it was written.
        layouts: that it may name.
        known: rules of operators that it may speak of, besides its own.
        report: takes the fault of each other.
    """
    rules: list[OperatorRule] = []
    kernels: list[Kernel] = []
    preferences: list[Preference] = []
    faulty: set[str] = set()
    for each in declared:
        if isinstance(each, ast.OperatorRuleDecl):
            try:
                rules.append(rule_of(each))
            except Fault as wrong:
                faulty |= {name.text for name in each.operators}
                report(wrong)
    reader = _Reader(rules, faulty, layouts, known)
    for each in declared:
        try:
            match each:
                case ast.KernelDecl():
                    kernels.append(reader.kernel(each))
                case ast.PreferenceDecl():
                    preferences.append(reader.preference(each))
        except Fault as wrong:
            report(wrong)
    return Engine(tuple(rules), tuple(kernels), tuple(preferences))


class _Reader:
    """Reads kernels and preferences of one text."""

    def __init__(
        self, rules: Sequence[OperatorRule], faulty: set[str], layouts: Layouts, known: Known
    ) -> None:
        self._rules, self._faulty = rules, faulty
        self._layouts, self._known = layouts, known

    def kernel(self, declared: ast.KernelDecl) -> Kernel:
        rules = self._rules_of(declared.operator)
        taken: dict[str, Layout] = {}
        names: dict[str, ast.Name] = {}
        rule = _that_has(rules, declared)
        operands = {each.name: each for each in rule.operands}
        for each in declared.operands:
            name = each.name
            if names.setdefault(name.text, name) is not name:
                raise twice("operand", name, names[name.text])
            if name.text not in operands:
                message = f"`{declared.operator.text}` has no operand `{name.text}`"
                hint = did_you_mean(name.text, operands) or _says(rule)
                raise fault(CODE, message, name.span, help=hint)
            taken[name.text] = self._layout(each.layout, operands[name.text])
        if len(declared.results) > len(rule.results):
            message = f"the rule of `{declared.operator.text}` names fewer results"
            raise fault(CODE, message, declared.results[len(rule.results)].span, help=_says(rule))
        made = zip(declared.results, rule.results, strict=False)
        return Kernel(
            declared.operator.text,
            taken,
            tuple(self._layout(layout, result) for layout, result in made),
            _where_of_operator(declared.where, rule),
            print_declaration(declared),
            _place(declared),
            frozenset(each.name.text for each in declared.operands if each.optional),
        )

    def preference(self, declared: ast.PreferenceDecl) -> Preference:
        rules = self._rules_of(declared.operator)
        layouts = tuple(map(self._named, declared.layouts))
        for written, layout in zip(declared.layouts, layouts, strict=True):
            if not any(_fits(layout, each) for rule in rules for each in rule.results):
                message = f"`{layout.name}` has {layout.rank} axes"
                raise fault(CODE, message, written.span, help=_says(rules[0]))
        text = print_declaration(declared)
        return Preference(declared.operator.text, layouts, text, _place(declared))

    def _rules_of(self, operator: ast.Name) -> Sequence[OperatorRule]:
        if operator.text in self._faulty:
            raise silent(operator.span)
        every = (*self._rules, *self._known())
        found = [each for each in every if operator.text in each.operators]
        if not found:
            hint = did_you_mean(operator.text, [name for each in every for name in each.operators])
            hint = hint or f"say it: `rule {operator.text}(x[..]) -> [..]`"
            message = f"no rule says what `{operator.text}` is to the axes of its operands"
            raise fault(CODE, message, operator.span, help=hint)
        return found

    def _layout(self, written: ast.Reference, pattern: OperandPattern) -> Layout:
        layout = self._named(written)
        if pattern.axes is None:
            message = f"`{pattern.name}` is taken as it was written: its rule names no axes of it"
            raise fault(CODE, message, written.span)
        if not _fits(layout, pattern):
            least = sum(not each.many for each in pattern.axes)
            more = " or more" if any(each.many for each in pattern.axes) else ""
            called = f"`{pattern.name}`" if pattern.name else "the result"
            message = f"`{layout.name}` has {layout.rank} axes, and {called} {least}{more}"
            raise fault(CODE, message, written.span)
        return layout

    def _named(self, written: ast.Reference) -> Layout:
        layout = self._layouts.referred(written)
        if layout is None:
            raise silent(written.span)
        if layout.parameters:
            message = f"`{layout.name}` has an open parameter `{layout.parameters[0]}`"
            hint = f"write `{print_body(written)}<16>`, or another number"
            raise fault(CODE, message, written.span, help=hint)
        why = _no_tensor(layout)
        if why is not None:
            raise fault(CODE, f"`{layout.name}` {why}", written.span)
        return layout


def _says(rule: OperatorRule) -> str:
    return f"its rule is `{rule.text}`"


def _no_tensor(layout: Layout) -> str | None:
    """Why a layout is none of tensors in a graph."""
    if layout.domain:
        return "holds elements of a domain only"
    if layout.copies:
        return "holds copies of its elements"
    if layout.bit_of is not None:
        return "says where each bit lies"
    if layout.start != Constant(0):
        return f"begins {text(layout.start)} slots behind its start"
    return None


def _that_has(rules: Sequence[OperatorRule], kernel: ast.KernelDecl) -> OperatorRule:
    """The first rule that has the operands of a kernel, or the first."""
    names = {each.name.text for each in kernel.operands}
    fitting = (each for each in rules if names <= {operand.name for operand in each.operands})
    return next(fitting, rules[0])


def _fits(layout: Layout, pattern: OperandPattern) -> bool:
    if pattern.axes is None:
        return False
    least = sum(not each.many for each in pattern.axes)
    many = any(each.many for each in pattern.axes)
    return layout.rank >= least if many else layout.rank == least


def _where_of_operator(where: ast.WhereClause | None, rule: OperatorRule) -> tuple[Condition, ...]:
    if where is None:
        return ()
    names = [axis.name for each in rule.operands for axis in each.axes or () if not axis.many]
    shapes, attributes = scope_of_attributes(where, names).restrictions(where)
    return (*shapes, *attributes)


def _place(declared: ast.OperatorDecl) -> str:
    source = declared.span.source
    return f"{source.name}:{source.place(declared.span.start)[0]}"
