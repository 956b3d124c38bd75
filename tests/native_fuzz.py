"""Compiled C for layouts drawn at random, held against the meaning byte by byte.

    python -m tests.native_fuzz --count 20000 --seed 7

Many kernels are one program, `native_fuzz.c`; where each element comes from and goes to is worked
out here in plain integers, and the program reads it from a file. The memory of functions starts as
what it never holds by chance (`-ftrivial-auto-var-init`), so that what was not written shows. What
is found is made as simple as it can be, and said in one line.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

if __package__:
    sys.path.insert(0, str(Path(__file__).parent))

from random_digits import Several, Shape, Written, drawn, layout_read, shapes, shrunk

from layoutdsl.bench.meaning import offsets
from layoutdsl.codegen.convert_plan import conversion_plan
from layoutdsl.codegen.moves import Fallback, Plan
from layoutdsl.codegen.native import WIDTHS
from layoutdsl.codegen.native.conversion import conversion_chains
from layoutdsl.codegen.native.kernel_text import kernel_functions
from layoutdsl.codegen.native.program import prelude, sides, verb_functions
from layoutdsl.codegen.native.sides import Apart
from layoutdsl.codegen.native.spelling import Spelling
from layoutdsl.codegen.plan import plan
from layoutdsl.integers.value import evaluate
from layoutdsl.meaning.model import Layout

CC = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
HARNESS = Path(__file__).with_name("native_fuzz.c")
OPTIONS = ("-std=c11", "-O0", "-w")
POISONED = "-ftrivial-auto-var-init=pattern"
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1")


@dataclass(frozen=True)
class Way:
    """How kernels are made: the widest vector, and what the compiler is told."""

    vector: int
    options: tuple[str, ...] = ()

    @property
    def sanitized(self) -> Way:
        return replace(self, options=(*self.options, *SANITIZED))


WAYS = {
    "this machine": Way(64, ("-march=native",)),
    "vectors of 16 bytes": Way(16),
    "past the cache": Way(64, ("-march=native", "-DSTREAM_BYTES=1")),
    "vectors of 32 bytes": Way(32, ("-march=native",)),
    "wide vectors of any machine": Way(64),
    "no vectors": Way(16, ("-DLAYOUT_PLAIN",)),
    "as others compile it": Way(64, ("-march=native", "-O3")),
}
MACHINE = WAYS["this machine"]


@dataclass(frozen=True)
class Case:
    """A kernel: one layout packed or unpacked, or the buffer of one turned into that of another."""

    layouts: Several | tuple[Written, ...]
    verb: str
    width: int
    shapes: tuple[Shape, ...]

    def __str__(self) -> str:
        texts = " -> ".join(each.text for each in self.layouts)
        return f"{texts}  # {self.verb} u{8 * self.width} at {'; '.join(map(str, self.shapes))}"

    def functions(self, name: str, vector: int) -> list[str] | None:
        """The kernel as C; none for two layouts without common digits."""
        layouts = [each.layout for each in self.layouts]
        if self.verb != "convert":
            found, sizes = sides(layouts[0]), (self.width, vector)
            return verb_functions(name, layouts[0], found, self.verb, sizes)
        planned = conversion_plan(*layouts)
        chained = None if isinstance(planned, Fallback) else conversion_chains(planned)
        if chained is None or isinstance(chained, Apart):
            return None
        return kernel_functions(name, chained, self.width, vector, Spelling(layouts[1]))

    def problem(self, shape: Shape) -> list[int] | None:
        """What the program is told of a shape; nothing where a layout is not right there."""
        tensor = np.arange(prod(shape), dtype=np.int64)
        places = [held(each.text, shape) for each in self.layouts]
        layouts = [each.layout for each in self.layouts]
        if any(each is None for each in places):
            return None
        size = [_slots(each, shape) for each in layouts]
        start = evaluate(layouts[-1].start, layouts[-1].bind(shape))
        match self.verb:
            case "pack":
                ends, sizes = (tensor, places[0]), (prod(shape), size[0])
            case "unpack":
                ends, sizes, start = (places[0], tensor), (size[0], prod(shape)), -1
            case _:
                ends, sizes = (places[0], places[1]), (size[0], size[1])
        source, target = (np.asarray(each).reshape(-1) for each in ends)
        there = (source >= 0) & (target >= 0)
        source, target = source[there], target[there]
        return [len(shape), *shape, *sizes, start, source.size, *source, *target]


def _slots(layout: Layout, shape: Shape) -> int:
    return evaluate(layout.start, layout.bind(shape)) + prod(layout.box(shape))


@cache
def held(text: str, shape: Shape) -> np.ndarray | None:
    """The offset of every element, -1 without a slot; nothing where the layout is wrong there."""
    layout = layout_read(text)
    values, planned = layout.bind(shape), plan(layout)
    for limit in planned.limits if isinstance(planned, Plan) else ():
        if evaluate(limit.least, values) > evaluate(limit.most, values):
            return None
    found = offsets(layout, shape).reshape(-1)
    slots, start = found[found >= 0], evaluate(layout.start, values)
    if layout.domain and (found < -1).any():
        return None
    if not layout.domain and slots.size < found.size:
        return None
    apart = np.unique(slots).size == slots.size
    inside = ((start <= slots) & (slots < _slots(layout, shape))).all()
    return found if apart and inside else None


@dataclass(frozen=True)
class Fault:
    """What was found, as it was drawn and as simple as it gets."""

    case: Case
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.case}"


def cases(seed: int, count: int) -> Iterator[Case]:
    """Kernels for so many layouts: each is packed, unpacked, and turned into another or from it."""
    random = Random(seed)
    for number in range(count):
        layout = drawn(random)
        width = random.choice(WIDTHS)
        few = tuple(shapes(random, (layout,), 5))
        for verb in ("pack", "unpack"):
            yield Case((layout,), verb, width, few)
        both = (layout, drawn(random, layout))
        both = both if number % 2 else both[::-1]
        yield Case(both, "convert", width, tuple(shapes(random, both, 5)))


def faults(some: Sequence[Case], way: Way) -> Iterator[tuple[Case, str]]:
    """What is wrong with kernels, each with the one shape at which it shows."""
    with TemporaryDirectory(prefix="native-fuzz-") as directory:
        place, tried = Path(directory), list[Case]()
        data = array("q")
        lines, rows = [prelude(way.vector)], list[str]()
        for number, case in enumerate(some):
            body = case.functions(f"k{number}", way.vector)
            if body is None:
                continue
            for shape in case.shapes:
                problem = case.problem(shape)
                if problem is not None:
                    data.extend((len(rows), len(tried), *map(int, problem)))
                    tried.append(replace(case, shapes=(shape,)))
            lines += body
            rows.append(f"{{{case.width}, k{number}_part, k{number}_units}}")
        (place / "data").write_bytes(data.tobytes())
        text = "\n".join([*lines, f"#define KERNELS {', '.join(rows)}", ""])
        (place / "kernels.c").write_text(text)
        _compiled(place, way)
        for number, kind in _said(place):
            yield tried[number], kind


def _compiled(place: Path, way: Way) -> None:
    options = [*OPTIONS, *_poisoning(), *way.options, "-I", str(place)]
    command = [*str(CC).split(), *options, "-o", str(place / "program"), str(HARNESS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[:3000]


@cache
def _poisoning() -> tuple[str, ...]:
    """The option by which local variables start as a pattern, where the compiler has it."""
    command = [*str(CC).split(), POISONED, "-fsyntax-only", "-x", "c", os.devnull]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    return (POISONED,) if done.returncode == 0 else ()


def _said(place: Path) -> Iterator[tuple[int, str]]:
    """The numbers of cases that are wrong; after one that ends the program the next is tried."""
    first = 0
    while True:
        command = [str(place / "program"), str(place / "data"), str(first)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        lines, last = done.stdout.splitlines(), first
        for line in lines:
            word, *rest = line.split(maxsplit=2)
            if word == "fault":
                yield int(rest[0]), rest[1]
            last = int(rest[0]) if word == "at" else last
        if done.returncode == 0 and lines[-1:] == ["done"]:
            return
        complaint = [row for row in done.stderr.splitlines() if "rror" in row][:1]
        yield last, f"ended with {done.returncode} {' '.join(complaint)[:200]}"
        first = last + 1


def simplest(case: Case, way: Way) -> Fault:
    """The simplest case that is still wrong in the same way."""
    kinds = [kind for _, kind in faults([case], way)]
    assert not any(isinstance(each, Written) for each in case.layouts)

    def fails(layouts: Several, shape: Shape) -> bool:
        other = replace(case, layouts=layouts, shapes=(shape,))
        return any(True for _ in faults([other], way))

    layouts, shape = shrunk(case.layouts, case.shapes[0], fails)
    return Fault(replace(case, layouts=layouts, shapes=(shape,)), kinds[0] if kinds else "once")


def campaign(seed: int, count: int, batch: int, sanitized: int) -> int:
    """Try so many layouts, and say what was found; how many faults that is."""
    found, ways = 0, list(WAYS.items())
    for number in range(0, count, batch):
        name, way = ways[(number // batch) % len(ways)]
        if sanitized and (number // batch) % sanitized == 0:
            way = way.sanitized
        seen = set[Several]()
        some = list(cases(seed + number, min(batch, count - number)))
        for case, kind in list(faults(some, way)):
            found += 1
            if case.layouts not in seen:
                seen.add(case.layouts)
                print(f"{kind}: {case}\n  {name}: {simplest(case, way)}", flush=True)
        print(f"{number + batch} layouts, {found} faults", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=40)
    parser.add_argument("--sanitized", type=int, default=4, help="one batch in so many; 0 for none")
    given = parser.parse_args()
    return 1 if campaign(given.seed, given.count, given.batch, given.sanitized) else 0


if __name__ == "__main__":
    sys.exit(main())
