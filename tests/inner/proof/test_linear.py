"""Certificates grow with the number of coordinates, and not with its square.

Steps and questions of a proof are counted by following it, which only the kernel can.
"""

from __future__ import annotations

import pytest
from texts import layout

from layoutdsl import Claim
from layoutdsl.language.meaning.claims import Sound
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.certificate import Certificate
from layoutdsl.proof.kernel.checker import check as follow
from layoutdsl.proof.kernel.question import Question
from layoutdsl.proof.prover.check import check
from layoutdsl.proof.prover.verdict import Proved

KINDS = {
    "every axis cut in two": ("{x}/4", "{x}%4"),
    "cut by a parameter": ("{x}/k", "{x}%k"),
    "with a pitch": ("{x} : {X} + 1",),
    "in its order": ("{x}",),
}


def certificate(kind: str, rank: int) -> Certificate:
    axes = [f"x{number}" for number in range(rank)]
    body = [part.format(x=axis, X=axis.upper()) for part in KINDS[kind] for axis in axes]
    parameter = "<k>" if "/k" in KINDS[kind][0] else ""
    made = layout(f"layout L{parameter}({', '.join(axes)}) = [{', '.join(body)}]")
    found = check(Claim("prove", made, Sound(), (), "prove L"))
    assert found.status == "proved"
    first = found.findings[0]
    assert isinstance(first, Proved)
    assert first.certificate is not None
    return first.certificate


def measured(found: Certificate) -> dict[str, int]:
    known = dict(lemmas.stated())
    questions: list[Question] = []
    for theorem, proof in found.proved:
        questions += follow(theorem, proof, known)
        known[theorem.name] = theorem
    return {
        "steps": sum(len(proof) for _, proof in found.proved),  # type: ignore[arg-type]
        "questions": len(questions),
        "bytes of questions": sum(len(each.text) for each in questions),
        "bytes": len(found.text) - len(Certificate(()).text),
    }


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS)
def test_twice_the_rank_is_twice_the_size(kind: str) -> None:
    """From rank 6 to 12, which makes 24 coordinates of axes cut in two: a square would be 4."""
    small, large = (measured(certificate(kind, rank)) for rank in (6, 12))
    for name in small:
        assert large[name] <= 2.2 * small[name], name
