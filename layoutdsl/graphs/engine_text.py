"""Texts of engines: which layouts operators have kernels for, and what operators are to axes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.util import find_spec

from layoutdsl.language.elaborate import shelf
from layoutdsl.language.meaning.arguments import TEXT, expect
from layoutdsl.language.meaning.module import Module
from layoutdsl.language.meaning.operator import Engine
from layoutdsl.language.texts import resources
from layoutdsl.language.texts.faults import UnknownNameError, did_you_mean

ENDING = ".layout"

HERE = "onnxruntime"
"""The engine that has as many channels in a block as onnxruntime has on this machine."""


def load_engine(text: str, name: str = "<text>") -> Engine:
    """Return what a text says of operators; rules of its own come before those of ONNX.

    >>> load_engine("prefer Conv = NHWC").preferences[0].layouts[0].name
    'NHWC'

    Raises:
        LayoutError: with every fault of the text.
        TypeError: ``text`` or ``name`` is no text.
    """
    expect(text=(text, TEXT), name=(name, TEXT))
    return replace(engine_in(shelf.parse(text, name)), text=text)


def engine_in(module: Module) -> Engine:
    """Return what a module says of operators; rules of its own come before those of ONNX."""
    found = module.engine or Engine()
    return replace(found, rules=(*found.rules, *shelf.operator_rules()))


@cache
def engine_called(name: str) -> Engine:
    """Return an engine that comes along, by its name.

    >>> len(engine_called("blocked16").kernels)
    4

    Raises:
        ValueError: there is none of that name, or none for onnxruntime on this machine.
    """
    texts = dict(resources.engines())
    if name == HERE:
        name = _for_this_machine()
    if f"{name}{ENDING}" not in texts:
        known = engine_names()
        hint = did_you_mean(name, known) or f"known are {', '.join(known)}"
        raise UnknownNameError(f"there is no engine `{name}`", hint)
    return load_engine(texts[f"{name}{ENDING}"], f"{name}{ENDING}")


def engine_names() -> tuple[str, ...]:
    """Return the names of the engines that come along."""
    return (*(name.removesuffix(ENDING) for name, _ in resources.engines()), HERE)


def _for_this_machine() -> str:
    """The engine of onnxruntime's blocks here; where it is not installed, that of AVX-512."""
    if find_spec(HERE) is None:
        return f"{HERE}16"
    from layoutdsl.graphs.running.onnx_run import block

    found = block()
    if found is None:
        raise UnknownNameError(
            "onnxruntime has no kernels for blocked channels on this machine",
            f"`{HERE}8` and `{HERE}16` are for machines that have",
        )
    return f"{HERE}{found}"
