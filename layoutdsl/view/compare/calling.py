"""Somebody's function, called with the digits of the numbers of elements or slots.

What it returns is read back as numbers; what is wrong with the call itself is found here: that it
raises, changes its input, or returns something of another size.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from math import prod
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from layoutdsl.language.integers.expr import CeilDiv, Expr, FloorDiv, text
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.offsets.one_by_one import size
from layoutdsl.language.texts.values import brief
from layoutdsl.view.compare.hints import AxesPermuted
from layoutdsl.view.compare.lanes import LanesPermuted

ArrayKind: TypeAlias = Literal["numpy", "torch", "jax"]
Places: TypeAlias = NDArray[np.int64]

PADDING, UNKNOWN = -1, -2

MOST_SLOTS = 1 << 26
"""Elements of a buffer that is probed."""


@dataclass(frozen=True, slots=True)
class RoundedDown:
    """The buffer is as large as if an extent were divided without rounding up."""

    extent: str

    kind = "rounded down"


ProbeHint: TypeAlias = AxesPermuted | LanesPermuted | RoundedDown
FaultKind: TypeAlias = Literal[
    "raised",
    "array",
    "size",
    "large",
    "shape",
    "changes_input",
    "random",
    "element",
    "padding",
    "fill",
]


@dataclass(frozen=True, slots=True)
class ProbeFault:
    """One thing that is wrong with a function, in words.

    Attributes:
        kind: it raised; returned no array, or one of another size or shape, or one too large;
            changed its input;
            answers differently when asked again; put an element elsewhere; put something else than
            a constant, or than the fill, into padding.
        sentence: what happened.
        index: the first element that it happened to, where it is one.
        offsets: where the layout puts it, and where the function does, if anywhere.
    """

    kind: FaultKind
    sentence: str
    index: tuple[tuple[str, int], ...] | None = None
    offsets: tuple[int, int | None] | None = None

    __repr__ = brief


class Faulty(Exception):  # noqa: N818  ends a probe with what was found
    """The function cannot be looked at any further."""

    def __init__(self, fault: ProbeFault, *hints: ProbeHint) -> None:
        super().__init__(fault.sentence)
        self.fault, self.hints = fault, hints


def refuse_narrow(dtype: str, bits: int) -> None:
    """Raise `ValueError` where a type does not hold every number of a digit."""
    try:
        chosen = np.dtype(dtype)
    except TypeError:
        raise ValueError(f"numpy has no type `{dtype}`") from None
    if chosen.kind not in "iuf":
        raise ValueError(f"`{dtype}` is no type of integers or floats")
    if not 1 <= bits <= 8:
        raise ValueError(f"a digit has 1 to 8 bits, not {bits}")
    if chosen == np.int8 and bits == 8:
        raise ValueError("`int8` does not hold every number below 256")


@dataclass(slots=True)
class Answer:
    """Of each slot or element: the number that was read there, or that none was.

    ``values`` are what the first call returned.
    """

    numbers: Places
    values: NDArray[Any]
    random: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Words:
    """How elements lie in words: without room between them, the first in the lowest bits.

    Attributes:
        word: the type of a word.
        bits: of an element.
    """

    word: np.dtype[Any]
    bits: int

    def count(self, slots: int) -> int:
        """Return how many words that many elements take."""
        return -(-slots * self.bits // (8 * self.word.itemsize))

    def joined(self, elements: NDArray[Any]) -> NDArray[Any]:
        """Return elements as words."""
        places = np.arange(self.bits)
        bits = (elements.ravel().astype(np.int64)[:, None] >> places & 1).astype(np.uint8).ravel()
        stored = np.zeros(self.count(elements.size) * self.word.itemsize, np.uint8)
        packed = np.packbits(bits, bitorder="little")
        stored[: packed.size] = packed
        return stored.view(self.word.newbyteorder("<")).astype(self.word)

    def split(self, words: NDArray[Any], slots: int) -> NDArray[Any]:
        """Return the elements in words, as numbers that are not negative."""
        stored = np.ascontiguousarray(words.astype(self.word.newbyteorder("<"))).view(np.uint8)
        bits = np.unpackbits(stored, bitorder="little")[: slots * self.bits]
        weights = 1 << np.arange(self.bits, dtype=np.int64)
        return bits.reshape(slots, self.bits).astype(np.int64) @ weights


class Caller:
    """A function that is called with tensors of one shape, and how often it was.

    Args:
        extents: of the tensor.
        most: elements of a buffer that it may return.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        extents: tuple[int, ...],
        dtype: str,
        array: ArrayKind,
        bits: int,
        tell: Callable[[str], None],
        most: int = MOST_SLOTS,
    ) -> None:
        self.extents, self.bits = extents, bits
        self.dtype = np.dtype(dtype)
        self.calls = 0
        self._function, self._array, self._tell = function, array, tell
        self._takes_shape = _required(function) >= 2
        self._most = most

    def packed(self) -> Answer:
        """Return which element each slot holds."""
        return self._asked(prod(self.extents), self.extents, None)

    def _asked(self, count: int, given: tuple[int, ...], wanted: tuple[int, ...] | None) -> Answer:
        numbers = np.arange(count, dtype=np.int64).reshape(given)
        mask = (1 << self.bits) - 1
        planes = max(1, -(-max(count - 1, 1).bit_length() // self.bits))
        first, again = self._call(numbers & mask, wanted), self._call(numbers & mask, wanted)
        self._refuse_other(first, again)
        found = np.zeros(first.shape, dtype=np.int64)
        known = np.ones(first.shape, dtype=bool)
        still = np.ones(first.shape, dtype=bool)
        for plane in range(planes):
            self._tell(f"calling the function, digit {plane + 1} of {planes}")
            digits = (numbers >> (plane * self.bits)) & mask
            one, turned = self._call(digits, wanted), self._call(mask - digits, wanted)
            self._refuse_other(first, one, turned)
            plain = np.nan_to_num(one.astype(np.float64), nan=-1.0, posinf=-1.0, neginf=-1.0)
            whole = (plain >= 0) & (plain <= mask) & (plain == np.floor(plain))
            known &= whole & (plain + turned.astype(np.float64) == mask)
            still &= _alike(one, turned) & _alike(one, first)
            found |= np.where(whole, plain, 0).astype(np.int64) << (plane * self.bits)
        found[~known | (found >= count)] = UNKNOWN
        found[still] = PADDING
        return Answer(found, first, ~_alike(first, again))

    def _refuse_other(self, first: NDArray[Any], *others: NDArray[Any]) -> None:
        """What a function returns may depend on the shape, but not on the elements."""
        for each in others:
            if each.size != first.size:
                sentence = f"it returns {first.size} elements at one call, {each.size} at another"
                raise Faulty(ProbeFault("size", sentence))

    def _call(self, digits: Places, wanted: tuple[int, ...] | None) -> NDArray[Any]:
        """Call the function, and return its answer flat."""
        given = self._given(digits, wanted)
        passed = _wrapped(given, self._array)
        more = (self.extents,) if self._takes_shape else ()
        self.calls += 1
        try:
            returned = self._function(passed, *more)
        except (Exception, SystemExit) as error:
            raise Faulty(ProbeFault("raised", _raised(error))) from error
        if inspect.iscoroutine(returned):
            returned.close()
            sentence = "it returns a coroutine: wrap it in a function that calls `asyncio.run`"
            raise Faulty(ProbeFault("array", sentence))
        try:
            answer = np.array(_unwrapped(returned))
        except (Exception, SystemExit) as error:
            kind = type(returned).__name__
            raise Faulty(ProbeFault("array", f"it returns a {kind}, and no array")) from error
        if answer.dtype.kind not in "iufb":
            sentence = (
                f"it returns {type(returned).__name__} of {answer.dtype}, no array of numbers"
            )
            raise Faulty(ProbeFault("array", sentence))
        if not np.array_equal(np.asarray(_unwrapped(passed)), self._given(digits, wanted)):
            raise Faulty(ProbeFault("changes_input", "it changes the array that it is given"))
        return self._elements(answer, wanted)

    def _given(self, digits: Places, wanted: tuple[int, ...] | None) -> NDArray[Any]:
        """Return what the function is called with."""
        del wanted
        return digits.astype(self.dtype)

    def _elements(self, answer: NDArray[Any], wanted: tuple[int, ...] | None) -> NDArray[Any]:
        """Return the elements that the function returned, flat."""
        self._refuse_size(answer, wanted)
        return answer.ravel()

    def _refuse_size(self, answer: NDArray[Any], wanted: tuple[int, ...] | None) -> None:
        if wanted is not None:
            if answer.shape != wanted:
                sentence = f"it returns an array of shape {answer.shape}, not {wanted}"
                raise Faulty(ProbeFault("shape", sentence))
            return
        if answer.size > self._most:
            sentence = f"it returns {answer.size} elements, at most {self._most} are looked at"
            raise Faulty(ProbeFault("large", sentence))


class Asked(Caller):
    """A function that is held against a layout."""

    def __init__(
        self,
        function: Callable[..., Any],
        layout: Layout,
        values: dict[str, int],
        dtype: str,
        array: ArrayKind,
        bits: int,
        tell: Callable[[str], None],
        words: Words | None = None,
    ) -> None:
        super().__init__(function, layout.shape_of(values), dtype, array, bits, tell)
        self.layout, self.values, self.words = layout, values, words

    def unpacked(self, flat: bool) -> Answer:
        """Return from which slot each element is taken."""
        slots = size(self.layout, self.values)
        box = self.layout.physical_shape(self.values)
        return self._asked(slots, (slots,) if flat else box, self.extents)

    def _given(self, digits: Places, wanted: tuple[int, ...] | None) -> NDArray[Any]:
        if self.words is None or wanted is None:
            return super()._given(digits, wanted)
        return self.words.joined(digits)

    def _elements(self, answer: NDArray[Any], wanted: tuple[int, ...] | None) -> NDArray[Any]:
        if self.words is None or wanted is not None:
            return super()._elements(answer, wanted)
        slots, word = size(self.layout, self.values), self.words.word
        count = self.words.count(slots)
        if answer.size != count or answer.dtype.kind not in "iu":
            sentence = f"it returns {answer.size} items of {answer.dtype}, of shape {answer.shape}"
            sentence += f"; the buffer of `{self.layout.name}` has {count} words of {word.name}"
            raise Faulty(ProbeFault("size", sentence))
        if answer.dtype.itemsize != word.itemsize:
            sentence = f"it returns words of {answer.dtype}, not of {word.name}"
            raise Faulty(ProbeFault("size", sentence))
        return self.words.split(answer.ravel().astype(word), slots)

    def _refuse_size(self, answer: NDArray[Any], wanted: tuple[int, ...] | None) -> None:
        super()._refuse_size(answer, wanted)
        slots = size(self.layout, self.values)
        if wanted is None and answer.size != slots:
            sentence = f"it returns {answer.size} elements, of shape {answer.shape}; the buffer of"
            sentence += f" `{self.layout.name}` has {slots}, {self.layout.box(self.values)}"
            element, word = self.layout.element, 8 * answer.dtype.itemsize
            if element is not None and element.bits * slots == word * answer.size:
                held = f"{slots // answer.size} elements" if answer.size else "elements"
                sentence += f"; it returns words of {held}: say so with `--word u{word}`"
            raise Faulty(ProbeFault("size", sentence), *self._rounded_down(answer.size))

    def _rounded_down(self, slots: int) -> Iterator[RoundedDown]:
        """Say which extent would have to be rounded down to give that many slots."""
        every = [each.extent for each in self.layout.coordinates]
        for extent in dict.fromkeys(every):
            lower = [_floored(each) if each == extent else each for each in every]
            if lower != every and slots == prod(evaluate(each, self.values) for each in lower):
                yield RoundedDown(text(extent))
                return


def _floored(expr: Expr) -> Expr:
    match expr:
        case CeilDiv(left, right):
            return FloorDiv(left, right)
    return expr


def _required(function: Callable[..., Any]) -> int:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(1 for p in parameters if p.kind in positional and p.default is p.empty)


def _raised(error: BaseException) -> str:
    """Return the exception as its author wrote it, and the line that it comes from."""
    words = str(error).splitlines() or [""]
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = f" ({last.tb_frame.f_code.co_filename}:{last.tb_lineno})" if last is not None else ""
    return f"it raises {type(error).__name__}: {words[0]}{where}"


def _wrapped(given: NDArray[Any], kind: ArrayKind) -> Any:
    match kind:
        case "numpy":
            return given
        case "torch":
            return package(kind).from_numpy(given)
        case "jax":
            return package(kind).asarray(given)


def _unwrapped(array: Any) -> NDArray[Any]:
    """Return what numpy makes of an array of another package, wherever that keeps it."""
    if hasattr(array, "detach") and hasattr(array, "cpu"):
        array = array.detach().cpu()
    if hasattr(array, "__array__"):
        return np.asarray(array)
    if hasattr(array, "__dlpack__"):
        return np.from_dlpack(array)
    return np.asarray(array)


def _alike(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Where two answers say the same; what is no number is like itself."""
    if one.shape != other.shape:
        return np.zeros(one.shape, dtype=bool)
    found: NDArray[np.bool_] = one == other
    if one.dtype.kind == "f":
        found |= np.isnan(one) & np.isnan(other.astype(one.dtype))
    return found


def package(kind: ArrayKind) -> Any:
    """Return the package that makes arrays of a kind.

    Raises:
        ValueError: there is no such package, or it is not installed.
    """
    if kind not in get_args(ArrayKind):
        known = ", ".join(get_args(ArrayKind))
        raise ValueError(f"there are no arrays of `{kind}`; known are {known}")
    try:
        return import_module("jax.numpy" if kind == "jax" else kind)
    except ImportError as error:
        raise ValueError(f"{kind} is not installed here: {error}") from None
