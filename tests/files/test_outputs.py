"""Outputs: whose file is replaced, who may read them, and what is refused before the work."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from cli_shell import Shell
from cli_shell import shell as shell

import layoutdsl
from layoutdsl import OccupiedError, pack_file, pack_weights, unpack_file, unpack_weights

LAYOUT = "layout A(n, c) = [n/4, c, n%4]\n"
RULES = 'tensor "*.w"(n, c) = [n/4, c, n%4]\n'
RECORD = "record R(r) = { a(r) = [r, 0 : 2] of u8  b(r) = [r, 1 : 2] of u8 }\n"
FOREIGN = b"precious\n"
ROOT = os.geteuid() == 0


@pytest.fixture
def files(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Inputs of every kind, which everybody may read, and a cache of the test's own."""
    monkeypatch.setenv("LAYOUTDSL_CACHE", str(Path("cache").absolute()))
    tensor = np.arange(12, dtype="f4").reshape(4, 3)
    np.save("in.npy", tensor)
    tensor.tofile("in.f32")
    np.savez("in.npz", **{"m.w": tensor, "m.b": tensor[0]})
    np.savez("fields.npz", a=np.arange(6, dtype="u1"), b=np.arange(6, dtype="u1"))
    Path("a.layout").write_text(LAYOUT)
    Path("nc.layout").write_text("layout NC(n, c) = [c, n]\n")
    Path("rules.layout").write_text(RULES)
    Path("record.layout").write_text(RECORD)
    assert shell("pack", "a.layout", "in.npy", "packed.npy").code == 0
    assert shell("pack", "in.npz", "--rules", "rules.layout", "-o", "packed.npz").code == 0
    return shell


COMMANDS = {
    "pack": "pack a.layout in.npy {}.npy",
    "pack in pieces": "pack a.layout in.npy {}.npy --mem 1M",
    "pack raw": "pack a.layout in.f32 {}.raw --raw f32 --shape 4,3",
    "unpack": "unpack a.layout packed.npy {}.npy --shape 4,3",
    "unpack in pieces": "unpack a.layout packed.npy {}.npy --shape 4,3 --jobs 2",
    "convert": "convert a.layout nc.layout packed.npy {}.npy --shape 4,3",
    "pack a record": "pack record.layout:R fields.npz {}.npy",
    "pack rows": "pack record.layout:R fields.npz {}.npy --mem 1M",
    "pack weights": "pack in.npz --rules rules.layout -o {}.safetensors",
    "pack to gguf": "pack in.npz --rules rules.layout -o {}.gguf",
    "pack to onnx": "pack in.npz --rules rules.layout -o {}.onnx",
    "unpack weights": "unpack packed.npz -o {}.npz",
    "unpack to onnx": "unpack packed.npz -o {}.onnx",
    "generate": "generate a.layout -o {}.py",
    "generate C": "generate a.layout --target c -o {}.c",
    "generate a record": "generate record.layout:R -o {}/",
    "show": "show a.layout --shape 4,3 --as svg -o {}.svg",
    "diff": "diff NCHW NHWC --as html -o {}.html",
    "prove": "prove a.layout --as html -o {}.html",
    "plan": "plan a.layout in.npy -o {}.json --out planned.npy",
    "plan an output": "plan a.layout in.npy -o other.json --out {}.npy",
    "plan weights": "plan in.npz --rules rules.layout -o other.json --out {}.npz",
}


def ran(shell: Shell, line: str, *more: str) -> tuple[int, str]:
    ended = shell(*shlex.split(line), *more)
    return ended.code, ended.out + ended.err


def is_done(name: str, code: int) -> bool:
    """Whether a command has done its work; `diff` says with 1 that layouts differ."""
    return code == (1 if name == "diff" else 0)


def target(line: str) -> str:
    """The file that a command line writes; `{}` stands for the name."""
    name = next(each for each in line.split() if "{}" in each)
    return "{}/__init__.py" if name.endswith("/") else name


@pytest.mark.sampled(20)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_foreign_file_stays_without_force(files: Shell, name: str) -> None:
    line = COMMANDS[name]
    place = Path(target(line).format("notes"))
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(FOREIGN)
    before = {each for each in Path().iterdir() if each.name not in ("cache", "other.json")}
    code, said = ran(files, line.format("notes"))
    assert code == 4
    assert f"`{place}` exists and was not written by layoutdsl\n" in said
    assert said.endswith("  = help: use another name, or --force to replace it\n")
    assert place.read_bytes() == FOREIGN
    after = {each for each in Path().iterdir() if each.name not in ("cache", "other.json")}
    assert after == before
    assert is_done(name, ran(files, line.format("notes"), "--force")[0])
    if "plan" not in name:
        assert place.read_bytes() != FOREIGN


REPLACED = [name for name in COMMANDS if "plan" not in name]


@pytest.mark.sampled(13)
@pytest.mark.parametrize("name", REPLACED)
def test_our_own_output_is_replaced_freely(files: Shell, name: str) -> None:
    line = COMMANDS[name]
    for _ in range(3):
        code, said = ran(files, line.format("ours"))
        assert is_done(name, code), said
    place = Path(target(line).format("ours"))
    place.chmod(0o640)
    assert is_done(name, ran(files, line.format("ours"))[0])
    assert place.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["pack", "pack in pieces", "unpack", "unpack weights", "pack raw"])
def test_an_output_that_somebody_changed_is_foreign(files: Shell, name: str) -> None:
    line, place = COMMANDS[name].format("ours"), Path(target(COMMANDS[name]).format("ours"))
    assert ran(files, line)[0] == 0
    whole = place.read_bytes()
    changed = whole[:-1] + bytes([whole[-1] ^ 1])
    with place.open("r+b") as file:  # in place, of the same size
        file.write(changed)
    assert ran(files, line)[0] == 4
    assert place.read_bytes() == changed
    place.unlink()
    place.write_bytes(whole)
    assert ran(files, line)[0] == 4


@pytest.mark.parametrize("name", ["pack weights", "pack to gguf", "generate", "show"])
def test_marked_outputs_are_ours_on_another_machine(
    files: Shell, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = COMMANDS[name].format("ours")
    assert ran(files, line)[0] == 0
    monkeypatch.setenv("LAYOUTDSL_CACHE", str(Path("other cache").absolute()))
    assert ran(files, line)[0] == 0


def test_a_foreign_array_beside_our_account_stays(files: Shell) -> None:
    """The account lies in another file, and says nothing about who wrote this one."""
    Path("one.layout").write_text('tensor "array"(n, c) = [n/4, c, n%4]')
    line = "pack in.npy --rules one.layout -o out.npy"
    assert ran(files, line)[0] == 0
    precious = np.load("out.npy") + 1
    np.save("out.npy", precious)
    assert ran(files, line)[0] == 4
    assert np.array_equal(np.load("out.npy"), precious)


def test_links_lead_to_what_is_asked_about(files: Shell) -> None:
    Path("notes").write_bytes(FOREIGN)
    Path("link.npy").symlink_to("notes")
    code, said = ran(files, "pack a.layout in.npy link.npy")
    assert code == 4
    assert "`link.npy` exists and was not written by layoutdsl" in said
    assert Path("notes").read_bytes() == FOREIGN
    assert ran(files, "pack a.layout in.npy link.npy --force")[0] == 0
    assert ran(files, "pack a.layout in.npy link.npy")[0] == 0
    assert Path("link.npy").is_symlink()


@pytest.mark.slow
def test_what_holds_nothing_is_written_freely(files: Shell) -> None:
    Path("empty.npy").touch()
    for place in ("empty.npy", "/dev/null"):
        assert ran(files, f"pack a.layout in.npy {place}")[0] == 0
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:
        assert ran(files, "pack a.layout in.npy pipe")[0] == 0
        assert reader.communicate()[0] == Path("empty.npy").read_bytes()
    start = f"{shlex.quote(sys.executable)} -m layoutdsl pack a.layout in.npy /dev/stdout"
    subprocess.run(["/bin/sh", "-c", f"{start} > out.npy"], check=True)
    subprocess.run(["/bin/sh", "-c", f"{start} > out.npy"], check=True)
    assert Path("out.npy").read_bytes() == Path("empty.npy").read_bytes()


def test_without_a_ledger_force_is_needed(files: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("blocked").write_text("no folder")
    monkeypatch.setenv("LAYOUTDSL_CACHE", str(Path("blocked").absolute()))
    assert ran(files, "pack a.layout in.npy out.npy")[0] == 0
    code, said = ran(files, "pack a.layout in.npy out.npy")
    assert code == 4
    assert "or --force to replace it (earlier outputs are not remembered: " in said
    assert ran(files, "pack a.layout in.npy out.npy --force")[0] == 0


@pytest.mark.slow
def test_the_ledger_stays_small(files: Shell) -> None:
    """The ledger forgets its oldest entries once it has more than 4096."""
    assert ran(files, "pack a.layout in.npy old.npy")[0] == 0
    for number in range(4096):
        Path(f"cache/outputs/{number}").touch()
    assert ran(files, "pack a.layout in.npy new.npy")[0] == 0
    left = len(list(Path("cache/outputs").iterdir()))
    assert 3000 < left <= 4096
    assert ran(files, "pack a.layout in.npy new.npy")[0] == 0
    assert ran(files, "pack a.layout in.npy old.npy")[0] == 4


@pytest.mark.slow
def test_processes_at_once_remember_their_outputs(files: Shell) -> None:
    start = [sys.executable, "-m", "layoutdsl", "pack", "a.layout", "in.npy"]
    running = [subprocess.Popen([*start, f"{number % 2}.npy"]) for number in range(6)]
    for each in running:
        each.wait()
    for number in range(2):
        assert ran(files, f"pack a.layout in.npy {number}.npy")[0] == 0


@pytest.mark.slow
def test_functions_ask_for_force_too(files: Shell) -> None:
    assert files("--version").code == 0
    layout = layoutdsl.load("a.layout")["A"]
    rules = layoutdsl.load("rules.layout")
    record = layoutdsl.load("record.layout").records["R"]
    generated = layoutdsl.generate(layout)

    def written(place: str, **force: bool) -> None:
        match place:
            case "a.npy":
                pack_file(layout, "in.npy", place, **force)
            case "b.npy":
                unpack_file(layout, "packed.npy", place, (4, 3), **force)
            case "c.npz":
                pack_weights("in.npz", place, rules, **force)
            case "d.npz":
                unpack_weights("packed.npz", place, **force)
            case "e.py":
                generated.write(place, **force)
            case "f.c":
                layoutdsl.generate_c(layout).write(place, **force)
            case "g/__init__.py":
                layoutdsl.generate_record(record).write("g", **force)

    Path("g").mkdir()
    for place in ("a.npy", "b.npy", "c.npz", "d.npz", "e.py", "f.c", "g/__init__.py"):
        Path(place).write_bytes(FOREIGN)
        words = (
            f"`{place}` exists and was not written by layoutdsl; use another name, or force=True"
        )
        with pytest.raises(OccupiedError, match=words):
            written(place)
        with pytest.raises(OccupiedError):
            written(place, force=False)
        assert Path(place).read_bytes() == FOREIGN
        written(place, force=True)
        written(place)
        assert Path(place).read_bytes() != FOREIGN
    with pytest.raises(TypeError, match="`force`"):
        pack_file(layout, "in.npy", "a.npy", force=1)  # type: ignore[arg-type]
    assert list(Path("g").glob(".*")) == []


# Who may read an output.

PRIVATE = {
    **{name: line for name, line in COMMANDS.items() if name.startswith(("pack", "unpack"))},
    "convert": COMMANDS["convert"],
}


@contextmanager
def umask(mode: int) -> Iterator[None]:
    old = os.umask(mode)
    try:
        yield
    finally:
        os.umask(old)


@pytest.mark.sampled(18)
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400, 0o666])
@pytest.mark.parametrize("name", PRIVATE)
def test_outputs_are_no_more_readable_than_inputs(files: Shell, name: str, mode: int) -> None:
    line = PRIVATE[name]
    for each in ("in.npy", "in.f32", "in.npz", "fields.npz", "packed.npy", "packed.npz"):
        Path(each).chmod(mode)
    before = set(Path().iterdir())
    with umask(0o022):
        for _ in range(2):
            assert ran(files, line.format("ours"))[0] == 0
    made = set(Path().iterdir()) - before
    assert made
    for each in made:
        found = each.stat().st_mode & 0o777
        assert found == (mode | 0o600) & 0o644, each
        each.chmod(0o644)  # wider than the input: narrowed again
    with umask(0o022):
        assert ran(files, line.format("ours"))[0] == 0
    assert {each.stat().st_mode & 0o777 for each in made} == {(mode | 0o600) & 0o644}


def test_fields_of_records_in_private_files(files: Shell) -> None:
    np.save("a.npy", np.arange(6, dtype="u1"))
    np.save("b.npy", np.arange(6, dtype="u1"))
    Path("b.npy").chmod(0o600)
    line = "pack record.layout:R out.npy --field a=a.npy --field b=b.npy"
    with umask(0o022):
        assert ran(files, line)[0] == 0
    assert Path("out.npy").stat().st_mode & 0o777 == 0o600


def test_shares_of_private_weights(files: Shell) -> None:
    assert files("--version").code == 0
    Path("in.npz").chmod(0o600)
    with umask(0):
        line = "plan in.npz --rules rules.layout -o plan.json --out out.onnx"
        assert ran(files, line)[0] == 0
        parts = [each.stat().st_mode & 0o777 for each in Path("out.onnx.data.part").iterdir()]
        assert ran(files, "run plan.json")[0] == 0
        assert ran(files, "run plan.json --finish")[0] == 0
    assert set(parts) == {0o600}
    for name in ("out.onnx", "out.onnx.data"):
        assert Path(name).stat().st_mode & 0o777 == 0o600


# What cannot be put in its place is refused before the work.


@contextmanager
def nobody() -> Iterator[None]:
    """Go on as a user without rights, where tests are run by root, as in CI."""
    if not ROOT:
        pytest.skip("files of another user are made by root")
    os.setegid(65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def work_is_refused(files: Shell, line: str) -> str:
    """Why a command is refused, which leaves nothing and has moved nothing."""
    place = Path(line.split()[3]).parent
    before = {each: each.read_bytes() for each in place.iterdir()}
    code, said = ran(files, line)
    assert code == 4
    assert "piece" not in said
    with suppress(OSError):
        assert {each: each.read_bytes() for each in place.iterdir()} == before
    return said


@pytest.fixture
def everybody(files: Shell, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """The same inputs in a folder that others may enter, which those of pytest are not."""
    with TemporaryDirectory() as folder:
        for name in ("a.layout", "in.npy"):
            shutil.copy(name, folder)
        Path(folder).chmod(0o755)
        monkeypatch.chdir(folder)
        yield files
        monkeypatch.undo()


def test_a_file_of_another_in_a_sticky_folder(everybody: Shell) -> None:
    Path("shared").mkdir()
    Path("shared").chmod(0o1777)
    Path("shared/out.npy").touch()
    Path("shared/out.npy").chmod(0o666)
    with nobody():
        for more in ("", " --mem 1M", " --force", " --mem 1M --force"):
            said = work_is_refused(everybody, f"pack a.layout in.npy shared/out.npy{more}")
            words = "it belongs to another user, and in its folder only owners replace files"
            assert f"`shared/out.npy` cannot be written: {words}\n" in said
    assert list(Path("shared").iterdir()) == [Path("shared/out.npy")]


def test_a_folder_that_may_not_be_written(everybody: Shell) -> None:
    Path("closed").mkdir(mode=0o755)
    with nobody():
        for more in ("", " --mem 1M"):
            said = work_is_refused(everybody, f"pack a.layout in.npy closed/out.npy{more}")
            assert "`closed/out.npy` cannot be written: its folder is protected" in said


def test_a_folder_in_the_place_of_an_output(files: Shell) -> None:
    Path("folder").mkdir()
    for line in ("pack a.layout in.npy folder", "pack in.npz --rules rules.layout -o folder.npz"):
        Path("folder.npz").mkdir(exist_ok=True)
        code, said = ran(files, line)
        assert code == 4
        assert "is a directory" in said
