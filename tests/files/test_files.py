"""Where a result goes and how it is put there: links, pipes, permissions, shared folders."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from layoutdsl import OccupiedError
from layoutdsl.files import whole
from layoutdsl.files.ownership import overwriting
from layoutdsl.files.places import followed, identity, is_same_file, refuse_input, replaceable
from layoutdsl.files.whole import created, replacing, write_whole

ROOT = os.geteuid() == 0
NOBODY = 65534


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def names() -> set[str]:
    return {each.name for each in Path().iterdir()}


def test_a_whole_file_takes_the_place_of_an_old_one() -> None:
    path = Path("module.py")
    write_whole(path, "one\r\ntwo\n")
    assert path.read_bytes() == b"one\r\ntwo\n"
    path.chmod(0o640)
    write_whole(str(path), "é")
    assert path.read_bytes() == "é".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names() == {"module.py"}


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o027, 0o077])
def test_a_new_file_gets_what_the_umask_leaves(mask: int) -> None:
    old = os.umask(mask)
    try:
        write_whole("new", "")
    finally:
        os.umask(old)
    assert stat.S_IMODE(Path("new").stat().st_mode) == 0o666 & ~mask


def test_nobody_else_reads_what_is_not_done() -> None:
    old = os.umask(0)
    try:
        with replacing("out") as file:
            file.write(b"half")
            file.flush()
            (temporary,) = names()
            assert stat.S_IMODE(Path(temporary).stat().st_mode) == 0o600
            assert not Path("out").exists()
    finally:
        os.umask(old)
    assert Path("out").read_bytes() == b"half"


def test_what_is_given_to_others_is_not_kept() -> None:
    Path("out").write_text("old")
    Path("out").chmod(0o4777)
    with overwriting(True):
        write_whole("out", "new")
    assert stat.S_IMODE(Path("out").stat().st_mode) == 0o777


def test_a_link_keeps_pointing() -> None:
    Path("folder").mkdir()
    Path("target").write_text("old")
    Path("folder/link").symlink_to("../target")
    Path("second").symlink_to("folder/link")
    with overwriting(True):
        write_whole("second", "new")
    assert Path("second").is_symlink()
    assert Path("folder/link").is_symlink()
    assert Path("target").read_text() == "new"
    assert names() == {"folder", "second", "target"}


def test_a_link_to_nothing_yet() -> None:
    Path("link").symlink_to("target")
    write_whole("link", "new")
    assert Path("target").read_text() == "new"
    assert Path("link").is_symlink()


def test_links_in_a_circle() -> None:
    Path("one").symlink_to("other")
    Path("other").symlink_to("one")
    with pytest.raises(OSError, match="symbolic links"):
        write_whole("one", "new")
    assert names() == {"one", "other"}


@pytest.mark.skipif(not ROOT, reason="links of other users are made by root")
@pytest.mark.parametrize("mode", [0o1777, 0o777])
def test_a_link_that_somebody_else_has_set_is_not_followed(mode: int) -> None:
    """Linux would not open it in a folder such as /tmp; putting a file there has to be as wary."""
    Path("target").write_text("precious")
    Path("shared").mkdir()
    Path("shared").chmod(mode)
    Path("shared/out").symlink_to("../target")
    os.lchown("shared/out", NOBODY, NOBODY)
    with pytest.raises(OccupiedError, match="is a link of another user, in a folder that all may"):
        write_whole("shared/out", "new")
    assert Path("target").read_text() == "precious"
    Path("shared").chmod(0o755)
    assert followed("shared/out").samefile("target")


STEPS: list[tuple[object, str]] = [(os, "fsync"), (os, "fchmod"), (Path, "replace")]


@pytest.mark.parametrize(("owner", "step"), STEPS, ids=[step for _, step in STEPS])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, owner: object, step: str
) -> None:
    Path("module.py").write_text("old")

    def fail(*_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(owner, step, fail)
        with overwriting(True), pytest.raises(OSError, match="no space"):
            write_whole("module.py", "new")
    assert Path("module.py").read_text() == "old"
    assert names() == {"module.py"}


def test_what_fails_while_it_is_written_leaves_nothing() -> None:
    def half() -> None:
        with replacing("out") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert names() == set()


def test_a_missing_folder_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        write_whole("missing/file", "")


def test_a_folder_is_no_file() -> None:
    Path("folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_whole("folder", "")
    assert names() == {"folder"}


def test_a_name_as_long_as_they_may_be() -> None:
    name = "ü" * 127
    write_whole(name, "text")
    assert names() == {name}


def test_a_pipe_is_written_and_stays() -> None:
    os.mkfifo("pipe")
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(Path("pipe").read_text()))
    reader.start()
    write_whole("pipe", "text")
    reader.join()
    assert found == ["text"]
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)


def test_a_pipe_that_becomes_a_file_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo("pipe")
    found = Path("pipe").stat()
    Path("pipe").unlink()
    Path("precious").write_text("mine")
    Path("pipe").symlink_to("precious")
    monkeypatch.setattr(whole, "status", lambda _: found)
    with pytest.raises(OccupiedError, match="`pipe` has become a file; start again"):
        write_whole("pipe", "text")
    assert Path("precious").read_text() == "mine"


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="no /dev/null on this system")
def test_a_device_is_written_and_stays() -> None:
    write_whole("/dev/null", "text")
    assert Path("/dev/null").is_char_device()
    Path("link").symlink_to("/dev/null")
    write_whole("link", "text")
    assert Path("link").is_symlink()
    with pytest.raises(OccupiedError, match="`/dev/null` is no plain file"):
        replaceable("/dev/null")


def as_nobody(task: Callable[[], None], folder: str) -> None:
    """Do something in a folder as a user who may not do everything, in a process of its own."""
    os.chdir(folder)
    Path(folder).chmod(0o777)
    if not ROOT:
        task()
        return
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            task()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


def test_a_file_that_is_protected_stays() -> None:
    def attempt() -> None:
        Path("mine").write_text("precious")
        Path("mine").chmod(0o444)
        with pytest.raises(PermissionError, match="it is protected from being written"):
            write_whole("mine", "new")
        assert Path("mine").read_text() == "precious"

    with TemporaryDirectory() as folder:  # that others may get into
        as_nobody(attempt, folder)
        assert names() == {"mine"}


def test_a_temporary_file_follows_no_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where its name could be guessed."""
    monkeypatch.setattr(whole.secrets, "token_hex", lambda _: "guessed")
    Path("precious").write_text("mine")
    Path(".out.guessed.tmp").symlink_to("precious")
    with pytest.raises(FileExistsError):
        write_whole("out", "new")
    assert Path("precious").read_text() == "mine"
    assert names() == {"precious", ".out.guessed.tmp"}


def test_a_file_is_created_where_nothing_is() -> None:
    Path("there").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        created(Path("there"), None)
    assert names() == {"there"}


# One file under two names.


def test_one_file_under_two_names() -> None:
    Path("folder").mkdir()
    Path("one").write_text("text")
    Path("other").write_text("text")
    Path("soft").symlink_to("one")
    Path("hard").hardlink_to("one")
    for name in ("one", "./one", "folder/../one", "soft", "hard", str(Path("one").resolve())):
        assert is_same_file("one", name)
        with pytest.raises(OccupiedError, match="is the input itself, and is not replaced; write"):
            refuse_input(name, "one", "input")
    for name in ("other", "missing", "folder", "/dev/null", "one\0", "one/two"):
        assert not is_same_file("one", name)
        refuse_input(name, "one", "input")
    assert not is_same_file("missing", "missing")
    assert not is_same_file("/dev/null", "/dev/null")
    with Path("one").open() as file:
        assert is_same_file(file.fileno(), "hard")
    assert not is_same_file(-1, "one")


def test_every_write_gives_another_identity() -> None:
    """Even one in the same tick of the clock, and one whose time is put back."""
    path = Path("file")
    path.write_text("0")
    for number in range(1, 10):
        before, times = identity(path), path.stat()
        with path.open("r+") as file:
            file.write(str(number))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        after = identity(path)
        assert after != before
        assert (after.inode, after.size, after.modified) == (
            before.inode,
            before.size,
            before.modified,
        )
    other = Path("other")
    other.write_text("9")
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.replace(path)
    assert identity(path).inode != after.inode


def test_what_was_written_long_ago_is_not_waited_for() -> None:
    Path("file").write_text("text")
    identity("file")
    begun = time.monotonic()
    for _ in range(100):
        identity("file")
    assert time.monotonic() - begun < 0.5
