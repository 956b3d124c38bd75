"""Files of weights for tests: written from what was arranged, read back, and damaged.

The writer here is the plainest there can be; it knows no format.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import prod
from pathlib import Path
from random import Random

from layoutdsl import UnreadableError
from layoutdsl.files.weights.form import Arranged, Contents, Entry, Form, Wanted
from layoutdsl.files.weights.safetensors import TYPES
from layoutdsl.language.meaning.elements import ELEMENT_TYPES

OPEN = Path("/proc/self/fd")
SAID = '{"version": 1, "text": "layout A(n) = [n] # \u00e4 \\" \\\\"}'
KINDS = [kind for kind, _ in TYPES.values() if kind is not None and kind != "f8"]
"""Element types that formats have words for."""

SHAPES = ((), (0,), (1,), (7,), (3, 5), (4, 0, 2), (2, 3, 4), (1, 1, 1, 9), (2, 1, 3, 2, 2))


@contextmanager
def opened(form: Form, place: Path) -> Iterator[Contents]:
    """What a file says, with all its files open."""
    handle = os.open(place, os.O_RDONLY)
    try:
        found = form.read(place, handle)
        try:
            yield found
        finally:
            for each in (*(handle for _, handle in found.files), *found.unnamed):
                os.close(each)
    finally:
        os.close(handle)


def data(entry: Entry) -> bytes:
    """The bytes of a tensor where its entry says that they lie."""
    size = entry.stored.end - entry.stored.data
    found = os.pread(entry.stored.handle, size, entry.stored.data)
    assert len(found) == size
    return found


def said_of(form: Form, place: Path) -> dict[str, tuple[str | None, tuple[int, ...], bytes]]:
    """Type, shape and bytes of each tensor in a file."""
    with opened(form, place) as found:
        assert found.form == form.name
        return {each.name: (each.type, each.shape, data(each)) for each in found.entries}


def write(place: Path, arranged: Arranged, items: Sequence[bytes]) -> None:
    """Write what was arranged, all of it at once; what overlaps shows as a fault."""
    file, taken = bytearray(arranged.size), bytearray(arranged.size)
    for start, each in [*arranged.fixed, *zip(arranged.starts, items, strict=True)]:
        assert 0 <= start <= start + len(each) <= arranged.size
        assert not any(taken[start : start + len(each)])
        file[start : start + len(each)] = each
        taken[start : start + len(each)] = b"\1" * len(each)
    if arranged.finish is not None:
        for start, each in arranged.finish(lambda at, count: bytes(file[at : at + count])):
            file[start : start + len(each)] = each
    data = place.with_name(place.name + arranged.data)
    data.write_bytes(file)
    if arranged.model is not None:
        place.write_bytes(arranged.model(data.name))
    if arranged.beside is not None:
        place.with_name(place.name + ".json").write_bytes(arranged.beside)


def wanted(name: str, kind: str, shape: tuple[int, ...]) -> Wanted:
    return Wanted(name, kind, None, shape, prod(shape) * ELEMENT_TYPES[kind].item[1])


def drawn(seed: int, kinds: Sequence[str]) -> tuple[list[Wanted], list[bytes]]:
    """Tensors of every type, each of a shape that is drawn, and items for them."""
    draw = Random(seed)
    found = [wanted(f"{kind}.{n}", kind, draw.choice(SHAPES)) for n, kind in enumerate(kinds)]
    draw.shuffle(found)
    return found, [draw.randbytes(each.size) for each in found]


def as_older(account: str) -> str:
    """The same account as layoutdsl 0.1.0 wrote it: without a checksum of itself."""
    found = json.loads(account)
    del found["check"]
    found.pop("order", None)
    rows = [row for each in found["tensors"].values() for row in each.get("fields", ())]
    records = any("record" in each for each in found["tensors"].values())
    found["version"] = 3 if any(len(row) > 4 for row in rows) else 2 if records else 1
    return json.dumps(found, separators=(",", ":"))


def kept(entries: Iterable[Entry]) -> list[Wanted]:
    return [Wanted(e.name, e.type, e.native, e.shape, len(data(e)), e) for e in entries]


def written(form: Form, place: Path, seed: int) -> bytes:
    """A sound file of a few types."""
    wanted, items = drawn(seed, Random(seed).choices(KINDS, k=6))
    write(place, form.arrange(None, wanted, SAID), items)
    return place.read_bytes()


def damaged(whole: bytes, draw: Random, words: Sequence[tuple[bytes, bytes]], most: int) -> bytes:
    """The same with a few bytes, numbers or words of its header wrong.

    Args:
        whole: a sound file.
        draw: draws.
        words: what may stand for what.
        most: bytes of its header, about.
    """
    found = bytearray(whole)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        at = draw.randrange(min(len(found), most) + 1)
        match draw.randrange(8):
            case 0 if at < len(found):
                found[at] ^= 1 << draw.randrange(8)
            case 1 if at < len(found):
                found[at] = draw.choice(b'\0\1\x7f\x80\xff {}[]":,0129-')
            case 2:
                del found[at : at + draw.choice((1, 4, 8, 100, 100_000))]
            case 3:
                found[at:at] = draw.randbytes(draw.choice((1, 4, 8)))
            case 4:
                found += draw.randbytes(draw.choice((1, 8, 64)))
            case 5:
                width = draw.choice((1, 2, 4, 8))
                number = draw.choice((0, 1, 2, 3, 31, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1))
                found[at : at + width] = (number % 256**width).to_bytes(width, "little")
            case _ if words:
                one, other = draw.choice(words)
                place = found.find(one, at)
                place = found.find(one) if place < 0 else place
                if place >= 0:
                    found[place : place + len(one)] = other
    return bytes(found)


def refused(form: Form, place: Path, whole: bytes) -> str | None:
    """Why a file of these bytes is refused."""
    place.write_bytes(whole)
    return refusal(form, place)


def refusal(form: Form, place: Path) -> str | None:
    """Why a file is refused, in a line fit to be shown; nothing where it is read, and is sound."""
    before = _open_files(place.parent)
    try:
        with opened(form, place) as found:
            names = [each.name for each in found.entries]
            assert len(set(names)) == len(names)
            for each in found.entries:
                data(each)
                kind = each.type
                assert each.stored.dtype.kind == "u"
                if kind is None:
                    assert each.stored.dtype.itemsize == len(each.stored.shape) == 1
                else:
                    assert each.stored.dtype.itemsize == ELEMENT_TYPES[kind].item[1]
                    assert each.stored.shape == each.shape
                "".join((each.name, each.native)).encode("utf-8")
        fact = None
    except UnreadableError as unfit:
        fact = unfit.fact
    assert _open_files(place.parent) == before, "a file was left open"
    assert fact is None or (fact.isprintable() and len(fact) < 420), fact
    return fact


def _open_files(folder: Path) -> list[str]:
    """The files of a folder, and those without a name, that this process has open.

    Others may come and go meanwhile, as a compiler in the background has them.
    """
    found = list[str]()
    for each in OPEN.iterdir() if OPEN.is_dir() else ():
        with suppress(OSError):  # it is closed by now
            found.append(str(each.readlink()))
    unnamed = f"{tempfile.gettempdir()}/#"
    return sorted(each for each in found if each.startswith((str(folder.resolve()), unnamed)))
