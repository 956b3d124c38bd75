"""The tables that are kept of the grammars: up to date, and what is parsed by them is the same.

Which table parsed a text shows in no result, so the trees of both are compared inside.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import lark
import pytest
from lark import Lark, Token, Tree
from lark.grammar import Rule
from lark.lexer import TerminalDef
from texts import EVERY, HERE

from layoutdsl.language.syntax import grammars
from layoutdsl.language.texts import resources
from layoutdsl.notation.notation import Unwritable, notation, write

GRAMMARS = sorted(each.stem for each in resources.folder("grammar").glob("*.lark"))
COUNT = 200
"""Mistakes in texts of each grammar."""

KEPT = resources.table(grammars.LANGUAGE)
of_this_lark = pytest.mark.skipif(
    json.loads(KEPT)["lark"] != lark.__version__ and "LAYOUTDSL_REWRITE_GOLDEN" not in os.environ,
    reason="the tables are of another lark, so the grammars are read",
)


def numbered(table: dict[str, Any]) -> dict[str, Any]:
    """The table with its states numbered as they are met: lark's order changes from run to run."""
    words = table["tokens"]
    states = {
        state: sorted((words[word], *action) for word, action in actions.items())
        for state, actions in table["states"].items()
    }
    (first,) = table["start_states"].values()
    met = {first: 0}
    for state in (queue := [first]):
        for _, reduces, then in states[state]:
            if not reduces and then not in met:
                met[then] = len(met)
                queue.append(then)
    tokens = {word: number for number, word in enumerate(sorted(words.values()))}
    return {
        **table,
        "tokens": {number: word for word, number in tokens.items()},
        "states": {
            met[state]: {
                tokens[word]: (reduces, then if reduces else met[then])
                for word, reduces, then in states[state]
            }
            for state in queue
        },
        "start_states": {name: met[state] for name, state in table["start_states"].items()},
        "end_states": {name: met[state] for name, state in table["end_states"].items()},
    }


@cache
def read(name: str) -> Lark:
    return grammars.read(name, resources.grammar(name))


@cache
def kept(name: str) -> Lark | None:
    return grammars.kept(name, resources.grammar(name))


@pytest.mark.sampled(2)
@of_this_lark
@pytest.mark.parametrize("name", GRAMMARS)
def test_what_is_kept_is_what_lark_makes(name: str, golden: Callable[[str, str], None]) -> None:
    data, memo = read(name).memo_serialize([TerminalDef, Rule])
    data["options"]["edit_terminals"] = None  # a function; what it did is in the terminals
    data["parser"]["parser"] = numbered(data["parser"]["parser"])
    made = {"lark": lark.__version__, "grammar": resources.grammar(name)}
    path = resources.folder("grammar") / f"tables/{name}.json"
    text = json.dumps({**made, "data": data, "memo": memo}, separators=(",", ":"))
    golden(str(path), text + "\n")


def right(name: str) -> list[str]:
    """Texts of a grammar."""
    if name != grammars.LANGUAGE:
        return [notation(name).EXAMPLE, *written(name)]
    files = sorted(HERE.glob("**/*.layout"))
    return [text for _, text in resources.library_families()] + [
        path.read_text(encoding="utf-8") for path in files
    ]


def written(name: str) -> Iterator[str]:
    for each in EVERY.values():
        with suppress(Unwritable):
            yield write(name, each)


def mistaken(texts: list[str], drawn: random.Random) -> Iterator[str]:
    """Texts with a word or sign taken out, exchanged or put in; and noise."""
    words = [re.findall(r"\w+|\s+|.", each) for each in texts]
    every = sorted({word for each in words for word in each})
    for _ in range(COUNT):
        chosen = list(drawn.choice(words))
        start = drawn.randrange(len(chosen))
        instead = drawn.choices([*every, "?", "é"], k=drawn.randrange(3))
        chosen[start : start + drawn.randrange(3)] = instead
        yield "".join(chosen)
        yield "".join(drawn.choices(every, k=12))


def shown(found: Tree[Token] | Token | grammars.Fault | None) -> object:
    """A tree with all its places, which lark's own comparison leaves out."""
    match found:
        case Tree(data=data, children=children, meta=meta):
            return str(data), vars(meta), [shown(each) for each in children]
        case Token():
            return found.type, found.value, found.start_pos, found.end_pos, found.line, found.column
        case _:
            return found


def words(grammar: Lark) -> set[tuple[str, type]]:
    """What messages make of the terminals."""
    return {(repr(each), type(each.pattern)) for each in grammar.terminals}


@of_this_lark
@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", GRAMMARS)
def test_texts_are_read_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = right(name)
    every = [*texts, *mistaken(texts, random.Random(name))]
    found = []
    for grammar in (read, kept):
        monkeypatch.setattr(grammars, "grammar", grammar)
        found.append([shown(grammars.parsed(name, each)) for each in every])
    fresh, again = found
    assert again == fresh
    assert sum(isinstance(each, grammars.Fault) for each in fresh) > COUNT // 2
    assert words(kept(name)) == words(read(name))


@pytest.mark.parametrize(
    "text",
    [
        KEPT[:-100],
        "",
        "[]",
        KEPT.replace(f'"lark":"{lark.__version__}"', '"lark":"1.2.0"'),
        KEPT.replace('"grammar":"', '"grammar":" '),
    ],
    ids=["torn", "empty", "of another kind", "of another lark", "of another grammar"],
)
def test_what_does_not_fit_is_not_used(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "table", {"layout": text}.get)
    assert grammars.kept("layout", resources.grammar("layout")) is None


def test_without_tables_grammars_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shutil.copytree(resources.folder("grammar"), tmp_path / "grammar")
    shutil.rmtree(tmp_path / "grammar/tables")
    monkeypatch.setattr(resources, "folder", lambda name: tmp_path / name)
    parser = grammars.grammar.__wrapped__("layout")
    assert isinstance(parser.parse("layout A(c) = [c]"), Tree)
