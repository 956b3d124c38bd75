"""Values as keys: exact texts, which tell everything that differs apart.

Keys of caches are made of these texts, and no verb shows them, so they are tested one by one.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from texts import EVERY, LIBRARY, layout

import layoutdsl
from layoutdsl.language.meaning.elements import FillValue
from layoutdsl.language.texts.values import exact


def test_an_exact_text_tells_values_apart() -> None:
    """A key is made of it, so nothing may be missing: what is unequal has another text."""
    found = list(EVERY.values())
    for each in list(found):
        found += [replace(each, name=each.name + "_"), replace(each, fill=FillValue(7))]
    texts = {exact(each) for each in found}
    assert len(texts) == len(set(found))
    assert exact(("a", "b")) != exact(("a, b",)) != exact("a")
    assert exact(1) != exact(True) != exact("True")
    assert exact(layout("layout A(c) = [c : 8]")) != exact(layout("layout A(c: 8) = [c]"))
    assert exact(LIBRARY["NHWC"]) == exact(layoutdsl.library("NHWC"))


@pytest.mark.parametrize("value", [1j, {}, [1], object(), layoutdsl.Layout, b"x", (1, [2])])
def test_what_has_no_exact_text(value: object) -> None:
    with pytest.raises(TypeError, match="has no exact text"):
        exact(value)
