"""C as plain terms: the few forms that generated text has, every other one is refused. Trusted.

An expression is a number, a name, or a tuple of an operator and operands, as in
``("+", ("*", 4, "n_C"), 1)``; a statement is a tuple too. pycparser reads the text; that its trees
are those of C is believed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

from pycparser import c_ast, c_parser

from layoutdsl.code.validate.terms import Meaningless

C: TypeAlias = "int | str | tuple[Any, ...]"
"""An expression or a statement."""

Body: TypeAlias = "tuple[tuple[Any, ...], ...]"

_TYPES = "".join(
    f"typedef {plain} {name};\n"
    for name, plain in (
        ("int64_t", "long"),
        ("uint8_t", "unsigned char"),
        ("uint64_t", "unsigned long"),
        ("uintptr_t", "unsigned long"),
        ("size_t", "unsigned long"),
    )
)
_NUMBER = re.compile(r"0|[1-9][0-9]*")
_REAL = re.compile(r"([1-9][0-9]*)\.0")
_PLAIN = re.compile(r"[A-Za-z0-9_ \n(){}\[\];,.<>=+\-*/%?:&|!^]*")
_NOTE = re.compile(r"//|/\*[ -\[\]-~\n]*?\*/")
_BINARY = frozenset(("+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "^", "&"))
_BITS = frozenset(("|", "<<", ">>"))
_UNARY = frozenset(("-", "!", "p++"))


@dataclass(frozen=True, slots=True)
class Function:
    """A function.

    Attributes:
        head: its storage and type, and the types and names of its parameters.
        body: its statements.
    """

    head: str
    body: Body


def without_notes(text: str) -> str:
    """Return a text without its comments.

    Raises:
        Meaningless: it has other characters than generated text has, which may mean anything.
    """
    plain = _NOTE.sub(lambda note: "//" if note[0] == "//" else " ", text)
    if _PLAIN.fullmatch(plain) is None or any(sign in plain for sign in ("//", "/*", "??")):
        raise Meaningless("the text has characters that are not expected")
    if any("??" in note for note in _NOTE.findall(text)):
        raise Meaningless("a comment has signs that stand for others")
    return plain


def parsed(text: str) -> dict[str, Function]:
    """Return the functions of a text without comments, by name.

    Raises:
        Meaningless: it is no C, or has forms that are not known.
    """
    try:
        found = c_parser.CParser().parse(_TYPES + text)
    except (c_parser.ParseError, RecursionError, AssertionError) as reason:
        raise Meaningless(f"it is no C that is read here: {reason}") from None
    functions = dict[str, Function]()
    for each in found.ext[_TYPES.count("\n") :]:
        if not isinstance(each, c_ast.FuncDef) or each.param_decls:
            raise Meaningless("something else than a function is defined")
        head = _head(each.decl)
        if each.decl.name in functions:
            raise Meaningless(f"`{each.decl.name}` is defined twice")
        functions[each.decl.name] = Function(head, _body(each.body))
    return functions


def _head(decl: Any) -> str:
    if not isinstance(decl.type, c_ast.FuncDecl) or decl.init or decl.bitsize or decl.align:
        raise Meaningless("a function of another form")
    words = (*decl.storage, *decl.funcspec, _type(decl.type.type))
    given = (f"{_type(each.type)} {each.name}" for each in decl.type.args.params)
    return f"{' '.join(words)} {decl.name}({', '.join(given)})"


def _type(node: Any) -> str:
    match node:
        case c_ast.TypeDecl(type=c_ast.IdentifierType()) if not node.align:
            return " ".join((*node.quals, *node.type.names))
        case c_ast.PtrDecl():
            return " ".join((_type(node.type), "*", *node.quals))
    raise Meaningless(f"a type of another form: {type(node).__name__}")


def _body(node: Any) -> Body:
    """The statements of a block, or the one that stands in place of it."""
    if isinstance(node, c_ast.Compound):
        return tuple(_statement(each) for each in node.block_items or ())
    return (_statement(node),)


def _statement(node: Any) -> tuple[Any, ...]:
    match node:
        case c_ast.Decl():
            return _declared(node)
        case c_ast.For(init=c_ast.DeclList()):
            (first,) = node.init.decls if len(node.init.decls) == 1 else (None,)
            return ("for", _declared(first), *map(_term, (node.cond, node.next)), _body(node.stmt))
        case c_ast.If():
            other = _body(node.iffalse) if node.iffalse is not None else ()
            return ("if", _term(node.cond), _body(node.iftrue), other)
        case c_ast.Compound():
            return ("block", _body(node))
        case c_ast.Return() if node.expr is not None:
            return ("return", _term(node.expr))
        case c_ast.FuncCall() | c_ast.Assignment() | c_ast.ExprList():
            return ("do", _term(node))
        case c_ast.Cast():
            return ("do", ("list", _term(node)))
    raise Meaningless(f"a statement of another form: {type(node).__name__}")


def _declared(node: Any) -> tuple[Any, ...]:
    """``("let", type, name, value)``, or ``("array", type, name, length, value)``."""
    if not isinstance(node, c_ast.Decl) or node.storage or node.funcspec or node.align:
        raise Meaningless("a declaration of another form")
    value = None if node.init is None else _term(node.init)
    if isinstance(node.type, c_ast.ArrayDecl) and not node.type.dim_quals:
        return ("array", _type(node.type.type), node.name, _term(node.type.dim), value)
    return ("let", _type(node.type), node.name, value)


def _term(node: Any) -> C:
    match node:
        case c_ast.Constant(type="int", value=value) if _NUMBER.fullmatch(value):
            return int(value)
        case c_ast.Constant(type="double", value=value) if found := _REAL.fullmatch(value):
            return ("real", int(found[1]))
        case c_ast.ID():
            return str(node.name)
        case c_ast.BinaryOp() if node.op in _BINARY | _BITS:
            return (node.op, _term(node.left), _term(node.right))
        case c_ast.UnaryOp() if node.op in _UNARY:
            return (node.op, _term(node.expr))
        case c_ast.TernaryOp():
            return ("?", *map(_term, (node.cond, node.iftrue, node.iffalse)))
        case c_ast.Assignment() if node.op in ("=", "+=", "|="):
            return (node.op, _term(node.lvalue), _term(node.rvalue))
        case c_ast.ArrayRef():
            return ("[]", _term(node.name), _term(node.subscript))
        case c_ast.FuncCall(name=c_ast.ID()):
            given = node.args.exprs if node.args is not None else ()
            return ("call", node.name.name, *map(_term, given))
        case c_ast.Cast() if node.to_type.name is None:
            return ("cast", _type(node.to_type.type), _term(node.expr))
        case c_ast.ExprList() | c_ast.InitList():
            return ("list", *map(_term, node.exprs))
    raise Meaningless(f"an expression of another form: {type(node).__name__}")
