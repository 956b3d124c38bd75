"""MLIR: the attributes of `linalg.pack`, affine maps, and strided memrefs.

`linalg.pack`, its attributes or the whole line, cuts dimensions into tiles: the outer dimensions
come in the order of ``outer_dims_perm``, then the tiles of ``inner_dims_pos``. Without a padding
value it is undefined where a tile does not divide its dimension, so the layout is defined only
where all do. A line says the shapes as well, and names its padding without a number; that of the
way back, `linalg.unpack`, leaves out what lies beyond the tensor. An affine map gives the position
of an index, its symbols become parameters. Of padding neither the map nor the strides of a memref
say anything.

Source: MLIR documentation, "linalg.pack", "Affine maps", "MemRefType", "Strided memref layout".
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from lark import Token, Tree

from layoutdsl.language.integers.bounds import reach, simplify
from layoutdsl.language.integers.expr import Constant, Coordinate, Expr, Extent, Index, Mod, text
from layoutdsl.language.meaning import strided
from layoutdsl.language.meaning.elements import ELEMENT_TYPES, ElementType, FillAny, FillValue
from layoutdsl.language.meaning.model import Axis, Condition, Layout
from layoutdsl.language.syntax.reading import tree
from layoutdsl.language.texts.faults import fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation import mlir_text
from layoutdsl.notation.arithmetic import MOST_DIGITS, Arithmetic
from layoutdsl.notation.blocks import Piece, axes_called, axes_or, coordinates, with_extents
from layoutdsl.notation.notation import Notes, Reading

ABOUT = "MLIR: linalg.pack, its attributes or a line, affine maps, strided memrefs"
EXAMPLE = "outer_dims_perm=[1,0] inner_dims_pos=[0,1] inner_tiles=[8,32]"

MOST_RANK = 32
_SPELLING = {
    "INT": "a number",
    "NAME": "a name",
    "TYPE": "an element type",
    "SHAPE": "a shape",
    "UNKNOWN": "`?`",
    "SIGN": "`+` or `-`",
    "FACTOR": "`*`, `floordiv`, `ceildiv` or `mod`",
    "FRACTION": "a fraction",
    "VALUE": "a value, as `%0`",
    "OPERATION": "`linalg.pack` or `linalg.unpack`",
    "ALIAS": "a name, as `#map`",
}

Branch = Tree[Token]


def read(whole: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of attributes, of a map or of a memref; see `Notation.read` for errors."""
    (branch,) = cast("list[Branch]", tree("mlir", whole, "L401", _SPELLING).children)
    reader = _Reader(whole, axes)
    match branch.data:
        case "pack":
            return Reading(reader.pack(branch))
        case "line":
            return Reading(reader.line(branch), {"form": "line"})
        case "map":
            return Reading(reader.map(branch), {"form": "map"})
        case "strides":
            return Reading(reader.strided(branch, None, None), {"form": "strides"})
        case _:
            return Reading(reader.memref(branch), {"form": "memref"})


def write(layout: Layout, notes: Notes) -> str:
    """Return attributes of `linalg.pack` where there are such, else a map, else strides."""
    return mlir_text.write(layout, notes)


class _Reader:
    """Reads one text."""

    def __init__(self, whole: Span, axes: tuple[Axis, ...] | None) -> None:
        self._whole = whole
        self._axes = axes

    def _span(self, node: Branch | Token) -> Span:
        return Arithmetic(self._whole, {}).span(node)

    def _number(self, token: Token) -> int:
        if len(token) > MOST_DIGITS:
            message = f"this number has more than {MOST_DIGITS} digits"
            raise fault("L103", message, self._span(token))
        return int(token)

    def _named(self, rank: int, what: str) -> tuple[Axis, ...]:
        if rank > MOST_RANK:
            raise fault("L103", f"{what} has {MOST_RANK} dimensions at most", self._whole)
        return axes_or(self._axes, [f"d{n}" for n in range(rank)], self._whole, what)

    def line(self, branch: Branch) -> Layout:
        """Return the layout of a line: its attributes, at the shape that its types say."""
        tokens = [each for each in branch.children if isinstance(each, Token)]
        back = any("unpack" in each for each in tokens if each.type == "OPERATION")
        *_, source, target = types = list(branch.find_data("tensor"))
        if back:
            source, target = target, source
        extents, box = self._shape(source), self._shape(target)
        kinds = [str(each.children[-1]) for each in types]
        if kinds[0] != kinds[1]:
            words = f"the types of the elements differ, {kinds[0]} and {kinds[1]}"
            raise fault("L405", words, self._span(types[1]))
        self._axes = self._extents(self._named(len(extents), "the tensor"), extents)
        layout = replace(self.pack(branch, ragged=back), element=_element(kinds[0]))
        found = [simplify(each.extent) for each in layout.coordinates] if box or extents else []
        if len(found) != len(box):
            words = f"the packed tensor has {len(found)} dimensions, and not {len(box)}"
            raise fault("L405", words, self._span(target))
        for number, (own, said) in enumerate(zip(found, box, strict=True)):
            if isinstance(own, Constant) and said is not None and own.value != said:
                words = f"dimension {number} of the packed tensor has {own.value}, and not {said}"
                raise fault("L405", words, self._span(target))
        return layout

    def _shape(self, branch: Branch) -> list[int | None]:
        words = str(branch.children[0] or "").split("x")[:-1]
        extents = [None if word == "?" else self._extent(word, branch) for word in words]
        if 0 in extents:
            raise fault("L405", "an extent is at least 1", self._span(branch))
        return extents

    def pack(self, branch: Branch, *, ragged: bool = False) -> Layout:
        """Return the layout of the attributes of `linalg.pack`.

        Args:
            branch: whose trees they are; others among them are types.
            ragged: whether tiles need not divide their dimensions, whatever fills the rest.
        """
        found: dict[str, Branch] = {}
        for each in branch.children:
            if not isinstance(each, Tree) or each.data == "tensor":
                continue
            if each.data in found:
                raise fault("L404", "an attribute is given twice", self._span(each))
            found[str(each.data)] = each
        order = self._list(found.get("outer"))
        inner, tiles = self._list(found.get("inner")), self._list(found.get("tiles"))
        if len(inner) != len(tiles):
            message = f"{len(inner)} positions have {len(tiles)} tiles"
            raise fault("L405", message, self._span(found.get("tiles") or branch))
        rank = len(order) or (len(self._axes) if self._axes is not None else 0)
        rank = rank or max((number for number, _ in inner), default=-1) + 1
        axes = self._named(rank, "the pack")
        outer = self._positions(order, rank) or list(range(rank))
        if len(outer) < rank:
            raise fault("L404", "a dimension is missing", self._span(found["outer"]))
        places = self._positions(inner, rank)
        for size, span in tiles:
            if size < 1:
                raise fault("L405", "a tile has 1 element or more", span)
        pieces = [Piece(axis, None) for axis in outer]
        pieces += [Piece(axis, n) for axis, (n, _) in zip(places, tiles, strict=True)]
        cut = coordinates(axes, pieces) or (Coordinate(Constant(0), Constant(1)),)
        unknown = (
            "padding" in found and cast("Branch", found["padding"].children[0]).data == "unknown"
        )
        if unknown or ragged:
            return Layout("pack", axes, cut, fill=FillAny())
        if "padding" in found:
            return Layout("pack", axes, cut, fill=FillValue(self._padding(found["padding"])))
        where = self._divisible(axes, list(zip(places, tiles, strict=True)))
        return Layout("pack", axes, cut, fill=FillAny(), where=where)

    def _divisible(
        self, axes: tuple[Axis, ...], tiles: list[tuple[int, tuple[int, Span]]]
    ) -> tuple[Condition, ...]:
        where: list[Condition] = []
        for number, (size, span) in tiles:
            match axes[number].extent:
                case Constant(extent) if extent % size:
                    message = (
                        f"a tile of {size} does not divide {extent}, and nothing fills the rest"
                    )
                    raise fault("L407", message, span, help="add `padding_value(0)`")
                case Extent() as extent if size > 1:
                    where.append(Condition(Mod(extent, Constant(size)), "==", Constant(0)))
        return tuple(where)

    def _list(self, branch: Branch | None) -> list[tuple[int, Span]]:
        if branch is None:
            return []
        tokens = branch.scan_values(lambda each: isinstance(each, Token))
        return [(self._number(token), self._span(token)) for token in tokens]

    def _positions(self, numbers: list[tuple[int, Span]], rank: int) -> list[int]:
        seen: list[int] = []
        for number, span in numbers:
            if number >= rank:
                hint = f"the dimensions are 0 to {rank - 1}"
                raise fault("L404", f"there is no dimension {number}", span, help=hint)
            if number in seen:
                raise fault("L404", f"dimension {number} is there twice", span)
            seen.append(number)
        return seen

    def _padding(self, branch: Branch) -> int:
        sign, digits, fraction, *_ = cast("Branch", branch.children[0]).children
        if fraction is not None and str(fraction).strip(".0"):
            message = "padding holds a whole number here"
            raise fault("L405", message, self._span(branch))
        value = self._number(cast("Token", digits))
        return -value if sign == "-" else value

    def map(self, branch: Branch) -> Layout:
        """Return the layout of an affine map."""
        _, dims, symbols, values = cast("list[Branch | None]", branch.children)
        names = self._distinct(dims)
        opened = self._distinct(symbols)
        for token in opened:
            if token in names:
                raise fault("L404", f"`{token}` is declared twice", self._span(token))
        if self._axes is None:
            self._refuse_odd([*names, *opened])
        axes = axes_called(self._axes, [str(each) for each in names], self._whole, "the map")
        known: dict[str, Expr] = {
            str(token): Index(axis.name) for token, axis in zip(names, axes, strict=True)
        }
        known |= {str(token): Extent(str(token)) for token in opened}
        arithmetic = Arithmetic(self._whole, known)
        trees = [] if values is None else [e for e in values.children if isinstance(e, Tree)]
        places = tuple(self._place(arithmetic, axes, each) for each in trees)
        places = places or (Coordinate(Constant(0), Constant(1)),)
        parameters = tuple(str(token) for token in opened)
        return Layout("map", axes, places, fill=FillAny(), parameters=parameters)

    def _distinct(self, branch: Branch | None) -> list[Token]:
        tokens = [] if branch is None else [t for t in branch.children if isinstance(t, Token)]
        for number, token in enumerate(tokens):
            if token in tokens[:number]:
                raise fault("L404", f"`{token}` is declared twice", self._span(token))
        return tokens

    def _refuse_odd(self, tokens: list[Token]) -> None:
        for token in tokens:
            if not (token.isidentifier() and token.islower() and token[0] != "_"):
                message = f"`{token}` is no name of an axis, which is in lower case"
                raise fault("L404", message, self._span(token))

    def _place(self, arithmetic: Arithmetic, axes: tuple[Axis, ...], branch: Branch) -> Coordinate:
        value = arithmetic.value(branch)
        bound = reach(value, {axis.name: axis.extent for axis in axes})
        if bound is None:
            message = f"no extent follows from `{text(value)}`"
            raise fault("L405", message, arithmetic.span(branch))
        return Coordinate(value, bound.high)

    def memref(self, branch: Branch) -> Layout:
        """Return the layout of a memref, row-major where it names no strides."""
        shape, kind, strides = branch.children
        words = str(shape or "").split("x")[:-1]
        extents = [None if word == "?" else self._extent(word, branch) for word in words]
        if 0 in extents:
            raise fault("L405", "an extent is at least 1", self._span(cast("Token", shape)))
        element = _element(str(kind))
        if strides is not None:
            return self.strided(cast("Branch", strides), extents, element)
        axes = self._extents(self._named(len(extents), "the memref"), extents)
        places = tuple(Coordinate(Index(axis.name), axis.extent) for axis in axes)
        places = places or (Coordinate(Constant(0), Constant(1)),)
        return Layout("memref", axes, places, fill=FillAny(), element=element)

    def _extent(self, word: str, branch: Branch) -> int:
        if len(word) > MOST_DIGITS:
            message = f"this number has more than {MOST_DIGITS} digits"
            raise fault("L103", message, self._span(branch))
        return int(word)

    def _extents(self, axes: tuple[Axis, ...], extents: list[int | None]) -> tuple[Axis, ...]:
        known = [
            axis.extent if extent is None else Constant(extent)
            for axis, extent in zip(axes, extents, strict=True)
        ]
        return with_extents(axes, known, self._whole)

    def strided(
        self, branch: Branch, extents: list[int | None] | None, element: ElementType | None
    ) -> Layout:
        """Return the layout of strides, in elements."""
        trees = [each for each in branch.children if isinstance(each, Tree)]
        count = len(trees) - (branch.children[-1] is not None)
        numbers = [self._stride(each) for each in trees]
        strides, start = numbers[:count], (numbers[count:] or [0])[0]
        if extents is not None and len(extents) != count:
            raise fault("L405", f"{len(extents)} extents have {count} strides", self._span(branch))
        axes = self._named(count, "the memref")
        if extents is not None:
            axes = self._extents(axes, extents)
        try:
            places, where = _strided(axes, strides)
        except ValueError as reason:
            raise fault("L406", str(reason), self._span(branch)) from None
        layout = Layout("memref", axes, places, fill=FillAny(), element=element, where=where)
        return replace(layout, start=Constant(start))

    def _stride(self, branch: Branch) -> int:
        *_, sign, number = [None, *branch.children]
        if number is None or str(number) == "?":
            raise fault("L407", "`?` leaves the layout open", self._span(branch))
        value = self._number(cast("Token", number))
        if sign == "-" and value:
            raise fault("L405", f"the stride -{value} is negative", self._span(branch))
        return value


def _element(name: str) -> ElementType | None:
    ours = {"si": "i", "ui": "u"}.get(name[:2])
    return ELEMENT_TYPES.get(f"{ours}{name[2:]}" if ours else name)


def _strided(
    axes: tuple[Axis, ...], strides: list[int]
) -> tuple[tuple[Coordinate, ...], tuple[Condition, ...]]:
    """Return coordinates, and how large open extents may be so that the strides keep them apart."""
    if all(isinstance(axis.extent, Constant) for axis in axes):
        extents = [cast("Constant", axis.extent).value for axis in axes]
        digits = strided.digits_at([axis.name for axis in axes], extents, strides)
        return strided.coordinates(digits), ()
    ordered = sorted(zip(strides, axes, strict=True), key=lambda pair: pair[0])
    where: list[Condition] = []
    for number, (stride, axis) in enumerate(ordered):
        above = ordered[number + 1][0] if number + 1 < len(ordered) else stride
        if stride < 1 or above % stride:
            raise ValueError("strides of open extents have to be multiples of one another")
        if number + 1 < len(ordered):
            radix = Constant(above // stride)
            if isinstance(axis.extent, Constant) and axis.extent.value > radix.value:
                raise ValueError(f"elements along `{axis.name}` share a slot")
            if isinstance(axis.extent, Extent):
                where.append(Condition(axis.extent, "<=", radix))
    nested = strided.nested([(Index(a.name), a.extent, Constant(step)) for step, a in ordered])
    return nested, tuple(where)
