"""Expressions as Python and MLIR write them -> `Expr`; their grammars use the same rule names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from lark import Token, Tree

from layoutdsl.language.integers.bits import masked
from layoutdsl.language.integers.bounds import at_least, joined, simplify
from layoutdsl.language.integers.expr import (
    Add,
    BitXor,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Mod,
    Mul,
    Sub,
    indices,
    text,
)
from layoutdsl.language.integers.value import widest
from layoutdsl.language.texts.faults import did_you_mean, fault
from layoutdsl.language.texts.source import Span

Branch = Tree[Token]

MOST_DIGITS = 18
MOST_OPERANDS = 100
MOST_BITS = 1024
WIDEST_SHIFT = 62

_CALLS = {"floordiv": "//", "floormod": "%", "indexdiv": "//", "indexmod": "%"}
"""TVM's functions, without the modules before them."""


class Arithmetic:
    """Turns the trees of one text into expressions over the names that it declares."""

    def __init__(self, whole: Span, names: Mapping[str, Expr]) -> None:
        self._whole = whole
        self._names = names

    def span(self, node: Branch | Token) -> Span:
        """Return the place of a node in the source."""
        if isinstance(node, Token):
            start, end = node.start_pos or 0, node.end_pos or 0
        else:
            start, end = node.meta.start_pos, node.meta.end_pos
        return Span(self._whole.source, self._whole.start + start, self._whole.start + end)

    def value(self, branch: Branch) -> Expr:
        """Return what a tree means.

        Raises:
            Fault: a name is not declared, or a divisor may not be positive.
        """
        value = self._value(branch)
        if widest(value) > MOST_BITS:
            message = f"this value may have more than {MOST_BITS} bits"
            raise fault("L103", message, self.span(branch))
        return value

    def _value(self, branch: Branch) -> Expr:
        match branch.data:
            case "name":
                return self._name(cast("Token", branch.children[0]))
            case "number":
                return self._number(cast("Token", branch.children[0]))
            case "negated":
                match self._value(cast("Branch", branch.children[0])):
                    case Constant(number):
                        return Constant(-number)
                    case inner:
                        return Sub(Constant(0), inner)
            case "call":
                return self._call(branch)
            case _:
                return self._chain(branch)

    def _name(self, token: Token) -> Expr:
        if str(token) not in self._names:
            hint = did_you_mean(str(token), self._names)
            message = f"`{token}` is no index of this map"
            raise fault("L404", message, self.span(token), help=hint)
        return self._names[str(token)]

    def _number(self, token: Token) -> Constant:
        if len(token) > MOST_DIGITS:
            message = f"this number has more than {MOST_DIGITS} digits"
            raise fault("L103", message, self.span(token))
        return Constant(int(token))

    def _call(self, branch: Branch) -> Expr:
        name, left, right = branch.children
        function = str(name).rpartition(".")[2]
        if function not in _CALLS:
            hint = did_you_mean(function, _CALLS) or f"known are {', '.join(_CALLS)}"
            message = f"there is no function `{name}`"
            raise fault("L404", message, self.span(cast("Token", name)), help=hint)
        one = self._value(cast("Branch", left))
        return self._joined(_CALLS[function], one, cast("Branch", right))

    def _chain(self, branch: Branch) -> Expr:
        operands = [each for each in branch.children if isinstance(each, Tree)]
        symbols = [str(each) for each in branch.children if isinstance(each, Token)]
        if len(operands) > MOST_OPERANDS:
            message = f"more than {MOST_OPERANDS} operands stand side by side"
            raise fault("L104", message, self.span(branch))
        bitwise = {"joined": "|", "xor": "^", "masked": "&"}
        symbols = symbols or [bitwise[branch.data]] * (len(operands) - 1)
        value = self._value(operands[0])
        for symbol, operand in zip(symbols, operands[1:], strict=True):
            value = self._joined(symbol, value, operand)
        return value

    def _joined(self, symbol: str, left: Expr, operand: Branch) -> Expr:
        match symbol:
            case "//" | "floordiv":
                return FloorDiv(left, self._divisor(operand))
            case "%" | "mod":
                return Mod(left, self._divisor(operand))
            case "ceildiv":
                return CeilDiv(left, self._divisor(operand))
            case "<<" | ">>":
                power = Constant(1 << self._shift(operand))
                return Mul(left, power) if symbol == "<<" else FloorDiv(left, power)
        right = self._value(operand)
        match symbol:
            case "+":
                return Add(left, right)
            case "-":
                return Sub(left, right)
            case "*":
                return Mul(left, right)
            case "&":
                return masked(left, right)
            case "|":
                # The extents that the declaration gives are not known here.
                axes = dict.fromkeys(indices(left) | indices(right), Extent("_"))
                return joined(left, right, axes)
            case _:
                return BitXor(left, right)

    def _divisor(self, operand: Branch) -> Expr:
        divisor = simplify(self._value(operand))
        if indices(divisor) or not at_least(divisor, 1):
            message = f"the divisor `{text(divisor)}` may not be positive"
            raise fault("L405", message, self.span(operand))
        return divisor

    def _shift(self, operand: Branch) -> int:
        amount = simplify(self._value(operand))
        if isinstance(amount, Constant) and 0 <= amount.value <= WIDEST_SHIFT:
            return amount.value
        message = f"a shift is by a number from 0 to {WIDEST_SHIFT}"
        raise fault("L405", message, self.span(operand))
