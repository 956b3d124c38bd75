"""Write the parts of the cookbook that follow from the library, in place.

    python docs/cookbook/write.py            # all pages, thumbnails and the index
    python docs/cookbook/write.py nchw16c    # one page, and the index

A page is written by hand; between `<!-- written: NAME -->` and `<!-- end -->` stands what a
function of `parts.py` makes. `pages.toml` says which layout a page is of, and at which shapes. A
test compares every file with what this would write.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import parts
from parts import Page

HERE = Path(__file__).parent
SECTIONS = (
    "Where it comes from",
    "As text",
    "Formula",
    "Picture",
    "Padding and fill",
    "Where it goes wrong",
    "Code",
    "Cost",
    "Elsewhere",
)
"""Below the title of every page, and what it is, in this order."""

PARTS = {
    "source": parts.source,
    "text": parts.text,
    "formula": parts.formula,
    "picture": parts.picture,
    "padding": parts.padding,
    "cost": parts.cost,
    "elsewhere": parts.elsewhere,
}
"""What is written into a page; `wrong` besides, which needs the block before it."""

_WRITTEN = re.compile(r"<!-- written: (\w+) -->\n(?:(?!<!-- end -->).*\n)*<!-- end -->")
_WRONG = re.compile(r"## Where it goes wrong\n.*?^```layout[^\n]*\n(.*?)^```$", re.M | re.S)


def pages() -> tuple[Page, ...]:
    """Return what `pages.toml` says of each page, in its order."""
    found = tomllib.loads((HERE / "pages.toml").read_text(encoding="utf-8"))
    known = {"title", "family", "line", "subject", "declared", "picture", "real"}
    return tuple(
        Page(
            name=name,
            title=said["title"],
            family=said["family"],
            line=said["line"],
            subject=said["subject"],
            declared=tuple(said.get("declared", (said["subject"],))),
            picture=tuple(said["picture"]),
            real=tuple(said["real"]),
            said={key: value for key, value in said.items() if key not in known},
        )
        for name, said in found.items()
    )


def mistaken(text: str) -> str:
    """Return the block of a page that is wrong on purpose.

    Raises:
        ValueError: there is none.
    """
    found = _WRONG.search(text)
    if found is None:
        raise ValueError("no block of a layout under `Where it goes wrong`")
    return found[1]


def filled(page: Page, text: str) -> str:
    """Return a page with its parts as they are now."""

    def part(found: re.Match[str]) -> str:
        name = found[1]
        body = parts.wrong(page, mistaken(text)) if name == "wrong" else PARTS[name](page)
        return f"<!-- written: {name} -->\n{body}\n<!-- end -->"

    return _WRITTEN.sub(part, text)


def index(found: tuple[Page, ...], text: str) -> str:
    """Return the page that lists all others, by family."""
    blocks = []
    for family in dict.fromkeys(page.family for page in found):
        rows = [
            f"| ![](thumbnails/{page.name}.svg) | [{page.title}]({page.name}.md) | {page.line} |"
            for page in found
            if page.family == family
        ]
        blocks.append("\n".join([f"## {family}", "", "| | | |", "| --- | --- | --- |", *rows]))
    names = "\n".join(page.name for page in found)
    blocks.append(f"```{{toctree}}\n:hidden:\n\n{names}\n```")
    body = "\n\n".join(blocks)
    return _WRITTEN.sub(lambda _: f"<!-- written: index -->\n{body}\n<!-- end -->", text)


def files(names: tuple[str, ...] = ()) -> Iterator[tuple[Path, str]]:
    """Yield each file that is written, with what belongs into it."""
    found = pages()
    for page in found:
        if names and page.name not in names:
            continue
        path = HERE / f"{page.name}.md"
        yield path, filled(page, path.read_text(encoding="utf-8"))
        yield HERE / "thumbnails" / f"{page.name}.svg", parts.thumbnail(page)
    path = HERE / "index.md"
    yield path, index(found, path.read_text(encoding="utf-8"))


def main(names: tuple[str, ...]) -> None:
    """Write what is not as it should be, and say what that was."""
    for path, text in files(names):
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {path.relative_to(HERE)}\n")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
