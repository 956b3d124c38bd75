"""Run the campaign: ``python -m tests.support.emitted_fuzz --count 20000``; ends with 1 on a fault.

A line that it prints for a fault runs that one again: ``--kind numpy --layout '...' --shape 3,4``.
"""

from __future__ import annotations

import argparse
import sys
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # where `mutants` is

from .campaign import Found, Share, campaign, now, told
from .cases import KINDS_OF_CODE, Case, Ways
from .running import run

EVERY = 200
"""Layouts after which it says how far it is."""


def main() -> int:
    given = arguments()
    if given.layout:
        shape = tuple(int(each) for each in given.shape.split(",") if each)
        case = Case(given.kind, given.layout, shape, Ways.read(given.ways), given.other)
        print(*run(case))
        return run(case)[0] == "wrong"
    begun = now()
    each = -(-given.count // given.jobs)
    work = [(given.seed + 10**9 * k, each, given.c, given.conversions) for k in range(given.jobs)]
    if given.jobs == 1:
        found = part(work[0])
    else:
        found = Found()
        with get_context("spawn").Pool(given.jobs) as pool:
            for one in pool.imap_unordered(part, work):
                found.counts.update(one.counts)
                found.faults += one.faults
    print(told(found, now() - begun))
    return 1 if found.faults else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.emitted_fuzz", description=__doc__
    )
    parser.add_argument("--count", type=int, default=1000, help="layouts")
    parser.add_argument("--seed", type=int, default=0, help="of the first layout; then one by one")
    parser.add_argument("--jobs", type=int, default=1, help="processes, from a seed far off each")
    parser.add_argument("--c", type=int, default=12, help="layouts of a hundred with C")
    parser.add_argument("--conversions", type=int, default=12, help="of a hundred, converted")
    parser.add_argument("--kind", choices=KINDS_OF_CODE, default="numpy", help="of a single case")
    parser.add_argument("--layout", help="one layout `L`, run alone")
    parser.add_argument("--other", default="", help="the layout `M` to convert to")
    parser.add_argument("--shape", default="", help="its extents")
    parser.add_argument("--ways", default=str(Ways()), help="type, source, target, fill, threads")
    return parser.parse_args()


def part(work: tuple[int, int, int, int]) -> Found:
    """One process: it says how far it is, and each fault as soon as it is found."""
    seed, count, c, conversions = work
    begun, faults = now(), 0

    def tell(found: Found) -> None:
        nonlocal faults
        if found.counts["layouts"] % EVERY == 0 or len(found.faults) > faults:
            done = found.counts["layouts"]
            print(f"[{seed}] {done} layouts, {now() - begun:.0f} s", file=sys.stderr, flush=True)
        for case, message in found.faults[faults:]:
            print(f"{message}\n  {case}", file=sys.stderr, flush=True)
        faults = len(found.faults)

    return campaign(seed, count, Share(c=c, conversions=conversions), tell)


if __name__ == "__main__":
    sys.exit(main())
