"""Models with their layouts propagated, beside what onnxruntime does with the same files.

Counts and bytes are exact. Times are of models that ran: ours for onnxruntime's blocked kernels and
the file as it is, both fully optimised, in turns in the same process.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from layoutdsl.commands.bench.measure import Rounds, Spread, over, sample, spread
from layoutdsl.commands.propagating import Propagation, propagate

CHANNELS_LAST = "nhwc"
BLOCKED = "onnxruntime"
KERNELS = "com.microsoft.nchwc"
OURS, THEIRS = "ours", "onnxruntime"


@dataclass(frozen=True, slots=True)
class Planned:
    """What a plan comes to.

    Attributes:
        alone: transforms where each anchor is run on its own.
        alone_bytes: that they move.
        left: transforms of the plan.
        bytes: that they move.
        minimal: whether a certificate says that no plan moves less.
        seconds: to read the model, plan, prove and emit it.
    """

    alone: int
    alone_bytes: int
    left: int
    bytes: int
    minimal: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Peer:
    """What onnxruntime makes of the file: its reorders into and out of blocks, its Transposes."""

    inward: int
    outward: int
    transposes: int


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times longer ours takes than onnxruntime with the file as it is.

    Attributes:
        least: the least of ours over the least of theirs.
        rounds: quartiles of the ratios of all rounds.
    """

    least: float
    rounds: Spread


@dataclass(frozen=True, slots=True)
class Row:
    """A model.

    Attributes:
        model: its name.
        nodes: of its graph, with what is constant folded.
        last: with channels last.
        blocked: for onnxruntime's blocked kernels.
        transposes: of the file, as it is.
        plain: Transposes of ours in standard operators alone, channels first.
        peer: what onnxruntime does; or why that is not known.
        ratio: of times; or why there is none.
    """

    model: str
    nodes: int
    last: Planned
    blocked: Planned
    transposes: int
    plain: int
    peer: Peer | str
    ratio: Ratio | str


def light() -> tuple[Path, ...]:
    """Return the models that the package onnx brings along and that have few weights."""
    import onnx

    folder = Path(onnx.__file__).parent / "backend/test/data/light"
    names = ("densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet")
    return tuple(each for name in names if (each := folder / f"light_{name}.onnx").exists())


def row_of(place: Path, threads: int, rounds: Rounds) -> Row:
    """Return what is left to move in a model, and how long it takes.

    Args:
        place: a file of ONNX.
        threads: that the model may run in.
        rounds: of times.

    Raises:
        UnfitModelError: the file is no model, or none that can be planned.
        OSError: it cannot be read.
    """
    last, blocked = _timed(place, CHANNELS_LAST), _timed(place, BLOCKED)
    plain = propagate(place, prefer={"Conv": "NCHW"}, emit="plain", verify="off").model
    nodes = blocked[0].source.graph.nodes
    return Row(
        place.stem,
        len(nodes),
        _planned(*last),
        _planned(*blocked),
        sum(each.operator == "Transpose" for each in nodes),
        _transposes(plain),
        peer(place, threads),
        ratio(place, threads, rounds),
    )


def _timed(place: Path, engine: str) -> tuple[Propagation, float]:
    start = time.perf_counter()
    found = propagate(place, engine, verify="off")
    return found, time.perf_counter() - start


def _planned(found: Propagation, seconds: float) -> Planned:
    figures = found.figures
    alone, planned = figures.alone, figures.planned
    return Planned(alone.count, alone.bytes, planned.count, planned.bytes, figures.proved, seconds)


def _transposes(model: Any) -> int:
    return sum(each.op_type == "Transpose" for each in model.graph.node)


def peer(place: Path, threads: int) -> Peer | str:
    """Return what onnxruntime makes of a model, or why that is not known."""
    import onnx

    try:
        with TemporaryDirectory() as folder:
            kept = Path(folder) / "optimised.onnx"
            _session(str(place), threads, kept)
            made = onnx.load(kept, load_external_data=False)
    except Exception as error:  # whatever the package throws: of C++, or of its own
        return _said(error)
    counts = Counter(each.op_type for each in made.graph.node)
    return Peer(counts["ReorderInput"], counts["ReorderOutput"], counts["Transpose"])


def ratio(place: Path, threads: int, rounds: Rounds) -> Ratio | str:
    """Return how much longer ours takes than the file as it is, or why there is no answer."""
    try:
        ours = propagate(place, BLOCKED, emit="onnxruntime", verify="off").model
        if all(each.domain != KERNELS for each in ours.graph.node):
            return "no operator of ours runs in blocks"
        sessions = {
            OURS: _session(ours.SerializeToString(), threads),
            THEIRS: _session(str(place), threads),
        }
    except Exception as error:  # likewise
        return _said(error)
    drawn = np.random.default_rng(0)
    feeds = {
        each.name: drawn.standard_normal(each.shape).astype(np.float32)
        for each in sessions[THEIRS].get_inputs()
    }
    calls = {name: _calling(session, feeds) for name, session in sessions.items()}
    found = sample(calls, rounds)
    if found.failed:
        return _said(next(iter(found.failed.values())))
    ours_took, theirs_took = found.seconds[OURS], found.seconds[THEIRS]
    return Ratio(min(ours_took) / min(theirs_took), over(ours_took, theirs_took))


def _calling(session: Any, feeds: dict[str, Any]) -> Any:
    return lambda: session.run(None, feeds)


def _session(model: str | bytes, threads: int, kept: Path | None = None) -> Any:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    if kept is not None:
        options.optimized_model_filepath = str(kept)
    return ort.InferenceSession(model, options, ["CPUExecutionProvider"])


def _said(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:100]


def middle(rows: Sequence[Row]) -> Spread | None:
    """Return the quartiles of the ratios of all models that ran."""
    found = [each.ratio.rounds.median for each in rows if isinstance(each.ratio, Ratio)]
    return spread(found) if found else None
