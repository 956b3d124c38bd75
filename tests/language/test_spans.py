"""Where layouts, tables, records, rules and claims stand; and that nothing hangs on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from texts import LIBRARY_MODULES

import layoutdsl
from layoutdsl import Module, load

TEXT = """\
# a remark
layout Blocked<k>(n, c) = [n,
  c/k, c%k]   # behind it
layout Other = Blocked<8>
table Rows(n, c)[i: N, j: roundup(C, 8)] = (n = i, c = j)
record Block(b) = { q(b) = [b] of u4 }
tensor "**.weight" = Blocked<2>
tensor "**.bias"(n, c) = [n, c]

prove Blocked<16> fits int32   where N <= 64,
  C <= 64
prove Other   fits int32 where N <= 64, C <= 64
prove Other fits int32 where N <= 64, C <= 64
refute Rows inverts Other
prove Block
"""


def lines_of(module: Module) -> dict[str, list[int]]:
    """The lines at which each claim stands, those without being asked too."""
    return {
        each.claim.text: [
            whole.source.place(whole.start)[0] for whole, _ in module.written(each.claim)
        ]
        for each in layoutdsl.prove(module).checked
    }


@pytest.fixture
def module() -> Module:
    return layoutdsl.parse(TEXT, "a.layout")


@pytest.mark.slow
def test_the_lines_of_claims(module: Module) -> None:
    assert lines_of(module) == {
        "prove Blocked": [2],
        "prove Other": [4],
        "prove rule2": [8],
        "prove Blocked<16> fits int32 where N <= 64, C <= 64": [10],
        "prove Other fits int32 where N <= 64, C <= 64": [12, 13],
        "prove Rows": [5],
        "refute Rows inverts Other": [14],
        "prove Block": [15],
    }


def test_what_stands_there(module: Module) -> None:
    span, name = module.span_of(module["Blocked"]), module.name_span_of(module["Blocked"])
    assert span is not None
    assert name is not None
    assert span.text == "layout Blocked<k>(n, c) = [n,\n  c/k, c%k]"
    assert (name.text, name.source.place(name.start)) == ("Blocked", (2, 8))
    assert module.span_of(layoutdsl.library("NCHW16c")) is None
    assert module.name_span_of(layoutdsl.library("NCHW16c")) is None


def test_meaning_does_not_depend_on_it(module: Module) -> None:
    moved = layoutdsl.parse(f"\n\n{TEXT}", "b.layout")
    assert moved.all_claims == module.all_claims
    assert [*moved.values()] == [*module.values()]
    assert lines_of(moved) != lines_of(module)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("family", LIBRARY_MODULES, ids=lambda each: each.name)
def test_the_library(family: Module) -> None:
    """The text of a span, parsed alone, is the declaration or claim that stands there."""
    for name, declared in family.items():
        whole, span = family.span_of(declared), family.name_span_of(declared)
        assert whole is not None
        assert span is not None
        assert span.text == name
        assert layoutdsl.parse(whole.text).texts[name] == family.texts[name]
    for claim in family.all_claims:
        whole, span = family.span_of(claim), family.name_span_of(claim)
        assert whole is not None
        assert span is not None
        (again,) = layoutdsl.parse(whole.text).all_claims
        assert again.text == claim.text
        assert claim.subject.name.partition("<")[0] == span.text


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.layout"
    path.write_bytes(b"\xef\xbb\xbf# \xc3\xa4\r\nlayout A(n) = [n]\r\n")
    found = load(path)
    span = found.span_of(found["A"])
    assert span is not None
    assert (span.source.name, span.source.place(span.start)) == (str(path), (2, 1))


@pytest.mark.parametrize(
    "operation",
    [
        "n + c",
        "(n + c)*2",
        "2*(n + c)",
        "((n + c))*2 - 1",
        "1 - (n + c) - (n)",
        "(n, c)*2",
        "n*+2",
    ],
)
def test_an_operation_stands_where_its_operands_do_with_their_brackets(operation: str) -> None:
    """A divisor is pointed at, whole: with the brackets of its operands, and without its own."""
    with pytest.raises(layoutdsl.LayoutError) as caught:
        layoutdsl.parse(f"layout A(n, c) = [n/(7*(c/({operation})))]")
    (found,) = caught.value.diagnostics
    assert found.message == "a divisor may not depend on an index"
    assert found.primary.span.text == operation
