"""Plans: shares in any order, in several processes, killed, done twice; and plans that do not fit.

More of the kills: `python -m tests.support.crashes --of plans --count 10000`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from small_files import BLOCKED, ROW, Stopped, changed, random_tensor, stopping
from test_crashes import campaign
from texts import layout

from layoutdsl import Layout, OccupiedError, UnreadableError, pack_file
from layoutdsl import compile as compiled
from layoutdsl.commands import finish_plan, load_plan, plan_file, run_share
from layoutdsl.files.pieces import shared
from layoutdsl.files.pieces.cut import cut, cut_by
from layoutdsl.files.pieces.plan import PlanError
from layoutdsl.files.pieces.share import Share

SHAPE = (30, 35)
PART = Path("out.npy.part")


@pytest.fixture(autouse=True)
def tensor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shared, "PATIENCE", 0.1)
    made = random_tensor(SHAPE)
    np.save("in.npy", made)
    return made


def planned(found: Layout = BLOCKED, verb: Any = "pack", **more: Any) -> int:
    how = {"mem": ROW, "target": "numpy", **more}
    return plan_file(verb, found, "in.npy", "out.npy", "plan.json", **how)


def run(number: int, of: int, **more: Any) -> list[str]:
    """Do a share; returns the names of those that are missing."""
    standing = run_share(load_plan("plan.json"), number, of, target="numpy", **more)
    assert standing.placed == Path("out.npy").exists() == (not standing.missing)
    return [str(each) for each in standing.missing]


def test_shares_in_any_order(tensor: np.ndarray) -> None:
    assert planned() == 30
    assert run(3, 4) == ["0/4", "1/4", "2/4"]
    assert run(1, 4) == ["0/4", "2/4"]
    assert run(1, 4) == ["0/4", "2/4"]
    assert run(0, 4) == ["2/4"]
    assert finish_plan(load_plan("plan.json")).missing == (Share(2, 4),)
    assert PART.stat().st_mode & 0o777 == 0o700
    assert run(2, 4) == []
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor))
    assert not PART.exists()
    assert run(2, 4) == []
    assert finish_plan(load_plan("plan.json")).placed


def test_shares_of_other_numbers_do_what_is_left(tensor: np.ndarray) -> None:
    planned()
    assert run(0, 2) == ["1/2"]
    assert run(4, 5) == ["2/5", "3/5"]  # half of 2/5 is done
    looks: list[Any] = []
    assert run(0, 1, look=looks.append) == []
    assert len(looks) == 30 - 15 - 6
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor))


@pytest.mark.sampled(21)
@pytest.mark.parametrize("of", [1, 2, 9])
@pytest.mark.parametrize(
    ("text", "shape", "most", "more"),
    [
        ("layout A(n, c) = [c, n]", (30, 35), 1050, {}),
        ("layout A(n, c) = [n, c/4, c%4] offset 5", (9, 70), 162, {"fill": 9}),
        ("layout A(n, c) = [(n, c)%3, (n, c)/3]", (9, 70), 1, {"mem": 1 << 20}),
        ("layout A(n, c) = [n/8, c/8; n%8, c%8] fill 7", (61, 16), 16, {"raw": "u1"}),
        ("layout A(n, c, x: 3 broadcast) = [n/4, x, c, n%4]", (30, 35), 8, {"mem": 4000}),
        ("layout A(x: 2 broadcast, n, c) = [n, x, c] offset 5", (9, 70), 9, {"fill": 9}),
        (
            "layout A(n, c, x: N broadcast) = [x, c/8, n, c%8] fill 7",
            (9, 16),
            1,
            {"raw": "u1", "mem": 9000},
        ),
    ],
)
def test_there_and_back(
    text: str, shape: tuple[int, ...], most: int, more: dict[str, Any], of: int
) -> None:
    found, made = layout(text), random_tensor(shape)
    raw = "raw" in more
    made.tofile("in.npy") if raw else np.save("in.npy", made)
    how = {"mem": 900, "shards": of, **more, "shape": shape if raw else None}
    assert planned(found, **how) >= min(of, most)
    for number in Random(of).sample(range(of), of):
        missing = run(number, of)
    assert missing == []
    content, want = Path("in.npy").read_bytes(), Path("out.npy").read_bytes()
    given = {"fill": more["fill"]} if "fill" in more else {}
    assert want.endswith(compiled(found, "numpy").pack(made, **given).tobytes())
    Path("in.npy").write_bytes(want)
    Path("out.npy").unlink()
    del how["shape"]
    how.pop("fill", None)
    planned(found, "unpack", shape=shape, **how)
    for number in range(of):
        run(number, of)
    assert Path("out.npy").read_bytes() == content


def test_an_interrupted_share_goes_on(tensor: np.ndarray) -> None:
    planned()
    with pytest.raises(Stopped):
        run(1, 2, look=stopping(6))
    assert run(0, 2) == ["1/2"]
    told: list[str] = []
    looks: list[Any] = []
    assert run(1, 2, look=looks.append, tell=told.append) == []
    assert (told, len(looks)) == (["going on: 6 of 15 pieces are done"], 9)
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor))


def test_what_is_damaged_meanwhile_is_done_again(tensor: np.ndarray) -> None:
    planned()
    with pytest.raises(Stopped):
        run(0, 1, look=stopping(6))
    (whole,) = [each for each in PART.iterdir() if len(each.name) == 64]
    with whole.open("r+b") as file:
        file.seek(128 + 48 * 2)
        file.write(b"\xff" * 48)
    told: list[str] = []
    assert run(0, 1, tell=told.append) == []
    again = "; 1 that no longer agree with input or output are done again"
    assert told == [f"going on: 5 of 30 pieces are done{again}"]
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor))


def test_a_journal_that_is_damaged_is_begun_anew(tensor: np.ndarray) -> None:
    planned()
    with pytest.raises(Stopped):
        run(0, 1, look=stopping(6))
    (PART / "0-of-1").write_bytes(b"nonsense")
    assert run(0, 1) == []
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor))


@pytest.mark.slow
@pytest.mark.usefixtures("tensor")
def test_a_share_is_done_by_one_at_a_time() -> None:
    planned()
    said: list[str] = []

    def look(_: np.ndarray) -> None:
        if not said:
            with pytest.raises(OccupiedError) as busy:
                run(0, 2)
            said.append(busy.value.message)
            assert run(1, 2) == ["0/2"]

    assert run(0, 2, look=look) == []
    assert said == [f"`{PART.absolute()}` is in use: another run is doing share 0/2"]


@pytest.mark.usefixtures("tensor")
def test_nobody_puts_it_in_its_place_while_others_write() -> None:
    """The last share is done while somebody does another one of it, of another number."""
    planned()
    run(0, 2)

    def look(_: np.ndarray) -> None:
        if not Path("seen").exists():
            Path("seen").touch()
            standing = run_share(load_plan("plan.json"), 1, 2, target="numpy")
            assert (standing.missing, standing.placed) == ((), False)

    assert run(0, 1, look=look) == []


@pytest.mark.usefixtures("tensor")
def test_an_input_that_changes_is_noticed() -> None:
    planned()
    run(0, 2)

    before = Path("in.npy").stat()
    with pytest.raises(UnreadableError, match="has changed while it was read"):
        run(1, 2, look=lambda _: os.utime("in.npy", ns=(0, 7)))
    with pytest.raises(PlanError, match="was drawn up before"):
        run(1, 2)
    os.utime("in.npy", ns=(before.st_atime_ns, before.st_mtime_ns))
    noted: list[Any] = []
    assert run(1, 2, look=noted.append) == []
    assert len(noted) == 15, "what was read of another input is not believed"


@pytest.mark.usefixtures("tensor")
@pytest.mark.parametrize("place", [130, 300_000, 999_999])
def test_an_input_with_the_size_and_time_of_another_is_noticed(place: int) -> None:
    """A copy that keeps times: other bytes at the beginning, in the middle, at the end."""
    np.save("in.npy", np.zeros((500, 500), "f4"))
    planned(mem=1 << 16)
    before = Path("in.npy").stat()
    with Path("in.npy").open("r+b") as file:
        file.seek(place)
        file.write(b"\1" * 20_000)
    os.utime("in.npy", ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(PlanError, match="was drawn up before"):
        run(0, 1)


UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"format": "layoutdsl plan 1"}, "is no plan of layoutdsl"),
    ({"verb": "left out"}, "lacks `verb`"),
    ({"more": 1}, "has a strange `more`"),
    ({"verb": "bury"}, "says of `verb` what cannot be"),
    ({"shape": [True, 3]}, "says of `shape` what cannot be"),
    ({"shape": [1 << 70, 3]}, "says of `shape` what cannot be"),
    ({"dtype": "O"}, "says of `dtype` what cannot be"),
    ({"sources": ["in.npy"]}, "says of `sources` what cannot be"),
    ({"sources": []}, "says of `sources` what cannot be"),
    ({"fill": "__import__('os')"}, "says of `fill` what cannot be"),
    ({"layout": "layout A(n, c) = [c, n]"}, "is of another plan"),
    ({"cuts": [31]}, "there are no 31 units of axis `n`"),
    ({"cuts": [2, 3]}, "there are no 2 units of axis `n`"),
    ({"cuts": [1, 1, 1]}, "does not fit its layout: "),
    ({"shape": [30, 36]}, "is of another plan"),
    ({"size": 7}, "is of another plan"),
    ({"fill": "3"}, "is of another plan"),
    ({"mode": 0o777}, "is of another plan"),
    ({"target": "/nowhere/at/all"}, "has no unfinished output any more"),
]


@pytest.mark.usefixtures("tensor")
@pytest.mark.parametrize(("more", "words"), UNFIT, ids=lambda value: str(value)[:40])
def test_a_plan_that_does_not_fit(more: dict[str, Any], words: str) -> None:
    planned()
    changed(**more)
    with pytest.raises((PlanError, OccupiedError), match=words):
        run(0, 1)
    assert not Path("out.npy").exists()


@pytest.mark.usefixtures("tensor")
def test_plans_that_are_damaged_in_any_way_are_refused() -> None:
    planned()
    whole, random = Path("plan.json").read_bytes(), Random(1)
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(random.randint(1, 3)):
            place = random.randrange(len(data))
            data[place : place + random.choice((0, 1, 1, 9))] = random.randbytes(1)
        Path("plan.json").write_bytes(data)
        if json_of(bytes(data)) == json_of(whole):
            continue
        with pytest.raises((PlanError, OccupiedError, FileNotFoundError)):
            run(0, 1)
    for other in (b"", b"[" * 100_000, b"{}", b"[]", b"1", b'{"format": 1}', b" " * (2 << 20)):
        Path("plan.json").write_bytes(other)
        with pytest.raises(PlanError, match="is no plan"):
            run(0, 1)


def json_of(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


@pytest.mark.usefixtures("tensor")
def test_what_lies_there_is_not_touched() -> None:
    PART.mkdir()
    (PART / "mine").write_text("mine")
    with pytest.raises(OccupiedError, match="is there already"):
        planned()
    assert not Path("plan.json").exists()
    (PART / "mine").unlink()
    PART.rmdir()
    PART.write_text("mine")
    with pytest.raises(OccupiedError, match="is there already"):
        planned()
    PART.unlink()
    planned()
    with pytest.raises(OccupiedError, match="is there, and no run of layoutdsl"):
        pack_file(BLOCKED, "in.npy", "out.npy", mem=ROW)
    PART.chmod(0o777)
    with pytest.raises(OccupiedError, match="open to others"):
        run(0, 1)
    PART.rename("elsewhere")
    PART.symlink_to("elsewhere")
    with pytest.raises(OccupiedError, match="is no folder of a plan"):
        run(0, 1)


@pytest.mark.usefixtures("tensor")
def test_a_plan_that_cannot_be_written_leaves_nothing() -> None:
    with pytest.raises(OSError, match="No such file"):
        plan_file("pack", BLOCKED, "in.npy", "out.npy", "none/plan.json", target="numpy")
    assert {each.name for each in Path().iterdir()} == {"in.npy"}
    with pytest.raises(UnreadableError, match="of rank 2"):
        plan_file("pack", layout("layout A(n) = [n]"), "in.npy", "out.npy", "plan.json")
    assert {each.name for each in Path().iterdir()} == {"in.npy"}


def test_the_file_that_is_replaced_keeps_its_permissions() -> None:
    Path("out.npy").write_text("as it was")
    Path("out.npy").chmod(0o640)
    planned(force=True)
    run_share(load_plan("plan.json"), 0, 2, target="numpy")
    assert Path("out.npy").read_text() == "as it was"
    run(1, 2)
    assert Path("out.npy").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("found", [BLOCKED, layout("layout A(n, c) = [n/4, c/8, n%4, c%8]")])
@pytest.mark.parametrize("room", [100, 400, 3000])
def test_pieces_are_cut_again_by_their_units(found: Layout, room: int) -> None:
    one = cut(found, SHAPE, room, lambda elements, slots: elements + slots)
    again = cut_by(found, SHAPE, tuple(units for _, units in one.cuts))
    assert again == one


@pytest.mark.parametrize("count", [0, 1, 5, 16, 17, 1000])
@pytest.mark.parametrize("of", [1, 2, 3, 16, 100])
def test_shares_are_disjoint_and_cover_all(count: int, of: int) -> None:
    found = [number for each in range(of) for number in Share(each, of).pieces(count)]
    assert found == list(range(count))


@pytest.mark.slow
def test_killed_shares_leave_nothing_wrong() -> None:
    ended = campaign("--of", "plans", "--count", "4")
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.campaign
def test_more_killed_shares() -> None:
    ended = campaign("--of", "plans", "--count", "150", "--seed", "100")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for outcome in ("done", "placed", "killed", "occupied", "refused"):
        assert f" {outcome}" in ended.stdout


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.parametrize("fault", ["hopeful", "hasty", "trusting"])
def test_faults_of_shares_are_noticed(fault: str) -> None:
    ended = campaign("--of", "plans", "--count", "400", "--planted", fault)
    assert (ended.returncode, ended.stderr) == (1, "")
