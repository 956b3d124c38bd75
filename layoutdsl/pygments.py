"""Colours of `.layout` texts: a lexer for Pygments, which documents and terminals use.

    pygmentize -l layout demo.layout

`RULES` is the one table of what has which colour. Editors get the same as a grammar of TextMate,
`editors/vscode/syntaxes/layout.tmLanguage.json`, which a test writes from it. Words are those of
`grammar/layout.lark`.
"""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Whitespace,
    _TokenType,
)

__all__ = ["LayoutLexer"]

DECLARING = ("group", "layout", "op", "prefer", "record", "rule", "table", "tensor")
CLAIMING = ("prove", "refute")
OTHER = (
    *("aligns", "as", "at", "bits", "broadcast", "by", "bytes", "computes", "conflicts"),
    *("contiguous", "fill", "fills", "fit", "fits", "from", "in", "inverts", "keeps", "of"),
    *("offset", "offsets", "per", "reads", "to", "where", "with", "without", "words"),
)
KEPT = ("keep",)
"""Are words behind ``=`` alone, and names elsewhere."""

CALLED = ("ceil", "max", "min", "roundup")

TYPES = r"(?:bool|bf16|c64|e8|f8e4m3|f8e5m2|f(?:4|6|8|16|32|64)|[iu][0-9]+)"

_WORD = r"[A-Za-z_][A-Za-z0-9_]*"


def _any(words: tuple[str, ...]) -> str:
    return rf"\b(?:{'|'.join(words)})\b"


_NO_WORD = rf"(?!{_any((*DECLARING, *CLAIMING, *OTHER))})"
_TEXT = r"\"[^\"]*\""

RULES: tuple[tuple[str, tuple[tuple[str, _TokenType], ...]], ...] = (
    (r"#.*$", (("comment.line.number-sign", Comment.Single),)),
    (
        rf"{_NO_WORD}(\b{_WORD})([ \t]*)({_TEXT})",
        (
            ("support.type.notation", Name.Builtin),
            ("", Whitespace),
            ("string.quoted.double", String.Double),
        ),
    ),
    (_TEXT, (("string.quoted.double", String.Double),)),
    (
        rf"(\b(?:layout|table|record))([ \t]+)({_WORD})",
        (
            ("keyword.declaration", Keyword.Declaration),
            ("", Whitespace),
            ("entity.name.type", Name.Class),
        ),
    ),
    (
        rf"(\bof)([ \t]+)({TYPES}\b)",
        (("keyword.other", Keyword), ("", Whitespace), ("storage.type", Keyword.Type)),
    ),
    # `group` is a name too, of an attribute: nothing that could be declared stands behind it then.
    (
        rf'{_any(DECLARING)}(?=[ \t]*(?:$|["A-Za-z_#]))',
        (("keyword.declaration", Keyword.Declaration),),
    ),
    (_any(CLAIMING), (("keyword.control", Keyword.Reserved),)),
    (
        rf"(=)([ \t]*)({_any(KEPT)})",
        (("keyword.operator", Operator), ("", Whitespace), ("keyword.other", Keyword)),
    ),
    # Operands of operators may have such names: an index, or that it may be missing, stands behind.
    (rf"{_any(OTHER)}(?![ \t]*[\[?])", (("keyword.other", Keyword),)),
    (rf"{_any(CALLED)}(?=[ \t]*\()", (("support.function", Name.Function),)),
    (r"\b[A-Za-z_][A-Za-z0-9_.-]*::[A-Za-z_][A-Za-z0-9_]*", (("support.class", Name.Namespace),)),
    (
        r"\b(?:0[xX][0-9A-Fa-f]+|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)",
        (("constant.numeric", Number.Integer),),
    ),
    (r"\b[A-Z][A-Z0-9]{0,3}\b", (("variable.other.constant", Name.Constant),)),
    (rf"\b{_WORD}", (("variable.other", Name),)),
    (r">(?===)|[=!<>]=|->|\.\.|<<|>>|//|[-+*/%^&|<>=?]", (("keyword.operator", Operator),)),
    (r"[\[\](){},:;.]", (("punctuation", Punctuation),)),
)
"""Patterns in their order, each with the scope of TextMate and the token of Pygments for all of it,
or for each of its groups.

Upper case of up to four signs is taken for an extent. A text in quotes may go over lines, which
editors that read line by line do not see.
"""


class LayoutLexer(RegexLexer):  # type: ignore[misc]  # it has no types
    """Colours `.layout` texts."""

    name = "layoutdsl"
    aliases: ClassVar[list[str]] = ["layout", "layoutdsl"]
    filenames: ClassVar[list[str]] = ["*.layout"]
    tokens: ClassVar[dict[str, list[tuple[str, object]]]] = {
        "root": [
            (r"\s+", Whitespace),
            *(
                (pattern, kinds[0][1] if len(kinds) == 1 else bygroups(*(k for _, k in kinds)))
                for pattern, kinds in RULES
            ),
        ]
    }
