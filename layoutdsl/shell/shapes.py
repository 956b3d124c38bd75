"""Shapes and indices, as they are written on a command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from layoutdsl.language.integers.expr import Extent, text
from layoutdsl.shell.exits import Exit, Failure

if TYPE_CHECKING:
    from layoutdsl.language.meaning.model import Layout, Shape

MOST_DIGITS = 40

_JOINED = re.compile(r"\s*\(?\s*[0-9]{1,9}(\s*[xX*:;/ ]\s*[0-9]{1,9}){1,63}\s*\)?\s*", re.ASCII)
_NAMED = re.compile(r"\s*([A-Za-z_]\w*)\s*=(.*)", re.ASCII | re.DOTALL)


def shape_of(layout: Layout, written: str | None) -> tuple[int, ...] | dict[str, int]:
    """Return what ``--shape`` says; extents that are numbers need not be said, and then none may.

    Raises:
        Failure: it is no shape, or is missing where something is open.
    """
    axes = layout.element_axes
    fixed = [None if isinstance(axis.extent, Extent) else axis.extent.value for axis in axes]
    known = [*fixed, *(None for _ in layout.parameters)]
    names = [*(text(axis.extent) for axis in axes), *layout.parameters]
    open_ = [name for name, value in zip(names, known, strict=True) if value is None]
    hint = f"write one number for each of {', '.join(open_ or names)}"
    if written is None and open_:
        raise Failure(Exit.USAGE, "--shape is missing", hint.replace("write", "give it"))
    found = numbers(written or "", "--shape", hint)
    if isinstance(found, dict):
        return found
    if len(found) == len(open_):
        given = iter(found)
        return tuple(next(given) if value is None else value for value in known)
    if layout.bit_of is not None and len(found) == len(layout.tensor_axes):
        return (*found, layout.bit_of.bits)
    return found


def index_of(layout: Layout, written: str, shape: Shape) -> tuple[int, ...] | dict[str, int]:
    """Return what ``--index`` says.

    Raises:
        ValueError: the shape does not fit the layout.
    """
    last = (extent - 1 for extent in layout.element_shape(layout.bind(shape)))
    return numbers(written, "--index", f"write --index {','.join(map(str, last))}")


def numbers(written: str, option: str, hint: str) -> tuple[int, ...] | dict[str, int]:
    """Return ``2,20,3,4`` as a tuple, and ``N=2,C=20`` as a mapping.

    Args:
        written: on the command line.
        option: that it was given to.
        hint: what to write, where it is something else.

    Raises:
        Failure: it is something else.
    """
    parts = [part for part in written.split(",") if part.strip()]
    pairs = [_NAMED.fullmatch(part) for part in parts]
    if not any(pairs):
        if _JOINED.fullmatch(written):
            commas = ",".join(re.findall(r"[0-9]+", written))
            message = f"the numbers of {option} are separated by commas"
            raise Failure(Exit.USAGE, message, f"write {option} {commas}")
        return tuple(_number(part, option, hint) for part in parts)
    values: dict[str, int] = {}
    for part, pair in zip(parts, pairs, strict=True):
        if pair is None:
            raise Failure(Exit.USAGE, f"{option} names some numbers, and not `{part.strip()}`")
        if pair[1] in values:
            raise Failure(Exit.USAGE, f"{option} names `{pair[1]}` twice")
        values[pair[1]] = _number(pair[2], option, hint)
    return values


def _number(part: str, option: str, hint: str) -> int:
    word = part.strip()
    if not re.fullmatch(r"[+-]?[0-9]+", word):
        raise Failure(Exit.USAGE, f"`{word[:40]}` in {option} is not an integer", hint)
    if len(word) > MOST_DIGITS:
        message = f"`{word[:40]}` in {option} is too large"
        raise Failure(Exit.USAGE, message, f"a number has {MOST_DIGITS} digits at most")
    return int(word)
