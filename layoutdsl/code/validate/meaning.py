"""What the constructs of emitted numpy code mean: slices, reshapes, transposes, stores, loops.

Every rule says what numpy documents, and notes what has to hold for it as a `Need`: a slice lies in
its dimension, so that numpy does not clamp it; the two sides of a store have one shape, so that it
does not broadcast; a divisor is positive. Trusted.

A `reshape` that only splits dimensions is a view, whatever the strides. One that merges them is a
view where the slots lie one after the other; elsewhere it may be a copy, and the
text is read for both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from layoutdsl.code.validate.normal import NORMAL
from layoutdsl.code.validate.values import (
    Alternative,
    Array,
    Choice,
    Group,
    Item,
    Listing,
    Meaningless,
    Member,
    Root,
    Span,
    Tuple,
    Turned,
    added,
    all_of,
    choices_in,
    same,
    size,
)
from layoutdsl.proof.kernel.checker import Term, substitute


@dataclass(frozen=True, slots=True)
class Need:
    """A formula that has to hold for every shape, every member of the choices, every place.

    Attributes:
        about: what it is about, in a few words.
        path: what is known of the shape where the text says it.
        choices: the loops around it.
        places: variables with the extents they stay below.
        goal: the formula.
    """

    about: str
    path: tuple[Term, ...]
    choices: tuple[Choice, ...]
    places: tuple[tuple[str, Term], ...]
    goal: Term


@dataclass(frozen=True, slots=True)
class Store:
    """``target[...] = source``, for every member of the choices."""

    target: Array
    source: Array | Item
    choices: tuple[Choice, ...]


@dataclass
class Meaning:
    """What reading a module has led to so far; terms, choices and needs are shared by all runs."""

    definitions: dict[Term, str] = field(default_factory=dict)
    openings: dict[str, Term] = field(default_factory=dict)
    needs: dict[Need, None] = field(default_factory=dict)
    _choices: dict[tuple[str, tuple[Alternative, ...]], Choice] = field(default_factory=dict)
    _opaque: dict[tuple[str, Term, Term], str] = field(default_factory=dict)
    # Of the run at hand:
    stores: list[Store] = field(default_factory=list)
    path: tuple[Term, ...] = ()
    guards: tuple[Term, ...] = ()
    active: tuple[Choice, ...] = ()
    copies: bool = False
    origin: str = ""
    may_copy: list[Root] = field(default_factory=list)

    def need(self, about: str, goal: Term) -> None:
        """Note that a formula has to hold here."""
        self.needs[Need(about, (*self.path, *self.guards), self.active, (), goal)] = None

    # Integers.

    def divided(self, operator: str, left: Term, right: Term) -> Term:
        """Return a floor quotient or a remainder; it is Euclidean, for the divisor is positive."""
        if not (isinstance(right, int) and right > 0):
            self.need("a divisor", ("<", 0, right))
        return (operator, left, right)

    def bits(self, operator: str, left: Term, right: Term) -> Term:
        """Return ``&``, ``|`` or ``^`` of two terms: digits, and a name for what is none."""
        return self._opened(NORMAL.form((operator, left, right)))

    def _opened(self, term: Term) -> Term:
        if not isinstance(term, tuple):
            return term
        word, *parts = (term[0], *map(self._opened, term[1:]))
        return self.opaque(word, *parts) if word in ("&", "|", "^") else (word, *parts)

    def opaque(self, operator: str, left: Term, right: Term) -> str:
        """Return a name for what an operation makes that terms do not have; of equals, the same."""
        for (kind, one, other), name in self._opaque.items():
            if kind == operator and same(one, left) and same(other, right):
                return name
        name = f"o.{len(self._opaque)}"
        self._opaque[operator, left, right] = name
        return name

    def expanded(self, term: Term) -> Term:
        """Return a term with operations in place of the names that these were given."""
        known = {name: operation for operation, name in self._opaque.items()}
        match term:
            case str() if term in known:
                return self.expanded(known[term])
            case (word, *parts):
                return (word, *map(self.expanded, parts))
        return term

    def sides(self, operator: str, term: Term) -> tuple[Term, ...]:
        """Return the terms of which one is the minimum, or the maximum, or the term alone."""
        for (kind, left, right), name in self._opaque.items():
            if (kind, name) == (operator, term):
                return (*self.sides(operator, left), *self.sides(operator, right))
        return (term,)

    def named(self, term: Term) -> Term:
        """Return a name for a term; the same one for the same term."""
        return self.definitions.setdefault(term, f"q.{len(self.definitions)}")

    # Arrays.

    def sliced(self, array: Array, index: tuple[object, ...]) -> Array:
        """``array[index]``: a slice or an integer for each dimension, those left out are whole."""
        if len(index) > len(array.order):
            raise Meaningless("an index names too many dimensions")
        entries = (*index, *[Span(None, None)] * (len(array.order) - len(index)))
        ends = [number for number, entry in enumerate(entries) if isinstance(entry, Turned)]
        if ends:
            if any(isinstance(entry, int | str | tuple) for entry in entries):
                raise Meaningless("an index beside a slice that is turned")
            plain = tuple(Span(None, None) if n in ends else e for n, e in enumerate(entries))
            return _turned(self.sliced(array, plain), ends)
        box, order = list(array.box), list[int]()
        for dimension, extent, entry in zip(array.order, array.shape, entries, strict=True):
            low = array.box[dimension][0]
            if isinstance(entry, Span):
                first, past = self._ends(entry, extent)
                order.append(dimension)
                if not (first == 0 and same(past, extent)):
                    inside: Term = ("and", ("<=", 0, first), ("<=", first, past))
                    self.need("a slice", ("and", inside, ("<=", past, extent)))
                    box[dimension] = (added(low, first), added(low, past))
            elif isinstance(entry, int | str | tuple) and not isinstance(entry, bool):
                self.need("an index", ("and", ("<=", 0, entry), ("<", entry, extent)))
                box[dimension] = (added(low, entry), added(added(low, entry), 1))
            else:
                raise Meaningless("an index is no slice and no integer")
        return Array(array.root, tuple(box), tuple(order))

    def _ends(self, span: Span, extent: Term) -> tuple[Term, Term]:
        first: Term = 0 if span.low is None else span.low
        past: Term = extent if span.high is None else span.high
        for end, opened in ((first, 0), (past, extent)):
            if isinstance(end, str) and self._may_be_open(end):
                known = self.openings.setdefault(end, opened)
                if not same(known, opened):
                    raise Meaningless("an open slice is used for two extents")
        return first, past

    def _may_be_open(self, name: str) -> bool:
        place, _, number = name.rpartition(".")
        found = next((each for each in self._choices.values() if each.name == place), None)
        return found is not None and any(
            each.leaves[int(number)] is None for each in found.alternatives
        )

    def transposed(self, array: Array, order: tuple[object, ...]) -> Array:
        """``array.transpose(order)``."""
        numbers = [n for n in order if isinstance(n, int) and not isinstance(n, bool)]
        if len(numbers) < len(order) or sorted(numbers) != list(range(len(array.order))):
            raise Meaningless("a transpose names no permutation")
        return Array(array.root, array.box, tuple(array.order[number] for number in numbers))

    def reshaped(self, array: Array, shape: tuple[Term, ...]) -> Array:
        """``array.reshape(shape)``; its dimensions split or merge, group by group."""
        if shape == (-1,):
            shape = (size(array.shape),)
        before = array.shape
        if len(before) == len(shape) and all(map(same, before, shape)):
            return array
        groups = self._groups(before, shape)
        merged = any(each.before[1] - each.before[0] > 1 for each in groups)
        copied = 0
        if merged and not array.contiguous and self.copies:
            copied = 1 + len(self.may_copy)
        root = Root(
            array.root.name,
            shape,
            array.root.element,
            array.contiguous or copied > 0,
            array,
            groups,
            copied,
        )
        if merged and not array.contiguous:
            self.may_copy.append(root)
        return all_of(root)

    def _groups(self, before: tuple[Term, ...], after: tuple[Term, ...]) -> tuple[Group, ...]:
        groups: list[Group] = []
        i = j = 0
        while i < len(before) or j < len(after):
            past_i, past_j = self._group(before, after, i, j)
            left, right = size(before[i:past_i]), size(after[j:past_j])
            if not same(left, right):
                self.need("a reshape", ("=", right, left))
            groups.append(Group((i, past_i), (j, past_j)))
            i, j = past_i, past_j
        return tuple(groups)

    def _group(
        self, before: tuple[Term, ...], after: tuple[Term, ...], i: int, j: int
    ) -> tuple[int, int]:
        """The ends of a group; any that has one product on both sides is right: this may guess."""
        if i < len(before) and j < len(after) and same(before[i], after[j]):
            return i + 1, j + 1
        if i < len(before) and before[i] == 1:
            return i + 1, j
        if j < len(after) and after[j] == 1:
            return i, j + 1
        if i == len(before) or j == len(after):
            raise Meaningless("a reshape to another size")
        for past in range(j + 1, len(after) + 1):
            if self._alike(before[i], size(after[j:past])):
                return i + 1, past
        for past in range(i + 1, len(before) + 1):
            if self._alike(size(before[i:past]), after[j]):
                return past, j + 1
        raise Meaningless("a reshape that neither splits nor merges")

    def _alike(self, one: Term, other: Term) -> bool:
        """Whether terms are equal, for every member of the one loop that they speak of."""
        said = choices_in(one) | choices_in(other)
        if not said:
            return same(one, other)
        choice = next((each for each in self._choices.values() if {each.name} == said), None)
        if choice is None:
            return False
        for member in choice.alternatives:
            names = (choice.leaf(number) for number in range(choice.width))
            known = {
                name: self.openings.get(name, name) if leaf is None else leaf
                for name, leaf in zip(names, member.leaves, strict=True)
            }
            if not same(substitute(one, known), substitute(other, known)):
                return False
        return True

    def store(self, target: Array, source: object) -> None:
        """``target[...] = source``, element by element, both of one type and one shape."""
        if not isinstance(source, Array | Item):
            raise Meaningless("what is stored is neither an array nor an item")
        element = source.root.element if isinstance(source, Array) else source.element
        if element != target.root.element:
            raise Meaningless("a store changes the type of the elements")
        if isinstance(source, Array):
            if len(source.order) != len(target.order):
                raise Meaningless("a store broadcasts")
            for one, other in zip(target.shape, source.shape, strict=True):
                if not same(one, other):
                    self.need("the shapes of a store", ("=", one, other))
        if self.guards:
            raise Meaningless("a store stands under a condition")
        self.stores.append(Store(target, source, self.active))

    # Lists.

    def listing(self) -> Listing:
        """``[]``."""
        return Listing(self.origin, self.active)

    def append(self, listing: Listing, value: object) -> None:
        """``listing.append(value)``, for every member of the loops around it."""
        if listing.origin != self.origin:
            raise Meaningless("a list grows in another function than the one that made it")
        if listing.closed or self.active[: len(listing.outside)] != listing.outside:
            raise Meaningless("a list grows where it is looped over")
        loops = self.active[len(listing.outside) :]
        listing.members.append(Member(self.guards, loops, value))

    def looped(self, listing: Listing) -> Iterator[object]:
        """``for value in listing``: yield each value, with the loops it stands for around it.

        Members that are in the list under conditions become one value: the member at hand.
        """
        listing.closed = True
        if self.guards:
            raise Meaningless("a loop stands under a condition")
        if not any(member.guard for member in listing.members):
            for member in listing.members:
                with self._inside(member.choices):
                    yield member.value
            return
        choice = self._choice(listing)
        with self._inside((choice,)):
            yield _abstract(listing.members[0].value, choice, iter(range(choice.width)))

    def _choice(self, listing: Listing) -> Choice:
        if any(member.choices for member in listing.members):
            raise Meaningless("members of a list are conditional inside a loop")
        if len({_form(member.value) for member in listing.members}) != 1:
            raise Meaningless("the members of a list are not alike")
        alternatives = tuple(
            Alternative(member.guard, tuple(_leaves(member.value))) for member in listing.members
        )
        for each in alternatives:
            said = (*each.guard, *(leaf for leaf in each.leaves if leaf is not None))
            if any(map(choices_in, said)):
                raise Meaningless("a list depends on the loops around it")
        fresh = Choice(f"p.{len(self._choices)}", alternatives)
        return self._choices.setdefault((listing.origin, alternatives), fresh)

    @contextmanager
    def _inside(self, choices: tuple[Choice, ...]) -> Iterator[None]:
        if set(choices) & set(self.active):
            raise Meaningless("a list is looped over twice at once")
        outside = self.active
        self.active = (*outside, *choices)
        yield
        self.active = outside


def _form(value: object) -> object:
    """What is alike in members of a list: everything but the integers."""
    match value:
        case Tuple(items):
            return tuple(map(_form, items))
        case Span():
            return "slice"
        case bool() | None:
            raise Meaningless("a list holds a truth value")
        case int() | str() | tuple():
            return "integer"
    raise Meaningless("a list under conditions holds more than integers and slices")


def _leaves(value: object) -> Iterator[Term | None]:
    match value:
        case Tuple(items):
            for item in items:
                yield from _leaves(item)
        case Span(low, high):
            yield low
            yield high
        case int() | str() | tuple():
            yield value


def _abstract(value: object, choice: Choice, numbers: Iterator[int]) -> object:
    match value:
        case Tuple(items):
            return Tuple(tuple(_abstract(item, choice, numbers) for item in items))
        case Span():
            return Span(choice.leaf(next(numbers)), choice.leaf(next(numbers)))
    return choice.leaf(next(numbers))


def _turned(array: Array, ends: list[int]) -> Array:
    """The array with some dimensions counted from their ends: a view, whatever the strides."""
    groups = tuple(Group((n, n + 1), (n, n + 1), n in ends) for n in range(len(array.order)))
    root = array.root
    return all_of(Root(root.name, array.shape, root.element, parent=array, groups=groups))
