"""``probe``: what does somebody's function do with a tensor, and is it what a layout says?

The number of each element, in row-major order, is written in digits of a few bits, and the function
is called once per digit, and once more per digit with every digit turned round. What comes out says
which element each slot holds; a slot that never changes is padding. So any type of elements will do
that holds the numbers below 16. The function is called; nothing is known of it otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any, TypeAlias

import numpy as np

from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.elements import FillAny, FillValue, fill_text
from layoutdsl.language.meaning.model import Layout, Shape
from layoutdsl.language.offsets.arrays import exchanged_in, offsets, orders_in
from layoutdsl.language.offsets.axes import Pairing, Unpaired, over_same_axes
from layoutdsl.language.offsets.one_by_one import size
from layoutdsl.language.texts.values import said
from layoutdsl.view.compare.calling import (
    MOST_SLOTS,
    PADDING,
    UNKNOWN,
    Answer,
    ArrayKind,
    Asked,
    Faulty,
    Places,
    ProbeFault,
    ProbeHint,
    Words,
    package,
    refuse_narrow,
)
from layoutdsl.view.compare.hints import MOST_AXES, AxesPermuted, axes_text
from layoutdsl.view.compare.lanes import blocks, described


@dataclass(frozen=True, slots=True)
class Probe:
    """What was found of a function at one shape; this is a test, and no proof.

    Attributes:
        faults: what is wrong; none where the function does what the layout says.
        hints: what it does instead.
        padding: the values that were found in slots that no element reaches.
        shape: every extent and parameter with its value.
        elements, slots, calls: how much was looked at, and how often the function was called.
        wrong: how many elements lie elsewhere.
        raised: what the function raised, if it did.
    """

    faults: tuple[ProbeFault, ...]
    hints: tuple[ProbeHint, ...]
    padding: tuple[float, ...]
    shape: tuple[tuple[str, int], ...]
    elements: int
    slots: int
    calls: int
    wrong: int = 0
    raised: BaseException | None = None

    def __bool__(self) -> bool:
        """Return `same`: ``assert probe(...)`` fails where the function does something else."""
        return self.same

    def __repr__(self) -> str:
        shape = " ".join(f"{name}={value}" for name, value in self.shape)
        found = "same" if self.same else "; ".join(each.sentence for each in self.faults)
        return said(self, f"at {shape}: {found}")

    @property
    def same(self) -> bool:
        """Whether the function did what the layout says."""
        return not self.faults


def probe(
    function: Callable[..., Any],
    layout: Layout,
    shape: Shape,
    *,
    unpack: bool = False,
    dtype: str = "u1",
    array: ArrayKind = "numpy",
    flat: bool = False,
    bits: int = 4,
    word: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Probe:
    """Call a function and compare it with a layout; `layoutdsl.probe` documents the arguments."""
    if layout.copies:
        words = f"`{layout.name}` holds copies of its elements, which a probe does not tell apart"
        raise ValueError(f"{words}: compare with what `compile` of it packs")
    values = layout.bind(shape)
    slots = size(layout, values)
    if slots > MOST_SLOTS:
        raise ValueError(f"the buffer has {slots} elements, at most {MOST_SLOTS} are probed")
    refuse_narrow(dtype, bits)
    real = isinstance(layout.fill, FillValue) and isinstance(layout.fill.value, float)
    if real and np.dtype(dtype).kind != "f":
        words = f"padding of `{layout.name}` holds {fill_text(layout.fill)}, and {dtype} does not"
        raise ValueError(f"{words}: give a float type, as in --dtype f4")
    package(array)
    in_words = None if word is None else _words(layout, word)
    bits = bits if in_words is None else min(bits, in_words.bits)
    tell = progress or (lambda _: None)
    asked = Asked(function, layout, values, dtype, array, bits, tell, in_words)
    expected = offsets(layout, values)
    shown = (tuple(values.items()), expected.size, slots)
    try:
        answer = asked.unpacked(flat or in_words is not None) if unpack else asked.packed()
    except Faulty as found:
        raised = found.__cause__
        return Probe((found.fault,), found.hints, (), *shown, asked.calls, raised=raised)
    if unpack:
        return _unpacks(asked, answer, expected, shown)
    return _packs(asked, answer, expected, shown)


def _words(layout: Layout, word: str) -> Words:
    """Return how the elements of a layout lie in words of a type, such as ``u32``."""
    if layout.element is None:
        raise ValueError(f"`{layout.name}` does not say how many bits an element has: add `of u4`")
    if not re.fullmatch("[iu](8|16|32|64)", word):
        raise ValueError(f"`{word}` is no type of words, as u32 is")
    return Words(np.dtype(f"{word[0]}{int(word[1:]) // 8}"), layout.element.bits)


Shown: TypeAlias = "tuple[tuple[tuple[str, int], ...], int, int]"


def _packs(asked: Asked, answer: Answer, expected: Places, shown: Shown) -> Probe:
    layout, holders = asked.layout, answer.numbers
    random = answer.random[expected.ravel()]
    if random.any():
        index = _index_text(asked, int(np.argmax(random)))
        sentence = f"the slot of element {index} is another at each call with the same tensor"
        return Probe((ProbeFault("random", sentence),), (), (), *shown, asked.calls)
    wanted = np.full(len(holders), PADDING, dtype=np.int64)
    wanted[expected.ravel()] = np.arange(expected.size)
    wrong = np.flatnonzero(holders[expected.ravel()] != np.arange(expected.size))
    places = _places(holders, expected.size)
    faults: list[ProbeFault] = []
    if wrong.size:
        number = int(wrong[0])
        faults.append(_misplaced(asked, number, expected, holders, places))
    start = evaluate(layout.start, asked.values)
    padding = np.flatnonzero(wanted == PADDING)
    padding = padding[padding >= start]
    if not wrong.size:
        faults += _padding(asked, answer, padding)
    unused = answer.values[np.flatnonzero(holders == PADDING)]
    hints = tuple(_hints(asked, expected, places)) if wrong.size else ()
    values = tuple(float(each) for each in np.unique(unused)[:8])
    return Probe(tuple(faults), hints, values, *shown, asked.calls, int(wrong.size))


def _places(holders: Places, count: int) -> Places:
    """Return the slot of each element; ``UNKNOWN`` where there is none."""
    places = np.full(count, UNKNOWN, dtype=np.int64)
    held = np.flatnonzero(holders >= 0)[::-1]
    places[holders[held]] = held
    return places


def _misplaced(
    asked: Asked, number: int, expected: Places, holders: Places, places: Places
) -> ProbeFault:
    slot, put = int(expected.ravel()[number]), int(places[number])
    held = int(holders[slot])
    there = "padding" if held == PADDING else "no element"
    if held >= 0:
        there = f"element {_index_text(asked, held)}"
    index = _index(asked, number)
    gone = "nowhere" if put == UNKNOWN else f"to offset {put}"
    sentence = (
        f"element {_index_text(asked, number)} goes {gone}, and not to offset {slot}, "
        f"where there is {there}"
    )
    return ProbeFault("element", sentence, index, (slot, None if put == UNKNOWN else put))


def _index(asked: Asked, number: int) -> tuple[tuple[str, int], ...]:
    place = np.unravel_index(number, asked.extents)
    names = (axis.name for axis in asked.layout.axes)
    return tuple((name, int(each)) for name, each in zip(names, place, strict=True))


def _index_text(asked: Asked, number: int) -> str:
    return f"({', '.join(f'{name}={each}' for name, each in _index(asked, number))})"


def _padding(asked: Asked, answer: Answer, padding: Places) -> Iterator[ProbeFault]:
    """Yield what is wrong with the slots that hold no element by the layout."""
    fill = asked.layout.fill
    if isinstance(fill, FillAny):
        return
    random = padding[answer.random[padding]]
    held = padding[answer.numbers[padding] >= 0]
    if random.size:
        sentence = f"slot {random[0]}, which is padding, holds another value at each call"
        yield ProbeFault("random", sentence)
        return
    if held.size:
        slot = int(held[0])
        element = _index_text(asked, int(answer.numbers[slot]))
        yield ProbeFault("padding", f"slot {slot}, which is padding, holds element {element}")
        return
    if not isinstance(fill, FillValue):
        return
    if asked.words is None:
        value = np.asarray(fill.value).astype(asked.dtype)
    else:
        value = np.asarray(int(fill.value) & ((1 << asked.words.bits) - 1))
    kept = answer.values[padding]
    other = padding[(kept != value) & ((kept == kept) | (value == value))]  # NaN differs from NaN
    if other.size:
        slot = int(other[0])
        sentence = f"slot {slot}, which is padding, holds {answer.values[slot]}, and not {value}"
        yield ProbeFault("fill", sentence)


def _unpacks(asked: Asked, answer: Answer, expected: Places, shown: Shown) -> Probe:
    places = np.where(answer.numbers >= 0, answer.numbers, UNKNOWN)
    if answer.random.any():
        index = _index_text(asked, int(np.flatnonzero(answer.random)[0]))
        sentence = f"element {index} is another at each call with the same buffer"
        fault = ProbeFault("random", sentence)
        return Probe((fault,), (), (), *shown, asked.calls)
    wrong = np.flatnonzero(places != expected.ravel())
    if not wrong.size:
        return Probe((), (), (), *shown, asked.calls)
    number = int(wrong[0])
    slot, taken = int(expected.ravel()[number]), int(places[number])
    source = "nowhere in the buffer" if taken == UNKNOWN else f"offset {taken}"
    sentence = f"element {_index_text(asked, number)} is taken from {source}, and not from {slot}"
    where = (slot, None if taken == UNKNOWN else taken)
    fault = ProbeFault("element", sentence, _index(asked, number), where)
    hints = tuple(_hints(asked, expected, places))
    return Probe((fault,), hints, (), *shown, asked.calls, int(wrong.size))


def _hints(asked: Asked, expected: Places, places: Places) -> Iterator[ProbeHint]:
    """Yield what the function does instead, where every element has a place of its own."""
    if (places < 0).any():
        return
    found = places.reshape(expected.shape)
    yield from _axes_hint(asked, found)
    for axis in range(found.ndim):
        for block in blocks(asked.layout, axis):
            if found.shape[axis] % block:
                continue
            orders = orders_in(expected, found, axis, block)
            if orders is not None and exchanged_in(expected, found, axis, orders):
                yield described(asked.layout.axes[axis].name, *orders, False)
                return


def _axes_hint(asked: Asked, found: Places) -> Iterator[AxesPermuted]:
    layout = asked.layout
    names = [axis.name for axis in layout.axes]
    if len(names) > MOST_AXES:
        return
    usual = Pairing(tuple(zip(names, names, strict=True)), "name")
    # A condition on an axis of fixed extent, `s: 4`, names it `S`, which no shape has a value for.
    extents = {name.upper(): size for name, size in zip(names, asked.extents, strict=True)}
    known = {**extents, **asked.values}
    for order in permutations(names):
        pairs = tuple(zip(names, order, strict=True))
        try:
            turned = over_same_axes(layout, layout, Pairing(pairs, "given"))
        except Unpaired:
            continue
        fits = all(each.holds(known) for each in turned.fixed)
        if fits and np.array_equal(offsets(turned.other, asked.values), found):
            yield AxesPermuted(pairs, axes_text(layout, layout, pairs, usual), False)
            return
