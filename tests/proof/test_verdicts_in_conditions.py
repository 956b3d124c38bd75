"""Results in `if` and `assert`: a result is true only where its verdict is a pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import layoutdsl
from layoutdsl import diff, library, parse, probe, prove

UNDECIDED = "layout K(b, t, h, d) = [b, (t/16%4096*H + h)*D + d : 4096*H*D, t%16]"
LOST = "layout Lost(n, c) = [n, c%4]\nrefute Lost"
TILE = "layout Tile(m: 32, k: 32) = [m, k]"


def other(text: str) -> layoutdsl.Layout:
    return parse(f"layout M(n, c, h, w) = {text}")["M"]


def lost() -> layoutdsl.Layout:
    return parse(LOST)["Lost"]


def undecided() -> layoutdsl.Layout:
    return parse(UNDECIDED)["K"]


def turned() -> layoutdsl.Layout:
    return parse(UNDECIDED.replace("t/16%4096*H + h", "h + t/16%4096*H"))["K"]


def nhwc_of(x: Any) -> Any:
    return x.transpose(0, 2, 3, 1)


def first_match(layout: layoutdsl.Layout) -> Any:
    return next(layoutdsl.identify(layout))


def bank_report(layout: layoutdsl.Layout, thread: str) -> layoutdsl.BankReport:
    return layoutdsl.banks(layout, thread=thread, of="f32")


CASES: list[tuple[str, Callable[[], Any], bool | None]] = [
    ("report, proved", lambda: prove(library("NCHW16c")), True),
    ("report, refuted", lambda: prove(lost()), False),
    ("report, undecided", lambda: prove(undecided()), False),
    ("report, refuted as claimed", lambda: prove(parse(LOST)), True),
    ("verdict, proved", lambda: prove(library("NHWC")).checked[0], True),
    ("verdict, refuted", lambda: prove(lost()).checked[0], False),
    ("verdict, undecided", lambda: prove(undecided()).checked[0], False),
    ("verdict, refuted as claimed", lambda: prove(parse(LOST).claims).checked[0], True),
    ("properties, proved", lambda: all(prove(library("NHWC")).checked[0].findings), True),
    ("properties, refuted", lambda: all(prove(lost()).checked[0].findings), False),
    ("equal", lambda: diff(library("NHWC"), other("[n, h, w, c]")), True),
    (
        "equal where defined",
        lambda: diff(library("NHWC"), other("[n, h, w, c] where C <= 4")),
        False,
    ),
    ("equal where", lambda: diff(library("NCHW16c"), other("[n, c/8, h, w, c%8]")), False),
    ("different", lambda: diff(library("NHWC"), library("NCHW")), False),
    ("no comparison", lambda: diff(library("NHWC"), lost()), False),
    ("neither", lambda: diff(undecided(), turned()), None),
    ("probe, same", lambda: probe(nhwc_of, library("NHWC"), (2, 3, 4, 5)), True),
    ("probe, not so", lambda: probe(nhwc_of, library("NCHW"), (2, 3, 4, 5)), False),
    ("probe, raises", lambda: probe(lambda x: x.nothing, library("NCHW"), (2, 3, 4, 5)), False),
    ("infer, found", lambda: layoutdsl.infer(nhwc_of, (2, 3, 4, 5)), True),
    ("infer, none", lambda: layoutdsl.infer(lambda x: x[:1], (2, 3, 4, 5)), False),
    ("match", lambda: first_match(layoutdsl.from_notation("onednn", "aBcd8b")), True),
    (
        "match in a range",
        lambda: first_match(other("[n, c/16, h, w, c%16 : 24] where C == 16")),
        None,
    ),
    ("translation", lambda: layoutdsl.translate(library("NCHW16c"), "onednn"), True),
    ("no translation", lambda: layoutdsl.translate(lost(), "onednn"), False),
    ("banks, no conflict", lambda: bank_report(parse(TILE)["Tile"], "m = 0, k = t"), True),
    ("banks, conflicts", lambda: bank_report(parse(TILE)["Tile"], "m = t, k = 0"), False),
]


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("result", "true"), [case for _, *case in CASES], ids=[name for name, *_ in CASES]
)
def test_a_result_is_true_where_it_passed(result: Callable[[], Any], true: bool | None) -> None:
    found = result()
    if true is not None:
        assert bool(found) is true, found
    if hasattr(found, "passed"):
        assert bool(found) is found.passed
    if isinstance(found, layoutdsl.Different | layoutdsl.EqualWhere | layoutdsl.Unknown):
        assert not found
    if isinstance(found, layoutdsl.Match | layoutdsl.Untold):
        assert bool(found) is found.everywhere


def test_verified_weights_are_true(tmp_path: Path) -> None:
    source, packed = tmp_path / "w.npz", tmp_path / "p.npz"
    np.savez(source, w=np.arange(120, dtype="f4").reshape(20, 6))
    rules = parse('tensor "w" (n, k) = [n/8, k, n%8]')
    layoutdsl.pack_weights(source, packed, rules)
    assert layoutdsl.verify_weights(packed, source)
    np.savez(source, w=np.ones((20, 6), dtype="f4"))
    assert not layoutdsl.verify_weights(packed, source)


@pytest.mark.slow
def test_a_propagated_model_is_true_where_it_is_done(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from small_models import network

    model, out = tmp_path / "m.onnx", tmp_path / "o.onnx"
    onnx.save(network(), model)
    found = layoutdsl.propagate(model, "blocked16", verify="outputs")
    assert found
    assert found.verified
    found.write(out)
    assert layoutdsl.check_model(out, model)
    assert not layoutdsl.propagate(model, prefer={"Conv": "NHWC"}, verify="off").verified
    onnx.save(network("Tanh"), model)
    assert not layoutdsl.check_model(out, model)
