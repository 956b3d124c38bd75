"""``verify`` and ``inspect``: what is looked at in files of weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from layoutdsl.language.texts.values import printable
from layoutdsl.shell.exits import Exit
from layoutdsl.shell.interrupts import watched
from layoutdsl.shell.large import memory_options, size_text
from layoutdsl.shell.options import JSON, quiet
from layoutdsl.shell.output import say, say_json, say_passed, table, terminal_width
from layoutdsl.shell.progress import Progress, Way, progress_option
from layoutdsl.shell.weights import FORMAT, Limits, count_text, failing_weights

if TYPE_CHECKING:
    from layoutdsl.files.weights.looking import Tensor


@click.command(short_help="Verify a file of packed weights.")
@click.argument("packed", metavar="PACKED")
@click.option("--against", metavar="FILE", help="What it was made from: bits are compared.")
@memory_options
@FORMAT
@JSON
@quiet
@progress_option
def verify(
    packed: str,
    against: str | None,
    mem: int | None,
    jobs: int | None,
    called: str | None,
    form: str,
    way: Way,
) -> int:
    """Verify a file of packed weights, byte for byte.

    Header and account of the file, which say how its tensors lie, must have their checksum. Files
    of layoutdsl 0.1.0 have none, and `verify` says so. With --against the slot of every element has
    to hold its bits, by the formula of its layout and not by the code that packed it; padding has
    to hold the fill, and what was kept the same bytes. Without it every byte of a tensor has to
    have the checksum that was written with it, and padding the fill.
    The first fault is named: the tensor, the index, the slot, and what it holds. Of an index every
    shard is verified, against the shard of the same name.

    \b
      layoutdsl verify packed.safetensors --against model.safetensors
      layoutdsl verify packed.safetensors
      layoutdsl verify packed/model.safetensors.index.json \\
          --against model.safetensors.index.json
    """
    from layoutdsl.commands import verify_weights

    limits = Limits(mem, jobs, way, called)
    progress = Progress("verify", way)
    with failing_weights(packed, packed, limits), watched(progress):
        found = verify_weights(packed, against, **limits.given(progress))
    counts = {"tensors": found.tensors, "packed": found.packed, "elements": found.elements}
    if form == "json":
        status = "verified" if found.fault is None else "different"
        fault = None if found.fault is None else found.fault.told
        why = {} if found.explained is None else {"explained": str(found.explained)}
        why |= {} if found.shard is None else {"shard": found.shard.name}
        say_json({"status": status, **counts, "fault": fault, **why})
    elif found.fault is not None:
        say(f"different  {found.shard or packed}: {found.fault}")
        if found.explained is not None:
            say(f"  = note: {found.explained}")
    else:
        lie = f"{found.elements} elements lie where their layouts say, with the bits of `{against}`"
        every = "every byte of the tensors, the header and the account has its checksum"
        if not found.checked:
            every = "every byte of the tensors has its checksum"
        head = f"verified  {packed}: {count_text(found.tensors)}, {found.packed} of them packed"
        say_passed(f"{head}; {every if against is None else lie}")
        if not found.checked:
            words = "written by layoutdsl 0.1.0: its header and account have no checksum"
            say_passed(f"  = note: {words}")
    return Exit.OK if found.fault is None else Exit.REFUTED


@click.command(short_help="Say what a file of weights holds.")
@click.argument("file", metavar="FILE")
@FORMAT
@JSON
def inspect(file: str, called: str | None, form: str) -> int:
    """Say what a file of weights holds: names, types, shapes, layouts and padding.

    Of a packed tensor the first shape is that of the file, the second the one that it had. Layouts
    that the file speaks of are printed below, as the language writes them. Of an index the tensors
    of all shards are listed.

    \b
      layoutdsl inspect model.safetensors
      layoutdsl inspect packed.safetensors --json
      layoutdsl inspect model.safetensors.index.json
    """
    from layoutdsl.commands import inspect_weights

    with failing_weights(file, file, Limits(None, None, "none", called)):
        found = inspect_weights(file, form=called)
    if form == "json":
        tensors = [each.told for each in found.tensors]
        told = {"format": found.form, "packed": found.packed, "layouts": found.layouts}
        told |= {"order": "most significant byte first"} if found.order == ">" else {}
        say_json({**told, "tensors": tensors})
        return Exit.OK
    rows = [_row(each) for each in found.tensors]
    for line in table(rows, terminal_width()):
        say(line)
    packed = sum(each.layout is not None for each in found.tensors)
    size = size_text(sum(each.bytes for each in found.tensors))
    form = found.form + (" with the most significant byte first" if found.order == ">" else "")
    head = f"{count_text(len(found.tensors))} of {form}, {packed} of them packed, {size}"
    say("\n".join([head, *found.layouts]))
    return Exit.OK


def _row(tensor: Tensor) -> tuple[str, ...]:
    from layoutdsl.files.weights.bounds import shown

    name = printable(tensor.name)
    shape = _shape(tensor.extents)
    shard = () if tensor.shard is None else (tensor.shard,)
    if tensor.layout is None or tensor.original is None:
        return name, tensor.type, shape, "", "", *shard
    padding = f"{100 * (tensor.padding or 0):.1f} % padding"
    made = f"{tensor.layout} of {_shape(tensor.original)}"
    if tensor.made_of:
        made += f": {', '.join(f'{each.field} {shown(each.name)}' for each in tensor.made_of)}"
    return name, tensor.type, shape, made, padding, *shard


def _shape(extents: tuple[int, ...]) -> str:
    return " x ".join(map(str, extents)) or "()"
