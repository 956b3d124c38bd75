"""Triton's layouts: which element each register of each lane of each warp holds.

A text says it the other way round than a layout of ours, from the slot to the element: bit by bit,
a basis is where a step of that bit leads, and bases are added without carry. A basis of 0 leads
nowhere, so both slots hold one element: it has copies, along an axis that is called after the
level. So has one that others add up to.

`#ttg.linear` says the bases, `triton_shared` has the layouts of shared memory. `#ttg.blocked` and
`#ttg.slice` say how they follow from the shape of a tensor: what a tensor is too small for becomes
0, what is left of it is held by more registers, and registers of one thread hold no copies.

Source: Triton, `TritonGPUAttrDefs.td` and `LinearLayoutConversions.cpp`; "Linear Layouts: Robust
Code Generation of Efficient Tensor Computation Using F2".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from layoutdsl.language.integers.expr import Constant, Extent
from layoutdsl.language.meaning.elements import FillAny
from layoutdsl.language.meaning.model import Axis, Layout, Origin
from layoutdsl.language.texts.faults import fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation import triton_shared, triton_text
from layoutdsl.notation.blocks import axes_or, with_extents
from layoutdsl.notation.notation import Notes, Reading
from layoutdsl.notation.triton_bits import Bases, Level, Nowhere, coordinates
from layoutdsl.notation.triton_cluster import parts
from layoutdsl.notation.triton_said import Attribute, said

ABOUT = "Triton's linear, blocked, slice and shared layouts"
EXAMPLE = "#ttg.linear<{register = [[0, 1]], lane = [[1, 0], [0, 0]], warp = [], block = []}>"

LEVELS = ("register", "lane", "warp", "block")
"""From the fastest to the slowest."""

KINDS = (
    *("linear", "blocked", "slice"),
    *("shared_linear", "swizzled_shared", "nvmma_shared", "padded_shared"),
)

MOST_BITS = 30
MOST_RANK = 8


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of an attribute; see `Notation.read` for errors."""
    return Reading(_Reader(text).layout(said(text), axes))


def write(layout: Layout, notes: Notes) -> str:  # noqa: ARG001  nothing is said beyond
    """Return the bases of a layout."""
    return triton_text.write(layout)


class _Reader:
    """Reads one text."""

    def __init__(self, text: Span) -> None:
        self._text = text

    def layout(self, attribute: Attribute, given: tuple[Axis, ...] | None) -> Layout:
        shape = None if given is None else [_number(axis) for axis in given]
        if attribute.kind == "padded_shared":
            bases, own = triton_shared.plain(attribute)
            attribute = replace(attribute, fields={**attribute.fields, "offset": bases})
            shape = [*own]
        levels = self._levels(attribute, shape)
        self._refuse_large(levels)
        vectors = [each for level in levels for each in level.bases]
        rank = len(vectors[0]) if vectors else len(shape or ())
        names = [f"dim{number}" for number in range(rank)]
        axes = axes_or(given, names, self._text, "the text")
        if attribute.kind in ("linear", "shared_linear"):
            extents = [self._extent(vectors, number) for number in range(rank)]
        else:
            extents = [Constant(each or 1) for each in shape or ()]
        axes = with_extents(axes, extents, self._text)
        try:
            found = coordinates(axes, levels)
        except Nowhere as reason:
            raise fault("L409", str(reason), self._text) from None
        copied = [axis for axis in found.copies if axis.name in {each.name for each in axes}]
        if copied:
            message = f"`{copied[0].name}` is an axis, and copies are counted by that name"
            raise fault("L404", message, self._text, help="give the axis another name")
        places = found.places
        if attribute.kind == "padded_shared":
            if found.copies:
                raise fault("L409", "room is of elements that lie in one slot each", self._text)
            places = triton_shared.with_room(attribute, places[0])
        return Layout(
            "triton",
            (*axes, *found.copies),
            places,
            fill=FillAny(),
            copies=tuple(axis.name for axis in found.copies),
            origin=Origin("triton", attribute.text),
        )

    def _extent(self, vectors: Sequence[Sequence[int]], number: int) -> Constant:
        return Constant(1 << max((each[number] for each in vectors), default=0).bit_length())

    def _refuse_large(self, levels: Sequence[Level]) -> None:
        vectors = [each for level in levels for each in level.bases]
        if len({len(each) for each in vectors}) > 1:
            raise fault("L405", "bases have different ranks", self._text)
        bits = sum(number.bit_length() for each in vectors for number in [max(each, default=0)])
        if len(vectors) > MOST_BITS or bits > MOST_BITS * MOST_BITS:
            raise fault("L103", f"a text has at most {MOST_BITS} bases", self._text)
        if any(number.bit_length() > MOST_BITS for each in vectors for number in each):
            raise fault("L103", "a basis is too large", self._text)

    def _levels(self, attribute: Attribute, shape: Sequence[int | None] | None) -> list[Level]:
        """The levels, the fastest first, up to the last that has bases."""
        match attribute.kind:
            case "linear":
                levels = [Level(name, self._bases(attribute, name)) for name in LEVELS]
            case "shared_linear":
                levels = [
                    Level(n, attribute.vectors(n))
                    for n in ("offset", "block")
                    if n in attribute.fields
                ]
            case "padded_shared":
                levels = [Level("offset", attribute.vectors("offset"))]
            case "swizzled_shared":
                own, blocks = parts(attribute, self._known(attribute, shape))
                offset = Level("offset", triton_shared.swizzled(attribute, own))
                levels = [offset, Level("block", blocks)]
            case "nvmma_shared":
                own, blocks = parts(attribute, self._known(attribute, shape))
                offset = Level("offset", triton_shared.tiled(attribute, own))
                levels = [offset, Level("block", blocks)]
            case "blocked" | "slice":
                levels = self._of_shape(attribute, self._known(attribute, shape))
            case other:
                message = f"`{other}` is none of {', '.join(KINDS)}"
                hint = "Triton prints the bases of each: `#ttg.linear<{register = ...}>`"
                raise fault("L407", message, attribute.span, help=hint)
        while levels and not levels[-1].bases:
            del levels[-1]
        if not levels and shape is None:
            raise fault("L407", "a text without bases has no shape", self._text)
        return levels

    def _bases(self, attribute: Attribute, name: str) -> Bases:
        """The bases of a level, which may be left out; all of them may not."""
        if name in attribute.fields or not {*LEVELS} & {*attribute.fields}:
            return attribute.vectors(name)
        return ()

    def _known(self, attribute: Attribute, shape: Sequence[int | None] | None) -> list[int]:
        """The extents, which such a layout follows from."""
        if shape is None or None in shape:
            message = f"a {attribute.kind} layout follows from the shape of the tensor"
            hint = "declare axes whose extents are numbers: `(m: 128, n: 64)`"
            raise fault("L407", message, attribute.span, help=hint)
        found = [each for each in shape if each is not None]
        if any(each & (each - 1) or each.bit_length() > MOST_BITS for each in found):
            raise fault("L405", "extents in Triton are powers of two", attribute.span)
        return found

    def _of_shape(self, attribute: Attribute, shape: list[int]) -> list[Level]:
        if len(shape) > MOST_RANK:
            raise fault("L103", f"a tensor has at most {MOST_RANK} axes", attribute.span)
        if attribute.kind == "slice":
            return self._slice(attribute, shape)
        if attribute.kind == "blocked":
            return self._blocked(attribute, shape)
        message = f"a slice is one of a blocked layout, not of `{attribute.kind}`"
        raise fault("L407", message, attribute.span, help="write its bases: `#ttg.linear`")

    def _slice(self, attribute: Attribute, shape: list[int]) -> list[Level]:
        """What is left of a layout when a dimension has one index: all that it did leads to 0."""
        dim, parent = attribute.number("dim"), attribute.inner("parent")
        if not 0 <= dim <= len(shape):
            raise fault("L405", f"the tensor has no dimension {dim}", attribute.span)
        whole = self._of_shape(parent, [*shape[:dim], 1, *shape[dim:]])
        return [
            Level(each.name, tuple((*b[:dim], *b[dim + 1 :]) for b in each.bases)) for each in whole
        ]

    def _blocked(self, attribute: Attribute, shape: list[int]) -> list[Level]:
        """A thread's elements, a warp's threads, the warps; then registers for what is left.

        A register that would hold a copy of another of its thread is none. Of several blocks this
        is said of the part that each has.
        """
        shape, blocks = parts(attribute, shape)
        rank, order = len(shape), attribute.numbers("order")
        if sorted(order) != list(range(rank)):
            message = f"`order` is no order of {rank} dimensions"
            raise fault("L405", message, attribute.span)
        done = [1] * rank
        levels: dict[str, Bases] = {}
        fields = ("sizePerThread", "threadsPerWarp", "warpsPerCTA")
        for name, field in zip(LEVELS, fields, strict=False):
            sizes = self._sizes(attribute, field, rank)
            levels[name] = tuple(_steps(order, sizes, done))
            done = [one * size for one, size in zip(done, sizes, strict=True)]
        again = [max(1, extent // one) for extent, one in zip(shape, done, strict=True)]
        levels["register"] += tuple(_steps(order, again, done))
        found = {
            name: tuple(_within(each, shape) for each in bases) for name, bases in levels.items()
        }
        found["register"] = tuple(each for each in found["register"] if any(each))
        found["block"] = blocks
        return [Level(name, bases) for name, bases in found.items()]

    def _sizes(self, attribute: Attribute, field: str, rank: int) -> list[int]:
        found = attribute.numbers(field)
        if len(found) != rank:
            message = f"`{field}` has {len(found)} numbers, and the tensor {rank} axes"
            raise fault("L403", message, attribute.span)
        if any(each < 1 or each & (each - 1) for each in found):
            raise fault("L405", f"`{field}` holds powers of two", attribute.span)
        return found


def _steps(
    order: Sequence[int], sizes: Sequence[int], done: Sequence[int]
) -> list[tuple[int, ...]]:
    """The bases of one step, two steps, four and on, the fastest dimension first."""
    return [
        tuple(done[dim] << bit if at == dim else 0 for at in range(len(sizes)))
        for dim in order
        for bit in range(sizes[dim].bit_length() - 1)
    ]


def _within(basis: tuple[int, ...], shape: Sequence[int]) -> tuple[int, ...]:
    """A basis that leads out of the tensor leads nowhere."""
    return tuple(step if step < extent else 0 for step, extent in zip(basis, shape, strict=True))


def _number(axis: Axis) -> int | None:
    return None if isinstance(axis.extent, Extent) else axis.extent.value
