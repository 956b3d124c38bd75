"""Indices and extents cut finely enough that every quotient in some expressions can be read off.

The cuts of an index are the places where any of the expressions cuts it; they have to divide one
another, as 8, 16 and 32 do. An extent is cut as ``C - 1`` is, so that ``ceil(C/16)``,
``(C + 15)/16`` and ``(C - 1)/16 + 1`` come out alike; where the range says ``C % 16 == 0``, as
``C/16`` is. Not trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from layoutdsl.language.digits.extents import Extents
from layoutdsl.language.integers.bits import arithmetic as arithmetic_of
from layoutdsl.language.integers.bounds import ONE, polynomial, product, simplify
from layoutdsl.language.integers.digit import Digit, exact_quotient, read, same, times
from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Sub,
    indices,
    text,
    walk,
)
from layoutdsl.language.integers.expr import extents as extents_of
from layoutdsl.language.meaning.model import Condition
from layoutdsl.proof.kernel.builder import ProofBuilder
from layoutdsl.proof.kernel.polynomial import Polynomial
from layoutdsl.proof.kernel.theorem import By, Ring, Term
from layoutdsl.proof.statements.terms import Vocabulary, extent_name, index_name
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.polynomials import Bounds, canonical, in_terms


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


Blocks = tuple[Expr, int]
"""A block, and how much the last one lacks: ``4, 1`` for an extent of ``4*q - 1``."""


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

    def extent(self, extent: Expr, places: list[Expr], blocks: Blocks | None) -> None:
        """Cut an extent, which is blocks and a rest."""
        if not isinstance(extent, Extent):
            self._compound(extent, places)
            return
        places = [place for place in places if extent.name not in extents_of(place)]
        name = extent_name(extent.name)
        known = self._known_extent(name)
        if known is not None:
            value, fact = known
        elif blocks is None:
            radices = _radices(places)
            if not radices:
                return
            less: Term = ("-", name, 1)
            value, moves = self._cut(name, less, radices, largest(self._builder, name))
            begin = Ring(("+", less, 1))
            fact = self._builder.calculate(name, begin, *moves, Ring(canonical(value)))
        else:
            value, fact = self._in_blocks(name, blocks, places)
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

    def _in_blocks(self, name: str, blocks: Blocks, places: list[Expr]) -> tuple[Polynomial, str]:
        """An extent as a number of blocks, less what the last one lacks."""
        block, missing = blocks
        divisor = self._vocabulary.term(block)
        self._arithmetic.positive(divisor)
        full: Term = ("+", name, missing) if missing else name
        whole, *_ = self._builder.use("DIVISION", {"x": full, "B": divisor})
        rest = divisor - missing if missing and isinstance(divisor, int) else 0
        given = self._builder.find(("=", ("mod", name, divisor), rest))
        assert given is not None
        above = self._builder.define(f"k.{name}", ("div", full, divisor))
        fold = By(above, backwards=True)
        product: Term = ("*", above, divisor)
        value: Term = ("-", product, missing) if missing else product
        exact = self._builder.have(("=", name, value), self._builder.rewrite(whole, fold), given)
        further = [each for place in places if (each := exact_quotient(place, block)) is not None]
        radices = _radices(further)
        less: Term = ("-", above, 1)
        _, moves = self._cut(above, less, radices)
        joined: Term = ("*", ("+", less, 1), divisor)
        ring = Ring(("-", joined, missing) if missing else joined)
        steps: list[Ring | By] = [By(exact), ring, *moves]
        end = self._builder.right(self._builder.calculate(name, *steps))
        result = in_terms(end)
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
            # Quotients by the same extent, however it is spelled, are to be the same digits.
            divisor = canonical(self._arithmetic.values.normal(self._vocabulary.term(radix))[0])
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
        return in_terms(end), moves


def _blocks(condition: Condition) -> tuple[Expr, Blocks] | None:
    """Return an extent and its blocks: ``C % 4 == 3`` is blocks of 4, of which the last lacks 1."""
    match condition.left, condition.operator, condition.right:
        case Mod(whole, block), "==", Constant(0):
            return whole, (block, 0)
        case Mod(Extent() as whole, Constant(block)), "==", Constant(rest) if 0 < rest < block:
            return whole, (Constant(block), block - rest)
    return None


def refine(
    arithmetic: Arithmetic,
    vocabulary: Vocabulary,
    exprs: Iterable[Expr],
    range_: Iterable[Condition] = (),
) -> None:
    """Cut every index, tuple and extent where the expressions cut it."""
    plain = [arithmetic_of(each, vocabulary.axes) or each for each in exprs]
    wholes, extents = _places(plain)
    divisors = _divisors(plain)  # what indices are divided by is not cut itself
    for each in [each for each in extents if any(same(each, other) for other in divisors)]:
        del extents[each]
    for name in (each for each in arithmetic.builder.theorem.variables if each.startswith("i.")):
        wholes.setdefault(Index(name[2:]), [])
    for name in (each for each in arithmetic.builder.theorem.variables if each.startswith("n.")):
        extents.setdefault(Extent(name[2:]), [])
    range_ = tuple(range_)
    divisible = dict(filter(None, map(_blocks, range_)))
    equal = _equal_extents(arithmetic.builder)
    for name, (other, _) in equal.items():
        extents[Extent(other)] += extents.pop(Extent(name))
    cutter = Cutter(arithmetic, vocabulary)
    plain_first = sorted(extents, key=lambda each: not isinstance(each, Extent))
    for extent in [*divisible, *(each for each in plain_first if each not in divisible)]:
        if not isinstance(extent, Extent):
            cutter.equal(equal)
            equal = {}
        cutter.extent(extent, extents.get(extent, []), divisible.get(extent))
    cutter.equal(equal)
    spelling = Extents(range_)
    variables = {*arithmetic.builder.theorem.variables}
    for whole, places in wholes.items():
        if not {index_name(name) for name in indices(whole)} <= variables:
            continue  # the theorem speaks of no index: of a size, for example
        alike = [spelling.written(spelling.spelled(each)) for each in places]
        Cutter(arithmetic, vocabulary).whole(whole, alike)


def _equal_extents(builder: ProofBuilder) -> dict[str, tuple[str, str]]:
    """Extents that the range says are others: the other, and the fact."""
    found: dict[str, tuple[str, str]] = {}
    for fact in builder.hypotheses:
        match builder.formula(fact):
            case ("=", str(left), str(right)) if (
                left != right and left.startswith("n.") and right.startswith("n.")
            ):
                name, other = left.removeprefix("n."), right.removeprefix("n.")
                if not {name, other} & {*found, *(each for each, _ in found.values())}:
                    found[name] = (other, fact)
    return found


def _places(exprs: Iterable[Expr]) -> tuple[dict[Expr, list[Expr]], dict[Expr, list[Expr]]]:
    wholes: dict[Expr, list[Expr]] = {}
    extents: dict[Expr, list[Expr]] = {}
    cuts = (each for expr in exprs for each in walk(expr))
    for each in dict.fromkeys(cut for cut in cuts if isinstance(cut, FloorDiv | Mod | CeilDiv)):
        if _is_half_of_squares(each):
            continue
        if not indices(each.left):
            base, divisor = _extent_cut(each.left, each.right)
            extents.setdefault(base, []).append(divisor)
            continue
        if any(name.startswith("_") for name in indices(each.left)):
            continue  # steps of an inverse stay whole: both sides divide them alike
        digit = read(each.left)
        if digit is not None:
            ends = (digit.divisor, times(digit.divisor, each.right))
            inner = [_within(digit.whole, end) for end in ends]
            apart = [found for found in inner if found is not None]
            if len(apart) < len(ends):
                apart = [(digit.whole, end) for end in ends]
            for whole, place in apart:
                wholes.setdefault(whole, []).append(place)
        else:
            for whole, place in _summands(each.left, each.right):
                wholes.setdefault(whole, []).append(place)
    ordered = dict(sorted(wholes.items(), key=lambda item: isinstance(item[0], MixedRadix)))
    return ordered, extents


def _divisors(exprs: Iterable[Expr]) -> set[Expr]:
    """Return every divisor of an index, and the extents in it."""
    cuts = (each for expr in exprs for each in walk(expr) if isinstance(each, FloorDiv | Mod))
    divisors = {each.right for each in cuts if indices(each.left)}
    return divisors | {
        found for each in divisors for found in walk(each) if isinstance(found, Extent)
    }


def _within(whole: Expr, place: Expr) -> tuple[Expr, Expr] | None:
    """Return where a part of a tuple is cut when the tuple is: ``(c1, c0: 4)%16`` cuts c1 at 4.

    Returns:
        The part's whole and the place; ``None`` where the cut goes through several parts.
    """
    if not isinstance(whole, MixedRadix):
        return whole, place
    weight: Expr = ONE
    for number, part in reversed(list(enumerate(whole.parts))):
        inner, digit = exact_quotient(place, weight), read(part.value)
        end = times(weight, part.extent)
        if inner is None:
            return None
        if number == 0 or (exact_quotient(end, place) is not None and not same(end, place)):
            if digit is None or not _is_cut_evenly(digit, inner):
                return None
            return _within(digit.whole, times(digit.divisor, inner))
        weight = end
    return None


def _is_cut_evenly(digit: Digit, place: Expr) -> bool:
    """Whether a cut of a digit is one of its whole: not so for ``k%q`` at 4, ``q`` being any."""
    return digit.radix is None or exact_quotient(digit.radix, place) is not None


def _summands(value: Expr, block: Expr) -> Iterator[tuple[Expr, Expr]]:
    """Yield where the digits of a sum are cut when the sum is, each by its weight."""
    for factors, coefficient in polynomial(value).items():
        spoken = [each for each in factors if indices(each)]
        digit = read(spoken[0]) if len(spoken) == 1 else None
        others = product((*(each for each in factors if not indices(each)), Constant(coefficient)))
        inner = exact_quotient(block, others) if coefficient > 0 else None
        if digit is not None and isinstance(digit.whole, Index) and inner is not None:
            yield digit.whole, times(digit.divisor, inner)
            continue
        for name in sorted({name for each in spoken for name in indices(each)}):
            yield Index(name), block


def _is_half_of_squares(cut: FloorDiv | Mod | CeilDiv) -> bool:
    """Whether `halves` reads it off, which no cut of its parts does."""
    squares = any(len(set(factors)) < len(factors) for factors in polynomial(cut.left))
    return cut.right == Constant(2) and squares


def _extent_cut(expr: Expr, divisor: Expr) -> tuple[Expr, Expr]:
    """Look through nested quotients and added numbers to what is cut, and by how much."""
    while True:
        expr = _base(expr, divisor)
        match expr:
            case FloorDiv(left, right) | CeilDiv(left, right):
                expr, divisor = left, times(right, divisor)
            case _:
                return expr, divisor


def _base(expr: Expr, divisor: Expr) -> Expr:
    """Drop numbers and multiples of the divisor, which need no cut, and the sign of the rest."""
    terms = polynomial(expr)
    plain: Expr = Constant(0)
    for factors, coefficient in terms.items():
        term = product((*factors, Constant(coefficient)))
        if factors and exact_quotient(term, divisor) is None:
            plain = Add(plain, term)
    plain = simplify(plain)
    if all(coefficient < 0 for factors, coefficient in polynomial(plain).items() if factors):
        plain = simplify(Sub(Constant(0), plain))
    return plain
