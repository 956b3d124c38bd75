"""The parts of a page of the cookbook that follow from the library: what `write.py` fills in.

Each function returns Markdown for one part, made by the verbs that a reader would type; nothing
here is written by hand but the words around what they print.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pages import Page, fenced, printed, table

from layoutdsl import commands
from layoutdsl.language.integers.expr import Constant
from layoutdsl.language.integers.expr import text as written
from layoutdsl.language.integers.written_out import folded, written_out
from layoutdsl.language.meaning.elements import Fill, FillAny, FillValue, FillZeroPoint
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import offset_expr
from layoutdsl.language.texts.resources import library_families
from layoutdsl.view.grounds import ground_of

CELL = 7
"""Pixels of a slot in a thumbnail."""


# What stands in the library.

_NAME = re.compile(r"^(?:layout|record|table) (\w+)", re.MULTILINE)


@cache
def _sections() -> dict[str, tuple[str, str]]:
    """For each name the file of its family, and its text: remarks, declaration, claims."""
    found: dict[str, tuple[str, str]] = {}
    for file, whole in library_families():
        name = ""
        for paragraph in re.split(r"\n\n+", whole.strip()):
            if declared := _NAME.search(paragraph):
                name = declared[1]
                found[name] = (file, paragraph)
            elif name:
                found[name] = (file, f"{found[name][1]}\n\n{paragraph}")
    return found


def source(page: Page) -> str:
    """Where the library has it from: the remark above its declaration."""
    lines = []
    for name in page.declared:
        file, text = _sections()[name]
        remark = text[: text.index(_NAME.search(text)[0])]  # type: ignore[index]
        said = " ".join(line.lstrip("# ") for line in remark.splitlines())
        lines.append(f"- `{name}`, in `{file}`: {_escaped(said)}")
    return "\n".join(lines)


def _escaped(remark: str) -> str:
    """A remark as Markdown: its signs mean themselves."""
    return re.sub(r"([\\`*_\[\]<>{}|])", r"\\\1", remark)


def text(page: Page) -> str:
    """The declarations and claims as the library has them."""
    found = [_sections()[name][1] for name in page.declared]
    return fenced("\n\n".join(found), "layout")


# What is worked out.


def formula(page: Page) -> str:
    """Where an element lies; of a record, where each part does."""
    found = page.found
    if isinstance(found, Layout):
        words = ["formula", page.subject]
        lines = printed(*words).splitlines()
        told = [each if _TOLD.match(each) else "..." for each in lines]
        kept = [
            each for k, each in enumerate(told) if k == 0 or each != "..." or told[k - 1] != "..."
        ]
        return _session(words, "\n".join(kept))
    rows = [
        (f"`{part.label}`", f"`{written(folded(written_out(offset_expr(layout))))}`")
        for part, layout in zip(found.parts, found.laid, strict=True)
    ]
    return "In bits from the start of the buffer:\n\n" + table(("part", "bit"), rows)


_TOLD = re.compile(r"(offset|size|physical_shape) =")


def _session(words: Sequence[str], told: str) -> str:
    """A line of a shell and what it prints, to be run again with the page."""
    line = " ".join(f'"{each}"' if set(each) & set("<> ") else each for each in words)
    return fenced(f"$ layoutdsl {line}\n{told}", "console")


def picture(page: Page) -> str:
    """The directive that draws it."""
    words = [f'"{page.subject}"' if " " in page.subject else page.subject]
    words += ["--shape", ",".join(map(str, page.picture))]
    words += [f"--{key} {page.said[key]}" for key in _LOOKS if key in page.said]
    return fenced("", f"{{picture}} show {' '.join(words)}")


_LOOKS = ("colour", "columns", "most")


def _drawn(page: Page) -> commands.Picture:
    named = {key: page.said[key] for key in _LOOKS if key in page.said}
    return commands.show(page.found, page.picture, **named)


def thumbnail(page: Page) -> str:
    """Rows of the buffer from its first to its last, small and without words."""
    shown = _drawn(page).drawn
    count = min(10, len(shown.lines))
    rows = [shown.lines[k * len(shown.lines) // count].cells[:24] for k in range(count)]
    wide, high = CELL * max(map(len, rows)), CELL * len(rows)
    cells = [
        f'<rect x="{k * CELL}" y="{y * CELL}" width="{CELL}" height="{CELL}" fill="{colour}"/>'
        for y, row in enumerate(rows)
        for k, cell in enumerate(row)
        for colour in ["#9a9a9a" if cell.kind != "element" else ground_of(cell.ground, shown.wheel)]
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}"'
    look = 'stroke="#666" stroke-width=".5"'
    return f'{head} viewBox="0 0 {wide} {high}" {look}>\n' + "\n".join(cells) + "\n</svg>\n"


def padding(page: Page) -> str:
    """Which shapes it is for, what padding holds, and what extents become."""
    found = page.found
    rows = [("shapes", ", ".join(f"`{each}`" for each in found.where) or "all")]
    if isinstance(found, Layout):
        fixed = [str(axis.extent.value) for axis in found.axes if isinstance(axis.extent, Constant)]
        if len(fixed) == len(found.axes):
            rows = [("shapes", f"only {' x '.join(fixed)}")]
        if found.domain:
            rows.append(("elements", ", ".join(f"`{each}`" for each in found.domain)))
        rows.append(("element type", f"`{found.element.name}`" if found.element else "any"))
        extents = printed("formula", page.subject)
        padded = re.search(r"^padded_extents = (.*)$", extents, re.MULTILINE)
        if padded:
            rows.append(("padded extents", f"`{padded[1]}`"))
        rows.append(("fill", _filled(found.fill)))
    else:
        unheld = commands.cost(found).padding
        rows.append(("bits that no field holds", "none" if unheld == "0" else f"`{unheld}`"))
    return table(("", ""), rows)


def _filled(fill: Fill) -> str:
    match fill:
        case FillValue(value=value):
            return str(value)
        case FillAny():
            return "nothing in particular"
        case FillZeroPoint():
            return "the quantised zero"


def wrong(page: Page, block: str) -> str:
    """What `prove` says of a block that is wrong on purpose: the refutations."""
    with contextlib.chdir(_scratch()):
        Path("wrong.layout").write_text(block, encoding="utf-8")
        told = printed("prove", "wrong.layout")
    kept: list[str] = []
    for line in told.splitlines()[:-1]:
        if line.startswith(("refuted:", "error")) or (line.startswith(" ") and kept):
            kept.append(line)
        elif kept and not line.startswith("proved "):
            raise ValueError(f"{page.name}: {line}")
        elif kept:
            break
    if not kept:
        raise ValueError(f"{page.name}: what goes wrong is not refuted\n{told}")
    return _session(("prove", "wrong.layout"), "\n".join(["...", *kept, "..."]))


@cache
def _scratch() -> Path:
    import tempfile

    return Path(tempfile.mkdtemp(prefix="cookbook-"))


def cost(page: Page) -> str:
    """What it costs at a shape of the day."""
    words = ["cost", page.subject, "--shape", ",".join(map(str, page.real))]
    if "of" in page.said and isinstance(page.found, Layout):
        words += ["--of", page.said["of"]]
    return _session(words, printed(*words))
