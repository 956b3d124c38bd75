"""`--checker coq`: what the shell says of certificates that `layoutdsl-check` follows."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from cli_shell import Shell, shell
from coq import checker
from test_cli_evidence import certified, rechecked

import layoutdsl
from layoutdsl.commands import confirm
from layoutdsl.language.texts import resources
from layoutdsl.proof.evidence.manifest import Manifest, hash_of, read_manifest
from layoutdsl.proof.kernel.certificate import Certificate
from layoutdsl.proof.kernel.theorem import Have

__all__ = ["certified", "shell"]


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("LAYOUTDSL_CHECK", checker())
    return checker()


def fake(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program that prints something else than the checker."""
    Path("fake").write_text(f"#!/bin/sh\n{script}\n")
    Path("fake").chmod(0o755)
    monkeypatch.setenv("LAYOUTDSL_CHECK", str(Path("fake").absolute()))


@pytest.mark.usefixtures("program")
def test_confirmed(certified: Shell) -> None:
    ended = rechecked(certified, "--checker", "coq")
    assert ended.code == 0
    assert re.fullmatch(
        r"3 confirmed: 4 claims, \d+ questions, checked by layoutdsl-check, 2 layouts from the "
        r"declaration  \(0\.0 s\)\n",
        ended.out,
    )
    found = json.loads(rechecked(certified, "--checker", "coq", "--json").out)
    assert (found["status"], found["checker"]) == ("confirmed", "coq")
    assert found["solvers"] == []
    assert [each["sentences"] for each in found["certificates"]] == [None, 1, 1]


@pytest.mark.usefixtures("program")
def test_statements_are_compared_with_the_source(certified: Shell) -> None:
    Path("my.layout").write_text(Path("my.layout").read_text().replace("[c]", "[c : C + 1]"))
    ended = rechecked(certified, "--checker", "coq")
    assert ended.code == 1
    assert "stale[P101]: prove Other\n" in ended.out


@pytest.mark.usefixtures("program")
def test_a_proof_without_a_step_is_rejected(certified: Shell) -> None:
    place = Path("mine/Blocked.json")
    manifest = read_manifest(place.read_text())
    entry = manifest.entries[0]
    proofs = tuple(
        (theorem, tuple(step for step in proof if not isinstance(step, Have)))
        for theorem, proof in entry.proofs
    )
    text = Manifest(manifest.lemmas, (_with(entry, proofs), *manifest.entries[1:])).text
    place.write_text(text)
    ended = rechecked(certified, "--checker", "coq")
    assert ended.code == 1
    assert re.search(
        r"broken\[P104\]: prove Blocked\n  layoutdsl-check rejects it: theorem \S+: a step of its "
        r"proof does not follow\n",
        ended.out,
    )


def _with(entry, proofs):  # type: ignore[no-untyped-def]
    from dataclasses import replace

    changed = replace(entry, proofs=proofs)
    assert changed.hash == hash_of(proofs)
    return changed


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("true", "layoutdsl-check prints nothing"),
        ("echo CONFIRMED -: 14 lemmas; exit 0", "layoutdsl-check ended early: CONFIRMED -: 14"),
        ("echo confirmed", "layoutdsl-check ended early: confirmed"),
        (r"printf 'fine\t\nend\t0 questions\n'", "layoutdsl-check complains: fine"),
        (r"printf 'confirmed\tsays\nend\t0 questions\n'", "layoutdsl-check complains: confirmed"),
        (r"printf 'end\t0 questions\n'", "layoutdsl-check ended early: end"),
        ("kill -9 $$", "layoutdsl-check prints nothing"),
    ],
)
def test_other_output_confirms_nothing(
    certified: Shell, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    fake(monkeypatch, script)
    ended = rechecked(certified, "--checker", "coq")
    assert ended.code == 3
    assert f"not confirmed[P107]: Blocked\n  {reason}" in ended.out
    assert "confirmed:" not in ended.out.splitlines()[-1].replace("not confirmed", "")


def test_a_program_that_hangs_confirms_nothing(
    certified: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(monkeypatch, "exec sleep 60")
    monkeypatch.setattr("layoutdsl.proof.evidence.coq_checker.WALL", 0.2)
    ended = rechecked(certified, "--checker", "coq")
    assert ended.code == 3
    assert "layoutdsl-check gave no answer for 0.0 seconds, and was stopped" in ended.out


def test_without_the_program(
    certified: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("LAYOUTDSL_CHECK", raising=False)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(resources, "folder", lambda _: tmp_path)
    for words in (["recheck", "my.layout", "--dir", "mine"], ["prove", "my.layout"]):
        ended = certified(*words, "--checker", "coq")
        assert (ended.code, ended.out) == (3, "")
        assert ended.err == (
            "error: the program layoutdsl-check is not installed\n"
            f"  = help: build it: `make -C {tmp_path}/coq`, after "
            "`apt-get install ocaml-nox ocaml-findlib libzarith-ocaml-dev`; "
            "$LAYOUTDSL_CHECK names one that is built elsewhere\n"
        )


def test_a_variable_that_names_no_program(
    certified: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYOUTDSL_CHECK", "my.layout")
    ended = certified("recheck", "my.layout", "--dir", "mine", "--checker", "coq")
    assert ended.code == 3
    assert ended.err == (
        "error: $LAYOUTDSL_CHECK is `my.layout`, which is no program\n"
        "  = help: set it to the path of layoutdsl-check\n"
    )


def test_the_checker_asks_no_solver(certified: Shell) -> None:
    ended = certified(
        "recheck", "my.layout", "--dir", "mine", "--checker", "coq", "--solver", "both"
    )
    assert ended.code == 2
    assert ended.err == (
        "error: --checker coq asks no solver\n  = help: leave out --solver both, or --checker coq\n"
    )


@pytest.mark.usefixtures("program")
def test_prove_and_confirm(certified: Shell) -> None:
    ended = certified("prove", "my.layout", "--checker", "coq")
    assert ended.code == 0
    assert ended.out.endswith("layoutdsl-check confirms 3 of 3 claims with theorems\n")
    found = json.loads(certified("prove", "my.layout", "--checker", "coq", "--json").out)
    assert (found["checker"], found["unconfirmed"]) == ("coq", [])


def test_prove_without_confirmation(certified: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, "echo ouch")
    ended = certified("prove", "my.layout", "--checker", "coq")
    assert ended.code == 3
    assert "not confirmed[P107]: the proofs\n  layoutdsl-check ended early: ouch\n" in ended.out
    assert ended.out.endswith("layoutdsl-check confirms 0 of 3 claims with theorems\n")


def test_annotations_have_no_place_for_it(certified: Shell) -> None:
    ended = certified("prove", "my.layout", "--checker", "coq", "--format", "github")
    assert ended.code == 2
    assert ended.err == (
        "error: --checker does not go with --format github\n  = help: leave one out\n"
    )


# Code.


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize(("name", "count"), [("m.py", 3), ("m.c", 3)])
def test_generated_code_is_confirmed(shell: Shell, name: str, count: int) -> None:
    """The claims of the layout count as one; `pack` and `unpack` are the others."""
    Path("my.layout").write_text("layout Blocked(n, c) = [n, c/4, c%4] of u8\n")
    target = ("--target", "c") if name.endswith(".c") else ()
    ended = shell("generate", "my.layout", "-o", name, *target, "--checker", "coq")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(f"layoutdsl-check confirms {count} of {count} claims with theorems")
    assert Path(name).exists()


def test_code_without_confirmation_is_not_written(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(monkeypatch, "echo ouch")
    ended = shell("generate", "NCHW4c", "-o", "m.py", "--checker", "coq")
    assert ended.code == 3
    assert "not confirmed[P107]: the proofs\n  layoutdsl-check ended early: ouch\n" in ended.err
    assert not Path("m.py").exists()


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("NCHW4c", "--unvalidated"),
            "--unvalidated code has no proofs that --checker could follow",
        ),
        (
            ("Q4_0", "-o", "q"),
            "--checker follows proofs of layouts, and this is the code of a record",
        ),
    ],
)
def test_code_without_proofs_is_not_confirmed(
    shell: Shell, words: tuple[str, ...], message: str
) -> None:
    ended = shell("generate", *words, "--checker", "coq")
    assert ended.code == 2
    assert ended.err.startswith(f"error: {message}")


@pytest.mark.usefixtures("program")
def test_another_theorem_about_code_is_rejected() -> None:
    made = layoutdsl.generate("NCHW4c")
    for name, certificate in made.certificates:
        for at, (theorem, proof) in enumerate(certificate.proved):
            goals = (("<", 0, 0), *theorem.goals[1:])
            wrong = (*certificate.proved[:at], (replace(theorem, goals=goals), proof))
            found = confirm((), [replace(made, certificates=((name, Certificate(wrong)),))])
            assert len(found.problems) == 1, theorem.name


NAMES = [each for each in layoutdsl.library_names() if not layoutdsl.library(each).parameters]


@pytest.mark.slow
@pytest.mark.sampled(25)
@pytest.mark.usefixtures("program")
@pytest.mark.parametrize("name", NAMES)
def test_code_of_the_library_is_confirmed(name: str) -> None:
    found = confirm((), [layoutdsl.generate(name)])
    assert (found.claims, found.problems) == (2, ())
