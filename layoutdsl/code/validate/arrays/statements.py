"""The statements of a module as loops over elements. Trusted.

``slots[...] = part`` is a nest of loops around one element. What numpy would clip or broadcast in
silence becomes a `Slice`, to be proved with the rest.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from layoutdsl.code.loops import tree
from layoutdsl.code.validate.arrays.loops import Loop, merged
from layoutdsl.code.validate.arrays.matching import Function, Module
from layoutdsl.code.validate.arrays.names import check_names
from layoutdsl.code.validate.arrays.numbers import condition, number
from layoutdsl.code.validate.arrays.views import View
from layoutdsl.code.validate.loops.ranges import InRanges
from layoutdsl.code.validate.loops.words import said
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.bounds import ONE, ZERO, at_least, product, simplify
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
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
class Statements:
    """Reads the statements of functions that yield views, and of those that fill.

    Attributes:
        module: the functions.
        layout: gives extents, and the range of shapes.
        slices: what slices and reshapes need, of the verb that was read last.
    """

    module: Module
    layout: Layout
    slices: list[Slice] = field(default_factory=list)
    _fused: tuple[tuple[str, ...], ...] = ()
    _kind: Kind = "views"
    _extents: ClassVar[Mapping[Kind, str]]
    """In which functions the extents of the axes are a tuple, and its text."""

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

    def _mover(self, name: str, kind: Kind) -> Function:
        """The function that yields views or runs, once its names are looked at."""
        self._kind, function = kind, self.module[name]
        extents = [self._extents[kind]] if kind in self._extents else []
        forbidden = frozenset((*extents, *self.module.functions))
        check_names(function.body, function.names, forbidden)
        return function

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
                    yield given, [self._filled_view(place, here, given)]
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
        if said == self._extents.get(self._kind):
            return [axis.extent for axis in self.layout.element_axes]
        if self._kind in ("views", "runs") and said == "tensor.shape" and isinstance(tensor, View):
            return [each.count for each in tensor.dimensions]
        raise Meaningless(f"`{said}` is no shape that is known")

    # Views

    def _filled_view(self, place: ast.Subscript, env: Mapping[str, Value], given: Given) -> View:
        """The slots that ``view[places] = item`` fills."""
        view = self._view(place.value, env, given)
        match place.slice:
            case ast.Constant(value=value) if value is ...:
                return view
        return self._sliced(view, places_of(place.slice), env, given)

    def _view(self, node: ast.expr, env: Mapping[str, Value], given: Given) -> View:
        match node:
            case ast.Name(id=name) if isinstance(known := env.get(name), View):
                return known
            case ast.Subscript(value=value, slice=places):
                view = self._view(value, env, given)
                found = self._sliced(view, places_of(places), env, given)
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
        return under(given, node)


def places_of(node: ast.expr) -> list[ast.expr]:
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


def under(given: Sequence[Condition | Turn], node: tree.Node) -> tree.Node:
    for each in reversed(given):
        if isinstance(each, Turn):
            node = tree.For(each.name, each.count, node)
        else:
            node = tree.If(each, node, tree.EMPTY)
    return node


def _turns(given: Given) -> bool:
    return any(isinstance(each, Turn) for each in given)
