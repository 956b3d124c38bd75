"""Which cases ``bench`` and ``tune`` take: the default set, drawn ones, or layouts at shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.options import Command
from layoutdsl.shell.progress import Progress
from layoutdsl.shell.shapes import shape_of
from layoutdsl.shell.targets import Target, target
from layoutdsl.shell.telling import notes

if TYPE_CHECKING:
    from layoutdsl.commands.bench.moves import Task
    from layoutdsl.language.meaning.model import Layout

USUAL_TYPE = "f32"


_OPTIONS = (
    click.argument("written", metavar="[LAYOUT]...", nargs=-1),
    click.option(
        "--shape", "shapes", metavar="8,256,56,56", multiple=True, help="Of the tensor; repeatable."
    ),
    click.option(
        "--of",
        "types",
        metavar="TYPE",
        multiple=True,
        help="Element type: f32, u8; repeatable. Without it the layout's own, or f32.",
    ),
    click.option(
        "--to", "goal", metavar="LAYOUT", help="Convert to it, instead of pack and unpack."
    ),
    click.option(
        "--random",
        "count",
        type=click.IntRange(1, 100_000),
        metavar="N",
        help="N cases that nobody chose, drawn from what programs use.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0),
        metavar="S",
        help="Of the first drawn case, 0 if left out; the next one has the next seed.",
    ),
)


def cases(command: Command) -> Command:
    """Give a verb the options that say which cases: what `tasks_of` takes but for words."""
    for each in reversed(_OPTIONS):
        command = each(command)
    return command


def tasks_of(
    written: tuple[str, ...],
    shapes: tuple[str, ...],
    types: tuple[str, ...],
    goal: str | None,
    words: tuple[str, ...],
    count: int | None,
    seed: int | None,
) -> tuple[Task, ...]:
    """Return what the command line asks for; it is refused where it does not fit.

    Args:
        written: layouts, by name or in a notation.
        shapes: of each.
        types: of the elements of each.
        goal: the layout that each is converted to.
        words: that a case has to have.
        count: how many cases, where these are drawn.
        seed: of the first of them.
    """
    if count is None and seed is not None:
        message = "--seed is of drawn cases, and --random is not given"
        raise Failure(Exit.USAGE, message, f"say how many: --random 20 --seed {seed}")
    drawn = None if count is None else (count, seed or 0)
    if written:
        if drawn is not None:
            hint = "leave out one of them"
            raise Failure(Exit.USAGE, "--random draws layouts, and one is named", hint)
        found = _asked(written, shapes, types, goal)
    else:
        for option, given in (("--shape", shapes), ("--of", types), ("--to", goal)):
            if given:
                these = "the default set has its" if drawn is None else "drawn cases have their"
                hint = f"{these} own; name a layout, or use --only"
                raise Failure(Exit.USAGE, f"{option} is about a layout, and none is named", hint)
        found = _known(drawn)
    tasks = tuple(each for each in found if all(_has(each, word) for word in words))
    if not tasks:
        hint = "a word stands in the name, the type, the shape or the verb: Crouton, u8, 56, pack"
        raise Failure(Exit.USAGE, "there is no such case", hint)
    _refuse_size(tasks)
    return tasks


def _known(drawn: tuple[int, int] | None) -> Iterator[Task]:
    if drawn is None:
        from layoutdsl.commands.bench.defaults import default_tasks

        return default_tasks()
    from layoutdsl.commands.bench.drawn import drawn_tasks

    return drawn_tasks(*drawn)


def _has(task: Task, word: str) -> bool:
    return word.casefold() in str(task).casefold()


def _refuse_size(tasks: tuple[Task, ...]) -> None:
    from layoutdsl.commands.bench.limits import memory

    there = memory()
    for each in tasks:
        if there is not None and each.memory > there:
            needs = f"`{each}` takes {each.memory / 2**30:.1f} GiB"
            message = f"{needs}, and this machine has {there / 2**30:.1f}"
            raise Failure(Exit.USAGE, message, "measure a smaller shape")


def _asked(
    written: tuple[str, ...], shapes: tuple[str, ...], types: tuple[str, ...], goal: str | None
) -> Iterator[Task]:
    from layoutdsl.commands.bench.moves import Task

    last = None if goal is None else _sound(target(goal), None)[0]
    for each in written:
        for layout in _sound(target(each), last):
            for shape in shapes or (None,):
                for kind in _types(layout, types):
                    with usage():
                        extents = _extents(layout, shape)
                        _refuse_fill(layout, kind)
                        if last is not None:
                            turned = _in_order_of(layout, last)
                            _extents(turned, ",".join(map(str, extents)))
                            title = f"{layout.name} -> {last.name}"
                            yield Task(title, layout, turned, extents, kind)
                            continue
                    yield Task(layout.name, None, layout, extents, kind)
                    yield Task(layout.name, layout, None, extents, kind)


def _in_order_of(layout: Layout, other: Layout) -> Layout:
    """Return ``other`` with its axes in the order of those of ``layout``, if they have the same."""
    names = {axis.name: axis for axis in other.axes}
    if names.keys() != {axis.name for axis in layout.axes}:
        return other
    return replace(other, axes=tuple(names[axis.name] for axis in layout.axes))


def _extents(layout: Layout, shape: str | None) -> tuple[int, ...]:
    return layout.shape_of(layout.bind(shape_of(layout, shape)))


def _types(layout: Layout, types: tuple[str, ...]) -> tuple[str, ...]:
    """The types of numpy in which elements travel."""
    from layoutdsl.language.meaning.elements import ELEMENT_TYPES

    for each in types:
        if each not in ELEMENT_TYPES:
            known = f"known are {', '.join(ELEMENT_TYPES)}"
            raise Failure(Exit.USAGE, f"there is no element type `{each}`", known)
    usual = layout.element or ELEMENT_TYPES[USUAL_TYPE]
    chosen = [ELEMENT_TYPES[each] for each in types] or [usual]
    names = {"i": "int", "u": "uint", "f": "float"}
    items = [each.item for each in chosen]
    return tuple(dict.fromkeys(f"{names[kind]}{8 * width}" for kind, width in items))


def _refuse_fill(layout: Layout, kind: str) -> None:
    """Fail where the type of the elements cannot hold the fill."""
    import numpy as np

    from layoutdsl.language.meaning.elements import FillValue

    match layout.fill:
        case FillValue(value) if np.dtype(kind).kind in "iu":
            info = np.iinfo(kind)
            if isinstance(value, float) or not info.min <= value <= info.max:
                raise ValueError(f"`{layout.name}` is filled with {value}, which {kind} is not")


def _sound(chosen: Target, goal: Layout | None) -> tuple[Layout, ...]:
    """The layouts of a word; one that is refuted, or open, is not measured."""
    from layoutdsl.commands import compile as ready
    from layoutdsl.commands import convert
    from layoutdsl.shell.verdicts import refusing

    progress = Progress()
    layouts = chosen.layouts or (chosen.layout,)  # which says that records are none
    for each in layouts:
        if each.parameters:
            hint = f"give it values: `{each.name}<{', '.join('8' for _ in each.parameters)}>`"
            raise Failure(Exit.USAGE, f"`{each.name}` has open parameters", hint)
        if each.copies:
            words = f"`{each.name}` holds copies of its elements, and a copy of a tensor has none"
            raise Failure(Exit.USAGE, words, "measure a layout that holds each element once")
        progress(f"proving {each.name}")
        with usage(), refusing(chosen), notes():
            ready(each, "numpy")
            if goal is not None:
                turned = _in_order_of(each, goal)
                convert(each, turned, tuple(axis.name for axis in turned.axes))
        progress.clear()
    return layouts
