"""``pack`` and ``unpack``: a `.npy` file into a layout's order, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from layoutdsl.cli.exits import Exit, Failure, usage
from layoutdsl.cli.options import SHAPE, TARGET
from layoutdsl.cli.targets import Target, numbers, target

if TYPE_CHECKING:
    from types import ModuleType

    from layoutdsl.model import Layout

SOURCE = click.argument("source", metavar="IN.npy")
DESTINATION = click.argument("destination", metavar="OUT.npy")


@click.command(short_help="Pack a .npy file.")
@TARGET
@SOURCE
@DESTINATION
@click.option("--fill", metavar="V", help="What padding holds, instead of what the layout says.")
def pack(written: str, source: str, destination: str, fill: str | None) -> None:
    """Pack a tensor: put its elements where the layout says, and fill the padding.

    - is the standard input or output. OUT.npy is written whole or not at all.

    \b
      layoutdsl pack NCHW16c in.npy out.npy
      layoutdsl pack demo.layout:Crouton in.npy out.npy --fill 31
    """
    from layoutdsl.cli import npy

    chosen = target(written)
    layout = chosen.layout
    value = None if fill is None else _fill(fill)
    tensor = npy.read(source)
    if tensor.ndim != layout.rank:
        axes = ", ".join(axis.name for axis in layout.axes)
        needed = f"`{layout.name}` takes one of rank {layout.rank}: {axes}"
        raise Failure(Exit.INPUT, f"`{source}` is of rank {tensor.ndim}, and {needed}")
    module = _ready(chosen, layout)
    with npy.fitting(source):
        packed = module.pack(tensor) if value is None else module.pack(tensor, fill=value)
    npy.write(destination, packed)


@click.command(short_help="Unpack a .npy file.")
@TARGET
@SOURCE
@DESTINATION
@SHAPE
def unpack(written: str, source: str, destination: str, shape: str) -> None:
    """Unpack a buffer: take the elements of a tensor out of it, and drop the padding.

    - is the standard input or output. OUT.npy is written whole or not at all.

    \b
      layoutdsl unpack NCHW16c out.npy back.npy --shape 2,20,3,4
    """
    from layoutdsl.cli import npy

    chosen = target(written)
    layout = chosen.layout
    with usage():
        extents = layout.shape_of(layout.bind(numbers(shape, "--shape")))
    packed = npy.read(source)
    module = _ready(chosen, layout)
    with npy.fitting(source):
        tensor = module.unpack(packed, extents)
    npy.write(destination, tensor)


def _fill(written: str) -> int | float:
    for number in (int, float):
        try:
            return number(written)
        except ValueError:
            continue
    raise Failure(Exit.USAGE, f"`{written[:40]}` in --fill is not a number")


def _ready(chosen: Target, layout: Layout) -> ModuleType:
    """The compiled layout; one that is refuted moves no data."""
    from layoutdsl.api import compile as compiled
    from layoutdsl.cli.verdicts import refusing

    with usage(), refusing(chosen):
        return compiled(layout)
