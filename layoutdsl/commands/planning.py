"""Plans by which many machines pack or unpack: one tensor, or a file of weights."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from layoutdsl.code.modules import CompileTarget, expect_target
from layoutdsl.commands.files import MEM, code_of, limits_of, watchers_of
from layoutdsl.commands.weights import Codes, File, declared_in, layout_of, place_of
from layoutdsl.files.ownership import overwrites
from layoutdsl.language.declaration import declaration
from layoutdsl.language.elaborate.shelf import parse
from layoutdsl.language.meaning.arguments import FLAG, INTEGER, PATH, TEXT, expect
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.module import Module

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from layoutdsl.files.pieces.moves import Look
    from layoutdsl.files.pieces.plan import Planned, Verb
    from layoutdsl.files.weights.chosen import Unruled
    from layoutdsl.files.weights.planning import MakingOf


@overwrites
def plan_file(
    verb: Verb,
    layout: Layout,
    source: str | PathLike[str],
    destination: str | PathLike[str],
    plan: str | PathLike[str],
    *,
    shape: tuple[int, ...] | None = None,
    raw: DTypeLike | None = None,
    fill: float | None = None,
    mem: int = MEM,
    shards: int = 1,
    target: CompileTarget = "auto",
    look: Look | None = None,
    force: bool = False,
) -> int:
    """Plan how a tensor is packed or unpacked in shares; return how many pieces there are.

    The output lies in ``DESTINATION.part/`` then, of its full size, and waits for `run_share`.

    Args:
        verb: what is done.
        layout: without open parameters.
        source: a `.npy` file, or a raw one.
        destination: what the output becomes.
        plan: becomes the file of the plan.
        shape: of the tensor; what is packed says it itself, unless it is raw.
        raw: the type of the items of files without a header.
        fill: the number in padding; that of the layout if left out.
        mem: bytes that a piece may take.
        shards: shares that are to have pieces, if there are as many.
        target: what moves: ``auto``, ``native`` or ``numpy``.
        look: is shown an array without items, of the type that is read, and may raise.
        force: whether to replace files that layoutdsl did not write.

    Raises:
        TooLittleError, UnreadableError, OccupiedError, ValueError, TypeError, OSError: as for
            `pack_file`.
    """
    import numpy as np

    from layoutdsl.files.pieces.planning import Task, draw_up, moved_layout

    expect(force=(force, FLAG))
    text = declaration(layout)
    if not _means(text, layout):
        raise ValueError(f"`{layout.name}` cannot be written as a text that means it")
    code = code_of(moved_layout(verb, layout), target)
    item = None if raw is None else np.dtype(raw)
    task = Task(
        verb,
        layout,
        code,
        text,
        shape,
        item,
        fill,
        limits_of(mem, 1),
        shards,
        watchers_of(None, None, look).look,
    )
    drawn, count = draw_up(task, Path(source), Path(destination))
    _write(drawn, plan)
    return count


@overwrites
def plan_weights(
    verb: Verb,
    source: File,
    destination: File,
    plan: File,
    rules: Module | None = None,
    *,
    unruled: Unruled = "keep",
    form: str | None = None,
    mem: int = MEM,
    shards: int = 1,
    target: CompileTarget = "auto",
    force: bool = False,
) -> int:
    """Plan how a file of weights is packed or unpacked in shares; return how many pieces there are.

    A share has pieces of tensors, and tensors. What it all becomes is what `pack_weights` and
    `unpack_weights` make, and lies in ``DESTINATION.part/`` then, of its full size.

    Args:
        verb: what is done.
        source: a file of weights.
        destination: becomes one.
        plan: becomes the file of the plan.
        rules: how tensors are packed, which the plan says again; to unpack there are none.
        unruled: whether a tensor without a rule is kept or refused: ``keep`` or ``refuse``.
        form: the format of both files; otherwise each has that which the end of its name says.
        mem: bytes that a piece may take.
        shards: shares that are to have pieces, if there are as many.
        target: what moves: ``auto``, ``native`` or ``numpy``.
        force: whether to replace files that layoutdsl did not write.

    Raises:
        UnfitError, TooLittleError, OccupiedError, RefusedError, UnvalidatedError, ValueError,
            TypeError, OSError: as for `pack_weights`.
    """
    from layoutdsl.files.weights.planning import Task, draw_up

    expect(source=(source, PATH), destination=(destination, PATH), plan=(plan, PATH))
    expect(unruled=(unruled, TEXT), form=(form, TEXT.or_none()), shards=(shards, INTEGER))
    expect(force=(force, FLAG))
    expect_target("target", target)
    if (verb == "pack") != isinstance(rules, Module):
        raise TypeError("`rules` is a module to pack by, and `None` to unpack")
    text = "" if rules is None else text_of_rules(rules)
    making = making_of(verb, text, unruled, target)
    task = Task(verb, text, unruled, making, limits_of(mem, 1), shards)
    drawn, count = draw_up(task, place_of(source, form), place_of(destination, form))
    _write(drawn, plan)
    return count


def text_of_rules(module: Module) -> str:
    """Return a text with the rules of a module, and all layouts that they speak of.

    Raises:
        ValueError: no text means the same.
    """
    text = "\n".join([*module.texts.values(), *(each.text for each in module.rules)])
    if parse(text).rules != module.rules:
        raise ValueError(
            f"the rules of `{module.name}` cannot be written as a text that means them"
        )
    return text


def making_of(verb: Verb, rules: str, unruled: Unruled, target: CompileTarget) -> MakingOf:
    """Return how a file of weights is packed by the text of rules, or unpacked."""
    from layoutdsl.files.weights.packing import making_packed
    from layoutdsl.files.weights.unpacking import making_unpacked

    codes = Codes(target)
    if verb == "unpack":
        return lambda weights, to: making_unpacked(weights, to, declared_in, codes)
    found = parse(rules).rules
    return lambda weights, to: making_packed(weights, to, found, unruled, codes)


def _means(text: str, layout: Layout) -> bool:
    try:
        return layout_of(text) == layout
    except ValueError:
        return False


def _write(drawn: Planned, plan: str | PathLike[str]) -> None:
    """Write a plan, or leave nothing of it."""
    from layoutdsl.files.pieces.planning import discard
    from layoutdsl.files.whole import write_whole

    try:
        write_whole(plan, drawn.text)
    except BaseException as failure:
        discard(drawn)
        if isinstance(failure, OSError):
            failure.filename = str(plan)  # and not what it was to be renamed from
        raise
