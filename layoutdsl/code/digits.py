"""A layout by its digits: another spelling of it that has the same offsets, which is proved.

Code is planned from digits, and `[(n*C + c)*4 + k : N*C*4]` shows none; `[n, c, k]` does.
"""

from __future__ import annotations

from functools import lru_cache

from layoutdsl.language.digits.inverse import read_back
from layoutdsl.language.digits.network import NotDigits
from layoutdsl.language.meaning.claims import Claim, EqualsLayout
from layoutdsl.language.meaning.model import Layout


def by_digits(layout: Layout) -> Layout:
    """Return the spelling by which a layout is proved: often the layout itself."""
    if layout.domain:
        return layout
    found = read_back(layout)
    return layout if isinstance(found, NotDigits) else found.spelled


@lru_cache(maxsize=256)
def equality(layout: Layout, other: Layout) -> str | None:
    """Return the hash of the proof that two layouts have the same offsets, if they are proved."""
    from layoutdsl.proof.prover.check import attempt
    from layoutdsl.proof.prover.verdict import Proved, certificate_hash

    found = attempt(Claim("prove", layout, EqualsLayout(other)))
    return certificate_hash(found) if isinstance(found, Proved) else None
