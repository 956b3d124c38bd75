"""What is said of the word under the cursor, in Markdown."""

from __future__ import annotations

from layoutdsl.language.integers.bounds import product, simplify
from layoutdsl.language.integers.expr import coordinate_text, text
from layoutdsl.language.integers.written_out import horner_expr
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_expression
from layoutdsl.shell.editing.document import Document, Good
from layoutdsl.shell.editing.names import Occurrence


def hover(current: Document, offset: int, found: dict[str, str]) -> tuple[str, int, int] | None:
    """Return what is said of the word at a character, and from where to where it stands.

    Args:
        current: the text; where it is not right, what it said before is told.
        offset: the character.
        found: what was found of claims, by their text.
    """
    if current.good is None or (moved := current.moved()) is None:
        return None
    place = moved.back(offset)
    if place is None:
        return None
    told = _told(current, place, offset, found)
    if told is None:
        return None
    words, start, end = told
    onward = moved.onward(start), moved.onward(end)
    first, last = (offset if each is None else each for each in onward)
    return words, first, max(first, last)


def _told(
    current: Document, place: int, offset: int, found: dict[str, str]
) -> tuple[str, int, int] | None:
    good = current.good
    assert good is not None
    name = current.name_at(offset)
    if name is not None and (words := _of_name(good, name)) is not None:
        return words, name.span.start, name.span.end
    if (coordinate := _coordinate_at(good, place)) is not None:
        return coordinate
    for each in good.file.declarations:
        if isinstance(each, ast.ClaimDecl) and each.span.start <= place <= each.span.end:
            verdict = found.get(each.span.text)
            if verdict is not None:
                return verdict, each.span.start, each.span.end
    return None


def _of_name(good: Good, name: Occurrence) -> str | None:
    symbol = name.symbol
    match symbol.kind:
        case "layout":
            layout = _layout(good, symbol.name)
            return None if layout is None else of_layout(layout)
        case "table" | "record":
            written = good.module.texts.get(symbol.name)
            return None if written is None else f"```layout\n{written}\n```"
        case "axis" if not name.defines and not name.capital:
            return None  # the coordinate around it says more
        case "axis":
            return f"axis `{symbol.name}` of `{symbol.scope}`, extent `{_extent(good, name)}`"
        case "name":
            for each in good.file.declarations:
                if isinstance(each, ast.ClaimDecl) and isinstance(each.predicate, ast.Equals):
                    inside = each.span.start <= name.span.start < each.span.end
                    for said in each.predicate.names if inside else ():
                        if said.name.text == symbol.name:
                            return f"`{said.name.text} = {print_expression(said.value)}`"
            return None
        case kind:
            return f"{kind} `{symbol.name}`" + (f" of `{symbol.scope}`" if symbol.scope else "")


def _extent(good: Good, name: Occurrence) -> str:
    layout = good.module.layouts.get(name.symbol.scope)
    for axis in layout.axes if layout is not None else ():
        if axis.name == name.symbol.name:
            return text(axis.extent)
    return name.symbol.name.upper()


def _layout(good: Good, name: str) -> Layout | None:
    """A layout of the text or of the library; ``None`` where it is neither."""
    from layoutdsl.commands import library, library_names

    if name in good.module.layouts:
        return good.module.layouts[name]
    return library(name) if name in library_names() else None


def of_layout(layout: Layout) -> str:
    """Return the offset, size, padded extents and cost of a layout, as Markdown."""
    from layoutdsl.language.declaration import declaration

    extents = [each.extent for each in layout.coordinates]
    offset = text(horner_expr(layout.coordinates))
    if layout.start is not None and (start := text(layout.start)) != "0":
        offset = f"{offset} + {start}"
    rows = [
        ("offset", offset),
        ("box", " x ".join(map(text, extents))),
        ("size", text(product(tuple(extents)))),
    ]
    rows += _cost(layout)
    lines = "  \n".join(f"{name}: `{words}`" for name, words in rows)
    return f"```layout\n{declaration(layout)}\n```\n{lines}"


def _cost(layout: Layout) -> list[tuple[str, str]]:
    """What an element costs in slots; nothing where that is not told of such layouts."""
    from layoutdsl.commands import cost

    try:
        found = cost(layout)
    except ValueError:
        return []
    rows = [("padding", found.padding), ("slots for each element", found.ratio)]
    if found.most.value is not None and found.most.how in ("reached", "limit"):
        proved = " (proved)" if found.proved else ""
        rows.append(("at most", f"{found.most.value}{proved}"))
    return rows


def _coordinate_at(good: Good, place: int) -> tuple[str, int, int] | None:
    """What is said of a coordinate of a layout: its extent, and how far a step of it goes."""
    for each in good.file.declarations:
        if not isinstance(each, ast.LayoutDecl) or not isinstance(each.body, ast.Coordinates):
            continue
        layout = good.module.layouts.get(each.name.text)
        places = each.body.places
        if layout is None or len(layout.coordinates) != len(places):
            continue
        for number, written in enumerate(places):
            if written.span.start <= place <= written.span.end:
                later = tuple(one.extent for one in layout.coordinates[number + 1 :])
                stride = text(simplify(product(later))) if later else "1"
                coordinate = layout.coordinates[number]
                words = (
                    f"coordinate `{coordinate_text(coordinate)}`: "
                    f"extent `{text(coordinate.extent)}`, stride `{stride}`"
                )
                return words, written.span.start, written.span.end
    return None
