"""The texts that the modules of all layouts have in common. Trusted as they stand.

`code.arrays` prints these texts, with the statements of a layout in their places; the reader takes
no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import Extent, extents
from layoutdsl.language.meaning.elements import ElementType, FillAny, FillValue
from layoutdsl.language.meaning.model import Layout

WIDTH = 100
"""Characters of a line of a module."""
SHAPE = "shape: Sequence[int]"
INTEGERS = "tuple[int, ...]"
BOTH_SHAPES = f"tuple[{INTEGERS}, {INTEGERS}]"
VIEWS = "Iterator[tuple[Array, Array]]"
RUNS = "Iterator[tuple[Array, Array, Array]]"
OFFSETS = "Iterator[tuple[tuple[Array, ...], Array]]"
OFFSET = "Iterator[tuple[tuple[int, ...], int]]"


def lines_of(text: str) -> list[str]:
    """Return the lines of a function that all modules share, with two empty ones before."""
    return ["", "", *text.strip("\n").split("\n")]


ITEM = lines_of('''
def _item(fill: float, dtype: np.dtype[Any]) -> Array:
    """Return `fill` as an item; ValueError if the type cannot hold it. Fractions are rounded."""
    if fill == 0 and dtype.char in "VmMSU":
        return np.zeros((), dtype)
    with np.errstate(all="ignore"):
        item = np.asarray(fill).astype(dtype)
    held = float(item) if dtype.kind in "fV" else item.item()
    same = held == fill or (np.isnan(held) and np.isnan(fill))
    if not (same or (dtype.kind not in "biu" and fill % 1 and np.isfinite(held))):
        raise ValueError(f"`fill` is {fill}, which {dtype} cannot hold")
    return item
''')

PUT = lines_of('''
def _put(target: Array, source: Array) -> None:
    """Copy; a short last axis as one wide item or index by index, as numpy's loops are long."""
    count = target.shape[-1] if target.size >= 1024 else 1
    width = count * target.itemsize
    short = 1 < count <= 8 and width <= 32 and target.size > 300*count**2
    together = target.strides[-1] == target.itemsize
    if 1 < count and width <= 64 and together and source.strides[-1] == source.itemsize:
        wide = f"{'u' if width in (2, 4, 8) else 'V'}{width}"
        _put(target.view(wide)[..., 0], source.view(wide)[..., 0])
    elif short and together and target.shape[-2] > count:
        for k in range(count):
            _put(target[..., k], source[..., k])
    else:
        target[...] = source
''')

GRIDS = lines_of('''
def _grids(shape: tuple[int, ...]) -> Iterator[tuple[Array, ...]]:
    """Yield grids of all indices, some rows of the first axis at a time."""
    rows = max(1, 2**18 // max(1, math.prod(shape[1:])))
    for first in range(0, shape[0], rows):
        ends = [(first, min(first + rows, shape[0])), *((0, extent) for extent in shape[1:])]
        yield np.ix_(*(np.arange(*each, dtype=np.int64) for each in ends))
''')

GRID = lines_of('''
def _grid(*counts: int) -> tuple[Array, ...]:
    """Return all indices below some counts, each along a dimension of its own."""
    return np.ix_(*(np.arange(count, dtype=np.int64) for count in counts))
''')

HELD = lines_of('''
def _held(index: tuple[Array, ...], condition: Array) -> tuple[Array, ...]:
    """Return the indices of a grid for which a condition holds."""
    there = np.broadcast_to(condition, np.broadcast_shapes(*(each.shape for each in index)))
    return tuple(np.broadcast_to(each, there.shape)[there] for each in index)
''')


def indented(lines: Iterable[str], depth: int = 1) -> list[str]:
    """Return lines moved in."""
    return [f"{'    ' * depth}{line}" if line else "" for line in lines]


def function(name: str, arguments: str, result: str, lines: Iterable[str]) -> list[str]:
    """Return a function with two empty lines before it.

    Args:
        name: of the function.
        arguments: with their types.
        result: the type that it returns.
        lines: of its body.
    """
    head = f"def {name}({arguments}) -> {result}:"
    if len(head) <= WIDTH:
        return ["", "", head, *indented(lines)]
    return ["", "", f"def {name}(", f"    {arguments}", f") -> {result}:", *indented(lines)]


def target_function(element: ElementType | None) -> list[str]:
    """Return `_target`, which makes what is written, and refuses arrays of other items."""
    if element is None:
        test = "src.dtype.hasobject"
        message = "items of {src.dtype} have no fixed number of bytes"
    else:
        kind, width = element.item
        taken = kind if kind != "u" else "uVf" if width == 1 else "uV"
        named = {"i": "int", "u": "uint", "f": "float", "c": "complex", "b": "bool"}[kind]
        item = named if kind == "b" else f"{named}{8 * width}"
        test = f'src.dtype.itemsize != {width} or src.dtype.kind not in "{taken}"'
        message = f"elements of {element.name} are items of {item}, not of {{src.dtype}}"
    return lines_of(f'''
def _target(out: Array | None, shape: tuple[int, ...], src: Array) -> Array:
    """Return `out` or a new array to write what `src` holds; ValueError if it does not fit."""
    if {test}:
        raise TypeError(f"{message}")
    if out is None:
        return np.empty(shape, src.dtype)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != src.dtype:
        raise ValueError(f"`out` has to be an array of {{src.dtype}} and of shape {{shape}}")
    if not (out.flags.c_contiguous and out.flags.writeable) or np.may_share_memory(out, src):
        raise ValueError("`out` has to be C-contiguous and writeable, and apart from `src`")
    return out
''')


def values_function(element: ElementType) -> list[str]:
    """Return `_refuse_values`, which refuses numbers that are no values of narrow elements."""
    low, high = narrow(element) or (0, 0)
    return lines_of(f'''
def _refuse_values(array: Array) -> None:
    """Raise ValueError if an item is no value of {element.name}, {low} to {high}."""
    if array.dtype.kind not in "iu":
        array = array.view(f"u{{array.itemsize}}")
    for number in (array.min(), array.max()):
        if not {low} <= number <= {high}:
            raise ValueError(f"{{number}} is outside {low} to {high}, the range of the elements")
''')


def narrow(element: ElementType | None) -> tuple[int, int] | None:
    """Return the least and the largest value of an element that does not fill its item."""
    return None if element is None or element.fills_item else element.values


@dataclass(frozen=True, slots=True)
class Moves:
    """The statements of the two verbs between their checks.

    Attributes:
        fills: statements that fill slots of `buffer` with `item`.
        packs: statements that move elements from `src` to `buffer`.
        unpacks: statements that move them from `src` to `tensor`.
        checks: statements of `pack` that refuse elements with a slot that are no narrow ones.
        refusals: statements of `unpack` that refuse such elements.
    """

    fills: tuple[str, ...]
    packs: tuple[str, ...]
    unpacks: tuple[str, ...]
    checks: tuple[str, ...]
    refusals: tuple[str, ...]


def view_moves(fills: Sequence[str], *, puts: bool) -> Moves:
    """Return what the verbs do with views.

    Args:
        fills: statements that fill slots.
        puts: whether `_put` copies.
    """
    read = "for {}, slots in _views(tensor, src):"
    return Moves(
        tuple(fills),
        ("for part, slots in _views(src, buffer):", _copy("slots", "part", puts=puts)),
        (read.format("part"), _copy("part", "slots", puts=puts)),
        ("for part, _ in _views(src, buffer):", "    _refuse_values(part)"),
        (read.format("_"), "    _refuse_values(slots)"),
    )


def copied_moves(fills: Sequence[str], first: str) -> Moves:
    """Return what the verbs do with views of a buffer that holds copies of elements.

    Args:
        fills: statements that fill slots.
        first: the places of the first copies in a view of slots.
    """
    read = "for {}, slots in _views(tensor, src):"
    copies = "np.broadcast_to(part, slots.shape)"
    return Moves(
        tuple(fills),
        ("for part, slots in _views(src, buffer):", _copy("slots", copies, puts=True)),
        (read.format("part"), _copy("part", f"slots[{first}]", puts=True)),
        ("for part, _ in _views(src, buffer):", "    _refuse_values(part)"),
        (read.format("_"), "    _refuse_values(slots)"),
    )


def _copy(target: str, source: str, *, puts: bool) -> str:
    return f"    _put({target}, {source})" if puts else f"    {target}[...] = {source}"


def run_moves(fills: Sequence[str]) -> Moves:
    """Return what the verbs do with runs, each a row of the buffer.

    Args:
        fills: statements that fill slots.
    """
    return Moves(
        tuple(fills),
        ("for part, slots, rows in _runs(src, buffer):", "    slots[rows] = part"),
        ("for part, slots, rows in _runs(tensor, src):", "    part[...] = slots[rows]"),
        ("for part, _, _ in _runs(src, buffer):", "    _refuse_values(part)"),
        ("for _, slots, rows in _runs(tensor, src):", "    _refuse_values(slots[rows])"),
    )


def gather_moves(fills: Sequence[str], *, copied: bool) -> Moves:
    """Return what the verbs do with offsets of elements.

    Args:
        fills: statements that fill slots.
        copied: an element has several slots, of which the first is read.
    """
    slots = "_first_slots" if copied else "_slots"
    read = ("flat = src.reshape(-1)", f"for index, slots in {slots}(tensor.shape):")
    return Moves(
        tuple(fills),
        (
            "flat = buffer.reshape(-1)",
            "for index, slots in _slots(src.shape):",
            "    flat[slots] = src[index]",
        ),
        (*read, "    tensor[index] = flat[slots]"),
        ("for index, _ in _slots(src.shape):", "    _refuse_values(src[index])"),
        (*read, "    _refuse_values(flat[slots])"),
    )


def verbs(layout: Layout, moves: Moves) -> list[str]:
    """Return `pack` and `unpack`."""
    return [*_pack(layout, moves), *_unpack(layout, moves)]


def _pack(layout: Layout, moves: Moves) -> list[str]:
    fill = layout.fill
    checks = moves.checks if layout.domain else ("_refuse_values(src)",)
    if narrow(layout.element) is None:
        checks = ()
    words = "padding is `fill`"
    if isinstance(fill, FillAny):
        words = "padding is `fill`, or what `out` has"
    if not moves.fills:
        words = "it has no padding"
    return function(
        "pack",
        f"src: ArrayLike, out: Array | None = None, {fill_argument(layout)}",
        "Array",
        [
            f'"""Return the buffer of the tensor `src`; {words}. ValueError: it does not fit."""',
            "src = np.asarray(src)",
            "buffer = _target(out, physical_shape(src.shape), src)",
            *checks,
            *fillings(layout, moves.fills),
            *moves.packs,
            "return buffer",
        ],
    )


def fillings(layout: Layout, fills: Sequence[str]) -> list[str]:
    """Return the statements that fill, after those that make the fill an item."""
    if not fills:
        return ["del fill  # there is no padding"]
    given = "fill or 0" if isinstance(layout.fill, FillAny) else "fill"
    lines = [f"item = _item({given}, src.dtype)"]
    lines += ["_refuse_values(item)"] if narrow(layout.element) is not None else []
    if isinstance(layout.fill, FillAny):
        return [*lines, "if out is None or fill is not None:", *indented(fills)]
    return [*lines, *fills]


def _unpack(layout: Layout, moves: Moves) -> list[str]:
    outside, made, words = "", list[str](), ""
    if layout.domain:
        value = layout.fill.value if isinstance(layout.fill, FillValue) else 0
        outside = f", fill: float = {number_text(value)}"
        made = ["item = _item(fill, src.dtype)", "if out is None:", "    tensor[...] = item"]
        words = ", `fill` if it has no slot"
    is_narrow = narrow(layout.element) is not None
    return function(
        "unpack",
        f"src: ArrayLike, {SHAPE}, out: Array | None = None{outside}",
        "Array",
        [
            f'"""Return the tensor in the buffer `src`{words}. ValueError: it does not fit."""',
            "src = np.asarray(src)",
            "box = physical_shape(shape)",
            *reshaping("box"),
            "tensor = _target(out, tuple(shape), src)",
            *made,
            *(moves.refusals if is_narrow else []),
            *moves.unpacks,
            "return tensor",
        ],
    )


def conversion(target: Layout, fills: Sequence[str], *, puts: bool) -> list[str]:
    """Return `convert`.

    Args:
        target: the layout that is written.
        fills: statements that fill slots of `target` with `item`.
        puts: whether `_put` copies.
    """
    padding = "padding is `fill`" if fills else "it has no padding"
    if fills and isinstance(target.fill, FillAny):
        padding = "padding is `fill`, or what `out` has"
    refusals = ("for part, _ in _views(src, target, shape):", "    _refuse_values(part)")
    return function(
        "convert",
        f"src: ArrayLike, {SHAPE}, out: Array | None = None, {fill_argument(target)}",
        "Array",
        [
            f'"""Return another buffer of a tensor; {padding}. ValueError: it does not fit."""',
            "src = np.asarray(src)",
            "read, written = physical_shapes(shape)",
            *reshaping("read"),
            "target = _target(out, written, src)",
            "shape = tuple(map(operator.index, shape))",
            *(refusals if narrow(target.element) is not None else []),
            *fillings(target, fills),
            "for part, slots in _views(src, target, shape):",
            _copy("slots", "part", puts=puts),
            "return target",
        ],
    )


def reshaping(box: str) -> list[str]:
    """Return the statements that give a buffer its shape; a flat one of the same size is taken.

    Args:
        box: the name of the shape.
    """
    return [
        f"if src.shape not in ({box}, (math.prod({box}),)):",
        f'    raise ValueError(f"`src` has shape {{src.shape}}, and {{{box}}} is needed")',
        f"src = src.reshape({box})",
    ]


def fill_argument(layout: Layout) -> str:
    """Return the argument for the number in padding."""
    match layout.fill:
        case FillValue(value):
            return f"fill: float = {number_text(value)}"
        case FillAny():
            return "fill: float | None = None"
    return "*, fill: float"


def number_text(value: float) -> str:
    """Return a number as Python, which has no literal for infinity and NaN."""
    return str(value) if isfinite(value) else f'float("{value}")'


def shape_tests(layout: Layout) -> list[str]:
    """Return the tests of which one holds for a shape of another rank, or with other extents."""
    axes = layout.element_axes
    tests = [f"len(shape) != {len(axes)}", *(["min(shape) < 1"] if axes else [])]
    seen = dict[str, int]()
    for number, axis in enumerate(axes):
        if isinstance(axis.extent, Extent):
            first = seen.setdefault(axis.extent.name, number)
            tests += [f"shape[{first}] != shape[{number}]"] if first != number else []
        else:
            tests.append(f"shape[{number}] != {axis.extent.value}")
    return tests


def conditions(layout: Layout) -> list[Condition]:
    """Return what is asked of a shape, without comparisons of numbers."""
    return [
        each
        for each in layout.where
        if extents(each.left) | extents(each.right) or not each.holds({})
    ]


def cut_name(depth: int) -> str:
    """Return the name of the function that cuts an axis into digits below ``depth`` blocks."""
    return "_cut" if depth == 1 else f"_cut{depth}"


def cut(depth: int) -> list[str]:
    """Return the function that cuts an axis into digits below ``depth`` blocks."""
    integers = ", ".join(["int"] * (2 + depth))
    if depth == 1:
        return function(
            "_cut",
            "extent: int, block: int",
            f"Iterator[tuple[{integers}]]",
            [
                '"""Yield first index, blocks, block size: of the whole blocks, then the rest."""',
                "whole, rest = divmod(extent, block)",
                "if whole:",
                "    yield 0, whole, block",
                "if rest:",
                "    yield whole*block, 1, rest",
            ],
        )
    sizes = [f"block{k}" for k in range(1, depth + 1)]
    return function(
        cut_name(depth),
        f"extent: int, {', '.join(f'{size}: int' for size in sizes)}",
        f"Iterator[tuple[{integers}]]",
        [
            '"""Yield first index and counts of each digit, of the parts of blocks of blocks."""',
            *_cut_body(depth, sizes),
        ],
    )


def _cut_body(depth: int, sizes: Sequence[str]) -> Iterable[str]:
    left, first = "extent", "0"
    for k, size in enumerate(sizes, 1):
        yield f"many{k}, rest{k} = divmod({left}, {size})"
        left = f"rest{k}"
    for k in range(depth + 1):
        many = f"many{k + 1}" if k < depth else f"rest{depth}"
        inner = [f"{sizes[j]}//{sizes[j + 1]}" for j in range(k, depth - 1)]
        inner += [sizes[-1]] * (k < depth)
        yield f"if {many}:"
        yield f"    yield {', '.join([first, *['1'] * k, many, *inner])}"
        if k < depth:
            more = f"{many}*{sizes[k]}"
            first = more if first == "0" else f"{first} + {more}"
