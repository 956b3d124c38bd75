"""`layoutdsl-check`, proved in Coq: what it reads, confirms and rejects, beside the Python kernel.

Both follow the same proofs, so a verdict that differs shows a fault of one of them. Faults in the
reader of the program would not show in Coq; here every theorem is read by both.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

import pytest
from certificate_faults import FAULTS, faulty
from coq import run_checker, verdicts

import layoutdsl
from layoutdsl.proof.evidence.manifest import Entry, Proofs, read_manifest
from layoutdsl.proof.evidence.questions import asked
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.checker import Rejected, check
from layoutdsl.proof.kernel.solver import ask
from layoutdsl.proof.kernel.theorem import (
    By,
    Calculate,
    Define,
    Have,
    Proof,
    Ring,
    Term,
    Theorem,
    Use,
    replaced,
)
from layoutdsl.proof.kernel.written import read_theorem

COMMITTED = Path(layoutdsl.__file__).parent.parent / "proofs"
CERTIFICATES = sorted(COMMITTED.glob("*/*.json"))

pytestmark = pytest.mark.skipif(not CERTIFICATES, reason="this is no checkout")

FAMILIES = sorted({each.parent.name for each in CERTIFICATES})


@pytest.mark.sampled(8)
@pytest.mark.ci(99)
@pytest.mark.parametrize("family", FAMILIES)
def test_committed_certificates_are_confirmed(family: str) -> None:
    files = [each for each in CERTIFICATES if each.parent.name == family]
    done = run_checker("--layouts", *map(str, files))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("CONFIRMED ") == len(files)
    # Each layout that is proved by theorems has its sentence.
    layouts = [
        each
        for file in files
        for each in entries(file)
        if each.subject.startswith("layout ") and each.claim.count(" ") == 1 and each.proofs
    ]
    assert len(re.findall(r"^  \S+ (?:packs|places): ", done.stdout, re.M)) == len(layouts)
    assert f"\n{len(layouts)} layouts: " in done.stdout
    assert "of 0 the sentence is not confirmed\n" in done.stdout


def test_the_text_to_read_is_where_the_pages_say() -> None:
    lines = (COMMITTED / "coq" / "Syntax.v").read_text().splitlines()
    assert lines[83] == "(** * Questions"
    layout = (COMMITTED / "coq" / "Layout.v").read_text().splitlines()
    last = layout.index("(** * The program: compare theorems with a layout *)") - 1
    proofs = (COMMITTED / "README.md").read_text()
    assert "`Syntax.v` lines 1 to 82" in proofs
    assert f"`Layout.v` lines 1 to {last}" in proofs
    own = (COMMITTED / "coq" / "README.md").read_text()
    assert "Its first 82 lines" in own
    assert f"Its first {last} lines" in own


def test_lemmas_are_those_of_coq() -> None:
    text = (COMMITTED / "lemmas.json").read_text()
    done = run_checker("--lemmas", "-", text=text)
    assert (done.returncode, done.stdout) == (
        0,
        "CONFIRMED -: 14 lemmas are those of Lemmas.v, 12 proofs checked\n",
    )
    done = run_checker("--lemmas", "-", text=text.replace("(<= 0 (* a b))", "(<= 1 (* a b))", 1))
    assert done.returncode == 1
    assert done.stdout == "REJECTED lemma PRODUCT is not the lemma of Lemmas.v\n"


def entries(file: Path) -> tuple[Entry, ...]:
    return read_manifest(file.read_text()).entries


@pytest.mark.sampled(8)
@pytest.mark.ci(99)
@pytest.mark.parametrize("family", FAMILIES)
def test_both_readers_read_the_same_theorems(family: str) -> None:
    files = [each for each in CERTIFICATES if each.parent.name == family]
    mine = [th for file in files for entry in entries(file) for th, _ in entry.proofs]
    done = run_checker("--theorems", *map(str, files))
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) == len(mine)
    for theorem, line in zip(mine, lines, strict=True):
        assert read_theorem(line, {}) == nested(theorem)


def nested(theorem: Theorem) -> Theorem:
    """The theorem with ``(and a b c)`` as ``(and a (and b c))``, as OCaml has it."""

    def of(term: Term) -> Term:
        match term:
            case (("and" | "or"), only):
                return of(only)
            case (("and" | "or") as operator, first, *rest):
                return (operator, of(first), of((operator, *rest)))
            case (operator, *parts):
                return (operator, *map(of, parts))
        return term

    return Theorem(
        theorem.name,
        theorem.variables,
        tuple(map(of, theorem.hypotheses)),
        tuple(map(of, theorem.goals)),
        tuple((name, of(term)) for name, term in theorem.definitions),
    )


def python_verdict(proofs: Proofs) -> tuple[str, str]:
    """The verdict of the Python kernel with z3 on the proofs of a claim, and its reason."""
    try:
        questions = [each.question.text for each in asked("c", proofs, lemmas.stated())]
    except (Rejected, RecursionError, ValueError) as reason:
        return "rejected", str(reason)
    answers = set(ask(list(dict.fromkeys(questions)), work=2_000_000).answers)
    return ("confirmed", "") if answers <= {"unsat"} else ("rejected", ",".join(sorted(answers)))


@cache
def claims_to_change() -> tuple[Proofs, ...]:
    found = [entry.proofs for file in CERTIFICATES for entry in entries(file)]
    # Larger proofs take longer, and have no other steps.
    return tuple(each for each in found if each and sum(len(p) for _, p in each) < 250)  # type: ignore[arg-type]


ONLY_PYTHON_REJECTS = re.compile(
    r"is not a term here|is given twice|is used with values for|is too large to follow"
)
"""Python asks for more than soundness needs, as the proofs in Coq show by not asking for it."""


def compare_faulty(seed: int, count: int) -> Counter[tuple[str, str]]:
    """Let both checkers judge certificates with a fault; return how many were judged how."""
    random = Random(seed)
    faults = [faulty(random.choice(claims_to_change()), random) for _ in range(count)]
    found = Counter[tuple[str, str]]()
    for (fault, proofs), coq in zip(faults, verdicts(p for _, p in faults), strict=True):
        python, reason = python_verdict(proofs)
        found[fault, python] += 1
        if (coq == "confirmed") != (python == "confirmed"):
            assert coq == "confirmed", (fault, proofs)
            assert ONLY_PYTHON_REJECTS.search(reason), (fault, reason, proofs)
    return found


@pytest.mark.sampled(10)
@pytest.mark.ci(10)
@pytest.mark.parametrize("seed", range(101, 111))
def test_mutated_certificates(seed: int) -> None:
    assert compare_faulty(seed, 10).total() == 10


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(1, 21))
def test_more_mutated_certificates(seed: int) -> None:
    """10,000 certificates: `pytest -m campaign -k mutated_certificates -s`."""
    found = compare_faulty(seed, 500)
    print(dict(sorted(found.items())))
    assert {fault for fault, _ in found} == set(FAULTS)


# Steps by polynomials, where the two normal forms have to agree.


def drawn_term(random: Random, depth: int) -> Term:
    if depth == 0 or random.random() < 0.15:
        return random.choice(["x", "y", "z", random.randint(-3, 3), random.randint(-3, 3)])
    operator = random.choice(["+", "-", "*", "+", "*", "div", "mod"])
    return (operator, drawn_term(random, depth - 1), drawn_term(random, depth - 1))


def respelled(random: Random, term: Term) -> Term:
    """An equal term: sums and products in another order, distributed, with zeros and ones."""
    chance = random.random()
    if not isinstance(term, tuple):
        equal: list[Term] = [("+", term, 0), ("*", 1, term), ("-", ("+", term, "y"), "y")]
        return random.choice(equal) if chance < 0.25 else term
    operator, left, right = term
    left, right = respelled(random, left), respelled(random, right)
    if operator in "+*" and chance < 0.4:
        return (operator, right, left)
    if operator == "*" and isinstance(right, tuple) and right[0] in "+-":
        return (right[0], ("*", left, right[1]), ("*", left, right[2]))
    if operator == "+" and isinstance(left, tuple) and left[0] == "+":
        return ("+", left[1], ("+", left[2], right))
    if operator == "-" and chance < 0.3:
        return ("+", left, ("*", -1, right))
    return (operator, left, right)


def poked(random: Random, term: Term) -> Term:
    """A term that differs in one place, and may still be equal."""
    if not isinstance(term, tuple) or random.random() < 0.2:
        return random.choice(["x", "y", "z", random.randint(-3, 3), ("+", term, 1)])
    at = random.choice([1, 2])
    return tuple(poked(random, part) if n == at else part for n, part in enumerate(term))


def subterms(term: Term) -> list[Term]:
    parts = term[1:] if isinstance(term, tuple) else ()
    return [term, *(each for part in parts for each in subterms(part))]


def drawn_step(random: Random) -> tuple[Theorem, Proof]:
    term = drawn_term(random, random.randint(1, 4))
    if random.random() < 0.6:
        other = respelled(random, respelled(random, term))
        if random.random() < 0.5:
            other = poked(random, other)
        return about(("=", term, other)), (Calculate("c", term, (Ring(other),)),)
    old, new, backwards = (
        random.choice(subterms(term)),
        drawn_term(random, 1),
        random.random() < 0.5,
    )
    hypothesis: Term = ("=", new, old) if backwards else ("=", old, new)
    right = replaced(term, old, new) if random.random() < 0.7 else poked(random, term)
    side = backwards if random.random() < 0.9 else not backwards
    return (
        about(("=", term, right), hypothesis),
        (Calculate("c", term, (By("hyp.0", side),)),),
    )


def about(goal: Term, *hypotheses: Term, definitions: tuple[tuple[str, Term], ...] = ()) -> Theorem:
    return Theorem("t", ("x", "y", "z"), hypotheses, (goal,), definitions)


def compare_steps(seed: int, count: int) -> None:
    random = Random(seed)
    drawn = [drawn_step(random) for _ in range(count)]
    accepted = 0
    for (theorem, proof), coq in zip(drawn, verdicts((each,) for each in drawn), strict=True):
        try:
            check(theorem, proof, {})
        except Rejected:
            assert coq == "rejected", (theorem, proof)
        else:
            assert coq == "confirmed", (theorem, proof)
            accepted += 1
    assert 0.3 < accepted / count < 0.9


def test_steps_by_polynomials() -> None:
    compare_steps(0, 500)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(1, 11))
def test_more_steps_by_polynomials(seed: int) -> None:
    compare_steps(seed, 5000)


# Proofs by hand at the edges of the rules.

X: Term = ("=", "x", "x")
SAME = Calculate("c", "x", ())
FALSE: Term = ("<", 0, 0)
SQUARE: Term = ("=>", ("and", ("<=", 0, "x"), ("<=", 0, "x")), ("<=", 0, ("*", "x", "x")))


def used(*values: tuple[str, Term]) -> Use:
    return Use("u", "PRODUCT", values, ())


EDGES: dict[str, tuple[Theorem, Proof, str, str]] = {
    # Sound, and accepted by Coq only.
    "a fact given twice": (about(X), (SAME, SAME), "rejected", "confirmed"),
    "a name that is defined later": (
        about(X),
        (Have("h", ("<=", "w", ("+", "w", 1)), ()), Define("w", 5), SAME),
        "rejected",
        "confirmed",
    ),
    "a name that is never defined": (
        about(X),
        (Have("h", ("<=", "w", ("+", "w", 1)), ()), SAME),
        "rejected",
        "confirmed",
    ),
    "a value for a foreign name": (
        about(X),
        (used(("a", "x"), ("b", "x"), ("q", "x")), SAME),
        "rejected",
        "confirmed",
    ),
    "a lemma's name without a value": (
        about(X),
        (used(("a", "x")), SAME),
        "rejected",
        "confirmed",
    ),
    "a name of SMT-LIB": (
        Theorem("t", ("true",), (), (("<=", "true", ("+", "true", 1)),)),
        (Have("h", ("<=", "true", ("+", "true", 1)), ()),),
        "rejected",
        "confirmed",
    ),
    "a theorem without goals": (Theorem("t", ("x",), (), ()), (), "rejected", "confirmed"),
    "a conjunction in another nesting": (
        about(("and", X, X, X), ("and", X, ("and", X, X))),
        (),
        "rejected",
        "confirmed",
    ),
    "a question that needs the distributive law": (
        about(("=", ("*", ("+", "x", "y"), "z"), ("+", ("*", "x", "z"), ("*", "y", "z")))),
        (
            Have(
                "h", ("=", ("*", ("+", "x", "y"), "z"), ("+", ("*", "x", "z"), ("*", "y", "z"))), ()
            ),
        ),
        "rejected",
        "confirmed",
    ),
    # The last of two values counts for both.
    "a value twice, the last one fits": (
        about(SQUARE),
        (used(("a", 5), ("a", "x"), ("b", "x")),),
        "confirmed",
        "confirmed",
    ),
    "a value twice, the first one fits": (
        about(SQUARE),
        (used(("a", "x"), ("a", 5), ("b", "x")),),
        "rejected",
        "rejected",
    ),
    # False theorems.
    "a false goal": (about(FALSE), (Have("h", FALSE, ()),), "rejected", "unanswered"),
    "a definition by itself": (
        about(FALSE),
        (Define("w", ("+", "w", 1)), Have("h", FALSE, ("w",))),
        "rejected",
        "rejected",
    ),
    "a variable defined": (
        about(FALSE),
        (Define("x", ("+", "x", 1)), Have("h", FALSE, ("x",))),
        "rejected",
        "rejected",
    ),
    "a free name of a lemma defined": (
        about(FALSE),
        (used(("a", -1)), Define("b", 5), Have("h", FALSE, ("u.0",))),
        "rejected",
        "unanswered",
    ),
    "definitions in a circle": (
        about(FALSE, definitions=(("v", "w"), ("w", ("+", "v", 1)))),
        (Have("h", FALSE, ("v", "w")),),
        "rejected",
        "rejected",
    ),
    "a quotient by zero": (
        about(("=", ("*", ("div", "x", 0), 0), "x")),
        (Use("u", "DIVISION", (("x", "x"), ("B", 0)), ()),),
        "rejected",
        "rejected",
    ),
    "a remainder by a negative number": (
        about(("<=", 0, ("mod", "x", -2))),
        (Have("h", ("<=", 0, ("mod", "x", -2)), ()),),
        "rejected",
        "unanswered",
    ),
    "its own theorem": (about(FALSE), (Use("u", "t", (), ()),), "rejected", "rejected"),
}


def test_proofs_at_the_edges() -> None:
    claims = [((theorem, proof),) for theorem, proof, _, _ in EDGES.values()]
    found = dict(zip(EDGES, verdicts(claims), strict=True))
    assert found == {name: coq for name, (_, _, _, coq) in EDGES.items()}
    mine = {name: python_verdict(each)[0] for name, each in zip(EDGES, claims, strict=True)}
    assert mine == {name: python for name, (_, _, python, _) in EDGES.items()}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"claims": [', "the JSON text ends early"),
        ('{"claims": [], "claims": []}', "the key `claims` occurs twice"),
        ('{"claims": []} more', "text follows the JSON value"),
        ("{}", "`claims` is missing"),
        ('{"claims": [{"claim": "c"}]}', "`proofs` is missing"),
        (
            '{"claims": [{"claim": "c", "proofs": [{"theorem": ["(theorem"], "proof": []}]}]}',
            "closed",
        ),
        (
            '{"claims": [{"claim": "c", "proofs": [{"theorem": ["(theorem PAIR () () () ())"], '
            '"proof": []}]}]}',
            "the name `PAIR` is taken",
        ),
        (
            '{"claims": [{"claim": "c", "proofs": [{"theorem": ["(theorem t () () () (d))"], '
            '"proof": []}]}]}',
            "`d` is not defined above",
        ),
        (
            '{"claims": [{"claim": "c", "proofs": [{"theorem": ["(theorem t (1x) () () ())"], '
            '"proof": []}]}]}',
            "`1x` is no name",
        ),
        (
            '{"claims": [{"claim": "c", "proofs": [{"theorem": ["(theorem t () () ((^ 1 2)) ())"], '
            '"proof": []}]}]}',
            "a formula is missing",
        ),
        (
            '{"claims": [{"claim": "c", "proofs": [{"theorem": ["(theorem t () () () ())"], '
            '"proof": ["(native)"]}]}]}',
            "`native` is no step",
        ),
    ],
)
def test_malformed_certificates_are_rejected(text: str, reason: str) -> None:
    done = run_checker("-", text=text)
    assert done.returncode == 1
    assert done.stdout.startswith("REJECTED -\n")
    assert reason in done.stdout


def test_it_answers_scripts_like_a_solver() -> None:
    script = (COMMITTED / "blocked" / "NCHW16c.smt2").read_text()
    done = run_checker("--smt", "-", text=script)
    assert done.stdout == "unsat\n" * script.count("(check-sat)")
    satisfiable = "(declare-const x Int)\n(assert (< 0 x))\n(assert (not (< 1 x)))\n(check-sat)\n"
    assert run_checker("--smt", "-", text=satisfiable).stdout == "unknown\n"


def test_regions_that_cover_a_buffer_are_found() -> None:
    """The kind of question that validation of C asks: 16 regions, by four edges that may be cut."""
    axes = range(4)
    names = "".join(f"(declare-const a{n} Int)\n(declare-const A{n} Int)\n" for n in axes)
    bounds = "".join(
        f"(assert (<= 0 a{n}))\n(assert (< a{n} (div (+ A{n} 7) 8)))\n(assert (<= 1 A{n}))\n"
        for n in axes
    )
    always = "".join(
        f"(<= 0 (div a{n} 2))(< (mod a{n} 2) 2)(< (* 8 a{n}) A{n})"
        f"(= (+ (* 2 (div a{n} 2)) (mod a{n} 2)) a{n})"
        for n in axes
    )
    whole = [f"(<= (+ (* 8 a{n}) 8) A{n})" for n in axes]
    cut = [f"(not {each})" for each in whole]
    regions = [f"(and {always}{''.join(each)})" for each in product(*zip(whole, cut, strict=True))]

    def covered(found: list[str]) -> str:
        script = f"{names}{bounds}(assert (not (or {' '.join(found)})))\n(check-sat)\n"
        return run_checker("--smt", "-", text=script).stdout

    assert covered(regions) == "unsat\n"
    assert covered(regions[1:]) == "unknown\n"


def test_wrong_usage() -> None:
    done = run_checker("--wrong")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("layoutdsl-check: confirm certificates")


def test_a_claim_as_a_coq_file() -> None:
    file = str(COMMITTED / "blocked" / "NCHW16c.json")
    done = run_checker("--coq", file, "prove NCHW16c")
    assert done.returncode == 0
    assert "Theorem injective_holds : true_as_written th_injective." in done.stdout
    assert "Theorem sentence : packs_without_gaps declared." in done.stdout
    assert run_checker("--coq", file, "prove Nothing").returncode == 1


# What Coq says, where Coq is installed: minutes.


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Coq part, built in a folder of its own."""
    from coq import SOURCES, build, coq_sources

    coq_sources()
    folder = tmp_path_factory.mktemp("coq")
    for pattern in ("*.v", "*.ml", "Makefile"):
        for each in SOURCES.glob(pattern):
            shutil.copy(each, folder)
    printed = build(folder, "coq")
    assert printed.count("Closed under the global context") == 14
    return folder / "build" / "coq"


@pytest.mark.slow
def test_coq_confirms_a_claim_by_itself(compiled: Path) -> None:
    file = str(COMMITTED / "blocked" / "NCHW16c.json")
    (compiled / "claim.v").write_text(run_checker("--coq", file, "prove NCHW16c").stdout)
    done = coqc(compiled, "claim.v")
    assert (done.returncode, done.stdout) == (0, 2 * "Closed under the global context\n")


@pytest.mark.campaign
@pytest.mark.parametrize("file", CERTIFICATES, ids=lambda file: file.stem)
def test_coq_confirms_every_claim_by_itself(compiled: Path, file: Path) -> None:
    """Half an hour: `pytest -m campaign -k every_claim_by_itself`."""
    for entry in entries(file):
        if not entry.proofs:
            continue
        emitted = run_checker("--coq", str(file), entry.claim).stdout
        (compiled / "claim.v").write_text(emitted)
        done = coqc(compiled, "claim.v")
        count = 1 + emitted.count("Theorem sentence : ")
        expected = (0, count * "Closed under the global context\n")
        assert (done.returncode, done.stdout) == expected, entry


def coqc(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    command = ["coqc", "-q", name]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


PLANTED = {
    # file, right text, wrong text: the proofs of these files no longer compile.
    "a definition may use its own name": (
        "Check.v",
        "negb (known N x) && closed_term N t",
        "negb (known N x) && closed_term (M.add x tt N) t",
    ),
    "a name may be defined twice": (
        "Check.v",
        "negb (known N x) && closed_term N t",
        "closed_term N t",
    ),
    "premises of a use are not compared": (
        "Check.v",
        "if formulas_eqb (map sub (hyps th ++ map equation (defs th))) fs",
        "if formulas_eqb (map sub (map equation (defs th))) (skipn (length (hyps th)) fs)",
    ),
    "an equation from any relation": (
        "Check.v",
        "| Some (Rel REq a b) => Some (if back then (b, a) else (a, b))",
        "| Some (Rel _ a b) => Some (if back then (b, a) else (a, b))",
    ),
    "constraints times negative numbers": ("Refute.v", "if k <? 0 then None else", ""),
    "a cut rounds down too far": (
        "Refute.v",
        "poly_add (poly_const (c / d)) q",
        "poly_add (poly_const (c / d - 1)) q",
    ),
    "a quotient by any number": (
        "Refute.v",
        "| Divide a b k => if 0 <? b then",
        "| Divide a b k => if true then",
    ),
    # What is said of layouts.
    "a theorem may have further hypotheses": (
        "Layout.v",
        "forallb (fun h => existsb (same_formula (sub h)) given) (hyps th)",
        "true",
    ),
    "the offset of a theorem is not compared": (
        "Layout.v",
        "if same u s then expand slots (M.add x (Var x) m) ds else None",
        "expand slots (M.add x (Var x) m) ds",
    ),
    "an inverse may look at the index": (
        "Layout.v",
        "  && forallb (fun a => avoids index_name (snd a)) (found I)\n",
        "",
    ),
    "gaps may depend on the index": (
        "Layout.v",
        "  && forallb (fun f => formula_avoids index_name f) (gaps I)\n",
        "",
    ),
    "a range may speak of indices": (
        "Layout.v",
        "\n  && forallb (fun f => formula_avoids (taken (slot_name I)) f) (range W).",
        ".",
    ),
    "an index is found that has another slot": (
        "Layout.v",
        "\n     ++ [Rel REq (subst (index_term I) (place W)) (Var (slot_name I))]).",
        ").",
    ),
    "the tensor may exceed the box": (
        "Layout.v",
        "existsb (says [] (range W) (box_is_larger I)) ths",
        "true",
    ),
    "no element is needed": ("Layout.v", "is_element (valued example) && well_named", "well_named"),
    "a second element has names of the first": (
        "Layout.v",
        "&& forallb (formula_avoids fresh) given && avoids fresh (place W)",
        "",
    ),
    "an exclusive or carries": (
        "Layout.v",
        "| _, _ => Op OMod (Op OAdd a b) (Num 2)",
        "| _, _ => Op OAdd a b",
    ),
    "set bits are skipped": (
        "Layout.v",
        "| Some (Num 0) => xor_bits t a b low (Datatypes.S run) n",
        "| Some (Num _) => xor_bits t a b low (Datatypes.S run) n",
    ),
    "bits beyond the width": (
        "Layout.v",
        "Some (w, l ++ [Rel RLe (Num 0) t; Rel RLt t (Num (pow2 w))])",
        "Some (w, l)",
    ),
    "a tuple with its digits exchanged": (
        "Layout.v",
        "| Pair a b => value v a * number v (extent b) + value v b",
        "| Pair a b => value v b * number v (extent a) + value v a",
    ),
    "extents of 0": (
        "Layout.v",
        "Forall (fun x => 1 <= v x) (symbols L)",
        "Forall (fun x => 0 <= v x) (symbols L)",
    ),
    "a buffer of one slot more": (
        "Layout.v",
        "<= s < value v (start L) + number v (extent (coordinates L)).",
        "<= s <= value v (start L) + number v (extent (coordinates L)).",
    ),
}

MISREAD = {
    # right text, wrong text, layouts that no longer have a sentence: the proofs still compile.
    "quotients rounded down": (
        "| Calc ODiv a b => ceiling (extent a) (plain b)",
        "| Calc ODiv a b => Op ODiv (extent a) (plain b)",
        {"NCHW16c", "NCHWc", "NCHW4c"},
    ),
    "a remainder may reach its divisor": (
        "| Calc OMod a b => plain b",
        "| Calc OMod a b => Op OAdd (plain b) (Num 1)",
        {"NCHW16c", "NCHWc", "NCHW4c", "GmmaKSw128", "GmmaKSw32", "GmmaKSw64"},
    ),
    "an or of one bit less": (
        "match n with O => p | S n => if z <=? p then p else",
        "match n with O => p | S n => if z <=? 2 * p then p else",
        {"Swizzle128", "Swizzle64", "Swizzle32"},
    ),
}
"""Faults in the definitions to be read. Theorems of the library do not fit a layout so misread."""


@pytest.mark.slow
@pytest.mark.ci(99)
@pytest.mark.parametrize("fault", PLANTED)
def test_a_fault_in_the_definitions_breaks_a_proof(
    compiled: Path, tmp_path: Path, fault: str
) -> None:
    name, right, wrong = PLANTED[fault]
    for each in (*compiled.glob("*.v"), *compiled.glob("*.vo")):
        shutil.copy(each, tmp_path)
    assert coqc(tmp_path, name).returncode == 0
    text = (tmp_path / name).read_text()
    assert right in text
    (tmp_path / name).write_text(text.replace(right, wrong))
    done = coqc(tmp_path, name)
    assert done.returncode != 0
    assert "Error" in done.stderr


@pytest.mark.slow
@pytest.mark.ci(99)
@pytest.mark.parametrize("fault", MISREAD)
def test_a_layout_that_is_misread_has_no_sentence(tmp_path: Path, fault: str) -> None:
    from coq import SOURCES, build, coq_sources

    coq_sources()
    right, wrong, lost = MISREAD[fault]
    for each in (*SOURCES.glob("*.v"), *SOURCES.glob("*.ml"), SOURCES / "Makefile"):
        shutil.copy(each, tmp_path)
    text = (tmp_path / "Layout.v").read_text()
    assert text.count(right) == 1
    (tmp_path / "Layout.v").write_text(text.replace(right, wrong))
    build(tmp_path, "kernel")
    build(tmp_path, "layoutdsl-check")
    files = [*(COMMITTED / "blocked").glob("*.json"), *(COMMITTED / "swizzles").glob("*.json")]
    command = [str(tmp_path / "layoutdsl-check"), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert set(re.findall(r"^  (\S+): the theorems do not say", done.stdout, re.M)) == lost
