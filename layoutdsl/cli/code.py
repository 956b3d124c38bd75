"""``formula`` and ``generate``: what a layout computes, and the module that does it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from layoutdsl.cli.c_files import c_files
from layoutdsl.cli.destination import refuse
from layoutdsl.cli.exits import Exit, Failure, reading, usage, writing
from layoutdsl.cli.kernels import kernel_functions
from layoutdsl.cli.options import JSON, TARGET, choice
from layoutdsl.cli.output import error, say, say_json
from layoutdsl.cli.targets import Target, source_of, target

if TYPE_CHECKING:
    from layoutdsl.api import Generated
    from layoutdsl.meaning.model import Layout


FORMULAS = ("python", "latex", "sympy")
KERNELS = ("c", "opencl", "cuda", "triton", "mlir")


@click.command(short_help="Print offset, size and inverse, for people or for kernels.")
@TARGET
@click.option(
    "--as",
    "language",
    type=click.Choice([*FORMULAS, *KERNELS]),
    default="python",
    show_default=True,
    help="The language: formulas for people, or functions for kernels.",
)
@click.option(
    "--where",
    "range_",
    metavar="RANGE",
    help='Functions for a range of shapes only: --where "N <= 8, C <= 4096".',
)
@click.option(
    "--width",
    type=click.Choice(["auto", "32", "64"]),
    default="auto",
    show_default=True,
    help="Bits of the integers of functions; auto takes 32 where these are proved to be enough.",
)
@JSON
def formula(written: str, language: str, range_: str | None, width: str, form: str) -> int:
    """Print where an element lies, the size of the buffer, and what a slot holds.

    \b
      layoutdsl formula NCHW16c
      layoutdsl formula demo.layout:NCHW16c --as latex
      layoutdsl formula NCHW16c --as cuda --where "N <= 64, C <= 4096, H <= 64, W <= 64"

    python, sympy and latex are formulas in integers of any size. c, opencl, cuda, triton and mlir
    are functions to be called from a kernel, of a layout that is proved first: NAME_offset,
    NAME_size, NAME_physical_shape, NAME_padded_extents, NAME_index from a slot back to the index
    or to padding, and NAME_has_slot where some indices have none.

    Their integers have 32 bits if it is proved that every value on the way fits, for all shapes of
    the range; else 64. The head of the text names the range and the proof. Where the range has no
    largest shape, 64 bits are proved for extents up to a power of two: narrow it with --where.

    Ends with 1 where integers of that width are too narrow, and shows where; with 3 where that is
    undecided.
    """
    from layoutdsl.cli.sheet import sheet_json, sheet_text

    chosen = target(written)
    if language in KERNELS:
        return kernel_functions(chosen, language, range_, width, form)
    for option, given in (("--where", range_ is not None), ("--width", width != "auto")):
        if given:
            message = f"{option} is for functions, and {language} has integers of any size"
            raise Failure(Exit.USAGE, message, f"choose one of them: --as {', '.join(KERNELS)}")
    if form == "json":
        say_json(sheet_json(chosen.layout, language))
    else:
        say(sheet_text(chosen.layout, language))
    return Exit.OK


@click.command(short_help="Generate numpy or C code, proved.")
@click.argument("written", metavar="FILE[:NAME]")
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="PATH",
    help="A file; a directory, for one module per layout; or - for the standard output.",
)
@click.option(
    "--target",
    "language",
    type=click.Choice(["numpy", "c"]),
    default="numpy",
    show_default=True,
    help="A Python module, or a pair of a .c and a .h file.",
)
@choice("check", "mode", "Write nothing; exit 1 if what is on the disk differs.")
@choice("unvalidated", "trust", "Generate code that was not proved to do what the layout means.")
def generate(written: str, output: str, language: str, mode: str, trust: str) -> int:
    """Prove a layout and generate a numpy module, or C, that packs and unpacks it.

    \b
      layoutdsl generate NCHW16c -o nchw16c.py
      layoutdsl generate NCHW16c --target c -o nchw16c.c
      layoutdsl generate demo.layout -o modules/
      layoutdsl generate demo.layout -o modules/ --check

    The text of the module is read back, and it is proved for all shapes that it does what the
    layout means; VALIDATED in its head names that proof. Where there is none, nothing is written,
    unless --unvalidated asks for it: then the head says VALIDATED = False.

    Of C it is proved that the digits which it moves by are those of the layout: its head names that
    proof, or says with --unvalidated that there is none. The C itself is held against its meaning
    by tests, and not read back. To the standard output goes the .c alone.

    A file that layoutdsl did not generate is not replaced.
    """
    chosen = target(written)
    layouts = _closed(chosen)
    folder = output != "-" and (output.endswith("/") or Path(output).is_dir())
    if len(layouts) != 1 and not folder:
        hint = f"name one, as `{chosen.place}:NAME`, or give a directory: -o modules/"
        raise Failure(Exit.USAGE, f"{chosen.called} has {len(layouts)} layouts", hint)
    if output == "-" and mode == "check":
        raise Failure(Exit.USAGE, "--check compares with a file", "name it: -o PATH")
    if language == "c":
        return c_files(chosen, layouts, output, folder, mode, trust)
    made = [_generated(chosen, layout, trust) for layout in layouts]
    if output == "-":
        click.echo(made[0].text, nl=False)
        return Exit.OK
    places = [Path(output) / f"{each.name}.py" if folder else Path(output) for each in made]
    if folder and mode != "check":
        with writing(f"`{output}`"):
            Path(output).mkdir(parents=True, exist_ok=True)
    if mode != "check":
        for each, place in zip(made, places, strict=True):
            refuse(place, each.text, chosen.place)
    put = _compare if mode == "check" else _write
    codes = [put(each, place) for each, place in zip(made, places, strict=True)]
    return max(codes, default=Exit.OK)


def _closed(chosen: Target) -> tuple[Layout, ...]:
    """The layouts that code can be generated for; in a whole file, those without parameters."""
    if chosen.name is not None:
        return chosen.layouts
    for layout in [each for each in chosen.layouts if each.parameters]:
        error(f"note: `{layout.name}` has open parameters and is left out")
    return tuple(each for each in chosen.layouts if not each.parameters)


def _generated(chosen: Target, layout: Layout, trust: str) -> Generated:
    from layoutdsl.api import generate as generated
    from layoutdsl.cli.verdicts import refusing

    with usage(), refusing(chosen):
        return generated(layout, source=source_of(chosen, layout), validate=trust == "plain")


def _write(generated: Generated, place: Path) -> Exit:
    with writing(f"`{place}`"):
        generated.write(place)
    say(f"wrote {place}{_falls_back(generated)}")
    return Exit.OK


def _compare(generated: Generated, place: Path) -> Exit:
    if not place.exists():
        say(f"differs: {place} is not there")
        return Exit.REFUTED
    with reading(f"`{place}`"):
        same = place.read_bytes() == generated.text.encode()
    say(f"same: {place}" if same else f"differs: {place}")
    return Exit.OK if same else Exit.REFUTED


def _falls_back(generated: Generated) -> str:
    return "" if generated.fallback is None else f"  (element by element: {generated.fallback})"
