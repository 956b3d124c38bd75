"""A text that is being written: as it is, and as it was when it last was right."""

from __future__ import annotations

from dataclasses import dataclass

from layoutdsl.commands import formatted, parse
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.module import Module
from layoutdsl.language.meaning.offsets import offset_expr, size_expr
from layoutdsl.language.syntax import ast, parser
from layoutdsl.language.texts.source import Diagnostic, LayoutError, Source
from layoutdsl.shell.editing.names import Occurrence, occurrences
from layoutdsl.shell.editing.positions import Moved


@dataclass(frozen=True, slots=True)
class Good:
    """A text that was right, with what it said."""

    text: str
    file: ast.File
    module: Module
    names: tuple[Occurrence, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A text at one time.

    Attributes:
        name: what messages call it.
        text: all of it.
        faults: what is wrong with it, or hardly meant.
        good: what it said when it was right the last time; ``None`` where it never was.
        right: whether that is this text.
    """

    name: str
    text: str
    faults: tuple[Diagnostic, ...]
    good: Good | None
    right: bool

    def written(self, text: str) -> Document:
        """Return the document with another text."""
        return document(self.name, text, self.good)

    def moved(self) -> Moved | None:
        """Return the way from the text that was right to this one."""
        return None if self.good is None else Moved(self.good.text, self.text)

    def name_at(self, offset: int) -> Occurrence | None:
        """Return the name at a character, or just before it, as the text was when it was right."""
        if self.good is None or (place := Moved(self.good.text, self.text).back(offset)) is None:
            return None
        around = [each for each in self.good.names if each.span.start <= place <= each.span.end]
        return next((each for each in around if place < each.span.end), next(iter(around), None))

    def places_of(self, name: Occurrence) -> tuple[Occurrence, ...]:
        """Return every place where what a name stands for does."""
        return tuple(
            each for each in (self.good.names if self.good else ()) if each.symbol == name.symbol
        )

    def renamed(self, name: Occurrence, new: str) -> tuple[tuple[int, int, str], ...]:
        """Return the changes that give a name's symbol another one: start, end and text of each.

        An axis keeps its extent: where ``c`` becomes ``d``, ``C`` becomes ``D``.

        Raises:
            ValueError: the text is not right, or would not be; the message says what stands against
                it.
        """
        if not self.right or self.good is None:
            raise ValueError("the text has faults; mend them first")
        places = self.places_of(name)
        if not any(each.defines for each in places):
            raise ValueError(f"`{name.symbol.name}` is not declared in this text")
        small = new.lower() if name.capital else new
        changes = tuple(
            (each.span.start, each.span.end, small.upper() if each.capital else small)
            for each in places
        )
        _expect_alike(self, changed(self.text, changes))
        return changes


def document(name: str, text: str, good: Good | None = None) -> Document:
    """Return a text with what is wrong with it.

    Args:
        name: what messages call it.
        text: all of it.
        good: as it was when it was right.
    """
    try:
        module = parse(text, name)
    except LayoutError as failure:
        return Document(name, text, failure.diagnostics, good, right=False)
    file = parser.parse(Source(name, text))
    warnings = tuple(each for about in module.warnings.values() for each in about)
    found = Good(text, file, module, occurrences(file))
    return Document(name, text, warnings, found, right=True)


def changed(text: str, changes: tuple[tuple[int, int, str], ...]) -> str:
    """Return a text with changes made that do not touch each other."""
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _expect_alike(before: Document, text: str) -> None:
    """See that after a renaming each name stands for what it did, and no two are one."""
    after = document(before.name, text)
    if not after.right or after.good is None:
        raise ValueError(f"it would be wrong then: {after.faults[0].message}")
    assert before.good is not None
    old, new = ([each.symbol for each in one.names] for one in (before.good, after.good))
    pairs = set(zip(old, new, strict=False))
    if len(old) != len(new) or not len(pairs) == len(set(old)) == len(set(new)):
        raise ValueError("the name is taken by something else")
    one, two = before.good.module.layouts, after.good.module.layouts
    if not all(map(_is_same_map, one.values(), two.values())):
        raise ValueError("an applied layout finds its extent by this name; write the extent first")


def _is_same_map(before: Layout, after: Layout) -> bool:
    """Whether a renamed layout is the same map, as far as two shapes and an index show.

    An application ``A[e]`` in a layout with a parameter ``H`` takes it for the extent ``H`` of
    ``A``. The texts of both are not compared, because sums are printed in the order of names.
    """
    return all(_at(before, start) == _at(after, start) for start in (2, 5))


def _at(layout: Layout, start: int) -> tuple[int, ...]:
    """The size and one offset at a shape, its extents counted from `start` on."""
    values = {name: start + number for number, name in enumerate(layout.symbols)}
    values |= {axis.name: number % 2 for number, axis in enumerate(layout.axes)}
    try:
        return tuple(evaluate(each, values) for each in (size_expr(layout), offset_expr(layout)))
    except ZeroDivisionError:  # the shape is outside the range
        return ()


def spelt(current: Document) -> str | None:
    """Return the text in the usual spelling; ``None`` where it is not in the language."""
    try:
        return formatted(current.text, current.name)
    except LayoutError:
        return None
