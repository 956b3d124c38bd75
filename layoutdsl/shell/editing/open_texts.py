"""The texts that an editor has open: each with its faults and what was found of its claims."""

from __future__ import annotations

from dataclasses import dataclass, field

from layoutdsl.shell.editing.document import Document, document
from layoutdsl.shell.editing.positions import Encoding, Lines
from layoutdsl.shell.editing.verdicts import Verdict


@dataclass(slots=True)
class OpenText:
    """One of them.

    Attributes:
        current: the text.
        lines: its places.
        version: as the editor counts.
        verdicts: what was found of this very text; ``None`` where it was not proved yet.
        proving: whether it is being proved.
        known: the last verdict in full of each claim or declaration, by its text.
    """

    current: Document
    lines: Lines
    version: int | None
    verdicts: tuple[Verdict, ...] | None = None
    proving: bool = False
    known: dict[str, str] = field(default_factory=dict)

    def take(self, verdicts: tuple[Verdict, ...]) -> None:
        """Keep what was found."""
        self.verdicts, self.proving = verdicts, False
        self.known |= {each.text: each.long for each in verdicts}


class OpenTexts:
    """All of them, by what the editor calls them."""

    def __init__(self) -> None:
        self._texts: dict[str, OpenText] = {}
        self.encoding: Encoding = "utf-16"

    def __getitem__(self, uri: str) -> OpenText:
        return self._texts[uri]

    def get(self, uri: str) -> OpenText | None:
        """Return a text; ``None`` where the editor has not opened it."""
        return self._texts.get(uri)

    def write(self, uri: str, text: str, version: int | None) -> OpenText:
        """Take a text, new or changed, and return it with its faults."""
        before = self._texts.get(uri)
        name = uri.rpartition("/")[2]
        current = document(name, text) if before is None else before.current.written(text)
        known = {} if before is None else before.known
        found = OpenText(current, Lines(text, self.encoding), version, known=known)
        self._texts[uri] = found
        return found

    def close(self, uri: str) -> None:
        """Forget a text."""
        self._texts.pop(uri, None)
