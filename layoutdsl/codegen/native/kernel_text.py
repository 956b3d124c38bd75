"""What stands before the functions of a file: those of the kernels that they call.

`kernels.c` is in paragraphs, with an empty line between them; a file has those alone that define
what it speaks of, and what these speak of. After them come the tables that say how rows are woven,
and a function for each kernel that does a part of a move.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from textwrap import wrap

from layoutdsl.codegen.loops.kernels import LINE

_DEFINED = re.compile(
    r"^#define (\w+)|^VECTORS\(.*? (get\w*), \w+, (put\w*)|^(?:INLINED|APART) [\w ]+?(\w+)\("
    r"|^typedef .*?(\w+)(?: __attr.*)?;|^} (\w+);",
    re.MULTILINE,
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True, slots=True, order=True)
class Call:
    """A kernel, and the size of the moves that it is called for.

    Attributes:
        kernel: its name.
        e: bytes of a unit.
        rows: how many.
        columns: how many.
        edged: it does parts of such moves.
    """

    kernel: str
    e: int
    rows: int
    columns: int
    edged: bool

    @property
    def edge(self) -> str:
        """The name of the function that does a part."""
        return f"{self.kernel}_{self.e}_{self.rows}_{self.columns}_edge"

    @property
    def writes_lines(self) -> bool:
        """Whether it writes whole lines, one after the other, or 16 bytes side by side."""
        column = self.e * self.rows
        if self.kernel in ("weave", "shuffle"):
            return column * self.columns % LINE == 0
        return self.kernel in ("tile", "grid", "unweave", "unzip") and (
            column % LINE == 0 or (column == 16 and column * self.columns % LINE == 0)
        )


def kernel_text(calls: Collection[Call], *texts: str) -> str:
    """Return what a file starts with.

    Args:
        calls: the kernels that it calls, and the sizes of moves.
        texts: what stands behind, for the names in it.
    """
    lines = [*_picks(calls), *_edges(calls)]
    found = _needed(_words("\n".join([*lines, *texts, *(call.kernel for call in calls)])))
    return "\n".join([*(f"{each.text}\n" for each in found), *lines])


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """A part of `kernels.c`.

    Attributes:
        text: of it.
        names: of macros, types and functions that it defines.
        words: that are in it.
    """

    text: str
    names: frozenset[str]
    words: frozenset[str]


@cache
def _paragraphs() -> tuple[_Paragraph, ...]:
    """The paragraphs of `kernels.c`, in their order: each is whole without those before it."""
    text = files("layoutdsl.codegen.native").joinpath("kernels.c").read_text("utf-8")
    found = list[_Paragraph]()
    for each in text.replace("\r\n", "\n").strip().split("\n\n"):
        names = frozenset(name for row in _DEFINED.findall(each) for name in row if name)
        found.append(_Paragraph(each, names, _words(each)))
    return tuple(found)


def _words(text: str) -> frozenset[str]:
    """The names in a text, but for its comments."""
    return frozenset(_WORD.findall(_COMMENT.sub("", text)))


def _needed(words: frozenset[str]) -> list[_Paragraph]:
    """The paragraphs that define some words, and what these need; and those that define none."""
    left, found = list(_paragraphs()), list[_Paragraph]()
    while more := [each for each in left if not each.names or each.names & words]:
        left = [each for each in left if each not in more]
        found += more
        words = words.union(*(each.words for each in more))
    return [each for each in _paragraphs() if each in found]


def _picks(calls: Iterable[Call]) -> Iterable[str]:
    """How rows are woven, for each number of them, what is left of it once it is not even; and how
    units that are no vectors are spread over lanes, and which bytes of a block are where."""
    for kernel, way in (("weave", "WOVEN"), ("unweave", "UNWOVEN")):
        numbers = {
            (call.e, call.rows if kernel == "weave" else call.columns)
            for call in calls
            if call.kernel == kernel
        }
        for e, k in sorted(numbers):
            zips = k & -k
            left = k // zips
            if left == 1:
                yield f"#define {kernel}_{e}_{k} 0"
                continue
            each = ", ".join(f"PICKS({way},~{e * zips},~{left},~{j})" for j in range(left))
            text = f"PICK({kernel}_{e}_{k}, {left}, {each})"
            yield from (line.replace("~", " ") for line in wrap(text, 98, subsequent_indent="    "))
    found = dict[str, None]()
    for call in sorted(calls):
        if call.kernel == "gather":
            found[f"SPREAD({call.e})"] = None
        elif call.kernel == "shuffle":
            found[f"SHUFFLE({call.e}, {call.rows}, {call.columns})"] = None
    yield from found


def _edges(calls: Iterable[Call]) -> Iterable[str]:
    for each in sorted(call for call in calls if call.edged):
        yield f"EDGE({each.kernel}, {each.e}, {each.rows}, {each.columns})"
