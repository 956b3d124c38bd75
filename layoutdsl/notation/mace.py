"""MACE's OpenCL images by their kind: ``in_out_channel``, ``conv2d_filter``, ``argument``.

An image has rows, columns and four lanes; a layout here is ``[row, column, lane]``, so that the
documents' pixel P[x, y] is row y, column x. The names are those of `OpenCLBufferType`, in either
case. Padding is 0. A kind is of a tensor whose axes have a meaning, so they go by name.

Sources: MACE, "Memory layout", for the kinds and the sizes of their images; where its table of
pixels is no inverse of anything, the map is the kernels' (`language/library/mace.layout` refutes
the table). Three kinds are in no published document, and are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from layoutdsl.language.integers.bounds import ONE, ZERO, product
from layoutdsl.language.integers.digit import Digit, same
from layoutdsl.language.integers.digit import read as read_digit
from layoutdsl.language.integers.expr import Constant, Coordinate, MixedRadix
from layoutdsl.language.meaning.elements import FillValue
from layoutdsl.language.meaning.matching import Crossed, matched
from layoutdsl.language.meaning.model import Axis, Condition, Layout
from layoutdsl.language.texts.faults import did_you_mean, fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation.blocks import Piece, axes_called, coordinates, refuse_long_name
from layoutdsl.notation.notation import Notes, Reading, Unwritable
from layoutdsl.notation.places import refuse_fill, refuse_start, whole_parts

ABOUT = "MACE's OpenCL image kinds"
EXAMPLE = "in_out_channel"


@dataclass(frozen=True, slots=True)
class Image:
    """An image of four lanes: which axes its rows, columns and lanes are made of.

    Attributes:
        axes: a letter each, in the order of the tensor.
        rows: letters, most major first.
        columns: the same.
        lanes: the axis that is cut into blocks of four; its quotient is among rows and columns.
        single: an axis that has one element, if any.
    """

    axes: str
    rows: str
    columns: str
    lanes: str
    single: str = ""


IMAGES: Mapping[str, Image] = {
    "conv2d_filter": Image("oihw", "ohw", "i", "o"),
    "in_out_channel": Image("nhwc", "nh", "cw", "c"),
    "argument": Image("w", "", "w", "w"),
    "in_out_height": Image("nhwc", "nh", "cw", "h"),
    "in_out_width": Image("nhwc", "nh", "cw", "w"),
    "dw_conv2d_filter": Image("mihw", "i", "mhw", "i", "m"),
}
UNDOCUMENTED = ("winograd_filter", "weight_height", "weight_width")
"""Kinds that have a name, and no published map."""

_LANES = 4


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of a kind; `Notation.read` says what is raised."""
    refuse_long_name(text)
    kind = text.text.strip().lower()
    if kind in UNDOCUMENTED:
        message = f"no document says where an element of `{kind}` lies"
        raise fault("L407", message, text, help=f"known are {', '.join(IMAGES)}")
    if kind not in IMAGES:
        hint = did_you_mean(kind, (*IMAGES, *UNDOCUMENTED)) or f"known are {', '.join(IMAGES)}"
        message = f"there is no image kind `{kind}`" if kind else "expected a kind of image"
        raise fault("L401", message, text, help=hint)
    image = IMAGES[kind]
    found = axes_called(axes, image.axes, text, f"`{kind}`")
    for axis in _single(image, found):
        if isinstance(axis.extent, Constant):
            message = f"axis `{axis.name}` of `{kind}` has one element, not {axis.extent.value}"
            raise fault("L403", message, text)
    return Reading(_layout(image, found))


def _layout(image: Image, axes: tuple[Axis, ...]) -> Layout:
    letters = image.rows + image.columns
    pieces = [Piece(image.axes.index(letter), None) for letter in letters]
    lane = Piece(image.axes.index(image.lanes), _LANES)
    *digits, last = coordinates(axes, [*pieces, lane])
    row, column = digits[: len(image.rows)], digits[len(image.rows) :]
    where = tuple(Condition(axis.extent, "==", ONE) for axis in _single(image, axes))
    return Layout("image", axes, (_number(row), _number(column), last), where=where)


def _single(image: Image, axes: tuple[Axis, ...]) -> list[Axis]:
    """The axes that have to have one element, and may have more."""
    named = zip(image.axes, axes, strict=True)
    return [axis for letter, axis in named if letter == image.single and axis.extent != ONE]


def _number(digits: list[Coordinate]) -> Coordinate:
    """Several coordinates as one."""
    if len(digits) == 1:
        return digits[0]
    extent = product(tuple(each.extent for each in digits))
    return Coordinate(MixedRadix(tuple(digits)), extent) if digits else Coordinate(ZERO, ONE)


def write(layout: Layout, notes: Notes) -> str:  # noqa: ARG001  kinds say nothing beyond
    """Return the kind of image that a layout is; its axes go by name, as where it is read."""
    refuse_start(layout)
    names = [axis.name for axis in layout.axes]
    for kind, image in IMAGES.items():
        order = matched(image.axes, names) if len(image.axes) == layout.rank else None
        if order is not None and not isinstance(order, Crossed):
            found = _layout(image, tuple(layout.axes[place] for place in order))
            if _are_same(found.coordinates, layout.coordinates):
                _refuse_other_shapes(kind, found, layout)
                refuse_fill(layout, FillValue(0))
                return kind
    raise Unwritable("it is none of the documented images")


def _refuse_other_shapes(kind: str, image: Layout, layout: Layout) -> None:
    for condition in layout.where:
        if condition not in image.where:
            raise Unwritable(f"it is defined only where {condition}")
    for condition in image.where:
        if condition not in layout.where:
            raise Unwritable(f"`{kind}` is defined only where {condition}")


def _are_same(image: Sequence[Coordinate], layout: Sequence[Coordinate]) -> bool:
    """Whether rows, columns and lanes are the same digits."""
    return len(image) == len(layout) and all(
        _digits(one) == _digits(other) and same(one.extent, other.extent)
        for one, other in zip(image, layout, strict=True)
    )


def _digits(coordinate: Coordinate) -> list[Digit | None]:
    """The digits of a coordinate; those of one slot say nothing."""
    return [read_digit(each.value) for each in whole_parts((coordinate,)) if each.extent != ONE]
