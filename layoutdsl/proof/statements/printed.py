"""What has to hold of the printed formula: read back, it is what it was printed from."""

from __future__ import annotations

from layoutdsl.language.digits.inverse import Inverse
from layoutdsl.language.digits.steps import SLOT
from layoutdsl.language.integers.expr import Expr, Extent, Index
from layoutdsl.language.integers.languages import PYTHON, written
from layoutdsl.language.integers.read_python import read_python
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import offset_expr, size_expr
from layoutdsl.proof.kernel.theorem import Theorem
from layoutdsl.proof.statements import claim_statement, statement
from layoutdsl.proof.statements.terms import NotExpressible


def printed(
    layout: Layout, inverse: Inverse | None
) -> tuple[statement.Ground, Theorem, dict[str, Expr]]:
    """Return the theorem `printed`, with its common part and the formulas that were read back.

    Raises:
        NotExpressible: the layout says what the checker's terms cannot.
    """
    read = formulas_read_back(layout, inverse)
    padded = () if inverse is None else tuple(extent for _, extent in inverse.padded)
    ground = statement.ground(layout, padded)
    return ground, claim_statement.printed(ground, inverse, read), read


def _prefixed(name: str) -> str:
    """Names are prefixed in generated modules too: an axis may be called `lambda`."""
    return f"x_{name}"


def formulas_read_back(layout: Layout, inverse: Inverse | None) -> dict[str, Expr]:
    """Return every formula of a layout, printed as Python and read back.

    Raises:
        NotExpressible: a text cannot be read back.
    """
    texts = {
        "offset": offset_expr(layout),
        "size": size_expr(layout),
        **{f"box.{number}": each.extent for number, each in enumerate(layout.coordinates)},
        **dict(claim_statement.sides("domain", layout.domain)),
    }
    names: dict[str, Expr] = {name: Extent(name) for name in layout.symbols}
    names |= {axis.name: Index(axis.name) for axis in layout.axes}
    if inverse is not None:
        texts |= {f"padded.{axis}": extent for axis, extent in inverse.padded}
        texts |= {**dict(inverse.steps), **dict(inverse.index)}
        texts |= dict(claim_statement.sides("guard", inverse.guards))
        names |= {name: Index(name) for name in (SLOT, *(name for name, _ in inverse.steps))}
    spelled = {_prefixed(name): value for name, value in names.items()}
    try:
        return {
            name: read_python(written(expr, PYTHON, _prefixed), spelled)
            for name, expr in texts.items()
        }
    except ValueError as error:
        raise NotExpressible(f"the printed formula cannot be read back, {error}") from None
