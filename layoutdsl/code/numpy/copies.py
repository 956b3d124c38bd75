"""Carried by modules of layouts that hold copies of an element: the tensor as if it had them.

What `_spread` means is that an element of what it returns is the element of the tensor at the same
index, without that along the axes of copies.
"""

from __future__ import annotations

import numpy as np

from layoutdsl.code.numpy.support import _Array

# --------------------------------------------------------------------------------------------------


def _spread(tensor: _Array, whole: tuple[int, ...], axes: tuple[int, ...]) -> _Array:
    """Return a view of a tensor with its copies: along their axes it stands still."""
    single = tuple([1 if axis in axes else whole[axis] for axis in range(len(whole))])
    return np.broadcast_to(tensor.reshape(single), whole)
