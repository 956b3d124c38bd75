"""Plans of weights: shares in any order and number, the same file as at once; plans that lie.

More, with shares that are killed: `python -m tests.support.crashes --of weights --count 10000`.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from cli_shell import Shell, shell
from small_files import changed
from test_crashes import campaign
from weight_readers import contents_of
from weights_drawn import TEXT, drawn, least, rules_of

from layoutdsl import TooLittleError, pack_weights, unpack_weights, verify_weights

__all__ = ["shell"]

FORMS = ("safetensors", "npz", "gguf", "onnx")


def run(shell: Shell, number: int, of: int) -> bool:
    """Do a share; returns whether the output is in its place."""
    ended = shell("run", "plan.json", "--shard", f"{number}/{of}", "--target", "numpy", "-v")
    assert ended.code == 0, ended.err
    return ended.err.endswith(" is whole\n")


def refused(shell: Shell, number: int, of: int, words: str) -> None:
    """A share is not done, for this reason, and the plan is not finished."""
    ended = shell("run", "plan.json", "--shard", f"{number}/{of}", "--target", "numpy")
    assert ended.code == 4, ended.err
    assert re.search(words, ended.err), ended.err
    assert not Path("out.safetensors").exists()


def in_any_order(shell: Shell, draw: Random) -> None:
    """Do some shares, then all of one number of shares."""
    of = draw.choice((1, 2, 3, 7))
    for _ in range(draw.randint(0, 3)):
        other = draw.randint(1, 5)
        run(shell, draw.randrange(other), other)
    for number in draw.sample(range(of), of):
        run(shell, number, of)
    assert shell("run", "plan.json", "--finish").code == 0


def files_of(place: Path) -> dict[str, bytes]:
    """A file of weights, and what lies beside it."""
    files = sorted(each for each in place.parent.glob(f"{place.name}*") if each.is_file())
    return {each.name: each.read_bytes() for each in files}


@pytest.mark.slow
@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.filterwarnings("ignore:.*element by element")
def test_shares_make_the_file_that_one_run_makes(
    shell: Shell, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the bit, once both have one token: there, and back."""
    monkeypatch.setattr(secrets, "token_hex", lambda count: "a5" * count)
    draw = Random(seed)
    case = drawn(draw)
    target = draw.choice((case.form, *FORMS))
    source, packed, back = Path(f"in.{case.form}"), Path(f"out.{target}"), Path(f"b.{case.form}")
    case.write(source)
    how: dict[str, Any] = {"mem": least(case, source) * draw.choice((1, 3)), "target": "numpy"}
    pack_weights(source, packed, rules_of(case), **how)
    want = files_of(packed)
    Path("rules.layout").write_text(TEXT + case.rules)
    words = ("-o", "plan.json", "--mem", str(how["mem"]), "--target", "numpy", "--out")
    ended = shell("plan", str(source), "--rules", "rules.layout", *words, str(packed))
    assert ended.code == 0, ended.err
    assert files_of(packed).items() >= want.items(), "until it is whole nothing is touched"
    in_any_order(shell, draw)
    assert files_of(packed) == want
    assert verify_weights(packed, source).fault is None
    try:
        unpack_weights(packed, back, **how)
    except TooLittleError as little:  # unpacking may take more than packing
        how["mem"] = little.needed
        unpack_weights(packed, back, **how)
    want = files_of(back)
    for each in want:
        Path(each).unlink()
    shards = ("--shards", str(draw.choice((1, 1, 9))))
    words = ("-o", "plan.json", "--mem", str(how["mem"]), "--target", "numpy", "--out")
    ended = shell("plan", str(packed), "--unpack", *shards, *words, str(back))
    assert ended.code == 0, ended.err
    in_any_order(shell, draw)
    assert files_of(back) == want


SMALL = """
layout Tiles(n, k) = [n/4, k/8, n%4, k%8]
tensor "q" = Tiles
tensor "**" = keep
"""


def small(seed: int = 1) -> None:
    from safetensors.numpy import save_file

    items = np.frombuffer(Random(seed).randbytes(64 * 48 * 2), "f2").reshape(64, 48)
    save_file({"q": items, "bias": items[0].copy()}, "in.safetensors")


def planned(shell: Shell, mem: int = 1 << 10, shards: int = 1) -> int:
    """Plan to pack the small file; returns the number of pieces."""
    small()
    Path("small.layout").write_text(SMALL)
    how = ("--mem", str(mem), "--shards", str(shards), "--target", "numpy", "-v")
    line = ("plan", "in.safetensors", "--rules", "small.layout", "-o", "plan.json")
    ended = shell(*line, *how[:-1], "--out", "out.safetensors")
    assert ended.code == 0, ended.err
    found = re.search(r"(\d+) pieces", ended.out + ended.err)
    assert found is not None
    return int(found[1])


def test_a_large_tensor_and_a_small_one_are_shared(shell: Shell) -> None:
    assert planned(shell, 1 << 20) == 2
    Path("out.safetensors.part").rename("other.part")
    Path("plan.json").unlink()
    assert planned(shell, 1 << 20, shards=12) >= 12
    ended = shell("run", "plan.json", "--shard", "3/4", "--target", "numpy", "-v")
    assert (ended.code, ended.err) == (0, "3/4 is done; not done: 0/4 to 2/4\n")
    assert not Path("out.safetensors").exists()
    assert run(shell, 0, 1)
    assert verify_weights("out.safetensors", "in.safetensors").fault is None
    found = contents_of(Path("out.safetensors"))
    assert found["q"][2] != found["bias"][2]


def test_an_archive_with_a_wrong_checksum_is_not_planned(shell: Shell) -> None:
    """No share reads all of a member, so it is looked at once, before there is a plan."""
    np.savez("in.npz", q=np.zeros((20, 70), "u1"))
    data = bytearray(Path("in.npz").read_bytes())
    data[700] ^= 1
    Path("in.npz").write_bytes(data)
    Path("r.layout").write_text('tensor "q"(n, k) = [k/64, n, k%64]')
    before = {each.name for each in Path().iterdir()}
    ended = shell("plan", "in.npz", "--rules", "r.layout", "-o", "plan.json", "--out", "out.npz")
    assert ended.code == 4
    assert "checksum" in ended.err
    assert {each.name for each in Path().iterdir()} == before


UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"format": "layoutdsl plan of weights 2"}, "is no plan of layoutdsl"),
    ({"rules": "left out"}, "lacks `rules`"),
    ({"rules": 1}, "says of `rules` what cannot be"),
    ({"rules": "layout A(n) = [m]"}, "has rules that are none"),
    ({"rules": 'tensor "q"(n, k) = [k, n]'}, "is of another plan"),
    ({"unruled": "bury"}, "says of `unruled` what cannot be"),
    ({"forms": ["safetensors"]}, "says of `forms` what cannot be"),
    ({"forms": ["safetensors", "pickle"]}, "says of `forms` what cannot be"),
    ({"cuts": [[1], "1"]}, "says of `cuts` what cannot be"),
    ({"cuts": [[1], [1 << 80]]}, "says of `cuts` what cannot be"),
    ({"cuts": []}, "is of another plan"),
    ({"place": "out"}, "says of `place` what cannot be"),
    ({"sources": []}, "says of `sources` what cannot be"),
    ({"target": "/nowhere/at/all"}, "has no unfinished output any more"),
    ({"token": "0" * 32}, "is of another plan"),
]


@pytest.mark.parametrize(("more", "words"), UNFIT, ids=lambda value: str(value)[:40])
def test_a_plan_that_does_not_fit(shell: Shell, more: dict[str, Any], words: str) -> None:
    planned(shell)
    changed(**more)
    refused(shell, 0, 1, words)


LIES: list[tuple[dict[str, Any], str]] = [
    ({"rules": 'tensor "q"(n, k) = [k, n]\ntensor "**" = keep'}, "does not fit|something else"),
    ({"rules": SMALL.replace("fill", "") + "\n", "unruled": "refuse"}, ""),
    ({"cuts": [[1]]}, "cuts 1 tensors, and there are 2"),
    ({"cuts": [[1], [1], [1]]}, "cuts 3 tensors"),
    ({"cuts": [[0], [1]]}, "does not fit the tensor"),
    ({"cuts": [[9, 9, 9], [9, 9, 9]]}, "does not fit the tensor"),
    ({"made": "0" * 64}, "means something else than it did"),
    ({"forms": ["safetensors", "npz"]}, "means something else|does not"),
]


@pytest.mark.parametrize(("more", "words"), LIES, ids=lambda value: str(value)[:40])
def test_a_plan_whose_output_is_there_under_its_hash_and_lies(
    shell: Shell, more: dict[str, Any], words: str
) -> None:
    """Whoever writes a plan anew, and calls the unfinished output after it, is not believed."""
    planned(shell)
    part, place = Path("out.safetensors.part"), Path("plan.json")
    said = json.loads(place.read_text())
    output = part / sha256(written(said)).hexdigest()
    assert output.exists()
    place.write_bytes(written(said | more))
    output.rename(part / sha256(place.read_bytes()).hexdigest())
    if words:
        refused(shell, 0, 1, words)
        return
    assert run(shell, 0, 1)
    assert verify_weights("out.safetensors", "in.safetensors").fault is None


def written(plan: dict[str, Any]) -> bytes:
    """A plan in the spelling of `layoutdsl plan`, whose hash is the name of its output."""
    return (json.dumps(plan, indent=2) + "\n").encode()


def test_an_input_that_has_changed_is_refused(shell: Shell) -> None:
    planned(shell)
    run(shell, 0, 2)
    before = Path("in.safetensors").stat()
    small(2)
    os.utime("in.safetensors", ns=(before.st_atime_ns, before.st_mtime_ns))
    refused(shell, 1, 2, "was drawn up before")


def test_what_was_to_lie_beside_is_put_there_after_a_kill(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two files the second one is missing, and whoever comes next has it."""
    case = drawn(Random(3), ("onnx",))
    case.write(Path("in.onnx"))
    Path("rules.layout").write_text(TEXT + case.rules)
    line = ("plan", "in.onnx", "--rules", "rules.layout", "-o", "plan.json", "--out", "out.onnx")
    assert shell(*line, "--target", "numpy").code == 0
    rename = os.rename

    def killed(source: Any, target: Any, **more: Any) -> None:
        rename(source, target, **more)
        if Path(target).name == "out.onnx.data":
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", killed)
        assert shell("run", "plan.json", "--target", "numpy").code == 130
    assert Path("out.onnx.data").exists()
    assert not Path("out.onnx").exists()
    assert run(shell, 0, 1)
    assert verify_weights("out.onnx", "in.onnx").fault is None
    assert not Path("out.onnx.data.part").exists()


PLAN = ["plan", "in.safetensors", "--rules", "r.layout", "-o", "plan.json", "--out"]
SAID = [
    (["plan", "in.safetensors", "-o", "p", "--out", "o.safetensors"], 2, "missing argument"),
    ([*PLAN, "plan.json"], 2, "the plan and what it makes are two files"),
    ([*PLAN, "in.safetensors"], 4, "`in.safetensors` is the input itself"),
    ([*PLAN, "r.layout"], 4, "`r.layout` is the spec itself"),
    ([*PLAN, "out.bin.x"], 2, "does not end in"),
    ([*PLAN, "o.safetensors", "--fill", "3"], 2, "--fill is for a single tensor"),
    ([*PLAN, "o.safetensors", "--mem", "1"], 2, "1 bytes of memory are too little"),
    ([*PLAN, "o.safetensors", "--unpack"], 2, "--unpack needs no rules"),
    (["plan", "A", "in.npy", "--strict", "-o", "p", "--out", "o"], 2, "--strict is for files of"),
    (["plan", "in.safetensors", "--unpack", "-o", "p", "--out", "o.npz"], 4, "says nothing under"),
]


@pytest.mark.parametrize(("line", "code", "words"), SAID)
def test_what_is_said(shell: Shell, line: list[str], code: int, words: str) -> None:
    small()
    Path("r.layout").write_text(SMALL)
    before = {each.name for each in Path().iterdir()}
    said = shell(*line)
    assert (said.code, words in said.err) == (code, True), said.err
    assert {each.name for each in Path().iterdir()} == before


def test_the_shell_there_and_back(shell: Shell) -> None:
    small()
    Path("r.layout").write_text(SMALL)
    assert shell(*PLAN, "out.safetensors", "--shards", "6", "--strict").code == 0
    said = shell("run", "plan.json", "--shard", "1/2", "-v")
    assert (said.code, said.err) == (0, "1/2 is done; not done: 0/2\n")
    said = shell("run", "plan.json", "--finish")
    assert (said.code, "`out.safetensors` is not whole; not done: 0/2" in said.err) == (4, True)
    assert shell("run", "plan.json").code == 0
    assert shell("verify", "out.safetensors", "--against", "in.safetensors").code == 0
    back = ["plan", "out.safetensors", "--unpack", "-o", "back.json", "--out", "back.safetensors"]
    assert shell(*back).code == 0
    said = shell("run", "back.json", "-v")
    assert (said.code, said.err) == (0, "0/1 is done; `back.safetensors` is whole\n")
    assert Path("back.safetensors").read_bytes() == Path("in.safetensors").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("count", ["16", pytest.param("40", marks=pytest.mark.campaign)])
def test_shares_that_are_killed(count: str) -> None:
    ended = campaign("--of", "weights", "--count", count)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for outcome in ("placed", "done", "killed"):
        assert f" {outcome}" in ended.stdout


@pytest.mark.campaign
@pytest.mark.parametrize("fault", ["hopeful", "forgetful"])
def test_faults_that_were_there_are_noticed(fault: str) -> None:
    ended = campaign("--of", "weights", "--count", "300", "--planted", fault)
    assert (ended.returncode, ended.stderr) == (1, "")


@pytest.mark.campaign
def test_more_shares_that_are_killed() -> None:
    ended = campaign("--of", "weights", "--count", "3000", "--seed", "1000")
    print(ended.stdout)
    assert ended.returncode == 0, ended.stdout + ended.stderr
