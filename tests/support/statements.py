"""Statements of the library and of the examples, as text."""

from __future__ import annotations

from texts import HERE

from layoutdsl.language.syntax.parser import parse
from layoutdsl.language.texts import resources
from layoutdsl.language.texts.source import Source


def statements() -> list[str]:
    families = [text for _, text in resources.library_families()]
    families += [each.read_text(encoding="utf-8") for each in (HERE / "layouts").glob("*.layout")]
    found = [each.span.text for text in families for each in parse(Source("", text)).declarations]
    return [each for each in dict.fromkeys(found) if len(each) < 300]


STATEMENTS = statements()
