"""Readers of weights formats, asked for headers: wrong requests, limits, large and damaged files.

Most of the requests are ones that no command makes, and a file of 9 GiB, or one of thousands that
are damaged, takes too long to pack; so headers are arranged and read without items.
"""

from __future__ import annotations

import sys
import zipfile
from collections import Counter
from pathlib import Path
from random import Random

import pytest
import weight_files as files
from weight_judges import JUDGES

from layoutdsl import UnreadableError
from layoutdsl.files.weights import archive
from layoutdsl.files.weights.form import Form, Wanted
from layoutdsl.files.weights.forms import FORMS
from layoutdsl.files.weights.raw import Raw

SAFETENSORS, GGUF, ONNX, NPZ, NPY, RAW = FORMS

UNFIT: dict[str, tuple[Form, list[Wanted], str]] = {
    "twice": (SAFETENSORS, [files.wanted("a", "u8", (1,))] * 2, "two tensors are called `a`"),
    "name": (SAFETENSORS, [files.wanted("__metadata__", "u8", (1,))], "is no name of a tensor"),
    "blocks": (SAFETENSORS, [Wanted("a", None, None, (32,), 18)], "is of blocks that safetensors"),
    "rank": (SAFETENSORS, [files.wanted("a", "u8", (1,) * 33)], "`a` is of rank 33, and 32 axes"),
    "two": (NPY, [files.wanted(each, "u8", (1,)) for each in "ab"], "npy holds one tensor, and"),
    "none": (RAW, [], "a file of raw holds one tensor, and not 0; write one of npz or"),
    "zero": (NPZ, [files.wanted("a\0", "u8", (1,))], "`a?.npy` is no name of a member"),
    "numpy": (NPZ, [Wanted("a", None, "Q4_0", (32,), 18)], "`a` is of blocks that npz has no"),
    "rows": (GGUF, [Wanted("a", None, "Q4_0", (4, 16), 36)], "`a` has rows of 16, and Q4_0 has bl"),
    "q size": (GGUF, [Wanted("a", None, "Q4_0", (4, 32), 36)], "4 x 32 of 18 bytes for 32 have 72"),
    "nibbles": (ONNX, [Wanted("a", None, "INT4", (3,), 1)], "and its shape and type INT4 say 2"),
    "size": (SAFETENSORS, [Wanted("a", "u8", None, (3,), 4)], "`a` has 4 bytes, and 3 of 8 bits"),
}


@pytest.mark.parametrize("case", UNFIT)
def test_what_a_form_cannot_hold(case: str) -> None:
    form, wanted, words = UNFIT[case]
    with pytest.raises(ValueError) as failed:  # noqa: PT011  each has its words
        form.arrange(None, wanted, "")
    assert words in str(failed.value)
    assert not isinstance(failed.value, UnreadableError)


@pytest.mark.parametrize("form", [SAFETENSORS, GGUF], ids=lambda form: form.name)
def test_a_header_that_no_reader_would_take(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[type(form).__module__], "MOST_HEADER", 100)
    wanted = [files.wanted(f"t{number}", "u8", (1,)) for number in range(10)]
    with pytest.raises(
        ValueError, match=r"^the header would have \d+ bytes, and 100 are the most;"
    ):
        form.arrange(None, wanted, "")


def test_archives_beyond_4_gib(tmp_path: Path) -> None:
    """Places and sizes of more than 32 bits, in a file full of holes."""
    place, sizes = tmp_path / "a.npz", (5 << 30, 10, (4 << 30) - 100, 7)
    wanted = [files.wanted(f"t{n}", "u8", (size,)) for n, size in enumerate(sizes)]
    arranged = NPZ.arrange(None, wanted, files.SAID)
    with place.open("wb") as file:
        file.truncate(arranged.size)
        for start, each in arranged.fixed:
            file.seek(start)
            file.write(each)
    with zipfile.ZipFile(place) as members:
        assert [each.file_size - 128 for each in members.infolist()[:-1]] == list(sizes)
        assert members.infolist()[3].header_offset > 2**33
    with files.opened(NPZ, place) as contents:
        assert contents.said == files.SAID
        assert [each.shape for each in contents.entries] == [(size,) for size in sizes]
        assert [each.stored.data for each in contents.entries] == list(arranged.starts)


def test_long_accounts_and_directories_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "a.npz"
    files.write(place, NPZ.arrange(None, [files.wanted("w", "u8", (3,))], files.SAID), [b"abc"])
    monkeypatch.setattr(archive, "MOST_HEADER", 10)
    found = files.refusal(NPZ, place)
    assert found is not None
    assert "`layoutdsl.json` has more than 10 bytes" in found
    monkeypatch.setattr(archive, "MOST", 100)
    found = files.refusal(NPZ, place)
    assert found is not None
    assert "bytes, and 100 are the most; fetch it again, or write it anew, with fewer" in found


@pytest.mark.parametrize("kind", files.KINDS)
def test_items_alone(tmp_path: Path, kind: str) -> None:
    place, one = tmp_path / "a.raw", files.wanted("array", kind, (2, 3))
    data = Random(1).randbytes(one.size)
    files.write(place, Raw().arrange(None, [one], files.SAID), [data])
    assert place.read_bytes() == data
    assert files.said_of(Raw(), place) == {"array": ("u8", (one.size,), data)}
    assert files.said_of(Raw(kind, (2, 3)), place) == {"array": (kind, (2, 3), data)}
    assert files.refusal(Raw(kind, (2, 4)), place) == (
        f"has {one.size} bytes, and 2 x 4 of {kind} are {one.size // 6 * 8}; "
        "say its type and shape otherwise"
    )
    beside = place.with_name("a.raw.json")
    beside.unlink()
    beside.mkdir()
    found = files.refusal(Raw(), place)
    assert found is not None
    assert "is described by `a.raw.json` beside it, which is no plain file; put the right" in found
    beside.rmdir()
    beside.write_bytes(b"\xff")
    assert files.refusal(Raw(), place) == (
        "is described by `a.raw.json` beside it, which is no UTF-8; put the right one there, "
        "or move it away"
    )


@pytest.mark.campaign
def test_more_damaged_files(tmp_path: Path) -> None:
    """20,000 of each form; one seed of a sound file for each thousand."""
    for seed in range(20):
        for form, judge in JUDGES.items():
            place = tmp_path / f"a{form.suffixes[0]}"
            sound, found = files.written(form, place, seed), Counter[str]()
            for number in range(1000):
                found[judge(place, sound, 1000 * seed + number)] += 1
            print(form.name, found)


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", JUDGES, ids=lambda form: form.name)
def test_damaged_files(tmp_path: Path, form: Form) -> None:
    """600 of each form here, 20,000 in a campaign."""
    place = tmp_path / f"a{form.suffixes[0]}"
    sound = files.written(form, place, 3)
    found = Counter(JUDGES[form](place, sound, number) for number in range(600))
    assert found["refused"] + found["refused by both"] > 200, found
    assert found["read"] > 20, found
    assert found["refused by us"] + found["refused by them"] < 60, found
