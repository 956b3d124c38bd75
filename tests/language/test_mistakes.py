"""What engineers write in place of the language, and what they are told.

`golden/mistakes.txt` is the table: a text, each line behind `>`, and all that is said of it. To add
a mistake, add its text there, and let `LAYOUTDSL_REWRITE_GOLDEN=1` write what is said.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable

import pytest
from texts import GOLDEN, LIBRARY, said

from layoutdsl.language.syntax import advice as offered
from layoutdsl.language.syntax.advice import advice
from layoutdsl.language.syntax.grammars import LANGUAGE, Fault
from layoutdsl.language.syntax.mistakes import Advice, Mistake, entries
from layoutdsl.language.syntax.statements import MOST_FAULTS
from layoutdsl.language.texts import resources
from layoutdsl.notation.notation import NAMES

TABLE = GOLDEN / "mistakes.txt"
TEXTS = [
    "\n".join(line[2:] for line in block.splitlines())
    for block in re.findall(r"^(?:>.*\n)+", TABLE.read_text(encoding="utf-8"), re.MULTILINE)
]


def shown(text: str) -> str:
    lines = "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
    return f"{lines}\n" + "\n\n".join(map(str, said(text, LIBRARY))) + "\n"


@pytest.mark.slow
def test_the_table(golden: Callable[[str, str], None]) -> None:
    golden("mistakes.txt", "\n".join(map(shown, TEXTS)))


def test_nothing_is_in_the_table_twice() -> None:
    assert len(TEXTS) == len(set(TEXTS)) >= 150


@pytest.mark.parametrize("text", TEXTS)
def test_every_text_of_the_table_has_a_way_out(text: str) -> None:
    found = said(text, LIBRARY)
    assert found
    assert all(each.help for each in found)


def test_the_notations_are_all_known() -> None:
    text = (resources.folder("grammar") / "mistakes.toml").read_text("utf-8")
    known = tomllib.loads(text)["patterns"]["NOTATION"]
    assert set(NAMES) == set(re.findall(r"\w{3,}", known.partition(">")[2]))


@pytest.mark.slow
def test_every_entry_is_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    met: set[Mistake] = set()

    def remembered(name: str, text: str, fault: Fault) -> Advice | None:
        found = advice(name, text, fault)
        if found is not None:
            met.update(each for each in entries(name) if each.advice(text, fault) == found)
        return found

    monkeypatch.setattr(offered, "advice", remembered)
    for text in TEXTS:
        said(text, LIBRARY)
    left_out = [each for name in (LANGUAGE, "xla") for each in entries(name) if each not in met]
    assert not left_out, "\n".join(f"{each.before} {each.seen}" for each in left_out)


def test_a_keyword_that_is_a_name_begins_no_statement() -> None:
    (found,) = said("layout A(n, table) = [n,\ntable]\nlayout B(n) = [n\nprove A\n")
    assert found.primary.span.source.place(found.primary.span.start) == (3, 15)


def test_what_is_told_of_many_mistakes_is_bounded() -> None:
    assert len(said("layout A(n) = [n n]\n" * 1000)) == MOST_FAULTS
