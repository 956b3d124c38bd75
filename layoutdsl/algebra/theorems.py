"""Evidence of derived layouts: their theorems, and the preconditions that were proved.

Example: `fix("NCHW16c", c=3)` returns a layout `R`. `evidence(R)` has the sentence
``R(n, h, w) = NCHW16c(n, 3, h, w)``, a proof that `R` is this map for all shapes, and a proof that
3 stays below ``C`` wherever `R` is defined.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from layoutdsl.algebra.spelling import spellings
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import (
    Constant,
    Expr,
    Extent,
    extents,
    substitute,
)
from layoutdsl.language.integers.written_out import written_out
from layoutdsl.language.meaning.application import (
    NotApplicable,
    applied,
    exact,
    fill_of_both,
    possible,
    substituted,
)
from layoutdsl.language.meaning.claims import Claim, EqualsFormula, EqualsLayout, Sound
from layoutdsl.language.meaning.counterexample import Counterexample
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import offset_expr, size_expr
from layoutdsl.language.texts.values import said
from layoutdsl.proof.prover.applied_check import indices_finding
from layoutdsl.proof.prover.check import attempt, check
from layoutdsl.proof.prover.verdict import Finding, Proved, Refuted, Undecided
from layoutdsl.proof.statements.sound import EXTENTS, INJECTIVE

Status: TypeAlias = Literal["proved", "undecided"]


class PreconditionError(ValueError):
    """An operation of `layoutdsl.algebra` does not apply to a layout.

    >>> tile("NCHW16c", "padded", c=12)
    Traceback (most recent call last):
    ...
    layoutdsl.algebra.theorems.PreconditionError: `NCHW16c` has no padding for whole tiles
      at shape N=1 C1=2 H=1 W=1 C=13
        (n=0, c1=1, h=0, w=0, c0=4) -> `(c1, c0)` is 16, outside 0..15

    Attributes:
        example: the smallest shape found at which the precondition fails, with the index; ``None``
            if the reason is not about one shape.
    """

    def __init__(self, reason: str, example: Counterexample | None = None) -> None:
        super().__init__(reason if example is None else f"{reason}{_shown(example)}")
        self.example = example


def _shown(example: Counterexample) -> str:
    shape = " ".join(f"{name}={value}" for name, value in example.shape)
    lines = [f"\n  at shape {shape}"] if shape else []
    for point in example.points:
        index = ", ".join(f"{name}={value}" for name, value in point.index)
        lines.append(f"\n    ({index}) {point.words}")
    return "".join(lines)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The theorem and the preconditions that are proved of a derived layout.

    Attributes:
        layout: the derived layout.
        sentence: the theorem that defines it, such as ``R(n, h, w) = NCHW16c(n, 3, h, w)``.
        findings: a finding for the theorem and for each precondition, with its certificate.
        notes: what the operation loses, such as a common fill.
        parts: of an application, the applied layout and the index map.
    """

    layout: Layout
    sentence: str
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    parts: tuple[Layout, ...] = ()

    def __repr__(self) -> str:
        return said(self, f"{self.status}: {self.sentence}")

    @property
    def status(self) -> Status:
        """Whether the theorem and all preconditions are proved for all shapes."""
        proved = all(isinstance(each, Proved) for each in self.findings)
        return "proved" if proved else "undecided"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why findings are undecided."""
        return tuple(each.reason for each in self.findings if isinstance(each, Undecided))

    def is_packing(self) -> bool:
        """Return whether the derived layout gives every element a slot of its own.

        The properties of the layout are proved, as `layoutdsl.prove` does. If that leaves one open,
        the layout is a packing if both parts are: an injective map of indices that stay in the
        shape of an injective layout.
        """
        status = check(Claim("prove", self.layout, Sound())).status
        if status != "undecided" or self.status != "proved" or not self.parts:
            return status == "proved"
        return all(map(_is_injective, self.parts))


def _is_injective(layout: Layout) -> bool:
    found = {each.property: each for each in check(Claim("prove", layout, Sound())).findings}
    return all(isinstance(found.get(name), Proved) for name in (EXTENTS, INJECTIVE))


def evidence(layout: Layout) -> Evidence:
    """Return what is proved of a layout that a function of this package returned.

    >>> evidence(fix("NCHW16c", c=3)).status
    'proved'

    Raises:
        ValueError: the layout was not derived, or it was changed since.
    """
    found = layout.derivation
    if not isinstance(found, Evidence):
        raise ValueError(f"`{layout.name}` was not derived by layoutdsl.algebra")
    if replace(found.layout, name=layout.name) != layout:
        raise ValueError(f"`{layout.name}` was changed after it was derived; derive it again")
    return found


def derived(
    layout: Layout,
    sentence: str,
    findings: Iterable[Finding] = (),
    notes: Iterable[str] = (),
    parts: Iterable[Layout] = (),
) -> Layout:
    """Return a layout with its evidence."""
    plain = replace(layout, derivation=None)
    found = Evidence(plain, sentence, tuple(findings), tuple(notes), tuple(parts))
    return replace(plain, derivation=found)


def with_findings(layout: Layout, *findings: Finding) -> Layout:
    """Return a derived layout with more findings."""
    found = evidence(layout)
    return derived(layout, found.sentence, (*found.findings, *findings), found.notes, found.parts)


def made(layout: Layout, **changes: object) -> Layout:
    """Return a layout with changes; extents that no axis gives are its parameters."""
    found = replace(layout, derivation=None, **changes)  # type: ignore[arg-type]
    spoken = [found.start]
    for place in (*found.coordinates, *(each for one in found.applied for each in one.index)):
        spoken += [place.value, place.extent]
    for each in (*found.where, *found.domain):
        spoken += [each.left, each.right]
    given = {axis.extent.name for axis in found.axes if isinstance(axis.extent, Extent)}
    free = {name for expr in spoken for name in extents(expr)} - given
    return replace(found, parameters=tuple(sorted(free)))


def pullback(
    outer: Layout,
    index_map: Layout,
    name: str,
    sentence: str,
    *,
    refusal: str = "",
    padded: bool = False,
    smaller: bool = False,
    inner: Layout | None = None,
) -> Layout:
    """Return ``R(c) = outer(index_map(c))`` with its theorem.

    Args:
        outer: the layout that is applied.
        index_map: its coordinates are the indices of ``outer``, with the extents of its axes.
        name: of the result.
        sentence: the theorem in words.
        refusal: the message if an index leaves the shape.
        padded: the coordinates are indices of the padded box of ``outer``, and its extents stay.
        smaller: the box of the index map may be smaller than the shape of ``outer``.
        inner: the layout whose padding the result has; by default the index map.

    Raises:
        PreconditionError: an index leaves the shape, or conditions hold for no shape.
    """
    where = _agreed(outer, index_map, padded=padded, smaller=smaller)
    try:
        index_map = made(index_map, where=tuple(possible(where)))
        said_ = made(substituted(outer, index_map, padded=padded))
        result = made(applied(outer, index_map, padded=padded), name=name)
    except NotApplicable as reason:
        raise PreconditionError(f"`{outer.name}` cannot be applied here: {reason}") from None
    notes = []
    inner = index_map if inner is None else inner
    fill = fill_of_both(outer, inner)
    if fill != outer.fill:
        notes.append(f"the fills of `{outer.name}` and `{inner.name}` differ: `fill any`")
    result, said_ = (
        replace(each, fill=fill, element=outer.element or index_map.element)
        for each in (result, said_)
    )
    findings: list[Finding] = []
    if result.applied:
        finding = indices_finding(result)
        if isinstance(finding, Refuted):
            raise PreconditionError(refusal or finding.example.sentence, finding.example)
        findings.append(finding)
    if all(isinstance(each, Proved) for each in findings):
        # What is proved needs no reminder: the text of the result is the whole result.
        result = replace(result, applied=())
    result, finding = spelled_as(result, replace(said_, name="it", applied=()))
    return derived(result, sentence, (*findings, finding), notes, (outer, index_map))


def spelled_as(layout: Layout, meant: Layout) -> tuple[Layout, Finding]:
    """Return the shortest spelling of a layout that is proved to be what is meant."""

    found: Finding | None = None
    for each in spellings(layout, meant):
        found = equal(each, meant)
        if isinstance(found, Proved):
            return each, found
    assert found is not None
    return layout, found


def equal(layout: Layout, meant: Layout) -> Finding:
    """Return whether every offset and the size are what is meant; three statements are tried."""
    plain = replace(
        meant,
        coordinates=tuple(
            replace(each, value=written_out(each.value)) for each in meant.coordinates
        ),
    )
    tries: list[EqualsLayout | EqualsFormula] = [EqualsLayout(meant), EqualsLayout(plain)]
    if same(_size(layout), _size(meant)):  # a formula says nothing about the size
        tries.append(EqualsFormula(offset_expr(meant)))
    bare = replace(layout, applied=())
    for each in tries:
        found = attempt(Claim("prove", bare, each, (), f"prove {layout.name} == {meant.name}"))
        if isinstance(found, Proved):
            break
    return found


def _size(layout: Layout) -> Expr:
    """The size in the range: an extent that a condition equates to others is written as these."""
    told = {
        each.left.name: each.right
        for each in layout.where
        if isinstance(each.left, Extent) and each.operator == "=="
    }
    size = size_expr(layout)
    for _ in told:
        size = substitute(size, told)
    return exact(size)


def _agreed(
    outer: Layout, index_map: Layout, *, padded: bool, smaller: bool
) -> tuple[Condition, ...]:
    """The range in which axes of one extent, and axes of a number, have it in the index map."""
    where = list(index_map.where)
    if padded:
        return tuple(where)
    sizes: dict[str, Expr] = {}
    for axis, place in zip(outer.axes, index_map.coordinates, strict=True):
        match axis.extent:
            case Extent(name) if name not in sizes:
                sizes[name] = place.extent
            case extent:
                wanted = substitute(extent, sizes)
                numbers = isinstance(wanted, Constant) and isinstance(place.extent, Constant)
                if not numbers and not same(wanted, place.extent):
                    where.append(Condition(place.extent, "<=" if smaller else "==", wanted))
    return tuple(dict.fromkeys(where))
