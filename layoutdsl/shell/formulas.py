"""``formula``: what a layout computes, for people or for kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.options import JSON, TARGET
from layoutdsl.shell.output import error, say, say_json
from layoutdsl.shell.targets import Target, target

if TYPE_CHECKING:
    from layoutdsl.code.index_functions import Width
    from layoutdsl.commands import IndexFunctions, WidthError


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
@click.option("--unproved", is_flag=True, help="Functions of an undecided layout; they say so.")
@JSON
def formula(
    written: str, language: str, range_: str | None, width: str, unproved: bool, form: str
) -> int:
    """Print where an element lies, the size of the buffer, and what a slot holds.

    \b
      layoutdsl formula NCHW16c
      layoutdsl formula demo.layout:NCHW16c --as latex
      layoutdsl formula NCHW16c --as cuda \\
          --where "N <= 64, C <= 4096, H <= 64, W <= 64"

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
    from layoutdsl.shell.sheet import sheet_json, sheet_text

    chosen = target(written, unproved=unproved)
    if language in KERNELS:
        return _kernel_functions(chosen, language, range_, width, form)
    options = {"--where": range_ is not None, "--width": width != "auto", "--unproved": unproved}
    for option, given in options.items():
        if given:
            message = f"{option} is for functions, and {language} has integers of any size"
            raise Failure(Exit.USAGE, message, f"choose one of them: --as {', '.join(KERNELS)}")
    if form == "json":
        say_json(sheet_json(chosen.layout, language))
    else:
        say(sheet_text(chosen.layout, language))
    return Exit.OK


def _kernel_functions(
    chosen: Target, language: str, range_: str | None, width: str, form: str
) -> int:
    """Print the index functions of a layout; on the standard error, how far they go."""
    from layoutdsl.commands import WidthError, index_functions
    from layoutdsl.shell.encode import plain
    from layoutdsl.shell.verdicts import refusing

    if range_ is not None and not range_.strip():
        hint = 'write a range: --where "C <= 4096, N == 1"'
        raise Failure(Exit.USAGE, "--where is empty", hint)
    bits: Width | None = None if width == "auto" else 32 if width == "32" else 64
    layout = chosen.layout
    with usage():
        try:
            with refusing(chosen):
                found = index_functions(
                    layout, language, where=range_, width=bits, unproved=chosen.unproved
                )
        except WidthError as narrow:
            raise _refused(chosen, narrow) from None
    if form == "json":
        say_json({**plain(found), **found.parts})
        return Exit.OK
    say(found.text.removesuffix("\n"))
    for line in _remarks(found):
        error(line)
    return Exit.OK


def _refused(chosen: Target, narrow: WidthError) -> Failure:
    from layoutdsl.shell.verdicts import verdict_of, verdict_text

    error(verdict_text(verdict_of(chosen, narrow.checked, 0.0), 0))
    if narrow.checked.status == "refuted":
        hint = 'narrow the range of shapes, as --where "C <= 4096", or leave --width out'
        return Failure(Exit.REFUTED, str(narrow), hint)
    return Failure(
        Exit.UNDECIDED, str(narrow), 'narrow the range of shapes, as --where "C <= 4096"'
    )


def _remarks(found: IndexFunctions) -> list[str]:
    """What a reader of the text alone might not expect."""
    lines = []
    if found.why_wide:
        lines.append(f"note: 64 bits, as 32 were not proved to be enough: {found.why_wide}")
    if found.narrowed:
        range_ = ", ".join(map(str, found.narrowed))
        lines.append(f"note: proved where {range_}; --where gives another range")
    return lines
