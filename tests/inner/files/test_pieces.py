"""Where layouts are taken apart: seams are proved, wrong ones refuted, pieces cover every slot.

Plans of pieces are trusted once their seams are proved, so wrong seams are given to the prover.
The checksums by which an interrupted run knows its pieces again are held against plain integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b, shake_256
from itertools import product
from math import prod
from pathlib import Path
from random import Random

import numpy as np
import pytest
from small_files import random_tensor
from texts import EVERY, LIBRARY, layout

from layoutdsl import Layout, TooLargeError
from layoutdsl.code.seams import Seam, flat
from layoutdsl.files.pieces import files
from layoutdsl.files.pieces.cut import Pieces, box, cut
from layoutdsl.files.pieces.files import Stored
from layoutdsl.files.pieces.proof import lies_alike, prove_seam, seam_at, unproved
from layoutdsl.files.pieces.refute import MANY, counterexample
from layoutdsl.files.pieces.sums import WORDS, summing
from layoutdsl.proof.prover.verdict import Refuted, Undecided

CLOSED = {name: each for name, each in EVERY.items() if not each.parameters}


def seams(found: Layout) -> Iterator[Seam]:
    """The seams from the outermost coordinate on, as far as there are any."""
    outer = flat(found)
    for number in range(len(outer.coordinates)):
        seam = seam_at(outer, number)
        if isinstance(seam, str):
            return
        yield seam
        if seam.blocks > 1:
            return


def words(found: Layout) -> str:
    return " ".join(
        f"{each.axis}/{each.unit}" + ("" if each.blocks == 1 else f":{each.blocks}")
        for each in seams(found)
    )


# The axes that a layout is taken apart along, outermost first, and the indices between two seams;
# after a colon the blocks, where a unit has more than one.
SEAMS = {
    "NCHW16c": "n/1 c/16 h/1 w/1",
    "OIhw4i16o4i": "o/16 i/16 h/1 w/1",
    "R4Crouton2x2Layout": "b/1 h/8 w/8 d/32",
    "HtpConvWeights": "o/32 i/32 h/1 w/1",
    "MaceChannelMajor": "n/1 h/1 c/4 w/1",
    "MaceConvolutionFilter": "o/4 h/1 w/1 i/1",
    "FractalZFp16": "c/16 h/1 w/1 n/16",
    "XlaTile8x128x2": "y/8 x/128",
    "MarlinWeights": "k/16 n/64",
    "GgufQ4_K": "r/1 k/256",
    "Q4_0x4by4": "r/4 k/32",
    "AiterScales": "m/256:8",
    "TrtHWC8": "n/1 h/1 w/1 c/8:8",
    "Swizzle128": "a/1024:1024",
    "CublasCol4_4R2_8C": "n/32 m/8",
    "HWIO": "h/1 w/1 i/1 o/1",
    "AmxInt8": "",
    "WgmmaD": "",
    "LapackPackedUpper": "",
    "XlaPaddedExample": "",
}


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", SEAMS)
def test_a_layout_has_seams(name: str) -> None:
    assert words(LIBRARY[name]) == SEAMS[name]


REASONS = [
    ("AmxInt8", "axis `k` always has 64"),
    ("LapackPackedUpper", "it holds elements only where i <= j"),
    ("XlaPaddedExample", "`x` has the same extent whatever `X` is"),
    ("FusedThenCut", "`(n, c)/4` speaks of several axes"),
    ("Transposed", "the extent `N` is not of axis `j` alone"),
    ("LateByShape", "more than one extent of the buffer depends on `N`"),
    (
        "Backwards",
        "`C - 1 - c` does not move alone: every 1, -> offset 1, where its piece would put it at 0",
    ),
]


@pytest.mark.parametrize(("name", "reason"), REASONS)
def test_a_reason_is_given_where_there_is_no_seam(name: str, reason: str) -> None:
    outer = flat(CLOSED[name])
    found = [seam_at(outer, number) for number in range(len(outer.coordinates))]
    assert next(each for each in found if isinstance(each, str)).endswith(reason)


@pytest.mark.parametrize("name", [name for name, each in CLOSED.items() if flat(each) != each])
def test_outermost_tuples_lie_as_their_parts(name: str) -> None:
    assert lies_alike(CLOSED[name])


# Seams that are wrong on purpose: a coordinate, an axis, a unit, blocks; and what is said of them.
WRONG = [
    ("[n, c/16, h, w, c%16]", (1, "c", 8, 1), "-> offset 8, where its piece would put it at 16"),
    ("[n, c/16, h, w, c%16]", (1, "c", 8, 0), "the piece from here fills slots from 0, the one"),
    ("[n, c/16, h, w, c%16]", (1, "c", 16, 2), "the piece from here fills slots from 32, the one"),
    ("[n, c/16, h, w, c%16]", (1, "c", 24, 1), "the piece from here fills slots from 16, the one"),
    ("[n, c/16, h, w, c%16]", (4, "c", 1, 1), "the piece from here fills slots from 1, the one"),
    ("[n, h, c, w]", (2, "c", 1, 2), "the piece from here fills slots from 2, the one before it"),
    ("[n, h, c, w] where C >= 2", (2, "c", 1, 1), "a piece of 1 is not in the range: C >= 2"),
    ("[n, c, h, w : roundup(W, 4)]", (3, "w", 1, 1), "the piece from here fills slots from 1, the"),
    ("[n, h/4, (h + c)%8 : 8, w, h%4, c]", (1, "h", 4, 1), "-> offset"),
    ("[n, h, c ^ h%4 : roundup(C, 4), w]", (1, "h", 1, 1), "-> offset"),
]


@pytest.mark.parametrize(("body", "given", "said"), WRONG)
def test_a_wrong_seam_is_refuted(body: str, given: tuple[int, str, int, int], said: str) -> None:
    demo = flat(layout(f"layout Demo(n, c, h, w) = {body}"))
    found = prove_seam(demo, Seam(*given))
    assert isinstance(found, Refuted)
    assert found.example.points[0].words.startswith(said)


@pytest.mark.parametrize(("body", "given", "said"), WRONG)
def test_no_proof_of_a_wrong_seam_is_accepted(
    body: str, given: tuple[int, str, int, int], said: str
) -> None:
    """The proof alone, without the trial in plain integers before it."""
    demo = flat(layout(f"layout Demo(n, c, h, w) = {body}"))
    assert unproved(demo, Seam(*given)) is not None, said


@pytest.mark.slow
def test_what_is_proved_is_no_counterexample() -> None:
    for name in SEAMS:
        for seam in seams(LIBRARY[name]):
            assert counterexample(flat(LIBRARY[name]), seam, MANY // 20) is None, name


def cost(elements: int, slots: int) -> int:
    return elements + slots


def check_covered(found: Layout, whole: Pieces, values: dict[str, int]) -> None:
    """Every element is in one piece, which puts it where the layout does; so is every slot."""
    names = [axis.name for axis in found.axes]
    start, seen, end = found.size(values) - prod(box(flat(found), values)), set(), 0
    for number in range(whole.count):
        piece = whole.piece(number)
        assert piece.first == end
        end += piece.slots
        own = found.bind(piece.extents)
        for index in product(*map(range, piece.extents)):
            moved = tuple(a + b for a, b in zip(index, piece.starts, strict=True))
            assert moved not in seen
            seen.add(moved)
            at = {**own, **dict(zip(names, index, strict=True))}
            inside = found.offset_at(at) - start
            assert 0 <= inside < piece.slots
            at = {**values, **dict(zip(names, moved, strict=True))}
            assert found.offset_at(at) == start + piece.first + inside
    assert len(seen) == prod(found.shape_of(values))
    assert end == found.size(values) - start


# Shapes of a few blocks, most of them ragged.
TAKEN_APART = [
    ("NCHW16c", (2, 35, 3, 5)),
    ("OIhw4i16o4i", (33, 20, 2, 3)),
    ("R4Crouton2x2Layout", (2, 17, 9, 40)),
    ("HtpConvWeights", (2, 1, 50, 40)),
    ("MaceChannelMajor", (2, 3, 5, 9)),
    ("MaceConvolutionFilter", (9, 3, 2, 5)),
    ("FractalZFp16", (20, 40, 2, 3)),
    ("XlaTile8x128x2", (20, 300)),
    ("MarlinWeights", (48, 192)),
    ("GgufQ4_K", (5, 768)),
    ("Q4_0x4by4", (12, 96)),
    ("AiterScales", (700, 9)),
    ("TrtHWC8", (2, 19, 2, 3)),
    ("Swizzle128", (5000,)),
    ("CublasCol4_4R2_8C", (20, 70)),
    ("HWIO", (3, 4, 2, 2)),
    ("Late", (5, 7)),
    ("PaddedTuple", (5, 7)),
    ("Swizzled", (500,)),
]


@pytest.mark.sampled(40)
@pytest.mark.parametrize(("name", "shape"), TAKEN_APART)
@pytest.mark.parametrize("room", [64, 2_000])
def test_pieces_cover_all_and_nothing_twice(name: str, shape: tuple[int, ...], room: int) -> None:
    found = CLOSED[name]
    try:
        whole = cut(found, shape, room, cost)
    except TooLargeError as smallest:
        room = max(room, smallest.needed)
        whole = cut(found, shape, room, cost)
    for number in range(whole.count):
        piece = whole.piece(number)
        assert cost(prod(piece.extents), piece.slots) <= room
    assert whole.count > 1 or room == 2_000
    check_covered(found, whole, found.bind(shape))


def test_pieces_that_overlap_are_noticed() -> None:
    """The check above can fail: it does for a seam that was planted."""
    found = CLOSED["NCHW16c"]
    values = found.bind((1, 40, 3, 5))
    planted = Pieces(found, values, ((Seam(1, "c", 8, 1), 1),))
    with pytest.raises(AssertionError):
        check_covered(found, planted, values)


def test_what_cannot_be_taken_apart_is_one_piece_or_refused() -> None:
    found = CLOSED["LapackPackedUpper"]
    assert cut(found, (9, 9), 1_000, cost).count == 1
    with pytest.raises(TooLargeError) as refused:
        cut(found, (9, 9), 100, cost)
    assert refused.value.needed == 81 + 45
    assert refused.value.reason == "it holds elements only where i <= j"


@pytest.mark.slow
def test_sizes_are_plain_integers() -> None:
    """Arithmetic alone: a tensor of 2**50 elements, and its last piece."""
    found = CLOSED["R4CroutonLayout"]
    whole = cut(found, (2**10, 2**13 + 1, 2**13 + 1, 2**14 + 5), 2**28, cost)
    last = whole.piece(whole.count - 1)
    assert last.first + last.slots == found.size((2**10, 2**13 + 1, 2**13 + 1, 2**14 + 5))
    assert last.extents[0] == 1
    assert whole.count > 2**20


def test_a_seam_is_undecided_where_no_proof_is_found() -> None:
    """Plain integers find no fault in it, and it is not used all the same."""
    demo = layout("layout Demo(n, c) = [n, c, (c ^ c/2) - (c ^ c/2) : 1]")
    found = prove_seam(demo, Seam(1, "c", 1, 1))
    assert isinstance(found, Undecided)
    assert "outside what proofs can say" in found.reason
    assert isinstance(seam_at(demo, 1), str)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("short", [0, 64, 1 << 30])
def test_boxes_in_files(short: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs one by one, through a map, and both, against slices of numpy."""
    monkeypatch.setattr(files, "SHORT", short)
    monkeypatch.setattr(files, "WINDOW", 200)
    draw = Random(2)
    for _ in range(200):
        shape = tuple(draw.randint(1, 9) for _ in range(draw.randint(1, 4)))
        starts = tuple(draw.randrange(extent) for extent in shape)
        extents = tuple(draw.randint(1, e - s) for e, s in zip(shape, starts, strict=True))
        box = tuple(slice(s, s + e) for s, e in zip(starts, extents, strict=True))
        whole = random_tensor(shape, "u2").copy()
        place = tmp_path / "in.bin"
        place.write_bytes(b"head." + whole.tobytes() + b"tail")
        with place.open("r+b") as file:
            stored = Stored(place, file.fileno(), 5, whole.dtype, shape)
            buffer = np.full(extents, 77, "u2")
            stored.read(starts, buffer)
            assert np.array_equal(buffer, whole[box])
            stored.write(starts, ~buffer)
        whole[box] = ~whole[box]
        assert place.read_bytes() == b"head." + whole.tobytes() + b"tail"


# Checksums of pieces. Journals of every version that was released hold these sums, so their exact
# values are tested.

SIZES = [0, 1, 7, 8, 8 * WORDS - 1, 8 * WORDS, 8 * WORDS + 5, 5 * 8 * WORDS, 11 * 8 * WORDS + 1]


def by_hand(data: bytes, token: str) -> str:
    key = shake_256(token.encode()).digest(8 * WORDS)
    keys = [int.from_bytes(key[at : at + 8], "little") for at in range(0, 8 * WORDS, 8)]
    rows = len(data) // (8 * WORDS)
    first: list[int] = []
    second: list[int] = []
    for row in range(rows):
        part = data[row * 8 * WORDS : (row + 1) * 8 * WORDS]
        words = [int.from_bytes(part[at : at + 8], "little") for at in range(0, len(part), 8)]
        first.append(sum(k * w for k, w in zip(keys, words, strict=True)) % 2**64)
        second.append(sum(k * (w >> 32) for k, w in zip(keys, words, strict=True)) % 2**64)
    said = blake2b(len(data).to_bytes(8, "little"), digest_size=16)
    for start in range(0, rows, 4):
        for sums in (first, second):
            for each in sums[start : start + 4]:
                said.update(each.to_bytes(8, "little"))
    said.update(data[rows * 8 * WORDS :])
    return said.hexdigest()


@pytest.mark.parametrize("size", SIZES)
def test_sums_are_those_of_plain_integers(size: int) -> None:
    data = Random(size).randbytes(size)
    assert summing("token")(np.frombuffer(data, np.uint8)) == by_hand(data, "token")


def test_sums_do_not_ask_for_a_type_or_a_shape() -> None:
    data = Random(1).randbytes(4 * 8 * WORDS)
    said = summing("token")
    for dtype in ("u1", "<i2", ">f4", "c16", "V8", "M8[s]", "S4"):
        items = np.frombuffer(data, dtype)
        assert said(items.reshape(16, -1)) == said(np.frombuffer(data, np.uint8))


def test_every_change_is_noticed() -> None:
    """One bit, the top ones of words alone, words exchanged, rows exchanged, a row of zeros."""
    draw, said = Random(2), summing("another")
    whole = np.frombuffer(draw.randbytes(4 * 8 * WORDS + 9), np.uint8)
    seen = {said(whole)}
    count = 1

    def changed(change: object) -> None:
        nonlocal count
        array = whole.copy()
        change(array, array[: 4 * 8 * WORDS].view(np.uint64))  # type: ignore[operator]
        seen.add(said(array))
        count += 1

    def bit(at: int, mask: int) -> None:
        changed(lambda array, _: array.__setitem__(at, array[at] ^ mask))

    def tops(one: int, other: int, mask: int) -> None:
        def change(_: np.ndarray, words: np.ndarray) -> None:
            words[[one, other]] ^= np.uint64(mask)

        changed(change)

    for _ in range(200):
        bit(draw.randrange(whole.size), 1 << draw.randrange(8))
    for mask in (1 << 63, 1 << 31, 1 << 63 | 1 << 31):
        for _ in range(100):
            one, other = draw.sample(range(WORDS), 2)
            tops(one, other, mask)
    rows = slice(0, WORDS), slice(WORDS, 2 * WORDS)
    changed(lambda _, words: words.__setitem__(slice(0, 2), words[1::-1].copy()))
    changed(lambda _, words: words.__setitem__(rows[0], words[rows[1]].copy()))
    changed(lambda _, words: words.__setitem__(rows[0], 0))
    changed(lambda _, words: words.__setitem__(slice(0, WORDS, 2), 0))
    changed(lambda _, words: words.__ixor__(np.uint64(1 << 63)))
    for size in (0, 1, 8 * WORDS, whole.size - 1):
        seen.add(said(whole[:size]))
        count += 1
    assert len(seen) == count
    assert said(np.zeros(8, np.uint8)) != said(np.zeros(16, np.uint8))
    assert summing("one")(whole) != summing("other")(whole)
