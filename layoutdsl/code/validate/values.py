"""What the names of an emitted module stand for while it is read: terms, slices, arrays, lists.

An array is a box of slots of a *root*, its dimensions in some order. A root is a block of memory,
or the array that `reshape` makes of another: row-major, so that dimensions that are split or merged
correspond group by group. Trusted, as are `meaning` and `reading`, which make such values.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from layoutdsl.proof.kernel.checker import Term, names, polynomial


class Meaningless(Exception):  # noqa: N818  a reason for "not validated"
    """The text says something that has no meaning here; the message says what."""


def same(left: Term, right: Term) -> bool:
    """Return whether two terms are equal as polynomials."""
    return left == right or polynomial(left) == polynomial(right)


def added(left: Term, right: Term) -> Term:
    """Return the sum."""
    if left == 0:
        return right
    if right == 0:
        return left
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    return ("+", left, right)


def less(left: Term, right: Term) -> Term:
    """Return the difference."""
    if right == 0:
        return left
    if isinstance(left, int) and isinstance(right, int):
        return left - right
    return 0 if left == right else ("-", left, right)


def times(left: Term, right: Term) -> Term:
    """Return the product."""
    if left == 1:
        return right
    if right == 1:
        return left
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    return 0 if 0 in (left, right) else ("*", left, right)


def horner(digits: tuple[Term, ...], extents: tuple[Term, ...]) -> Term:
    """Return the mixed-radix value of the digits, most major first."""
    value: Term = 0
    for digit, extent in zip(digits, extents, strict=True):
        value = added(times(value, extent), digit)
    return value


def size(extents: tuple[Term, ...]) -> Term:
    """Return the product of the extents."""
    value: Term = 1
    for extent in extents:
        value = times(value, extent)
    return value


@dataclass(frozen=True, slots=True)
class Span:
    """A slice ``low:high``; ``None`` where it is left out, which means from end to end."""

    low: Term | None
    high: Term | None


@dataclass(frozen=True, slots=True)
class Turned:
    """A slice ``::-1``."""


@dataclass(frozen=True, slots=True)
class Group:
    """Dimensions of an array that `reshape` turns into others, the first and past the last.

    Where it is `turned`, a single one is counted from its end.
    """

    before: tuple[int, int]
    after: tuple[int, int]
    turned: bool = False


@dataclass(frozen=True)
class Root:
    """A block of memory, or what `reshape` makes of an array, or one that is turned.

    Attributes:
        name: of the block; for a reshaped array that of the block under it.
        shape: the extents of its dimensions.
        element: the type of its items: whose items it has.
        whole: its slots lie one after the other in row-major order.
        parent: the array that was reshaped.
        groups: which dimensions of the parent became which.
        copied: which copy this is, where `reshape` had to copy, so that what is written here is
            not written there; 0 where it did not.
    """

    name: str
    shape: tuple[Term, ...]
    element: str
    whole: bool = False
    parent: Array | None = None
    groups: tuple[Group, ...] = ()
    copied: int = 0


@dataclass(frozen=True)
class Array:
    """A box of a root.

    Attributes:
        root: what it is a part of.
        box: for each dimension of the root, the first position and the one past the last.
        order: for each dimension of the array, which of the root's it is; a dimension of the root
            that is not named stands on its first position.
    """

    root: Root
    box: tuple[tuple[Term, Term], ...]
    order: tuple[int, ...]

    @property
    def shape(self) -> tuple[Term, ...]:
        """The extents of the array."""
        return tuple(less(self.box[each][1], self.box[each][0]) for each in self.order)

    @property
    def base(self) -> Root:
        """The block of memory."""
        return self.root if self.root.parent is None else self.root.parent.base

    def is_cut(self, dimension: int) -> bool:
        """Whether the box leaves out slots along a dimension of the root."""
        low, high = self.box[dimension]
        return not (low == 0 and same(high, self.root.shape[dimension]))

    @property
    def covers(self) -> bool:
        """Whether the box is the whole root."""
        return not any(map(self.is_cut, range(len(self.box))))

    @property
    def contiguous(self) -> bool:
        """Whether its slots lie one after the other in the order of its own dimensions."""
        return self.root.whole and self.covers and self.order == tuple(range(len(self.box)))

    @property
    def in_order(self) -> bool:
        """Whether it has all items of its block of memory, in their row-major order."""
        array: Array | None = self
        while array is not None:
            turned = any(group.turned for group in array.root.groups)
            if turned or not array.covers or array.order != tuple(range(len(array.box))):
                return False
            array = array.root.parent
        return True

    def position(self, place: tuple[Term, ...]) -> tuple[Term, ...]:
        """Return where a place of the array is in its root."""
        at = dict(zip(self.order, place, strict=True))
        return tuple(added(low, at.get(number, 0)) for number, (low, _) in enumerate(self.box))

    def address(self, place: tuple[Term, ...]) -> tuple[Term, ...]:
        """Return where a place of the array is in its block of memory."""
        at, root = self.position(place), self.root
        while root.parent is not None:
            at = root.parent.position(_before(root, root.parent.shape, at))
            root = root.parent.root
        return at


def _before(root: Root, shape: tuple[Term, ...], at: tuple[Term, ...]) -> tuple[Term, ...]:
    """Where a place of a reshaped array was before: row-major, group by group."""
    place: list[Term] = []
    for group in root.groups:
        digits = at[slice(*group.after)]
        extents = shape[slice(*group.before)]
        value = horner(digits, root.shape[slice(*group.after)])
        if group.turned:
            value = less(less(extents[0], 1), value)
        parts: list[Term] = []
        for extent in reversed(extents[1:]):
            parts.append(("mod", value, extent))
            value = ("div", value, extent)
        place += [value, *reversed(parts)] if extents else []
    return tuple(place)


def block(name: str, shape: tuple[Term, ...], element: str) -> Array:
    """Return a block of memory as an array whose places are its own."""
    return all_of(Root(name, shape, element, whole=True))


def argument(name: str, shape: tuple[Term, ...], element: str) -> Array:
    """Return a caller's array; nothing is known of where its slots lie in memory."""
    return all_of(Root(name, shape, element))


def all_of(root: Root) -> Array:
    """Return the whole root as an array."""
    return Array(root, tuple((0, extent) for extent in root.shape), tuple(range(len(root.shape))))


@dataclass(frozen=True, slots=True)
class Alternative:
    """One member of a list: the conditions under which it is in it, and its leaves.

    A leaf is a term; a slice has two, and ``None`` where an end is left out.
    """

    guard: tuple[Term, ...]
    leaves: tuple[Term | None, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A loop over a list whose members are alike: the member at hand is called by its leaves."""

    name: str
    alternatives: tuple[Alternative, ...]

    @property
    def width(self) -> int:
        """The number of leaves of a member."""
        return len(self.alternatives[0].leaves)

    def leaf(self, number: int) -> str:
        """Return the name of a leaf of the member at hand."""
        return f"{self.name}.{number}"


def choices_in(term: Term) -> set[str]:
    """Return the names of the choices that a term speaks of."""
    return {name.rpartition(".")[0] for name in names(term) if name.startswith("p.")}


@dataclass(frozen=True, slots=True)
class Item:
    """One item to fill with; ``number`` is the text's own, ``None`` the caller's `fill`."""

    number: int | None
    element: str


@dataclass(frozen=True, slots=True)
class Element:
    """The type of the items of an array: whose items they are like."""

    element: str


@dataclass(frozen=True, slots=True)
class Given:
    """An argument that the caller gave, before anything is known of it."""

    name: str


@dataclass(frozen=True, slots=True)
class Tuple:
    """A Python tuple; terms are tuples too, so it has a name of its own."""

    items: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A Python string."""

    text: str


@dataclass(frozen=True, slots=True)
class Travels:
    """An argument was refused unless its items are of a kind and a width, in bytes."""

    argument: str
    kind: str
    width: int


@dataclass(frozen=True, slots=True)
class Places:
    """Slots of a root, in whatever order."""

    root: Root
    box: tuple[tuple[Term, Term], ...]


@dataclass(frozen=True, slots=True)
class Within:
    """Numbers were refused unless they are in a range, for every member of the choices."""

    what: object
    choices: tuple[Choice, ...]
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Member:
    """What a list holds: a value, under conditions, for every member of the choices around it."""

    guard: tuple[Term, ...]
    choices: tuple[Choice, ...]
    value: object


@dataclass(slots=True)
class Listing:
    """A list as it grows; ``origin`` is the function that made it.

    What is looped over grows no more.
    """

    origin: str
    outside: tuple[Choice, ...]
    members: list[Member] = field(default_factory=list)
    closed: bool = False
