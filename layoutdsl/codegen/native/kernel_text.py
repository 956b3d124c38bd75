"""What stands before the functions of a file: those of the kernels that they call.

`kernels.c` is in sections; a file has those that it needs. After them come the tables that say how
rows are woven, and a function for each kernel that does a part of a move.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from textwrap import wrap

from layoutdsl.codegen.loops.kernels import LINE

_NETWORK, _WEAVE = ("tile", "zip", "unzip"), ("weave", "unweave")


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
        if self.kernel == "weave":
            return column * self.columns % LINE == 0
        return self.kernel in ("tile", "unweave", "unzip") and (
            column % LINE == 0 or (column == 16 and column * self.columns % LINE == 0)
        )


def kernel_text(calls: Collection[Call]) -> str:
    """Return what a file starts with that calls these kernels."""
    names = {call.kernel for call in calls}
    wanted = {"head", "runs"}
    if names:
        wanted.add("moves")
    if any(call.edged for call in calls):
        wanted.add("edges")
    if names & {*_NETWORK, *_WEAVE}:
        wanted.add("network")
    if names & {*_WEAVE}:
        wanted.add("weave")
    text = [each for name, each in _sections().items() if name in wanted]
    lines = [*_picks(calls), *_edges(calls)]
    return "\n".join([*text, *lines])


@cache
def _sections() -> dict[str, str]:
    """The sections of `kernels.c` by their names, in their order."""
    text = files("layoutdsl.codegen.native").joinpath("kernels.c").read_text("utf-8")
    found = dict[str, str]()
    for section in text.replace("\r\n", "\n").split("/* == ")[1:]:
        name, rest = section.split(" ==\n", 1)
        found[name] = f"/* {rest.lstrip()}"
    return found


def _picks(calls: Iterable[Call]) -> Iterable[str]:
    """How rows are woven, for each number of them."""
    for kernel, way in (("weave", "WOVEN"), ("unweave", "UNWOVE")):
        numbers = {
            (call.e, call.rows if kernel == "weave" else call.columns)
            for call in calls
            if call.kernel == kernel
        }
        for e, k in sorted(numbers):
            each = ", ".join(f"{way}({e},~{k},~{j})" for j in range(k))
            text = f"PICKS {kernel}_{e}_{k}[] = {{{each}}};"
            yield from (line.replace("~", " ") for line in wrap(text, 98, subsequent_indent="    "))


def _edges(calls: Iterable[Call]) -> Iterable[str]:
    for each in sorted(call for call in calls if call.edged):
        yield f"EDGE({each.kernel}, {each.e}, {each.rows}, {each.columns})"
