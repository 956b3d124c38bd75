"""``identify``: which layouts of the library a layout is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from layoutdsl.shell.exits import Exit
from layoutdsl.shell.options import JSON, quiet
from layoutdsl.shell.output import say, say_json, table, terminal_width
from layoutdsl.shell.progress import Progress
from layoutdsl.shell.targets import SHIELD, target

if TYPE_CHECKING:
    from layoutdsl.commands import Translation
    from layoutdsl.language.meaning.model import Layout
    from layoutdsl.view.compare.infer import Inferred
    from layoutdsl.view.compare.seen import Match, Seen, Untold


@click.command(short_help="Say which layouts of the library a layout is.")
@click.argument("written", metavar="A")
@click.option("--shape", metavar="1,20,3,4", help="A is a function that takes such a tensor.")
@click.option("--dtype", metavar="u1", help="With --shape: type of the elements, as numpy says it.")
@quiet
@JSON
def identify(written: str, shape: str | None, dtype: str | None, form: str) -> int:
    """Say which layouts of the library a layout is equal to, whatever its axes are called.

    Equality is proved, for all shapes, for those of a range, or for the only one.

    With --shape A is a function that packs. IT IS RUN, as by `probe`, which finds its layout; this
    is looked for then, and written in every notation that can say it.

    \b
      layoutdsl identify onednn:aBcd8b
      layoutdsl identify "einops:b h w c -> b c h w"
      layoutdsl identify 'xla:f32[300,400]{1,0:T(8,128)}'
      layoutdsl identify mine.py:pack --shape N=1,C=20,H=3,W=4
    \b
    0  one is equal wherever both are defined
    1  none is: each was shown to differ, for all shapes or outside of a range
    3  none was proved to be, and of some no difference was found either
    """
    name = written.removeprefix(SHIELD)
    called: Inferred | None = None
    if shape is None and dtype is None and ".py:" not in name:
        layout = target(written).layout
    else:
        from layoutdsl.shell.inferring import inferred, say_found

        called = inferred(name, shape, dtype or "u1", "numpy")
        if called.layout is None:
            return say_found(called, name, form)
        layout = called.layout
    found = _seen(layout)
    status = _status(found)
    if form == "json":
        more = {} if called is None else _of_function(called)
        say_json({"layout": layout, "status": status, **_by_outcome(found), **more})
    else:
        say("\n".join([_text(found, name), *(_function_text(called, name) if called else ())]))
    if called is not None and called.doubts:
        return Exit.UNDECIDED
    return {"found": Exit.OK, "undecided": Exit.UNDECIDED}.get(status, Exit.REFUTED)


def _seen(layout: Layout) -> list[Seen]:
    from layoutdsl.commands import look

    progress = Progress()
    found = list(look(layout, progress))
    progress.clear()
    return found


def _written(called: Inferred) -> list[Translation]:
    """Return the layout of a function in every notation that can say it."""
    from layoutdsl.commands import notations, translate

    assert called.layout is not None
    found = [translate(called.layout, each) for each in notations()]
    return [each for each in found if each.text is not None]


def _of_function(called: Inferred) -> dict[str, object]:
    from layoutdsl.shell.encode import plain

    return {"inferred": plain(called), "translations": _written(called)}


def _function_text(called: Inferred, name: str) -> Iterator[str]:
    """Yield the layout of a function in our language, and in others."""
    from layoutdsl.shell.inferring import lines

    yield ""
    yield from lines(called, name)
    for each in _written(called):
        where = f"  where {', '.join(map(str, each.where))}" if each.where else ""
        unproved = "" if each.proved else "  (that this is the same layout was not proved)"
        yield f"{click.style(f'{each.notation:<8}', bold=True)}  {each.text}{where}{unproved}"


def _status(found: Sequence[Seen]) -> str:
    from layoutdsl.view.compare.seen import Apart, Untold

    if any(not isinstance(each, Apart) and each.everywhere for each in found):
        return "found"
    if any(isinstance(each, Untold) for each in found):
        return "undecided"
    return "none" if all(isinstance(each, Apart) for each in found) else "range"


def _by_outcome(found: Sequence[Seen]) -> dict[str, object]:
    from layoutdsl.shell.encode import plain
    from layoutdsl.view.compare.seen import Apart, Match, Untold

    matches = [each for each in found if isinstance(each, Match)]
    return {
        "matches": [{**plain(each), "certificate": each.certificate or None} for each in matches],
        "undecided": [each for each in found if isinstance(each, Untold)],
        "different": [each for each in found if isinstance(each, Apart)],
    }


def _text(found: Sequence[Seen], name: str) -> str:
    """Return which layouts of the library the layout called ``name`` is, and how sure that is."""
    from layoutdsl.view.compare.seen import Apart, Match, Untold

    matches = [each for each in found if isinstance(each, Match)]
    matches.sort(key=lambda each: (not each.everywhere, each.axes is not None))
    untold = [each for each in found if isinstance(each, Untold)]
    rows = [*map(_match, matches), *map(_untold, untold)]
    if rows:
        lines = table(rows, terminal_width() - len(_BELOW))
        return "\n".join([f"`{name}` is", *(f"{_BELOW}{line}" for line in lines)])
    apart = [each for each in found if isinstance(each, Apart)]
    count = f"{len(apart)} layouts of the library"
    some = ", ".join(f"`{each.name}`" for each in apart if not each.complete)
    if not some:
        return f"`{name}` is none of the {count}: each differs from it"
    return (
        f"none found: each of the {count} differs from `{name}`, as far as was tried\n"
        f"  not every number for parameters, or order of axes, was tried of {some}"
    )


_BELOW = "  "


def _untold(untold: Untold) -> tuple[str, str, str]:
    head = click.style("undecided", fg="yellow", bold=True)
    axes = [f"with --axes {untold.axes}"] if untold.axes else []
    return head, f"`{untold.name}`", "; ".join([*axes, untold.reason])


def _match(match: Match) -> tuple[str, str, str]:
    defined = f"where {', '.join(map(str, match.where))}" if match.where else ""
    axes = [f"with --axes {match.axes}"] if match.axes else []
    if match.everywhere:
        head = click.style("equal", fg="green", bold=True)
        return head, f"`{match.name}`", ", ".join([defined or "for all shapes", *axes])
    head = click.style("equal where", fg="yellow", bold=True)
    ranges = "; or where ".join(map(str, match.agreements))
    stated = [f"both are defined {defined}"] if defined else []
    return head, f"`{match.name}`", ", ".join([ranges, *axes, *stated])
