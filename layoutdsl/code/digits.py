"""A layout by its digits: another spelling of it that has the same offsets, which is proved.

Code is planned from digits, and `[(n*C + c)*4 + k : N*C*4]` shows none; `[n, c, k]` does.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from layoutdsl.language.digits.inverse import read_back
from layoutdsl.language.digits.network import NotDigits
from layoutdsl.language.meaning.claims import Claim, EqualsLayout
from layoutdsl.language.meaning.model import Layout

if TYPE_CHECKING:
    from layoutdsl.proof.kernel.certificate import Certificate


def by_digits(layout: Layout) -> Layout:
    """Return the spelling by which a layout is proved: often the layout itself."""
    if layout.domain:
        return layout
    found = read_back(layout)
    return layout if isinstance(found, NotDigits) else found.spelled


@lru_cache(maxsize=256)
def equality(layout: Layout, other: Layout) -> Certificate | None:
    """Return the proof that two layouts have the same offsets, if there is one."""
    from layoutdsl.proof.kernel.certificate import Certificate
    from layoutdsl.proof.prover.check import attempt
    from layoutdsl.proof.prover.verdict import Proved

    found = attempt(Claim("prove", layout, EqualsLayout(other)))
    if not isinstance(found, Proved):
        return None
    return found.certificate or Certificate(())  # a range of few shapes was tried
