"""Which form a file of weights has: by the end of its name, or by the name of a form."""

from __future__ import annotations

from pathlib import Path

from layoutdsl.files.weights.bounds import shown
from layoutdsl.files.weights.form import Form
from layoutdsl.files.weights.gguf import Gguf
from layoutdsl.files.weights.npy import Npy
from layoutdsl.files.weights.npz import Npz
from layoutdsl.files.weights.onnx import Onnx
from layoutdsl.files.weights.raw import Raw
from layoutdsl.files.weights.safetensors import Safetensors

FORMS: tuple[Form, ...] = (Safetensors(), Gguf(), Onnx(), Npz(), Npy(), Raw())
"""All that are known."""


def form_named(name: str) -> Form:
    """Return the form of a name, as ``--format`` gives it.

    Raises:
        ValueError: there is none.
    """
    for form in FORMS:
        if form.name == name:
            return form
    known = ", ".join(form.name for form in FORMS)
    raise ValueError(f"{shown(name)} is no format of weights; the formats are {known}")


def form_of(place: Path) -> Form:
    """Return the form that the end of a name says; large and small letters are alike.

    Raises:
        ValueError: it says none.
    """
    for form in FORMS:
        if place.name.lower().endswith(form.suffixes):
            return form
    ends = ", ".join(end for form in FORMS for end in form.suffixes)
    names = " | ".join(form.name for form in FORMS)
    words = f"{shown(place.name)} does not end in {ends}"
    raise ValueError(f"{words}; say what it is with --format {names}")
