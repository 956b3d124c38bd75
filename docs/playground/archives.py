"""Wheels -> two archives that are loaded soon; run inside Pyodide by `archives.mjs`, never here.

`first.zip` checks and draws; `proving.zip` holds the solver and sympy, and is loaded behind that.
A module is there as what Python makes of it, which takes four fifths of the wait away; all other
files are as they are in the wheels. `LEFT_OUT` says what is not taken; `contents.json` repeats it,
with the hash of each wheel.
"""

import ast
import importlib.util
import json
import marshal
import re
import zipfile
from pathlib import Path

FIRST = ("click", "lark", "layoutdsl")
"""Wheels of the first archive; the others are in the second."""

LEFT_OUT = {
    "layoutdsl": [
        r"layoutdsl/(commands/bench|shell/editing|proofs|graphs|shell/web/page|files/weights)/",
        r"layoutdsl/(dask|notebook|pygments|pytest|torch)\.py",
    ],
    "sympy": [
        *(r"sympy/(.+/)?tests/", r"sympy/(.+/)?benchmarks/", r"isympy\.py", r"sympy-.*\.data/"),
        r"sympy/(categories|crypto|diffgeom|holonomic|liealgebras|physics|sandbox|stats|vector)/",
        r"sympy/(testing|parsing/(autolev|latex))/",
    ],
    "mpmath": [r"mpmath/tests/"],
    "z3_solver": [r"z3/include/", r"z3/lib/libz3\.so\..*", r"z3_solver-.*\.data/", r"z3/bin/"],
    "click": [],
    "lark": [r"lark/__pyinstaller/", r"lark/grammars/"],
}
"""Patterns of what a wheel has and the page never uses. z3's wheel has its library twice."""

EVERYWHERE = (r".*\.pyi", r".*\.dist-info/(RECORD|WHEEL)", r".*/README\.md")
"""RECORD would not be true of what is left."""

READ = "layoutdsl/code/numpy/"
"""Modules there have texts that become part of what is generated."""

MOMENT = (1980, 1, 1, 0, 0, 0)


def _is_left_out(wheel, name):
    return any(re.match(each, name) for each in (*LEFT_OUT.get(wheel, ()), *EVERYWHERE))


def _add(archive, name, content):
    entry = zipfile.ZipInfo(name, MOMENT)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content, compresslevel=9)


def _without_words(tree):
    """Empty the docstrings of a module; they stay strings, as code adds to them."""
    worded = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for each in ast.walk(tree):
        if isinstance(each, worded) and ast.get_docstring(each, clean=False) is not None:
            each.body[0].value.value = ""
    return tree


def _compiled(content, name, keeps_words):
    """Return a module as Python keeps it on the disk, never to be compared with its text."""
    tree = ast.parse(content, name)
    code = compile(tree if keeps_words else _without_words(tree), f"/packages/{name}", "exec")
    unchecked = (1).to_bytes(4, "little")
    mark = importlib.util.source_hash(content)
    return importlib.util.MAGIC_NUMBER + unchecked + mark + marshal.dumps(code)


def _take(wheel, source, archive):
    for each in sorted(source.namelist()):
        if each.endswith("/") or _is_left_out(wheel, each):
            continue
        content = source.read(each)
        if each.endswith(".py"):
            _add(archive, f"{each}c", _compiled(content, each, wheel in FIRST))
        if not each.endswith(".py") or each.startswith(READ):
            _add(archive, each, content)


def make(wheels, results):
    """Write `first.zip` and `proving.zip` into `results`; return what was left out, as JSON."""
    opened = {
        name: zipfile.ZipFile(Path(results) / name, "w") for name in ("first.zip", "proving.zip")
    }
    for file in sorted(Path(wheels).iterdir()):
        wheel = file.name.partition("-")[0]
        archive = opened["first.zip" if wheel in FIRST else "proving.zip"]
        with zipfile.ZipFile(file) as source:
            _take(wheel, source, archive)
    for each in opened.values():
        each.close()
    return json.dumps({"left_out": LEFT_OUT, "left_out_of_each": EVERYWHERE})
