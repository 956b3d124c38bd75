"""Tensors of torch, packed, unpacked and converted where they lie: no copy but the move itself.

>>> import layoutdsl.torch as lt
>>> packed = lt.pack("NCHW16c", torch.ones(2, 20, 3, 4, dtype=torch.bfloat16))
>>> packed.shape, packed.dtype
(torch.Size([2, 2, 3, 4, 16]), torch.bfloat16)

What moves is the module that `layoutdsl.compile` returns. It is handed the memory of a tensor as an
array: of its own type where numpy has that, else of unsigned integers as wide, by which bfloat16,
float8 and their like travel. Where a layout's elements are codes, tensors are of codes: torch makes
them. This file alone imports torch, when it is imported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from layoutdsl.commands import CompileTarget, Conversion, library
from layoutdsl.commands import compile as compile_
from layoutdsl.commands import convert as convert_
from layoutdsl.language.integers.expr import Constant, Extent
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.arguments import TEXT, Kind, called, expect
from layoutdsl.language.meaning.elements import FillValue
from layoutdsl.language.meaning.model import LAYOUT, Layout
from layoutdsl.language.meaning.storage import ITEMS, STORAGES, StorageName
from layoutdsl.language.texts.resources import install_command

try:
    import torch
    from torch import Tensor
except ModuleNotFoundError as missing:
    if missing.name != "torch":
        raise
    needed = f"layoutdsl.torch needs torch: {install_command('torch')}"
    raise ModuleNotFoundError(needed, name="torch") from None

__all__ = ["Compiled", "compiled", "convert", "custom_op", "pack", "unpack"]

Fill: TypeAlias = "int | float | complex | None"
Shape: TypeAlias = Sequence[int]

CARRIERS = {1: torch.uint8, 2: torch.uint16, 4: torch.uint32, 8: torch.uint64}
"""By their bytes: what items travel as, where numpy has no type for them."""
PLAIN = {
    *(torch.bool, torch.complex64, torch.complex128, torch.float16, torch.float32, torch.float64),
    *(torch.int8, torch.int16, torch.int32, torch.int64, *CARRIERS.values()),
}
"""What numpy has."""
MOST = 256
"""Layouts that are remembered."""

OPERATOR = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*", re.ASCII)
"""What torch takes for the name of an operator."""

NAMED = Kind("a layout, or the name of one", lambda v: isinstance(v, Layout | str), LAYOUT.help)
"""The argument that says which layout."""


class Compiled:
    """`pack` and `unpack` of one layout, for tensors; `compiled` returns it.

    Attributes:
        layout: what is packed.
        storage: ``items``, or what words the buffer is stored in.
        typed: whether a packed tensor has the type of the other; words and bits are integers.
    """

    def __init__(
        self, layout: Layout, target: CompileTarget, storage: StorageName, unproved: bool = False
    ) -> None:
        self.layout, self.storage = layout, storage
        self._module: Any = compile_(layout.of_codes, target, storage=storage, unproved=unproved)
        self.typed = storage == ITEMS and layout.bit_of is None

    def __repr__(self) -> str:
        return f"<layout {self.layout.name} for tensors, in {self.storage}>"

    def physical_shape(self, shape: Shape) -> tuple[int, ...]:
        """Return the shape of the packed tensor; extents may be symbols of torch.

        Raises:
            ValueError: the layout has no such shape.
        """
        layout = self.layout
        plain = layout.start == Constant(0) and len(shape) == len(layout.element_axes)
        plain = plain and self.typed
        if not plain or all(type(each) is int for each in shape):
            found: tuple[int, ...] = self._module.physical_shape(tuple(map(int, shape)))
            return found
        pairs = zip(layout.element_axes, shape, strict=True)
        values = {axis.extent.name: n for axis, n in pairs if isinstance(axis.extent, Extent)}
        return tuple(evaluate(each.extent, values) for each in layout.coordinates)

    def packed_type(self, dtype: Any) -> Any:
        """Return the type of the packed tensor: that of the other, unless it holds words or bits.

        Words and bits are integers; where a tensor is unpacked from them, so are its items, and
        `tensor.view(torch.bfloat16)` gives them their type.
        """
        if self.typed:
            return dtype
        words = STORAGES.get(self.storage)
        if words is None:
            return torch.uint8
        return getattr(torch, f"{'int' if words.kind == 'i' else 'uint'}{words.bits}")

    def pack(self, tensor: Tensor, out: Tensor | None = None, fill: Fill = None) -> Tensor:
        """Return the tensor as the layout stores it; no gradient flows, as it does by `custom_op`.

        Args:
            tensor: on the CPU, of any strides.
            out: the tensor to write, of `physical_shape`, which does not overlap the other; new
                without it.
            fill: the number in padding, of the type of the tensor; that of the layout if left out.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        return self.packer(tensor, out, fill)()

    def packer(
        self, tensor: Tensor, out: Tensor | None = None, fill: Fill = None
    ) -> Callable[[], Tensor]:
        """Return what packs a tensor as often as it is called, as it then is; see `pack`.

        The views of both are made once, so their memory must stay what it is. Of a conjugated or
        negated tensor it is a copy that is packed again.
        """
        source = _items(tensor, "tensor")
        given = _fill(self.layout, tensor, fill) if self.layout.bit_of is None else fill
        into, typed, module = None if out is None else _target(out), self.typed, self._module
        filled = {} if given is None else {"fill": given}

        def packs() -> Tensor:
            found = module.pack(source, into, **filled)
            return _tensor(found, tensor.dtype, typed) if out is None else out

        return packs

    def unpack(self, packed: Tensor, shape: Shape, out: Tensor | None = None) -> Tensor:
        """Return the tensor that a packed one holds; padding is not read.

        Args:
            packed: on the CPU, of `physical_shape(shape)`, or flat.
            shape: the extents of the tensor.
            out: the tensor to write, which does not overlap the other; new without it.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        source, into = _items(packed, "packed"), None if out is None else _target(out)
        found = self._module.unpack(source, tuple(shape), into)
        return _tensor(found, packed.dtype, self.typed) if out is None else out


def compiled(
    layout: Layout | str,
    target: CompileTarget = "auto",
    *,
    storage: StorageName = "items",
    unproved: bool = False,
) -> Compiled:
    """Return what packs and unpacks by a layout: for those who call it often.

    Args:
        layout: without open parameters, or the name of one of the library: ``NCHWc<8>``.
        target: ``auto``, ``native`` or ``numpy``, as for `layoutdsl.compile`.
        storage: ``items``, or what words the packed tensor is stored in: ``i32``.
        unproved: also take an undecided layout; each call checks its shape, as `layoutdsl.compile`
            says.

    Raises:
        ValueError, TypeError: there is no such layout, target or storage.
        RefusedError: the layout is refuted.
        UnprovedError: the layout is undecided.
    """
    expect(layout=(layout, NAMED))
    return _compiled(layout, target, storage, unproved)


@lru_cache(maxsize=MOST)
def _compiled(
    layout: Layout | str, target: CompileTarget, storage: StorageName, unproved: bool
) -> Compiled:
    found = library(layout) if isinstance(layout, str) else layout
    return Compiled(found, target, storage, unproved)


def pack(
    layout: Layout | str,
    tensor: Tensor,
    out: Tensor | None = None,
    fill: Fill = None,
    *,
    unproved: bool = False,
) -> Tensor:
    """Return a tensor as a layout stores it; see `compiled` and `Compiled.pack`."""
    return compiled(layout, unproved=unproved).pack(tensor, out, fill)


def unpack(
    layout: Layout | str,
    packed: Tensor,
    shape: Shape,
    out: Tensor | None = None,
    *,
    unproved: bool = False,
) -> Tensor:
    """Return the tensor that a packed one holds; see `compiled` and `Compiled.unpack`."""
    return compiled(layout, unproved=unproved).unpack(packed, shape, out)


def convert(
    source: Layout | str,
    target: Layout | str,
    packed: Tensor,
    shape: Shape,
    out: Tensor | None = None,
    fill: Fill = None,
    axes: str | None = None,
    *,
    unproved: bool = False,
) -> Tensor:
    """Return the packed tensor of one layout as another one stores it.

    Args:
        source: the layout of what is read.
        target: that of what is written.
        packed: on the CPU, of the first layout's shape, or flat.
        shape: the extents of the tensor, in the axes of the first layout.
        out: the tensor to write, which does not overlap the other; new without it.
        fill: the number in padding; that of the second layout if left out.
        axes: which are which, as for `layoutdsl.convert`.
        unproved: also take undecided layouts, as for `layoutdsl.convert`.

    Raises:
        ValueError, TypeError: the arguments do not fit; nothing was written.
        RefusedError: a layout is refuted, or wrong at this shape.
        UnprovedError: a layout is undecided.
    """
    expect(source=(source, NAMED), target=(target, NAMED))
    moves, written = _conversion(source, target, axes, unproved)
    items, into = _items(packed, "packed"), None if out is None else _target(out)
    found = moves(items, tuple(shape), into, _fill(written, packed, fill))
    return _tensor(found, packed.dtype, True) if out is None else out


@lru_cache(maxsize=MOST)
def _conversion(
    source: Layout | str, target: Layout | str, axes: str | None, unproved: bool
) -> tuple[Conversion, Layout]:
    one, other = (library(each) if isinstance(each, str) else each for each in (source, target))
    return convert_(one, other, axes, unproved=unproved), other


def custom_op(
    name: str, layout: Layout | str, storage: StorageName = "items", *, unproved: bool = False
) -> Any:
    """Register packing as an operator of torch, ``op(tensor, fill=None)``, and return it.

    It may be compiled with whatever surrounds it. Its gradient is unpacked by a second operator,
    ``NAME_unpack(packed, shape)``, whose gradient is packed in turn. Where elements have copies,
    their gradients are added: ``NAME_all_unpack`` takes them all out.

    >>> op = custom_op("mylib::pack_nchw16c", "NCHW16c")
    >>> op(torch.ones(2, 20, 3, 4)).shape
    torch.Size([2, 2, 3, 4, 16])

    Args:
        name: with its namespace, ``mylib::pack_marlin``.
        layout: as for `compiled`, and so is ``storage``.
        storage: words have no gradient.
        unproved: also take an undecided layout, as for `compiled`.

    Raises:
        ValueError, TypeError: the name is none, or there is no such layout or storage.
        RefusedError: the layout is refuted.
        UnprovedError: the layout is undecided.
    """
    expect(name=(name, TEXT))
    if not OPERATOR.fullmatch(name):
        words = f"`{name}` names no operator: write a namespace and a name"
        raise ValueError(f"{words}, as in `mylib::pack_marlin`")
    moves = compiled(layout, storage=storage, unproved=unproved)

    def packs(x: Tensor, fill: Fill = None) -> Tensor:
        return moves.pack(x, fill=fill)

    def packs_shape(x: Tensor, fill: Fill = None) -> Tensor:  # noqa: ARG001  as the operator has it
        return x.new_empty(moves.physical_shape(x.shape), dtype=moves.packed_type(x.dtype))

    def unpacks(packed: Tensor, shape: Shape) -> Tensor:
        return moves.unpack(packed, shape)

    def unpacks_shape(packed: Tensor, shape: Shape) -> Tensor:
        return packed.new_empty(shape)

    into = torch.library.custom_op(
        name, packs, mutates_args=(), schema="(Tensor x, Scalar? fill=None) -> Tensor"
    )
    into.register_fake(packs_shape)
    if not moves.typed:
        return into
    back = torch.library.custom_op(
        f"{name}_unpack",
        unpacks,
        mutates_args=(),
        schema="(Tensor packed, SymInt[] shape) -> Tensor",
    )
    back.register_fake(unpacks_shape)

    def keep_shape(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:  # noqa: ARG001
        ctx.shape = inputs[0].shape

    sums, puts = _gradients(name, moves.layout, into, back)
    into.register_autograd(
        lambda ctx, gradient: (sums(gradient, ctx.shape), None), setup_context=keep_shape
    )
    back.register_autograd(
        lambda _, gradient: (puts(gradient), None), setup_context=lambda **_: None
    )
    return into


Gradients: TypeAlias = "tuple[Callable[[Tensor, Shape], Tensor], Callable[[Tensor], Tensor]]"


def _gradients(name: str, layout: Layout, into: Any, back: Any) -> Gradients:
    """What the gradients of packing and unpacking are.

    Of an element with copies that is the sum of theirs; unpacking reads the first alone.
    """
    if not layout.copies:
        return back, lambda gradient: into(gradient, 0)
    # The layout is proved, or was allowed: then each call checks its shape.
    custom_op(f"{name}_all", layout.every_copy, unproved=True)
    space, _, word = name.partition("::")
    every = getattr(getattr(torch.ops, space), f"{word}_all_unpack")
    first = custom_op(f"{name}_first", layout.first_copy, unproved=True)
    names = [axis.name for axis in layout.axes]
    along = [names.index(each) for each in layout.copies]

    def sums(gradient: Tensor, shape: Shape) -> Tensor:
        return every(gradient, _whole(layout, shape)).sum(along)

    return sums, lambda gradient: first(gradient, 0)


def _whole(layout: Layout, shape: Shape) -> list[int]:
    """The extents of a tensor with its copies; they may be symbols of torch."""
    known = {a.extent: n for a, n in zip(layout.element_axes, shape, strict=True)}
    left = iter(shape)
    return [
        next(left)
        if axis.name not in layout.copies
        else axis.extent.value
        if isinstance(axis.extent, Constant)
        else known[axis.extent]
        for axis in layout.axes
    ]


def _items(tensor: Tensor, name: str) -> Any:
    """Return the memory of a tensor as an array.

    Raises:
        TypeError, ValueError: it has none that numpy could name.
    """
    if not isinstance(tensor, Tensor):
        words = f"`{name}` is {called(tensor)}, and has to be a tensor of torch"
        raise TypeError(f"{words}; `layoutdsl.compile(layout)` takes arrays")
    if tensor.device.type != "cpu":
        words = f"`{name}` is on {tensor.device}, and tensors are moved on the CPU: "
        way = "print the index function of a kernel, `layoutdsl formula LAYOUT --as triton`"
        raise ValueError(f"{words}give `{name}.cpu()`, or {way}")
    if tensor.is_nested:
        raise ValueError(f"`{name}` is nested: give its tensors, one by one")
    if tensor.layout is not torch.strided:
        raise ValueError(f"`{name}` is sparse: give `{name}.to_dense()`")
    if tensor.is_quantized:
        raise ValueError(f"`{name}` is quantized: give `{name}.int_repr()`")
    if tensor.is_conj() or tensor.is_neg():  # what is not so in memory, is made so
        tensor = tensor.resolve_conj().resolve_neg()
    plain = tensor.detach()
    return (plain if plain.dtype in PLAIN else plain.view(CARRIERS[plain.itemsize])).numpy()


def _target(out: Tensor) -> Any:
    """Return the memory of a tensor that is written.

    Raises:
        TypeError, ValueError: nothing can be written there.
    """
    if isinstance(out, Tensor) and (out.requires_grad or out.is_conj() or out.is_neg()):
        words = "has a gradient" if out.requires_grad else "is conjugated or negated"
        raise ValueError(f"`out` {words}")
    return _items(out, "out")


def _tensor(found: Any, dtype: torch.dtype, typed: bool) -> Tensor:
    """Return an array as a tensor, of the type of the tensor that it was made from."""
    tensor = torch.from_numpy(found)
    return tensor.view(dtype) if typed and dtype not in PLAIN else tensor


def _fill(layout: Layout, tensor: Tensor, fill: Fill) -> Any:
    """Return a fill as items travel: ``None`` for that of the layout.

    Raises:
        ValueError: the type cannot hold it.
    """
    dtype = tensor.dtype
    given = layout.fill.value if fill is None and isinstance(layout.fill, FillValue) else fill
    if dtype in PLAIN or given is None:
        return fill
    if given == 0:
        return 0
    try:
        item = torch.tensor(given, dtype=dtype)
        held = item.item()
    except (RuntimeError, TypeError, OverflowError):
        held = None
    if held is None or (held != given and (held == held or given == given)):
        raise ValueError(f"`fill` is {given}, which {dtype} cannot hold")
    return item.view(CARRIERS[dtype.itemsize]).item()
