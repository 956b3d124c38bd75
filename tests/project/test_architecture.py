"""Dependencies between the packages, and the places of third-party packages."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from processes import ended

import layoutdsl

PACKAGE = Path(layoutdsl.__file__).parent

# Each package with the packages that it may import; `docs/design/packages.md` gives the purposes.
ALLOWED: dict[str, str] = {
    "language": "",
    "proof": "language",
    "notation": "language",
    "algebra": "language proof",
    "code": "language proof",
    "files": "language proof code",
    "view": "language proof",
    "graphs": "language proof files",
    "commands": "language proof notation code files view graphs",
    "shell": "language view commands",
}
# Names that other programs know; `layoutdsl` itself hands names on from where they are defined.
PUBLIC = {"__init__", "__main__", "dask", "pygments", "pytest", "torch"}

EXCEPTIONS = Path(__file__).with_name("dependency_exceptions.txt")
"""Imports that `ALLOWED` forbids and that are still there. The list only shrinks."""

# Third-party packages, and the folders or files that may import them.
THIRD_PARTY = {
    "lark": {"language/syntax", "notation"},
    "sympy": {"code/formula"},
    "z3": {"proof/kernel"},
    "cvc5": {"proof/kernel"},
    "click": {"shell"},
    "IPython": {"shell/cell"},
    "pygls": {"shell/editing"},
    "lsprotocol": {"shell/editing"},
    "cffi": {"code"},
    "_cffi_backend": {"code"},
    "torch": {"torch"},
    "dask": {"dask"},
    "pygments": {"pygments"},
    "pytest": {"pytest"},
    "onnx": {"graphs", "commands/bench"},
    "onnxruntime": {"graphs", "commands/bench"},
    "google": {"graphs"},
    "scipy": {"graphs"},
    "distributed": set[str](),
    "ray": set[str](),
    "pickle": set[str](),
    "marshal": set[str](),
    "shelve": set[str](),
}

# Calls that run a text, and the only files that may make them.
RUNNERS = {"eval", "exec", "compile", "sympify", "parse_expr", "lambdify", "__import__"}
MAY_RUN = {("code/__init__", "exec"), ("code/__init__", "compile")}

# Steps of the pass over a model, in order: each imports only from those before it.
GRAPHS = (
    *("placings", "roles", "ways", "planning", "proving"),
    *("emitting", "models", "running", "checking", "telling"),
)

FILES = sorted(PACKAGE.rglob("*.py"))


def place(path: Path) -> str:
    """Return a file relative to the package and without suffix: `language/syntax/parser`."""
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


def package(path: Path) -> str:
    return place(path).split("/")[0]


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


def test_packages_import_only_packages_below() -> None:
    found = set()
    for path in FILES:
        for line, name in imported(path):
            assert name != "a relative import", f"{place(path)}:{line}"
            other = imported_module(name)
            if other is None or package(path) in PUBLIC:
                continue
            target = other.split(".")[1] if "." in other else "__init__"
            if target not in (package(path), *ALLOWED[package(path)].split()):
                found.add(f"{module_name(path)} imports {other}")
    known = set(EXCEPTIONS.read_text(encoding="utf-8").splitlines())
    assert sorted(found - known) == [], "imports that docs/design/packages.md does not allow"
    assert sorted(known - found) == [], f"gone: remove these lines from {EXCEPTIONS.name}"


def test_every_package_is_in_the_table() -> None:
    assert {package(path) for path in FILES} == ALLOWED.keys() | PUBLIC
    below = set[str]()
    for name, allowed in ALLOWED.items():
        assert set(allowed.split()) <= below, name
        below.add(name)


def test_no_files_import_each_other() -> None:
    names = {module_name(path): path for path in FILES}
    known = {
        name: {each for each in named_modules(path) if each in names} - {name}
        for name, path in names.items()
        if path.name != "__init__.py"  # an `__init__` hands on names of its files
    }
    left = dict(known)
    while left:
        free = [name for name, others in left.items() if not others & left.keys()]
        assert free, sorted(left)
        for name in free:
            del left[name]


def test_steps_of_the_pass_over_a_model_know_only_those_before() -> None:
    for number, step in enumerate(GRAPHS):
        known = {"graph", "variants", "plan", *GRAPHS[: number + 1]}
        for path in (PACKAGE / "graphs" / step).glob("*.py"):
            names = [each.split(".") for _, each in imported(path)]
            used = {each[2] for each in names if each[:2] == ["layoutdsl", "graphs"]}
            assert used <= known, path


def test_third_party_packages_stay_in_their_places() -> None:
    offending = [
        f"{place(path)}:{line} imports {name}"
        for path in FILES
        for line, name in imported(path)
        if name.split(".")[0] in THIRD_PARTY
        and not is_within(place(path), THIRD_PARTY[name.split(".")[0]])
    ]
    assert not offending


def is_within(file: str, places: set[str]) -> bool:
    return any(file == each or file.startswith(f"{each}/") for each in places)


def test_models_and_solvers_are_known_in_few_files() -> None:
    """What knows ONNX, or a solver of linear programs, says so in its name or is one file."""
    knows = {
        (path.name, name.split(".")[0])
        for path in FILES
        if package(path) == "graphs"
        for _, name in imported(path)
        if name.split(".")[0] in ("onnx", "onnxruntime", "google", "scipy")
    }
    solvers = {file for file, package in knows if package == "scipy"}
    runners = {file for file, package in knows if package == "onnxruntime"}
    others = {file for file, package in knows if package in ("onnx", "google")}
    assert (solvers, runners) == ({"program.py"}, {"onnx_run.py"})
    assert all(each.startswith("onnx_") for each in others), others


def test_who_checks_a_plan_again_reaches_no_solver() -> None:
    assert "layoutdsl.graphs.planning.program" not in reached("layoutdsl.graphs.checking.check")
    assert "layoutdsl.graphs.planning.program" in reached("layoutdsl.commands.propagating")


def test_no_text_is_run() -> None:
    offending = []
    for path in FILES:
        for node in ast.walk(parsed(path)):
            match node:
                case ast.Call(
                    func=ast.Name(id=word) | ast.Attribute(attr=word, value=ast.Name(id="sympy"))
                ):
                    if word in RUNNERS and (place(path), word) not in MAY_RUN:
                        offending.append(f"{place(path)}:{node.lineno} calls {word}")
    assert not offending


def test_generated_text_is_run_in_one_place() -> None:
    calls = [
        f"{place(path)}:{node.lineno}"
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
    path = PACKAGE / "proof" / "kernel" / f"{name}.py"
    known = {each.rpartition(".")[2] for _, each in imported(path) if each.startswith("layoutdsl")}
    assert known == TRUSTED[name]
    assert len(path.read_text(encoding="utf-8").splitlines()) < 250


def test_the_kernel_is_loaded_alone() -> None:
    code = "import sys, layoutdsl.proof.kernel.certificate as c; print(*sorted(sys.modules))"
    done = ended([sys.executable, "-c", code], text=True)
    loaded = {each.split(".")[0] for each in done.stdout.split()}
    assert not loaded & {"lark", "numpy", "sympy", "z3"}
    mine = {each for each in done.stdout.split() if each.startswith("layoutdsl.")}
    inside = {each for each in mine if each.startswith("layoutdsl.proof.kernel")}
    assert mine == {"layoutdsl.proof", *inside}


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
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def named_modules(path: Path) -> Iterator[str]:
    """Of ``from a import b``, both `a` and `a.b`: either may be a file."""
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


@cache
def module_names() -> frozenset[str]:
    return frozenset(map(module_name, FILES))


def imported_module(name: str) -> str | None:
    """Return the module of ours that an import names: the longest part of it that is a file."""
    if name.split(".")[0] != "layoutdsl":
        return None
    while name not in module_names():
        name = name.rpartition(".")[0]
    return name


def test_who_checks_again_reaches_no_tactic() -> None:
    """Tactics build proofs, `recheck` believes proofs: they share theorems, and no more."""
    again = reached("layoutdsl.proof.evidence.recheck")
    used = {tuple(each.split(".")[1:3]) for each in again}
    assert not used & {("proof", "tactics"), ("proof", "prover")}
    assert not {each[0] for each in used} & {"code", "commands"}
    assert {("proof", each) for each in ("kernel", "statements", "properties")} <= used
    assert any(".tactics." in each for each in reached("layoutdsl.proof.prover.check"))
