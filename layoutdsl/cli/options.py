"""Arguments and options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

TARGET = click.argument("written", metavar="FILE:NAME")
SHAPE = click.option(
    "--shape",
    metavar="2,20,3,4",
    help="The extents in axis order, then open parameters; or N=2,C=20,H=3,W=4. Those that the "
    "layout fixes may be left out.",
)


def choice(name: str, variable: str, help: str) -> Callable[[Command], Command]:  # noqa: A002
    """A flag that chooses one way to do it: the variable is its name, and `plain` without it."""
    return click.option(f"--{name}", variable, flag_value=name, default="plain", help=help)


JSON = choice("json", "form", "Print JSON; the keys are in layoutdsl/cli/README.md.")

COMPILED = click.option(
    "--target",
    "compiled",
    type=click.Choice(["auto", "native", "numpy"]),
    default="auto",
    show_default=True,
    help="native: compiled C, or an error where there is no compiler; numpy; auto: C that was "
    "compiled before, or where a move is so large that it is worth to compile, else numpy.",
)
