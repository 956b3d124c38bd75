"""Archives of more than 4 GiB, limits of headers, and items alone.

A file of 9 GiB takes too long to pack, so its header is arranged and read without its items.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
import weight_files as files

from layoutdsl.files.weights import archive
from layoutdsl.files.weights.npz import Npz
from layoutdsl.files.weights.raw import Raw

NPZ = Npz()


def test_archives_beyond_4_gib(tmp_path: Path) -> None:
    """Places and sizes of more than 32 bits, in a file full of holes."""
    import zipfile

    place, sizes = tmp_path / "a.npz", (5 << 30, 10, (4 << 30) - 100, 7)
    wanted = [files.wanted(f"t{n}", "u8", (size,)) for n, size in enumerate(sizes)]
    arranged = NPZ.arrange(None, wanted, files.SAID)
    with place.open("wb") as file:
        file.truncate(arranged.size)
        for start, each in arranged.fixed:
            file.seek(start)
            file.write(each)
    with zipfile.ZipFile(place) as archive:
        assert [each.file_size - 128 for each in archive.infolist()[:-1]] == list(sizes)
        assert archive.infolist()[3].header_offset > 2**33
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
