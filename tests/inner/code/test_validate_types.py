"""`validate` refuses texts whose numbers, exceptions or fills are of another type than they were.

`1`, `True` and `1.0` are equal in Python, and do not work alike: `np.zeros(1.0)` fails.

The validator decides which generated texts may run, and no public door takes a wrong text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from text_mutants import Mutant, mutants

import layoutdsl
from layoutdsl import Layout
from layoutdsl.code import generate_numpy
from layoutdsl.code.validate import NotValidated, Validated, validate

LAYOUTS = {
    "regions": "layout A(c, h) = [c/4, h, c%4]",
    "no padding": "layout A(c, h) = [h, c]",
    "no padding, any fill": "layout A(c, h) = [h, c] fill any",
    "a quantised zero": "layout A(c, h) = [c/4, h, c%4] of u8 fill zero_point",
    "an offset": "layout A(c, h) = [c/4, h, c%4] offset 3",
    "a triangle": "layout A(i: N, j: N) = [i*(i + 1)/2 + j : N*(N + 1)/2] where j <= i",
    "an exclusive or": "layout A(h, w) = [h/2, w/4, h%2 ^ w%2, w%4]",
    "copies": "layout A(r, g, copy: 4 broadcast) = [r, g/8, copy, g%8]",
}
OF_TYPES = re.compile(r": (-?\d+ -> (True|False|-?\d+\.0)|raise \w+ -> \w+|_item\(.*\) -> \d)$")


def emitted(layout: Layout) -> str:
    return generate_numpy(layout, source="", certificate=None).text


def of_types(text: str) -> Iterator[Mutant]:
    return (each for each in mutants(text) if OF_TYPES.search(each.what))


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_other_types_are_not_validated(name: str) -> None:
    layout = layoutdsl.parse(LAYOUTS[name])["A"]
    text = emitted(layout)
    assert isinstance(validate(text, layout, source=""), Validated)
    tried = 0
    for mutant in of_types(text):
        changed = mutant.text
        if changed is not None:
            tried += 1
            assert isinstance(validate(changed, layout, source=""), NotValidated), mutant.what
    assert tried > 3


CODED = "layout A(n, c) = [n, c/4, c%4] of u8 as scale_offset per c"


def test_constants_of_codes_and_words_are_not_validated_with_other_types() -> None:
    layout = layoutdsl.parse(CODED)["A"]
    text = emitted(layout)
    (line,) = [each for each in text.split("\n") if each.startswith("_CODES = ")]
    parts = ast.literal_eval(line.removeprefix("_CODES = "))
    for place, value in enumerate(parts):
        others = (1, True) if isinstance(value, str) else (float(value), not value, str(value))
        for other in others:
            spelled = ", ".join(map(repr, (*parts[:place], other, *parts[place + 1 :])))
            changed = text.replace(line, f"_CODES = ({spelled})")
            assert isinstance(validate(changed, layout, source=""), NotValidated)
    for odd in ("-True", "-False", "-'1'", "1j", "b'1'", "...", "(1,)", "[1]", "-1.0"):
        spelled = ", ".join([odd, *map(repr, parts[1:])])
        changed = text.replace(line, f"_CODES = ({spelled})")
        assert isinstance(validate(changed, layout, source=""), NotValidated)
