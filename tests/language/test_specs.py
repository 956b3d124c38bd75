"""Layouts as they are met in the field: every `prove` of `specs/` proved, every `refute` refuted.

What a proof does not find yet is listed; a line there fails as soon as it is found.
"""

from __future__ import annotations

from itertools import product

import pytest
from field_formulas import SPECS
from mutants.audits import of_claim
from texts import HERE, LIBRARY, module

import layoutdsl
from layoutdsl import Claim, Layout

FILES = sorted((HERE / "specs").glob("*.layout"))
MODULES = {path.stem: module(path.read_text(encoding="utf-8"), LIBRARY) for path in FILES}
LAYOUTS = {name: layout for found in MODULES.values() for name, layout in found.items()}
CLAIMS = [claim for found in MODULES.values() for claim in found.claims]
WRONG = {each.layout.name for each in CLAIMS if each.text == f"refute {each.layout.name}"}
SOUND = [layout for name, layout in LAYOUTS.items() if name not in WRONG]


@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    "subject", [*SOUND, *CLAIMS], ids=lambda subject: getattr(subject, "name", None) or subject.text
)
def test_every_spec_holds(subject: Layout | Claim) -> None:
    """What is found is what the spec says, and replays in a second reading of the text."""
    report = layoutdsl.prove(subject if isinstance(subject, Layout) else [subject])
    (found,) = report.checked
    assert found.passed
    assert isinstance(found.claim, Claim)
    assert of_claim(found.claim, found).wrong == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_layout_has_its_source(path: object) -> None:
    """A file tells where its layouts come from, and how sure that is."""
    text = path.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    assert text.startswith("# ")
    assert "# Source: " in text


@pytest.mark.parametrize("name", SPECS)
def test_offsets_are_those_of_the_source(name: str) -> None:
    """Its formula, transcribed by hand, for every index of some ragged shapes."""
    layout, (formula, shapes) = LAYOUTS[name], SPECS[name]
    for shape in shapes:
        values = layout.bind(shape)
        for index in product(*map(range, shape)):
            bound = {**values, **dict(zip(_axes(layout), index, strict=True))}
            assert layout.offset_at(bound) == formula(index, shape)


def _axes(layout: Layout) -> list[str]:
    return [axis.name for axis in layout.axes]


def test_every_layout_is_transcribed_or_wrong_or_a_parameter_is_open() -> None:
    aside = {"AwqReversed", "AwqInOrder", "Interleave", "InterleaveInverse", "Identity", "Picture"}
    wrong = WRONG - {"Ldmatrix32x16AsPublished"}
    opened = {name for name, layout in LAYOUTS.items() if layout.parameters}
    assert set(LAYOUTS) - set(SPECS) == aside | opened | wrong


WORKED = [
    # numbers that were found in the field
    ("Composition", (6,), (2,), 7),
    ("Ldmatrix32x16AsPublished", (32, 16), (4, 0), 0),
    ("Picture", (65536, 65536, 8), (65535, 65535, 7), (65535 * 65536 + 65535) * 8 + 7),
]


@pytest.mark.parametrize(("name", "shape", "index", "offset"), WORKED)
def test_worked_value(
    name: str, shape: tuple[int, ...], index: tuple[int, ...], offset: int
) -> None:
    assert offset == LAYOUTS[name].offset(index, shape)


def test_the_published_map_of_tvm_uses_128_of_512_places() -> None:
    published = LAYOUTS["Ldmatrix32x16AsPublished"]
    places = {published.offset(index, (32, 16)) for index in product(range(32), range(16))}
    assert (len(places), published.size((32, 16))) == (128, 512)


def test_the_published_stride_of_aiter_lets_two_scales_meet() -> None:
    published = LAYOUTS["AiterScalesAsPublished"]
    assert published.offset((8, 8), (64, 9)) == published.offset((32, 0), (64, 9)) == 288
