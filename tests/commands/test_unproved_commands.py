"""Commands refuse an undecided layout with exit code 3, and name the ways on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_shell import Shell, shell

__all__ = ["shell"]

KV = "layout KV(b, t, h, d) = [b, (t/16%4096*H + h)*D + d : 4096*H*D, t%16]"
RIGHT, WRONG = (1, 65536, 1, 1), (1, 65600, 1, 1)

MOVES = (
    "pack kv.layout in.npy out.npy",
    "pack kv.layout in.npy out.npy --mem 8M",
    "pack kv.layout in.bin out.bin --raw i32 --shape 1,65536,1,1",
    "pack kv.layout in.npy out.npy --bytes",
    "unpack kv.layout packed.npy out.npy --shape 1,65536,1,1",
    "unpack kv.layout packed.npy out.npy --shape 1,65536,1,1 --mem 8M",
    "convert kv.layout rows.layout packed.npy out.npy --shape 1,65536,1,1",
)
OTHERS = (
    "generate kv.layout -o out.py",
    "generate kv.layout --target c -o out.c",
    "formula kv.layout --as cuda",
    "formula kv.layout --as mlir",
)
WITHOUT_OPTION = (
    "plan kv.layout in.npy -o plan.json --out out.npy",
    "bench kv.layout --shape 1,16,2,2",
    "tune kv.layout --shape 1,16,2,2",
)


@pytest.fixture
def files(shell: Shell) -> Shell:
    Path("kv.layout").write_text(f"{KV} of i4\n".replace("i4", "i32"))
    Path("rows.layout").write_text("layout Rows(b, t, h, d) = [b, t, h, d] of i32\n")
    for name, shape in (("in", RIGHT), ("wrong", WRONG)):
        tensor = np.arange(1, 1 + int(np.prod(shape)), dtype="i4").reshape(shape)
        np.save(f"{name}.npy", tensor)
        tensor.tofile(f"{name}.bin")
    np.save("packed.npy", np.zeros((1, 4096, 16), "i4"))
    return shell


@pytest.mark.slow
@pytest.mark.parametrize("line", [*MOVES, *OTHERS])
def test_an_undecided_layout_is_refused(line: str, files: Shell) -> None:
    before = {*Path().iterdir()}
    done = files(*line.split(), stdin=b"")
    assert done.code == 3, done.err
    assert "`KV` is undecided: no proof was found that no two elements share a slot" in done.err
    assert 'it is proved where T <= 65536: add --where "T <= 65536"' in done.err
    assert "--unproved" in done.err
    assert {*Path().iterdir()} == before


@pytest.mark.slow
@pytest.mark.parametrize("line", WITHOUT_OPTION)
def test_commands_without_the_option_refuse_too(line: str, files: Shell) -> None:
    before = {*Path().iterdir()}
    done = files(*line.split())
    assert done.code == 3, done.err
    assert "write `where T <= 65536` in the layout" in done.err
    assert "--unproved" not in done.err
    assert {*Path().iterdir()} == before


@pytest.mark.sampled(4)
@pytest.mark.parametrize("line", MOVES)
def test_where_narrows_to_a_range_that_is_proved(line: str, files: Shell) -> None:
    done = files(*line.split(), "--where", "T <= 65536")
    assert done.code == 0, done.err


@pytest.mark.sampled(10)
@pytest.mark.parametrize("line", MOVES)
def test_unproved_checks_the_shape(line: str, files: Shell) -> None:
    assert files(*line.split(), "--unproved").code == 0
    wrong = line.replace("in.", "wrong.").replace("65536", "65600")
    for each in Path().glob("out.*"):
        each.unlink()
    done = files(*wrong.split(), "--unproved")
    assert done.code == 1, done.err
    assert "error: `KV` is wrong at this shape, so nothing is written" in done.err
    assert "(b=0, t=0, h=0, d=0) -> offset 0" in done.err
    assert "(b=0, t=65536, h=0, d=0) -> offset 0" in done.err
    assert not [*Path().glob("out.*")]


def test_packed_and_unpacked_unproved(files: Shell) -> None:
    assert files("pack", "kv.layout", "in.npy", "out.npy", "--unproved").code == 0
    back = ("unpack", "kv.layout", "out.npy", "back.npy", "--shape", "1,65536,1,1", "--unproved")
    assert files(*back).code == 0
    assert Path("back.npy").read_bytes() == Path("in.npy").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("line", OTHERS)
def test_unproved_code_says_so(line: str, files: Shell) -> None:
    done = files(*line.split(), "--unproved")
    assert done.code == 0, done.err
    written = [each.read_text() for each in Path().glob("out.*")] or [done.out]
    assert all("unproved" in text for text in written)


def test_an_empty_range_and_one_that_is_none(files: Shell) -> None:
    assert files("pack", "kv.layout", "in.npy", "out.npy", "--where", "").code == 2
    done = files("pack", "kv.layout", "in.npy", "out.npy", "--where", "X <= 3")
    assert done.code == 2
    assert "X" in done.err
    done = files("pack", "kv.layout", "wrong.npy", "out.npy", "--where", "T <= 65536")
    assert done.code == 4
    assert "T <= 65536" in done.err


WEIGHTS = 'tensor "w" = KV\nlayout KV(a, b) = [(a*a + b)%1000003, b : 2] where B == 2\n'


@pytest.mark.slow
def test_weights_are_refused_and_checked(files: Shell) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    Path("rules.layout").write_text(WEIGHTS)
    pack = ("pack", "w.safetensors", "--rules", "rules.layout", "-o", "packed.safetensors")
    right = np.arange(600, dtype="f4").reshape(300, 2)
    safetensors.save_file({"w": right}, "w.safetensors")
    done = files(*pack)
    assert done.code == 3, done.err
    assert "--unproved" in done.err
    assert not Path("packed.safetensors").exists()
    assert files(*pack, "--unproved").code == 0
    back = ("unpack", "packed.safetensors", "-o", "back.safetensors")
    assert files(*back).code == 3
    assert files(*back, "--unproved").code == 0
    assert np.array_equal(safetensors.load_file("back.safetensors")["w"], right)
    Path("packed.safetensors").unlink()
    safetensors.save_file({"w": np.zeros((600_000, 2), "f4")}, "w.safetensors")
    done = files(*pack, "--unproved")
    assert done.code == 1, done.err
    assert not Path("packed.safetensors").exists()
    assert files(*pack, "--where", "A <= 5").code == 2
