"""The functions that `import layoutdsl` offers: text to layouts, formulas, verdicts and code.

This package imports both the prover and the generator. A name is fetched from its file when it is
first asked for, and heavy packages by the function that needs them, so a text with an error waits
for neither.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from layoutdsl.language.texts.values import DRAWING

if TYPE_CHECKING:
    from layoutdsl.code.compiling import (
        Compiled,
        CompilerError,
        CompileTarget,
        compile,  # noqa: A004  the verb of `re.compile`
        pack,
        unpack,
    )
    from layoutdsl.code.converting import Conversion, convert
    from layoutdsl.code.generating import (
        Generated,
        GeneratedC,
        UnvalidatedError,
        generate,
        generate_c,
    )
    from layoutdsl.code.index_functions import (
        IndexFunctions,
        WidthError,
        index_functions,
        languages,
    )
    from layoutdsl.code.offsets import closed_inverse, cost, formula
    from layoutdsl.code.proved import RefusedError, UnprovedError
    from layoutdsl.code.record import RecordModule
    from layoutdsl.code.record_conversion import RecordConversion
    from layoutdsl.code.records import (
        GeneratedRecord,
        NotAsMeantError,
        RecordTarget,
        generate_record,
    )
    from layoutdsl.code.tuning import Tuned, tune
    from layoutdsl.commands.comparing import diff, probe
    from layoutdsl.commands.copies import Differing, differing_copies
    from layoutdsl.commands.cutting import pieces_of
    from layoutdsl.commands.evidence import (
        confirm,
        left_over,
        lemma_files,
        missing_checker,
        missing_solver,
        recheck,
        record,
        subjects,
        write_files,
    )
    from layoutdsl.commands.files import MEM, pack_file, unpack_file
    from layoutdsl.commands.formatting import check, formatted, marked_text
    from layoutdsl.commands.inferring import axes_of, infer
    from layoutdsl.commands.pictures import Picture, show
    from layoutdsl.commands.planning import plan_file, plan_weights
    from layoutdsl.commands.propagating import Propagation, check_model, propagate
    from layoutdsl.commands.record_files import RecordDone, pack_record_file, unpack_record_file
    from layoutdsl.commands.shards import Planned, PlannedWeights, finish_plan, load_plan, run_share
    from layoutdsl.commands.tensor import Tensor
    from layoutdsl.commands.touching import BankReport, banks
    from layoutdsl.commands.translation import (
        LANGUAGE,
        Translation,
        from_notation,
        identify,
        look,
        notations,
        reading_of,
        to_notation,
        translate,
    )
    from layoutdsl.commands.weights import (
        inspect_weights,
        pack_weights,
        unpack_weights,
        verify_weights,
    )
    from layoutdsl.files.npy import UnreadableError
    from layoutdsl.files.pieces.amount import Amount
    from layoutdsl.files.pieces.cut import Piece, TooLargeError
    from layoutdsl.files.pieces.runs import TooLittleError
    from layoutdsl.files.places import OccupiedError
    from layoutdsl.files.weights.faults import UnfitError
    from layoutdsl.files.weights.looking import Inspected
    from layoutdsl.files.weights.verifying import Verified
    from layoutdsl.graphs.engine_text import engine_called, engine_names, load_engine
    from layoutdsl.graphs.models.onnx_faults import UnfitModelError
    from layoutdsl.language.elaborate.shelf import (
        declared,
        family_of,
        library,
        library_families,
        library_module,
        library_names,
        library_record,
        library_record_names,
        load,
        parse,
        pick,
        pick_record,
        pick_table,
        read,
    )
    from layoutdsl.language.texts.source import LayoutError
    from layoutdsl.proof.claims import claims_about, claims_of, narrowed
    from layoutdsl.proof.padding.cost import Cost
    from layoutdsl.proof.padding.record_cost import RecordCost
    from layoutdsl.proof.prover.verdict import Checked
    from layoutdsl.proof.proving import Report, checks, prove, timed_checks, usual_jobs

__all__ = [
    "LANGUAGE",
    "MEM",
    "Amount",
    "BankReport",
    "Checked",
    "CompileTarget",
    "Compiled",
    "CompilerError",
    "Conversion",
    "Cost",
    "Differing",
    "Generated",
    "GeneratedC",
    "GeneratedRecord",
    "IndexFunctions",
    "Inspected",
    "LayoutError",
    "NotAsMeantError",
    "OccupiedError",
    "Picture",
    "Piece",
    "Planned",
    "PlannedWeights",
    "Propagation",
    "RecordConversion",
    "RecordCost",
    "RecordDone",
    "RecordModule",
    "RecordTarget",
    "RefusedError",
    "Report",
    "Tensor",
    "TooLargeError",
    "TooLittleError",
    "Translation",
    "Tuned",
    "UnfitError",
    "UnfitModelError",
    "UnprovedError",
    "UnreadableError",
    "UnvalidatedError",
    "Verified",
    "WidthError",
    "axes_of",
    "banks",
    "check",
    "check_model",
    "checks",
    "claims_about",
    "claims_of",
    "closed_inverse",
    "compile",
    "confirm",
    "convert",
    "cost",
    "declared",
    "diff",
    "differing_copies",
    "engine_called",
    "engine_names",
    "family_of",
    "finish_plan",
    "formatted",
    "formula",
    "from_notation",
    "generate",
    "generate_c",
    "generate_record",
    "identify",
    "index_functions",
    "infer",
    "inspect_weights",
    "languages",
    "left_over",
    "lemma_files",
    "library",
    "library_families",
    "library_module",
    "library_names",
    "library_record",
    "library_record_names",
    "load",
    "load_engine",
    "load_plan",
    "look",
    "marked_text",
    "missing_checker",
    "missing_solver",
    "narrowed",
    "notations",
    "pack",
    "pack_file",
    "pack_record_file",
    "pack_weights",
    "parse",
    "pick",
    "pick_record",
    "pick_table",
    "pieces_of",
    "plan_file",
    "plan_weights",
    "probe",
    "propagate",
    "prove",
    "read",
    "reading_of",
    "recheck",
    "record",
    "run_share",
    "show",
    "subjects",
    "timed_checks",
    "to_notation",
    "translate",
    "tune",
    "unpack",
    "unpack_file",
    "unpack_record_file",
    "unpack_weights",
    "usual_jobs",
    "verify_weights",
    "write_files",
]

_ELSEWHERE = {
    "commands.touching": "BankReport banks",
    "proof.claims": "claims_about claims_of narrowed",
    "code.compiling": "Compiled CompilerError CompileTarget compile pack unpack",
    "commands.comparing": "diff probe",
    "code.converting": "Conversion convert",
    "commands.cutting": "pieces_of",
    "commands.copies": "Differing differing_copies",
    "commands.inferring": "axes_of infer",
    "graphs.engine_text": "engine_called engine_names load_engine",
    "commands.evidence": (
        "confirm left_over lemma_files missing_checker missing_solver recheck record subjects "
        "write_files"
    ),
    "commands.files": "MEM pack_file unpack_file",
    "commands.formatting": "check formatted marked_text",
    "code.offsets": "closed_inverse cost formula",
    "code.index_functions": "IndexFunctions WidthError index_functions languages",
    "code.generating": "Generated GeneratedC UnvalidatedError generate generate_c",
    "commands.propagating": "Propagation check_model propagate",
    "proof.proving": "Report checks prove timed_checks usual_jobs",
    "code.proved": "RefusedError UnprovedError",
    "code.records": "GeneratedRecord NotAsMeantError RecordTarget generate_record",
    "commands.tensor": "Tensor",
    "commands.pictures": "Picture show",
    "commands.planning": "plan_file plan_weights",
    "commands.record_files": "RecordDone pack_record_file unpack_record_file",
    "commands.shards": "Planned PlannedWeights finish_plan load_plan run_share",
    "commands.translation": "LANGUAGE Translation from_notation identify look notations reading_of "
    "to_notation translate",
    "code.tuning": "Tuned tune",
    "commands.weights": "inspect_weights pack_weights unpack_weights verify_weights",
    "language.elaborate.shelf": "declared family_of library library_families library_module "
    "library_names library_record library_record_names load parse pick pick_record pick_table read",
    "code.record": "RecordModule",
    "code.record_conversion": "RecordConversion",
    "files.npy": "UnreadableError",
    "files.places": "OccupiedError",
    "proof.padding.cost": "Cost",
    "proof.padding.record_cost": "RecordCost",
    "files.pieces.amount": "Amount",
    "files.pieces.cut": "Piece TooLargeError",
    "files.pieces.runs": "TooLittleError",
    "graphs.models.onnx_faults": "UnfitModelError",
    "proof.prover.verdict": "Checked",
    "language.texts.source": "LayoutError",
    "files.weights.faults": "UnfitError",
    "files.weights.looking": "Inspected",
    "files.weights.verifying": "Verified",
}
_FILES = {name: file for file, names in _ELSEWHERE.items() for name in names.split()}
"""The file that each name comes from."""


def _drawn(value: object) -> str:
    """How a notebook shows a value of ours; the packages that define values print nothing."""
    from layoutdsl.commands.notebook import html_of

    return html_of(value)


DRAWING.append(_drawn)

if not TYPE_CHECKING:  # with it, a type checker would believe any name

    def __getattr__(name: str) -> Any:
        if name not in _FILES:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        value = getattr(import_module(f"layoutdsl.{_FILES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
