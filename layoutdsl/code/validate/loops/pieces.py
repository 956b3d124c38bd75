"""That pieces are apart: no two write one slot, so that threads may take them. Trusted.

The number of each loop that is shared is a function of the place that is written, the same one for
all stores of a nest. Of a loop in steps that is an index within its step, which tells the piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf

from layoutdsl.code.validate.loops.cover import guesses, resolved
from layoutdsl.code.validate.loops.sides import Sides
from layoutdsl.code.validate.loops.stores import Need, Sliding, Variable, Write
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.proof.kernel.checker import Term, names, substitute

ABOUT = "pieces are apart"


def apart(sides: Sides, stores: Sequence[Write], shared: Sequence[int]) -> Iterator[Need]:
    """Yield what makes pieces write slots of their own.

    Args:
        sides: what they read and write.
        stores: of one nest; all are within the same loops.
        shared: how far a piece of each goes that is shared, from the outermost on.

    Raises:
        Meaningless: nothing is found that tells which piece writes a slot.
    """
    if not shared or not stores:
        return
    normal = sides.normal
    if sides.target.is_flat:  # elements have slots of their own
        stores = [replace(each, target=each.source) for each in stores if each.source is not None]
    slot = tuple(f"p.{number}" for number in range(len(stores[0].target)))
    found = [resolved(values) for values in guesses(normal, stores[0], slot, (inf, 1.0))]
    for variable, span in zip(stores[0].here.variables, shared, strict=False):
        value = _told(variable, found, slot)
        for store in stores:
            places: dict[str, Term] = dict(zip(slot, store.target, strict=True))
            for goal in _held(variable, substitute(value, places)):
                yield Need(ABOUT, store.here.facts, normal.form(goal))
        if isinstance(variable, Sliding):
            yield _known(variable.step, span)


def _told(variable: Variable, found: Sequence[dict[str, Term]], slot: tuple[str, ...]) -> Term:
    """What a place says of a variable: a guess."""
    for values in found:
        value = values[variable.name]
        spoken = set(names(value))
        if spoken & {*slot} and not any(name.startswith("v.") for name in spoken):
            return value
    raise Meaningless("two pieces may write the same slot")


def _held(variable: Variable, value: Term) -> Iterator[Term]:
    if isinstance(variable, Sliding):
        yield ("<=", variable.name, value)
        yield ("<", value, ("+", variable.name, variable.step))
    else:
        yield ("=", variable.name, value)


def _known(step: int, span: int) -> Need:
    """The piece of a loop in steps follows from any index that is within the step of a turn.

    Turns are multiples of the step from ``span*piece`` on, below the next piece, or to the end in
    the last one; what would pass the end is moved back.
    """
    words = ("piece", "number", "turn", "index", "extent")
    piece, number, turn, index, extent = (f"v.{word}" for word in words)
    last: Term = ("-", ("div", ("+", extent, span - step), span), 1)
    begun: Term = ("*", step, number)
    facts: tuple[Term, ...] = (
        ("and", ("<=", 0, piece), ("<=", piece, last)),
        ("<=", step, extent),
        ("and", ("<=", ("*", span, piece), begun), ("<", begun, extent)),
        ("or", ("=", piece, last), ("<", begun, ("*", span, ("+", piece, 1)))),
        ("=", turn, ("min", begun, ("-", extent, step))),
        ("and", ("<=", turn, index), ("<", index, ("+", turn, step))),
    )
    return Need(ABOUT, facts, ("=", piece, ("min", ("div", index, span), last)))
