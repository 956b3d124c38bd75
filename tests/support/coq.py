"""`layoutdsl-check`, built from proofs/coq for tests; they are skipped without OCaml."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pytest

import layoutdsl
from layoutdsl.proof.evidence.manifest import Proofs, proofs_json

SOURCES = Path(layoutdsl.__file__).parent.parent / "proofs" / "coq"
PACKAGES = "ocaml-nox ocaml-findlib libzarith-ocaml-dev"

# All workers of a run inherit one folder (conftest). A test may change the variable for itself.
_SHARED = Path(os.environ.get("LAYOUTDSL_CACHE", "/tmp"))


@cache
def checker() -> str:
    """Return the path of the program: `$LAYOUTDSL_CHECK`, or built from the sources of today."""
    given = os.environ.get("LAYOUTDSL_CHECK")
    if given:
        return given
    if not (SOURCES / "kernel.ml").is_file():
        pytest.skip("this is no checkout with proofs/coq")
    if not has_ocaml():
        pytest.skip(f"layoutdsl-check cannot be built: apt-get install make {PACKAGES}")
    folder = _SHARED / "layoutdsl-check-sources"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for each in (*SOURCES.glob("*.ml"), SOURCES / "Makefile"):
            shutil.copy2(each, folder)  # keeps the times, so that make builds once
        build(folder, "layoutdsl-check")
    return str(folder / "layoutdsl-check")


@cache
def has_ocaml() -> bool:
    """Return whether OCaml is installed with the package that the search needs."""
    if shutil.which("ocamlfind") is None or shutil.which("make") is None:
        return False
    done = subprocess.run(["ocamlfind", "query", "zarith"], capture_output=True, check=False)
    return done.returncode == 0


def build(folder: Path, target: str) -> str:
    """Run make, and return what it prints."""
    done = subprocess.run(["make", target], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_checker(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run the program; ``text`` is its standard input."""
    return subprocess.run(
        [checker(), *words], input=text, capture_output=True, text=True, check=False, timeout=900
    )


def verdicts(proofs: Iterable[Proofs]) -> list[str]:
    """Return the program's verdict on each of several claims: `confirmed`, `rejected`, ..."""
    claims = [
        {"claim": str(number), "proofs": proofs_json(each)} for number, each in enumerate(proofs)
    ]
    done = run_checker("--seconds", "20", "--by-claim", "-", text=json.dumps({"claims": claims}))
    *lines, last = done.stdout.splitlines()
    assert last.startswith("end\t"), done
    assert len(lines) == len(claims), done
    return [line.partition("\t")[0] for line in lines]


def coq_sources() -> Sequence[Path]:
    """Return the files that Coq compiles; skip the test without Coq."""
    if shutil.which("coqc") is None:
        pytest.skip("Coq is not installed: apt-get install coq libcoq-stdlib")
    return sorted(SOURCES.glob("*.v"))
