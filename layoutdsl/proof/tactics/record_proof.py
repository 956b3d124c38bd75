"""Proofs of what holds of a record beside its parts. Not trusted.

That two parts are apart is shown from their ends: where both buffers end in coordinates of the same
extents, or in as many bits, an address is ``head*B + cell`` in both, and from equal addresses
follow equal cells, and equal heads, which are cut again. A bit of both parts would have the same
cells everywhere; digits of constant range never do. Extents that differ end it. Which cells are
never equal is tried at one shape first: a question about more than these is much harder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from layoutdsl.language.integers.expr import Constant, Coordinate, MixedRadix
from layoutdsl.language.integers.value import evaluate, horner
from layoutdsl.language.meaning.model import ZERO
from layoutdsl.language.meaning.part import Part
from layoutdsl.language.meaning.record import Record
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder, by_hypotheses
from layoutdsl.proof.kernel.theorem import By, Proof, Ring, Term, Theorem
from layoutdsl.proof.statements import record_statement
from layoutdsl.proof.statements.record_statement import Side
from layoutdsl.proof.tactics.claim_proof import prove_equations

MOST_LEVELS = 64
"""How often addresses are cut."""

MOST_SEEN = 20_000
"""Bits of a part at which cells are tried."""


def prove_of_record(record: Record, theorem: Theorem, values: Mapping[str, int]) -> Proof:
    """Return the proof of a theorem of `record_statement`.

    Args:
        record: that it speaks of.
        theorem: what is to be shown.
        values: a small shape of the record, at which cells are tried.

    Raises:
        NoProof: none was found.
    """
    kind, *numbers = theorem.name.split(".")
    match kind:
        case "parts":
            return by_hypotheses(theorem)
        case "extents" | "size" | "after":
            return _equations(record, theorem)
        case _:
            one, other = map(int, numbers)
            return _apart(record, theorem, (one, other), values)


def _equations(record: Record, theorem: Theorem) -> Proof:
    ground = record_statement.ground_of(record)
    divided = [*record_statement.spoken(record)]
    divided += [expr for part in record.parts for _, expr in part.values]
    divided += [part.over_record.start for part in record.parts]
    divided += [each for field in record.fields for each in field.extents]
    return prove_equations(ground, theorem, tuple(dict.fromkeys(divided)), lemmas.stated())


def _apart(
    record: Record, theorem: Theorem, numbers: tuple[int, int], values: Mapping[str, int]
) -> Proof:
    _, left, right = record_statement.two_sides(record, *numbers)
    builder = ProofBuilder(theorem, lemmas.stated())
    facts = builder.hypotheses
    for goal in theorem.goals[:-1]:
        builder.have(goal, *facts)
    seen = [_seen(record.parts[each], values) for each in numbers]
    found = _Sides(builder, left, right, *seen).cut()
    if not found:
        raise NoProof("the two parts end in coordinates of different extents")
    builder.have(theorem.goals[-1], *found, *facts)
    return builder.proof


def _seen(part: Part, values: Mapping[str, int]) -> list[dict[str, int]]:
    """Values of all extents and indices of a part in bits at a shape of the record."""
    layout = part.over_record
    names = [axis.name for axis in layout.axes]
    extents = (evaluate(part.extents()[name], values) for name in names)
    every = islice(product(*map(range, extents)), MOST_SEEN)
    return [{**values, **dict(zip(names, index, strict=True))} for index in every]


class _Sides:
    """The addresses of two bits, known to be equal, and what is left of their coordinates."""

    def __init__(
        self,
        builder: ProofBuilder,
        left: Side,
        right: Side,
        *seen: list[dict[str, int]],
    ) -> None:
        self._seen = seen
        self._builder, self._sides = builder, {"left": left, "right": right}
        self._left = {called: list(side.layout.coordinates) for called, side in self._both()}
        self._facts: list[str] = []
        self._equal = self._without_start()

    def _both(self) -> Iterator[tuple[str, Side]]:
        yield from self._sides.items()

    def _without_start(self) -> str:
        """The fact that both addresses are equal, counted from where both parts begin."""
        builder = self._builder
        facts = []
        for called, side in self._both():
            value = side.vocabulary.term(MixedRadix(side.layout.coordinates))
            builder.define(f"head.{called}", value)
            whole: Term = f"head.{called}"
            if side.layout.start != ZERO:
                whole = ("+", side.vocabulary.term(side.layout.start), whole)
            facts.append(builder.have(("=", called, whole), called, f"head.{called}"))
        return builder.have(("=", "head.left", "head.right"), *facts, *builder.hypotheses[-1:])

    def cut(self) -> list[str]:
        """Return facts that say which cells are equal, and what each cell is."""
        names = ("head.left", "head.right")
        for level in range(MOST_LEVELS):
            size = self._common()
            if size is None or not (self._left["left"] and self._left["right"]):
                break
            disjoint = self._disjoint(size)
            if disjoint:
                self._facts.clear()
            names = self._cut_off(level, size, names)
            if disjoint:
                break
        return self._facts

    def _disjoint(self, size: tuple[Term, int, int]) -> bool:
        """Whether the cells that are cut off next are seen to be never equal at one shape."""
        found: list[set[int]] = []
        for coordinates, count, seen in zip(self._left.values(), size[1:], self._seen, strict=True):
            inside = tuple(coordinates[len(coordinates) - count :])
            found.append({horner(inside, values) for values in seen})
        return all(found) and not set.intersection(*found)

    def _common(self) -> tuple[Term, int, int] | None:
        """What both sides end in: so many slots, and how many coordinates these are on each."""
        left, right = (_tails(each) for each in self._left.values())
        sizes = left.keys() & right.keys()
        if sizes:
            least = min(sizes)  # a question about small cells is easier than one about large ones
            return least, left[least], right[least]
        last = [each[-1].extent for each in self._left.values() if each]
        if len(last) == 2 and last[0] == last[1]:
            return self._sides["left"].vocabulary.term(last[0]), 1, 1
        return None

    def _cut_off(
        self, level: int, size: tuple[Term, int, int], names: tuple[str, str]
    ) -> tuple[str, str]:
        builder = self._builder
        block, *counts = size
        addresses: list[str] = []
        heads: list[str] = []
        cells: list[str] = []
        for (called, side), count, whole in zip(self._both(), counts, names, strict=True):
            coordinates = self._left[called]
            inside = tuple(coordinates[len(coordinates) - count :])
            del coordinates[len(coordinates) - count :]
            head, cell = f"head.{called}.{level}", f"cell.{called}.{level}"
            above = side.vocabulary.term(MixedRadix(tuple(coordinates)))
            value = side.vocabulary.term(MixedRadix(inside))
            builder.define(head, above)
            builder.define(cell, value)
            equal = builder.calculate(whole, By(whole), Ring(("+", ("*", above, block), value)))
            spoken: Term = ("+", ("*", head, block), cell)
            fold = (By(head, backwards=True), By(cell, backwards=True))
            folded = builder.calculate(("+", ("*", above, block), value), *fold)
            if builder.formula(folded)[-1] != spoken:  # type: ignore[index]
                folded = builder.have(("=", ("+", ("*", above, block), value), spoken), head, cell)
            addresses.append(builder.have(("=", whole, spoken), equal, folded))
            builder.have(("<=", 0, cell), cell, *builder.hypotheses)
            builder.have(("<", cell, block), cell, *builder.hypotheses)
            heads.append(head)
            cells.append(cell)
        left, right = (("+", ("*", h, block), c) for h, c in zip(heads, cells, strict=True))
        builder.have(("=", left, right), *addresses, self._equal)
        values: dict[str, Term] = {
            "q": heads[0],
            "r": cells[0],
            "a": heads[1],
            "b": cells[1],
            "B": block,
        }
        self._equal, same = builder.use("UNIQUE", values)
        self._facts += [same, *cells]
        return heads[0], heads[1]


def _tails(coordinates: Sequence[Coordinate]) -> dict[int, int]:
    """Sizes of the last coordinates together, as far as they are numbers, and how many they are."""
    found: dict[int, int] = {}
    size = 1
    for count, each in enumerate(reversed(coordinates), 1):
        if not isinstance(each.extent, Constant):
            break
        size *= each.extent.value
        found[size] = count
    return found
