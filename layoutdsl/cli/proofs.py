"""``check`` and ``prove``: is the text in order, and is what it says true for every shape?"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from layoutdsl.cli.exits import Exit, Failure, usage
from layoutdsl.cli.options import JSON
from layoutdsl.cli.output import Progress, error, faults_json, say, say_json
from layoutdsl.cli.targets import Target, target
from layoutdsl.source import LayoutError

if TYPE_CHECKING:
    from layoutdsl.claims import Claim, Module
    from layoutdsl.cli.verdicts import Verdict
    from layoutdsl.model import Layout


@click.command(short_help="Check that a spec is well formed.")
@click.argument("file", metavar="FILE")
@JSON
def check(file: str, form: str) -> int:
    """Check that a spec is well formed; prove nothing.

    All faults are reported at once, each with its place and a way to mend it.

    \b
      layoutdsl check demo.layout
      layoutdsl check - < demo.layout
    """
    try:
        module = target(file).module
    except LayoutError as failure:
        if form != "json":
            raise
        say_json({**faults_json(failure), "layouts": [], "claims": []})
        return Exit.USAGE
    if form == "json":
        say_json(_module_json(module))
    else:
        say(_well_formed(module))
    return Exit.OK


def _module_json(module: Module) -> dict[str, Any]:
    return {
        "status": "ok",
        "diagnostics": [],
        "layouts": [layout_json(each) for each in module.values()],
        "claims": [claim.text for claim in module.claims],
    }


def layout_json(layout: Layout) -> dict[str, Any]:
    """Return what a layout is, as plain values."""
    from layoutdsl.expr import text
    from layoutdsl.show.declaration import declaration, fill_text

    return {
        "name": layout.name,
        "text": declaration(layout),
        "axes": [{"name": axis.name, "extent": text(axis.extent)} for axis in layout.axes],
        "coordinates": [
            {"value": text(each.value), "extent": text(each.extent)} for each in layout.coordinates
        ],
        "chunk_rank": layout.chunk_rank,
        "fill": fill_text(layout.fill),
        "element": layout.element.name if layout.element else None,
        "offset": text(layout.start),
        "where": [str(condition) for condition in layout.where],
        "domain": [str(condition) for condition in layout.domain],
        "parameters": list(layout.parameters),
    }


def _well_formed(module: Module) -> str:
    from layoutdsl.show.declaration import axes_text, body

    rows = [(layout.name, f"{axes_text(layout)} = {body(layout)}") for layout in module.values()]
    width = max((len(name) for name, _ in rows), default=0)
    lines = [f"{name:<{width}}  {written}" for name, written in rows]
    claims, layouts = len(module.claims), len(rows)
    counts = f"{_count(layouts, 'layout')}, {_count(claims, 'claim')}: well formed"
    return "\n".join([*lines, counts])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


@click.command(short_help="Prove a layout, or a file, for every shape.")
@click.argument("written", metavar="FILE[:NAME]")
@click.option(
    "--where", "range_", metavar="RANGE", help='Only shapes in a range: --where "C <= 64, N == 1".'
)
@click.option("-v", "--verbose", count=True, help="List every property, and every counterexample.")
@JSON
def prove(written: str, range_: str | None, verbose: int, form: str) -> int:
    """Prove a layout, or a file with its claims, for every shape.

    Every layout is checked without asking: extents hold, offsets are in bounds, no two elements
    share one, decoding inverts encoding, padding is exact. A refutation comes with the smallest
    shape found, and a command line that replays it.

    \b
      layoutdsl prove demo.layout
      layoutdsl prove demo.layout:NCHW16c --where "C <= 64"
      layoutdsl prove NCHW16c -v
    """
    chosen = target(written)
    claims = _claims(chosen)
    if range_ is not None:
        if not range_.strip():
            raise Failure(
                Exit.USAGE, "--where is empty", 'write a range: --where "C <= 64, N == 1"'
            )
        from layoutdsl.api import narrowed

        with usage():
            claims = narrowed(claims, range_)
    return _report(chosen, claims, verbose, form)


def _claims(chosen: Target) -> tuple[Claim, ...]:
    from layoutdsl.api import claims_about, claims_of

    if chosen.name is None:
        return claims_of(chosen.module)
    return claims_about(chosen.module, chosen.layout)


def _report(chosen: Target, claims: tuple[Claim, ...], verbose: int, form: str) -> int:
    from layoutdsl.api import Report, checks
    from layoutdsl.cli.verdicts import summary, verdict_of, verdict_text

    progress = Progress()
    verdicts: list[Verdict] = []
    started = perf_counter()
    for checked in checks(claims, progress):
        progress.clear()
        verdicts.append(verdict_of(chosen, checked, perf_counter() - started))
        if form != "json":
            say(verdict_text(verdicts[-1], verbose))
        started = perf_counter()
    report = Report(tuple(each.checked for each in verdicts))
    if not verdicts:
        error(f"note: {chosen.called} says nothing, so there is nothing to prove")
    if form == "json":
        found = [each.as_json() for each in verdicts]
        status = report.status if verdicts else "empty"
        say_json({"status": status, "passed": report.passed, "claims": found})
    elif verdicts:
        say(summary(verdicts))
    return {"proved": Exit.OK, "refuted": Exit.REFUTED, "undecided": Exit.UNDECIDED}[report.status]
