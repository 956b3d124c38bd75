"""Certificates of tables and of widths: they stand, and whatever is altered in them is noticed.

Certificates are trusted on their own, so each is altered below the command line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from test_certificate import HARMLESS, altered, removed
from test_evidence import FAMILIES, edited, problems, put, results, with_proof, written

from layoutdsl import commands
from layoutdsl.language.meaning.counterexample import Counterexample
from layoutdsl.proof.evidence import Kind, Subject, record, subjects
from layoutdsl.proof.evidence.manifest import Entry, Failed, Manifest, Shown, read_manifest
from layoutdsl.proof.evidence.questions import asked
from layoutdsl.proof.evidence.subjects import written_out
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.checker import Rejected
from layoutdsl.proof.kernel.solver import CVC5, Z3
from layoutdsl.proof.kernel.theorem import Have, Theorem, Use
from layoutdsl.proof.properties.expected import restated
from layoutdsl.proof.statements.sound import INJECTIVE, RANGE, SIZE, UNBOUNDED
from layoutdsl.proof.statements.table_statement import EVERY, ONCE

TABLES = """\
layout L(c, h) = [c/4, (h, c%4)]
layout Narrow(c, h) = [c/4, h, c%4] where H < 9
layout Squared(c: 4, h: 4) = [h, c*c]
table T(c, h)[a: ceil(C/4), y: H, k: 4] = (c = a*4 + k, h = y)
table Lost(c, h)[a: C/4, y: H, k: 4] = (c = a*4 + k, h = y)
table Turned(c: 8)[s: 8] = (c = s ^ 5)
prove T inverts L
prove T inverts Narrow
prove T where H == 1
refute Lost
refute Lost inverts L where C < 4
prove Lost where C%4 == 0, C <= 8, H == 2
"""

WIDTHS = """\
layout W(c, h) = [c/4, h, c%4] of i4 where C <= 100, H <= 1000
layout Most(c) = [c : max(C, 16)] where C <= 99
layout Open(c) = [c]
prove W offsets fit int24
prove W offsets fit uint16 in bytes
prove W computes in int24
prove W fits uint16 in bytes
refute W offsets fit int16
refute W computes in uint16
refute W fits uint8 in bytes
refute Open offsets fit int32
"""

Certified = tuple[tuple[Subject, ...], Path]


def copied(made: tuple[Subject, ...], folder: Path, into: Path) -> Certified:
    for each in folder.iterdir():
        (into / each.name).write_bytes(each.read_bytes())
    return made, into


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Certified]:
    folders = {text: tmp_path_factory.mktemp("proved") for text in (TABLES, WIDTHS)}
    return {text: (written(folder, text), folder) for text, folder in folders.items()}


@pytest.fixture
def tables(proved: dict[str, Certified], tmp_path: Path) -> Certified:
    return copied(*proved[TABLES], tmp_path)


@pytest.fixture
def widths(proved: dict[str, Certified], tmp_path: Path) -> Certified:
    return copied(*proved[WIDTHS], tmp_path)


def of(certified: Certified, name: str) -> tuple[tuple[Subject, ...], Path, Manifest]:
    """One subject, the folder, and its manifest."""
    made, folder = certified
    (subject,) = (each for each in made if each.file == name)
    return (subject,), folder, read_manifest((folder / subject.manifest).read_text())


# What was written stands.


@pytest.mark.slow
def test_certificates_of_tables_and_widths(tables: Certified, widths: Certified) -> None:
    for made, folder in (tables, widths):
        assert {each.status for each in results(made, folder)} == {"confirmed"}
    assert [each.file for each in tables[0]] == [
        "L",
        "Narrow",
        "Squared",
        "T",
        "Turned",
        "Lost",
    ]


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("cvc5"), reason="cvc5 is not installed")
def test_two_solvers_confirm_tables(tables: Certified) -> None:
    assert problems(*tables, Z3, CVC5) == []


@pytest.mark.slow
def test_what_is_read_off_a_table_is_on_record(tables: Certified) -> None:
    _, _, manifest = of(tables, "T")
    assert {each.claim: each.read_off for each in manifest.entries} == {
        "prove T": "layout T(c, h) = [c/4, h, c%4]",
        "prove T inverts L": "",
        "prove T inverts Narrow": "",
        "prove T where H == 1": "layout T(c, h: 1) = [c/4, h, c%4]",
    }


@pytest.mark.slow
def test_tables_of_the_library(tmp_path: Path) -> None:
    """Proved, tried slot by slot, and refuted."""
    module = next(each for each, family in FAMILIES if family == "mace")
    table = module.tables["MaceHeightMajorPublished"]
    made = commands.subjects(module, table, "mace")
    checked = commands.prove(made[0].claims).checked
    commands.write_files(tmp_path, (*commands.lemma_files(), *record(made[0], checked).files))
    assert problems(made, tmp_path) == []
    manifest = read_manifest((tmp_path / made[0].manifest).read_text())
    kinds = ["fails" if isinstance(each.findings[0], Failed) else
             "tried" if each.findings[0].tried else each.read_off
             for each in manifest.entries]  # fmt: skip
    assert kinds == [
        "fails",
        "fails",
        "layout MaceHeightMajorPublished(n: H, h, w, c) = [(h/4, n), (c, w), h%4]",
        "tried",
    ]


# The source changed.

CHANGES = [
    ("a: ceil(C/4), y: H, k: 4] = (c = a*4", "a: ceil(C/4), y: H, k: 4] = (c = 0 + a*4", "T",
     "prove T: the table is `table T(c, h)[a: ceil(C/4), y: H, k: 4] = (c = 0 + a*4 + k, h = y)`"),
    ("H == 1", "H == 2", "T", "prove T where H == 2: `T.json` says nothing of this claim"),
    ("[c/4, (h, c%4)]", "[c/4, (h, c%4 : 5)]", "T",
     "prove T inverts L: the theorem `room` says something else now: its goals differ"),
    ("H < 9", "H < 8", "T", "the theorem `box` says something else now: its hypotheses differ"),
    ("(c = s ^ 5)", "(c = s ^ 4)", "Turned", "(c = s ^ 4)` now, it was `table Turned"),
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("before", "after", "name", "said"), CHANGES)
def test_a_source_that_changed(
    tables: Certified, before: str, after: str, name: str, said: str
) -> None:
    _, folder = tables
    assert before in TABLES
    now = subjects(commands.claims_of(commands.parse(TABLES.replace(before, after))))
    found = problems(tuple(each for each in now if each.file == name), folder)
    assert any(said in words for _, words in found), found


# The certificate of a table was altered.


def in_entry(manifest: Manifest, claim: str, change: Callable[[Entry], Entry]) -> Manifest:
    entries = tuple(change(each) if each.claim == claim else each for each in manifest.entries)
    assert entries != manifest.entries
    return replace(manifest, entries=entries)


def entry_of(manifest: Manifest, claim: str) -> Entry:
    return next(each for each in manifest.entries if each.claim == claim)


@pytest.mark.slow
def test_no_step_of_a_table_can_be_left_out(tables: Certified) -> None:
    *_, manifest = of(tables, "T")
    proofs = manifest.entries[0].proofs
    for number, (theorem, proof) in enumerate(proofs):
        for _, steps in removed(tuple(proof)):
            shorter = (*proofs[:number], (theorem, steps), *proofs[number + 1 :])
            with pytest.raises(Rejected):
                asked("prove T", shorter, lemmas.stated())


@pytest.mark.slow
def test_altered_steps_of_a_table_are_noticed(tables: Certified) -> None:
    made, folder, manifest = of(tables, "T")
    noticed = Counter[str]()
    for number, (_, proof) in enumerate(manifest.entries[0].proofs):
        for kind, steps in [*altered(tuple(proof))][::150]:
            (folder / "T.json").write_text(with_proof(manifest, number, steps).text)
            found = results(made, folder)[1]
            assert found.status == "failed" or kind in HARMLESS
            assert {each.kind for each in found.problems} <= {Kind.BROKEN}
            noticed[found.status] += 1
    assert noticed["failed"] > sum(noticed.values()) // 2, noticed


@pytest.mark.slow
def test_claims_of_a_table_that_were_exchanged(tables: Certified) -> None:
    """The proof of one claim under the name of another, hashes and script made to fit."""
    made, folder, manifest = of(tables, "T")
    proofs = {each.claim: each.proofs for each in manifest.entries}
    claims = list(proofs)
    for claim, other in zip(claims, [*claims[1:], claims[0]], strict=True):
        forged = in_entry(manifest, claim, lambda e, p=proofs[other]: replace(e, proofs=p))
        put(folder, forged, "T")
        found = problems(made, folder)
        assert {kind for kind, _ in found} == {Kind.STALE}
        assert all(words.startswith(f"{claim}: the theorem `") for _, words in found)


@pytest.mark.slow
def test_the_layout_read_off_was_exchanged(tables: Certified) -> None:
    """First its name on record, then the proof with it: by the layout that T inverts as well."""
    made, folder, manifest = of(tables, "T")
    other = "layout T(c, h) = [c/4, (h, c%4)]"
    put(folder, in_entry(manifest, "prove T", lambda e: replace(e, read_off=other)), "T")
    words = "`layout T(c, h) = [c/4, h, c%4]` is read off the table now, it was `"
    assert problems(made, folder) == [(Kind.STALE, f"prove T: {words}{other}`")]
    inverts = entry_of(manifest, "prove T inverts L")
    for read_off in ("", other):
        forged = in_entry(
            manifest, "prove T", lambda e, r=read_off: replace(e, proofs=inverts.proofs, read_off=r)
        )
        put(folder, forged, "T")
        assert {kind for kind, _ in problems(made, folder)} == {Kind.STALE}


def smuggled(theorem: Theorem) -> tuple[Theorem, tuple[Have, ...]]:
    """The theorem under a hypothesis that is false, with its proof."""
    absurd = replace(theorem, hypotheses=(*theorem.hypotheses, ("<", 0, 0)))
    fact = f"hyp.{len(theorem.hypotheses)}"
    return absurd, tuple(Have(f"g.{n}", goal, (fact,)) for n, goal in enumerate(theorem.goals))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["box", "room", "held", "single"])
def test_a_hypothesis_smuggled_into_a_theorem_of_a_table(tables: Certified, name: str) -> None:
    made, folder, manifest = of(tables, "T")
    forged = with_theorems(manifest, lambda t, p: smuggled(t) if t.name == name else (t, p))
    put(folder, forged, "T")
    words = f"the theorem `{name}` says something else now: its hypotheses differ"
    assert (Kind.STALE, f"prove T inverts L: {words}") in problems(made, folder)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["shape", "encode", "decode", "through", "alike"])
def test_a_hypothesis_smuggled_into_a_lemma_of_a_table(tables: Certified, name: str) -> None:
    """A lemma may say what it will; whoever uses it has to show its hypotheses."""
    made, folder, manifest = of(tables, "T")
    forged = with_theorems(manifest, lambda t, p: smuggled(t) if t.name == name else (t, p))
    (folder / "T.json").write_text(forged.text)
    assert [kind for kind, _ in problems(made, folder)] == [Kind.BROKEN]


@pytest.mark.slow
def test_a_lemma_is_no_theorem_of_the_claim(tables: Certified) -> None:
    made, folder, manifest = of(tables, "T")
    more = replace(manifest.entries[0].proofs[0][0], name="more")
    unused = in_entry(manifest, "prove T", lambda e: replace(e, proofs=(*e.proofs, smuggled(more))))
    put(folder, unused, "T")
    words = "it proves a theorem `more` that the claim does not have"
    assert problems(made, folder) == [(Kind.STALE, f"prove T: {words}")]
    by = ("through",)
    rests = in_entry(
        manifest,
        "prove T",
        lambda e: replace(e, findings=tuple(replace(each, by=by) for each in e.findings)),
    )
    put(folder, rests, "T")
    assert {kind for kind, _ in problems(made, folder)} == {Kind.BROKEN}


def test_what_cannot_be_restated_is_not_believed(tables: Certified) -> None:
    """A lemma that has the name of a theorem is none where the claim has no such theorem."""
    name, findings = "injective", []
    made, folder, manifest = of(tables, "Squared")
    assert name not in restated(made[0].claims[0], None)
    for each in manifest.entries[0].findings:
        assert isinstance(each, Shown)
        forged = replace(each, by=(name,), tried=False) if each.property == INJECTIVE else each
        findings.append(forged)
    assert manifest.entries[0].findings != tuple(findings)
    trivial = Theorem(name, (), (), (("<=", 0, 0),))
    (first, steps), *others = manifest.entries[0].proofs
    using = (*steps, Use("used", name, (), ()))
    proofs = ((trivial, (Have("f", ("<=", 0, 0), ()),)), (first, using), *others)
    entry = replace(manifest.entries[0], findings=tuple(findings), proofs=proofs)
    put(folder, replace(manifest, entries=(entry,)), "Squared")
    words = f"prove Squared: `{INJECTIVE}` does not rest on element, {name}"
    assert problems(made, folder) == [(Kind.BROKEN, words)]


def test_a_table_without_a_layout_has_no_theorems(tables: Certified) -> None:
    made, folder, manifest = of(tables, "Turned")
    assert restated(made[0].claims[0], None) == {}
    proofs: list = []
    for each in ("box", "held", "single"):
        use = (Use("used", proofs[-1][0].name, (), ()),) if proofs else ()
        goal = ("<=", 0, 0)
        proofs.append((Theorem(each, (), (), (goal,)), (*use, Have("f", goal, ()))))
    findings = (Shown(EVERY, ("box", "held"), ()), Shown(ONCE, ("box", "single"), ()))
    entry = replace(manifest.entries[0], findings=findings, proofs=tuple(proofs))
    put(folder, replace(manifest, entries=(entry,)), "Turned")
    assert {kind for kind, _ in problems(made, folder)} == {Kind.STALE}


def with_theorems(manifest: Manifest, change: Callable) -> Manifest:
    return in_entry(
        manifest,
        "prove T inverts L",
        lambda e: replace(e, proofs=tuple(change(t, p) for t, p in e.proofs)),
    )


def claim_in(value: dict, claim: str) -> dict:
    return next(each for each in value["claims"] if each["claim"] == claim)


WRONG = {
    "no proof": ("T", "prove T", lambda c: c.update(proofs=[])),
    "another table": ("T", "prove T", lambda c: c.update(subject="table T(c)[a: C] = (c = a)")),
    "a shape": ("T", "prove T", lambda c: c.update(shape={"C": 1, "H": 1})),
    "tried": ("T", "prove T", lambda c: c["findings"][0].update(tried=True)),
    "a property less": ("T", "prove T", lambda c: c["findings"].pop()),
    "a condition less": ("T", "prove T inverts Narrow", lambda c: c["findings"][0].pop("where")),
    "a number read off": ("T", "prove T", lambda c: c.update(read_off=7)),
    "nothing read off": ("T", "prove T", lambda c: c.pop("read_off")),
    "read off what is tried": ("Turned", "prove Turned", lambda c: c.update(read_off="layout")),
    "a trial less": ("Turned", "prove Turned", lambda c: c["findings"].pop()),
    "a trial by nothing": ("Turned", "prove Turned", lambda c: c["findings"][0].pop("tried")),
    "another shape": ("Lost", "refute Lost", lambda c: c["findings"][0]["shape"].update(C=4)),
    "a shape outside": (
        "Lost",
        "refute Lost inverts L where C < 4",
        lambda c: c["findings"][0]["shape"].update(C=5),
    ),
    "a huge shape": ("Lost", "refute Lost", lambda c: c["findings"][0]["shape"].update(C=10**9)),
    "other words": (
        "Lost", "refute Lost", lambda c: c["findings"][0]["points"][0].update(words="is here"),
    ),
    "another property": ("Lost", "refute Lost", lambda c: c["findings"][0].update(property="nice")),
    "no counterexample": ("Lost", "refute Lost", lambda c: c.update(findings=[])),
}  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kind", WRONG)
def test_a_manifest_of_a_table_that_was_altered(tables: Certified, kind: str) -> None:
    name, claim, change = WRONG[kind]
    made, folder, _ = of(tables, name)
    edited(folder, lambda value: change(claim_in(value, claim)), f"{name}.json")
    assert {each for each, _ in problems(made, folder)} <= {Kind.STALE, Kind.BROKEN}
    assert problems(made, folder)


# Widths.


def test_fits_cannot_be_left_out_of_a_bounded_range(widths: Certified) -> None:
    """Where every extent is bounded, the condition that stands for the theorem is not enough."""
    for name in ("W", "Most"):
        made, folder, manifest = of(widths, name)

        def weaker(entry: Entry) -> Entry:
            proofs = tuple(each for each in entry.proofs if each[0].name != "fits")
            findings = tuple(
                Shown(SIZE, (), UNBOUNDED) if each.property == SIZE else each
                for each in entry.findings
            )
            return replace(entry, proofs=proofs, findings=findings)

        put(folder, in_entry(manifest, f"prove {name}", weaker), name)
        words = f"prove {name}: `{SIZE}` is proved under other conditions"
        assert problems(made, folder) == [(Kind.STALE, words)]


BOUNDED = [
    ("layout L(c) = [c] where C <= 99", ()),
    ("layout L(c, h) = [c/8, h, c%8] where C <= 99", UNBOUNDED),
    ("layout L(c, h: 4) = [h, c%8] where C <= 8", ()),
    ("layout L(c) = [c : min(roundup(C, 4), 64)] where C <= 64", ()),
    ("layout L(c) = [c : max(C, 16)] where C <= 64", ()),
    ("layout L(c) = [c : max(C, 16)]", UNBOUNDED),
]


@pytest.mark.parametrize(("text", "conditions"), BOUNDED)
def test_a_bounded_size_is_proved_to_fit(text: str, conditions: tuple[str, ...]) -> None:
    (checked,) = commands.prove(commands.parse(text)["L"]).checked
    (size,) = (each for each in checked.findings if each.property == SIZE)
    assert size.conditions == conditions


CLAIMS = ["offsets fit int24", "offsets fit uint16 in bytes", "computes in int24",
          "fits uint16 in bytes"]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("claim", CLAIMS)
def test_a_width_that_was_narrowed(widths: Certified, claim: str) -> None:
    """The certificate of a width under the claim of a smaller one."""
    _, folder, manifest = of(widths, "W")
    said = f"prove W {claim}"
    text = WIDTHS.replace(said, said.replace("int24", "int16").replace("uint16", "int16"))
    assert text != WIDTHS
    (made,) = (
        each for each in subjects(commands.claims_of(commands.parse(text))) if each.file == "W"
    )
    changed = next(each for each in made.claims if each.text not in WIDTHS)
    put(folder, in_entry(manifest, said, lambda e: replace(e, claim=changed.text)), "W")
    found = problems((made,), folder)
    assert {kind for kind, _ in found} <= {Kind.STALE, Kind.BROKEN}
    assert any("says something else now: its goals differ" in words for _, words in found)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("key", ["shape", "point", "words", "no point", "a name"])
@pytest.mark.parametrize(
    "claim", ["W offsets fit int16", "W computes in uint16", "W fits uint8 in bytes"]
)
def test_a_width_that_does_not_fail_there(widths: Certified, claim: str, key: str) -> None:
    made, folder, _ = of(widths, "W")

    def change(value: dict) -> None:
        (found,) = claim_in(value, f"refute {claim}")["findings"]
        match key:
            case "shape":
                found["shape"].update(C=1)
            case "point":
                found["points"][0]["index"].update(c=-1)
            case "words":
                found["points"][0]["words"] += " or so"
            case "no point":
                found["points"] = []
            case "a name":
                found["points"][0]["index"] = {"c": 0, "w": 0}

    edited(folder, change, "W.json")
    found = problems(made, folder)
    assert {kind for kind, _ in found} <= {Kind.STALE, Kind.BROKEN}
    assert all(words.startswith(f"refute {claim}: ") for _, words in found)
    assert found


# Claims about no shape at all.

NOTHING = """layout A(c) = [c]
table T(c)[s: C] = (c = s)
prove A fits int8 where C < 4, C > 9
prove T where C < 4, C > 9
refute A == [c] where C < 4, C > 9
"""


@pytest.mark.parametrize("name", ["A", "T"])
def test_of_no_shape_nothing_is_confirmed(tmp_path: Path, name: str) -> None:
    """What does not hold anywhere can be proved; it is no certificate."""
    commands.write_files(tmp_path, commands.lemma_files())
    claims = commands.claims_of(commands.parse(NOTHING))
    (claim,) = (each for each in claims if each.text.startswith(f"prove {name} "))
    wanted = restated(claim, None).values()
    facts = tuple(f"hyp.{n}" for n in range(3))
    proofs = tuple(
        (each, tuple(Have(f"g.{n}", goal, facts) for n, goal in enumerate(each.goals)))
        for each in wanted
    )
    made = Subject(name, (claim,))
    forged = Manifest("", (Entry(claim.text, written_out(claim), None, (), proofs),))
    put(tmp_path, forged, name)
    found = problems((made,), tmp_path)
    assert any("no shape of its range is found" in words for _, words in found), found


def test_that_there_is_no_shape_refutes_no_other_claim(tmp_path: Path) -> None:
    commands.write_files(tmp_path, commands.lemma_files())
    claim = next(
        e for e in commands.claims_of(commands.parse(NOTHING)) if e.text.startswith("refute")
    )
    example = Counterexample("`A` is defined for no shape", (), ())
    entry = Entry(claim.text, "layout A(c) = [c]", None, (Failed(RANGE, example),), ())
    put(tmp_path, Manifest("", (entry,)), "A")
    found = problems((Subject("A", (claim,)),), tmp_path)
    assert any(words.startswith(f"{claim.text}: its counterexample") for _, words in found), found
