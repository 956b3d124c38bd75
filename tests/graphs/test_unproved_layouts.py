"""A plan uses no undecided layout, unless the model is run to see whether elements are lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_shell import Shell, shell

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

from small_models import written

import layoutdsl

__all__ = ["shell"]

# Right, and undecided as a tuple of one axis's own digits has no proof.
ENGINE = "layout Tuple(n, c, h, w) = [n, h, w, (c/8, c%8)]\nprefer Conv = Tuple\n"


@pytest.fixture
def undecided() -> None:
    layout = layoutdsl.parse(ENGINE.partition("\n")[0])["Tuple"]
    if layoutdsl.prove(layout).status != "undecided":
        pytest.skip("the prover decides this layout")


@pytest.mark.slow
@pytest.mark.usefixtures("undecided")
def test_an_undecided_layout_is_refused(shell: Shell, tmp_path: Path) -> None:
    model = written(tmp_path)
    Path("engine.layout").write_text(ENGINE)
    propagate = ("propagate", str(model), "--engine", "engine.layout", "-o", "out.onnx")
    done = shell(*propagate)
    assert done.code == 3, done.err
    assert "`Tuple` is undecided" in done.err
    assert "--unproved" in done.err
    assert not Path("out.onnx").exists()
    with pytest.raises(layoutdsl.UnprovedError):
        layoutdsl.propagate(model, "engine.layout")
    allowed = shell(*propagate, "--unproved")
    assert allowed.code == 3, allowed.err  # written, and still undecided
    assert Path("out.onnx").exists()
    done = shell(*propagate, "--unproved", "--verify", "off")
    assert done.code == 2, done.err
