"""A number cut into digits, and the proofs that the digits make it up and stay in their bounds.

Not trusted.
"""

from __future__ import annotations

from layoutdsl.language.integers.bounds import ONE
from layoutdsl.language.integers.digit import exact_quotient, same
from layoutdsl.language.integers.expr import Constant, Expr, Extent, Index, text
from layoutdsl.language.integers.expr import extents as extents_of
from layoutdsl.proof.kernel.builder import ProofBuilder
from layoutdsl.proof.kernel.polynomial import Polynomial
from layoutdsl.proof.kernel.polynomial import polynomial as term_polynomial
from layoutdsl.proof.kernel.theorem import By, Ring, Term
from layoutdsl.proof.statements.terms import Vocabulary, extent_name, index_name
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.polynomials import Bounds, canonical


def _radices(places: list[Expr]) -> list[Expr]:
    """Radices, most minor first, whose running products are the places, but for stray ones."""
    left = [place for place in places if not same(place, ONE)]
    left.sort(key=lambda place: (not isinstance(place, Constant), _magnitude(place), text(place)))
    radices: list[Expr] = []
    reached: Expr = ONE
    for place in left:
        radix = exact_quotient(place, reached)
        if radix is not None and not same(radix, ONE):
            radices.append(radix)
            reached = place
    return radices


def largest(builder: ProofBuilder, name: str) -> int | None:
    """Return what the hypotheses keep an index below, or the most that they let an extent be."""
    found: list[int] = []
    for fact in builder.hypotheses:
        match builder.formula(fact):
            case ("<", left, int(number)) if left == name:
                found.append(number if name.startswith("i.") else number - 1)
            case ("<", left, str(other)) if left == name and name.startswith("i."):
                most = largest(builder, other)
                found += [] if most is None else [most]
            case (("<=" | "="), left, int(number)) if left == name:
                found.append(number)
    return min(found, default=None)


def _magnitude(place: Expr) -> int:
    return place.value if isinstance(place, Constant) else len(text(place))


class Cutter:
    """Defines digits in a proof, and tells its normal forms what they make up."""

    def __init__(self, arithmetic: Arithmetic, vocabulary: Vocabulary) -> None:
        self._arithmetic = arithmetic
        self._builder = arithmetic.builder
        self._vocabulary = vocabulary

    def whole(self, whole: Expr, places: list[Expr]) -> None:
        """Cut an index, or the value of a tuple."""
        radices = _radices(places)
        if isinstance(whole, Index):
            self._index(index_name(whole.name), radices)
            return
        if not radices:
            return
        key, _ = self._arithmetic.values.normal(self._vocabulary.spelled(whole))
        number = sum(1 for each in self._builder.names if each.startswith("x."))
        name = self._builder.define(f"x.{number}", canonical(key))
        value, moves = self._cut(name, name, radices)
        start = By(name, backwards=True)
        fact = self._builder.calculate(canonical(key), start, *moves, Ring(canonical(value)))
        self._arithmetic.values.know_sum(key, value, fact)

    def _index(self, name: str, radices: list[Expr]) -> None:
        limit = largest(self._builder, name)
        if limit is not None:
            below = self._builder.have(("<", name, limit), *self._builder.hypotheses)
            low = self._builder.find(("<=", 0, name))
            assert low is not None
            self._arithmetic.values.bounds[name] = Bounds(limit, low, below)
        if radices:
            value, moves = self._cut(name, name, radices, limit)
            fact = self._builder.calculate(name, *moves, Ring(canonical(value)))
            self._arithmetic.values.know(name, value, fact)

    def extent(self, extent: Expr, places: list[Expr], block: Expr | None) -> None:
        """Cut an extent; ``block`` divides it."""
        if not isinstance(extent, Extent):
            self._compound(extent, places)
            return
        places = [place for place in places if extent.name not in extents_of(place)]
        name = extent_name(extent.name)
        known = self._known_extent(name)
        if known is not None:
            value, fact = known
        elif block is None:
            radices = _radices(places)
            if not radices:
                return
            less: Term = ("-", name, 1)
            value, moves = self._cut(name, less, radices, largest(self._builder, name))
            begin = Ring(("+", less, 1))
            fact = self._builder.calculate(name, begin, *moves, Ring(canonical(value)))
        else:
            value, fact = self._divisible(name, block, places)
        self._arithmetic.values.know(name, value, fact)

    def equal(self, names: dict[str, tuple[str, str]]) -> None:
        """Write one extent for another that is equal."""
        for name, (other, fact) in names.items():
            value, same = self._arithmetic.values.normal(extent_name(other))
            whole = self._builder.calculate(extent_name(name), By(fact), By(same))
            self._arithmetic.values.know(extent_name(name), value, whole)

    def _known_extent(self, name: str) -> tuple[Polynomial, str] | None:
        """The number that the range says an extent is."""
        for fact in self._builder.hypotheses:
            match self._builder.formula(fact):
                case ("=", left, int(number)) if left == name:
                    return {(): number}, self._builder.have(("=", name, number), fact)
        return None

    def _divisible(self, name: str, block: Expr, places: list[Expr]) -> tuple[Polynomial, str]:
        divisor = self._vocabulary.term(block)
        self._arithmetic.positive(divisor)
        whole, *_ = self._builder.use("DIVISION", {"x": name, "B": divisor})
        zero = self._builder.find(("=", ("mod", name, divisor), 0))
        assert zero is not None
        above = self._builder.define(f"k.{name}", ("div", name, divisor))
        fold = By(above, backwards=True)
        product: Term = ("*", above, divisor)
        exact = self._builder.have(("=", name, product), self._builder.rewrite(whole, fold), zero)
        further = [each for place in places if (each := exact_quotient(place, block)) is not None]
        radices = _radices(further)
        less: Term = ("-", above, 1)
        _, moves = self._cut(above, less, radices)
        steps: list[Ring | By] = [By(exact), Ring(("*", ("+", less, 1), divisor)), *moves]
        end = self._builder.right(self._builder.calculate(name, *steps))
        result = term_polynomial(end)
        return result, self._builder.calculate(name, *steps, Ring(canonical(result)))

    def _compound(self, extent: Expr, places: list[Expr]) -> None:
        """An extent that is itself an expression is cut under a name of its own."""
        radices = _radices(places)
        term = self._vocabulary.spelled(extent)
        key, _ = self._arithmetic.values.normal(term)
        constant = key.get((), 0)
        base = {factors: c for factors, c in key.items() if factors}
        cut = any(str(each).startswith(("g.x.", "q.x.")) for factors in base for each in factors)
        if not radices or not base or cut:
            return
        number = sum(1 for each in self._builder.names if each.startswith("x."))
        name = self._builder.define(f"x.{number}", canonical(base))
        less: Term = ("-", name, 1)
        value, moves = self._cut(name, less, radices)
        fold = By(name, backwards=True)
        shifts = self._shifts(radices)
        for shift in sorted({0, -1, *shifts, constant, *(constant + each for each in shifts)}):
            shifted = {**base, **({(): shift} if shift else {})}
            result = {**value}
            result[()] = result.get((), 0) + shift
            result = {factors: c for factors, c in result.items() if c}
            written: Term = ("+", canonical(base), shift)
            unfolded: Term = ("+", ("+", less, 1), shift)
            steps: list[Ring | By] = [
                Ring(written),
                fold,
                Ring(unfolded),
                *moves,
                Ring(canonical(result)),
            ]
            fact = self._builder.calculate(canonical(shifted), *steps)
            self._arithmetic.values.know_sum(shifted, result, fact)
            opposite = {factors: -c for factors, c in shifted.items()}
            negative = {factors: -c for factors, c in result.items()}
            turned: Term = ("-", 0, written)
            steps = [Ring(turned), fold, Ring(("-", 0, unfolded)), *moves]
            fact = self._builder.calculate(canonical(opposite), *steps, Ring(canonical(negative)))
            self._arithmetic.values.know_sum(opposite, negative, fact)

    def _shifts(self, radices: list[Expr]) -> list[int]:
        """What is added to an extent before a division rounds up: ``k - 1`` for every cut."""
        reached, shifts = 1, list[int]()
        for radix in radices:
            if not isinstance(radix, Constant):
                return shifts
            reached *= radix.value
            shifts.append(reached - 1)
        return shifts

    def _cut(
        self, name: str, whole: Term, radices: list[Expr], limit: int | None = None
    ) -> tuple[Polynomial, list[By]]:
        """Divide again and again; returns the whole plus what ``name`` exceeds it by, and moves.

        The moves turn ``whole`` into its digits wherever it occurs. Digits above ``limit``, which
        the hypotheses keep the whole below, are zero.
        """
        rest, moves, bounds, reached = whole, list[By](), list[str](), 1
        for number, radix in enumerate(radices):
            divisor = self._vocabulary.term(radix)
            self._arithmetic.positive(divisor)
            facts = self._builder.use("DIVISION", {"x": rest, "B": divisor})
            digit = self._builder.define(f"g.{name}.{number}", ("mod", rest, divisor))
            above = self._builder.define(f"q.{name}.{number}", ("div", rest, divisor))
            fold = (By(digit, backwards=True), By(above, backwards=True))
            equal, low, high = (self._builder.rewrite(fact, *fold) for fact in facts)
            self._arithmetic.values.bounds[digit] = Bounds(divisor, low, high)
            bounds += [low, high]
            moves.append(By(equal, backwards=True))
            rest = above
            reached = reached * divisor if isinstance(divisor, int) else 0
            if limit is not None and reached >= limit:
                premises = (*self._builder.hypotheses, *(move.fact for move in moves))
                zero = self._builder.have(("=", above, 0), *premises, *bounds)
                moves.append(By(zero))
                break
        joined: Term = ("+", whole, 1) if whole != name else whole
        end = self._builder.right(self._builder.calculate(joined, *moves))
        return term_polynomial(end), moves
