"""``pack``: a `.npy` file into a layout's order."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import click

from layoutdsl.shell.destination import refuse_inputs
from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.large import Large, in_pieces, pack_large
from layoutdsl.shell.numbers import (
    Numbers,
    no_shape,
    pack_numbers,
    refuse_floats,
    refuse_scales,
    refuse_unfit,
    scaled,
    scales_of,
)
from layoutdsl.shell.options import (
    BYTES,
    COMPILED,
    TARGET,
    WORD,
    forced,
    proving,
    quiet,
    storage_of,
)
from layoutdsl.shell.progress import Way
from layoutdsl.shell.records import (
    files_of,
    pack_record,
    refuse_fields,
    refuse_options,
    refuse_told,
)
from layoutdsl.shell.shapes import shape_of
from layoutdsl.shell.targets import target
from layoutdsl.shell.telling import notes, say_done, say_words
from layoutdsl.shell.weights import (
    Limits,
    by_rules,
    pack_by_rules,
    refuse_alone,
    refuse_both,
    refuse_range,
)

if TYPE_CHECKING:
    from layoutdsl.commands import CompileTarget

from layoutdsl.shell.arrays import (
    DESTINATION,
    SOURCE,
    VERBOSE,
    bitless,
    extents_of,
    fill_of,
    named,
    ready,
    refuse_raw_words,
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
@proving
@click.option("--shape", metavar="2,20,3,4", help="The extents of a tensor without a header.")
@in_pieces
@by_rules
@VERBOSE
@quiet
@forced
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
    range_: str | None,
    unproved: bool,
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

    The layout is proved first. One that is undecided is refused, with a range in which it is proved
    if there is one: --where narrows the range, --unproved checks the shape of IN.npy instead.

    \b
      layoutdsl pack NCHW16c in.npy out.npy
      layoutdsl pack demo.layout:Crouton in.npy out.npy --fill 31
      layoutdsl pack AwqWeights in.npy out.npy --word i32
      layoutdsl pack NCHW16c large.npy out.npy --mem 256M --jobs 2
      layoutdsl pack NCHW16c in.bin out.bin --raw f32 --shape 2,20,3,4

    Where elements are codes (`of u8 as scale_offset`), --scale and --zero-point store real numbers
    as the nearest codes; without them IN.npy holds codes, and --fill says what padding holds.

    \b
      layoutdsl pack demo.layout:Quantised in.npy out.npy \\
          --scale 0.02 --zero-point 128

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
      layoutdsl pack model.safetensors --rules rules.layout \\
          -o packed.safetensors --jobs 2

    The index of a sharded checkpoint stands for its shards: one rules file packs all of them into a
    folder, each under its own name, and an index of the packed shards follows last.

    \b
      layoutdsl pack model.safetensors.index.json --rules rules.layout \\
          -o packed/
    """
    from layoutdsl.shell import elements, npy
    from layoutdsl.shell.at_once import amounts, under_way

    if rules is not None:
        single = {"--fill": fill, "--word": word, "--bytes": dense, "--shape": shape, "--raw": raw}
        refuse_both("pack", (source, destination), {**single, "--field": fields})
        refuse_range(range_)
        limits = Limits(mem, jobs, way, called, unproved)
        pack_by_rules((written, output), rules, unruled, limits, compiled, verbose)
        return
    refuse_alone("pack", "--rules", {"-o": output, "--strict": unruled, "--format": called})
    source = named(source)
    storage = storage_of(word, dense)
    chosen = target(written, range_, unproved)
    if chosen.record is None:
        refuse_fields(chosen.layout.name, fields)
    source, destination = files_of(source, destination, fields)
    if chosen.record is not None:
        options = {"--fill": fill, "--word": word, "--bytes": dense}
        options |= {"--scale": scale, "--zero-point": zero_point}
        large = Large(mem, jobs, raw, way, unproved=unproved)
        refuse_options(chosen.record, options | refuse_told(large))
        files = source, destination
        pack_record(chosen, chosen.record, files, fields, shape, compiled, large, verbose)
        return
    layout, numbers = chosen.layout, Numbers(scale, zero_point)
    refuse_inputs(destination, [source, *numbers.files], chosen.place)
    refuse_unfit(layout, numbers)
    value = None if fill is None else fill_of(fill)
    if value is not None:
        elements.refuse_fill(layout, value)
    asked = Large(mem, jobs, raw, way, storage, unproved=unproved)
    refuse_raw_words(raw, storage, numbers.scale)
    if numbers.asked and not asked.asked:
        if shape is not None:
            raise no_shape()
        files = source, destination
        make = partial(ready, chosen, layout, compiled, storage)
        pack_numbers(chosen, files, numbers, value, make, way, verbose)
        return
    if asked.asked or shape is not None:
        if numbers.asked:
            asked = replace(asked, scaled=scales_of(chosen, destination, numbers))
        else:
            elements.refuse_unfilled(layout, value)
        with usage():
            said = shape is not None or (raw is not None and not layout.symbols)
            extents = bitless(layout, extents_of(layout, shape_of(layout, shape))) if said else None
        module = ready(chosen, layout if numbers.asked else layout.of_codes, compiled, storage)
        if numbers.asked:
            refuse_scales(module, asked.scaled, npy.read(source).array.shape, layout)
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
    elements.refuse_unfilled(layout, value)
    elements.refuse_items(layout, source, tensor)
    elements.refuse_values(layout, source, tensor)
    module = ready(chosen, layout.of_codes, compiled, storage)
    elements.refuse_unheld(layout, value, tensor)
    with under_way("pack", way, source, tensor) as progress:
        with notes(), npy.fitting(f"`{source}`"):
            packed = module.pack(tensor) if value is None else module.pack(tensor, fill=value)
        npy.write(destination, packed, given, amounts(progress, destination, packed))
    say_done("packed", tensor, packed, verbose)
