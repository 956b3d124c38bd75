"""Cells of a notebook in the language: `%load_ext layoutdsl`, then `%%layout` or `%%layout prove`.

What a cell declares is bound to its names, and later cells may use it. A cell that is faulty binds
nothing; what is wrong is shown under it as in a shell, and the run of a notebook ends there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from layoutdsl.commands import claims_of, timed_checks
from layoutdsl.language.elaborate.shelf import parse_beside
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.module import Module
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.table import Table
from layoutdsl.language.texts.source import LayoutError
from layoutdsl.shell.output import error, say
from layoutdsl.shell.verdicts import Verdict, verdict_text

_Kind = TypeVar("_Kind", Layout, Table, Record)

_USE = "write `%%layout`, or `%%layout prove`"


def load(shell: Any) -> None:
    """Add `%%layout` to an `InteractiveShell` of IPython."""

    def layout(line: str, cell: str) -> None:
        """Declare layouts, bind them to their names, and with `prove` say what is found of them."""
        run(shell, line, cell)

    shell.register_magic_function(layout, magic_kind="cell", magic_name="layout")


def run(shell: Any, line: str, cell: str) -> None:
    """Read a cell, bind what it declares, and prove it where its first line says so.

    Raises:
        UsageError: the cell is faulty, or not all that it says is so; IPython shows what it says.
    """
    from IPython.core.error import UsageError

    if line.strip() not in ("", "prove"):
        raise UsageError(f"`{line.strip()[:40]}` is no way to read a cell; {_USE}")
    module = _read(shell, cell)
    found: dict[str, Any] = {**module, **module.tables, **module.records}
    taken = [name for name in found if name in shell.user_ns_hidden]
    if taken:
        raise UsageError(f"`{taken[0]}` is a name of IPython itself; take another")
    shell.push(found)
    warnings = [str(each) for said in module.warnings.values() for each in said]
    if warnings:
        error("\n\n".join(warnings))
    if line.strip() == "prove" and not _proved(module):
        raise UsageError("not all of it is proved")


def _read(shell: Any, cell: str) -> Module:
    from IPython.core.error import UsageError

    before = shell.user_ns
    try:
        return parse_beside(
            cell,
            f"In[{shell.execution_count}]",
            _bound(before, Layout),
            _bound(before, Table),
            _bound(before, Record),
        )
    except LayoutError as faulty:
        raise UsageError(f"the cell is not right\n{faulty}") from None


def _bound(names: Mapping[str, Any], kind: type[_Kind]) -> dict[str, _Kind]:
    """What earlier cells have declared and is still bound to its name."""
    return {
        name: each for name, each in names.items() if isinstance(each, kind) and each.name == name
    }


def _proved(module: Module) -> bool:
    """Say what is found of all that a module declares and claims; return whether it is as said."""
    passed = True
    for checked, seconds in timed_checks(claims_of(module), jobs=1):
        say(verdict_text(Verdict(checked, seconds), 0))
        passed = passed and checked.passed
    return passed
