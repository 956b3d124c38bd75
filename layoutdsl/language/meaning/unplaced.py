"""Names of formats that no layout or record can say, and why: the answer to who asks for one."""

from __future__ import annotations

from collections.abc import Iterable

from layoutdsl.language.texts.faults import did_you_mean

_TABLES = frozenset({"IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S"})


def why_unplaced(name: str) -> str | None:
    """Return why no layout says how blocks of a name lie; ``None`` where nothing is known of it.

    Source: llama.cpp, ggml-common.h.
    """
    if name == "TQ1_0":
        held = "keeps five digits of base 3 in a byte"
    elif name in _TABLES:
        held = "keeps indices into a table, each of several values"
    else:
        return None
    return f"`{name}` {held}: no element has bits of its own, so no layout or record says where"


def unknown_name_help(name: str, known: Iterable[str]) -> str | None:
    """Return the help line for a name that is not there: why it is not, or what is called alike."""
    return why_unplaced(name) or did_you_mean(name, known)
