"""What `diff` and `identify` found, in words."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, assert_never

import click

from layoutdsl.cli.verdicts import milliseconds
from layoutdsl.show.words import index_text, named_text

if TYPE_CHECKING:
    from layoutdsl.compare.axes import Pairing
    from layoutdsl.compare.difference import Difference, Different, EqualWhere
    from layoutdsl.compare.hints import Hint
    from layoutdsl.compare.identify import Match
    from layoutdsl.compare.lanes import LanesPermuted
    from layoutdsl.compare.notes import Note
    from layoutdsl.compare.offsets import Mismatch
    from layoutdsl.compare.ranges import Agreement
    from layoutdsl.model import Condition, Layout


def difference_text(found: Difference, one: str, other: str, layout: Layout, seconds: float) -> str:
    """Return whether two layouts are equal, and what tells them apart.

    Args:
        found: what `diff` found.
        one: the first layout, as it was written on the command line.
        other: the second.
        layout: the first.
        seconds: how long it took.
    """
    from layoutdsl.compare.difference import Different, EqualWhere

    lines = [*_verdict(found, one, other, milliseconds(seconds))]
    if isinstance(found, EqualWhere | Different):
        for conditions in found.unproved:
            words = f"where {_and(conditions)}"
            lines.append(f"  no difference was found {words}, and no proof either")
        lines += [f"  = hint: {hint_text(hint, one, other)}" for hint in found.hints]
        lines += [] if found.mismatch is None else _replay(found.mismatch, one, layout)
    lines += [f"  = note: {_note(each, one, other)}" for each in found.notes]
    lines += [] if found.pairing is None else [f"  = axes: {_pairing(found.pairing)}"]
    return "\n".join(lines)


def _verdict(found: Difference, one: str, other: str, took: str) -> Iterator[str]:
    from layoutdsl.compare.difference import Different, Equal, EqualWhere, Unknown

    both = f"`{one}` and `{other}`"
    match found:
        case Equal(queries=queries, where=where):
            ranged = f" where {_and(where)}" if where else ""
            head = click.style("equal", fg="green", bold=True)
            yield f"{head}  {both}, for all shapes{ranged}  ({_questions(queries)}{took})"
        case EqualWhere(mismatch=mismatch):
            head = click.style("equal where", fg="green" if found.same else "yellow", bold=True)
            yield f"{head} {_alternatives(found.agreements)}  {both}  ({took})"
            if mismatch is None:
                yield "  elsewhere one of them is not defined"
            else:
                yield f"  {_elsewhere(found)}"
                yield from _mismatch_lines(mismatch, one, other)
        case Different(reason=reason, mismatch=mismatch):
            head = click.style("different", fg="red", bold=True)
            yield f"{head}  {both}{f': {reason}' if reason else ''}  ({took})"
            yield from [] if mismatch is None else _mismatch_lines(mismatch, one, other)
            if found.agreements:
                yield f"  equal where {_alternatives(found.agreements)}; {_elsewhere(found)}"
        case Unknown(reason=reason):
            yield f"{click.style('undecided', fg='yellow', bold=True)}  {both}  ({took})"
            yield f"  {reason}"
        case _:
            assert_never(found)


def _questions(count: int) -> str:
    return f"{count} {'question' if count == 1 else 'questions'}, " if count else ""


def _and(conditions: tuple[Condition, ...]) -> str:
    return ", ".join(map(str, conditions))


def _alternatives(agreements: tuple[Agreement, ...]) -> str:
    return "; or where ".join(map(str, agreements))


def _elsewhere(found: EqualWhere | Different) -> str:
    if found.exact:
        return "elsewhere they differ, at every shape that was tried"
    return "elsewhere they differ at some shapes, and not at all that were tried"


def _mismatch_lines(found: Mismatch, one: str, other: str) -> Iterator[str]:
    if found.shape:
        yield f"  at shape {named_text(found.shape)}"
    if found.index is not None and found.offsets is not None:
        first, second = found.offsets
        yield f"    {index_text(found.index)} -> offset {first} in `{one}`, {second} in `{other}`"
    if found.sizes[0] != found.sizes[1]:
        yield f"    buffers of {found.sizes[0]} and {found.sizes[1]} elements"


def _replay(found: Mismatch, one: str, layout: Layout) -> Iterator[str]:
    """Yield the command line that shows the element in the first layout."""
    if found.index is None or one.startswith("-"):
        return
    values = dict(found.shape)
    known = [axis.name for axis in layout.axes]
    if [name for name, _ in found.index] != known or not set(layout.symbols) <= set(values):
        return
    shape = [*layout.shape_of(values), *(values[name] for name in layout.parameters)]
    index = [value for _, value in found.index]
    words = ["layoutdsl", "where", one, "--shape", ",".join(map(str, shape))]
    yield f"  = replay: {shlex.join([*words, '--index', ','.join(map(str, index))])}"


def _note(note: Note, one: str, other: str) -> str:
    return f"{note.one} in `{one}`, {note.other} in `{other}`"


def _pairing(pairing: Pairing) -> str:
    pairs = ", ".join(f"{a} = {b}" if a != b else a for a, b in pairing.pairs)
    how = {"name": "by name", "position": "by position", "given": "as given"}[pairing.how]
    left = f"; {', '.join(pairing.left_out)}, of one element, left out" if pairing.left_out else ""
    return f"{pairs}, {how}{left}"


def hint_text(hint: Hint, one: str, other: str) -> str:
    """Return what one has to do to one layout to get the other."""
    from layoutdsl.compare.hints import AxesPermuted, CoordinatesReordered, OnlySizes, OnlyStarts
    from layoutdsl.compare.lanes import LanesPermuted

    match hint:
        case AxesPermuted(axes=axes, proved=proved):
            return f"axes are exchanged: equal with --axes {axes}, {_sure(proved)}"
        case CoordinatesReordered(first, second):
            if hint.exchanged is not None:
                one, other = hint.exchanged
                return f"the coordinates `{one}` and `{other}` changed places"
            orders = f"[{', '.join(first)}] and [{', '.join(second)}]"
            return f"the same coordinates in another order: {orders}"
        case LanesPermuted():
            return lanes_text(hint, f"`{one}`", f"`{other}`")
        case OnlySizes(first, second, proved):
            same = "every element lies at the same offset"
            return f"{same}, and only the sizes differ: {first} and {second}, {_sure(proved)}"
        case OnlyStarts(first, second, proved):
            return f"only the start differs: {first} and {second}, {_sure(proved)}"
        case _:
            assert_never(hint)


def lanes_text(hint: LanesPermuted, one: str, other: str) -> str:
    """Return in which order the elements of a block lie in two layouts, and how that is related."""
    first, second = (", ".join(map(str, each)) for each in (hint.one, hint.other))
    orders = f"[{first}] in {one}, [{second}] in {other}"
    block = f"each {hint.block} elements along `{hint.axis}`"
    sure = _sure(hint.proved, f"where {hint.block} divides the extent")
    match hint.kind:
        case "inverse":
            return f"an interleave is inverted: {block} lie as {orders}, its inverse, {sure}"
        case "digits":
            major, minor = hint.digits or (0, 0)
            digits = f"of {major} and {minor} along `{hint.axis}`"
            return f"the digits {digits} are exchanged within {block}: {orders}, {sure}"
        case "order":
            return f"{block} lie in another order: {orders}, {sure}"
        case _:
            assert_never(hint.kind)


def _sure(proved: bool, where: str = "for all shapes") -> str:
    return f"proved {where}" if proved else "as far as was tried"


def match_text(match: Match, name: str) -> str:
    """Return one layout of the library that the layout called ``name`` is, or nearly is."""
    axes = f" with --axes {match.axes}" if match.axes else ""
    defined = f", where {_and(match.where)}" if match.where else ""
    if match.everywhere:
        head = click.style("equal", fg="green", bold=True)
        return f"{head}  `{name}` and `{match.name}`{axes}{defined or ', for all shapes'}"
    head = click.style("equal where", fg="yellow", bold=True)
    return f"{head} {_alternatives(match.agreements)}  `{name}` and `{match.name}`{axes}{defined}"
