"""The notations by name, and what each of them has to offer.

A notation is a module of this folder with

* ``ABOUT``: one line on who writes it, and ``EXAMPLE``: one of its texts;
* ``read(text, axes)``: the layout that a text stands for;
* ``write(layout, notes)``: the text of a layout.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Protocol, cast

from layoutdsl.language.integers.expr import Constant, Expr, Extent, Index
from layoutdsl.language.integers.expr import text as spelled
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.language.texts.faults import Fault, did_you_mean, fault
from layoutdsl.language.texts.source import LayoutError, Source, Span
from layoutdsl.language.texts.values import brief

MOST_LETTERS = 100
MOST_PARENTHESES = 50
MOST_CHARACTERS = 4096
"""Characters of one text in another notation."""

Notes = Mapping[str, str]
"""What a text says that is no part of the meaning, such as XLA's memory space, by name."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says: the layout, and what its notation says beyond it."""

    layout: Layout
    notes: Notes = field(default_factory=dict)

    __repr__ = brief


class Unwritable(ValueError):  # noqa: N818  an answer, not an error of ours
    """A layout has no text in a notation; says why, after "cannot be written in tvm: "."""


class Notation(Protocol):
    """What the module of a notation has to offer."""

    ABOUT: str
    EXAMPLE: str

    def read(self, text: Span, axes: tuple[Axis, ...] | None) -> Reading:
        """Return what a text says.

        Args:
            text: of the notation, a part of a source.
            axes: as the declaration names them; ``None`` for those of the notation. An extent that
                the text fixes replaces one that is only a name. The layout may have them in the
                order of the text.

        Raises:
            Fault: the text is not in the notation, or does not fit the axes.
            LayoutError: the text is not in the grammar of the notation.
        """

    def write(self, layout: Layout, notes: Notes) -> str:
        """Return the text of a layout.

        Raises:
            Unwritable: there is none.
        """


_MODULES: Mapping[str, str] = {
    "htp": "htp",
    "xla": "xla",
    "onednn": "onednn",
    "tvm": "tvm",
    "cute": "cute",
    "cute_tv": "cute_tv",
    "mlir": "mlir",
    "mace": "mace",
    "einops": "einops",
    "numpy": "strides",
    "triton": "triton",
    "openvino": "openvino",
    "zarr": "zarr",
    "cublaslt": "cublaslt",
    "tensormap": "tensormap",
    "onnxruntime": "onnxruntime",
}

COPYING = ("einops", "triton", "cute_tv")
"""The notations that say that an element lies in several slots."""

NAMES: tuple[str, ...] = tuple(_MODULES)
"""The notations that can be read and written."""


_CALLED: Mapping[str, str] = {
    **dict.fromkeys(("cutlass", "cutlass3", "pycute", "cutedsl"), "cute"),
    **dict.fromkeys(("dnnl", "mkldnn", "mkl"), "onednn"),
    **dict.fromkeys(("hlo", "stablehlo", "jax", "openxla"), "xla"),
    **dict.fromkeys(("linalg", "affine", "memref"), "mlir"),
    **dict.fromkeys(("strides", "torch", "pytorch"), "numpy"),
    **dict.fromkeys(("ort", "onnx"), "onnxruntime"),
    **dict.fromkeys(("ttgir", "gluon"), "triton"),
    **dict.fromkeys(("cublas",), "cublaslt"),
    **dict.fromkeys(("tma", "cutensormap"), "tensormap"),
}
"""Names of projects whose layouts a notation of another name reads."""


def notation_help(name: str, form: str = "") -> str:
    """Return the help line for an unknown notation: the nearest one, or all of them.

    Args:
        name: names no notation.
        form: how a notation and its text are written together; empty if there is no text.
    """
    called = _CALLED.get(name.lower().replace("_", "").replace("-", ""))
    if called is not None:
        written = form.format(called, notation(called).EXAMPLE) if form else ""
        return f"write `{called}`, as in `{written}`" if written else f"write `{called}`"
    return did_you_mean(name, NAMES) or f"the notations are {', '.join(NAMES)}"


def notation(name: str) -> Notation:
    """Return a notation by name; one of `NAMES`."""
    return cast("Notation", import_module(f"layoutdsl.notation.{_MODULES[name]}"))


def read(
    name: str,
    text: Span,
    axes: tuple[Axis, ...] | None,
    at: Span,
    copies: tuple[str, ...] = (),
) -> Reading:
    """Return what a text of the notation ``name`` says, its axes in the order of ``axes``.

    Args:
        name: of the notation.
        text: a part of a source.
        axes: as the declaration names them, or ``None``.
        at: where the name of the notation stands.
        copies: which of these are axes of copies.

    Raises:
        Fault: there is no such notation, or the text is not in it, or does not fit the axes.
    """
    if name not in _MODULES:
        hint = notation_help(name, '{} "{}"')
        if text.text.strip() in _MODULES:
            hint = (
                f"the two are exchanged: `{text.text.strip()}` is the notation, `{name}` its text"
            )
        raise fault("L402", f"there is no notation `{name}`", at, help=hint)
    if len(text.text) > MOST_CHARACTERS:
        message = f"this text has {len(text.text)} characters, at most {MOST_CHARACTERS}"
        raise fault("L103", message, Span(text.source, text.start, text.start + 1))
    _refuse_depth(text)
    found, said = notation(name), axes
    if axes is not None and name in COPYING:
        said = tuple(axis for axis in axes if axis.name not in copies)
    try:
        reading = found.read(text, said)
    except LayoutError as wrong:
        first = wrong.diagnostics[0]
        alike = f"such a text looks like `{found.EXAMPLE}`"
        raise Fault(replace(first, help=first.help or alike)) from None
    layout = reading.layout
    if axes is None:
        return reading
    if name in COPYING:
        layout = _with_copies(axes, copies, layout, text)
        if not copies:
            axes = (*axes, *(axis for axis in layout.axes if axis.name in layout.copies))
        copies = tuple(axis.name for axis in axes if axis.name in layout.copies)
    read_as = {axis.name: axis for axis in layout.axes}
    ordered = tuple(read_as[axis.name] for axis in axes)
    return replace(reading, layout=replace(layout, axes=ordered, copies=copies))


def _with_copies(
    axes: tuple[Axis, ...], copies: tuple[str, ...], layout: Layout, text: Span
) -> Layout:
    """The layout of a text with its copies called as they are declared: by name, or in order.

    Raises:
        Fault: the text has other copies than are declared.
    """
    theirs = [axis for axis in layout.axes if axis.name in layout.copies]
    mine = [axis for axis in axes if axis.name in copies]
    if not mine:
        return layout
    by_name = {axis.name for axis in mine} == {axis.name for axis in theirs}
    if by_name:
        mine.sort(key=lambda axis: layout.copies.index(axis.name))
    if [axis.extent for axis in mine] != [axis.extent for axis in theirs]:
        said = ", ".join(f"`{axis.name}: {spelled(axis.extent)}`" for axis in theirs)
        message = f"the text has {f'copies along {said}' if theirs else 'no copies'}"
        hint = f"declare {said.replace('`', '')} broadcast" if len(theirs) == 1 else None
        raise fault("L403", f"{message}, the layout others", text, help=hint)
    called: dict[str, Expr] = {
        old.name: Index(new.name) for old, new in zip(theirs, mine, strict=True)
    }
    kept = tuple(axis for axis in layout.axes if axis not in theirs)
    names = tuple(axis.name for axis in mine)
    return replace(layout.substituted(called), axes=(*kept, *mine), copies=names)


def _refuse_depth(text: Span) -> None:
    """Readers recurse into parentheses, and have to come out again."""
    depth = 0
    for place, character in enumerate(text.text):
        depth += (character in "([{<") - (character in ")]}>")
        if depth > MOST_PARENTHESES:
            message = f"parentheses are nested more than {MOST_PARENTHESES} deep"
            start = text.start + place
            raise fault("L104", message, Span(text.source, start, start + 1))


def read_text(name: str, text: str) -> Reading:
    """Return what a text that stands alone says, with the axes of its notation.

    The layout is called after the text: `onednn_aBcd16b`.

    Raises:
        LayoutError: there is no such notation, or the text is not in it.
    """
    source = Source(f"<{name}>", text)
    whole = Span(source, 0, len(text))
    try:
        found = read(name, whole, None, whole)
    except Fault as reason:
        raise LayoutError(reason.diagnostic) from None
    called = re.sub(r"\W+", "_", f"{name} {text}", flags=re.ASCII).strip("_")[:MOST_LETTERS]
    return replace(found, layout=replace(found.layout, name=called))


def write(name: str, layout: Layout, notes: Notes | None = None) -> str:
    """Return the text of a layout in the notation ``name``, one of `NAMES`.

    A layout that was read in this notation is written as it was read.

    Raises:
        Unwritable: there is none.
    """
    found = notation(name)
    if layout.copies and name not in COPYING:
        held = ", ".join(f"`{each}`" for each in layout.copies)
        raise Unwritable(f"it holds copies of an element along {held}")
    if layout.domain:
        held = ", ".join(f"`{each}`" for each in layout.domain)
        raise Unwritable(f"it holds elements where {held}, and no others")
    return _as_read(name, layout) or found.write(layout, notes or {})


def _as_read(name: str, layout: Layout) -> str | None:
    """Return the text that a layout was read from, where that says all of it still."""
    if layout.origin is None or layout.origin.notation != name:
        return None
    text = layout.origin.text
    axes = tuple(
        replace(axis, extent=Extent(f"extent of {axis.name}"))
        if isinstance(axis.extent, Constant) and axis.name not in layout.copies
        else axis
        for axis in layout.axes
    )
    source = Span(Source(f"<{name}>", text), 0, len(text))
    try:
        again = read(name, source, axes, source, layout.copies).layout
    except (Fault, LayoutError):
        return None
    return text if replace(again, name=layout.name) == layout else None
