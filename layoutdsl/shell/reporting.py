"""Remarks as they are found, said in the form that was asked for: lines at once, a log last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from layoutdsl.language.texts.source import LayoutError
from layoutdsl.shell.exits import Exit, Failure
from layoutdsl.shell.output import error, say, say_json
from layoutdsl.shell.remarks import Remark, of_texts, of_verdict, of_warnings
from layoutdsl.shell.targets import Target

if TYPE_CHECKING:
    from layoutdsl.language.meaning.claims import AnyClaim
    from layoutdsl.shell.verdicts import Verdict

ReportForm: TypeAlias = Literal["sarif", "github"]


class Reporting:
    """Says remarks; a log has to wait until all of them are there."""

    def __init__(self, form: ReportForm, targets: Sequence[Target]) -> None:
        """Begin with what is legal in some texts and hardly meant."""
        self._form = form
        self._remarks: list[Remark] = []
        self._outcomes: dict[str, int] = {}
        for each in of_warnings(targets):
            self._say(each)

    def take(self, verdict: Verdict, written: AnyClaim) -> None:
        """Say what was found of a claim, where it is not what the claim says.

        Args:
            verdict: what was found.
            written: the claim as its text has it.
        """
        outcome = verdict.checked.outcome
        self._outcomes[outcome] = self._outcomes.get(outcome, 0) + 1
        remark = of_verdict(verdict, written)
        if remark is not None:
            self._say(remark)

    def finish(self, code: Exit, words: str) -> None:
        """Say the log, or in a few words how many claims came out how."""
        if self._form == "github":
            say(words)
            return
        _say_log(self._remarks, code, self._outcomes)

    def _say(self, remark: Remark) -> None:
        self._remarks.append(remark)
        if self._form == "github":
            _annotate([remark])


def report_faults(form: ReportForm, failure: LayoutError) -> None:
    """Say the faults of texts, which is all that there is to say of them."""
    _report(form, of_texts(failure), Exit.USAGE)


def report_failure(form: ReportForm, failure: Failure) -> None:
    """Say why there is nothing to say; people are told on the standard error."""
    words = f"{failure.message}\nhelp: {failure.hint}" if failure.hint else failure.message
    if form == "github":
        _annotate([Remark("layoutdsl", "error", words)])
    else:
        _say_log((), failure.code, {}, words)
    error(str(failure))


def _report(form: ReportForm, remarks: Sequence[Remark], code: Exit) -> None:
    if form == "github":
        _annotate(remarks)
    else:
        _say_log(remarks, code, {})


def _annotate(remarks: Iterable[Remark]) -> None:
    from layoutdsl.shell.annotations import annotation

    for each in remarks:
        say(annotation(each))


def _say_log(
    remarks: Sequence[Remark], code: Exit, outcomes: dict[str, int], failure: str | None = None
) -> None:
    from layoutdsl.shell.sarif import log

    say_json(log(remarks, code, outcomes, failure))
