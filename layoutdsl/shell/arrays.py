"""What `pack` and `unpack` have in common: files, shapes, fills, and what neither does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from layoutdsl.language.integers.expr import text
from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.targets import Target
from layoutdsl.shell.telling import notes

if TYPE_CHECKING:
    from layoutdsl.commands import CompileTarget
    from layoutdsl.language.meaning.model import Layout
    from layoutdsl.language.meaning.storage import StorageName

SOURCE = click.argument("source", metavar="IN.npy", required=False)
DESTINATION = click.argument("destination", metavar="OUT.npy", required=False)
VERBOSE = click.option(
    "-v", "--verbose", count=True, help="Say what was done, as a terminal is told."
)


def named(place: str | None, word: str = "IN.npy") -> str:
    """A file that has to be named."""
    if place is None:
        raise click.UsageError(f"Missing argument '{word}'.", click.get_current_context())
    return place


def extents_of(layout: Layout, shape: tuple[int, ...] | dict[str, int]) -> tuple[int, ...]:
    """Return the extents of a tensor in axis order; 0, which is none, is left to the module."""
    if isinstance(shape, Mapping):
        return _named_extents(layout, shape)
    values = layout.bind([each or 1 for each in shape])
    lifted = layout.element_shape(values)
    if len(shape) >= layout.rank:
        shape = tuple(
            n for n, a in zip(shape, layout.axes, strict=False) if a in layout.element_axes
        )
    return tuple(0 if given == 0 else each for given, each in zip(shape, lifted, strict=False))


def bitless(layout: Layout, extents: tuple[int, ...]) -> tuple[int, ...]:
    """Return the extents of a tensor of elements, where a layout places their bits."""
    return extents if layout.bit_of is None else extents[: len(layout.tensor_axes)]


def _named_extents(layout: Layout, shape: Mapping[str, int]) -> tuple[int, ...]:
    lifted = layout.element_shape(layout.bind({name: each or 1 for name, each in shape.items()}))
    empty = {name for name, each in shape.items() if each == 0}
    return tuple(
        0 if axis.name in empty or text(axis.extent) in empty else each
        for axis, each in zip(layout.element_axes, lifted, strict=True)
    )


def fill_of(written: str) -> int | float:
    """Return what ``--fill`` says."""
    for number in (int, float):
        try:
            return number(written)
        except ValueError:
            continue
    raise Failure(Exit.USAGE, f"`{written[:40]}` in --fill is not a number")


BY_ONE_RUN = "`layoutdsl pack --mem` packs it in pieces, by one run"


def refuse_bits(layout: Layout) -> None:
    """Fail where a layout places the bits of its elements, and items are planned."""
    if layout.bit_of is not None:
        words = f"`{layout.name}` places the bits of its elements, and plans are of items"
        raise Failure(Exit.USAGE, words, BY_ONE_RUN)


def refuse_raw_words(raw: str | None, storage: StorageName, scale: str | None) -> None:
    """Fail where a file without a header would hold words, or real numbers."""
    what = "real numbers" if scale is not None else "words"
    if raw is not None and (storage != "items" or scale is not None):
        hint = "leave out --raw: a .npy file says what it holds"
        raise Failure(Exit.USAGE, f"--raw is for items, and not for {what}", hint)


def ready(
    chosen: Target, layout: Layout, compiled: CompileTarget, storage: StorageName = "items"
) -> Any:
    """The compiled layout; one that is refuted moves no data."""
    from layoutdsl.commands import compile as ready
    from layoutdsl.shell.verdicts import refusing

    with usage(), refusing(chosen), notes():
        return ready(layout, compiled, storage=storage, unproved=chosen.unproved)
