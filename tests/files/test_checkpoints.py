"""Sharded checkpoints: against plain integers and one file, damaged, killed; hostile indexes."""

from __future__ import annotations

import errno
import json
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from checkpoints_drawn import INDEX, Checkpoint, of_groups, of_rules, write_index
from cli_shell import Shell, shell
from crashes.killed import Death, ended
from safetensors.numpy import load_file, save_file
from weight_readers import contents_of, tensors_in

import layoutdsl
from layoutdsl import (
    OccupiedError,
    RefusedError,
    TooLittleError,
    UnfitError,
    UnprovedError,
    inspect_weights,
    pack_weights,
    unpack_weights,
    verify_weights,
)

__all__ = ["shell"]

ONE, TWO = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
TEXT = """
layout Tiles(n, k) = [n/4, k/8, n%4, k%8]
tensor "**.q" = Tiles
tensor "last.up"(n, k) = [k/16, n, k%16]
tensor "**.norm" = keep
"""
RULES = layoutdsl.parse(TEXT)
PACKED = Path("out", INDEX)
pytestmark = pytest.mark.filterwarnings(
    "ignore:.* is moved, and not proved", "ignore:.*element by element"
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def pack(source: str = f"in/{INDEX}", **more: Any) -> Any:
    return pack_weights(source, "out", RULES, **{"target": "numpy", "mem": 4000} | more)


def small(folder: str = "in", start: int = 0) -> Path:
    """Two shards with seven tensors; only the second has one for the second rule."""
    Path(folder).mkdir(exist_ok=True)
    items = np.arange(start, start + 40 * 50, dtype="u2").reshape(40, 50)
    first = {"0.q": items, "1.q": items + 1, "0.norm": np.ones(5, "f4")}
    second = {"2.q": items + 2, "last.up": items[:9].astype("i4"), "2.norm": np.ones(4, "f4")}
    save_file(first, f"{folder}/{ONE}", metadata={"format": "pt"})
    save_file(second | {"bias": np.zeros((), "f8")}, f"{folder}/{TWO}")
    homes = dict.fromkeys(first, ONE) | dict.fromkeys((*second, "bias"), TWO)
    return write_index(Path(folder), homes, metadata={"total_size": 13844})


def names(folder: str = "out") -> set[str]:
    place = Path(folder)
    return {each.name for each in place.iterdir()} if place.exists() else set()


def messages(work: Callable[[], object]) -> list[str]:
    with pytest.raises(UnfitError) as unfit:
        work()
    return [str(each) for each in unfit.value.problems]


# Drawn checkpoints.


def there_and_back(draw: Random, checkpoint: Checkpoint) -> None:
    """Pack, compare with plain integers and with one file, verify, damage and unpack."""
    case, index = checkpoint.case, checkpoint.write(Path("in"))
    how: dict[str, Any] = {"target": "numpy", "mem": 1 << 22, "jobs": draw.choice((1, 2))}
    case.write(Path("whole.safetensors"))
    one = pack_weights("whole.safetensors", "packed.safetensors", checkpoint.rules, **how)
    done = pack_weights(index, "out", checkpoint.rules, **how)
    assert (done.moved, done.kept) == (one.moved, one.kept)
    assert names() == {INDEX, *checkpoint.shards}
    shards = {name: contents_of(Path("out", name)) for name in checkpoint.shards}
    found = {name: each for shard in shards.values() for name, each in shard.items()}
    assert {name: data for name, (_, _, data) in found.items()} == case.want()
    assert found == contents_of(Path("packed.safetensors"))
    written = json.loads(PACKED.read_text())
    assert written["weight_map"] == {n: home for home, shard in shards.items() for n in shard}
    assert written["weight_map"] == {name: checkpoint.home_of(name) for name in found}
    size = sum(map(len, case.want().values()))
    assert written["metadata"] == {"format": "pt", "total_size": size}
    assert verify_weights(PACKED, index).fault is None
    verified = verify_weights(PACKED)
    assert (verified.fault, verified.tensors, verified.packed) == (None, len(found), done.moved)
    inspected = inspect_weights(PACKED)
    assert inspected.packed
    assert {each.name: each.shard for each in inspected.tensors} == written["weight_map"]
    unpack_weights(PACKED, "again", **how)
    assert names("again") == names("in")
    for name in names("in"):
        assert Path("again", name).read_bytes() == Path("in", name).read_bytes()
    held = [e for n in shards for e in tensors_in(Path("out", n)).items() if e[1].size]
    if held:
        name, tensor = draw.choice(held)
        tensor.flip(draw.randrange(8 * tensor.size))
        verified = verify_weights(PACKED)
        assert verified.fault is not None
        assert (verified.fault.name, verified.shard) == (name, tensor.place)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(12))
def test_drawn_checkpoints(seed: int) -> None:
    draw = Random(seed)
    there_and_back(draw, of_rules(draw))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_drawn_groups(seed: int) -> None:
    draw = Random(seed)
    try:
        there_and_back(draw, of_groups(draw))
    except (RefusedError, UnprovedError):  # a few that are drawn are wrong
        assert not Path("out").exists()


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(1000, 1500))
def test_more_drawn_checkpoints(seed: int) -> None:
    draw = Random(seed)
    there_and_back(draw, draw.choice((of_rules, of_rules, of_groups))(draw))


# Rules for all shards.


def test_a_rule_needs_a_tensor_in_one_shard_only() -> None:
    done = pack(small())
    assert (done.moved, done.kept) == (4, 3)
    items = load_file(f"in/{TWO}")["last.up"]
    tiles = layoutdsl.compile(layoutdsl.parse("layout A(n, k) = [k/16, n, k%16]")["A"], "numpy")
    assert (load_file(f"out/{TWO}")["last.up"] == tiles.pack(items)).all()


def test_problems_of_all_shards_come_together() -> None:
    small()
    wrong = {"0.q": np.ones((4, 4, 4)), "1.q": np.ones(7)}
    save_file({**wrong, "0.norm": np.ones(5, "f4")}, f"in/{ONE}")
    again = load_file(f"in/{TWO}") | {"2.q": np.ones(3)}
    save_file(again, f"in/{TWO}")
    rules = layoutdsl.parse(f'{TEXT}tensor "none.q" = keep\ntensor "nowhere" = keep')
    told = messages(lambda: pack_weights(f"in/{INDEX}", "out", rules, unruled="refuse"))
    for words in ("`0.q`", "`1.q`", "`2.q`", "`none.q`", "`nowhere`", "`bias`"):
        assert any(words in each for each in told), (words, told)
    assert len(told) == 6
    assert not Path("out").exists()


def test_a_group_lies_in_one_shard() -> None:
    Path("in").mkdir()
    save_file({"a.d": np.ones((3, 2), "f2"), "b.d": np.ones((3, 2), "f2")}, f"in/{ONE}")
    codes = np.ones((3, 64), "u1")
    save_file({"a.q": codes, "b.q": codes}, f"in/{TWO}")
    index = write_index(Path("in"), {"a.d": ONE, "b.d": ONE, "a.q": TWO, "b.q": TWO})
    rules = layoutdsl.parse('group "{i}" = Q4_0(d = "{}.d", q = "{}.q") as "blk.{i}"')
    told = messages(lambda: pack_weights(index, "out", rules))
    where = f"`blk.a` lie in several shards: `a.d` in `{ONE}`, `a.q` in `{TWO}`"
    assert where in told[0]
    assert [("`blk.a`" in each, "`blk.b`" in each) for each in told] == [(1, 0), (0, 1)]
    assert not Path("out").exists()


def test_too_little_memory_is_known_before_anything_is_written() -> None:
    small()
    with pytest.raises(TooLittleError):
        pack(mem=10)
    assert not Path("out").exists()


# Indexes that lie.

MAP = {
    "0.q": ONE,
    "1.q": ONE,
    "0.norm": ONE,
    "2.q": TWO,
    "last.up": TWO,
    "2.norm": TWO,
    "bias": TWO,
}
HOSTILE: dict[str, tuple[object, str]] = {
    "no JSON": ("{", "is no JSON"),
    "array": ("[]", "does not start with"),
    "empty": ("", "does not start with"),
    "deep": ('{"a":' * 100_000, "is no JSON"),
    "twice": ('{"weight_map": {"a": "b", "a": "c"}}', "says `a` twice"),
    "not a number": ('{"metadata": {"total_size": NaN}}', "the number `NaN`"),
    "infinite": ('{"metadata": {"total_size": 1e999}}', "the number `1e999`"),
    "surrogate": ('{"weight_map": {"a": "\\ud800.safetensors"}}', "does not map"),
    "no map": ({}, "`weight_map` does not map"),
    "map of numbers": ({"weight_map": {"a": 1}}, "`weight_map` does not map"),
    "no tensor": ({"weight_map": {}}, "lists no tensor"),
    "metadata": ({"metadata": [], "weight_map": MAP}, "`metadata` is no object"),
    "many": (
        {"weight_map": {f"{n}": f"{n}.safetensors" for n in range(901)}},
        "names 901 files, and 900 are the most",
    ),
    "above": ({"weight_map": MAP | {"0.q": f"../{ONE}"}}, "is no plain name"),
    "absolute": ({"weight_map": MAP | {"0.q": f"/tmp/{ONE}"}}, "is no plain name"),
    "below": ({"weight_map": MAP | {"0.q": f"a/{ONE}"}}, "is no plain name"),
    "backslash": ({"weight_map": MAP | {"0.q": f"..\\{ONE}"}}, "is no plain name"),
    "drive": ({"weight_map": MAP | {"0.q": f"C:{ONE}"}}, "is no plain name"),
    "zero": ({"weight_map": MAP | {"0.q": f"\0{ONE}"}}, "is no plain name"),
    "escape": ({"weight_map": MAP | {"0.q": f"\x1b[2J{ONE}"}}, "is no plain name"),
    "long": ({"weight_map": MAP | {"0.q": f"{'a' * 250}.safetensors"}}, "is no plain name"),
    "parent": ({"weight_map": MAP | {"0.q": ".."}}, "does not end in .safetensors"),
    "nothing": ({"weight_map": MAP | {"0.q": ""}}, "does not end in .safetensors"),
    "pickle": ({"weight_map": MAP | {"0.q": "pytorch_model.bin"}}, "does not end in .safetensors"),
    "missing": (
        {"weight_map": MAP | {"0.q": "gone.safetensors"}},
        "`in/gone.safetensors` is missing: .* puts the tensor `0.q` into it",
    ),
    "lacks": (
        {"weight_map": MAP | {"more": TWO}},
        f"`in/{TWO}` lacks the tensor `more`, which `in/{INDEX}` puts into it",
    ),
    "holds": (
        {"weight_map": {name: home for name, home in MAP.items() if name != "1.q"}},
        f"`in/{ONE}` holds the tensor `1.q`, which `in/{INDEX}` does not list",
    ),
    "elsewhere": (
        {"weight_map": MAP | {"1.q": TWO}},
        f"`in/{ONE}` holds the tensor `1.q`, which `in/{INDEX}` puts into `{TWO}`",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_indexes(case: str) -> None:
    small()
    index, (text, words) = Path("in", INDEX), HOSTILE[case]
    index.write_text(text if isinstance(text, str) else json.dumps(text))
    for work in (
        pack,
        lambda: unpack_weights(index, "out"),
        lambda: verify_weights(index),
        lambda: inspect_weights(index),
    ):
        told = messages(work)
        assert any(re.search(words, each, re.DOTALL) for each in told), told
        assert all(each.isprintable() for each in told)
    assert not Path("out").exists()


def test_all_missing_shards_are_named() -> None:
    small()
    for name in (ONE, TWO):
        Path("in", name).rename(f"{name}.elsewhere")
    told = messages(pack)
    assert [ONE in told[0], TWO in told[1], len(told)] == [True, True, 2]


def test_a_shard_that_is_no_plain_file() -> None:
    small()
    Path("in", TWO).unlink()
    os.mkfifo(f"in/{TWO}")
    assert "is no plain file" in messages(pack)[0]


# `total_size`, and what else an index says.


@pytest.mark.parametrize(
    ("metadata", "want"),
    [
        ({}, {}),
        ({"total_size": 13844}, {"total_size": 15788}),
        ({"total_size": 13844.0, "x": -1.5}, {"total_size": 15788, "x": -1.5}),
        (
            {"total_parameters": 7, "a": [None, {"b": True}]},
            {"total_parameters": 7, "a": [None, {"b": True}]},
        ),
    ],
)
def test_metadata_is_copied_and_the_total_recomputed(metadata: object, want: object) -> None:
    small()
    write_index(Path("in"), MAP, metadata=metadata, other=[1])
    pack()
    found = json.loads(PACKED.read_text())
    assert (found["metadata"], found["other"]) == (want, [1])


def test_a_changed_total_is_found() -> None:
    small()
    pack()
    text = PACKED.read_text()
    PACKED.write_text(text.replace("15788", "15789"))
    assert (
        "says a `total_size` of 15789, and its tensors have 15788"
        in messages(lambda: verify_weights(PACKED))[0]
    )
    PACKED.write_text(text)
    assert verify_weights(PACKED, f"in/{INDEX}")


# Verify.


def test_shards_that_are_swapped_are_found() -> None:
    small()
    pack()
    Path("out", ONE).rename("x")
    Path("out", TWO).rename(f"out/{ONE}")
    Path("x").rename(f"out/{TWO}")
    assert len(messages(lambda: verify_weights(PACKED))) == 2 * 7


def test_other_originals_are_found() -> None:
    small()
    pack()
    small("other", 1)
    found = verify_weights(PACKED, f"other/{INDEX}")
    assert found.fault is not None
    assert (found.fault.name, found.shard) == ("0.q", Path("out", ONE))
    tensors = load_file(f"in/{TWO}")
    Path("in", TWO).unlink()
    save_file(tensors, "in/renamed.safetensors")
    renamed = {name: home if home == ONE else "renamed.safetensors" for name, home in MAP.items()}
    index = write_index(Path("in"), renamed)
    fault = verify_weights(PACKED, index).fault
    assert f"which is no shard of `in/{INDEX}`" in str(fault)
    with pytest.raises(ValueError, match="is an index"):
        verify_weights(PACKED, f"in/{ONE}")


def test_a_shard_that_packing_lost_is_found() -> None:
    small()
    pack()
    Path("out", TWO).unlink()
    write_index(Path("out"), {name: home for name, home in MAP.items() if home == ONE})
    assert verify_weights(PACKED).fault is None
    fault = verify_weights(PACKED, f"in/{INDEX}").fault
    assert str(fault) == f"`2.norm` is missing, with the shard `{TWO}`"


# What is there already.


def test_an_earlier_checkpoint_is_replaced() -> None:
    pack(small())
    first = PACKED.read_bytes()
    pack(small("other", 7))
    assert PACKED.read_bytes() == first
    assert verify_weights(PACKED, f"other/{INDEX}")
    unpack_weights(PACKED, "again")
    unpack_weights(PACKED, "again")
    assert names("again") == names("out") == {INDEX, ONE, TWO}


def test_an_earlier_checkpoint_is_known_on_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    pack(small())
    monkeypatch.setenv("LAYOUTDSL_CACHE", "elsewhere")
    pack()


@pytest.mark.parametrize("name", [INDEX, ONE, TWO])
def test_files_of_somebody_else_stay(name: str) -> None:
    small()
    Path("out").mkdir()
    Path("out", name).write_text("theirs")
    with pytest.raises(OccupiedError, match="was not written by layoutdsl"):
        pack()
    assert names() == {name}
    assert Path("out", name).read_text() == "theirs"
    pack(force=True)
    assert verify_weights(PACKED, f"in/{INDEX}")


@pytest.mark.parametrize("other", [ONE, TWO])
def test_no_source_is_replaced_through_a_link(other: str) -> None:
    small()
    was = Path("in", other).read_bytes()
    Path("out").mkdir()
    Path("out", ONE).symlink_to(Path("in", other).absolute())
    with pytest.raises(OccupiedError, match="is the input itself"):
        pack(force=True)
    with pytest.raises(OccupiedError, match="is the input itself"):
        pack_weights(f"in/{INDEX}", "in", RULES, target="numpy", force=True)
    Path("out", ONE).unlink()
    Path("out", INDEX).symlink_to(Path("in", INDEX).absolute())
    with pytest.raises(OccupiedError, match="is the input itself"):
        pack(force=True)
    assert Path("in", other).read_bytes() == was
    assert names() == {INDEX}


@pytest.mark.parametrize("name", ["file", "packed.safetensors", INDEX])
def test_the_result_is_a_folder(name: str) -> None:
    small()
    Path("file").touch()
    told = messages(lambda: pack_weights(f"in/{INDEX}", name, RULES))
    assert told == [
        f"`{name}` is the name of a file, and shards are written into a folder; "
        "name a folder: `-o packed/`"
    ]


def test_nobody_reads_more_than_before() -> None:
    small()
    Path("in", ONE).chmod(0o600)
    Path("in", TWO).chmod(0o644)
    Path("in", INDEX).chmod(0o640)
    pack()
    assert [Path("out", each).stat().st_mode & 0o777 for each in (ONE, INDEX)] == [0o600, 0o640]


# Interrupted.


def full_after(count: int, error: Callable[[], BaseException]) -> Callable[..., int]:
    """A disk that is full after some items, which are neither a journal nor a header."""
    calls, write = [0], os.pwrite

    def fills(handle: int, data: Any, offset: int) -> int:
        calls[0] += isinstance(data, memoryview)
        if isinstance(data, memoryview) and calls[0] > count:
            raise error()
        return write(handle, data, offset)

    return fills


def no_space() -> BaseException:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("error", [no_space, KeyboardInterrupt])
def test_an_interrupted_run_goes_on(
    error: Callable[[], BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    small()
    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full_after(9, error))
        with pytest.raises((OSError, KeyboardInterrupt)):
            pack()
    assert {ONE, TWO, INDEX} & names() == set()
    assert f"{ONE}.part.json" in names()
    told: list[str] = []
    done = pack(tell=told.append)
    assert 0 < done.found < done.pieces
    assert told[0].startswith(f"{ONE}: going on: ")
    assert names() == {ONE, TWO, INDEX}
    assert verify_weights(PACKED, f"in/{INDEX}")


def test_wrong_work_leaves_nothing() -> None:
    """A source that changes while the last shard is packed: nothing is published or kept."""
    small()

    def touches(*_: object) -> None:
        save_file(load_file(f"in/{ONE}"), f"in/{ONE}")

    changed = [False]

    def progress(amount: Any) -> None:
        if amount.number == 7 and not changed[0]:
            changed[0] = True
            touches()

    assert "has changed while it was read" in messages(lambda: pack(progress=progress))[0]
    assert changed[0]
    assert not Path("out").exists()


def test_progress_counts_all_shards() -> None:
    small()
    told: list[Any] = []
    pack(progress=told.append)
    assert {(each.count, each.total_bytes) for each in told} == {(7, 15788)}
    for key in ("number", "done_bytes"):
        found = [getattr(each, key) for each in told]
        assert found == sorted(found)
    assert (told[-1].number, told[-1].done_bytes) == (7, 15788)
    told.clear()
    verify_weights(PACKED, progress=told.append)
    assert (told[-1].number, told[-1].done_bytes, told[-1].total_bytes) == (7, 15788, 15788)


MEMORY = "/dev/shm"


def killed_at(calls: range, seed: int) -> int:
    """Kill runs that replace a checkpoint at these calls; returns how many were killed."""
    draw, kills, here = Random(seed), 0, Path.cwd()
    with tempfile.TemporaryDirectory(dir=MEMORY if Path(MEMORY).is_dir() else None) as folder:
        os.chdir(folder)
        try:
            small()
            small("old", 9)
            for call in calls:
                if draw.random() < 0.5:
                    pack(f"old/{INDEX}")
                moment: Any = draw.choice(("before", "within", "after"))
                outcome = ended(pack, Death(call, moment, None), blind=False)
                assert outcome in ("killed", "done", "resumed"), Path("fault.txt").read_text()
                kills += outcome == "killed"
                whole()
                if draw.random() < 0.7:
                    assert ended(pack, None, blind=False) in ("done", "resumed")
                    # A kill in the moment of the index leaves its `.tmp`, as of any small file.
                    found = {each for each in names() if not each.endswith(".tmp")}
                    assert found == {ONE, TWO, INDEX}
                    assert verify_weights(PACKED, f"in/{INDEX}")
        finally:
            os.chdir(here)
    return kills


def whole() -> None:
    """If there is an index, every shard is that of one of the two checkpoints, and of the same."""
    if PACKED.exists():
        assert verify_weights(PACKED, f"in/{INDEX}") or verify_weights(PACKED, f"old/{INDEX}")


@pytest.mark.parametrize(
    "calls",
    [
        range(5, 140, 27),
        *(pytest.param(range(1 + n, 240, 4), marks=pytest.mark.slow) for n in range(4)),
    ],
)
def test_killed_runs_leave_nothing_broken(calls: range) -> None:
    assert killed_at(calls, calls.start) > 2


# The shell.


def test_the_shell(shell: Shell) -> None:
    small()
    Path("rules.layout").write_text(TEXT)
    ended = shell("pack", f"in/{INDEX}", "--rules", "rules.layout", "-o", "out/", "-v")
    assert (ended.code, ended.err) == (0, "packed 4 tensors, kept 3, in 7 pieces\n")
    ended = shell("verify", str(PACKED), "--against", f"in/{INDEX}")
    assert ended.code == 0
    assert ended.out.startswith(f"verified  {PACKED}: 7 tensors, 4 of them packed; 6450 elements")
    assert shell("verify", str(PACKED), "-q").out == ""
    ended = shell("inspect", str(PACKED), "--json")
    tensors = json.loads(ended.out)["tensors"]
    assert {each["name"]: each["shard"] for each in tensors} == MAP
    ended = shell("inspect", str(PACKED))
    assert ended.out.splitlines()[0].endswith(ONE)
    ended = shell("unpack", str(PACKED), "-o", "again", "-q")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    tensors_in(Path("out", TWO))["2.q"].flip(16)
    ended = shell("verify", str(PACKED), "--against", f"in/{INDEX}")
    assert ended.code == 1
    assert ended.out.startswith(f"different  out/{TWO}: `2.q`[0, 1]: slot 1 holds")
    ended = shell("verify", str(PACKED), "--json")
    assert ended.code == 1
    assert json.loads(ended.out)["shard"] == TWO
    Path("in", TWO).unlink()
    ended = shell("pack", f"in/{INDEX}", "--rules", "rules.layout", "-o", "more")
    assert ended.code == 4
    assert f"`in/{TWO}` is missing" in ended.err
    assert not Path("more").exists()


def test_the_shell_says_what_is_kept(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    small()
    Path("rules.layout").write_text(TEXT)
    monkeypatch.setattr(os, "pwrite", full_after(9, KeyboardInterrupt))
    line = ("pack", f"in/{INDEX}", "--rules", "rules.layout", "-o", "out", "--mem", "4000")
    ended = shell(*line, "--target", "numpy")
    assert "note: the unfinished shards in `out` are kept; the same command goes on" in ended.err
