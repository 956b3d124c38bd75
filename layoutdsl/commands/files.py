"""Files packed and unpacked in pieces of bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from layoutdsl.code.modules import CompileTarget, expect_target, is_proved, plain_module, unchecked
from layoutdsl.code.proved import check_shape
from layoutdsl.files.ownership import overwrites
from layoutdsl.language.elaborate.shelf import find_layout
from layoutdsl.language.meaning.arguments import (
    FLAG,
    FUNCTION,
    INTEGER,
    NUMBER,
    NUMBERS,
    PATH,
    TEXT,
    TYPE,
    expect,
    integers,
)
from layoutdsl.language.meaning.model import Layout

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from layoutdsl.files.pieces.amount import Amount
    from layoutdsl.files.pieces.between import Between
    from layoutdsl.files.pieces.moves import Code, Look, Number
    from layoutdsl.files.pieces.runs import Limits, Watchers
    from layoutdsl.files.pieces.tensors import Done
    from layoutdsl.language.meaning.storage import StorageName

MEM = 256 << 20
"""Bytes that all pieces under way may take, where nobody says otherwise."""

MOST_JOBS = 256
EXTENTS = "an extent for each axis, in order"


@overwrites
def pack_file(
    layout: Layout | str,
    source: str | PathLike[str],
    destination: str | PathLike[str],
    *,
    fill: float | None = None,
    mem: int = MEM,
    jobs: int = 1,
    target: CompileTarget = "auto",
    unproved: bool = False,
    storage: StorageName = "items",
    scale: object = None,
    zero_point: object = None,
    raw: DTypeLike | None = None,
    shape: tuple[int, ...] | None = None,
    progress: Callable[[Amount], None] | None = None,
    tell: Callable[[str], None] | None = None,
    look: Look | None = None,
    force: bool = False,
) -> Done:
    """Pack a tensor of any size from a file into a file, in pieces of bounded memory.

    The result is what `compile(layout).pack` makes of the whole; where elements are codes of real
    numbers, the source holds these where a scale is given, else codes. It is built up in
    ``DESTINATION.part``, with a journal beside it, and takes its place in one step; a run that was
    interrupted goes on where it was, if neither layout nor input has changed.

    Args:
        layout: without open parameters, or the name of one of the library: ``NCHWc<8>``.
        source: a `.npy` file.
        destination: becomes a `.npy` file.
        fill: the number in padding; that of the layout if left out.
        mem: bytes that all pieces under way may take; what the program itself takes is not in it.
        jobs: pieces at a time, 1 to 256; the memory is shared between them.
        target: what moves: ``auto``, ``native`` or ``numpy``.
        unproved: also move by an undecided layout; bounds and distinct slots are then checked at
            the shape of the tensor, before anything is written.
        storage: how the buffer is stored, as `compile` takes it.
        scale: of real numbers that have codes for elements, as `pack` of such a layout takes it.
        zero_point: likewise.
        raw: the type of the items of files without a header; both files are such then.
        shape: of the tensor in a file without a header.
        progress: is told how many pieces and bytes of how many are done, as an `Amount`.
        tell: is told in words what becomes of an earlier run.
        look: is shown every tensor before it is packed, and may raise.
        force: whether to replace a file that layoutdsl did not write.

    Raises:
        TooLittleError: the memory is too small for a piece.
        UnreadableError: the source is no such tensor, or has changed meanwhile.
        OccupiedError: another run is in the way, or the source, or a file that layoutdsl did not
            write, without `force`.
        RefusedError: the layout is refuted.
        UnprovedError: the layout is undecided.
        CompilerError: ``native`` was asked for, and nothing can be compiled.
        ValueError, TypeError: something else does not fit.
        OSError: a file cannot be read or written; it says which.
    """
    import numpy as np

    from layoutdsl.commands.between import about_of, between_of, refuse_raw, scaled_of
    from layoutdsl.files.pieces import tensors
    from layoutdsl.files.pieces.every_copy import copies_last, with_copies

    layout = find_layout(layout)
    expect(source=(source, PATH), destination=(destination, PATH))
    expect(force=(force, FLAG))
    expect(fill=(fill, NUMBER.or_none()), raw=(raw, TYPE.or_none()))
    expect(progress=(progress, FUNCTION.or_none()), tell=(tell, FUNCTION.or_none()))
    expect(look=(look, FUNCTION.or_none()), storage=(storage, TEXT))
    expect(scale=(scale, NUMBERS.or_none()), zero_point=(zero_point, NUMBERS.or_none()))
    expect(unproved=(unproved, FLAG))
    expect_target("target", target)
    if shape is not None:
        shape = integers(shape, "shape", EXTENTS)
    if (raw is None) != (shape is None):
        raise ValueError("a file without a header needs both `raw` and `shape`")
    header = None
    if raw is not None and shape is not None:
        header = tensors.Raw(np.dtype(raw), shape)
    refuse_raw(raw, storage, scale, zero_point)
    every, asked = copies_last(layout), scaled_of(layout, scale, zero_point, "f4")
    code = code_of(every, target, unproved)
    once = between_of(code, every, storage, asked, fill, layout)

    def between(extents: tuple[int, ...]) -> tuple[Between, Number | None]:
        side, value = once(extents)
        return with_copies(layout, side), value

    return tensors.pack_file(
        code,
        Path(source),
        Path(destination),
        limits_of(mem, jobs),
        watchers_of(progress, tell, look),
        layout=layout,
        between=between,
        raw=header,
        about=about_of(layout, fill, storage, asked),
    )


@overwrites
def unpack_file(
    layout: Layout | str,
    source: str | PathLike[str],
    destination: str | PathLike[str],
    shape: tuple[int, ...],
    *,
    mem: int = MEM,
    jobs: int = 1,
    target: CompileTarget = "auto",
    unproved: bool = False,
    storage: StorageName = "items",
    scale: object = None,
    zero_point: object = None,
    dtype: DTypeLike = "float32",
    raw: DTypeLike | None = None,
    progress: Callable[[Amount], None] | None = None,
    tell: Callable[[str], None] | None = None,
    look: Look | None = None,
    force: bool = False,
) -> Done:
    """Unpack a buffer of any size from a file into a file, in pieces of bounded memory.

    It goes about it as `pack_file` does, and raises what that raises. Of copies the first are read.

    Args:
        layout: without open parameters, or the name of one of the library: ``NCHWc<8>``.
        source: a `.npy` file with the buffer.
        destination: becomes a `.npy` file with the tensor.
        shape: the extents of the tensor, in axis order.
        mem: bytes that all pieces under way may take; what the program itself takes is not in it.
        jobs: pieces at a time, 1 to 256; the memory is shared between them.
        target: what moves: ``auto``, ``native`` or ``numpy``.
        unproved: also move by an undecided layout; bounds and distinct slots are then checked at
            the shape of the tensor, before anything is written.
        storage: how the buffer is stored, as `compile` takes it.
        scale: of real numbers that have codes for elements, as `unpack` of such a layout takes it.
        zero_point: likewise.
        dtype: of these numbers.
        raw: the type of the items of files without a header; both files are such then.
        progress: is told how many pieces and bytes of how many are done, as an `Amount`.
        tell: is told in words what becomes of an earlier run.
        look: is shown every tensor that was unpacked, and may raise.
        force: whether to replace a file that layoutdsl did not write.
    """
    import numpy as np

    from layoutdsl.commands.between import about_of, between_of, refuse_raw, scaled_of
    from layoutdsl.files.pieces import tensors

    layout = find_layout(layout)
    expect(source=(source, PATH), destination=(destination, PATH))
    expect(force=(force, FLAG))
    expect(raw=(raw, TYPE.or_none()), look=(look, FUNCTION.or_none()))
    expect(progress=(progress, FUNCTION.or_none()), tell=(tell, FUNCTION.or_none()))
    expect(storage=(storage, TEXT), dtype=(dtype, TYPE))
    expect(scale=(scale, NUMBERS.or_none()), zero_point=(zero_point, NUMBERS.or_none()))
    expect(unproved=(unproved, FLAG))
    expect_target("target", target)
    shape = integers(shape, "shape", EXTENTS)
    refuse_raw(raw, storage, scale, zero_point)
    layout = layout.first_copy
    code = code_of(layout, target, unproved)
    asked = scaled_of(layout, scale, zero_point, dtype)
    return tensors.unpack_file(
        code,
        Path(source),
        Path(destination),
        shape,
        limits_of(mem, jobs),
        watchers_of(progress, tell, look),
        between=between_of(code, layout, storage, asked, None),
        raw=None if raw is None else np.dtype(raw),
        about=about_of(layout, None, storage, asked),
    )


def code_of(layout: Layout, target: CompileTarget, unproved: bool = False) -> Code:
    """Return a layout with the code that packs it.

    Raises:
        RefusedError: the layout is refuted.
        UnprovedError: the layout is undecided, and `unproved` is false.
    """
    from layoutdsl.code.native import WIDTHS
    from layoutdsl.files.pieces.moves import Code

    layout = layout.of_codes
    module, plain = unchecked(layout, target, True, unproved), plain_module(layout, True, unproved)
    beside = 8 * OFFSETS if plain.computes_offsets else 0

    def scratch(width: int) -> int:
        """What numpy needs for each element, besides its tensor and its buffer."""
        native = module is not plain and width in WIDTHS
        return 0 if native else beside or width

    # Pieces are moved by the code of the whole, so the whole shape is checked once, before them.
    return Code(layout, module, scratch, None if is_proved(plain) else partial(check_shape, layout))


OFFSETS = 5
"""Numbers of 64 bits that numpy holds for an element where it works out offsets one by one."""


def limits_of(mem: int, jobs: int) -> Limits:
    """Return what a run may use.

    Raises:
        ValueError, TypeError: it is no amount of memory, or no number of jobs.
    """
    from layoutdsl.files.pieces.runs import Limits

    expect(mem=(mem, INTEGER), jobs=(jobs, INTEGER))
    if mem < 1:
        raise ValueError(f"`mem` is {mem}, not a number of bytes")
    if not 1 <= jobs <= MOST_JOBS:
        raise ValueError(f"`jobs` is {jobs}, not 1 to {MOST_JOBS}")
    return Limits(mem, jobs)


def watchers_of(
    progress: Callable[[Amount], None] | None,
    tell: Callable[[str], None] | None,
    look: Look | None,
) -> Watchers:
    """Return who is told; nobody where none was given."""
    from layoutdsl.files.pieces.runs import Watchers

    def nothing(*_: object) -> None:
        """Take note of nothing."""

    return Watchers(progress or nothing, tell or nothing, look or nothing)
