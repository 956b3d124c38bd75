"""`validate` refuses texts that compute something else: other types, numbers, checks or codes.

`1`, `True` and `1.0` are equal in Python, and do not work alike: `np.zeros(1.0)` fails.

The validator decides which generated texts may run, and no public door takes a wrong text.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from itertools import chain, islice, product

import numpy as np
import pytest
from codegen_cases import emit, layout_of
from text_mutants import Mutant, mutants

import layoutdsl
from layoutdsl import Layout
from layoutdsl.code import EmittedModule, UnsafeText, generate_numpy, load
from layoutdsl.code.allowed import refuse_unsafe
from layoutdsl.code.validate import NotValidated, Validated, validate
from layoutdsl.code.validate.frame import framed
from layoutdsl.code.validate.values import Meaningless

LAYOUTS = {
    "regions": "layout A(c, h) = [c/4, h, c%4]",
    "no padding": "layout A(c, h) = [h, c]",
    "no padding, any fill": "layout A(c, h) = [h, c] fill any",
    "a quantised zero": "layout A(c, h) = [c/4, h, c%4] of u8 fill zero_point",
    "an offset": "layout A(c, h) = [c/4, h, c%4] offset 3",
    "a triangle": "layout A(i: N, j: N) = [i*(i + 1)/2 + j : N*(N + 1)/2] where j <= i",
    "an exclusive or": "layout A(h, w) = [h/2, w/4, h%2 ^ w%2, w%4]",
    "copies": "layout A(r, g, copy: 4 broadcast) = [r, g/8, copy, g%8]",
}
OF_TYPES = re.compile(r": (-?\d+ -> (True|False|-?\d+\.0)|raise \w+ -> \w+|_item\(.*\) -> \d)$")


def emitted(layout: Layout) -> str:
    return generate_numpy(layout, source="", certificate=None).text


def of_types(text: str) -> Iterator[Mutant]:
    return (each for each in mutants(text) if OF_TYPES.search(each.what))


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_other_types_are_not_validated(name: str) -> None:
    layout = layoutdsl.parse(LAYOUTS[name])["A"]
    text = emitted(layout)
    assert isinstance(validate(text, layout, source=""), Validated)
    tried = 0
    for mutant in of_types(text):
        changed = mutant.text
        if changed is not None:
            tried += 1
            assert isinstance(validate(changed, layout, source=""), NotValidated), mutant.what
    assert tried > 3


# Texts that overflow, or might, are not validated: what the first layout's says, and what instead.
TWO_52 = 2**52
WRONG = {
    "there and back": ("(i_i*n_J + i_j)", f"(i_i*n_J + i_j*{TWO_52}//{TWO_52})"),
    "the larger numbers are not asked": ("1000000007*1000000007 + 3,\n", "1000000007 + 3,\n"),
    "another bound": ("most < 2**63", "most < 2**64"),
    "always 64 bits": ("np.int64 if most < 2**63 else object", "np.int64"),
    "64 bits whatever was asked": ("kind = _kind(shape)\n    i_i", "kind = np.int64\n    i_i"),
    "one run in 64 bits": ("arange(shape[1], dtype=kind)", "arange(shape[1], dtype=np.int64)"),
    "32 bits": ("return np.int64 if", "return np.int32 if"),
    "what was worked out before": ("    offsets = ", "    i_i = (i_i*1)\n    offsets = "),
    "no function of the numbers": ("def _kind(shape: tuple[int, ...])", "def _kind(shape)"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("right", "wrong"), WRONG.values(), ids=WRONG)
def test_texts_that_may_overflow_are_not_validated(right: str, wrong: str) -> None:
    written = "layout Y(i, j) = [i, j, (i - j)*(i - j)*1000000007*1000000007%3 : 3]"
    text, layout = emit(written).text, layout_of(written)
    assert isinstance(validate(text, layout, source=written), Validated)
    assert text.count(right) >= 1
    assert isinstance(validate(text.replace(right, wrong), layout, source=written), NotValidated)


def test_arithmetic_in_a_function_of_its_own_is_not_validated() -> None:
    """Neither on what is handed to it, nor on what it hands back."""
    written = "layout Sum(i, j) = [i, (i + j)%2 : 2, j]"
    text, layout = emit(written).text, layout_of(written)
    line = "    i_i = np.arange(first, past, dtype=kind).reshape(-1, 1)\n"
    assert line in text
    given = text.replace(line, line + "    i_i = _same(i_i)\n")
    helper = "\n\ndef _same(value: object) -> object:\n    return value*1\n\n\ndef pack("
    handed = text.replace(line, "    i_i = _along(first, past, shape)\n")
    maker = (
        "\n\ndef _along(first: int, past: int, shape: object) -> object:\n"
        f"    kind = _kind(shape)\n{line}    return i_i\n\n\ndef pack("
    )
    for changed in (given.replace("\n\ndef pack(", helper), handed.replace("\n\ndef pack(", maker)):
        found = validate(changed, layout, source=written)
        assert isinstance(found, NotValidated)
        assert "indices" in found.reason


# Texts from which a check of the arguments is left out are not validated.

BODIES = {
    "blocks": "layout Drawn(n, c) = [n, c/4, c%4] of u4",
    "turned": "layout Drawn(n, c) = [c, n] of u4",
    "apart": "layout Drawn(n, c) = [(n, c)/4, (n, c)%4] of u4",
    "split": "layout Drawn(n, c) = [(n, c/4) : N*ceil(C/4) + 2, c%4] of u4",
    "xor": "layout Drawn(n, c) = [n, c/4 ^ n%4, c%4] of u4",
    "triangle": "layout Drawn(n, c) = [n, c] of u4 where c <= n",
    "lead": "layout Drawn(n, c) = [n, c/4, c%4] of u4 offset 5",
}


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.parametrize("body", BODIES)
def test_a_check_that_is_dropped_is_noticed(body: str) -> None:
    found = layout_of(BODIES[body])
    source = str(found)
    text = generate_numpy(found, source=source, certificate=None).text
    assert isinstance(validate(text, found, source=source), Validated)
    checks = ("_travels(", "_within(", "_workers(", "_refuse_view(", "raise ValueError")
    dropped = 0
    own = text[text.index("def _extents(") :]
    lines = own.split("\n")
    for number, line in enumerate(lines):
        if not line.strip().startswith(checks):
            continue
        indent = line[: len(line) - len(line.lstrip())]
        changed = [*lines[:number], f"{indent}shape = shape", *lines[number + 1 :]]
        wrong = text[: text.index("def _extents(")] + "\n".join(changed)
        assert isinstance(validate(wrong, found, source=source), NotValidated), line
        dropped += 1
    assert dropped >= 8


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("body", ["blocks", "xor"])
def test_mutants_of_checks(body: str) -> None:
    still_refuses(body, most=60)


@pytest.mark.campaign
@pytest.mark.parametrize("body", BODIES)
def test_all_mutants_of_checks(body: str) -> None:
    still_refuses(body, most=None)


def still_refuses(body: str, most: int | None) -> None:
    """Whatever is changed about a check: what is validated still refuses."""
    found = layout_of(BODIES[body])
    source = str(found)
    text = generate_numpy(found, source=source, certificate=None).text
    chosen = list(mutants(text))  # whose texts are made when they are asked for
    draw = random.Random(body)
    draw.shuffle(chosen)
    of_checks = (each for each in chosen if each.text and "_within" in each.text)
    for mutant in islice(of_checks, most):
        assert mutant.text is not None
        if isinstance(validate(mutant.text, found, source=source), NotValidated):
            continue
        names: dict[str, object] = {}
        exec(compile(mutant.text, "mutant", "exec", dont_inherit=True), names)
        module = type("module", (), {k: staticmethod(f) for k, f in names.items() if callable(f)})
        for shape in ((3, 6), (1, 1)):
            with pytest.raises(ValueError, match="the range of the elements"):
                module.pack(np.full(shape, 16, "u1"))
            with pytest.raises(ValueError, match="the range of the elements"):
                module.unpack(np.full(module.physical_shape(shape), 16, "u1"), shape)
            for wrong in (0, True, 300):
                with pytest.raises((TypeError, ValueError)):
                    module.pack(np.zeros(shape, "u1"), threads=wrong)


def test_an_empty_tensor_needs_its_check_too() -> None:
    """That no extent is 0 that something is divided by: theorems speak of positive ones."""
    text = "layout A(c, h) = [c/H, h, c%H]"
    found = layout_of(text)
    made = generate_numpy(found, source=text, certificate=None).text
    assert isinstance(validate(made, found, source=text), Validated)
    line = "    if n_H < 1:\n"
    assert line in made
    changed = validate(made.replace(line, "    if n_H < 0:\n"), found, source=text)
    assert isinstance(changed, NotValidated)


def test_a_text_that_quotes_another_layout_is_not_validated() -> None:
    found = layoutdsl.parse("layout A(n, c) = [n, c/4, c%4]")["A"]
    text = generate_numpy(found, source="layout A(n, c) = [c, n]", certificate=None).text
    changed = validate(text, found, source=str(found))
    assert isinstance(changed, NotValidated)
    assert changed.reason == "SOURCE is another text"


# Texts that are neither handed out nor run.

MUTANTS = (
    "import os",
    "import numpy",
    "import numpy as np, os",
    "from numpy import *",
    "from os import path",
    "__import__('os')",
    "open('x')",
    "eval('1')",
    "exec('1')",
    "getattr(np, 'load')",
    "np.load('x')",
    "np.ndarray.tofile",
    "().__class__",
    "np.__builtins__",
    "lambda: 1",
    "class C: pass",
    "async def f(): pass",
    "@np\ndef f(): pass",
    "def f(): global np",
    "def f(): yield from x",
    "def slice(): pass",
    "def f(np): pass",
    "np = 1",
    "int = 1",
    "__builtins__ = 1",
    "__all__ = []",
    "del np",
    "while 1: pass",
    "try: pass\nexcept ValueError: pass",
    "assert 1",
    "(x := 1)",
    "f'{np:>{9}}'",
    "b'1'",
    "1.5",
    "x = {1: 2}[1]; y = {3}",
    "match 1:\n    case 1: pass",
    "undefined",
    "not python",
    "nul\0",
)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("line", MUTANTS)
def test_text_outside_the_list_is_neither_handed_out_nor_run(line: str) -> None:
    emitted = emit("layout A(c) = [c]")
    with pytest.raises(UnsafeText):
        load(EmittedModule("A", f"{emitted.text}\n{line}\n", None))


# Pieces between two empty lines are read one by one, and mean together what they mean alone.

PIECES = (
    *("x = 1", "def f():\n    return 1", "@f\ndef g(): return 2", "if x:\n    y = 1", "", "# a"),
    *("else:\n    y = 2", "@f", "def f():", "    y = 3", "\ty = 4", "\x0cy = 5", "x = 1;"),
    *("x = (1", "+ 2)", "+ 2", "x = [", "]", "x = 1 \\", "\\", "try:\n    x", "finally:\n    y"),
    *('x = """a', 'b"""', '"""', "x = '", "'", 'f"""{x', '}"""', "x = 1\r", "y\r\n", "\n\n"),
)


def bodies(text: str) -> list[str] | None:
    """What the statements of a text are; ``None`` where it is no Python."""
    try:
        return [ast.dump(each) for each in ast.parse(text).body]
    except SyntaxError:
        return None


def test_pieces_that_are_python_mean_the_same_together() -> None:
    alone = {each: found for each in PIECES if (found := bodies(each)) is not None}
    assert 10 < len(alone) < len(PIECES) - 10
    for pieces in product(alone, repeat=3):
        meant = [*chain(*map(alone.__getitem__, pieces))]
        assert bodies("\n\n\n".join(pieces)) == meant, pieces


def test_a_line_that_is_refused_is_told_wherever_it_stands() -> None:
    head = 'x = """\n\n\nimport os\n\n\n"""\n\n\ny = x\n\n\n\n'
    last = head.count("\n") + 1
    refuse_unsafe(head)
    for text, number, said in (
        (f"{head}import os", last, "`import os`"),
        (f"{head}z = unbound", last, "name `unbound`"),
        (f"z = unbound\n\n\n{head}", 1, "name `unbound`"),
        (head.replace('"""', '""'), 4, "`import os`"),
        ("y = 1\n\n\nz = 1\n\nw = 2.5", 6, "constant 2.5"),
    ):
        with pytest.raises(UnsafeText) as refused:
            refuse_unsafe(text)
        assert str(refused.value) == f"emitted line {number}: {said}"


def test_a_module_is_framed_whatever_its_pieces_are() -> None:
    text = emit("layout A(c) = [c]").text
    name = next(iter(framed(text).functions))
    own = f"def {name}("
    assert text.count(own) == 1
    cut = text.replace(own, f'"""of one\n\n\npiece"""\n\n\n{own}')
    assert list(framed(cut).functions) == list(framed(text).functions)
    for wrong in (f'"""\n\n\n{own}', f"(\n\n\n{own}", f"import os\n\n\n{own}"):
        with pytest.raises(Meaningless):
            framed(text.replace(own, wrong)).functions[name]
