"""A plan as Python: which regions are moved, and which boxes are padding.

Regions are products of the parts of axes. Padding is taken apart so that each slot is met once: a
gap of the first axis with everything, then a gap of the second with the parts of the first, and on.
"""

from __future__ import annotations

from collections.abc import Sequence

from layoutdsl.code.moves import Dimension, Plan, Split
from layoutdsl.code.numpy.cut_text import ALL, cut_functions, looped, name_of
from layoutdsl.code.numpy.words import Words, indented, is_number, slice_text, tuple_text, wrapped
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Expr


def region_functions(plan: Plan, words: Words) -> list[str]:
    """Return the functions that cut axes, split the buffer, and list regions and padding."""
    if plan.turns:
        return []
    return [
        *cut_functions(plan, words),
        *slots_function(plan, words),
        *(_beyond_function(plan, words) if leaves_slots_beyond(plan) else []),
        *_regions_function(plan, words),
        *(_gaps_function(plan, words) if leaves_gaps(plan) else []),
        *_plan_function(plan),
    ]


def leaves_slots_beyond(plan: Plan) -> bool:
    """Return whether slots lie beyond those that a dimension of the buffer is split into."""
    return any(split.leaves_padding for split in plan.splits)


def leaves_gaps(plan: Plan) -> bool:
    """Return whether the split buffer may have slots that hold no element."""
    return bool(looped(plan)) or any(
        dimension.constant is not None and not is_number(dimension.extent, 1)
        for dimension in plan.dimensions
    )


def _plan_function(plan: Plan) -> list[str]:
    box, gaps = "tuple[int, ...]", leaves_gaps(plan)
    kinds = [box, *(["list[_Slots]"] if gaps else []), "list[_Region]"]
    calls = ["_box(extents)", *(["_gaps(extents)"] if gaps else [])]
    what = "the shape of the buffer"
    returned = ", ".join([*calls, "_regions(extents)"])
    return [
        "",
        "",
        "@lru_cache(maxsize=256)",
        "def _plan(",
        f"    shape: {box},",
        f") -> tuple[{', '.join(kinds)}]:",
        *indented(
            [
                f'"""Return {what}, {"gaps, " if gaps else ""}and regions; they are remembered."""',
                "extents = _extents(shape)",
                f"return {returned}",
            ]
        ),
    ]


def slots_function(plan: Plan, words: Words) -> list[str]:
    """Return the function that splits the buffer; none where it is not split."""
    if not plan.splits_buffer:
        return []
    return [
        "",
        "",
        "def _slots(buffer: _Array, shape: tuple[int, ...]) -> _Array:",
        *indented(
            [
                '"""Return the buffer with one dimension for each digit."""',
                *words.unpacked(_split_needs(plan)),
                *_splitting(plan, words, None),
                "return buffer",
            ]
        ),
    ]


def split_buffer(plan: Plan) -> list[str]:
    """Return the line that splits the buffer; none where it is not split."""
    return ["slots = _slots(buffer, shape)"] if plan.splits_buffer else []


def split_name(plan: Plan) -> str:
    """Return what the split buffer is called."""
    return "slots" if plan.splits_buffer else "buffer"


def _box(plan: Plan) -> list[Expr]:
    return [each.extent for each in plan.layout.coordinates]


def _split_needs(plan: Plan) -> list[Expr]:
    if not plan.splits_buffer:
        return []
    parts = [each for split in plan.splits for each in (split.past, *split.parts)]
    return [plan.layout.start, *_box(plan), *parts]


def _splitting(plan: Plan, words: Words, rest: str | None) -> list[str]:
    """Split dimension by dimension; ``rest`` says what to do with the slots beyond a tuple."""
    extents, lines = _box(plan), list[str]()
    if plan.layout.is_flat:
        start = words.text(plan.layout.start)
        lines.append(f"buffer = buffer[{start}:].reshape{words.tuple(extents)}")
    changed = False
    for split in plan.splits:
        if split.leaves_padding or split.turned:
            if changed:
                lines.append(f"buffer = buffer.reshape{words.tuple(extents)}")
                changed = False
            lines += _kept(split, words, rest)
        extents[split.dimension : split.dimension + 1] = split.parts
        changed = changed or len(split.parts) > 1
    if changed:
        lines.append(f"buffer = buffer.reshape{words.tuple(extents)}")
    return lines


def _kept(split: Split, words: Words, rest: str | None) -> list[str]:
    """Leave out the slots before and beyond a split; ``rest`` says what to do with them."""
    before, past = ":, " * split.dimension, words.text(split.past)
    first = str(split.first) if split.first else ""
    ends = not same(split.past, split.extent)
    outside = [f":{first}"] * bool(first) + [f"{past}:"] * ends
    lines = [f"buffer = buffer[{before}::-1]"] if split.turned else []
    lines += [] if rest is None else [rest.format(f"buffer[{before}{each}]") for each in outside]
    if outside:
        lines.append(f"buffer = buffer[{before}{first}:{past if ends else ''}]")
    return lines


def _regions_function(plan: Plan, words: Words) -> list[str]:
    cut = looped(plan)
    taken, split = list[str](), list[str]()
    for move in plan.moves:
        name = name_of(plan, move)
        taken.append(f"part_{name}[0]" if move in cut else ALL)
        if move in cut:
            split.append(f"*part_{name}[1]")
        elif move.digits:
            split.append(words.text(move.extent))
    put = _places(plan)
    if not split:  # One element: a slice keeps it an array.
        split.append("1")
        put[:1] = [slice_text(one, str(int(one) + 1)) for one in put[:1]]
    body = words.unpacked(m.extent for m in plan.moves if m.digits and m not in cut)
    body.append("regions: list[_Region] = []")
    for depth, move in enumerate(cut):
        name = name_of(plan, move)
        body += indented([f"for part_{name} in _cut_{name}(shape)[0]:"], depth)
    region = [
        f"take = {tuple_text(taken)}",
        f"split = {tuple_text(split)}",
        *_named("put", put),
        "regions.append((take, split, put))",
    ]
    return [
        "",
        "",
        "def _regions(shape: tuple[int, ...]) -> list[_Region]:",
        *indented(
            [
                '"""Return each region: a slice of the tensor, how it splits, and its slots."""',
                *body,
                *indented(region, len(cut)),
                "return regions",
            ]
        ),
    ]


def _places(plan: Plan) -> list[str]:
    """The slots of a region; those of an axis that is cut are the last member of each part."""
    put = [ALL if each.constant is None else str(each.constant) for each in plan.dimensions]
    for move in looped(plan):
        for place, digit in enumerate(move.digits):
            put[digit.dimension] = f"part_{name_of(plan, move)}[2][{place}]"
    return put


def _named(name: str, places: Sequence[str]) -> list[str]:
    if len(places) == 1:
        return [f"{name} = {tuple_text(places)}"]
    return wrapped(f"{name} = (", places, ")")


def _beyond_function(plan: Plan, words: Words) -> list[str]:
    return [
        "",
        "",
        "def _beyond(buffer: _Array, shape: tuple[int, ...]) -> list[_Array]:",
        *indented(
            [
                '"""Return the slots beyond those that a dimension is split into."""',
                *words.unpacked(_split_needs(plan)),
                "padding: list[_Array] = []",
                *_splitting(plan, words, "padding.append({})"),
                "return padding",
            ]
        ),
    ]


def _gaps_function(plan: Plan, words: Words) -> list[str]:
    needs, body, put = list[Expr](), list[str](), [ALL] * len(plan.dimensions)
    for number, dimension in enumerate(plan.dimensions):
        if dimension.constant is not None:
            body += _around_constant(put, number, dimension, words)
            put[number] = str(dimension.constant)
            needs.append(dimension.extent)
    body += _gap_loops(plan, put)
    return [
        "",
        "",
        "def _gaps(shape: tuple[int, ...]) -> list[_Slots]:",
        *indented(
            [
                '"""Return the slots that hold no element, in boxes that do not overlap."""',
                *words.unpacked(needs),
                "gaps: list[_Slots] = []",
                *body,
                "return gaps",
            ]
        ),
    ]


def _gap_loops(plan: Plan, put: list[str]) -> list[str]:
    cut = looped(plan)
    lines = [f"parts_{n}, gaps_{n} = _cut_{n}(shape)" for n in (name_of(plan, m) for m in cut)]
    for depth, move in enumerate(cut):
        name = name_of(plan, move)
        gap = list(put)
        for number, digit in enumerate(move.digits):
            gap[digit.dimension] = f"gap_{name}[{number}]"
            put[digit.dimension] = f"part_{name}[2][{number}]"
        level = [f"for gap_{name} in gaps_{name}:", *indented(_added(gap))]
        if move is not cut[-1]:
            level.append(f"for part_{name} in parts_{name}:")
        lines += indented(level, depth)
    return lines


def _added(places: Sequence[str]) -> list[str]:
    return wrapped("gaps.append((", places, "))" if len(places) > 1 else ",))")


def _around_constant(put: list[str], number: int, dimension: Dimension, words: Words) -> list[str]:
    value = dimension.constant
    assert value is not None
    boxes = [slice_text("0", str(value))] if value else []
    if not is_number(dimension.extent, value + 1):
        boxes.append(slice_text(str(value + 1), words.text(dimension.extent)))
    each = [_added([*put[:number], box, *put[number + 1 :]]) for box in boxes]
    return [line for lines in each for line in lines]
