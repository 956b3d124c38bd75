"""Files of weights packed by rules, unpacked, verified and looked into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, cast

from layoutdsl.code.compiling import compile as compiled
from layoutdsl.code.modules import CompileTarget, expect_target
from layoutdsl.code.proved import check_undecided
from layoutdsl.commands.files import MEM, code_of, limits_of, watchers_of
from layoutdsl.files.ownership import overwrites
from layoutdsl.language.elaborate.shelf import library, library_names, parse
from layoutdsl.language.meaning.arguments import FLAG, FUNCTION, PATH, TEXT, Kind, expect
from layoutdsl.language.meaning.group import Group
from layoutdsl.language.meaning.model import Layout, Shape
from layoutdsl.language.meaning.module import Module
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.rule import Rule
from layoutdsl.language.meaning.storage import StorageName
from layoutdsl.language.texts.source import LayoutError

if TYPE_CHECKING:
    from layoutdsl.files.pieces.amount import Amount
    from layoutdsl.files.pieces.between import Between
    from layoutdsl.files.pieces.moves import Code, Packs
    from layoutdsl.files.weights.chosen import Unruled
    from layoutdsl.files.weights.looking import Inspected
    from layoutdsl.files.weights.packing import Done, Place
    from layoutdsl.files.weights.verifying import Verified

File = str | PathLike[str]


def _are_rules(value: object) -> bool:
    if isinstance(value, tuple | list):
        return all(isinstance(each, Rule | Group) for each in value)
    return isinstance(value, Module)


RULES = Kind("a module, or rules of one", _are_rules)


@overwrites
def pack_weights(
    source: File,
    destination: File,
    rules: Module | Sequence[Rule | Group],
    *,
    mem: int = MEM,
    jobs: int = 1,
    unruled: Unruled = "keep",
    form: str | None = None,
    target: CompileTarget = "auto",
    unproved: bool = False,
    progress: Callable[[Amount], None] | None = None,
    tell: Callable[[str], None] | None = None,
    force: bool = False,
) -> Done:
    """Pack the tensors of a file of weights by rules, in pieces of bounded memory.

    The result says of itself how it was packed, so that `unpack_weights` needs no rules. It is
    built up in ``DESTINATION.part``, with a journal beside it, and takes its place in one step; a
    run that was interrupted goes on where it was.

    An index, such as ``model.safetensors.index.json``, stands for all shards that it lists: each
    is packed under its own name into the folder ``destination``, and the index follows last. A
    rule has to match a tensor of some shard; the tensors of a group lie in one shard.

    Args:
        source: a file of weights, or the index of a sharded checkpoint.
        destination: becomes one; of an index, a folder.
        rules: how tensors are packed, by their names; the first that fits holds.
        mem: bytes that all pieces under way may take; what the program itself takes is not in it.
        jobs: pieces at a time, 1 to 256; the memory is shared between them.
        unruled: whether a tensor without a rule is kept or refused: ``keep`` or ``refuse``.
        form: the format of both files; otherwise each has that which the end of its name says.
        target: what moves: ``auto``, ``native`` or ``numpy``.
        unproved: also pack by undecided layouts; bounds and distinct slots are then checked at the
            shape of each tensor, before anything is written.
        progress: is told how many tensors and bytes of how many are done, as an `Amount`.
        tell: is told in words what becomes of an earlier run.
        force: whether to replace a file that layoutdsl did not write.

    Raises:
        UnfitError: rules, tensors or files do not fit; with all that does not.
        TooLittleError: the memory is too small for a piece.
        OccupiedError: another run is in the way, or the source, or a file that layoutdsl did not
            write, without `force`.
        RefusedError: a layout is refuted.
        UnprovedError: a layout is undecided.
        UnvalidatedError: it was not shown that the code of a layout does what it means.
        CompilerError: ``native`` was asked for, and nothing can be compiled.
        ValueError, TypeError: an argument does not fit.
        OSError: a file cannot be read or written; it says which.
    """
    from layoutdsl.files.weights import packing

    expect(source=(source, PATH), destination=(destination, PATH), rules=(rules, RULES))
    expect(progress=(progress, FUNCTION.or_none()), tell=(tell, FUNCTION.or_none()))
    expect(unruled=(unruled, TEXT), form=(form, TEXT.or_none()), unproved=(unproved, FLAG))
    expect(force=(force, FLAG))
    expect_target("target", target)
    if unruled not in ("keep", "refuse"):
        raise ValueError(f"`unruled` is `{unruled}`, not `keep` or `refuse`")
    if isinstance(rules, Module) and not rules.rules:
        rule = 'tensor "**.weight"(n, k) = [k/64, n, k%64]'
        raise ValueError(f"`rules` has no rule for tensors; write one, such as `{rule}`")
    given = rules.rules if isinstance(rules, Module) else tuple(rules)
    codes, limits = Codes(target, unproved), limits_of(mem, jobs)
    watchers = watchers_of(progress, tell, None)
    if is_index(source, form):
        from layoutdsl.files.weights.checkpoint import pack_checkpoint

        folder = Path(destination)
        return pack_checkpoint(Path(source), folder, given, unruled, codes, limits, watchers)
    from_, to = place_of(source, form), place_of(destination, form)
    return packing.pack_weights(from_, to, given, unruled, codes, limits, watchers)


@overwrites
def unpack_weights(
    source: File,
    destination: File,
    *,
    mem: int = MEM,
    jobs: int = 1,
    form: str | None = None,
    target: CompileTarget = "auto",
    unproved: bool = False,
    progress: Callable[[Amount], None] | None = None,
    tell: Callable[[str], None] | None = None,
    force: bool = False,
) -> Done:
    """Unpack the tensors of a file that `pack_weights` made, by what the file says of itself.

    The shards of a packed index are unpacked into the folder ``destination``.

    It goes about it as `pack_weights` does, takes what that takes and raises what that raises.
    """
    from layoutdsl.files.weights import unpacking

    expect(source=(source, PATH), destination=(destination, PATH), form=(form, TEXT.or_none()))
    expect(progress=(progress, FUNCTION.or_none()), tell=(tell, FUNCTION.or_none()))
    expect(unproved=(unproved, FLAG), force=(force, FLAG))
    expect_target("target", target)
    codes, limits = Codes(target, unproved), limits_of(mem, jobs)
    watchers = watchers_of(progress, tell, None)
    if is_index(source, form):
        from layoutdsl.files.weights.checkpoint import unpack_checkpoint

        folder = Path(destination)
        return unpack_checkpoint(Path(source), folder, declared_in, codes, limits, watchers)
    from_, to = place_of(source, form), place_of(destination, form)
    return unpacking.unpack_weights(from_, to, declared_in, codes, limits, watchers)


def verify_weights(
    packed: File,
    against: File | None = None,
    *,
    mem: int = MEM,
    jobs: int = 1,
    form: str | None = None,
    progress: Callable[[Amount], None] | None = None,
) -> Verified:
    """Look at every byte of the tensors of a file that `pack_weights` made.

    With the file that it was made from, the slot of every element holds its bits, by the formula
    of its layout and not by the code that packed; padding holds the fill, and what was kept is the
    same. Without it every byte has the checksum that was written with it, and padding the fill.
    Header and account must have their checksum; `Verified.checked` is false where the file has
    none, as those of layoutdsl 0.1.0. Of an index every shard is verified, against the shard of
    the same name.

    Args:
        packed: the file, or the index of packed shards.
        against: what it was made from; an index if ``packed`` is one.
        mem: bytes that all pieces under way may take.
        jobs: pieces at a time, 1 to 256.
        form: the format of both files; otherwise each has that which the end of its name says.
        progress: is told how far it has come, as an `Amount`.

    Returns:
        How many tensors and elements there are, and the first fault, if any.

    Raises:
        UnfitError: a file is not what it has to be, or has changed meanwhile.
        TooLittleError: the memory is too small.
        ValueError, TypeError: an argument does not fit.
        OSError: a file cannot be read; it says which.
    """
    from layoutdsl.files.weights import verifying

    expect(packed=(packed, PATH), against=(against, PATH.or_none()), form=(form, TEXT.or_none()))
    expect(progress=(progress, FUNCTION.or_none()))
    watchers, limits = watchers_of(progress, None, None), limits_of(mem, jobs)
    known = ((name, library(name)) for name in library_names())
    if is_index(packed, form):
        from layoutdsl.files.weights.checkpoint import verify_checkpoint

        if against is not None and not is_index(against, form):
            raise ValueError(f"`{packed}` is an index, and `{against}` is none; name its index")
        was = None if against is None else Path(against)
        told = watchers.progress
        return verify_checkpoint(Path(packed), was, declared_in, limits, told, known)
    other = None if against is None else place_of(against, form)
    place = place_of(packed, form)
    return verifying.verify_weights(place, other, declared_in, limits, watchers.progress, known)


def inspect_weights(file: File, *, form: str | None = None) -> Inspected:
    """Return what a file of weights holds: names, types, shapes, layouts and padding.

    Args:
        file: packed, or not; or an index, for the tensors of all its shards.
        form: its format; otherwise that which the end of its name says.

    Raises:
        UnfitError: it is no such file, or says what cannot be.
        ValueError, TypeError: an argument does not fit.
        OSError: it cannot be read; it says which.
    """
    from layoutdsl.files.weights import looking

    expect(file=(file, PATH), form=(form, TEXT.or_none()))
    if is_index(file, form):
        from layoutdsl.files.weights.checkpoint import inspect_checkpoint

        return inspect_checkpoint(Path(file), declared_in)
    return looking.inspect_weights(place_of(file, form), declared_in)


def is_index(file: File, form: str | None) -> bool:
    """Return whether a file is the index of a sharded checkpoint, by its name."""
    from layoutdsl.files.weights import index

    return index.is_index(Path(file), form)


def layout_of(text: str) -> Layout:
    """Return the one layout that a text declares.

    Raises:
        ValueError: it declares none, or more, or something else besides.
    """
    found = declared_in(text)
    if isinstance(found, Record):
        raise ValueError("it is not the declaration of one layout")
    return found


def declared_in(text: str) -> Layout | Record:
    """Return the one layout or record that a text declares.

    Raises:
        ValueError: it declares none, or more, or something else besides.
    """
    try:
        module = parse(text)
    except LayoutError as wrong:
        raise ValueError(wrong.diagnostics[0].message) from None
    found: list[Layout | Record] = [*module.layouts.values(), *module.records.values()]
    if len(found) != 1 or module.all_claims or module.tables or module.rules:
        raise ValueError("it is not the declaration of one layout")
    return found[0]


def place_of(file: File, form: str | None) -> Place:
    """Return a file with its format: that of a name, or of the end of its own.

    Raises:
        ValueError: there is no such format, or the end says none.
    """
    from layoutdsl.files.weights.forms import form_named, form_of
    from layoutdsl.files.weights.packing import Place

    place = Path(file)
    return Place(place, form_of(place) if form is None else form_named(form))


class Codes:
    """What runs: each layout is proved when its code is first asked for."""

    def __init__(self, target: CompileTarget, unproved: bool = False) -> None:
        self._target, self._unproved = target, unproved
        self._items: dict[Layout, Code] = {}
        self._records: dict[Record, Packs] = {}

    def items(self, layout: Layout) -> Code:
        """Return code for items."""
        if layout not in self._items:
            self._items[layout] = code_of(layout, self._target, self._unproved)
        return self._items[layout]

    def words(self, layout: Layout, word: StorageName) -> Packs:
        """Return code for words."""
        found = compiled(layout, self._target, storage=word, unproved=self._unproved)
        return cast("Packs", found)

    def bits(self, layout: Layout) -> tuple[Code, Between]:
        """Return code for the bits of elements, and what makes bytes of them."""
        from layoutdsl.commands.between import between_of

        code = self.items(layout)
        return code, between_of(code, layout, "bytes", None, None)(())[0]

    def record(self, record: Record) -> Packs:
        """Return code for the fields of a record."""
        if record not in self._records:
            found = compiled(record, self._target, unproved=self._unproved)
            self._records[record] = cast("Packs", found)
        return self._records[record]

    def check(self, subject: Layout | Record, shape: Shape) -> None:
        """Raise if an undecided layout or record is wrong at the shape of a whole tensor."""
        if self._unproved:
            check_undecided(subject, shape)
