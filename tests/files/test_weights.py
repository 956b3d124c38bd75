"""Files of weights, packed by rules: against plain integers, other readers, killed, lied to."""

from __future__ import annotations

import errno
import json
import os
import re
import tracemalloc
import zipfile
from collections.abc import Callable
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from weight_files import as_older
from weight_readers import contents_of, tensors_in
from weights_drawn import (
    PADDED,
    PLANES,
    TEXT,
    TWICE,
    Case,
    drawn,
    element_of_bit,
    holding,
    index_of,
    least,
    of_words,
    placed_bits,
    rules_of,
)
from weights_killed import killed

import layoutdsl
from layoutdsl import (
    OccupiedError,
    TooLittleError,
    UnfitError,
    inspect_weights,
    pack_weights,
    unpack_weights,
    verify_weights,
)

DRAWN = 8
FORMS = ("safetensors", "npz", "gguf", "onnx")


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def left_behind() -> set[str]:
    return {each.name for each in Path().iterdir() if ".part" in each.name}


def there_and_back(seed: int) -> None:
    """Pack, unpack and verify what is drawn, in little memory; change one bit, and find it."""
    draw = Random(seed)
    case = drawn(draw)
    target = draw.choice((case.form, case.form, *FORMS))
    source, packed = Path(f"in.{case.form}"), Path(f"out.{target}")
    case.write(source)
    how: dict[str, Any] = {"mem": least(case, source), "target": "numpy"}
    how["jobs"] = draw.choice((1, 1, 2))
    how["mem"] *= how["jobs"] * draw.choice((1, 2, 5))
    done = pack_weights(source, packed, rules_of(case), **how)
    assert done.moved + done.kept == len(case.tensors)
    found = contents_of(packed)
    assert {name: data for name, (_, _, data) in found.items()} == case.want()
    assert verify_weights(packed, source).fault is None
    assert verify_weights(packed).fault is None
    inspected(case, packed)
    again = Path(f"again.{case.form}")
    unpack_weights(packed, again, **how)
    assert contents_of(source) == contents_of(again)
    assert not left_behind()
    changed(draw, case, source, packed)


def inspected(case: Case, packed: Path) -> None:
    """What is told of each tensor has its shape, and as much padding as there is."""
    rules, found = rules_of(case).rules, inspect_weights(packed).tensors
    assert {each.name for each in found} == {each.name for each in case.tensors}
    for each in found:
        tensor = next(one for one in case.tensors if one.name == each.name)
        rule = next((rule for rule in rules if rule.fits(each.name)), None)
        if rule is None or rule.layout is None:
            assert each.layout is None
            continue
        layout = rule.layout
        copies = 1
        if layout.copies and 0 not in tensor.shape:
            shape = tensor.shape if layout.bit_of is None else (*tensor.shape, layout.bit_of.bits)
            copies = len(layout.slots((0,) * len(shape), shape))
        element = 8 * tensor.width if layout.bit_of is None else layout.bit_of.bits
        held = prod(tensor.shape) * copies * element / 8
        assert each.original == tensor.shape
        assert each.padding == (pytest.approx(1 - held / each.bytes) if each.bytes else 0)


def changed(draw: Random, case: Case, source: Path, packed: Path) -> None:
    """Change one bit of some tensor, which has to be named with its index."""
    held = {name: each for name, each in tensors_in(packed).items() if each.size}
    if not held:
        return
    name = draw.choice(sorted(held))
    at, bit = draw.randrange(held[name].size), draw.randrange(8)
    held[name].flip(8 * at + bit)
    fault = verify_weights(packed).fault
    assert fault is not None
    assert fault.name == name
    tensor = next(each for each in case.tensors if each.name == name)
    rule = next((rule for rule in rules_of(case).rules if rule.fits(name)), None)
    found = verify_weights(packed, source).fault
    if rule is None or rule.layout is None:
        assert found is not None
        assert (found.name, found.what, found.slot) == (name, "byte", at)
        return
    if rule.layout.bit_of is not None:
        slot = 8 * at + bit
        assert found is not None
        assert (found.name, found.slot) == (name, slot)
        assert found.index == element_of_bit(tensor, rule.layout, slot)
        return
    slot = at // tensor.width
    index = index_of(tensor, rule.layout, slot)
    if index is None and "fill any" in rule.layout.clauses:
        assert found is None
        return
    assert found is not None
    assert (found.name, found.index, found.slot) == (name, index, slot)


@pytest.mark.slow
@pytest.mark.parametrize("count", [DRAWN // 2, pytest.param(DRAWN, marks=pytest.mark.slow)])
def test_drawn_weights(count: int) -> None:
    for seed in range(count):
        there_and_back(seed)


@pytest.mark.campaign
def test_more_drawn_weights() -> None:
    for seed in range(1000, 4000):
        there_and_back(seed)


# Patterns, against regular expressions.


def rule_of(pattern: str) -> Any:
    (rule,) = layoutdsl.parse(f'tensor "{pattern}" = keep').rules
    return rule


@pytest.mark.slow
def test_patterns() -> None:
    draw = Random(0)
    for _ in range(600):
        pattern = "".join(draw.choices(("a", "b", ".", "*", "**"), k=draw.randint(0, 6)))
        if "***" in pattern or not pattern:
            continue
        name = "".join(draw.choices("ab.", k=draw.randint(0, 7)))
        parts = [re.escape(each) for each in re.split(r"(\*\*?)", pattern)]
        meant = "".join(parts).replace(r"\*\*", ".*").replace(r"\*", "[^.]*")
        assert rule_of(pattern).fits(name) == bool(re.fullmatch(meant, name)), (pattern, name)


def test_a_long_name_is_gone_through_once() -> None:
    assert not rule_of("**a**a**a**a**b**.c").fits("a" * 100_000 + ".c")


# Words that become other words, bit by bit.


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(10))
def test_words_are_converted(seed: int) -> None:
    draw = Random(seed)
    one, other, shape = of_words(draw)
    values = [draw.randrange(16) for _ in range(prod(shape))]
    was, now = (placed_bits(each, shape, values) for each in (one, other))
    arrays = np.frombuffer(was, "<i4").reshape(
        layoutdsl.compile(one, storage="i32").physical_shape(shape)
    )
    np.savez("in.npz", **{"a.qweight": arrays, "b": np.arange(5)})
    rule = f'tensor "*.qweight" = {other.name} from words u32 of {one.name}'
    text = "\n".join((PADDED, TWICE, PLANES, rule))
    pack_weights("in.npz", "out.npz", layoutdsl.parse(text), target="numpy")
    with np.load("out.npz") as found:
        assert found["a.qweight"].tobytes() == now
        assert found["a.qweight"].dtype == np.dtype("i4")
    assert verify_weights("out.npz", "in.npz").fault is None
    assert verify_weights("out.npz").fault is None
    unpack_weights("out.npz", "again.npz")
    with np.load("again.npz") as found:
        assert found["a.qweight"].tobytes() == was
        assert found["a.qweight"].shape == arrays.shape
    tensors_in(Path("out.npz"))["a.qweight"].flip(13)
    fault = verify_weights("out.npz", "in.npz").fault
    assert fault is not None
    assert (fault.name, fault.slot, fault.what) == ("a.qweight", 13, "bit")
    index = fault.index
    assert index is not None
    assert fault.slot in holding(other, shape, index)


# Other people's reader and writer.


@pytest.mark.slow
def test_safetensors_of_its_own_package() -> None:
    numpy = pytest.importorskip("safetensors.numpy")
    draw = np.random.default_rng(0)
    tensors = {
        "a.q.weight": draw.random((50, 70)).astype(np.float16),
        "b.q.weight": draw.random((16, 32)).astype(np.float32),
        "norm": draw.random(9),
        "none": np.zeros((0, 3), np.int8),
        "one": np.array(3, np.int64),
    }
    numpy.save_file(tensors, "in.safetensors", metadata={"format": "pt"})
    rules = layoutdsl.parse(f'{TEXT}tensor "*.q.weight" = Tiles')
    pack_weights("in.safetensors", "out.safetensors", rules, mem=1 << 14, target="numpy")
    packed = numpy.load_file("out.safetensors")
    code = layoutdsl.compile(rules["Tiles"], "numpy")
    for name, each in tensors.items():
        want = code.pack(each) if name.endswith("q.weight") else each
        assert (packed[name].dtype, packed[name].shape) == (want.dtype, want.shape)
        assert packed[name].tobytes() == want.tobytes()
    unpack_weights("out.safetensors", "again.safetensors", mem=1 << 14, target="numpy")
    assert Path("again.safetensors").read_bytes() == Path("in.safetensors").read_bytes()


# Killed.


@pytest.mark.slow
def test_killed_runs_leave_nothing_broken() -> None:
    told = [killed(seed) for seed in range(5)]
    assert [faults for faults, _ in told if faults] == []
    assert sum(kills for _, kills in told) > 2


@pytest.mark.campaign
def test_a_thousand_killed_runs_leave_nothing_broken() -> None:
    kills = seed = 0
    while kills < 1000:
        faults, more = killed(seed)
        assert not faults, (seed, faults)
        seed, kills = seed + 1, kills + more
    print(f"{kills} kills in {seed} cases")


SLICES = layoutdsl.parse('tensor "m.*.w"(n, k) = [n/4, k, n%4] fill 255')
LITTLE: dict[str, Any] = {"mem": 4000, "target": "numpy"}


def sliced(rows: int = 40) -> None:
    """Four tensors of many pieces."""
    np.savez("in.npz", **{f"m.{n}.w": np.full((rows, 64), n, "u1") for n in range(4)})


def interrupted() -> None:
    """A run that ends when the disk is full, after some pieces."""

    calls, write = [0], os.pwrite

    def fills(handle: int, data: Any, offset: int) -> int:
        is_items = isinstance(data, memoryview)  # and neither the journal nor a header
        calls[0] += is_items
        if is_items and calls[0] > 8:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data, offset)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "pwrite", fills)
        with pytest.raises(OSError, match="No space left"):
            pack_weights("in.npz", "out.npz", SLICES, **LITTLE)


@pytest.mark.slow
def test_an_interrupted_run_goes_on() -> None:
    sliced()
    interrupted()
    assert left_behind() == {"out.npz.part", "out.npz.part.json"}
    told: list[str] = []
    done = pack_weights("in.npz", "out.npz", SLICES, tell=told.append, **LITTLE)
    assert 0 < done.found < done.pieces
    assert told == [f"going on: {done.found} of {done.pieces} pieces are done"]
    assert verify_weights("out.npz", "in.npz").fault is None
    assert not left_behind()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: sliced(44), "the layout is another one"),
        (lambda: os.utime("in.npz", (1, 1)), "the input has changed"),
    ],
)
def test_a_run_of_other_work_starts_over(change: Callable[[], None], words: str) -> None:
    sliced()
    interrupted()
    change()
    told: list[str] = []
    done = pack_weights("in.npz", "out.npz", SLICES, tell=told.append, **LITTLE)
    assert (done.found, told) == (0, [f"starting over: {words}"])
    assert verify_weights("out.npz", "in.npz").fault is None


def test_progress_names_the_tensor_under_way() -> None:
    sliced()
    told: list[Any] = []
    pack_weights("in.npz", "out.npz", SLICES, progress=told.append, **LITTLE)
    assert (told[0].name, told[0].number, told[0].count) == ("m.0.w", 1, 4)
    assert (told[-1].name, told[-1].number, told[-1].count) == ("m.3.w", 4, 4)
    assert told[-1].done_bytes == told[-1].total_bytes


# What goes wrong: in one sentence, and with nothing written.


def test_a_file_that_changes_while_it_is_read() -> None:
    sliced()

    def write(amount: Any) -> None:
        os.utime("in.npz", (amount.number, 1))

    with pytest.raises(UnfitError, match=r"`in\.npz` has changed while it was read"):
        pack_weights("in.npz", "out.npz", SLICES, progress=write, **LITTLE)
    assert {each.name for each in Path().iterdir()} == {"in.npz"}


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    sliced()
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left") as refused:
        pack_weights("in.npz", "out.npz", SLICES, **LITTLE)
    assert refused.value.filename == "out.npz"
    assert {each.name for each in Path().iterdir()} == {"in.npz"}


def test_an_output_that_is_an_input() -> None:
    sliced()
    for name in ("in.npz", "./in.npz"):
        with pytest.raises(OccupiedError, match="is the input itself"):
            pack_weights("in.npz", name, SLICES, **LITTLE)
    Path("out.npz.part").symlink_to("in.npz")
    with pytest.raises(OccupiedError):
        pack_weights("in.npz", "out.npz", SLICES, **LITTLE)


def test_what_lies_beside_an_output_of_one_array_is_spared() -> None:
    np.save("in.npy", np.zeros((4, 4), "u1"))
    Path("out.npy.json").write_text("{}")
    rules = layoutdsl.parse('tensor "array"(n, k) = [k, n]')
    with pytest.raises(
        UnfitError, match=r"`out\.npy\.json` is there, and layoutdsl has not written"
    ):
        pack_weights("in.npy", "out.npy", rules, target="numpy")
    assert Path("out.npy.json").read_text() == "{}"
    Path("out.npz.json").write_text("{}")
    pack_weights("in.npy", "out.npz", rules, target="numpy")
    assert Path("out.npz.json").read_text() == "{}"


def words(said: Any, word: str) -> None:
    """Say that a tensor was words before."""
    tensor = said["tensors"]["m.1.w"]
    tensor |= {"word": word, "from": tensor["layout"], "original": [40, 64]}


LIES: list[tuple[Callable[[Any], None], str]] = [
    (lambda said: said.update(version=5), "is of version 5"),
    (lambda said: said.update(version=2), "is not of version 2"),
    (lambda said: said.update(version=4), "lacks `check`"),
    (lambda said: said.update(more=[]), "unknown key `more`"),
    (lambda said: said["tensors"]["m.1.w"].update(more=[]), "no sense of the tensor `m.1.w`"),
    (lambda said: said.pop("tensors"), "has neither layouts nor tensors"),
    (lambda said: said["tensors"].pop("m.0.w"), "holds the tensor `m.0.w`"),
    (lambda said: said["tensors"].update(x={"sums": []}), "speaks under `layoutdsl` of"),
    (lambda said: said["tensors"]["m.1.w"].update(shape=[40, 65]), "`m.1.w` of shape"),
    (lambda said: said["tensors"]["m.1.w"].update(shape=[40]), "`m.1.w` what cannot be: `rule1`"),
    (lambda said: said["tensors"]["m.1.w"].update(shape=[True, 1]), "no sense of the tensor `m.1"),
    (lambda said: said["tensors"]["m.1.w"].update(dtype="f16"), "that `m.1.w` is of .u1"),
    (lambda said: said["tensors"]["m.1.w"].update(dtype="q4"), "no sense of the tensor `m.1.w`"),
    (lambda said: said["tensors"]["m.1.w"].update(shape=[2**62, 2**62]), "`m.1.w` of shape"),
    (lambda said: said["tensors"]["m.1.w"].update(shape=[]), "`m.1.w` what cannot be: `rule1`"),
    (lambda said: words(said, "u32"), "`rule1` does not say how wide an element is"),
    (lambda said: words(said, "u33"), "no sense of the tensor `m.1.w`"),
    (lambda said: said["tensors"]["m.1.w"].update(layout="0"), "no sense of the tensor `m.1.w`"),
    (lambda said: said["layouts"].update({"0": {"text": "layout A(n) = [n]"}}), "of its hash"),
    (lambda said: said["layouts"].update({key("import os"): {"text": "import os"}}), "no layout"),
    (lambda said: said["layouts"].update({key(LIBRARY): {"text": LIBRARY}}), "nobody packs by"),
    (lambda said: said["layouts"].update({key(LOST): {"text": LOST}}), "speaks of no layout"),
]
LIBRARY, LOST = "layout A = NCHW16c", "layout A(n, c) = [n, c/16, c%8]"


def key(text: str) -> str:
    from hashlib import sha256

    return sha256(text.encode()).hexdigest()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("lie", "words"), LIES)
def test_a_file_that_lies_of_itself(lie: Callable[[Any], None], words: str) -> None:
    sliced()
    pack_weights("in.npz", "packed.npz", SLICES, target="numpy")
    with np.load("packed.npz") as found:
        arrays = {name: found[name] for name in found.files if name != "layoutdsl.json"}
        said = json.loads(as_older(found["layoutdsl.json"].decode()))
    lie(said)
    np.savez("lie.npz", **arrays)
    with zipfile.ZipFile("lie.npz", "a") as archive:
        archive.writestr("layoutdsl.json", json.dumps(said))
    for verb in (lambda: unpack_weights("lie.npz", "out.npz", target="numpy"),):
        with pytest.raises((UnfitError, ValueError), match=words) as refused:
            verb()
        assert isinstance(refused.value, UnfitError)
    assert not Path("out.npz").exists()
    try:
        found = verify_weights("lie.npz")
    except UnfitError:
        pass
    else:
        assert found.fault is not None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(24))
def test_a_file_that_is_damaged_where_it_speaks_of_itself(seed: int) -> None:
    """No traceback but ours, whatever is changed; what is unpacked all the same is the original."""
    draw = Random(seed)
    sliced(8)
    pack_weights("in.npz", "packed.npz", SLICES, target="numpy")
    data = bytearray(Path("packed.npz").read_bytes())
    first = data.index(b'{"version"')
    for _ in range(draw.randint(1, 3)):
        data[draw.randrange(first, data.index(b"PK", first))] = draw.choice(b'0129afz"[]{},:-')
    Path("lie.npz").write_bytes(data)
    for verb in (inspect_weights, verify_weights):
        try:
            verb("lie.npz")
        except UnfitError:
            continue
    try:
        unpack_weights("lie.npz", "out.npz", target="numpy")
    except (UnfitError, layoutdsl.RefusedError, layoutdsl.UnprovedError):
        assert not Path("out.npz").exists()


# All faults together.

WRONG = """\
tensor "a.*.w"(a, b, c) = [a, b, c]
tensor "a.0.w"(a, b) = [b, a]
tensor "a.0.wx" = keep
tensor "b" = Nibbles
tensor "c"(a) = [a/16, a%16] where A%16 == 0
tensor "d"(a) = [a/16, a%16] fill 300
tensor "e"(a) = [a/16, a%16] fill 1
layout Nibbles(k, n) = [k/8, n, k%8] of u4 where K % 8 == 0
"""


def test_all_faults_are_told_together(golden: Callable[[str, str], None]) -> None:
    tensors = {"a.0.w": np.zeros((2, 3), "f4"), "b": np.zeros((8, 8), "u2"), "z": np.zeros(1)}
    tensors |= {name: np.zeros(20, "u1") for name in "cd"}
    tensors |= {"e": np.zeros(20, "V2"), "big": np.zeros(3, ">i4")}
    np.savez("in.npz", **tensors)
    rules = layoutdsl.parse(f'{WRONG}tensor "big"(a) = [a]', "rules")
    with pytest.raises(UnfitError) as refused:
        pack_weights("in.npz", "out.npz", rules, unruled="refuse", target="numpy")
    golden("weights.txt", f"{refused.value}\n")
    assert not Path("out.npz").exists()


def test_a_value_that_is_none_of_its_type() -> None:
    np.savez("in.npz", w=np.full((8, 8), 16, "u1"))
    rules = layoutdsl.parse('tensor "w"(k, n) = [n, k] of u4')
    with pytest.raises(UnfitError, match=r"does not fit its rule: `w` holds 16, and u4 is 0\.\.15"):
        pack_weights("in.npz", "out.npz", rules, target="numpy")
    assert not Path("out.npz").exists()


NO_SEAM = "layout Turned(k, n) = [n%8, k, n/8] of u4 where N % 64 == 0"


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("layout", ["MarlinWeights", "Turned"])
def test_words_are_compared_in_little_memory(layout: str) -> None:
    """In a quarter of what they took at once, even where the layout has no seam."""
    k, n = 256, 4096
    codes = np.random.default_rng(0).integers(0, 1 << 32, (k // 8, n), np.uint32)
    np.savez("in.npz", a=codes)
    text = f'{NO_SEAM}\ntensor "a" = {layout} from words u32 of GptqWeights'
    pack_weights("in.npz", "out.npz", layoutdsl.parse(text), target="numpy")
    mem = 10 * k * n
    if layout == "Turned":  # proofs of seams take long while they are traced
        tracemalloc.start()
    assert verify_weights("out.npz", "in.npz", mem=mem).fault is None
    assert tracemalloc.get_traced_memory()[1] < mem + (2 << 20)
    tracemalloc.stop()
    with pytest.raises(TooLittleError):
        verify_weights("out.npz", "in.npz", mem=1)
    (held,) = tensors_in(Path("out.npz")).values()
    held.flip(8 * 300_000 + 2)
    fault = verify_weights("out.npz", "in.npz", mem=mem).fault
    assert fault is not None
    assert (fault.slot, fault.what) == (8 * 300_000 + 2, "bit")
    index = fault.index
    assert index is not None
    held = layoutdsl.parse(text)["Turned"] if layout == "Turned" else layoutdsl.library(layout)
    assert held.offset(index, (k, n)) == fault.slot // 4
    assert fault.expected == int(codes[index[0] // 8, index[1]]) >> (index[0] % 8 * 4 + 2) & 1


def test_words_that_hold_no_tensor() -> None:
    np.savez("in.npz", w=np.zeros((4, 3, 2), "i4"), v=np.zeros((4, 3), "i2"))
    text = 'tensor "{}"(k, n) = [k, n] from words u32 of GptqWeights of u4'
    for name, words in (("w", "has no tensor of which these"), ("v", "are integers of 32 bits")):
        with pytest.raises(UnfitError, match=words):
            pack_weights("in.npz", "out.npz", layoutdsl.parse(text.format(name)), target="numpy")


def test_what_is_packed_is_not_packed_again() -> None:
    sliced()
    pack_weights("in.npz", "out.npz", SLICES, target="numpy")
    with pytest.raises(UnfitError, match=r"`out\.npz` is packed already; `layoutdsl unpack"):
        pack_weights("out.npz", "more.npz", SLICES, target="numpy")
    with pytest.raises(UnfitError, match=r"`in\.npz` says nothing under `layoutdsl`"):
        unpack_weights("in.npz", "more.npz")


def test_memory_that_is_too_little_names_the_tensor() -> None:
    sliced()
    with pytest.raises(TooLittleError) as few:
        pack_weights("in.npz", "out.npz", SLICES, mem=100, target="numpy")
    assert few.value.name == "m.0.w"
    assert {each.name for each in Path().iterdir()} == {"in.npz"}


def test_what_a_file_holds() -> None:
    sliced(42)
    assert not inspect_weights("in.npz").packed
    pack_weights("in.npz", "out.npz", SLICES, target="numpy")
    found = inspect_weights("out.npz")
    assert (found.form, found.packed) == ("npz", True)
    assert found.layouts == ("layout rule1(n, k) = [n/4, k, n%4] fill 255",)
    first = found.tensors[0]
    assert (first.name, first.extents, first.layout) == ("m.0.w", (11, 64, 4), "rule1")
    assert (first.original, first.padding) == ((42, 64), pytest.approx(1 - 42 / 44))


def test_words_in_another_order_are_refused() -> None:
    words = np.asfortranarray(np.arange(32, dtype="u4").reshape(2, 16))
    np.savez("in.npz", a=words)
    rules = layoutdsl.parse('tensor "a" = AwqWeights from words u32 of GptqWeights')
    with pytest.raises(UnfitError, match="its words lie with their last axis most major"):
        pack_weights("in.npz", "out.npz", rules, target="numpy")


# Codes of real numbers.


@pytest.mark.slow
def test_codes_are_packed_and_numbers_are_not_rounded() -> None:
    text = "layout Codes(n, k) = [n, k/4, k%4] of u8 as scale_offset fill 3"
    rules = layoutdsl.parse(f'{text}\ntensor "*" = Codes')
    codes = np.arange(18, dtype="u1").reshape(3, 6)
    np.savez("in.npz", a=codes)
    pack_weights("in.npz", "out.npz", rules, target="numpy")
    with np.load("out.npz") as found:
        assert (
            found["a"].tolist()
            == np.pad(codes, ((0, 0), (0, 2)), constant_values=3).reshape(3, 2, 4).tolist()
        )
    assert verify_weights("out.npz", "in.npz").fault is None
    np.savez("in.npz", a=codes.astype("f4"))
    with pytest.raises(UnfitError, match="has to come back bit for bit, so pack the codes"):
        pack_weights("in.npz", "more.npz", rules, target="numpy")
    assert not Path("more.npz").exists()


# What explains a tensor that lies otherwise.


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("other", "shape", "said"),
    [
        ("NHWC", (2, 3, 4, 5), "it is packed as `NHWC`: all 120 elements lie so"),
        ("NCHW4c", (2, 32, 16, 16), "it is packed as `NCHW4c`: [0-9]+ elements drawn lie so"),
        ("NCHW", (2, 3, 4, 5), "it lies as it was, and is not packed: all 120 elements lie so"),
    ],
)
def test_another_layout_explains_a_tensor(other: str, shape: tuple[int, ...], said: str) -> None:
    tensor = np.random.default_rng(0).integers(0, 60000, shape).astype("u2")
    np.savez("in.npz", a=tensor)
    rules = layoutdsl.parse('tensor "a"(n, c, h, w) = [w, h, c, n]')
    pack_weights("in.npz", "out.npz", rules, target="numpy")
    start = tensors_in(Path("out.npz"))["a"].start
    data = bytearray(Path("out.npz").read_bytes())
    data[start : start + tensor.nbytes] = (
        layoutdsl.compile(layoutdsl.library(other)).pack(tensor).tobytes()
    )
    Path("out.npz").write_bytes(data)
    found = verify_weights("out.npz", "in.npz")
    assert found.fault is not None
    assert re.fullmatch(said, str(found.explained))


def test_a_bit_that_was_flipped_is_explained_by_nothing() -> None:
    np.savez("in.npz", a=np.arange(6, dtype="u2").reshape(2, 3))
    pack_weights("in.npz", "out.npz", layoutdsl.parse('tensor "a"(n, k) = [k, n]'), target="numpy")
    tensors_in(Path("out.npz"))["a"].flip(5)
    found = verify_weights("out.npz", "in.npz")
    assert found.fault is not None
    assert found.explained is None


def test_an_archive_that_has_changed_is_refused() -> None:
    np.savez("in.npz", a=np.arange(6, dtype="u2").reshape(2, 3))
    rules = layoutdsl.parse('tensor "a"(n, k) = [k, n]')
    pack_weights("in.npz", "out.npz", rules, target="numpy")
    tensors_in(Path("in.npz"))["a"].flip(5)
    tensors_in(Path("out.npz"))["a"].flip(5)
    for verb in (
        lambda: pack_weights("in.npz", "more.npz", rules, target="numpy"),
        lambda: unpack_weights("out.npz", "more.npz", target="numpy"),
        lambda: verify_weights("out.npz", "in.npz"),
    ):
        with pytest.raises(UnfitError, match=r"`a\.npy`, which has changed since"):
            verb()
    assert not Path("more.npz").exists()
