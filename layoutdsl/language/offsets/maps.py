"""Offsets of the elements of a shape: as arrays, or one by one where numpy is not installed.

`COST` is how many times longer an element takes than in an array: budgets are divided by it.
"""

try:
    from layoutdsl.language.offsets.arrays import (
        COST,
        exchanged_in,
        first_difference,
        offsets,
        orders_in,
    )
except ModuleNotFoundError as missing:
    if missing.name != "numpy":
        raise
    from layoutdsl.language.offsets.one_by_one import (
        COST,
        exchanged_in,
        first_difference,
        offsets,
        orders_in,
    )

__all__ = ["COST", "exchanged_in", "first_difference", "offsets", "orders_in"]
