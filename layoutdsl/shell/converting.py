"""``convert``: a packed `.npy` file into the order of another layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from layoutdsl.shell.arrays import DESTINATION, SOURCE, VERBOSE, extents_of, fill_of, named
from layoutdsl.shell.destination import refuse_inputs
from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.options import COMPILED, SHAPE, choice, forced, proving, quiet
from layoutdsl.shell.output import error
from layoutdsl.shell.progress import Way, progress_option
from layoutdsl.shell.records import convert_records, refuse_options
from layoutdsl.shell.shapes import shape_of
from layoutdsl.shell.targets import Target, target
from layoutdsl.shell.telling import notes, say_done

if TYPE_CHECKING:
    from layoutdsl.commands import CompileTarget, Conversion
    from layoutdsl.language.meaning.model import Layout
    from layoutdsl.language.meaning.record import Record

_ANYWAY = "`--unvalidated` converts all the same"


@click.command(short_help="Convert a packed .npy file into another layout.")
@click.argument("one", metavar="A")
@click.argument("other", metavar="B")
@SOURCE
@DESTINATION
@SHAPE
@click.option(
    "--axes",
    metavar="n=b,h=y",
    help="Which axes of B are which of A, A's name first; or all of B's in A's order: b,c,y,x.",
)
@click.option("--fill", metavar="V", help="What padding holds, instead of what B says.")
@COMPILED
@proving
@choice("unvalidated", "trust", "Convert by code that was not proved to do what A and B mean.")
@progress_option
@VERBOSE
@quiet
@forced
def convert(
    one: str,
    other: str,
    source: str | None,
    destination: str | None,
    shape: str | None,
    axes: str | None,
    fill: str | None,
    compiled: CompileTarget,
    range_: str | None,
    unproved: bool,
    trust: str,
    way: Way,
    verbose: int,
) -> None:
    """Convert a buffer of A into one of B: unpack and pack in one pass, without the tensor between.

    A and B are FILE:NAME, a layout of the library, or NOTATION:TEXT. Axes go by name where both
    have the same names, else by order, which is then said; --axes says otherwise, and what it
    leaves out goes by name or order again. --shape is that of the tensor, in the axes of A.

    - is the standard input or output. OUT.npy is written whole or not at all. What padding held in
    A is not read; in B it holds what B says, or --fill. Where the blocks of A and B do not divide
    one another the tensor is unpacked and packed again, and -v says so.

    \b
      layoutdsl convert NCHW16c NHWC in.npy out.npy --shape 2,20,3,4
      layoutdsl convert R4CroutonLayout NHWC in.npy - \\
          --shape 1,56,56,64 --axes n,h,w,c

    Records are converted field by field, where both have the same fields; --shape is that of the
    first, and a file whose name ends in .bin holds bytes without a header.

    \b
      layoutdsl convert Q4_0 Q4_0_4x8 in.bin out.bin --shape 4096,4096
    """
    from layoutdsl.shell import elements, npy
    from layoutdsl.shell.at_once import amounts, under_way

    source, destination = named(source), named(destination, "OUT.npy")
    first, second = target(one, range_, unproved), target(other, unproved=unproved)
    records = _records(first, second)
    if records is not None:
        told = None if way == "auto" else way
        refuse_options(records[0], {"--axes": axes, "--fill": fill, "--progress": told})
        files = source, destination
        convert_records((first, second), records, files, shape, compiled, trust, verbose)
        return
    before, after = first.layout, second.layout
    refuse_inputs(destination, source, first.place, second.place)
    _refuse_types(before, after)
    value = None if fill is None else fill_of(fill)
    if value is not None:
        elements.refuse_fill(after, value)
    elements.refuse_unfilled(after, value)
    axes = _axes(before, after, axes)
    with usage():
        extents = extents_of(before, shape_of(before, shape))
    given = npy.read(source)
    buffer = given.array
    for layout in (before, after):
        elements.refuse_items(layout, source, buffer)
    conversion = _ready(first, second, axes, compiled, trust)
    elements.refuse_unheld(after, value, buffer)
    if verbose and conversion.fallback is not None:
        error(f"note: through the tensor: {conversion.fallback}")
    with under_way("convert", way, source, buffer) as progress:
        with notes(), npy.fitting(f"`{source}`"):
            converted = conversion(buffer, extents, fill=value)
        npy.write(destination, converted, given, amounts(progress, destination, converted))
    say_done("converted", buffer, converted, verbose)


def _records(first: Target, second: Target) -> tuple[Record, Record] | None:
    """Both records; nothing where neither is one."""
    one, other = first.record, second.record
    if one is not None and other is not None:
        return one, other
    if one is not None:
        record, layout = one, second.layout
    elif other is not None:
        record, layout = other, first.layout
    else:
        return None
    message = f"`{record.name}` is a record, and `{layout.name}` a layout"
    raise Failure(Exit.USAGE, message, "a record is converted into another record")


def _ready(
    first: Target, second: Target, axes: str | None, compiled: CompileTarget, trust: str
) -> Conversion:
    from layoutdsl.commands import convert as ready
    from layoutdsl.shell.verdicts import refusing

    one, other = first.layout, second.layout
    with usage(), refusing(first, second, hint=_ANYWAY), notes():
        return ready(
            one,
            other,
            axes,
            compiled=compiled,
            validate=trust == "plain",
            unproved=first.unproved,
        )


def _refuse_types(before: Layout, after: Layout) -> None:
    one, other = before.element, after.element
    if one is not None and other is not None and one != other:
        words = f"`{before.name}` is of {one.name}, and `{after.name}` of {other.name}"
        raise Failure(Exit.USAGE, f"{words}: elements are moved as they are")


def _axes(before: Layout, after: Layout, axes: str | None) -> str | None:
    """Return which axes are which; those that go by their order are a guess, and are told."""
    from layoutdsl.language.offsets.axes import pairing

    before, after = before.first_copy, after.first_copy
    if before.rank != after.rank:
        return axes
    with usage():
        found = pairing(before, after, axes)
    if axes is not None or found.how != "position":
        return axes
    pairs = ",".join(f"{name}={theirs}" for name, theirs in found.pairs)
    error(f"note: axes go by their order: --axes {pairs}")
    return pairs
