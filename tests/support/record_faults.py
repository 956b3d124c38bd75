"""The C of records with one thing changed: a number, a sign, a name, a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

_TOKEN = re.compile(r"\d+|[A-Za-z_]\w*|<<|>>|\|=|\+=|<=|>=|==|!=|&&|\+\+|[-+*/%<>=&|!?:]")
_SIGNS = {
    "<<": (">>",),
    ">>": ("<<",),
    "+": ("-", "*"),
    "-": ("+",),
    "*": ("+", "/"),
    "/": ("*", "%"),
    "%": ("/",),
    "|=": ("=",),
    "=": ("|=", "+="),
    "+=": ("=",),
    "|": ("&", "+"),
    "&": ("|",),
    "<": ("<=", ">"),
    ">": (">=", "<"),
    ">=": (">",),
    "==": ("!=", "<="),
    "!=": ("==",),
}
_NAMES = (
    r"items|tensor|field|in|out|scratch|buffer|src",
    r"n_\w+",
    r"i\d+|b|j|e|o|size",
    r"pack_\d+|unpack_\d+",
    r"p_\w+|f_\w+",
    r"first|step|each|left|rows|some|own|shape|bytes",
    r"load|store|with_sign",
    r"LITTLE|size|failed",
    r"end\w*|most|need_\d+",
)
Change = Callable[[str, Random], str | None]


def _number(text: str, random: Random) -> str | None:
    token = _drawn(text, random, r"\d+")
    if token is None:
        return None
    value = int(token[0])
    others = {value - 1, value + 1, 2 * value, 0, 1, value ^ 4, 8} - {value}
    return _put(text, token, str(random.choice([each for each in sorted(others) if each >= 0])))


def _sign(text: str, random: Random) -> str | None:
    token = _drawn(text, random, None, _SIGNS)
    return None if token is None else _put(text, token, random.choice(_SIGNS[token[0]]))


def _name(text: str, random: Random) -> str | None:
    group = re.compile(random.choice(_NAMES))
    found = [each for each in _TOKEN.finditer(text) if group.fullmatch(each[0])]
    names = sorted({each[0] for each in found})
    if len(names) < 2:
        return None
    token = random.choice(found)
    return _put(text, token, random.choice([each for each in names if each != token[0]]))


def _line(text: str, random: Random) -> str | None:
    lines = text.split("\n")
    at = [n for n, line in enumerate(lines) if line.endswith(";") and "for (" not in line]
    number = random.choice(at)
    match random.randrange(3):
        case 0:
            del lines[number]
        case 1:
            lines.insert(number, lines[number])
        case _:
            other = random.choice(at)
            lines[number], lines[other] = lines[other], lines[number]
    return "\n".join(lines)


def _drawn(
    text: str, random: Random, form: str | None, among: dict[str, tuple[str, ...]] | None = None
) -> re.Match[str] | None:
    found = [
        each
        for each in _TOKEN.finditer(text)
        if (re.fullmatch(form, each[0]) if form else each[0] in (among or {}))
    ]
    return random.choice(found) if found else None


def _put(text: str, token: re.Match[str], other: str) -> str:
    return text[: token.start()] + other + text[token.end() :]


def changed(text: str, random: Random, count: int) -> Iterator[str]:
    """Yield so many texts, each with one thing changed."""
    kinds: tuple[Change, ...] = (_number, _number, _sign, _name, _line)
    done = 0
    while done < count:
        found = random.choice(kinds)(text, random)
        if found is not None and found != text:
            done += 1
            yield found
