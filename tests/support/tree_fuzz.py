"""Trees of random layouts, carried out in plain integers and held against the meaning.

python -m tests.support.tree_fuzz --count 2000 --seed 7
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

if __package__:
    sys.path.insert(0, str(Path(__file__).parent))

from native_fuzz import Case, cases
from random_digits import Shape
from tree_run import OutsideError, run

from layoutdsl.code.loops import tree
from layoutdsl.code.loops.planner import Unplanned
from layoutdsl.code.loops.trees import tree_of
from layoutdsl.code.native.classes import special_move

FILL = -2
POISON = -3


def node_of(case: Case) -> tree.Node | None:
    """The planner's tree of a case, of its class and rank, where there is one."""
    node = tree_of(special_move(case.move, case.known), case.width, rank=case.rank)
    return None if isinstance(node, Unplanned) else node


def fault(case: Case, node: tree.Node, shape: Shape) -> str | None:
    """What is wrong of a tree at a shape, if anything is."""
    told = case.problem(shape)
    if told is None:
        return None
    rank = told[0]
    sizes, start, count = told[rank + 1 : rank + 3], told[rank + 3], told[rank + 4]
    source, target = told[rank + 5 : rank + 5 + count], told[rank + 5 + count :]
    read = [POISON] * sizes[0]
    for place in source:
        read[place] = place
    buffers = {"source": read, "target": [POISON] * sizes[1]}
    values = case.layouts[-1].layout.bind(shape)
    try:
        run(node, buffers, values, FILL)
    except OutsideError as error:
        return f"{shape}: {error}"
    expected = [FILL if 0 <= start <= place else POISON for place in range(sizes[1])]
    for one, other in zip(source, target, strict=True):
        expected[other] = one
    got = buffers["target"]
    for place, (one, other) in enumerate(zip(got, expected, strict=True)):
        if one != other:
            return f"{shape}: at {place} is {one}, and should be {other}"
    return None


def main() -> int:
    """Try so many layouts; the exit code says whether all are right."""
    given = argparse.ArgumentParser()
    given.add_argument("--count", type=int, default=100)
    given.add_argument("--seed", type=int, default=0)
    args = given.parse_args()
    seen = Counter[str]()
    for case in cases(args.seed, args.count):
        node = node_of(case)
        if node is None:
            seen["not planned"] += 1
            continue
        seen["planned"] += 1
        for shape in case.shapes:
            wrong = fault(case, node, shape)
            if wrong is not None:
                print(case, wrong, sep="\n  ", flush=True)
                seen["wrong"] += 1
                break
    print(seen)
    return 1 if seen["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
