"""Plans of small graphs, and what the models that are written say of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from small_graphs import proto

from layoutdsl import Propagation, load_engine, propagate


def planned(
    folder: Path, text: str, engine: str, outputs: str = "y", how: Any = None, **tensors: Any
) -> Propagation:
    """Return the plan of a graph as `small_graphs.proto` takes it; nothing is run.

    Args:
        folder: where the model is written.
        text: the nodes.
        engine: a text of the language.
        outputs: names, apart by blanks.
        how: what `propagate` is asked besides.
        tensors: inputs and constants.
    """
    place = folder / "model.onnx"
    place.write_bytes(proto(text, outputs, **tensors).SerializeToString())
    return propagate(place, load_engine(engine), **{"verify": "off", **(how or {})})


def said_of(found: Propagation, key: str) -> dict[str, str]:
    """Return `layout` or `lane` of each value in the written model, by the value's name."""
    return {
        info.name: each.value
        for info in found.model.graph.value_info
        for each in info.metadata_props
        if each.key == f"layoutdsl.{key}"
    }


def lanes_of(found: Propagation, value: str) -> set[str]:
    """Return what padding of a value is said to hold; a value may be held in several ways."""
    own = said_of(found, "lane").items()
    return {lane for name, lane in own if name.split("@")[0] == value}
