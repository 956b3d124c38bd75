"""Verdicts about texts, their cost, and what counting says of the same texts.

The file runs as a program of its own too, by the interpreter of any version of layoutdsl: it reads
texts from stdin, one JSON string a line, and writes a `Verdict` for each.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from random import Random

import layoutdsl

MOST_ELEMENTS = 3000
"""Elements of a shape that is counted."""


@dataclass(frozen=True)
class Verdict:
    """The answer of `prove` to one text.

    Attributes:
        text: declares one layout.
        status: ``proved``, ``refuted``, ``undecided``, or ``no text`` if the language refuses it.
        seconds: of processor, the solver's included.
        reason: the first property that is not proved, and why; empty if all are.
    """

    text: str
    status: str
    seconds: float
    reason: str = ""


def verdict(text: str) -> Verdict:
    """Prove the layout that a text declares."""
    start = _processor_seconds()
    try:
        layout = layoutdsl.parse(text)[name_of(text)]
        (checked,) = layoutdsl.prove(layout).checked
        status = checked.status
        reason = next((str(f) for f in checked.findings if type(f).__name__ != "Proved"), "")
    except layoutdsl.LayoutError as error:
        status, reason = "no text", str(error).splitlines()[0]
    return Verdict(text, status, round(_processor_seconds() - start, 3), reason)


def name_of(text: str) -> str:
    """Return the name of the layout that a text declares."""
    return re.findall(r"layout (\w+)", text)[-1]


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def verdicts(texts: Sequence[str], python: str | Path = sys.executable) -> Iterator[Verdict]:
    """Yield the verdict of each text, from the layoutdsl that an interpreter imports."""
    command = [str(python), "-P", __file__]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for text in texts:
            process.stdin.write(json.dumps(text) + "\n")
            process.stdin.flush()
            yield Verdict(**json.loads(process.stdout.readline()))
        process.stdin.close()


def fault_of(text: str, random: Random, most: int = 12) -> str:
    """Return what is wrong with a layout at one of some random small shapes, by counting.

    Returns:
        The shape and the elements, or an empty text if each element has its own slot everywhere.

    Raises:
        LookupError: no small shape of the range was found.
    """
    layout = layoutdsl.parse(text)[name_of(text)]
    counted = 0
    for shape in shapes(text, layout, random):
        fault = _fault_at(layout, shape)
        if fault:
            return fault
        counted += 1
        if counted == most:
            break
    if not counted:
        raise LookupError(f"no small shape was found: {text}")
    return ""


def shapes(text: str, layout: layoutdsl.Layout, random: Random) -> Iterator[dict[str, int]]:
    """Yield shapes of the range, around the numbers of the text and their multiples."""
    numbers = {int(each) for each in re.findall(r"\d+", text)} | {1}
    near = sorted({n + d for n in numbers for d in (-1, 0, 1) if 0 < n + d <= MOST_ELEMENTS})
    for _ in range(3000):
        shape = dict[str, int]()
        for name in layout.symbols:
            number = random.choice((*near, random.randint(1, 12)))
            shape[name] = random.choice((number, number, 2 * number, 3 * number))
        try:
            if prod(layout.shape_of(layout.bind(shape))) <= MOST_ELEMENTS:
                layout.size(shape)
                yield shape
        except ValueError:  # the range does not have this shape
            continue


def _fault_at(layout: layoutdsl.Layout, shape: dict[str, int]) -> str:
    size, taken = layout.size(shape), dict[int, tuple[int, ...]]()
    for index in product(*map(range, layout.shape_of(layout.bind(shape)))):
        try:
            offset = layout.offset(index, shape)
        except ValueError:  # the domain does not have this element
            continue
        if not 0 <= offset < size:
            return f"{shape}: {index} is at {offset} of {size}"
        if offset in taken:
            return f"{shape}: {index} and {taken[offset]} are at {offset}"
        taken[offset] = index
    return ""


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(verdict(json.loads(line)).__dict__), flush=True)
