"""Which axis of one list is which of another: by name where the names are meant, else by place.

Axes that are exchanged give a sound layout that is another one, and nothing tells. So names that
contradict their places are an answer of their own, for the caller to refuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase


@dataclass(frozen=True, slots=True)
class Crossed:
    """A name that both lists have at different places, where not all names are the same.

    Attributes:
        name: the first of them.
        places: of it in either list, from 0.
        renamed: the second list with what it calls otherwise called as in the first.
        ordered: the second list in the order of the first.
    """

    name: str
    places: tuple[int, int]
    renamed: tuple[str, ...]
    ordered: tuple[str, ...]


def matched(names: Sequence[str | None], given: Sequence[str]) -> tuple[int, ...] | Crossed:
    """Return for each of ``names`` which of ``given`` it is; there are as many of either.

    Where all names are the same they say it, in whatever order. Where each name that both have
    stands at its own place, and where one of the lists is ``a, b, c`` and on, places say it.

    Args:
        names: ``None`` for an axis that has no name, which is one of those that are left.
        given: all different.
    """
    shared = {name for name in names if name in given}
    rest = iter([place for place, name in enumerate(given) if name not in shared])
    by_name = tuple(given.index(name) if name in shared else next(rest) for name in names)
    if shared and all(name is None or name in shared for name in names):
        return by_name
    crossed = [
        (place, name) for place, name in enumerate(names) if name in shared and given[place] != name
    ]
    if not crossed or _are_letters(names) or _are_letters(given):
        return tuple(range(len(given)))
    place, name = crossed[0]
    assert name is not None, "what both lists have is a name"
    called = {given[each]: name for each, name in zip(by_name, names, strict=True) if name}
    return Crossed(
        name,
        (place, given.index(name)),
        tuple(called.get(each, each) for each in given),
        tuple(given[each] for each in by_name),
    )


def _are_letters(names: Sequence[str | None]) -> bool:
    """Whether names are a, b, c and on, as oneDNN calls axes by their place."""
    return len(names) > 1 and tuple(names) == tuple(ascii_lowercase[: len(names)])
