"""Compiled C for layouts drawn at random, held against the meaning byte by byte.

    python -m tests.support.native_fuzz --count 20000 --seed 7

Many kernels are one program, `native_fuzz.c`; where each element comes from and goes to is worked
out here in plain integers, and the program reads it from a file. The memory of functions starts as
what it never holds by chance (`-ftrivial-auto-var-init`), so that what was not written shows. What
is found is made as simple as it can be, and said in one line.

Compilers take most of the time, and most of that for kernels that are put into every loop. A
campaign has them stay functions, without optimization, in most of its batches: that is the same
text, a tenth of the time, and so ten times as many layouts. One in sixteen is compiled as it
is served.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np

if __package__:
    sys.path.insert(0, str(Path(__file__).parent))

from random_digits import (
    Drawn,
    Several,
    Shape,
    Written,
    drawn,
    layout_read,
    shapes,
    shrunk,
    with_copies,
    with_long_axes,
)

from layoutdsl import Layout
from layoutdsl.code.loops.moves import Move, NoCode, move_of
from layoutdsl.code.moves import Plan
from layoutdsl.code.native import WIDTHS, classes
from layoutdsl.code.native.classes import GENERAL, ShapeClass, class_of, special_move
from layoutdsl.code.native.kernel_text import (
    KERNELS,
    Call,
    kernel_text,
    kernels_header,
    kernels_included,
)
from layoutdsl.code.native.libraries import OPTIONS as SERVED
from layoutdsl.code.native.libraries import STEP_OPTIONS
from layoutdsl.code.native.program import Moved, moved
from layoutdsl.code.native.tuning import RANKS
from layoutdsl.code.plan import plan
from layoutdsl.commands.bench.meaning import offsets
from layoutdsl.language.integers.value import evaluate

Draw = Callable[[Random], Drawn]
CC = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
RUNNER = os.environ.get("NATIVE_FUZZ_RUNNER", "")
"""What runs a program of another machine: ``CC='aarch64-linux-gnu-gcc -static'`` and `qemu-...`."""
BATCH = 40
HARNESS = Path(__file__).with_name("native_fuzz.c")
SMALL = (None, 2, 8)
"""Up to which extents are numbers: in some cases none, in others few, so that most are not."""
OPTIONS = ("-std=c11", "-O0", "-w")
POISONED = "-ftrivial-auto-var-init=pattern"
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1")
INLINED = "static inline __attribute__((always_inline, unused))"
APART = "static __attribute__((unused))"


@dataclass(frozen=True)
class Way:
    """How kernels are made: what the compiler is told, and which it is."""

    options: tuple[str, ...] = ()
    compiler: str = str(CC)
    is_beside_kernels: bool = False
    """What is generated includes the header of kernels, as what is written does."""
    are_apart: bool = False
    """Kernels are functions that loops call, and are not put into them."""

    @property
    def sanitized(self) -> Way:
        return replace(self, options=(*self.options, *SANITIZED))

    @property
    def apart(self) -> Way:
        return replace(self, options=(*self.options, "-O0"), are_apart=True)

    def kernels(self, calls: set[Call], *lines: str) -> tuple[str, str]:
        """What stands before the loops, and the header that it may include."""
        texts = kernel_text(calls, *lines), kernels_header()
        if self.are_apart:
            assert all(INLINED in text for text in texts)
            texts = texts[0].replace(INLINED, APART), texts[1].replace(INLINED, APART)
        return kernels_included(calls) if self.is_beside_kernels else texts[0], texts[1]


@cache
def macros(compiler: str, *options: str) -> dict[str, str]:
    """What a compiler defines; nothing where it does not know the options."""
    command = [*compiler.split(), *options, "-dM", "-E", "-x", "c", os.devnull]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    rows = [line.split(" ", 2) for line in done.stdout.splitlines()]
    return {name: value for _, name, value in rows}


def instructions(*options: str) -> set[str]:
    """The vectors that the compiler has for some options; none without a compiler."""
    if CC is None:
        return set()
    return {name for name in macros(str(CC), *options) if name.startswith(("__SSE", "__AVX"))}


def _ways() -> dict[str, Way]:
    """The ways that this machine can run; of a machine that is emulated what any has."""
    if CC is None:
        return {"none": Way()}
    native = () if RUNNER else ("-march=native",)
    found = {
        "this machine": Way(("-O1",) if RUNNER else SERVED),
        "past the cache": Way((*native, "-O1", "-DSTREAM_BYTES=1")),
        "vectors of 16 bytes": Way((*native, "-O2", "-DLAYOUT_VECTOR=16")),
        "vectors of 32 bytes": Way((*native, "-DLAYOUT_VECTOR=32")),
        "no vectors": Way((*native, "-DLAYOUT_PLAIN")),
        "as others compile it": Way((*native, "-O3"), is_beside_kernels=True),
    }
    if not RUNNER and macros(CC, *SERVED, *STEP_OPTIONS):
        found["as steps are compiled"] = Way((*SERVED, *STEP_OPTIONS))
    for machine in ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"):
        told = instructions(f"-march={machine}")
        if told and told <= instructions(*native):
            found[f"a {machine}"] = Way((f"-march={machine}",))
    clang = shutil.which("clang")
    if clang is not None and not RUNNER:
        found["by clang"] = Way(("-march=native",), clang)
    return found


WAYS = _ways()
MACHINE = next(iter(WAYS.values()))


@dataclass(frozen=True)
class Case:
    """A kernel: one layout packed or unpacked, or the buffer of one turned into that of another."""

    layouts: Several | tuple[Written, ...]
    verb: str
    width: int
    shapes: tuple[Shape, ...]
    rank: int = 0
    small: int | None = None
    """Extents up to it are numbers, as in classes of shapes; without it the C is of all shapes."""

    def __str__(self) -> str:
        texts = " -> ".join(each.text for each in self.layouts)
        shapes = "; ".join(map(str, self.shapes))
        tree = f"by tree {self.rank} of {dict(self.known)}"
        return f"{texts}  # {self.verb} u{8 * self.width} {tree} at {shapes}"

    def functions(self, name: str) -> Moved | None:
        """The kernel as C; none where no tree was found."""
        found = moved(name, special_move(self.move, self.known), self.width, rank=self.rank)
        return None if isinstance(found, NoCode) else found

    @property
    def known(self) -> ShapeClass:
        """What its C knows of the extents: the class of its shapes, or nothing."""
        return self.class_of(self.shapes[0]) if self.shapes else GENERAL

    def class_of(self, shape: Shape) -> ShapeClass:
        """The class of a shape."""
        if self.small is None:
            return GENERAL
        layout = self.layouts[0].layout
        with patch.object(classes, "SMALL", self.small):
            return class_of(layout, elements(layout, shape)[0])

    @property
    def move(self) -> Move:
        """What is moved."""
        first, last = self.layouts[0].layout, self.layouts[-1].layout
        return Move(first, last) if self.verb == "convert" else move_of(first, self.verb)

    def problem(self, shape: Shape) -> list[int] | None:
        """What the program is told of a shape; nothing where a layout is not right there."""
        places = [held(each.text, shape) for each in self.layouts]
        layouts = [each.layout for each in self.layouts]
        if any(each is None for each in places):
            return None
        size = [_slots(each, shape) for each in layouts]
        start = evaluate(layouts[-1].start, layouts[-1].bind(shape))
        own, tensor = elements(layouts[0], shape)
        match self.verb:
            case "pack":
                ends, sizes = (tensor, places[0]), (prod(own), size[0])
            case "unpack":
                first = first_copies(layouts[0], places[0])
                ends, sizes, start = (first, np.arange(prod(own))), (size[0], prod(own)), -1
            case _:
                ends, sizes = (places[0], places[1]), (size[0], size[1])
        source, target = (np.asarray(each).reshape(-1) for each in ends)
        there = (source >= 0) & (target >= 0)
        source, target = source[there], target[there]
        return [len(own), *own, *sizes, start, source.size, *source, *target]


def elements(layout: Layout, shape: Shape) -> tuple[Shape, np.ndarray]:
    """The shape of a tensor without copies; and of every index which element it is, by number."""
    copied = [axis.name in layout.copies for axis in layout.axes]
    own = tuple(e for e, is_copy in zip(shape, copied, strict=True) if not is_copy)
    single = tuple(1 if is_copy else e for e, is_copy in zip(shape, copied, strict=True))
    numbers = np.arange(prod(own), dtype=np.int64).reshape(single)
    return own, np.broadcast_to(numbers, shape)


def first_copies(layout: Layout, places: np.ndarray | None) -> np.ndarray:
    """The slots of the first copies, of those of all."""
    assert places is not None
    shape = tuple(axis.name in layout.copies for axis in layout.axes)
    return places[tuple(0 if is_copy else slice(None) for is_copy in shape)]


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
    found = offsets(layout, shape)
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


def cases(seed: int, count: int, draw: Draw = drawn) -> Iterator[Case]:
    """Kernels for so many layouts: each is packed, unpacked, and turned into another or from it.

    Layouts with copies are not turned into others. Half of all are moved by the tree that is worked
    out, the others by those that are tried where times are taken; a third is C of all shapes, the
    others are of one class, and tried at shapes of that. After each fourth comes one of long axes,
    which is moved by whole tiles, by units that are no power of two, or by blocks of 16 bytes.
    """
    for case in _cases(seed, count, draw):
        yield replace(case, shapes=tuple(s for s in case.shapes if case.class_of(s) == case.known))


def _cases(seed: int, count: int, draw: Draw) -> Iterator[Case]:
    random, ranks = Random(seed), (*[0] * RANKS, *range(RANKS))
    for number in range(count):
        if number % 4 == 0:
            yield from _long(Random(f"{seed} {number}"))
        layout = draw(random)
        width = random.choice(WIDTHS)
        few = tuple(shapes(random, (layout,), 5))
        few = tuple(random.sample(few, len(few)))
        small = random.choice(SMALL)  # one for both, as a module has both for a shape
        for verb in ("pack", "unpack"):
            yield Case((layout,), verb, width, few, random.choice(ranks), small)
        if layout.copies:
            continue
        both = (layout, drawn(random, layout))
        both = both if number % 2 else both[::-1]
        few = tuple(shapes(random, both, 5))
        few = tuple(random.sample(few, len(few)))
        yield Case(both, "convert", width, few, random.choice(ranks), random.choice(SMALL))


def _long(random: Random) -> Iterator[Case]:
    layout, few, width = with_long_axes(random)
    for verb in ("pack", "unpack"):
        yield Case((layout,), verb, width, few, random.choice((0, 0, *range(RANKS))))


def faults(some: Sequence[Case], way: Way) -> Iterator[tuple[Case, str]]:
    """What is wrong with kernels, each with the one shape at which it shows."""
    with TemporaryDirectory(prefix="native-fuzz-") as directory:
        place, tried = Path(directory), list[Case]()
        data = array("q")
        lines, rows, calls = list[str](), list[str](), set[Call]()
        for number, case in enumerate(some):
            body = case.functions(f"k{number}")
            if body is None:
                continue
            for shape in case.shapes:
                problem = case.problem(shape)
                if problem is not None:
                    data.extend((len(rows), len(tried), *map(int, problem)))
                    tried.append(replace(case, shapes=(shape,)))
            lines.append(body.text)
            calls |= body.calls
            rows.append(f"{{{case.width}, k{number}_part, k{number}_units}}")
        if macros(way.compiler)["__BYTE_ORDER__"] == "__ORDER_BIG_ENDIAN__":
            data.byteswap()
        (place / "data").write_bytes(data.tobytes())
        first, header = way.kernels(calls, *lines)
        text = "\n".join([first, *lines, f"#define KERNELS {', '.join(rows)}", ""])
        (place / "kernels.c").write_text(text)
        (place / KERNELS).write_text(header)
        _compiled(place, way)
        for number, kind in _said(place):
            yield tried[number], kind


def _compiled(place: Path, way: Way) -> None:
    options = [*OPTIONS, *_poisoning(way.compiler), *way.options, "-I", str(place)]
    command = [*way.compiler.split(), *options, "-o", str(place / "program"), str(HARNESS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[:3000]


@cache
def _poisoning(compiler: str) -> tuple[str, ...]:
    """The option by which local variables start as a pattern, where the compiler has it."""
    command = [*compiler.split(), POISONED, "-fsyntax-only", "-x", "c", os.devnull]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    return (POISONED,) if done.returncode == 0 else ()


def _said(place: Path) -> Iterator[tuple[int, str]]:
    """The numbers of cases that are wrong; after one that ends the program the next is tried."""
    first = 0
    while True:
        command = [*RUNNER.split(), str(place / "program"), str(place / "data"), str(first)]
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


@dataclass(frozen=True)
class Batch:
    """Layouts that are one program, and how it is made: drawn by its seed."""

    seed: int
    count: int
    draw: Draw = drawn

    @property
    def way(self) -> tuple[str, Way]:
        random = Random(f"way {self.seed}")
        name = random.choice(list(WAYS))
        how = random.randrange(16)
        if how == 0:
            return name, WAYS[name]
        if how <= 3:
            return f"{name}, apart and sanitized", WAYS[name].sanitized.apart
        return f"{name}, apart", WAYS[name].apart


def tried(batch: Batch) -> tuple[Batch, list[str]]:
    """What was found, each as it was drawn and as simple as it gets."""
    (name, way), seen, found = batch.way, set[Several](), list[str]()
    for case, kind in list(faults(list(cases(batch.seed, batch.count, batch.draw)), way)):
        least = "" if case.layouts in seen else f"\n  {simplest(case, way)}"
        seen.add(case.layouts)
        found.append(f"{kind}: {case}\n  {name}{least}")
    return batch, found


def campaign(seed: int, count: int, jobs: int = 1, draw: Draw = drawn) -> int:
    """Try so many layouts, and say what was found; how many faults that is."""
    sizes = [min(BATCH, count - first) for first in range(0, count, BATCH)]
    batches = [Batch(seed + BATCH * k, size, draw) for k, size in enumerate(sizes)]
    done, found, named = 0, 0, Counter[str]()
    with get_context("spawn").Pool(jobs, maxtasksperchild=10) as pool:  # caches grow
        for batch, messages in pool.imap_unordered(tried, batches):
            done, found = done + batch.count, found + len(messages)
            named[batch.way[0]] += batch.count
            for message in messages:
                print(message, flush=True)
            print(f"{done} layouts, {found} faults", flush=True)
    print("\n".join(f"{number:7} {name}" for name, number in sorted(named.items())))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.native_fuzz", description=__doc__
    )
    parser.add_argument("--count", type=int, default=1000, help="layouts")
    parser.add_argument("--seed", type=int, default=1, help=f"of the first {BATCH}, that draws all")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--copies", action="store_true", help="layouts that hold copies")
    given = parser.parse_args()
    draw = with_copies if given.copies else drawn
    return 1 if campaign(given.seed, given.count, given.jobs, draw) else 0


if __name__ == "__main__":
    sys.exit(main())
