"""Which mutants there are: of every layout of the library, the examples and the specs."""

from __future__ import annotations

from pathlib import Path
from random import Random

from layoutdsl.model import Layout
from layoutdsl.shelf import elaborated
from layoutdsl.show.declaration import declaration
from layoutdsl.source import Source

from .edits import of_formula, of_layout
from .judge import LIBRARY, Mutant
from .spellings import FORMS, ROUNDING, spelled

TESTS = Path(__file__).parent.parent

NOT_DIGITS = {"Backwards", "Rotated", "Swizzled", "RowSwizzled", "Scaled"}
"""Examples whose coordinates are no digits; they have proofs of their own."""


def layouts() -> dict[str, Layout]:
    """Every layout that mutants are made of, by name."""
    found = dict(LIBRARY)
    for path in [TESTS / "layouts/examples.layout", *sorted((TESTS / "specs").glob("*.layout"))]:
        text = path.read_text(encoding="utf-8")
        found |= dict(elaborated(Source(path.name, text), LIBRARY))
    return {name: each for name, each in found.items() if name not in NOT_DIGITS}


def originals() -> list[Mutant]:
    """Every formula unchanged: each has to be proved equal."""
    found = []
    for name, layout in layouts().items():
        text = declaration(layout)
        for form, formula in _formulas(layout):
            found.append(Mutant(name, form, "original", text, formula))
    return found


def mutants(seed: int) -> list[Mutant]:
    """Every mutant, in an order that the seed gives."""
    of_layouts, of_formulas = [], []
    for name, layout in layouts().items():
        text = declaration(layout)
        of_layouts += [
            Mutant(name, "layout", edit.kind, text, edit.text) for edit in of_layout(text)
        ]
        of_formulas += [
            Mutant(name, form, edit.kind, text, edit.text)
            for form, formula in _formulas(layout)
            for edit in of_formula(text, formula)
        ]
    random = Random(seed)
    random.shuffle(of_layouts)
    random.shuffle(of_formulas)
    pairs = zip(of_layouts, of_formulas, strict=False)
    return [each for pair in pairs for each in pair]


def _formulas(layout: Layout) -> list[tuple[str, str]]:
    """Spellings of the offset of a layout, each text once."""
    found: dict[str, str] = {}
    for form in FORMS:
        for rounding in ROUNDING:
            found.setdefault(spelled(layout, rounding, form), f"{form}, {rounding}")
    return [(form, text) for text, form in found.items()]
