"""Certificates on disk: what is committed stands, and whatever is altered is noticed and named.

Certificates are trusted on their own, so each is altered below the command line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from test_certificate import HARMLESS, altered, removed
from texts import LIBRARY_MODULES

import layoutdsl
from layoutdsl import commands
from layoutdsl.proof.evidence import Kind, Rechecked, Subject, left_over, recheck, record, subjects
from layoutdsl.proof.evidence.manifest import FORMAT, MOST_BYTES, Manifest, read_manifest
from layoutdsl.proof.evidence.questions import asked, script_text
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.checker import Rejected
from layoutdsl.proof.kernel.solver import CVC5, Z3, Solver, program
from layoutdsl.proof.kernel.theorem import Have, Theorem

COMMITTED = Path(layoutdsl.__file__).parent.parent / "proofs"
FAMILIES = tuple((each, each.name.removesuffix(".layout")) for each in LIBRARY_MODULES)
SUBJECTS = tuple(one for each, family in FAMILIES for one in commands.subjects(each, None, family))

SPEC = """\
layout Blocked(c, h) = [c/4, h, c%4]
layout Flat(c, h) = [c, h] where C <= 99, H <= 9
layout Fixed(c: 4, h: 4) = [c, h ^ c%4]
prove Blocked == (c/4*H + h)*4 + c%4
refute Blocked == [c/4, (c%4, h)]
prove Flat fits int16
refute Flat fits int8
refute Blocked aligns c%4 to 16 bytes of f16
"""


def written(folder: Path, text: str = SPEC) -> tuple[Subject, ...]:
    """Prove a text, write its certificates, and return what they are about."""
    module = commands.parse(text)
    report = commands.prove(module)
    assert report.passed
    found = {each.claim.text: each for each in report.checked}
    made = subjects(commands.claims_of(module))
    commands.write_files(folder, commands.lemma_files())
    for each in made:
        commands.write_files(folder, record(each, [found[c.text] for c in each.claims]).files)
    return made


def results(made: tuple[Subject, ...], folder: Path, *solvers: Solver) -> list[Rechecked]:
    return list(recheck(made, folder, solvers or (Z3,), lambda _: None))


def problems(made: tuple[Subject, ...], folder: Path, *solvers: Solver) -> list[tuple[Kind, str]]:
    found = results(made, folder, *solvers)
    return [(each.kind, f"{each.place}: {each.message}") for one in found for each in one.problems]


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[Subject, ...], Path]:
    folder = tmp_path_factory.mktemp("proved")
    return written(folder), folder


@pytest.fixture
def spec(
    proved: tuple[tuple[Subject, ...], Path], tmp_path: Path
) -> tuple[tuple[Subject, ...], Path]:
    """The certificates of `SPEC`, to be tampered with."""
    made, folder = proved
    for each in folder.iterdir():
        (tmp_path / each.name).write_bytes(each.read_bytes())
    return made, tmp_path


# What is committed.


@pytest.mark.skipif(not COMMITTED.is_dir(), reason="this is no checkout")
@pytest.mark.campaign  # CI rechecks the committed certificates by `recheck --solver both`
def test_the_committed_evidence_stands() -> None:
    """Neither stale, missing, broken nor left over: `layoutdsl prove --write` mends it."""
    assert problems(SUBJECTS, COMMITTED) == []
    assert list(left_over(SUBJECTS, COMMITTED)) == []


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("cvc5"), reason="cvc5 is not installed")
@pytest.mark.skipif(not COMMITTED.is_dir(), reason="this is no checkout")
def test_some_of_it_by_both_solvers() -> None:
    """`layoutdsl recheck --solver both` asks all of it."""
    assert problems(SUBJECTS[:3], COMMITTED, Z3, CVC5) == []


@pytest.mark.skipif(not COMMITTED.is_dir(), reason="this is no checkout")
@pytest.mark.slow
def test_the_committed_scripts_by_the_bare_program() -> None:
    """As proofs/README.md says it: no layoutdsl needed, and every line is `unsat`."""
    for each in (*SUBJECTS, Subject("lemmas", ())):
        command = [program(), "-smt2", str(COMMITTED / each.script)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        count = (COMMITTED / each.script).read_text().count("(check-sat)")
        assert (done.stdout, done.stderr) == ("unsat\n" * count, "")


@pytest.mark.skipif(not COMMITTED.is_dir(), reason="this is no checkout")
def test_it_is_small_enough_to_be_read() -> None:
    """A record is as many layouts as it has parts, and each two of them are apart."""
    files = (each for end in ("json", "smt2") for each in COMMITTED.rglob(f"*.{end}"))
    sizes = {each: each.stat().st_size for each in files}
    records = [each for found in LIBRARY_MODULES for each in found.records.values()]
    parts = sum(len(each.parts) for each in records)
    assert sum(sizes.values()) < 45_000 * (len(SUBJECTS) - len(records) + parts)
    of_records = {each for each in sizes if each.stem in {record.name for record in records}}
    largest = {each for each in of_records if each.stem in ("Q5_K_8x4", "Q5_K_8x8")}
    assert max(sizes[each] for each in of_records - largest) < 500_000
    assert max(sizes[each] for each in largest) < 600_000  # ten parts, most of which cut bits
    assert max(sizes[each] for each in sizes.keys() - of_records) < 150_000


def test_file_names_are_told_apart_by_every_file_system() -> None:
    assert len({each.file.lower() for each in SUBJECTS}) == len(SUBJECTS)
    two = subjects(commands.claims_of(commands.parse("layout Ab(c) = [c]\nlayout AB(c) = [c]")))
    assert [each.file for each in two] == ["Ab", "AB-2"]


WRITE = """
import hashlib, sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from test_evidence import written
written(Path(sys.argv[1]), "layout L(c, h) = [(c, h)/4, (c, h)%4]\\nrefute L == [c/4, h, c%4]")
"""


@pytest.mark.slow
def test_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    texts = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        command = [
            sys.executable,
            "-c",
            WRITE,
            str(folder),
            str(Path(__file__).parent),
            str(Path(__file__).parents[2] / "support"),
        ]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": f"UTC{seed}"}
        subprocess.run(command, check=True, env=environment)
        texts.append({each.name: each.read_bytes() for each in sorted(folder.iterdir())})
    assert texts[0] == texts[1]


# What was written is confirmed, and is what it was.


@pytest.mark.slow
def test_what_was_written_is_confirmed(spec: tuple[tuple[Subject, ...], Path]) -> None:
    made, folder = spec
    found = results(made, folder)
    assert [(each.name, each.status, each.problems) for each in found] == [
        ("lemmas", "confirmed", ()),
        ("Blocked", "confirmed", ()),
        ("Flat", "confirmed", ()),
        ("Fixed", "confirmed", ()),
    ]
    assert all(each.questions for each in found[:3])
    assert list(left_over(made, folder)) == []


@pytest.mark.slow
def test_a_manifest_is_read_as_it_was_written(spec: tuple[tuple[Subject, ...], Path]) -> None:
    made, folder = spec
    for each in made:
        text = (folder / each.manifest).read_text()
        assert read_manifest(text).text == text


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("cvc5"), reason="cvc5 is not installed")
def test_two_solvers_confirm(spec: tuple[tuple[Subject, ...], Path]) -> None:
    assert problems(*spec, Z3, CVC5) == []


# The source changed.

CHANGES = [
    ("[c/4, h, c%4]", "[c/4, h, c%4] fill 7", Kind.STALE, "the layout is `layout Blocked(c, h)"),
    ("C <= 99, H", "C <= 98, H", Kind.STALE, "where C <= 98, H <= 9` now, it was `layout Flat"),
    ("== (c/4*H", "== (0 + c/4*H", Kind.MISSING, "says nothing of this claim"),
    ("prove Flat fits int16\n", "", Kind.LEFT_OVER, "prove Flat fits int16"),
    ("layout Flat", "layout Other(c) = [c]\nlayout Flat", Kind.MISSING, "Other.json: there is no"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("before", "after", "kind", "said"), CHANGES)
def test_a_source_that_changed(
    spec: tuple[tuple[Subject, ...], Path], before: str, after: str, kind: Kind, said: str
) -> None:
    _, folder = spec
    assert before in SPEC
    now = subjects(commands.claims_of(commands.parse(SPEC.replace(before, after))))
    found = problems(now, folder)
    assert any(each is kind and said in words for each, words in found), found


def test_a_layout_of_another_text_that_changed(tmp_path: Path) -> None:
    """The claim's own text and layout are as they were; what it is compared with is not."""
    text = "layout A(c) = [c/4, c%4]\nlayout B(c) = [c/4, c%4]\nprove A == B\nrefute A == [c]"
    written(tmp_path, text)
    now = subjects(
        commands.claims_of(
            commands.parse(text.replace("B(c) = [c/4, c%4]", "B(c) = [c/4, c%4 : 5]"))
        )
    )
    found = problems(now[:1], tmp_path)
    assert [kind for kind, _ in found] == [Kind.STALE]
    assert "the theorem `equal` says something else now" in found[0][1]


def test_a_layout_that_is_gone(spec: tuple[tuple[Subject, ...], Path]) -> None:
    made, folder = spec
    assert list(left_over(made[1:], folder)) == ["Blocked.json", "Blocked.smt2"]
    (folder / "mine.json").write_text("{}")
    (folder / "mine.smt2").write_text("(check-sat)")
    assert list(left_over(made, folder)) == []


def test_files_that_are_gone(spec: tuple[tuple[Subject, ...], Path]) -> None:
    made, folder = spec
    for name in ("Blocked.json", "Flat.smt2", "lemmas.json"):
        (folder / name).unlink()
        assert (Kind.MISSING, f"{name}: there is no such file: nothing was proved here") in (
            problems(made, folder)
        )
    assert len(problems(made, folder / "nowhere")) == 4


# The certificate was altered.


def tampered(folder: Path, name: str, change: Callable[[str], str]) -> None:
    text = (folder / name).read_text()
    other = change(text)
    assert other != text
    (folder / name).write_text(other)


SCRIPTS = [
    lambda text: text.replace("(check-sat)\n", "", 1),
    lambda text: text.replace("(assert ", "(assert false)\n(assert ", 1),
    lambda text: text + "(check-sat)\n",
    lambda text: text.replace("(not (<= 0", "(not (<= -1", 1),
    lambda text: text[: len(text) // 2],
    lambda _: "",
    lambda text: text.replace("(push 1)\n", '(push 1)\n(echo "unsat")\n', 1),
    lambda text: text.replace("; prove", "; refute", 1),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("change", SCRIPTS)
@pytest.mark.parametrize("name", ["Blocked.smt2", "lemmas.smt2"])
def test_a_script_that_was_altered(
    spec: tuple[tuple[Subject, ...], Path], name: str, change: Callable[[str], str]
) -> None:
    made, folder = spec
    text = (folder / name).read_text()
    if change(text) == text:
        pytest.skip("nothing of the kind is in this script")
    tampered(folder, name, change)
    words = "it does not hold the questions on which the proofs rest"
    assert problems(made[:1], folder) == [(Kind.BROKEN, f"{name}: {words}")]


def edited(folder: Path, change: Callable[[dict], object], name: str = "Blocked.json") -> None:
    """Change a manifest, its hashes made to fit where that is what was changed."""
    value = json.loads((folder / name).read_text())
    change(value)
    (folder / name).write_text(json.dumps(value))


WRONG = {
    "no claims": lambda m: m.update(claims=[]),
    "a claim less": lambda m: m["claims"].pop(0),
    "a claim twice": lambda m: m["claims"].append(m["claims"][0]),
    "another format": lambda m: m.update(format="layoutdsl certificate 2"),
    "other lemmas": lambda m: m.update(lemmas="0" * 64),
    "another layout": lambda m: m["claims"][0].update(subject="layout Blocked(c) = [c]"),
    "another hash": lambda m: m["claims"][0].update(hash="0" * 64),
    "no hash": lambda m: m["claims"][0].pop("hash"),
    "a number for a hash": lambda m: m["claims"][0].update(hash=1),
    "a list for a claim": lambda m: m["claims"].__setitem__(0, []),
    "null for a proof": lambda m: m["claims"][0].update(proofs=None),
    "a word for a proof": lambda m: m["claims"][0].update(proofs="proved"),
    "no proof": lambda m: m["claims"][0].update(proofs=[]),
    "a step that is none": lambda m: m["claims"][0]["proofs"][1]["proof"].append("(trust me)"),
    "a step that is no text": lambda m: m["claims"][0]["proofs"][1]["proof"].append(7),
    "a theorem less": lambda m: m["claims"][0]["proofs"].pop(),
    "theorems in another order": lambda m: m["claims"][0]["proofs"].reverse(),
    "a proof that is native": lambda m: m["claims"][0]["proofs"][1].update(proof=["(native)"]),
    "a property less": lambda m: m["claims"][0]["findings"].pop(3),
    "a property twice": lambda m: m["claims"][0]["findings"].append(m["claims"][0]["findings"][0]),
    "a property more": lambda m: m["claims"][0]["findings"].append({"property": "nice", "by": []}),
    "a property by nothing": lambda m: m["claims"][0]["findings"][3].update(by=[]),
    "a property by another": lambda m: m["claims"][0]["findings"][3].update(by=["range"]),
    "tried, and it was not": lambda m: m["claims"][0]["findings"][3].update(tried=True),
    "a condition": lambda m: m["claims"][0]["findings"][3].update(where=["C == 1"]),
    "a condition less": lambda m: m["claims"][0]["findings"][8].pop("where"),
    "another shape": lambda m: m["claims"][0].update(shape={"C": 0, "H": 1}),
    "a huge shape": lambda m: m["claims"][0].update(shape={"C": 10**30, "H": 1}),
    "names of no extent": lambda m: m["claims"][0].update(shape={"N": 1}),
    "no shape": lambda m: m["claims"][0].pop("shape"),
    "true for a number": lambda m: m["claims"][0].update(shape={"C": True, "H": 1}),
    "a refutation of what is proved": lambda m: m["claims"][1].update(
        findings=m["claims"][2]["findings"]
    ),
    "a proof of what is refuted": lambda m: m["claims"][2].update(
        findings=[{"property": "equals [c/4, (c%4, h)]", "by": ["equal"]}]
    ),
    "no counterexample": lambda m: m["claims"][2].update(findings=[]),
    "a counterexample elsewhere": lambda m: m["claims"][2]["findings"][0]["shape"].update(H=1),
    "a counterexample without end": lambda m: m["claims"][2]["findings"][0]["shape"].update(
        C=10**9, H=10**9
    ),
    "a counterexample below one": lambda m: m["claims"][2]["findings"][0]["shape"].update(C=-1),
    "other words": lambda m: m["claims"][2]["findings"][0]["points"][0].update(words="-> 7"),
    "an escape sequence": lambda m: m["claims"][0].update(claim="prove \x1b[31mBlocked"),
    "half a character": lambda m: m["claims"][0].update(claim="prove \ud800"),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", WRONG)
def test_a_manifest_that_was_altered(spec: tuple[tuple[Subject, ...], Path], name: str) -> None:
    made, folder = spec
    edited(folder, WRONG[name])
    found = results(made[:1], folder)[1]
    assert found.status == "failed"
    assert {each.kind for each in found.problems} <= {
        Kind.STALE, Kind.MISSING, Kind.LEFT_OVER, Kind.BROKEN,
    }  # fmt: skip
    for each in found.problems:
        assert len(each.message) < 1200
        assert (each.place + each.message).isprintable()


DEEP = 100_000
TEXTS = {
    "nothing": "",
    "half": None,
    "a number": "7",
    "a list": "[]",
    "no object of ours": "{}",
    "deep lists": "[" * DEEP + "]" * DEEP,
    "deep objects": '{"a":' * DEEP + "1" + "}" * DEEP,
    "a long number": '{"format": ' + "9" * 5000 + "}",
    "not a number": f'{{"format": "{FORMAT}", "lemmas": NaN, "claims": []}}',
    "no text": "\udcff",
    "too long": " " * (MOST_BYTES + 1),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["Blocked.json", "lemmas.json"])
@pytest.mark.parametrize("kind", TEXTS)
def test_a_manifest_that_is_none(
    spec: tuple[tuple[Subject, ...], Path], kind: str, name: str
) -> None:
    made, folder = spec
    text = TEXTS[kind]
    if text is None:
        text = (folder / name).read_text()[:3000]
    (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    ((found, words),) = problems(made[:1], folder)
    assert (found, words.partition(":")[0]) == (Kind.BROKEN, name)


TERMS = {
    "a deep term": f"(define w {'(+ 1 ' * 400}1{')' * 400})",
    "a deep list": "(" * DEEP + ")" * DEEP,
    "a long number": f"(define w {'9' * 500})",
    "a long text": f"(define w (+ 1 {' ' * (1 << 18)}1))",
    "an open text": "(define w (+ 1 1)",
    "two texts": "(define w 1) (define v 1)",
    "a name that is a list": "(define (w) 1)",
    "a list that is a name": "(have w (<= 0 0) f)",
    "a part too many": "(define w 1 1)",
    "an empty term": "(define w ())",
    "a bad name": "(define w) 1)",
    "a move that is none": "(calculate w 1 ((turn 1)))",
    "a ring in a rewriting": "(rewrite w hyp.0 ((ring 1)))",
}


@pytest.mark.parametrize("kind", TERMS)
def test_a_step_that_is_none(spec: tuple[tuple[Subject, ...], Path], kind: str) -> None:
    made, folder = spec
    edited(folder, lambda m: m["claims"][0]["proofs"][1]["proof"].insert(0, TERMS[kind]))
    ((found, _),) = problems(made[:1], folder)
    assert found is Kind.BROKEN


def test_terms_that_grow_without_end(spec: tuple[tuple[Subject, ...], Path]) -> None:
    """Each step doubles a term; it would take longer than anyone waits, and is refused."""
    made, folder = spec
    steps = [f"(define w.{n} (+ w.{n - 1} w.{n - 1}))" for n in range(1, 60)]
    moves = " ".join(f"w.{n}" for n in reversed(range(60)))
    steps = ["(define w.0 1)", *steps, f"(calculate v w.59 ({moves}))"]

    def grown(m: dict) -> None:
        entry = m["claims"][0]
        entry["proofs"][1]["proof"][:0] = steps
        entry["hash"] = rehashed(m)

    edited(folder, grown)
    ((found, words),) = problems(made[:1], folder)
    assert found is Kind.BROKEN
    assert "a term is too large to follow" in words


def rehashed(value: dict) -> str:
    from layoutdsl.proof.evidence.manifest import hash_of, read_proofs

    return hash_of(read_proofs(value["claims"][0]))


def test_certificates_that_were_swapped(spec: tuple[tuple[Subject, ...], Path]) -> None:
    made, folder = spec
    one, other = folder / "Blocked.json", folder / "Flat.json"
    texts = one.read_text(), other.read_text()
    one.write_text(texts[1])
    other.write_text(texts[0])
    kinds = {kind for kind, _ in problems(made, folder)}
    assert kinds == {Kind.MISSING, Kind.LEFT_OVER}


def test_entries_that_were_swapped(spec: tuple[tuple[Subject, ...], Path]) -> None:
    """The proof of one claim under the name of another, hashes and script made to fit."""
    made, folder = spec
    manifest = read_manifest((folder / "Blocked.json").read_text())
    sound, equal, *rest = manifest.entries
    swapped = (replace(equal, claim=sound.claim), replace(sound, claim=equal.claim), *rest)
    put(folder, replace(manifest, entries=swapped))
    found = results(made, folder)[1]
    assert {each.kind for each in found.problems} == {Kind.STALE}


def put(folder: Path, manifest: Manifest, name: str = "Blocked") -> None:
    """Write a manifest with the script that fits it."""
    (folder / f"{name}.json").write_text(manifest.text)
    known = lemmas.stated()
    questions = [q for each in manifest.entries for q in asked(each.claim, each.proofs, known)]
    (folder / f"{name}.smt2").write_text(script_text(questions))


def with_proof(manifest: Manifest, number: int, steps: tuple) -> Manifest:
    entry, *rest = manifest.entries
    proofs = list(entry.proofs)
    proofs[number] = (proofs[number][0], steps)
    return replace(manifest, entries=(replace(entry, proofs=tuple(proofs)), *rest))


@pytest.mark.slow
def test_no_step_can_be_left_out(spec: tuple[tuple[Subject, ...], Path]) -> None:
    """Read back from disk, one step less, hash and script made to fit: it is noticed each time."""
    _, folder = spec
    manifest = read_manifest((folder / "Blocked.json").read_text())
    count = 0
    for number, (_, proof) in enumerate(manifest.entries[0].proofs):
        for _, steps in removed(tuple(proof)):
            count += 1
            with pytest.raises(Rejected):
                put(folder, with_proof(manifest, number, steps))
    assert count == sum(len(proof) for _, proof in manifest.entries[0].proofs) > 100


@pytest.mark.slow
def test_altered_steps_are_noticed(spec: tuple[tuple[Subject, ...], Path]) -> None:
    """Read back from disk; but for alterations by which every fact and question stays as it was."""
    made, folder = spec
    manifest = read_manifest((folder / "Blocked.json").read_text())
    noticed = Counter[str]()
    for number, (_, proof) in enumerate(manifest.entries[0].proofs):
        for kind, steps in [*altered(tuple(proof))][::60]:
            (folder / "Blocked.json").write_text(with_proof(manifest, number, steps).text)
            found = results(made[:1], folder)[1]
            assert found.status == "failed" or kind in HARMLESS
            assert {each.kind for each in found.problems} <= {Kind.BROKEN}
            noticed[found.status] += 1
    assert noticed["failed"] > sum(noticed.values()) // 2, noticed


def test_a_hypothesis_that_was_smuggled_in(spec: tuple[tuple[Subject, ...], Path]) -> None:
    """The proof holds, hash and script fit, and the solvers agree; but it is another statement."""
    made, folder = spec
    manifest = read_manifest((folder / "Blocked.json").read_text())
    entry, *rest = manifest.entries
    proofs: list = []
    for theorem, proof in entry.proofs:
        if theorem.name == "encode":
            absurd = replace(theorem, hypotheses=(*theorem.hypotheses, ("<", 0, 0)))
            fact = f"hyp.{len(theorem.hypotheses)}"
            steps = tuple(Have(f"g.{n}", goal, (fact,)) for n, goal in enumerate(theorem.goals))
            proofs.append((absurd, steps))
        elif theorem.name not in ("element", "injective"):
            proofs.append((theorem, proof))
    put(folder, replace(manifest, entries=(replace(entry, proofs=tuple(proofs)), *rest)))
    words = "prove Blocked: the theorem `encode` says something else now: its hypotheses differ"
    assert problems(made[:1], folder) == [(Kind.STALE, words)]


def test_a_theorem_that_was_weakened(spec: tuple[tuple[Subject, ...], Path]) -> None:
    made, folder = spec
    manifest = read_manifest((folder / "Blocked.json").read_text())
    entry, *rest = manifest.entries
    weaker: list[tuple[Theorem, object]] = [
        (
            replace(theorem, goals=theorem.goals[:-1]) if theorem.name == "padding" else theorem,
            proof,
        )
        for theorem, proof in entry.proofs
    ]
    put(folder, replace(manifest, entries=(replace(entry, proofs=tuple(weaker)), *rest)))  # type: ignore[arg-type]
    words = "prove Blocked: the theorem `padding` says something else now: its goals differ"
    assert problems(made[:1], folder) == [(Kind.STALE, words)]


# The solvers.


def fake(folder: Path, name: str, script: str) -> Solver:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return Solver(name, lambda _: [str(path)], 7)


ALWAYS = "grep check-sat | sed 's/.*/{}/'"


@pytest.fixture
def flat(tmp_path: Path) -> tuple[tuple[Subject, ...], Path]:
    return written(tmp_path, "layout Flat(c) = [c]"), tmp_path


def test_a_disagreement_is_red_and_says_which_question(
    flat: tuple[tuple[Subject, ...], Path],
) -> None:
    made, folder = flat
    script = ALWAYS.format("unsat") + " | sed '2s/unsat/sat/'"
    found = [
        each
        for one in results(made, folder, Z3, fake(folder, "other", script))
        for each in one.problems
    ]
    assert {each.kind for each in found} == {Kind.DISAGREEMENT}
    assert [each.message for each in found] == ["z3 says unsat, other says sat"] * 2
    assert found[0].place == "lemma: DIVISION native"
    assert found[1].place.startswith("prove Flat: ")


def test_both_say_sat(flat: tuple[tuple[Subject, ...], Path]) -> None:
    made, folder = flat
    one, other = (fake(folder, name, ALWAYS.format("sat")) for name in ("one", "other"))
    found = results(made, folder, one, other)
    assert {each.status for each in found} == {"failed"}
    assert {each.kind for one in found for each in one.problems} == {Kind.BROKEN}


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 3", "other ended early"),
        ("cat > /dev/null; echo unsat", "other ended early"),
        ("cat > /dev/null; echo hello", "other complains: hello"),
        (ALWAYS.format("unknown"), "other gave up after 7 units of work"),
        (ALWAYS.format("unknown (RESOURCEOUT)"), "other gave up after 7 units of work"),
    ],
)
def test_no_answer_is_no_agreement(
    flat: tuple[tuple[Subject, ...], Path], script: str, reason: str
) -> None:
    made, folder = flat
    found = results(made, folder, Z3, fake(folder, "other", script))
    assert {each.status for each in found} == {"undecided"}
    assert {each.message for one in found for each in one.problems} == {reason}


def test_a_certificate_of_the_library_is_written_as_it_is_committed() -> None:
    if not (COMMITTED / "flat").is_dir():
        pytest.skip("this is no checkout")
    module = next(each for each, family in FAMILIES if family == "flat")
    found = {each.claim.text: each for each in commands.prove(module).checked}
    written = dict(
        file
        for each in commands.subjects(module, None, "flat")
        for file in record(each, [found[c.text] for c in each.claims]).files
    )
    assert {f"flat/{each.name}" for each in (COMMITTED / "flat").iterdir()} == written.keys()
    for name, text in written.items():
        assert (COMMITTED / name).read_text() == text


def test_every_code_is_explained() -> None:
    page = (COMMITTED.parent / "grammar" / "errors.md").read_text()
    for each in Kind:
        assert f"\n## {each.code}: " in page
