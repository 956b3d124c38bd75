"""Index functions in C99, OpenCL C and CUDA C++."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from layoutdsl.code.functions.machine import Backward, Functions
from layoutdsl.code.functions.text import BUFFER, DOMAIN, HELD, Known, Language, remarks
from layoutdsl.language.digits.steps import SLOT
from layoutdsl.language.integers.expr import Arithmetic, Printer
from layoutdsl.language.integers.languages import c_family
from layoutdsl.language.meaning.elements import IntegerType
from layoutdsl.language.meaning.model import Condition


@dataclass(frozen=True, slots=True)
class Dialect:
    """What the three languages do not have in common.

    ``types`` are the integers of the claims, by their names in the language; ``before`` stands
    before each function, ``head`` before all.
    """

    types: dict[str, str]
    before: str
    head: tuple[str, ...] = ()


C = Dialect(
    {"int32": "int32_t", "int64": "int64_t"},
    "static inline",
    ("#include <stdbool.h>", "#include <stdint.h>", ""),
)
OPENCL = Dialect(
    {"uint32": "uint", "int32": "int", "uint64": "ulong", "int64": "long"}, "static inline"
)
CUDA = Dialect(
    {
        "uint32": "unsigned int",
        "int32": "int",
        "uint64": "unsigned long long",
        "int64": "long long",
    },
    "__host__ __device__ __forceinline__",
)


def arithmetic(type_: IntegerType) -> Arithmetic:
    """Return how the three languages write arithmetic in integers of a type."""
    return c_family(signed=type_.least < 0)


def language(name: str, dialect: Dialect) -> Language:
    """Return a language of the family."""

    def write(functions: Functions, known: Known) -> str:
        return "\n".join(_Text(functions, known, dialect).lines())

    return Language(name, dialect.types, write, arithmetic)


class _Text:
    def __init__(self, functions: Functions, known: Known, dialect: Dialect) -> None:
        self._functions = functions
        self._known = known
        self._dialect = dialect
        self._type = dialect.types[known.integers.name]
        self._write = Printer(arithmetic(known.integers))
        self._name = functions.layout.name
        self._extents = [f"{self._type} {each}" for each in functions.layout.symbols]

    def lines(self) -> Iterable[str]:
        """The whole text, without an end of line after the last one."""
        said, write = self._functions, self._write.text
        none = "" if self._dialect is CUDA else "void"
        given = ", ".join([*(f"{self._type} {axis}" for axis in said.axes), *self._extents]) or none
        yield from self._dialect.head
        yield from _comment(remarks(said, self._known, self._type))
        yield from self._function(
            f"{self._type} {self._name}_offset({given})", [f"return {write(said.offset)};"]
        )
        yield f"/* {BUFFER} */"
        asked = ", ".join(self._extents) or none
        yield from self._function(
            f"{self._type} {self._name}_size({asked})", [f"return {write(said.size)};"]
        )
        yield from self._array("physical_shape", [write(each) for each in said.box])
        if said.domain:
            yield f"/* {DOMAIN} */"
            test = [f"return {self._all(said.domain)};"]
            yield from self._function(f"bool {self._name}_has_slot({given})", test)
        if isinstance(said.backward, str):
            yield f"/* no closed inverse: {said.backward} */"
        else:
            yield from self._backward(said.backward)

    def _backward(self, back: Backward) -> Iterable[str]:
        write, count = self._write.text, len(self._functions.axes)
        yield from self._array("padded_extents", [write(each) for each in back.padded])
        asked = [f"{self._type} {SLOT}", *self._extents, self._room("_index", count)]
        steps = self._unless(back.first) if back.first else []
        for piece in back.pieces:
            steps += [self._step(name, write(expr)) for name, expr in piece.steps]
            steps += self._unless(piece.guards) if piece.guards else []
        steps += [self._step(name, write(expr)) for name, expr in back.index]
        steps += [f"_index[{number}] = {axis};" for number, axis in enumerate(self._functions.axes)]
        steps += [f"return {self._all(back.within)};"]
        yield f"/* {HELD}: true for an element, false for padding */"
        *lines, _ = self._function(f"bool {self._name}_index({', '.join(asked)})", steps)
        yield from lines

    def _step(self, name: str, value: str) -> str:
        return f"const {self._type} {name} = {value};"

    def _all(self, conditions: Iterable[Condition]) -> str:
        return " && ".join(each.written(self._write) for each in conditions) or "true"

    def _room(self, name: str, count: int) -> str:
        """The parameter for what is written; an array of none is no type."""
        return f"{self._type} {name}[{count}]" if count else f"{self._type} *{name}"

    def _unless(self, conditions: Iterable[Condition]) -> list[str]:
        return [f"if (!({self._all(conditions)})) {{", "    return false;", "}"]

    def _array(self, name: str, values: list[str]) -> Iterable[str]:
        given = ", ".join([*self._extents, self._room("_extents", len(values))])
        steps = [f"_extents[{number}] = {value};" for number, value in enumerate(values)]
        return self._function(f"void {self._name}_{name}({given})", steps)

    def _function(self, head: str, steps: Iterable[str]) -> list[str]:
        body = (f"    {step}" for step in steps)
        return [f"{self._dialect.before} {head}", "{", *body, "}", ""]


def _comment(lines: Iterable[str]) -> Iterable[str]:
    first, *others = lines
    yield f"/* {first}"
    yield from (f"   {line}".rstrip() for line in others[:-1])
    yield f"   {others[-1]} */"


LANGUAGES: tuple[Language, ...] = (
    language("c", C),
    language("opencl", OPENCL),
    language("cuda", CUDA),
)
