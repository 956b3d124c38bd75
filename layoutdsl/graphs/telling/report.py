"""What a plan comes to, as a few lines for people, and why each transform is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import isnan

from layoutdsl.graphs.checking.check import Checked
from layoutdsl.graphs.proving.theorems import Theorems
from layoutdsl.graphs.running.verify import Verified
from layoutdsl.graphs.telling.figures import Amount, Anchor, Figures, Gap, Left, Written
from layoutdsl.language.texts.values import shortened

SHOWN = 2
"""Transforms that are told without being asked for."""

MOST_FAULTS = 8
"""Sentences about what is wrong or undecided that are told."""

WIDTH = 18
"""Where the second column starts."""


def told(figures: Figures, name: str) -> Iterator[str]:
    """Yield lines that say what a plan comes to; nine at most.

    Args:
        figures: of the plan.
        name: of the model.
    """
    yield row(name, f"{count(figures.nodes, 'node')}{_anchors(figures.anchors)}")
    alone, own = figures.alone, figures.written.transforms
    sizes = f"{size(alone.bytes)} -> {size(own.bytes)} moved"
    words = "(each anchor on its own -> counted in what is written)"
    yield row("transforms", f"{alone.count} -> {own.count}, {sizes}  {words}")
    yield row("minimal", minimal(figures))
    yield from _nodes(figures.written)
    if figures.defaults:
        what = count(figures.defaults, "input")
        words = "with a default, which callers may replace, so that it is not laid beforehand"
        yield row("inputs", f"{what} {words}")
    if figures.quantised:
        yield row("quantised", _quantised(figures.quantised))
    yield from _left(figures.left)
    if figures.gaps:
        yield row("as written", _gaps(figures.gaps))
    if figures.padding.values:
        yield row("padding", _padding(figures))
    if figures.weights.packed:
        weights = figures.weights
        sizes = f"{size(weights.before)} -> {size(weights.after)}"
        yield row("weights", f"{weights.packed} packed, {sizes}")


def proved(theorems: Theorems) -> Iterator[str]:
    """Yield lines that say which rules were used, and what was found of them."""
    words = f"{theorems.used} used, {theorems.everywhere} proved for all shapes"
    if theorems.here:
        words += f", {theorems.here} for these shapes"
    for number, what in (
        (len(theorems.undecided), "undecided"),
        (len(theorems.refuted), "refuted"),
    ):
        words += f", {number} {what}" if number else ""
    yield row("rules", words)
    yield from _faults("refuted", theorems.refuted)
    yield from _faults("undecided", theorems.undecided)


def run(verified: Verified | None) -> Iterator[str]:
    """Yield lines that say what was run, and what came out."""
    if verified is None:
        yield row("verified", "off: nothing was run")
        return
    words = "outputs were not compared"
    if not isnan(verified.outputs):
        mean = " on average" if verified.on_average else ""
        words = f"outputs differ by {verified.outputs:.1g}{mean}, relative"
        words += f" (allowed: {verified.allowed:.1g}"
        if not isnan(verified.sensitivity):
            words += f"; another input: by {verified.sensitivity:.1g}"
        words += ")"
    if verified.way == "nodes":
        worst = f", worst relative error {verified.worst:.1g}" if verified.worst else ""
        alone = f"{count(verified.nodes, 'node')} alone, {verified.exact} bit for bit{worst}"
        words = f"{alone}, with zero, junk and NaN in padding; {words}"
    yield row("not verified" if verified.undecided else "verified", words)
    yield from _faults("because", verified.undecided)
    yield from _faults("wrong", verified.faults)
    yield from _faults("not run", verified.unrun)


def checked(found: Checked, name: str) -> Iterator[str]:
    """Yield lines that say whether a certificate holds."""
    yield row(name, "confirmed" if found.holds else "failed")
    if found.holds:
        what = f"{found.bytes} bytes and {count(found.transforms, 'transform')}"
        near = "a lower bound" if found.bound == found.cost else f"cost {found.cost}"
        least = "" if found.bound == found.cost else f", and {found.bound} is a lower bound"
        yield row("minimal", f"{what} of the plan are {near}{least}; checked without a solver")
        if found.batches:
            one, other = found.batches
            yield row("batch", f"open: it is the same at {one} and {other}; bytes are of {one}")
        yield row("nodes", f"{found.nodes} follow their rules, and are written as these say")
        yield row("weights", f"{found.weights} lie where their layouts say, padding too")
    if found.theorems is not None:
        yield from proved(found.theorems)
    yield from _faults("wrong", found.faults)


def _faults(head: str, sentences: tuple[str, ...]) -> Iterator[str]:
    for each in sentences[:MOST_FAULTS]:
        yield row(head, each)
    if len(sentences) > MOST_FAULTS:
        yield row("", f"and {len(sentences) - MOST_FAULTS} more")


def row(head: str, words: str) -> str:
    """Return a line with its subject in the first column."""
    return f"{head:<{WIDTH}} {words}" if len(head) >= WIDTH else f"{head:<{WIDTH}}{words}"


def count(number: int, word: str) -> str:
    """Return so many of something, in words."""
    return f"1 {word}" if number == 1 else f"{number} {word}s"


def size(number: int) -> str:
    """Return bytes as people read them.

    >>> size(3813376)
    '3.8 MB'
    """
    for limit, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if number >= limit:
            return f"{number / limit:.1f} {unit}"
    return count(number, "byte")


def minimal(figures: Figures) -> str:
    """Return what is proved to be the least, and of which quantity."""
    numbers = count(figures.numbers, "non-zero integer")
    rows = f"certificate of {numbers} over {figures.rows} rows"
    planned, own = figures.planned, figures.written.transforms
    what = f"{planned.bytes} bytes and {count(planned.count, 'transform')}"
    if not figures.proved:
        bound = f"within {figures.beyond:.2g} % of the bound"
        return f"{bound}; {rows}" if own == planned else f"not of the file: the plan is {bound}"
    if figures.minimal:
        if not planned.count:
            return "yes: nothing is moved"
        return f"yes: {what} are a lower bound of bytes + transforms/2; {rows}"
    least = (
        f"{what} are the least that a plan moves, for an engine with each operator in its layout"
    )
    return f"not of the file: {least}; {rows}"


def _nodes(written: Written) -> Iterator[str]:
    """Lines about nodes that run at every inference, and about those in functions."""
    changed = [each for each in written.nodes if each.before or each.after]
    if changed:
        words = [f"{each.operator} {each.before} -> {each.after}" for each in changed]
        yield row("nodes", f"{', '.join(words)}  (in the model -> in what is written)")
    inside = written.in_functions
    if inside.count:
        what = f"{count(inside.count, 'transform')} more, {size(inside.bytes)}"
        yield row("in functions", f"{what}, where the runtime has no kernel in place of a function")


def _quantised(operators: Mapping[str, int]) -> str:
    nodes = count(sum(operators.values()), "quantised node")
    first = list(operators.items())[:4]
    kinds = ", ".join(f"{number} {operator}" for operator, number in first)
    more = f" and {len(operators) - 4} more" if len(operators) > 4 else ""
    verb = "is" if nodes.startswith("1 ") else "are"
    return f"{nodes} {verb} left as written: {kinds}{more}; no layout passes through"


def _anchors(anchors: tuple[Anchor, ...]) -> str:
    shown = sorted(anchors, key=lambda each: -each.nodes)
    words = [f"{each.nodes} of {each.of} {each.operator} in {each.layout}" for each in shown[:3]]
    words += [f"and {len(shown) - 3} more"] if len(shown) > 3 else []
    return "".join(f", {each}" for each in words)


def _left(left: tuple[Left, ...]) -> Iterator[str]:
    largest = sorted(left, key=lambda each: -each.bytes)
    for number, each in enumerate(largest[:SHOWN]):
        yield row("" if number else "left", sentence(each))
    if len(left) > SHOWN:
        rest = sum(each.bytes for each in largest[SHOWN:])
        yield row("", f"and {len(left) - SHOWN} more, {size(rest)}; --explain names them")


def sentence(left: Left) -> str:
    """Return a transform that is left, and why."""
    value = f"`{shortened(left.value)}`"
    if left.kind == "refill":
        return f"{value}: padding filled anew, {size(left.bytes)}; for {left.readers}"
    made = "gives" if left.maker == "the caller" else "makes"
    words = {"input": "input ", "output": "output "}.get(left.kind, "")
    head = f"{words}{value}: {left.source} -> {left.target}, {size(left.bytes)}"
    return f"{head}; {left.maker} {made} it so, {left.readers} takes it otherwise"


def _gaps(gaps: tuple[Gap, ...]) -> str:
    reasons = Counter(gap.operator for gap in gaps)
    first = gaps[0]
    total = Amount(len(gaps), sum(gap.bytes for gap in gaps))
    kinds = ", ".join(f"{number} {operator}" for operator, number in reasons.most_common(4))
    more = "" if len(reasons) <= 4 else f" and {count(len(reasons) - 4, 'operator')} more"
    head = f"{count(total.count, 'node')} without a rule that fits ({kinds}{more})"
    return f"{head}, {size(total.bytes)} moved there; {first.operator}: {first.reason}"


def _padding(figures: Figures) -> str:
    padding = figures.padding
    refills = sum(each.kind == "refill" for each in figures.left)
    told_refills = count(refills, "refill") if refills else "no refill"
    lanes = ", ".join(padding.lanes)
    return (
        f"{count(padding.values, 'value')}, {size(padding.bytes)}; lanes hold {lanes}; "
        f"{told_refills}"
    )
