"""What a claim of one property is: all that a proof, a search and a check of it have to know.

Trusted, with the files beside it: a certificate stands for a claim only where its theorems are
those of `Property.statement`, and a counterexample only where `Property.tries` finds it. How proofs
are built is known by name alone, so that whoever checks them again reaches no tactic.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, TypeAlias, TypeVar

from layoutdsl.language.integers.expr import Expr
from layoutdsl.language.meaning.counterexample import Counterexample
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.shapes import Values
from layoutdsl.proof.kernel.theorem import Theorem
from layoutdsl.proof.refute.refute import At
from layoutdsl.proof.statements import applied_statement, statement
from layoutdsl.proof.statements.run_statement import Start
from layoutdsl.proof.statements.statement import Ground

Tactic: TypeAlias = Literal["equations", "intervals", "size"]
"""How proofs are looked for: normal forms of both sides, or the largest values of extents."""

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim as theorems.

    Attributes:
        ground: what the theorem has in common with others of the layout.
        theorem: what the claim says.
        divided: expressions in it, whose digits a proof has to cut.
        start: where the run begins that it speaks of, which cuts values once more.
        others: theorems that say the rest of it, and that follow from their hypotheses.
        applied: the layout of which the applied indices have to stay in their shapes, which is one
            more theorem; `None` if no layout is applied.
    """

    ground: Ground
    theorem: Theorem
    divided: tuple[Expr, ...] = ()
    start: Start | None = None
    others: tuple[Theorem, ...] = ()
    applied: Layout | None = None

    @property
    def all(self) -> tuple[Theorem, ...]:
        """Every theorem that says the claim."""
        applied = () if self.applied is None else (applied_statement.indices(self.applied)[1],)
        return (self.theorem, *self.others, *applied)


@dataclass(frozen=True)
class Property(ABC, Generic[P]):
    """A layout, and what is claimed of it.

    A new property is a file with a subclass, and a line in `known.PROPERTIES`.
    """

    layout: Layout
    predicate: P

    tactic: ClassVar[Tactic] = "equations"
    in_bounds: ClassVar[bool] = False
    """Whether it says of every offset, too, that it lies in the buffer."""

    by_index: ClassVar[bool] = False
    """Whether a counterexample is one index, at whatever shape; else every index is tried again."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What is said of the layout: the name under which it is found, shown and kept."""

    @property
    def conditions(self) -> tuple[str, ...]:
        """Under which conditions it is proved."""
        return ()

    @property
    def common(self) -> Layout:
        """The layout in the shapes of which it is said."""
        return self.layout

    @abstractmethod
    def statement(self) -> Statement:
        """Return the theorems that say it.

        Raises:
            NotExpressible: the checker's terms cannot say it.
        """

    @property
    @abstractmethod
    def theorems(self) -> tuple[str, ...]:
        """The names of the theorems that say it."""

    @abstractmethod
    def tries(self) -> At | None:
        """Return what tries it at every index of a shape; ``None`` where it cannot be tried."""

    def holds_at(self, values: Values) -> bool:
        """Return whether it is soon seen to hold at a shape; a no says nothing."""
        del values
        return False

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """Expressions, besides those of the layout, whose numbers make a shape worth trying."""
        return ()

    def far(self) -> Counterexample | None:
        """Return a counterexample at large extents, where those alone make one."""
        return None

    def again(self, values: Values, index: tuple[int, ...] | None = None) -> Counterexample | None:
        """Return the counterexample at a shape, where there is one: what is on record is replayed.

        Args:
            values: the shape.
            index: of the point on record, where `by_index` says that it is enough.
        """
        del index
        at = self.tries()
        return None if at is None else at(values).get(self.words)


def spoken_of(*layouts: Layout) -> tuple[Expr, ...]:
    """Return the values and extents of all coordinates."""
    coordinates = [each for layout in layouts for each in layout.coordinates]
    return tuple(expr for each in coordinates for expr in (each.value, each.extent))


def ground_of(layout: Layout, *others: Layout) -> Ground:
    """Return what theorems about a layout have in common, with others over the same axes.

    Raises:
        NotExpressible: the checker's terms cannot say it.
    """
    return statement.ground(layout, more=others)


def packed(bits: int, name: str) -> tuple[str, ...]:
    """Bytes of narrow elements are counted as if several shared one, which arrays may not do."""
    return () if bits >= 8 else (f"elements of {name} are packed, {8 // bits} to a byte",)
