"""Files of weights, open: what they say, and what they were before they were read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from layoutdsl.files.pieces.runs import Given
from layoutdsl.files.pieces.tensors import opened_input
from layoutdsl.files.places import identity
from layoutdsl.files.weights.faults import reading
from layoutdsl.files.weights.form import Contents, Form


@dataclass(frozen=True, slots=True)
class Weights:
    """A file of weights, open.

    Attributes:
        place: of the file that was named.
        form: its format.
        contents: what it says.
        given: it, and the files that its tensors lie in.
    """

    place: Path
    form: Form
    contents: Contents
    given: tuple[Given, ...]


@contextmanager
def opened_weights(place: Path, form: Form) -> Iterator[Weights]:
    """Open a file of weights once, for whoever reads of it.

    Raises:
        UnfitError: it is no such file, or says what cannot be.
        OSError: it cannot be read.
    """
    with reading(place), opened_input(place) as named:
        contents = form.read(place, named.handle)
        try:
            more = (Given(each, handle, identity(handle)) for each, handle in contents.files)
            yield Weights(place, form, contents, (named, *more))
        finally:
            for handle in (*(each for _, each in contents.files), *contents.unnamed):
                os.close(handle)
