"""``pack`` and ``unpack``: a `.npy` file into a layout's order, and back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import click

from layoutdsl.cli.destination import refuse_inputs
from layoutdsl.cli.exits import Exit, Failure, usage
from layoutdsl.cli.large import Large, in_pieces, pack_large, unpack_large
from layoutdsl.cli.numbers import (
    TYPES,
    Numbers,
    no_pieces,
    pack_numbers,
    refuse_floats,
    refuse_unfit,
    scaled,
    unpack_numbers,
)
from layoutdsl.cli.options import BYTES, COMPILED, SHAPE, TARGET, WORD, choice, storage_of
from layoutdsl.cli.progress import Way
from layoutdsl.cli.records import (
    files_of,
    pack_record,
    refuse_fields,
    refuse_options,
    unpack_record,
)
from layoutdsl.cli.targets import Target, shape_of, target
from layoutdsl.cli.telling import notes, say_done, say_words
from layoutdsl.cli.weights import (
    Limits,
    by_itself,
    by_rules,
    pack_by_rules,
    refuse_alone,
    refuse_both,
    unpack_by_itself,
)
from layoutdsl.integers.expr import text

if TYPE_CHECKING:
    from layoutdsl.api import CompileTarget
    from layoutdsl.meaning.model import Layout
    from layoutdsl.meaning.storage import StorageName

SOURCE = click.argument("source", metavar="IN.npy", required=False)
DESTINATION = click.argument("destination", metavar="OUT.npy", required=False)
VERBOSE = click.option(
    "-v", "--verbose", count=True, help="Say what was done, as a terminal is told."
)


@click.command(short_help="Pack a .npy file.")
@TARGET
@SOURCE
@DESTINATION
@click.option(
    "--field",
    "fields",
    multiple=True,
    metavar="NAME=FILE",
    help="Of a record: the .npy file of a field; each has one then, and no IN is named.",
)
@click.option("--fill", metavar="V", help="What padding holds, instead of what the layout says.")
@scaled
@WORD
@BYTES
@COMPILED
@click.option("--shape", metavar="2,20,3,4", help="The extents of a tensor without a header.")
@in_pieces
@by_rules
@VERBOSE
def pack(
    written: str,
    source: str | None,
    destination: str | None,
    fields: tuple[str, ...],
    fill: str | None,
    scale: str | None,
    zero_point: str | None,
    word: str | None,
    dense: str,
    compiled: CompileTarget,
    shape: str | None,
    mem: int | None,
    jobs: int | None,
    raw: str | None,
    way: Way,
    rules: str | None,
    output: str | None,
    unruled: Literal["keep", "refuse"],
    called: str | None,
    verbose: int,
) -> None:
    """Pack a tensor: put its elements where the layout says, and fill the padding.

    - is the standard input or output. OUT.npy is written whole or not at all. Elements narrower
    than a byte are one per item of 8 bits, and packed so too, unless --word or --bytes asks for
    words without room between them. bf16 and f8 travel as uint16 and uint8, or as the bare bytes of
    2 or 1 that numpy saves arrays of ml_dtypes as; OUT.npy holds items of the same type as IN.npy.

    \b
      layoutdsl pack NCHW16c in.npy out.npy
      layoutdsl pack demo.layout:Crouton in.npy out.npy --fill 31
      layoutdsl pack AwqWeights in.npy out.npy --word i32
      layoutdsl pack NCHW16c large.npy out.npy --mem 256M --jobs 2
      layoutdsl pack NCHW16c in.bin out.bin --raw f32 --shape 2,20,3,4

    Where elements are codes (`of u8 as scale_offset`), --scale and --zero-point store real numbers
    as the nearest codes; without them IN.npy holds codes, and --fill says what padding holds.

    \b
      layoutdsl pack demo.layout:Quantised in.npy out.npy --scale 0.02 --zero-point 128

    Of a record IN is an .npz archive with an array for each field, or each has a --field. OUT.npy
    holds bytes; they have no header where its name ends in .bin, or with --raw u8.

    \b
      layoutdsl pack Q4_0 fields.npz out.bin
      layoutdsl pack Q4_0 out.npy --field d=d.npy --field q=q.npy

    With --mem a tensor of any size is packed in pieces, each a run of outermost blocks; that pieces
    are disjoint and cover all is proved first. What is done lies in OUT.npy.part; where a run was
    interrupted, the same command goes on with it, unless the input or the layout has changed.

    With --rules the first word is a file of weights, and every tensor in it is packed by the first
    rule for its name, in pieces. What was packed, and how, stands in the result.

    \b
      layoutdsl pack model.safetensors --rules rules.layout -o packed.safetensors --jobs 2
    """
    from layoutdsl.cli import elements, npy

    if rules is not None:
        single = {"--fill": fill, "--word": word, "--bytes": dense, "--shape": shape, "--raw": raw}
        refuse_both("pack", (source, destination), {**single, "--field": fields})
        limits = Limits(mem, jobs, way, called)
        pack_by_rules((written, output), rules, unruled, limits, compiled, verbose)
        return
    refuse_alone("pack", "--rules", {"-o": output, "--strict": unruled, "--format": called})
    source = _named(source)
    storage = storage_of(word, dense)
    chosen = target(written)
    if chosen.record is None:
        refuse_fields(chosen.layout.name, fields)
    source, destination = files_of(source, destination, fields)
    if chosen.record is not None:
        options = {"--fill": fill, "--word": word, "--bytes": dense, "--mem": mem, "--jobs": jobs}
        options["--progress"] = None if way == "auto" else way
        options |= {"--scale": scale, "--zero-point": zero_point}
        refuse_options(chosen.record, options)
        files = source, destination
        pack_record(chosen, chosen.record, files, fields, shape, compiled, raw, verbose)
        return
    layout, numbers = chosen.layout, Numbers(scale, zero_point)
    refuse_inputs(destination, source, chosen.place)
    refuse_unfit(layout, numbers)
    value = None if fill is None else fill_of(fill)
    if value is not None:
        elements.refuse_fill(layout, value)
    asked = Large(mem, jobs, raw, way)
    if numbers.asked:
        if asked.asked or shape is not None:
            raise no_pieces()
        files = source, destination
        make = partial(ready, chosen, layout, compiled, storage)
        pack_numbers(chosen, files, numbers, value, make, verbose)
        return
    if asked.asked or shape is not None:
        refuse_words(storage, layout)
        refuse_copies(layout)
        with usage():
            said = shape is not None or (raw is not None and not layout.symbols)
            extents = extents_of(layout, shape_of(layout, shape)) if said else None
        ready(chosen, layout, compiled)
        with notes():
            done = pack_large(layout, (source, destination), asked, compiled, value, extents)
        say_words(done, verbose)
        return
    given = npy.read(source)
    tensor = given.array
    if tensor.ndim != len(layout.tensor_axes):
        axes = ", ".join(axis.name for axis in layout.tensor_axes)
        needed = f"`{layout.name}` takes one of rank {len(layout.tensor_axes)}: {axes}"
        raise Failure(Exit.INPUT, f"`{source}` is of rank {tensor.ndim}, and {needed}")
    refuse_floats(layout, source, tensor)
    elements.refuse_items(layout, source, tensor)
    elements.refuse_values(layout, source, tensor)
    module = ready(chosen, layout.of_codes, compiled, storage)
    elements.refuse_unheld(layout, value, tensor)
    with notes(), npy.fitting(f"`{source}`"):
        packed = module.pack(tensor) if value is None else module.pack(tensor, fill=value)
    npy.write(destination, packed, given)
    say_done("packed", tensor, packed, verbose)


@click.command(short_help="Unpack a .npy file.")
@TARGET
@SOURCE
@DESTINATION
@SHAPE
@scaled
@click.option(
    "--to",
    "type_",
    type=click.Choice(list(TYPES)),
    default="f32",
    show_default=True,
    help="With --scale: the type of the numbers.",
)
@WORD
@BYTES
@COMPILED
@in_pieces
@choice("check", "copies", "Fail where copies of an element differ, before OUT.npy is written.")
@by_itself
@VERBOSE
def unpack(
    written: str,
    source: str | None,
    destination: str | None,
    shape: str | None,
    scale: str | None,
    zero_point: str | None,
    type_: str,
    word: str | None,
    dense: str,
    compiled: CompileTarget,
    mem: int | None,
    jobs: int | None,
    raw: str | None,
    copies: str,
    way: Way,
    output: str | None,
    called: str | None,
    verbose: int,
) -> None:
    """Unpack a buffer: take the elements of a tensor out of it, and drop the padding.

    - is the standard input or output. OUT.npy is written whole or not at all. Elements narrower
    than a byte are one per item of 8 bits; bf16 and f8 travel as uint16 and uint8, or as the bare
    bytes that were packed, whose type `array.view(ml_dtypes.bfloat16)` gives back.

    \b
      layoutdsl unpack NCHW16c out.npy back.npy --shape 2,20,3,4
      layoutdsl unpack NCHW16c large.npy back.npy --shape 64,256,512,512 --mem 256M --jobs 2

    Where elements are codes, --scale and --zero-point return the real numbers that they stand for;
    without them OUT.npy holds codes.

    \b
      layoutdsl unpack demo.layout:Quantised out.npy back.npy --shape 2,20,3,4 --scale 0.02 \\
          --zero-point 128

    Of a layout that puts an element into several slots the first is read, and --check compares them
    all. With --mem it goes in pieces, as `pack` does. The buffer of a record is unpacked into an
    archive with an array for each field; it has no header where its name ends in .bin, or with
    --raw u8.

    \b
      layoutdsl unpack Q4_0 in.bin fields.npz --shape 4096,4096

    With -o the first word is a file of packed weights; it says itself how.

    \b
      layoutdsl unpack packed.safetensors -o model.safetensors
    """
    from layoutdsl.cli import elements, npy

    if output is not None:
        single = {"--shape": shape, "--word": word, "--bytes": dense, "--raw": raw}
        refuse_both("unpack", (source, destination), single)
        limits = Limits(mem, jobs, way, called)
        unpack_by_itself((written, output), limits, compiled, verbose)
        return
    refuse_alone("unpack", "-o", {"--format": called})
    source, destination = _named(source), _named(destination, "OUT.npy")
    storage = storage_of(word, dense)
    chosen = target(written)
    if chosen.record is not None:
        options = {"--word": word, "--bytes": dense, "--mem": mem, "--jobs": jobs}
        options["--progress"] = None if way == "auto" else way
        options |= {"--scale": scale, "--zero-point": zero_point}
        options["--check"] = copies
        refuse_options(chosen.record, options)
        files = source, destination
        unpack_record(chosen, chosen.record, files, shape, compiled, raw, verbose)
        return
    layout, numbers = chosen.layout, Numbers(scale, zero_point)
    refuse_inputs(destination, source, chosen.place)
    refuse_unfit(layout, numbers)
    with usage():
        extents = extents_of(layout, shape_of(layout, shape))
    asked = Large(mem, jobs, raw, way)
    if numbers.asked:
        if asked.asked:
            raise no_pieces()
        files = source, destination
        make = partial(ready, chosen, layout, compiled, storage)
        unpack_numbers(chosen, files, numbers, extents, make, verbose, type_)
        return
    if asked.asked:
        refuse_words(storage, layout)
        if copies == "check":
            hint = "leave out --check, or --mem, --jobs and --raw"
            raise Failure(Exit.USAGE, "copies are compared of a whole buffer", hint)
        ready(chosen, layout, compiled)
        with notes():
            done = unpack_large(layout, (source, destination), asked, compiled, extents)
        say_words(done, verbose)
        return
    given = npy.read(source)
    packed = given.array
    if storage == "items" and layout.bit_of is None:
        elements.refuse_items(layout, source, packed)
    module = ready(chosen, layout.of_codes, compiled, storage)
    with notes(), npy.fitting(f"`{source}`"):
        tensor = module.unpack(packed, extents[: len(layout.tensor_axes)])
    if copies == "check":
        _refuse_differing(layout, source, packed, extents, storage)
    npy.write(destination, tensor, given)
    say_done("unpacked", packed, tensor, verbose)


def _named(place: str | None, word: str = "IN.npy") -> str:
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


def refuse_words(storage: StorageName, layout: Layout) -> None:
    """Fail where a file is packed in pieces, which are of items."""
    if storage != "items":
        hint = "leave out --mem, --jobs, --raw and --shape"
        raise Failure(Exit.USAGE, "words are packed at once, and not in pieces", hint)
    if layout.bit_of is not None:
        words = f"`{layout.name}` places the bits of its elements, and is packed at once"
        raise Failure(Exit.USAGE, words, "leave out --mem, --jobs, --raw and --shape")


def refuse_copies(layout: Layout) -> None:
    """Fail where a tensor would be packed in pieces, and each element has several slots."""
    if layout.copies:
        words = f"`{layout.name}` holds copies of its elements, and is packed at once"
        raise Failure(Exit.USAGE, words, "leave out --mem, --jobs, --raw and --shape")


def _refuse_differing(
    layout: Layout,
    source: str,
    packed: Any,
    extents: tuple[int, ...],
    storage: StorageName,
) -> None:
    """Fail where a buffer holds other copies of an element than the first."""
    from layoutdsl.api import differing_copies

    with usage(), notes():
        found = differing_copies(layout, packed, extents, storage=storage)
    if found is not None:
        raise Failure(Exit.REFUTED, f"`{source}`: {found}", "nothing is written")


def ready(
    chosen: Target, layout: Layout, compiled: CompileTarget, storage: StorageName = "items"
) -> Any:
    """The compiled layout; one that is refuted moves no data."""
    from layoutdsl.api import compile as ready
    from layoutdsl.cli.verdicts import refusing

    with usage(), refusing(chosen), notes():
        return ready(layout, compiled, storage=storage)
