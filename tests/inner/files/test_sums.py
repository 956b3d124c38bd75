"""Checksums of pieces, against plain integers; and that no change goes unnoticed.

Journals of every version that was released hold these sums, so their exact values are tested.
"""

from __future__ import annotations

from hashlib import blake2b, shake_256
from random import Random

import numpy as np
import pytest

from layoutdsl.files.pieces.sums import WORDS, summing

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
