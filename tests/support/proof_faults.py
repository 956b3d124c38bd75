"""Proofs of cvc5 with one fault each, and questions that do not hold with proofs bent to them.

A twin may be right by luck: a step that nothing rests on is another one, a bound is weaker and does
as well. So nothing is said of one that is accepted but what can be found out: its question has no
model, and every step of it holds where its premises do.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from rule_shapes import contradicted

from layoutdsl.proof.evidence.replay import Refused, follow, replay
from layoutdsl.proof.evidence.replay.steps import Rule, Step
from layoutdsl.proof.evidence.replay.terms import Term
from layoutdsl.proof.kernel.question import PREAMBLE
from layoutdsl.proof.kernel.solver import CVC5_PROOFS, answers

_SCOPE = re.compile(r"\(push 1\)\n(.*?)\(check-sat\)\n\(pop 1\)\n", re.DOTALL)


@dataclass(frozen=True)
class Proved:
    """A question, with its declarations, and a proof that it has no model."""

    question: str
    proof: str


def questions(script: str) -> list[str]:
    """What a script asks, each with its declarations."""
    return [PREAMBLE + each for each in _SCOPE.findall(script)]


def proofs_of(script: str) -> list[Proved]:
    """What cvc5 proves of a script; all of it has to be answered."""
    asked = questions(script)
    given = answers(script, len(asked), solver=CVC5_PROOFS, wall=60)
    assert set(given.answers) <= {"unsat"}, given.reason
    assert len(given.proofs) == len(asked)
    return [Proved(*each) for each in zip(asked, given.proofs, strict=True)]


def script_of(asked: Sequence[str]) -> str:
    """Questions as one script."""
    scopes = (f"(push 1)\n{each.removeprefix(PREAMBLE)}(check-sat)\n(pop 1)\n" for each in asked)
    return PREAMBLE + "".join(scopes)


# Faults of the proof alone.

Fault = Callable[[random.Random, str], str]
_NAME = re.compile(r"@p\d+")
_NUMBER = re.compile(r"(?<=[ (])-?\d+(?=[ )/])")
_RELATION = re.compile(r"(?<=\()(<=|>=|<|>|=)(?= )")
_RULE = re.compile(r"(?<=:rule )\S+")
_TERM = re.compile(r"@t\d+")


def _one(
    source: random.Random, found: re.Pattern[str], text: str, put: Callable[[str], str]
) -> str:
    places = list(found.finditer(text))
    if not places:
        return text
    chosen = source.choice(places)
    return text[: chosen.start()] + put(chosen[0]) + text[chosen.end() :]


def _line(source: random.Random, proof: str, kind: str, put: Callable[[str], str]) -> str:
    lines = proof.splitlines()
    places = [number for number, each in enumerate(lines) if kind in each]
    if places:
        chosen = source.choice(places)
        lines[chosen] = put(lines[chosen])
    return "\n".join(lines)


def another_premise(source: random.Random, proof: str) -> str:
    names = sorted(set(_NAME.findall(proof)))

    def put(line: str) -> str:
        head, mark, rest = line.partition(":premises")
        return head + mark + _one(source, _NAME, rest, lambda _: source.choice(names))

    return _line(source, proof, ":premises", put)


def premise_left_out(source: random.Random, proof: str) -> str:
    def put(line: str) -> str:
        head, mark, rest = line.partition(":premises")
        return head + mark + _one(source, _NAME, rest, lambda _: "")

    return _line(source, proof, ":premises", put)


def premises_exchanged(source: random.Random, proof: str) -> str:
    def put(line: str) -> str:
        match = re.search(r"(?<=:premises \()[^)]*", line)
        assert match is not None
        names = match[0].split()
        source.shuffle(names)
        return line[: match.start()] + " ".join(names) + line[match.end() :]

    return _line(source, proof, ":premises", put)


def step_left_out(source: random.Random, proof: str) -> str:
    return _line(source, proof, "(step", lambda _: "")


def end_left_out(source: random.Random, proof: str) -> str:
    lines = proof.splitlines()
    return "\n".join([*lines[: source.randrange(2, len(lines) - 1)], ")"])


def another_number(source: random.Random, proof: str) -> str:
    return _one(source, _NUMBER, proof, lambda n: str(int(n) + source.choice([-2, -1, 1, 2])))


def another_relation(source: random.Random, proof: str) -> str:
    others = ["<", "<=", ">", ">=", "="]
    return _one(source, _RELATION, proof, lambda n: source.choice([o for o in others if o != n]))


def another_rule(source: random.Random, proof: str) -> str:
    return _one(source, _RULE, proof, lambda _: source.choice(sorted(follow.RULES)))


def another_term(source: random.Random, proof: str) -> str:
    names = sorted(set(_TERM.findall(proof)))
    return _one(source, _TERM, proof, lambda _: source.choice(names))


def another_assumption(source: random.Random, proof: str) -> str:
    change = source.choice([another_number, another_relation, another_term])
    return _line(source, proof, "(assume", lambda line: change(source, line))


def false_is_said(source: random.Random, proof: str) -> str:
    return _line(source, proof, "(step", lambda line: line.replace(" :rule", " false :rule", 1))


def assumption_kept(source: random.Random, proof: str) -> str:
    return _line(source, proof, "(step-pop", lambda _: "")


def assumed_without_end(source: random.Random, proof: str) -> str:
    return _line(source, proof, "(assume ", lambda line: line.replace("(assume ", "(assume-push "))


def polarity_turned(source: random.Random, proof: str) -> str:
    turned = {"true": "false", "false": "true"}
    return _one(source, re.compile(r"\b(true|false)\b"), proof, lambda word: turned[word])


FAULTS: Mapping[str, Fault] = {
    each.__name__: each
    for each in (
        *(another_premise, premise_left_out, premises_exchanged, step_left_out, end_left_out),
        *(another_number, another_relation, another_rule, another_term, another_assumption),
        *(false_is_said, assumption_kept, assumed_without_end, polarity_turned),
    )
}

# Faults of the question, to which its proof is bent: where both are changed alike, what refuses it
# is no comparison of assumptions, but a rule.


def bent(source: random.Random, proved: Proved) -> Proved:
    """A question that was changed, and its proof changed in all the same places."""
    lines = proved.question.splitlines()
    places = [number for number, each in enumerate(lines) if each.startswith("(assert")]
    chosen = source.choice(places)
    if source.random() < 0.3:
        return Proved("\n".join([*lines[:chosen], *lines[chosen + 1 :]]) + "\n", proved.proof)
    change = source.choice([another_number, another_number, another_relation])
    before = lines[chosen]
    lines[chosen] = change(source, before)
    proof = proved.proof
    for old, new in zip(before.split(), lines[chosen].split(), strict=True):
        if old != new:
            proof = _everywhere(source, proof, old.strip("()"), new.strip("()"))
    return Proved("\n".join(lines) + "\n", proof)


def _everywhere(source: random.Random, proof: str, old: str, new: str) -> str:
    """Each place where a word stands, or each in which it is assumed or named by a letter."""
    word = re.compile(rf"(?<=[ (]){re.escape(old)}(?=[ )])")
    if source.random() < 0.5:
        return word.sub(new, proof)
    lines = proof.splitlines()
    kinds = ("(define", "(assume")
    return "\n".join(word.sub(new, each) if each.startswith(kinds) else each for each in lines)


@dataclass(frozen=True)
class Twin:
    """What became of a proof: what was done to it, and whether it was accepted all the same."""

    fault: str
    changed: Proved
    accepted: bool
    refusal: str = ""


def twins(source: random.Random, proved: Proved, count: int) -> list[Twin]:
    """Twins of a proof that differ from it, each replayed."""
    found = []
    for number in range(count):
        if number % 3 == 0:
            name, changed = "bent", bent(source, proved)
        else:
            name = source.choice(sorted(FAULTS))
            changed = Proved(proved.question, FAULTS[name](source, proved.proof))
        if (changed.question, changed.proof.split()) != (proved.question, proved.proof.split()):
            found.append(_replayed(name, changed))
    return found


def _replayed(name: str, changed: Proved) -> Twin:
    try:
        replay(changed.question, changed.proof)
    except Refused as refused:
        return Twin(name, changed, False, str(refused))
    return Twin(name, changed, True)


def with_a_model(changed: Sequence[Proved]) -> list[bool]:
    """Of each question whether z3 finds that it has a model."""
    asked = sorted({each.question for each in changed})
    given = answers(script_of(asked), len(asked), wall=60)
    found = dict(zip(asked, given.answers, strict=True))
    return [found[each.question] == "sat" for each in changed]


def held_step_by_step(proved: Proved, patch: pytest.MonkeyPatch) -> int:
    """Replay a proof, each step of it tried in a few models; return how many there are."""
    source = random.Random(proved.proof)

    def watched(rule: Rule) -> Rule:
        def tried(step: Step) -> Term:
            shown = rule(step)
            model = contradicted(step, shown, source, 3)
            assert model is None, (rule, str(shown), model)
            return shown

        return tried

    with patch.context() as inner:
        rules = {name: watched(rule) for name, rule in follow.RULES.items()}
        inner.setattr(follow, "RULES", rules)
        return replay(proved.question, proved.proof)


def judged(found: Sequence[Twin], patch: pytest.MonkeyPatch) -> Counter[str]:
    """What became of twins, by fault; none that is accepted may be wrong."""
    counts = Counter[str]()
    wrong = with_a_model([each.changed for each in found])
    for each, model in zip(found, wrong, strict=True):
        counts["all"] += 1
        counts["accepted" if each.accepted else "refused"] += 1
        counts["wrong"] += model
        assert not (model and each.accepted), (each.fault, each.changed)
        if each.accepted:
            held_step_by_step(each.changed, patch)
    return counts


def ethos() -> list[str] | None:
    """How Ethos is called, another checker of such proofs, where it and its rules are at hand.

    `LAYOUTDSL_CPC` names the file `Cpc.eo` of cvc5's sources.
    """
    program, rules = shutil.which("ethos"), os.environ.get("LAYOUTDSL_CPC")
    known = f"--include={rules}"
    return [program, known, "--require-proof-of-false"] if program and rules else None


def accepted_by_ethos(command: Sequence[str], proved: Proved, folder: Path) -> bool:
    """Whether Ethos follows a proof from the assertions of its question to `false`.

    What the question declares must not be declared again, or it would be another unknown.
    """
    inner = proved.proof.strip().removeprefix("(").removesuffix(")")
    inner = re.sub(r"^\(declare-const .*\)$", "", inner, flags=re.MULTILINE)
    reference = folder / "question.smt2"
    reference.write_text(proved.question)
    call = [*command, f"--reference={reference}"]
    done = subprocess.run(call, input=inner, capture_output=True, text=True, check=False)
    return done.returncode == 0 and "correct" in done.stdout
