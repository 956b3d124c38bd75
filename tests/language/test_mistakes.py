"""What engineers write in place of the language, and what they are told.

`golden/mistakes.txt` is the table: a text, each line behind `>`, and all that is said of it. To add
a mistake, add its text there, and let `LAYOUTDSL_REWRITE_GOLDEN=1` write what is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from texts import GOLDEN, LIBRARY, said

import layoutdsl

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


@pytest.mark.parametrize("name", [*layoutdsl.notations(), "xla"])
def test_the_notations_are_all_known(name: str) -> None:
    (found,) = said(f'layout A = {name}("text")', LIBRARY)
    assert found.message == "text in another notation has quotes, and no parentheses"
    assert found.mend is not None
    assert found.mend.mended == f'layout A = {name} "text"'


def test_a_keyword_that_is_a_name_begins_no_statement() -> None:
    (found,) = said("layout A(n, table) = [n,\ntable]\nlayout B(n) = [n\nprove A\n")
    assert found.primary.span.source.place(found.primary.span.start) == (3, 15)


def test_what_is_told_of_many_mistakes_is_bounded() -> None:
    assert len(said("layout A(n) = [n n]\n" * 1000)) == 20
