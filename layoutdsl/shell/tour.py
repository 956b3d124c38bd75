"""``tour``: the whole of it in a few seconds, on a layout that people get wrong by hand.

Nothing of it is staged: each step runs, and a step that does not come out as told is a bug.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from layoutdsl.shell.output import say

if TYPE_CHECKING:
    from layoutdsl.language.meaning.claims import AnyClaim
    from layoutdsl.language.meaning.model import Layout
    from layoutdsl.language.meaning.module import Module
    from layoutdsl.proof.prover.verdict import Status

SPEC = """\
layout Crouton(b, h, w, d) = [b, h/8, w/8, d/32; h%8, w%8, d%32] fill 31

prove Crouton fits int32 where B <= 64, H <= 1024, W <= 1024, D <= 1024

layout Mace(n, h, w, c) = [(n, h), (c/4, w), c%4]

prove Mace == ((n*H + h)*(W*(C+3)/4) + c/4*W + w)*4 + c%4
"""
SHAPE = (1, 9, 20, 50)
INDEX = (0, 8, 19, 49)


@click.command(short_help="See all of it run, in a few seconds.")
def tour() -> None:
    """See a layout proved, a published one refuted, code generated, and run.

    \b
      layoutdsl tour
    """
    from layoutdsl.commands import parse

    module = parse(SPEC, "tour")
    crouton = module.layouts["Crouton"]
    _written(crouton)
    _proved(crouton)
    _refuted(module)
    _overflow(module)
    _run(crouton)
    say()
    say("Next: layoutdsl list, layoutdsl show R4CroutonLayout --shape 1,9,9,40,")
    say("layoutdsl bench NCHW16c --shape 8,256,56,56, layoutdsl --help")


def _title(number: int, words: str) -> None:
    say()
    say(click.style(f"{number}. {words}", bold=True))
    say()


def _quote(*lines: str) -> None:
    for line in lines:
        say(click.style(f"     {line}", fg="cyan"))


def _tell(text: str) -> None:
    for line in text.splitlines():
        say(f"   {line}")


def _written(crouton: Layout) -> None:
    from layoutdsl.language.integers.expr import text
    from layoutdsl.language.meaning.offsets import offset_expr

    _title(1, "A layout is a list of coordinates, most major first")
    _quote(SPEC.splitlines()[0])
    say()
    _tell("Qualcomm's crouton: chunks of 8 x 8 x 32 that may lie apart. What is written is its own")
    _tell("formula; nobody derives it by hand:")
    say()
    _quote("offset = " + text(offset_expr(crouton)))


def _proved(crouton: Layout) -> None:
    from layoutdsl.commands import claims_of

    _title(2, "Proved, for every shape there is")
    _verdict(claims_of(crouton)[0], "proved")


def _refuted(module: Module) -> None:
    _title(3, "A published formula, refuted")
    _quote(SPEC.splitlines()[4], SPEC.splitlines()[6])
    say()
    _tell("MACE documents its channel-major image as W * (C+3)/4 wide. Read as it is written:")
    say()
    _verdict(module.claims[1], "refuted")
    say()
    _tell("The image is W * ceil(C/4) wide, which is what the kernels have.")


def _overflow(module: Module) -> None:
    _title(4, "An overflow, found before the hardware finds it")
    _quote(SPEC.splitlines()[2])
    say()
    _verdict(module.claims[0], "refuted")


def _verdict(claim: AnyClaim, expected: Status) -> None:
    from layoutdsl.commands import Report, checks
    from layoutdsl.shell.verdicts import Verdict, verdict_text

    started = perf_counter()
    report = Report(tuple(checks((claim,))))
    seconds = perf_counter() - started
    if report.status != expected:
        raise RuntimeError(f"`{claim.text}` came out as {report.status}")
    _tell(verdict_text(Verdict(report.checked[0], seconds), 0))


def _run(crouton: Layout) -> None:
    import numpy as np

    from layoutdsl.commands import CompilerError
    from layoutdsl.commands import compile as compiled

    _title(5, "Code, generated from the same layout, and run")
    try:
        module, target, kind = compiled(crouton, "native"), ', "native"', "C, compiled here"
    except CompilerError:
        module, target, kind = compiled(crouton, "numpy"), "", "numpy"
    _quote(f"module = layoutdsl.compile(crouton{target})", "packed = module.pack(tensor)")
    say()
    _tell(f"the code is {kind}")
    tensor = (np.arange(np.prod(SHAPE)) % 31).astype(np.uint8).reshape(SHAPE)
    packed = module.pack(tensor)
    back = module.unpack(packed, SHAPE)
    _tell(f"tensor {SHAPE} -> buffer {packed.shape}, uint8")
    _in_place(crouton, tensor, packed.reshape(-1))
    if not np.array_equal(back, tensor):
        raise RuntimeError("unpack does not give the tensor back")
    _tell("unpack(packed) == tensor: every element is back")


def _in_place(crouton: Layout, tensor: Any, buffer: Any) -> None:
    import numpy as np

    offset = crouton.offset(INDEX, SHAPE)
    _tell(f"element {INDEX} is at offset {offset}, and holds {buffer[offset]} there")
    slots = np.array([crouton.offset(index, SHAPE) for index in np.ndindex(*SHAPE)])
    padding = np.ones(buffer.size, bool)
    padding[slots] = False
    if not (np.array_equal(buffer[slots], tensor.reshape(-1)) and np.all(buffer[padding] == 31)):
        raise RuntimeError("the packed buffer is not what the layout says")
    _tell(
        f"all {tensor.size} elements are in their places; {padding.sum()} slots of padding hold 31"
    )
