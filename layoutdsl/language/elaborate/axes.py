"""The rules for axes: of tensors, of copies, and those that two layouts have in common."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace

from layoutdsl.language.elaborate.rules import refuse_repeats, twice
from layoutdsl.language.integers.expr import Constant, Expr, Extent, Index
from layoutdsl.language.meaning.model import Axis, Condition, Layout, instantiate
from layoutdsl.language.syntax import ast
from layoutdsl.language.texts.faults import fault
from layoutdsl.language.texts.source import Span


def axis_of(axis: ast.AxisDecl) -> Axis:
    """Return an axis of a tensor with its extent, by default its name in upper case."""
    name = axis.name
    if name.text != name.text.lower() or not name.text[0].isalpha():
        hint = f"write `{name.text.lower().lstrip('_') or 'c'}`"
        raise fault("L204", f"the axis `{name.text}` is not in lower case", name.span, help=hint)
    match axis.extent:
        case None:
            return Axis(name.text, Extent(name.text.upper()))
        case ast.Number(value, span):
            if value < 1:
                raise fault("L204", "an extent is at least 1", span)
            return Axis(name.text, Constant(value))
        case ast.Name(extent, span):
            if extent != extent.upper() or not extent[0].isalpha():
                hint = f"write `{extent.upper().lstrip('_') or 'C'}`"
                raise fault("L204", f"the extent `{extent}` is not in upper case", span, help=hint)
            return Axis(name.text, Extent(extent))


def axes_of(
    declared: Sequence[ast.AxisDecl],
    parameters: Sequence[ast.Name],
    given: Mapping[str, Expr] | None = None,
) -> tuple[Axis, ...]:
    """Return the axes of a layout or table, whose names clash with none of its parameters.

    Args:
        declared: as they are written.
        parameters: of the layout or table.
        given: what the parameters of a layout stand for; a table has no axes of copies.
    """
    refuse_repeats("parameter", parameters)
    seen: dict[str, ast.Name] = {each.text: each for each in parameters}
    opened = dict(seen)
    axes: list[Axis] = []
    for axis in declared:
        if axis.name.text in seen:
            raise twice("axis", axis.name, seen[axis.name.text])
        seen[axis.name.text] = axis.name
        if axis.broadcast is not None:
            axes.append(copies_of(axis, axis.broadcast, declared, given))
            continue
        axes.append(axis_of(axis))
        match axes[-1].extent:
            case Extent(name) if name in opened:
                raise twice("extent", ast.Name(name, axis.name.span), opened[name])
    return tuple(axes)


def copies_of(
    axis: ast.AxisDecl,
    word: ast.Name,
    declared: Sequence[ast.AxisDecl],
    parameters: Mapping[str, Expr] | None,
) -> Axis:
    """Return an axis of copies, of which there are as many as parameters and a tensor's shape say.

    Raises:
        Fault: they do not say it; or there are no copies of elements here.
    """
    if parameters is None:
        message = "only a layout may store an element in several slots"
        raise fault("L215", message, word.span, help="leave out `broadcast`")
    extent = axis.extent
    if isinstance(extent, ast.Name) and extent.text in parameters:
        value = parameters[extent.text]
        assert isinstance(value, Extent | Constant), "a parameter is a number or left open"
        return Axis(axis_of(replace(axis, extent=None)).name, value)
    found = axis_of(axis)
    if isinstance(found.extent, Constant):
        return found
    own = [axis_of(each).extent for each in declared if each.broadcast is None]
    if found.extent in own:
        return found
    name = axis.name.text
    message = f"the number of copies along `{name}` is unknown"
    hint = f"give a number, `{name}: 32 broadcast`, a parameter or the extent of another axis"
    raise fault("L215", message, axis.name.span, help=hint)


def refuse_copies_in(domain: Iterable[Condition], copies: Container[str], span: Span) -> None:
    """Raise where copies of one element would be in the domain, and others not."""
    for each in domain:
        for name in sorted(each.indices):
            if name in copies:
                message = f"the condition `{each}` uses the broadcast axis `{name}`"
                hint = "state it for the indices of the tensor"
                raise fault("L215", message, span, help=hint)


def on_axes_of(layout: Layout, other: Layout, span: Span) -> Layout:
    """Return ``other`` over the axes of ``layout``: by name if both have the same, else in order.

    Raises:
        Fault: the layouts take different tensors.
    """
    if len(layout.axes) != len(other.axes):
        message = f"`{layout.name}` has {len(layout.axes)} axes, `{other.name}` {len(other.axes)}"
        raise fault("L303", message, span)
    opened = [name for name in other.parameters if name not in layout.parameters]
    if opened:
        message = f"the parameter `{opened[0]}` of `{other.name}` is open"
        raise fault("L303", message, span, help=f"give it a number, as in `{other.name}<16>`")
    known = {axis.name: axis for axis in layout.axes}
    by_name = known.keys() == {axis.name for axis in other.axes}
    names: dict[str, Expr] = {}
    copies = list[str]()
    for axis, theirs in zip(layout.axes, other.axes, strict=True):
        mine = known[theirs.name] if by_name else axis
        names[theirs.name] = Index(mine.name)
        copies += [mine.name] if theirs.name in other.copies else []
        if isinstance(theirs.extent, Extent):
            if names.setdefault(theirs.extent.name, mine.extent) != mine.extent:
                message = f"`{other.name}` needs two equal extents where `{layout.name}` has two"
                raise fault("L303", message, span)
        elif theirs.extent != mine.extent:
            message = f"axis `{theirs.name}` of `{other.name}` has {theirs.extent.value} elements"
            raise fault("L303", message, span)
    if {*copies} != {*layout.copies}:
        one, two = (_copies_said(each) for each in (layout, other))
        raise fault("L303", f"{one}, and {two}: they take different tensors", span)
    return replace(instantiate(other, names), axes=layout.axes, copies=layout.copies)


def _copies_said(layout: Layout) -> str:
    held = ", ".join(f"`{name}`" for name in layout.copies)
    return f"`{layout.name}` has {f'copies along {held}' if held else 'no copies'}"
