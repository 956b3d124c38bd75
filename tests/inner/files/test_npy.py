"""Every `.npy` file there may be: the array that numpy reads, or a message; never anything else.

The reader of headers meets files of strangers, of any rank and from streams, so thousands of them
are read without a layout that would have to fit each.
"""

from __future__ import annotations

import io
import os
import pickle
import resource
import warnings
from collections import Counter
from pathlib import Path
from random import Random

import npy_files
import numpy as np
import pytest
from cli_shell import Shell, shell

from layoutdsl import UnreadableError
from layoutdsl.files import npy

__all__ = ["shell"]


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def from_file(data: bytes) -> np.ndarray | str:
    Path("in.npy").write_bytes(data)
    with Path("in.npy").open("rb") as file:
        try:
            return npy.mapped(file.fileno(), npy.read_header(file.fileno()))
        except UnreadableError as unfit:
            return str(unfit)


def from_stream(data: bytes) -> np.ndarray | str:
    try:
        return npy.read_stream(io.BytesIO(data))
    except UnreadableError as unfit:
        return str(unfit)


def same(one: np.ndarray, other: np.ndarray) -> bool:
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    if one.dtype.names:  # what lies between fields is nothing
        return all(same(one[name], other[name]) for name in one.dtype.names)
    return one.tobytes() == other.tobytes()


REFUSED = {
    "of no known type": "numpy reads no more than some names that it will not know for ever",
    "which are no plain bytes": "items of no bytes, or with axes of their own",
    "goes on behind its array": "numpy does not look",
    "header is damaged": "numpy takes any literal of Python",
    "no row of numbers": "True is a number to numpy",
    "axes are the most": "numpy 2 has 64",
}
"""What numpy reads and we do not, by a few words of what we say."""


def judged(data: bytes) -> str:
    """Hold a file against numpy; returns what came of it."""
    want, one, other = npy_files.by_numpy(data), from_file(data), from_stream(data)
    if isinstance(one, str) or isinstance(other, str):
        assert isinstance(one, str), f"refused from a stream only: {other}"
        assert isinstance(other, str), f"refused from a file only: {one}"
        assert one.startswith("it "), one
        assert len(one) < 200
        assert one.isprintable()
        assert (one.partition(": ")[0] == other.partition(": ")[0]) or "behind" in one, (one, other)
        if want is None:
            return "refused by both"
        assert any(words in one for words in REFUSED), (
            f"numpy reads {want.dtype} {want.shape}: {one}"
        )
        return "refused by us"
    if want is None and one.dtype == "V1":  # as numpy saves a type of ml_dtypes
        want = npy_files.by_numpy(data.replace(b"'<f1'", b"'|V1'"))
    assert want is not None, f"numpy does not read it: {one.dtype} {one.shape}"
    assert same(one, want)
    assert same(other, want)
    return "read"


def test_files_of_all_kinds() -> None:
    """600 of them: as others would write them, as nobody would, and with some bytes wrong."""
    found: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number, data in enumerate(npy_files.some(0, 600)):
            try:
                found[judged(data)] += 1
            except Exception as fault:
                raise AssertionError(f"file {number}: {data[:300]!r}") from fault
    assert min(found.values()) > 5, found
    assert found["read"] > 100, found


@pytest.mark.campaign
def test_more_files_of_all_kinds() -> None:
    found = Counter(map(judged, npy_files.some(1, 200_000)))
    print(found)


@pytest.mark.parametrize("text", npy_files.TEXTS, ids=lambda text: repr(text[:20]))
@pytest.mark.parametrize("version", [(1, 0), (3, 0)])
def test_headers_that_are_none(text: str, version: tuple[int, int]) -> None:
    found = from_file(npy_files.header(text, version))
    assert isinstance(found, str)
    assert found.startswith("it is no .npy array that can be read: its header ")
    assert not Path("exploded").exists()


def test_no_header_is_longer_than_is_read() -> None:
    sound = b"{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }"
    for version in ((1, 0), (2, 0), (3, 0)):
        spaces = sound + b" " * (10_000 - len(sound))
        assert same(
            from_file(npy_files.header(spaces, version) + b"abc"), np.frombuffer(b"abc", "u1")
        )
        found = from_file(npy_files.header(spaces + b" ", version) + b"abc")
        assert isinstance(found, str)
        assert found.endswith(": its header has 10001 bytes, and 10000 are the most")


class Endless(io.RawIOBase):
    """A stream that never ends, after some bytes."""

    def __init__(self, start: bytes) -> None:
        self._start, self.taken = io.BytesIO(start), 0

    def read(self, size: int = -1) -> bytes:
        assert size >= 0, "all of it"
        self.taken += size
        found = self._start.read(size)
        return found + bytes(size - len(found))


@pytest.mark.parametrize(
    "start",
    [b"", b"\x93NUMPY", *(npy_files.header("", v, 2**32 - 1) for v in ((1, 0), (2, 0), (3, 0)))],
)
def test_no_more_is_taken_of_a_stream_than_there_is_reason_to(start: bytes) -> None:
    stream = Endless(start)
    with pytest.raises(UnreadableError):
        npy.read_stream(stream)  # type: ignore[arg-type]
    assert stream.taken < 20_000


def test_memory_grows_with_what_comes() -> None:
    """A header of a hundred bytes is no reason to take 8 TB."""
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000, 1000, 1000, 1000), }"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for found in (
        from_stream(npy_files.header(text) + bytes(1000)),
        from_file(npy_files.header(text)),
    ):
        assert isinstance(found, str)
        assert "it is cut short" in found
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


def test_what_is_written_is_what_numpy_writes() -> None:
    long = [("x" * 3000, "<i4")]
    for dtype in [
        *npy_files.TYPES[:12],
        *npy_files.TYPES[34:39],
        long,
        [(f"f{n}", "u1") for n in range(5000)],
    ]:
        for shape in ((), (3,), (3, 70), (0, 4), (2, 3, 4)):
            for order in ("C", "F"):
                array = np.zeros(shape, np.lib.format.descr_to_dtype(dtype), order)  # type: ignore[call-overload]
                ours, theirs = io.BytesIO(), io.BytesIO()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    np.lib.format.write_array(theirs, array, allow_pickle=False)
                npy.write(ours, array)
                assert ours.getvalue() == theirs.getvalue()


def test_what_does_not_lie_side_by_side_is_written_as_it_reads() -> None:
    array = np.arange(60).reshape(3, 4, 5)[::2, :, ::-2]
    file = io.BytesIO()
    npy.write(file, array)
    assert np.array_equal(np.load(io.BytesIO(file.getvalue())), array)


ALL_KINDS = "layout Any(n, c, h, w) = [n, c/4, h, w, c%4]"


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(2))
def test_the_shell_reads_them_or_says_why_not(shell: Shell, seed: int) -> None:
    """In memory and in pieces, from a file and from a stream: the same end, and the same output."""
    Path("any.layout").write_text(ALL_KINDS)
    for data in npy_files.some(seed + 10, 30):
        Path("in.npy").write_bytes(data)
        ended = []
        for source, more in (("in.npy", ()), ("-", ()), ("in.npy", ("--mem", "1M"))):
            line = ("pack", "any.layout", source, "out.npy", "--target", "numpy", *more)
            found = shell(*line, stdin=data if source == "-" else b"")
            assert found.code in (0, 2, 4), (data[:200], found)
            assert found.err.count("\n") <= 2, found
            assert found.err.startswith("error: ") or found.err == ""
            ended.append((found.code, Path("out.npy").read_bytes() if found.code == 0 else b""))
            Path("out.npy").unlink(missing_ok=True)
        assert ended[0] == ended[1] == ended[2], data[:200]
        want = npy_files.by_numpy(data)
        if ended[0][0] == 0:
            assert want is not None
            back = np.load(io.BytesIO(ended[0][1]))
            for n, c, h, w in np.ndindex(*want.shape):
                assert back[n, c // 4, h, w, c % 4].tobytes() == want[n, c, h, w].tobytes()
    assert {each.name for each in Path().iterdir()} == {"any.layout", "demo.layout", "in.npy"}


def test_a_file_that_becomes_shorter() -> None:
    np.save("in.npy", np.zeros(1000))
    with Path("in.npy").open("rb") as file:
        found = npy.read_header(file.fileno())
        os.truncate("in.npy", 500)
        with pytest.raises(UnreadableError, match="it was cut short while it was read"):
            npy.mapped(file.fileno(), found)


def test_objects_are_never_unpickled() -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, ("exploded",)

    file = io.BytesIO()
    np.save(file, np.array([Bomb()], dtype=object), allow_pickle=True)
    for data in (file.getvalue(), pickle.dumps(Bomb())):
        for found in (from_file(data), from_stream(data)):
            assert isinstance(found, str)
    assert not Path("exploded").exists()


@pytest.mark.slow
def test_the_generator_draws_what_it_is_asked_for() -> None:
    """The same for the same seed; and each kind of damage, for a reader that is not wary."""
    assert list(npy_files.some(3, 50)) == list(npy_files.some(3, 50))
    raised: Counter[str] = Counter()
    for data in npy_files.some(5, 600):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                np.lib.format.read_array_header_2_0(io.BytesIO(data[8:]))
        except Exception as fault:
            raised[type(fault).__name__] += 1
    assert {"TypeError", "ValueError", "TokenError"} <= set(raised), raised
    assert npy_files.damaged(b"some bytes", Random(1)) != b"some bytes"
