"""Somebody's function, imported by the name that a command line has for it."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, cast

from layoutdsl.shell.exits import Exit, Failure
from layoutdsl.shell.output import error
from layoutdsl.shell.targets import SHIELD

FILE_MODULE = "probed"


def imported(written: str) -> Callable[..., Any]:
    """Import what ``module:function`` or ``file.py:function`` names, which runs that module.

    Raises:
        Failure: there is none, it is no function, or its module raises.
    """
    written = written.removeprefix(SHIELD)
    path, colon, name = written.rpartition(":")
    if not colon or not path or not name:
        hint = "write `module:function`, or `path/to/file.py:function`"
        raise Failure(Exit.USAGE, f"`{written}` names no function of a module", hint)
    with _of_the_user(path):
        module = _from_file(Path(path)) if path.endswith(".py") else _from_path(path)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        from layoutdsl.language.texts.faults import did_you_mean

        raise Failure(
            Exit.USAGE, f"`{path}` has no `{name}`", did_you_mean(name, _functions(module))
        )
    from layoutdsl.language.meaning.arguments import FUNCTION

    if not FUNCTION.holds(found):
        raise Failure(Exit.USAGE, f"`{written}` is a {type(found).__name__}, and no function")
    return cast("Callable[..., Any]", found)


def _functions(module: Any) -> list[str]:
    return [name for name, each in vars(module).items() if inspect.isroutine(each)]


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise Failure(Exit.INPUT, f"`{path}` cannot be read: there is no such file")
    spec = importlib.util.spec_from_file_location(FILE_MODULE, path)
    if spec is None or spec.loader is None:
        raise Failure(Exit.INPUT, f"`{path}` cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[FILE_MODULE] = module
    spec.loader.exec_module(module)
    return module


def _from_path(name: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return importlib.import_module(name)


@contextmanager
def _of_the_user(path: str) -> Iterator[None]:
    """What a module raises on import is its own, and told as such."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except Failure:
        raise
    except (Exception, SystemExit) as raised:
        if os.environ.get("LAYOUTDSL_DEBUG") == "1":
            error("".join(traceback.format_exception(raised)).rstrip())
        first = (str(raised).splitlines() or [""])[0]
        message = f"`{path}` cannot be imported: {type(raised).__name__}: {first}"
        raise Failure(Exit.INPUT, message) from None
