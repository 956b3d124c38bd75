"""`layoutdsl.algebra`: results, theorems, preconditions, queries, and wrong arguments.

Drawn cases against plain integers are in `fuzz/test_algebra_drawn.py`, other packages in
`oracles/test_oracle_algebra.py`.
"""

from __future__ import annotations

import doctest
import importlib
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import layoutdsl
from layoutdsl import Layout, algebra
from layoutdsl.language.integers.expr import text

MODULES = ("maps", "composing", "queries", "theorems", "")


def made(declaration: str) -> Layout:
    (found,) = layoutdsl.parse(f"layout {declaration}").layouts.values()
    return found


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name: str) -> None:
    module = importlib.import_module(f"layoutdsl.algebra{'.' if name else ''}{name}")
    names = {each: getattr(algebra, each) for each in algebra.__all__}
    known: dict[str, Any] = {**names, "layoutdsl": layoutdsl, "text": text}
    found = doctest.testmod(module, extraglobs=known)
    assert found.attempted > 0
    assert found.failed == 0


def test_public_names_explain_themselves() -> None:
    for name in algebra.__all__:
        value = getattr(algebra, name)
        assert value.__doc__, name
        if callable(value) and name[0].islower():
            assert ">>>" in value.__doc__, name
            assert name == "evidence" or "Args:" in value.__doc__, name


RESULTS: tuple[tuple[Callable[[], Layout], str], ...] = (
    (
        lambda: algebra.tile("NCHW16c", "part", h=8),
        "layout NCHW16c_tiled<H>(n, c, h1, w, h0: 8) = [n, c/16, h1*8 + h0 : H, w, c%16] "
        "where H1 == ceil(H/8), h1*8 + h0 < H",
    ),
    (
        lambda: algebra.tile("NCHW16c", "whole", c=32),
        "layout NCHW16c_tiled(n, c1, h, w, c0: 32) = [n, (c1, c0/16), h, w, c0%16]",
    ),
    (lambda: algebra.permute("NCHW", "c n w h"), "layout NCHW_permuted(c, n, w, h) = [n, c, h, w]"),
    (
        lambda: algebra.compose("NCHW16c", algebra.inverse("NCHW16c")),
        "layout NCHW16c_o_NCHW16c_inverse(n, s1, h, w, s4: 16) = [n, s1, h, w, s4]",
    ),
    (
        lambda: algebra.inverse(made("S(m, k: 64) = [m, k/8 ^ m%8, k%8]")),
        "layout S_inverse(m, s1: 8, s2: 8) = [m, (s1 ^ m%8)*8 + s2]",
    ),
    (
        lambda: algebra.coalesce(made("T(n, i: 192) = [n, i]")),
        "layout T_merged(ni) = [ni]",
    ),
)


@pytest.mark.parametrize(("run", "text_"), RESULTS, ids=[each[1][:40] for each in RESULTS])
def test_results_are_short_and_proved(run: Callable[[], Layout], text_: str) -> None:
    result = run()
    assert str(result) == text_
    assert algebra.evidence(result).status == "proved"
    assert layoutdsl.parse(str(result))[result.name] == result


def test_a_result_is_a_layout_like_others() -> None:
    result = algebra.tile("NCHW16c", "whole", h=4)
    assert layoutdsl.prove(result)
    tensor = np.arange(2 * 5 * 3 * 2 * 4, dtype=np.float32).reshape(2, 5, 3, 2, 4)
    packed = result.pack(tensor)
    assert np.array_equal(result.unpack(packed, tensor.shape), tensor)
    again = algebra.fix(result, h1=1)
    assert "h1" not in [axis.name for axis in again.axes]
    assert pickle.loads(pickle.dumps(result)) == result


def test_evidence_speaks_of_the_layout_that_was_derived() -> None:
    result = algebra.fix("NCHW16c", c=3)
    found = algebra.evidence(result)
    assert found.sentence == "R(n, h, w) = NCHW16c(n, 3, h, w)"
    assert found.status == "proved"
    assert found.reasons == ()
    assert found.is_packing()
    assert [each.property for each in found.findings] == [
        "every applied index stays in its shape",
        "equals it",
    ]
    assert algebra.evidence(replace(result, name="Other")).sentence == found.sentence
    with pytest.raises(ValueError, match="changed after it was derived"):
        algebra.evidence(result(C=8))
    with pytest.raises(ValueError, match="was not derived"):
        algebra.evidence(layoutdsl.library("NCHW16c"))


@pytest.mark.slow
def test_a_window_within_a_block_is_a_packing_because_its_parts_are() -> None:
    """The text of the result alone leaves this open."""
    result = algebra.slice("NCHW16c", c=(8, "K"))
    assert layoutdsl.prove(result).checked[0].status == "undecided"
    assert algebra.evidence(result).is_packing()


REFUSED: tuple[tuple[Callable[[], Layout], str], ...] = (
    (lambda: algebra.tile("NCHW16c", "padded", c=12), "N=1 C1=2 H=1 W=1 C=13"),
    (lambda: algebra.tile(made("X(m, n) = [m, n]"), "padded", n=128), "N=1"),
    (lambda: algebra.tile(made("X(m: 6) = [m]"), "whole", m=4), "do not divide `m`"),
    (lambda: algebra.split(made("X(m: 6) = [m]"), m={"a": None, "b": 4}), "has 6 indices"),
    (
        lambda: algebra.compose(made("A(x: 1024) = [x]"), made("B(i, j: 8) = [i, j]")),
        "is 1024, outside 0..1023",
    ),
    (lambda: algebra.inverse(made("P(m, n) = [m, n*n : N*N]")), "no closed inverse"),
    (lambda: algebra.complement(made("X(m: 3, n: 8) = [m, n : 10]"), 30), "no multiple"),
    (lambda: algebra.fix(made("X(m: 6) = [m]"), m=6), "no shape satisfies"),
)


@pytest.mark.parametrize(("run", "words"), REFUSED, ids=[each[1] for each in REFUSED])
def test_an_unmet_precondition_is_refused(run: Callable[[], Layout], words: str) -> None:
    with pytest.raises(algebra.PreconditionError, match=words.replace("(", r"\(")):
        run()


WRONG: tuple[tuple[Callable[[], object], type[Exception], str], ...] = (
    (lambda: algebra.fix("NCHW", x=3), ValueError, "no axis `x`; it has n, c, h, w"),
    (lambda: algebra.fix("NCHW", c=-1), ValueError, "at least 0"),
    (lambda: algebra.tile("NCHW", c="k"), ValueError, "upper case"),
    (lambda: algebra.tile("NCHW", c=0), ValueError, "at least 1"),
    (lambda: algebra.tile("NCHW", "some", c=2), ValueError, "`how` is 'some'"),  # type: ignore[arg-type]
    (lambda: algebra.tile("NCHW", c=2.5), TypeError, "a size is a number"),  # type: ignore[arg-type]
    (lambda: algebra.merge("NCHW", p=("h", "h")), ValueError, "given twice"),
    (lambda: algebra.permute("NCHW", "n c h"), ValueError, "has the axes n, c, h, w"),
    (lambda: algebra.rename("NCHW", h="w"), ValueError, "two axes would have one name"),
    (lambda: algebra.product("NCHW", "NHWC"), ValueError, "rename the axes"),
    (lambda: algebra.compose("NCHW", "NCHW16c"), ValueError, "pass shape="),
    (lambda: algebra.stride("NCHW", "x"), ValueError, "no axis `x`"),
    (lambda: algebra.common_run("NCHW", "OIHW"), ValueError, "other axes"),
    (lambda: algebra.fix(3, c=1), TypeError, "has to be a layout"),  # type: ignore[arg-type]
    (lambda: algebra.fix("NoSuchLayout", c=1), ValueError, "NoSuchLayout"),
)


@pytest.mark.parametrize(("run", "kind", "words"), WRONG, ids=[each[2] for each in WRONG])
def test_wrong_arguments_say_what_to_pass(
    run: Callable[[], object], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        run()


def test_queries_are_answered_for_all_shapes() -> None:
    strides = [str(algebra.stride("NCHW16c", axis)) for axis in "nchw"]
    assert strides == ["16*H*W*ceil(C/16)", "none", "16*W", "16"]
    assert algebra.stride("NCHW16c", "w").value == 16
    assert not algebra.stride("NCHW16c", "c")
    assert algebra.vector_width("NCHW16c").value == 16
    assert algebra.alignment("NCHW16c").value == 16
    assert algebra.common_run("NCHW16c", "NHWC").value == 16
    assert algebra.refinement("NCHW16c", made("X(n, c, h, w) = [n, c/4, h, w, c%4]")) == {
        "n": [],
        "c": [4, 16],
        "h": [],
        "w": [],
    }
    six, four = (made(f"X(c, d) = [c/{n}, d, c%{n}]") for n in (6, 4))
    assert algebra.refinement(six, four) is None
    found = algebra.is_contiguous(made("X(y, x) = [y, x : X + 1]"))
    assert not found
    assert "sh" in str(found.findings[0].example)  # type: ignore[union-attr]


@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", range(60))
def test_a_merge_is_a_view_where_numpy_says_so(seed: int) -> None:
    """A proved stride of the merged axis, against `numpy.reshape(copy=False)`."""
    random = np.random.default_rng(seed)
    rank = int(random.integers(2, 5))
    names, order = "abcd"[:rank], [int(each) for each in random.permutation(rank)]
    extents = [int(random.choice([2, 3, 4, 6])) for _ in names]
    pad = int(random.choice([0, 0, 1, 2]))
    last = f"{names[order[-1]]} : {extents[order[-1]] + pad}"
    places = ", ".join([*(names[k] for k in order[:-1]), last])
    heads = ", ".join(f"{name}: {extent}" for name, extent in zip(names, extents, strict=True))
    layout = made(f"A({heads}) = [{places}]")
    at = int(random.integers(rank - 1))
    merged = algebra.merge(layout, p=names[at : at + 2])
    whole = np.zeros(layout.box(extents)).transpose([order.index(k) for k in range(rank)])
    tensor = whole[tuple(slice(extent) for extent in extents)]
    shape = [*extents[:at], extents[at] * extents[at + 1], *extents[at + 2 :]]
    try:
        tensor.reshape(shape, copy=False)
        is_view = True
    except ValueError:
        is_view = False
    assert algebra.stride(merged, "p").proved == is_view
    assert algebra.evidence(merged).status == "proved"


LIBRARY = [
    name
    for name in layoutdsl.library_names()
    if not layoutdsl.library(name).bit_of and layoutdsl.library(name).axes
]


@pytest.mark.sampled(40)
@pytest.mark.parametrize("name", LIBRARY)
def test_operations_on_the_library_are_proved(name: str) -> None:
    layout = layoutdsl.library(name)
    axes = [axis.name for axis in layout.element_axes]
    runs: tuple[Callable[[], Layout], ...] = (
        lambda: algebra.fix(layout, **{axes[0]: 0}),
        lambda: algebra.tile(layout, "whole", **{axes[-1]: 2}),
        lambda: algebra.slice(layout, **{axes[0]: (0, 1)}),
        lambda: algebra.inverse(layout),
        lambda: algebra.coalesce(layout),
    )
    for run in runs:
        try:
            result = run()
        except algebra.PreconditionError:
            continue
        assert algebra.evidence(result).status == "proved", str(result)
