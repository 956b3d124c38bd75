"""The module that one text makes: its layouts, tables and records, and all that is said of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from layoutdsl.language.meaning.claims import AnyClaim, Claim, RecordClaim, Sound, TableClaim
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.table import Table
from layoutdsl.language.texts.source import Diagnostic, Span
from layoutdsl.language.texts.values import said

if TYPE_CHECKING:
    from layoutdsl.language.meaning.group import Group
    from layoutdsl.language.meaning.operator import Engine
    from layoutdsl.language.meaning.rule import Rule

_APPLIED = re.compile(r"([A-Za-z_]\w*)\s*<\s*([0-9]{1,18}(?:\s*,\s*[0-9]{1,18})*)\s*>", re.ASCII)
"""A name with numbers for its parameters."""


Written: TypeAlias = tuple[Span, Span]
"""Where a declaration, rule or claim stands: all of it, and the name or text that it is about."""


class Module(Mapping[str, Layout]):
    """The layouts of one text by name, in its order, its tables and records, and its claims.

    Where each of them stands is kept beside the meaning, so that two texts that say the same have
    equal layouts and claims: `span_of`, `name_span_of`.

    A layout with parameters is taken with numbers for them as ``module["NCHWc<8>"]``.

    >>> parse("layout NHWC(n, c, h, w) = [n, h, w, c]")["NHWC"].offset((1, 1, 0, 2), (2, 3, 4, 5))
    67
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

    def __getitem__(self, name: str) -> Layout:
        """Return a layout by name; ``NCHWc<8>`` gives its parameters values, and is `NCHWc_8`.

        Raises:
            KeyError: there is none of that name, or it takes other parameters; says which.
        """
        if name in self._layouts:
            return self._layouts[name]
        applied = _APPLIED.fullmatch(name) if isinstance(name, str) else None
        if applied is None or applied[1] not in self._layouts:
            raise KeyError(name)
        layout = self._layouts[applied[1]]
        numbers = [int(each) for each in applied[2].split(",")]
        if len(numbers) != len(layout.parameters):
            held = f"<{', '.join(layout.parameters)}>" if layout.parameters else "no parameters"
            raise KeyError(f"layout `{layout.name}` has {held}, and not `{name}`")
        try:
            return layout.with_parameters(**dict(zip(layout.parameters, numbers, strict=True)))
        except ValueError as wrong:
            raise KeyError(str(wrong)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._layouts)

    def __len__(self) -> int:
        return len(self._layouts)

    def __repr__(self) -> str:
        return said(self, f"{self.name}: {', '.join((*self, *self.tables, *self.records))}")
