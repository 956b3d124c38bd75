"""Which layout each tensor of a file gets, and all that does not fit, before a byte is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, TypeAlias

from layoutdsl.files.pieces.cut import box, values_of
from layoutdsl.files.pieces.every_copy import shape_with_copies
from layoutdsl.files.pieces.packed import layout_shape
from layoutdsl.files.weights.bounds import shown
from layoutdsl.files.weights.faults import Problem, UnfitError
from layoutdsl.files.weights.fits import extents_text, nearest, travels_as
from layoutdsl.files.weights.form import Entry
from layoutdsl.files.weights.groups import Grouped, gathered
from layoutdsl.files.weights.words import NoShapeError, shape_of_words
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.elements import ELEMENT_TYPES, ElementType, FillValue
from layoutdsl.language.meaning.group import Group
from layoutdsl.language.meaning.model import ZERO, Layout
from layoutdsl.language.meaning.rule import FromWords, Rule
from layoutdsl.language.meaning.storage import STORAGES
from layoutdsl.language.meaning.storage import stored as stored_in

Unruled: TypeAlias = Literal["keep", "refuse"]
"""What becomes of a tensor that no rule is for."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A tensor, and what becomes of it.

    Attributes:
        entry: the tensor.
        layout: that it gets; `None` where it is kept.
        shape: its extents; those of the elements where they are stored as words.
        stored: how it is packed already, where it is.
    """

    entry: Entry
    layout: Layout | None
    shape: tuple[int, ...]
    stored: FromWords | None = None

    @property
    def name(self) -> str:
        """Of the tensor."""
        return self.entry.name


def chosen(
    entries: Sequence[Entry],
    rules: Sequence[Rule | Group],
    unruled: Unruled,
    homes: Mapping[str, str] | None = None,
) -> tuple[Chosen | Grouped, ...]:
    """Return what becomes of each tensor: the first rule that fits its name holds.

    What becomes of a group stands where the first of its tensors did.

    Args:
        entries: the tensors, of one file or of all shards.
        rules: for all of them.
        unruled: what becomes of a tensor without a rule.
        homes: of a sharded checkpoint, the shard of each tensor.

    Raises:
        UnfitError: with all that does not fit.
    """
    groups = gathered(entries, rules)
    alone = [each for each in rules if isinstance(each, Rule)]
    left = [each for each in entries if each.name not in groups.taken]
    found = [next((rule for rule in alone if rule.fits(each.name)), None) for each in left]
    ruled = dict(zip((each.name for each in left), found, strict=True))
    problems = [*groups.problems, *_idle(left, alone, found)]
    taken: list[Chosen | Grouped] = []
    for entry in entries:
        if entry.name in groups.taken:
            taken += groups.first.get(entry.name, ())
            continue
        rule = ruled[entry.name]
        if rule is None and unruled == "refuse":
            words = f"no rule is for the tensor {shown(entry.name)}"
            problems.append(Problem("rule", words, f'add `tensor "{entry.name}" = keep`'))
        made = _made(entry, rule)
        if isinstance(made, Problem):
            problems.append(made)
        else:
            taken.append(made)
    problems += _same_names(taken)
    problems += _scattered(taken, homes or {})
    if problems:
        raise UnfitError(problems)
    return tuple(taken)


def _same_names(taken: Sequence[Chosen | Grouped]) -> Iterator[Problem]:
    """Groups that give a name that something else has."""
    seen: dict[str, Chosen | Grouped] = {}
    for each in sorted(taken, key=lambda each: isinstance(each, Grouped)):
        first = seen.setdefault(each.name, each)
        if first is each or not isinstance(each, Grouped):
            continue
        head = f"{each.group.place}: the group makes {shown(each.name)}"
        if isinstance(first, Grouped):
            words = f"which that at {first.group.place} makes too"
        else:
            words = "which is the name of another tensor"
        yield Problem("rule", f"{head}, {words}", "give it another name after `as`")


def _scattered(taken: Sequence[Chosen | Grouped], homes: Mapping[str, str]) -> Iterator[Problem]:
    """Groups whose tensors lie in several shards: a record lies in one file."""
    for each in taken:
        if not isinstance(each, Grouped) or len({homes.get(e.name) for e in each.entries}) == 1:
            continue
        where = ", ".join(f"{shown(e.name)} in {shown(homes[e.name])}" for e in each.entries)
        words = f"the tensors of {shown(each.name)} lie in several shards: {where}"
        remedy = "save the checkpoint with them in one shard, or take the group out"
        yield Problem("rule", f"{each.group.place}: {words}", remedy)


def _idle(
    entries: Sequence[Entry], rules: Sequence[Rule], found: Sequence[Rule | None]
) -> Iterator[Problem]:
    """Rules that no tensor gets."""
    used = {id(each) for each in found}
    names = [each.name for each in entries]
    for rule in rules:
        if id(rule) in used:
            continue
        taken = next((number for number, name in enumerate(names) if rule.fits(name)), None)
        if taken is not None:
            earlier = found[taken]
            assert earlier is not None
            words = f"every tensor that it fits, {shown(names[taken])} first, has the rule before"
            message = f"{rule.place}: `{rule.pattern}` is given to none: {words}"
            yield Problem("rule", f"{message} ({earlier.place})", "put it first, or take it out")
        else:
            message = f"{rule.place}: no tensor is called `{rule.pattern}`"
            yield Problem("rule", message, nearest(rule.pattern, names))


def _made(entry: Entry, rule: Rule | None) -> Chosen | Problem:
    if rule is None or rule.layout is None:
        return Chosen(entry, None, entry.shape)
    layout, name = rule.layout, shown(entry.name)
    if entry.type is None:
        words = f"the tensor {name} is of {entry.native}, whose items are no elements"
        return Problem("tensor", words, f'write `tensor "{entry.name}" = keep` before {rule.place}')
    element = ELEMENT_TYPES[entry.type]
    words = (
        f"the tensor {name} of {entry.native} and shape {extents_text(entry.shape)} does not fit"
    )
    head = f"{words} {rule.place}"
    if rule.stored is not None:
        return _converted(entry, layout, rule.stored, element, head)
    why = _unfit(layout, entry.shape, element)
    if why is not None:
        return Problem("tensor", f"{head}: {why}", "keep it, or give it another layout")
    return Chosen(entry, layout, entry.shape)


def _converted(
    entry: Entry, layout: Layout, stored: FromWords, element: ElementType, head: str
) -> Chosen | Problem:
    bits = STORAGES[stored.word].bits
    if element.kind not in ("i", "u") or element.bits != bits:
        return Problem("tensor", f"{head}: words of {stored.word} are integers of {bits} bits")
    if entry.stored.fortran and len(entry.shape) > 1:
        words = "its words lie with their last axis most major"
        return Problem("tensor", f"{head}: {words}", "write it with numpy.ascontiguousarray")
    try:
        shape = shape_of_words(stored.layout, stored.word, entry.shape)
    except NoShapeError as why:
        return Problem("tensor", f"{head}: {why}")
    wrong = _undefined(layout, shape)
    if wrong is not None:
        return Problem("tensor", f"{head}: as elements it is {extents_text(shape)}, and {wrong}")
    return Chosen(entry, layout, shape, stored)


def _unfit(layout: Layout, shape: tuple[int, ...], element: ElementType) -> str | None:
    """Why a layout takes no such tensor, where it does not."""
    if len(shape) != len(layout.tensor_axes):
        axes = ", ".join(axis.name for axis in layout.tensor_axes)
        return f"`{layout.name}` takes one of rank {len(layout.tensor_axes)}: {axes}"
    wanted = layout.tensor_element
    if layout.interface is not None and wanted is not None and element.kind == "f":
        words = f"`{layout.name}` is of codes of {wanted.name}, which numbers are rounded to"
        return f"{words}: what is packed has to come back bit for bit, so pack the codes"
    if wanted is not None and not travels_as(wanted, element):
        return f"`{layout.name}` is of {wanted.name}"
    return _undefined(layout, shape) or _unwhole(layout, shape) or _unfilled(layout, element)


def _unwhole(layout: Layout, shape: tuple[int, ...]) -> str | None:
    """Why the bits of a tensor are no bytes, where they are placed one by one."""
    if layout.bit_of is None:
        return None
    whole = layout_shape(layout, shape_with_copies(layout, shape))
    values, count = values_of(layout, whole), stored_in(layout, "bytes").joined
    extents = box(layout, values)
    left = prod(extents[len(extents) - count :])
    if layout.start != ZERO:  # such a buffer is flat
        left = prod(extents) + evaluate(layout.start, values)
    return f"its last coordinates are {left} bits, which fill no whole bytes" if left % 8 else None


def _undefined(layout: Layout, shape: tuple[int, ...]) -> str | None:
    """Why a layout has no such shape; of an empty tensor what it would say of extents of 1."""
    try:
        layout.bind(layout_shape(layout, tuple(each or 1 for each in shape)))
    except ValueError as wrong:
        return str(wrong)
    return None


def _unfilled(layout: Layout, element: ElementType) -> str | None:
    """Why padding cannot hold the fill."""
    if not isinstance(layout.fill, FillValue) or layout.fill.value == 0:
        return None
    value, kind = layout.fill.value, element.item[0]
    if kind == "u" and element.kind != "u":
        words = f"`{layout.name}` fills with {value}, and {element.name} moves as bare bits"
        return f"{words}, of which only 0 is a number"
    if isinstance(value, float):  # which elaboration rounded to the type, if it is a float
        return None if kind in ("f", "c") else f"`{layout.name}` fills with {value}, a real number"
    low, high = element.values or (-2048, 2048)
    if kind == "b":
        low, high = 0, 1
    if not low <= value <= high:
        return f"`{layout.name}` fills with {value}, which is none of {element.name}"
    return None
