"""The candidates of the benchmark, held against the meaning; those that are there.

Each candidate is asked by itself what it does and what it cannot, without a run that measures.
Candidates that are wrong, missing or interrupted are planted, as no option of ``bench`` adds one.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from bench_moves import CROUTON, NCHW4C, NHWC, Planted, move, swaps
from cli_shell import Shell, shell
from texts import layout

import layoutdsl
from layoutdsl.commands.bench import run
from layoutdsl.commands.bench.limits import bound
from layoutdsl.commands.bench.peers import onednn_reorder, peer, shelf
from layoutdsl.commands.bench.peers.ours import Target
from layoutdsl.commands.bench.peers.peer import CannotError, Peer
from layoutdsl.commands.bench.peers.shelf import ONE_THREAD, OURS, PEERS, peers
from layoutdsl.commands.bench.run import Skipped, _check, _ready
from layoutdsl.commands.bench.sides import Side, side

__all__ = ["shell"]

TILES = "layout Tiles(y, x) = [y/8, x/16, y%8/2, x%16, y%2] fill any"
MACE = "layout Mace(n, h, w, c) = [(n, h), (c/4, w), c%4]"
INNER = "layout Inner(n, h, w, c) = [c%4, n, h, w, c/4]"

MOVES = (
    (None, NCHW4C, (2, 6, 3, 5), "float32"),
    (NCHW4C, None, (2, 6, 3, 5), "float16"),
    (NCHW4C, None, (2, 8, 3, 5), "uint8"),
    (None, NHWC, (2, 6, 3, 5), "float16"),
    (NHWC, None, (2, 6, 3, 5), "int8"),
    (NCHW4C, NHWC, (2, 6, 3, 5), "float32"),
    (NHWC, NCHW4C, (2, 6, 3, 5), "uint16"),
    (None, CROUTON, (1, 3, 5, 9), "uint8"),
    (CROUTON, None, (1, 3, 5, 9), "int32"),
    (CROUTON, "layout B(b, h, w, d) = [b, d, h, w]", (1, 2, 4, 16), "uint8"),
    (None, TILES, (10, 20), "uint16"),
    (TILES, None, (10, 20), "float32"),
    (None, MACE, (2, 3, 5, 6), "float16"),
    (MACE, None, (2, 3, 5, 6), "float64"),
    (None, INNER, (1, 2, 3, 6), "uint32"),
    (INNER, NHWC, (1, 2, 3, 8), "int64"),
    (None, "layout Same(y, x) = [y, x]", (3, 70), "uint64"),
)

EVERYONE = (*OURS, ONE_THREAD, *PEERS)


@pytest.mark.slow
@pytest.mark.parametrize("candidate", EVERYONE, ids=[each.name for each in EVERYONE])
def test_a_candidate_does_what_the_layout_means(candidate: Peer) -> None:
    if (reason := candidate.missing()) is not None:
        pytest.skip(reason)
    done = 0
    moves = MOVES[::3] if candidate.name == "tvm" else MOVES  # it compiles four times for each
    for each in moves:
        one = move(*each)
        with bound(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # theirs
            ready = _ready(candidate, one, 1)
            if isinstance(ready, Skipped):
                assert "failed" not in ready.reason, (each, ready)
                continue
            assert _check(one, ready) is None, each
        done += 1
    assert done >= {"unpack+pack": 3, "tvm": 6}.get(candidate.name, 12)


@pytest.mark.parametrize("candidate", EVERYONE, ids=[each.name for each in EVERYONE])
def test_what_no_package_can_say_is_skipped_by_all_but_ours(candidate: Peer) -> None:
    one = move(None, "layout Swizzled(h, w: 4) = [h, w ^ h%4]", (5, 4), "uint8")
    if candidate.package is not None:
        assert candidate.cannot(one) == "`w ^ h%4` is not a digit of an axis"
    elif candidate.missing() is None and candidate.name != "unpack+pack":
        ready = _ready(candidate, one, 1)
        assert not isinstance(ready, Skipped)
        assert _check(one, ready) is None


def test_a_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "find_spec", lambda _: None)
    monkeypatch.setattr(onednn_reorder.dnnl, "shared_library", lambda: None)
    reasons = {each.name: each.missing() for each in PEERS}
    assert reasons.pop("np.pad") is None
    assert reasons["torch"] == (
        "it is not installed: `pip install torch`, or "
        f"`pip install -e '{Path(layoutdsl.__file__).parents[1]}[bench]'` for all peers"
    )
    assert all(each is not None and "pip install" in each for each in reasons.values())


def test_peers_by_name() -> None:
    assert [each.name for each in peers(("torch", "np.pad"))] == ["np.pad", "torch"]
    with pytest.raises(ValueError, match="there is no peer `pandas`; known are np"):
        peers(("pandas",))


@pytest.mark.parametrize(
    ("text", "shape", "tag"),
    [
        (NCHW4C, (1, 6, 2, 3), "aBcd4b"),
        (NHWC, (1, 6, 2, 3), "acdb"),
        (CROUTON, (1, 3, 5, 9), "aBCD2b4c8d"),
        (TILES, (10, 20), "AB4a16b2a"),
        (MACE, (2, 3, 5, 6), "abDc4d"),
        (INNER, (1, 2, 3, 6), None),
        ("layout A(o, i) = [i%2, o, i/2]", (4, 4), None),
    ],
)
def test_tags(text: str, shape: tuple[int, ...], tag: str | None) -> None:
    found = side(layout(text), shape)
    assert isinstance(found, Side)
    assert onednn_reorder.tag(found) == tag


def test_onednn_says_what_it_cannot() -> None:
    onednn = onednn_reorder.Onednn()
    assert (
        onednn.cannot(move(None, CROUTON, (1, 3, 5, 9), "uint8")) == "it fills with 0, not with 7"
    )
    assert onednn.cannot(move(None, CROUTON, (1, 4, 4, 8), "uint8")) is None
    assert onednn.cannot(move(CROUTON, None, (1, 3, 5, 9), "uint8")) is None
    assert onednn.cannot(move(None, NCHW4C, (1, 6, 2, 3), "int64")) == "it has no type for int64"
    reason = onednn.cannot(move(None, INNER, (1, 2, 3, 6), "uint8"))
    assert reason is not None
    assert reason.startswith("no tag says it")


def test_numpy_in_place_of_compiled_code_is_not_measured_as_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    native = Target("native", "ours", "native")
    assert native.missing() is not None
    one = move(None, "layout Fresh(n, c) = [c/4, n, c%4]", (3, 5), "uint8")
    with pytest.raises(CannotError):
        native.prepare(one, 1)


def test_numpy_has_one_thread() -> None:
    numpy = Target("numpy", "ours", "numpy")
    for source, target in ((None, NCHW4C), (NCHW4C, None), (NCHW4C, NHWC)):
        one = move(source, target)
        numpy.prepare(one, 1)()
        with pytest.raises(CannotError, match="one thread only"):
            numpy.prepare(one, 2)


# The command, with candidates that are wrong, missing or interrupted.

TINY = ("--shape", "1,6,3,4", "--rounds", "2")
PLAIN = Target("numpy", "our generated numpy, into out", "numpy")


@pytest.fixture
def planted(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """The shell, without a compiler: our numpy target and a planted peer are enough."""
    monkeypatch.setattr(shelf, "OURS", (PLAIN,))
    monkeypatch.setattr(shelf, "PEERS", (Planted(name="planted"), *PEERS[:1]))
    return shell


def test_a_wrong_candidate_is_said_and_ends_with_1(
    planted: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "PEERS", (Planted(swaps, "liar"),))
    ended = planted("bench", "NCHW4c", *TINY, "--peers", "all")
    assert ended.code == 1
    rows = [line.split() for line in ended.out.splitlines() if line.startswith("NCHW4c")]
    assert [row[-1] for row in rows] == ["wrong", "wrong"]
    assert "wrong, and not timed:\n  liar: slot 0 holds " in ended.out
    ended = planted("bench", "NCHW4c", *TINY, "--peers", "all", "--json")
    found = json.loads(ended.out)
    assert (ended.code, found["status"]) == (1, "wrong")
    liar = found["moves"][0]["candidates"][1]
    assert set(liar) == {"name", "status", "reason"}
    assert liar["status"] == "wrong"


def test_what_is_skipped_or_missing_says_why(
    planted: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Absent(Planted):
        def missing(self) -> str:
            return "it is not installed: `pip install absent`"

    never = Planted(name="never", why="no tag says it")
    monkeypatch.setattr(shelf, "PEERS", (never, Absent(name="absent")))
    ended = planted("bench", "NCHW4c", *TINY, "--peers", "all")
    assert ended.code == 0
    assert ended.err == "note: absent is left out: it is not installed: `pip install absent`\n"
    assert "skipped:\n  never: no tag says it (NCHW4c float32 1x6x3x4 pack; " in ended.out
    assert "left out:\n  absent: it is not installed" in ended.out
    rows = [line.split() for line in ended.out.splitlines() if line.startswith("NCHW4c")]
    assert [row[-1] for row in rows] == ["-", "-"]
    assert planted("bench", "NCHW4c", *TINY, "--peers", "none").err == ""


@pytest.mark.parametrize("form", [(), ("--json",), ("--markdown",)])
def test_what_was_measured_is_kept_when_interrupted(
    planted: Shell, monkeypatch: pytest.MonkeyPatch, form: tuple[str, ...]
) -> None:
    calls = list[int]()

    def impatient(*given: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return measure(*given)

    measure = run.sample
    monkeypatch.setattr(run, "sample", impatient)
    ended = planted("bench", "NCHW4c", *TINY, *form)
    assert ended.code == 130
    assert ended.err == "interrupted after 1 of 2 moves\n"
    if form == ("--json",):
        found = json.loads(ended.out)
        assert (found["status"], found["asked"], len(found["moves"])) == ("interrupted", 2, 1)
    else:
        assert "1 move:" in ended.out or "over 1 move\n" in ended.out


def test_nothing_was_measured(planted: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "sample", stopped)
    for form in ((), ("--json",), ("--markdown",)):
        assert planted("bench", "NCHW4c", *TINY, *form).code == 130


def test_which_of_ours(planted: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    native, two = Planted(name="native", package=None), Planted(name="unpack+pack", package=None)
    monkeypatch.setattr(shelf, "OURS", (native, PLAIN, two))
    given = ("bench", "NCHW4c", *TINY, "--peers", "none", "--json")
    for wanted, names in (
        ((), ["native", "numpy", "unpack+pack"]),
        (("--target", "native"), ["native", "unpack+pack"]),
        (("--target", "numpy"), ["numpy"]),
    ):
        found = json.loads(planted(*given, *wanted).out)
        assert [each["name"] for each in found["candidates"]] == names
        assert found["reference"] == names[0]
