"""How every generated module finds the way to put one array into another, word for word.

A way changes no result, only how long it takes. Ordinary code, checked and tested as such;
`numpy_text` copies everything below the line of dashes into what it writes.

numpy goes through the target in the order of its strides; its innermost loop, along the smallest,
moves about one item in a cycle, however wide. So what lies alike on both sides becomes one item,
and one dimension may be cut into parts that are moved one after the other: of one index each, which
takes it out of numpy's loops, or of more, so that lines of the cache are still there when the next
round wants them. An estimate in tenths of a nanosecond says which ways are likely to be fast. Its
numbers were fitted to 270 moves, drawn and of the benchmark's list, each measured in all these ways
on one machine: what it likes best takes 1.06 times as long there as the best of them in the mean.
On another, with larger caches, it was 1.08 in the mean and 2.9 at worst. So a move that comes again
goes by the likeliest ways in turn, each twice, and from then on by the fastest of them.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd, prod

from layoutdsl.code.numpy.support import _Cuts, _How, _Loop, _Way

# --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _way(
    shape: tuple[int, ...], targets: tuple[int, ...], sources: tuple[int, ...], width: int
) -> _Way:
    """Return how one array is put into another, and a place for what trials take.

    First how both are seen: an order of the dimensions, outermost first; the shape that is left
    when those that lie alike on both sides become one; and the item that the last becomes where it
    is a run on both sides. What changes nothing is left empty. Then ways to move that, in the order
    of trials: "whole", in "parts" or "staged", by cuts of axes in steps; "plain" is the arrays as
    they are.
    """
    loops: list[_Loop] = []
    order = sorted((shape[k] > 1, -abs(targets[k]), k) for k in range(len(shape)))
    for _, _, k in order:
        count, target, source = shape[k], targets[k], sources[k]
        if count > 1 and loops and loops[-1][1:] == (count * target, count * source):
            loops[-1] = (loops[-1][0] * count, target, source)
        elif count > 1:
            loops.append((count, target, source))
    plain, seen, wide = _cost(loops, width), tuple([each[0] for each in loops]), ""
    if loops and loops[-1][1] == loops[-1][2] == width and loops[-1][0] * width <= 1024:
        width, loops = loops[-1][0] * width, loops[:-1]
        wide = {2: "u2", 4: "u4", 8: "u8", 16: "c16"}.get(width, f"V{width}")
    axes = tuple([k for _, _, k in order])
    turned = axes if axes != tuple(range(len(shape))) else ()
    return turned, seen if seen != shape else (), wide, _trials(loops, width, wide, plain), {}


def _trials(loops: list[_Loop], width: int, wide: str, plain: int) -> tuple[_How, ...]:
    """Return ways to move loops in the order of trials, by what the arrays as they are cost.

    The likeliest comes first. Each is tried twice, as the first calls find memory cold; what takes
    some microseconds goes by the likeliest.
    """
    choices = sorted([each for each in _choices(loops, width) if wide or each[1] != "whole"])[:2]
    ways: list[_How] = [("plain", ()), *[(how, cuts) for _, how, cuts in choices]]
    if choices and 4 * (choices[0][0] + 20_000) <= 3 * plain:
        ways[:2] = ways[1], ways[0]
    return (*ways, *ways) if plain > 300_000 and choices else (ways[0],)


def _choices(loops: list[_Loop], width: int) -> list[tuple[int, str, _Cuts]]:
    """Return ways through loops: what each costs, its name, and its cuts.

    One dimension is cut in some steps, or none is; and the last, or the last two, are gone through
    index by index within each of its parts.
    """
    whole, last = _cost(loops, width), len(loops) - 1
    choices: list[tuple[int, str, _Cuts]] = [(whole, "whole", ())]
    places = [(axis, step) for axis in range(last + 1) for step in (1, 16, 64, 256)]
    cut = [each for each in places if each[1] < loops[each[0]][0] and each != (last, 1)]
    firsts = [(), *[(each,) for each in cut]]
    for lanes in ((), ((last, 1),), ((last, 1), (last - 1, 1)))[: last + 1]:
        for first in firsts:
            cuts = (*first, *lanes)
            parts = prod([-(-loops[axis][0] // step) for axis, step in cuts])
            if cuts and 20_000 * parts < whole:
                cost = 20_000 * parts + _cost(_inside(loops, cuts), width)
                choices.append((cost, "parts", cuts))
    if last > 0 and width <= 8:
        choices.append(_staged(loops, width))
    return choices


def _inside(loops: list[_Loop], cuts: _Cuts) -> list[_Loop]:
    """Return the loops that there are with cuts: those over parts first, then those within."""
    left, outside = list(loops), list[_Loop]()
    for axis, step in cuts:
        count, target, source = left[axis]
        outside.append((-(-count // step), target * step, source * step))
        left[axis] = (step, target, source)
    return [each for each in [*outside, *left] if each[0] > 1]


def _staged(loops: list[_Loop], width: int) -> tuple[int, str, _Cuts]:
    """Return the way by blocks of the last dimension and the one that the source lies along."""
    counts, far = [each[0] for each in loops], [abs(source) for _, _, source in loops[:-1]]
    axis = far.index(min(far))
    blocks = [-(-n // 256) if k in (axis, len(loops) - 1) else n for k, n in enumerate(counts)]
    return 120_000 * prod(blocks) + prod(counts) * (4 + width * 6 // 10), "staged", ((axis, 256),)


def _cost(loops: list[_Loop], width: int) -> int:
    """Return about how long numpy takes for loops, outermost first."""
    *outer, (count, target, source) = loops or [(1, width, width)]
    item, row = 4, 50 if count <= 32 else 110
    if target == source == width:
        item, row = 0, 80 + width * count // 16
    elif width not in (1, 2, 4, 8) and (width != 16 or width not in (target, source)):
        item, row = 30 + width // 20, 20
    cost = prod([each[0] for each in outer]) * (row + item * count)
    near, far = _fetched(loops, width, 640, 4096), _fetched(loops, width, 12_288, 65_536)
    return cost + 5 * near + 20 * far


def _fetched(loops: list[_Loop], width: int, room: int, period: int) -> int:
    """Return how many lines come into a cache that has room for so many.

    What the innermost loops touch stays there for the next round of the loop around them, as far as
    there is room; addresses that are a period apart share theirs. Lines that are met one after the
    other are asked for ahead, and count less: those that are read more so than those that are
    written, which have to go back.
    """
    inside = len(loops)
    while inside and _fits(loops[inside - 1 :], width, room, period):
        inside = inside - 1
    first = max(0, inside - 1)
    near, lines = max(64, 5 * width), 0
    for side, less in ((1, 8), (2, 4)):
        weight = less if loops and abs(loops[-1][side]) <= near else 10
        lines = lines + weight * _touched(loops[first:], side, width)
    return lines * prod([each[0] for each in loops[:first]]) // 10


def _fits(loops: list[_Loop], width: int, room: int, period: int) -> bool:
    """Whether there is room for the lines that loops touch."""
    count, *steps = loops[0]
    apart = max([gcd(step, period) for step in steps])
    lines = _touched(loops, 1, width) + _touched(loops, 2, width)
    return count * apart <= 64 * room and lines <= room


def _touched(loops: list[_Loop], side: int, width: int) -> int:
    """Return how many lines of 64 bytes loops touch on one side."""
    reach, lines = width, 1
    for step, count in sorted((abs(each[side]), each[0]) for each in loops):
        if step <= max(reach, 64):
            reach = reach + step * (count - 1)
        else:
            lines = lines * count
    return lines * (1 + reach // 64)
