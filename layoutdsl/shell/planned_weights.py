"""What `plan` does with files of weights, and what becomes of a plan that cannot be written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from layoutdsl.shell.destination import refuse_foreign, refuse_inputs
from layoutdsl.shell.exits import Exit, Failure, reason
from layoutdsl.shell.telling import notes
from layoutdsl.shell.weights import FORMAT, RULES, STRICT, Limits, failing_weights, rules_in

if TYPE_CHECKING:
    from layoutdsl.commands import CompileTarget
    from layoutdsl.shell.options import Command

HINT = "choose another file, or remove this one"


@dataclass(frozen=True, slots=True)
class Made:
    """What is made: the plan, what it makes, and for how many shares."""

    plan: str
    output: str
    shards: int


def by_rules(command: Command) -> Command:
    """Give `plan` the options for files of weights."""
    for option in (FORMAT, STRICT, RULES):
        command = option(command)
    return command


def plan_by_rules(
    source: str,
    rules: str | None,
    unruled: Literal["keep", "refuse"],
    limits: Limits,
    made: Made,
    compiled: CompileTarget,
) -> int:
    """Plan what becomes of a file of weights; returns how many pieces there are."""
    from layoutdsl.commands import MEM, plan_weights

    if rules is None and unruled == "refuse":
        raise Failure(Exit.USAGE, "--strict is for packing by rules", "leave it out")
    module = None if rules is None else rules_in(rules).module
    if source == "-":
        raise Failure(Exit.USAGE, "the standard input cannot be processed in pieces", "name a file")
    for name in (made.output, made.plan):
        refuse_inputs(name, source, rules or "")
    refuse_foreign(Path(made.plan), rules or "", HINT)
    with failing_weights(source, made.output, limits), writing(made.plan), notes():
        return plan_weights(
            "unpack" if module is None else "pack",
            source,
            made.output,
            made.plan,
            module,
            unruled=unruled,
            form=limits.form,
            mem=MEM if limits.mem is None else limits.mem,
            shards=made.shards,
            target=compiled,
        )


@contextmanager
def writing(plan: str) -> Iterator[None]:
    """What goes wrong with the plan itself."""
    try:
        yield
    except OSError as failure:
        if failure.filename != plan:
            raise
        message = f"`{plan}` cannot be written: {reason(failure)}"
        raise Failure(Exit.INPUT, message) from None
