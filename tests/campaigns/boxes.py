"""How good the costs of boxes are: of drawn moves the best few boxes are compiled, and timed.

    python tests/campaigns/boxes.py --count 35 --seed 5000

Prints for each move how much sooner the fastest box is done than the one that is chosen, measured
once more after it was found, as the fastest of several is so by chance too; and the mean.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
from math import exp, log, prod
from pathlib import Path
from random import Random
from statistics import fmean
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np

from layoutdsl.bench.drawn import drawn_tasks
from layoutdsl.bench.moves import Task
from layoutdsl.codegen.loops import boxes, planner
from layoutdsl.codegen.loops.boxes import Box
from layoutdsl.codegen.loops.chains import Chains
from layoutdsl.codegen.loops.leaf import Parts, candidates
from layoutdsl.codegen.loops.moves import Move
from layoutdsl.codegen.native.classes import class_of, special_move
from layoutdsl.codegen.native.kernel_text import kernel_text
from layoutdsl.codegen.native.program import Moved, moved

TIMED = """
#include <time.h>
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
/* The seconds of a call: the least of some rounds. */
double timed(const void *s, void *d, const int64_t *shape, const void *fill)
{
    double best = 1e9, taken = 0;
    for (int turns = 1, round = 0; round < 12; round++) {
        const double begun = now();
        for (int k = 0; k < turns; k++)
            k_part(s, d, shape, fill, 0, k_units(shape));
        taken = now() - begun;
        best = taken / turns < best ? taken / turns : best;
        if (taken < 2e-3)
            turns *= 2, round = 0;
    }
    return best;
}
"""


def ranked(chains: Chains, width: int, count: int) -> list[Box]:
    """So many boxes of a move, the one that is chosen first and then those that cost the least."""
    found = dict[Box, None]()
    whole = candidates

    def but(left: Chains, wide: int) -> list[Parts]:
        taken = {box.parts for box in found}
        return [each for each in whole(left, wide) if each not in taken]

    with patch.object(boxes, "candidates", but):
        for _ in range(count):
            found[boxes.cheapest(chains, width)] = None
    return [box for box in found if box.parts]


def seconds(
    move: Move, task: Task, width: int, box: Box | None, count: int
) -> tuple[float, list[Box]]:
    """How long a move takes of one box, or of that which is chosen; and the boxes that there are.

    There are none where a move has several leaves, each with boxes of its own.
    """
    seen = list[list[Box]]()

    def chosen(chains: Chains, wide: int) -> Box:
        seen.append(ranked(chains, wide, count) if box is None else [box])
        return seen[-1][0]

    with patch.object(planner, "cheapest", chosen):
        made = moved("k", move, width)
    assert isinstance(made, Moved)
    with TemporaryDirectory() as folder:
        source, library = Path(folder) / "k.c", Path(folder) / "k.so"
        source.write_text(kernel_text(made.calls, made.text) + made.text + TIMED)
        options = ["-O2", "-march=native", "-w", "-shared", "-fPIC"]
        subprocess.run(["cc", *options, "-o", str(library), str(source)], check=True)
        timed = ctypes.CDLL(str(library)).timed
    timed.restype = ctypes.c_double
    size = max(prod(task.shape), *(prod(each.box(task.shape)) for each in move.layouts))
    memory = [np.ones(size * width // 8 + 64, np.int64) for _ in range(2)]
    given = [*memory, np.array(task.shape, np.int64), np.zeros(2, np.int64)]
    places = [each.ctypes.data_as(ctypes.c_void_p) for each in given]
    return timed(*places), seen[0] if len(seen) == 1 else []


def gained(task: Task, count: int) -> float | None:
    """By what factor the fastest box is sooner done; nothing where there is no choice."""
    layout = task.source or task.target
    assert layout is not None
    move = special_move(Move(task.source, task.target), class_of(layout, task.shape))
    width = np.dtype(task.dtype).itemsize
    _, found = seconds(move, task, width, None, count)
    if len(found) < 2:
        return None
    times = {box: seconds(move, task, width, box, 1)[0] for box in found}
    fastest = min(times, key=times.__getitem__)
    first, other = (seconds(move, task, width, box, 1)[0] for box in (found[0], fastest))
    return first / other


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=35, help="drawn cases, two moves each")
    parser.add_argument("--seed", type=int, default=5000)
    parser.add_argument("--boxes", type=int, default=9, help="that are timed of each move")
    given = parser.parse_args()
    factors = list[float]()
    for seed in Random(given.seed).sample(range(given.seed, given.seed + 1000), given.count):
        for task in drawn_tasks(1, seed):
            factor = None if task.source and task.target else gained(task, given.boxes)
            if factor is not None:
                factors.append(log(factor))
                print(f"{factor:5.2f}  #{seed} {task.dtype} {task.shape}", flush=True)
    print(f"{exp(fmean(factors)):5.3f}  geometric mean of {len(factors)} moves")
    return 0


if __name__ == "__main__":
    sys.exit(main())
