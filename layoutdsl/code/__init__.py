"""From a layout to code that moves tensors: plans, numpy modules, files.

>>> emitted = generate_numpy(layout, source=text, certificate=None)
>>> load(emitted).pack(np.ones((2, 20, 3, 4))).shape
(2, 2, 3, 4, 16)

The offset that an emitted module computes is the printed formula. The generator does not know
how a layout was written or proved. `validate` reads the emitted text and knows nothing else, so a
change of what is emitted is a change of what `validate` has to understand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType

from layoutdsl.code.allowed import UnsafeText, refuse_unsafe
from layoutdsl.code.moves import Fallback, Plan, Planned
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.texts.values import brief

__all__ = [
    "EmittedModule",
    "Fallback",
    "Plan",
    "UnsafeText",
    "generate_conversion",
    "generate_numpy",
    "load",
    "stamp",
]


@dataclass(frozen=True, slots=True)
class EmittedModule:
    """The text of a module.

    Attributes:
        name: of the layout.
        text: Python, checked against the list of what emitted text may say.
        fallback: why elements are moved one by one; ``None`` where whole regions are.
    """

    name: str
    text: str
    fallback: str | None

    __repr__ = brief


def generate_numpy(
    layout: Layout,
    *,
    source: str,
    certificate: str | None,
    by_element: bool = False,
) -> EmittedModule:
    """Return a numpy module with `pack`, `unpack`, `offset` and `physical_shape`.

    The same arguments give the same text, byte for byte.

    Args:
        layout: every parameter has a value.
        source: the text in which the layout was written; it is quoted in the module.
        certificate: the hash of the layout's proofs; ``None`` makes the module say "unproved".
        by_element: do without the runs of a layout that has no plan.

    Raises:
        ValueError: a parameter has no value, or the layout's name cannot name a module.
        UnsafeText: a fault of the generator; nothing is handed out.
    """
    from layoutdsl.code.numpy.numpy_text import copies_text, module_text

    halves = (layout.every_copy, layout.first_copy) if layout.copies else (layout,)
    planned = [_planned(each, by_element) for each in halves]
    if layout.copies:
        write = partial(copies_text, layout, (planned[0], planned[1]))
    else:
        write = partial(module_text, layout, planned[0])
    text = write(source=source, certificate=certificate)
    refuse_unsafe(text)
    reasons = (each.by_element for each in planned if isinstance(each, Fallback))
    return EmittedModule(layout.name, text, next((each for each in reasons if each), None))


def _planned(layout: Layout, by_element: bool) -> Planned:
    from layoutdsl.code.plan import plan

    found = plan(layout)
    if isinstance(found, Fallback) and by_element:
        return replace(found, rows=None)
    return found


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
    from layoutdsl.code.arrays.conversion import conversion_text

    text = conversion_text(source, target, texts)
    if isinstance(text, Fallback):
        return text
    refuse_unsafe(text)
    return EmittedModule(f"{source.name}_to_{target.name}", text, None)


def stamp(emitted: EmittedModule, validation: str) -> EmittedModule:
    """Return the module with the hash of its validation in place of ``VALIDATED = False``."""
    from layoutdsl.code.numpy.numpy_text import stamped

    return replace(emitted, text=stamped(emitted.text, validation))


def load(emitted: EmittedModule) -> ModuleType:
    """Return the module that the text defines, without a file.

    Raises:
        UnsafeText: the text is not what `generate_numpy` hands out.
    """
    refuse_unsafe(emitted.text)
    name = f"layoutdsl.generated.{emitted.name}"
    module = ModuleType(name)
    code = compile(emitted.text, f"<{name}>", "exec", dont_inherit=True)
    exec(code, module.__dict__)  # noqa: S102 (our own text, read and checked just above)
    return module
