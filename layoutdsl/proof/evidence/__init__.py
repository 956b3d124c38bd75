"""Certificates on disk: written once, kept beside the text that they are about, checked by anyone.

Of each layout there is a manifest, with what was found of its claims and how it was proved, and a
script with every question that a solver has to answer. Nothing in them is believed: see `recheck`.
"""

from layoutdsl.proof.evidence.coq_checker import Confirmed
from layoutdsl.proof.evidence.problem import Kind, Problem, Rechecked
from layoutdsl.proof.evidence.recheck import (
    is_certificate,
    left_over,
    recheck,
    why_not_asked,
    why_not_checked,
)
from layoutdsl.proof.evidence.record import Recorded, confirm, lemma_files, record
from layoutdsl.proof.evidence.subjects import Subject, subjects
from layoutdsl.proof.kernel.solver import NoSolver

__all__ = [
    "Confirmed",
    "Kind",
    "NoSolver",
    "Problem",
    "Rechecked",
    "Recorded",
    "Subject",
    "confirm",
    "is_certificate",
    "left_over",
    "lemma_files",
    "recheck",
    "record",
    "subjects",
    "why_not_asked",
    "why_not_checked",
]
