"""What has to hold of a way to run a node: pairs of layouts that put every element at one offset.

What an operator reads of a tensor has to be the element that it reads as ONNX has it. A pair says
that of one tensor of one node: the first layout is where the tensor lies, the second what the
operator reads there, by the digits that it goes along. Extents are names wherever the digits do
not depend on them, so a pair stands for all shapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from layoutdsl.graphs.placings.placing import Placing
from layoutdsl.graphs.placings.reading import digits_at
from layoutdsl.graphs.proving.pair import ONE, Pair, multiplied
from layoutdsl.graphs.proving.view_claims import of_view
from layoutdsl.graphs.roles.bound import CHANGING, Bound, Bundle
from layoutdsl.graphs.roles.rejoined import joint_of
from layoutdsl.graphs.roles.roles import REST, Joint, Mark, Template
from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    Mod,
    Mul,
    Sub,
)
from layoutdsl.language.meaning.model import ZERO, Axis, Condition, Layout, on_axes


def pairs(bound: Bound, template: Template) -> tuple[Pair, ...] | str:
    """Return what has to hold of a way, or why it is none that the roles allow."""
    if bound.steps is not None:
        first = template.takes[0]
        assert first is not None
        return tuple(of_view(bound.steps, first))
    joint = joint_of(bound, template)
    if joint is None:
        return "its operands and results do not lie along one order of digits"
    return tuple(_of_joint(bound, template, joint))


def _of_joint(bound: Bound, template: Template, joint: Joint) -> Iterator[Pair]:
    for each, placing in zip((*bound.operands, *bound.results), template.placings, strict=True):
        if each is not None and placing is not None:
            marks = _of_tensor(bound, each, joint)
            lies = _layout(each, marks, _merged(marks, each))
            read = _layout(each, marks, [[mark] for mark in marks])
            yield Pair(lies, read, _values(each))
    for label in bound.boundaries:
        block = max((mark.divisor for mark in joint if mark.label == label), default=1)
        for each, start in _pieces(bound, label):
            if start:
                marks = _of_tensor(bound, each, joint)
                yield _shifted(each, marks, label, block, start // block)


def _pieces(bound: Bound, label: str) -> Iterator[tuple[Bundle, int]]:
    """Each piece of an axis that is joined or cut, and where it begins."""
    ends = bound.boundaries[label]
    many = bound.operands if bound.roles[label] == "joined" else bound.results
    pieces = [each for each in many if each is not None and label in each.labels]
    if "starts" in bound.settings:
        yield from ((each, 0 if ends == (1,) else ends[0]) for each in pieces)
        return
    yield from zip(pieces, (0, *ends), strict=False)


def _of_tensor(bound: Bound, bundle: Bundle, joint: Joint) -> list[Mark]:
    own = [mark for mark in joint if mark.label in bundle.labels]
    return _told_apart([mark for mark in own if _carries(bound, bundle, mark)], bundle)


def _told_apart(marks: Sequence[Mark], bundle: Bundle) -> list[Mark]:
    """The marks that tell elements apart. Where the top one does not, the next has a fixed size.

    A mark that is `REST` is as large as its axis leaves; one that was not, and now is the top one,
    holds an axis that is no longer than its block.
    """
    tops = {mark.label: mark for mark in sorted(marks, key=lambda mark: mark.divisor)}
    found: list[Mark] = []
    for mark in marks:
        extent = bundle.shape[bundle.labels.index(mark.label)]
        if _size(mark, bundle) == 1:
            continue
        tight = tops[mark.label] is mark and _size(mark, bundle) == -(-extent // mark.divisor)
        found.append(Mark(mark.label, mark.divisor, REST if tight else _size(mark, bundle)))
    return found


def _values(bundle: Bundle) -> tuple[tuple[str, int], ...]:
    return tuple((f"D{axis}", extent) for axis, extent in enumerate(bundle.shape) if extent > 1)


def _carries(bound: Bound, bundle: Bundle, mark: Mark) -> bool:
    extent = bundle.shape[bundle.labels.index(mark.label)]
    return bound.roles.get(mark.label) in CHANGING or extent == bound.extents[mark.label]


def _merged(marks: Sequence[Mark], bundle: Bundle) -> list[list[Mark]]:
    """The marks by the digits of the canonical placing that they are."""
    runs: list[list[Mark]] = []
    for mark in marks:
        last = runs[-1][-1] if runs else None
        size = _size(mark, bundle)
        if last and last.label == mark.label and last.divisor == mark.divisor * size:
            runs[-1].append(mark)
        else:
            runs.append([mark])
    return runs


def _size(mark: Mark, bundle: Bundle) -> int:
    extent = bundle.shape[bundle.labels.index(mark.label)]
    return -(-extent // mark.divisor) if mark.extent == REST else mark.extent


def _axis(bundle: Bundle, number: int) -> Axis:
    extent = bundle.shape[number]
    return Axis(f"d{number}", ONE if extent == 1 else Extent(f"D{number}"))


def _layout(bundle: Bundle, marks: Sequence[Mark], runs: Sequence[Sequence[Mark]]) -> Layout:
    """The layout whose coordinates are runs of marks, each as one digit."""
    axes = tuple(_axis(bundle, number) for number in range(len(bundle.shape)))
    tops = {mark.label: mark for mark in sorted(marks, key=lambda mark: mark.divisor)}
    where: dict[Condition, None] = {}
    found: list[Coordinate] = []
    for run in runs:
        extents = [_extent(mark, bundle, tops, axes, where) for mark in run]
        low = run[-1]
        index = Index(f"d{bundle.labels.index(low.label)}")
        value: Expr = index if low.divisor == 1 else FloorDiv(index, Constant(low.divisor))
        if tops[low.label] not in run:
            value = Mod(value, Constant(prod(_size(mark, bundle) for mark in run)))
        found.append(Coordinate(value, multiplied(extents)))
    return Layout("lies", axes, tuple(found) or (Coordinate(ZERO, ONE),), where=tuple(where))


def _extent(
    mark: Mark,
    bundle: Bundle,
    tops: dict[str, Mark],
    axes: Sequence[Axis],
    where: dict[Condition, None],
) -> Expr:
    """What a mark stays below: a number, and for the top digit of an axis what is left of that."""
    number = bundle.labels.index(mark.label)
    size, extent = _size(mark, bundle), axes[number].extent
    if tops[mark.label] is not mark or isinstance(extent, Constant):
        return Constant(size)
    if mark.extent != REST:
        where[Condition(extent, "<=", Constant(mark.divisor * size))] = None
        return Constant(size)
    return extent if mark.divisor == 1 else CeilDiv(extent, Constant(mark.divisor))


def _shifted(bundle: Bundle, marks: Sequence[Mark], label: str, block: int, blocks: int) -> Pair:
    """A piece that begins ``block*q`` along an axis: its digits there, less the blocks before."""
    runs = [[mark] for mark in marks]
    own = _layout(bundle, marks, runs)
    name = f"d{bundle.labels.index(label)}"
    moved = Add(Index(name), Mul(Constant(block), Extent("q")))
    read: list[Coordinate] = []
    for mark, each in zip(marks, own.coordinates, strict=False):
        value = each.value
        if mark.label == label:
            whole: Expr = moved if mark.divisor == 1 else FloorDiv(moved, Constant(mark.divisor))
            radix = Constant(_size(mark, bundle))
            value = Sub(whole, Extent("q")) if mark.divisor == block else Mod(whole, radix)
        read.append(Coordinate(value, each.extent))
    lies = Layout("lies", own.axes, own.coordinates, where=own.where, parameters=("q",))
    read = read or list(own.coordinates)
    other = Layout("read", own.axes, tuple(read), where=own.where, parameters=("q",))
    return Pair(lies, other, (*_values(bundle), ("q", blocks)))


def placed_pairs(layout: Layout, placing: Placing) -> tuple[Pair, ...]:
    """Return that a layout of the language puts elements where a placing has them."""
    labels = tuple(axis.name for axis in layout.axes)
    bundle = Bundle("", labels, placing.shape)
    digits = digits_at(layout, placing.shape)
    marks = [Mark(labels[each.axis], each.divisor, each.extent) for each in digits]
    marks = _told_apart(marks, bundle)
    read = _layout(bundle, marks, [[mark] for mark in marks])
    own = on_axes(layout, read.axes)
    lies = _layout(bundle, marks, _merged(marks, bundle))
    return Pair(own, read, _values(bundle)), Pair(lies, read, _values(bundle))
