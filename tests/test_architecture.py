"""Imports run downstairs only, and some packages live in one room; names each that does not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import layoutdsl

HOUSE = Path(layoutdsl.__file__).parent

# Room: the floor it is on, and the rooms that it may know; a room may always know itself.
SOURCE = {"source", "resources", "files"}
MEANING = {
    "expr",
    "conditions",
    "search",
    "model",
    "strided",
    "table",
    "bounds",
    "bits",
    "claims",
    "grids",
    "matching",
    "values",
    "arguments",
}
READING = {
    "digits",
    "steps",
    "sums",
    "twisted",
    "twists",
    "trial",
    "inverse",
    "spelled",
    "weighted",
    "inference",
}
FORMULA = {"formula", "formula_text"}
SYNTAX = {"syntax"}
ELABORATION = {
    "scope",
    "rules",
    "doubts",
    "synonyms",
    "naming",
    "elaborate",
    "elaborate_claim",
    "elaborate_foreign",
    "elaborate_layout",
    "elaborate_table",
}
CORE = SOURCE | MEANING | READING

ROOMS: dict[str, tuple[float, set[str]]] = {
    **{room: (1, set()) for room in SOURCE},
    **dict.fromkeys(MEANING, (1, MEANING)),
    "claims": (1, MEANING | {"source"}),
    **dict.fromkeys(READING, (2, MEANING | READING)),
    **dict.fromkeys(FORMULA, (2, MEANING | READING | FORMULA)),
    **dict.fromkeys(SYNTAX, (2, SOURCE)),
    **dict.fromkeys(ELABORATION, (3, CORE | SYNTAX | ELABORATION | {"notation"})),
    "notation": (3, CORE | SYNTAX | {"scope"}),
    "functions": (2, CORE | {"functions"}),
    "prove": (4, CORE | FORMULA),
    "validate": (4, MEANING | {"prove"}),
    "codegen": (4, CORE | FORMULA),
    "show": (4, CORE),
    "compare": (4.5, CORE | {"prove"}),
    "shelf": (4, CORE | SYNTAX | ELABORATION),
    "padding": (5, CORE | {"prove"}),
    "evidence": (5, CORE | {"prove", "show"}),
    "pieces": (5, CORE | {"prove"}),
    "api": (
        5,
        CORE
        | FORMULA
        | {"shelf", "prove", "validate", "codegen", "notation", "show", "padding", "evidence"}
        | {"compare", "functions", "pieces"},
    ),
    "bench": (5.5, CORE | {"api", "codegen"}),
    "__init__": (5, CORE | FORMULA | {"api", "shelf", "compare"}),
    "cli": (
        6,
        CORE
        | ELABORATION
        | FORMULA
        | {"functions", "show", "api", "shelf", "padding", "bench", "__init__"},
    ),
    "__main__": (6, {"cli"}),
}

# What a shell prints is made of the records of a wing, not of its machinery.
RECORDS = {
    ("cli", "layoutdsl.properties.verdict"),
    ("cli", "layoutdsl.evidence.problem"),
    ("cli", "layoutdsl.pieces.runs"),
    ("cli", "layoutdsl.evidence.subjects"),
    *(("cli", f"layoutdsl.compare.{path.stem}") for path in (HOUSE / "compare").glob("*.py")),
}

# The meaning knows nothing of ours but itself; these rooms know even less.
KNOWS_NOTHING = {"source", "resources", "expr", "matching", "values", "arguments"}

# Packages, and the rooms that may import them.
PACKAGES = {
    "lark": SYNTAX | {"notation"},
    "sympy": FORMULA | {"prove"},
    "z3": {"prove"},
    "cvc5": {"prove"},
    "click": {"cli"},
    "cffi": {"codegen"},
    "_cffi_backend": {"codegen"},
    "pickle": set[str](),
    "marshal": set[str](),
    "shelve": set[str](),
}

# Calls that run a text, and the only places that may make them.
RUNNERS = {"eval", "exec", "compile", "sympify", "parse_expr", "lambdify", "__import__"}
MAY_RUN = {("codegen", "exec"), ("codegen", "compile")}

FILES = sorted(HOUSE.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(HOUSE).with_suffix("").parts[0]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Each import of a file, inside functions too: its line, and the dotted name."""
    for node in ast.walk(parsed(path)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, name.name) for name in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                inside = module == "layoutdsl"
                yield from (
                    (node.lineno, f"layoutdsl.{name.name}" if inside else module) for name in names
                )
            case ast.ImportFrom():
                yield node.lineno, "a relative import"


def ours(name: str) -> str | None:
    """The room that an import names."""
    parts = name.split(".")
    if parts[0] != "layoutdsl":
        return None
    known = len(parts) > 1 and parts[1] in ROOMS
    return parts[1] if known else "__init__"


def test_every_file_is_in_a_room() -> None:
    assert {room(path) for path in FILES} == ROOMS.keys() - {"library"}


def test_rooms_know_only_floors_below() -> None:
    upstairs = [
        f"{name} may not know {other}"
        for name, (floor, known) in ROOMS.items()
        for other in known
        if ROOMS[other][0] > floor
    ]
    assert not upstairs


def test_imports_run_downstairs() -> None:
    offending = []
    for path in FILES:
        here = room(path)
        allowed = ROOMS[here][1] | {here} if here not in KNOWS_NOTHING else set()
        offending += [
            f"{path.relative_to(HOUSE)}:{line} imports {name}"
            for line, name in imported(path)
            if name == "a relative import"
            or (ours(name) not in {None, *allowed} and (here, name) not in RECORDS)
        ]
    assert not offending


def test_packages_stay_in_their_rooms() -> None:
    offending = [
        f"{path.relative_to(HOUSE)}:{line} imports {name}"
        for path in FILES
        for line, name in imported(path)
        if room(path) not in PACKAGES.get(name.split(".")[0], ROOMS)
    ]
    assert not offending


def test_no_text_is_run() -> None:
    offending = []
    for path in FILES:
        for node in ast.walk(parsed(path)):
            match node:
                case ast.Call(
                    func=ast.Name(id=word) | ast.Attribute(attr=word, value=ast.Name(id="sympy"))
                ):
                    if word in RUNNERS and (room(path), word) not in MAY_RUN:
                        offending.append(f"{path.relative_to(HOUSE)}:{node.lineno} calls {word}")
    assert not offending


def test_generated_text_is_run_in_one_place() -> None:
    calls = [
        f"{path.relative_to(HOUSE)}:{node.lineno}"
        for path in FILES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "exec"
    ]
    assert len(calls) <= 1, calls


# What has to be believed of a proof can be read alone: these files, and nothing else of ours.
TRUSTED = {
    "theorem": set[str](),
    "polynomial": {"theorem"},
    "question": {"theorem"},
    "checker": {"theorem", "polynomial", "question"},
}


@pytest.mark.parametrize("name", TRUSTED)
def test_the_checker_can_be_read_alone(name: str) -> None:
    path = HOUSE / "prove" / f"{name}.py"
    known = {each.rpartition(".")[2] for _, each in imported(path) if ours(each) is not None}
    assert known == TRUSTED[name]
    assert len(path.read_text(encoding="utf-8").splitlines()) < 250


# `repr` is for people, and leaves out what is long: no key is made from it. Who shows numbers and
# terms by it is named here.
SHOWS = {
    "__init__.py",
    "api/files.py",
    "codegen/allowed.py",
    "codegen/native/conversion.py",
    "codegen/support.py",
    "files/npy.py",
    "prove/checker.py",
    "prove/leftover.py",
    "prove/polynomial.py",
    "prove/polynomials.py",
    "prove/question.py",
    "source.py",
    "values.py",
}


def shows(path: Path) -> bool:
    """Whether a file calls `repr`, or hands it on, or says ``!r``."""
    return any(
        (isinstance(node, ast.FormattedValue) and node.conversion == ord("r"))
        or (isinstance(node, ast.Name) and node.id == "repr")
        for node in ast.walk(parsed(path))
    )


def test_no_key_is_made_from_what_is_shown() -> None:
    assert {path.relative_to(HOUSE).as_posix() for path in FILES if shows(path)} == SHOWS
