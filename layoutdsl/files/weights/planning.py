"""A plan of weights drawn up, and its work opened: by whom it is done is known to neither."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from layoutdsl.files.ownership import overwriting
from layoutdsl.files.pieces import shared
from layoutdsl.files.pieces.cutting import cut_among
from layoutdsl.files.pieces.files import Divided, named
from layoutdsl.files.pieces.plan import PlanError, Verb
from layoutdsl.files.pieces.planning import begin
from layoutdsl.files.pieces.runs import Limits
from layoutdsl.files.pieces.shards import REPLAN, Work, refuse_other
from layoutdsl.files.pieces.sources import source_of
from layoutdsl.files.places import widest_mode
from layoutdsl.files.weights.chosen import Unruled
from layoutdsl.files.weights.faults import reading
from layoutdsl.files.weights.forms import form_named
from layoutdsl.files.weights.making import Ended, Making, lay_out, parts_of
from layoutdsl.files.weights.opened import Weights, opened_weights
from layoutdsl.files.weights.packing import Place
from layoutdsl.files.weights.plan import WeightsPlan

MakingOf: TypeAlias = Callable[[Weights, Place], Making]
"""From a file of weights, open, and what is made of it, to how; raises where it cannot be."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be planned.

    Attributes:
        verb: what is done.
        rules: as the language writes them.
        unruled: what becomes of a tensor without a rule.
        making: how.
        limits: what a run may use.
        shards: so many shares, at least, are to have pieces, if there are as many.
    """

    verb: Verb
    rules: str
    unruled: Unruled
    making: MakingOf
    limits: Limits
    shards: int


def draw_up(task: Task, source: Place, target: Place) -> tuple[WeightsPlan, int]:
    """Return a plan, and how many pieces it has; its output lies there in full size.

    Raises:
        UnfitError: rules, tensors or files do not fit; with all that does not.
        TooLittleError: the memory is too small for a piece.
        OccupiedError: something is in the way of the output, or it is the source.
        OSError: a file cannot be read or written; its name is in it.
    """
    with opened_weights(source.path, source.form) as weights, reading(source.path):
        making = task.making(weights, Place(target.path.absolute(), target.form))
        weights.contents.look()  # once, for all shares: each reads a part of it only
        pieces = cut_among(parts_of(making), task.limits, task.shards)
        laid = lay_out(making, pieces)
        sources = tuple(map(source_of, weights.given))
        widest = widest_mode(each.handle for each in weights.given)
        with named(laid.data), overwriting(laid.replaces_ours):
            place, made = begin(laid.data, b"", laid.arranged.size, widest)
        plan = WeightsPlan(
            verb=task.verb,
            sources=sources,
            target=str(place),
            size=laid.arranged.size,
            mode=made.mode,
            inode=made.inode,
            token=secrets.token_hex(16),
            rules=task.rules,
            unruled=task.unruled,
            forms=(source.form.name, target.form.name),
            place=str(making.target),
            cuts=tuple(each.units for each in pieces.cuts),
            made=laid.digest,
        )
        (plan.part / shared.NEW).rename(plan.part / plan.digest)
        return plan, pieces.count


@contextmanager
def opening_of(plan: WeightsPlan, making_of: MakingOf) -> Iterator[Work]:
    """Open the work of a plan.

    Raises:
        PlanError: a file has changed, or something else comes of it than was planned.
        UnfitError: a file is not what it was, or what is said of it.
        OSError: a file cannot be read; its name is in it.
    """
    source, (read, written) = Path(plan.sources[0].path), map(form_named, plan.forms)
    with opened_weights(source, read) as weights, reading(source):
        refuse_other(plan, weights.given)
        making = making_of(weights, Place(Path(plan.place), written))
        with overwriting(True):  # whoever drew the plan up has asked
            laid = lay_out(making, plan.cut(parts_of(making)))
        if laid.digest != plan.made or laid.arranged.size != plan.size:
            words = f"means something else than it did: other tensors come of `{source}`"
            raise PlanError(words, REPLAN)
        sizes = tuple(each.size for each in making.moves)
        yield Work(laid.queue(Divided), sizes, weights.given, Ended(laid))
