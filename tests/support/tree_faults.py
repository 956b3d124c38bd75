"""Trees with one fault each: every single change of one node.

    python -m tests.support.tree_faults --count 20 --seed 7

Truth is the tree carried out in plain integers at shapes around the edges. A tree that is wrong
there and validated all the same is a hole in the proof.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from math import prod
from pathlib import Path
from random import Random

if __package__:
    sys.path.insert(0, str(Path(__file__).parent))

from native_fuzz import Case, cases
from random_digits import Drawn, Shape, shapes
from tree_fuzz import fault, node_of

from layoutdsl.code.loops import tree
from layoutdsl.code.native.classes import special
from layoutdsl.code.validate.loops import validate_tree, validate_tree_conversion
from layoutdsl.code.validate.outcome import NotValidated, Validated
from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    Mul,
    Sub,
    children,
    extents,
    indices,
    substitute,
    walk,
)

ONE = Constant(1)
MOST_SLOTS = 400


def validated(case: Case, node: tree.Node) -> Validated | NotValidated:
    """Whether a tree was shown to do what a case asks for."""
    known = dict(case.known)
    first, last = (special(each.layout, known) for each in (case.layouts[0], case.layouts[-1]))
    if case.verb == "convert":
        return validate_tree_conversion(node, first, last, case.width)
    return validate_tree(node, first, case.verb, case.width)  # type: ignore[arg-type]


def faulty(node: tree.Node) -> Iterator[tree.Node]:
    """The tree with one thing changed, in all ways."""
    yield from _changed(node)
    match node:
        case tree.For(body=body) | tree.Slide(body=body) | tree.Scratch(body=body):
            yield from (replace(node, body=inner) for inner in faulty(body))
        case tree.If(_, then, other):
            yield from (replace(node, then=inner) for inner in faulty(then))
            yield from (replace(node, other=inner) for inner in faulty(other))
        case tree.Seq(parts):
            for number, part in enumerate(parts):
                for inner in faulty(part):
                    yield tree.Seq((*parts[:number], inner, *parts[number + 1 :]))


def _changed(node: tree.Node) -> Iterator[tree.Node]:
    """A node with one thing of its own changed."""
    match node:
        case tree.For(name, count, body):
            yield tree.For(name, ONE, body)
            yield from (replace(node, count=each) for each in numbers(count))
        case tree.Slide(name, extent, step, body):
            yield from (tree.For(name, many, body) for many in (ONE, extent))
            yield tree.For(name, CeilDiv(extent, Constant(step)), body)
            yield from (replace(node, step=each) for each in (step - 1, step + 1, 2 * step))
            yield from (replace(node, extent=each) for each in numbers(extent))
        case tree.If():
            yield from _of_if(node)
        case tree.Seq(parts):
            yield tree.Seq(parts[::-1])
            yield from (tree.Seq((*parts[:n], *parts[n + 1 :])) for n in range(len(parts)))
        case tree.Scratch(_, size, filled, _):
            yield from (replace(node, filled=not filled), replace(node, size=size - 1))
        case tree.Run() | tree.Fill():
            yield from _of_stretch(node)
        case tree.Move():
            yield from _of_move(node)


def _of_if(node: tree.If) -> Iterator[tree.Node]:
    condition, then, other = node.condition, node.then, node.other
    yield from (then, other, replace(node, then=other, other=then))
    yield from (replace(node, then=tree.EMPTY), replace(node, other=tree.EMPTY))
    for side in numbers(condition.left):
        yield replace(node, condition=replace(condition, left=side))
    for side in numbers(condition.right):
        yield replace(node, condition=replace(condition, right=side))


def _of_stretch(node: tree.Run | tree.Fill) -> Iterator[tree.Node]:
    yield tree.EMPTY
    yield from (replace(node, count=each) for each in numbers(node.count))
    yield from (replace(node, target=each) for each in moved(node.target))
    if isinstance(node, tree.Run):
        yield tree.Fill(node.target, node.count)
        yield from (replace(node, source=each) for each in moved(node.source))


def moved(place: tree.Place) -> Iterator[tree.Place]:
    """A place elsewhere: beside, without one of its loops, with other strides."""
    names = sorted(indices(place.offset))
    for name in names:
        yield replace(place, offset=substitute(place.offset, {name: Constant(0)}))
    for one, other in pairwise(names):
        both = {one: Index(other), other: Index(one)}
        yield replace(place, offset=substitute(place.offset, both))
    yield from (replace(place, offset=each) for each in numbers(place.offset))


def numbers(expr: Expr) -> Iterator[Expr]:
    """Another number: one more or less, extents for slots, one extent for another, some factor."""
    yield from (Add(expr, ONE), Sub(expr, ONE))
    for part in dict.fromkeys(walk(expr)):
        match part:
            case CeilDiv(left, right):
                yield _with(expr, part, FloorDiv(left, right))
                yield _with(expr, part, left)
            case Mul(left, right):
                yield _with(expr, part, left)
                yield _with(expr, part, right)
            case Constant(value) if value > 1:
                yield _with(expr, part, Constant(value - 1))
                yield _with(expr, part, Constant(2 * value))
            case tree_part if len(children(tree_part)) == 2:
                yield from (_with(expr, part, each) for each in children(part))
    names = sorted(extents(expr))
    for one, other in pairwise(names):
        yield substitute(expr, {one: Extent(other), other: Extent(one)})


def _with(expr: Expr, part: Expr, other: Expr) -> Expr:
    if expr == part:
        return other
    both = children(expr)
    if len(both) != 2:
        return expr
    return type(expr)(*(_with(each, part, other) for each in both))  # type: ignore[arg-type]


def _of_move(move: tree.Move) -> Iterator[tree.Node]:
    yield tree.EMPTY
    yield replace(move, rows=move.columns, columns=move.rows)
    if move.unit > 1:
        yield replace(move, unit=move.unit // 2)
    yield replace(move, unit=2 * move.unit)
    yield from (replace(move, target=each) for each in moved(move.target))
    yield from (replace(move, source=each) for each in moved(move.source))
    yield from (replace(move, rows=each) for each in _tables(move.rows))
    yield from (replace(move, columns=each) for each in _tables(move.columns))
    yield from (replace(move, edge=each) for each in _edges(move.edge))


def _tables(table: tree.Table) -> Iterator[tree.Table]:
    yield table[::-1]
    for number, step in enumerate(table):
        before, after = table[:number], table[number + 1 :]
        yield (*before, *after)
        for radix in (step.radix - 1, step.radix + 1, 2 * step.radix):
            yield (*before, replace(step, radix=radix), *after)
        for stride in numbers(step.stride):
            yield (*before, replace(step, stride=stride), *after)


def _edges(edge: tree.Edge) -> Iterator[tree.Edge]:
    yield replace(edge, rows_read=edge.read, read=edge.rows_read)
    yield replace(edge, columns_written=edge.written, written=edge.columns_written)
    yield replace(edge, rows_read=edge.columns_written, columns_written=edge.rows_read)
    yield replace(edge, read=edge.written, written=edge.read)
    yield replace(edge, read=edge.columns_written, columns_written=edge.read)
    for name in ("rows_read", "read", "columns_written", "written"):
        value = getattr(edge, name)
        if value is None:
            yield replace(edge, **{name: ONE})
            continue
        yield replace(edge, **{name: None})
        yield from (replace(edge, **{name: each}) for each in numbers(value))


def kinds(
    case: Case, node: tree.Node, changes: Iterable[tree.Node]
) -> Iterator[tuple[str, tree.Node]]:
    """What became of each change: wrong or not, validated or refused."""
    for each in changes:
        if each == node:
            continue
        wrong = any(is_wrong(case, each, shape) for shape in case.shapes)
        shown = isinstance(validated(case, each), Validated)
        yield f"{'wrong' if wrong else 'no difference'}, {'VALID' if shown else 'refused'}", each


def small_shapes(random: Random, case: Case) -> list[Shape]:
    """Shapes around the edges at which a tree is quickly carried out, the small ones first."""
    drawn = tuple(each for each in case.layouts if isinstance(each, Drawn))

    def slots(shape: Shape) -> int:
        return max(prod(each.layout.physical_shape(shape)) for each in drawn)

    found = sorted(shapes(random, drawn, 40), key=slots)
    return [each for each in found if slots(each) <= MOST_SLOTS][-14:]


def is_wrong(case: Case, node: tree.Node, shape: Shape) -> bool:
    """Whether a tree does something else at a shape, or fails."""
    try:
        return fault(case, node, shape) is not None
    except (ZeroDivisionError, KeyError):
        return True


def main() -> int:
    """Change trees of random layouts; the exit code says whether no wrong one was validated."""
    given = argparse.ArgumentParser()
    given.add_argument("--count", type=int, default=10)
    given.add_argument("--seed", type=int, default=0)
    given.add_argument("--most", type=int, default=60, help="changes of one tree")
    args = given.parse_args()
    random, seen = Random(args.seed), Counter[str]()
    for drawn in cases(args.seed, args.count):
        case = replace(drawn, small=None, shapes=tuple(small_shapes(random, drawn)))
        node = node_of(case)
        if node is None or not isinstance(validated(case, node), Validated):
            continue
        changes = list(faulty(node))
        for kind, each in kinds(case, node, random.sample(changes, min(args.most, len(changes)))):
            seen[kind] += 1
            if kind == "wrong, VALID":
                print(case, each, sep="\n  ", flush=True)
    print(dict(seen))
    return 1 if seen["wrong, VALID"] else 0


if __name__ == "__main__":
    sys.exit(main())
