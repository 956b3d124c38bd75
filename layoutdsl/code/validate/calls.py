"""What the calls of emitted Python mean: of numpy, of Python, and of the support modules carry.

The support is not read: `frame` compares its text, and what it means stands here. Its functions
raise where arguments do not fit, which has to be before anything is written. Trusted.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from layoutdsl.code.validate.expressions import Expressions, Names, as_terms
from layoutdsl.code.validate.values import (
    Array,
    Element,
    Given,
    Item,
    Listing,
    Meaningless,
    Places,
    Span,
    Text,
    Travels,
    Tuple,
    Within,
    argument,
    block,
    same,
)
from layoutdsl.proof.kernel.checker import Term

SUPPORT = (
    "_array",
    "_travels",
    "_within",
    "_integers",
    "_index",
    "_boxed",
    "_entries",
    "_refuse_outside",
    "_item",
    "_destination",
    "_workers",
    "_refuse_view",
    "_seen",
    "_way",
    "_trials",
    "_choices",
    "_inside",
    "_staged",
    "_cost",
    "_fetched",
    "_fits",
    "_touched",
    "_move",
    "_by",
    "_share",
    "_copy",
    "_copy_staged",
    "_parts",
    "_fill",
    "_short_runs",
    "_fill_runs",
)
"""The functions that every module carries word for word; their text is compared, not read."""

ROWS = (
    "_scatter",
    "_gathered",
    "_runs",
    "_wide",
    "_refuse_runs",
    "_refuse_rows",
    "_scatter_rows",
    "_take_rows",
    "_ends",
)
"""The functions that modules carry which move runs or rows, likewise."""

COPIES = ("_spread",)
"""The function that modules carry whose elements have copies, likewise."""
REFUSALS = ("ValueError", "TypeError")
"""What a module may raise."""

BUILTINS = (
    *("slice", "divmod", "min", "max", "int", "float", "range", "bool", "object", "all", "np"),
    *("lru_cache", "gcd", "prod", "perf_counter"),
    *REFUSALS,
)
"""Names of Python's that have a meaning here, so that nothing in a module may bind them."""


class Calls(Expressions):
    """Expressions that call something."""

    def call(self, name: str, *arguments: object) -> object:
        """Return what a function of the module returns."""
        raise NotImplementedError

    def _call(self, call: ast.Call, names: Names) -> object:
        match call:
            case ast.Call(func=ast.Name(id=name)) if name in names:
                raise Meaningless(f"`{name}` is called")
            case ast.Call(func=ast.Name(id=name), args=nodes, keywords=[]):
                return self._function(name, [self._value(each, names) for each in nodes])
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="np"), attr="empty"),
                args=[shape, element],
                keywords=[],
            ):
                return self._empty(self._value(shape, names), self._value(element, names))
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=nodes, keywords=[]):
                return self._method(self._value(owner, names), name, nodes, names)
        raise Meaningless(f"`{ast.unparse(call)}`")

    def _empty(self, shape: object, element: object) -> Array:
        """A new block of memory."""
        if not (isinstance(shape, Tuple) and isinstance(element, Element) and self.checked):
            raise Meaningless("`np.empty` of something else than a shape and a type")
        self.blocks += 1
        return block(f"new.{self.blocks}", as_terms(shape), element.element)

    def _method(self, owner: object, name: str, nodes: Sequence[ast.expr], names: Names) -> object:
        values = [self._value(each, names) for each in nodes]
        match owner, name, values:
            case Listing(), "append", [value]:
                self.meaning.append(owner, value)
                return None
            case Array(), "reshape", [Tuple() as shape]:
                return self.meaning.reshaped(owner, as_terms(shape))
            case Array(), "reshape", _:
                return self.meaning.reshaped(owner, as_terms(Tuple(tuple(values))))
            case Array(), "transpose", [Tuple(items)]:
                return self.meaning.transposed(owner, items)
        raise Meaningless(f"`.{name}` of something that has no such meaning here")

    def _function(self, name: str, values: list[object]) -> object:
        """A function of Python's, of the support that modules carry, or of the module itself."""
        match name, values:
            case "slice", [None]:
                return Span(None, None)
            case "slice", [low, high]:
                return Span(*as_terms(Tuple((low, high))))
            case "divmod", [left, right]:
                both = as_terms(Tuple((left, right)))
                parts = [self.meaning.divided(operator, *both) for operator in ("div", "mod")]
                return Tuple(tuple(map(self.meaning.named, parts)))
            case (("min" | "max"), [left, right]):
                return self._extreme(name, *as_terms(Tuple((left, right))))
            case _ if name in (*SUPPORT, *ROWS, "_extents"):
                return self._support(name, values)
        if name in self.functions:
            return self.call(name, *values)
        raise Meaningless(f"`{name}` is called with something else than it takes")

    def _support(self, name: str, values: list[object]) -> object:
        """What the functions return that every module carries, and `_extents`, where they return.

        They raise where arguments do not fit: before anything is written.
        """
        match name, values:
            case "_move", [Array() as target, Array() as source, 1 | Given("threads")]:
                self.meaning.store(target, source)
                return None
            case "_fill", [Array() as target, Item() as item]:
                self.meaning.store(target, item)
                return None
        if self.meaning.stores:
            raise Meaningless(f"`{name}` may refuse after something was written")
        match name, values:
            case ("_workers", [Given("threads") as given]) | (
                "_refuse_view",
                [Given("copy") as given],
            ):
                self.looked_at.append(given)
                return None
            case "_seen", [Array() as array, Given("copy") as given]:
                self.looked_at.append(given)
                return self._same(array)
            case "_travels", [Array() as array, Text() as kind, int() as width]:
                self.looked_at.append(Travels(array.base.name, kind.text, width))
                return None
            case "_within", [value, low, high]:
                self.looked_at.append(self._numbers(value, low, high))
                return None
            case "_extents", [shape]:
                return self._checked(shape)
        return self._argument(name, values)

    def _numbers(self, value: object, low: object, high: object) -> Within:
        """What was looked at, number by number, before anything is written."""
        if isinstance(value, Array | Item) and isinstance(low, int) and isinstance(high, int):
            what = Places(value.root, value.box) if isinstance(value, Array) else value
            return Within(what, self.meaning.active, low, high)
        raise Meaningless("numbers are compared that are no elements")

    def _argument(self, name: str, values: list[object]) -> object:
        """An argument of the caller's, after its checks."""
        match name, values:
            case "_integers", [Given("shape"), int() as rank, Text()] if rank == len(self.extents):
                return Tuple(self.extents)
            case "_array", [Given("src"), Text()]:
                return argument("src", self.extents, "T") if self.packs else Given("an array")
            case "_index", [Given("index"), Tuple(items)] if items == self.extents and self.checked:
                return Tuple(self.indices)
            case "_item", [value, Element(element)]:
                number = value if isinstance(value, int) and not isinstance(value, bool) else None
                if number is not None or value == Given("fill"):
                    item = Item(number, element)
                    self.looked_at.append(item)
                    return item
            case "_destination", [Given("out"), Tuple() as shape, Array() as source] if (
                self.checked
            ):
                return argument("out", as_terms(shape), source.root.element)
            case "_boxed", [Given("an array"), Tuple() as shape] if self.checked:
                return argument("src", as_terms(shape), "T")
        raise Meaningless(f"`{name}` is called with something else than it takes")

    def _checked(self, shape: object) -> Tuple:
        """The extents: of the tensor, or as the caller gives them, which may be asked again."""
        known = shape == Tuple(self.extents) and (self.packs or self.checked)
        if not known and (self.packs or shape != Given("shape")):
            raise Meaningless("`_extents` is called with something else than it takes")
        self.checked = True
        return Tuple(self.extents)

    def _same(self, array: Array) -> Array:
        """A new array of the same items, or the array itself; either has them where they were."""
        self.blocks += 1
        new = block(f"new.{self.blocks}", array.shape, array.root.element)
        self.meaning.store(new, array)
        return new

    def _extreme(self, name: str, left: Term, right: Term) -> Term:
        if isinstance(left, int) and isinstance(right, int):
            return min(left, right) if name == "min" else max(left, right)
        for (kind, one, other), known in self.extremes:
            if kind == name and same(one, left) and same(other, right):
                return known
        return self.meaning.opaque(name, left, right)
