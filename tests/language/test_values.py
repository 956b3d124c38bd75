"""Values as text: a line for people, whatever is in a value; all of it for keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from small_files import compiles
from texts import EVERY, LIBRARY, layout

import layoutdsl

MOST = 300

TEXT = """\
layout Bad(n, c) = [n, c%4] where C < 99
layout Good(n, c) = [n, c]
layout Open<k>(n, c) = [n, c/k, c%k] fill 3 of u8
table Twice(n, c)[i: N, j: 2*C] = (n = i, c = j/2)
prove Good == n + c*N
prove Good == [n, c]
prove Good fits int8
prove Good keeps c contiguous
prove Good aligns c to 64 bytes of f32
"""


def values() -> Iterator[Any]:
    """What the verbs return and raise; proofs and code among it have many thousands of letters."""
    module, blocked, crouton = layoutdsl.parse(TEXT), LIBRARY["NCHW16c"], LIBRARY["R4CroutonLayout"]
    yield from (module, layoutdsl.library_module(), *module.tables.values(), *module.all_claims)
    yield from (layoutdsl.prove(module), layoutdsl.prove(LIBRARY["MarlinWeights"]))
    yield layoutdsl.diff(LIBRARY["HtpNCHW"], LIBRARY["R4NCHWMemoryLayout"])
    yield layoutdsl.diff(blocked, LIBRARY["NHWC"])
    yield layoutdsl.diff(blocked, layoutdsl.from_notation("onednn", "aBcd16b"))
    yield layoutdsl.diff(layout("layout A(c) = [c - min(c, 3) + min(c, 3) : C]"), LIBRARY["NCHW"])
    yield next(layoutdsl.identify(layoutdsl.from_notation("onednn", "aBcd8b")))
    yield from (
        layoutdsl.formula(crouton),
        layoutdsl.generate(crouton),
        layoutdsl.generate_c(crouton),
    )
    for target in ("auto", "numpy"):
        yield layoutdsl.compile(blocked, target)  # type: ignore[arg-type]
        yield layoutdsl.convert(blocked, LIBRARY["NHWC"], compiled=target)  # type: ignore[arg-type]
    yield layoutdsl.convert(LIBRARY["NCHW"], layout(SWIZZLED))
    yield layoutdsl.cost(blocked, (1, 20, 3, 4))
    yield from (layoutdsl.translate(crouton, each) for each in layoutdsl.notations())
    yield layoutdsl.probe(lambda x: x, LIBRARY["NHWC"], (2, 3, 4, 5))
    yield layoutdsl.from_notation("xla", "f32[3,5]{1,0:T(2,2)}")
    yield from EVERY.values()
    for wrong in ("layout X(c) = [c/16, d] " * 40, f"layout {'x' * 99}(c) = [{'c' * 99}]"):
        with pytest.raises(layoutdsl.LayoutError) as caught:
            layoutdsl.parse(wrong, "long/" * 99)
        yield caught.value
    with pytest.raises(layoutdsl.RefusedError) as refused:
        layoutdsl.generate(module["Bad"])
    yield refused.value


SWIZZLED = "layout S(n, c, h, w) = [n, c, h, w ^ h%4]"


def parts(value: Any, seen: dict[int, Any]) -> Iterator[Any]:
    """A value, and all that can be reached from it by the names of attributes."""
    if id(value) in seen or isinstance(value, str | bytes | int | float | None):
        return
    seen[id(value)] = value
    held: list[Any] = []
    if isinstance(value, ModuleType):
        yield value
    elif type(value).__module__.startswith("layoutdsl"):
        yield value
        names = list(getattr(value, "__dict__", ()))
        if dataclasses.is_dataclass(value):
            names += [each.name for each in dataclasses.fields(value)]
        held += [getattr(value, each) for each in names if each[0] != "_"]
    if isinstance(value, tuple | list):
        held += value
    if isinstance(value, Mapping):
        held += value.values()
    for each in held:
        yield from parts(each, seen)


@pytest.mark.slow
def test_what_is_shown_of_a_value_is_a_line() -> None:
    kinds = set()
    seen: dict[int, Any] = {}
    for given in values():
        for each in parts(given, seen):
            shown = repr(each)
            assert len(shown) <= MOST, shown
            assert "\n" not in shown
            kinds.add(type(each).__name__)
    for needed in ("Layout", "Table", "Module", "Report", "Checked", "Proved", "Certificate"):
        assert needed in kinds
    for needed in ("Theorem", "Calculate", "TensorConversion", "Diagnostic"):
        assert needed in kinds
    assert ("NativeModule" in kinds) == compiles()
    assert len(kinds) > 60


SHOWN = [
    (LIBRARY["NCHW16c"], "<Layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]>"),
    (LIBRARY["NCHW16c"].coordinates[1], "<Coordinate c/16>"),
    (layoutdsl.parse(TEXT, "demo.layout"), "<Module demo.layout: Bad, Good, Open, Twice>"),
    (layoutdsl.parse(TEXT).tables["Twice"], "<Table Twice[i, j] = (i, j/2)>"),
    (layoutdsl.parse(TEXT).claims[1], "<Claim prove Good == [n, c]>"),
    (layoutdsl.parse(TEXT)["Bad"].where[0], "<Condition C < 99>"),
    (layoutdsl.prove(LIBRARY["NHWC"]), "<Report proved, 1 claim>"),
    (
        layoutdsl.prove(layoutdsl.parse(TEXT)["Bad"]).checked[0],
        "<Checked refuted: prove Bad: injective>",
    ),
    (
        layoutdsl.diff(LIBRARY["HtpNCHW"], LIBRARY["R4NCHWMemoryLayout"]),
        "<Different <Mismatch at B=1 H=2 W=2 D=1: offsets (1, 2) of (b=0, h=0, w=1, d=0)>>",
    ),
]


@pytest.mark.parametrize(("value", "shown"), SHOWN, ids=lambda each: type(each).__name__)
def test_what_is_shown_says_what_it_is(value: Any, shown: str) -> None:
    assert repr(value) == shown


def test_long_values_are_cut() -> None:
    long = replace(LIBRARY["NCHW16c"], name="z" * 500)
    assert repr(long).startswith(f"<Layout {'z' * 150}")
    assert len(repr(long)) <= MOST
    assert repr(long).endswith("...>")
