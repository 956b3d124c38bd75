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
        CompilerError,
        Generated,
        GeneratedC,
        GeneratedRecord,
        OccupiedError,
        Picture,
        Piece,
        Propagation,
        RefusedError,
        Report,
        Tensor,
        TooLargeError,
        Translation,
        Tuned,
        UnprovedError,
        UnvalidatedError,
        banks,
        check,
        compile,  # noqa: A004  the verb of `re.compile`: text is made ready to run
        convert,
        cost,
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
        pack_file,
        pack_weights,
        parse,
        pieces_of,
        propagate,
        prove,
        show,
        to_notation,
        translate,
        tune,
        unpack_file,
        unpack_weights,
        verify_weights,
    )
    from layoutdsl.language.meaning.claims import Claim, RecordClaim, TableClaim
    from layoutdsl.language.meaning.model import Layout
    from layoutdsl.language.meaning.module import Module
    from layoutdsl.language.meaning.record import Record
    from layoutdsl.language.meaning.table import Table
    from layoutdsl.language.texts.source import Diagnostic, LayoutError
    from layoutdsl.view.compare.difference import (
        Difference,
        Different,
        Equal,
        EqualWhere,
        Unknown,
        diff,
    )
    from layoutdsl.view.compare.infer import Inferred
    from layoutdsl.view.compare.probe import Probe, probe
    from layoutdsl.view.compare.seen import Match, Untold

__version__ = "0.1.0"

__all__ = [
    "Amount",
    "BankReport",
    "Claim",
    "CompilerError",
    "Diagnostic",
    "Difference",
    "Different",
    "Equal",
    "EqualWhere",
    "Formula",
    "Generated",
    "GeneratedC",
    "GeneratedRecord",
    "Inferred",
    "Layout",
    "LayoutError",
    "Match",
    "Module",
    "OccupiedError",
    "Picture",
    "Piece",
    "Probe",
    "Propagation",
    "Record",
    "RecordClaim",
    "RefusedError",
    "Report",
    "Table",
    "TableClaim",
    "Tensor",
    "TooLargeError",
    "Translation",
    "Tuned",
    "Unknown",
    "UnprovedError",
    "Untold",
    "UnvalidatedError",
    "__version__",
    "banks",
    "check",
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
    "Equal": "view.compare.difference",
    "EqualWhere": "view.compare.difference",
    "Formula": "code.formula",
    "Layout": "language.meaning.model",
    "LayoutError": "language.texts.source",
    "Inferred": "view.compare.infer",
    "Match": "view.compare.seen",
    "Module": "language.meaning.module",
    "Table": "language.meaning.table",
    "TableClaim": "language.meaning.claims",
    "Probe": "view.compare.probe",
    "Record": "language.meaning.record",
    "RecordClaim": "language.meaning.claims",
    "Unknown": "view.compare.difference",
    "Untold": "view.compare.seen",
    "diff": "view.compare.difference",
    "probe": "view.compare.probe",
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
