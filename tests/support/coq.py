"""`layoutdsl-check`, built from proofs/coq for tests; they are skipped without OCaml."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

import layoutdsl
from layoutdsl.proof.evidence.manifest import Proofs, proofs_json

SOURCES = Path(layoutdsl.__file__).parent.parent / "proofs" / "coq"
PACKAGES = "ocaml-nox ocaml-findlib libzarith-ocaml-dev"


def checker() -> str:
    """Return the path of the program; `$LAYOUTDSL_CHECK`, or built from the sources of today."""
    given = os.environ.get("LAYOUTDSL_CHECK")
    if given:
        return given
    if shutil.which("ocamlfind") is None or shutil.which("make") is None:
        pytest.skip(f"layoutdsl-check is not built: apt-get install make {PACKAGES}")
    return _built()


@cache
def _built() -> str:
    # A make in the checkout would race with other workers, so each worker builds its own copy.
    folder = Path(mkdtemp(prefix="layoutdsl-check-"))
    for each in (*SOURCES.glob("*.ml"), SOURCES / "Makefile"):
        shutil.copy(each, folder)
    done = subprocess.run(
        ["make", "layoutdsl-check"], cwd=folder, capture_output=True, text=True, check=False
    )
    if "zarith" in done.stderr and done.returncode:
        pytest.skip(f"layoutdsl-check is not built: apt-get install {PACKAGES}")
    assert done.returncode == 0, done.stdout + done.stderr
    return str(folder / "layoutdsl-check")


def run_checker(words: Sequence[str], text: str = "") -> subprocess.CompletedProcess[str]:
    """Run the program; ``text`` is its standard input."""
    return subprocess.run(
        [checker(), *words], input=text, capture_output=True, text=True, check=False, timeout=600
    )


def verdicts(proofs: Iterable[Proofs]) -> list[str]:
    """Return the program's verdict on each of several claims: `confirmed`, `rejected`, ..."""
    claims = [
        {"claim": str(number), "proofs": proofs_json(each)} for number, each in enumerate(proofs)
    ]
    done = run_checker(["--seconds", "20", "--by-claim", "-"], json.dumps({"claims": claims}))
    *lines, last = done.stdout.splitlines()
    assert last.startswith("end\t"), done
    assert len(lines) == len(claims), done
    return [line.partition("\t")[0] for line in lines]
