"""What `diff` found, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, assert_never

import click

from layoutdsl.language.meaning.counterexample import index_text, named_text
from layoutdsl.language.meaning.matching import Crossed, matched
from layoutdsl.shell.replay import element

if TYPE_CHECKING:
    from layoutdsl.language.meaning.model import Condition
    from layoutdsl.language.offsets.axes import Pairing
    from layoutdsl.shell.targets import Target
    from layoutdsl.view.compare.difference import Difference, Different, EqualWhere
    from layoutdsl.view.compare.hints import Hint
    from layoutdsl.view.compare.lanes import LanesPermuted
    from layoutdsl.view.compare.notes import Note
    from layoutdsl.view.compare.offsets import Mismatch
    from layoutdsl.view.compare.ranges import Agreement


def difference_text(
    found: Difference, names: tuple[str, str], named: tuple[Target, Target], seconds: float
) -> str:
    """Return whether two layouts are equal, and what tells them apart.

    Args:
        found: what `diff` found.
        names: both layouts, as they were written on the command line.
        named: what these stand for.
        seconds: how long it took.
    """
    one, other = names
    from layoutdsl.proof.prover.verdict import milliseconds
    from layoutdsl.view.compare.difference import Different, EqualWhere

    lines = [*_verdict(found, one, other, milliseconds(seconds))]
    if isinstance(found, EqualWhere | Different):
        for conditions in found.unproved:
            words = f"where {_and(conditions)}"
            lines.append(f"  no difference was found {words}, and no proof either")
        lines += [f"  = hint: {hint_text(hint, one, other)}" for hint in found.hints]
        lines += [f"  = replay: {line}" for line in _replays(found, *named)]
    lines += [f"  = note: {_note(each, one, other)}" for each in found.notes]
    lines += [] if found.pairing is None else [f"  = axes: {_pairing(found.pairing)}"]
    return "\n".join(lines)


def _verdict(found: Difference, one: str, other: str, took: str) -> Iterator[str]:
    from layoutdsl.view.compare.difference import Different, Equal, EqualWhere, Unknown

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
                yield "  at other shapes, only one of them is defined"
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
        return "they differ at every other shape that was tried"
    return "they differ at some of the other shapes that were tried"


def _mismatch_lines(found: Mismatch, one: str, other: str) -> Iterator[str]:
    if found.shape:
        yield f"  at shape {named_text(found.shape)}"
    if found.index is not None and found.offsets is not None:
        first, second = found.offsets
        told = "no slot" if first is None else f"offset {first}"
        offset = second if first is not None else f"offset {second}"
        both = f"{told} in `{one}`, {'no slot' if second is None else offset} in `{other}`"
        yield f"    {index_text(found.index)} -> {both}"
    if found.sizes[0] != found.sizes[1]:
        yield f"    buffers of {found.sizes[0]} and {found.sizes[1]} elements"


def _replays(found: EqualWhere | Different, one: Target, other: Target) -> Iterator[str]:
    """Yield the command lines that show the element in the first layout, and in the second."""
    from layoutdsl.language.offsets.axes import paired

    differ, pairing = found.mismatch, found.pairing
    if differ is None or pairing is None or differ.index is None or differ.offsets is None:
        return
    values, index = dict(differ.shape), dict(differ.index)
    pair = paired(one.layout, other.layout, dict(pairing.pairs))
    axes = (axis.name for axis in pair.one.axes)
    extents = dict(zip(axes, pair.one.shape_of(values), strict=True))
    own = {name: name for name in (*extents, *one.layout.parameters)}
    theirs = {second: first for first, second in pairing.pairs}
    for name in other.layout.parameters:
        theirs[name] = f"{name}_2" if f"{name}_2" in values else name
    for chosen, names, offset in zip((one, other), (own, theirs), differ.offsets, strict=True):
        called = [names.get(axis.name, "") for axis in chosen.layout.axes]
        given = [values.get(names[name], 1) for name in chosen.layout.parameters]
        shape = [*(extents.get(each, 1) for each in called), *given]
        place = [index.get(each, 0) for each in called]  # an axis left out has one element
        if offset is not None:
            yield from element(chosen, (chosen.name,), shape, place, offset)


def _note(note: Note, one: str, other: str) -> str:
    return f"{note.one} in `{one}`, {note.other} in `{other}`"


def _pairing(pairing: Pairing) -> str:
    pairs = ", ".join(f"{a} = {b}" if a != b else a for a, b in pairing.pairs)
    how = {"name": "by name", "position": "by position", "given": "as given"}[pairing.how]
    left = f"; {', '.join(pairing.left_out)}, of one element, left out" if pairing.left_out else ""
    return f"{pairs}, {how}{_though(pairing)}{left}"


def _though(pairing: Pairing) -> str:
    """What speaks against going by position: names that both have, of different axes."""
    ours, theirs = zip(*pairing.pairs, strict=True) if pairing.pairs else ((), ())
    if pairing.how != "position" or not isinstance(matched(theirs, ours), Crossed):
        return ""
    crossed = (f"`{a}`" for a, b in pairing.pairs if a != b and a in theirs)
    return f", though both have {', '.join(crossed)}"


def hint_text(hint: Hint, one: str, other: str) -> str:
    """Return what one has to do to one layout to get the other."""
    from layoutdsl.view.compare.hints import (
        AxesPermuted,
        CoordinatesReordered,
        OnlySizes,
        OnlyStarts,
    )
    from layoutdsl.view.compare.lanes import LanesPermuted

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
