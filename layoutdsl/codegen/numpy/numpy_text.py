"""Numpy modules as text: readable, byte-stable, importing numpy alone.

Every module has `pack`, `unpack`, `offset` and `physical_shape`, and carries the layout's source
text and the hash of its certificate. What all modules share is copied from `support`.
"""

from __future__ import annotations

import re
from collections.abc import Container
from importlib.resources import files

from layoutdsl.codegen.moves import Fallback, Plan, Planned, Rows
from layoutdsl.codegen.numpy.arguments_text import argument_functions
from layoutdsl.codegen.numpy.codes_text import code_functions
from layoutdsl.codegen.numpy.copies_text import copies_functions, of_all
from layoutdsl.codegen.numpy.gather_text import gather_functions
from layoutdsl.codegen.numpy.pack_text import pack_function, unpack_function
from layoutdsl.codegen.numpy.regions_text import region_functions
from layoutdsl.codegen.numpy.words import Words, indented, literal
from layoutdsl.codegen.numpy.words_text import word_functions
from layoutdsl.meaning.model import Layout
from layoutdsl.meaning.storage import Stored

IMPORTS = (
    "from functools import lru_cache",
    "from math import gcd, prod",
    "",
    "import numpy as np",
    "from numpy.typing import NDArray",
)
UNPROVED = "unproved"
UNVALIDATED = (
    "# Nobody has shown that this text does what SOURCE means.",
    "VALIDATED = False",
)
_RULE = f"\n# {'-' * 98}\n"


def module_text(
    layout: Layout,
    planned: Planned,
    *,
    source: str,
    certificate: str | None,
    stored: Stored | None = None,
) -> str:
    """Return the module that packs by the plan.

    Args:
        layout: its printed formula is the text of `offset`.
        planned: how the layout is packed.
        source: the text in which the layout was written.
        certificate: the hash of its proofs, ``None`` where there is none.
        stored: how the buffer becomes words; there is no word of that without it.

    Raises:
        ValueError: the layout's name cannot name a module.
    """
    refuse_name(layout.name)
    reason, rows = None, None
    if isinstance(planned, Fallback):
        reason, rows = planned.by_element, planned.rows
    carried = [] if rows is None else ["rows.py"]
    carried += _carried_beside(layout, stored)
    lines = [
        *_head(layout, source, certificate, reason, rows, stored),
        *support_text(*carried),
        *_functions(layout, planned, ("pack", "unpack")),
        *_beside(layout, stored),
    ]
    return "\n".join(lines) + "\n"


def copies_text(
    layout: Layout,
    planned: tuple[Planned, Planned],
    *,
    source: str,
    certificate: str | None,
    stored: Stored | None = None,
) -> str:
    """Return the module of a layout that holds copies of its elements; see `copies_text.py`.

    Args:
        layout: with axes of copies.
        planned: how it is packed with all of its copies, and how the first ones are unpacked.
        source: the text in which the layout was written.
        certificate: the hash of its proofs, ``None`` where there is none.
        stored: how the buffer becomes words; there is no word of that without it.

    Raises:
        ValueError: the layout's name cannot name a module.
    """
    refuse_name(layout.name)
    falls = [each for each in planned if isinstance(each, Fallback)]
    reason = next((each.by_element for each in falls if each.by_element is not None), None)
    carried = ["copies.py", *(["rows.py"] if any(each.rows for each in falls) else [])]
    carried += _carried_beside(layout, stored)
    lines = [
        *_head(layout, source, certificate, reason, None, stored),
        *support_text(*carried),
        *of_all(_functions(layout.every_copy, planned[0], ("pack", "unpack"))),
        *_functions(layout.first_copy, planned[1], ("unpack",)),
        *copies_functions(layout),
        *_beside(layout, stored),
    ]
    return "\n".join(lines) + "\n"


def _carried_beside(layout: Layout, stored: Stored | None) -> list[str]:
    """What a module carries for words and numbers, whatever moves its elements."""
    dense = [] if stored is None else ["dense.py"]
    return [*dense, *([] if layout.interface is None else ["codes.py"])]


def _beside(layout: Layout, stored: Stored | None) -> list[str]:
    """The functions of words and numbers, over those that move elements."""
    words = [] if stored is None else word_functions(layout, stored)
    return [*words, *([] if layout.interface is None else code_functions(layout))]


def _functions(layout: Layout, planned: Planned, verbs: Container[str]) -> list[str]:
    words = Words(layout)
    return [
        *argument_functions(layout, planned, words),
        *_way(layout, planned, words),
        *(pack_function(layout, planned, words) if "pack" in verbs else []),
        *(unpack_function(layout, planned, words) if "unpack" in verbs else []),
    ]


def refuse_name(name: str) -> None:
    """Return if a layout's name can name a module; ValueError otherwise."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise ValueError(f"`{name}` cannot name a module")


def _way(layout: Layout, planned: Planned, words: Words) -> list[str]:
    match planned:
        case Plan():
            return region_functions(planned, words)
        case Fallback(_, rows):
            return gather_functions(layout, rows, words)


def _head(
    layout: Layout,
    source: str,
    certificate: str | None,
    reason: str | None,
    rows: Rows | None,
    stored: Stored | None,
) -> list[str]:
    way = "Whole regions are moved at once; only padding is filled."
    if reason is not None:
        way = "A gather, element by element: FALLBACK says why."
    elif rows is not None:
        many = "Rows" if rows.run is None else f"Runs of {rows.run} elements"
        way = f"{many} along axis {layout.axes[rows.axis].name} are moved at once."
    words = [] if stored is None else [*_stored_words(stored), ""]
    words += _copied_words(layout) if layout.copies else []
    words += [] if layout.interface is None else [*_code_words(layout), ""]
    calls = stored is not None or layout.interface is not None
    return [
        f'"""{layout.name}: pack, unpack, offset and physical_shape, in numpy.',
        "",
        way,
        *words,
        "Generated by layoutdsl. SOURCE is the layout; CERTIFICATE names its proofs, VALIDATED the",
        "proof that this text does what SOURCE means.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        *(["from collections.abc import Callable"] if calls else []),
        *IMPORTS,
        "",
        *constant("SOURCE", source),
        *constant("CERTIFICATE", UNPROVED if certificate is None else certificate),
        *UNVALIDATED,
        *(["FALLBACK = None"] if reason is None else constant("FALLBACK", reason)),
        "",
    ]


def _copied_words(layout: Layout) -> list[str]:
    """What holds of an element that lies in several slots."""
    held = ", ".join(layout.copies)
    return [
        f"An element lies in a slot for each {held}: `pack` fills them all, `unpack` and `offset`",
        "are of the first; `all_pack` and others of that name are of a tensor with its copies.",
        "",
    ]


def _stored_words(stored: Stored) -> list[str]:
    """How slots are stored where there is no room between them."""
    many, words = stored.slot_bits, stored.words
    slots = "a slot is one bit" if many == 1 else f"a slot has {many} bits"
    return [
        "",
        f"`pack_words`, `unpack_words` and `words_shape` store slots without room in {words.kind}"
        f"{words.bits}: {slots}, the first",
        "in the lowest bits of little-endian words.",
    ]


def _code_words(layout: Layout) -> list[str]:
    """How numbers go in and out, where elements are codes."""
    assert layout.element is not None
    return [
        "",
        f"`pack_numbers` stores real numbers as the nearest codes of {layout.element.name}, and",
        "`unpack_numbers` returns what these stand for; `pack` and `unpack` move codes.",
    ]


def stamped(text: str, validation: str) -> str:
    """Return the text of a module with the hash of its validation in its head."""
    unsaid = "\n".join(("", *UNVALIDATED, ""))
    head, mark, rest = text.partition(unsaid)
    assert mark, "a module says whether it was validated"
    return f"{head}\nVALIDATED = {literal(validation)}\n{rest}"


def constant(name: str, text: str) -> list[str]:
    """Return the lines that give a name to a text."""
    rows = text.splitlines(keepends=True)
    if len(rows) < 2:
        return [f"{name} = {literal(text)}"]
    return [f"{name} = (", *indented(literal(row) for row in rows), ")"]


def support_text(*more: str) -> list[str]:
    """Return what every module carries, word for word, and what some do."""
    lines: list[str] = []
    for name in ("support.py", "ways.py", "moving.py", *more):
        text = (
            files("layoutdsl.codegen.numpy").joinpath(name).read_text("utf-8").replace("\r\n", "\n")
        )
        lines += [*([""] * 2 if lines else []), *text.split(_RULE, 1)[1].strip("\n").split("\n")]
    return lines
