"""Whether a packed file is what it says, and what it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from math import prod
from pathlib import Path

from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.pieces.amount import Amount
from layoutdsl.files.pieces.runs import Given, Limits
from layoutdsl.files.weights.bounds import exactly
from layoutdsl.files.weights.checks import Check, by_originals, by_sums
from layoutdsl.files.weights.compared import Difference, Fault, Placed, Unlike
from layoutdsl.files.weights.explained import Explained, Known, explained
from layoutdsl.files.weights.faults import reading
from layoutdsl.files.weights.form import Wanted
from layoutdsl.files.weights.held import Elaborate, account_of
from layoutdsl.files.weights.opened import Weights, opened_weights
from layoutdsl.files.weights.packing import Place
from layoutdsl.files.weights.said import About

BATCH = 8
"""Pieces for each job that are handed out at once."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What was looked at, and the first fault that was found.

    Attributes:
        tensors: of the file.
        packed: those that are not kept.
        elements: that were compared with what they were; 0 where nothing was given to compare.
        fault: nothing where all is as it has to be.
        explained: by which layout the tensor with the fault lies, where one is found.
        checked: whether the header and the account of the file have a checksum; files of layoutdsl
            0.1.0 have none.
        shard: the file with the fault, if an index was verified.
    """

    tensors: int
    packed: int
    elements: int
    fault: Fault | None
    explained: Explained | None = None
    checked: bool = True
    shard: Path | None = None

    def __bool__(self) -> bool:
        """Return whether there is no fault: ``assert verify_weights(...)`` fails at one."""
        return self.fault is None


def verify_weights(
    packed: Place,
    against: Place | None,
    elaborate: Elaborate,
    limits: Limits,
    progress: Callable[[Amount], None],
    known: Known = (),
) -> Verified:
    """Look at every byte of the tensors of a packed file, at its header and at its account.

    With what it was made from, the slot of every element holds its bits, by the formula of its
    layout, padding holds the fill, and what was kept is the same. Without it every byte has the
    checksum that was written with it, and padding holds the fill.

    Args:
        packed: a file that `pack_weights` made.
        against: what it was made from.
        elaborate: what layouts mean.
        limits: memory and jobs.
        progress: is told how far it has come.
        known: layouts that may explain what lies where an element is wrong.

    Raises:
        UnfitError: a file is not what it has to be, or has changed meanwhile.
        TooLittleError: the memory is too small.
        OSError: a file cannot be read; its name is in it.
    """
    with ExitStack() as open_:
        open_.enter_context(reading(packed.path))
        made = open_.enter_context(opened_weights(packed.path, packed.form))
        about, held = account_of(made, elaborate)
        entries, given = made.contents.entries, list(made.given)
        count = sum(each.is_packed for each in about.tensors.values())
        if against is None:
            told = by_sums(entries, about, held, limits)
        else:
            was = open_.enter_context(opened_weights(against.path, against.form))
            given += was.given
            with reading(against.path):
                was.contents.look()
            told = by_originals(entries, was.contents.entries, about, held, limits)
        checks = [each for each in told if isinstance(each, Check)]
        unlike = next((each for each in told if isinstance(each, Unlike)), None)
        fault = unlike or _first(checks, limits.jobs, progress)
        if fault is None:  # a fault of a tensor says more than the checksum of an archive
            made.contents.look()
            if about.check is not None:
                _refuse_other_frame(made)
        own = ((each.name, each) for each in held.layouts.values())
        why = _explained(fault, checks, chain(own, known))
        _refuse_changed(given)
    compared = 0 if against is None else _elements(about)
    return Verified(len(entries), count, compared, fault, why, about.check is not None)


def _refuse_other_frame(made: Weights) -> None:
    """Fail where bytes that are of no tensor are not those that `pack_weights` writes around them.

    They decide nothing that the checksum of header and account does not cover, as the dates of an
    archive; but a byte that has changed is a file that has changed.
    """
    contents, handle = made.contents, made.given[0].handle
    wanted = [
        Wanted(each.name, each.type, each.native, each.shape, each.head.size, each)
        for each in contents.entries
    ]
    words = "has changed since it was packed, in bytes that are of no tensor"
    changed = UnreadableError(f"{words}; restore it from a copy, or pack it again")
    try:
        arranged = made.form.arrange(contents, wanted, contents.said or "")
    except ValueError:
        raise changed from None
    if arranged.data:  # a model of ONNX, which may be edited around its initialisers
        return
    sums = () if arranged.finish is None else arranged.finish(partial(exactly, handle))
    for start, data in arranged.fixed:
        if exactly(handle, start, len(data)) != _patched(start, data, sums):
            raise changed


def _patched(start: int, data: bytes, sums: Sequence[tuple[int, bytes]]) -> bytes:
    """Bytes with what is written over them when all tensors are in."""
    found = bytearray(data)
    for place, more in sums:
        if start <= place < start + len(data):
            found[place - start : place - start + len(more)] = more
    return bytes(found)


def _explained(fault: Fault | None, checks: list[Check], known: Known) -> Explained | None:
    """By which layout the tensor lies in which an element is wrong."""
    if not isinstance(fault, Difference) or fault.what != "element":
        return None
    looks = (each.look for each in checks if each.name == fault.name)
    placed = next((each for each in looks if isinstance(each, Placed)), None)
    return None if placed is None else explained(placed, fault, known)


def _refuse_changed(given: list[Given]) -> None:
    for each in given:
        with reading(each.place):
            each.refuse_changed()


def _elements(about: About) -> int:
    """How many elements of packed tensors there are."""
    shapes = [each.shape for each in about.tensors.values() if each.layout is not None]
    fields = [each.fields.sources for each in about.tensors.values() if each.fields is not None]
    return sum(map(prod, [*shapes, *(source.field_shape for some in fields for source in some)]))


def _first(checks: list[Check], jobs: int, progress: Callable[[Amount], None]) -> Fault | None:
    """The first fault, in the order of the file."""
    total, done = sum(each.size for each in checks), 0
    with ThreadPoolExecutor(jobs) as pool:
        for number, check in enumerate(checks, start=1):
            numbers: Iterator[int] = iter(range(check.cut.count))
            while some := list(islice(numbers, BATCH * jobs)):
                progress(Amount(check.name, number, len(checks), done, total))
                pieces = [check.cut.piece(each) for each in some]
                for fault in pool.map(check.look.differs, pieces):
                    if fault is not None:
                        return fault
                done += check.size * len(some) // check.cut.count
    progress(Amount("", len(checks), len(checks), total, total))
    return None
