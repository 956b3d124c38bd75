"""What is often written in place of the language: the entries of `grammar/mistakes.toml`.

An entry proposes an edit, or only words. Whether an edit is any good is for the parser to say.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from layoutdsl.language.syntax.grammars import LANGUAGE, Fault
from layoutdsl.language.texts import resources

NEAR = 200
"""Characters before a place that an entry looks at."""


@dataclass(frozen=True, slots=True)
class Edit:
    """``text`` in place of what stands from ``start`` to ``end``."""

    start: int
    end: int
    text: str

    def applied(self, text: str) -> str:
        """Return the text with the edit made."""
        return text[: self.start] + self.text + text[self.end :]


@dataclass(frozen=True, slots=True)
class Advice:
    """What may be wrong at a place, and the way out.

    Attributes:
        start: of what is wrong.
        end: behind it.
        says: what is wrong; without it there is only what was expected.
        help: the way out.
        edit: that mends it, where the help comes to one.
        whole: whether the edit has to mend all of the statement.
        others: further places, with a few words.
    """

    start: int
    end: int
    says: str | None
    help: str
    edit: Edit | None = None
    whole: bool = False
    others: tuple[tuple[int, int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Mistake:
    """One entry; `grammar/mistakes.toml` says what its parts are."""

    seen: re.Pattern[str]
    before: re.Pattern[str] | None
    instead: str | None
    says: str | None
    help: str | None
    whole: bool

    def advice(self, text: str, fault: Fault) -> Advice | None:
        """Return what the entry says of a fault; ``None`` where it is about something else."""
        seen = self.seen.match(text, fault.start)
        if seen is None:
            return None
        start, groups, at = fault.start, {**_groups(seen), "seen": seen[0].strip()}, None
        if self.before is not None:
            first = max(0, fault.start - NEAR)
            before = self.before.search(text[first : fault.start])
            if before is None:
                return None
            groups |= _groups(before)
            parts = {
                name: first + before.start(name) for name, it in before.groupdict().items() if it
            }
            start = parts.get("cut", start)
            if "at" in parts:
                at = parts["at"], parts["at"] + len(groups["at"])
        edit = None
        if self.instead is not None:
            edit = Edit(start, seen.end(), self.instead.format_map(groups))
        begin, end = at or _without_blanks(text, start, seen.end())
        way_out = self.help or _proposal(edit)
        says = self.says and self.says.format_map(groups)
        return Advice(begin, end, says, way_out.format_map(groups), edit, self.whole)


def mistakes(name: str, text: str, fault: Fault) -> Iterator[Advice]:
    """Yield what the entries for a grammar say of a fault, in their order."""
    for each in entries(name):
        found = each.advice(text, fault)
        if found is not None:
            yield found


def plain(character: str) -> str | None:
    """Return the ASCII for a character that stands for it; nothing for one that is not seen."""
    return _characters().get(character)


def _without_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    marked = text[start:end]
    begin = start + len(marked) - len(marked.lstrip())
    return begin, max(begin, start + len(marked.rstrip()))


def _proposal(edit: Edit | None) -> str:
    assert edit is not None, "an entry without an edit says how to mend it"
    shown = edit.text.strip().replace("{", "{{").replace("}", "}}")
    return f"write `{shown}`" if shown else "remove it"


def _groups(match: re.Match[str]) -> dict[str, str]:
    return {name: (found or "").strip() for name, found in match.groupdict().items()}


@cache
def _file() -> Mapping[str, Any]:
    return tomllib.loads((resources.folder("grammar") / "mistakes.toml").read_text("utf-8"))


@cache
def _characters() -> Mapping[str, str]:
    return dict(_file()["characters"])


@cache
def entries(name: str) -> tuple[Mistake, ...]:
    """Return the entries for a grammar: the language's own, or those of all notations."""
    return tuple(map(_mistake, _file()[LANGUAGE if name == LANGUAGE else "quoted"]))


def _mistake(entry: Mapping[str, Any]) -> Mistake:
    def pattern(written: str) -> str:
        for name, meant in _file()["patterns"].items():
            written = written.replace(f"@{name}", meant)
        return written

    before = entry.get("before")
    return Mistake(
        re.compile(pattern(entry["seen"])),
        None if before is None else re.compile(rf"(?:{pattern(before)})\Z"),
        entry.get("instead"),
        entry.get("says"),
        entry.get("help"),
        entry.get("whole", False),
    )
