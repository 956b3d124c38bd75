"""Tree -> meaning for what is packed already: ``from words u32 of GptqWeights``."""

from __future__ import annotations

import re
from dataclasses import replace

from layoutdsl.language.elaborate.layout import Layouts
from layoutdsl.language.integers.expr import Extent
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.language.meaning.record import Field
from layoutdsl.language.meaning.rule import FromWords
from layoutdsl.language.meaning.storage import STORAGES, StorageName, stored
from layoutdsl.language.syntax import ast
from layoutdsl.language.texts.faults import did_you_mean, fault
from layoutdsl.language.texts.source import Span

CODE = "L216"


def converted(written: ast.FromWords, layout: Layout, layouts: Layouts) -> tuple[Layout, FromWords]:
    """Return a layout and what it is made from, of one type and of the same axes.

    Raises:
        Fault: they do not go together; or a silent one, whose cause is reported already.
    """
    word, source = _words(written, layout, layouts)
    element = source.tensor_element
    if layout.tensor_element is None and layout.bit_of is None:
        layout = replace(layout, element=element)
    if layout.tensor_element != element:
        raise _other_types(layout, source, written)
    for each in (source, layout):
        refuse_wordless(each, word, written.span)
    return layout, FromWords(word, source)


def field_from_words(written: ast.FromWords, field: Field, layouts: Layouts) -> FromWords:
    """Return how the tensor of a field is packed already; its layout takes the field's axes.

    Raises:
        Fault: it does not go with the field; or a silent one, whose cause is reported already.
    """
    names = _axes(field)
    frame = Layout(field.name, tuple(Axis(each, Extent(each.upper())) for each in names), ())
    referred = layouts.referred(written.layout)
    theirs = [] if referred is None else [axis.name for axis in referred.axes]
    for place, name in enumerate(theirs):
        if name in names and {*names} != {*theirs} and names.index(name) != place:
            message = (
                f"`{name}` is another axis of `{field.name}` than of `{written.layout.name.text}`"
            )
            axes = ", ".join(names)
            hint = f"write a layout over the axes of the field, as `layout Rows({axes}) = ...`"
            raise fault(CODE, message, written.layout.span, help=hint)
    word, source = _words(written, frame, layouts)
    if source.tensor_element is None and source.bit_of is None:
        source = replace(source, element=field.element)
    if source.tensor_element != field.element:
        raise _other_types(replace(frame, element=field.element), source, written)
    refuse_wordless(source, word, written.span)
    return FromWords(word, source)


def refuse_wordless(layout: Layout, word: StorageName, place: Span) -> None:
    """Raise where a layout fills no words of a type."""
    try:
        stored(layout, word)
    except ValueError as unfit:
        raise fault(CODE, str(unfit), place) from None


def _words(written: ast.FromWords, layout: Layout, layouts: Layouts) -> tuple[StorageName, Layout]:
    """The type of words, and the layout of what is in them, on the axes of another."""
    word = _word(written.word)
    referred = layouts.referred(written.layout)
    if referred is not None and referred.copies:
        message = f"the copies of `{referred.name}` may differ in a file, and one of them is read"
        raise fault(CODE, message, written.layout.span)
    bits = () if referred is None else referred.element_axes[len(referred.tensor_axes) :]
    frame = Layout(layout.name, (*layout.tensor_axes, *bits), ())
    source = layouts.on_axes(frame, written.layout)
    source = replace(source, name="_".join(re.findall(r"\w+", source.name)))
    if source.domain:
        message = f"`{source.name}` holds elements of a domain only, and others would be lost"
        raise fault(CODE, message, written.layout.span)
    return word, source


def _axes(field: Field) -> list[str]:
    """The names of its axes, where a part takes them whole; else those of their numbers."""
    for part in field.parts:
        if all(len(digits) == 1 and digits[0].name for digits in part.picks):
            return [digits[0].name for digits in part.picks]
    return [f"d{number}" for number, _ in enumerate(field.extents)]


def _other_types(layout: Layout, source: Layout, written: ast.FromWords) -> Exception:
    kinds = [
        None if each.tensor_element is None else each.tensor_element.name
        for each in (layout, source)
    ]
    message = f"`{layout.name}` is of {kinds[0]}, and `{source.name}` of {kinds[1]}"
    return fault(CODE, message, written.layout.span)


def _word(name: ast.Name) -> StorageName:
    for word in STORAGES:
        if word == name.text:
            return word  # type: ignore[return-value]  # its keys are such names
    hint = did_you_mean(name.text, STORAGES) or f"known are {', '.join(STORAGES)}"
    raise fault(CODE, f"`{name.text}` is no type of words", name.span, help=hint)
