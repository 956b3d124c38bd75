"""The parts of a page of the cookbook that follow from the library: what `write.py` fills in.

Each function returns Markdown for one part, made by the verbs that a reader would type; nothing
here is written by hand but the words around what they print.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from layoutdsl import api
from layoutdsl.cli.shell import run
from layoutdsl.compare.difference import Equal, EqualWhere, diff
from layoutdsl.integers.expr import text as written
from layoutdsl.integers.written_out import folded, written_out
from layoutdsl.meaning.elements import Fill, FillAny, FillValue, FillZeroPoint
from layoutdsl.meaning.model import Layout
from layoutdsl.meaning.offsets import offset_expr
from layoutdsl.meaning.record import Record
from layoutdsl.showing.declaration import declaration
from layoutdsl.showing.grounds import ground_of
from layoutdsl.texts.resources import library_families

HERE = Path(__file__).parent
CELL = 7
"""Pixels of a slot in a thumbnail."""


@dataclass(frozen=True, slots=True)
class Page:
    """What `pages.toml` says of a page; `said` holds its optional settings.

    Attributes:
        name: of its file, without an ending.
        subject: the layout or record of the library that is drawn and counted.
        declared: the declarations whose text is shown.
        picture: the shape that is drawn.
        real: the shape at which it costs what it costs.
    """

    name: str
    title: str
    family: str
    line: str
    subject: str
    declared: tuple[str, ...]
    picture: tuple[int, ...]
    real: tuple[int, ...]
    said: Mapping[str, Any]

    @property
    def found(self) -> Layout | Record:
        """The layout or record itself."""
        if self.subject in api.library_record_names():
            return api.library_record(self.subject)
        return api.library(self.subject)


def printed(*words: str) -> str:
    """Return what a verb prints, run in this process."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        run(list(words))
    return out.getvalue().rstrip("\n")


def fenced(text: str, kind: str = "text") -> str:
    """Return a text as a block."""
    return f"```{kind}\n{text}\n```" if text else f"```{kind}\n```"


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
    return "In bits from the start of the buffer:\n\n" + _table(("part", "bit"), rows)


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


def _drawn(page: Page) -> api.Picture:
    named = {key: page.said[key] for key in _LOOKS if key in page.said}
    return api.show(page.found, page.picture, **named)


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
        if found.domain:
            rows.append(("elements", ", ".join(f"`{each}`" for each in found.domain)))
        rows.append(("element type", f"`{found.element.name}`" if found.element else "any"))
        extents = printed("formula", page.subject)
        padded = re.search(r"^padded_extents = (.*)$", extents, re.MULTILINE)
        if padded:
            rows.append(("padded extents", f"`{padded[1]}`"))
        rows.append(("fill", _filled(found.fill)))
    else:
        unheld = api.cost(found).padding
        rows.append(("bits that no field holds", "none" if unheld == "0" else f"`{unheld}`"))
    return _table(("", ""), rows)


def _filled(fill: Fill) -> str:
    match fill:
        case FillValue(value=value):
            return str(value)
        case FillAny():
            return "nothing in particular"
        case FillZeroPoint():
            return "the quantised zero"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(each) + " |" for each in lines)


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


# What others call it.


def elsewhere(page: Page) -> str:
    """Texts of other notations, and layouts of the library that are the same."""
    found = page.found
    if isinstance(found, Record):
        return _same_records(page, found)
    rows = [row for name in api.notations() if (row := _written(found, name, ""))]
    shape = page.said.get("fixed")
    if shape:
        fixed = _fixed(found, shape)
        at = " at " + " ".join(
            f"{a.name.upper()}={e}" for a, e in zip(found.axes, shape, strict=True)
        )
        for name in ("cute", "triton", "numpy"):
            if not any(row[0] == name for row in rows) and (row := _written(fixed, name, at)):
                rows.append(row)
    blocks = [_table(("notation", "text"), rows)] if rows else []
    same = [_agreement(found, each) for each in page.said.get("same", ())]
    blocks += ["\n".join(same)] if same else []
    cannot = [_reason(found, each) for each in page.said.get("cannot", ())]
    blocks += ["\n".join(cannot)] if cannot else []
    return "\n\n".join(blocks)


def _written(found: Layout, notation: str, at: str) -> tuple[str, str] | None:
    told = api.translate(found, notation)
    if told.text is None or not told.proved:
        return None
    only = ", ".join(map(str, told.where))
    shown = "`" + told.text.replace("|", "\\|") + "`"
    return notation + at, shown + (f" where {only}" if only else "")


def _fixed(found: Layout, shape: Sequence[int]) -> Layout:
    """The layout at one shape, its extents as numbers."""
    text = re.sub(r" where .*", "", declaration(found), flags=re.DOTALL)
    for axis, extent in zip(found.axes, shape, strict=True):
        head, _, body = text.partition(") =")
        head = re.sub(rf"\b{axis.name}\b(?!:)(?=[,)]|$)", f"{axis.name}: {extent}", head)
        text = head + ") =" + re.sub(rf"\b{axis.name.upper()}\b", str(extent), body)
    return api.parse(text)[found.name]


def _agreement(found: Layout, name: str) -> str:
    """A line that says where a layout of the library is the same one, as `diff` proves it."""
    called, _, axes = name.partition(" ")
    match diff(found, api.library(called), axes or None):
        case Equal():
            shapes = "for all shapes of both"
        case EqualWhere(agreements=agreements):
            shapes = "where " + ", ".join(map(str, agreements[0].conditions))
        case other:
            raise ValueError(f"{found.name} and {name}: {other}")
    return f"- `{called}` of the library{f' with `{axes}`' if axes else ''}, {shapes}"


def _reason(found: Layout, notation: str) -> str:
    told = api.translate(found, notation)
    if told.reason is None:
        raise ValueError(f"{found.name} can be said in {notation}: {told.text}")
    return f"- not in `{notation}`: {told.reason}"


def _same_records(page: Page, found: Record) -> str:
    """The other records of the library that put every field where this one does."""
    fields = [(each.name, each.extents) for each in found.fields]
    names = [
        name
        for name in api.library_record_names()
        if name != page.subject
        and [(each.name, each.extents) for each in api.library_record(name).fields] == fields
        and api.prove(api.parse(f"prove {page.subject} == {name}")).status == "proved"
    ]
    lines = [
        f"- `{each}` of the library, for all shapes: every bit at the same place" for each in names
    ]
    return "\n".join(lines) or "No other record of the library puts its fields where this one does."
