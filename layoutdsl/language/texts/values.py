"""Values as text: all of one, for keys; a line of one, for people.

`repr` is for people here: a proof has hundreds of thousands of characters, and whoever asks an
interpreter for a verdict wants the verdict. So no key is made from `repr`. It imports nothing of
ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass

MOST = 200
"""Characters of a value that `repr` shows."""

A_FIELD = 60
"""Characters of one of its fields."""


DRAWING: list[Callable[[object], str]] = []
"""Who draws a value for a notebook; `commands` sets it, as no package below can draw."""


class Displayed:
    """A value that a notebook shows as a page would: `_repr_html_`."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return DRAWING[-1](self) if DRAWING else None


def exact(value: object) -> str:
    """Return a value as text, with everything in it: texts are equal only where values are.

    A field with ``metadata={"exact": False}`` is left out.

    >>> exact((1, "a", None))
    "(1, 'a', None, )"

    Raises:
        TypeError: something in it is neither plain nor one of our values.
    """
    if value is None or type(value) in (bool, int, float, str):
        return repr(value)
    if type(value) is tuple:
        return f"({''.join(f'{exact(each)}, ' for each in value)})"
    if is_dataclass(value) and not isinstance(value, type):
        held = (
            f"{each.name}={exact(getattr(value, each.name))}, "
            for each in fields(value)
            if each.metadata.get("exact", True)
        )
        return f"{type(value).__module__}.{type(value).__qualname__}({''.join(held)})"
    raise TypeError(f"a {type(value).__name__} has no exact text")


def brief(value: object) -> str:
    """Return ``Name(field=..., ...)`` of a value with fields, cut to a line: its `repr`."""
    assert is_dataclass(value)
    shown = (f"{each.name}={_field(getattr(value, each.name))}" for each in fields(value))
    return shortened(f"{type(value).__name__}({', '.join(shown)})")


def said(value: object, words: str) -> str:
    """Return ``<Name words>``, cut to a line: the `repr` of a value that can be told in words."""
    return f"<{type(value).__name__} {shortened(words)}>"


def shortened(text: str, most: int = MOST) -> str:
    """Return a text in one line, the end left out where it is too long.

    >>> shortened("one two three", 8)
    'one t...'
    """
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[: most - 3]}..."


def printable(text: str) -> str:
    """Return a text in which nothing acts: names come out of files, and may move a cursor.

    >>> printable("a\\nb")
    'a?b'
    """
    return "".join(each if each.isprintable() else "?" for each in text)


def _field(value: object) -> str:
    if isinstance(value, str):
        return repr(shortened(value, A_FIELD))
    if isinstance(value, tuple | list | Mapping) and len(value) > 1:
        return f"<{len(value)} of {type(next(iter(value))).__name__}>"
    return shortened(repr(value), A_FIELD)
