"""Sharded checkpoints that nobody chose: the tensors of a drawn file, spread over shards.

What has to come of each tensor is asked of the drawn file, in plain integers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import groups_drawn
from weights_drawn import TEXT, Case, Tensor, drawn

import layoutdsl

INDEX = "model.safetensors.index.json"


@dataclass(frozen=True)
class Checkpoint:
    """A file of weights, and which of its tensors lie in which shard."""

    case: Case
    homes: Mapping[str, str]
    rules: layoutdsl.Module

    @property
    def shards(self) -> dict[str, list[Tensor]]:
        found: dict[str, list[Tensor]] = {}
        for each in self.case.tensors:
            found.setdefault(self.homes[each.name], []).append(each)
        return found

    def write(self, folder: Path) -> Path:
        """Put it there; returns the index."""
        folder.mkdir(exist_ok=True)
        for name, tensors in self.shards.items():
            replace(self.case, tensors=tuple(tensors)).write(folder / name)
        size = sum(len(each.data) for each in self.case.tensors)
        metadata = {"total_size": size, "format": "pt"}
        return write_index(folder, self.homes, metadata=metadata)

    def home_of(self, made: str) -> str:
        """The shard of a tensor that is made."""
        if isinstance(self.case, groups_drawn.GroupCase):
            for each in self.case.made:
                if each.name == made:
                    return self.homes[next(iter(each.names.values()))]
        return self.homes[made]


def write_index(folder: Path, homes: object, **more: object) -> Path:
    """Write an index as huggingface_hub does."""
    found = {**more, "weight_map": homes}
    place = folder / INDEX
    place.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n")
    return place


def of_rules(draw: Random) -> Checkpoint:
    """A checkpoint whose tensors are packed one by one."""
    case = drawn(draw, ("safetensors",))
    names = [(each.name,) for each in case.tensors]
    return Checkpoint(case, _homes(draw, names), layoutdsl.parse(TEXT + case.rules))


def of_groups(draw: Random) -> Checkpoint:
    """A checkpoint whose tensors become records; those of a record lie in one shard."""
    case = groups_drawn.drawn(draw, ("safetensors",), drawn_records=0.0)
    grouped = [tuple(each.names.values()) for each in case.made]
    taken = {name for each in grouped for name in each}
    alone = [(each.name,) for each in case.tensors if each.name not in taken]
    return Checkpoint(case, _homes(draw, [*grouped, *alone]), layoutdsl.parse(case.rules))


def _homes(draw: Random, together: Sequence[tuple[str, ...]]) -> dict[str, str]:
    count = draw.randint(1, 4)
    names = [f"model-{n + 1:05}-of-{count:05}.safetensors" for n in range(count)]
    return {name: home for some in together for home in (draw.choice(names),) for name in some}
