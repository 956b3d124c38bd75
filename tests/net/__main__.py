"""Compare what layoutdsl does with what version 78e259d did.

  python -m tests.net compare                   run all command lines, compare with records/
  python -m tests.net compare --only '^pack/'   those whose COMMAND/NAME or text matches
  python -m tests.net compare --old             run 78e259d as well: whole texts, no records
  python -m tests.net rewrite                   write records/ anew; then review `git diff`
  python -m tests.net corpus                    write corpus/ anew, by 78e259d

A person reviews each difference; README.md lists which records each issue may change. `compare`
exits with 1 if something differs, 4 if 78e259d cannot be installed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import groupby

from . import records
from .old_version import COMMIT, MissingError, install
from .running import Case, Version, cases


def _texts(version: Version, chosen: list[Case], jobs: int, whole: bool) -> Iterator[str]:
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda case: records.record(version.run(case), whole=whole), chosen)


def compare(chosen: list[Case], jobs: int, old: bool) -> int:
    """Print each record that differs; return how many do."""
    changed = 0
    with closing(Version()) as version:
        after = _texts(version, chosen, jobs, old)
        if old:
            with closing(Version(install())) as peer:
                pairs = zip(chosen, _texts(peer, chosen, jobs, True), after, strict=True)
                for case, before, text in pairs:
                    changed += _show(case, before, text)
        else:
            kept = {case.command: records.read(case.command) for case in chosen}
            for case, text in zip(chosen, after, strict=True):
                changed += _show(case, kept[case.command].get(case.name, ""), text)
    return changed


def _show(case: Case, before: str, after: str) -> bool:
    text = records.difference(case, before, after, (COMMIT, "working version"))
    if text:
        print(text, flush=True)
    return bool(text)


def rewrite(chosen: list[Case], jobs: int, old: bool, every: list[Case]) -> int:
    """Write the records of the chosen cases, keep the others; return how many changed.

    Each file is written once its last case is done, so a run that is interrupted loses little.
    """
    changed = 0
    records.FOLDER.mkdir(exist_ok=True)
    for place in records.FOLDER.glob("*.txt"):
        if place.stem not in {case.command for case in every}:
            place.unlink()
    with closing(Version(install()) if old else Version()) as version:
        texts = zip(chosen, _texts(version, chosen, jobs, False), strict=True)
        for command, group in groupby(texts, lambda each: each[0].command):
            found, kept = {case.name: text for case, text in group}, records.read(command)
            names = [case.name for case in every if case.command == command]
            new = {name: found.get(name) or kept.get(name, "") for name in names}
            records.write(command, {name: text for name, text in new.items() if text})
            changed += sum(
                kept.get(name, "") != new.get(name, "") for name in kept.keys() | new.keys()
            )
    return changed


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.net",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("compare", "rewrite", "corpus"))
    parser.add_argument("--only", default="", metavar="REGEX", help="a part of the command lines")
    parser.add_argument("--old", action="store_true", help=f"run {COMMIT}; see above")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    given = parser.parse_args()
    begun, every = time.perf_counter(), cases()
    chosen = [case for case in cases(given.only) if not case.missing]
    skipped = [case for case in cases(given.only) if case.missing]
    try:
        if given.what == "corpus":
            from .corpus import make

            make(Version(install()))
            return 0
        if given.what == "rewrite":
            changed, word = rewrite(chosen, given.jobs, given.old, every), "rewritten"
        else:
            changed, word = compare(chosen, given.jobs, given.old), "changed"
    except MissingError as missing:
        print(f"error: {missing}", file=sys.stderr)
        return 4
    for case in skipped:
        print(f"skipped {case.key}: {case.missing}")
    seconds = time.perf_counter() - begun
    print(
        f"{len(chosen)} command lines, {changed} {word}, {len(skipped)} skipped  ({seconds:.0f} s)"
    )
    return int(bool(changed) and given.what == "compare")


if __name__ == "__main__":
    sys.exit(main())
