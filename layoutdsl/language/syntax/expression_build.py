"""lark's tree -> our tree: what stands inside declarations of all kinds.

It knows the shape of `grammar/layout.lark`, and nothing of meaning.
"""

from __future__ import annotations

from typing import cast

from lark import Token, Tree

from layoutdsl.language.syntax import ast
from layoutdsl.language.texts.source import Diagnostic, Label, LayoutError, Source, Span

PLAIN = "plain"
"""The interface of elements that stand for themselves, as they do where nothing is said."""

Branch = Tree[Token]


class ExpressionBuilder:
    """Builds expressions, coordinates and clauses of one source."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def _too_much(self, code: str, message: str, tree: Branch, hint: str | None) -> LayoutError:
        return LayoutError(Diagnostic(code, message, Label(self._span(tree)), help=hint))

    def _span(self, node: Branch | Token) -> Span:
        if isinstance(node, Token):
            return Span(self._source, node.start_pos or 0, node.end_pos or 0)
        return Span(self._source, node.meta.start_pos, node.meta.end_pos)

    def _name(self, token: Token) -> ast.Name:
        return ast.Name(str(token), self._span(token))

    def _number(self, token: Token) -> ast.Number:
        return ast.Number(
            int(token, 0) if token[:2] in ("0x", "0X") else int(token), self._span(token)
        )

    def _atom(self, token: Token) -> ast.Name | ast.Number:
        return self._name(token) if token.type == "NAME" else self._number(token)

    def _quoted(self, token: Token) -> ast.Quoted:
        whole = self._span(token)
        inside = Span(self._source, whole.start + 1, whole.end - 1)
        return ast.Quoted(inside.text, inside)

    def _axis(self, tree: Branch) -> ast.AxisDecl:
        name, extent, word = tree.children
        given = None if extent is None else self._atom(tokens(extent)[0])
        broadcast = None if word is None else self._name(cast("Token", word))
        return ast.AxisDecl(self._name(cast("Token", name)), given, broadcast)

    def _body(self, tree: Branch) -> ast.Body:
        match tree.data:
            case "coordinates":
                return self._coordinates(tree)
            case "foreign":
                return self._foreign(tree)
            case "application":
                return self._application(tree)
            case _:
                return self._reference(tree)

    def _foreign(self, tree: Branch) -> ast.Foreign:
        notation, quoted = tokens(tree)
        inside = self._quoted(quoted)
        return ast.Foreign(self._name(notation), inside.text, inside.span, self._span(tree))

    def _coordinates(self, tree: Branch) -> ast.Coordinates:
        major, minor = tree.children
        outer = self._places(cast("Branch", major))
        if minor is None:
            return ast.Coordinates(outer, None, self._span(tree))
        places = (*outer, *self._places(cast("Branch", minor)))
        return ast.Coordinates(places, len(outer), self._span(tree))

    def _reference(self, tree: Branch) -> ast.Reference:
        name, arguments = tree.children
        given = tuple(self._atom(tokens(each)[0]) for each in branches(arguments))
        return ast.Reference(self._name(cast("Token", name)), given, self._span(tree))

    def _application(self, tree: Branch) -> ast.Application:
        name, *arguments, within = tree.children
        given = tuple(self._atom(tokens(each)[0]) for part in arguments for each in branches(part))
        called = self._name(cast("Token", name))
        end = called.span if not given else self._span(cast("Branch", arguments[0]))
        layout = ast.Reference(called, given, called.span.to(end))
        inside = cast("Branch", within)
        if inside.data == "reference":
            inner = self._reference(inside)
            return ast.Application(layout, (), inner, self._span(tree))
        return ast.Application(layout, self._places(inside), None, self._span(tree))

    def _places(self, tree: Branch) -> tuple[ast.Place, ...]:
        return tuple(self._place(child) for child in branches(tree))

    def _place(self, tree: Branch) -> ast.Place:
        value, extent = cast("list[Branch]", tree.children)
        declared = None if extent is None else self._expression(extent)
        return ast.Place(self._expression(value), declared, self._span(tree))

    def _entry(self, tree: Branch) -> ast.Entry:
        axis, value = tree.children
        written = self._expression(cast("Branch", value))
        return ast.Entry(self._name(cast("Token", axis)), written, self._span(tree))

    def _clause(self, tree: Branch) -> ast.Clause:
        span = self._span(tree)
        match tree.data:
            case "fill":
                return ast.FillClause(self._fill(branches(tree)[0]), span)
            case "element":
                return self._element(tree)
            case "start_at":
                return ast.OffsetClause(self._expression(branches(tree)[0]), span)
            case _:
                return self._where(tree)

    def _element(self, tree: Branch) -> ast.ElementClause:
        name, said = tree.children
        interface = None
        if said is not None:
            word, per = cast("Branch", said).children
            along = None if per is None else self._name(cast("Token", per))
            if word != PLAIN or along is not None:
                words = self._name(cast("Token", word))
                interface = ast.InterfaceWords(words, along, self._span(cast("Branch", said)))
        return ast.ElementClause(self._name(cast("Token", name)), self._span(tree), interface)

    def _fill(self, tree: Branch) -> int | float | str:
        sign, digits = tree.children
        if tree.data == "fill_word":
            return f"-{digits}" if sign == "-" else str(digits)
        if tree.data == "fill_real":
            return float(f"{sign or ''}{digits}")
        value = self._number(cast("Token", digits)).value
        return -value if sign == "-" else value

    def _where(self, tree: Branch) -> ast.WhereClause:
        conditions = tuple(self._condition(child) for child in branches(tree))
        return ast.WhereClause(conditions, self._span(tree))

    def _condition(self, tree: Branch) -> ast.Comparison | ast.Within:
        span = self._span(tree)
        operands = tuple(self._expression(child) for child in branches(tree))
        if tree.data == "within":
            value, low, high = operands
            return ast.Within(value, low, high, span)
        return ast.Comparison(operands, tuple(map(str, tokens(tree))), span)

    def _expression(self, tree: Branch) -> ast.Expression:
        span = self._span(tree)
        match tree.data:
            case "name":
                return self._name(tokens(tree)[0])
            case "number":
                return self._number(tokens(tree)[0])
            case "sign":
                operand = self._expression(branches(tree)[0])
                return operand if tokens(tree)[0] == "+" else ast.Negation(operand, span)
            case "call":
                function = self._name(tokens(tree)[0])
                arguments = tuple(self._expression(child) for child in branches(tree))
                return ast.Call(function, arguments, span)
            case "application":
                return self._application(tree)
            case "tuple":
                parts = self._places(tree)
                alone = len(parts) == 1 and parts[0].extent is None
                return parts[0].value if alone else ast.Tuple(parts, span)
            case _:
                return self._chain(tree)

    def _chain(self, tree: Branch) -> ast.Expression:
        """Fold ``a - b - c`` to the left; the place of ``(a + b)*c`` has the brackets in it."""
        first, *rest = branches(tree)
        start, left = self._span(first), self._expression(first)
        for symbol, branch in zip(tokens(tree), rest, strict=True):
            span = start.to(self._span(branch))
            word = "/" if symbol == "//" else str(symbol)
            left = ast.Operation(word, left, self._expression(branch), span)
        return left


def branches(tree: Branch | Token | None = None) -> list[Branch]:
    """Return the branches among the children of a tree, if it is one."""
    return [] if not isinstance(tree, Tree) else [c for c in tree.children if isinstance(c, Tree)]


def tokens(tree: Branch | Token | None) -> list[Token]:
    """Return the words among them."""
    return [] if not isinstance(tree, Tree) else [c for c in tree.children if isinstance(c, Token)]
