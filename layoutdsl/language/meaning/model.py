"""What a layout *is*: logical axes and the coordinates they are laid out by, most major first.

This module is the meaning of the language. `Layout.offset` defines it in plain integers; formulas,
proofs and generated code are all held against it. It imports nothing of ours but `expr`,
`bounds`, `conditions`, `search`, and what elements are and stand for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

from layoutdsl.language.integers import grids
from layoutdsl.language.integers.bounds import declared, simplify
from layoutdsl.language.integers.conditions import (
    COMPARISONS,
    Box,
    Condition,
    Operator,
    all_hold,
    pieces,
    volume,
)
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Coordinate,
    Expr,
    Extent,
    Index,
    MixedRadix,
    coordinate_text,
    indices,
    substitute,
    substitute_coordinate,
    text,
    walk,
)
from layoutdsl.language.integers.search import Search
from layoutdsl.language.integers.value import Interval, evaluate, horner
from layoutdsl.language.integers.written_out import folded, settled
from layoutdsl.language.meaning import strided
from layoutdsl.language.meaning.arguments import INTEGER, Kind, expect, integer, integers
from layoutdsl.language.meaning.elements import (
    ElementType,
    Fill,
    FillAny,
    FillValue,
    FillZeroPoint,
    fill_text,
)
from layoutdsl.language.meaning.interface import ScaleOffset, interface_text
from layoutdsl.language.meaning.parameters import Parametrised
from layoutdsl.language.texts.values import A_FIELD, MOST, Displayed, said, shortened

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

__all__ = [
    "ZERO",
    "Applied",
    "Axis",
    "Condition",
    "Indices",
    "Layout",
    "Operator",
    "Origin",
    "Shape",
]

ZERO = Constant(0)
Shape: TypeAlias = Mapping[str, int] | Sequence[int]
Indices: TypeAlias = Mapping[str, int] | Sequence[int]
Names: TypeAlias = Sequence[str]


@dataclass(frozen=True, slots=True)
class Axis:
    """A named logical direction of a tensor; its index runs over ``0 <= index < extent``."""

    name: str
    extent: Extent | Constant

    def __str__(self) -> str:
        if isinstance(self.extent, Extent) and self.extent.name == self.name.upper():
            return self.name
        return f"{self.name}: {text(self.extent)}"


@dataclass(frozen=True, slots=True)
class Origin:
    """The text of another notation that a layout was read from, as that notation spells it."""

    notation: str
    text: str


@dataclass(frozen=True, slots=True)
class Applied:
    """The index at which a layout uses another one, as in ``NCHW16c[n, c, h1*8 + h0, w]``.

    Attributes:
        layout: the name of the layout that is used.
        index: the index along each of its axes, with the extent that it has to stay below. Indices
            that stay below it by definition, such as ``n`` below ``N``, are left out.
    """

    layout: str
    index: tuple[Coordinate, ...]

    def substituted(self, values: Mapping[str, Expr]) -> Applied:
        """Return the same application with names replaced."""
        index = tuple(substitute_coordinate(each, values) for each in self.index)
        return replace(self, index=index)


@dataclass(frozen=True, slots=True)
class Layout(Parametrised, Displayed):
    """How a tensor lies in a buffer.

    Attributes:
        coordinates: most major first; the offset is ``start`` plus their mixed-radix value.
        chunk_rank: how many leading coordinates name the chunk (``;`` in the text); ``None``
            where the layout has no chunks.
        element: the element type, where the layout depends on it.
        start: elements before the first slot (the ``offset`` clause), an expression in extents.
        where: the shapes for which the layout is defined.
        domain: the indices that have a slot, where not all of the shape have one.
        parameters: parameters that were given no value; each shape must name them.
        bit_of: where the layout says where each bit of an element lies: of which type that is. The
            last axis is then that of the bits, the lowest first, and slots hold one bit each.
        copies: the axes along which an element is held again and again. They are of the buffer and
            not of the tensor: an element has a slot for each of their indices.
        interface: how elements are codes of real numbers; ``None`` where they stand for themselves.
            It plays no part in where they lie.
        origin: where it was read from another notation. It is no part of the meaning, and layouts
            are equal whatever it is: a text says more than where elements lie, such as a memory
            space or the order of axes of one element, and is printed back.
        applied: the index of each application ``A[...]`` in the layout. The application is correct
            only if the index stays in the shape of ``A``, which is a property to be proved. The
            text of the layout shows the coordinates that the application stands for.
        derivation: what `layoutdsl.algebra` proved of the layout when it derived it; read it with
            `layoutdsl.algebra.evidence`. It is no part of the meaning.
    """

    name: str
    axes: tuple[Axis, ...]
    coordinates: tuple[Coordinate, ...]
    chunk_rank: int | None = None
    fill: Fill = field(default=FillValue(0))
    element: ElementType | None = None
    start: Expr = ZERO
    where: tuple[Condition, ...] = ()
    domain: tuple[Condition, ...] = ()
    parameters: tuple[str, ...] = ()
    bit_of: ElementType | None = None
    copies: tuple[str, ...] = ()
    interface: ScaleOffset | None = None
    origin: Origin | None = field(default=None, compare=False, repr=False)
    applied: tuple[Applied, ...] = ()
    derivation: object = field(default=None, compare=False, repr=False, metadata={"exact": False})

    def __repr__(self) -> str:
        head, clauses = f"{self.name}{self.axes_text} =", self.clauses
        room = max(MOST - len(" ".join([head, "", *clauses])), A_FIELD)
        # Of a long layout the list of coordinates is cut: clauses are what a reader may not expect.
        return said(self, " ".join([head, shortened(self.body_text, room), *clauses]))

    def __str__(self) -> str:
        """Return the declaration in one line; `layoutdsl.parse` reads it as an equal layout.

        Applied layouts are printed as the coordinates that they stand for, without `applied`.
        """
        parameters = f"<{', '.join(self.parameters)}>" if self.parameters else ""
        head = f"layout {self.name}{parameters}{self.axes_text} ="
        return " ".join([head, self.body_text, *self.clauses])

    @property
    def axes_text(self) -> str:
        """The axes, with the extents that are not just their names in upper case."""
        axes = self.axes if self.bit_of is None else self.axes[:-1]
        words = (f"{each}{' broadcast' * (each.name in self.copies)}" for each in axes)
        return f"({', '.join(words)})"

    @property
    def body_text(self) -> str:
        """The list of coordinates, ``;`` before the place within a chunk."""
        places = list(map(coordinate_text, self.as_written.coordinates))
        if self.chunk_rank is None:
            return f"[{', '.join(places)}]"
        cut = self.chunk_rank
        return f"[{', '.join(places[:cut])}; {', '.join(places[cut:])}]"

    @property
    def clauses(self) -> tuple[str, ...]:
        """The clauses that say something else than the default."""
        found = []
        if self.fill != (FillValue(0) if self.interface is None else FillZeroPoint()):
            found.append(f"fill {fill_text(self.fill)}")
        if self.tensor_element is not None:
            found.append(f"of {self.tensor_element.name}{interface_text(self.interface)}")
        if self.start != ZERO:
            found.append(f"offset {text(self.start)}")
        if self.where or self.domain:
            found.append(f"where {', '.join(map(str, (*self.where, *self.domain)))}")
        return tuple(found)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.axes)

    @property
    def tensor_axes(self) -> tuple[Axis, ...]:
        """The axes of a tensor that is packed: all but those of copies and of an element's bits."""
        return self.element_axes if self.bit_of is None else self.element_axes[:-1]

    @property
    def element_axes(self) -> tuple[Axis, ...]:
        """The axes along which there are elements, or bits of them, and not copies of one."""
        return tuple(axis for axis in self.axes if axis.name not in self.copies)

    @property
    def every_copy(self) -> Layout:
        """The layout as of a tensor that has the copies: each of its slots holds its own element.

        What is proved of a layout is proved of this one; `copies` says which of its elements are
        one.
        """
        return replace(self, copies=())

    @property
    def first_copy(self) -> Layout:
        """The layout of the tensor alone, in the slots where its first copies lie.

        To it the slots of the other copies are padding.
        """
        if not self.copies:
            return self
        found = instantiate(self, dict.fromkeys(self.copies, ZERO))
        # `(h, q)` has become `(h, 0)`, whose last part still has the extent of `q`.
        return replace(found, coordinates=tuple(map(settled, found.coordinates))).as_written

    @property
    def tensor_element(self) -> ElementType | None:
        """The type of the elements of a tensor, where the layout depends on it."""
        return self.element if self.bit_of is None else self.bit_of

    @property
    def of_codes(self) -> Layout:
        """The layout of the codes themselves, where elements are codes of real numbers."""
        return replace(self, interface=None)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The extents and parameters that a shape gives values to, in order, each once."""
        names = [axis.extent.name for axis in self.axes if isinstance(axis.extent, Extent)]
        return tuple(dict.fromkeys((*names, *self.parameters)))

    @staticmethod
    def of(array: strided.Strided) -> Layout:
        """Return how an array lies in memory, from its first element on; its extents are fixed.

        >>> Layout.of(np.zeros((2, 3), "f4").T).offset((2, 1), (3, 2))
        5

        Raises:
            TypeError: it is no array.
            ValueError: strides are negative or no multiple of an element, or two elements share a
                slot.
        """
        strides = strided.steps_of(array)
        axes = tuple(Axis(f"d{n}", Constant(extent)) for n, extent in enumerate(array.shape))
        digits = strided.digits_at([axis.name for axis in axes], array.shape, strides)
        return Layout("array", axes, strided.coordinates(digits), fill=FillAny())

    def pack(
        self,
        src: NDArray[Any],
        out: NDArray[Any] | None = None,
        *,
        fill: float | None = None,
        scale: object = None,
        zero_point: object = None,
        unproved: bool = False,
    ) -> NDArray[Any]:
        """Return the buffer of a tensor; see `layoutdsl.pack`, which this method calls.

        >>> library("NCHW16c").pack(np.ones((2, 20, 3, 4))).shape
        (2, 2, 3, 4, 16)
        """
        moves: Callable[..., NDArray[Any]] = _public("pack")
        scales = {"scale": scale, "zero_point": zero_point}
        return moves(self, src, out, fill=fill, unproved=unproved, **scales)

    def unpack(
        self,
        src: NDArray[Any],
        shape: Sequence[int],
        out: NDArray[Any] | None = None,
        *,
        scale: object = None,
        zero_point: object = None,
        dtype: DTypeLike | None = None,
        unproved: bool = False,
    ) -> NDArray[Any]:
        """Return the tensor of a buffer; see `layoutdsl.unpack`, which this method calls.

        >>> nhwc = library("NHWC")
        >>> nhwc.unpack(nhwc.pack(np.ones((2, 20, 3, 4))), (2, 20, 3, 4)).shape
        (2, 20, 3, 4)
        """
        moves: Callable[..., NDArray[Any]] = _public("unpack")
        scales = {"scale": scale, "zero_point": zero_point}
        return moves(self, src, shape, out, dtype=dtype, unproved=unproved, **scales)

    @property
    def all_coordinates(self) -> tuple[Coordinate, ...]:
        """Every coordinate, those inside tuples included."""
        found: list[Coordinate] = []
        for top in self.coordinates:
            for each in walk(top.value):
                if isinstance(each, MixedRadix):
                    found += each.parts
            found.append(top)
        return tuple(dict.fromkeys(found))

    def substituted(self, values: Mapping[str, Expr]) -> Layout:
        """Return the layout with names replaced in all but its parameters and axes of a tensor.

        How many copies there are may be a parameter.
        """
        return replace(
            self,
            axes=tuple(self._counted(axis, values) for axis in self.axes),
            coordinates=tuple(substitute_coordinate(each, values) for each in self.coordinates),
            start=substitute(self.start, values),
            where=tuple(each.substituted(values) for each in self.where),
            domain=tuple(each.substituted(values) for each in self.domain),
            applied=tuple(each.substituted(values) for each in self.applied),
        )

    def with_parameters(self, /, **values: int) -> Layout:
        """Return it with numbers for its parameters, or for some of them.

        It is called as in a text: ``NCHWc<8>`` is `NCHWc_8`.

        >>> library("NCHWc").with_parameters(k=8).physical_shape((2, 20, 3, 4))
        (2, 3, 3, 4, 8)

        Raises:
            TypeError: a value is no integer.
            ValueError: it has no such parameter, or a value is below 1.
        """
        found = Parametrised.with_parameters(self, **values)
        return self if found is self else found.as_written

    @property
    def as_written(self) -> Layout:
        """The same layout as its declaration is read: what numbers have become part of is simple.

        Extents are simplified, and declared wherever they do not follow from the value.
        """
        axes = {axis.name: axis.extent for axis in self.axes}
        return replace(
            self,
            coordinates=tuple(declared(each, axes) for each in self.coordinates),
            start=folded(simplify(self.start)),
            where=tuple(map(_simple, self.where)),
            domain=tuple(map(_simple, self.domain)),
        )

    def _counted(self, axis: Axis, values: Mapping[str, Expr]) -> Axis:
        if axis.name in self.copies and isinstance(axis.extent, Extent):
            match values.get(axis.extent.name):
                case (Constant() | Extent()) as extent:
                    return replace(axis, extent=extent)
        return axis

    def bind(self, shape: Shape) -> dict[str, int]:
        """Return the value of every extent and parameter.

        Args:
            shape: one extent per axis in axis order, axes of copies among them or all left out,
                followed by parameters without a value; or a mapping from extents (``C``) or axes
                (``c``).

        Raises:
            TypeError: the shape is none of these, or an extent no integer.
            ValueError: names or number of extents do not fit, an extent is not positive, or the
                shape is outside the ``where`` clause.
        """
        if isinstance(shape, Mapping):
            values = self._from_mapping(shape)
        else:
            words = "an extent for each axis, in order or by name"
            values = self._in_order(integers(shape, "shape", words))
        for name, value in values.items():
            if value < 1:
                raise ValueError(f"{self._called(name)} is {value}, must be >= 1")
        for condition in self.where:
            if not condition.holds(values):
                given = " ".join(f"{name}={value}" for name, value in values.items())
                raise ValueError(
                    f"layout `{self.name}` is defined where {condition}, not at {given}"
                )
        return values

    def _in_order(self, shape: Sequence[int]) -> dict[str, int]:
        opened = len(self.parameters)
        axes = self.element_axes
        if len(shape) != len(axes) + opened:
            axes = self.axes
        if len(shape) != len(axes) + opened:
            taken = f"extents ({', '.join(text(axis.extent) for axis in self.element_axes)})"
            if self.parameters:
                taken += f" and parameters ({', '.join(self.parameters)})"
            raise ValueError(f"layout `{self.name}` has {taken}; {len(shape)} were given")
        values: dict[str, int] = {}
        for axis, extent in zip(axes, shape, strict=False):
            self._set(values, axis.extent, axis.name, extent)
        for name, number in zip(self.parameters, shape[len(axes) :], strict=True):
            self._set(values, Extent(name), name, number)
        return {name: values[name] for name in self.symbols}

    def _from_mapping(self, shape: Mapping[str, int]) -> dict[str, int]:
        values: dict[str, int] = {}
        known = {*self.symbols, *(axis.name for axis in self.axes)}
        for unknown in [name for name in shape if name not in known]:
            held = ", ".join(f"`{name}`" for name in self.symbols) or "none"
            raise ValueError(f"layout `{self.name}` has no extent `{unknown}`; it has {held}")
        for axis in self.axes:
            names = [axis.name, *([axis.extent.name] if isinstance(axis.extent, Extent) else [])]
            for name in [name for name in names if name in shape]:
                given = integer(shape[name], f"extent `{name}`")
                self._set(values, axis.extent, axis.name, given)
        for name in [name for name in self.parameters if name in shape]:
            values[name] = integer(shape[name], f"parameter `{name}`")
        for missing in [name for name in self.symbols if name not in values]:
            raise ValueError(f"{self._called(missing)} is not given")
        return values

    def _set(self, values: dict[str, int], extent: Expr, axis: str, given: int) -> None:
        match extent:
            case Constant(fixed):
                if given != fixed:
                    raise ValueError(f"axis `{axis}` of layout `{self.name}` has {fixed} elements")
            case Extent(name):
                if values.setdefault(name, given) != given:
                    both = f"{values[name]} and {given} at once"
                    raise ValueError(f"{self._called(name)} is {both}")

    def _called(self, name: str) -> str:
        kind = "parameter" if name in self.parameters else "extent"
        return f"{kind} `{name}` of layout `{self.name}`"

    def shape_of(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """Return the extents in axis order, from bound values."""
        return tuple(evaluate(axis.extent, values) for axis in self.axes)

    def element_shape(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """Return the extents of the axes that are none of copies, from bound values."""
        return tuple(evaluate(axis.extent, values) for axis in self.element_axes)

    def _indices(self, index: Indices, values: Mapping[str, int]) -> dict[str, int]:
        names = [axis.name for axis in self.axes]
        if isinstance(index, Mapping):
            if set(index) != set(names):
                raise ValueError(f"layout `{self.name}` takes an index over {', '.join(names)}")
            given = {name: integer(index[name], f"index `{name}`") for name in names}
        else:
            numbers = integers(index, "index", "an index for each axis, in order or by name")
            if len(numbers) != self.rank:
                each = ", those of copies among them" if self.copies else ""
                message = (
                    f"layout `{self.name}` takes {self.rank} indices{each}, not {len(numbers)}"
                )
                raise ValueError(message)
            given = dict(zip(names, numbers, strict=True))
        for axis, extent in zip(self.axes, self.shape_of(values), strict=True):
            if not 0 <= given[axis.name] < extent:
                wrong = f"index {axis.name}={given[axis.name]}"
                raise ValueError(f"{wrong} is outside 0..{extent - 1}")
        for condition in self.domain:
            if not condition.holds({**values, **given}):
                place = " ".join(f"{name}={value}" for name, value in given.items())
                held = f"layout `{self.name}` holds elements where {condition}"
                raise ValueError(f"index {place} has no slot: {held}")
        return given

    def holds(self, values: Mapping[str, int]) -> bool:
        """Return whether an index of the shape is in the domain, from bound extents and indices."""
        return all_hold(self.domain, values)

    def offset(self, index: Indices, shape: Shape) -> int:
        """Return where the element lies, in elements from the start of the buffer.

        Raises:
            ValueError: the shape or the index does not fit the layout.
        """
        values = self.bind(shape)
        return self.offset_at({**values, **self._indices(index, values)})

    def offsets(self, shape: Shape) -> NDArray[Any]:
        """Return the offset of every element as an array of the tensor's shape.

        Example: ``parse("layout T(h, w) = [w, h]")["T"].offsets((2, 3))`` is
        ``[[0, 2, 4], [1, 3, 5]]``.

        Args:
            shape: the extents. Axes of copies are axes of the array too.

        Returns:
            Offsets in elements from the start of the buffer, of type int64; -1 where the domain has
            no element. Python integers if an offset exceeds 64 bits.

        Raises:
            ValueError: the shape does not fit the layout.
        """
        import numpy as np

        values = self.bind(shape)
        extents, known = self.shape_of(values), {name: grids.plain(n) for name, n in values.items()}
        for place, (axis, extent) in enumerate(zip(self.axes, extents, strict=True)):
            known[axis.name] = grids.indices(extent, place, self.rank)
        found = grids.over(Add(self.start, MixedRadix(self.coordinates)), known).number
        for each in self.domain:
            sides = (grids.over(side, known).number for side in (each.left, each.right))
            found = np.where(COMPARISONS[each.operator](*sides), found, -1)
        offsets = np.broadcast_to(np.asarray(found), extents)
        # Where a bound exceeds 64 bits, integers are Python's, although each offset may fit.
        fits = all(-1 <= each < 2**63 for each in (offsets.min(), offsets.max()))
        return offsets.astype(np.int64 if fits else object)

    def slots(self, index: Indices, shape: Shape) -> tuple[int, ...]:
        """Return every slot that holds the element, in the order of the axes of copies.

        Args:
            index: of an element of the tensor: one number for each of `element_axes`.
            shape: the extents.

        Raises:
            ValueError: the shape or the index does not fit the layout.
        """
        values = self.bind(shape)
        one = self.first_copy._indices(index, values)
        counts = {a.name: evaluate(a.extent, values) for a in self.axes if a.name in self.copies}
        every = product(*map(range, counts.values()))
        return tuple(
            self.offset_at({**values, **one, **dict(zip(counts, copy, strict=True))})
            for copy in every
        )

    def offset_at(self, values: Mapping[str, int]) -> int:
        """Return the offset from bound extents and indices, without any check."""
        return evaluate(self.start, values) + horner(self.coordinates, values)

    def place(self, index: Indices, shape: Shape) -> tuple[int, ...]:
        """Return the physical position: one number per coordinate, most major first."""
        values = self.bind(shape)
        values |= self._indices(index, values)
        return tuple(evaluate(each.value, values) for each in self.coordinates)

    def chunk(self, index: Indices, shape: Shape) -> tuple[int, int]:
        """Return the number of the chunk that holds the element, and the place within it.

        A layout without ``;`` is one chunk. The number is the mixed-radix value of the coordinates
        before ``;``; a runtime with a table of chunks looks it up there.
        """
        values = self.bind(shape)
        values |= self._indices(index, values)
        cut = self.chunk_rank or 0
        return horner(self.coordinates[:cut], values), horner(self.coordinates[cut:], values)

    def box(self, shape: Shape) -> tuple[int, ...]:
        """Return the extents of the coordinates, in elements, padding included."""
        values = self.bind(shape)
        return tuple(evaluate(each.extent, values) for each in self.coordinates)

    def physical_shape(self, shape: Shape) -> tuple[int, ...]:
        """Return the shape of the packed array: one dimension per coordinate.

        A layout with an ``offset`` clause has a flat buffer, ``(size,)``, at every shape, also
        where the offset comes to 0. An offset that is the number 0 is as no clause.
        """
        return (self.size(shape),) if self.is_flat else self.box(shape)

    @property
    def is_flat(self) -> bool:
        """Whether the packed array has one dimension because the layout has an ``offset`` clause.

        The rank of the packed array must not depend on the shape, so this looks at the text of the
        offset, not at its value: ``offset C%4`` is flat where 4 divides C too.
        """
        return self.start != ZERO

    def size(self, shape: Shape) -> int:
        """Return the elements of the buffer: those before the first slot, and every slot."""
        values = self.bind(shape)
        return evaluate(self.start, values) + prod(self.box(shape))

    def decode(self, slot: int, shape: Shape) -> tuple[int, ...] | None:
        """Return the index of the element that the slot holds, or ``None`` for padding.

        Where a wrong layout puts several elements into one slot, the first of them is returned.

        Raises:
            ValueError: the shape does not fit, or the slot is outside the buffer.
        """
        return next(self.holders(slot, shape), None)

    def is_padding(self, slot: int, shape: Shape) -> bool:
        """Return whether the slot holds no element; slots before the first are not padding."""
        expect(slot=(slot, INTEGER))
        start = evaluate(self.start, self.bind(shape))
        return slot >= start and self.decode(slot, shape) is None

    def holders(self, slot: int, shape: Shape) -> Iterator[tuple[int, ...]]:
        """Yield, in order, the index of each element whose offset is ``slot``.

        It is searched for in the domain; `search` says how.
        """
        expect(slot=(slot, INTEGER))
        values = self.bind(shape)
        if not 0 <= slot < self.size(shape):
            raise ValueError(f"slot {slot} is outside the buffer of {self.size(shape)} elements")
        fixed, names, box = self._everywhere(values)
        search = Search(names, self.coordinates, self.start, self.domain)
        return search.indices(slot, fixed, box)

    def elements(self, shape: Shape) -> int:
        """Return how many elements the layout holds: the indices of its domain, without copies."""
        values = self.bind(shape)
        return sum(map(volume, self._pieces(values))) // self.copies_of_each(values)

    def copies_of_each(self, values: Mapping[str, int]) -> int:
        """Return in how many slots each element lies, from bound values."""
        return prod(self.shape_of(values)) // prod(self.element_shape(values))

    def first(self, shape: Shape) -> tuple[int, ...] | None:
        """Return the first index that has a slot, or ``None`` where the shape has none."""
        found = next(self._pieces(self.bind(shape)), None)
        return None if found is None else tuple(low for low, _ in found)

    def _pieces(self, values: Mapping[str, int]) -> Iterator[Box]:
        return pieces(self.domain, *self._everywhere(values))

    def _everywhere(self, values: Mapping[str, int]) -> tuple[dict[str, Interval], Names, Box]:
        """What a search starts from: values, the names of the axes, and the box of all indices."""
        fixed = {name: (value, value) for name, value in values.items()}
        names = [axis.name for axis in self.axes]
        return fixed, names, tuple((0, extent - 1) for extent in self.shape_of(values))


def instantiate(layout: Layout, values: Mapping[str, Expr]) -> Layout:
    """Return a layout with names replaced everywhere, those of axes and parameters too.

    With ``{"h": Index("y"), "H": Extent("Y"), "c": Constant(3)}`` the axis `h` is called `y`, and
    the axis `c` is gone: its index is 3. Nothing checks that the index is in the shape.
    """
    called = {axis.name: substitute(Index(axis.name), values) for axis in layout.axes}
    axes = list[Axis]()
    for axis in layout.axes:
        name, extent = called[axis.name], substitute(axis.extent, values)
        assert isinstance(extent, Extent | Constant)
        if isinstance(name, Index):
            axes.append(Axis(name.name, extent))
    opened = (substitute(Extent(name), values) for name in layout.parameters)
    copies = (called[name] for name in layout.copies)
    interface = layout.interface
    if interface is not None and isinstance(per := called.get(interface.per or ""), Index):
        interface = ScaleOffset(per.name)
    return replace(
        layout.substituted(values),
        axes=tuple(axes),
        parameters=tuple(dict.fromkeys(each.name for each in opened if isinstance(each, Extent))),
        copies=tuple(each.name for each in copies if isinstance(each, Index)),
        interface=interface,
    )


def on_axes(layout: Layout, axes: Sequence[Axis]) -> Layout:
    """Return a layout over other axes, in the same order; each is as long as the one it replaces.

    With ``(y, x: 4)`` in place of ``(h, w)``, `H` becomes `Y`, and `W` becomes 4.
    """
    values: dict[str, Expr] = {}
    for axis, new in zip(layout.axes, axes, strict=True):
        values[axis.name] = Index(new.name)
        if isinstance(axis.extent, Extent):
            values[axis.extent.name] = new.extent
    return replace(layout.substituted(values), axes=tuple(axes))


def _simple(condition: Condition) -> Condition:
    """Return a condition with its sides simplified where they have no index, as they are read."""
    sides = (condition.left, condition.right)
    left, right = (side if indices(side) else simplify(side) for side in sides)
    return Condition(left, condition.operator, right)


def _public(name: str) -> Any:
    # Packing needs proofs and code generation, which are packages above this one. So this module
    # does not import them: `layoutdsl` itself, which Python loads before any module inside it, has
    # the function by name, and fetches it when it is first asked for. A hook that the API registers
    # would be missing in a process that only unpickled a layout, as workers of dask or Ray do.
    return getattr(sys.modules[__name__.partition(".")[0]], name)


def _instead(value: object) -> str:
    if isinstance(value, Layout):
        return "that one has no coordinates, as the frame of a record: take the record"
    return "it holds layouts by name, take one of them" if isinstance(value, Mapping) else ""


LAYOUT = Kind(
    "a layout", lambda value: isinstance(value, Layout) and value.coordinates != (), _instead
)
"""The argument that is a layout."""
