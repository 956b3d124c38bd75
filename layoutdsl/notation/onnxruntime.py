"""onnxruntime's blocked tensors on CPUs: ``NCHWc, B=16``.

A tensor has its channels in blocks, ``NCHWc``. Weights of a convolution have both their channels
in blocks, ``OIHWBiBo``, or those of the output alone, ``OIHWBo``, which depthwise ones and those
of few input channels take. B is what the processor has: 16 with AVX-512, 8 with AVX. Channels
beyond the last are 0.

Source: onnxruntime, `onnxruntime/core/mlas/inc/mlas.h`, "NCHWc"; `nchwc_transformer.cc`.
"""

from __future__ import annotations

import re

from layoutdsl.language.meaning.elements import FillValue
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.language.texts.faults import did_you_mean, fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation.blocked import blocked
from layoutdsl.notation.blocks import Piece, axes_called, coordinates, number, refuse_huge
from layoutdsl.notation.notation import Notes, Reading, Unwritable
from layoutdsl.notation.places import refuse_fill

ABOUT = "onnxruntime's blocked tensors on CPUs"
EXAMPLE = "NCHWc, B=16"

_ORDERS = {
    "NCHWc": ("nchw", (1,)),
    "OIHWBiBo": ("oihw", (1, 0)),
    "OIHWBo": ("oihw", (0,)),
}
"""The axes of each order, and those whose blocks follow, most major first."""

_TEXT = re.compile(r"\s*(?P<order>\w*)\s*(?:,\s*B\s*=\s*(?P<block>[0-9]+))?\s*", re.ASCII)


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of an order and its block; `Notation.read` says what is raised."""
    said = _TEXT.fullmatch(text.text)
    if said is None:
        words = "an order and its block look like `NCHWc, B=16`"
        raise fault("L401", words, text)
    order = said["order"]
    if order not in _ORDERS:
        hint = did_you_mean(order, _ORDERS) or f"known are {', '.join(_ORDERS)}"
        raise fault("L404", f"there is no order `{order}`", text, help=hint)
    if said["block"] is None:
        words = f"`{order}` does not say how many channels a block has"
        hint = f"`{order}, B=16` with AVX-512, `{order}, B=8` with AVX"
        raise fault("L401", words, text, help=hint)
    at = Span(text.source, text.start + said.start("block"), text.start + said.end("block"))
    size = number(at)
    if size < 2:
        raise fault("L405", "a block has 2 channels or more", at)
    names, cut = _ORDERS[order]
    refuse_huge([(size, at) for _ in cut])
    found = axes_called(axes, names, text, f"the order `{order}`")
    places = coordinates(found, _pieces(order, size))
    return Reading(Layout("order", found, places, fill=FillValue(0)))


def _pieces(order: str, size: int) -> list[Piece]:
    names, cut = _ORDERS[order]
    return [
        *(Piece(axis, None) for axis in range(len(names))),
        *(Piece(each, size) for each in cut),
    ]


def write(layout: Layout, notes: Notes) -> str:  # noqa: ARG001  orders say nothing beyond
    """Return the order of a layout of four axes, and its block."""
    found = [*blocked(layout)]
    sizes = {each.size for each in found if each.size is not None}
    if len(sizes) != 1:
        raise Unwritable("its blocks have no common size")
    (size,) = sizes
    for order in _ORDERS:
        if found == _pieces(order, size):
            refuse_fill(layout, FillValue(0))
            return f"{order}, B={size}"
    raise Unwritable("it is none of onnxruntime's orders: " + ", ".join(_ORDERS))
