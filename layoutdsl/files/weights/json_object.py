"""Objects of JSON in files of weights: no key twice, no text that is none, bounded memory."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, NoReturn, TypeGuard

from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.weights.bounds import shown, unreadable

MOST_MARKS = 4_000_000
"""Commas and brackets of a text: so many values are made of it, and take some 100 bytes each."""


def read_object(form: str, data: bytes, where: str, *, reals: bool = False) -> dict[str, Any]:
    """Return the object that bytes of a file spell; its numbers are whole and not negative.

    Args:
        form: the name of the form.
        data: the bytes.
        where: what they are, to be named.
        reals: whether other finite numbers are read too. Indexes have them: older versions of
            transformers wrote `"total_size": 26031738880.0`.

    Raises:
        UnreadableError: they spell none.
    """
    if not data.startswith(b"{"):
        raise unreadable(form, f"{where} does not start with `{{`")
    if sum(map(data.count, (b",", b"[", b"{"))) > MOST_MARKS:
        raise unreadable(form, f"{where} has more than {MOST_MARKS} values")

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict[str, Any]()
        for key, value in pairs:
            if key in found:
                raise unreadable(form, f"{where} says {shown(key)} twice")
            found[key] = value
        "".join(found).encode("utf-8")  # half a surrogate is no text
        return found

    def number(word: str) -> int:
        return int(word) if reals or word.isdigit() else no_number(word)

    def real(word: str) -> float:
        found = float(word)
        return found if reals and isfinite(found) else no_number(word)

    def no_number(word: str) -> NoReturn:
        raise unreadable(form, f"{where} holds the number {shown(word)}")

    try:
        found = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=distinct,
            parse_int=number,
            parse_float=real,
            parse_constant=no_number,
        )
    except UnreadableError:
        raise
    except (ValueError, RecursionError):
        raise unreadable(form, f"{where} is no JSON") from None
    assert isinstance(found, dict)
    return found


def are_numbers(found: Any) -> TypeGuard[list[int]]:
    """Return whether a value of such an object is a row of numbers."""
    return isinstance(found, list) and all(type(each) is int for each in found)


def is_text(found: Any) -> bool:
    """Return whether a value of such an object is a text, with no half of a surrogate in it."""
    try:
        return isinstance(found, str) and found.encode("utf-8") is not None
    except UnicodeEncodeError:
        return False
