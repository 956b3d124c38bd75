"""lark's tree -> our tree. It knows the shape of `grammar/layout.lark`, and nothing of meaning."""

from __future__ import annotations

from typing import cast

from lark import Token, Tree

from layoutdsl.syntax import ast
from layoutdsl.texts.source import Diagnostic, Label, LayoutError, Source, Span

MOST_OPERANDS = 100
"""Operands of one operator side by side."""

DEEPEST = 150
"""Levels of one statement: operators, signs, entries of lists; it bounds every recursion."""

MOST_PARTS = 64
"""Parts of one record: each two of them are held against each other."""

MOST_PLACES = 64
"""Axes, parameters or coordinates in one list; numpy's arrays have no more dimensions."""

PLAIN = "plain"
"""The interface of elements that stand for themselves, as they do where nothing is said."""

Branch = Tree[Token]

_CHAINS = frozenset({"xor", "masked", "shift", "sum", "product"})
_LISTS = frozenset(
    {
        "parameters",
        "axes",
        "places",
        "arguments",
        "call",
        "tuple",
        "slots",
        "decoded",
        "names",
        "called",
        "picks",
        "pick",
        "operators",
        "operands",
        "patterns",
        "results",
        "settings",
        "takes",
        "references",
    }
)


def _levels(branch: Branch) -> int:
    """How many levels of our tree a branch becomes: a chain folds to the left, a list is summed."""
    if branch.data in _CHAINS:
        return len(branch.children) // 2
    return len(branch.children) if branch.data in ("places", "tuple", "call", "sign") else 0


class Builder:
    """Builds the declarations of one source; those about operators are for `operator_build`."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def file(self, tree: Branch) -> ast.File:
        """Return the declarations of the whole tree."""
        self._measure(tree)
        return ast.File(tuple(map(self._declaration, _branches(tree))))

    def _declaration(self, tree: Branch) -> ast.Declaration:
        match tree.data:
            case "layout":
                return self._layout(tree)
            case "table":
                return self._table(tree)
            case "record":
                return self._record(tree)
            case "rule" | "kept":
                return self._rule(tree)
            case "group":
                return self._group(tree)
            case _:
                return self._claim(tree)

    def _measure(self, tree: Branch) -> None:
        """Refuse what is too deep or too wide, before anything recurses into it."""
        pending = [(tree, 0)]
        while pending:
            branch, above = pending.pop()
            inside, level = _branches(branch), above + _levels(branch)
            if branch.data in _CHAINS and len(inside) > MOST_OPERANDS:
                message = f"more than {MOST_OPERANDS} operands stand side by side"
                hint = "group some of them in parentheses"
                raise self._too_much("L104", message, branch, hint)
            if branch.data in _LISTS and len(branch.children) > MOST_PLACES:
                message = f"a list has more than {MOST_PLACES} entries"
                raise self._too_much("L103", message, branch, None)
            if level > DEEPEST:
                message = f"this is nested more than {DEEPEST} operators and coordinates deep"
                raise self._too_much("L104", message, branch, None)
            pending += [(each, level) for each in reversed(inside)]

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

    def _layout(self, tree: Branch) -> ast.LayoutDecl:
        name, parameters, axes, body, *clauses = tree.children
        return ast.LayoutDecl(
            self._name(cast("Token", name)),
            tuple(self._name(token) for token in _tokens(parameters)),
            None if axes is None else tuple(self._axis(each) for each in _branches(axes)),
            self._body(cast("Branch", body)),
            tuple(self._clause(cast("Branch", clause)) for clause in clauses),
            self._span(tree),
        )

    def _table(self, tree: Branch) -> ast.TableDecl:
        name, parameters, axes, slots, entries, where = tree.children
        return ast.TableDecl(
            self._name(cast("Token", name)),
            tuple(self._name(token) for token in _tokens(parameters)),
            tuple(self._axis(each) for each in _branches(axes)),
            tuple(self._slot(each) for each in _branches(slots)),
            tuple(self._entry(each) for each in _branches(entries)),
            None if where is None else self._where(cast("Branch", where)),
            self._span(tree),
        )

    def _slot(self, tree: Branch) -> ast.SlotDecl:
        name, extent = tree.children
        return ast.SlotDecl(
            self._name(cast("Token", name)), self._expression(cast("Branch", extent))
        )

    def _entry(self, tree: Branch) -> ast.Entry:
        axis, value = tree.children
        written = self._expression(cast("Branch", value))
        return ast.Entry(self._name(cast("Token", axis)), written, self._span(tree))

    def _record(self, tree: Branch) -> ast.RecordDecl:
        name, parameters, axes, *rest = tree.children
        inside = [each for each in rest if isinstance(each, Tree)]
        parts = [each for each in inside if each.data == "part"]
        if len(parts) > MOST_PARTS:
            message = f"a record has more than {MOST_PARTS} parts"
            raise self._too_much("L103", message, tree, None)
        return ast.RecordDecl(
            self._name(cast("Token", name)),
            tuple(self._name(token) for token in _tokens(parameters)),
            tuple(self._axis(each) for each in _branches(axes)),
            tuple(map(self._part, parts)),
            tuple(self._clause(each) for each in inside if each.data != "part"),
            self._span(tree),
        )

    def _part(self, tree: Branch) -> ast.PartDecl:
        name, picks, bits, body, *clauses = tree.children
        held = None
        if bits is not None:
            first, last = map(self._number, _tokens(bits))
            held = first, last
        return ast.PartDecl(
            self._name(cast("Token", name)),
            tuple(tuple(map(self._digit, _branches(each))) for each in _branches(picks)),
            held,
            self._body(cast("Branch", body)),
            tuple(self._clause(cast("Branch", clause)) for clause in clauses),
            self._span(tree),
        )

    def _rule(self, tree: Branch) -> ast.RuleDecl:
        quoted = self._span(_tokens(tree)[0])
        place = Span(self._source, quoted.start + 1, quoted.end - 1)
        if tree.data == "kept":
            return ast.RuleDecl(place.text, None, None, None, (), place, self._span(tree))
        _, axes, body, stored, *clauses = tree.children
        return ast.RuleDecl(
            place.text,
            None if axes is None else tuple(self._axis(each) for each in _branches(axes)),
            self._body(cast("Branch", body)),
            None if stored is None else self._from_words(cast("Branch", stored)),
            tuple(self._clause(cast("Branch", clause)) for clause in clauses),
            place,
            self._span(tree),
        )

    def _from_words(self, tree: Branch) -> ast.FromWords:
        word, layout = tree.children
        reference = self._reference(cast("Branch", layout))
        return ast.FromWords(self._name(cast("Token", word)), reference, self._span(tree))

    def _group(self, tree: Branch) -> ast.GroupDecl:
        pattern, record, *sources, target = tree.children
        return ast.GroupDecl(
            self._quoted(cast("Token", pattern)),
            self._reference(cast("Branch", record)),
            tuple(self._source_of(cast("Branch", each)) for each in sources),
            self._quoted(cast("Token", target)),
            self._span(tree),
        )

    def _source_of(self, tree: Branch) -> ast.SourceDecl:
        field, name, stored = tree.children
        packed = None if stored is None else self._from_words(cast("Branch", stored))
        quoted = self._quoted(cast("Token", name))
        return ast.SourceDecl(self._name(cast("Token", field)), quoted, packed)

    def _quoted(self, token: Token) -> ast.Quoted:
        whole = self._span(token)
        inside = Span(self._source, whole.start + 1, whole.end - 1)
        return ast.Quoted(inside.text, inside)

    def _digit(self, tree: Branch) -> ast.DigitDecl:
        value, extent = tree.children
        declared = None if extent is None else self._expression(cast("Branch", extent))
        return ast.DigitDecl(self._atom(cast("Token", value)), declared, self._span(tree))

    def _axis(self, tree: Branch) -> ast.AxisDecl:
        name, extent, word = tree.children
        given = None if extent is None else self._atom(_tokens(extent)[0])
        broadcast = None if word is None else self._name(cast("Token", word))
        return ast.AxisDecl(self._name(cast("Token", name)), given, broadcast)

    def _body(self, tree: Branch) -> ast.Coordinates | ast.Reference | ast.Foreign:
        match tree.data:
            case "coordinates":
                return self._coordinates(tree)
            case "foreign":
                return self._foreign(tree)
            case _:
                return self._reference(tree)

    def _foreign(self, tree: Branch) -> ast.Foreign:
        notation, quoted = _tokens(tree)
        whole = self._span(quoted)
        inside = Span(self._source, whole.start + 1, whole.end - 1)
        return ast.Foreign(self._name(notation), inside.text, inside, self._span(tree))

    def _coordinates(self, tree: Branch) -> ast.Coordinates:
        major, minor = tree.children
        outer = self._places(cast("Branch", major))
        if minor is None:
            return ast.Coordinates(outer, None, self._span(tree))
        places = (*outer, *self._places(cast("Branch", minor)))
        return ast.Coordinates(places, len(outer), self._span(tree))

    def _reference(self, tree: Branch) -> ast.Reference:
        name, arguments = tree.children
        given = tuple(self._atom(_tokens(each)[0]) for each in _branches(arguments))
        return ast.Reference(self._name(cast("Token", name)), given, self._span(tree))

    def _places(self, tree: Branch) -> tuple[ast.Place, ...]:
        return tuple(self._place(child) for child in _branches(tree))

    def _place(self, tree: Branch) -> ast.Place:
        value, extent = cast("list[Branch]", tree.children)
        declared = None if extent is None else self._expression(extent)
        return ast.Place(self._expression(value), declared, self._span(tree))

    def _clause(self, tree: Branch) -> ast.Clause:
        span = self._span(tree)
        match tree.data:
            case "fill":
                return ast.FillClause(self._fill(_branches(tree)[0]), span)
            case "element":
                return self._element(tree)
            case "start_at":
                return ast.OffsetClause(self._expression(_branches(tree)[0]), span)
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

    def _fill(self, tree: Branch) -> int | str:
        if tree.data == "fill_word":
            return str(_tokens(tree)[0])
        sign, digits = tree.children
        value = self._number(cast("Token", digits)).value
        return -value if sign == "-" else value

    def _where(self, tree: Branch) -> ast.WhereClause:
        conditions = tuple(self._condition(child) for child in _branches(tree))
        return ast.WhereClause(conditions, self._span(tree))

    def _condition(self, tree: Branch) -> ast.Comparison | ast.Within:
        span = self._span(tree)
        operands = tuple(self._expression(child) for child in _branches(tree))
        if tree.data == "within":
            value, low, high = operands
            return ast.Within(value, low, high, span)
        return ast.Comparison(operands, tuple(map(str, _tokens(tree))), span)

    def _claim(self, tree: Branch) -> ast.ClaimDecl:
        polarity, subject, part, predicate, where = tree.children
        return ast.ClaimDecl(
            "prove" if polarity == "prove" else "refute",
            self._reference(cast("Branch", subject)),
            ast.Sound() if predicate is None else self._predicate(cast("Branch", predicate)),
            None if where is None else self._where(cast("Branch", where)),
            self._span(tree),
            None if part is None else self._field(cast("Branch", part)),
        )

    def _field(self, tree: Branch) -> ast.FieldName:
        name, called = tree.children
        axes = tuple(map(self._name, _tokens(called)))
        return ast.FieldName(self._name(cast("Token", name)), axes, self._span(tree))

    def _predicate(self, tree: Branch) -> ast.Predicate:
        match tree.data:
            case "equals":
                right, *names = _branches(tree)
                given = tuple(self._definition(each) for each in _branches(*names))
                if right.data in ("coordinates", "reference", "foreign"):
                    return ast.Equals(self._body(right), given)
                return ast.Equals(self._expression(right), given)
            case "fits" | "offsets_fit":
                width, *measure = _branches(tree)
                form = ast.Fits if tree.data == "fits" else ast.OffsetsFit
                return form(self._atom(_tokens(width)[0]), self._counted(measure))
            case "computes":
                return ast.Computes(self._atom(_tokens(_branches(tree)[0])[0]))
            case "inverts":
                return ast.Inverts(self._reference(_branches(tree)[0]))
            case "fills":
                return ast.Fills(self._number(_tokens(tree)[0]), self._span(tree))
            case "reads":
                return self._reads(tree)
            case "keeps":
                return ast.Keeps(self._places(_branches(tree)[0]))
            case _:
                number, *element = _tokens(tree)
                places = self._places(_branches(tree)[0])
                of = self._name(element[0]) if element else None
                return ast.Aligns(places, self._number(number), of)

    def _reads(self, tree: Branch) -> ast.Reads:
        number, element, thread, threads, index = tree.children
        return ast.Reads(
            self._number(cast("Token", number)),
            None if element is None else self._name(cast("Token", element)),
            self._name(cast("Token", thread)),
            self._number(cast("Token", threads)),
            tuple(self._entry(each) for each in _branches(index)),
            self._span(tree),
        )

    def _counted(self, branches: list[Branch]) -> ast.Measure | None:
        if not branches:
            return None
        (tree,) = branches
        names = _tokens(tree)
        return ast.Measure(self._name(names[0]) if names else None, self._span(tree))

    def _definition(self, tree: Branch) -> ast.Definition:
        return ast.Definition(self._name(_tokens(tree)[0]), self._expression(_branches(tree)[0]))

    def _expression(self, tree: Branch) -> ast.Expression:
        span = self._span(tree)
        match tree.data:
            case "name":
                return self._name(_tokens(tree)[0])
            case "number":
                return self._number(_tokens(tree)[0])
            case "sign":
                operand = self._expression(_branches(tree)[0])
                return operand if _tokens(tree)[0] == "+" else ast.Negation(operand, span)
            case "call":
                function = self._name(_tokens(tree)[0])
                arguments = tuple(self._expression(child) for child in _branches(tree))
                return ast.Call(function, arguments, span)
            case "tuple":
                parts = self._places(tree)
                alone = len(parts) == 1 and parts[0].extent is None
                return parts[0].value if alone else ast.Tuple(parts, span)
            case _:
                return self._chain(tree)

    def _chain(self, tree: Branch) -> ast.Expression:
        """Fold ``a - b - c`` to the left; the place of ``(a + b)*c`` has the brackets in it."""
        first, *rest = _branches(tree)
        start, left = self._span(first), self._expression(first)
        for symbol, branch in zip(_tokens(tree), rest, strict=True):
            span = start.to(self._span(branch))
            word = "/" if symbol == "//" else str(symbol)
            left = ast.Operation(word, left, self._expression(branch), span)
        return left


def _branches(tree: Branch | Token | None = None) -> list[Branch]:
    return [] if not isinstance(tree, Tree) else [c for c in tree.children if isinstance(c, Tree)]


def _tokens(tree: Branch | Token | None) -> list[Token]:
    return [] if not isinstance(tree, Tree) else [c for c in tree.children if isinstance(c, Token)]
