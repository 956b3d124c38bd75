"""What a caller gave to a verb, refused at the door where it is of another kind.

Whoever gives a module where a layout is wanted is told so, and not what came of it three rooms
further down. It imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from contextlib import suppress
from dataclasses import dataclass
from operator import index as as_integer
from os import PathLike
from types import ModuleType


@dataclass(frozen=True, slots=True)
class Kind:
    """What an argument may be.

    Attributes:
        words: it in words, after "has to be".
        holds: whether a value is of the kind.
        help: what to do with another value; nothing where there is nothing to say.
    """

    words: str
    holds: Callable[[object], bool]
    help: Callable[[object], str] = lambda _: ""

    def or_none(self) -> Kind:
        """Return the kind of an argument that may be left out."""
        return Kind(f"{self.words}, or None", lambda v: v is None or self.holds(v), self.help)


def _of(*types: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, types)


def _integer(value: object) -> bool:
    try:
        as_integer(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


TEXT = Kind("a text", _of(str))
FLAG = Kind("True or False", _of(bool))
INTEGER = Kind("an integer", _integer)
NUMBER = Kind("a number", lambda value: isinstance(value, float) or _integer(value))
NUMBERS = Kind(
    "a number or an array of them",
    lambda value: (
        all(map(NUMBER.holds, value))
        if isinstance(value, list | tuple)
        else hasattr(type(value), "dtype") or NUMBER.holds(value)
    ),
)
PATH = Kind("a path", _of(str, PathLike))
FUNCTION = Kind(
    "a function",
    # a layout that is called gets numbers for its parameters, and is none
    lambda v: callable(v) and (isinstance(v, type) or not hasattr(v, "with_parameters")),
)
TYPE = Kind("a type as numpy calls it", lambda v: isinstance(v, str | type) or hasattr(v, "kind"))
MAPPING = Kind("a mapping", _of(Mapping))


def expect(**given: tuple[object, Kind]) -> None:
    """Check arguments by name, each with its kind.

    Raises:
        TypeError: one is of another kind; says which, and what it has to be.
    """
    for name, (value, kind) in given.items():
        if not kind.holds(value):
            help_ = kind.help(value)
            words = f"`{name}` is {called(value)}, and has to be {kind.words}"
            raise TypeError(f"{words}; {help_}" if help_ else words)


def called(value: object) -> str:
    """Return what a value is, in words: ``None``, ``the module `os` ``, ``a list``."""
    if value is None:
        return "None"
    if isinstance(value, ModuleType):
        return f"the module `{value.__name__}`"
    if isinstance(value, type):
        return f"the class `{value.__name__}`"
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def integers(value: object, name: str, words: str) -> tuple[int, ...]:
    """Return numbers that were given one after the other.

    Args:
        value: what was given: a tuple, a list, an array of one dimension.
        name: of the argument.
        words: what it has to be.

    Raises:
        TypeError: it is something else.
    """
    found: tuple[object, ...] | None = None
    if isinstance(value, Iterable) and isinstance(value, Sized):
        with suppress(TypeError):  # as an array without dimensions is neither
            found = None if isinstance(value, str | bytes | Mapping) else tuple(value)
    if found is None:
        raise TypeError(f"`{name}` is {called(value)}, and has to be {words}")
    return tuple(integer(each, f"a number in `{name}`") for each in found)


def integer(value: object, name: str) -> int:
    """Return an integer of whatever type.

    Raises:
        TypeError: it is none.
    """
    try:
        return as_integer(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} is {called(value)}, and has to be an integer") from None
