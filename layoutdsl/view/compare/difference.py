"""``diff``: are two layouts equal, for which shapes, and if not, in what do they differ?

Equality is about offsets and sizes, as in ``prove A == B``. What padding holds, chunks and element
types are told in notes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.language.offsets.axes import Axes, Paired, Pairing, Unpaired, paired
from layoutdsl.language.texts.values import Displayed, said
from layoutdsl.proof.prover.check import check
from layoutdsl.proof.prover.verdict import Finding, Proved, Refuted, Undecided, certificate_hash
from layoutdsl.view.compare.hints import Hint, hints
from layoutdsl.view.compare.notes import Note, notes
from layoutdsl.view.compare.offsets import Mismatch, first_mismatch, mismatch
from layoutdsl.view.compare.ranges import Agreement, Agreements, agreements, equality, proof

Tell: TypeAlias = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Equal(Displayed):
    """Every element lies at the same offset, in buffers of one size, for all shapes.

    ``where`` is what both layouts say themselves of the shapes for which they are defined.
    """

    pairing: Pairing
    certificate: str
    queries: int
    where: tuple[Condition, ...] = ()
    notes: tuple[Note, ...] = ()

    same = True
    status = "equal"

    def __repr__(self) -> str:
        return said(self, f"for all shapes{''.join(f', {each}' for each in self.where)}")


@dataclass(frozen=True, slots=True)
class EqualWhere(Displayed):
    """The layouts are equal in some ranges of shapes, and elsewhere are not.

    Attributes:
        agreements: the ranges, the widest first; equality is proved in each.
        mismatch: where they differ at the smallest shape; ``None`` where nothing differs, and
            elsewhere one of the two is not defined.
        exact: whether at every shape that was tried outside of the ranges they differ.
        unproved: ranges in which no difference was found, and no proof either.
    """

    pairing: Pairing
    agreements: tuple[Agreement, ...]
    mismatch: Mismatch | None
    exact: bool = True
    unproved: tuple[tuple[Condition, ...], ...] = ()
    hints: tuple[Hint, ...] = ()
    notes: tuple[Note, ...] = ()

    status = "equal where"

    def __bool__(self) -> bool:
        """Return `False`: only `Equal` is true. `same` says whether any shape tells them apart."""
        return False

    def __repr__(self) -> str:
        return said(self, f"{'; or '.join(map(str, self.agreements))}; else {self.mismatch}")

    @property
    def same(self) -> bool:
        """Whether the layouts agree at every shape for which both are defined."""
        return self.mismatch is None


@dataclass(frozen=True, slots=True)
class Different(Displayed):
    """The layouts differ.

    Attributes:
        reason: why they cannot be compared at all, where that is so.
        mismatch: where they differ at the smallest shape, unless there is a reason.
        agreements: ranges in which they agree all the same, as axes of one element play no part.
        exact: whether at every shape that was tried outside of the ranges they differ.
        hints: how one is made the other.
    """

    pairing: Pairing | None
    reason: str | None = None
    mismatch: Mismatch | None = None
    agreements: tuple[Agreement, ...] = ()
    exact: bool = True
    unproved: tuple[tuple[Condition, ...], ...] = ()
    hints: tuple[Hint, ...] = ()
    notes: tuple[Note, ...] = ()

    same = False
    status = "different"

    def __bool__(self) -> bool:
        """Return `False`: only `Equal` is true."""
        return False

    def __repr__(self) -> str:
        return said(self, self.reason or str(self.mismatch))


@dataclass(frozen=True, slots=True)
class Unknown(Displayed):
    """Neither a proof nor a difference was found; this is no equality."""

    pairing: Pairing
    reason: str
    notes: tuple[Note, ...] = ()

    same = False
    status = "undecided"

    def __bool__(self) -> bool:
        """Return `False`: undecided is never equal."""
        return False

    def __repr__(self) -> str:
        return said(self, self.reason)


Difference: TypeAlias = Equal | EqualWhere | Different | Unknown


def diff(
    one: Layout, other: Layout, axes: Axes | None = None, progress: Tell | None = None
) -> Difference:
    """Compare two layouts; `layoutdsl.diff` documents the arguments."""
    tell = progress or (lambda _: None)
    try:
        pair = paired(one, other, axes)
    except Unpaired as reason:
        return Different(None, reason=str(reason), notes=notes(one, other))
    said = notes(pair.one, pair.other)
    tell(f"proving {one.name} == {other.name}")
    finding = proof(pair)
    if isinstance(finding, Proved):
        return _equal(pair, finding, said)
    tell("looking for the smallest difference")
    found = first_mismatch(pair)
    if found is None:
        settled = _settled(pair, tell)
        if isinstance(settled, Proved):
            return _equal(pair, settled, said)
        if isinstance(settled, Undecided):
            return Unknown(pair.pairing, settled.reason, said)
        found = mismatch(pair.one, pair.other, dict(settled.example.shape))
        assert found is not None
    return _differing(pair, found, said, tell)


def _settled(pair: Paired, tell: Tell) -> Finding:
    """Return what the prover finds that has more time: all shapes, or one that the solver names."""
    (finding,) = check(equality(pair), tell).findings
    if isinstance(finding, Refuted) and not finding.example.shape:
        return Undecided(finding.property, finding.example.sentence)
    return finding


def _equal(pair: Paired, finding: Proved, said: tuple[Note, ...]) -> Equal | EqualWhere:
    one, other = set(pair.one.where), set(pair.other.where)
    if one != other or pair.fixed:
        conditions = tuple(dict.fromkeys((*pair.fixed, *pair.where)))
        agreement = Agreement(conditions, certificate_hash(finding), finding.queries)
        return EqualWhere(pair.pairing, (agreement,), None, notes=said)
    return Equal(pair.pairing, certificate_hash(finding), finding.queries, pair.where, said)


def _differing(
    pair: Paired, found: Mismatch, said: tuple[Note, ...], tell: Tell
) -> EqualWhere | Different:
    tell("looking for shapes where they agree")
    where: Agreements = agreements(pair, tell)
    tell("looking for what was exchanged")
    proposed = hints(pair, found)
    plain = any(not each.of_single_elements for each in where.proved)
    kind = EqualWhere if plain else Different
    return kind(
        pairing=pair.pairing,
        agreements=where.proved,
        mismatch=found,
        exact=where.exact,
        unproved=where.unproved,
        hints=proposed,
        notes=said,
    )
