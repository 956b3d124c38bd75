"""Records moved by compiled C: the same results and errors as numpy, or why numpy serves."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from native_cases import needs_compiler
from random_records import Values, drawn, elements, free, meant, shapes

import layoutdsl
from layoutdsl import Record, RecordModule

pytestmark = needs_compiler
NUMBERS = count()


def fields_of(record: Record, values: Values, random: Random) -> dict[str, np.ndarray]:
    seed = np.random.default_rng(random.randrange(10**6))
    return {each.name: elements(each.element, each.shape(values), seed) for each in record.fields}


@pytest.fixture
def moved() -> list[str]:
    """What was moved by C, in turn."""
    return []


def watched(module: Any, moved: list[str]) -> RecordModule:
    """A module that tells what C moves."""
    move = module._moves._moved

    def told(verb: str, *given: object) -> bool:
        done: bool = move(verb, *given)
        if done:
            moved.append(verb)
        return done

    module._moves._moved = told
    return module  # type: ignore[no-any-return]


def check(record: Record, module: RecordModule, values: Values, random: Random) -> None:
    fields = fields_of(record, values, random)
    wanted = meant(record, values, fields)
    threads = random.choice((1, 1, 2, 5))
    packed = module.pack(shape=dict(values), threads=threads, **fields)
    assert (packed.reshape(-1) == wanted).all(), (record, dict(values))
    dirty = wanted | (free(record, values) & 0xA7)  # what no field holds is not read
    back = module.unpack(dirty.reshape(packed.shape), dict(values), threads)._asdict()
    for name, each in fields.items():
        assert back[name].tobytes() == each.tobytes(), (record, name, dict(values))
        assert back[name].dtype == each.dtype


def fresh(record: Record, moved: list[str]) -> RecordModule:
    """The compiled module of a record that has a name of its own, so that nobody had it before."""
    named = replace(record, name=f"{record.name}_{next(NUMBERS)}")
    return watched(layoutdsl.compile(named, "native"), moved)


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        name if name in ("Q4_0", "NV12") else pytest.param(name, marks=pytest.mark.slow)
        for name in layoutdsl.library_record_names()
    ],
)
@pytest.mark.usefixtures("place")
def test_of_the_library(name: str, moved: list[str]) -> None:
    record, random = layoutdsl.library_record(name), Random(name)
    module = fresh(record, moved)
    values = list(shapes(record, random, 4, 40_000))
    for each in values:
        check(record, module, each, random)
    assert moved == ["pack", "unpack"] * len(values)


@pytest.mark.slow
def test_threads_share_rows(moved: list[str]) -> None:
    """Each takes as many bytes as are worth it; smaller records than this one thread moves."""
    record, random = layoutdsl.library_record("Q4_0"), Random(3)
    module, plain = fresh(record, moved), layoutdsl.compile(record, "numpy")
    shape = {"R": 1000, "K": 32 * 1024}
    fields = fields_of(record, shape, random)
    wanted = plain.pack(**fields)
    assert wanted.nbytes > 4 << 22
    for threads in (2, 3):
        assert np.array_equal(module.pack(**fields, threads=threads), wanted)
        back = module.unpack(wanted, shape, threads)._asdict()
        assert all(back[name].tobytes() == fields[name].tobytes() for name in fields)
    assert moved == ["pack", "unpack"] * 2


AGAIN = """
import layoutdsl, numpy
module = layoutdsl.compile(layoutdsl.library_record("Q4_0"), "native")
packed = module.pack(d=numpy.ones((3, 2), "f2"), q=numpy.full((3, 64), 5, "u1"))
assert (module.unpack(packed, (3, 64)).q == 5).all()
"""


@pytest.mark.slow
def test_another_process_compiles_nothing_again(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, compiler = tmp_path / "calls", tmp_path / "compiler"
    text = f'case " $* " in *" -o "*) echo >> "{calls}";; esac; exec {os.environ["CC"]} "$@"'
    compiler.write_text(f"#!/bin/sh\n{text}\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    made = list[tuple[int, set[Path]]]()
    for _ in range(2):
        subprocess.run([sys.executable, "-c", AGAIN], check=True, timeout=120)
        made.append((len(calls.read_text()), set(place.glob("*.so"))))
    assert made[0] == made[1]
    assert made[0][0] > 0
    assert made[0][1]


HALF = """record A(r, k: 3) = {
    q(r, k) = [r, k] of u4
}"""


@pytest.mark.slow
def test_rows_that_are_no_whole_bytes(moved: list[str]) -> None:
    record, random = layoutdsl.parse(HALF).records["A"], Random(3)
    module = watched(layoutdsl.compile(record, "native"), moved)
    for rows in (2, 6, 100):
        check(record, module, {"R": rows}, random)
    with pytest.raises(ValueError, match="the 12 bits of `A` fill no whole bytes"):
        module.physical_shape({"R": 1})
    assert moved == ["pack", "unpack"] * 3


@pytest.mark.slow
def test_errors_are_those_of_numpy(moved: list[str]) -> None:
    record, random = replace(layoutdsl.library_record("Q4_0"), name="Erring"), Random(1)
    native = watched(layoutdsl.compile(record, "native"), moved)
    plain = layoutdsl.compile(record, "numpy")
    shape = {"R": 3, "K": 64}
    good = fields_of(record, shape, random)
    packed = native.pack(**good)
    bad: list[Callable[[RecordModule], object]] = [
        lambda m: m.pack(d=good["d"]),
        lambda m: m.pack(d=good["d"], q=good["q"].astype("u2")),
        lambda m: m.pack(d=good["d"], q=good["q"] + np.uint8(16)),
        lambda m: m.pack(d=good["d"][:2], q=good["q"]),
        lambda m: m.pack(d=good["d"], q=good["q"], out=packed[:2]),
        lambda m: m.pack(d=good["d"], q=good["q"], out=good["q"][:, :36].reshape(3, 2, 18)),
        lambda m: m.pack(**good, threads=0),
        lambda m: m.unpack(packed[:2], shape),
        lambda m: m.unpack(packed, {"R": 3, "K": 65}),
    ]
    said = []
    for each in bad:
        for module in (native, plain):
            with pytest.raises((ValueError, TypeError)) as found:
                each(module)
            said.append((found.type, str(found.value)))
    assert said[::2] == said[1::2]
    assert moved == ["pack"]


@pytest.mark.slow
def test_arrays_that_c_does_not_take(moved: list[str]) -> None:
    """Those that are not in one piece, or of the other order of bytes, numpy takes."""
    record, random = layoutdsl.library_record("Q4_0"), Random(1)
    native, plain = fresh(record, moved), layoutdsl.compile(record, "numpy")
    good = fields_of(record, {"R": 3, "K": 64}, random)
    turned = {"d": good["d"], "q": np.asfortranarray(good["q"])}
    assert (native.pack(**turned) == plain.pack(**good)).all()
    assert moved == []
    wide = np.zeros((3, 2, 36), "u1")
    assert native.pack(**good, out=wide[..., ::2]) is not None
    assert (wide[..., ::2] == plain.pack(**good)).all()
    assert not wide[..., 1::2].any()
    assert moved == ["pack"]


@pytest.mark.slow
@pytest.mark.usefixtures("place")
def test_a_compiler_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record, random = layoutdsl.library_record("NV12"), Random(1)
    good = fields_of(record, {"H": 4, "W": 6}, random)
    broken = tmp_path / "broken"
    broken.write_text('#!/bin/sh\ncase "$1" in --version) exit 0;; esac\nexit 1\n')
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.raises(layoutdsl.CompilerError, match="broken` failed with 1: no message"):
        fresh(record, []).pack(**good)
    served = layoutdsl.compile(replace(record, name="Served"), "auto")
    for _ in range(3):
        assert (served.pack(**good) == layoutdsl.compile(record, "numpy").pack(**good)).all()


def random_records(seed: int, count: int, moved: list[str]) -> int:
    """Pack and unpack random records by C, against the meaning of every bit; how many were."""
    random = Random(seed)
    for _ in range(count):
        record = drawn(random).record
        try:
            module = watched(layoutdsl.compile(record, "native"), moved)
        except (layoutdsl.RefusedError, layoutdsl.UnprovedError, ValueError):
            continue
        for values in shapes(record, random, 3, 8000):
            if record.size_bits(values) % 8 == 0:
                check(record, module, values, random)
    return len(moved)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:numpy serves", "ignore:.*undecided", "ignore:.*by element")
def test_random_records(moved: list[str]) -> None:
    assert random_records(11, 12, moved) > 30


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore:numpy serves", "ignore:.*undecided", "ignore:.*by element")
@pytest.mark.parametrize("block", range(20))
def test_many_random_records(block: int, moved: list[str]) -> None:
    random_records(2000 + block, 25, moved)
