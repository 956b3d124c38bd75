"""The functions of a module as loops over elements. Trusted.

``slots[...] = part`` is a nest of loops around one element. What numpy would clip or broadcast in
silence becomes a `Slice`, to be proved with the rest.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from layoutdsl.code.loops import tree
from layoutdsl.code.validate.arrays.frame import INTEGERS
from layoutdsl.code.validate.arrays.loops import Loop, merged
from layoutdsl.code.validate.arrays.matching import Function, Module, Verbs, verbs
from layoutdsl.code.validate.arrays.names import check_names
from layoutdsl.code.validate.arrays.numbers import condition, number
from layoutdsl.code.validate.arrays.shapes import check_offset, check_physical_shape
from layoutdsl.code.validate.arrays.views import Dimension, View, whole
from layoutdsl.code.validate.loops import both_sides
from layoutdsl.code.validate.loops.ranges import InRanges
from layoutdsl.code.validate.loops.words import said
from layoutdsl.code.validate.values import Meaningless
from layoutdsl.language.integers.bounds import ONE, ZERO, at_least, product, simplify
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    Mod,
    Mul,
    Sub,
    indices,
    substitute,
)
from layoutdsl.language.integers.written_out import horner_expr
from layoutdsl.language.meaning.model import Layout

Value: TypeAlias = Expr | View
Given: TypeAlias = tuple["Condition | Turn", ...]
"""The conditions under which a statement is executed, and the loops that it is in."""
Environment: TypeAlias = dict[str, Value]


Kind: TypeAlias = Literal["fills", "views", "runs", "cut"]
"""The kinds of functions and statements; each allows some that the others do not."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A loop whose index goes from 0 up to a count."""

    name: str
    count: Expr


@dataclass(frozen=True, slots=True)
class Slice:
    """``low <= high``, which a slice or a reshape needs.

    Attributes:
        about: what needs it.
        given: the conditions under which it does.
        low: no more than `high`.
        high: no less than `low`.
    """

    about: str
    given: Given
    low: Expr
    high: Expr


@dataclass(slots=True)
class Reader:
    """Reads the functions of one module.

    Attributes:
        module: the functions.
        layout: whose module it is.
        slices: what slices and reshapes need, of the verb that was read last.
        gathered: formulas that are computed in arrays of 64 bits.
        is_gathered: elements go to offsets.
        turned: indices of grids, and below what each stays.
    """

    module: Module
    layout: Layout
    slices: list[Slice] = field(default_factory=list)
    gathered: list[Expr] = field(default_factory=list)
    is_gathered: bool = False
    turned: dict[str, Expr] = field(default_factory=dict)
    _fused: tuple[tuple[str, ...], ...] = ()
    _kind: Kind = "views"

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
        buffer = whole(ends[1], self._buffer)
        nodes = self._fills(found, buffer) if word == "pack" else []
        self.is_gathered = "_slots" in self.module.functions
        if self.is_gathered:
            nodes.append(self._gathered(word))
        else:
            moves = self._run_by_run if "_runs" in self.module.functions else self._moved
            nodes += moves(found, word, tensor, buffer)
        return nodes[0] if len(nodes) == 1 else tree.Seq(tuple(nodes))

    @property
    def _buffer(self) -> list[Expr]:
        box: list[Expr] = [each.extent for each in self.layout.coordinates]
        start = self.layout.start
        return box if start == ZERO else [Add(start, product(tuple(box)))]

    def _mover(self, name: str, kind: Kind) -> Function:
        """The function that yields views or runs, once its names are looked at."""
        self._kind, function = kind, self.module[name]
        check_names(function.body, function.names, frozenset(self.module.functions))
        return function

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
                        slots = self._sliced(slots, _places(found.first), {}, given)
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

    def _fills(self, found: Verbs, buffer: View) -> list[tree.Node]:
        """``buffer[...] = item`` as a nest of loops around a fill; of all slots, as one fill."""
        nodes = list[tree.Node]()
        start, self._kind = self.layout.start, "fills"
        frame = ("src", "out", "fill", "buffer", "item", "shape", "part")
        check_names(found.fills, (), frozenset((*self.module.functions, *frame)))
        statements = [each for each in found.fills if not self._fills_before(each, found.fills)]
        if len(found.fills) - len(statements) != (start != ZERO):
            raise Meaningless("slots before the first are not filled")
        for given, values in self._run(statements, {"buffer": buffer}, ()):
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

    def same(self, one: Expr, other: Expr) -> bool:
        """Return whether two expressions over extents are equal as polynomials."""
        known = {name: f"n.{name}" for name in self.layout.symbols}
        known |= {name: f"i.{name}" for name in (*indices(one), *indices(other))}
        normal = InRanges(())
        return normal.form(said(one, known)) == normal.form(said(other, known))

    def _equal(self, given: Given, one: Expr, other: Expr) -> bool:
        """Whether two counts are equal, if only because blocks divide an extent: that is noted."""
        if self.same(one, other):
            return True
        blocks = {
            c.left.left.name: c.left.right
            for c in self.layout.where
            if isinstance(c.left, Mod)
            and isinstance(c.left.left, Extent)
            and isinstance(c.left.right, Constant)
            and (c.operator, c.right) == ("==", ZERO)
        }
        known = {n: Mul(block, FloorDiv(Extent(n), block)) for n, block in blocks.items()}
        if not known or not self.same(substitute(one, known), substitute(other, known)):
            return False
        self.slices += [Slice("a reshape", given, *each) for each in ((one, other), (other, one))]
        return True

    # What a generator yields

    def _run(
        self, body: Sequence[ast.stmt], env: Mapping[str, Value], given: Given
    ) -> Iterator[tuple[Given, list[Value]]]:
        """Yield what statements yield or fill, each with the conditions under which they do."""
        here = dict(env)
        for statement in body:
            match statement:
                case ast.Assign(targets=[ast.Subscript() as place], value=ast.Name(id="item")) if (
                    self._kind == "fills"
                ):
                    yield given, [self._filled(place, here, given)]
                case ast.Assign(
                    targets=[ast.Tuple(elts=names)],
                    value=ast.Call(func=ast.Name(id="_grid"), args=counts, keywords=[]),
                ) if self._kind == "runs" and not _turns(given):
                    turns = self._turns(names, [number(each, here) for each in counts])
                    self._bind(here, names, [Index(each.name) for each in turns])
                    given = (*given, *turns)
                case ast.Assign(targets=[target], value=value):
                    self._assign(target, value, here, given)
                case ast.If(test=test, body=inner, orelse=[]):
                    yield from self._branch(test, inner, here, given)
                case ast.For(orelse=[]) if self._kind != "fills":
                    yield from self._loop(statement, here, given)
                case ast.Expr(value=ast.Yield(value=ast.Tuple(elts=values))) if (
                    self._kind != "fills"
                ):
                    yield given, [self._value(each, here, given) for each in values]
                case _:
                    raise Meaningless(f"`{ast.unparse(statement)}` is not known")

    def _turns(self, names: Sequence[ast.expr], counts: Sequence[Expr]) -> list[Turn]:
        """The loops over all indices of a grid."""
        if len(names) != len(counts):
            raise Meaningless("there are not as many names as counts")
        said = [each.id for each in names if isinstance(each, ast.Name)]
        if len(set(said)) < len(counts):
            raise Meaningless("a name stands for two indices")
        return [Turn(f"turn.{n}", count) for n, count in zip(said, counts, strict=True)]

    def _assign(self, target: ast.expr, value: ast.expr, env: Environment, given: Given) -> None:
        match target, value:
            case (
                ast.Tuple(elts=names),
                ast.Call(func=ast.Name(id="divmod"), args=[left, right], keywords=[]),
            ) if self._kind == "cut":
                one, other = number(left, env), number(right, env)
                if not at_least(other, 1):
                    raise Meaningless("a divisor may be 0")
                self._bind(env, names, [simplify(FloorDiv(one, other)), simplify(Mod(one, other))])
            case ast.Tuple(elts=names), _:
                self._bind(env, names, self._shape(value, env))
            case _ if self._kind == "views":
                self._bind(env, [target], [self._value(value, env, given)])
            case _:
                self._bind(env, [target], [self._view(value, env, given)])

    def _branch(
        self, test: ast.expr, body: Sequence[ast.stmt], env: Environment, given: Given
    ) -> Iterator[tuple[Given, list[Value]]]:
        found = condition(test, env)
        self._check_scalars(found.left, found.right)
        sides = simplify(found.left), simplify(found.right)
        if not all(isinstance(each, Constant) for each in sides):
            yield from self._run(body, env, (*given, found))
        elif Condition(sides[0], found.operator, sides[1]).holds({}):
            yield from self._run(body, env, given)
        else:  # it is never done, and has to be what is known all the same
            kept = list(self.slices)
            for _ in self._run(body, env, given):
                pass
            self.slices = kept

    def _loop(
        self, loop: ast.For, env: Environment, given: Given
    ) -> Iterator[tuple[Given, list[Value]]]:
        inside = dict(env)
        match loop.target, loop.iter:
            case (
                ast.Name(id=name),
                ast.Call(func=ast.Name(id="range"), args=[count], keywords=[]),
            ) if self._kind == "views":
                turn = Turn(f"turn.{name}", number(count, env))
                self._bind(inside, [loop.target], [Index(turn.name)])
                yield from self._run(loop.body, inside, (*given, turn))
            case ast.Tuple(elts=names), ast.Call(func=ast.Name(id=cut), args=args, keywords=[]):
                for more, values in self._parts(cut, [number(each, env) for each in args]):
                    inside = dict(env)
                    self._bind(inside, names, values)
                    yield from self._run(loop.body, inside, (*given, *more))
            case _:
                raise Meaningless(f"`{ast.unparse(loop)}` is not known")

    def _parts(self, name: str, values: Sequence[Expr]) -> Iterator[tuple[Given, list[Value]]]:
        """The parts of an axis: what a function that cuts axes yields."""
        function = self.module[name] if name.startswith("_cut") else None
        if function is None or len(function.names) != len(values):
            raise Meaningless(f"`{name}` cuts no axis")
        kind, self._kind = self._kind, "cut"
        found = list(self._run(function.body, dict(zip(function.names, values, strict=True)), ()))
        self._kind = kind
        yield from found

    def _value(self, node: ast.expr, env: Mapping[str, Value], given: Given) -> Value:
        try:
            return number(node, env, arrays=self._kind == "runs")
        except Meaningless:
            return self._view(node, env, given)

    def _bind(self, env: Environment, names: Sequence[ast.expr], values: Sequence[Value]) -> None:
        if len(names) != len(values):
            raise Meaningless("there are not as many names as values")
        for name, value in zip(names, values, strict=True):
            if not isinstance(name, ast.Name) or name.id in self.module.functions:
                raise Meaningless(f"`{ast.unparse(name)}` is bound")
            known = env.get(name.id)
            if known is not None and not (isinstance(known, View) and isinstance(value, View)):
                raise Meaningless(f"`{name.id}` is bound twice")
            if name.id != "_":
                env[name.id] = value

    def _shape(self, node: ast.expr, env: Mapping[str, Value]) -> Sequence[Expr]:
        said, tensor = ast.unparse(node), env.get("tensor")
        if self._kind == "fills" and said == "src.shape":
            return [axis.extent for axis in self.layout.element_axes]
        if self._kind in ("views", "runs") and said == "tensor.shape" and isinstance(tensor, View):
            return [each.count for each in tensor.dimensions]
        raise Meaningless(f"`{said}` is no shape that is known")

    def _fills_before(self, statement: ast.stmt, body: Sequence[ast.stmt]) -> bool:
        """Whether a statement fills what lies before the first slot of a new buffer."""
        match statement:
            case ast.If(
                test=test,
                body=[
                    ast.Assign(
                        targets=[
                            ast.Subscript(
                                value=ast.Name(id="buffer"),
                                slice=ast.Slice(lower=None, upper=ast.expr() as past, step=None),
                            )
                        ],
                        value=ast.Name(id="item"),
                    )
                ],
                orelse=[],
            ) if ast.unparse(test) == "out is None" and self.layout.start != ZERO:
                env: Environment = {}
                for each in body[: list(body).index(statement)]:
                    match each:
                        case ast.Assign(targets=[ast.Tuple(elts=names)], value=value):
                            self._bind(env, names, self._shape(value, env))
                return self.same(number(past, env), self.layout.start)
        return False

    # Views

    def _filled(self, place: ast.Subscript, env: Mapping[str, Value], given: Given) -> View:
        """The slots that ``view[places] = item`` fills."""
        view = self._view(place.value, env, given)
        match place.slice:
            case ast.Constant(value=value) if value is ...:
                return view
        return self._sliced(view, _places(place.slice), env, given)

    def _view(self, node: ast.expr, env: Mapping[str, Value], given: Given) -> View:
        match node:
            case ast.Name(id=name) if isinstance(known := env.get(name), View):
                return known
            case ast.Subscript(value=value, slice=places):
                view = self._view(value, env, given)
                found = self._sliced(view, _places(places), env, given)
                if view.dimensions and not found.dimensions:
                    raise Meaningless(f"`{ast.unparse(node)}` is one element, and no view")
                return found
            case ast.Call(func=ast.Attribute(value=value, attr="reshape"), args=args, keywords=[]):
                own = self._view(value, env, given)
                sizes = self._sizes(own, args, env, given)
                return own.reshaped(sizes, lambda a, b: self._equal(given, a, b), self.same)
            case ast.Call(
                func=ast.Attribute(value=value, attr="transpose"), args=args, keywords=[]
            ):
                own = self._view(value, env, given)
                order = [e.value for e in args if isinstance(e, ast.Constant)]
                numbers = [each for each in order if type(each) is int]
                if sorted(numbers) != list(range(len(own.dimensions))) or len(numbers) < len(args):
                    raise Meaningless(f"`{ast.unparse(node)}` is no order of its dimensions")
                return own.transposed(numbers)
        raise Meaningless(f"`{ast.unparse(node)}` is no view that is known")

    def _sizes(
        self, view: View, args: Sequence[ast.expr], env: Mapping[str, Value], given: Given
    ) -> list[Expr]:
        """The sizes of a reshape; that in place of -1 is what is left, without a rest."""
        match args:
            case [ast.UnaryOp() as left, size] if ast.unparse(left) == "-1":
                whole = product(tuple(each.count for each in view.dimensions))
                width = simplify(number(size, env))
                if not at_least(width, 1):
                    raise Meaningless("a reshape to a size that may be 0")
                many = simplify(FloorDiv(whole, width))
                for low, high in ((whole, Mul(many, width)), (Mul(many, width), whole)):
                    self._need(given, "a reshape has no rest", low, high)
                return [many, width]
        sizes = [simplify(number(each, env)) for each in args]
        self._check_scalars(*sizes)
        if not sizes or not all(at_least(each, 0) for each in sizes):
            raise Meaningless("a reshape to a size that may be negative")
        return sizes

    def _sliced(
        self, view: View, places: Sequence[ast.expr], env: Mapping[str, Value], given: Given
    ) -> View:
        if len(places) > len(view.dimensions):
            raise Meaningless("there are more places than dimensions")
        position = 0
        for place in places:
            count = view.dimensions[position].count
            match place:
                case ast.Slice(lower=None, upper=None, step=None):
                    position += 1
                case ast.Slice(lower=None, upper=None, step=step) if (
                    step is not None and ast.unparse(step) == "-1"
                ):
                    view = view.turned(position)
                    position += 1
                case ast.Slice(lower=low, upper=high, step=None):
                    first: Expr = ZERO if low is None else number(low, env)
                    many = simplify(_many(low, high, first, count, env))
                    self._check_scalars(first, many)
                    self._need(given, "a slice begins within", ZERO, first)
                    self._need(given, "a slice ends within", Add(first, many), count)
                    self._need(given, "a slice is not negative", ZERO, many)
                    view = view.at(position, first, many)
                    position += 1
                case ast.Slice():
                    raise Meaningless("a slice has steps")
                case _:
                    at = number(place, env)
                    self._check_scalars(at)
                    self._need(given, "a place is within", ZERO, at)
                    self._need(given, "a place is within", Add(at, ONE), count)
                    view = view.at(position, at, None)
        return view

    def _check_scalars(self, *found: Expr) -> None:
        """Refuse numbers that are arrays of indices where numpy would do something else."""
        if self._kind == "runs" and any(indices(each) for each in found):
            raise Meaningless("an array stands where a number has to be")

    def _need(self, given: Given, about: str, low: Expr, high: Expr) -> None:
        if not at_least(Sub(high, low), 0):
            self.slices.append(Slice(about, given, low, high))

    # Loops

    def _stored(self, target: View, source: View | None, given: Given) -> tree.Node:
        """``target[...] = source``, one element at a time; without a source, the fill."""
        loops = list[Loop]()
        if source is not None and len(source.dimensions) != len(target.dimensions):
            raise Meaningless("two views have other ranks")
        for position, own in enumerate(target.dimensions):
            step: Expr = ZERO
            if source is not None:
                other = source.dimensions[position]
                if other.count != ONE or own.count == ONE:  # else it stands still
                    step = other.stride
                    if not self._equal(given, own.count, other.count):
                        raise Meaningless("two views have other shapes")
            if own.count != ONE:
                loops.append(Loop(own.count, own.stride, step))
        loops = merged(loops, self._fused, self.same)
        at, read = target.offset, ZERO if source is None else source.offset
        names = [f"{'fill' if source is None else 'move'}{k}" for k in range(len(loops))]
        for name, loop in zip(names, loops, strict=True):
            at = Add(at, Mul(Index(name), loop.target))
            read = Add(read, Mul(Index(name), loop.source))
        node: tree.Node = tree.Fill(tree.Place(target.buffer, at), ONE)
        if source is not None:
            node = tree.Run(tree.Place(target.buffer, at), tree.Place(source.buffer, read), ONE)
        for name, loop in reversed(list(zip(names, loops, strict=True))):
            node = tree.For(name, loop.count, node)
        return _under(given, node)

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
        node = _under(held, node)
        for axis in reversed(axes):
            node = tree.For(axis.name, axis.extent, node)
        return node

    def _goes_by_grids(self, iterated: ast.expr, layout: Layout, env: Mapping[str, Value]) -> bool:
        """Whether all indices are gone through in grids; if not, one by one."""
        match iterated:
            case ast.Call(func=ast.Name(id="_grids"), args=[shape], keywords=[]):
                grids = True
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


def _places(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _many(
    low: ast.expr | None,
    high: ast.expr | None,
    first: Expr,
    count: Expr,
    env: Mapping[str, Value],
) -> Expr:
    """How many there are in a slice: `m` in ``c:c + m``."""
    if high is None:
        return Sub(count, first)
    if low is None:
        return number(high, env)
    match high:
        case ast.BinOp(left=left, op=ast.Add(), right=right) if ast.dump(left) == ast.dump(low):
            return number(right, env)
    return Sub(number(high, env), first)


def _all_of(test: ast.expr) -> list[ast.expr]:
    """The comparisons in ``(a) & (b)``."""
    match test:
        case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
            return [*_all_of(left), *_all_of(right)]
    if not isinstance(test, ast.Compare):
        raise Meaningless(f"`{ast.unparse(test)}` is no comparison")
    return [test]


def _under(given: Sequence[Condition | Turn], node: tree.Node) -> tree.Node:
    for each in reversed(given):
        if isinstance(each, Turn):
            node = tree.For(each.name, each.count, node)
        else:
            node = tree.If(each, node, tree.EMPTY)
    return node


def _turns(given: Given) -> bool:
    return any(isinstance(each, Turn) for each in given)
