"""Sharded checkpoints: a list of safetensors files with one index and one rules file.

All shards are checked before anything is written. Then each is made whole as `SHARD.part`, as a
single file is. Once all are whole, they are put in their places, and the index follows as the last
file. So a run that was killed resumes every shard, and no index ever lists a shard that is missing
or unfinished.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from stat import S_ISDIR
from typing import TypeVar

from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.ownership import overwriting
from layoutdsl.files.pieces.amount import Amount
from layoutdsl.files.pieces.files import named
from layoutdsl.files.pieces.output import beside
from layoutdsl.files.pieces.runs import KEPT, Given, Limits, Watchers
from layoutdsl.files.pieces.tensors import refuse_outputs
from layoutdsl.files.places import followed, refuse_input, replaceable, status, widest_mode
from layoutdsl.files.weights.bounds import shown
from layoutdsl.files.weights.chosen import Chosen, Unruled, chosen
from layoutdsl.files.weights.compared import Unlike
from layoutdsl.files.weights.explained import Known
from layoutdsl.files.weights.faults import Problem, UnfitError, reading
from layoutdsl.files.weights.form import Form
from layoutdsl.files.weights.groups import Grouped
from layoutdsl.files.weights.held import Elaborate
from layoutdsl.files.weights.index import (
    Index,
    Shard,
    given_of,
    opened_shards,
    read_index,
    refuse_changed,
)
from layoutdsl.files.weights.looking import Inspected, inspect_opened
from layoutdsl.files.weights.making import Complete, Laid, Making, complete_laid, lay_out_pieces
from layoutdsl.files.weights.moved import Codes
from layoutdsl.files.weights.packing import Done, Place, making_chosen, refuse_unpackable
from layoutdsl.files.weights.unpacking import making_unpacked
from layoutdsl.files.weights.verifying import Verified, verify_weights
from layoutdsl.files.whole import write_whole
from layoutdsl.language.meaning.group import Group
from layoutdsl.language.meaning.rule import Rule

T = TypeVar("T")
R = TypeVar("R")

MakingOf = Callable[[Shard, Place], Making]
"""From a shard and the file that it becomes, to how it is made."""


def pack_checkpoint(
    source: Path,
    folder: Path,
    rules: Sequence[Rule | Group],
    unruled: Unruled,
    codes: Codes,
    limits: Limits,
    watchers: Watchers,
) -> Done:
    """Pack every shard of an index by the same rules, into a folder.

    A rule has to match a tensor of some shard, and the tensors of a group lie in one shard.

    Raises:
        UnfitError, TooLittleError, OccupiedError, OSError: as for `pack_weights`.
    """
    index = read_index(source)
    with opened_shards(index) as shards:
        refuse_unpackable([each.weights for each in shards], source, rules)
        entries = [entry for each in shards for entry in each.weights.contents.entries]
        tensors = dict[str, list[Chosen | Grouped]]()
        for each in chosen(entries, rules, unruled, index.homes):
            first = each.entries[0] if isinstance(each, Grouped) else each.entry
            tensors.setdefault(index.homes[first.name], []).append(each)

        def packed(shard: Shard, place: Place) -> Making:
            return making_chosen(shard.weights, place, tuple(tensors.get(shard.name, ())), codes)

        return _make(index, shards, packed, folder, limits, watchers)


def unpack_checkpoint(
    source: Path,
    folder: Path,
    elaborate: Elaborate,
    codes: Codes,
    limits: Limits,
    watchers: Watchers,
) -> Done:
    """Unpack every shard of a packed index into a folder, by the accounts of the shards.

    Raises:
        UnfitError, TooLittleError, OccupiedError, OSError: as for `unpack_weights`.
    """
    index = read_index(source)
    with opened_shards(index) as shards:

        def unpacked(shard: Shard, place: Place) -> Making:
            tell = _telling(shard.name, watchers).tell
            with reading(shard.weights.place):
                return making_unpacked(shard.weights, place, elaborate, codes, tell)

        return _make(index, shards, unpacked, folder, limits, watchers)


def verify_checkpoint(
    packed: Path,
    against: Path | None,
    elaborate: Elaborate,
    limits: Limits,
    progress: Callable[[Amount], None],
    known: Known = (),
) -> Verified:
    """Verify every shard of a packed index, with or without the index that it was made from.

    Raises:
        UnfitError, TooLittleError, OSError: as for `verify_weights`.
    """
    index = read_index(packed)
    other = None if against is None else read_index(against)
    with opened_shards(index) as shards:
        form, given = shards[0].weights.form, given_of(shards)
        entries = [each.weights.contents.entries for each in shards]
        sizes = [sum(e.stored.end - e.stored.data for e in some) for some in entries]
        _refuse_other_total(index, sum(sizes))
        if other is not None:
            with opened_shards(other) as originals:
                given += given_of(originals)
    among = Among(tuple(sizes), tuple(map(len, entries)))
    found = Verified(0, 0, 0, None)
    for number, name in enumerate(index.shards):
        each = _verified(
            index, other, name, form, elaborate, limits, among.of(number, progress), known
        )
        found = Verified(
            found.tensors + each.tensors,
            found.packed + each.packed,
            found.elements + each.elements,
            each.fault,
            each.explained,
            found.checked and each.checked,
            None if each.fault is None else index.path.with_name(name),
        )
        if each.fault is not None:
            return found
    refuse_changed(given)
    gone = [] if other is None else sorted(set(other.shards) - set(index.shards))
    if gone and other is not None:
        fault = Unlike(other.firsts[gone[0]], f"is missing, with the shard {shown(gone[0])}")
        return replace(found, fault=fault)
    return found


def _verified(
    index: Index,
    other: Index | None,
    name: str,
    form: Form,
    elaborate: Elaborate,
    limits: Limits,
    progress: Callable[[Amount], None],
    known: Known,
) -> Verified:
    """Verify one shard with the original of the same name."""
    was = None if other is None else Place(other.path.with_name(name), form)
    if other is not None and name not in other.shards:
        words = f"lies in {shown(name)}, which is no shard of `{other.path}`"
        return Verified(0, 0, 0, Unlike(index.firsts[name], words))
    place = Place(index.path.with_name(name), form)
    return verify_weights(place, was, elaborate, limits, progress, known)


def _refuse_other_total(index: Index, size: int) -> None:
    """Fail if `total_size` is not what packing wrote; the index has no checksum of its own."""
    if index.total_size not in (None, size):
        words = f"says a `total_size` of {index.total_size}, and its tensors have {size} bytes"
        with reading(index.path):
            raise UnreadableError(f"{words}; restore it from a copy, or pack it again")


def inspect_checkpoint(source: Path, elaborate: Elaborate) -> Inspected:
    """Return what the shards of an index hold, in the order of their names.

    Raises:
        UnfitError, OSError: as for `inspect_weights`.
    """
    with opened_shards(read_index(source)) as shards:
        found = _collected(lambda each: inspect_opened(each.weights, elaborate), shards)
        pairs = zip(shards, found, strict=True)
        tensors = tuple(replace(t, shard=shard.name) for shard, each in pairs for t in each.tensors)
        layouts = tuple(dict.fromkeys(text for each in found for text in each.layouts))
        return Inspected(found[0].form, all(each.packed for each in found), layouts, tensors)


def _collected(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Do the same with every shard, and report the problems of all together.

    Raises:
        UnfitError: with all problems.
    """
    found, problems = list[R](), list[Problem]()
    for each in items:
        try:
            found.append(work(each))
        except UnfitError as unfit:
            problems += unfit.problems
    if problems:
        raise UnfitError(problems)
    return found


def _make(
    index: Index,
    shards: Sequence[Shard],
    making_of: MakingOf,
    folder: Path,
    limits: Limits,
    watchers: Watchers,
) -> Done:
    """Make all shards, and the index last."""
    _refuse_folder(folder)

    def place(shard: Shard) -> Place:
        return Place(folder / shard.name, shard.weights.form)

    makings = _collected(lambda each: making_of(each, place(each)), shards)
    text = _index_text(index, makings)

    def lay_out(making: Making) -> tuple[Laid, int]:
        return lay_out_pieces(making, limits, _telling(making.target.name, watchers))

    laid = _collected(lay_out, makings)
    given, new = given_of(shards), folder / index.path.name
    _refuse_sources([each for each, _ in laid], given)
    refuse_input(new, index.path, "input")
    with named(new), overwriting(_is_packed(new)):
        replaceable(new)
    sizes = tuple(sum(move.size for move in each.moves) for each in makings)
    among = Among(sizes, tuple(len(each.moves) for each in makings))
    done = list[Complete]()
    with _made_folder(folder):
        try:
            for number, shard in enumerate(shards):
                telling = _telling(shard.name, watchers)
                watching = replace(telling, progress=among.of(number, watchers.progress))
                done.append(complete_laid(*laid[number], limits, watching, waits=True))
                shard.open.close()  # else many shards are too many open files
            refuse_changed(given)
            _publish(done, new, text, widest_mode([index.path]))
        except BaseException as failure:
            if not isinstance(failure, KEPT):  # the work itself is wrong; no run can go on with it
                for each in done:
                    each.output.discard()
            raise
        finally:
            for each in done:
                each.output.close()
    moved, count = sum(each.moved for each in makings), sum(len(each.moves) for each in makings)
    pieces, found = zip(*((each.made.pieces, each.made.found) for each in done), strict=True)
    return Done(moved, count - moved, sum(pieces), sum(found))


def _publish(done: Sequence[Complete], index: Path, text: str, widest: int) -> None:
    """Put every shard in its place, and then the index.

    An old index goes first, because it would list new shards with old tensors.
    """
    with named(index):
        with overwriting(_is_packed(index)):
            place, old = replaceable(index)
        if old is not None:
            widest &= widest_mode([index])
            place.unlink()
        for each in done:
            each.publish()
        write_whole(index, text, widest)


def _index_text(index: Index, makings: Sequence[Making]) -> str:
    """Return the index of what is made.

    Raises:
        UnfitError: two shards make a tensor of the same name.
    """
    homes, problems = dict[str, str](), list[Problem]()
    for making in makings:
        for move in making.moves:
            name, shard = move.wanted.name, making.target.name
            if homes.setdefault(name, shard) != shard:
                words = f"{shown(name)} comes out of both {shown(homes[name])} and {shown(shard)}"
                problems.append(Problem("file", words, "pack the checkpoint again"))
    if problems:
        raise UnfitError(problems)
    size = sum(move.size for making in makings for move in making.moves)
    return index.text(homes, size)


def _refuse_folder(folder: Path) -> None:
    """Fail if shards cannot be written into a folder of this name.

    Raises:
        UnfitError: a file has the name, or the name is that of a file.
        OSError: it cannot be told.
    """
    with named(folder):
        found = status(folder)
    file = found is None and folder.suffix.lower() in (".safetensors", ".json")
    if file or (found is not None and not S_ISDIR(found.st_mode)):
        words = f"`{folder}` is the name of a file, and shards are written into a folder"
        raise UnfitError((Problem("rule", words, "name a folder: `-o packed/`"),))


def _refuse_sources(laid: Sequence[Laid], given: Sequence[Given]) -> None:
    """Fail if an output would take the place of any shard that is read, by a link for example.

    Raises:
        OccupiedError: names both.
    """
    stats = ((os.fstat(each.handle), each) for each in given)
    inodes = {(found.st_dev, found.st_ino): each for found, each in stats}
    for each in laid:
        for place in (each.data, *beside(followed(each.data))):
            found = status(place)
            source = None if found is None else inodes.get((found.st_dev, found.st_ino))
            if source is not None:
                refuse_outputs(source, each.data)


def _is_packed(index: Path) -> bool:
    """Whether an index is one of ours: each of its shards is there, and has an account."""
    try:
        with opened_shards(read_index(index)) as shards:
            return all(each.weights.contents.said is not None for each in shards)
    except (ValueError, OSError):
        return False


@contextmanager
def _made_folder(folder: Path) -> Iterator[None]:
    """Create the folder if it is missing, and remove it again if the work left nothing in it."""
    with named(folder):
        made = status(folder) is None
        if made:
            folder.mkdir()
    try:
        yield
    except BaseException:
        if made:
            with suppress(OSError):  # it holds what the next run goes on with
                folder.rmdir()
        raise


def _telling(name: str, watchers: Watchers) -> Watchers:
    """Put the name of a shard before all that is told of it."""
    return replace(watchers, tell=lambda words: watchers.tell(f"{name}: {words}"))


@dataclass(frozen=True, slots=True)
class Among:
    """The amounts of each shard, as a part of all shards.

    Attributes:
        sizes: the bytes of each shard.
        counts: the tensors of each.
    """

    sizes: tuple[int, ...]
    counts: tuple[int, ...]

    def of(self, shard: int, told: Callable[[Amount], None]) -> Callable[[Amount], None]:
        """Return who takes amounts of a shard, and tells amounts of all."""
        before, tensors = sum(self.sizes[:shard]), sum(self.counts[:shard])
        size, count = self.sizes[shard], self.counts[shard]

        def tell(amount: Amount) -> None:
            # Amounts of a shard count bytes as its work does: verifying looks at some twice.
            total = max(amount.total_bytes, 1)
            done, found = size * amount.done_bytes // total, size * amount.found_bytes // total
            number = ceil(count * amount.number / max(amount.count, 1))
            whole = (sum(self.counts), before + done, sum(self.sizes), found)
            told(Amount(amount.name, tensors + max(number, 1), *whole))

        return tell
