"""``unpack``: a tensor out of a buffer in a `.npy` file."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from layoutdsl.shell.destination import refuse_inputs
from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.large import Large, in_pieces, unpack_large
from layoutdsl.shell.numbers import (
    TYPES,
    Numbers,
    refuse_scales,
    refuse_unfit,
    scaled,
    scales_of,
    unpack_numbers,
)
from layoutdsl.shell.options import (
    BYTES,
    COMPILED,
    SHAPE,
    TARGET,
    WORD,
    choice,
    forced,
    proving,
    quiet,
    storage_of,
)
from layoutdsl.shell.progress import Way
from layoutdsl.shell.records import refuse_options, refuse_told, unpack_record
from layoutdsl.shell.shapes import shape_of
from layoutdsl.shell.targets import target
from layoutdsl.shell.telling import notes, say_done, say_words
from layoutdsl.shell.weights import (
    Limits,
    by_itself,
    refuse_alone,
    refuse_both,
    refuse_range,
    unpack_by_itself,
)

if TYPE_CHECKING:
    from layoutdsl.commands import CompileTarget
    from layoutdsl.language.meaning.model import Layout
    from layoutdsl.language.meaning.storage import StorageName

from layoutdsl.shell.arrays import (
    DESTINATION,
    SOURCE,
    VERBOSE,
    bitless,
    extents_of,
    named,
    ready,
    refuse_raw_words,
)


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
@proving
@in_pieces
@choice("check", "copies", "Fail where copies of an element differ, before OUT.npy is written.")
@by_itself
@VERBOSE
@quiet
@forced
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
    range_: str | None,
    unproved: bool,
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
      layoutdsl unpack NCHW16c large.npy back.npy --shape 64,256,512,512 \\
          --mem 256M --jobs 2

    Where elements are codes, --scale and --zero-point return the real numbers that they stand for;
    without them OUT.npy holds codes.

    \b
      layoutdsl unpack demo.layout:Quantised out.npy back.npy --shape 2,20,3,4 \\
          --scale 0.02 --zero-point 128

    Of a layout that puts an element into several slots the first is read, and --check compares them
    all. With --mem it goes in pieces, as `pack` does. The buffer of a record is unpacked into an
    archive with an array for each field; it has no header where its name ends in .bin, or with
    --raw u8.

    \b
      layoutdsl unpack Q4_0 in.bin fields.npz --shape 4096,4096

    With -o the first word is a file of packed weights; it says itself how. An index stands for its
    shards, which are unpacked into a folder.

    \b
      layoutdsl unpack packed.safetensors -o model.safetensors
      layoutdsl unpack packed/model.safetensors.index.json -o model/
    """
    from layoutdsl.shell import elements, npy
    from layoutdsl.shell.at_once import amounts, under_way

    if output is not None:
        single = {"--shape": shape, "--word": word, "--bytes": dense, "--raw": raw}
        refuse_both("unpack", (source, destination), single)
        refuse_range(range_)
        limits = Limits(mem, jobs, way, called, unproved)
        unpack_by_itself((written, output), limits, compiled, verbose)
        return
    refuse_alone("unpack", "-o", {"--format": called})
    source, destination = named(source), named(destination, "OUT.npy")
    storage = storage_of(word, dense)
    chosen = target(written, range_, unproved)
    if chosen.record is not None:
        options = {"--word": word, "--bytes": dense, "--check": copies}
        options |= {"--scale": scale, "--zero-point": zero_point}
        large = Large(mem, jobs, raw, way, unproved=unproved)
        refuse_options(chosen.record, options | refuse_told(large))
        files = source, destination
        unpack_record(chosen, chosen.record, files, shape, compiled, large, verbose)
        return
    layout, numbers = chosen.layout, Numbers(scale, zero_point)
    refuse_inputs(destination, [source, *numbers.files], chosen.place)
    refuse_unfit(layout, numbers)
    with usage():
        extents = extents_of(layout, shape_of(layout, shape))
    asked = Large(mem, jobs, raw, way, storage, unproved=unproved)
    refuse_raw_words(raw, storage, numbers.scale)
    if numbers.asked and not asked.asked:
        files = source, destination
        make = partial(ready, chosen, layout, compiled, storage)
        unpack_numbers(chosen, files, numbers, extents, make, way, verbose, type_)
        return
    if asked.asked:
        if numbers.asked:
            more = {"dtype": TYPES[type_]}
            asked = replace(asked, scaled=scales_of(chosen, destination, numbers) | more)
        if copies == "check":
            hint = "leave out --check, or --mem, --jobs and --raw"
            raise Failure(Exit.USAGE, "copies are compared of a whole buffer", hint)
        module = ready(chosen, layout if numbers.asked else layout.of_codes, compiled, storage)
        if numbers.asked:
            refuse_scales(module, asked.scaled, extents, layout)
        with notes():
            sizes = bitless(layout, extents)
            done = unpack_large(layout, (source, destination), asked, compiled, sizes)
        say_words(done, verbose)
        return
    given = npy.read(source)
    packed = given.array
    if storage == "items" and layout.bit_of is None:
        elements.refuse_items(layout, source, packed)
    module = ready(chosen, layout.of_codes, compiled, storage)
    with under_way("unpack", way, source, packed) as progress:
        with notes(), npy.fitting(f"`{source}`"):
            tensor = module.unpack(packed, extents[: len(layout.tensor_axes)])
        if copies == "check":
            _refuse_differing(layout, source, packed, extents, storage, unproved)
        npy.write(destination, tensor, given, amounts(progress, destination, tensor))
    say_done("unpacked", packed, tensor, verbose)


def _refuse_differing(
    layout: Layout,
    source: str,
    packed: Any,
    extents: tuple[int, ...],
    storage: StorageName,
    unproved: bool,
) -> None:
    """Fail where a buffer holds other copies of an element than the first."""
    from layoutdsl.commands import differing_copies

    with usage(), notes():
        found = differing_copies(layout, packed, extents, storage=storage, unproved=unproved)
    if found is not None:
        raise Failure(Exit.REFUTED, f"`{source}`: {found}", "nothing is written")
