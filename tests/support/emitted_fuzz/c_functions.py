"""C functions of `formula --as c`, compiled as they are printed and called at indices and slots.

Arithmetic that C does not define is counted by handlers of our own, so a number that leaves its
type is found even where the result is right.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from pathlib import Path

import numpy as np
from functions_built import FLAGS, C, Called, wrappers
from mutants import oracle

from layoutdsl import Layout, commands

from .cases import Case, Fault, Refused
from .meaning import Meaning, Values, meaning, values_of
from .modules import expect, layout_of
from .printed import ALL, far_points, near

BOUNDS = (16, 64, 5000, 10**6, 10**9)
"""Bounds of extents for which functions are asked for."""

SANITIZED = [
    "-std=c99",
    "-fsanitize=signed-integer-overflow,integer-divide-by-zero,shift",
    "-fPIC",
    "-c",
]
_HANDLED = ("add_overflow", "sub_overflow", "mul_overflow", "divrem_overflow")
HANDLERS = "\n".join(
    [
        "static long undefined;",
        "long undefined_so_far(void) { return undefined; }",
        *(
            f"void __ubsan_handle_{name}(void *a, void *b, void *c)"
            " { (void)a; (void)b; (void)c; undefined++; }"
            for name in (*_HANDLED, "shift_out_of_bounds")
        ),
        "void __ubsan_handle_negate_overflow(void *a, void *b) { (void)a; (void)b; undefined++; }",
    ]
)
"""What a compiler calls where arithmetic is not defined: it is counted."""


@dataclass(frozen=True)
class Functions:
    """Printed C of a layout, and the same compiled."""

    printed: commands.IndexFunctions
    library: ctypes.CDLL
    called: Called

    @property
    def inverted(self) -> bool:
        return "_index(" in self.printed.text

    def undefined(self) -> int:
        count = self.library.undefined_so_far
        count.restype = ctypes.c_long
        return int(count())


_COMPILED: dict[str, Functions] = {}


def bound_of(text: str) -> int:
    """The bound of the extents; the text decides, so that it is the same again."""
    return BOUNDS[sum(text.encode()) % len(BOUNDS)]


@lru_cache(maxsize=1024)
def printed_c(text: str) -> commands.IndexFunctions | str:
    """The printed functions, or in a word why there are none."""
    layout = layout_of(text)
    most = bound_of(text)
    where = ", ".join(f"{name} <= {most}" for name in layout.symbols) or None
    try:
        return commands.index_functions(layout, "c", where=where, unproved=True)
    except commands.RefusedError:
        return "refuted"
    except commands.WidthError:
        return "no width"
    except ValueError as error:
        if "no shape" not in str(error):
            raise
        return "no shape"


def compile_together(texts: Iterable[str]) -> None:
    """Compile the functions of several layouts, which is sooner done than one by one."""
    named = {f"L{number}_of_many": text for number, text in enumerate(dict.fromkeys(texts))}
    lines, calls = [HANDLERS], list[tuple[str, str, commands.IndexFunctions, Layout]]()
    for name, text in named.items():
        printed = printed_c(text)
        if isinstance(printed, str) or text in _COMPILED:
            continue
        layout = replace(layout_of(text), name=name)
        lines.append(printed.text.replace(f" {layout_of(text).name}_", f" {name}_"))
        backward = "_index(" in printed.text
        lines.append(wrappers(layout, "c", printed.integers, backward=backward))
        calls.append((name, text, printed, layout))
    if calls:
        library = _library("\n".join(lines))
        for _, text, printed, layout in calls:
            _COMPILED[text] = Functions(printed, library, Called(library, layout))


def _library(text: str) -> ctypes.CDLL:
    assert C is not None
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "printed.c"), Path(folder, "printed.so")
        source.write_text(text, encoding="utf-8")
        part = source.with_suffix(".o")
        for line in (
            [C, *SANITIZED, *FLAGS, "-o", str(part), str(source)],
            [C, "-shared", "-o", str(made), str(part)],
        ):
            done = subprocess.run(line, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Fault(f"the compiler says {done.stderr.strip().splitlines()[0]}")
        return ctypes.CDLL(str(made))


def check_functions(case: Case) -> None:
    """Call the compiled functions at one shape.

    Raises:
        Fault: they say something else than what is meant, or do what C does not define.
        Refused: there are none for the layout or the shape.
    """
    printed = printed_c(case.text)
    if isinstance(printed, str):
        raise Refused(printed)
    values = values_of(oracle.read(case.text), case.shape)
    known = values is not None and {name: values[name] for name in printed.layout.symbols}
    if not known or not all(each.holds(known) for each in printed.layout.where):
        if values is None or printed.layout.symbols:
            raise Refused("beyond the range")
        known = {}
    compile_together([case.text])
    functions = _COMPILED[case.text]
    before = functions.undefined()
    if prod(case.shape) > ALL:
        _check_far(case, functions, known)
    else:
        meant = meaning(case.text, case.shape)
        if meant is None or not meant.right:
            raise Refused("wrong at the shape")
        _check_near(meant, functions, known)
    expect(functions.undefined() - before, 0, "numbers beyond their type, whose count")


def _points(index: list[tuple[int, ...]], layout: Layout) -> dict[str, np.ndarray]:
    columns = np.array(index, np.int64).reshape(len(index), layout.rank)
    return {axis.name: columns[:, k] for k, axis in enumerate(layout.axes)}


def _check_near(meant: Meaning, functions: Functions, known: Values) -> None:
    called, layout = functions.called, functions.called.layout
    expect(called.sizes(known), [meant.size, *meant.physical], "size and shape")
    every = [tuple(map(int, np.unravel_index(k, meant.shape))) for k in range(meant.held.size)]
    if layout.domain:
        held = called.has_slot({**_points(every, layout), **known}).astype(bool)
        expect(held.tolist(), meant.held.tolist(), "has_slot")
    index = meant.index()
    if index:
        found = called.offset({**_points(index, layout), **known})
        expect(found.tolist(), list(meant.slots), "offsets")
    if functions.inverted:
        asked = sorted(range(meant.size) if meant.size <= ALL else near(meant))
        held_by = dict(zip(meant.slots, index, strict=True))
        read = called.index(known, np.array(asked, np.int64)).tolist()
        for slot, (holds, *said) in zip(asked, read, strict=True):
            found_index = tuple(said) if holds else None
            expect(found_index, held_by.get(slot), f"what slot {slot} holds")
        padded = called.padded(known)
        if any(low > high for low, high in zip(meant.shape, padded, strict=True)):
            raise Fault(f"padded_extents {padded} are below the shape")


def _check_far(case: Case, functions: Functions, known: Values) -> None:
    called, layout = functions.called, functions.called.layout
    points = list(far_points(case, known))
    index = [each for each, slot in points if slot is not None]
    slots = [slot for _, slot in points if slot is not None]
    if layout.domain:
        held = called.has_slot({**_points([each for each, _ in points], layout), **known})
        expect(held.astype(bool).tolist(), [slot is not None for _, slot in points], "has_slot")
    if not index:
        return
    found = called.offset({**_points(index, layout), **known}).tolist()
    expect(found, slots, "offsets")
    proved = functions.printed.text.count("unproved") == 0
    if functions.inverted and proved:
        read = called.index(known, np.array(slots, np.int64)).tolist()
        expect([tuple(each[1:]) for each in read], index, "what slots hold")
