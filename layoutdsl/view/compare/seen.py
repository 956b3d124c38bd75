"""What is found of a known layout that another one may be: it is, it may be, or it differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from layoutdsl.language.meaning.model import Condition
from layoutdsl.language.offsets.axes import Pairing
from layoutdsl.view.compare.offsets import Mismatch
from layoutdsl.view.compare.ranges import Agreement


@dataclass(frozen=True, slots=True)
class Match:
    """A known layout that is equal to the one asked about.

    Attributes:
        name: of the known layout, with its parameters: ``NCHWc<8>``.
        pairing: which of its axes are which.
        axes: what ``--axes`` of ``diff`` is given, where names and order do not do.
        where: the shapes for which both are defined, where one of them is not for all.
        agreements: ranges in which they are equal, where they are not for all shapes.
    """

    name: str
    pairing: Pairing
    axes: str | None
    where: tuple[Condition, ...]
    agreements: tuple[Agreement, ...]
    certificate: str = ""
    queries: int = 0

    def __bool__(self) -> bool:
        """Return `everywhere`: equality in some ranges only is false."""
        return self.everywhere

    @property
    def everywhere(self) -> bool:
        """Whether the layouts are equal wherever both are defined."""
        return not self.agreements


@dataclass(frozen=True, slots=True)
class Untold:
    """A known layout that was neither proved equal nor told apart; this is no equality.

    ``reason`` says why there is no proof; the rest is as for `Match`.
    """

    name: str
    pairing: Pairing
    axes: str | None
    reason: str

    def __bool__(self) -> bool:
        """Return `False`: nothing was proved."""
        return False

    @property
    def everywhere(self) -> bool:
        """It is not known to be equal anywhere."""
        return False


@dataclass(frozen=True, slots=True)
class Apart:
    """A known layout that differs from the one asked about.

    Attributes:
        name: of the known layout.
        reason: why no tensor is one of both, where that is so.
        mismatch: else, where they differ, with axes as `diff` takes them.
        tried: how many orders of axes and numbers for parameters differ.
        complete: whether there are no others.
    """

    name: str
    reason: str | None
    mismatch: Mismatch | None
    tried: int
    complete: bool


Seen: TypeAlias = Match | Untold | Apart
