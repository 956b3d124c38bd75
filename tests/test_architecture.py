"""The rooms of the house and the arrows between them, and which packages live in which room."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from processes import ended

import layoutdsl

HOUSE = Path(layoutdsl.__file__).parent

# Each room with the rooms that it imports from; they stand above it in this table, so no arrow runs
# in a circle. An arrow that is not here does not exist, and one that is here does.
ROOMS: dict[str, str] = {
    "files": "",
    "kernel": "",
    "texts": "",
    "viewing": "",
    "integers": "texts",
    "syntax": "texts",
    "meaning": "integers texts",
    "digits": "integers meaning texts",
    "formulas": "digits integers meaning texts",
    "functions": "digits integers meaning",
    "notation": "digits integers meaning syntax texts",
    "showing": "digits integers meaning",
    "codegen": "digits files integers meaning texts",
    "elaborate": "digits integers meaning notation syntax texts",
    "statements": "digits integers kernel meaning",
    "refute": "digits integers kernel meaning statements",
    "tactics": "digits integers kernel meaning statements",
    "properties": "digits integers kernel meaning refute statements",
    "prover": "digits integers kernel meaning properties refute statements tactics texts",
    "compare": "integers meaning prover texts",
    "evidence": "kernel meaning properties prover refute showing texts",
    "padding": "digits integers meaning prover refute texts",
    "pieces": "files integers kernel meaning prover statements",
    "propagation": "files integers meaning prover texts",
    "weights": "compare files integers meaning pieces showing texts",
    "validate": "codegen integers kernel meaning statements tactics",
    "api": "codegen compare digits elaborate evidence files formulas functions meaning notation "
    "padding pieces propagation prover refute showing syntax texts validate weights",
    "__init__": "api compare formulas meaning texts",
    "torch": "api integers meaning",
    "editing": "api integers meaning showing syntax texts",
    "bench": "api codegen digits integers meaning",
    "cli": "__init__ api bench compare digits editing evidence files formulas functions integers "
    "meaning padding pieces propagation prover showing texts viewing weights",
    "adapters": "api cli elaborate meaning pieces texts",
    "dask": "adapters meaning",
    "pytest": "api cli meaning texts",
    "pygments": "",
    "__main__": "cli",
}

# Packages, and the rooms that may import them.
PACKAGES = {
    "lark": {"syntax", "notation"},
    "sympy": {"formulas"},
    "z3": {"kernel"},
    "cvc5": {"kernel"},
    "click": {"cli"},
    "IPython": {"adapters"},
    "pygls": {"editing"},
    "lsprotocol": {"editing"},
    "cffi": {"codegen"},
    "_cffi_backend": {"codegen"},
    "torch": {"torch"},
    "dask": {"dask"},
    "pygments": {"pygments"},
    "pytest": {"pytest"},
    "onnx": {"propagation", "bench"},
    "onnxruntime": {"propagation", "bench"},
    "google": {"propagation"},
    "scipy": {"propagation"},
    "distributed": set[str](),
    "ray": set[str](),
    "pickle": set[str](),
    "marshal": set[str](),
    "shelve": set[str](),
}

# Calls that run a text, and the only places that may make them.
RUNNERS = {"eval", "exec", "compile", "sympify", "parse_expr", "lambdify", "__import__"}
MAY_RUN = {("codegen", "exec"), ("codegen", "compile")}

# Rooms within rooms.
INNER = (
    *("codegen/numpy", "codegen/native", "codegen/loops", "validate/loops", "validate/records"),
    "evidence/replay",
)

# Those of a room in their order: each imports from those before it alone.
PROPAGATION = (
    *("placings", "roles", "ways", "planning", "proving"),
    *("emitting", "models", "running", "checking", "telling"),
)

FILES = sorted(HOUSE.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(HOUSE).with_suffix("").parts[0]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def import_statements(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """Those of a file, inside functions too."""
    found = ast.walk(parsed(path))
    return tuple(each for each in found if isinstance(each, ast.Import | ast.ImportFrom))


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Each import of a file: its line, and the dotted name."""
    for node in import_statements(path):
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


def test_rooms_know_only_rooms_below() -> None:
    below: set[str] = set()
    for name, known in ROOMS.items():
        assert set(known.split()) <= below, name
        below.add(name)


def test_no_files_import_each_other() -> None:
    names = {module_name(path): path for path in FILES}
    known = {
        name: {each for each in named_modules(path) if each in names} - {name}
        for name, path in names.items()
        if path.name != "__init__.py"  # a room's face hands on what lies behind it
    }
    left = dict(known)
    while left:
        free = [name for name, others in left.items() if not others & left.keys()]
        assert free, sorted(left)
        for name in free:
            del left[name]


def test_the_house_is_as_drawn() -> None:
    drawn = {(name, other) for name, known in ROOMS.items() for other in known.split()}
    found: dict[tuple[str, str], str] = {}
    for path in FILES:
        for line, name in imported(path):
            assert name != "a relative import", path
            other = ours(name)
            if other is not None and other != room(path):
                found[room(path), other] = f"{path.relative_to(HOUSE)}:{line} imports {name}"
    assert [found[each] for each in sorted(found.keys() - drawn)] == []
    assert sorted(drawn - found.keys()) == []
    assert {room(path) for path in FILES} == ROOMS.keys()


def test_inner_rooms_of_a_pass_know_only_those_before() -> None:
    for number, inner in enumerate(PROPAGATION):
        known = {"graph", "variants", "plan", *PROPAGATION[: number + 1]}
        for path in (HOUSE / "propagation" / inner).glob("*.py"):
            names = [each.split(".") for _, each in imported(path)]
            used = {each[2] for each in names if each[:2] == ["layoutdsl", "propagation"]}
            assert used <= known, path


def test_floors_are_as_the_page_says() -> None:
    """A room stands above all that it knows."""
    floor: dict[str, int] = {}
    for name, known in ROOMS.items():
        floor[name] = 1 + max((floor[each] for each in known.split()), default=-1)
    page = (HOUSE / "README.md").read_text(encoding="utf-8")
    told = {name: int(each) for each, name in re.findall(r"^\| (\d+) \| \[`(\w+)/`\]", page, re.M)}
    assert told == {name: each for name, each in floor.items() if (HOUSE / name).is_dir()}


def test_packages_stay_in_their_rooms() -> None:
    offending = [
        f"{path.relative_to(HOUSE)}:{line} imports {name}"
        for path in FILES
        for line, name in imported(path)
        if room(path) not in PACKAGES.get(name.split(".")[0], ROOMS)
    ]
    assert not offending


def test_models_and_solvers_are_known_in_few_files() -> None:
    """What knows ONNX, or a solver of linear programs, says so in its name or is one file."""
    knows = {
        (path.name, name.split(".")[0])
        for path in FILES
        if room(path) == "propagation"
        for _, name in imported(path)
        if name.split(".")[0] in ("onnx", "onnxruntime", "google", "scipy")
    }
    solvers = {file for file, package in knows if package == "scipy"}
    runners = {file for file, package in knows if package == "onnxruntime"}
    others = {file for file, package in knows if package in ("onnx", "google")}
    assert (solvers, runners) == ({"program.py"}, {"onnx_run.py"})
    assert all(each.startswith("onnx_") for each in others), others


def test_who_checks_a_plan_again_reaches_no_solver() -> None:
    assert "layoutdsl.propagation.planning.program" not in reached(
        "layoutdsl.propagation.checking.check"
    )
    assert "layoutdsl.propagation.planning.program" in reached("layoutdsl.api.propagating")


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
    path = HOUSE / "kernel" / f"{name}.py"
    known = {each.rpartition(".")[2] for _, each in imported(path) if ours(each) is not None}
    assert known == TRUSTED[name]
    assert len(path.read_text(encoding="utf-8").splitlines()) < 250


def test_the_kernel_is_loaded_alone() -> None:
    code = "import sys, layoutdsl.kernel.certificate as c; print(*sorted(sys.modules))"
    done = ended([sys.executable, "-c", code], text=True)
    loaded = {each.split(".")[0] for each in done.stdout.split()}
    assert not loaded & {"lark", "numpy", "sympy", "z3"}
    mine = {each for each in done.stdout.split() if each.startswith("layoutdsl.")}
    assert {each.split(".")[1] for each in mine} == {"kernel"}


def test_who_replays_proofs_shares_nothing_with_who_makes_them() -> None:
    """Neither solver, nor the kernel that asks them, nor a package."""
    inner = "layoutdsl.evidence.replay"
    for path in (HOUSE / "evidence" / "replay").glob("*.py"):
        for _, name in imported(path):
            plain = name.split(".")[0] in sys.stdlib_module_names
            assert plain or name.startswith(f"{inner}."), (path, name)


def reached(start: str) -> set[str]:
    """The files that a file imports, with all that they import, wherever it is written."""
    files = {module_name(path): path for path in FILES}
    found, left = set[str](), [start]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += [each for each in named_modules(files[name]) if each in files]
    return found


def module_name(path: Path) -> str:
    parts = path.relative_to(HOUSE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def named_modules(path: Path) -> Iterator[str]:
    """Of ``from a import b``, both `a` and `a.b`: either may be a file."""
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def test_who_checks_again_reaches_no_tactic() -> None:
    """What builds proofs and what believes them have only theorems in common."""
    again = {each.split(".")[1] for each in reached("layoutdsl.evidence.recheck")}
    assert not again & {"tactics", "prover", "codegen", "validate", "api"}
    assert {"kernel", "statements", "properties"} <= again
    assert "tactics" in {each.split(".")[1] for each in reached("layoutdsl.prover.check")}
