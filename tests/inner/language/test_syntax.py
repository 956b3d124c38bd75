"""Text to tree and back: precedence, comments, numbers, and the printer's round trip.

Most drawn trees mean nothing, so no public door prints them: the parser and printer are called.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import HERE

from layoutdsl import LayoutError
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.parser import parse
from layoutdsl.language.syntax.printer import print_declaration, print_expression, print_file
from layoutdsl.language.texts import resources
from layoutdsl.language.texts.source import Source, Span

NOWHERE = Span(Source("", ""), 0, 0)

PRECEDENCE = [
    # written, with all parentheses
    ("a + b*c", "a + (b*c)"),
    ("a*b + c", "(a*b) + c"),
    ("a - b - c", "(a - b) - c"),
    ("a - (b - c)", "a - (b - c)"),
    ("a/b*c", "(a/b)*c"),
    ("a/b%c", "(a/b)%c"),
    ("a%b/c", "(a%b)/c"),
    ("a//b", "a/b"),
    ("a << b + c", "a << (b + c)"),
    ("a << b >> c", "(a << b) >> c"),
    ("a & b << c", "a & (b << c)"),
    ("a ^ b & c", "a ^ (b & c)"),
    ("a ^ b ^ c", "(a ^ b) ^ c"),
    ("a | b ^ c", "a | (b ^ c)"),
    ("a ^ b | c", "(a ^ b) | c"),
    ("a | b << c", "a | (b << c)"),
    ("a & b + c", "a & (b + c)"),
    ("-a*b", "(-a)*b"),
    ("-a + b", "(-a) + b"),
    ("- -a", "-(-a)"),
    ("+a", "a"),
    ("a*-b", "a*(-b)"),
    ("((a))", "a"),
    ("(a + b)*c", "(a + b)*c"),
    ("ceil(a/b)*c", "(ceil(a/b))*c"),
    ("(a, b)/c", "((a, b))/c"),
    ("(a : b)%c", "((a : b))%c"),
    ("A[a, b]*c", "(A[a, b])*c"),
    ("A[a]/c + B[b : c]", "((A[a])/c) + (B[b : c])"),
    ("0x10 + 010", "16 + 10"),
    ("0XfF", "255"),
]


def expression(text: str) -> ast.Expression:
    (declaration,) = parse(Source("", f"layout L(a) = [{text}]")).declarations
    assert isinstance(declaration, ast.LayoutDecl)
    assert isinstance(declaration.body, ast.Coordinates)
    return declaration.body.places[0].value


@pytest.mark.parametrize(("written", "meant"), PRECEDENCE)
def test_precedence(written: str, meant: str) -> None:
    assert expression(meant) == expression(written)


@pytest.mark.parametrize(
    ("printed", "written"),
    [
        ("a - (b - c)", "a - (b - c)"),
        ("a - b - c", "((a - b) - c)"),
        ("(a + b)*c", "(a+b)*c"),
        ("a*(b/c)", "a*(b//c)"),
        ("--a", "- -a"),
        ("-a*b", "(-a)*b"),
        ("a ^ (b ^ c)", "a^(b^c)"),
        ("(a | b) ^ c", "(a|b)^c"),
        ("(a << 1) + b", "(a<<1)+b"),
        ("(a, b : c)%4", "(a,b:c)%4"),
        ("(a : b)", "(a:b)"),
        ("ceil(a/b)", "ceil(a / b)"),
        ("A[a, b : c]", "A [a,b:c]"),
        ("A<8, k>[a]*2 + b", "(A<8,k> [a])*2+b"),
        ("A[B<8>] + A[B]", "A[B<8>]+A[B]"),
    ],
)
def test_printed_form(printed: str, written: str) -> None:
    assert printed == print_expression(expression(written))


SAME = [
    ("layout A(c) = [c]", "layout A ( c )=[ c ]"),
    ("layout A(c) = [c]", "# one\nlayout A(c) = # two\r\n\t[c] # three, and no line end"),
    ("layout A(c) = [c]", "layout\nA\n(\nc\n)\n=\n[\nc\n]\n"),
    ("layout A(c) = [c]", "# Umlaute in Kommentaren: \u00e4\u00f6\u00fc \u4e2d\nlayout A(c) = [c]"),
    ("layout A(c) = [c/4, c%4]", "layout A(c) = [c//4, c%4]"),
    ("layout A(c) = [c/16, c%16]", "layout A(c) = [c/0x10, c%0x10]"),
    ("layout A(c) = [c] fill -1", "layout A(c) = [c] fill - 1"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_white_space_and_comments_only_separate(one: str, other: str) -> None:
    assert parse(Source("", one)) == parse(Source("", other))


@pytest.mark.parametrize("text", ["", "  \n", "# nothing", "# nothing\n"])
def test_empty_text(text: str) -> None:
    assert ast.File(()) == parse(Source("", text))


@pytest.mark.parametrize(
    "word",
    [
        "fill",
        "of",
        "as",
        "per",
        "offset",
        "where",
        "with",
        "layout",
        "prove",
        "to",
        "bytes",
        "keeps",
        "in",
        "tensor",
        "group",
        "keep",
    ],
)
def test_words_of_the_grammar_may_be_names(word: str) -> None:
    (found,) = parse(Source("", f"layout {word}({word}) = [{word}/4, {word}%4]")).declarations
    assert isinstance(found, ast.LayoutDecl)
    assert word == found.name.text


@pytest.mark.parametrize(
    "text",
    [
        "layoutA(c) = [c]",
        "layout A(c) = [c] fillany",
        "layout A(c) = [c] fill0",
        "layout A(c) = [c] ofu8",
        "layout A(c) = [c] whereC > 4",
        "proveA",
        'tensor "a" = keepA fill fill 0',
        "ruleRelu(x[..]) -> [..]",
        "rule Relu(x[..]) -> [..] withaxis: whole",
        "opRelu(x: NHWC) -> NHWC",
        "preferRelu = NHWC",
        'tensor"a" = A fromwords u32 of B',
        "prove A fitsint32",
        "prove A aligns c to 64 bytesof u8",
    ],
)
def test_words_of_the_grammar_end_where_names_do(text: str) -> None:
    with pytest.raises(LayoutError):
        parse(Source("", text))


def test_spans_are_the_places_of_the_words() -> None:
    (found,) = parse(Source("", "layout A(n, c) =\n  [n, c/16 : 3] fill 0")).declarations
    assert isinstance(found, ast.LayoutDecl)
    assert isinstance(found.body, ast.Coordinates)
    assert found.name.span.text == "A"
    assert found.body.places[1].span.text == "c/16 : 3"
    assert found.body.places[1].value.span.text == "c/16"
    assert found.clauses[0].span.text == "fill 0"
    assert found.name.span.source.place(found.body.places[1].span.start) == (2, 7)


FILES = [*resources.library_families()]
FILES += [(each.name, each.read_text(encoding="utf-8")) for each in (HERE / "layouts").iterdir()]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("name", "text"), FILES, ids=lambda each: each[:20])
def test_files_print_and_parse_back(name: str, text: str) -> None:
    tree = parse(Source(name, text))
    assert tree == parse(Source(name, print_file(tree)))


TABLES = [
    "table T(n, c)[j: N, i: C] = (n = j, c = i)",
    "table T<k>(c)[a: ceil(C/k), b: k] = (c = a*k + b) where C%k == 0, k in 1..64",
    "table T(i: N, j: N)[s: N*N] = (i = s/N, j = s%N)",
    "table T(k: 4)[s: 4] = (k = s)",
    "table T()[s: 1] = (n = s)",
    "table T(c)[a: C/2, b: 2] = (c = (a, b : 2)) where C == 8",
]


@pytest.mark.parametrize("text", TABLES)
def test_tables_print_and_parse_back(text: str) -> None:
    claims = f"{text}\nprove T\nprove T inverts L<4> where N == 1\nrefute T inverts L\n"
    tree = parse(Source("", claims))
    assert print_file(tree) == claims
    assert parse(Source("", print_file(tree))) == tree


# Trees that nobody wrote.

letters = st.sampled_from(["a", "b1", "C", "N", "k", "x_y", "fill", "of", "where", "in", "to"])
name_nodes = letters.map(lambda text: ast.Name(text, NOWHERE))
numbers = st.integers(0, 10**18 - 1).map(lambda value: ast.Number(value, NOWHERE))


def compound(parts: st.SearchStrategy[ast.Expression]) -> st.SearchStrategy[ast.Expression]:
    symbols = st.sampled_from(["|", "^", "&", "<<", ">>", "+", "-", "*", "/", "%"])
    place = st.builds(ast.Place, parts, st.none() | parts, st.just(NOWHERE))
    declared = st.builds(ast.Place, parts, parts, st.just(NOWHERE))
    several = st.lists(place, min_size=2, max_size=3).map(tuple) | st.tuples(declared)
    functions = st.sampled_from(["ceil", "roundup", "min", "max", "nothing"])
    indices = st.lists(place, min_size=1, max_size=3).map(tuple)
    return (
        st.builds(ast.Operation, symbols, parts, parts, st.just(NOWHERE))
        | st.builds(ast.Negation, parts, st.just(NOWHERE))
        | st.builds(ast.Tuple, several, st.just(NOWHERE))
        | st.builds(
            ast.Call,
            functions.map(lambda text: ast.Name(text, NOWHERE)),
            st.lists(parts, min_size=1, max_size=3).map(tuple),
            st.just(NOWHERE),
        )
        | st.builds(ast.Application, references(0), indices, st.none(), st.just(NOWHERE))
        | compositions
    )


def references(least: int) -> st.SearchStrategy[ast.Reference]:
    arguments = st.lists(name_nodes | numbers, min_size=least, max_size=2).map(tuple)
    return st.builds(ast.Reference, name_nodes, arguments, st.just(NOWHERE))


compositions = st.builds(
    ast.Application, references(0), st.just(()), references(1), st.just(NOWHERE)
)
expressions = st.recursive(name_nodes | numbers, compound, max_leaves=8)
places = st.lists(
    st.builds(ast.Place, expressions, st.none() | expressions, st.just(NOWHERE)),
    min_size=1,
    max_size=3,
).map(tuple)
applications = compositions | st.builds(
    ast.Application, references(0), places, st.none(), st.just(NOWHERE)
)


@st.composite
def coordinate_lists(draw: st.DrawFn) -> ast.Coordinates:
    major, minor = draw(places), draw(st.none() | places)
    if minor is None:
        return ast.Coordinates(major, None, NOWHERE)
    return ast.Coordinates((*major, *minor), len(major), NOWHERE)


@st.composite
def comparisons(draw: st.DrawFn) -> ast.Comparison:
    operators = draw(
        st.lists(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), min_size=1, max_size=2)
    )
    operands = [draw(expressions) for _ in range(len(operators) + 1)]
    return ast.Comparison(tuple(operands), tuple(operators), NOWHERE)


within = st.builds(ast.Within, expressions, expressions, expressions, st.just(NOWHERE))
wheres = st.builds(
    ast.WhereClause,
    st.lists(comparisons() | within, min_size=1, max_size=2).map(tuple),
    st.just(NOWHERE),
)
interfaces = st.none() | st.builds(
    ast.InterfaceWords, name_nodes, st.none() | name_nodes, st.just(NOWHERE)
)
clauses = (
    st.builds(ast.FillClause, st.integers(-(10**9), 10**9) | letters, st.just(NOWHERE))
    | st.builds(ast.ElementClause, name_nodes, st.just(NOWHERE), interfaces)
    | st.builds(ast.OffsetClause, expressions, st.just(NOWHERE))
    | wheres
)
axes = st.none() | st.lists(
    st.builds(ast.AxisDecl, name_nodes, st.none() | name_nodes | numbers), max_size=3
).map(tuple)
layouts = st.builds(
    ast.LayoutDecl,
    name_nodes,
    st.lists(name_nodes, max_size=2).map(tuple),
    axes,
    coordinate_lists() | references(0) | applications,
    st.lists(clauses, max_size=3).map(tuple),
    st.just(NOWHERE),
)
patterns = st.text(st.characters(exclude_characters='"', codec="utf-8"), max_size=5)
from_words = st.builds(ast.FromWords, name_nodes, references(0), st.just(NOWHERE))
rules = st.builds(
    ast.RuleDecl,
    patterns,
    axes,
    coordinate_lists() | references(0) | applications,
    st.none() | from_words,
    st.lists(clauses, max_size=3).map(tuple),
    *(st.just(NOWHERE),) * 2,
) | patterns.map(lambda text: ast.RuleDecl(text, None, None, None, (), NOWHERE, NOWHERE))
quoted = patterns.map(lambda text: ast.Quoted(text, NOWHERE))
groups = st.builds(
    ast.GroupDecl,
    quoted,
    references(0),
    st.lists(
        st.builds(ast.SourceDecl, name_nodes, quoted, st.none() | from_words),
        min_size=1,
        max_size=3,
    ).map(tuple),
    quoted,
    st.just(NOWHERE),
)
definitions = st.lists(st.builds(ast.Definition, name_nodes, expressions), max_size=2).map(tuple)
roles = st.none() | name_nodes
axis_patterns = st.builds(
    ast.AxisPatternDecl, name_nodes, roles, st.booleans(), st.just(NOWHERE)
) | st.builds(ast.AxisPatternDecl, st.none(), roles, st.just(True), st.just(NOWHERE))
pattern_lists = st.lists(axis_patterns, max_size=3).map(tuple)
operand_patterns = st.builds(
    ast.OperandDecl,
    name_nodes,
    st.none() | pattern_lists,
    *(st.booleans(),) * 2,
    st.just(NOWHERE),
)
result_patterns = st.builds(
    ast.OperandDecl,
    st.none() | name_nodes,
    pattern_lists,
    st.just(False),
    st.booleans(),
    st.just(NOWHERE),
) | st.builds(ast.OperandDecl, name_nodes, st.none(), *(st.just(False),) * 2, st.just(NOWHERE))
operator_names = name_nodes | name_nodes.map(
    lambda name: ast.Name(f"com.acme-2::{name.text}", NOWHERE)
)
settings = st.builds(
    ast.SettingDecl, name_nodes, st.none() | st.integers(-99, 99), roles, st.just(NOWHERE)
)
named_layouts = st.lists(references(0), min_size=1, max_size=3).map(tuple)
operators = (
    st.builds(
        ast.OperatorRuleDecl,
        st.lists(operator_names, min_size=1, max_size=3).map(tuple),
        st.lists(operand_patterns, max_size=3).map(tuple),
        st.lists(result_patterns, min_size=1, max_size=2).map(tuple),
        st.lists(settings, max_size=2).map(tuple),
        st.none() | wheres,
        st.just(NOWHERE),
    )
    | st.builds(
        ast.KernelDecl,
        operator_names,
        st.lists(
            st.builds(ast.TakenDecl, name_nodes, st.booleans(), references(0)), max_size=3
        ).map(tuple),
        named_layouts,
        st.none() | wheres,
        st.just(NOWHERE),
    )
    | st.builds(ast.PreferenceDecl, operator_names, named_layouts, st.just(NOWHERE))
)
claims = st.builds(
    ast.ClaimDecl,
    st.sampled_from(["prove", "refute"]),
    references(0),
    st.just(ast.Sound())
    | st.builds(
        ast.Equals, references(1) | coordinate_lists() | applications | expressions, definitions
    )
    | st.builds(ast.Fits, name_nodes)
    | st.builds(ast.Keeps, places)
    | st.builds(ast.Aligns, places, numbers, st.none() | name_nodes)
    | st.builds(
        ast.Reads,
        numbers,
        st.none() | name_nodes,
        name_nodes,
        numbers,
        st.lists(st.builds(ast.Entry, name_nodes, expressions), min_size=1, max_size=3).map(tuple),
        st.just(NOWHERE),
    ),
    st.none() | wheres,
    st.just(NOWHERE),
    st.none()
    | st.builds(
        ast.FieldName,
        name_nodes,
        st.lists(name_nodes, max_size=3).map(tuple),
        st.just(NOWHERE),
    ),
)


@pytest.mark.slow
@given(st.lists(layouts | rules | groups | operators | claims, max_size=3))
def test_any_tree_prints_and_parses_back(
    declarations: list[ast.Declaration],
) -> None:
    text = "\n".join(map(print_declaration, declarations))
    assert ast.File(tuple(declarations)) == parse(Source("", text))
