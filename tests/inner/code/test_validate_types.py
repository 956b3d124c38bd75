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
from emitted_fuzz.modules import executed
from text_mutants import Mutant, mutants

import layoutdsl
from layoutdsl import Layout
from layoutdsl.code import EmittedModule, UnsafeText, load
from layoutdsl.code.allowed import refuse_unsafe
from layoutdsl.code.arrays import generate_views
from layoutdsl.code.validate.arrays import validate
from layoutdsl.code.validate.outcome import NotValidated, Validated

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
OF_TYPES = re.compile(r": (-?\d+ -> (True|False|-?\d+\.0)|raise \w+ -> \w+)$")


def emitted(layout: Layout) -> str:
    return generate_views(layout, source="", certificate=None).text


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


# Texts that overflow, or might, are not validated.
WRONG = {
    "there and back": ("(i + j)", f"(i + j*{2**52}//{2**52})"),
    "a number beyond 64 bits": ("(i + j)%2", f"(i + j + {2**63})%2"),
    "32 bits": ("dtype=np.int64", "dtype=np.int32"),
    "what was computed before": ("        yield", "        i = i*1\n        yield"),
}


@pytest.mark.parametrize(("right", "wrong"), WRONG.values(), ids=WRONG)
def test_texts_that_may_overflow_are_not_validated(right: str, wrong: str) -> None:
    layout = layout_of("layout Sum(i, j) = [i, (i + j)%2 : 2, j]")
    text = emitted(layout)
    assert isinstance(validate(text, layout, source=""), Validated)
    assert right in text, text
    assert isinstance(validate(text.replace(right, wrong), layout, source=""), NotValidated)


# Texts from which a check of the arguments is left out are not validated.

BODIES = {
    "blocks": "layout Drawn(n, c) = [n, c/4, c%4] of u4",
    "turned": "layout Drawn(n, c) = [c, n] of u4",
    "apart": "layout Drawn(n, c) = [(n, c)/4, (n, c)%4] of u4",
    "split": "layout Drawn(n, c) = [(n, c/4) : N*ceil(C/4) + 2, c%4] of u4",
    "xor": "layout Drawn(n, c) = [n, c/4 ^ n%4, c%4] of u4",
    "triangle": "layout Drawn(n, c) = [n, c] of u4 where c <= n",
    "lead": "layout Drawn(n, c) = [n, c/4, c%4] of u4 offset 5",
    "copies": "layout Drawn(n, c, k: 2 broadcast) = [n, k, c] of u4",
}
CHECKS = ("raise ValueError", "raise TypeError", "_refuse_values(", "physical_shape(shape)")


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.parametrize("body", BODIES)
def test_a_check_that_is_dropped_is_noticed(body: str) -> None:
    layout = layout_of(BODIES[body])
    text = emitted(layout)
    assert isinstance(validate(text, layout, source=""), Validated)
    lines, dropped = text.split("\n"), 0
    for number, line in enumerate(lines):
        if line.strip().startswith(CHECKS):
            indent = line[: len(line) - len(line.lstrip())]
            changed = "\n".join([*lines[:number], f"{indent}pass", *lines[number + 1 :]])
            assert isinstance(validate(changed, layout, source=""), NotValidated), line
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
    layout = layout_of(BODIES[body])
    chosen = list(mutants(emitted(layout)))  # whose texts are made when asked for
    random.Random(body).shuffle(chosen)
    of_checks = (each for each in chosen if each.text and "_refuse_values" in each.text)
    for mutant in islice(of_checks, most):
        assert mutant.text is not None
        if isinstance(validate(mutant.text, layout, source=""), NotValidated):
            continue
        module = executed(mutant.text)
        for shape in ((3, 6), (1, 1)):
            with pytest.raises(ValueError, match="16 is outside 0 to 15, the range"):
                module.pack(np.full(shape, 16, "u1"))
            with pytest.raises(ValueError, match="16 is outside 0 to 15, the range"):
                module.unpack(np.full(module.physical_shape(shape), 16, "u1"), shape)


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
