"""Random tables, each with the layout that it inverts, as text."""

from __future__ import annotations

import random
import re


def written(seed: int) -> str:
    """A table and the layout that it inverts, as text."""
    draw = random.Random(seed)
    parts: list[tuple[str, str, str]] = []  # digit of the axis, its extent, its weight
    axes = "nchw"[: draw.randint(1, 3)]
    for axis in axes:
        blocks = [draw.choice([2, 3, 4]) for _ in range(draw.choice([0, 0, 1, 1, 2]))]
        weight = 1
        for block in blocks:
            digit = f"{axis}/{weight}%{block}" if weight > 1 else f"{axis}%{block}"
            parts.append((digit, str(block), str(weight)))
            weight *= block
        extent = f"ceil({axis.upper()}/{weight})" if weight > 1 else axis.upper()
        parts.append((f"{axis}/{weight}" if weight > 1 else axis, extent, str(weight)))
    draw.shuffle(parts)
    coordinates, slots = [], []
    index: dict[str, list[str]] = {axis: [] for axis in axes}
    for name in "xyzuv":
        if not parts:
            break
        taken = [
            parts.pop() for _ in range(len(parts) if name == "v" else draw.randint(1, 3)) if parts
        ]
        slots.append(f"{name}: {'*'.join(extent for _, extent, _ in taken)}")
        coordinates.append(f"({', '.join(digit for digit, _, _ in taken)})")
        for place, (digit, extent, weight) in enumerate(taken):
            inner = "*".join(each for _, each, _ in taken[place + 1 :])
            read = f"{name}/({inner})" if inner else name
            read = f"{read}%{extent}" if place else read
            index[digit[0]].append(f"{read}*{weight}" if weight != "1" else read)
    decoded = ", ".join(
        f"{axis} = {' + '.join(draw.sample(v, len(v)))}" for axis, v in index.items()
    )
    table = f"table T({', '.join(axes)})[{', '.join(slots)}] = ({decoded})"
    if draw.random() < 0.5:
        table = damaged(draw, table)
    return f"layout L({', '.join(axes)}) = [{', '.join(coordinates)}]\n{table}\n"


def damaged(draw: random.Random, table: str) -> str:
    """The table with one number changed, or two slot coordinates swapped."""
    numbers = [place for place in re.finditer(r"\d", table) if place.group() != "1"]
    head, _, body = table.partition("] = ")
    names = re.findall(r"(\w): ", head)
    if numbers and draw.random() < 0.7:
        place = draw.choice(numbers)
        other = str(int(place.group()) + draw.choice([-1, 1]))
        return table[: place.start()] + other + table[place.end() :]
    one, other = draw.choice(names), draw.choice(names)
    swap = {one: other, other: one}
    return f"{head}] = {re.sub(r'[x-zuv]', lambda m: swap.get(m[0], m[0]), body)}"
