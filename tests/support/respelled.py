"""The same words in any spelling: other blanks, line ends and remarks between them, at random."""

from __future__ import annotations

from random import Random

from layoutdsl.language.syntax.words import words_of

REMARKS = ("#", "# a remark", "#no blank", '# "quoted" [ ( {', "# é \u2029 x", "#  two  blanks  ")
BLANKS = (" ", "  ", "\t", "\n", "\n    ", "\n\n", "\n\n\n\n", "\f")


def respelled(random: Random, text: str, remarks: float) -> str:
    """Another spelling of a text: blanks where there may be some, remarks with some likelihood.

    What stood apart stays so: `> =` and `>=` are not the same.
    """
    words, _ = words_of(text)
    parts, end = list[str](), 0
    for word in words:
        apart = word.start > end or (not parts)
        gap = blanks(random) if apart or random.random() < 0.3 else ""
        while random.random() < remarks:
            gap += f"{random.choice(REMARKS)}\n{blanks(random)}"
        parts += [gap or (" " if apart else ""), word.text]
        end = word.start + len(word.text)
    made = "".join(parts)
    if random.random() < 0.2:
        made = made.rstrip("\n") + random.choice(("", "# last", "\n#last\n\n"))
    return made.replace("\n", "\r\n") if random.random() < 0.2 else made


def blanks(random: Random) -> str:
    return "".join(random.choice(BLANKS) for _ in range(random.randint(1, 2)))
