"""Numpy modules as an engineer would write them: a layout, once, as views of tensor and buffer.

>>> emitted = generate_views(layout, source=text, certificate=None)

The text is not trusted: `validate.arrays` reads it back.
"""

from __future__ import annotations

from layoutdsl.code import EmittedModule
from layoutdsl.code.allowed import refuse_unsafe
from layoutdsl.code.arrays.conversion import conversion_text
from layoutdsl.code.arrays.module import WAYS, Way, module_text
from layoutdsl.code.moves import Fallback
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.storage import Stored

__all__ = ["WAYS", "generate_conversion", "generate_views"]


def generate_views(
    layout: Layout,
    *,
    source: str,
    certificate: str | None,
    way: Way = "views",
    stored: Stored | None = None,
) -> EmittedModule:
    """Return a numpy module with `pack`, `unpack`, `offset` and `physical_shape`.

    The same arguments give the same text, byte for byte.

    Args:
        layout: every parameter has a value.
        source: the text in which the layout was written; it is quoted in the module.
        certificate: the hash of the layout's proofs; `None` makes the module say "unproved".
        way: how elements are moved, as for `module_text`.
        stored: how the buffer becomes words; with it the module packs into these too.

    Raises:
        ValueError: a parameter has no value, or the layout's name cannot name a module.
        UnsafeText: a fault of the generator; nothing is handed out.
    """
    text, fallback = module_text(
        layout, source=source, certificate=certificate, way=way, stored=stored
    )
    refuse_unsafe(text)
    return EmittedModule(layout.name, text, fallback)


def generate_conversion(
    source: Layout, target: Layout, *, texts: tuple[str, str]
) -> EmittedModule | Fallback:
    """Return a numpy module with `convert`, or why there is no way but through the tensor.

    Args:
        source: whose buffers are read.
        target: whose buffers are written, over the same axes, in the same range of shapes.
        texts: both layouts as the language writes them; they are quoted in the module.

    Raises:
        ValueError: a parameter has no value, or a layout's name cannot name a module.
        UnsafeText: a fault of the generator; nothing is handed out.
    """
    text = conversion_text(source, target, texts)
    if isinstance(text, Fallback):
        return text
    refuse_unsafe(text)
    return EmittedModule(f"{source.name}_to_{target.name}", text, None)
