"""Proofs that a table inverts a layout, by way of a layout of plain digits. Not trusted.

`digits` has one coordinate per digit, so its own proofs (shape, encode, decode) say how a slot and
its digits hang together. That the table reads every slot of `digits` to its index (`through`) is
calculated; the layout has the same offsets (`alike`). The theorems about the table follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from layoutdsl.language.digits.inverse import ReadBack
from layoutdsl.language.digits.network import Chain
from layoutdsl.language.integers.expr import Expr, Index
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.table import Table
from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.checker import By, Proof, Ring, Term, Theorem, polynomial, substitute
from layoutdsl.proof.statements import claim_statement, statement, table_statement
from layoutdsl.proof.statements.statement import OTHER, Ground
from layoutdsl.proof.statements.table_statement import read_name
from layoutdsl.proof.statements.terms import Vocabulary, index_name
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.claim_proof import prove_equations
from layoutdsl.proof.tactics.soundness import Soundness
from layoutdsl.proof.tactics.splitting import split

MARK = "~f"
"""The mark of names that come from a theorem that is used."""


class Borrowing:
    """Theorems used in one builder.

    Args:
        builder: the proof under construction.
        known: the theorems, by name.
    """

    def __init__(self, builder: ProofBuilder, known: Mapping[str, Theorem]) -> None:
        self.builder = builder
        self._known = known

    def define(self, name: str, values: Mapping[str, Term]) -> dict[str, Term]:
        """Give every name of a theorem a value, its variables by default their own name.

        Raises:
            NoProof: two theorems mean different things by one name.
        """
        theorem = self._known[name]
        names: dict[str, Term] = {**{each: each for each in theorem.variables}, **values}
        for each, term in theorem.definitions:
            if each in names:
                continue
            names[each] = f"{each}{MARK}"
            wanted = substitute(term, names)
            known = self.builder.find_definition(f"{each}{MARK}")
            if known is None:
                self.builder.define(f"{each}{MARK}", wanted)
            elif known != wanted:
                raise NoProof(f"{each} has two meanings")
        used = {*theorem.variables, *(each for each, _ in theorem.definitions)}
        return {each: value for each, value in names.items() if each in used}

    def use(self, name: str, values: Mapping[str, Term]) -> list[str]:
        """Use a theorem; returns the facts of its goals.

        Raises:
            NoProof: a condition is not known.
        """
        return self.builder.use(name, self.define(name, values))

    def arithmetic(self) -> Arithmetic:
        """Return what compares sizes, borrowed ones too."""
        borrowed = (name for name in self.builder.names if name[:2] in ("p.", "r."))
        return Arithmetic(self.builder, frozenset(name for name in borrowed if name.endswith(MARK)))

    def unfolded(self, name: str) -> str:
        """Return the fact that a borrowed slot equals a term over indices and extents."""
        folds = [
            By(each)
            for each in reversed(self.builder.names)
            if each.endswith(MARK) and each[:2] in ("v.", "h.", "r.")
        ]
        return self.builder.calculate(name, By(name), *folds)

    def moved(self, formula: Term, equal: str) -> str:
        """Return a known fact with the right side of an equation put back to its left."""
        fact = self.builder.find(formula)
        assert fact is not None
        return self.builder.rewrite(fact, By(equal, backwards=True))


def renamed(inner: Ground, outer: Ground) -> dict[str, Term]:
    """Return what the minima and maxima of one ground are called in another."""
    names = outer.vocabulary.shared
    return {
        name: names.get(expr, name)
        for expr, name in inner.vocabulary.shared.items()
        if name[:2] == "m."
    }


class Inversion:
    """The theorems about one table and one layout, with proofs.

    Args:
        table: in the range of the layout, over its axes.
        layout: what it is claimed to invert.
        digits: a layout that is a network of digits of its axes, without tuples.
        read: how ``digits`` is read.
        lemmas: the lemma library.
    """

    def __init__(
        self,
        table: Table,
        layout: Layout,
        digits: Layout,
        read: ReadBack,
        lemmas: Mapping[str, Theorem],
    ) -> None:
        self._table, self._layout, self._digits = table, layout, digits
        self._network = read.network
        self._lemmas = lemmas
        self._sound = Soundness(digits, read, lemmas)
        self._inner = self._sound.ground
        self._outer = table_statement.ground(table, layout)
        self._renamed = renamed(self._inner, self._outer)
        self._known = dict(lemmas)

    def theorems(self) -> Iterator[tuple[Theorem, Proof]]:
        """Yield theorems with their proofs, each after those that it uses.

        Raises:
            NoProof: a proof could not be found.
            NotExpressible: the table or the layout says what the checker's terms cannot.
        """
        outer, table = self._outer, self._table
        for theorem, proof in self._sound.theorems():
            if theorem.name in ("shape", "encode", "decode"):
                yield self._keep(theorem, proof)
        through = self._through_theorem()
        yield self._keep(through, self._through(through))
        alike = self._alike_theorem()
        spoken = _spoken(self._layout, self._digits)
        yield self._keep(alike, prove_equations(outer, alike, spoken, self._lemmas))
        box = table_statement.box(outer, table)
        yield self._keep(box, self._box(box))
        room = table_statement.room(outer, table)
        exprs = (*_spoken(self._layout), *(slot.extent for slot in table.slots))
        yield self._keep(room, prove_equations(outer, room, exprs, self._lemmas))
        held = table_statement.held(outer, table)
        yield self._keep(held, self._held(held))
        single = table_statement.single(outer, table)
        yield self._keep(single, self._single(single))

    def _keep(self, theorem: Theorem, proof: Proof) -> tuple[Theorem, Proof]:
        self._known[theorem.name] = theorem
        return theorem, proof

    def _through_theorem(self) -> Theorem:
        """The table reads the slot of every index of the padded box of digits to that index."""
        inner, encode = self._inner, self._known["encode"]
        named = {e: name for e, name in inner.vocabulary.shared.items() if name[:2] == "m."}
        plain = replace(inner, vocabulary=Vocabulary(named))
        goals: list[Term] = [
            ("=", read_name(a.name), index_name(a.name)) for a in inner.layout.axes
        ]
        return Theorem(
            "through",
            encode.variables,
            encode.hypotheses,
            tuple(goals),
            (
                *inner.definitions,
                *statement.encoding(inner, inner.vocabulary, "", "slot"),
                *table_statement.reading(plain, self._table),
            ),
        )

    def _through(self, theorem: Theorem) -> Proof:
        """Every index is cut into digits; what the table makes of them is worked out."""
        builder = ProofBuilder(theorem, self._lemmas)
        names = frozenset(name for name, _ in theorem.definitions)
        shared = frozenset(name for name, _ in self._inner.definitions)
        sums = self._sums()
        arithmetic = Arithmetic(builder, names - frozenset(sums), shared)
        for name, spelled in sums.items():
            folds = [By(each, backwards=True) for each, _ in self._inner.definitions]
            arithmetic.values.know(spelled, {(name,): 1}, builder.calculate(spelled, *folds))
        for chain in self._network.chains:
            self._split(arithmetic, chain)
        for goal in theorem.goals:
            match goal:
                case ("=", left, right):
                    _equal(arithmetic, left, right)
        return builder.proof

    def _sums(self) -> dict[str, Term]:
        """The extents that are sums, such as ``W + 1``, spelled out; they divide as one number."""
        spelled: dict[str, Term] = {}
        for name, term in self._inner.definitions:
            spelled[name] = substitute(term, spelled)
        return {name: term for name, term in spelled.items() if len(polynomial(term)) > 1}

    def _split(self, arithmetic: Arithmetic, chain: Chain) -> None:
        """Cut an index into its digits."""
        assert isinstance(chain.whole, Index)
        name = index_name(chain.whole.name)
        reach = self._inner.vocabulary.term(chain.reach)
        low = arithmetic.builder.find(("<=", 0, name))
        high = arithmetic.builder.find(("<", name, reach))
        assert low is not None
        assert high is not None
        if chain.cuts and reach != 1:
            split(arithmetic, self._inner, self._network, chain, (name, low, high))
        else:
            arithmetic.values.know(name, {}, arithmetic.builder.have(("=", name, 0), low, high))

    def _alike_theorem(self) -> Theorem:
        """Both layouts put every element at the same offset."""
        outer = self._outer
        hypotheses = list(outer.hypotheses)
        for axis in outer.layout.axes:
            index = index_name(axis.name)
            hypotheses += [("<=", 0, index), ("<", index, outer.extent(axis.name))]
        indices = tuple(index_name(axis.name) for axis in outer.layout.axes)
        definitions = (
            ("left", claim_statement.offset(self._layout, outer.vocabulary)),
            ("right", claim_statement.offset(self._digits, outer.vocabulary)),
        )
        goals: tuple[Term, ...] = (("=", "left", "right"),)
        variables = (*outer.variables, *indices)
        return Theorem("alike", variables, tuple(hypotheses), goals, definitions)

    def _box(self, theorem: Theorem) -> Proof:
        builder = ProofBuilder(theorem, self._known)
        arithmetic = Arithmetic(builder)
        for goal in theorem.goals:
            arithmetic.positive(goal[2])  # type: ignore[index]
        return builder.proof

    def _held(self, theorem: Theorem) -> Proof:
        """The element has its slot in `digits`, and that slot is read to it."""
        builder = ProofBuilder(theorem, self._known)
        borrowed = Borrowing(builder, self._known)
        (alike,) = borrowed.use("alike", {"left": "slot"})
        borrowed.use("shape", self._renamed)
        names = borrowed.define("encode", self._renamed)
        for condition in self._known["encode"].hypotheses:
            self._within(builder, substitute(condition, names))
        borrowed.use("encode", self._renamed)
        start = builder.calculate("slot", By(alike), By(f"right{MARK}"))
        equal = _same_offset(borrowed, start, f"slot{MARK}")
        builder.calculate("slot", By(equal), By(f"slot{MARK}"))
        borrowed.use("through", {**self._renamed, **self._own_names, "slot": "slot"})
        for goal in theorem.goals:
            match goal:
                case ("<=", 0, "slot"):
                    borrowed.moved(("<=", 0, f"slot{MARK}"), equal)
                case ("<", "slot", size):
                    upper = f"{statement.size(self._inner)}{MARK}"
                    high = borrowed.moved(("<", f"slot{MARK}", upper), equal)
                    borrowed.arithmetic().below(high, size)
        return builder.proof

    def _within(self, builder: ProofBuilder, condition: Term) -> None:
        """An index of the shape is an index of the padded box."""
        match condition:
            case ("<", str() as index, padded) if builder.find(condition) is None:
                extent = self._outer.extent(index.removeprefix(index_name("")))
                within = builder.find(("<=", extent, padded))
                high = builder.find(("<", index, extent))
                if within is not None and high is not None:
                    builder.have(condition, high, within)

    def _single(self, theorem: Theorem) -> Proof:
        """The slot is that of an index of `digits`, and the table reads it to that index."""
        builder = ProofBuilder(theorem, self._known)
        borrowed = Borrowing(builder, self._known)
        names = borrowed.define("decode", self._renamed)
        for condition in self._known["decode"].hypotheses:
            match substitute(condition, names):
                case ("<", "slot", upper):
                    borrowed.arithmetic().below(_upper(builder), upper)
        *_, back = borrowed.use("decode", self._renamed)
        builder.calculate("slot", By(back, backwards=True), By(f"back{MARK}"))
        moved = borrowed.use("through", {**self._renamed, **self._own_names, **self._read_back()})
        axes = [axis.name for axis in self._table.axes]
        indices: dict[str, Term] = {index_name(axis): read_name(axis) for axis in axes}
        (alike,) = borrowed.use("alike", {**indices, "left": "back"})
        start = builder.calculate("back", By(alike), By(f"right{MARK}"), *map(By, moved))
        equal = _same_offset(borrowed, start, f"back{MARK}")
        builder.calculate("back", By(equal), By(back))
        return builder.proof

    @property
    def _own_names(self) -> dict[str, Term]:
        """What the table reads has the same name in every theorem."""
        return {name: name for name, _ in table_statement.reading(self._outer, self._table)}

    def _read_back(self) -> dict[str, Term]:
        """Values for `through`: the index that `decode` finds for a slot, and that slot."""
        axes = [axis.name for axis in self._table.axes]
        there = {index_name(axis): f"{statement.decoded(axis)}{MARK}" for axis in axes}
        own = [name for name, _ in self._known["through"].definitions]
        there |= {name: f"{name}{OTHER}{MARK}" for name in own if name[:2] in ("v.", "h.")}
        return {**there, "slot": "slot"}


def _same_offset(borrowed: Borrowing, start: str, name: str) -> str:
    """Return the fact that a slot equals a borrowed one; ``start`` says what it is of indices."""
    builder = borrowed.builder
    other = borrowed.unfolded(name)
    plain = builder.right(other)
    if polynomial(builder.right(start)) != polynomial(plain):
        raise NoProof("the layout and its digits have different offsets")
    slot = builder.left(start)
    return builder.calculate(slot, By(start), Ring(plain), By(other, backwards=True))


def _upper(builder: ProofBuilder) -> str:
    """The hypothesis that the slot is below the size."""
    found = [each for each in builder.hypotheses if builder.formula(each)[:2] == ("<", "slot")]  # type: ignore[index]
    return found[0]


def _equal(arithmetic: Arithmetic, left: Term, right: Term) -> None:
    (one, first), (other, second) = arithmetic.values.normal(left), arithmetic.values.normal(right)
    if one != other:
        raise NoProof("the table reads another index than the digits of its slot say")
    fact = arithmetic.builder.calculate(left, By(first), By(second, backwards=True))
    if arithmetic.builder.formula(fact) != ("=", left, right):
        arithmetic.builder.have(("=", left, right), first, second)


def _spoken(*layouts: Layout) -> tuple[Expr, ...]:
    coordinates = [each for layout in layouts for each in layout.coordinates]
    return tuple(expr for each in coordinates for expr in (each.value, each.extent))
