"""Records in pieces: drawn ones against the definition of every bit, there and back, in memory.

What is drawn has blocks, planes, parts of fields and padding; many are one piece alone.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
from cli_shell import Shell, shell
from random_records import elements, meant, right, shapes

import layoutdsl
from layoutdsl import Record

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


def there_and_back(
    shell: Shell, spec: str, record: Record, values: dict[str, int], random: Random
) -> int | None:
    """Pack in as little memory as does, and unpack; return in how many pieces.

    Nothing is returned of a record that is refuted or undecided.
    """
    numbers = np.random.default_rng(random.randrange(2**32))
    fields = {f.name: elements(f.element, f.shape(values), numbers) for f in record.fields}
    np.savez("in.npz", **fields)
    given = ["in.npz", "out"]
    if random.random() < 0.4:
        for name, each in fields.items():
            np.save(f"field {name}.npy", each)
        given = ["out", *(word for name in fields for word in _field(name))]
    raw = random.choice((True, False))
    how = ["--target", "numpy", "--jobs", str(random.choice((1, 2))), "-v", "--force"]
    how += ["--raw", "u8"] if raw else []
    shape = ["--shape", ",".join(f"{name}={value}" for name, value in values.items())]
    mem = 1
    while (done := shell("pack", spec, *given, *how, *shape, "--mem", str(mem))).code == 2:
        (needed,) = re.findall(r"  = help: write --mem (\d+)\n", done.err)
        mem = int(needed) * random.choice((1, 1, 3))
    if done.code in (1, 3):
        return None
    assert done.code == 0, done.err
    made = np.fromfile("out", "u1") if raw else np.load("out").reshape(-1)
    assert made.tobytes() == meant(record, values, fields).tobytes()
    back = shell("unpack", spec, "out", "back.npz", *how, *shape, "--mem", str(mem))
    assert back.code == 0, back.err
    with np.load("back.npz") as found:
        for name, each in fields.items():
            assert (found[name].dtype, found[name].shape) == (each.dtype, each.shape)
            assert found[name].tobytes() == each.tobytes()
    (pieces,) = re.findall(r" in (\d+) pieces?", done.err)
    return int(pieces)


def _field(name: str) -> tuple[str, str]:
    return "--field", f"{name}=field {name}.npy"


@pytest.mark.slow
@pytest.mark.sampled(15)
@pytest.mark.parametrize("seed", range(DRAWN))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_records_that_are_drawn(seed: int, shell: Shell) -> None:
    random = Random(seed)
    drawn = right(random)
    record = drawn.record
    if record.parameters:
        return
    Path("drawn.layout").write_text(drawn.text)
    numbers = ", ".join(str(number) for _, number in drawn.numbers)
    spec = f"drawn.layout:A<{numbers}>" if numbers else "drawn.layout:A"
    for values in shapes(record, random, 4, 4096)[-2:]:
        if values and record.size_bits(values) % 8 == 0:
            there_and_back(shell, spec, record, values, random)


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_records_of_the_library(name: str, shell: Shell) -> None:
    record = layoutdsl.library_record(name)
    values = record.bind(SHAPES.get(name, (16, 256)))
    pieces = there_and_back(shell, name, record, values, Random(name))
    assert pieces is not None
    assert pieces > len(record.regions)


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(len(PLANES)))
def test_planes_are_cut_each_by_itself(number: int, shell: Shell) -> None:
    Path("planes.layout").write_text(PLANES[number])
    record = layoutdsl.parse(PLANES[number]).records["A"]
    random, pieces = Random(number), list[int]()
    assert layoutdsl.prove(record).checked[0].status == "proved"
    for values in shapes(record, random, 6, 4096):
        if values and record.size_bits(values) and record.size_bits(values) % 8 == 0:
            there_and_back(shell, "planes.layout:A", record, values, random)
    for _ in range(3):
        low = 300 if len(record.frame.symbols) == 1 else 30
        values = {name: random.randint(low, 2 * low) for name in record.frame.symbols}
        if record.size_bits(values) % 8 == 0:
            pieces.append(there_and_back(shell, "planes.layout:A", record, values, random) or 0)
    assert (max(pieces) > len(record.regions)) == (number in (0, 1, 3)), pieces


def test_rows_that_are_not_bytes_go_together(shell: Shell) -> None:
    """Rows of twelve bits are packed two by two: there are six pieces at most."""
    text = "record A(r, k) = { q(r, k) = [r, k] of u4 }\n"
    Path("half.layout").write_text(text)
    record, values = layoutdsl.parse(text).records["A"], {"R": 12, "K": 3}
    seeds = (Random(seed) for seed in range(4))
    found = {there_and_back(shell, "half.layout:A", record, values, each) for each in seeds}
    assert 6 in found
    assert max(each or 0 for each in found) == 6


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
import contextlib, resource, runpy, sys
def shell(*line):
    sys.argv = ["layoutdsl", *line, "--target", "numpy", "--mem", "16M", "--force"]
    with contextlib.suppress(SystemExit):
        runpy.run_module("layoutdsl", run_name="__main__")

shell("pack", "Q6_K", "small.npz", "out.npy")
shell("unpack", "Q6_K", "out.npy", "b.npz", "--shape", "2,256")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
shell("pack", "Q6_K", "in.npz", "out.npy")
shell("unpack", "Q6_K", "out.npy", "b.npz", "--shape", "8192,8192")
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
    with np.load("in.npz") as one, np.load("b.npz") as other:
        assert all(one[name].tobytes() == other[name].tobytes() for name in one.files)
    assert int(ended.stdout) < 20 << 20
