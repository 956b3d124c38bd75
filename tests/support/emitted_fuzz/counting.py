"""What there was among the layouts of a campaign, so that none is empty of what it is for."""

from __future__ import annotations

from collections import Counter
from math import prod

from layoutdsl.language.meaning.elements import FillAny

from . import conversions, modules
from .c_functions import printed_c
from .cases import Case, Kind
from .printed import ALL, sheet

_SEEN: set[tuple[Kind, str]] = set()


def count(case: Case, outcome: str, counts: Counter[str]) -> None:
    """Count a case by what is special about it, and its layout when it comes first."""
    first = (case.kind, case.text) not in _SEEN
    _SEEN.add((case.kind, case.text))
    match case.kind:
        case "numpy":
            _of_module(case, outcome, counts, first)
        case "python":
            inverted = "\nholds = " in sheet(case.text)[0]
            counts["inverses printed"] += inverted and first
            counts["inverses run at every slot"] += inverted and _is_small(case)
        case "convert":
            found = conversions.converted(case.text, case.other)
            counts["straight conversions"] += first and not isinstance(found, str)
        case "c":
            _of_c(case, counts, first)


def _of_module(case: Case, outcome: str, counts: Counter[str], first: bool) -> None:
    made = modules.generated(case.text)
    if isinstance(made, str):
        counts[f"no module: {made}"] += first
        return
    module, layout = modules.module_of(case.text), modules.layout_of(case.text)
    shape = modules.own_shape(layout, case.shape)
    large = hasattr(module, "_kind") and module._kind(shape) is object
    large = large or "np.ndindex(*shape)" in made.text
    counts["modules run beyond 64 bits"] += large and outcome == "right"
    if first:
        counts["modules"] += 1
        counts["modules, proved layout"] += made.checked.status == "proved"
        counts["modules, element by element"] += made.fallback is not None
        counts["modules with copies"] += bool(layout.copies)
        counts["modules with a domain"] += bool(layout.domain)
        counts["modules of an element type"] += layout.element is not None
        counts["modules, fill any"] += isinstance(layout.fill, FillAny)


def _of_c(case: Case, counts: Counter[str], first: bool) -> None:
    printed = printed_c(case.text)
    if first and not isinstance(printed, str):
        counts[f"C, {printed.integers}"] += 1
        counts["C with an inverse"] += "_index(" in printed.text


def _is_small(case: Case) -> bool:
    meant = modules.meaning(case.text, case.shape) if prod(case.shape) <= ALL else None
    return meant is not None and meant.size <= ALL
