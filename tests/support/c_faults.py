"""Functions of C with one fault each: a number, a sign, a name, an argument or a line is another.

    python -m tests.support.c_faults --count 20 --seed 7

Truth is the text carried out in plain integers at shapes around the edges (`c_run`). A text that is
wrong there and validated all the same is a hole in the proof.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

if __package__:
    sys.path.insert(0, str(Path(__file__).parent))

from c_run import FaultError, targets
from native_fuzz import Case, cases
from random_digits import Shape
from tree_faults import small_shapes

from layoutdsl import Layout
from layoutdsl.code.loops.moves import NoCode
from layoutdsl.code.native.program import moved
from layoutdsl.code.validate.loops import validate_c, validate_c_conversion
from layoutdsl.code.validate.outcome import NotValidated, Validated

NAME = "f"
_WORD = re.compile(r"[A-Za-z_]\w*|\d+|[<>=!]=|\+\+|\+=|&&|[-+*/%<>]")
_OTHERS = {
    "+": "-*",
    "-": "+",
    "*": "+",
    "/": "%*",
    "%": "/",
    "<": ("<=", ">"),
    "<=": ("<", ">="),
    ">": ("<",),
    ">=": (">",),
    "==": ("!=",),
}
_KEPT = {"const", "int64_t", "uint8_t", "for", "if", "else", "return", "void", "INLINED", "int"}


def text_of(case: Case) -> str | None:
    """The functions of a case, without comments."""
    found = moved(NAME, case.move, case.width)
    return None if isinstance(found, NoCode) else re.sub(r"/\*.*?\*/", "", found.text)


def validated(case: Case, text: str) -> Validated | NotValidated:
    """Whether functions were shown to do what a case asks for."""
    layouts: list[Layout] = [each.layout for each in case.layouts]
    if case.verb == "convert":
        return validate_c_conversion(text, NAME, layouts[0], layouts[1], case.width)
    return validate_c(text, NAME, layouts[0], case.verb, case.width)  # type: ignore[arg-type]


def fault(case: Case, text: str, shape: Shape) -> str | None:
    """What is wrong of a text at a shape, if anything is."""
    told = case.problem(shape)
    if told is None:
        return None
    rank, width = told[0], case.width
    sizes, start, count = told[rank + 1 : rank + 3], told[rank + 3], told[rank + 4]
    source, target = told[rank + 5 : rank + 5 + count], told[rank + 5 + count :]
    read: list[Any] = ["poison"] * (sizes[0] * width)
    expected: list[Any] = [None] * (sizes[1] * width)
    for place in range(max(start, 0) * width, sizes[1] * width) if start >= 0 else ():
        expected[place] = ("fill", place % width)
    for one, other in zip(source, target, strict=True):
        for byte in range(width):
            read[one * width + byte] = expected[other * width + byte] = (one, byte)
    fill = [("fill", byte) for byte in range(width)]
    try:
        for got in targets(text, NAME, shape, read, sizes[1] * width, fill):
            for place, (one, other) in enumerate(zip(got, expected, strict=True)):
                if one != other:
                    return f"{shape}: at {place} is {one}, and should be {other}"
    except (
        FaultError,
        TypeError,
        ValueError,
        LookupError,
        AttributeError,
        RecursionError,
    ) as error:
        return f"{shape}: {error}"
    return None


def faulty(text: str, random: Random) -> str:
    """The text with one thing changed."""
    lines = text.split("\n")
    number = random.choice([n for n, line in enumerate(lines) if line.strip()])
    line, rest = lines[number], (lines[:number], lines[number + 1 :])
    kind = random.random()
    if kind < 0.08:
        return "\n".join((*rest[0], *rest[1]))
    if kind < 0.12:
        return "\n".join((*rest[0], line, line, *rest[1]))
    if kind < 0.16 and rest[1]:
        return "\n".join((*rest[0], rest[1][0], line, *rest[1][1:]))
    if kind < 0.24:
        return "\n".join((*rest[0], _exchanged(line, random), *rest[1]))
    words = [each for each in _WORD.finditer(line) if each[0] not in _KEPT]
    if not words:
        return text
    word = random.choice(words)
    others = list(_another(word[0], text))
    other = random.choice(others) if others else word[0]
    return "\n".join((*rest[0], line[: word.start()] + other + line[word.end() :], *rest[1]))


def _another(word: str, text: str) -> Iterator[str]:
    if word.isdigit():
        yield from (str(int(word) + 1), str(max(int(word) - 1, 0)), str(2 * int(word)), "0", "1")
    elif word in _OTHERS:
        yield from _OTHERS[word]
    elif word[0].isalpha():
        known = dict.fromkeys(each for each in re.findall(r"[A-Za-z_]\w*", text))
        alike = [each for each in known if each[:2] == word[:2] or len(each) == len(word)]
        yield from (each for each in alike if each != word and each not in _KEPT)


def _exchanged(line: str, random: Random) -> str:
    """Two arguments of a call, or sides of a sign, for each other."""
    given = re.search(r"\((.*)\);", line)
    parts = list(_parts(given[1])) if given else []
    if given is None or len(parts) < 2:
        found = re.search(r"(\w+) (<|<=|>|>=|\*|\+|-|/|%) (\w+)", line)
        if found is None:
            return line
        return f"{line[: found.start()]}{found[3]} {found[2]} {found[1]}{line[found.end() :]}"
    one, other = random.sample(range(len(parts)), 2)
    parts[one], parts[other] = parts[other], parts[one]
    return f"{line[: given.start(1)]}{', '.join(parts)}{line[given.end(1) :]}"


def _parts(given: str) -> Iterator[str]:
    depth, first = 0, 0
    for place, sign in enumerate(given):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            yield given[first:place].strip()
            first = place + 1
    yield given[first:].strip()


def kinds(case: Case, text: str, changes: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What became of each change: wrong or not, validated or refused."""
    for each in changes:
        if each == text:
            continue
        shown = isinstance(validated(case, each), Validated)
        wrong = any(fault(case, each, shape) is not None for shape in case.shapes)
        yield f"{'wrong' if wrong else 'no difference'}, {'VALID' if shown else 'refused'}", each


def main() -> int:
    """Change functions of random layouts; the exit code says whether no wrong one was validated."""
    given = argparse.ArgumentParser()
    given.add_argument("--count", type=int, default=10)
    given.add_argument("--seed", type=int, default=0)
    given.add_argument("--most", type=int, default=60, help="changes of one text")
    args = given.parse_args()
    random, seen = Random(args.seed), Counter[str]()
    for drawn in cases(args.seed, args.count):
        text, case = text_of(drawn), replace(drawn, shapes=tuple(small_shapes(random, drawn)))
        if text is None:
            continue
        found = validated(case, text)
        wrong = next((w for s in case.shapes if (w := fault(case, text, s))), None)
        seen[f"{'as it is' if wrong is None else 'WRONG'}, {type(found).__name__}"] += 1
        if isinstance(found, NotValidated) or wrong is not None:
            print(case, found, wrong, flush=True)
            continue
        changes = (faulty(text, random) for _ in range(args.most))
        for kind, each in kinds(case, text, changes):
            seen[kind] += 1
            if kind == "wrong, VALID":
                before, after = text.split("\n"), each.split("\n")
                print(case, *sorted({*after} - {*before}), sep="\n  ", flush=True)
    print(dict(seen))
    return 1 if seen["wrong, VALID"] else 0


if __name__ == "__main__":
    sys.exit(main())
