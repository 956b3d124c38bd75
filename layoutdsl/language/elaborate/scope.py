"""What names and operators mean inside one layout: written expressions -> `Expr`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from layoutdsl.language.elaborate.synonyms import call_written
from layoutdsl.language.integers.bits import masked
from layoutdsl.language.integers.bounds import at_least, joined, reach, simplify
from layoutdsl.language.integers.expr import (
    Add,
    BitXor,
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    Max,
    Min,
    MixedRadix,
    Mod,
    Mul,
    Sub,
    indices,
    text,
)
from layoutdsl.language.integers.value import widest
from layoutdsl.language.meaning.model import Condition, Operator
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_expression
from layoutdsl.language.texts.faults import Fault, did_you_mean, fault
from layoutdsl.language.texts.source import Diagnostic, Label

MOST_LISTED = 12
"""Names that a help line lists; a longer list is not read."""
WIDEST_SHIFT = 62
MOST_BITS = 1024

_OPERATORS: Mapping[str, Operator] = {
    "==": "==",
    "!=": "!=",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
}


class Applies(Protocol):
    """Returns the value of an application inside a coordinate."""

    def __call__(self, application: ast.Application, scope: Scope, /) -> Expr: ...


@dataclass(frozen=True, slots=True)
class Scope:
    """The names of one layout, or of the body of a table.

    Attributes:
        axes: the extent of each index; in a table, of each slot coordinate.
        symbols: what each upper-case name, and each parameter, stands for.
        called: what messages call an index here.
        multiples: pairs of which the range says that the second divides the first.
        applies: the value of ``A[e]``; `None` where no layout can be applied.
    """

    axes: Mapping[str, Expr]
    symbols: Mapping[str, Expr] = field(default_factory=dict)
    called: str = "an axis"
    multiples: frozenset[tuple[Expr, Expr]] = frozenset()
    applies: Applies | None = None

    def within(self, conditions: Iterable[ast.Comparison | ast.Within]) -> Scope:
        """Return the same names in a range of shapes, whose faults are found where it is read."""
        found: set[tuple[Expr, Expr]] = set()
        for each in conditions:
            try:
                comparisons = _compared(each, self.extent)
            except Fault:
                continue
            for comparison in comparisons:
                match comparison:
                    case Condition(Mod(left, right), "==", Constant(0)):
                        found.add((left, right))
        return replace(self, multiples=frozenset(found))

    def coordinate(self, place: ast.Place) -> Coordinate:
        """Return the coordinate with its declared or natural extent."""
        value = self.value(place.value)
        if place.extent is not None:
            extent = self.extent(place.extent)
            if isinstance(extent, Constant) and extent.value < 1:
                raise fault("L204", "an extent is at least 1", place.extent.span)
            return Coordinate(value, extent, declared=True)
        bound = reach(value, self.axes)
        if bound is None:
            written = print_expression(place.value)
            raise Fault(
                Diagnostic(
                    "L206",
                    f"no extent follows from `{written}`",
                    Label(place.span, "its values have no bound that can be written"),
                    help=f"declare it: `{written} : EXTENT`",
                ),
                needs_numbers=True,
            )
        return Coordinate(value, bound.high)

    def value(self, expression: ast.Expression) -> Expr:
        """Return an expression over indices and extents."""
        value = self._value(expression)
        if widest(value) > MOST_BITS:
            words = "an index or extent counts for 64"
            message = f"this value may have more than {MOST_BITS} bits"
            raise fault("L103", message, expression.span, words=words)
        return value

    def _value(self, expression: ast.Expression) -> Expr:
        match expression:
            case ast.Number(value):
                return Constant(value)
            case ast.Name():
                return self._name(expression)
            case ast.Negation(operand):
                inner = self._value(operand)
                return (
                    Constant(-inner.value)
                    if isinstance(inner, Constant)
                    else Sub(Constant(0), inner)
                )
            case ast.Tuple(parts):
                return MixedRadix(tuple(map(self.coordinate, parts)))
            case ast.Call():
                return self._call(expression)
            case ast.Application():
                if self.applies is None:
                    raise refuse_application(expression)
                return self.applies(expression, self)
            case ast.Operation():
                return self._operation(expression)

    def extent(self, expression: ast.Expression, called: str = "an extent") -> Expr:
        """Return an expression over extents alone, simplified; `called` so in a message."""
        value = replace(self, applies=None).value(expression)
        found = sorted(indices(value))
        if found:
            words = f"`{found[0]}` is an index"
            message = f"{called} may not depend on an index"
            raise fault("L204", message, expression.span, words=words, help=self._free_of(found[0]))
        return simplify(value)

    def _free_of(self, index: str) -> str:
        """Return the ways out for an index where only extents are allowed."""
        extent = self.axes.get(index)
        named = f"the extent `{extent.name}`" if isinstance(extent, Extent) else "an extent"
        return f"write a number, {named}, or a parameter of the layout, as in `layout NAME<k>(...)`"

    def conditions(self, clause: ast.WhereClause | None) -> tuple[Condition, ...]:
        """Return the comparisons of a ``where`` clause over extents; chains become several."""
        return _comparisons(clause, self.extent)

    def restrictions(
        self, clause: ast.WhereClause
    ) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
        """Return the comparisons of a layout's ``where``: those of shapes, and those of indices."""
        found = _comparisons(clause, self._side)
        shapes = tuple(each for each in found if not each.indices)
        return shapes, tuple(each for each in found if each.indices)

    def _side(self, expression: ast.Expression) -> Expr:
        value = replace(self, applies=None).value(expression)
        return value if indices(value) else simplify(value)

    def _name(self, name: ast.Name) -> Expr:
        if name.text in self.axes:
            return Index(name.text)
        if name.text in self.symbols:
            return self.symbols[name.text]
        axis = self.axes.get(name.text.lower())
        hint = did_you_mean(name.text, [*self.axes, *self.symbols]) or self._known_names()
        if isinstance(axis, Extent):
            hint = f"the extent of `{name.text.lower()}` is called `{axis.name}`"
        message = f"`{name.text}` is neither {self.called} nor an extent here"
        raise fault("L201", message, name.span, help=hint)

    def _known_names(self) -> str | None:
        """List the names of the scope for a help line; `None` if there are too many to read."""
        names = dict.fromkeys([*self.axes, *self.symbols])
        if not 0 < len(names) <= MOST_LISTED:
            return None
        return f"the names in scope are {', '.join(f'`{name}`' for name in names)}"

    def _operation(self, operation: ast.Operation) -> Expr:
        left = self._value(operation.left)
        if operation.symbol in ("<<", ">>"):
            power = Constant(1 << self._shift(operation.right))
            return Mul(left, power) if operation.symbol == "<<" else FloorDiv(left, power)
        if operation.symbol in ("/", "%"):
            divisor = self.divisor(operation.right)
            return FloorDiv(left, divisor) if operation.symbol == "/" else Mod(left, divisor)
        right = self._value(operation.right)
        match operation.symbol:
            case "+":
                return Add(left, right)
            case "-":
                return Sub(left, right)
            case "*":
                return Mul(left, right)
            case "&":
                return masked(left, right)
            case "|":
                return joined(left, right, self.axes)
            case _:
                return BitXor(left, right)

    def divisor(self, expression: ast.Expression) -> Expr:
        """Return a divisor: positive for all extents of the range, and free of indices.

        Where a quotient leaves nothing over it may as well be rounded up, and is positive then.
        """
        self._refuse_undeclared(expression)
        divisor = self.extent(expression, "a divisor")
        for candidate in (divisor, simplify(_rounded_up(divisor, self.multiples))):
            if at_least(candidate, 1):
                return candidate
        written = print_expression(expression)
        if isinstance(divisor, Constant):
            raise fault("L205", f"the divisor `{written}` is {divisor.value}", expression.span)
        words = "it is not positive for all extents"
        raise fault(
            "L205", f"the divisor `{written}` may not be positive", expression.span, words=words
        )

    def _refuse_undeclared(self, divisor: ast.Expression) -> None:
        """An unknown name alone as divisor is most often a block size without a declaration."""
        if not isinstance(divisor, ast.Name) or divisor.text in {**self.axes, **self.symbols}:
            return
        name = divisor.text
        if name.lower() in self.axes or did_you_mean(name, [*self.axes, *self.symbols]):
            return
        message = f"`{name}` is neither {self.called} nor an extent here"
        help_ = f"declare it as a parameter, `layout NAME<{name}>(...)`, or write a number"
        raise fault("L201", message, divisor.span, help=help_)

    def _shift(self, expression: ast.Expression) -> int:
        amount = self.extent(expression, "the width of a shift")
        if isinstance(amount, Constant) and 0 <= amount.value <= WIDEST_SHIFT:
            return amount.value
        message = f"a shift is by a number from 0 to {WIDEST_SHIFT}"
        found = Diagnostic("L207", message, Label(expression.span, f"this is `{text(amount)}`"))
        raise Fault(found, needs_numbers=not isinstance(amount, Constant))

    def _call(self, call: ast.Call) -> Expr:
        name, arguments = call.function.text, call.arguments
        match name, len(arguments):
            case "ceil", 1:
                inner = arguments[0]
                if not (isinstance(inner, ast.Operation) and inner.symbol == "/"):
                    raise fault(
                        "L207", "`ceil` takes a quotient", call.span, help="write `ceil(E/k)`"
                    )
                return CeilDiv(self.value(inner.left), self.divisor(inner.right))
            case "roundup", 2:
                divisor = self.divisor(arguments[1])
                return Mul(CeilDiv(self.value(arguments[0]), divisor), divisor)
            case (("min" | "max"), count) if count >= 2:
                first, *rest = map(self.value, arguments)
                for argument in rest:
                    first = Min(first, argument) if name == "min" else Max(first, argument)
                return first
            case (("ceil" | "roundup" | "min" | "max"), _):
                form = call_written(call) or {"ceil": "ceil(E/k)", "roundup": "roundup(E, k)"}.get(
                    name, f"{name}(E, F)"
                )
                message = f"`{name}` takes other arguments"
                raise fault("L207", message, call.span, help=f"write `{form}`")
        instead = call_written(call)
        hint = instead and f"write `{instead}`"
        hint = hint or did_you_mean(name, ["ceil", "roundup", "min", "max"])
        if hint is None and name != name.lower():
            hint = f"a layout is applied in brackets: write `{name}[...]`"
        raise fault("L207", f"there is no function `{name}`", call.function.span, help=hint)


def refuse_application(application: ast.Application) -> Fault:
    """Return the fault of an application where no layout can be applied."""
    message = f"`{print_expression(application)}` applies a layout, which only a coordinate can do"
    hint = "write the application as a coordinate, as the body of a layout, or alone after `==`"
    return fault("L220", message, application.span, help=hint)


def _comparisons(
    clause: ast.WhereClause | None, side: Callable[[ast.Expression], Expr]
) -> tuple[Condition, ...]:
    conditions = clause.conditions if clause is not None else ()
    return tuple(found for each in conditions for found in _compared(each, side))


def _compared(
    condition: ast.Comparison | ast.Within, side: Callable[[ast.Expression], Expr]
) -> list[Condition]:
    match condition:
        case ast.Within(value, low, high):
            middle = side(value)
            return [Condition(middle, ">=", side(low)), Condition(middle, "<=", side(high))]
        case ast.Comparison(operands, operators):
            sides = [side(operand) for operand in operands]
            return [
                Condition(left, _OPERATORS[operator], right)
                for left, operator, right in zip(sides, operators, sides[1:], strict=False)
            ]


def _rounded_up(expr: Expr, multiples: frozenset[tuple[Expr, Expr]]) -> Expr:
    """The same value in the range, with quotients rounded up that leave nothing over."""
    match expr:
        case Index() | Extent() | Constant() | MixedRadix():
            return expr
        case FloorDiv(left, right) if _leaves_nothing(left, right, multiples):
            return CeilDiv(left, right)
        case _:
            sides = (_rounded_up(each, multiples) for each in (expr.left, expr.right))
            return type(expr)(*sides)


def _leaves_nothing(left: Expr, right: Expr, multiples: frozenset[tuple[Expr, Expr]]) -> bool:
    """What divides a divisor of the range divides too: C/2 where C % 4 == 0."""
    return any(
        left == whole and (right == divisor or _is_factor(right, divisor))
        for whole, divisor in multiples
    )


def _is_factor(factor: Expr, product: Expr) -> bool:
    match factor, product:
        case Constant(one), Constant(other):
            return one > 0 and other % one == 0
        case _, Mul(left, right):
            return factor in (left, right)
        case _:
            return False
