"""The corpus: files that version 78e259d wrote, and that every later version reads and checks.

`corpus.toml` says how each was made. `python -m tests.net corpus` makes them anew, by 78e259d.
"""

from __future__ import annotations

import json
import shutil
import struct
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .running import CORPUS, HERE, Case, Version


@dataclass(frozen=True)
class Entry:
    """A folder of the corpus; `corpus.toml` says what its parts are."""

    name: str
    make: tuple[str, ...]
    check: tuple[str, ...]
    same: tuple[tuple[str, str], ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        return CORPUS / self.name

    @property
    def case(self) -> Case:
        """The lines that check it."""
        lines = " ; ".join(self.check)
        return Case("corpus", self.name, lines, needs=self.needs, corpus=self.name)


def entries() -> list[Entry]:
    table = tomllib.loads((HERE / "corpus.toml").read_text(encoding="utf-8"))
    return [
        Entry(name, tuple(row["make"]), tuple(row["check"]), tuple(row.get("same", {}).items()),
              tuple(row.get("needs", ())))
        for name, row in table.items()
    ]  # fmt: skip


def make(version: Version) -> None:
    """Write the corpus anew with the given version."""
    for entry in entries():
        case = Case("corpus", entry.name, " ; ".join(entry.make))
        ran = version.run(case)
        if failed := [stage for stage in ran.stages if stage.code]:
            raise SystemExit(f"{failed[0].line} exited with {failed[0].code}: {failed[0].err!r}")
        shutil.rmtree(entry.folder, ignore_errors=True)
        for name, state in ran.files.items():
            if state is not None:
                place = entry.folder / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(state[1])
        print(f"{entry.name}: {len(ran.files)} files")


def tensors(place: Path) -> dict[str, np.ndarray]:
    """Return the tensors of a file by their names, as the format of its name has them."""
    match place.suffix:
        case ".npy":
            return {"": np.load(place)}
        case ".npz":
            with np.load(place) as archive:
                names = [each for each in archive.files if not each.startswith("layoutdsl")]
                return {name: archive[name] for name in names}
        case ".safetensors":
            return _safetensors(place.read_bytes())
        case ".onnx":
            import onnx

            found = onnx.load(place).graph.initializer
            return {
                each.name: onnx.numpy_helper.to_array(each, str(place.parent)) for each in found
            }
        case _:
            return {"": np.frombuffer(place.read_bytes(), "u1")}


def _safetensors(data: bytes) -> dict[str, np.ndarray]:
    kinds = {"F16": "<f2", "F32": "<f4", "I32": "<i4", "U8": "u1"}
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    found = {}
    for name, row in header.items():
        first, past = (start + each for each in row["data_offsets"])
        found[name] = np.frombuffer(data[first:past], kinds[row["dtype"]]).reshape(row["shape"])
    return found
