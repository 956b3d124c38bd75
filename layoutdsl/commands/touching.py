"""What threads of a GPU touch when they read together, in words and drawn."""

from __future__ import annotations

from dataclasses import dataclass

from layoutdsl.language.declaration import declaration
from layoutdsl.language.elaborate.shelf import elaborated, find_layout
from layoutdsl.language.meaning import banks as meant
from layoutdsl.language.meaning.arguments import INTEGER, TEXT, expect
from layoutdsl.language.meaning.claims import Reads
from layoutdsl.language.meaning.model import Layout, Shape
from layoutdsl.language.texts.source import Source
from layoutdsl.language.texts.values import said
from layoutdsl.view.banks_picture import drawn_banks
from layoutdsl.view.banks_words import banks_text, conflicts_text
from layoutdsl.view.html import banner, block, fragment, page, paragraph, picture
from layoutdsl.view.svg import svg
from layoutdsl.view.words import at_shape

THREAD = "t"
"""What the number of a thread is called."""


@dataclass(frozen=True, slots=True)
class BankReport:
    """What threads touch, of a layout at a shape; a notebook displays it.

    Attributes:
        shape: every extent and parameter with its value.
        banks: what each thread reads, who waits for whom, and what is fetched.
    """

    layout: Layout
    shape: tuple[tuple[str, int], ...]
    banks: meant.Banks

    def __bool__(self) -> bool:
        """Return whether no threads wait for each other."""
        return self.banks.conflict is None

    def __repr__(self) -> str:
        return said(self, f"{self.title}: {self.banks.cycles} cycles, {self.banks.ways}-way")

    def __str__(self) -> str:
        return banks_text(self.title, self.banks)

    @property
    def threads(self) -> int:
        """How many threads read."""
        return len(self.banks.accesses)

    @property
    def status(self) -> str:
        """Whether threads wait for each other: ``conflicts``, or ``without conflicts``."""
        return "without conflicts" if self.banks.conflict is None else "conflicts"

    @property
    def title(self) -> str:
        """What is read, and at which shape."""
        return at_shape(self.layout.name, self.shape)

    def svg(self) -> str:
        """Return a matrix of banks and cycles as SVG."""
        return svg(drawn_banks(self.title, self.banks))

    def html(self) -> str:
        """Return a page of one file, which loads nothing: the verdict, and the same matrix."""
        title, _, *words = str(self).splitlines()  # the second line is the verdict
        top = banner(
            "good" if self else "bad",
            conflicts_text(self.banks),
            paragraph(title),
            block("\n".join(words)),
        )
        drawn = drawn_banks(self.title, self.banks)
        return page(self.title, top, block(declaration(self.layout)), picture(drawn))

    def _repr_html_(self) -> str:
        return fragment(drawn_banks(self.title, self.banks))


def banks(
    layout: Layout | str,
    shape: Shape | None = None,
    *,
    thread: str,
    bytes: int = 4,  # noqa: A002  what the language calls them
    threads: int = meant.WARP,
    of: str | None = None,
) -> BankReport:
    """Return what threads touch in shared and in global memory when they read together.

    >>> rows = banks("GmmaKSw128", thread="m = t%8, k = t/8*8", bytes=16)
    >>> rows.banks.ways, rows.banks.cycles
    (1, 4)

    Args:
        layout: of what is read, or its name in the library.
        shape: its extents; left out where all of them are fixed.
        thread: where thread ``t`` begins, along every axis: ``"m = t%8, k = t/8*8"``.
        bytes: that each thread reads from there on: 1, 2, 4, 8 or 16.
        threads: how many there are; 32 at a time are a warp.
        of: the type of elements, such as ``f16``; by default that of the layout.

    Raises:
        LayoutError: ``thread`` is not in the language, or names what the layout has not.
        ValueError: the shape does not fit, or a thread reads outside, or what is not aligned.
    """
    layout = find_layout(layout)
    expect(
        thread=(thread, TEXT),
        bytes=(bytes, INTEGER),
        threads=(threads, INTEGER),
        of=(of, TEXT.or_none()),
    )
    values = layout.bind({} if shape is None else shape)
    reading = _reading(layout, thread, bytes, threads, of)
    return BankReport(layout, tuple(values.items()), meant.banks(layout, reading, values))


def _reading(layout: Layout, thread: str, size: int, threads: int, of: str | None) -> meant.Reading:
    """What each thread reads, as a claim says it."""
    name = layout.name.partition("<")[0]
    typed = "" if of is None else f" of {of}"
    claim = f"reads {size} bytes{typed} by {THREAD}: {threads} at ({thread}) without conflicts"
    module = elaborated(Source("--thread", f"prove {name} {claim}"), {name: layout})
    (claimed,) = module.claims if len(module.claims) == 1 else (None,)
    if module or claimed is None or not isinstance(claimed.predicate, Reads) or claimed.where:
        raise ValueError(f"`{thread}` is more than where a thread begins")
    return claimed.predicate.reading
