"""A text of Triton as an attribute: its kind, and what its fields say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from lark import Token, Tree

from layoutdsl.language.syntax.reading import tree
from layoutdsl.language.texts.faults import fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation.blocks import number

Branch = Tree[Token]
Value: TypeAlias = "int | bool | Attribute | tuple[Value, ...]"

_SPELLING = {
    "NAME": "a name",
    "INT": "a number",
    "KIND": "`#ttg.linear` or the like",
    "FLAG": "`true` or `false`",
}


@dataclass(frozen=True, slots=True)
class Attribute:
    """``#ttg.KIND<{NAME = VALUE, ...}>``; what stands behind the braces has no bearing."""

    kind: str
    fields: Mapping[str, Value]
    span: Span
    text: str
    rooms: tuple[tuple[int, int], ...] = ()
    """Of `#ttg.padded_shared`: behind how many elements there is room for how many more."""

    def flag(self, name: str) -> bool:
        """Return a field that is ``true`` or ``false``, which it is where it is not said."""
        match self.fields.get(name, False):
            case bool() as found:
                return found
        raise self._other(name, "`true` or `false`")

    def number(self, name: str) -> int:
        """Return a field that is a number."""
        match self._field(name):
            case int() as found if not isinstance(found, bool):
                return found
        raise self._other(name, "a number")

    def numbers(self, name: str) -> list[int]:
        """Return a field that is a list of numbers."""
        match self._field(name):
            case tuple() as found if all(_is_number(each) for each in found):
                return [each for each in found if isinstance(each, int)]
        raise self._other(name, "a list of numbers")

    def vectors(self, name: str) -> tuple[tuple[int, ...], ...]:
        """Return a field that is a list of bases, none of whose numbers is negative."""
        match self._field(name):
            case tuple() as found:
                bases = [_basis(each) for each in found]
                if None not in bases:
                    return tuple(each for each in bases if each is not None)
        raise self._other(name, "a list of bases, as `[[0, 1], [8, 0]]`")

    def inner(self, name: str) -> Attribute:
        """Return a field that is an attribute."""
        match self._field(name):
            case Attribute() as found:
                return found
        raise self._other(name, "a layout, as `#ttg.blocked<{...}>`")

    def _field(self, name: str) -> Value:
        if name not in self.fields:
            raise fault("L407", f"`{self.kind}` does not say its `{name}`", self.span)
        return self.fields[name]

    def _other(self, name: str, wanted: str) -> Exception:
        return fault("L405", f"`{name}` has to be {wanted}", self.span)


def _is_number(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _basis(value: Value) -> tuple[int, ...] | None:
    match value:
        case tuple() if all(_is_number(each) for each in value):
            if any(isinstance(each, int) and each < 0 for each in value):
                return None
            return tuple(each for each in value if isinstance(each, int))
    return None


def said(text: Span) -> Attribute:
    """Return what a text says.

    Raises:
        LayoutError: it is not in the grammar.
        Fault: a field is there twice, or a number has too many digits.
    """
    (branch,) = tree("triton", text, "L401", _SPELLING).children
    return _attribute(cast("Branch", branch), text)


def _attribute(branch: Branch, text: Span) -> Attribute:
    kind, rooms, *rest = branch.children
    whole = _span(branch, text)
    fields: dict[str, Value] = {}
    for each in cast("list[Branch | None]", rest):
        if each is None:
            continue
        name, value = each.children
        if str(name) in fields:
            raise fault("L404", f"`{name}` is said twice", _span(each, text))
        fields[str(name)] = _value(cast("Branch", value), text)
    written = " ".join(whole.text.split())
    said = str(kind).partition(".")[2]
    if (rooms is not None) != (said == "padded_shared"):
        words = "`[32:+8]`, room behind elements, belongs to `padded_shared`, and to no other"
        raise fault("L401", words, whole)
    pairs = () if rooms is None else cast("list[Branch]", cast("Branch", rooms).children)
    return Attribute(said, fields, whole, written, tuple(_room(each, text) for each in pairs))


def _room(branch: Branch, text: Span) -> tuple[int, int]:
    step, more = (_digits(token, text) for token in cast("list[Token]", branch.children))
    return step, more


def _digits(token: Token, text: Span) -> int:
    start = text.start + (token.start_pos or 0)
    return number(Span(text.source, start, start + len(token)))


def _value(branch: Branch, text: Span) -> Value:
    match branch.data:
        case "flag":
            return str(branch.children[0]) == "true"
        case "attribute":
            return _attribute(branch, text)
        case "number":
            sign, digits = cast("list[Token | None]", branch.children)
            assert digits is not None
            found = _digits(digits, text)
            return found if sign is None else -found
    inside = cast("list[Branch | None]", branch.children)
    return tuple(_value(each, text) for each in inside if each is not None)


def _span(branch: Branch, text: Span) -> Span:
    start, end = branch.meta.start_pos, branch.meta.end_pos
    return Span(text.source, text.start + start, text.start + end)
