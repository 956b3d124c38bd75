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
    for ends, what, way_out in _OTHERS:
        if place.name.lower().endswith(ends):
            raise ValueError(f"{shown(place.name)} is {what}, which is not read; {way_out}")
    known = ", ".join(end for form in FORMS for end in form.suffixes)
    names = " | ".join(form.name for form in FORMS)
    words = f"{shown(place.name)} does not end in {known}"
    raise ValueError(f"{words}; name its format with --format {names}")


_OTHERS = (
    (
        (".pt", ".pth", ".ckpt", ".bin"),
        "a PyTorch checkpoint",
        'convert it: `safetensors.torch.save_file(torch.load(PATH), "model.safetensors")`',
    ),
    ((".pkl", ".pickle"), "a pickle", "save the tensors with `numpy.savez` or as .safetensors"),
    (
        (".index.json",),
        "the index of a sharded checkpoint",
        "`pack`, `unpack`, `verify` and `inspect` take it as FILE; `plan` takes each .safetensors "
        "file that it lists, with a rules file for its own tensors",
    ),
    ((".json",), "a JSON file", "name the .safetensors, .gguf or .npz file that holds the tensors"),
    (
        (".h5", ".hdf5", ".keras", ".tflite", ".pb", ".msgpack"),
        "a file of another framework",
        "save the tensors as .safetensors or .npz",
    ),
)
"""Files that users try: how their names end, and how to get at the tensors."""
