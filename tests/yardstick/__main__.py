"""How much of what engineers write is proved.

  python -m tests.yardstick                     200 layouts in usual spellings, and all formulas
  python -m tests.yardstick --seed 7 --count 50 50 layouts of another seed
  python -m tests.yardstick --formulas          the formulas of public code alone
  python -m tests.yardstick --old               the same by version 78e259d
  python -m tests.yardstick --open              the texts that are not proved, with the reason

Each text is counted at small shapes too: a verdict that counting contradicts is printed, and ends
the run with exit code 1.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from random import Random

from .judging import Verdict, fault_of, verdicts
from .spelled import spelled

FORMULAS = Path(__file__).with_name("formulas.toml")


def drawn(seed: object, count: int) -> list[str]:
    """Return texts of the generator."""
    return [spelled(Random(f"{seed}-{number}")) for number in range(count)]


def formulas() -> dict[str, str]:
    """Return the formulas of public code, by name."""
    with FORMULAS.open("rb") as file:
        return {each["name"]: each["text"] for each in tomllib.load(file)["formula"]}


def contradiction(found: Verdict) -> str:
    """Return what counting says against a verdict; empty if nothing."""
    if found.status == "no text":
        return ""
    try:
        fault = fault_of(found.text, Random(found.text))
    except LookupError:
        return ""
    if found.status == "proved" and fault:
        return f"proved, and wrong at {fault}"
    if found.status == "refuted" and not fault:
        return f"refuted, and no small shape shows it: {found.reason}"
    return ""


def told(title: str, texts: Sequence[str], given: argparse.Namespace) -> bool:
    """Print the score of some texts; return whether counting contradicts a verdict."""
    python = sys.executable
    if given.old:
        from tests.net.old_version import install

        python = str(install().with_name("python"))
    found = list(verdicts(texts, python))
    seconds = sorted(each.seconds for each in found)
    proved = sum(each.status == "proved" for each in found)
    median, high = seconds[len(seconds) // 2], seconds[len(seconds) * 99 // 100]
    print(
        f"{title}: {proved} of {len(found)} proved ({proved / len(found):.1%}); processor "
        f"seconds: median {median}, 99 of 100 at most {high}, most {seconds[-1]}",
        flush=True,
    )
    wrong = False
    for each in found:
        if given.open and each.status != "proved":
            print(f"{each.status}: {each.text}\n    {each.reason}")
        words = contradiction(each)
        if words:
            wrong = True
            print(f"{each.text}\n    {words}", file=sys.stderr)
    return wrong


def main() -> int:
    """Run as the module's text says; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.yardstick",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", default="1", help="of the layouts that are drawn")
    parser.add_argument("--count", type=int, default=200, help="layouts that are drawn")
    parser.add_argument("--formulas", action="store_true", help="leave out layouts that are drawn")
    parser.add_argument("--old", action="store_true", help="prove by version 78e259d")
    parser.add_argument("--open", action="store_true", help="print what is not proved")
    given = parser.parse_args()
    wrong = False
    if not given.formulas:
        wrong = told(f"layouts of seed {given.seed}", drawn(given.seed, given.count), given)
    return int(told("formulas", list(formulas().values()), given) or wrong)


if __name__ == "__main__":
    sys.exit(main())
