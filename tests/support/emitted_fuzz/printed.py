"""Printed formulas, run as they are printed: Python at every index and every slot, and C likewise.

Of shapes with many elements only some indices are asked for: the corners, and some at random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product
from math import prod
from random import Random
from textwrap import indent

from mutants import oracle

from layoutdsl.code.functions.names import renamed
from layoutdsl.shell.sheet import sheet_text

from .cases import Case, Fault
from .meaning import Meaning, Shape, Values, meaning, offset_at, values_of
from .modules import expect, layout_of

ALL = 700
"""Elements, and slots, up to which every one is asked for."""


@lru_cache(maxsize=64)
def sheet(text: str) -> tuple[str, Callable[..., dict[str, object]]]:
    """The printed Python of a layout, and the same as a function, which is sooner called."""
    printed, spoken = sheet_text(layout_of(text), "python"), renamed(layout_of(text), "python")
    given = ", ".join([*(axis.name for axis in spoken.axes), *spoken.symbols, "_slot"])
    made: dict[str, Callable[..., dict[str, object]]] = {}
    exec(f"def run({given}):\n{indent(printed, ' ')}\n return locals()", made)
    return printed, made["run"]


class Script:
    """The printed Python of a layout at one shape."""

    def __init__(self, text: str, values: Values) -> None:
        self.text, self._call = sheet(text)
        self._axes = [axis.name for axis in renamed(layout_of(text), "python").axes]
        known = {name: values[name] for name in layout_of(text).symbols}
        symbols = renamed(layout_of(text), "python").symbols
        self._values = dict(zip(symbols, known.values(), strict=True))

    @property
    def inverted(self) -> bool:
        return "\nholds = " in self.text

    def at(self, index: Shape) -> dict[str, object]:
        """What is said of an index."""
        return self._run(dict(zip(self._axes, index, strict=True)) | {"_slot": 0})

    def held(self, slot: int) -> Shape | None:
        """What the inverse says of a slot."""
        said = self._run(dict.fromkeys(self._axes, 0) | {"_slot": slot})
        return tuple(said[name] for name in self._axes) if said["holds"] else None  # type: ignore[misc]

    def _run(self, given: dict[str, int]) -> dict[str, object]:
        return self._call(**self._values, **given)


def check_script(case: Case) -> None:
    """Run the printed Python at one shape.

    Raises:
        Fault: it says something else than what is meant.
        Refused: the text is no layout.
    """
    layout_of(case.text)
    if prod(case.shape) > ALL:
        _check_far(case)
        return
    meant = meaning(case.text, case.shape)
    if meant is None:
        return
    script = Script(case.text, meant.values)
    slots = dict(zip(meant.index(), meant.slots, strict=True))
    for index in product(*map(range, case.shape)):
        said = script.at(index)
        expect(said.get("has_slot", True), index in slots, f"has_slot of {index}")
        if index in slots:
            expect(said["offset"], slots[index], f"offset of {index}")
    said = script.at((0,) * len(case.shape))
    expect((said["size"], said["physical_shape"]), (meant.size, meant.physical), "size and shape")
    if script.inverted and meant.right:
        check_inverse(meant, script)
        _have_slots(case, meant, said["padded_extents"])  # type: ignore[arg-type]
    elif script.inverted and meant.size <= ALL:
        raise Fault("an inverse is printed of a layout that is wrong at this shape")


def check_inverse(meant: Meaning, script: Script) -> None:
    """What every slot holds, padding and slots before the first included; of many, some."""
    held = dict(zip(meant.slots, meant.index(), strict=True))
    asked = set(range(meant.size)) if meant.size <= ALL else near(meant)
    for slot in sorted(asked):
        expect(script.held(slot), held.get(slot), f"what slot {slot} holds")


def near(meant: Meaning) -> set[int]:
    """Some slots of a large buffer: its ends, and those of elements and beside them."""
    some = {slot + step for slot in meant.slots[:ALL] for step in (-1, 0, 1)}
    return {slot for slot in some | {0, meant.size - 1} if 0 <= slot < meant.size}


def _have_slots(case: Case, meant: Meaning, padded: tuple[int, ...]) -> None:
    """Indices up to the padded extents have slots of their own."""
    if any(low > high for low, high in zip(case.shape, padded, strict=True)):
        raise Fault(f"padded_extents {padded} are below the shape")
    if prod(padded) > ALL or not meant.held.all():
        return
    reading = oracle.read(case.text)
    names = [axis.name.text for axis in reading.axes]
    points = (dict(zip(names, each, strict=True)) for each in product(*map(range, padded)))
    slots = [int(reading.offsets(meant.values, point)) for point in points]
    if len(set(slots)) < len(slots) or not all(0 <= slot < meant.size for slot in slots):
        raise Fault(f"indices up to padded_extents {padded} have no slots of their own")


def _check_far(case: Case) -> None:
    """Some indices of a shape with many elements, and what their slots hold."""
    reading = oracle.read(case.text)
    values = values_of(reading, case.shape)
    if values is None:
        return
    script = Script(case.text, values)
    for index, slot in far_points(case, values):
        said = script.at(index)
        expect(said.get("has_slot", True), slot is not None, f"has_slot of {index}")
        if slot is not None:
            expect(said["offset"], slot, f"offset of {index}")
        if slot is not None and script.inverted:
            expect(script.held(slot), index, f"what slot {slot} holds")


def far_points(case: Case, values: Values) -> Iterator[tuple[Shape, int | None]]:
    """Some indices with their offsets: all corners, and some at random."""
    reading, random = oracle.read(case.text), Random(0)
    corners = list(product(*({0, extent - 1} for extent in case.shape)))[:64]
    corners += [tuple(map(random.randrange, case.shape)) for _ in range(30)]
    for index in corners:
        try:
            yield index, offset_at(reading, values, index)
        except oracle.Outside:
            return
