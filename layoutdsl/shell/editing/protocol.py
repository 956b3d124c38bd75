"""Our values as those of the language server protocol."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types as lsp

from layoutdsl.language.texts import resources
from layoutdsl.language.texts.source import Diagnostic
from layoutdsl.shell.editing.completion import Proposal, What
from layoutdsl.shell.editing.document import Document
from layoutdsl.shell.editing.names import Kind
from layoutdsl.shell.editing.open_texts import OpenText
from layoutdsl.shell.editing.positions import Lines

SOURCE = "layoutdsl"

COMPLETED: dict[What, lsp.CompletionItemKind] = {
    "word": lsp.CompletionItemKind.Keyword,
    "layout": lsp.CompletionItemKind.Class,
    "axis": lsp.CompletionItemKind.Variable,
    "extent": lsp.CompletionItemKind.Constant,
    "type": lsp.CompletionItemKind.TypeParameter,
    "notation": lsp.CompletionItemKind.Module,
    "function": lsp.CompletionItemKind.Function,
    "name": lsp.CompletionItemKind.Variable,
}

DECLARED: dict[Kind, lsp.SymbolKind] = {
    "layout": lsp.SymbolKind.Class,
    "table": lsp.SymbolKind.Array,
    "record": lsp.SymbolKind.Struct,
}


def range_of(lines: Lines, start: int, end: int) -> lsp.Range:
    """Return the range of a run of characters."""
    return lsp.Range(position_of(lines, start), position_of(lines, end))


def position_of(lines: Lines, offset: int) -> lsp.Position:
    """Return the position of a character."""
    return lsp.Position(*lines.position(offset))


def offset_of(lines: Lines, position: lsp.Position) -> int:
    """Return the character at a position."""
    return lines.offset((position.line, position.character))


def diagnostics(uri: str, opened: OpenText) -> list[lsp.Diagnostic]:
    """Return the faults of a text, and what was found where that is not as claimed."""
    found = [_fault(uri, opened.lines, each) for each in opened.current.faults]
    for each in opened.verdicts or ():
        if each.passed:
            continue
        undecided = each.status == "undecided"
        severity = lsp.DiagnosticSeverity
        found.append(
            lsp.Diagnostic(
                range=range_of(opened.lines, each.span.start, each.span.end),
                message=each.long,
                severity=severity.Warning if undecided else severity.Error,
                code=each.status,
                source=SOURCE,
            )
        )
    return found


def _fault(uri: str, lines: Lines, fault: Diagnostic) -> lsp.Diagnostic:
    span, warns = fault.primary.span, fault.severity == "warning"
    words = f": {fault.primary.words}" if fault.primary.words else ""
    hint = "" if fault.help is None else f"\nhelp: {fault.help}"
    related = [
        lsp.DiagnosticRelatedInformation(
            lsp.Location(uri, range_of(lines, each.span.start, each.span.end)),
            each.words or "see here",
        )
        for each in fault.others
        if each.span.source == span.source
    ]
    return lsp.Diagnostic(
        range=range_of(lines, span.start, max(span.end, span.start + 1)),
        message=f"{fault.message}{words}{hint}",
        severity=lsp.DiagnosticSeverity.Warning if warns else lsp.DiagnosticSeverity.Error,
        code=fault.code,
        code_description=lsp.CodeDescription(resources.explanation(fault.code)),
        source=SOURCE,
        related_information=related or None,
    )


def mends(uri: str, opened: OpenText, start: int, end: int) -> list[lsp.CodeAction]:
    """Return the changes that help to faults come to, of faults that touch a run of characters."""
    found = list[lsp.CodeAction]()
    for fault in opened.current.faults:
        span, mend = fault.primary.span, fault.mend
        if mend is None or span.start > end or max(span.end, span.start + 1) < start:
            continue
        place = range_of(opened.lines, mend.span.start, mend.span.end)
        edit = lsp.WorkspaceEdit({uri: [lsp.TextEdit(place, mend.text)]})
        title = fault.help or "mend it"
        found.append(
            lsp.CodeAction(
                title,
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=[_fault(uri, opened.lines, fault)],
                is_preferred=True,
                edit=edit,
            )
        )
    return found


def lenses(opened: OpenText) -> list[lsp.CodeLens]:
    """Return what stands above each declaration and claim: its verdict, once there is one."""
    if opened.verdicts is None:
        return []
    return [
        lsp.CodeLens(
            range_of(opened.lines, each.span.start, each.span.start),
            lsp.Command(each.short if each.passed else f"not so: {each.short}", command=""),
        )
        for each in opened.verdicts
    ]


def items(found: Iterable[Proposal]) -> list[lsp.CompletionItem]:
    """Return proposals in their order, which the editor would else put into that of letters."""
    return [
        lsp.CompletionItem(
            each.word,
            kind=COMPLETED[each.what],
            detail=each.detail or each.what,
            sort_text=f"{number:04}",
        )
        for number, each in enumerate(found)
    ]


def outline(opened: OpenText) -> list[lsp.DocumentSymbol]:
    """Return what a text declares, where it is right."""
    current: Document = opened.current
    if not current.right or current.good is None:
        return []
    found = list[lsp.DocumentSymbol]()
    for each in current.good.names:
        if each.defines and (kind := DECLARED.get(each.symbol.kind)) is not None:
            place = range_of(opened.lines, each.span.start, each.span.end)
            found.append(lsp.DocumentSymbol(each.symbol.name, kind, place, place))
    return found
