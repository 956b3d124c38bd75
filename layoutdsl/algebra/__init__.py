"""An algebra of layouts: operations and queries whose results are proved for all shapes.

>>> from layoutdsl import algebra
>>> tiled = algebra.tile("NCHW16c", "padded", c=16)
>>> print(tiled)
layout NCHW16c_tiled<C>(n, c1, h, w, c0: 16) = [n, c1 : ceil(C/16), h, w, c0] where C1 == ceil(C/16)
>>> algebra.evidence(tiled).sentence
'R(n, c1, h, w, c0) = NCHW16c(n, c1*16 + c0, h, w)'
>>> str(algebra.stride(tiled, "c1"))
'16*H*W'

Each operation returns a `Layout`, which is printed, proved, packed and composed like any other.
`evidence` returns what is proved of it: the theorem that defines it, and its precondition. An
operation whose precondition fails raises `PreconditionError` with the smallest shape. The names are
those of CuTe; `docs/cute-users.md` compares them.
"""

from layoutdsl.algebra.composing import (
    coalesce,
    complement,
    compose,
    divide,
    inverse,
    product,
)
from layoutdsl.algebra.maps import fix, merge, permute, rename, slice, split, tile  # noqa: A004
from layoutdsl.algebra.queries import (
    Answer,
    alignment,
    common_run,
    contiguous_run,
    is_contiguous,
    is_view,
    refinement,
    stride,
    vector_width,
)
from layoutdsl.algebra.theorems import Evidence, PreconditionError, evidence

__all__ = [
    "Answer",
    "Evidence",
    "PreconditionError",
    "alignment",
    "coalesce",
    "common_run",
    "complement",
    "compose",
    "contiguous_run",
    "divide",
    "evidence",
    "fix",
    "inverse",
    "is_contiguous",
    "is_view",
    "merge",
    "permute",
    "product",
    "refinement",
    "rename",
    "slice",
    "split",
    "stride",
    "tile",
    "vector_width",
]
