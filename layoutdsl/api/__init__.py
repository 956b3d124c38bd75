"""The verbs, composed: text to layouts, layouts to formulas, verdicts and running code.

The only room that knows both wings, the one that proves and the one that generates. A name is
fetched from its file when it is first asked for, and what is heavy by the verb that needs it: so a
text with a fault in it waits for none of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from layoutdsl.texts.values import DRAWING

if TYPE_CHECKING:
    from layoutdsl.api.claims import claims_about, claims_of, narrowed
    from layoutdsl.api.compiling import (
        Compiled,
        CompilerError,
        CompileTarget,
        compile,  # noqa: A004  the verb of `re.compile`
    )
    from layoutdsl.api.converting import Conversion, convert
    from layoutdsl.api.copies import Differing, differing_copies
    from layoutdsl.api.cutting import pieces_of
    from layoutdsl.api.engines import engine_called, engine_names, load_engine
    from layoutdsl.api.evidence import (
        left_over,
        lemma_files,
        missing_solver,
        recheck,
        record,
        subjects,
        write_files,
    )
    from layoutdsl.api.files import MEM, pack_file, unpack_file
    from layoutdsl.api.formatting import formatted, marked_text
    from layoutdsl.api.formulas import closed_inverse, cost, formula
    from layoutdsl.api.functions import IndexFunctions, WidthError, index_functions, languages
    from layoutdsl.api.generating import (
        Generated,
        GeneratedC,
        UnvalidatedError,
        generate,
        generate_c,
    )
    from layoutdsl.api.inferring import axes_of, infer
    from layoutdsl.api.pictures import Picture, show
    from layoutdsl.api.planning import plan_file, plan_weights
    from layoutdsl.api.proofs import Report, checks, prove, timed_checks, usual_jobs
    from layoutdsl.api.propagating import Propagation, check, propagate
    from layoutdsl.api.proved import RefusedError, UnprovedError
    from layoutdsl.api.record_files import RecordDone, pack_record_file, unpack_record_file
    from layoutdsl.api.records import (
        GeneratedRecord,
        NotAsMeantError,
        RecordTarget,
        generate_record,
    )
    from layoutdsl.api.shards import Planned, PlannedWeights, finish_plan, load_plan, run_share
    from layoutdsl.api.tensor import Tensor
    from layoutdsl.api.touching import BankReport, banks
    from layoutdsl.api.translation import (
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
    from layoutdsl.api.tuning import Tuned, tune
    from layoutdsl.api.weights import (
        inspect_weights,
        pack_weights,
        unpack_weights,
        verify_weights,
    )
    from layoutdsl.elaborate.shelf import (
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
    from layoutdsl.files.places import OccupiedError
    from layoutdsl.pieces.amount import Amount
    from layoutdsl.pieces.cut import Piece, TooLargeError
    from layoutdsl.texts.source import LayoutError

__all__ = [
    "LANGUAGE",
    "MEM",
    "Amount",
    "BankReport",
    "CompileTarget",
    "Compiled",
    "CompilerError",
    "Conversion",
    "Differing",
    "Generated",
    "GeneratedC",
    "GeneratedRecord",
    "IndexFunctions",
    "LayoutError",
    "NotAsMeantError",
    "OccupiedError",
    "Picture",
    "Piece",
    "Planned",
    "PlannedWeights",
    "Propagation",
    "RecordDone",
    "RecordTarget",
    "RefusedError",
    "Report",
    "Tensor",
    "TooLargeError",
    "Translation",
    "Tuned",
    "UnprovedError",
    "UnvalidatedError",
    "WidthError",
    "axes_of",
    "banks",
    "check",
    "checks",
    "claims_about",
    "claims_of",
    "closed_inverse",
    "compile",
    "convert",
    "cost",
    "declared",
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
    "missing_solver",
    "narrowed",
    "notations",
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
    "unpack_file",
    "unpack_record_file",
    "unpack_weights",
    "usual_jobs",
    "verify_weights",
    "write_files",
]

_ELSEWHERE = {
    "api.touching": "BankReport banks",
    "api.claims": "claims_about claims_of narrowed",
    "api.compiling": "Compiled CompilerError CompileTarget compile",
    "api.converting": "Conversion convert",
    "api.cutting": "pieces_of",
    "api.copies": "Differing differing_copies",
    "api.inferring": "axes_of infer",
    "api.engines": "engine_called engine_names load_engine",
    "api.evidence": "left_over lemma_files missing_solver recheck record subjects write_files",
    "api.files": "MEM pack_file unpack_file",
    "api.formatting": "formatted marked_text",
    "api.formulas": "closed_inverse cost formula",
    "api.functions": "IndexFunctions WidthError index_functions languages",
    "api.generating": "Generated GeneratedC UnvalidatedError generate generate_c",
    "api.propagating": "Propagation check propagate",
    "api.proofs": "Report checks prove timed_checks usual_jobs",
    "api.proved": "RefusedError UnprovedError",
    "api.records": "GeneratedRecord NotAsMeantError RecordTarget generate_record",
    "api.tensor": "Tensor",
    "api.pictures": "Picture show",
    "api.planning": "plan_file plan_weights",
    "api.record_files": "RecordDone pack_record_file unpack_record_file",
    "api.shards": "Planned PlannedWeights finish_plan load_plan run_share",
    "api.translation": "LANGUAGE Translation from_notation identify look notations reading_of "
    "to_notation translate",
    "api.tuning": "Tuned tune",
    "api.weights": "inspect_weights pack_weights unpack_weights verify_weights",
    "elaborate.shelf": "declared family_of library library_families library_module library_names "
    "library_record library_record_names load parse pick pick_record pick_table read",
    "pieces.amount": "Amount",
    "files.places": "OccupiedError",
    "pieces.cut": "Piece TooLargeError",
    "texts.source": "LayoutError",
}
_FILES = {name: file for file, names in _ELSEWHERE.items() for name in names.split()}
"""The file that each name comes from."""


def _drawn(value: object) -> str:
    """How a notebook shows a value of ours; the rooms in which values live cannot know."""
    from layoutdsl.api.notebook import html_of

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
