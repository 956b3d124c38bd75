"""A shape at which a property fails, and what happens there, in plain integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.texts.values import said


@dataclass(frozen=True, slots=True)
class Point:
    """One line of a counterexample: where an index goes, or what a slot holds, in words."""

    index: tuple[tuple[str, int], ...]
    words: str

    def __str__(self) -> str:
        return f"{index_text(self.index)} {self.words}" if self.index else self.words


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A shape, and the points at which the property fails there.

    Attributes:
        sentence: what fails: "`Manual` is not injective".
        shape: every extent and parameter with its value; empty where no shape is needed.
        points: what happens there.
    """

    sentence: str
    shape: tuple[tuple[str, int], ...]
    points: tuple[Point, ...]

    def __repr__(self) -> str:
        shape = " ".join(f"{name}={value}" for name, value in self.shape)
        return said(self, f"{self.sentence} at {shape}")

    def __str__(self) -> str:
        return "\n".join(self.lines)

    @property
    def lines(self) -> tuple[str, ...]:
        """The sentence, the shape, and a line per point: the counterexample as people read it."""
        shape = (f"  at shape {named_text(self.shape)}",) if self.shape else ()
        return (self.sentence, *shape, *(f"    {point}" for point in self.points))


def index_text(index: Iterable[tuple[str, int]]) -> str:
    """Return an index as messages write it: ``(n=0, c=8)``."""
    return f"({named_text(index, ', ')})"


def named_text(values: Iterable[tuple[str, int]], between: str = " ") -> str:
    """Return names with their values: ``N=1 C=9``."""
    return between.join(f"{name}={value}" for name, value in values)


def point_at(layout: Layout, index: tuple[int, ...], words: str) -> Point:
    """Return what happens at an index of a layout."""
    names = [axis.name for axis in layout.axes]
    return Point(tuple(zip(names, index, strict=True)), words)


def example_at(values: Mapping[str, int], sentence: str, *points: Point) -> Counterexample:
    """Return what fails at a shape."""
    return Counterexample(sentence, tuple(values.items()), points)
