"""Operators that an engine prefers to run in some layouts, and those that it has kernels for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from layoutdsl.graphs.placings.placing import Placing, as_written
from layoutdsl.graphs.placings.reading import placed
from layoutdsl.graphs.placings.reshaping import reshaped
from layoutdsl.graphs.roles.bound import Bound, Bundle, condition_values
from layoutdsl.graphs.roles.rejoined import follows
from layoutdsl.graphs.roles.roles import Template, how
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.operator import Engine, Kernel, OperandPattern

Choice: TypeAlias = Literal["first", "any"]
"""Whether a preference asks for the first layout that fits, or for any of those that do."""


@dataclass(frozen=True, slots=True)
class Anchored:
    """What an engine asks of a node.

    Attributes:
        layouts: names of the layouts that are required; one of them.
        templates: a way for each.
        reasons: why others were not taken.
    """

    layouts: tuple[str, ...]
    templates: tuple[Template, ...]
    reasons: tuple[str, ...] = ()


def layouts_of(engine: Engine) -> tuple[Layout, ...]:
    """Return the layouts that kernels and preferences speak of, each once."""
    found: dict[Layout, None] = {}
    for kernel in engine.kernels:
        found |= dict.fromkeys((*kernel.operands.values(), *kernel.results))
    for preference in engine.preferences:
        found |= dict.fromkeys(preference.layouts)
    return tuple(found)


def placings_of(bound: Bound, layouts: Iterable[Layout]) -> Iterator[tuple[Layout, Placing]]:
    """Yield where layouts put the operands and results of a node that they fit."""
    for bundle in (*bound.operands, *bound.results):
        for layout in layouts if bundle is not None else ():
            assert bundle is not None
            if len(layout.axes) == len(bundle.shape):
                placing = placed(layout, bundle.shape)
                if isinstance(placing, Placing):
                    yield layout, placing


def anchored(bound: Bound, engine: Engine, choice: Choice) -> Anchored | None:
    """Return what the preferences for an operator ask of a node; `None` where there are none."""
    wanted = [each for each in engine.preferences if each.operator == bound.node.operator]
    if not wanted:
        return None
    found: list[tuple[str, Template]] = []
    reasons: list[str] = []
    for layout in (layout for each in wanted for layout in each.layouts):
        match _preferred(bound, engine, layout):
            case Template() as template:
                found.append((layout.name, template))
                if choice == "first":
                    break
            case str() as reason:
                reasons.append(reason)
    names = tuple(name for name, _ in found)
    return Anchored(names, tuple(template for _, template in found), tuple(reasons))


def kernels(bound: Bound, engine: Engine) -> tuple[Template, ...] | None:
    """Return the ways of an engine to run a node; `None` where the operator has no kernel.

    A result that a kernel does not speak of is as written, where the rule lets it be.
    """
    own = [each for each in engine.kernels if each.operator == bound.node.operator]
    if not own:
        return None
    found = ((each, by_kernel(bound, each, how(bound))) for each in own)
    return tuple(
        way
        for each, way in found
        if isinstance(way, Template)
        and (len(each.results) >= len(bound.results) or follows(bound, way))
    )


def _preferred(bound: Bound, engine: Engine, layout: Layout) -> Template | str:
    own = [each for each in engine.kernels if each.operator == bound.node.operator]
    named = [each for each in own if layout in (_first(bound, each), *each.results[:1])]
    if not named:
        return by_layout(bound, layout)
    reason = ""
    for each in named:
        found = by_kernel(bound, each, "anchor")
        if isinstance(found, Template):
            return found
        reason = reason or found
    return reason


def _first(bound: Bound, kernel: Kernel) -> Layout | None:
    return kernel.operands.get(bound.rule.operands[0].name)


def by_layout(bound: Bound, layout: Layout) -> Template | str:
    """Return a node with its first operand and all results in a layout, or why it cannot be."""
    name = bound.rule.operands[0].name
    results = tuple(layout for _ in bound.results)
    return _template(bound, {name: layout}, results, "anchor")


def by_kernel(bound: Bound, kernel: Kernel, name: str) -> Template | str:
    """Return a node run by a kernel, or why it cannot be."""
    values = condition_values(bound)
    for each in kernel.where:
        try:
            holds = each.holds(values)
        except (KeyError, ZeroDivisionError):
            holds = False
        if not holds:
            return f"`{kernel.text}` is for nodes where {each}"
    given = {pattern.name for pattern, _ in _named(bound)}
    for missing in set(kernel.operands) - kernel.optional - given:
        return f"`{kernel.text}` has an operand `{missing}`"
    return _template(bound, kernel.operands, kernel.results, name)


def _template(
    bound: Bound, operands: Mapping[str, Layout], results: tuple[Layout, ...], name: str
) -> Template | str:
    layouts = {number: operands.get(pattern.name) for pattern, number in _named(bound)}
    takes: list[Placing | None] = []
    for number in range(len(bound.node.inputs)):
        bundle = bound.operands[number] if number < len(bound.operands) else None
        layout = layouts.get(number)
        if layout is not None and bundle is not None:
            placing = _placed(layout, bundle, bound)
            if isinstance(placing, str):
                return placing
            takes.append(placing)
        else:
            takes.append(None)
    makes: list[Placing | None] = []
    for number, bundle in enumerate(bound.results):
        if bundle is None:
            makes.append(None)
            continue
        made = _placed(results[number], bundle, bound) if number < len(results) else None
        if isinstance(made, str):
            return made
        makes.append(made or as_written(bundle.shape))
    return Template(tuple(takes), tuple(makes), name)


def _named(bound: Bound) -> Iterator[tuple[OperandPattern, int]]:
    """The rule's operands with the numbers of the inputs that they are."""
    patterns = bound.rule.operands
    for number, value in enumerate(bound.node.inputs):
        if value and patterns:
            yield patterns[min(number, len(patterns) - 1)], number


def _placed(layout: Layout, bundle: Bundle, bound: Bound) -> Placing | str:
    """A layout of weights may have an axis of groups more than the weights have."""
    group = condition_values(bound).get("group", 1)
    shape = bundle.shape
    if len(layout.axes) == len(shape) + 1 and shape and shape[0] % group == 0:
        apart = placed(layout, (group, shape[0] // group, *shape[1:]))
        together = apart if isinstance(apart, str) else reshaped(apart, shape)
        return together or f"`{layout.name}` cuts groups of {group}"
    return placed(layout, shape)
