"""From a layout to code that moves tensors: NumPy modules, C, index functions.

>>> load(generate_views(layout, source=text, certificate=None)).pack(np.ones((2, 20, 3, 4))).shape
(2, 2, 3, 4, 16)

Generators do not know how a layout was written or proved. `validate` reads the emitted text and
knows nothing else, so a change of the text is a change of what `validate` has to understand.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from layoutdsl.code.allowed import UnsafeText, refuse_unsafe
from layoutdsl.language.texts.values import brief

__all__ = ["EmittedModule", "UnsafeText", "load"]


@dataclass(frozen=True, slots=True)
class EmittedModule:
    """The text of a module.

    Attributes:
        name: of the layout.
        text: Python, checked against the list of what emitted text may say.
        fallback: why elements are moved one by one; ``None`` if views, rows or runs are.
    """

    name: str
    text: str
    fallback: str | None

    __repr__ = brief


def load(emitted: EmittedModule) -> ModuleType:
    """Return the module that the text defines, without a file.

    Raises:
        UnsafeText: a generator does not write such text.
    """
    refuse_unsafe(emitted.text)
    name = f"layoutdsl.generated.{emitted.name}"
    module = ModuleType(name)
    code = compile(emitted.text, f"<{name}>", "exec", dont_inherit=True)
    exec(code, module.__dict__)  # noqa: S102 (our own text, read and checked just above)
    return module
