"""What the site has of its own: pages that lie elsewhere, links between them, colours and pictures.

Pages outside `docs/`, such as `grammar/README.md`, stay where readers of the repository look for
them, and are included. Links are written as the repository has them; here they become links between
pages of the site, or plain names of files that are not part of it.
"""

from __future__ import annotations

import io
import os
import re
import shlex
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from pygments.token import Text
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from layoutdsl.pygments import LayoutLexer
from layoutdsl.shell.shell import run
from layoutdsl.view.html import STYLE_SHEET

DOCS = Path(__file__).parent
CHECKOUT = DOCS.parent

ELSEWHERE = {
    "CHANGELOG.md": "changes",
    "CONTRIBUTING.md": "extending",
    "README.md": "index",
    "grammar/README.md": "reference/language",
    "grammar/errors.md": "reference/errors",
    "proofs/README.md": "certificates",
}
"""Which page of the site stands for a file outside `docs/`."""

_CODE_OR_LINK = re.compile(
    r"(?P<code>^```.*?^```|(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|(?<!!)\[(?P<text>(?:`[^`]*`|[^\]`])*)\]\((?P<target>[^)\s]*)\)",
    re.MULTILINE | re.DOTALL,
)
_CODE = re.compile(r"[LP]\d{3}")


def linked(text: str, lies: Path, page: Path) -> str:
    """Return a text with its links as the site has them.

    Args:
        text: MyST or Markdown.
        lies: where the file lies, from the checkout.
        page: the page that shows it, from `docs/`.
    """

    def link(found: re.Match[str]) -> str:
        target = found["target"]
        if found["code"] or not target or target.startswith(("http", "#", "mailto")):
            return found[0]
        path, _, place = target.partition("#")
        to = os.path.normpath(lies.parent / path)
        known = document(to)
        words = found["text"]
        if not (CHECKOUT / to).exists():
            return found[0]  # which Sphinx warns of
        if known is None:
            return words if to.rpartition("/")[2] in words else f"{words} (`{to}`)"
        if code := _CODE.match(words):
            place = code[0].lower()
        named = words.strip("`") in (path, to, Path(to).name)
        at = os.path.relpath(DOCS / f"{known}.md", (DOCS / page).parent)
        return f"[{'' if named else words}]({at}{'#' * bool(place)}{place})"

    return _CODE_OR_LINK.sub(link, text)


def document(path: str) -> str | None:
    """Return the page that stands for a file, given from the checkout, or None."""
    if path in ELSEWHERE:
        return ELSEWHERE[path]
    lies = Path(path)
    if lies.parts[0] == "docs" and lies.suffix == ".md" and (CHECKOUT / lies).exists():
        return lies.relative_to("docs").with_suffix("").as_posix()
    return None


def slug(title: str) -> str:
    """Return the name of a heading in links: as on GitHub; of a fault, its code.

    >>> slug("L202: digits leave a gap"), slug("The `xla` notation")
    ('l202', 'the-xla-notation')
    """
    if code := _CODE.match(title):
        return code[0].lower()
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _page_read(_: Sphinx, name: str, source: list[str]) -> None:
    page = Path(f"{name}.md")
    source[0] = linked(source[0], "docs" / page, page)


def _included(app: Sphinx, path: Path, _: str, source: list[str]) -> None:
    lies = Path(os.path.relpath(DOCS / path, CHECKOUT))
    text = linked(source[0], lies, Path(f"{app.env.docname}.md"))
    # What links from outside to a code finds it under this name.
    source[0] = re.sub(
        r"^(?=## ([LP]\d{3}): )", lambda each: f"({each[1].lower()})=\n", text, flags=re.MULTILINE
    )


class ShownLexer(LayoutLexer):
    """Colours texts, among them those that are wrong on purpose."""

    tokens: ClassVar = {"root": [*LayoutLexer.tokens["root"], (r".", Text)]}


_COLOUR = re.compile(r"--(\w+): light-dark\((\S+), (\S+)\);")
_THEME = {
    "ground": ("color-background-primary",),
    "card": ("color-background-secondary",),
    "ink": ("color-foreground-primary",),
    "faint": ("color-foreground-secondary", "color-foreground-muted"),
    "rule": ("color-background-border",),
    "accent": ("color-brand-primary", "color-brand-content"),
}
"""Colours of `page.css`, and what the theme of the site calls them."""


def palette() -> tuple[dict[str, str], dict[str, str]]:
    """Return the variables of the theme, for light and for dark pages."""
    light, dark = dict[str, str](), dict[str, str]()
    for name, bright, dim in _COLOUR.findall(STYLE_SHEET.read_text(encoding="utf-8")):
        for variable in _THEME.get(name, ()):
            light[variable], dark[variable] = bright, dim
    return light, dark


DRAWING = ("banks", "show")


class PictureDirective(SphinxDirective):
    """What a verb draws, in the page: ``{picture} NCHW16c --shape 1,20,2,3``.

    Without a verb that is `show`. The body of the directive is a text, `demo.layout`.
    """

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = {"caption": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Return the picture, or raise what the verb says is wrong."""
        drawn, said = io.StringIO(), io.StringIO()
        with TemporaryDirectory() as folder, chdir(folder):
            Path("demo.layout").write_text("\n".join(self.content), encoding="utf-8")
            with redirect_stdout(drawn), redirect_stderr(said):
                words = shlex.split(self.arguments[0])
                verb = [] if words[0] in DRAWING else ["show"]
                run([*verb, *words, "--as", "svg", "-o", "drawn.svg"])
            if not Path("drawn.svg").exists():
                raise self.error(said.getvalue())
            picture = Path("drawn.svg").read_text(encoding="utf-8")
        caption = self.options.get("caption")
        figure = nodes.container(classes=["picture"])
        width = re.search(r'width="(\d+)"', picture)
        style = f"--natural: {width[1] if width else 0}px"
        drawing = f'<div class="drawn" style="{style}">{picture}</div>'
        figure += nodes.raw("", drawing, format="html")
        if caption:
            words, _ = self.state.inline_text(caption, self.lineno)
            figure += nodes.paragraph("", "", *words, classes=["caption"])
        return [figure]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add them to the build."""
    app.connect("source-read", _page_read)
    app.connect("include-read", _included)
    app.add_lexer("layout", ShownLexer)
    app.add_directive("picture", PictureDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
