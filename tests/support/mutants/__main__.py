"""Run the campaign: ``python -m tests.support.mutants --count 2000 --seed 0 --jobs 2``.

Every mutant is judged by the prover, and its verdict held against plain integers. The same seed and
count give the same mutants in the same order, whatever the number of jobs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import islice
from multiprocessing import get_context

from .campaign import mutants, originals
from .judge import Judgement, judge
from .report import as_json, failed, table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.support.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="mutants, refused ones apart")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--json", action="store_true", help="every judgement, as JSON")
    given = parser.parse_args()
    begun = time.perf_counter()
    found: list[Judgement] = []
    with get_context("spawn").Pool(given.jobs) as pool:
        base = list(pool.imap(judge, originals(given.seed)[: given.count // 5], chunksize=8))
        judged = 0
        chosen = islice(mutants(given.seed), 2 * given.count + 100)
        for each in pool.imap(judge, chosen, chunksize=8):
            found.append(each)
            judged += each.verdict != "refused"
            if judged >= given.count:
                break
        pool.terminate()
    if given.json:
        json.dump([as_json(each) for each in [*base, *found]], sys.stdout, indent=1)
        print()
    else:
        print(table(base, found, time.perf_counter() - begun))
    return 1 if failed([*base, *found]) else 0


if __name__ == "__main__":
    sys.exit(main())
