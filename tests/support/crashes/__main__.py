"""Run the campaign; exit with 1 on a fault.

    python -m tests.support.crashes --count 10000 --seed 0

The same seed gives the same case but for what depends on the speed of the machine: jobs run beside
each other, so a case that failed is worth a second look with ``--seed N --count 1``.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from layoutdsl.files import locks

sys.path.insert(0, str(Path(__file__).parents[1]))  # where `texts` is

from . import campaign, planted, shards, weight_shards

KINDS = {
    "files": (campaign.case, planted.PLANTED),
    "plans": (shards.case, shards.PLANTED),
    "weights": (weight_shards.case, weight_shards.PLANTED),
}

locks.MOMENT = 0.0
"""Two runs at once are to meet: who waits for a lock is told of no other."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.support.crashes", description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first case; then one by one")
    parser.add_argument(
        "--of",
        choices=KINDS,
        default="files",
        help="one run, or shares of a plan, of one tensor or of weights",
    )
    parser.add_argument("--planted", metavar="FAULT", help="with a fault; ends where it is noticed")
    given = parser.parse_args()
    case, faults_of = KINDS[given.of]
    if given.planted is not None:
        faults_of[given.planted]()
    outcomes: Counter[str] = Counter()
    failed = 0
    for seed in range(given.seed, given.seed + given.count):
        faults, played = case(seed)
        outcomes.update(played.outcomes)
        if faults:
            failed += 1
            print(f"case {seed}:", *faults, "  as", *played.log, sep="\n  ", flush=True)
            if given.planted is not None:
                break
    ended = ", ".join(f"{count} {name}" for name, count in outcomes.most_common())
    print(f"{given.count} cases, {failed} wrong; runs: {ended}")
    return 1 if failed else 0


sys.exit(main())
