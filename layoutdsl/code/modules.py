"""Layouts to modules that move items, in numpy or by compiled C: what `compile` is made of."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from layoutdsl.code.emitting import validated
from layoutdsl.code.generating import UNPROVED, generate
from layoutdsl.code.native.compilers import CompilerError
from layoutdsl.code.proved import CheckedModule
from layoutdsl.language.meaning.arguments import TEXT, expect
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.texts.values import exact

if TYPE_CHECKING:
    from layoutdsl.code.loops.moves import Move, NoCode
    from layoutdsl.code.native.module import Failed, NativeModule
    from layoutdsl.code.native.program import EmittedProgram
    from layoutdsl.code.numpy_module import NumpyModule

CompileTarget: TypeAlias = Literal["auto", "native", "numpy"]
TARGETS = ("auto", "native", "numpy")
SUBSTITUTE = "numpy serves in place of compiled code"
"""How those are told who asked for compiled code and do not get it."""
Moves: TypeAlias = "NumpyModule | NativeModule"


def expect_target(name: str, target: CompileTarget) -> None:
    """Check what is to run.

    Raises:
        TypeError: it is no text.
        ValueError: there is no such target.
    """
    expect(**{name: (target, TEXT)})
    if target not in TARGETS:
        raise ValueError(f"there is no target `{target}`; known are {', '.join(TARGETS)}")


@cache
def compiled(
    layout: Layout, target: CompileTarget, validate: bool, unproved: bool = False
) -> Moves:
    """Return the module of a layout's slots, an item each; its arguments are those of `compile`."""
    found = unchecked(layout, target, validate, unproved)
    if is_proved(plain_module(layout, validate, unproved)):
        return found
    return cast("Moves", CheckedModule(layout, found))


@cache
def unchecked(layout: Layout, target: CompileTarget, validate: bool, unproved: bool) -> Moves:
    """Return the module, which does not check the shapes that it is called with.

    The caller calls `check_shape` if the layout is undecided.
    """
    compiles = can_compile(target)
    plain = plain_module(layout, validate, unproved)
    found = _native(layout, plain, target, validate) if compiles else plain
    if found is plain and plain.FALLBACK is not None:
        say_once(f"`{layout.name}` is moved element by element: {plain.FALLBACK}")
    return found


def is_proved(plain: NumpyModule) -> bool:
    """Return whether the layout of a NumPy module is proved, and not only allowed."""
    return not plain.CERTIFICATE.startswith(UNPROVED)


@cache
def plain_module(layout: Layout, validate: bool, unproved: bool = False) -> NumpyModule:
    """Return the NumPy module; the text of a proved layout is kept on the disk."""
    from layoutdsl.code import EmittedModule, load
    from layoutdsl.code.native.cache import keep_text, kept_text
    from layoutdsl.code.numpy_module import NumpyModule
    from layoutdsl.language.texts.resources import fingerprint

    key = f"{fingerprint()} numpy {validate} {exact(layout)}"
    text = kept_text(key)
    if text is not None:
        return NumpyModule(layout, load(EmittedModule(layout.name, text, None)))
    made = generate(layout, validate=validate, unproved=unproved)
    if made.checked.status == "proved":  # the undecided may be decided with more time
        keep_text(key, made.text)
    return NumpyModule(layout, made.load())


def _native(layout: Layout, plain: NumpyModule, target: CompileTarget, validate: bool) -> Moves:
    if layout.domain:
        numpy_serves(target, f"`{layout.name}` holds elements of a domain only")
        return plain
    from layoutdsl.code.native.libraries import Emitter
    from layoutdsl.code.native.loader import native_module

    def make(move: Move, width: int, rank: int) -> EmittedProgram | NoCode:
        from layoutdsl.code.native.program import generate_c

        return generate_c(
            move.layouts[0],
            source=plain.SOURCE,
            certificate=plain.CERTIFICATE,
            widths=(width,),
            verbs=(move.verb,),
            rank=rank,
        )

    return native_module(
        layout,
        plain,
        Emitter(make, validated if validate else None),
        failed=failing(target),
        untold=lambda found: numpy_serves(target, found.reason),
        waits=target == "native",
    )


def can_compile(target: CompileTarget) -> bool:
    """Return whether C is compiled for a target.

    Raises:
        CompilerError: it cannot be, and nothing else was asked for.
    """
    from layoutdsl.code.native.cache import refusal
    from layoutdsl.code.native.loader import expect_compiler, why_not

    if target != "native":
        return target == "auto" and why_not() is None
    expect_compiler()
    reason = refusal()
    if reason is not None:
        say_once(f"nothing is kept of what is compiled: {reason}")
    return True


def failing(target: CompileTarget) -> Failed:
    """Return who is told that a compiler failed: who asked for ``auto`` gets numpy in its place."""
    from layoutdsl.code.native.loader import insist

    return insist if target == "native" else _forgo


def _forgo(_: CompilerError) -> None:
    """Who asked for what there is, is not told what there is not."""


def numpy_serves(target: CompileTarget, reason: str) -> None:
    """Tell those who asked for ``native``, once, that it is not for these layouts."""
    if target == "native":
        say_once(f"{SUBSTITUTE}: {reason}")


@cache
def say_once(words: str) -> None:
    """Warn of something, the first time that it is said."""
    from layoutdsl.code.native.loader import say

    say(words)
