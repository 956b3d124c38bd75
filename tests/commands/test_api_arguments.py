"""Every public function, given every wrong kind of argument, says which and what it wants."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import layoutdsl

TEXT = "layout A(n, c) = [c, n]\nlayout B<k>(n, c) = [n, c/k, c%k]\n" + (
    "table T(n, c)[j: N, i: C] = (n = j, c = i)\nprove A\n"
)
MODULE = layoutdsl.parse(TEXT)
RULED = layoutdsl.parse('tensor "**"(n, k) = [n, k]')
A, B, T = MODULE["A"], MODULE["B"], MODULE.tables["T"]
R = layoutdsl.library_record("Q4_0")

ZOO: Mapping[str, Any] = {
    "None": None,
    "an integer": 7,
    "a float": 1.5,
    "a flag": True,
    "a text": "NCHW16c",
    "bytes": b"NCHW16c",
    "a path": Path("a.layout"),
    "integers": [1, 2],
    "texts": ["n", "c"],
    "a set": {1, 2},
    "a mapping": {"C": None, "n": "c"},
    "an array": np.zeros((2, 3)),
    "an array of nothing": np.array(3.5),
    "a class": layoutdsl.Layout,
    "a package": np,
    "a function": len,
    "an object": object(),
    "a layout": A,
    "a table": T,
    "a record": R,
    "a claim": MODULE.claims[0],
    "a module": MODULE,
    "a report": layoutdsl.Report(()),
}

Kind = tuple[str, set[str]]
LAYOUT: Kind = ("a layout", {"a layout", "a text"})
LAYOUT_OR_RECORD: Kind = ("a layout or a record", {"a layout", "a record", "a text"})
RECORD: Kind = ("a record", {"a record", "a text"})
ARRAY: Kind = ("a numpy array", {"an array", "an array of nothing"})
MAYBE_TYPE: Kind = ("a type", {"a text", "a class", "None"})
WORDS: Kind = ("a text", {"a text"})
MAYBE_WORDS: Kind = ("a text, or None", {"a text", "None"})
FLAG: Kind = ("True or False", {"a flag"})
PATH: Kind = ("a path", {"a text", "a path"})
FUNCTION: Kind = ("a function", {"a function", "a class"})
MAYBE_FUNCTION: Kind = ("a function, or None", {"a function", "a class", "None"})
INTEGER: Kind = ("an integer", {"an integer", "a flag"})
NUMBER: Kind = ("a number", {"an integer", "a flag", "a float", "None"})
NUMBERS: Kind = (
    "a number or an array of them",
    {*NUMBER[1], "integers", "an array", "an array of nothing"},
)
SHAPE: Kind = ("an extent for each axis", {"integers", "a set", "a mapping"})
EXTENTS: Kind = ("an extent for each axis", {"integers", "a set"})
TYPE: Kind = ("a type", {"a text", "a class"})
AXES: Kind = ("names of axes", {"texts", "a text", "a mapping", "None"})

NOTES: Kind = ("a mapping", {"a mapping", "a module", "None"})

LAYOUT_FILE = {"layout": LAYOUT, "source": PATH, "destination": PATH, "target": WORDS}
LAYOUT_FILE |= {"mem": INTEGER, "jobs": INTEGER, "progress": MAYBE_FUNCTION}
LAYOUT_FILE |= {"tell": MAYBE_FUNCTION, "look": MAYBE_FUNCTION}
LAYOUT_FILE |= {"storage": WORDS, "scale": NUMBERS, "zero_point": NUMBERS}
LAYOUT_FILE |= {"raw": (TYPE[0], TYPE[1] | {"None"}), "force": FLAG, "unproved": FLAG}
WEIGHTS = {"source": PATH, "destination": PATH, "mem": INTEGER, "jobs": INTEGER}
WEIGHTS |= {"form": MAYBE_WORDS, "target": WORDS, "progress": MAYBE_FUNCTION, "force": FLAG}
WEIGHTS |= {"unproved": FLAG}
CODE = {"layout": LAYOUT, "source": MAYBE_WORDS, "validate": FLAG, "unproved": FLAG}

# Of each verb: its parameters, with what they take; then arguments that do.
VERBS: Mapping[str, tuple[dict[str, Kind], dict[str, Any]]] = {
    "banks": (
        {
            "layout": LAYOUT,
            "shape": (SHAPE[0], SHAPE[1] | {"None"}),
            "thread": WORDS,
            "bytes": INTEGER,
            "threads": INTEGER,
            "of": MAYBE_WORDS,
        },
        {"layout": A, "shape": (2, 3), "thread": "n = 0, c = 0"},
    ),
    "compile": (
        {
            "layout": LAYOUT_OR_RECORD,
            "target": WORDS,
            "storage": WORDS,
            "validate": FLAG,
            "unproved": FLAG,
        },
        {"layout": A},
    ),
    "convert": (
        {
            "source": LAYOUT_OR_RECORD,
            "target": LAYOUT_OR_RECORD,
            "axes": AXES,
            "compiled": WORDS,
            "validate": FLAG,
            "unproved": FLAG,
        },
        {"source": A, "target": A},
    ),
    "cost": (
        {
            "layout": LAYOUT_OR_RECORD,
            "shape": (SHAPE[0], SHAPE[1] | {"None"}),
            "of": MAYBE_WORDS,
            "where": MAYBE_WORDS,
        },
        {"layout": A},
    ),
    "diff": (
        {"one": LAYOUT, "other": LAYOUT, "axes": AXES, "progress": MAYBE_FUNCTION},
        {"one": A, "other": A},
    ),
    "differing_copies": (
        {
            "layout": LAYOUT,
            "buffer": ("a numpy array", {"an array", "an array of nothing"}),
            "shape": EXTENTS,
            "storage": WORDS,
            "unproved": FLAG,
        },
        {"layout": A, "buffer": np.zeros((2, 3)), "shape": (2, 3)},
    ),
    "formula": ({"layout": LAYOUT}, {"layout": A}),
    "from_notation": (
        {"notation": WORDS, "text": WORDS},
        {"notation": "onednn", "text": "ab"},
    ),
    "generate": (CODE | {"storage": WORDS}, {"layout": A}),
    "generate_c": (
        CODE
        | {"widths": ("bytes of elements", {"integers", "a set", "None"}), "where": MAYBE_WORDS},
        {"layout": A},
    ),
    "generate_record": (
        {"record": RECORD, "target": WORDS, "validate": FLAG, "unproved": FLAG},
        {"record": R},
    ),
    "identify": ({"layout": LAYOUT, "progress": MAYBE_FUNCTION}, {"layout": A}),
    "library": ({"name": WORDS}, {"name": "NCHW"}),
    "library_module": ({}, {}),
    "library_names": ({}, {}),
    "library_record": ({"name": WORDS}, {"name": "Q4_0"}),
    "library_record_names": ({}, {}),
    "load": ({"path": PATH}, {"path": "a.layout"}),
    "notations": ({}, {}),
    "pack": (
        {
            "layout": LAYOUT,
            "src": ARRAY,
            "out": (ARRAY[0], ARRAY[1] | {"None"}),
            "fill": NUMBER,
            "scale": NUMBERS,
            "zero_point": NUMBERS,
            "unproved": FLAG,
        },
        {"layout": A, "src": np.zeros((2, 3))},
    ),
    "unpack": (
        {
            "layout": LAYOUT,
            "src": ARRAY,
            "shape": EXTENTS,
            "out": (ARRAY[0], ARRAY[1] | {"None"}),
            "scale": NUMBERS,
            "zero_point": NUMBERS,
            "dtype": MAYBE_TYPE,
            "unproved": FLAG,
        },
        {"layout": A, "src": np.zeros((3, 2)), "shape": (2, 3)},
    ),
    "pack_file": (
        LAYOUT_FILE | {"fill": NUMBER, "shape": (EXTENTS[0], EXTENTS[1] | {"None"})},
        {"layout": A, "source": "in.npy", "destination": "out.npy"},
    ),
    "infer": (
        {
            "function": FUNCTION,
            "shape": SHAPE,
            "dtype": TYPE,
            "array": WORDS,
            "bits": INTEGER,
            "progress": MAYBE_FUNCTION,
        },
        {"function": np.transpose, "shape": (2, 3)},
    ),
    "inspect_weights": ({"file": PATH, "form": MAYBE_WORDS}, {"file": "w.npz"}),
    "pack_weights": (
        WEIGHTS | {"rules": ("a module", {"a module"}), "unruled": WORDS, "tell": MAYBE_FUNCTION},
        {"source": "in.npz", "destination": "out.npz", "rules": RULED},
    ),
    "unpack_weights": (
        WEIGHTS | {"tell": MAYBE_FUNCTION},
        {"source": "in.npz", "destination": "out.npz"},
    ),
    "verify_weights": (
        {key: kind for key, kind in WEIGHTS.items() if key in ("mem", "jobs", "form", "progress")}
        | {"packed": PATH, "against": ("a path, or None", PATH[1] | {"None"})},
        {"packed": "out.npz"},
    ),
    "check": ({"text": WORDS, "name": WORDS}, {"text": TEXT}),
    "check_model": ({"out": PATH, "against": PATH}, {"out": "out.onnx", "against": "in.onnx"}),
    "load_engine": ({"text": WORDS, "name": WORDS}, {"text": "prefer Conv = NHWC"}),
    "propagate": (
        {
            "model": PATH,
            "engine": ("an engine", {"a text", "a path", "None"}),
            "prefer": ("a mapping of operators", {"a module", "None"}),
            "shapes": ("a mapping of inputs", {"None"}),
            "inputs": ("a mapping of names", {"a module", "None"}),
            "outputs": ("a mapping of names", {"a module", "None"}),
            "choice": ("one of", set()),
            "emit": ("one of", set()),
            "verify": ("one of", set()),
            "feed": ("a mapping of inputs", {"None"}),
            "rtol": ("a number from 0 on", {"an integer", "a float", "None"}),
            "unproved": FLAG,
        },
        {"model": "in.onnx", "engine": "nhwc"},
    ),
    "parse": ({"text": WORDS, "name": WORDS}, {"text": TEXT}),
    "pieces_of": (
        {
            "layout": LAYOUT,
            "shape": EXTENTS,
            "memory": INTEGER,
            "itemsize": INTEGER,
            "unproved": FLAG,
        },
        {"layout": A, "shape": (2, 3), "memory": 1000},
    ),
    "probe": (
        {
            "function": FUNCTION,
            "layout": LAYOUT,
            "shape": SHAPE,
            "unpack": FLAG,
            "dtype": TYPE,
            "array": WORDS,
            "flat": FLAG,
            "bits": INTEGER,
            "word": MAYBE_WORDS,
            "progress": MAYBE_FUNCTION,
        },
        {"function": np.transpose, "layout": A, "shape": (2, 3)},
    ),
    "prove": (
        {
            "subject": (
                "a layout, a table, a record, a module, or claims",
                {"a layout", "a table", "a record", "a module", "a text"},
            ),
            "progress": MAYBE_FUNCTION,
        },
        {"subject": A},
    ),
    "show": (
        {
            "layout": (
                "a layout, a record or a table",
                {"a layout", "a record", "a table", "a text"},
            ),
            "shape": (SHAPE[0], SHAPE[1] | {"None"}),
            "colour": WORDS,
            "columns": ("an integer, or None", {"an integer", "a flag", "None"}),
            "most": INTEGER,
            "of": MAYBE_WORDS,
        },
        {"layout": A, "shape": (2, 3)},
    ),
    "to_notation": ({"layout": LAYOUT, "notation": WORDS}, {"layout": A, "notation": "onednn"}),
    "translate": (
        {
            "layout": LAYOUT,
            "notation": WORDS,
            "notes": ("a mapping", {"a mapping", "a module", "None"}),
        },
        {"layout": A, "notation": "onednn"},
    ),
    "tune": (
        {
            "moves": ("what `compile` or `convert` returned", set()),
            "shape": EXTENTS,
            "dtype": (TYPE[0], TYPE[1] | {"None"}),
        },
        {"moves": layoutdsl.compile(A, "auto"), "shape": (2, 3)},
    ),
    "unpack_file": (
        LAYOUT_FILE | {"shape": EXTENTS, "dtype": TYPE},
        {"layout": A, "source": "in.npy", "destination": "out.npy", "shape": (2, 3)},
    ),
}
SLOT: Kind = ("an integer", {"an integer", "a flag"})
INDEX: Kind = ("an index", {"integers", "a set", "a mapping"})
OF_SLOT: Kind = ("a slot", {"integers", "a set", "a mapping"})

# The same of methods, on a value; `shape` and `index` are given where they are not asked about.
METHODS: list[tuple[Any, str, dict[str, Kind]]] = [
    (A, "bind", {"shape": SHAPE}),
    (A, "offset", {"index": INDEX, "shape": SHAPE}),
    (A, "offsets", {"shape": SHAPE}),
    (A, "place", {"index": INDEX, "shape": SHAPE}),
    (A, "chunk", {"index": INDEX, "shape": SHAPE}),
    (A, "box", {"shape": SHAPE}),
    (A, "physical_shape", {"shape": SHAPE}),
    (A, "size", {"shape": SHAPE}),
    (A, "decode", {"slot": SLOT, "shape": SHAPE}),
    (A, "is_padding", {"slot": SLOT, "shape": SHAPE}),
    (A, "holders", {"slot": SLOT, "shape": SHAPE}),
    (A, "slots", {"index": INDEX, "shape": SHAPE}),
    (A, "elements", {"shape": SHAPE}),
    (A, "first", {"shape": SHAPE}),
    (A, "pack", dict(list(VERBS["pack"][0].items())[1:])),
    (A, "unpack", dict(list(VERBS["unpack"][0].items())[1:])),
    (A, "of", {"array": ("an array", {"an array", "an array of nothing"})}),
    (B, "with_parameters", {"k": ("an integer", {"an integer", "a flag"})}),
    (T, "box", {"shape": SHAPE}),
    (T, "size", {"shape": SHAPE}),
    (T, "every_slot", {"shape": SHAPE}),
    (T, "decode", {"slot": OF_SLOT, "shape": SHAPE}),
    (T, "holders", {"index": INDEX, "shape": SHAPE}),
    (T, "with_parameters", {"k": ("an integer", {"an integer", "a flag"})}),
    (layoutdsl.generate(A, validate=False), "write", {"path": PATH, "force": FLAG}),
    (layoutdsl.generate_c(A, validate=False), "write", {"path": PATH, "force": FLAG}),
]
GIVEN = {"index": (1, 2), "slot": 1, "shape": (2, 3), "path": "made.py", "force": False}
GIVEN |= {"src": np.zeros((2, 3)), "unproved": False}
UNCHECKED = {
    "shape_of",
    "element_shape",
    "copies_of_each",
    "holds",
    "offset_at",
    "decode_at",
    "substituted",
}
"""Methods that take values which were checked before."""


SENTENCES = (
    r"(a number in )?`{name}` (is|holds) .* has to be ",
    r"`{name}` is an? \w+, not a numpy array",
    r"(extent|index|parameter) `\w+` is .*, and has to be an integer",
    r"`\w+` of the (slot|index) is .*, and has to be an integer",
    r"layout `\w+` has no extent `\w+`; it has `",
    r"(layout|table) `\w+` takes an? (index|slot) over \w",
    r"the first layout has no axis `\w+`; it has \w",
)
"""How a refusal begins: it names the argument, or what was looked for in it and what there is."""


def refused(call: Callable[..., Any], given: dict[str, Any], name: str, words: str) -> None:
    """The call raises, and says in a sentence what it wants."""
    with pytest.raises((TypeError, ValueError)) as caught:
        call(**given)
    said = str(caught.value)
    assert any(re.match(each.replace("{name}", name), said) for each in SENTENCES), said
    assert words in said or not said.startswith(f"`{name}` is "), said
    assert "\n" not in said
    assert len(said) < 250


def wrong(kind: Kind) -> list[Any]:
    return [each for name, each in ZOO.items() if name not in kind[1]]


DEPRECATED = {"check": {"against", "out"}}
"""Parameters of an earlier meaning: `tests/commands/test_check_in_python.py` covers them."""


def test_every_verb_is_here() -> None:
    verbs = [
        name for name in layoutdsl.__all__ if isinstance(getattr(layoutdsl, name), FunctionType)
    ]
    assert sorted(VERBS) == sorted(verbs)
    for name in verbs:
        parameters = set(inspect.signature(getattr(layoutdsl, name)).parameters)
        assert parameters - DEPRECATED.get(name, set()) == set(VERBS[name][0])


def test_every_method_is_here() -> None:
    for cls, value in ((layoutdsl.Layout, A), (layoutdsl.Table, T)):
        public = {
            name
            for base in cls.__mro__[:-1]
            for name, each in vars(base).items()
            if name[0] != "_" and isinstance(each, FunctionType | staticmethod)
        }
        here = {name for subject, name, _ in METHODS if isinstance(subject, type(value))}
        assert public - UNCHECKED == here


@pytest.mark.parametrize(
    ("verb", "parameter"),
    [(verb, parameter) for verb, (kinds, _) in VERBS.items() for parameter in kinds],
)
def test_verbs(verb: str, parameter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kinds, good = VERBS[verb]
    call, kind = getattr(layoutdsl, verb), kinds[parameter]
    for value in wrong(kind):
        refused(call, {**good, parameter: value}, parameter, kind[0])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("value", "method", "parameter"),
    [(value, method, name) for value, method, kinds in METHODS for name in kinds],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_methods(
    value: Any, method: str, parameter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kinds = next(k for v, m, k in METHODS if v is value and m == method)
    good = {name: GIVEN.get(name) for name in kinds}
    if method == "unpack":
        good["src"] = np.zeros((3, 2))
    call, kind = getattr(value, method), kinds[parameter]
    for each in wrong(kind):
        refused(call, {**good, parameter: each}, parameter, kind[0])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: layoutdsl.parse(None), "`text` is None, and has to be"),
        (lambda: layoutdsl.parse(3), "`text` is an int, and has to be"),
        (lambda: layoutdsl.parse(A), "`text` is a Layout, and has to be"),
        (lambda: layoutdsl.parse(int), "`text` is the class `int`, and has to be"),
        (lambda: layoutdsl.parse(np), "`text` is the module `numpy`, and has to be"),
        (lambda: layoutdsl.parse(MODULE), "`text` is a Module, and has to be"),
        (lambda: layoutdsl.probe("x", A, (2, 3)), "`function` is a str, and has to be"),
    ],
)
def test_what_a_wrong_argument_is_called(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(TypeError, match=f"^{re.escape(said)}"):
        call()


def test_the_way_out_is_named() -> None:
    with pytest.raises(TypeError) as caught:
        layoutdsl.compile(MODULE)  # type: ignore[arg-type]
    assert str(caught.value) == (
        "`layout` is a Module, and has to be a layout or a record, or the name of one; "
        "it holds layouts by name, take one of them"
    )


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: layoutdsl.compile(A, "fpga"), "there is no target `fpga`; known are auto, "),
        (lambda: layoutdsl.convert(A, A, compiled="fpga"), "there is no target `fpga`"),
        (lambda: layoutdsl.probe(len, A, (2, 3), array="os"), "there are no arrays of `os`; known"),
        (lambda: layoutdsl.library("nope"), "there is no layout `nope` in the library"),
        (lambda: layoutdsl.to_notation(A, "nope"), "there is no notation `nope`; did you mean"),
        (lambda: layoutdsl.translate(A, "nope"), "there is no notation `nope`; did you mean"),
        (lambda: layoutdsl.cost(A, of="nope"), "there is no element type `nope`; known are"),
        (lambda: layoutdsl.from_notation("nope", "x"), "there is no notation `nope`"),
    ],
)
def test_wrong_words(call: Callable[[], Any], said: str) -> None:
    with pytest.raises((ValueError, layoutdsl.LayoutError), match=re.escape(said)):
        call()
