"""Files of weights of any form: names, what cannot be held, and files that are damaged."""

from __future__ import annotations

import os
import struct
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import weight_files as files
from processes import ended
from weight_judges import JUDGES

from layoutdsl import UnreadableError
from layoutdsl.files.weights.form import Form, Wanted
from layoutdsl.files.weights.forms import FORMS, form_named, form_of
from layoutdsl.files.weights.protobuf import number as field
from layoutdsl.files.weights.protobuf import run

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


@pytest.mark.parametrize("form", [SAFETENSORS, NPZ, GGUF, ONNX], ids=lambda form: form.name)
def test_types_without_a_word_are_unsigned(tmp_path: Path, form: Form) -> None:
    """What lies in items narrower than theirs, or of no kind: our own words say what it is."""
    wanted = [files.wanted(kind, kind, (2, 3)) for kind in ("u4", "i2", "f4", "f8", "u1")]
    items = [bytes(range(6))] * len(wanted)
    files.write(tmp_path / "a", form.arrange(None, wanted, files.SAID), items)
    assert [each[2] for each in files.said_of(form, tmp_path / "a").values()] == items


def test_which_form_a_name_has() -> None:
    assert [form_named(form.name) for form in FORMS] == list(FORMS)
    assert form_of(Path("a/model.SafeTensors")).name == "safetensors"
    assert form_of(Path("x.npy.npz")).name == "npz"
    with pytest.raises(
        ValueError, match=r"^`a\.dat` does not end in \.safetensors, .*; name its format with"
    ):
        form_of(Path("a.dat"))
    with pytest.raises(
        ValueError, match=r"^`pickle` is no format of weights; the formats are safe"
    ):
        form_named("pickle")


MANY = (SAFETENSORS, GGUF, ONNX, NPZ)


@pytest.mark.parametrize("source", MANY, ids=lambda form: form.name)
@pytest.mark.parametrize("target", MANY, ids=lambda form: form.name)
def test_from_one_form_to_another(tmp_path: Path, source: Form, target: Form) -> None:
    """Every type and shape; numpy does not tell the types of eight bits from each other."""
    wanted, items = files.drawn(7, files.KINDS)
    files.write(tmp_path / "a", source.arrange(None, wanted, files.SAID), items)
    with files.opened(source, tmp_path / "a") as contents:
        files.write(tmp_path / "b", target.arrange(contents, wanted, files.SAID), items)
    with files.opened(target, tmp_path / "b") as found:
        assert found.said == files.SAID
        for each, entry, data in zip(wanted, found.entries, items, strict=True):
            assert (entry.name, entry.shape, files.data(entry)) == (each.name, each.shape, data)
            is_told = target is not NPZ or each.type not in ("f8e4m3", "f8e5m2", "e8")
            assert entry.type == (each.type if is_told else "f8")


def _text(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def _gguf(tensors: int, keys: int, rest: bytes) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, keys) + rest


def _json(data: bytes) -> bytes:
    return _text(b'{"a":{"dtype":' + data + b"}}")


def _named(count: int, rest: bytes) -> bytes:
    return b"".join(_text(b"%d" % number) + rest for number in range(count))


DEAR: dict[str, tuple[Form, Callable[[], bytes]]] = {
    "nodes": (ONNX, lambda: run(7, run(1, b"") * 3_000_001)),
    "texts": (
        GGUF,
        lambda: _gguf(
            0, 1, _text(b"a") + struct.pack("<IIQ", 9, 8, 12_000_000) + bytes(96_000_000)
        ),
    ),
    "numbers": (SAFETENSORS, lambda: _json(b"[" + b"123456789012," * 3_900_000 + b"1]")),
    "tensors": (GGUF, lambda: _gguf(1 << 18, 0, _named(1 << 18, struct.pack("<IQIQ", 1, 0, 0, 0)))),
    "fields": (ONNX, lambda: run(7, field(9, 1) * 3_000_001)),
    "initialisers": (ONNX, lambda: run(7, _initialisers(400_000))),
    "lists": (SAFETENSORS, lambda: _json(b"[" + b"[]," * 1_900_000 + b"[]]")),
    "keys": (GGUF, lambda: _gguf(0, 1 << 18, _named(1 << 18, b"\0\0\0\0\1"))),
    "name": (SAFETENSORS, lambda: _json(b'"' + b"x" * 99_000_000 + b'"')),
}
"""What takes the most that we could think of, of each form; the dearest three first, for CI."""


def _initialisers(count: int) -> bytes:
    return b"".join(
        run(5, field(2, 2) + field(1, 1) + run(8, str(number)) + run(9, "1"))
        for number in range(count)
    )


@pytest.mark.slow
@pytest.mark.sampled(9, slow=2)
@pytest.mark.parametrize("dear", DEAR)
def test_what_a_hostile_header_costs(tmp_path: Path, dear: str) -> None:
    """A hostile header takes a part of a gigabyte, and at most 100 loops of 10 million steps.

    A machine at hand takes up to 29 loops, 17 seconds. Seconds would depend on the machine.
    """
    form, whole = DEAR[dear]
    unmeasured = {key: value for key, value in os.environ.items() if "COVERAGE" not in key}
    place = tmp_path / "a"
    place.write_bytes(whole())
    code = f"""if True:
        import os
        from pathlib import Path
        from time import process_time
        from layoutdsl.files.weights.forms import form_named
        place = Path({str(place)!r})
        start = process_time()
        try:
            form_named({form.name!r}).read(place, os.open(place, os.O_RDONLY))
        except ValueError:
            pass
        read = process_time()
        for _ in range(10**7):
            pass
        loops = (read - start) / (process_time() - read)
        # not `ru_maxrss`, which is never below what the process had that started this one
        most = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
        print(int(most) // 1024, loops)
    """
    done = ended([sys.executable, "-c", code], text=True, env=unmeasured)
    memory, loops = map(float, done.stdout.split())
    assert memory < 450
    assert loops < 100


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
