"""The language server: what an editor asks, answered from the texts that it has open.

Faults are told at every change, before anything else. What is said of claims comes from a process
of its own, half a second behind the last key, which the next one ends. It alone knows pygls.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from contextlib import suppress
from threading import Lock
from types import FrameType
from typing import Any, TypeAlias, cast

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from layoutdsl.shell.editing import protocol
from layoutdsl.shell.editing.completion import proposals
from layoutdsl.shell.editing.document import spelt
from layoutdsl.shell.editing.hover import hover
from layoutdsl.shell.editing.names import Occurrence
from layoutdsl.shell.editing.open_texts import OpenText, OpenTexts
from layoutdsl.shell.editing.positions import Encoding
from layoutdsl.shell.editing.proving import end_all, proved
from layoutdsl.shell.editing.shelved import place_in_library
from layoutdsl.shell.editing.verdicts import verdicts

REST = 0.5
"""Seconds without a key before a text is proved."""

_LOG = logging.getLogger(__name__)


class Server(LanguageServer):
    """A server, with its texts and the proofs that are under way."""

    def __init__(self, version: str) -> None:
        super().__init__(
            "layoutdsl", version, text_document_sync_kind=lsp.TextDocumentSyncKind.Full
        )
        self.texts = OpenTexts()
        self.one_solver = Lock()
        self._proofs: dict[str, asyncio.Task[None]] = {}

    def tell(self, uri: str) -> None:
        """Tell the editor what is wrong with a text."""
        opened = self.texts[uri]
        found = protocol.diagnostics(uri, opened)
        told = lsp.PublishDiagnosticsParams(uri, found, version=opened.version)
        self.text_document_publish_diagnostics(told)

    def take(self, uri: str, text: str, version: int | None) -> None:
        """Take a text as it is now."""
        self.end_proof(uri)
        agreed = self.workspace.position_encoding
        self.texts.encoding = cast("Encoding", getattr(agreed, "value", agreed))
        self.texts.write(uri, text, version)
        self.tell(uri)
        self.prove(uri, REST)

    def prove(self, uri: str, rest: float) -> None:
        """Prove a text, unless it changes meanwhile."""
        self.end_proof(uri)
        opened = self.texts.get(uri)
        if opened is not None and opened.current.right:
            self._proofs[uri] = asyncio.get_running_loop().create_task(self._prove(uri, rest))

    def end_proof(self, uri: str) -> None:
        """End the proof of a text that is under way."""
        task = self._proofs.pop(uri, None)
        if task is not None:
            task.cancel()

    async def end_proofs(self) -> None:
        """End every proof, and wait until no process is left."""
        tasks = list(self._proofs.values())
        for uri in list(self._proofs):
            self.end_proof(uri)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _prove(self, uri: str, rest: float) -> None:
        await asyncio.sleep(rest)
        opened = self.texts[uri]
        if opened.current.good is None:
            return
        opened.proving = True
        try:
            printed = await proved(opened.current.text)
        except OSError as failure:
            _LOG.warning("nothing can be proved: %s", failure)
            return
        opened.take(verdicts(opened.current.good.module, printed))
        self.tell(uri)
        self._renew_lenses()

    def _renew_lenses(self) -> None:
        asked = self.client_capabilities.workspace
        if asked is not None and asked.code_lens is not None and asked.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)


def made(version: str) -> Server:
    """Return a server that answers all that it can.

    Args:
        version: of the program.
    """
    server = Server(version)
    _add_changes(server)
    _add_words(server)
    _add_names(server)
    return server


def _add_changes(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def began(params: lsp.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        server.take(document.uri, document.text, document.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        server.take(document.uri, params.content_changes[-1].text, document.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        uri = params.text_document.uri
        opened = server.texts.get(uri)
        if opened is not None and opened.verdicts is None and not opened.proving:
            server.prove(uri, 0)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.end_proof(uri)
        server.texts.close(uri)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    @server.feature(lsp.SHUTDOWN)
    async def ended(*_: Any) -> None:
        await server.end_proofs()


def _add_words(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    @server.thread()
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        found = _asked(server, params)
        if found is None:
            return None
        opened, offset = found
        with server.one_solver:
            told = hover(opened.current, offset, opened.known)
        if told is None:
            return None
        words, start, end = told
        content = lsp.MarkupContent(lsp.MarkupKind.Markdown, words)
        return lsp.Hover(content, protocol.range_of(opened.lines, start, end))

    options = lsp.CompletionOptions(trigger_characters=["[", "(", ",", "=", " "])

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, options)
    def completed(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        found = _asked(server, params)
        return [] if found is None else protocol.items(proposals(found[0].current, found[1]))

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    def lenses(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        opened = server.texts.get(params.text_document.uri)
        return [] if opened is None else protocol.lenses(opened)

    quick = lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix])

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, quick)
    def mended(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        opened = server.texts.get(uri)
        if opened is None:
            return []
        start, end = (
            protocol.offset_of(opened.lines, each)
            for each in (params.range.start, params.range.end)
        )
        return protocol.mends(uri, opened, start, end)

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatted(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        opened = server.texts.get(params.text_document.uri)
        if opened is None:
            return []
        text = spelt(opened.current)
        if text is None or text == opened.current.text:
            return []
        whole = protocol.range_of(opened.lines, 0, len(opened.current.text))
        return [lsp.TextEdit(whole, text)]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outlined(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        opened = server.texts.get(params.text_document.uri)
        return [] if opened is None else protocol.outline(opened)


def _add_names(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def defined(params: lsp.DefinitionParams) -> list[lsp.Location]:
        found = _named(server, params)
        if found is None:
            return []
        opened, name = found
        places = [each for each in opened.current.places_of(name) if each.defines]
        here = _locations(params.text_document.uri, opened, places)
        if here or name.symbol.scope:
            return here
        there = place_in_library(name.symbol.name)
        return [] if there is None else [lsp.Location(there.uri, protocol.range_of(*there.range))]

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def referred(params: lsp.ReferenceParams) -> list[lsp.Location]:
        found = _named(server, params)
        if found is None:
            return []
        opened, name = found
        all_ = params.context.include_declaration
        places = [each for each in opened.current.places_of(name) if all_ or not each.defines]
        return _locations(params.text_document.uri, opened, places)

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepared(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        found = _named(server, params)
        if found is None or not found[0].current.right:
            return None
        opened, name = found
        if not any(each.defines for each in opened.current.places_of(name)):
            return None
        return protocol.range_of(opened.lines, name.span.start, name.span.end)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def renamed(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        found = _named(server, params)
        if found is None:
            return None
        opened, name = found
        try:
            changes = opened.current.renamed(name, params.new_name)
        except ValueError as refused:
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, str(refused)))
            return None
        edits = [
            lsp.TextEdit(protocol.range_of(opened.lines, start, end), text)
            for start, end, text in changes
        ]
        return lsp.WorkspaceEdit({params.text_document.uri: edits})


_Asks: TypeAlias = (
    lsp.HoverParams
    | lsp.CompletionParams
    | lsp.DefinitionParams
    | lsp.ReferenceParams
    | lsp.PrepareRenameParams
    | lsp.RenameParams
)


def _asked(server: Server, params: _Asks) -> tuple[OpenText, int] | None:
    """The text and the character that a request is about."""
    opened = server.texts.get(params.text_document.uri)
    return None if opened is None else (opened, protocol.offset_of(opened.lines, params.position))


def _named(server: Server, params: _Asks) -> tuple[OpenText, Occurrence] | None:
    found = _asked(server, params)
    name = None if found is None else found[0].current.name_at(found[1])
    return None if found is None or name is None else (found[0], name)


def _locations(uri: str, opened: OpenText, places: list[Occurrence]) -> list[lsp.Location]:
    """Where names stand now; those that were changed since the text was right are left out."""
    moved, found = opened.current.moved(), list[lsp.Location]()
    if moved is None:
        return found
    for each in places:
        start, end = moved.onward(each.span.start), moved.onward(each.span.end)
        if start is not None and end is not None:
            found.append(lsp.Location(uri, protocol.range_of(opened.lines, start, end)))
    return found


def _ended(number: int, _: FrameType | None) -> None:
    """What it started ends with it; then the signal does what it does to everybody."""
    end_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def serve(version: str) -> None:
    """Answer over the standard streams until the editor has enough, and leave no process behind."""
    server = made(version)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")  # which pygls closes
    signal.signal(signal.SIGTERM, _ended)
    with suppress(KeyboardInterrupt):
        server.start_io(sys.stdin.buffer, out)
