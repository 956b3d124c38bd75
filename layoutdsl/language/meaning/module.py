"""The module that one text makes: its layouts, tables and records, and all that is said of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from layoutdsl.language.meaning.claims import AnyClaim, Claim, RecordClaim, Sound, TableClaim
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.table import Table
from layoutdsl.language.meaning.unplaced import unknown_name_help
from layoutdsl.language.texts.source import Diagnostic, Span
from layoutdsl.language.texts.values import said

if TYPE_CHECKING:
    from layoutdsl.language.meaning.group import Group
    from layoutdsl.language.meaning.operator import Engine
    from layoutdsl.language.meaning.rule import Rule

_APPLIED = re.compile(r"([A-Za-z_]\w*)\s*<\s*([0-9]{1,18}(?:\s*,\s*[0-9]{1,18})*)\s*>", re.ASCII)
"""A name with numbers for its parameters."""


_MOST_NAMES = 8
"""Names that a message lists; of a longer text it names the number."""

Written: TypeAlias = tuple[Span, Span]
"""Where a declaration, rule or claim stands: all of it, and the name or text that it is about."""


class Module(Mapping[str, Any]):
    """The layouts, tables and records of one `.layout` source by name, with its claims.

    >>> module = parse("layout NHWC(n, c, h, w) = [n, h, w, c]")
    >>> module["NHWC"].offset((1, 1, 0, 2), (2, 3, 4, 5))
    67

    The mapping lists layouts, then tables, then records, each in source order. `layouts`, `tables`
    and `records` are mappings of one kind, which a type checker knows: ``module.layouts["NHWC"]``
    is a `Layout`. Numbers in angle brackets fill parameters: ``module["NCHWc<8>"]``.

    Source positions are kept beside the meaning, in `span_of` and `name_span_of`, so that two
    sources that declare the same have equal layouts and claims.
    """

    __slots__ = (
        "_layouts",
        "_written",
        "claims",
        "engine",
        "name",
        "record_claims",
        "records",
        "rules",
        "table_claims",
        "tables",
        "texts",
        "warnings",
    )

    def __init__(
        self,
        name: str,
        layouts: Mapping[str, Layout],
        claims: tuple[Claim, ...],
        texts: Mapping[str, str],
        tables: Mapping[str, Table] | None = None,
        table_claims: tuple[TableClaim, ...] = (),
        warnings: Mapping[str, tuple[Diagnostic, ...]] | None = None,
        records: Mapping[str, Record] | None = None,
        record_claims: tuple[RecordClaim, ...] = (),
        rules: tuple[Rule | Group, ...] = (),
        engine: Engine | None = None,
        written: Mapping[str, Sequence[Written]] | None = None,
    ) -> None:
        self.name = name
        """Where the text came from."""
        self.claims = claims
        """What is said of layouts."""
        self.texts = texts
        """The declaration of each layout, table and record, as the language writes it."""
        self.tables: Mapping[str, Table] = dict(tables or {})
        self.table_claims = table_claims
        """What is said of tables."""
        self.records: Mapping[str, Record] = dict(records or {})
        self.record_claims = record_claims
        """What is said of records."""
        self.rules = rules
        """How tensors of a file are packed, by their names; the first that fits holds."""
        self.engine = engine
        """What is said of operators of graphs; ``None`` where nothing is."""
        self.warnings: Mapping[str, tuple[Diagnostic, ...]] = dict(warnings or {})
        """What is legal and hardly meant, by the layout or table that says it."""
        self._layouts = dict(layouts)
        self._written = written or {}

    @property
    def operators(self) -> tuple[str, ...]:
        """What is said of operators, as the language writes it."""
        return () if self.engine is None else self.engine.texts

    @property
    def all_claims(self) -> tuple[AnyClaim, ...]:
        """What is said of layouts, then of tables, then of records."""
        return (*self.claims, *self.table_claims, *self.record_claims)

    def span_of(self, about: Layout | Table | Record | AnyClaim) -> Span | None:
        """Return where a declaration or claim of the text stands, the first where it does twice.

        That a layout is sound is claimed where it is declared, or by the rule that names it. There
        is none for what the text does not say: what is read from another notation, or made.
        """
        return next((whole for whole, _ in self.written(about)), None)

    def name_span_of(self, about: Layout | Table | Record | AnyClaim) -> Span | None:
        """Return where the name stands of what `span_of` finds: of a claim, that of its subject."""
        return next((name for _, name in self.written(about)), None)

    def written(self, about: Layout | Table | Record | AnyClaim) -> Sequence[Written]:
        """Return every place at which the text says this: all of it, and the name that it says."""
        if isinstance(about, Claim | TableClaim | RecordClaim):
            found = self._written.get(about.text, ())
            sound = isinstance(about.predicate, Sound) and not about.where
            return found or (self.written(about.subject) if sound else ())
        declared = self._written.get(about.name.partition("<")[0])
        ruled = next((each.text for each in self.rules if about in each.named), "")
        return declared or self._written.get(ruled, ())

    @property
    def layouts(self) -> Mapping[str, Layout]:
        """The layouts alone, in source order."""
        return self._layouts

    def __getitem__(self, name: str) -> Any:
        """Return a layout, table or record by name; ``NCHWc<8>`` fills parameters.

        Raises:
            KeyError: the module has no such name, or the parameters do not fit; the message names
                a similar name, or those there are.
        """
        found = self._find(name)
        if found is None:
            raise KeyError(self._unknown(name))
        return found

    def _find(self, name: object) -> Layout | Table | Record | None:
        if not isinstance(name, str):
            return None
        plain = self._plain(name)
        if plain is not None:
            return plain
        applied = _APPLIED.fullmatch(name)
        declared = None if applied is None else self._plain(applied[1])
        if applied is None or declared is None:
            return None
        numbers = [int(each) for each in applied[2].split(",")]
        if len(numbers) != len(declared.parameters):
            own = f"<{', '.join(declared.parameters)}>" if declared.parameters else "no parameters"
            kind = type(declared).__name__.lower()
            raise KeyError(f"{kind} `{declared.name}` has {own}, and not `{name}`")
        values = dict(zip(declared.parameters, numbers, strict=True))
        try:
            return declared.with_parameters(**values)
        except ValueError as wrong:
            raise KeyError(str(wrong)) from None

    def _plain(self, name: str) -> Layout | Table | Record | None:
        return self._layouts.get(name) or self.tables.get(name) or self.records.get(name)

    def _unknown(self, name: object) -> str:
        place = "the source" if self.name.startswith("<") else f"`{self.name}`"
        said = f"{place} has no layout, table or record `{name}`"
        hint = unknown_name_help(str(name), self)
        if hint is None:
            names = [f"`{each}`" for each in self]
            few = 0 < len(names) <= _MOST_NAMES
            hint = f"it has {', '.join(names)}" if few else f"it has {len(names)} others"
        return f"{said}; {hint}"

    def __contains__(self, name: object) -> bool:
        try:
            return self._find(name) is not None
        except KeyError:  # of other parameters
            return False

    def __iter__(self) -> Iterator[str]:
        yield from self._layouts
        yield from self.tables
        yield from self.records

    def __len__(self) -> int:
        return len(self._layouts) + len(self.tables) + len(self.records)

    def __repr__(self) -> str:
        return said(self, f"{self.name}: {', '.join(self)}")
