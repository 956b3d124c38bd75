"""Which layouts an engine's own operators have by name, whatever else is the same memory.

A convolution of one pixel lies as it was written in every layout of its channels; the kernel that
an engine has for it still wants its own dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from layoutdsl.graphs.placings.forms import Form, form_in, form_of, written_form
from layoutdsl.graphs.roles.anchors import by_kernel, by_layout
from layoutdsl.graphs.roles.bound import Bound
from layoutdsl.graphs.roles.roles import Template
from layoutdsl.graphs.variants import Held, Variant
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.operator import Engine


@dataclass(frozen=True, slots=True)
class Named:
    """Layouts of a node's operands and results; `None` for what is taken as it was written."""

    takes: tuple[Layout | None, ...]
    makes: tuple[Layout | None, ...]


def named(bound: Bound, engine: Engine, variant: Variant, anchors: tuple[str, ...]) -> Named | None:
    """Return the layouts by which an engine runs a node; `None` where it asks for none.

    Args:
        bound: the node, by its rule.
        engine: whose kernels and preferences were asked.
        variant: the way that was chosen.
        anchors: names of the layouts of which one is required.
    """
    if variant.how != "anchor":
        return None
    for template, found in _offers(bound, engine, anchors):
        if _is_same(template, variant):
            return found
    return None


def _offers(
    bound: Bound, engine: Engine, anchors: tuple[str, ...]
) -> Iterator[tuple[Template, Named]]:
    """The ways that were asked for, with the layouts that they name."""
    words = [each.name for each in bound.rule.operands]
    numbers = range(len(bound.node.inputs))
    own = [words[min(number, len(words) - 1)] for number in numbers]
    for kernel in engine.kernels:
        if kernel.operator != bound.node.operator:
            continue
        first = kernel.operands.get(words[0])
        if not {each.name for each in (first, *kernel.results[:1]) if each} & set(anchors):
            continue
        found = by_kernel(bound, kernel, "anchor")
        if isinstance(found, Template):
            takes = tuple(kernel.operands.get(word) for word in own)
            more = (None,) * (len(bound.results) - len(kernel.results))
            yield found, Named(takes, (*kernel.results, *more)[: len(bound.results)])
    for preference in engine.preferences:
        for layout in preference.layouts:
            if preference.operator != bound.node.operator or layout.name not in anchors:
                continue
            found = by_layout(bound, layout)
            if isinstance(found, Template):
                takes = (layout, *(None for _ in own[1:]))
                yield found, Named(takes, tuple(layout for _ in bound.results))


def _is_same(template: Template, variant: Variant) -> bool:
    held = (*variant.takes, *variant.makes)
    both = zip(template.placings, held, strict=False)
    return all(one is None or other is None or one == other.placing for one, other in both)


def form_by(layout: Layout | None, held: Held, layouts: tuple[Layout, ...]) -> Form:
    """Return the dimensions of a buffer by the layout that a kernel has for it."""
    if layout is None:
        found = written_form(held.placing)
        return found or form_of(held.placing, layouts)
    return form_in(layout, held.placing) or form_of(held.placing, layouts)
