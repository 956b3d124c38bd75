"""Where layouts, tables, records, rules and claims stand; and that nothing hangs on it."""

from __future__ import annotations

from pathlib import Path

import pytest

import layoutdsl
from layoutdsl import Module, load
from layoutdsl.commands import claims_of, library_families
from layoutdsl.language.meaning.claims import Sound
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.parser import parse
from layoutdsl.language.syntax.printer import print_declaration
from layoutdsl.language.syntax.walk import operands
from layoutdsl.language.texts.source import Source

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
        claim.text: [whole.source.place(whole.start)[0] for whole, _ in module.written(claim)]
        for claim in claims_of(module)
    }


@pytest.fixture
def module() -> Module:
    return layoutdsl.parse(TEXT, "a.layout")


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


@pytest.mark.sampled(2, slow=1)
@pytest.mark.parametrize("family", library_families(), ids=lambda each: each.name)
def test_the_library(family: Module) -> None:
    for claim in claims_of(family):
        whole, name = family.span_of(claim), family.name_span_of(claim)
        assert whole is not None
        assert name is not None
        (said,) = parse(Source("one", whole.text)).declarations
        if isinstance(claim.predicate, Sound) and not whole.text.startswith(("prove", "refute")):
            assert print_declaration(said) == family.texts[name.text]
        else:
            assert print_declaration(said) == claim.text
        assert claim.subject.name.partition("<")[0] == name.text


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.layout"
    path.write_bytes(b"\xef\xbb\xbf# \xc3\xa4\r\nlayout A(n) = [n]\r\n")
    found = load(path)
    span = found.span_of(found["A"])
    assert span is not None
    assert (span.source.name, span.source.place(span.start)) == (str(path), (2, 1))


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("n + c", ["n + c"]),
        ("(n + c)*2", ["(n + c)*2", "n + c"]),
        ("2*(n + c)", ["2*(n + c)", "n + c"]),
        ("((n + c))*2 - 1", ["((n + c))*2 - 1", "((n + c))*2", "n + c"]),
        ("1 - (n + c) - (n)", ["1 - (n + c) - (n)", "1 - (n + c)", "n + c"]),
        ("(n, c)*2", ["(n, c)*2"]),
        ("n*+2", ["n*+2"]),
    ],
)
def test_an_operation_stands_where_its_operands_do_with_their_brackets(
    text: str, operations: list[str]
) -> None:
    (declared,) = parse(Source("a.layout", f"layout A(n, c) = [{text}]")).declarations
    assert isinstance(declared, ast.LayoutDecl)
    assert isinstance(declared.body, ast.Coordinates)
    (place,) = declared.body.places
    pending: list[ast.Expression] = [place.value]
    found = []
    while pending:
        each = pending.pop()
        found += [each.span.text] if isinstance(each, ast.Operation) else []
        pending += reversed(operands(each))
    assert found == operations
