"""Reads `pack` and `unpack` of a module as loops over elements. Trusted."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from layoutdsl.code.loops import tree
from layoutdsl.code.validate.arrays.fills import Fills
from layoutdsl.code.validate.arrays.frame import INTEGERS
from layoutdsl.code.validate.arrays.matching import Verbs, verbs
from layoutdsl.code.validate.arrays.names import check_names
from layoutdsl.code.validate.arrays.numbers import condition, number
from layoutdsl.code.validate.arrays.shapes import box_of, check_offset, check_physical_shape
from layoutdsl.code.validate.arrays.statements import (
    Environment,
    Kind,
    Turn,
    Value,
    places_of,
    under,
)
from layoutdsl.code.validate.arrays.views import View, whole
from layoutdsl.code.validate.loops import both_sides
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.bounds import ONE, ZERO
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import Coordinate, Expr, Index
from layoutdsl.language.integers.written_out import horner_expr
from layoutdsl.language.meaning.model import Layout


@dataclass(slots=True)
class Reader(Fills):
    """Reads the functions of one module.

    Attributes:
        gathered: formulas that are computed in arrays of 64 bits.
        is_gathered: elements go to offsets.
        turned: indices of grids, and below what each stays.
    """

    gathered: list[Expr] = field(default_factory=list)
    is_gathered: bool = False
    turned: dict[str, Expr] = field(default_factory=dict)
    _extents: ClassVar[Mapping[Kind, str]] = {"fills": "src.shape"}
    _filled = "buffer"
    _used = frozenset({"src", "out", "fill", "buffer", "item", "shape", "part"})

    @property
    def counts(self) -> dict[str, Expr]:
        """Below what each index stays."""
        return {axis.name: axis.extent for axis in self.layout.axes} | self.turned

    def check_shapes(self) -> None:
        """Refuse other functions than the layout's `physical_shape` and `offset`.

        Raises:
            Meaningless: they are others.
        """
        check_physical_shape(self.module["physical_shape"], self.layout, self.same)
        check_offset(self.module["offset"], self.layout)

    def verb(self, word: str, *, joins: bool) -> tree.Node:
        """Return what ``pack`` or ``unpack`` does with elements, as a tree of loops.

        Args:
            word: which of the two.
            joins: loops over axes that both sides have as one are one.

        Raises:
            Meaningless: something is not known.
        """
        layout = self.layout if word == "pack" else self.layout.first_copy
        self.slices, self.gathered, self.turned = [], [], {}
        fused = both_sides((layout,), word).normal.fused if joins else ()
        self._fused = tuple(each for each, _ in fused)
        found = verbs(self.module, self.layout)
        ends = (tree.SOURCE, tree.TARGET) if word == "pack" else (tree.TARGET, tree.SOURCE)
        tensor = whole(ends[0], [axis.extent for axis in self.layout.element_axes])
        buffer = whole(ends[1], box_of(self.layout))
        nodes = self._fills(found.fills, buffer) if word == "pack" else []
        self.is_gathered = "_slots" in self.module.functions
        if self.is_gathered:
            nodes.append(self._gathered(word))
        else:
            moves = self._run_by_run if "_runs" in self.module.functions else self._moved
            nodes += moves(found, word, tensor, buffer)
        return nodes[0] if len(nodes) == 1 else tree.Seq(tuple(nodes))

    def _moved(self, found: Verbs, word: str, tensor: View, buffer: View) -> Iterator[tree.Node]:
        env: Environment = {"tensor": tensor, "buffer": buffer}
        function = self._mover("_views", "views")
        for given, values in self._run(function.body, env, ()):
            match values:
                case [View() as part, View() as slots]:
                    if word == "pack":
                        yield self._stored(slots, part, given)
                        continue
                    if found.first is not None:
                        slots = self._sliced(slots, places_of(found.first), {}, given)
                    yield self._stored(part, slots, given)
                case _:
                    raise Meaningless("`_views` yields something else than two views")

    def _run_by_run(self, _: Verbs, word: str, tensor: View, buffer: View) -> Iterator[tree.Node]:
        """``slots[rows] = part``: for all indices of a grid, a run of a part and a row of slots."""
        function = self._mover("_runs", "runs")
        env: Environment = {"tensor": tensor, "buffer": buffer}
        for given, values in self._run(function.body, env, ()):
            turns = [each for each in given if isinstance(each, Turn)]
            match values:
                case [View() as part, View() as slots, row] if not isinstance(row, View):
                    if len(slots.dimensions) != 2 or len(part.dimensions) != len(turns) + 1:
                        raise Meaningless("runs and rows have other ranks")
                    for turn in turns:
                        if not self._equal(given, part.dimensions[0].count, turn.count):
                            raise Meaningless("there are not as many runs as rows")
                        part = part.at(0, Index(turn.name), None)
                    slots = slots.at(0, row, None)
                    self.gathered.append(row)
                    self.turned |= {each.name: each.count for each in turns}
                    both = (slots, part) if word == "pack" else (part, slots)
                    yield self._stored(*both, given)
                case _:
                    raise Meaningless("`_runs` yields something else than runs, rows and numbers")

    def _gathered(self, word: str) -> tree.Node:
        """``for i, j in _grids(shape): yield (i, j), offset``: all indices, one at a time."""
        layout, name = self.layout, "_slots"
        if layout.copies and word == "unpack":
            layout, name = layout.first_copy, "_first_slots"
        function, axes, env = self.module[name], layout.axes, dict[str, Value]()
        check_names(function.body, ["shape"], frozenset({"shape", *self.module.functions}))
        *before, loop = function.body
        for each in before:
            match each:
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Name(id="shape")):
                    self._bind(env, names, [axis.extent for axis in layout.element_axes])
                case _:
                    raise Meaningless(f"`{ast.unparse(each)}` is not known")
        match loop:
            case ast.For(target=ast.Tuple(elts=names), iter=iterated, body=body, orelse=[]) if (
                function.arguments == "shape: " + INTEGERS
            ):
                grids = self._goes_by_grids(iterated, layout, env)
                self._bind(env, names, [Index(axis.name) for axis in axes])
            case _:
                raise Meaningless("`_slots` goes over something else than all indices")
        grid, held = ast.unparse(loop.target), list[Condition]()
        own = [each for each, axis in zip(names, axes, strict=True) if axis in layout.element_axes]
        match body:
            case [
                ast.Assign(
                    targets=[target],
                    value=ast.Call(func=ast.Name(id="_held"), args=[same, test], keywords=[]),
                ),
                *rest,
            ] if grids and ast.unparse(target) == ast.unparse(same) == grid:
                held = [condition(each, env, arrays=True) for each in _all_of(test)]
                body = rest
            case [ast.If(test=test, body=rest, orelse=[])] if not grids:
                tests = test.values if isinstance(test, ast.BoolOp) else [test]
                if isinstance(test, ast.BoolOp) and not isinstance(test.op, ast.And):
                    raise Meaningless(f"`{ast.unparse(test)}` is not known")
                held, body = [condition(each, env) for each in tests], rest
        match body:
            case [ast.Expr(value=ast.Yield(value=ast.Tuple(elts=[index, place])))] if ast.unparse(
                index
            ) == ast.unparse(ast.Tuple(own, ast.Load())):
                offset = number(place, env, arrays=grids)
            case _:
                raise Meaningless("`_slots` yields something else than indices and offsets")
        if grids:
            self.gathered = [offset, *(side for each in held for side in (each.left, each.right))]
        digits = tuple(Coordinate(Index(a.name), a.extent) for a in layout.element_axes)
        element: Expr = horner_expr(digits) if digits else ZERO
        ends = (offset, element) if word == "pack" else (element, offset)
        node: tree.Node = tree.Run(
            tree.Place(tree.TARGET, ends[0]), tree.Place(tree.SOURCE, ends[1]), ONE
        )
        node = under(held, node)
        for axis in reversed(axes):
            node = tree.For(axis.name, axis.extent, node)
        return node

    def _goes_by_grids(self, iterated: ast.expr, layout: Layout, env: Mapping[str, Value]) -> bool:
        """Whether all indices are gone through in grids; if not, one by one."""
        match iterated:
            case ast.Call(func=ast.Name(id="_grids"), args=[shape], keywords=[]) if layout.axes:
                grids = True  # of no axes, `_grids` finds no first one
            case ast.Call(func=function, args=[ast.Starred(value=shape)], keywords=[]) if (
                ast.unparse(function) == "np.ndindex"
            ):
                grids = False
            case _:
                raise Meaningless("`_slots` goes over something else than all indices")
        match shape:
            case ast.Name(id="shape") if not layout.copies:
                return grids
            case ast.Tuple(elts=sizes) if len(sizes) == len(layout.axes):
                pairs = zip(sizes, layout.axes, strict=True)
                if all(self.same(number(size, env), axis.extent) for size, axis in pairs):
                    return grids
        raise Meaningless("`_slots` goes over something else than all indices")


def _all_of(test: ast.expr) -> list[ast.expr]:
    """The comparisons in ``(a) & (b)``."""
    match test:
        case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
            return [*_all_of(left), *_all_of(right)]
    if not isinstance(test, ast.Compare):
        raise Meaningless(f"`{ast.unparse(test)}` is no comparison")
    return [test]
