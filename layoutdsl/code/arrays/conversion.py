"""Modules that turn the buffer of one layout into that of another: `convert`.

>>> made = generate_conversion(source, target, texts=("layout A(n, c) = [n, c]", "layout ..."))
>>> load(made).convert(buffer, (5, 7)).shape
(7, 5)

No tensor lies in between: `_views` yields parts of one buffer beside their slots in the other.
"""

from __future__ import annotations

from layoutdsl.code.arrays.axes import Axes, axes_of
from layoutdsl.code.arrays.fills import fills
from layoutdsl.code.arrays.head import UNVALIDATED, head, refuse_name
from layoutdsl.code.arrays.names import Names, constant, tuple_text
from layoutdsl.code.arrays.shapes import both_shapes
from layoutdsl.code.arrays.views import is_short, views
from layoutdsl.code.moves import Fallback
from layoutdsl.code.validate.arrays.frame import (
    ITEM,
    PUT,
    conversion,
    narrow,
    target_function,
    values_function,
)
from layoutdsl.language.meaning.model import Layout


def conversion_text(source: Layout, target: Layout, texts: tuple[str, str]) -> str | Fallback:
    """Return the text of the module that converts, or why two layouts have no common digits.

    Args:
        source: whose buffers are read.
        target: whose buffers are written, over the same axes, in the same range of shapes.
        texts: both layouts as the language writes them.

    Raises:
        ValueError: a parameter has no value, or a layout's name cannot name a module.
    """
    for layout in (source, target):
        refuse_name(layout.name)
    axes = axes_of(source, target)
    if isinstance(axes, Fallback):
        return axes
    names = Names(target)
    body = _functions(source, target, axes, names)
    constants = [*constant("SOURCE", texts[0]), *constant("TARGET", texts[1]), *UNVALIDATED]
    extents = tuple_text([names.text(axis.extent) for axis in target.axes])
    both = f"{source.name} to {target.name}"
    words = f"{both}: convert buffers of tensors {extents}. VALIDATED names its proof."
    return "\n".join([*head(words, constants, body), *body]) + "\n"


def _functions(source: Layout, target: Layout, axes: Axes, names: Names) -> list[str]:
    element, puts = target.element, is_short(axes, target)
    filled = fills(axes, names, target, "target")
    return [
        *both_shapes(source, target, names),
        *conversion(target, filled, puts=puts),
        *views(axes, names, target, ("source", "target")),
        *(PUT if puts else []),
        *target_function(element),
        *(ITEM if filled else []),
        *([] if element is None or narrow(element) is None else values_function(element)),
    ]
