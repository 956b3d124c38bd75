"""Runs on files of weights that are killed at any call: nothing is broken, nothing mixed."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import groups_drawn
from crashes.killed import Death, ended
from weight_files import said_of
from weights_drawn import TEXT, Case, drawn

import layoutdsl
from layoutdsl import UnfitError, pack_weights, unpack_weights, verify_weights
from layoutdsl.files.weights.forms import form_named

MEMORY = "/dev/shm"
"""Where flushing takes no time."""


def killed(seed: int) -> tuple[list[str], int]:
    """Play one case; returns what is wrong, and how many runs were killed."""
    draw, here = Random(seed), Path.cwd()
    with TemporaryDirectory(dir=MEMORY if Path(MEMORY).is_dir() else None) as folder:
        os.chdir(folder)
        try:
            played = Played(draw)
            return list(played.faults()), played.kills
        finally:
            os.chdir(here)


class Played:
    """An output that may be there already, and runs that make it anew."""

    def __init__(self, draw: Random) -> None:
        form = draw.choice(("safetensors", "npz", "npy", "gguf", "onnx"))
        self.draw, self.kills = draw, 0
        self.cases = [any_of(draw, form) for _ in range(2)]
        self.out = Path(f"out.{form}")
        self.form = form_named(form)
        self.sources = [Path(f"in{n}.{form}") for n in range(2)]
        for case, source in zip(self.cases, self.sources, strict=True):
            case.write(source)
        self.unpacks = draw.random() < 0.3

    def faults(self) -> Iterator[str]:
        """Play it through."""
        task = self.task()
        if self.draw.random() < 0.5:
            self.pack(0)
        old = self.content()
        for _ in range(self.draw.randint(1, 3)):
            call = min(int(self.draw.expovariate(1 / 30)) + 1, 200)
            death = Death(call, self.draw.choice(("before", "within", "after")), None)
            outcome = ended(task, death, blind=False)
            self.kills += outcome == "killed"
            if outcome not in ("killed", "done", "resumed"):
                yield f"it ended as {outcome} after {death}: {text('fault.txt')}"
            yield from self.standing(old)
        outcome = ended(task, None, blind=False)
        if outcome not in ("done", "resumed"):
            yield f"the last run ended as {outcome}: {text('fault.txt')}"
        elif not self.is_new():
            yield "the last run has not made what it has to"
        if left := sorted(each.name for each in Path().iterdir() if ".part" in each.name):
            yield f"{left} are left behind"

    def task(self) -> Callable[[], Any]:
        """What is killed: the second file is packed, or unpacked after it was packed elsewhere."""
        if not self.unpacks:
            return lambda: self.pack(1)
        packed = f"packed.{self.out.suffix[1:]}"
        rules = layoutdsl.parse(TEXT + self.cases[1].rules)
        pack_weights(self.sources[1], packed, rules, target="numpy")
        return lambda: unpack_weights(packed, self.out, target="numpy", mem=1 << 16, jobs=1)

    def pack(self, number: int) -> Any:
        rules = layoutdsl.parse(TEXT + self.cases[number].rules)
        how: dict[str, Any] = {"target": "numpy", "mem": 1 << 15, "jobs": 1}
        return pack_weights(self.sources[number], self.out, rules, **how)

    def content(self) -> tuple[bytes, ...] | None:
        """The output, and what lies beside it."""
        ends = ("", ".json", ".data")
        places = [self.out.with_name(f"{self.out.name}{each}") for each in ends]
        return tuple(each.read_bytes() for each in places if each.exists()) or None

    def standing(self, old: tuple[bytes, ...] | None) -> Iterator[str]:
        """What may be there after a run was killed: what was there, nothing, or all of the new."""
        new = self.content()
        if not self.out.exists():
            return  # data without their model are of no file
        if new in (old, None) or self.is_new():
            return
        if old is not None and len(old) == 2 and new == old[:1]:
            return  # what spoke of the old data is gone, and these are still in their place
        yield "a part of an output is in its place"

    def is_new(self) -> bool:
        """Whether the output is what the run has to make; what it says of itself may be missing."""
        if not self.out.exists():
            return False
        case, source = self.cases[1], self.sources[1]
        found = {name: data for name, (_, _, data) in said_of(self.form, self.out).items()}
        if self.unpacks:
            return found == {each.name: each.data for each in case.tensors}
        if found != case.want() or not is_archive(self.out):
            return False
        beside = self.out.with_name(f"{self.out.name}.json")
        if self.form.name == "npy" and not beside.exists():
            return True
        try:
            return verify_weights(self.out, source).fault is None
        except UnfitError:
            return False


def is_archive(place: Path) -> bool:
    """Whether an archive has the checksums that it says; other files are none."""
    if place.suffix != ".npz":
        return True
    with zipfile.ZipFile(place) as archive:
        return archive.testzip() is None


def any_of(draw: Random, form: str) -> Case:
    """Some weights; of several tensors that become one, now and then."""
    if form in ("safetensors", "npz", "gguf") and draw.random() < 0.25:
        return groups_drawn.drawn(draw, (form,), drawn_records=0.0)
    return one_of(drawn(draw, (form,)), form)


def one_of(case: Case, form: str) -> Case:
    """The same, or one tensor of it where the format holds no more."""
    if form != "npy":
        return case
    one = next((each for each in case.tensors if each.kind), case.tensors[0])
    rule = next((each for each in case.rules.split("\n") if each and f'{one.kind}"' in each), "")
    body = rule.partition('"')[2].partition('"')[2] if one.kind else " = keep"
    tensor = type(one)("array", one.kind, one.type, one.shape, one.data)
    return Case(form, (tensor,), f'tensor "array"{body}')


def text(name: str) -> str:
    return Path(name).read_text() if Path(name).exists() else ""
