"""Tree -> meaning for texts in other notations: their layout, and what their symbols stand for."""

from __future__ import annotations

from collections.abc import Mapping

from layoutdsl.language.integers.expr import Expr, Extent, text
from layoutdsl.language.meaning.matching import Crossed, matched
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.language.syntax import ast
from layoutdsl.language.texts.faults import fault


def foreign(
    body: ast.Foreign, axes: tuple[Axis, ...] | None, copies: tuple[str, ...] = ()
) -> Layout:
    """Return the layout that a text in another notation stands for.

    Args:
        body: the text.
        axes: as they are declared, if they are.
        copies: which of them are axes of copies.

    Raises:
        Fault, LayoutError: there is no such notation, or the text is not in it.
    """
    from layoutdsl.notation.notation import read

    return read(body.notation.text, body.place, axes, body.notation.span, copies).layout


def symbols_of(
    layout: Layout, parameters: Mapping[str, Expr], body: ast.Foreign
) -> dict[str, Expr]:
    """Return what the symbols of a text in another notation stand for.

    They are matched with the parameters of the declaration as axes are; without any, each is a
    parameter of its own.

    Raises:
        Fault: there are more or fewer, the names are crossed, or one is an axis or an extent.
    """
    names = layout.parameters
    taken = {word for axis in layout.axes for word in (axis.name, text(axis.extent))}
    for name in names:
        if name in taken:
            message = f"the symbol `{name}` of the text is an axis or an extent of the layout"
            raise fault("L203", message, body.place, help="choose another name")
    if not names or not parameters:
        return {name: Extent(name) for name in names}
    if len(names) != len(parameters):
        given = f"{len(parameters)} parameter{'s' * (len(parameters) != 1)}"
        message = f"the text has {len(names)} symbol{'s' * (len(names) != 1)}, the layout {given}"
        raise fault("L403", message, body.place)
    declared = list(parameters)
    found = matched(names, declared)
    if isinstance(found, Crossed):
        one, other = (each + 1 for each in found.places)
        message = f"`{found.name}` is symbol {one} of the text, and parameter {other} of the layout"
        ways = (f"`<{', '.join(each)}>`" for each in (found.renamed, found.ordered))
        raise fault("L408", message, body.place, help=f"declare {' or '.join(ways)}")
    return {name: parameters[declared[place]] for name, place in zip(names, found, strict=True)}
