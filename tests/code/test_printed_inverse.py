"""What is printed of a layout, executed: offset, size, extents, and what every slot holds.

Texts are run as they are printed, Python by Python and C by a compiler, at every index and every
slot of several shapes; what they should say is counted out with `Layout.offset_at` alone. A text
has an inverse only where that was proved, or evaluated everywhere; so a wrong one is a wrong proof.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path
from random import Random

import numpy as np
import pytest
from cli_shell import Ended, Shell, shell
from functions_built import C, Called, built
from proving import elements, shapes
from random_declarations import drawn, read, stands
from texts import layout

import layoutdsl
from layoutdsl import Layout

__all__ = ["shell"]

Values = dict[str, int]

READ_WRONG = [
    "layout L(e: 3) = [e%4 + e]",
    "layout L(e: 8) = [e - 3*(e/6), e/3]",
]
"""Right, by trying every index; what reads their slots in closed form reads some of them wrong."""


def printed(shell: Shell, made: Layout, language: str, *options: str) -> Ended:
    """Print the index functions of a layout by `formula`, of wrong layouts, too."""
    Path("printed.layout").write_text(f"{made}\nrefute {made.name}", encoding="utf-8")
    return shell("formula", f"printed.layout:{made.name}", "--as", language, *options)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", READ_WRONG)
def test_an_inverse_that_reads_a_slot_wrong_is_not_printed(text: str, shell: Shell) -> None:
    made = layout(text)
    (found,) = layoutdsl.prove(made).checked
    assert found.status == "proved"
    assert "onto the padded box" not in [each.property for each in found.findings]
    assert layoutdsl.formula(made).padded is None
    reason = "no closed inverse: the one that was read off the coordinates is not proved"
    for language in ("python", "latex", "sympy", "c", "opencl", "cuda", "triton", "mlir"):
        assert reason in printed(shell, made, language).out
    assert "_index(" not in printed(shell, made, "c").out


@pytest.mark.parametrize("text", READ_WRONG)
def test_what_a_slot_holds_is_not_explained_by_it(text: str, shell: Shell) -> None:
    made, explained = layout(text), 0
    Path("a.layout").write_text(text, encoding="utf-8")
    for slot in range(made.size({})):
        said = shell("at", "a.layout", str(slot)).out
        held = re.search(rf"^offset {slot} -> \(e=(\d+)\)$", said, re.MULTILINE)
        working = re.search(r"^  e = .* = (\d+)$", said, re.MULTILINE)
        assert (held is None) == (made.decode(slot, {}) is None)
        if held is not None and working is not None:
            assert working[1] == held[1]
            explained += 1
    assert explained


class Script:
    """The printed Python of a layout, run as it is."""

    def __init__(self, made: Layout, shell: Shell) -> None:
        self._layout = made
        ended = printed(shell, made, "python")
        assert ended.code == 0, ended.err
        self.text = ended.out
        self._code = compile(self.text, made.name, "exec")
        self._axes = [axis.name for axis in made.axes]

    @property
    def inverted(self) -> bool:
        return "\nholds = " in self.text

    def run(self, values: Values, **given: int) -> dict[str, object]:
        known: dict[str, object] = {**dict.fromkeys(self._axes, 0), "_slot": 0, **values, **given}
        exec(self._code, known)
        return known

    def index(self, values: Values, slot: int) -> tuple[int, ...] | None:
        """What the printed inverse says of a slot."""
        said = self.run(values, _slot=slot)
        return tuple(said[name] for name in self._axes) if said["holds"] else None  # type: ignore[misc]


def says_what_is_meant(made: Layout, tried: list[Values], shell: Shell) -> bool:
    """Whether there is an inverse; all that is printed is compared."""
    script = Script(made, shell)
    for values in tried:
        held: dict[int, tuple[int, ...]] = {}
        for point in elements(made, values):
            index = {axis.name: point[axis.name] for axis in made.axes}
            said = script.run(values, **index)
            assert said["offset"] == made.offset_at(point), (made, point)
            assert said.get("has_slot", True)
            held[made.offset_at(point)] = tuple(index.values())
        said = script.run(values)
        assert (said["size"], said["physical_shape"]) == (
            made.size(values),
            made.physical_shape(values),
        )
        if script.inverted:
            for slot in range(made.size(values)):
                assert script.index(values, slot) == held.get(slot), (script.text, values, slot)
            padded = said["padded_extents"]
            _have_slots(made, script, values, padded)  # type: ignore[arg-type]
    return script.inverted


def _have_slots(made: Layout, script: Script, values: Values, padded: tuple[int, ...]) -> None:
    """Indices up to the padded extents have slots of their own."""
    names = [axis.name for axis in made.axes]
    shape = made.shape_of(values)
    assert all(low <= high for low, high in zip(shape, padded, strict=True))
    if prod(padded) <= 400:
        every = [dict(zip(names, each, strict=True)) for each in product(*map(range, padded))]
        slots = {made.offset_at({**values, **each}) for each in every}
        assert len(slots) == len(every), (script.text, values)
        assert slots <= set(range(made.size(values)))


def some_shapes(made: Layout, random: Random) -> list[Values]:
    """A few shapes of a few elements each, the largest among them."""
    fitting = [
        values
        for values in shapes(made, 14, 60)
        if made.size(values) <= 150 and next(elements(made, values), None) is not None
    ]
    random.shuffle(fitting)
    return sorted(fitting[:3], key=lambda values: prod(made.shape_of(values)))


def campaign(seed: int, count: int, shell: Shell) -> tuple[Counter[str], list[Layout]]:
    """Random layouts, most of them right: each text that says how to read a slot is executed."""
    random, found, inverted = Random(seed), Counter[str](), []
    while found["all"] < count:
        text = drawn(random)
        made = read(text)
        if made is None or made.parameters or not (tried := some_shapes(made, random)):
            continue
        if not stands(made, 6, 16) and random.random() < 0.95:
            continue
        found["all"] += 1
        if says_what_is_meant(made, tried, shell):
            found["inverted"] += 1
            inverted.append(made)
        else:
            found["no closed inverse"] += 1
    return found, inverted


@pytest.mark.slow
def test_what_is_printed_of_random_layouts_is_what_is_meant(shell: Shell) -> None:
    found, _ = campaign(10, 200, shell)
    assert found["inverted"] > 120, found
    assert found["no closed inverse"] > 10, found


@pytest.mark.slow
@pytest.mark.skipif(C is None, reason="there is no C compiler")
def test_functions_compiled_from_random_layouts_are_what_is_meant(
    shell: Shell, tmp_path: Path
) -> None:
    compiled_is_what_is_meant(campaign(11, 12, shell)[1], shell, tmp_path)


def compiled_is_what_is_meant(inverted: list[Layout], shell: Shell, folder: Path) -> None:
    """The C of each layout, one file for all of them, at every slot of a few shapes."""
    fitting = [made for made in inverted if fits(made, shell)]
    assert fitting
    named = [replace(made, name=f"L{number}") for number, made in enumerate(fitting)]
    library = built(named, "c", "int64", folder)
    random = Random(0)
    for made in named:
        called = Called(library, made)
        for values in some_shapes(made, random):
            held = np.full((made.size(values), 1 + made.rank), -1)
            held[:, 0] = 0
            for point in elements(made, values):
                index = [point[axis.name] for axis in made.axes]
                held[made.offset_at(point)] = [1, *index]
            read = called.index(values, np.arange(made.size(values)))
            assert np.array_equal(read, held), (made, values)


def fits(made: Layout, shell: Shell) -> bool:
    """Whether there is C of a layout: what is divided may be negative, and then there is none."""
    small = ", ".join(f"{name} <= 16" for name in made.symbols)
    range_ = ("--where", small) if small else ()
    ended = printed(shell, made, "c", *range_, "--width", "64", "--json")
    return ended.code == 0 and json.loads(ended.out)["integers"] == "int64"


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(20))
def test_campaign_of_random_printed_layouts(seed: int, shell: Shell, tmp_path: Path) -> None:
    found, inverted = campaign(1000 + seed, 250, shell)
    print(found)
    if C is not None:
        compiled_is_what_is_meant(inverted[::5], shell, tmp_path)
