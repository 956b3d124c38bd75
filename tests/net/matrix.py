"""Every layout, record and table of the library x storage x interface, against the plain integers.

    python -m tests.net.matrix
    python -m tests.net.matrix --only NCHW16c --count 3
    python -m tests.net.matrix --only records --seed 7

A tensor is packed here by a loop over all indices: `Layout.offset` says where each element lies,
for records `Record.bit_address` where each bit does. `Table.decode` says what each slot of a table
holds. Each interface has to give the same bytes, and the tensor back. A combination that does not
exist has a reason, so that the table tells *not offered* from *tested*. Only public names are used.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import io
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np

import layoutdsl
from layoutdsl.shell import main as main_of_shell

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]

STORAGES = ("items", "bytes", "u8", "u16", "u32", "i32", "bits", "codes")
INTERFACES = (
    *("numpy", "native", "module", "c", "file", "shell", "convert", "dask", "torch"),
    *("weights", "Tensor", "copies"),
)
MOST = 260
"""Elements of a shape."""
MOST_SLOTS = 60_000
TYPES = ("u4", "u8", "u16", "i8", "f32", "bf16")
"""For layouts that name no element type, where words need one."""


class Failed(Exception):  # noqa: N818  a finding of the matrix
    """An interface gave something else than what is meant."""


class NotOffered(Exception):  # noqa: N818  an answer, not an error
    """The combination does not exist; says why."""


def compiler() -> str | None:
    """The C compiler of this machine, if there is one."""
    return next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)


@lru_cache(maxsize=1)
def native_reason() -> str:
    """Why compiled C cannot be asked for here; empty where it can."""
    if compiler() is None:
        return "there is no C compiler"
    if importlib.util.find_spec("cffi") is None or importlib.util.find_spec("pycparser") is None:
        return "cffi or pycparser is not installed"
    return ""


# --- The plain integers ------------------------------------------------------


@dataclass
class Case:
    """A layout at a shape in a storage, with a tensor, and the buffer that is meant."""

    layout: Any
    text: str
    storage: str
    shape: Shape
    random: Random
    folder: Path

    @property
    def spec(self) -> Path:
        """The file that declares the layout `Subject`, once it was written."""
        return self.folder / "spec.layout"

    @property
    def named(self) -> str:
        return f"{self.spec}:Subject"

    @cached_property
    def element(self) -> Any:
        return self.layout.tensor_element

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        if self.element is None:
            return np.dtype(self.random.choice(("u1", "i2", "f4", "f8")))
        kind, width = self.element.item
        return np.dtype(f"{kind}{width}")

    @cached_property
    def tensor(self) -> Array:
        """Random bits; of narrow integers those that are values."""
        noise = np.random.default_rng(self.random.randrange(2**32))
        values = None if self.element is None else self.element.values
        if self.dtype.kind in "iu" and values is not None and self.dtype.itemsize < 8:
            return noise.integers(values[0], values[1] + 1, self.shape).astype(self.dtype)
        raw = noise.integers(0, 256, prod(self.shape) * self.dtype.itemsize, dtype=np.uint8)
        return raw.view(self.dtype).reshape(self.shape)

    @cached_property
    def fill(self) -> int | None:
        """The number that is given for padding, where the layout leaves it to the caller."""
        return 5 if type(self.layout.fill).__name__ == "FillZeroPoint" else None

    @cached_property
    def padding(self) -> int | None:
        """What padding holds; nothing where it may hold anything."""
        return self.fill if self.fill is not None else getattr(self.layout.fill, "value", None)

    @cached_property
    def extents(self) -> Shape:
        """Of all axes, those of copies and of bits included."""
        bits = () if self.layout.bit_of is None else (self.element.bits,)
        values = self.layout.bind((*self.shape, *bits))
        return tuple(
            int(values.get(getattr(axis.extent, "name", ""), getattr(axis.extent, "value", 0)))
            for axis in self.layout.axes
        )

    @cached_property
    def slots(self) -> list[tuple[Shape, int]]:
        """Every index that has a slot, with its offset."""
        found = list[tuple[Shape, int]]()
        for index in product(*map(range, self.extents)):
            try:
                found.append((index, self.layout.offset(index, self.extents)))
            except ValueError:
                if not self.layout.domain:
                    raise
        return found

    def item(self, index: Shape, tensor: Array) -> Any:
        """What the tensor holds for an index of all axes: an item, or a bit of one."""
        names = [axis.name for axis in self.layout.axes]
        own = tuple(
            i for name, i in zip(names, index, strict=True) if name not in self.layout.copies
        )
        if self.layout.bit_of is None:
            return tensor[own]
        return int(tensor[own[:-1]].tobytes()[own[-1] // 8]) >> own[-1] % 8 & 1

    def buffer_of(self, tensor: Array, padding: int | None) -> tuple[Array, Array]:
        """The buffer, flat, by a loop over all indices; and which slots hold something."""
        size = self.layout.size(self.extents)
        start = size - prod(self.layout.box(self.extents))
        kind = np.dtype("u1") if self.layout.bit_of is not None else tensor.dtype
        flat, known = np.zeros(size, kind), np.zeros(size, bool)
        if padding is not None:
            flat[start:] = np.array(padding).astype(kind)
            known[start:] = True
        taken = set[int]()
        for index, slot in self.slots:
            if slot in taken or not start <= slot < size:
                raise Failed(f"two elements share slot {slot}, or it is outside the buffer")
            taken.add(slot)
            flat[slot], known[slot] = self.item(index, tensor), True
        return flat, known

    @cached_property
    def buffer(self) -> tuple[Array, Array]:
        return self.buffer_of(self.tensor, self.padding)

    @property
    def physical(self) -> Shape:
        return tuple(self.layout.physical_shape(self.extents))

    @cached_property
    def back(self) -> Array:
        """The tensor that comes back: where the layout holds no element, the fill."""
        if not self.layout.domain:
            return self.tensor
        found = np.full(self.shape, self.padding or 0).astype(self.dtype)
        for index, _ in self.slots:
            names = [axis.name for axis in self.layout.axes]
            own = tuple(i for n, i in zip(names, index, strict=True) if n not in self.layout.copies)
            own = own[: self.tensor.ndim]  # without the bit
            found[own] = self.tensor[own]
        return found

    def spoiled(self) -> Array:
        """The buffer, flat, with noise in padding and in all copies but the first."""
        flat, _ = self.buffer
        noise = self.buffer_of(self.noise(), None)[0]
        names = [axis.name for axis in self.layout.axes]
        for index, slot in self.slots:
            if all(i == 0 for n, i in zip(names, index, strict=True) if n in self.layout.copies):
                noise[slot] = flat[slot]
        return noise

    def noise(self) -> Array:
        other = Case(self.layout, self.text, self.storage, self.shape, Random(5), self.folder)
        other.__dict__["dtype"] = self.dtype
        return other.tensor

    def words(self, flat: Array, known: Array) -> tuple[Array, Array]:
        """A flat buffer as bytes without room between elements, and which bits are known."""
        width = 1 if self.layout.bit_of is not None else self.element.bits
        bits, mask = np.zeros(len(flat) * width, np.uint8), np.zeros(len(flat) * width, bool)
        for slot in range(len(flat)):
            code = int.from_bytes(flat[slot].tobytes(), "little")
            for bit in range(width):
                bits[slot * width + bit] = code >> bit & 1
                mask[slot * width + bit] = known[slot]
        return bits, mask

    @property
    def in_words(self) -> str:
        """The storage by which words are asked for; empty for items and codes."""
        return {"items": "", "codes": "", "bits": "u8"}.get(self.storage, self.storage)

    # -- comparing

    def expect(self, found: Any, what: str) -> None:
        """Compare a packed buffer with what is meant, whatever the storage."""
        flat, known = self.buffer
        if not self.in_words:
            same(found, flat.reshape(self.physical), known, what)
            return
        bits, mask = self.words(flat, known)
        kind = np.dtype(word_type(self.in_words))
        if found.dtype != kind or found.nbytes * 8 != bits.size:
            raise Failed(
                f"{what} is {found.dtype} of {found.nbytes} bytes, not {kind} of {bits.size} bits"
            )
        held = np.unpackbits(
            np.ascontiguousarray(found).reshape(-1).view(np.uint8), bitorder="little"
        )
        wrong = (held != bits) & mask
        if wrong.any():
            raise Failed(
                f"{what}: {int(wrong.sum())} bits differ, the first is {int(wrong.argmax())}"
            )

    def stored(self, like: Any) -> Array:
        """What is unpacked: the spoiled buffer in the storage, in the shape of a packed one."""
        spoiled = self.spoiled()
        if not self.in_words:
            return spoiled.reshape(self.physical)
        bits, _ = self.words(spoiled, np.ones(len(spoiled), bool))
        return (
            np.packbits(bits, bitorder="little").view(word_type(self.in_words)).reshape(like.shape)
        )


def word_type(storage: str) -> str:
    return "u1" if storage == "bytes" else f"<{storage[0]}{int(storage[1:]) // 8}"


def same(found: Any, wanted: Array, known: Array | None, what: str) -> None:
    """Compare type, shape and every byte of two arrays."""
    if (
        not isinstance(found, np.ndarray)
        or found.dtype != wanted.dtype
        or found.shape != wanted.shape
    ):
        about = f"{found.dtype} {found.shape}" if hasattr(found, "dtype") else type(found).__name__
        raise Failed(f"{what} is {about}, not {wanted.dtype} {wanted.shape}")
    one, two = (np.ascontiguousarray(each).reshape(-1).view(np.uint8) for each in (found, wanted))
    wrong = (one != two).reshape(-1, wanted.dtype.itemsize).any(axis=1)
    if known is not None:
        wrong &= known.reshape(-1)
    if wrong.any():
        at = int(wrong.argmax())
        raise Failed(
            f"{what} holds {found.reshape(-1)[at]!r} at {at}, not {wanted.reshape(-1)[at]!r}"
        )


# --- Interfaces of layouts ---------------------------------------------------


def through(case: Case, module: Any, what: str) -> None:
    """Pack and unpack by a module."""
    given = {} if case.fill is None else {"fill": case.fill}
    found = module.pack(case.tensor, **given)
    case.expect(found, f"{what} pack")
    same(module.unpack(case.stored(found), case.shape), case.back, None, f"{what} unpack")


def by_compile(case: Case, target: str) -> None:
    if case.storage == "codes":
        coded(case, layoutdsl.compile(case.layout, target))
        return
    storage = {"storage": case.in_words} if case.in_words else {}
    through(case, layoutdsl.compile(case.layout, target, **storage), f"compile {target}")
    if case.storage == "items" and case.element is None:
        empty(case, layoutdsl.compile(case.layout, target))


def by_native(case: Case) -> None:
    if native_reason():
        raise NotOffered(native_reason())
    if case.layout.domain:
        raise NotOffered("numpy serves layouts with a domain")
    by_compile(case, "native")


def empty(case: Case, module: Any) -> None:
    """A tensor without elements: all slots are padding."""
    open_ = [k for k, a in enumerate(case.layout.element_axes) if hasattr(a.extent, "name")]
    if not open_ or case.layout.where or case.layout.domain:
        return
    extent = case.layout.element_axes[case.random.choice(open_)].extent
    shape = tuple(0 if a.extent == extent else n
                  for a, n in zip(case.layout.element_axes, case.shape, strict=True))  # fmt: skip
    tensor = np.zeros(shape, case.dtype)
    found = module.pack(tensor, **({} if case.fill is None else {"fill": case.fill}))
    if found.shape != tuple(module.physical_shape(shape)):
        raise Failed(f"an empty tensor of {shape} is packed as {found.shape}")
    if case.padding is not None and (found != np.array(case.padding).astype(found.dtype)).any():
        raise Failed(f"an empty tensor of {shape} is packed with something")
    same(module.unpack(found, shape), tensor, None, "unpack of nothing")


def coded(case: Case, module: Any, pack: str = "pack", unpack: str = "unpack") -> None:
    """Real numbers to codes and back, each worked out in exact fractions."""
    low, high = case.element.values or (0, 0)
    scale, zero = case.random.choice((0.5, 0.25, 0.1, 3.0)), case.random.choice((0, 3, high // 2))
    numbers = [case.random.uniform(-2, 2) * (high - low) * scale for _ in range(prod(case.shape))]
    numbers[::3] = [scale * (n % 40 - 20) / 2 for n in range(len(numbers[::3]))]
    tensor = np.array(numbers, np.float64).reshape(case.shape)
    codes = np.zeros(case.shape, case.dtype)
    for index in product(*map(range, case.shape)):
        nearest = round(Fraction(float(tensor[index])) / Fraction(scale)) + zero
        codes[index] = min(max(nearest, low), high)
    padding = case.padding
    if type(case.layout.fill).__name__ == "FillZeroPoint":
        padding = zero
    flat, known = case.buffer_of(codes, padding)
    found = getattr(module, pack)(tensor, scale=scale, zero_point=zero)
    same(found, flat.reshape(case.physical), known, "pack of numbers")
    back = getattr(module, unpack)(found, case.shape, scale=scale, zero_point=zero, dtype="float64")
    wanted = (codes.astype(np.float64) - zero) * scale
    same(back, wanted, None, "unpack of numbers")


def by_module(case: Case) -> None:
    """The generated numpy module, from its text."""
    storage = {"storage": case.in_words} if case.in_words else {}
    module = ModuleType("generated")
    text = layoutdsl.generate(case.layout, **storage).text
    exec(compile(text, "generated.py", "exec", dont_inherit=True), module.__dict__)
    if case.storage == "codes":
        coded(case, module, "pack_numbers", "unpack_numbers")
    elif case.in_words:
        through(case, Renamed(module.pack_words, module.unpack_words), "module, words")
    else:
        through(case, module, "module")
        names = [axis.name for axis in case.layout.axes]
        for index, slot in case.random.sample(case.slots, min(8, len(case.slots))):
            own = tuple(i for n, i in zip(names, index, strict=True) if n not in case.layout.copies)
            first = not any(i for n, i in zip(names, index, strict=True) if n in case.layout.copies)
            if first and module.offset(own, case.shape) != slot:
                raise Failed(
                    f"module offset of {own} is {module.offset(own, case.shape)}, not {slot}"
                )


@dataclass
class Renamed:
    """A module whose moves have other names."""

    pack: Callable[..., Any]
    unpack: Callable[..., Any]


def built(folder: Path) -> ctypes.CDLL:
    """Compile all C files of a folder into a library, and load it."""
    cc = compiler()
    if cc is None:
        raise NotOffered("there is no C compiler")
    out = folder / "generated.so"
    sources = [str(each) for each in sorted(folder.glob("*.c"))]
    command = [
        cc,
        "-std=c11",
        "-O0",
        "-DLAYOUT_PLAIN",
        "-shared",
        "-fPIC",
        "-o",
        str(out),
        *sources,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"generated C does not compile: {done.stderr[-300:]}")
    return ctypes.CDLL(str(out))


def pointer(array: Array | None) -> Any:
    return None if array is None else array.ctypes.data_as(ctypes.c_void_p)


def by_c(case: Case) -> None:
    """The generated C, compiled and run."""
    if native_reason():
        raise NotOffered(native_reason())
    if case.layout.domain:
        raise NotOffered("C is not generated of layouts with a domain")
    if case.storage == "codes":
        raise NotOffered("generated C moves codes, and no real numbers")
    if case.in_words:
        words_in_c(case)
        return
    if case.dtype.itemsize > 8:
        raise NotOffered("generated C moves items of 1, 2, 4 and 8 bytes")
    folder = case.folder / "c"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    made = layoutdsl.generate_c(case.layout, widths=(case.dtype.itemsize,))
    made.write(folder / "generated")
    library = built(folder)
    name = next(iter(re.findall(r"int64_t (\w+)_size\(", (folder / "generated.h").read_text())))
    shape = np.array(case.extents, np.int64)
    size = getattr(library, f"{name}_size")
    size.restype = ctypes.c_int64
    flat, known = case.buffer
    if size(pointer(shape)) != flat.size:
        raise Failed(f"C says {size(pointer(shape))} slots, and not {flat.size}")
    bits = case.dtype.itemsize * 8
    source = np.ascontiguousarray(case.tensor)
    out = np.zeros(flat.size, case.dtype)
    fill = np.array([case.padding or 0]).astype(case.dtype)
    if getattr(library, f"{name}_pack_{bits}")(
        pointer(source), pointer(out), pointer(shape), pointer(fill)
    ):
        raise Failed("C does not pack")
    same(out, flat, known, "C pack")
    back = np.zeros(source.shape, case.dtype)
    if getattr(library, f"{name}_unpack_{bits}")(pointer(out), pointer(back), pointer(shape)):
        raise Failed("C does not unpack")
    same(back, source, None, "C unpack")


def words_in_c(case: Case) -> None:
    """C of a layout in words, which the shell writes into a folder."""
    if case.layout.copies:
        raise NotOffered("C in words is not generated of layouts with copies")
    if type(case.layout.fill).__name__ != "FillAny" and case.padding != 0:
        raise NotOffered("C in words fills padding with 0 only")
    folder = case.folder / "c"
    shutil.rmtree(folder, ignore_errors=True)
    case.spec.write_text(case.text)
    code, said = shell(
        "generate", case.named, "--target", "c", "--storage", case.in_words, "-o", str(folder)
    )
    if code:
        raise Failed(
            f"generate --target c --storage {case.in_words} ends with {code}: {said[-300:]}"
        )
    library = built(folder)
    header = next(
        each for each in folder.glob("*.h") if "_scratch(" in each.read_text()
    ).read_text()
    name = next(iter(re.findall(r"int64_t (\w+)_scratch\(", header)))
    shape = np.array(case.extents[: len(case.shape)], np.int64)
    scratch = getattr(library, f"{name}_scratch")
    size = getattr(library, f"{name}_bytes")
    scratch.restype = size.restype = ctypes.c_int64
    room = np.zeros(max(1, scratch(pointer(shape))), np.uint8)
    source = np.ascontiguousarray(case.tensor)
    out = np.zeros(max(0, size(pointer(shape))), np.uint8)
    if size(pointer(shape)) < 0:
        raise ValueError("the buffer fills no whole words")
    if getattr(library, f"{name}_pack")(
        pointer(source), pointer(out), pointer(shape), pointer(room)
    ):
        raise Failed("C in words does not pack")
    case.expect(out.view(word_type(case.in_words)), "C in words, pack")
    back = np.zeros(source.shape, source.dtype)
    if getattr(library, f"{name}_unpack")(
        pointer(out), pointer(back), pointer(shape), pointer(room)
    ):
        raise Failed("C in words does not unpack")
    same(back, source, None, "C in words, unpack")


def by_file(case: Case) -> None:
    """`pack_file` and `unpack_file`, in pieces."""
    source, packed, back = (case.folder / f"{each}.npy" for each in ("in", "packed", "back"))
    for each in (packed, back):
        each.unlink(missing_ok=True)
    given: dict[str, Any] = {
        "target": "numpy",
        "mem": case.random.choice((1 << 14, 1 << 20, 1 << 28)),
    }
    given |= {"storage": case.in_words} if case.in_words else {}
    fill = {} if case.fill is None else {"fill": case.fill}
    if case.storage == "codes":
        coded_file(case, source, packed, back)
        return
    np.save(source, case.tensor)
    try:
        layoutdsl.pack_file(case.layout, source, packed, **fill, **given)
    except ValueError as error:
        if type(error).__name__ != "TooLittleError":
            raise
        given["mem"] = 1 << 28
        layoutdsl.pack_file(case.layout, source, packed, **fill, **given)
    found = np.load(packed)
    case.expect(found, "pack_file")
    np.save(packed, case.stored(found))
    layoutdsl.unpack_file(case.layout, packed, back, case.shape, **given)
    same(np.load(back), case.back, None, "unpack_file")


def coded_file(case: Case, source: Path, packed: Path, back: Path) -> None:
    @dataclass
    class Files:
        def pack(self, tensor: Array, **given: Any) -> Array:
            np.save(source, tensor)
            layoutdsl.pack_file(case.layout, source, packed, target="numpy", **given)
            found: Array = np.load(packed)
            return found

        def unpack(self, _: Array, shape: Shape, **given: Any) -> Array:
            layoutdsl.unpack_file(case.layout, packed, back, shape, target="numpy", **given)
            found: Array = np.load(back)
            return found

    coded(case, Files())


def shell(*arguments: str) -> tuple[int, str]:
    """Run the program `layoutdsl` in this process; return its exit code and what it said."""
    kept, said = sys.argv, io.StringIO()
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    sys.argv = ["layoutdsl", *arguments]
    try:
        with redirect_stdout(out), redirect_stderr(said), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            main_of_shell()
        code: Any = 0
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.argv = kept
    out.flush()
    return int(code), said.getvalue() + out.buffer.getvalue().decode()  # type: ignore[attr-defined]


def must(*arguments: str) -> None:
    code, said = shell(*arguments)
    if code:
        raise Failed(f"`layoutdsl {' '.join(arguments)}` ends with {code}: {said.strip()[-300:]}")


def by_shell(case: Case) -> None:
    """`layoutdsl pack` and `unpack`."""
    if case.storage == "codes":
        coded_shell(case)
        return
    case.spec.write_text(case.text)
    source, packed, back = (case.folder / f"{each}.npy" for each in ("sin", "spacked", "sback"))
    for each in (packed, back):
        each.unlink(missing_ok=True)
    np.save(source, case.tensor)
    more = ["--target", "numpy"]
    more += (
        ["--bytes"]
        if case.in_words == "bytes"
        else ["--word", case.in_words]
        if case.in_words
        else []
    )
    fill = [] if case.fill is None else ["--fill", str(case.fill)]
    must("pack", case.named, str(source), str(packed), *more, *fill)
    found = np.load(packed)
    case.expect(found, "shell pack")
    np.save(packed, case.stored(found))
    shape = ",".join(map(str, case.shape))
    must("unpack", case.named, str(packed), str(back), "--shape", shape, *more)
    same(np.load(back), case.back, None, "shell unpack")


def coded_shell(case: Case) -> None:
    case.spec.write_text(case.text)
    source, packed, back = (case.folder / f"{each}.npy" for each in ("cin", "cpacked", "cback"))

    @dataclass
    class Shell:
        def pack(self, tensor: Array, scale: float, zero_point: int) -> Array:
            np.save(source, tensor)
            packed.unlink(missing_ok=True)
            must("pack", case.named, str(source), str(packed), "--target", "numpy",
                 "--scale", repr(scale), "--zero-point", str(zero_point))  # fmt: skip
            found: Array = np.load(packed)
            return found

        def unpack(
            self, _: Array, shape: Shape, scale: float, zero_point: int, dtype: str
        ) -> Array:
            back.unlink(missing_ok=True)
            numbers = ["--scale", repr(scale), "--zero-point", str(zero_point)]
            given = ["--shape", ",".join(map(str, shape)), *numbers, "--to", f"f{dtype[5:]}"]
            must("unpack", case.named, str(packed), str(back), *given)
            found: Array = np.load(back)
            return found

    coded(case, Shell())


def by_convert(case: Case) -> None:
    """From rows to the layout, and from the layout to rows."""
    if case.storage != "items":
        raise NotOffered("buffers are converted in items")
    axes = [
        f"{a.name}: {getattr(a.extent, 'name', getattr(a.extent, 'value', ''))}"
        for a in case.layout.element_axes
    ]
    element = "" if case.element is None else f" of {case.element.name}"
    names = ", ".join(axis.name for axis in case.layout.element_axes)
    plain = layoutdsl.parse(f"layout Plain({', '.join(axes)}) = [{names}]{element} fill 0")["Plain"]
    fill = {} if case.fill is None else {"fill": case.fill}
    into = layoutdsl.convert(plain, case.layout, compiled="numpy")
    case.expect(into(case.tensor, case.shape, **fill), "convert from rows")
    out = layoutdsl.convert(case.layout, plain, compiled="numpy")
    same(out(case.spoiled().reshape(case.physical), case.shape), case.back, None, "convert to rows")


def by_dask(case: Case) -> None:
    if importlib.util.find_spec("dask") is None:
        raise NotOffered("dask is not installed")
    if case.storage != "items":
        raise NotOffered("dask packs items")
    if case.layout.copies:
        raise NotOffered("dask takes no layouts with copies")
    if case.layout.size(case.extents) != prod(case.layout.box(case.extents)):
        raise NotOffered("dask takes no layouts that start later")
    import dask
    import dask.array as da

    import layoutdsl.dask as ld

    cut = tuple(case.random.choice((1, 2, 3, 16, 10**6)) for _ in case.shape)
    fill = {} if case.fill is None else {"fill": case.fill}
    with dask.config.set(scheduler="synchronous"):
        try:
            made = ld.pack(da.from_array(case.tensor, chunks=cut), case.layout, **fill)
        except ValueError as error:
            if "cannot be taken apart" not in str(error):
                raise
            made = ld.pack(da.from_array(case.tensor, chunks=-1), case.layout, **fill)
        found = made.compute()
        case.expect(found, "dask pack")
        buffer = da.from_array(case.spoiled().reshape(case.physical), chunks=-1)
        same(ld.unpack(buffer, case.layout, case.shape).compute(), case.back, None, "dask unpack")


def by_torch(case: Case) -> None:
    if importlib.util.find_spec("torch") is None:
        raise NotOffered("torch is not installed")
    if case.storage == "codes":
        raise NotOffered("torch packs codes, and makes them itself")
    import torch

    import layoutdsl.torch as lt

    storage = {"storage": case.in_words} if case.in_words else {}
    moves = lt.compiled(case.layout, "numpy", **storage)
    found = moves.pack(torch.from_numpy(case.tensor.copy()), fill=case.fill).numpy()
    case.expect(found, "torch pack")
    back = moves.unpack(torch.from_numpy(case.stored(found).copy()), case.shape).numpy()
    same(back, case.back, None, "torch unpack")


def by_weights(case: Case) -> None:
    """A file of one tensor, packed by a rule, verified, unpacked."""
    if case.storage in ("bytes", "u8", "u16", "u32", "i32"):
        raise NotOffered("rules pack items, and bytes of layouts that place bits")
    if case.storage == "codes":
        raise NotOffered("rules pack the codes themselves")
    if case.fill is not None:
        raise NotOffered("rules take no fill that is given when packing")
    source, packed, back = (case.folder / f"{each}.npz" for each in ("w", "wp", "wb"))
    for each in (packed, back):
        each.unlink(missing_ok=True)
    rules = layoutdsl.parse(f'{case.text}\ntensor "w" = Subject\n')
    np.savez(source, w=case.tensor)
    layoutdsl.pack_weights(source, packed, rules, target="numpy")
    with np.load(packed) as archive:
        case.expect(archive["w"], "pack_weights")
    found = layoutdsl.verify_weights(packed, source)
    if found.fault is not None:
        raise Failed(f"verify_weights finds {found.fault}")
    layoutdsl.unpack_weights(packed, back, target="numpy")
    with np.load(back) as archive:
        same(archive["w"], case.tensor, None, "unpack_weights")


@dataclass
class Real:
    """`Tensor` of real numbers, as a module."""

    layout: Any

    def pack(self, tensor: Array, scale: float, zero_point: int) -> Array:
        made = layoutdsl.Tensor.pack(self.layout, tensor, scale=scale, zero_point=zero_point)
        found: Array = made.buffer
        return found

    def unpack(
        self, buffer: Array, shape: Shape, scale: float, zero_point: int, dtype: str
    ) -> Array:
        given = {"scale": scale, "zero_point": zero_point, "dtype": dtype}
        found: Array = layoutdsl.Tensor(self.layout, shape, buffer, **given).numpy()
        return found


def by_tensor(case: Case) -> None:
    if case.storage not in ("items", "codes"):
        raise NotOffered("Tensor reads items and codes")
    if case.storage == "codes":
        coded(case, Real(case.layout))
        return
    fill = {} if case.fill is None else {"fill": case.fill}
    tensor = layoutdsl.Tensor.pack(case.layout, case.tensor, **fill)
    case.expect(tensor.buffer, "Tensor.pack")
    same(tensor.numpy(), case.back, None, "Tensor.numpy")
    for _ in range(5):
        index = tuple(case.random.randrange(n) for n in case.shape)
        if np.asarray(tensor[index]).tobytes() != np.asarray(case.back[index]).tobytes():
            raise Failed(f"Tensor[{index}] is {tensor[index]}, not {case.back[index]}")


def by_copies(case: Case) -> None:
    """Every copy: `differing_copies` and `unpack --check` see one that differs."""
    if not case.layout.copies:
        raise NotOffered("the layout has no copies")
    if case.storage == "codes":
        raise NotOffered("no layout of codes has copies")
    storage = {"storage": case.in_words} if case.in_words else {}
    module = layoutdsl.compile(case.layout, "numpy", **storage)
    packed = module.pack(case.tensor, **({} if case.fill is None else {"fill": case.fill}))
    case.expect(packed, "pack of copies")
    if layoutdsl.differing_copies(case.layout, packed, case.shape, **storage) is not None:
        raise Failed("copies differ in a buffer that was packed")
    names = [axis.name for axis in case.layout.axes]
    others = [
        slot
        for index, slot in case.slots
        if any(i for n, i in zip(names, index, strict=True) if n in case.layout.copies)
    ]
    if not others:
        return
    slot = case.random.choice(others)
    flat = case.buffer[0].copy()
    one = flat[slot : slot + 1].view(np.uint8)
    one[0] ^= 1
    if case.in_words:
        bits, _ = case.words(flat, np.ones(len(flat), bool))
        spoiled = (
            np.packbits(bits, bitorder="little")
            .view(word_type(case.in_words))
            .reshape(packed.shape)
        )
    else:
        spoiled = flat.reshape(case.physical)
    if layoutdsl.differing_copies(case.layout, spoiled, case.shape, **storage) is None:
        raise Failed(f"a copy was changed in slot {slot}, and none differs")
    case.spec.write_text(case.text)
    buffer, back = case.folder / "copies.npy", case.folder / "first.npy"
    np.save(buffer, spoiled)
    back.unlink(missing_ok=True)
    more = (
        ["--bytes"]
        if case.in_words == "bytes"
        else ["--word", case.in_words]
        if case.in_words
        else []
    )
    shape = ",".join(map(str, case.shape))
    code, said = shell(
        "unpack", case.named, str(buffer), str(back), "--shape", shape, "--check", *more
    )
    if code != 1 or back.exists():
        raise Failed(f"unpack --check of a changed copy ends with {code}: {said[-200:]}")


BY: Mapping[str, Callable[[Case], None]] = {
    "numpy": lambda case: by_compile(case, "numpy"),
    "native": by_native,
    "module": by_module,
    "c": by_c,
    "file": by_file,
    "shell": by_shell,
    "convert": by_convert,
    "dask": by_dask,
    "torch": by_torch,
    "weights": by_weights,
    "Tensor": by_tensor,
    "copies": by_copies,
}


# --- Records -----------------------------------------------------------------


@dataclass
class RecordCase:
    """A record at a shape, with tensors for its fields, and the bytes that are meant."""

    name: str
    record: Any
    shape: Mapping[str, int]
    random: Random
    folder: Path

    @cached_property
    def fields(self) -> dict[str, Array]:
        noise = np.random.default_rng(self.random.randrange(2**32))
        found = {}
        for name, extents in self.record.field_shapes(self.shape).items():
            element = self.record.field(name).element
            kind, width = element.item
            codes = noise.integers(0, 1 << element.bits, extents, dtype=np.uint64)
            if kind == "i" and element.bits < 8 * width:
                codes = codes.astype(np.int64) - (
                    (codes >> np.uint64(element.bits - 1)) << np.uint64(element.bits)
                ).astype(np.int64)
                found[name] = codes.astype(f"i{width}")
            else:
                found[name] = codes.astype(f"u{width}").view(f"{kind}{width}")
        return found

    @cached_property
    def meant(self) -> Array:
        """The bytes, by a loop over all bits of all elements."""
        size = self.record.size_bits(self.shape)
        bits, taken = np.zeros(size, np.uint8), set[int]()
        for name, tensor in self.fields.items():
            width = self.record.field(name).element.bits
            for index in product(*map(range, tensor.shape)):
                code = int.from_bytes(tensor[index].tobytes(), "little")
                for bit in range(width):
                    at = self.record.bit_address(name, index, bit, self.shape)
                    if at in taken or not 0 <= at < size:
                        raise Failed(f"bit {at} is held twice, or is outside")
                    taken.add(at)
                    bits[at] = code >> bit & 1
        self.free = np.array([at not in taken for at in range(size)])
        return np.packbits(bits, bitorder="little")

    free: Array = field(default_factory=lambda: np.zeros(0, bool))

    def expect(self, found: Any, what: str) -> None:
        wanted = self.meant
        if found.dtype != np.uint8 or found.size != wanted.size:
            raise Failed(f"{what} is {found.dtype} of {found.size} bytes, not {wanted.size}")
        wrong = found.reshape(-1) != wanted
        if type(self.record.fill).__name__ == "FillAny":
            wrong &= ~np.packbits(self.free, bitorder="little").astype(bool)
        if wrong.any():
            at = int(wrong.argmax())
            raise Failed(f"{what}: byte {at} is {found.reshape(-1)[at]}, not {wanted[at]}")

    def spoiled(self) -> Array:
        """The bytes, with noise in bits that no field holds."""
        noise = np.random.default_rng(1).integers(0, 2, self.meant.size * 8).astype(np.uint8)
        bits = np.unpackbits(self.meant, bitorder="little")
        bits[self.free] = noise[self.free]
        return np.packbits(bits, bitorder="little")

    def back(self, found: Any, what: str) -> None:
        for name, tensor in self.fields.items():
            one = found[name] if isinstance(found, Mapping) else getattr(found, name)
            same(np.asarray(one), tensor, None, f"{what} of {name}")


def record_compiled(case: RecordCase, target: str) -> None:
    if target == "native" and native_reason():
        raise NotOffered(native_reason())
    module = layoutdsl.compile(case.record, target)
    found = module.pack(**case.fields, shape=case.shape)
    case.expect(found, f"compile {target} pack")
    case.back(module.unpack(case.spoiled(), case.shape), "unpack")


def record_module(case: RecordCase) -> None:
    """The generated package, imported."""
    name = f"matrix_{case.record.name.lower()}_{case.random.randrange(10**9)}"
    place = layoutdsl.generate_record(case.record).write(case.folder / name)
    spec = importlib.util.spec_from_file_location(
        name, place / "__init__.py", submodule_search_locations=[str(place)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        found = module.pack(**case.fields, shape=case.shape)
        case.expect(found, "package pack")
        case.back(module.unpack(case.spoiled(), case.shape), "package unpack")
    finally:
        for each in [each for each in sys.modules if each.partition(".")[0] == name]:
            del sys.modules[each]


def record_c(case: RecordCase) -> None:
    if native_reason():
        raise NotOffered(native_reason())
    folder = case.folder / "rc"
    shutil.rmtree(folder, ignore_errors=True)
    layoutdsl.generate_record(case.record, "c").write(folder)
    library = built(folder)
    name = case.record.name.lower()
    size, scratch = (getattr(library, f"{name}_{each}") for each in ("bytes", "scratch"))
    size.restype = scratch.restype = ctypes.c_int64
    shape = np.array([*case.shape.values()], np.int64)
    room = np.zeros(max(1, scratch(pointer(shape))), np.uint8)
    given = [np.ascontiguousarray(each) for each in case.fields.values()]
    out = np.zeros(max(0, size(pointer(shape))), np.uint8)
    if getattr(library, f"{name}_pack")(
        *map(pointer, given), pointer(out), pointer(shape), pointer(room)
    ):
        raise Failed("C does not pack")
    case.expect(out, "C pack")
    back = [np.zeros(each.shape, each.dtype) for each in given]
    source = case.spoiled()
    if getattr(library, f"{name}_unpack")(
        pointer(source), *map(pointer, back), pointer(shape), pointer(room)
    ):
        raise Failed("C does not unpack")
    case.back(dict(zip(case.fields, back, strict=True)), "C unpack")


def record_shell(case: RecordCase, *more: str) -> None:
    fields, packed, back = case.folder / "f.npz", case.folder / "r.npy", case.folder / "b.npz"
    for each in (packed, back):
        each.unlink(missing_ok=True)
    np.savez(fields, **case.fields)
    shape = ",".join(f"{name}={extent}" for name, extent in case.shape.items())
    must("pack", case.name, str(fields), str(packed), "--target", "numpy", *more)
    case.expect(np.load(packed), "shell pack")
    must("unpack", case.name, str(packed), str(back), "--shape", shape, "--target", "numpy", *more)
    with np.load(back) as archive:
        case.back({name: archive[name] for name in case.fields}, "shell unpack")


def record_file(case: RecordCase) -> None:
    """Records go in pieces by the shell only."""
    record_shell(case, "--mem", "16M")


def record_convert(case: RecordCase) -> None:
    """To itself, and to every record of the library with the same fields."""
    for name in layoutdsl.library_record_names():
        other = layoutdsl.library_record(name)
        if {f.name: f.element for f in other.fields} != {
            f.name: f.element for f in case.record.fields
        }:
            continue
        target = RecordCase(name, other, case.shape, case.random, case.folder)
        target.__dict__["fields"] = case.fields
        try:
            shapes = other.field_shapes(case.shape)
        except ValueError:
            continue
        if shapes != case.record.field_shapes(case.shape):
            continue
        moves = layoutdsl.convert(case.record, other, compiled="numpy")
        target.expect(moves(case.spoiled(), case.shape), f"convert to {name}")


def record_weights(case: RecordCase) -> None:
    """A group of a file of weights."""
    source, packed, back = (case.folder / f"{each}.npz" for each in ("g", "gp", "gb"))
    for each in (packed, back):
        each.unlink(missing_ok=True)
    named = ", ".join(f'{name} = "{{}}.{name}"' for name in case.fields)
    rules = layoutdsl.parse(f'group "{{p}}" = {case.name}({named}) as "{{p}}.packed"\n')
    np.savez(source, **{f"w.{name}": tensor for name, tensor in case.fields.items()})
    layoutdsl.pack_weights(source, packed, rules, target="numpy")
    with np.load(packed) as archive:
        case.expect(archive["w.packed"], "pack_weights")
    found = layoutdsl.verify_weights(packed, source)
    if found.fault is not None:
        raise Failed(f"verify_weights finds {found.fault}")
    layoutdsl.unpack_weights(packed, back, target="numpy")
    with np.load(back) as archive:
        case.back({name: archive[f"w.{name}"] for name in case.fields}, "unpack_weights")


def not_offered(reason: str) -> Callable[[Any], None]:
    def refuse(_: Any) -> None:
        raise NotOffered(reason)

    return refuse


RECORDS_BY: Mapping[str, Callable[[RecordCase], None]] = {
    "numpy": lambda case: record_compiled(case, "numpy"),
    "native": lambda case: record_compiled(case, "native"),
    "module": record_module,
    "c": record_c,
    "file": record_file,
    "shell": record_shell,
    "convert": record_convert,
    "dask": not_offered("dask packs layouts, and no records"),
    "torch": not_offered("torch packs layouts, and no records"),
    "weights": record_weights,
    "Tensor": not_offered("a record is several tensors"),
    "copies": not_offered("records take no layouts with copies"),
}


# --- Subjects ----------------------------------------------------------------


@dataclass(frozen=True)
class Subject:
    """A layout, record or table of the library."""

    kind: str
    name: str


def subjects() -> list[Subject]:
    """All of the library, in its order."""
    layouts = [Subject("layout", name) for name in layoutdsl.library_names()]
    records = [Subject("record", name) for name in layoutdsl.library_record_names()]
    return [
        *layouts,
        *records,
        *(Subject("table", name) for name in layoutdsl.library_module().tables),
    ]


def declared(subject: Subject, storage: str, random: Random) -> tuple[Any, str]:
    """A layout in a storage, and the text that declares it as `Subject`.

    Raises:
        NotOffered: the layout has no such storage.
    """
    plain = layoutdsl.library(subject.name)
    numbers = [random.choice((2, 3, 4, 16)) for _ in plain.parameters]
    applied = f"{subject.name}<{', '.join(map(str, numbers))}>" if numbers else subject.name
    clauses = ""
    if plain.interface is not None and storage != "codes":
        raise NotOffered("elements are codes: see the storage `codes`")
    if plain.interface is None and storage == "codes":
        raise NotOffered("elements are no codes")
    if storage in ("bytes", "u8", "u16", "u32", "i32") and plain.element is None:
        clauses = f" of {random.choice(TYPES)}"
        if getattr(plain.fill, "value", 0) > 15 or random.random() < 0.3:
            clauses += " fill 0"
    if storage == "bits":
        return with_bits(subject, random)
    text = f"layout Subject = {applied}{clauses}\n"
    return layoutdsl.parse(text)["Subject"], text


def with_bits(subject: Subject, random: Random) -> tuple[Any, str]:
    """The layout with the bits of an element as its last coordinate."""
    written = layoutdsl.library_module().texts[subject.name]
    found = re.fullmatch(r"layout \w+(\(.*?\)) = (\[.*\])(.*)", written)
    if found is None or '"' in written:
        raise NotOffered("its text is no list of coordinates, to which `bit` could be added")
    if "of " in found[3] and re.search(r"of [iu]\d\b|f\d\b", found[3]):
        raise NotOffered("elements are narrower than the bytes that rules and shells store")
    clauses = re.sub(r" (fill \S+|of \S+)", "", found[3])
    bit = random.choice(("bit", "7 - bit : 8"))
    text = f"layout Subject{found[1]} = {found[2][:-1]}, {bit}] of u8{clauses}\n"
    return layoutdsl.parse(text)["Subject"], text


def shapes_of(layout: Any, text: str, random: Random, count: int) -> Iterator[Shape]:
    """Small shapes with ragged ends: all ones where that is one, and extents beside blocks."""
    named = text + repr(layout)
    blocks = {int(each) for each in re.findall(r"\d+", named)}
    near = sorted({n + step for n in blocks if n <= 70 for step in (-1, 0, 1)} | {1, 2, 3, 5, 7})
    near = [n for n in near if n > 0]
    axes = layout.tensor_axes
    seen = set[Shape]()
    for attempt in range(400):
        if len(seen) >= count:
            return
        values: dict[str, int] = {}
        for axis in axes:
            name = getattr(axis.extent, "name", "")
            if name and name not in values:
                small = attempt > 100 and random.random() < 0.7
                values[name] = 1 if attempt == 0 else random.choice((1, 2, 3) if small else near)
        shape = tuple(
            values.get(getattr(a.extent, "name", ""), getattr(a.extent, "value", 0)) for a in axes
        )
        bits = () if layout.bit_of is None else (layout.bit_of.bits,)
        fixed = all(hasattr(a.extent, "value") for a in axes)
        try:
            layout.bind((*shape, *bits))
            if shape in seen or (prod(shape) > MOST and not fixed and attempt < 300):
                continue
            if prod(shape) > 5000 or layout.size((*shape, *bits)) > MOST_SLOTS:
                continue
        except ValueError:
            continue
        seen.add(shape)
        yield shape


def record_shapes(record: Any, random: Random, count: int) -> Iterator[dict[str, int]]:
    """Shapes of few bits, the smallest that there are."""
    names, seen = record.frame.symbols, set[tuple[int, ...]]()
    choices = (1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 33, 64, 96, 128, 256, 512)
    found = list[dict[str, int]]()
    for numbers in product(choices, repeat=len(names)):
        values = dict(zip(names, numbers, strict=True))
        try:
            bits = record.size_bits(values)
            record.field_shapes(values)
        except ValueError:
            continue
        if 0 < bits <= 20_000 and bits % 8 == 0:
            found.append(values)
    for values in random.sample(found[:40], min(count, len(found[:40]))):
        key = tuple(values.values())
        if key not in seen:
            seen.add(key)
            yield values


REFUSALS = (
    "no whole words",
    # Files of numpy do not name these types, so a rule cannot tell that the items are of them.
    "and the field `",
    "holds elements of a domain only, and others would be lost",
)
"""What messages of documented refusals say."""


@dataclass
class Outcome:
    """What became of a combination: shapes tested, why it is not offered, or what failed."""

    tested: int = 0
    reason: str = ""
    failures: list[str] = field(default_factory=list)


def outcome(subject: Subject, storage: str, interface: str, seed: int, count: int) -> Outcome:
    """Try one combination at drawn shapes."""
    random, found = Random(f"{seed} {subject.name} {storage} {interface}"), Outcome()
    unfilled = "no small shape was found"
    with tempfile.TemporaryDirectory(prefix="matrix-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for case, by in cases(subject, storage, interface, random, count, Path(folder)):
                try:
                    with np.errstate(all="ignore"):
                        by(case)
                    found.tested += 1
                except NotOffered:
                    raise
                except Exception as error:  # each is a failure of the matrix
                    refusal = next((each for each in REFUSALS if each in str(error)), None)
                    if refusal is not None:
                        unfilled = refusal
                    else:
                        found.failures.append(f"at {case.shape}: {type(error).__name__}: {error}")
        except NotOffered as why:
            found.reason = str(why)
    if not found.tested and not found.reason and not found.failures:
        found.reason = unfilled
    return found


def cases(
    subject: Subject, storage: str, interface: str, random: Random, count: int, folder: Path
) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    """What a combination is tried with, and what tries it.

    Raises:
        NotOffered: there is no such combination.
    """
    match subject.kind:
        case "layout":
            layout, text = declared(subject, storage, random)
            for shape in shapes_of(layout, text, random, count):
                yield Case(layout, text, storage, shape, random, folder), BY[interface]
        case "record":
            if storage != "bytes":
                raise NotOffered("records are stored in bytes")
            record = layoutdsl.library_record(subject.name)
            for values in record_shapes(record, random, count):
                yield (
                    RecordCase(subject.name, record, values, random, folder),
                    RECORDS_BY[interface],
                )
        case "table":
            if storage != "items" or interface not in ("numpy", "shell"):
                raise NotOffered("a table is read, and packs nothing")
            yield from table_cases(subject, random, count, interface)


# --- Tables ------------------------------------------------------------------


@dataclass
class TableCase:
    """A table at a shape, with the layout that it inverts where the library says one."""

    name: str
    table: Any
    inverted: Any
    shape: Shape


def table_cases(
    subject: Subject, random: Random, count: int, interface: str
) -> Iterator[tuple[TableCase, Callable[[TableCase], None]]]:
    module = layoutdsl.library_module()
    table = module.tables[subject.name]
    claims = [each for each in module.table_claims if each.subject.name == subject.name]
    inverts = [
        each.predicate.layout
        for each in claims
        if hasattr(each.predicate, "layout") and each.polarity == "prove" and not each.where
    ]
    sound = not any(
        each.polarity == "refute" and not hasattr(each.predicate, "layout") for each in claims
    )
    if interface == "numpy" and not inverts:
        raise NotOffered("the library names no layout that the table inverts")
    for shape in shapes_of(table.frame, "4", random, count):
        case = TableCase(subject.name, table, inverts[0] if inverts else None, shape)
        yield case, table_unpacks if interface == "numpy" else (lambda case: table_at(case, sound))


def table_unpacks(case: TableCase) -> None:
    """What the layout packs lies where the table reads it, slot by slot."""
    tensor = np.arange(1, prod(case.shape) + 1, dtype=np.int64).reshape(case.shape)
    packed = layoutdsl.compile(case.inverted, "numpy").pack(tensor, fill=0).reshape(-1)
    if packed.size != case.table.size(case.shape):
        raise Failed(f"the table has {case.table.size(case.shape)} slots, the buffer {packed.size}")
    for number, slot in enumerate(case.table.every_slot(case.shape)):
        index = case.table.decode(slot, case.shape)
        wanted = 0 if index is None else int(tensor[index])
        if packed[number] != wanted:
            raise Failed(f"slot {number} holds {packed[number]}, and the table says {wanted}")


def table_at(case: TableCase, sound: bool) -> None:
    """`layoutdsl at` says of slots what `decode` does; in a sound table each element has one."""
    slots = list(case.table.every_slot(case.shape))
    held = [case.table.decode(slot, case.shape) for slot in slots]
    if sound and sorted(index for index in held if index is not None) != [
        tuple(index) for index in product(*map(range, case.shape))
    ]:
        raise Failed("an element lies in no slot, or in several")
    for number in {0, len(slots) - 1, len(slots) // 2}:
        shape = ",".join(map(str, case.shape))
        code, said = shell("at", case.name, "--shape", shape, str(number))
        if code:
            raise Failed(f"at ends with {code}: {said[-200:]}")
        if (held[number] is None) != ("padding" in said):
            raise Failed(f"slot {number} is {held[number]}, and `at` says: {said[:200]}")


# --- The table ---------------------------------------------------------------


def combinations(only: str = "") -> Iterator[tuple[Subject, str, str]]:
    """Every combination, or those of a kind (`records`), a subject, a storage or an interface."""
    wanted = set(filter(None, only.split(",")))
    for subject in subjects():
        for storage in STORAGES:
            for interface in INTERFACES:
                words = {f"{subject.kind}s", subject.name, storage, interface}
                if wanted <= words:
                    yield subject, storage, interface


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.net.matrix",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only",
        default="",
        help="layouts, records or tables; a name, storage, interface; all of several have to fit",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the shapes and numbers")
    parser.add_argument("--count", type=int, default=1, help="shapes of a combination")
    parser.add_argument(
        "--reasons", action="store_true", help="list why combinations are not offered"
    )
    return parser.parse_args()


def main() -> int:
    given = arguments()
    cells: Counter[tuple[str, str, str, str]] = Counter()
    reasons: Counter[tuple[str, str, str, str]] = Counter()
    failures = list[str]()
    for subject, storage, interface in combinations(given.only):
        found = outcome(subject, storage, interface, given.seed, given.count)
        key = subject.kind, storage, interface
        cells[(*key, "shapes")] += found.tested
        cells[(*key, "tested")] += bool(found.tested)
        cells[(*key, "failed")] += bool(found.failures)
        cells[(*key, "not offered")] += bool(found.reason)
        if found.reason:
            reasons[(*key, found.reason)] += 1
        for failure in found.failures:
            failures.append(f"{subject.kind} {subject.name}, {storage}, {interface} {failure}")
            print(failures[-1], file=sys.stderr, flush=True)
    print(printed(cells))
    if given.reasons:
        for (kind, storage, interface, reason), count in sorted(reasons.items()):
            print(f"{count:5} {kind}, {storage}, {interface}: {reason}")
    print(f"{len(failures)} failures")
    print("\n".join(failures))
    return 1 if failures else 0


def printed(cells: Mapping[tuple[str, str, str, str], int]) -> str:
    """Subjects tested in each cell; those that failed in parentheses; a dash: not offered."""
    lines = list[str]()
    for kind in ("layout", "record", "table"):
        rows = [
            storage for storage in STORAGES if any(c[0] == kind and c[1] == storage for c in cells)
        ]
        if not rows:
            continue
        lines.append(f"{kind + 's':8}" + "".join(f"{name:>10}" for name in INTERFACES))
        for storage in rows:
            texts = []
            for interface in INTERFACES:
                counts = {what: cells.get((kind, storage, interface, what), 0)
                          for what in ("tested", "failed", "not offered")}  # fmt: skip
                failed = f" ({counts['failed']})" if counts["failed"] else ""
                texts.append(f"{counts['tested']}{failed}" if counts["tested"] or failed
                             else "-" if counts["not offered"] else "")  # fmt: skip
            lines.append(f"{storage:8}" + "".join(f"{text:>10}" for text in texts))
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
