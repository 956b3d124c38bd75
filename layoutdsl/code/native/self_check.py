"""A function that tries the kernels of a library on the machine and by the compiler that it is for.

A kernel neither branches on data nor addresses by it, so what it does is a map of positions: moving
bytes that say where they lie shows all of it. Whole moves are tried with rows and columns apart, in
another order, on both ways past the cache; parts of moves at every count, of what is read and of
what is written. Nests are not tried: they are proved.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cache
from importlib.resources import files

from layoutdsl.code.loops.kernels import LANE, LINE
from layoutdsl.code.native.kernel_text import Call

ARGUMENTS = (
    "uint8_t *d, const uint8_t *s, const int64_t *ro, const int64_t *co,",
    "    const uint8_t *rest, int64_t stream, int64_t b, int64_t c, int64_t n)",
)


def check_text(name: str, calls: Collection[Call]) -> list[str]:
    """Return the function ``int NAME_checked(void)``, and what it needs.

    It stands after the text of the kernels. It returns 0, or the number of the first kernel that
    does not do what it has to, counted from 1 in the order of ``sorted(calls)``.

    Args:
        name: what the name of the function starts with.
        calls: the kernels, and the sizes of moves that they are called for.
    """
    ordered = sorted(calls)
    if not ordered:
        return ["", f"int {name}_checked(void)", "{", "    return 0;", "}"]
    lines = ["", f"enum {{ MOST_ITEMS = {max(map(_items, ordered))},"]
    lines += [f"       MOST_BYTES = {max(map(_bytes, ordered))} }};", _checker()]
    for call in ordered:
        if not call.edged:
            sizes = f"{call.e}, {call.rows}, {call.columns}"
            lines += [f"APART void {_function(call)}({ARGUMENTS[0]}", ARGUMENTS[1], "{"]
            lines += ["    (void)rest, (void)b, (void)c, (void)n;"]
            lines += [f"    {call.kernel}({sizes}, d, s, ro, co, (int)stream);", "}", ""]
    rows = ",\n        ".join(map(_sample, ordered))
    return [
        *lines,
        f"int {name}_checked(void)",
        "{",
        f"    static const sample samples[] = {{\n        {rows}}};",
        f"    for (int k = 0; k < {len(ordered)}; k++)",
        "        if (!is_right(samples + k))",
        "            return k + 1;",
        "    return 0;",
        "}",
    ]


@cache
def _checker() -> str:
    place = files("layoutdsl.code.native").joinpath("self_check.c")
    return place.read_text("utf-8").replace("\r\n", "\n")


def _sample(call: Call) -> str:
    sizes = f"{call.e}, {call.rows}, {call.columns}"
    rows, columns = together(call)
    apart = call.kernel == "grid"
    return f"{{{_function(call)}, {sizes}, {rows}, {columns}, {int(apart)}, {int(call.edged)}}}"


def _function(call: Call) -> str:
    return call.edge if call.edged else replace(call, edged=True).edge.replace("_edge", "_whole")


def together(call: Call) -> tuple[int, int]:
    """Return how many rows a kernel takes to lie together in the source, columns in the target.

    Those of a ``grid`` lie evenly apart instead, by any step.
    """
    n, wide = max(1, LANE // call.e), max(1, LINE // call.e)
    rows, columns = call.rows, call.columns
    match call.kernel:
        case "grid":
            return _least(n, rows), _least(n, columns)
        case "shuffle":
            return rows, columns
        case "zip":
            return 1, _least(n // rows, columns)
        case "weave":
            return 1, _least(wide, columns)
        case "unzip":
            return _least(n // columns, rows), 1
        case "unweave":
            return _least(wide, rows), 1
    return 1, 1


def _least(count: int, items: int) -> int:
    """Groups are whole, or all items are one: what `suits` asks of tables."""
    return count if items % count == 0 else items


def _items(call: Call) -> int:
    return max(call.rows, call.columns)


def _bytes(call: Call) -> int:
    """Room for groups of rows or columns, and for items, that lie apart by less than 128 bytes."""
    rows, columns = together(call)
    groups = max(call.rows // rows, call.columns // columns)
    gaps = groups + (_items(call) if call.kernel == "grid" else 0)
    return call.e * call.rows * call.columns + 128 * (gaps + 1)
