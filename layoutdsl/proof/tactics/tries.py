"""Proofs that are tried again with digits cut finer, where a try says that it needs that."""

from __future__ import annotations

from collections.abc import Callable

from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.tactics.congruence import Wanted

MOST_PLACES = 200
"""Places at which digits are cut; more is not tried."""


def tried(prove: Callable[[Wanted], ProofBuilder]) -> ProofBuilder:
    """Try again with finer digits, for as long as a try that fails asks for finer ones."""
    wanted = Wanted()
    while True:
        count = wanted.count
        try:
            return prove(wanted)
        except NoProof:
            if wanted.count == count or count > MOST_PLACES:
                raise
