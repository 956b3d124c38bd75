"""Records packed from files of fields, and unpacked into an archive, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from layoutdsl.code.compiling import compile as compiled
from layoutdsl.code.modules import CompileTarget, expect_target
from layoutdsl.code.proved import check_undecided
from layoutdsl.commands.files import MEM, limits_of, watchers_of
from layoutdsl.commands.record_sides import File, archive_of, opened_fields, values_of
from layoutdsl.files.ownership import overwrites
from layoutdsl.language.meaning.arguments import FLAG, FUNCTION, PATH, expect
from layoutdsl.language.meaning.bands import rows_along
from layoutdsl.language.meaning.record import RECORD, Record

if TYPE_CHECKING:
    from layoutdsl.files.pieces.amount import Amount
    from layoutdsl.files.pieces.files import Stored
    from layoutdsl.files.pieces.moves import Moving
    from layoutdsl.files.pieces.records import Fields
    from layoutdsl.files.pieces.runs import Given, Limits, Made, Watchers
    from layoutdsl.files.pieces.sums import Sum
    from layoutdsl.language.meaning.model import Shape

Told: TypeAlias = Callable[["Amount"], None] | None
Words: TypeAlias = Callable[[str], None] | None


@dataclass(frozen=True, slots=True)
class RecordDone:
    """What was done: the shape of each field, that of the buffer, and pieces, and those found."""

    fields: Mapping[str, tuple[int, ...]]
    buffer: tuple[int, ...]
    pieces: int
    found: int


@overwrites
def pack_record_file(
    record: Record,
    source: File | Mapping[str, File],
    destination: File,
    *,
    shape: Shape | None = None,
    raw: object = None,
    mem: int = MEM,
    jobs: int = 1,
    target: CompileTarget = "auto",
    unproved: bool = False,
    progress: Told = None,
    tell: Words = None,
    force: bool = False,
) -> RecordDone:
    """Pack the fields of a record of any size from files into a file, in pieces of bounded memory.

    A piece is a run of rows; that rows lie in the buffer as they would alone is proved first.
    Planes, as of NV12, are cut each by itself. The
    result is what packing at once gives, and appears as `pack_file` says.

    Args:
        record: without open parameters.
        source: an `.npz` archive whose members are stored as they are, or a `.npy` file for each
            field, by its name.
        destination: becomes a `.npy` file of bytes.
        shape: of the record; worked out from the fields if left out.
        raw: whatever is not `None`, or false: the destination has no header.
        mem: bytes that all pieces under way may take; what the program itself takes is not in it.
        jobs: pieces at a time, 1 to 256; the memory is shared between them.
        target: what moves: ``auto``, ``native`` or ``numpy``.
        unproved: also move by an undecided record; no bit may then be held twice at this shape,
            which is checked before anything is written.
        progress: is told how many pieces and bytes of how many are done, as an `Amount`.
        tell: is told in words what becomes of an earlier run.
        force: whether to replace a file that layoutdsl did not write.

    Raises:
        TooLittleError, UnreadableError, OccupiedError, RefusedError, ValueError, TypeError,
            OSError: as for `pack_file`.
    """
    from layoutdsl.files.npy import header
    from layoutdsl.files.pieces.between import BYTE
    from layoutdsl.files.pieces.files import Stored
    from layoutdsl.files.pieces.records import PackingRows

    expect(record=(record, RECORD), destination=(destination, PATH), force=(force, FLAG))
    limits, watchers, module = _ready(record, target, unproved, mem, jobs, progress, tell)
    place = Path(destination)
    with opened_fields(record, source) as (given, stored):
        for each in given:
            _refuse(each, place)
        values = values_of(record, module, stored, shape)
        check_undecided(record, values)
        box = tuple(module.physical_shape(values))
        head = b"" if raw else header(BYTE, box)
        size = record.size_bits_at(values) // 8

        def moving(fields: Fields, first: int, handle: int, sum_up: Sum) -> Moving:
            bytes_ = (fields.record.size_bits_at(values) // 8,)
            into = Stored(place, handle, len(head) + first, BYTE, bytes_)
            return PackingRows(fields, into, sum_up)

        sides = _Sides(record, module, target, values, stored)
        output = {"given": given, "target": place, "size": len(head) + size, "fixed": ((0, head),)}
        made = _make("pack record", sides, moving, output, limits, watchers)
    return RecordDone({n: s.shape for n, s in stored.items()}, box, made.pieces, made.found)


@overwrites
def unpack_record_file(
    record: Record,
    source: File,
    destination: File,
    shape: Shape,
    *,
    raw: object = None,
    mem: int = MEM,
    jobs: int = 1,
    target: CompileTarget = "auto",
    unproved: bool = False,
    progress: Told = None,
    tell: Words = None,
    force: bool = False,
) -> RecordDone:
    """Unpack the bytes of a record of any size into an `.npz` archive, in pieces of bounded memory.

    It goes about it as `pack_record_file` does, takes what that takes and raises what that raises.

    Args:
        record: without open parameters.
        source: a `.npy` file of bytes; or bytes without a header, where `raw` is given.
        destination: becomes an archive with an array for each field.
        shape: of the record.
        raw: likewise.
        mem, jobs, target, unproved, progress, tell, force: as for `pack_record_file`.
    """
    from layoutdsl.files.npy import UnreadableError
    from layoutdsl.files.pieces.between import BYTE
    from layoutdsl.files.pieces.files import Stored, stored_npy, stored_raw
    from layoutdsl.files.pieces.records import UnpackingRows
    from layoutdsl.files.pieces.tensors import opened_input

    expect(record=(record, RECORD), source=(source, PATH), destination=(destination, PATH))
    expect(force=(force, FLAG))
    limits, watchers, module = _ready(record, target, unproved, mem, jobs, progress, tell)
    place, values = Path(destination), record.bind(shape)
    check_undecided(record, values)
    size = record.size_bits_at(values) // 8
    box = tuple(module.physical_shape(values))
    arranged, types = archive_of(record, values)
    with opened_input(Path(source)) as given:
        _refuse(given, place)
        if raw:
            held = stored_raw(given.place, given.handle, BYTE, (size,))
        else:
            held = stored_npy(given.place, given.handle)
        if held.dtype != BYTE or held.shape not in (box, (size,)):
            raise UnreadableError(f"holds {held.dtype} {held.shape}, not {size} bytes")
        stored = {
            field.name: Stored(place, -1, start, types[field.name], field.shape(values))
            for field, start in zip(record.fields, arranged.starts, strict=True)
        }

        def moving(fields: Fields, first: int, handle: int, sum_up: Sum) -> Moving:
            into = {name: replace(each, handle=handle) for name, each in fields.stored.items()}
            bytes_ = (fields.record.size_bits_at(values) // 8,)
            plane = replace(held.flat(), data=held.data + first, shape=bytes_)
            return UnpackingRows(replace(fields, stored=into), plane, sum_up)

        sides = _Sides(record, module, target, values, stored)
        output = {"given": (given,), "target": place, "size": arranged.size}
        output |= {"fixed": arranged.fixed, "ending": lambda all_: arranged.finish(all_.read)}
        made = _make("unpack record", sides, moving, output, limits, watchers)
    return RecordDone({n: s.shape for n, s in stored.items()}, box, made.pieces, made.found)


def _ready(
    record: Record,
    target: CompileTarget,
    unproved: bool,
    mem: int,
    jobs: int,
    progress: Told,
    tell: Words,
) -> tuple[Limits, Watchers, Any]:
    """Return what a run may use, its callbacks, and the code."""
    expect(progress=(progress, FUNCTION.or_none()), tell=(tell, FUNCTION.or_none()))
    expect_target("target", target)
    module = compiled(record, target, unproved=unproved)
    return limits_of(mem, jobs), watchers_of(progress, tell, None), module


def _by_rows(record: Record) -> bool:
    return rows_along(record) is not None


def _refuse(given: Given, place: Path) -> None:
    from layoutdsl.files.pieces.tensors import refuse_outputs

    refuse_outputs(given, place)


def _along(record: Record, values: Mapping[str, int]) -> str:
    """The extent along which pieces are rows, whether there are several or one."""
    from layoutdsl.files.pieces.rows import cut_rows

    return cut_rows(record, values, 1 << 62, lambda *_: 0).extent


@dataclass(frozen=True, slots=True)
class _Sides:
    """A record and its code, its shape, and its fields in files."""

    record: Record
    module: Any
    target: CompileTarget
    values: Mapping[str, int]
    stored: Mapping[str, Stored]

    @property
    def planes(self) -> list[tuple[Fields, int]]:
        """The fields of each plane, and the byte where it begins."""
        from layoutdsl.files.pieces.planes import planes_of
        from layoutdsl.files.pieces.records import Fields

        found = []
        for plane in planes_of(self.record, self.values):
            one = plane.record
            module = self.module if one is self.record else self._plane(one)
            stored = {each.name: self.stored[each.name] for each in one.fields}
            along = _along(one, self.values)
            fields = Fields(one, module, _by_rows(one), self.values, along, stored)
            found.append((fields, plane.first))
        return found

    def _plane(self, record: Record) -> Any:
        # The record as a whole is proved, or was checked at its shape.
        return compiled(record, self.target, unproved=True)


def _make(
    verb: str,
    sides: _Sides,
    moving: Callable[[Fields, int, int, Sum], Moving],
    output: Mapping[str, Any],
    limits: Limits,
    watchers: Watchers,
) -> Made:
    """Move all rows; `output` says what is read and made, as `Asked` has it."""
    from layoutdsl.files.pieces.cutting import cut_to
    from layoutdsl.files.pieces.queue import Part
    from layoutdsl.files.pieces.rows import Rows, cut_rows
    from layoutdsl.files.pieces.runs import Asked, run_asked
    from layoutdsl.language.texts.values import exact

    record, values = sides.record, sides.values

    def again(units: tuple[int, ...]) -> Rows:
        raise ValueError(f"records are cut anew, and not by {units}")

    def part(fields: Fields, first: int) -> Part:
        def cut(room: int) -> Rows:
            return cut_rows(fields.record, values, room, fields.cost)

        return Part(record.name, cut, lambda *to: moving(fields, first, *to), again)

    parts = [part(*each) for each in sides.planes]
    queue, room = cut_to(parts, limits, watchers.tell)
    types = [each.dtype.str for each in sides.stored.values()]
    told = f"{exact(record)} {sorted(values.items())} {types}"
    work = {"verb": verb, "layout": sha256(told.encode()).hexdigest(), "shape": dict(values)}
    return run_asked(Asked(queue, room, work=work, **output), limits, watchers)
