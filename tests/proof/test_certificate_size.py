"""Certificates grow with the number of coordinates, and not with its square."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_shell import Shell, shell

__all__ = ["shell"]

KINDS = {
    "every axis cut in two": ("{x}/4", "{x}%4"),
    "cut by a parameter": ("{x}/k", "{x}%k"),
    "with a pitch": ("{x} : {X} + 1",),
    "in its order": ("{x}",),
}


def measured(shell: Shell, kind: str, rank: int) -> dict[str, int]:
    """Return the counts in the certificate of a layout with `rank` axes, lemmas left out."""
    axes = [f"x{number}" for number in range(rank)]
    body = [part.format(x=axis, X=axis.upper()) for part in KINDS[kind] for axis in axes]
    parameter = "<k>" if "/k" in KINDS[kind][0] else ""
    text = f"layout L{parameter}({', '.join(axes)}) = [{', '.join(body)}]\n"
    Path("drawn.layout").write_text(text)
    assert shell("prove", "drawn.layout:L", "--write", "--into", f"rank{rank}").code == 0
    ended = shell("recheck", "drawn.layout:L", "--dir", f"rank{rank}", "--json")
    assert ended.code == 0, ended.err
    (found,) = [each for each in json.loads(ended.out)["certificates"] if each["name"] == "L"]
    proof, asked = (Path(f"rank{rank}/L.{kind}").read_text() for kind in ("json", "smt2"))
    (claim,) = json.loads(proof)["claims"]
    return {
        "bytes": len(proof),
        "questions": found["questions"],
        "bytes of questions": len(asked),
        "steps": sum(len(each["proof"]) for each in claim["proofs"]),
    }


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS)
def test_twice_the_rank_is_twice_the_size(shell: Shell, kind: str) -> None:
    """From rank 6 to 12, which makes 24 coordinates of axes cut in two: a square would be 4."""
    small, large = (measured(shell, kind, rank) for rank in (6, 12))
    for name in small:
        assert large[name] <= 2.2 * small[name], name
