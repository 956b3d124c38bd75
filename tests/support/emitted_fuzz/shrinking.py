"""What was found, made small: fewer axes and coordinates, smaller numbers, a smaller shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from layoutdsl import LayoutError

from .cases import Case, Ways
from .meaning import Shape
from .trees import smaller_layouts, text_of, tree, without_axis

TRIES = 600


def shrunk(case: Case, fails: Callable[[Case], bool], tries: int = TRIES) -> Case:
    """The smallest case that was found in so many tries of which the same is still wrong."""
    left, tried = tries, {case}
    again = True
    while again:
        again = False
        for each in smaller_cases(case):
            if each in tried:
                continue
            tried.add(each)
            left -= 1
            if left < 0:
                return case
            if fails(each):
                case, again = each, True
                break
    return case


def smaller_cases(case: Case) -> Iterator[Case]:
    """The same with one thing less, what takes away most first."""
    texts = [case.text, *([case.other] if case.other else [])]
    layouts = [tree(text) for text in texts]
    for k in range(len(case.shape)):
        shape = case.shape[:k] + case.shape[k + 1 :]
        yield _with(case, [text_of(without_axis(each, k)) for each in layouts], shape)
    for shape in smaller_shapes(case.shape):
        yield replace(case, shape=shape)
    yield from (replace(case, ways=ways) for ways in simpler_ways(case.ways))
    for place, layout in enumerate(layouts):
        for each in smaller_layouts(layout):
            try:
                yield _with(case, [*texts[:place], text_of(each), *texts[place + 1 :]], case.shape)
            except LayoutError:
                continue


def _with(case: Case, texts: list[str], shape: Shape) -> Case:
    return replace(case, text=texts[0], other=texts[1] if len(texts) > 1 else "", shape=shape)


def smaller_shapes(shape: Shape) -> Iterator[Shape]:
    for step in (lambda _: 1, lambda e: e // 2, lambda e: e - 1):
        for k, extent in enumerate(shape):
            if 0 < step(extent) < extent:
                yield (*shape[:k], step(extent), *shape[k + 1 :])


def simpler_ways(ways: Ways) -> Iterator[Ways]:
    plain = Ways()
    for name in ("dtype", "source", "target", "fill", "threads"):
        value = getattr(plain, name)
        if getattr(ways, name) != value:
            yield replace(ways, **{name: value})
