"""What the constructs mean by which elements are moved one by one: pieces, runs, tables. Trusted.

How `_pieces` cuts an axis is not read: it has to be as it always is. Of `_kind` the numbers
are read that it compares with 64 bits; that no arithmetic over indices leaves these is `magnitude`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from layoutdsl.code.validate.expressions import Names
from layoutdsl.code.validate.magnitude import peaks
from layoutdsl.code.validate.masks import MaskReader
from layoutdsl.code.validate.reading import Fork, Returned, assigned
from layoutdsl.code.validate.tables import Kind, Mask, Moved, Picked, Piece, Pieces, Run, Table
from layoutdsl.code.validate.values import Meaningless, Tuple, Within, all_of, less, same, size
from layoutdsl.proof.kernel.checker import Term

FIRST, PAST = "f.first", "f.past"
"""The ends of the piece at hand."""


_CUT = (
    "firsts = range(0, {0} if all(shape) else 0, rows)",
    "return [(first, min(first + rows, {0})) for first in firsts]",
)
"""How an axis is cut, from its extent."""

_KIND = "return np.int64 if most < 2 ** 63 else object"


@dataclass
class GatherReader(MaskReader):
    """A reader that knows pieces and tables as well.

    Attributes:
        may_be_empty: a buffer may have no slots, although the tensor has elements.
        across: the axis that is cut.
        multiple: each piece of it begins at a multiple of this number.
        kind: the integers of the indices at hand; ``None`` where there are none.
        told: how large the arithmetic at hand gets was told with what is made of it.
    """

    in_piece: bool = False
    across: int = 0
    multiple: int = 1
    may_be_empty: bool = False
    moves: list[Moved] = field(default_factory=list)
    refused: list[tuple[Table, Term]] = field(default_factory=list)
    kind: Kind | None = None
    told: bool = False

    def call(self, name: str, *arguments: object) -> object:
        """Return what a function of the module returns; it may do what a piece may not."""
        outside, self.in_piece = self.in_piece, False
        if self.kind is not None:
            raise Meaningless("a function is called in the midst of indices")
        result = super().call(name, *arguments)
        if self.kind is not None and not isinstance(result, Table | Mask):
            raise Meaningless("indices are returned, and may leave 64 bits")
        self.in_piece, self.kind = outside, None
        return result

    def _arithmetic(self, node: ast.UnaryOp | ast.BinOp, names: Names) -> Term:
        with self._counted(node, names):
            return super()._arithmetic(node, names)

    @contextmanager
    def _counted(self, node: ast.expr, names: Names) -> Iterator[None]:
        """What is worked out over indices stays within the integers that they have.

        What is worked out on the way is told with the whole.
        """
        outside, self.told = self.told, True
        if not outside and self.kind is not None:
            self._refuse_beyond(self.kind, node, names)
        yield
        self.told = outside

    def _refuse_beyond(self, kind: Kind, node: ast.expr, names: Names) -> None:
        for most in peaks(node, names, self._largest(), (*self.extents, FIRST, PAST)):
            if not any(same(most, each) for each in kind.asked):
                raise Meaningless("numbers may leave 64 bits")

    def _largest(self) -> dict[Term, Term]:
        """What each index stays below."""
        return dict(zip(self.indices, self.extents, strict=True))

    def _statement(self, statement: ast.stmt, names: Names) -> Returned | None:
        match statement:
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=past)]),
                iter=ast.Call(func=ast.Name(id="_pieces")) as call,
                body=body,
                orelse=[],
            ):
                pieces = self._value(call, names)
                if not isinstance(pieces, Pieces) or self.in_piece:
                    raise Meaningless("pieces are not taken one after the other")
                self.across, self.multiple = pieces.axis, pieces.multiple
                for name in assigned([statement]):
                    names.pop(name, None)
                self.in_piece, stores = True, len(self.meaning.stores)
                result = self._run(body, {**names, first: FIRST, past: PAST})
                if result is not None or len(self.meaning.stores) > stores:
                    raise Meaningless("a piece is not simply moved")
                self.in_piece = False
                return None
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                place = self._picked(target, names)
                if isinstance(place, Piece | Picked):
                    source = self._value(value, names)
                    if not isinstance(source, Piece | Picked):
                        raise Meaningless("a piece is filled")
                    self.moves.append(Moved(place, source, len(self.meaning.stores)))
                    return None
            case ast.Expr(value=ast.Call(func=ast.Name(id="_refuse_outside" | "_within"))) if (
                self.in_piece
            ):
                return super()._statement(statement, names)
            case ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Name(id="_held"))) if (
                self.in_piece
            ):
                return super()._statement(statement, names)
        if self.in_piece:
            raise Meaningless("a piece is not simply moved")
        return super()._statement(statement, names)

    def _share(self, call: ast.Call, names: Names) -> bool:
        """Where there are no slots, `np.may_share_memory` says that none are shared."""
        shared, slots = super()._share(call, names), size(self._array(call.args[0], names).shape)
        if not (shared and self.may_be_empty):
            return shared
        empty = ("=", slots, 0)
        if empty not in self.decisions:
            raise Fork(empty)
        return not self.decisions[empty]

    def _picked(self, node: ast.Subscript, names: Names) -> object:
        """A piece of an array, the slots that a table names, or nothing of this kind."""
        match node.slice:
            case ast.Slice(lower=ast.expr() as low, upper=ast.expr() as high, step=None) if (
                self.in_piece and isinstance(low, ast.Name) and isinstance(high, ast.Name)
            ):
                if (self._term(low, names), self._term(high, names)) == (FIRST, PAST):
                    return self._piece(node.value, 0, names)
            case ast.Name(id=name) if isinstance(names.get(name), Mask):
                return _masked(self._value(node.value, names), names[name])
            case (
                ast.Call(func=ast.Name(id="_offsets"))
                | ast.Subscript(value=ast.Call(func=ast.Name(id="_offsets")))
            ):
                table, array = self._value(node.slice, names), self._array(node.value, names)
                if not (isinstance(table, Table) and len(array.shape) == 1 and array.in_order):
                    raise Meaningless("slots are picked from no flat buffer")
                if table.runs is not None:
                    raise Meaningless("elements are picked by the offsets of runs")
                return Picked(array, table)
        return None

    def _piece(self, node: ast.expr, axis: int, names: Names) -> Piece:
        array = self._array(node, names)
        plain = axis == self.across and array == all_of(array.base)
        if not (plain and same(array.shape[axis], self.extents[axis])):
            raise Meaningless("another array is cut into pieces")
        return Piece(array)

    def _subscript(self, node: ast.Subscript, names: Names) -> object:
        found = self._picked(node, names)
        return super()._subscript(node, names) if found is None else found

    def _call(self, call: ast.Call, names: Names) -> object:
        match ast.unparse(call.func), call.args, [ast.unparse(each) for each in call.keywords]:
            case "int", [ast.Call() as product], [] if ast.unparse(product.func) == "np.prod":
                shape = self._value(product.args[0], names)
                if [ast.unparse(each) for each in product.keywords] != ["dtype=object"]:
                    raise Meaningless("a product that may overflow")
                if isinstance(shape, Tuple) and len(product.args) == 1:
                    return size(shape.items)  # type: ignore[arg-type]
            case "np.arange", [*ends, past], [word] if len(ends) < 2 and word.startswith("dtype="):
                first = self._term(ends[0], names) if ends else 0
                return Run(first, self._term(past, names), self._counting(call, names))
            case ("np.minimum" | "np.maximum") as word, [left, right], []:
                with self._counted(call, names):
                    both = (self._term(left, names), self._term(right, names))
                return self._extreme(word[3:6], *both)
            case "np.broadcast_to", [ast.Call() as entries, shape], []:
                return self._entries(entries, self._value(shape, names), names)
        return super()._call(call, names)

    def _method(self, owner: object, name: str, nodes: Sequence[ast.expr], names: Names) -> object:
        if isinstance(owner, Run) and name == "reshape":
            return self._along(owner, [self._value(each, names) for each in nodes])
        return super()._method(owner, name, nodes, names)

    def _counting(self, call: ast.Call, names: Names) -> Kind:
        """The integers of a run, in which all is counted that is worked out of it."""
        (word,) = call.keywords
        kind = self._value(word.value, names)
        if not isinstance(kind, Kind) or self.kind not in (None, kind):
            raise Meaningless("indices may leave 64 bits")
        self.kind = kind
        return kind

    def _along(self, run: Run, shape: list[object]) -> Term:
        """A run along one axis stands for the index along it."""
        axis = self._axis(shape)
        whole = (FIRST, PAST) if axis == self.across else (0, self.extents[axis])
        if not (run.low == whole[0] and same(run.high, whole[1])):
            raise Meaningless("a run does not go over its axis")
        return self.indices[axis]

    def _axis(self, shape: list[object]) -> int:
        """The axis that a run lies along, in the shape that it is given."""
        if len(shape) == 1 and isinstance(shape[0], Tuple):
            shape = list(shape[0].items)
        axes = [number for number, extent in enumerate(shape) if extent == -1]
        if len(shape) != len(self.extents) or len(axes) != 1 or shape.count(1) != len(shape) - 1:
            raise Meaningless("a run lies along no axis")
        return axes[0]

    def _entries(self, entries: ast.Call, shape: object, names: Names) -> Mask:
        """Truth values, one for every index of a piece."""
        self._whole_piece(shape)
        words = [ast.unparse(each) for each in entries.keywords]
        if (ast.unparse(entries.func), len(entries.args), words) != (
            "np.asarray",
            1,
            ["dtype=bool"],
        ):
            raise Meaningless("a mask is made of something else")
        return self._mask(entries.args[0], names)

    def _whole_piece(self, shape: object) -> None:
        sizes = self._sizes()
        if not isinstance(shape, Tuple) or len(shape.items) != len(sizes):
            raise Meaningless("a table has another shape")
        if not all(map(same, shape.items, sizes)):  # type: ignore[arg-type]
            raise Meaningless("a table has another shape")

    def _sizes(self) -> tuple[Term, ...]:
        """The shape of a table: the extents, but for the axis that is cut."""
        here = less(PAST, FIRST)
        return (*self.extents[: self.across], here, *self.extents[self.across + 1 :])

    def _made(self, term: Term) -> Table:
        return Table(term)

    def _function(self, name: str, values: list[object]) -> object:
        match name, values:
            case "_pieces", _:
                return self._pieces(values)
            case "_kind", _:
                return self._kind(values)
            case "_entries", [int() | str() | tuple() as term, shape] if not isinstance(term, bool):
                # It refuses what leaves 64 bits, and so do those who look for such offsets first.
                self._whole_piece(shape)
                return self._made(term)
        return super()._function(name, values)

    def _pieces(self, values: list[object]) -> Pieces:
        """How an axis is cut has to be as it always is."""
        body = self._body("_pieces", values)
        cut = tuple(map(ast.unparse, body[1:]))
        known = [tuple(e.format(f"shape[{n}]") for e in _CUT) for n in range(len(self.extents))]
        if cut not in known:
            raise Meaningless("an axis is cut in another way")
        match body[0]:
            case ast.Assign(targets=[ast.Name(id="rows")], value=value):
                multiple = 1
                match value:
                    case ast.BinOp(left=times, op=ast.Mult(), right=ast.Constant(int() as number)):
                        value, multiple = times, number
                match _at_least_one(value):
                    case ast.BinOp(left=ast.Constant(value=int()), op=ast.FloorDiv(), right=each):
                        self._term(_at_least_one(each), {"shape": values[0]})
                        if multiple > 0:
                            return Pieces(known.index(cut), multiple)
        raise Meaningless("a piece may have no rows")

    def _kind(self, values: list[object]) -> Kind:
        """The numbers of extents that are asked for their bits."""
        *before, most, last = self._body("_kind", values)
        names: Names = {"shape": values[0]}
        self._run(before, names)
        match most:
            case ast.Assign(
                targets=[ast.Name(id="most")],
                value=ast.Call(func=ast.Name(id="max"), args=[_, *asked], keywords=[]),
            ) if ast.unparse(last) == _KIND:
                return Kind(tuple(self._term(each, names) for each in asked))
        raise Meaningless("integers are chosen in another way")

    def _body(self, name: str, values: list[object]) -> list[ast.stmt]:
        """The statements of a function of the shape, without its words."""
        function = self.functions.get(name)
        if function is None or values != [Tuple(self.extents)]:
            raise Meaningless(f"`{name}` is asked for something else than the shape")
        if ast.unparse(function.args) != "shape: tuple[int, ...]" or function.decorator_list:
            raise Meaningless(f"`{name}` takes other arguments")
        if len(function.body) < 3:
            raise Meaningless(f"`{name}` does too little")
        return function.body[1:]

    def _support(self, name: str, values: list[object]) -> object:
        match name, values:
            case "_refuse_outside", [Table() as table, buffer] if self.in_piece:
                if isinstance(buffer, int | str | tuple) and not isinstance(buffer, bool):
                    self.refused.append((table, buffer))
                    if self.meaning.stores or self.moves:
                        raise Meaningless("offsets are refused after something was written")
                    return None
            case "_within", [Piece() | Picked() as what, int() as low, int() as high] if (
                self.in_piece and not (self.meaning.stores or self.moves)
            ):
                self.looked_at.append(Within(what, (), low, high))
                return None
        if self.moves:
            raise Meaningless(f"`{name}` may refuse after something was written")
        return super()._support(name, values)


def _masked(value: object, held: object) -> Table | Piece:
    """``value[held]``: the entries of a piece where a mask is true."""
    if isinstance(value, Table | Piece) and isinstance(held, Mask) and value.held is None:
        return replace(value, held=held)
    raise Meaningless("a mask is used twice, or on something else than a piece")


def _at_least_one(node: ast.expr) -> ast.expr:
    """``max(1, value)``: returns the value."""
    match node:
        case ast.Call(func=ast.Name(id="max"), args=[ast.Constant(value=1), value], keywords=[]):
            return value
    raise Meaningless("a piece may have no rows")
