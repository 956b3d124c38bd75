"""Parameters: what layouts, tables and records take numbers for, as ``NCHWc<8>`` does in a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from layoutdsl.language.integers.expr import Constant, Expr
from layoutdsl.language.meaning.arguments import integer

if TYPE_CHECKING:
    from abc import abstractmethod
    from typing import Self


class Parametrised:
    """What has a name, and parameters that may be given numbers."""

    __slots__ = ()

    if TYPE_CHECKING:  # a dataclass has these

        @property
        @abstractmethod
        def name(self) -> str: ...

        @property
        @abstractmethod
        def parameters(self) -> tuple[str, ...]: ...

        @abstractmethod
        def substituted(self, values: Mapping[str, Expr], /) -> Self: ...

    def __call__(self, /, *numbers: int, **values: int) -> Self:
        """Return it with numbers for its parameters, as `with_parameters` does.

        >>> library("NCHWc")(k=8).physical_shape((2, 20, 3, 4))
        (2, 3, 3, 4, 8)
        """
        self._refuse_unnamed(numbers)
        return self.with_parameters(**values)

    def with_parameters(self, /, **values: int) -> Self:
        """Return it with numbers for its parameters, or for some of them.

        It is called as in a text: ``NCHWc<8>`` is `NCHWc_8`.

        >>> library("NCHWc").with_parameters(k=8).physical_shape((2, 20, 3, 4))
        (2, 3, 3, 4, 8)

        Raises:
            TypeError: a value is no integer.
            ValueError: it has no such parameter, or a value is below 1.
        """
        found = self._numbers(values)
        if not found:
            return self
        full = "_".join([self.name, *(str(found.get(each, each)) for each in self.parameters)])
        left = tuple(each for each in self.parameters if each not in found)
        return replace(  # type: ignore[type-var]  # whatever has parameters is a dataclass
            self.substituted(constants(found)), name=full, parameters=left
        )

    def _numbers(self, given: Mapping[str, object]) -> dict[str, int]:
        """Return the numbers that are given to parameters.

        Raises:
            TypeError: one is no integer.
            ValueError: there is no such parameter, or a number is below 1.
        """
        found: dict[str, int] = {}
        for name, value in given.items():
            found[name] = integer(value, f"parameter `{name}`")
            if name not in self.parameters:
                held = ", ".join(f"`{each}`" for each in self.parameters) or "none"
                raise ValueError(f"{self._subject} has no parameter `{name}`; it has {held}")
            if found[name] < 1:
                number = f"is {found[name]}, must be >= 1"
                raise ValueError(f"parameter `{name}` of {self._subject} {number}")
        return found

    def _refuse_unnamed(self, numbers: Sequence[object]) -> None:
        """Refuse numbers that do not say which parameter they are of.

        Raises:
            TypeError: there is one.
        """
        if numbers:
            named = zip(self.parameters, numbers, strict=False)
            held = ", ".join(f"{name}={number}" for name, number in named)
            words = f"takes its parameters by name, as in ({held})" if held else "has no parameters"
            raise TypeError(f"{self._subject} {words}")

    @property
    def _subject(self) -> str:
        return f"{type(self).__name__.lower()} `{self.name}`"


def constants(values: Mapping[str, int]) -> dict[str, Expr]:
    """Return the same numbers as expressions."""
    return {name: Constant(number) for name, number in values.items()}
