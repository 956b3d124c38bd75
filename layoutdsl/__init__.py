"""Say how a tensor lies in memory, prove it for every shape, generate the code for it.

>>> import layoutdsl
>>> module = layoutdsl.parse("layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]")
>>> module["NCHW16c"].offset((1, 17, 2, 3), (2, 20, 3, 4))
753

Importing the package imports nothing: each name is fetched when it is first used, so a shell that
asks for help, or a text with a fault in it, waits for neither a solver nor numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from layoutdsl.code.formula import Formula
    from layoutdsl.commands import (
        Amount,
        BankReport,
        Checked,
        Compiled,
        CompilerError,
        Conversion,
        Cost,
        Generated,
        GeneratedC,
        GeneratedRecord,
        Inspected,
        NotAsMeantError,
        OccupiedError,
        Picture,
        Piece,
        Propagation,
        RecordConversion,
        RecordCost,
        RecordModule,
        RefusedError,
        Report,
        Tensor,
        TooLargeError,
        TooLittleError,
        Translation,
        Tuned,
        UnfitError,
        UnfitModelError,
        UnprovedError,
        UnreadableError,
        UnvalidatedError,
        Verified,
        banks,
        check,
        check_model,
        compile,  # noqa: A004  the verb of `re.compile`: text is made ready to run
        convert,
        cost,
        diff,
        differing_copies,
        formula,
        from_notation,
        generate,
        generate_c,
        generate_record,
        identify,
        infer,
        inspect_weights,
        library,
        library_module,
        library_names,
        library_record,
        library_record_names,
        load,
        load_engine,
        notations,
        pack,
        pack_file,
        pack_weights,
        parse,
        pieces_of,
        probe,
        propagate,
        prove,
        show,
        to_notation,
        translate,
        tune,
        unpack,
        unpack_file,
        unpack_weights,
        verify_weights,
    )
    from layoutdsl.language.meaning.claims import Claim, RecordClaim, TableClaim
    from layoutdsl.language.meaning.group import Group
    from layoutdsl.language.meaning.model import Layout
    from layoutdsl.language.meaning.module import Module
    from layoutdsl.language.meaning.operator import Engine
    from layoutdsl.language.meaning.record import Record
    from layoutdsl.language.meaning.rule import Rule
    from layoutdsl.language.meaning.table import Table
    from layoutdsl.language.texts.faults import UnknownNameError
    from layoutdsl.language.texts.source import Diagnostic, LayoutError
    from layoutdsl.view.compare.difference import Difference, Different, Equal, EqualWhere, Unknown
    from layoutdsl.view.compare.infer import Inferred
    from layoutdsl.view.compare.probe import Probe
    from layoutdsl.view.compare.seen import Match, Untold

__version__ = "0.1.0"

__all__ = [
    "Amount",
    "BankReport",
    "Checked",
    "Claim",
    "Compiled",
    "CompilerError",
    "Conversion",
    "Cost",
    "Diagnostic",
    "Difference",
    "Different",
    "Engine",
    "Equal",
    "EqualWhere",
    "Formula",
    "Generated",
    "GeneratedC",
    "GeneratedRecord",
    "Group",
    "Inferred",
    "Inspected",
    "Layout",
    "LayoutError",
    "Match",
    "Module",
    "NotAsMeantError",
    "OccupiedError",
    "Picture",
    "Piece",
    "Probe",
    "Propagation",
    "Record",
    "RecordClaim",
    "RecordConversion",
    "RecordCost",
    "RecordModule",
    "RefusedError",
    "Report",
    "Rule",
    "Table",
    "TableClaim",
    "Tensor",
    "TooLargeError",
    "TooLittleError",
    "Translation",
    "Tuned",
    "UnfitError",
    "UnfitModelError",
    "Unknown",
    "UnknownNameError",
    "UnprovedError",
    "UnreadableError",
    "Untold",
    "UnvalidatedError",
    "Verified",
    "__version__",
    "banks",
    "check",
    "check_model",
    "compile",
    "convert",
    "cost",
    "diff",
    "differing_copies",
    "formula",
    "from_notation",
    "generate",
    "generate_c",
    "generate_record",
    "identify",
    "infer",
    "inspect_weights",
    "library",
    "library_module",
    "library_names",
    "library_record",
    "library_record_names",
    "load",
    "load_engine",
    "notations",
    "pack",
    "pack_file",
    "pack_weights",
    "parse",
    "pieces_of",
    "probe",
    "propagate",
    "prove",
    "show",
    "to_notation",
    "translate",
    "tune",
    "unpack",
    "unpack_file",
    "unpack_weights",
    "verify_weights",
]

_ELSEWHERE = {
    "Claim": "language.meaning.claims",
    "CompilerError": "commands",
    "Diagnostic": "language.texts.source",
    "Difference": "view.compare.difference",
    "Different": "view.compare.difference",
    "Engine": "language.meaning.operator",
    "Equal": "view.compare.difference",
    "EqualWhere": "view.compare.difference",
    "Formula": "code.formula",
    "Group": "language.meaning.group",
    "Inferred": "view.compare.infer",
    "Layout": "language.meaning.model",
    "LayoutError": "language.texts.source",
    "Match": "view.compare.seen",
    "Module": "language.meaning.module",
    "Probe": "view.compare.probe",
    "Record": "language.meaning.record",
    "RecordClaim": "language.meaning.claims",
    "Rule": "language.meaning.rule",
    "Table": "language.meaning.table",
    "TableClaim": "language.meaning.claims",
    "Unknown": "view.compare.difference",
    "UnknownNameError": "language.texts.faults",
    "Untold": "view.compare.seen",
}
"""The module that each name comes from; the others come from `commands`."""


def load_ipython_extension(shell: Any) -> None:
    """Add `%%layout` to a notebook; `%load_ext layoutdsl` calls this."""
    import_module(f"{__name__}.shell.cell").load(shell)


if not TYPE_CHECKING:  # with it, a type checker would believe any name

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, 'commands')}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
