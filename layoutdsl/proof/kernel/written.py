"""Theorems and steps as text, one S-expression each, and back.

    (theorem NAME (variable ...) (hypothesis ...) (goal ...) ((name term) ...))
    (define NAME TERM)                     (have FACT FORMULA (premise ...))
    (use FACT THEOREM ((name term) ...) (premise ...))
    (calculate FACT TERM (move ...))       (rewrite FACT SOURCE (move ...))

A move is the name of an equation, with ``-`` in front where it is used from right to left, or
``(ring TERM)``. Terms are those of SMT-LIB. What is read may have been written by anyone: it is
bounded in size and depth, and has the types that it should have; whether it is a proof, the checker
says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeAlias, get_args

from layoutdsl.proof.kernel.theorem import By, Native, Proof, Ring, Step, Term, Theorem

MOST_DEPTH = 300
MOST_CHARACTERS = 1 << 18
MOST_DIGITS = 400

Tree: TypeAlias = "str | list[Any]"

_TOKEN = re.compile(r"\s*([()]|[^\s()]+)")
_NUMBER = re.compile(r"-?[0-9]+")
_STEPS: Mapping[str, Any] = {each.__name__.lower(): each for each in get_args(Step)}


class Unreadable(ValueError):  # noqa: N818  says what is wrong with a text
    """The text is no theorem and no step."""


def written(value: Any) -> str:
    """Return a theorem or a step as text."""
    words = [_word(getattr(value, each.name)) for each in fields(value)]
    return f"({' '.join([type(value).__name__.lower(), *words])})"


def _word(value: Any) -> str:
    match value:
        case By(fact, backwards):
            return f"-{fact}" if backwards else fact
        case Ring(term):
            return f"(ring {_word(term)})"
        case tuple():
            return f"({' '.join(map(_word, value))})"
    return str(value)


def written_theorem(theorem: Theorem, above: Mapping[str, Term]) -> tuple[str, ...]:
    """Return a theorem as text, each of its parts on a line of its own.

    A definition that stands ``above`` with the same term is given by its name alone.
    """
    definitions = tuple(
        name if name in above and above[name] == term else (name, term)
        for name, term in theorem.definitions
    )
    name, *parts = map(_word, (theorem.name, theorem.variables, theorem.hypotheses, theorem.goals))
    return (f"(theorem {name}", *parts, f"{_word(definitions)})")


def written_proof(proof: Proof) -> tuple[str, ...]:
    """Return the steps of a proof as text, one each."""
    return ("(native)",) if isinstance(proof, Native) else tuple(map(written, proof))


def read_theorem(text: str, above: Mapping[str, Term]) -> Theorem:
    """Return the theorem that a text says; ``above`` defines what it only names.

    Raises:
        Unreadable: it says none.
    """
    word, parts = _called(text)
    if word != "theorem":
        raise Unreadable(f"a theorem is missing where `{word[:40]}` stands")
    if parts and isinstance(parts[-1], list):
        parts[-1] = [_defined(each, above) for each in parts[-1]]
    made: Theorem = _made(Theorem, parts)
    return made


def _defined(part: Tree, above: Mapping[str, Term]) -> Tree:
    if not isinstance(part, str):
        return part
    if part not in above:
        raise Unreadable(f"`{part[:40]}` is not defined above")
    return [part, tree(_word(above[part]))]


def read_proof(lines: Sequence[str]) -> Proof:
    """Return the proof that texts say.

    Raises:
        Unreadable: one of them is no step.
    """
    return Native() if list(lines) == ["(native)"] else tuple(map(_step, lines))


def _step(text: str) -> Step:
    word, parts = _called(text)
    if word not in _STEPS:
        raise Unreadable(f"there is no step `{word[:40]}`")
    made: Step = _made(_STEPS[word], parts)
    return made


def _made(kind: Any, parts: list[Tree]) -> Any:
    wanted = fields(kind)
    if len(parts) != len(wanted):
        raise Unreadable(f"`{kind.__name__.lower()}` has {len(wanted)} parts, not {len(parts)}")
    return kind(*(_READERS[str(f.type)](part) for f, part in zip(wanted, parts, strict=True)))


def _called(text: str) -> tuple[str, list[Tree]]:
    match tree(text):
        case [str() as word, *parts]:
            return word, parts
    raise Unreadable("an opening parenthesis and a word are missing")


def tree(text: str) -> Tree:
    """Return the nested lists of words that a text is.

    Raises:
        Unreadable: parentheses do not match, or it is too large or too deep.
    """
    if len(text) > MOST_CHARACTERS:
        raise Unreadable(f"a text has more than {MOST_CHARACTERS} characters")
    top: list[Tree] = []
    open_: list[list[Tree]] = [top]
    for piece in _TOKEN.findall(text):
        if piece == "(":
            if len(open_) > MOST_DEPTH:
                raise Unreadable(f"parentheses are nested deeper than {MOST_DEPTH}")
            inner: list[Tree] = []
            open_[-1].append(inner)
            open_.append(inner)
        elif piece == ")":
            open_.pop()
            if not open_:
                raise Unreadable("a parenthesis is closed that was not opened")
        else:
            open_[-1].append(piece)
    if len(open_) > 1 or len(top) != 1:
        raise Unreadable("a text is not one closed expression")
    return top[0]


def _name(part: Tree) -> str:
    if not isinstance(part, str):
        raise Unreadable("a name is missing where a list stands")
    return part


def _term(part: Tree) -> Term:
    if isinstance(part, list):
        if not part:
            raise Unreadable("a term is empty")
        return (_name(part[0]), *map(_term, part[1:]))
    if _NUMBER.fullmatch(part):
        if len(part) > MOST_DIGITS:
            raise Unreadable(f"a number has more than {MOST_DIGITS} digits")
        return int(part)
    return part


def _list(part: Tree, read: Callable[[Tree], Any]) -> tuple[Any, ...]:
    if isinstance(part, str):
        raise Unreadable(f"a list is missing where `{part[:40]}` stands")
    return tuple(map(read, part))


def _value(part: Tree) -> tuple[str, Term]:
    match part:
        case [name, term]:
            return _name(name), _term(term)
    raise Unreadable("a name with its term is missing")


def _move(part: Tree) -> Ring | By:
    match part:
        case str():
            return By(part.removeprefix("-"), backwards=part.startswith("-"))
        case ["ring", term]:
            return Ring(_term(term))
    raise Unreadable("a move is no equation, and no `ring`")


def _equation(part: Tree) -> By:
    match _move(part):
        case By() as move:
            return move
    raise Unreadable("only equations move a fact")


_READERS: Mapping[str, Callable[[Tree], Any]] = {
    "str": _name,
    "Term": _term,
    "tuple[str, ...]": lambda part: _list(part, _name),
    "tuple[Term, ...]": lambda part: _list(part, _term),
    "tuple[tuple[str, Term], ...]": lambda part: _list(part, _value),
    "tuple[Ring | By, ...]": lambda part: _list(part, _move),
    "tuple[By, ...]": lambda part: _list(part, _equation),
}
"""How a part is read, by the type that it has."""
