"""Files of weights, read by other people's packages or by hand: no reader of ours is asked."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest


@dataclass(frozen=True)
class Found:
    """A tensor of a file: the format's word for its type, its shape, and where its bytes lie."""

    type: str
    shape: tuple[int, ...]
    place: Path
    start: int
    size: int

    @property
    def data(self) -> bytes:
        found = self.place.read_bytes()[self.start : self.start + self.size]
        assert len(found) == self.size
        return found

    def flip(self, bit: int) -> None:
        """Change one bit, the lowest of the first byte being bit 0."""
        assert 0 <= bit < 8 * self.size
        found = bytearray(self.place.read_bytes())
        found[self.start + bit // 8] ^= 1 << bit % 8
        self.place.write_bytes(found)


def tensors_in(place: Path) -> dict[str, Found]:
    """Every tensor of a file by name; its ending says what format it is of."""
    return dict(_READERS[place.suffix](place))


def contents_of(place: Path) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """The type, shape and bytes of every tensor."""
    return {name: (each.type, each.shape, each.data) for name, each in tensors_in(place).items()}


def _safetensors(place: Path) -> Iterator[tuple[str, Found]]:
    data = place.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    for name, each in json.loads(data[8:end]).items():
        if name != "__metadata__":
            first, last = each["data_offsets"]
            shape = tuple(each["shape"])
            yield name, Found(each["dtype"], shape, place, end + first, last - first)


def _npz(place: Path) -> Iterator[tuple[str, Found]]:
    data = place.read_bytes()
    with zipfile.ZipFile(place) as archive:
        for each in archive.infolist():
            if not each.filename.endswith(".npy"):
                continue
            assert each.compress_type == zipfile.ZIP_STORED
            at = each.header_offset
            lengths = (int.from_bytes(data[at + n : at + n + 2], "little") for n in (26, 28))
            start = at + 30 + sum(lengths)
            member = io.BytesIO(data[start : start + each.file_size])
            version = np.lib.format.read_magic(member)
            read = {
                1: np.lib.format.read_array_header_1_0,
                2: np.lib.format.read_array_header_2_0,
            }[version[0]]
            shape, _, dtype = read(member)
            size = each.file_size - member.tell()
            name = each.filename.removesuffix(".npy")
            yield name, Found(dtype.str, shape, place, start + member.tell(), size)


def _gguf(place: Path) -> Iterator[tuple[str, Found]]:
    reader = pytest.importorskip("gguf").GGUFReader(place)
    for each in reader.tensors:
        shape = tuple(each.shape.tolist()[::-1])
        start, size = int(each.data_offset), int(each.n_bytes)
        yield each.name, Found(each.tensor_type.name, shape, place, start, size)
    reader.data._mmap.close()


def _onnx(place: Path) -> Iterator[tuple[str, Found]]:
    onnx = pytest.importorskip("onnx")
    names = {value: word for word, value in onnx.TensorProto.DataType.items()}
    for each in onnx.load(place, load_external_data=False).graph.initializer:
        said = {entry.key: entry.value for entry in each.external_data}
        assert said or not each.raw_data, "items lie in a file beside the model"
        where = place.with_name(said.get("location", place.name))
        start, size = int(said.get("offset", 0)), int(said.get("length", 0))
        yield each.name, Found(names[each.data_type], tuple(each.dims), where, start, size)


_READERS: Mapping[str, Callable[[Path], Iterator[tuple[str, Found]]]] = {
    ".safetensors": _safetensors,
    ".npz": _npz,
    ".gguf": _gguf,
    ".onnx": _onnx,
}


def write_safetensors(
    place: Path, tensors: Mapping[str, tuple[str, tuple[int, ...], bytes]]
) -> None:
    """Write tensors of these types, shapes and bytes."""
    head, at = {}, 0
    for name, (word, shape, data) in tensors.items():
        head[name] = {"dtype": word, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(head).encode()
    items = b"".join(data for _, _, data in tensors.values())
    place.write_bytes(len(text).to_bytes(8, "little") + text + items)
