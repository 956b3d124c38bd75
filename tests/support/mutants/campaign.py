"""Which mutants there are: of every layout of the library, the examples and the specs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

from layoutdsl import Layout
from layoutdsl.language.declaration import declaration
from layoutdsl.language.elaborate.shelf import elaborated
from layoutdsl.language.texts.source import Source

from .edits import of_formula, of_layout
from .judge import LIBRARY, Mutant
from .spellings import FORMS, ROUNDING, spelled

TESTS = Path(__file__).parents[2]

NOT_DIGITS = {
    *("Backwards", "Rotated", "Swizzled", "RowSwizzled", "Scaled"),
    *("Swizzle128", "Swizzle128Rows"),
}
"""Layouts over open shapes whose coordinates are no digits; left aside here."""


def layouts() -> dict[str, Layout]:
    """Every layout that mutants are made of, by name."""
    found = dict(LIBRARY)
    for path in [TESTS / "layouts/examples.layout", *sorted((TESTS / "specs").glob("*.layout"))]:
        text = path.read_text(encoding="utf-8")
        found |= elaborated(Source(path.name, text), LIBRARY).layouts
    whole = {name: each for name, each in found.items() if not each.domain}
    return {name: each for name, each in whole.items() if name not in NOT_DIGITS}


def originals(seed: int) -> list[Mutant]:
    """Every formula unchanged, in an order that the seed gives: each has to be proved equal."""
    found = [
        Mutant(name, form, "original", declaration(layout), formula)
        for name, layout in layouts().items()
        for form, formula in _formulas(layout)
    ]
    Random(seed).shuffle(found)
    return found


def mutants(seed: int) -> Iterator[Mutant]:
    """Mutants without end, of layouts and formulas by turns, in an order that the seed gives."""
    random = Random(seed)
    found = layouts()
    names = sorted(found)
    seen: set[Mutant] = set()
    while True:
        for of_formulas in (False, True):
            name = random.choice(names)
            mutant = _chosen(random, found[name], of_formulas)
            if mutant not in seen:
                seen.add(mutant)
                yield mutant


def _chosen(random: Random, layout: Layout, of_formulas: bool) -> Mutant:
    text = declaration(layout)
    if not of_formulas:
        edit = random.choice(_of_layout(text))
        return Mutant(layout.name, "layout", edit.kind, text, edit.text)
    form, rounding = random.choice(FORMS), random.choice(list(ROUNDING))
    edit = random.choice(_of_formula(text, spelled(layout, rounding, form)))
    return Mutant(layout.name, f"{form}, {rounding}", edit.kind, text, edit.text)


_of_layout, _of_formula = cache(of_layout), cache(of_formula)


def _formulas(layout: Layout) -> list[tuple[str, str]]:
    """Spellings of the offset of a layout, each text once."""
    found: dict[str, str] = {}
    for form in FORMS:
        for rounding in ROUNDING:
            found.setdefault(spelled(layout, rounding, form), f"{form}, {rounding}")
    return [(form, text) for text, form in found.items()]
