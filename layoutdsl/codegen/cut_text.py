"""How one axis is cut, as Python.

For each axis that is cut or padded, `_cut_c` gives its parts (a slice of the tensor, the shape into
which it splits, slices of the buffer) and its gaps (slices of the buffer that hold no index of the
axis). An axis with several digits has as many parts: what is whole in the most major digit, then
what is whole in the next of the rest, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence

from layoutdsl.bounds import ZERO, simplify
from layoutdsl.codegen.moves import AxisMove, DigitMove, Plan
from layoutdsl.codegen.words import Words, indented, is_number, slice_text, tuple_text
from layoutdsl.expr import Add, CeilDiv, Constant, Expr, Extent, Mul

ALL = "slice(None)"


def name_of(plan: Plan, move: AxisMove) -> str:
    """Return the end of the names for an axis, or for several read as one."""
    names = [plan.layout.axes[axis].name for axis in move.axes]
    return names[0] if len(names) == 1 else f"{plan.moves.index(move)}_{'_'.join(names)}"


def cut_functions(plan: Plan, words: Words) -> list[str]:
    """Return the functions that cut axes."""
    lines: list[str] = []
    for move in plan.moves:
        if move.digits and not move.whole:
            lines += ["", "", *_cut_function(plan, move, words)]
    return lines


def _cut_function(plan: Plan, move: AxisMove, words: Words) -> list[str]:
    body = words.unpacked(_used(move))
    body += [
        "parts: list[_Part] = []",
        "gaps: list[tuple[slice, ...]] = []",
        *_divisions(move, words),
    ]
    for level in range(len(move.digits)):
        body += _part(move, level, words)
    for level in range(len(move.digits)):
        body += _gaps(move, level, words)
    name = name_of(plan, move)
    return [
        f"def _cut_{name}(shape: tuple[int, ...]) -> tuple[list[_Part], list[tuple[slice, ...]]]:",
        *indented(
            [
                f'"""Cut axis {move.name} into its digits: parts that hold elements, and gaps."""',
                *body,
                "return parts, gaps",
            ]
        ),
    ]


def _used(move: AxisMove) -> list[Expr]:
    digits = [each for d in move.digits for each in (d.divisor, d.radix, d.extent)]
    return [move.extent, *(digits[3:] if move.exact else digits), move.digits[0].divisor]


def _count(level: int) -> Expr:
    """The whole steps of a digit that fit into what the digits above leave."""
    return Extent(f"_q{level}")


def _rest(level: int) -> Expr:
    """What a digit leaves to the digits below it."""
    return Extent(f"_l{level}")


def _divisions(move: AxisMove, words: Words) -> list[str]:
    lines: list[str] = []
    left = move.extent
    for level, digit in enumerate(move.digits):
        given = words.text(left)
        if is_number(digit.divisor, 1):
            lines.append(f"_q{level} = {given}")
        else:
            lines.append(f"_q{level}, _l{level} = divmod({given}, {words.text(digit.divisor)})")
        left = _rest(level)
    return lines


def _above(level: int, words: Words) -> list[str]:
    """The digits above, which stand on their last, incomplete step."""
    return [
        slice_text(words.text(_count(k)), words.text(Add(_count(k), Constant(1))))
        for k in range(level)
    ]


def _below(digits: Sequence[DigitMove], words: Words) -> list[str]:
    return [slice_text("0", words.text(d.radix)) if d.leaves_padding else ALL for d in digits]


def _part(move: AxisMove, level: int, words: Words) -> list[str]:
    steps = [simplify(Mul(_count(k), move.digits[k].divisor)) for k in range(level + 1)]
    first: Expr = ZERO
    past: Expr = steps[0]
    for step in steps[1:]:
        first, past = past, Add(past, step)
    taken = slice_text(words.text(first), words.text(past))
    below = move.digits[level + 1 :]
    split = tuple_text(
        ["1"] * level + [words.text(_count(level)), *(words.text(d.radix) for d in below)]
    )
    put = tuple_text(
        [
            *_above(level, words),
            slice_text("0", words.text(_count(level))),
            *_below(below, words),
        ]
    )
    lines = [f"put = {put}", f"parts.append(({taken}, {split}, put))"]
    return [f"if _q{level}:", *indented(lines)]


def _gaps(move: AxisMove, level: int, words: Words) -> list[str]:
    """The gaps that show at one level: beyond the steps in use, and below the whole steps."""
    digit, below = move.digits[level], move.digits[level + 1 :]
    lines: list[str] = []
    for number, lower in enumerate(below):
        if lower.leaves_padding:
            box = [
                *_above(level, words),
                slice_text("0", words.text(_count(level))),
                *_below(below[:number], words),
                slice_text(words.text(lower.radix), words.text(lower.extent)),
                *[ALL] * (len(below) - number - 1),
            ]
            lines += [f"if _q{level}:", *indented([f"gaps.append({tuple_text(box)})"])]
    if level == 0 and move.exact:
        return lines
    before = move.extent if level == 0 else _rest(level - 1)
    last = is_number(digit.divisor, 1)
    used = words.text(_count(level) if last else CeilDiv(before, digit.divisor))
    extent = words.text(digit.extent)
    box = [*_above(level, words), slice_text(used, extent), *[ALL] * len(below)]
    given = [] if level == 0 else [words.text(before)]
    condition = " and ".join([*given, f"{used} < {extent}"])
    return [*lines, f"if {condition}:", *indented([f"gaps.append({tuple_text(box)})"])]
