"""`physical_shape` and `offset` as text: which shapes a layout has, and where elements lie."""

from __future__ import annotations

from collections.abc import Sequence

from layoutdsl.code.arrays.names import Names, tuple_text
from layoutdsl.code.validate.arrays.frame import (
    BOTH_SHAPES,
    INTEGERS,
    SHAPE,
    WIDTH,
    conditions,
    function,
    indented,
    shape_tests,
)
from layoutdsl.language.integers.bounds import ZERO, product
from layoutdsl.language.integers.expr import Add, Expr
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import offset_expr


def shape_functions(layout: Layout, names: Names) -> list[str]:
    """Return `physical_shape` and `offset`."""
    box = buffer_extents(layout)
    told = tuple_text([names.text(axis.extent) for axis in layout.element_axes])
    index = [names[axis.name] for axis in layout.element_axes]
    element = tuple_text(index)
    layout = layout.first_copy if layout.copies else layout
    place = offset_expr(layout)
    axes = tuple_text([names.text(axis.extent) for axis in layout.axes])
    lines = [*_held(layout, names), f"return {names.exactly(place)}"]
    return [
        *function(
            "physical_shape",
            SHAPE,
            INTEGERS,
            [
                f'"""Return the shape of the buffer of a tensor {told}, or raise ValueError."""',
                *refusals(layout, names, [f"return {names.tuple(box)}"]),
            ],
        ),
        *function(
            "offset",
            f"index: Sequence[int], {SHAPE}",
            "int",
            [
                f'"""Return the offset of element {element}; ValueError: there is none."""',
                "physical_shape(shape)",
                *names.naming("map(operator.index, shape)", lines),
                *inside(index, axes),
                *lines,
            ],
        ),
    ]


def both_shapes(source: Layout, target: Layout, names: Names) -> list[str]:
    """Return `physical_shapes`, of the buffers of two layouts over the same axes."""
    told = tuple_text([names.text(axis.extent) for axis in target.element_axes])
    boxes = ", ".join(names.tuple(buffer_extents(each)) for each in (source, target))
    return function(
        "physical_shapes",
        SHAPE,
        BOTH_SHAPES,
        [
            f'"""Return the shapes of both buffers of a tensor {told}, or raise ValueError."""',
            *refusals(target, names, [f"return {boxes}"]),
        ],
    )


def inside(index: Sequence[str], extents: str) -> list[str]:
    """Return the lines that refuse what is no index of a shape."""
    lines = []
    if index:
        lines.append(f"{', '.join(index)}{',' * (len(index) == 1)} = map(operator.index, index)")
    return [
        *lines,
        "if not all(0 <= i < extent for i, extent in zip(index, shape, strict=True)):",
        f'    raise ValueError(f"{{index}} is no index of a tensor {extents} of shape {{shape}}")',
    ]


def _held(layout: Layout, names: Names) -> list[str]:
    lines = list[str]()
    for each in layout.domain:
        test = names.condition(each)
        lines += [
            f"if not {test}:",
            f'    raise ValueError(f"{layout.name} holds elements where {test}, not {{index}}")',
        ]
    return lines


def buffer_extents(layout: Layout) -> list[Expr]:
    """Return the shape of the buffer: a box, or flat if slots lie before the first."""
    box: list[Expr] = [each.extent for each in layout.coordinates]
    return box if layout.start == ZERO else [Add(layout.start, product(tuple(box)))]


def refusals(layout: Layout, names: Names, lines: Sequence[str]) -> list[str]:
    """Return the lines that refuse shapes, and then others.

    Args:
        layout: whose shapes are taken.
        names: of its extents.
        lines: what is done with the extents of other shapes.
    """
    told = tuple_text([names.text(axis.extent) for axis in layout.element_axes])
    tests = shape_tests(layout)
    test = " or ".join(tests)
    head = [f"if {test}:"]
    if len(head[0]) > WIDTH - 4:
        head = ["if (", *indented([f"{tests[0]}", *(f"or {each}" for each in tests[1:])]), "):"]
    tested = list[str]()
    for condition in conditions(layout):
        holds = names.condition(condition)
        tested += [
            f"if not {holds}:",
            f'    raise ValueError(f"the layout is defined where {holds}, not at {{shape}}")',
        ]
    return [
        *head,
        f'    raise ValueError(f"the extents are {told}, each at least 1, and not {{shape}}")',
        *names.named("map(operator.index, shape)", [*tested, *lines]),
    ]
