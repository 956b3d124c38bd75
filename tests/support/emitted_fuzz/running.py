"""Cases that are run: what is wrong is a fault, whatever was raised."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from math import prod

from layoutdsl import LayoutError

from .c_functions import check_functions
from .cases import Case, Fault, Kind, Refused
from .conversions import check_conversion
from .meaning import meaning
from .modules import check_module
from .printed import ALL, check_script

CHECKS: dict[Kind, Callable[[Case], None]] = {
    "numpy": check_module,
    "convert": check_conversion,
    "python": check_script,
    "c": check_functions,
}


def run(case: Case) -> tuple[str, str]:
    """How a case ended: ``right``, ``wrong`` with what is wrong, or a word of why there is none."""
    try:
        CHECKS[case.kind](case)
    except Refused as refused:
        return str(refused), ""
    except Fault as fault:
        return "wrong", str(fault)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        said = str(error).splitlines() or [""]
        return "wrong", f"{type(error).__name__}: {said[0]} ({place.name}:{place.lineno})"
    return "right", ""


def sort_of(message: str) -> str:
    """What two faults have in common that are likely to be one: the first words."""
    return " ".join(message.split()[:2])


def is_right(case: Case) -> bool:
    """Whether the layouts are right at the shape; of many elements it is not asked."""
    if prod(case.shape) > ALL:
        return True
    try:
        known = [meaning(text, case.shape) for text in (case.text, case.other) if text]
    except (LayoutError, LookupError, AssertionError):  # names of what is gone
        return False
    return all(each is not None and each.right for each in known)


def same_fault(first: Case, message: str) -> Callable[[Case], bool]:
    """Whether a case shows the fault that the first one does; wrong layouts have others."""
    right = is_right(first)

    def fails(case: Case) -> bool:
        if right and not is_right(case):
            return False
        outcome, said = run(case)
        return outcome == "wrong" and sort_of(said) == sort_of(message)

    return fails
