"""Compiled modules as Python calls them, of many layouts that share one library.

What is compiled and loaded for each layout alone is here compiled once for all; arguments, strides,
threads and padding that stays take the way that they always take.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from codegen_cases import module_of
from native_fuzz import CC, MACHINE, Case, cases, held
from random_digits import Shape
from test_codegen_random import (
    KINDS,
    Meaning,
    check_packs,
    check_unpacks,
    frame,
    meaning,
    tensor_in,
)

from layoutdsl.code import load
from layoutdsl.code.arrays import generate_conversion
from layoutdsl.code.buffers import Buffers
from layoutdsl.code.conversion import StraightConversion
from layoutdsl.code.moves import Fallback
from layoutdsl.code.native import calls
from layoutdsl.code.native.again import again_text
from layoutdsl.code.native.calls import Function, entry_text, function
from layoutdsl.code.native.conversion import NativeConversion
from layoutdsl.code.native.images import loaded
from layoutdsl.code.native.kernel_text import Call, kernel_text
from layoutdsl.code.native.module import NativeModule

DTYPES = {1: ("u1", "?"), 2: ("i2", ">i2", "f2"), 4: ("f4", ">f4"), 8: ("f8", "m8[s]")}


@dataclass(frozen=True)
class Given:
    """Libraries that were made before."""

    functions: Callable[[str], Function]

    def of(self, verb: str, *_: object) -> Function:
        return self.functions(verb)


@contextmanager
def library(some: list[Case]) -> Iterator[dict[Case, Function]]:
    """The compiled function of each case that has one."""
    with TemporaryDirectory(prefix="native-fuzz-") as directory:
        place, lines, names = Path(directory), list[str](), dict[Case, str]()
        called = set[Call]()
        for number, case in enumerate(some):
            body = case.functions(f"k{number}")
            if body is not None:
                names[case] = f"k{number}"
                lines += [body.text, *entry_text(f"k{number}", "fuzz")]
                called |= body.calls
        (place / "a.c").write_text(
            "\n".join([kernel_text(called, *lines), *lines, *again_text("fuzz"), ""])
        )
        options = ["-std=c11", "-O1", "-w", "-shared", "-fPIC", *MACHINE.options]
        command = [*str(CC).split(), *options, "-o", str(place / "a.so"), str(place / "a.c")]
        subprocess.run(command, check=True, timeout=600)
        opened = loaded((place / "a.so").read_bytes())
        yield {case: function(opened, name, "fuzz") for case, name in names.items()}


@dataclass(frozen=True)
class Shared:
    """A module whose calls are given a number of threads."""

    module: Any
    threads: int

    def pack(self, *given: Any, **named: Any) -> Any:
        return self.module.pack(*given, **named, threads=self.threads)

    def unpack(self, *given: Any, **named: Any) -> Any:
        return self.module.unpack(*given, **named, threads=self.threads)


def _failed(reason: str) -> None:
    raise AssertionError(reason)


def checked(seed: int, count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Try so many layouts at all their shapes; how many calls were compared."""
    monkeypatch.setattr(calls, "SHARE_BYTES", 1)  # else small arrays are for one thread
    some, done = list(cases(seed, count)), 0
    with library(some) as compiled:
        for case in some:
            random = Random(f"{case}")
            if case.verb == "convert" and case in compiled:
                done += _conversion(case, compiled[case], random)
            elif case.verb == "pack":
                both = {each.verb: compiled[each] for each in some if _is_of(each, case)}
                done += _module(case, both, random)
    return done


def _is_of(other: Case, case: Case) -> bool:
    """Whether a case is the same layout, for the same shapes."""
    wanted = (case.layouts, case.width, case.known, case.shapes)
    return (other.layouts, other.width, other.known, other.shapes) == wanted


def _module(case: Case, both: dict[str, Function], random: Random) -> int:
    layout = case.layouts[0].layout
    libraries: Any = Given(both.__getitem__)
    module = NativeModule(layout, module_of(case.layouts[0].text), libraries, _failed)
    done = 0
    for shape in case.shapes:
        meant = meaning(layout, shape) if not layout.domain else None
        if meant is None or not meant.right or held(case.layouts[0].text, shape) is None:
            continue
        dtype = np.dtype(random.choice(DTYPES[case.width]))
        kinds = [random.choice((*KINDS, "plain", "plain")) for _ in range(2)]
        tensor = tensor_in(kinds[0], shape, dtype)
        shared: Any = Shared(module, random.choice((1, 2, 3)))
        check_packs(layout, shared, tensor, meant, kinds[1])
        check_unpacks(shared, tensor, meant, (kinds[1], kinds[0]))
        done += 1
    return done


def _conversion(case: Case, compiled: Function, random: Random) -> int:
    source, target = (each.layout for each in case.layouts)
    made = generate_conversion(source, target, texts=tuple(e.text for e in case.layouts))
    if isinstance(made, Fallback):
        return 0
    libraries: Any = Given(lambda _: compiled)
    plain = load(made)
    sides = Buffers(source), Buffers(target)
    native = NativeConversion(*sides, libraries, _failed)
    convert = StraightConversion(plain, *sides, native)
    done = 0
    for shape in case.shapes:
        if all(held(each.text, shape) is not None for each in case.layouts):
            both = meaning(source, shape), meaning(target, shape)
            if all(each is not None and each.right for each in both):
                _converted(partial(convert, threads=random.choice((1, 2))), both, shape, case.width)
                done += 1
    return done


def _converted(convert: Any, both: tuple[Any, Any], shape: Shape, width: int) -> None:
    one, other = both
    dtype = np.dtype(DTYPES[width][0])
    tensor = tensor_in("plain", shape, dtype)
    buffer = one.packed(tensor, np.full(one.size, 77, dtype)).reshape(one.physical)
    memory, view = frame("plain", other.physical, dtype)
    wanted = memory.copy()
    padding = view(wanted).reshape(-1).copy()
    padding[other.start :] = 5
    view(wanted)[...] = _filled(other, tensor, padding)
    assert convert(buffer, shape, view(memory), 5) is not None
    assert memory.tobytes() == wanted.tobytes(), shape


def _filled(meant: Meaning, tensor: np.ndarray, padding: np.ndarray) -> np.ndarray:
    return meant.packed(tensor, padding).reshape(meant.physical)
