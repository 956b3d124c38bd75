"""Emitted expressions and conditions over terms: what each construct of Python yields. Trusted."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from layoutdsl.code.validate.meaning import Meaning
from layoutdsl.code.validate.values import (
    Array,
    Element,
    Given,
    Meaningless,
    Span,
    Text,
    Tuple,
    Turned,
    added,
    less,
    times,
)
from layoutdsl.proof.kernel.checker import Term

Names: TypeAlias = dict[str, object]


@dataclass
class Expressions:
    """One reading of a module, for one outcome of every condition that is not a refusal.

    Attributes:
        functions: the functions of the module, by name.
        meaning: where needs and stores are noted.
        decisions: outcomes of conditions on extents.
        extremes: names of minima and maxima over extents, with what they stand for.
        extents: what `_extents` returns: the extents of the tensor.
        indices: what `_index` returns: the indices of an element.
        packs: `src` is the tensor; otherwise it is the buffer.
        checked: `_extents` was asked whether the layout has this shape.
        refusals: conditions under which the text raises, so far.
        blocks: how many blocks of memory were made.
        looked_at: what arguments were looked at, and refused where they do not fit.
    """

    functions: Mapping[str, ast.FunctionDef]
    meaning: Meaning
    decisions: Mapping[Term, bool]
    extremes: Sequence[tuple[tuple[str, Term, Term], str]]
    extents: tuple[Term, ...]
    packs: bool = True
    indices: tuple[Term, ...] = ()
    checked: bool = False
    refusals: list[Term] = field(default_factory=list)
    blocks: int = 0
    looked_at: list[object] = field(default_factory=list)
    _depth: int = 0

    def _call(self, call: ast.Call, names: Names) -> object:
        raise NotImplementedError

    def _condition(self, test: ast.expr, names: Names) -> Term | bool:
        match test:
            case ast.BoolOp(op=operator, values=values):
                parts = [self._condition(value, names) for value in values]
                return _joined(isinstance(operator, ast.And), parts)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                part = self._condition(operand, names)
                return not part if isinstance(part, bool) else ("not", part)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                if isinstance(operator, ast.Is | ast.IsNot):
                    return self._is(test, left, right, names) == isinstance(operator, ast.Is)
                return _compared(operator, self._term(left, names), self._term(right, names))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr="may_share_memory")):
                return self._share(test, names)
        return ("not", ("=", self._term(test, names), 0))

    def _is(self, test: ast.expr, left: ast.expr, right: ast.expr, names: Names) -> bool:
        """Whether a value is None, `copy` True, `threads` one; those that are given are others."""
        value = self._value(left, names)
        match right:
            case ast.Constant(value=None) if value not in (Given("copy"), Given("threads")):
                return value is None
            case ast.Constant(value=True) if value is True or value == Given("copy"):
                return value is True
            case ast.Name(id="_ALONE") if "_ALONE" not in names:
                if value == Given("threads") or (type(value) is int and value == 1):
                    return value == 1
        raise Meaningless(f"`{ast.unparse(test)}`")

    def _share(self, call: ast.Call, names: Names) -> bool:
        """Whether an array still is where the array is that it was made of by `reshape`."""
        if len(call.args) != 2 or call.keywords:
            raise Meaningless(f"`{ast.unparse(call)}`")
        one, other = (self._array(each, names) for each in call.args)
        parent = one.root.parent
        if one == other:
            return True
        if parent is None or parent.root != other.root:
            raise Meaningless("whether arrays share memory is asked of unrelated arrays")
        return not one.root.copied

    def _value(self, node: ast.expr, names: Names) -> object:
        match node:
            case ast.Constant(value=None | bool() | int() | str()):
                return Text(node.value) if isinstance(node.value, str) else node.value
            case ast.Name(id=name):
                if name not in names:
                    raise Meaningless(f"`{name}` has no value")
                return names[name]
            case ast.Tuple(elts=parts):
                return Tuple(tuple(self._parts(parts, names)))
            case ast.List(elts=[]):
                return self.meaning.listing()
            case ast.IfExp(test=test, body=body, orelse=orelse):
                outcome = self._condition(test, names)
                if not isinstance(outcome, bool):
                    raise Meaningless(f"`{ast.unparse(node)}`")
                return self._value(body if outcome else orelse, names)
            case ast.Subscript():
                return self._subscript(node, names)
            case ast.Attribute(value=value, attr=("shape" | "dtype") as attribute):
                array = self._array(value, names)
                return Tuple(array.shape) if attribute == "shape" else Element(array.root.element)
            case ast.Call():
                return self._call(node, names)
            case ast.UnaryOp() | ast.BinOp():
                return self._arithmetic(node, names)
        raise Meaningless(f"`{ast.unparse(node)}`")

    def _parts(self, parts: Sequence[ast.expr], names: Names) -> list[object]:
        found: list[object] = []
        for part in parts:
            value = self._value(part.value if isinstance(part, ast.Starred) else part, names)
            if not isinstance(part, ast.Starred):
                found.append(value)
            elif isinstance(value, Tuple):
                found += value.items
            else:
                raise Meaningless(f"`{ast.unparse(part)}`")
        return found

    def _term(self, node: ast.expr, names: Names) -> Term:
        value = self._value(node, names)
        if isinstance(value, bool) or not isinstance(value, int | str | tuple):
            raise Meaningless(f"`{ast.unparse(node)}` is no integer")
        return value

    def _array(self, node: ast.expr, names: Names) -> Array:
        value = self._value(node, names)
        if not isinstance(value, Array):
            raise Meaningless(f"`{ast.unparse(node)}` is no array")
        return value

    def _arithmetic(self, node: ast.UnaryOp | ast.BinOp, names: Names) -> Term:
        match node:
            case ast.UnaryOp(
                op=ast.USub(),
                operand=ast.BinOp(
                    left=ast.UnaryOp(op=ast.USub(), operand=value), op=ast.FloorDiv(), right=divisor
                ),
            ):  # how Python spells a quotient that is rounded up
                below = self._term(divisor, names)
                rounded: Term = ("+", self._term(value, names), ("-", below, 1))
                return self.meaning.divided("div", rounded, below)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return less(0, self._term(operand, names))
            case ast.BinOp(left=first, op=operator, right=second):
                left, right = self._term(first, names), self._term(second, names)
                match operator:
                    case ast.Add():
                        return added(left, right)
                    case ast.Sub():
                        return less(left, right)
                    case ast.Mult():
                        return times(left, right)
                    case ast.FloorDiv():
                        return self.meaning.divided("div", left, right)
                    case ast.Mod():
                        return self.meaning.divided("mod", left, right)
                    case ast.BitOr():
                        return self.meaning.bits("|", left, right)
                    case ast.BitXor():
                        return self.meaning.bits("^", left, right)
                    case ast.BitAnd():
                        return self.meaning.bits("&", left, right)
        raise Meaningless(f"`{ast.unparse(node)}`")

    def _subscript(self, node: ast.Subscript, names: Names) -> object:
        value = self._value(node.value, names)
        if isinstance(value, Tuple):
            number = self._value(node.slice, names)
            if isinstance(number, bool) or not isinstance(number, int):
                raise Meaningless(f"`{ast.unparse(node)}`")
            if not 0 <= number < len(value.items):
                raise Meaningless(f"`{ast.unparse(node)}` is outside the tuple")
            return value.items[number]
        if not isinstance(value, Array):
            raise Meaningless(f"`{ast.unparse(node)}`")
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        index = [self._place(each, names) for each in places]
        if len(index) == 1 and isinstance(index[0], Tuple):
            index = list(index[0].items)
        found = self.meaning.sliced(value, tuple(index))
        if not found.shape:  # It is a number by itself: what is put into it is lost.
            raise Meaningless(f"`{ast.unparse(node)}` is no part of an array")
        return found

    def _place(self, node: ast.expr, names: Names) -> object:
        match node:
            case ast.Slice(lower=lower, upper=upper, step=None):
                ends = [None if end is None else self._term(end, names) for end in (lower, upper)]
                return Span(*ends)
            case ast.Slice(lower=None, upper=None, step=ast.expr() as step):
                if self._term(step, names) == -1:
                    return Turned()
        return self._value(node, names)


def as_terms(value: Tuple) -> tuple[Term, ...]:
    """Return the members of a Python tuple, all of which are integers."""
    if not all(
        isinstance(each, int | str | tuple) and not isinstance(each, bool) for each in value.items
    ):
        raise Meaningless("something is no integer")
    return value.items  # type: ignore[return-value]


def _compared(operator: ast.cmpop, left: Term, right: Term) -> Term | bool:
    match operator:
        case ast.Gt() | ast.GtE():
            return _compared(ast.Lt() if isinstance(operator, ast.Gt) else ast.LtE(), right, left)
        case ast.NotEq():
            outcome = _compared(ast.Eq(), left, right)
            return not outcome if isinstance(outcome, bool) else ("not", outcome)
    known = isinstance(left, int) and isinstance(right, int)
    match operator:
        case ast.Lt():
            return left < right if known else ("<", left, right)  # type: ignore[operator]
        case ast.LtE():
            return left <= right if known else ("<=", left, right)  # type: ignore[operator]
        case ast.Eq():
            return left == right if known else ("=", left, right)
    raise Meaningless("a comparison")


def _joined(every: bool, parts: list[Term | bool]) -> Term | bool:
    """The conjunction, or disjunction; a part that is decided is left out, or decides."""
    if any(part is not every for part in parts if isinstance(part, bool)):
        return not every
    open_ = [part for part in parts if not isinstance(part, bool)]
    if not open_:
        return every
    return open_[0] if len(open_) == 1 else ("and" if every else "or", *open_)
