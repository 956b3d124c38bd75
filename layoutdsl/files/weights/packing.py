"""Weights packed by rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from layoutdsl.files.pieces.queue import Queue
from layoutdsl.files.pieces.runs import Filled, Limits, Watchers
from layoutdsl.files.weights.bounds import shown
from layoutdsl.files.weights.chosen import Chosen, Unruled, chosen
from layoutdsl.files.weights.faults import Problem, UnfitError, reading
from layoutdsl.files.weights.form import Form
from layoutdsl.files.weights.gathering import gathering
from layoutdsl.files.weights.groups import Grouped
from layoutdsl.files.weights.making import Making, make, stretches, written_sums
from layoutdsl.files.weights.moved import Codes, Move, as_it_is, kept, packed
from layoutdsl.files.weights.opened import Weights, opened_weights
from layoutdsl.files.weights.said import NOTHING, About, Fields, Said, Source, Words, key_of
from layoutdsl.language.declaration import declaration, record_declaration
from layoutdsl.language.meaning.group import Group
from layoutdsl.language.meaning.rule import Rule


@dataclass(frozen=True, slots=True)
class Place:
    """A file that is named, and its format."""

    path: Path
    form: Form


@dataclass(frozen=True, slots=True)
class Done:
    """What was done: how many tensors were moved and kept, in how many pieces, how many found."""

    moved: int
    kept: int
    pieces: int
    found: int


def pack_weights(
    source: Place,
    target: Place,
    rules: Sequence[Rule | Group],
    unruled: Unruled,
    codes: Codes,
    limits: Limits,
    watchers: Watchers,
) -> Done:
    """Pack the tensors of a file by rules.

    Args:
        source: what is read.
        target: is written whole or not at all.
        rules: the first that fits a name holds.
        unruled: what becomes of a tensor without a rule.
        codes: what runs.
        limits: memory and jobs.
        watchers: who is told.

    Raises:
        UnfitError: rules, tensors or files do not fit; with all that does not.
        TooLittleError: the memory is too small.
        OccupiedError: the output is in use, is not ours, or is the source.
        OSError: a file cannot be read or written; its name is in it.
    """
    with opened_weights(source.path, source.form) as weights:
        making = making_packed(weights, target, rules, unruled, codes)
        with reading(source.path):
            weights.contents.look()
        made = make(making, limits, watchers)
    return Done(making.moved, len(making.moves) - making.moved, made.pieces, made.found)


def making_packed(
    weights: Weights, target: Place, rules: Sequence[Rule | Group], unruled: Unruled, codes: Codes
) -> Making:
    """Return what is made where tensors are packed by rules.

    Raises:
        UnfitError: rules and tensors do not fit; with all that does not.
    """
    refuse_unpackable((weights,), weights.place, rules)
    return making_chosen(weights, target, chosen(weights.contents.entries, rules, unruled), codes)


def making_chosen(
    weights: Weights, target: Place, tensors: tuple[Chosen | Grouped, ...], codes: Codes
) -> Making:
    """Return what is made where it is chosen what becomes of each tensor.

    Raises:
        UnfitError: a record cannot be written in the order of bytes of the file.
    """
    form = weights.contents.form
    _refuse_most_first(weights, target, tensors)
    moves = tuple(_move(each, form, target.form.name, codes) for each in tensors)
    told = _Telling(form, tensors, moves, _order(weights, tensors))
    moved = sum(isinstance(each, Grouped) or each.layout is not None for each in tensors)
    return Making(weights, target.path, target.form, moves, told.about, "pack weights", moved)


def refuse_unpackable(
    files: Sequence[Weights], source: Path, rules: Sequence[Rule | Group]
) -> None:
    """Fail if there are no rules, or a file is packed already: its account would be lost.

    Args:
        files: the file, or all shards.
        source: what the user named: the file, or the index of the shards.
        rules: by which they are to be packed.

    Raises:
        UnfitError: with all problems.
    """
    if not rules:
        remedy = 'write one, such as `tensor "**.weight"(n, k) = [k/64, n, k%64]`'
        raise UnfitError((Problem("rule", "`rules` has no rule for tensors", remedy),))
    problems = [
        Problem(
            "file",
            f"`{each.place}` is packed already",
            f"`layoutdsl unpack {source} -o OUT` first",
        )
        for each in files
        if each.contents.said is not None
    ]
    if problems:
        raise UnfitError(problems)


def _refuse_most_first(
    weights: Weights, target: Place, tensors: Sequence[Chosen | Grouped]
) -> None:
    """A record has its numbers least significant byte first, whatever the file has."""
    same = target.form.name == weights.contents.form
    found = [each for each in tensors if isinstance(each, Grouped)]
    if weights.contents.order == ">" and same and found:
        record = found[0].group.record.name
        words = f"cannot become `{record}`, whose numbers have their least significant byte first"
        message = f"{shown(found[0].name)} {words}: `{target.path}` would have the most first"
        remedy = "write a .safetensors, or turn the file with gguf-convert-endian before"
        raise UnfitError((Problem("tensor", message, remedy),))


def _move(tensor: Chosen | Grouped, form: str, target: str, codes: Codes) -> Move:
    if isinstance(tensor, Grouped):
        return gathering(tensor, target, codes)
    if tensor.layout is not None:
        return packed(tensor, codes)
    return as_it_is(tensor.entry) if form == target else kept(tensor.entry, codes)


@dataclass(frozen=True, slots=True)
class _Telling:
    """What a packed file says of its tensors."""

    form: str
    tensors: tuple[Chosen | Grouped, ...]
    moves: tuple[Move, ...]
    order: tuple[int, ...]

    def about(self, queue: Queue, filled: Filled | None) -> About:
        """Return the account, with the checksums of tensors where all is moved."""
        layouts: dict[str, str] = {}
        tensors: dict[str, Said] = {}
        for number, (each, move) in enumerate(zip(self.tensors, self.moves, strict=True)):
            sizes = stretches(move, queue, number)
            sums = (NOTHING,) * len(sizes) if filled is None else written_sums(filled, number)
            pairs = tuple(zip(sizes, sums, strict=True))
            tensors[each.name] = _said(each, pairs, layouts)
        token = NOTHING if filled is None else filled.token
        return About(token, self.form, layouts, tensors, self.order)


def _order(weights: Weights, tensors: Sequence[Chosen | Grouped]) -> tuple[int, ...]:
    """For each tensor that unpacking makes, its position in the original; nothing where sorted."""
    positions = {each.name: number for number, each in enumerate(weights.contents.entries)}
    found = [
        positions[entry.name]
        for each in tensors
        for entry in (each.entries if isinstance(each, Grouped) else (each.entry,))
    ]
    return () if found == sorted(found) else tuple(found)


def _said(
    each: Chosen | Grouped, pairs: tuple[tuple[int, str], ...], layouts: dict[str, str]
) -> Said:
    if isinstance(each, Grouped):
        key = _noted(record_declaration(each.group.record), layouts)
        return Said(pairs, fields=Fields(key, tuple(_sources(each, layouts))))
    entry = each.entry
    if each.layout is None or entry.type is None:
        return Said(pairs, type=entry.type or "", native=entry.native)
    key = _noted(declaration(each.layout), layouts)
    if each.stored is None:
        return Said(pairs, key, each.shape, entry.type, entry.native)
    words = Words(each.stored.word, _noted(declaration(each.stored.layout), layouts))
    return Said(pairs, key, each.shape, entry.type, entry.native, words, entry.shape)


def _sources(made: Grouped, layouts: dict[str, str]) -> Iterator[Source]:
    for entry, stored, shape in zip(made.entries, made.group.stored, made.shapes, strict=True):
        plain = Source(entry.name, entry.shape, entry.type or "", entry.native)
        if stored is None:
            yield plain
        else:
            words = Words(stored.word, _noted(declaration(stored.layout), layouts))
            yield replace(plain, words=words, elements=shape)


def _noted(text: str, layouts: dict[str, str]) -> str:
    key = key_of(text)
    layouts[key] = text
    return key
