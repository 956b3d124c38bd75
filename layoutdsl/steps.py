"""Names of the steps that read a slot; like every name made here they start with `_`."""

from __future__ import annotations

SLOT = "_slot"
"""The name of the slot."""


def digit_name(wire: int) -> str:
    """Return the name of the value on a wire: a coordinate, or a part of a tuple."""
    return f"_v{wire}"


def rest_name(coordinate: int) -> str:
    """Return the name of what is left of the slot for the coordinates up to this one."""
    return f"_u{coordinate}"


def whole_name(chain: int) -> str:
    """Return the name of the value of a tuple that is put together from its digits."""
    return f"_x{chain}"


def straight_name(wire: int) -> str:
    """Return the name of the digit that a twisted coordinate was made of."""
    return f"_t{wire}"


def moved_name(wire: int) -> str:
    """Return the name of a twisted coordinate less what moved it."""
    return f"_w{wire}"
