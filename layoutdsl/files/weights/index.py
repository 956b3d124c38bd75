"""The index of a sharded checkpoint, `model.safetensors.index.json`: which shard holds each tensor.

```json
{"metadata": {"total_size": 28}, "weight_map": {"a.weight": "model-00001-of-00002.safetensors"}}
```

Source: huggingface/huggingface_hub, `serialization/_torch.py`, which writes such an index with
sorted keys and an indent of 2. Its `total_size` is the number of bytes of all tensors.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.pieces.runs import Given
from layoutdsl.files.pieces.tensors import opened_input
from layoutdsl.files.places import identity
from layoutdsl.files.weights.bounds import MOST_HEADER, exactly, shown, unreadable
from layoutdsl.files.weights.faults import Problem, UnfitError, reading
from layoutdsl.files.weights.json_object import is_text, read_object
from layoutdsl.files.weights.opened import Weights, opened_weights
from layoutdsl.files.weights.safetensors import Safetensors

SUFFIX = ".index.json"

MOST_SHARDS = 900
"""Each shard keeps one file open until all are published, and a process may often open 1024. The
largest public checkpoints have about 250 shards."""

_MAP, _METADATA, _TOTAL = "weight_map", "metadata", "total_size"
_FORM = Safetensors()


@dataclass(frozen=True, slots=True)
class Index:
    """A parsed index.

    Attributes:
        path: of the index; its shards lie in the same folder.
        homes: the name of the shard of each tensor.
        rest: all other keys, which are copied.
    """

    path: Path
    homes: Mapping[str, str]
    rest: Mapping[str, Any]

    @property
    def shards(self) -> tuple[str, ...]:
        """The names of the shards, sorted."""
        return tuple(sorted(set(self.homes.values())))

    @property
    def firsts(self) -> dict[str, str]:
        """A tensor of each shard, to be named in messages: the first."""
        return {home: name for name, home in reversed(list(self.homes.items()))}

    @property
    def total_size(self) -> object:
        """The bytes of all tensors, as the index says them; ``None`` where it does not."""
        return self.rest.get(_METADATA, {}).get(_TOTAL)

    def text(self, homes: Mapping[str, str], total_size: int) -> str:
        """Return an index of other tensors, with the other keys of this one.

        `total_size` is recomputed if this index has it: padding changes the sum, and loaders plan
        their memory by it. An index without it gets none.
        """
        rest = dict(self.rest)
        if self.total_size is not None:
            rest[_METADATA] = {**rest[_METADATA], _TOTAL: total_size}
        return json.dumps({**rest, _MAP: homes}, indent=2, sort_keys=True) + "\n"


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard, open.

    Attributes:
        name: of its file.
        weights: its parsed header.
        open: closes the file.
    """

    name: str
    weights: Weights
    open: ExitStack


def is_index(path: Path, form: str | None) -> bool:
    """Return whether a name is that of an index, and no other format was asked for."""
    return path.name.lower().endswith(SUFFIX) and form in (None, _FORM.name)


def read_index(path: Path) -> Index:
    """Parse an index; its shards are not opened.

    Raises:
        UnfitError: it is no index, or names a file that does not lie beside it.
        OSError: it cannot be read.
    """
    with reading(path), opened_input(path) as given:
        size = os.fstat(given.handle).st_size
        if size > MOST_HEADER:
            raise unreadable("index", f"it has {size} bytes, and {MOST_HEADER} are the most")
        found = read_object("index", exactly(given.handle, 0, size), "its text", reals=True)
        homes, metadata = found.pop(_MAP, None), found.get(_METADATA, {})
        if not isinstance(homes, dict) or not all(map(is_text, homes.values())):
            raise unreadable("index", f"`{_MAP}` does not map names of tensors to names of files")
        if not homes:
            raise unreadable("index", f"`{_MAP}` lists no tensor")
        if not isinstance(metadata, dict):
            raise unreadable("index", f"`{_METADATA}` is no object")
        index = Index(path, homes, found)
        if len(index.shards) > MOST_SHARDS:
            words = f"`{_MAP}` names {len(index.shards)} files, and {MOST_SHARDS} are the most"
            raise unreadable("index", words)
    firsts = index.firsts.items()
    problems = [each for home, name in firsts if (each := _unsafe(path, name, home)) is not None]
    if problems:
        raise UnfitError(problems)
    return index


def _unsafe(path: Path, tensor: str, name: str) -> Problem | None:
    """Why a name may not be opened: the index is untrusted, and could lead out of its folder."""
    head = f"`{path}` puts the tensor {shown(tensor)} into {shown(name)}"
    # A colon starts a drive or a stream on Windows. "." and ".." fail for want of the suffix.
    if not name.isprintable() or set(name) & set("/\\:") or len(name.encode()) > 255:
        words = "which is no plain name of a file beside the index"
        return Problem("file", f"{head}, {words}", "put the shards into the folder of the index")
    if not name.lower().endswith(_FORM.suffixes):
        remedy = "convert the checkpoint to .safetensors"
        return Problem("file", f"{head}, which does not end in .safetensors", remedy)
    return None


@contextmanager
def opened_shards(index: Index) -> Iterator[tuple[Shard, ...]]:
    """Open every shard, and compare the names of its tensors with the index.

    Raises:
        UnfitError: shards are missing or unreadable, or hold other tensors; with all problems.
    """
    with ExitStack() as stack:
        shards, problems, firsts = list[Shard](), list[Problem](), index.firsts
        for name in index.shards:
            place, own = index.path.with_name(name), stack.enter_context(ExitStack())
            try:
                weights = own.enter_context(opened_weights(place, _FORM))
            except FileNotFoundError:
                words = f"`{place}` is missing: `{index.path}` puts the tensor"
                message = f"{words} {shown(firsts[name])} into it"
                problems.append(Problem("file", message, "fetch it, or save the checkpoint again"))
            except UnfitError as unfit:
                problems += unfit.problems
            else:
                shards.append(Shard(name, weights, own))
        listed = dict[str, set[str]]()
        for tensor, home in index.homes.items():
            listed.setdefault(home, set()).add(tensor)
        for shard in shards:
            problems += _other_tensors(index, shard, listed[shard.name])
        if problems:
            raise UnfitError(problems)
        yield tuple(shards)


def _other_tensors(index: Index, shard: Shard, listed: set[str]) -> Iterator[Problem]:
    """Tensors that the index puts into a shard that lacks them, and the reverse."""
    remedy = "fetch both again, or save the checkpoint again"
    held, place = {each.name for each in shard.weights.contents.entries}, shard.weights.place
    for name in sorted(listed - held):
        words = f"`{place}` lacks the tensor {shown(name)}, which `{index.path}` puts into it"
        yield Problem("file", words, remedy)
    for name in sorted(held - listed):
        home = index.homes.get(name)
        where = "does not list" if home is None else f"puts into {shown(home)}"
        words = f"`{place}` holds the tensor {shown(name)}, which `{index.path}` {where}"
        yield Problem("file", words, remedy)


def refuse_changed(given: Iterable[Given]) -> None:
    """Fail if a file that was read, and is closed, has another identity now.

    Raises:
        UnfitError: names it.
        OSError: it is gone.
    """
    for each in given:
        with reading(each.place):
            if identity(each.place) != each.before:
                raise UnreadableError("has changed while it was read")


def given_of(shards: Sequence[Shard]) -> list[Given]:
    """Return the files of all shards."""
    return [given for each in shards for given in each.weights.given]
