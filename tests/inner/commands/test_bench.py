"""The benchmark: what is wrong is caught before it is timed, and numbers are what they say.

The command line measures right candidates only, so wrong ones are planted inside.
"""

from __future__ import annotations

import os
from itertools import product

import numpy as np
import pytest
from bench_moves import (
    CROUTON,
    NCHW4C,
    NHWC,
    SHAPE,
    WRONG,
    Fault,
    Planted,
    both_ways,
    move,
    swaps,
    task,
)
from texts import DOMAINS, EVERY, layout

from layoutdsl import Layout
from layoutdsl.commands.bench import limits, measure, summary
from layoutdsl.commands.bench import run as running
from layoutdsl.commands.bench.defaults import default_tasks
from layoutdsl.commands.bench.meaning import first_difference, offsets
from layoutdsl.commands.bench.measure import Rounds, Spread, floor_of, over, sample, spread
from layoutdsl.commands.bench.run import Measured, Plan, Result, Skipped, Wrong, run
from layoutdsl.commands.bench.sides import Side, side, tensor_side

QUICK = Rounds(most=2, seconds=0.0, fewest=1)


def found(*candidates: Planted, source: str | None = None, target: str | None = NCHW4C) -> Result:
    tasks = (task(source, target, SHAPE, "float32"),)
    return next(run(Plan(tasks, candidates, rounds=QUICK), lambda _: None))


@pytest.mark.parametrize("fault", WRONG, ids=lambda each: each.__name__)
def test_what_is_wrong_is_said_and_not_timed(fault: Fault) -> None:
    right, wrong = Planted(), Planted(fault, "wrong")
    outcomes = found(wrong, right).outcomes
    assert isinstance(outcomes["planted"], Measured)
    assert isinstance(outcomes["wrong"], Wrong)
    assert outcomes["wrong"].reason.startswith(WRONG[fault]) or WRONG[fault] in str(outcomes)
    assert len(wrong.calls) == 1
    assert len(right.calls) > 2


def test_a_fault_of_one_candidate_is_not_one_of_the_next() -> None:
    ways = [Planted(fault, fault.__name__) for fault in WRONG]
    outcomes = found(*ways, Planted()).outcomes
    assert isinstance(outcomes["planted"], Measured)
    assert all(isinstance(outcomes[each.name], Wrong) for each in ways)


def test_what_stops_at_an_old_result_is_wrong() -> None:
    class Idle(Planted):
        def prepare(self, move, threads):  # type: ignore[no-untyped-def]
            super().prepare(move, threads)()
            return lambda: None

    assert isinstance(found(Idle()).outcomes["planted"], Wrong)


def test_padding_that_may_hold_anything_is_not_compared() -> None:
    free = move(None, NCHW4C + " fill any")
    free.write.array[...] = free.expected
    assert free.fault(None) is None
    free.write.array.reshape(-1)[-1] = 9
    assert free.fault(None) is None
    free.write.array.reshape(-1)[0] += 1
    assert free.fault(None) is not None
    exact = move(None, NCHW4C)
    exact.write.array[...] = exact.expected
    assert exact.fault(None) is None
    exact.write.array.reshape(-1)[-1] = 9
    assert exact.fault(None) is not None


def test_what_is_before_the_first_slot_is_not_compared() -> None:
    led = move(None, "layout Led(c, w) = [c/4, w, c%4] offset 7 fill 3", (5, 3), "uint8")
    assert led.expected.shape == (7 + 24,)
    led.write.array[7:] = led.expected[7:]
    assert led.fault(None) is None
    led.write.array[7 + 4 * 3 + 1] = 4
    assert led.fault(None) is not None


def test_a_candidate_that_cannot_or_fails_says_why() -> None:
    def fails(_: object) -> None:
        raise RuntimeError("no such thing\nand more")

    outcomes = found(
        Planted(name="never", why="it has no digits"), Planted(fails, "raises"), Planted()
    ).outcomes
    assert outcomes["never"] == Skipped("it has no digits")
    assert outcomes["raises"] == Skipped("it failed with RuntimeError: no such thing")
    assert isinstance(outcomes["planted"], Measured)


def test_ours_may_not_fail_in_silence() -> None:
    class Ours(Planted):
        def prepare(self, move, threads):  # type: ignore[no-untyped-def]  # noqa: ARG002
            raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        found(Ours(package=None))


def test_a_candidate_that_fails_later_is_left_out() -> None:
    turns = iter(range(10))

    def fails_at_third(_: object) -> None:
        if next(turns) == 1:
            raise ValueError("now and then")

    outcomes = found(Planted(fails_at_third, "late"), Planted()).outcomes
    assert outcomes["late"] == Skipped("it failed with ValueError: now and then")
    assert isinstance(outcomes["planted"], Measured)


def test_the_reference_is_the_first_that_was_measured() -> None:
    result = found(Planted(swaps, "wrong"), Planted(name="first"), Planted(name="second"))
    assert result.reference == "first"
    first, second = result.outcomes["first"], result.outcomes["second"]
    assert isinstance(first, Measured)
    assert isinstance(second, Measured)
    assert first.ratio == Spread(1.0, 1.0, 1.0)
    assert second.ratio.median > 0


def test_a_share_is_of_the_floor_and_a_ratio_of_the_reference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds = {"floor": [2.0, 2.0, 2.0], "first": [4.0, 4.0, 4.0], "second": [20.0, 20.0, 20.0]}
    monkeypatch.setattr(running, "sample", lambda *_: measure.Samples(dict(seconds)))
    result = found(Planted(name="first"), Planted(name="second"))
    assert (result.floor, result.rounds) == (Spread(2.0, 2.0, 2.0), 3)
    first, second = result.outcomes["first"], result.outcomes["second"]
    assert isinstance(first, Measured)
    assert isinstance(second, Measured)
    assert (first.seconds.median, first.share.median, first.ratio.median) == (4.0, 0.5, 1.0)
    assert (second.seconds.median, second.share.median, second.ratio.median) == (20.0, 0.1, 5.0)


def shapes_of(each: Layout) -> list[tuple[int, ...]]:
    wanted = [(1, 2, 3, 5, 4, 3, 2)[: each.rank], (3, 9, 2, 4, 1, 2, 3)[: each.rank]]
    shapes = []
    for shape in wanted:
        try:
            values = dict(zip((axis.name for axis in each.axes), shape, strict=True))
            fixed = {
                axis.name: axis.extent.value for axis in each.axes if hasattr(axis.extent, "value")
            }
            shapes.append(each.shape_of(each.bind({**values, **fixed})))
        except ValueError:
            continue
    return [shape for shape in shapes if np.prod(shape) < 5000 and each.size(shape) < 10**6]


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", [*EVERY, *DOMAINS])
def test_offsets_are_those_of_the_definition(name: str) -> None:
    each = {**EVERY, **DOMAINS}[name]
    for shape in [] if each.parameters else shapes_of(each):
        whole = offsets(each, shape)
        names = [axis.name for axis in each.axes]
        for index in product(*map(range, shape)):
            held = each.holds({**each.bind(shape), **dict(zip(names, index, strict=True))})
            assert whole[index] == (each.offset(index, shape) if held else -1), (shape, index)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", EVERY)
def test_a_side_is_its_layout(name: str) -> None:
    each = EVERY[name]
    for shape in [] if each.parameters else shapes_of(each):
        got = side(each, shape)
        if isinstance(got, str):
            assert got
            continue
        pack, unpack = both_ways(each, shape, "int32")
        ends = [(0, p - n) for p, n in zip(got.padded, shape, strict=True)]
        padded = np.pad(pack.read.array, ends, constant_values=pack.fill)
        packed = padded.reshape(got.split).transpose(got.order)
        assert pack.fault(np.ascontiguousarray(packed)) is None, shape
        digits = unpack.read.array.reshape(got.box).transpose(got.back)
        tensor = digits.reshape(got.padded)[got.cropped]
        assert unpack.fault(tensor.copy()) is None, shape


def test_most_layouts_are_sides_and_others_say_why() -> None:
    got = {
        name: side(each, shape)
        for name, each in EVERY.items()
        if not each.parameters
        for shape in shapes_of(each)[:1]
    }
    assert sum(isinstance(each, Side) for each in got.values()) > len(got) / 2
    swizzled = layout("layout Swizzled(h, w: 4) = [h, w ^ h%4]")
    assert side(swizzled, (3, 4)) == "`w ^ h%4` is not a digit of an axis"
    gaps = layout("layout Gaps(n, h, w) = [n, h, w : 6] offset 3")
    assert side(gaps, (1, 2, 3)) == "its first slot is not the first of the buffer"
    apart = layout("layout Apart(n, h) = [(n, h)/4, (n, h)%4]")
    assert side(apart, (2, 3)) == "a tuple of axes is cut into digits"
    wide = layout("layout Wide(n, w) = [n, w/4, w%4 : 6]")
    assert side(wide, (2, 3)) == "its buffer has gaps"
    padded_tuple = layout("layout Padded(h, w) = [(h, w) : 3*H*W]")
    assert side(padded_tuple, (2, 3)) == "its buffer has gaps"
    mace = side(layout("layout Mace(n, h, w, c) = [(n, h), (c/4, w), c%4]"), (2, 3, 5, 6))
    assert isinstance(mace, Side)
    assert mace.box == (2, 3, 2, 5, 4)


def test_a_side_is_cut_as_another_where_that_changes_nothing() -> None:
    blocked = side(layout(NCHW4C), (1, 8, 2, 3))
    assert isinstance(blocked, Side)
    refined = tensor_side((1, 8, 2, 3)).refined(blocked)
    assert (refined.box, refined.order) == ((1, 2, 4, 2, 3), (0, 1, 2, 3, 4))
    padded = side(layout(NCHW4C), (1, 6, 2, 3))
    assert isinstance(padded, Side)
    assert tensor_side((1, 6, 2, 3)).refined(padded).box == (1, 6, 2, 3)


def test_the_first_difference_is_named() -> None:
    expected = np.array([[1, 2], [3, 4]], "u1")
    got = np.array([1, 9, 3, 5], "u1")
    words = "slot 1 holds 9 and has to hold 2; 2 of 4 are wrong"
    assert first_difference(got, expected, None) == words
    assert first_difference(expected.copy(), expected, None) is None
    only = np.array([True, False, True, False])
    assert first_difference(got, expected, only) is None


def test_bits_are_enough() -> None:
    expected = np.array([1.5, 2.5], "f4")
    assert first_difference(expected.view("u4"), expected, None) is None
    other = np.array([1.5, 3.5], "f4").view("u4")
    words = "slot 1 holds 3.5 and has to hold 2.5; 1 of 2 are wrong"
    assert first_difference(other, expected, None) == words


def test_a_number_and_its_bits_are_not_the_same() -> None:
    zeros = np.zeros(3, "f4")
    assert first_difference(-zeros, zeros, None) is not None
    nothing = np.full(3, np.nan, "f4")
    assert first_difference(nothing.copy(), nothing, None) is None


def test_quartiles() -> None:
    assert spread([5.0, 1.0, 4.0, 2.0, 3.0]) == Spread(2.0, 3.0, 4.0)
    assert spread([7.0]) == Spread(7.0, 7.0, 7.0)
    assert spread([1.0, 2.0]) == Spread(1.25, 1.5, 1.75)
    assert spread([1.0, 2.0, 3.0, 100.0]) == Spread(1.75, 2.5, 27.25)


@pytest.mark.parametrize(
    ("samples", "noisy"),
    [([10.0, 10.0, 10.0, 90.0, 10.0], False), ([10.0, 11.0, 12.0, 13.0, 14.0], True),
     ([100.0, 101.0, 102.0], False)],
)  # fmt: skip
def test_noise_is_a_wide_middle_and_not_an_outlier(samples: list[float], noisy: bool) -> None:
    assert spread(samples).noisy == noisy


def test_shares_are_formed_round_by_round() -> None:
    """A machine that is twice as slow in one round is so for both."""
    assert over([1.0, 2.0, 1.0], [4.0, 8.0, 4.0]) == Spread(0.25, 0.25, 0.25)


def test_the_order_turns_round_and_everyone_has_a_turn() -> None:
    turns = list[str]()

    def slow(name: str) -> measure.Call:
        def call() -> None:
            turns.append(name)
            stop = measure.time.perf_counter() + measure.ROUND_SECONDS
            while measure.time.perf_counter() < stop:
                pass

        return call

    got = sample({name: slow(name) for name in "abc"}, Rounds(most=4, seconds=60))
    assert {name: len(each) for name, each in got.seconds.items()} == dict.fromkeys("abc", 4)
    assert "".join(turns) == "aabbcc" + "cba" + "abc" + "cba" + "abc"
    assert all(
        each >= measure.ROUND_SECONDS for seconds in got.seconds.values() for each in seconds
    )


def test_rounds_end_when_time_is_up_but_not_before_there_are_some() -> None:
    def call() -> None:
        pass

    got = sample({"a": call}, Rounds(most=50, seconds=0.0, fewest=3))
    assert len(got.seconds["a"]) == 3
    assert len(sample({"a": call}, Rounds(most=2, seconds=60.0)).seconds["a"]) == 2


def test_a_budget_cuts_rounds_down() -> None:
    tasks = tuple(task(None, NCHW4C, SHAPE, "float32") for _ in range(2))
    candidates = (Planted(),)
    most = Rounds(most=6, seconds=60)
    short = [each.rounds for each in run(Plan(tasks, candidates, 1, most, 1e-9), lambda _: None)]
    long = [each.rounds for each in run(Plan(tasks, candidates, 1, most, 600.0), lambda _: None)]
    assert (short, long) == ([3, 3], [6, 6])


def test_the_floor_of_a_pack_copies_and_fills() -> None:
    pack = move(None, NCHW4C)
    for threads in (1, 2):
        pack.write.poison()
        floor_of(pack, threads)()
        raw, source = pack.write.array.reshape(-1), pack.read.array.reshape(-1)
        assert np.array_equal(raw[: source.size], source)
        assert not raw[source.size :].any()
    assert pack.write.intact


def test_the_floor_of_an_unpack_reads_the_lines_that_hold_elements() -> None:
    """Blocks of 64 bytes with one element in each: all lines are touched, not only a few."""
    unpack = move("layout Lines(i) = [i/1, i%1 : 64]", None, (10,), "uint8")
    assert unpack.read.array.nbytes == 640
    assert unpack.touched == 640
    dense = move("layout Dense(i) = [i/64, i%64]", None, (10,), "uint8")
    assert dense.touched == 64
    unpack.write.poison()
    floor_of(unpack)()
    assert np.array_equal(unpack.write.array, unpack.read.array.reshape(-1)[:10])


def test_a_large_floor_is_shared_by_threads() -> None:
    large = move(None, NHWC, (1, 64, 128, 130), "uint8")
    large.write.poison()
    floor_of(large, 3)()
    assert np.array_equal(large.write.array.reshape(-1), large.read.array.reshape(-1))


def test_padding_that_is_read_is_poison() -> None:
    unpack = move(CROUTON, None, (1, 3, 5, 9), "uint8")
    held = unpack.task.source
    assert held is not None
    slots = {held.offset(index, (1, 3, 5, 9)) for index in np.ndindex(1, 3, 5, 9)}
    flat = unpack.read.array.reshape(-1)
    assert {int(flat[slot]) for slot in range(flat.size) if slot not in slots} == {0xA5}


def test_summary() -> None:
    def measured(share: float, ratio: float) -> Measured:
        flat, times = Spread(share, share, share), Spread(ratio, ratio, ratio)
        return Measured(Spread(1.0, 1.0, 1.0), flat, times, ratio)

    one, other = task(None, NCHW4C, SHAPE, "float32"), task(None, NCHW4C, SHAPE, "uint8")
    floor = Spread(1.0, 1.0, 1.0)
    results = [
        Result(one, {"a": measured(0.5, 1.0), "b": measured(0.1, 4.0)}, floor, "a", 5),
        Result(other, {"a": measured(0.125, 1.0), "b": measured(0.9, 0.25)}, floor, "a", 5),
        Result(one, {"a": measured(0.25, 1.0), "b": Skipped("no tag")}, floor, "a", 5),
        Result(other, {"a": measured(0.25, 1.0), "b": measured(0.2, 2.0)}, floor, "a", 5),
        Result(one, {"a": Wrong("slot 0"), "b": measured(0.3, 1.0)}, floor, "b", 5),
    ]
    a, b = summary.standings(results)
    assert (a.measured, a.skipped, a.wrong, a.beside) == (4, 0, 1, None)
    assert a.share == pytest.approx(0.25)
    assert a.worst == summary.Extreme(0.125, other)
    assert (b.measured, b.skipped, b.wrong) == (4, 1, 0)
    assert b.beside is not None
    assert (b.beside.mean, b.beside.wins, b.beside.count) == (pytest.approx(2 ** (1 / 3)), 2, 3)
    assert b.beside.least == summary.Extreme(0.25, other)
    assert b.compiled == 4.0
    assert summary.reasons(results) == {("b", "no tag"): [one]}
    assert summary.faults(results) == {("a", "slot 0"): [one]}
    assert [(each.dtype, each.tasks) for each in summary.grouped(results)] == [
        ("float32", 3),
        ("uint8", 2),
    ]
    assert summary.standings([]) == ()


def test_the_default_set() -> None:
    tasks = list(default_tasks())
    verbs = [each.verb for each in tasks]
    assert {verb: verbs.count(verb) for verb in verbs} == {"pack": 64, "unpack": 64, "convert": 6}
    assert len({str(each) for each in tasks}) == 134
    for each in tasks:
        for one in (each.source, each.target):
            assert one is None or isinstance(side(one, each.shape), Side), each


def test_a_process_is_bound_and_let_go_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=x")
    before = limits.cores()
    with limits.bound(1):
        assert os.environ["OMP_NUM_THREADS"] == "1"
        assert os.environ["XLA_FLAGS"].startswith("--xla_dump_to=x ")
        assert limits.cores() == (1 if hasattr(os, "sched_getaffinity") else before)
    assert "OMP_NUM_THREADS" not in os.environ
    assert os.environ["XLA_FLAGS"] == "--xla_dump_to=x"
    assert limits.cores() == before
    assert limits.machine()
