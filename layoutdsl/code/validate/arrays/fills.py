"""The statements that fill slots without an element, as loops. Trusted."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from layoutdsl.code.loops import tree
from layoutdsl.code.validate.arrays.names import check_names
from layoutdsl.code.validate.arrays.numbers import number
from layoutdsl.code.validate.arrays.statements import Environment, Statements
from layoutdsl.code.validate.arrays.views import Dimension, View
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.bounds import ONE, ZERO, product
from layoutdsl.language.integers.expr import Expr, Sub


@dataclass(slots=True)
class Fills(Statements):
    """Reads the statements that fill a buffer."""

    _filled: ClassVar[str]
    """The name of the buffer."""
    _used: ClassVar[frozenset[str]]
    """Names of the function around the statements, which these must not bind."""

    def _fills(self, fills: Sequence[ast.stmt], buffer: View) -> list[tree.Node]:
        """``buffer[...] = item`` as a nest of loops around a fill; of all slots, as one fill."""
        nodes = list[tree.Node]()
        start, self._kind = self.layout.start, "fills"
        check_names(fills, (), self._used | frozenset(self.module.functions))
        statements = [each for each in fills if not self._fills_before(each, fills)]
        if len(fills) - len(statements) != (start != ZERO):
            raise Meaningless("slots before the first are not filled")
        for given, values in self._run(statements, {self._filled: buffer}, ()):
            (slots,) = values
            assert isinstance(slots, View)
            is_all = (
                not given
                and len(slots.dimensions) == len(buffer.dimensions)
                and all(
                    self.same(one.count, other.count)
                    for one, other in zip(slots.dimensions, buffer.dimensions, strict=True)
                )
            )
            size = product(tuple(each.count for each in buffer.dimensions))
            if start == ZERO and is_all:
                nodes.append(tree.Fill(tree.Place(tree.TARGET, ZERO), size))
            elif start != ZERO and not given and self._is_behind(slots, start, size):
                nodes.append(tree.Fill(tree.Place(tree.TARGET, start), Sub(size, start)))
            else:
                nodes.append(self._stored(slots, None, given))
        return nodes

    def _is_behind(self, slots: View, start: Expr, size: Expr) -> bool:
        """Whether a view has all slots from the first of an element on."""
        match slots.dimensions:
            case (Dimension(count, stride),):
                behind = self.same(slots.offset, start) and self.same(count, Sub(size, start))
                return behind and stride == ONE
        return False

    def _fills_before(self, statement: ast.stmt, body: Sequence[ast.stmt]) -> bool:
        """Whether a statement fills what lies before the first slot of a new buffer."""
        match statement:
            case ast.If(
                test=test,
                body=[
                    ast.Assign(
                        targets=[
                            ast.Subscript(
                                value=ast.Name(id=name),
                                slice=ast.Slice(lower=None, upper=ast.expr() as past, step=None),
                            )
                        ],
                        value=ast.Name(id="item"),
                    )
                ],
                orelse=[],
            ) if (name, ast.unparse(test)) == (self._filled, "out is None") and (
                self.layout.start != ZERO
            ):
                env: Environment = {}
                for each in body[: list(body).index(statement)]:
                    match each:
                        case ast.Assign(targets=[ast.Tuple(elts=names)], value=value):
                            self._bind(env, names, self._shape(value, env))
                return self.same(number(past, env), self.layout.start)
        return False
