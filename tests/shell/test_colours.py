"""What editors and documents colour, against the terminals of the grammar, sign by sign."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lark
import pytest
from random_declarations import right

import layoutdsl

pytest.importorskip("pygments")

from layoutdsl import pygments as colours

HERE = Path(__file__).parents[2]
EDITOR = HERE / "editors" / "vscode"
GRAMMAR = EDITOR / "syntaxes" / "layout.tmLanguage.json"

WORDS = {*colours.DECLARING, *colours.CLAIMING, *colours.OTHER, *colours.KEPT}
OPERATORS = ("COMPARISON", "XOR", "AND", "SHIFT", "SIGN", "FACTOR", "OPTIONAL", "MANY", "EQUAL")


def language() -> lark.Lark:
    """The grammar, every terminal of a text kept."""
    return lark.Lark(
        (HERE / "grammar/layout.lark").read_text(encoding="utf-8"),
        parser="lalr",
        keep_all_tokens=True,
        start="start",
    )


LANGUAGE = language()


def grammar() -> dict[str, Any]:
    """The grammar of TextMate that says what `RULES` does."""
    patterns = []
    for pattern, kinds in colours.RULES:
        scopes = [f"{scope}.layout" if scope else "" for scope, _ in kinds]
        if len(scopes) == 1:
            patterns.append({"match": pattern, "name": scopes[0]})
        else:
            held = {str(n): {"name": name} for n, name in enumerate(scopes, 1) if name}
            patterns.append({"match": pattern, "captures": held})
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "layoutdsl",
        "scopeName": "source.layout",
        "fileTypes": ["layout"],
        "patterns": patterns,
    }


def test_the_grammar_of_textmate_is_that_of_pygments() -> None:
    text = json.dumps(grammar(), indent=2) + "\n"
    if os.environ.get("LAYOUTDSL_REWRITE_GOLDEN") == "1":
        GRAMMAR.write_text(text, encoding="utf-8")
    assert GRAMMAR.read_text(encoding="utf-8") == text


def test_words_are_those_of_the_language() -> None:
    """A word that the grammar gains or loses is one here too."""
    found: set[str] = set()
    for terminal in LANGUAGE.terminals:
        held = re.fullmatch(r"\(?([a-z|]+)\)?\(\?!.*", terminal.pattern.value)
        if terminal.pattern.type == "str" and terminal.pattern.value.isalpha():
            found.add(terminal.pattern.value)
        elif held is not None:
            found |= set(held[1].split("|"))
    assert found == WORDS
    assert all(re.fullmatch(colours.TYPES, name) for name in element_types())


def element_types() -> list[str]:
    """Those that the message about an unknown one names."""
    with pytest.raises(layoutdsl.LayoutError, match="the element types are ") as unknown:
        layoutdsl.parse("layout A(n) = [n] of x99")
    (known,) = re.findall(r"the element types are ([\w, ]+)", str(unknown.value))
    names = known.split(", ")
    assert len(names) > 30
    return names


SPECS = sorted(Path(layoutdsl.__file__).parent.rglob("*.layout"))
"""The library, the rules of operators and the engines."""


def meant(text: str) -> dict[int, str]:
    """What each sign of a text is by its terminal, or a remark; blanks are left out."""
    found: dict[int, str] = {}
    tree = LANGUAGE.parse(text)
    for token in tree.scan_values(lambda each: isinstance(each, lark.Token)):
        assert token.start_pos is not None
        for at in range(token.start_pos, token.start_pos + len(token)):
            found[at] = kind(token)
    for remark in re.finditer(r"#[^\n]*", text):
        for at in range(*remark.span()):
            if at not in found:  # inside quotes it is none
                found[at] = "comment"
    return {at: each for at, each in found.items() if not text[at].isspace() or each == "string"}


def kind(token: lark.Token) -> str:
    match token.type:
        case "NAME":
            return "name"
        case "INT":
            return "number"
        case "TEXT":
            return "string"
        case "QUALIFIED":
            return "qualified"
        case operator if operator in OPERATORS:
            return "operator"
    if token.isalpha():
        return "word"
    return "operator" if re.fullmatch(r"[=!<>]=|->|\.\.|[<>]", token) else "punctuation"


KINDS = {
    "comment": "comment",
    "string": "string",
    "keyword.operator": "operator",
    "keyword": "word",
    "entity": "name",
    "support.type": "name",
    "support.function": "name",
    "support.class": "qualified",
    "storage": "name",
    "variable": "name",
    "constant.numeric": "number",
    "punctuation": "punctuation",
}


def of_textmate(text: str) -> Iterator[tuple[int, str]]:
    """Colour a text as editors do: line by line, the first match, of several the first rule."""
    patterns = [(re.compile(each["match"], re.ASCII), each) for each in grammar()["patterns"]]
    start = 0
    for line in text.split("\n"):
        at = 0
        while at < len(line):
            found = [
                (m.start(), n, m) for n, (p, _) in enumerate(patterns) if (m := p.search(line, at))
            ]
            if not found:
                break
            _, number, match = min(found, key=lambda each: each[:2])
            rule = patterns[number][1]
            spans = (
                [(match.span(), rule["name"])]
                if "name" in rule
                else [(match.span(int(n)), held["name"]) for n, held in rule["captures"].items()]
            )
            for (low, high), scope in spans:
                yield from ((start + n, _kind(scope)) for n in range(low, high))
            at = max(match.end(), at + 1)
        start += len(line) + 1


def _kind(scope: str) -> str:
    return next(kind for begun, kind in KINDS.items() if scope.startswith(begun))


def of_pygments(text: str) -> Iterator[tuple[int, str]]:
    scopes = {token: scope for _, kinds in colours.RULES for scope, token in kinds if scope}
    for at, token, value in colours.LayoutLexer().get_tokens_unprocessed(text):
        assert str(token) != "Token.Error", (at, value)
        if token in scopes:
            yield from ((n, _kind(scopes[token])) for n in range(at, at + len(value)))


def both(text: str) -> int:
    """Hold both against the terminals, and return how many lines there were."""
    wanted = meant(text)
    for coloured in (of_textmate, of_pygments):
        found = dict(coloured(text))
        wrong = [at for at in wanted if found.get(at) != wanted[at]]
        wrong += [at for at in found if at not in wanted and not text[at].isspace()]
        told = [(text[:at].count("\n") + 1, text[at : at + 20], found.get(at)) for at in wrong[:3]]
        assert not wrong, (coloured.__name__, told)
    return text.count("\n")


@pytest.mark.slow
def test_every_text_of_the_package_is_found() -> None:
    declared = [name for each in SPECS for name in layoutdsl.load(each).layouts]
    assert {*layoutdsl.library_names()} <= {*declared}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("place", SPECS, ids=lambda place: place.stem)
def test_every_line_of_the_library_and_of_rules_and_engines(place: Path) -> None:
    assert both(place.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_drawn_texts() -> None:
    from random import Random

    random = Random(5)
    for _ in range(200):
        text = right(random, bool(random.randrange(2))) + "\n"
        both(text if text.startswith(("layout", "table")) else f"layout {text}")


def test_pygments_finds_it_by_name() -> None:
    from pygments.formatters import HtmlFormatter

    found = colours.LayoutLexer()
    assert found.aliases[0] == "layout"
    page = HtmlFormatter().format  # it takes hostile text, and escapes it
    import io

    out = io.StringIO()
    page(found.get_tokens('layout A(n) = onednn "<script>"'), out)
    assert "<script>" not in out.getvalue()


def test_the_extension_of_the_editor_is_in_order() -> None:
    package = json.loads((EDITOR / "package.json").read_text(encoding="utf-8"))
    (held,) = package["contributes"]["grammars"]
    (known,) = package["contributes"]["languages"]
    assert (EDITOR / held["path"]).resolve() == GRAMMAR.resolve()
    assert held["scopeName"] == grammar()["scopeName"]
    assert known["extensions"] == [".layout"]
    settings = json.loads((EDITOR / known["configuration"]).read_text(encoding="utf-8"))
    assert settings["comments"] == {"lineComment": "#"}
    assert (EDITOR / package["main"]).is_file()
    assert package["version"] == __import__("layoutdsl").__version__
