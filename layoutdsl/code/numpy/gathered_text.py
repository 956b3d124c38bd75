"""What `pack` and `unpack` do where there is no plan: piece by piece, in runs or by elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layoutdsl.code.moves import Rows
from layoutdsl.code.numpy.element_text import within
from layoutdsl.code.numpy.words import indented, wrapped
from layoutdsl.language.meaning.model import Layout

_ROWS = tuple(f"{each}(first, past, shape)" for each in ("_offsets", "_lows", "_highs"))
"""The rows of a piece: their offsets, and where they begin and end."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The statements for a layout, whose elements lie in runs or not."""

    layout: Layout
    rows: Rows | None

    @property
    def elements(self) -> str:
        """The elements of a piece, in the tensor."""
        if self.rows is not None:
            return f"tensor[{':, ' * self.rows.across}first:past]"
        return f"tensor[first:past]{'[held]' if self.layout.domain else ''}"

    @property
    def slots(self) -> str:
        """The elements of a piece, from their slots."""
        if self.rows is None:
            return f"flat[{self._offsets}]"
        words = ["flat", self._offsets, *_run(self.rows), _along(self.rows)]
        return f"_gathered({', '.join(words)})"

    def refuse_outside(self) -> list[str]:
        """Return the lines that refuse offsets outside the buffer."""
        if self.rows is None:
            refuse = [f"_refuse_outside({self._offsets}, size)"]
        elif self.layout.domain:
            refuse = wrapped("_refuse_rows(", [*_ROWS, "size", _along(self.rows)], ")")
        else:
            words = [self._offsets, "size", *_run(self.rows), _along(self.rows)]
            refuse = wrapped("_refuse_runs(", words, ")")
        return ["size = int(np.prod(box, dtype=object))", *self._each_piece(refuse)]

    def each_within(self, elements: str) -> list[str]:
        """Return the lines that refuse elements which are no values of their type."""
        lines = within(self.layout.element, elements)
        return self._each_piece(lines) if lines else []

    def scatter(self) -> list[str]:
        """Return the lines that put all elements into their slots."""
        if self.rows is None:
            move = [f"flat[{self._offsets}] = {self.elements}"]
        elif self.layout.domain:
            words = ["flat", *_ROWS, self.elements, str(self.rows.axis)]
            move = wrapped("_scatter_rows(", words, ")")
        else:
            words = ["flat", self._offsets, self.elements, *_run(self.rows)]
            move = wrapped("_scatter(", words, ")")
        return [
            *self._each_piece(move),
            "if not np.may_share_memory(flat, buffer):",
            "    buffer[...] = flat.reshape(buffer.shape)",
        ]

    def take(self) -> list[str]:
        """Return the lines that take all elements from their slots."""
        if self.rows is not None and self.layout.domain:
            words = [self.elements, "flat", *_ROWS, str(self.rows.axis)]
            return self._each_piece(wrapped("_take_rows(", words, ")"))
        return self._each_piece([f"{self.elements} = {self.slots}"])

    @property
    def _masked(self) -> bool:
        """Whether each index of a piece is asked for whether it has a slot."""
        return bool(self.layout.domain) and self.rows is None

    @property
    def _offsets(self) -> str:
        return f"_offsets(first, past, shape){'[held]' if self._masked else ''}"

    def _each_piece(self, lines: Sequence[str]) -> list[str]:
        held = ["held = _held(first, past, shape)"] if self._masked else []
        return ["for first, past in _pieces(shape):", *indented([*held, *lines])]


def _run(rows: Rows) -> tuple[str, str]:
    """Along which axis runs lie, and how long they are."""
    return str(rows.axis), f"shape[{rows.axis}]" if rows.run is None else str(rows.run)


def _along(rows: Rows) -> str:
    """How many elements of a piece lie along the axis of its runs."""
    return "past - first" if rows.axis == rows.across else f"shape[{rows.axis}]"
