"""A proof followed from its assumptions, which have to be those of the question, to `false`.

What a step shows is worked out by its rule, and never taken from the proof. Assumptions within a
proof are taken back one by one by `scope`; whatever was shown below one is then forgotten.
"""

from __future__ import annotations

from layoutdsl.proof.evidence.replay.arithmetic import ARITHMETIC
from layoutdsl.proof.evidence.replay.booleans import BOOLEANS
from layoutdsl.proof.evidence.replay.clauses import CLAUSES
from layoutdsl.proof.evidence.replay.equality import EQUALITY
from layoutdsl.proof.evidence.replay.reading import (
    Argument,
    Words,
    argument_of,
    read,
    signature,
    term_of,
)
from layoutdsl.proof.evidence.replay.rewrites import RULES as REWRITING
from layoutdsl.proof.evidence.replay.steps import Memory, Rule, Step
from layoutdsl.proof.evidence.replay.tables import TABLES
from layoutdsl.proof.evidence.replay.terms import Refused, Sort, Term
from layoutdsl.proof.evidence.replay.whole import WHOLE

RULES: dict[str, Rule] = {
    **EQUALITY,
    **BOOLEANS,
    **TABLES,
    **CLAUSES,
    **ARITHMETIC,
    **WHOLE,
    **REWRITING,
}
"""Every rule that is followed, but for `scope`."""

LONGEST = 300
"""Characters of a reason: terms may be of any width."""


def replay(question: str, proof: str) -> int:
    """Follow a proof that the assertions of a question do not hold together.

    Args:
        question: SMT-LIB: declarations and assertions.
        proof: in cvc5's format CPC.

    Returns:
        How many steps it has.

    Raises:
        Refused: it is no such proof, or not seen to be one.
    """
    try:
        return _replay(question, proof)
    except RecursionError:
        raise Refused("it is too deep to follow") from None


def _replay(question: str, proof: str) -> int:
    memory = Memory()
    assertions = _asserted(question, memory)
    follower = _Follower(memory, assertions)
    commands = read(proof)
    if len(commands) == 1 and (not commands[0] or isinstance(commands[0][0], list)):
        commands = list(commands[0])
    for command in commands:
        follower.follow(command)
    follower.finish()
    return follower.steps


def _asserted(question: str, memory: Memory) -> set[Term]:
    """What a question declares becomes known; what it asserts is returned."""
    terms = memory.terms
    found = set[Term]()
    for command in read(question):
        match command:
            case ["declare-const", str(name), sort]:
                terms.declare(name, (), signature(sort)[1])
            case ["declare-fun", str(name), [*arguments], sort]:
                terms.declare(name, *signature(["->", *arguments, sort] if arguments else sort))
            case ["assert", formula]:
                found.add(_formula(term_of(_unwrapped(formula), terms, {})))
            case ["set-logic", str()]:
                pass
            case _:
                raise Refused("the question is more than declarations and assertions")
    return found


def _unwrapped(words: Words) -> Words:
    """`and` and `or` of one formula are that formula, and cvc5 reads them so."""
    if isinstance(words, str):
        return words
    match words:
        case ["and" | "or", only]:
            return _unwrapped(only)
    return [_unwrapped(each) for each in words]


def _formula(term: Term) -> Term:
    if term.sort is not Sort.BOOL:
        raise Refused("a number stands where a formula should")
    return term


class _Follower:
    """What is known so far, in one frame for each assumption that has not been taken back."""

    def __init__(self, memory: Memory, assertions: set[Term]) -> None:
        self._memory = memory
        self._assertions = assertions
        self._names: dict[str, Argument] = {}
        self._frames: list[dict[str, Term]] = [{}]
        self._assumed: list[Term] = []
        self._last: Term | None = None
        self.steps = 0

    def follow(self, command: Words) -> None:
        """Follow one line.

        Raises:
            Refused: it is none, or does not follow; the message names it.
        """
        name = command[1] if isinstance(command, list) and len(command) > 1 else ""
        try:
            self._follow(command)
        except Refused as reason:
            place = f"step `{name[:40]}`: " if isinstance(name, str) and name else ""
            raise Refused(f"{place}{str(reason)[:LONGEST]}") from None

    def _follow(self, command: Words) -> None:
        match command:
            case ["declare-const", str(name), words]:
                if self._memory.terms.declared(name) != signature(words):
                    raise Refused("the question does not declare it so")
            case ["define", str(name), [], words]:
                self._define(name, argument_of(words, self._memory.terms, self._names))
            case ["assume", str(name), words]:
                formula = self._term(words)
                if formula not in self._assertions:
                    raise Refused(f"`{formula}` is no assertion of the question")
                self._show(name, formula)
            case ["assume-push", str(name), words]:
                self._assumed.append(_formula(self._term(words)))
                self._frames.append({name: self._assumed[-1]})
                self._last = None
            case ["step-pop", str(name), *rest]:
                self._take_back(name, rest)
            case ["step", str(name), *rest]:
                self._step(name, rest)
            case _:
                raise Refused("it is no line of a proof that is known here")

    def finish(self) -> None:
        """Refuse a proof that does not end with `false`, or with an assumption of its own."""
        if len(self._frames) > 1:
            raise Refused("an assumption is not taken back")
        if self._last is not self._memory.terms.false:
            raise Refused("it does not end with `false`")

    def _term(self, words: Words) -> Term:
        return term_of(words, self._memory.terms, self._names)

    def _define(self, name: str, meaning: Argument) -> None:
        if not name.startswith("@t") or name in self._names:
            raise Refused("it is no new name for a term")
        self._names[name] = meaning

    def _show(self, name: str, formula: Term) -> None:
        self._frames[-1][name] = formula
        self._last = formula

    def _known(self, word: Words) -> Term:
        for frame in reversed(self._frames):
            if isinstance(word, str) and word in frame:
                return frame[word]
        raise Refused(f"`{str(word)[:40]}` is not shown above")

    def _step(self, name: str, rest: list[Words]) -> None:
        said, word, premises, arguments = self._parts(rest)
        rule = RULES.get(word)
        if rule is None:
            raise Refused(f"the rule `{word[:80]}` is not known here")
        found = _formula(rule(Step(self._memory, premises, arguments)))
        if said is not None and said is not found:
            raise Refused(f"it says `{said}`, and shows `{found}`")
        self.steps += 1
        self._show(name, found)

    def _take_back(self, name: str, rest: list[Words]) -> None:
        """What follows with an assumption follows from it."""
        said, word, premises, arguments = self._parts(rest)
        if word != "scope" or len(premises) != 1 or arguments or not self._assumed:
            raise Refused("it takes no assumption back")
        self._frames.pop()
        found = self._memory.terms.make("=>", self._assumed.pop(), premises[0])
        if said is not None and said is not found:
            raise Refused(f"it says `{said}`, and shows `{found}`")
        self.steps += 1
        self._show(name, found)

    def _parts(
        self, rest: list[Words]
    ) -> tuple[Term | None, str, tuple[Term, ...], tuple[Argument, ...]]:
        """What a step says that it shows, its rule, its premises and its arguments."""
        said = None
        if rest and rest[0] != ":rule":
            said, rest = self._term(rest[0]), rest[1:]
        given = dict(zip(map(str, rest[::2]), rest[1::2], strict=False))
        word = given.get(":rule")
        lists = [given.get(each, []) for each in (":premises", ":args")]
        known = given.keys() <= {":rule", ":premises", ":args"} and len(rest) == 2 * len(given)
        if not known or not isinstance(word, str):
            raise Refused("it is no step with a rule, premises and arguments")
        premises, arguments = (each if isinstance(each, list) else [] for each in lists)
        terms, names = self._memory.terms, self._names
        return (
            said,
            word,
            tuple(map(self._known, premises)),
            tuple(argument_of(each, terms, names) for each in arguments),
        )
