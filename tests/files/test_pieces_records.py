"""Records in pieces: drawn ones against the definition of every bit, there and back, in memory.

What is drawn has blocks, planes, parts of fields and padding; many are one piece alone.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from cli_shell import Shell, shell
from random_records import elements, meant, right, shapes

import layoutdsl
from layoutdsl import Record, RefusedError, TooLittleError, UnprovedError
from layoutdsl.commands import pack_record_file, unpack_record_file
from layoutdsl.files.pieces.rows import cut_rows

__all__ = ["shell"]

DRAWN = 40
NAMES = (
    *("Q4_0", "Q6_K", "Q4_K_8x8", "Q8_0_4x4", "YUY2"),
    *("NV12", "I420", "SparseLtF16", "OIhw4i16o4iS8s8"),
)
PLANES = [
    "record A(r, k) = { q(r, k) = [r, k/8, k%8] of u4\n d(r) = [r] of f32"
    " offset roundup(R*ceil(K/8)*32, 64)/32 }",
    "record A(r, k: 8) = { q(r, k) = [r, k] of u8\n d(r) = [r] of u16 offset 4*R\n"
    " e(r, k) = [r, k, 0 : 2] of u8 offset 10*R\n f(r, k) = [r, k, 1 : 2] of u8 offset 10*R }",
    "record A(r, k) = { d(k) = [k] of f16\n q(r, k) = [k, r] of u8 offset 2*K }",
    "record A(r) = { d(r) = [r] of u8 offset 5\n e(r) = [r] of u16 offset ceil((R + 5)/2) }",
    "record A(r, k: 4) = { q(r, k) bits 0..3 = [r, k] of u8\n"
    " q(r, k) bits 4..7 = [r, k] offset 4*R }",
]
SHAPES = {"OIhw4i16o4iS8s8": (96, 16, 3, 3), "SparseLtF16": (64, 1024)}


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def there_and_back(record: Record, values: dict[str, int], random: Random) -> int:
    """Pack in as little memory as does, and unpack; return in how many pieces."""
    numbers = np.random.default_rng(random.randrange(2**32))
    fields = {f.name: elements(f.element, f.shape(values), numbers) for f in record.fields}
    np.savez("in.npz", **fields)
    given: Any = "in.npz"
    if random.random() < 0.4:
        for name, each in fields.items():
            np.save(f"field {name}.npy", each)
        given = {name: f"field {name}.npy" for name in fields}
    mem, raw = 1, random.choice((None, "u8"))
    how: dict[str, Any] = {"target": "numpy", "raw": raw, "jobs": random.choice((1, 2))}
    while True:
        try:
            done = pack_record_file(record, given, "out", mem=mem, shape=values, **how)
        except TooLittleError as few:
            mem = few.needed * random.choice((1, 1, 3))
        else:
            break
    made = np.fromfile("out", "u1") if raw else np.load("out").reshape(-1)
    assert made.tobytes() == meant(record, values, fields).tobytes()
    unpack_record_file(record, "out", "back.npz", values, mem=mem, **how)
    with np.load("back.npz") as found:
        for name, each in fields.items():
            assert (found[name].dtype, found[name].shape) == (each.dtype, each.shape)
            assert found[name].tobytes() == each.tobytes()
    return done.pieces


@pytest.mark.slow
@pytest.mark.sampled(15)
@pytest.mark.parametrize("seed", range(DRAWN))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_records_that_are_drawn(seed: int) -> None:
    random = Random(seed)
    record = right(random).record
    if record.parameters:
        return
    for values in shapes(record, random, 4, 4096)[-2:]:
        if values and record.size_bits(values) % 8 == 0:
            try:
                there_and_back(record, values, random)
            except (RefusedError, UnprovedError):
                return


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_records_of_the_library(name: str) -> None:
    record = layoutdsl.library_record(name)
    values = record.bind(SHAPES.get(name, (16, 256)))
    pieces = there_and_back(record, values, Random(name))
    assert pieces > len(record.regions)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(len(PLANES)))
def test_planes_are_cut_each_by_itself(number: int) -> None:
    record = layoutdsl.parse(PLANES[number]).records["A"]
    random, pieces = Random(number), list[int]()
    assert layoutdsl.prove(record).checked[0].status == "proved"
    for values in shapes(record, random, 6, 4096):
        if values and record.size_bits(values) and record.size_bits(values) % 8 == 0:
            there_and_back(record, values, random)
    for _ in range(3):
        low = 300 if len(record.frame.symbols) == 1 else 30
        values = {name: random.randint(low, 2 * low) for name in record.frame.symbols}
        if record.size_bits(values) % 8 == 0:
            pieces.append(there_and_back(record, values, random))
    assert (max(pieces) > len(record.regions)) == (number in (0, 1, 3)), pieces


def test_rows_that_are_not_bytes_go_together() -> None:
    text = "record A(r, k) = {\n    q(r, k) = [r, k] of u4\n}\n"
    record = layoutdsl.parse(text).records["A"]
    rows = cut_rows(record, {"R": 12, "K": 3}, 1, lambda rows, _: rows // 2)
    assert (rows.step, rows.bits, rows.count) == (2, 24, 6)


def test_a_record_in_the_shell(shell: Shell) -> None:
    record, values = layoutdsl.library_record("Q4_0"), {"R": 300, "K": 64}
    numbers = np.random.default_rng(1)
    fields = {f.name: elements(f.element, f.shape(values), numbers) for f in record.fields}
    np.savez("in.npz", **fields)
    assert shell("pack", "Q4_0", "in.npz", "want.bin").code == 0
    said = shell("pack", "Q4_0", "in.npz", "out.bin", "--mem", "9K", "-v", "--progress", "plain")
    assert said.code == 0
    assert "pieces" in said.err
    assert said.err.startswith("pack  Q4_0  0 of ")
    assert Path("out.bin").read_bytes() == Path("want.bin").read_bytes()
    back = shell("unpack", "Q4_0", "out.bin", "b.npz", "--shape", "300,64", "--mem", "9K", "-v")
    assert (back.code, "pieces" in back.err) == (0, True)
    with np.load("b.npz") as found:
        assert all(found[name].tobytes() == each.tobytes() for name, each in fields.items())
    np.savez_compressed("small.npz", **fields)
    for line, code, words in (
        ("pack Q4_0 in.npz o.bin --mem 9", 2, "9 bytes of memory are too little"),
        ("pack Q4_0 - o.bin --mem 9K", 2, "a standard stream cannot be processed in pieces"),
        ("pack Q4_0 small.npz o.bin --mem 9K", 4, "`small.npz` holds"),
        ("pack Q4_0 in.npz in.npz --mem 9K", 4, "`in.npz` is the input itself"),
        ("pack Q4_0 none.npz o.bin --mem 9K", 4, "`none.npz` cannot be read"),
        ("pack Q6_K in.npz o.bin --mem 9K", 4, "`in.npz` holds no `scale`"),
        ("unpack Q4_0 out.bin o.npz --shape 300,32 --mem 9K", 4, "`out.bin` has"),
    ):
        ended = shell(*line.split())
        assert (ended.code, words in ended.err) == (code, True), ended.err
        assert not list(Path().glob("o.*"))


MEASURED = """
import resource
import numpy as np
import layoutdsl
from layoutdsl.commands import pack_record_file, unpack_record_file
record, how = layoutdsl.library_record("Q6_K"), {"target": "numpy"}
pack_record_file(record, "small.npz", "out.npy", **how)
unpack_record_file(record, "out.npy", "b.npz", {"R": 2, "K": 256}, **how)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
pack_record_file(record, "in.npz", "out.npy", mem=16 << 20, **how)
unpack_record_file(record, "out.npy", "b.npz", {"R": 8192, "K": 8192}, mem=16 << 20, **how)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


@pytest.mark.slow
def test_memory_stays_below_what_was_given() -> None:
    record = layoutdsl.library_record("Q6_K")
    for name, rows, extent in (("small.npz", 2, 256), ("in.npz", 8192, 8192)):
        shape = {"R": rows, "K": extent}
        numbers = np.random.default_rng(1)
        fields = {f.name: elements(f.element, f.shape(shape), numbers) for f in record.fields}
        np.savez(name, **fields)
    line = [sys.executable, "-W", "ignore", "-c", MEASURED]
    ended = subprocess.run(line, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) < 20 << 20
