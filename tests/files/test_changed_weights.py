"""Packed files whose header or account was changed: refused, or unpacked to the original."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
from cli_shell import Shell
from cli_shell import shell as shell

import layoutdsl
from layoutdsl import (
    RefusedError,
    inspect_weights,
    pack_weights,
    unpack_weights,
    verify_weights,
)

OLDER = Path(__file__).with_name("older")
"""Files that layoutdsl 0.1.0 (78e259d) packed from `originals()`, in every format."""

MANY = ("safetensors", "gguf", "onnx", "npz")
FORMATS = (*MANY, "npy", "raw")
CHANGED = 90
RULES = """\
layout Tiles(n, k) = [n/4, k/16, n%4, k%16] fill 0
tensor "a.w" = Tiles
tensor "bits"(n, k) = [k, n]
group "m.{i}" = Q4_0(d = "{}.d", q = "{}.q") as "blk.{i}"
"""
ONE = 'tensor "array"(n, k) = [n/4, k/16, n%4, k%16] fill 0'


def originals() -> dict[str, np.ndarray]:
    draw = np.random.default_rng(35)
    w = draw.standard_normal((10, 33)).astype("f4")
    bits, keep = draw.integers(0, 256, (3, 5), dtype="u1"), np.arange(7, dtype="i4")
    d = draw.standard_normal((2, 1)).astype("f2")
    q = draw.integers(0, 16, (2, 32)).astype("u1")
    return {"a.w": w, "bits": bits, "keep": keep, "m.0.q": q, "between": keep[:3], "m.0.d": d}


def one_array(form: str) -> np.ndarray:
    """The tensor of a format that holds one; a raw file says no type, so its items are bytes."""
    found = originals()["a.w"]
    return found.view("u1")[:, :33].copy() if form == "raw" else found


def packed(form: str) -> Path:
    """A packed file of a format, from an archive or an array."""
    arrays = originals()
    if form in MANY:
        np.savez("in.npz", **arrays)
        pack_weights("in.npz", f"packed.{form}", layoutdsl.parse(RULES), target="numpy")
    else:
        np.save("in.npy", one_array(form))
        pack_weights("in.npy", f"packed.{form}", layoutdsl.parse(ONE), target="numpy")
    return Path(f"packed.{form}")


def unpacked(place: Path) -> dict[str, np.ndarray] | None:
    """Return the tensors of a file, in its order; nothing if unpacking is refused."""
    again = Path("again.npz" if place.suffix.removeprefix(".") in MANY else "again.npy")
    again.unlink(missing_ok=True)
    try:
        unpack_weights(place, again, target="numpy")
    except (ValueError, RefusedError):
        assert not again.exists()
        return None
    found = np.load(again)
    one = place.suffix.removeprefix(".")
    return {name: found[name] for name in found.files} if one in MANY else {one: found}


def is_original(found: dict[str, np.ndarray]) -> bool:
    form = next(iter(found))
    wanted = {form: one_array(form)} if form in FORMATS else originals()
    return found.keys() == wanted.keys() and all(
        (a.dtype, a.shape, a.tobytes()) == (found[n].dtype, found[n].shape, found[n].tobytes())
        for n, a in wanted.items()
    )


def is_verified(place: Path) -> bool:
    try:
        return verify_weights(place).fault is None
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def changes(whole: bytes, draw: Random) -> Iterator[bytes]:
    """The same bytes with one to three of them changed, most of these in the account."""
    account = whole.find(b'{"version"')
    while True:
        found = bytearray(whole)
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            inside = account >= 0 and draw.random() < 0.6
            at = draw.randrange(account if inside else 0, len(found))
            if draw.random() < 0.5:
                found[at] ^= 1 << draw.randrange(8)
            else:
                found[at] = draw.choice(b'0123456789abcdef"[]{},:\0\1\xff')
        if found != whole:
            yield bytes(found)


@pytest.mark.ci(1)
@pytest.mark.sampled(6)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "count", [CHANGED, pytest.param(10 * CHANGED, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_changed_bytes_are_found(form: str, count: int) -> None:
    """Of every file of the packed one: header, account, items and what lies beside."""
    place = packed(form)
    assert is_verified(place)
    sound = unpacked(place)
    assert sound is not None
    assert is_original(sound)
    files = sorted(Path().glob("packed.*"))
    refused = 0
    for number, file in enumerate(files):
        whole = file.read_bytes()
        lies = changes(whole, Random(number))
        for _ in range(count // len(files)):
            lie = next(lies)
            file.write_bytes(lie)
            if not is_verified(place):
                refused += 1
                continue
            found = unpacked(place)
            assert found is None or is_original(found), lie
        file.write_bytes(whole)
    assert refused > count // 3


@pytest.mark.slow
def test_every_flipped_bit_of_an_archive_is_found() -> None:
    """Also where it decides nothing, as in the dates of its members."""
    arrays = {"a.w": np.arange(12, dtype="f4").reshape(4, 3), "b": np.arange(3)}
    np.savez("in.npz", **arrays)
    rules = layoutdsl.parse('tensor "*.w"(n, k) = [n/4, k, n%4]')
    pack_weights("in.npz", "packed.npz", rules, target="numpy")
    place = Path("packed.npz")
    whole = place.read_bytes()
    for at in range(0, len(whole), 3):
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        place.write_bytes(changed)
        assert not is_verified(place), at


TEXTS = [
    (b"[10,33]", b"[11,35]"),
    (b'"layout"', b'"|ayout"'),
    (b'"dtype":"f32"', b'"dtype":"i32"'),
    (b'"dtype":"u8"', b'"dtype":"i8"'),
    (b'"native"', b'"nativ~"'),
    (b"k%16]", b"k%15]"),
    (b'"sums"', b'"some"'),
    (b'"version":4', b'"version":1'),
    (b'"version":4', b'"version":2'),
    (b'"check"', b'"chuck"'),
    (b'"form":"np', b'"form":"nq'),
]


def retouched(place: Path, one: bytes, other: bytes) -> bool:
    """Replace a text in the account, wherever it is; returns whether it is there."""
    if place.suffix == ".npz":
        with zipfile.ZipFile(place) as archive:
            members = {each: archive.read(each) for each in archive.namelist()}
        there = one in members["layoutdsl.json"]
        members["layoutdsl.json"] = members["layoutdsl.json"].replace(one, other, 1)
        with zipfile.ZipFile(place, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return there
    if place.suffix == ".safetensors":
        one, other = (each.replace(b'"', b'\\"') for each in (one, other))
    beside = place.with_name(f"{place.name}.json")
    file = beside if beside.exists() else place
    whole = file.read_bytes()
    file.write_bytes(whole.replace(one, other, 1))
    return one in whole


@pytest.mark.sampled(6)
@pytest.mark.parametrize("form", FORMATS)
def test_a_changed_account_is_refused_by_all(form: str) -> None:
    """Archives get the checksums of zip anew, so that ours are looked at."""
    for one, other in TEXTS:
        for each in Path().glob("packed.*"):
            each.unlink()
        place = packed(form)
        there = retouched(place, one, other)
        assert there or b"dtype" in one or b"[10,33]" in one, (one, other)
        if not there:
            continue
        assert not is_verified(place), (one, other)
        assert unpacked(place) is None, (one, other)
        with pytest.raises(ValueError, match=re.escape(place.name)):
            inspect_weights(place)


HEADERS = [
    ("safetensors", b'"keep":{"dtype":"I32"', b'"keep":{"dtype":"F32"'),
    ("safetensors", b'"shape":[7]', b'"shape":[7,1]'),
    ("safetensors", b'"keep":{', b'"beep":{'),
    ("gguf", b"layoutdsl.entries", b"layoutdsl.entriez"),
    ("npy", b"'<f4'", b"'<i4'"),
    ("npy", b"(3, 3, 4, 16)", b"(3, 4, 3, 16)"),
    ("npy", b"'fortran_order': False", b"'fortran_order': True "),
]


@pytest.mark.parametrize(("form", "one", "other"), HEADERS)
def test_a_changed_header_is_refused_by_all(form: str, one: bytes, other: bytes) -> None:
    place = packed(form)
    whole = place.read_bytes()
    changed = whole.replace(one, other, 1)
    if form == "safetensors":
        size = int.from_bytes(whole[:8], "little") + len(changed) - len(whole)
        changed = size.to_bytes(8, "little") + changed[8:]
    assert changed != whole
    place.write_bytes(changed)
    assert not is_verified(place)
    assert unpacked(place) is None
    with pytest.raises(ValueError, match="packed"):
        inspect_weights(place)


def test_a_version_without_its_checksum_is_refused() -> None:
    """Cutting the checksum out does not turn a file into an older one."""
    packed("npy")
    beside = Path("packed.npy.json")
    account = json.loads(beside.read_text())
    del account["check"]
    beside.write_text(json.dumps(account))
    with pytest.raises(ValueError, match="lacks `check`: a part of it was removed"):
        verify_weights("packed.npy")


def test_swapped_tensors_are_refused() -> None:
    """Both have the same type and shape; only their offsets in the header are exchanged."""
    safetensors = pytest.importorskip("safetensors.numpy")
    safetensors.save_file({"a": np.zeros(4, "f4"), "b": np.ones(4, "f4")}, "in.safetensors")
    pack_weights(
        "in.safetensors",
        "packed.safetensors",
        layoutdsl.parse('tensor "*"(n) = [n/2, n%2]'),
        target="numpy",
    )
    place = Path("packed.safetensors")
    whole = place.read_bytes()
    one, other = b'"data_offsets":[0,16]', b'"data_offsets":[16,32]'
    changed = whole.replace(one, b"*").replace(other, one).replace(b"*", other)
    assert changed != whole
    place.write_bytes(changed)
    assert not is_verified(place)
    with pytest.raises(ValueError, match="has changed since it was packed, in its header"):
        unpack_weights(place, "again.safetensors", target="numpy")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", FORMATS)
def test_older_files_are_read(form: str) -> None:
    for each in OLDER.glob(f"packed.{form}*"):
        shutil.copy(each, ".")
    place, told = Path(f"packed.{form}"), list[str]()
    found = verify_weights(place)
    assert (found.fault, found.checked) == (None, False)
    assert inspect_weights(place).packed
    made = unpacked(place)
    assert made is not None
    assert is_original(made)
    unpack_weights(place, "more.npz" if form in MANY else "more.npy", tell=told.append)
    assert any("in which order" in each for each in told) == (form in MANY)


def test_what_verify_says(shell: Shell) -> None:
    packed("npz")
    shutil.copy(OLDER / "packed.npz", "older.npz")
    every = "every byte of the tensors, the header and the account has its checksum"
    assert f"5 tensors, 3 of them packed; {every}\n" in shell("verify", "packed.npz").out
    older = shell("verify", "older.npz").out
    assert "5 tensors, 3 of them packed; every byte of the tensors has its checksum\n" in older
    assert "written by layoutdsl 0.1.0: its header and account have no checksum" in older


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", MANY)
def test_tensors_of_groups_return_in_their_order(form: str) -> None:
    place = packed(form)
    found = unpacked(place)
    assert found is not None
    assert len(found) == 6
    assert list(found) == list(originals())


@pytest.mark.parametrize("rules", ["", "layout A(n) = [n]"])
def test_no_rules_are_refused(rules: str) -> None:
    np.savez("in.npz", a=np.arange(4))
    with pytest.raises(ValueError, match="`rules` has no rule for tensors; write one, such as"):
        pack_weights("in.npz", "out.npz", layoutdsl.parse(rules))
    with pytest.raises(ValueError, match="has no rule"):
        pack_weights("in.npz", "out.npz", ())
    assert not Path("out.npz").exists()
