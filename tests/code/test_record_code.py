"""Code of records, written out: packages of Python, and C, against the definition of every bit.

What puts parts together in Python is not proved from its text, and what is proved of C rests on
helpers and compilers; so both are run: for records of the library, and for records drawn at random.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from types import ModuleType

import numpy as np
import pytest
from random_records import drawn, free, meant
from record_programs import (
    NEEDS_C,
    SANITIZED,
    Built,
    check_c,
    fields_of,
    whole_bytes,
)
from test_record_found import MOVED

import layoutdsl
from layoutdsl import generate_record


def loaded(folder: Path, name: str) -> ModuleType:
    """The package in a folder, imported."""
    spec = importlib.util.spec_from_file_location(name, folder / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@NEEDS_C
def test_c_of_a_record_packs_and_unpacks(tmp_path: Path) -> None:
    record, random = layoutdsl.library_record("Q5_0"), Random(1)
    made = generate_record(record, "c")
    step, small = "step = 262144/", "step = 100/"  # so that rows go in several pieces
    assert step in made.files["Q5_0.c"]
    files = {name: text.replace(step, small) for name, text in made.files.items()}
    built = Built(replace(made, files=files), tmp_path)
    for values in ({"R": 1, "K": 32}, {"R": 7, "K": 64}):
        check_c(built, values, random)
    assert built.said("bytes", {"R": 1, "K": 100}) == -1  # outside the range
    assert built.said("bytes", {"R": 2**40, "K": 2**20}) == -1
    assert built.said("bytes", {"R": 0, "K": 256}) == -1


@pytest.mark.sampled(3)
@NEEDS_C
@pytest.mark.slow
@pytest.mark.parametrize("name", layoutdsl.library_record_names())
def test_c_of_the_library(name: str, tmp_path: Path) -> None:
    record, random = layoutdsl.library_record(name), Random(name)
    made = generate_record(record, "c")
    for number, options in enumerate((("-O2",), SANITIZED)):
        built = Built(made, tmp_path / str(number), *options)
        for values in whole_bytes(record, random, 3, 60_000):
            check_c(built, values, random)


def random_c(seed: int, count: int, folder: Path, *options: str) -> int:
    """Build C of random records, and hold it against the definition; returns how many were."""
    random, done = Random(seed), 0
    for number in range(count):
        record = drawn(random).record
        try:
            made = generate_record(record, "c", validate=False)
        except (layoutdsl.RefusedError, layoutdsl.UnprovedError, ValueError):
            continue
        built = Built(made, folder / str(number), *options)
        for values in whole_bytes(record, random, 4, 8000):
            check_c(built, values, random)
            done += 1
    return done


@pytest.mark.slow
@NEEDS_C
def test_signs_of_parts_that_are_whole_and_of_bits(tmp_path: Path) -> None:
    """What has its sign already gets it once."""
    text = """record A(r) = {
        q(r, (0 : 2, i: 2)) = [r, i, bit : 8] of i2
        q(r, (1 : 2, i: 2)) bits 0..0 = [r, i, 4 + bit : 8] of i2
        q(r, (1 : 2, i: 2)) bits 1..1 = [r, i, 6 + bit : 8]
    }"""
    record = layoutdsl.parse(text).records["A"]
    built = Built(generate_record(record, "c"), tmp_path)
    check_c(built, {"R": 5}, Random(1))


@NEEDS_C
@pytest.mark.slow
@pytest.mark.parametrize("name", MOVED)
def test_c_of_what_was_moved_wrong_once(name: str, tmp_path: Path) -> None:
    record, random = layoutdsl.parse(MOVED[name]).records["A"], Random(1)
    built = Built(generate_record(record, "c", validate=False), tmp_path)
    for values in whole_bytes(record, random, 3, 8000):
        check_c(built, values, random)


@NEEDS_C
@pytest.mark.slow
@pytest.mark.parametrize("count", [12, pytest.param(30, marks=pytest.mark.campaign)])
def test_c_of_random_records(count: int, tmp_path: Path) -> None:
    assert random_c(5, count, tmp_path, *SANITIZED) > count * 2 // 3


@NEEDS_C
@pytest.mark.campaign
@pytest.mark.parametrize("block", range(10))
def test_c_of_many_random_records(block: int, tmp_path: Path) -> None:
    assert random_c(1000 + block, 50, tmp_path, "-O1") > 40


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        name if name in ("Q6_K", "NV12") else pytest.param(name, marks=pytest.mark.slow)
        for name in layoutdsl.library_record_names()
    ],
)
def test_random_bytes_come_back(name: str) -> None:
    """Unpacked and packed again, bytes are what they were, but for bits that no field holds."""
    record, seed = layoutdsl.library_record(name), np.random.default_rng(7)
    module = layoutdsl.compile(record, "numpy")
    for values in whole_bytes(record, Random(name), 3, 60_000):
        given = seed.integers(0, 256, module.physical_shape(values)).astype("u1")
        fields = module.unpack(given, values)._asdict()
        packed = module.pack(shape=values, **fields)
        held = ~free(record, values).reshape(packed.shape)
        assert (packed == given & held).all(), dict(values)


def packages(seed: int, count: int, folder: Path) -> int:
    """Write packages of random records, import them, and hold them against the definition."""
    random, done = Random(seed), 0
    for number in range(count):
        record = drawn(random).record
        try:
            made = generate_record(record, validate=False)
        except (layoutdsl.RefusedError, layoutdsl.UnprovedError, ValueError):
            continue
        module = loaded(made.write(folder / f"r{number}"), f"random_record_{seed}_{number}")
        for values in whole_bytes(record, random, 3, 8000):
            fields = fields_of(record, values, random)
            packed = module.pack(**fields, shape=values)
            assert packed.tobytes() == meant(record, values, fields).tobytes(), dict(values)
            back = module.unpack(packed, values)._asdict()
            assert {n: e.tobytes() for n, e in back.items()} == {
                n: np.ascontiguousarray(e).tobytes() for n, e in fields.items()
            }
            done += 1
    return done


@pytest.mark.slow
def test_packages_of_random_records(tmp_path: Path) -> None:
    assert packages(2, 4, tmp_path) > 2


@pytest.mark.campaign
def test_packages_of_more_random_records(tmp_path: Path) -> None:
    assert packages(3, 60, tmp_path) > 40


@pytest.mark.slow
def test_a_package_says_what_it_is(tmp_path: Path) -> None:
    made = generate_record(layoutdsl.library_record("Q4_0"))
    module = loaded(made.write(tmp_path / "q"), "q4_0_written")
    assert layoutdsl.parse(module.SOURCE).records["Q4_0"] == made.record
    assert module.FALLBACK is None
    assert all(isinstance(each, str) and len(each) == 64 for each in module.VALIDATED)
    assert module.physical_shape((3, 64)) == (3, 2, 18)
    with pytest.raises(ValueError, match=r"`Q4_0` is defined where K%32 == 0"):
        module.physical_shape((3, 40))
    with pytest.raises(ValueError, match=r"and takes \(1, 32\) at R=1 K=32"):
        module.pack(d=np.zeros((1, 1), "f2"), q=np.zeros((1, 64), "u1"))
    with pytest.raises(TypeError, match="threads"):
        module.pack(d=np.zeros((1, 2), "f2"), q=np.zeros((1, 64), "u1"), threads=2)
