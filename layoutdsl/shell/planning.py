"""``plan``: a large file, or a file of weights, to be packed or unpacked by many machines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from layoutdsl.shell.arrays import SOURCE, extents_of, fill_of, named, ready, refuse_bits
from layoutdsl.shell.destination import refuse_foreign, refuse_inputs
from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.large import MEMORY, RAW, Large, dtype_of, failing, looking, places
from layoutdsl.shell.options import COMPILED, TARGET, choice, forced
from layoutdsl.shell.output import say
from layoutdsl.shell.planned_weights import HINT, Made, by_rules, plan_by_rules, writing
from layoutdsl.shell.shapes import shape_of
from layoutdsl.shell.targets import target
from layoutdsl.shell.telling import notes
from layoutdsl.shell.weights import Limits, refuse_alone, refuse_both

if TYPE_CHECKING:
    from layoutdsl.commands import CompileTarget


@click.command(short_help="Plan to pack a .npy file by many machines.")
@TARGET
@SOURCE
@click.option("-o", "plan", metavar="PLAN.json", required=True, help="Becomes the plan.")
@click.option("--out", "output", metavar="OUT", required=True, help="What is packed.")
@choice("unpack", "verb", "Unpack IN.npy, of which --shape says the tensor, in place of packing.")
@by_rules
@click.option("--fill", metavar="V", help="What padding holds, instead of what the layout says.")
@click.option("--shape", metavar="2,20,3,4", help="The extents of the tensor, to unpack or --raw.")
@click.option(
    "--shards",
    type=click.IntRange(1, 100_000),
    default=1,
    metavar="N",
    help="Cut so many pieces at least that each of N machines has some.",
)
@RAW
@MEMORY
@COMPILED
@forced
def plan(
    written: str,
    source: str | None,
    plan: str,
    output: str,
    verb: str,
    fill: str | None,
    shape: str | None,
    shards: int,
    raw: str | None,
    mem: int | None,
    compiled: CompileTarget,
    rules: str | None,
    unruled: Literal["keep", "refuse"],
    called: str | None,
) -> None:
    """Plan to pack a large file by many machines that see the same folders.

    PLAN.json says all that decides what comes out. OUT.npy.part is a folder with the output, of its
    full size, until `run` has done every share of it. A share is a run of pieces, and a piece fills
    its own stretch of the output, which is proved first.

    \b
      layoutdsl plan NCHW16c in.npy -o plan.json --out out.npy --shards 16
      layoutdsl run plan.json --shard 3/16

    With --rules the first word is a file of weights, and so it is with --unpack and no other file.
    A share is then tensors, and pieces of them.

    \b
      layoutdsl plan model.safetensors --rules rules.layout -o plan.json \\
          --out packed.safetensors
      layoutdsl plan packed.safetensors --unpack -o plan.json \\
          --out model.safetensors
    """
    _refuse_same(plan, output)
    if rules is not None or (source is None and verb == "unpack"):
        single = {"--fill": fill, "--shape": shape, "--raw": raw}
        refuse_both("plan", (source,), single)
        if rules is not None and verb == "unpack":
            hint = "leave --rules out: a packed file says itself how it was packed"
            raise Failure(Exit.USAGE, "--unpack needs no rules", hint)
        limits = Limits(mem, None, "none", called)
        made = Made(plan, output, shards)
        count = plan_by_rules(written, rules, unruled, limits, made, compiled)
        say(f"wrote {plan}: {count} piece{'' if count == 1 else 's'}")
        return
    refuse_alone("plan", "--rules, or --unpack alone", {"--strict": unruled, "--format": called})
    source = named(source)
    chosen = target(written)
    layout = chosen.layout
    for name in (output, plan):
        refuse_inputs(name, source, chosen.place)
    refuse_bits(layout)
    refuse_foreign(Path(plan), chosen.place, HINT)
    value = None if fill is None else fill_of(fill)
    verb = "pack" if verb == "plain" else verb
    with usage():
        extents = None if shape is None else extents_of(layout, shape_of(layout, shape))
    _refuse_shape(verb, raw, shape, value)
    ready(chosen, layout, compiled)
    files, asked = (source, output), Large(mem, None, raw)
    places(files)
    from layoutdsl.commands import MEM, plan_file

    with failing(layout.name, files[:1], output, asked), writing(plan), notes():
        count = plan_file(
            "unpack" if verb == "unpack" else "pack",
            layout,
            source,
            output,
            plan,
            shape=extents,
            raw=None if raw is None else dtype_of(raw),
            fill=value,
            mem=MEM if mem is None else mem,
            shards=shards,
            target=compiled,
            look=looking(layout, source, value),
        )
    say(f"wrote {plan}: {count} piece{'' if count == 1 else 's'}")


def _refuse_shape(verb: str, raw: str | None, shape: str | None, fill: float | None) -> None:
    """Fail where a shape is missing, or is said twice."""
    if shape is None and (verb == "unpack" or raw is not None):
        option = "--raw" if raw is not None else "--unpack"
        raise Failure(Exit.USAGE, f"{option} is given without --shape", "give the tensor's extents")
    if shape is not None and verb == "pack" and raw is None:
        hint = "a .npy file says it itself"
        raise Failure(Exit.USAGE, "--shape is given without --raw or --unpack", hint)
    if fill is not None and verb == "unpack":
        raise Failure(Exit.USAGE, "--fill is for packing, and --unpack drops it", "leave it out")


def _refuse_same(plan: str, output: str) -> None:
    """Fail where a plan and what it makes are not two files."""
    if "-" in (plan, output) or Path(plan).absolute() == Path(output).absolute():
        raise Failure(Exit.USAGE, "the plan and what it makes are two files", "name both")
