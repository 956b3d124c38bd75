"""``pack`` and ``unpack`` of real numbers, where the elements of a layout are codes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from layoutdsl.language.meaning.model import Layout
from layoutdsl.shell.destination import refuse_inputs
from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.progress import Way
from layoutdsl.shell.targets import Target
from layoutdsl.shell.telling import notes, say_done

Command = TypeVar("Command", bound=Callable[..., Any])

TYPES = {"f16": "float16", "f32": "float32", "f64": "float64"}
"""What numbers are unpacked as."""


def scaled(command: Command) -> Command:
    """Add the options that say what codes stand for."""
    zero = "The code of 0; or a .npy file of them."
    scale = (
        "Of real numbers, where elements are codes: a step from one code to the next. Or a .npy "
    )
    scale += "file of them, one for each index of the axis that the layout names."
    for option in (
        click.option("--zero-point", metavar="Z", help=zero),
        click.option("--scale", metavar="S", help=scale),
    ):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Numbers:
    """What was asked for of real numbers, as it was written."""

    scale: str | None
    zero_point: str | None

    @property
    def asked(self) -> bool:
        """Whether it was asked for at all."""
        return self != Numbers(None, None)

    @property
    def files(self) -> list[str]:
        """The files that hold them, where they are not written out."""
        return [each for each in (self.scale, self.zero_point) if each and each.endswith(".npy")]


def refuse_unfit(layout: Layout, numbers: Numbers) -> None:
    """Fail where a scale is given to elements that have none, or half of it to those that have."""
    if not numbers.asked:
        return
    if layout.interface is None:
        message = f"the elements of `{layout.name}` are plain, and have no scale"
        type_ = "u8" if layout.element is None else layout.element.name
        raise Failure(Exit.USAGE, message, f"write `of {type_} as scale_offset` in the layout")
    for name, value in (("--scale", numbers.scale), ("--zero-point", numbers.zero_point)):
        if value is None:
            message = f"{name} is missing: codes stand for numbers by a scale and a zero point"
            raise Failure(Exit.USAGE, message)


def no_shape() -> Failure:
    """Return how it ends where a shape is given of numbers, whose file says it."""
    return Failure(Exit.USAGE, "--shape is given without --raw", "a .npy file says it itself")


def refuse_floats(layout: Layout, source: str, array: Any) -> None:
    """Fail where codes are expected, and the items are floats."""
    if layout.interface is not None and array.dtype.kind == "f":
        message = f"`{source}` holds {array.dtype.name}, and `{layout.name}` has codes for elements"
        raise Failure(Exit.INPUT, message, "say what these stand for: --scale 0.1 --zero-point 128")


def pack_numbers(
    chosen: Target,
    files: tuple[str, str],
    numbers: Numbers,
    fill: float | None,
    ready: Callable[[], Any],
    way: Way,
    verbose: int,
) -> None:
    """Pack the numbers of a file as codes.

    Args:
        chosen: the layout.
        files: the names of what is read and what is written.
        numbers: the scale and the zero point.
        fill: the code in padding, where it was said.
        ready: makes the module.
        way: how progress is told.
        verbose: whether to say what was done.
    """
    from layoutdsl.shell import npy
    from layoutdsl.shell.at_once import amounts, under_way

    source, destination = files
    given = npy.read(source)
    module, scales = ready(), scales_of(chosen, destination, numbers)
    refuse_scales(module, scales, given.array.shape, chosen.layout)
    with under_way("pack", way, source, given.array) as progress:
        with notes(), npy.fitting(f"`{source}`"):
            packed = module.pack(given.array, fill=fill, **scales)
        npy.write(destination, packed, given, amounts(progress, destination, packed))
    say_done("packed", given.array, packed, verbose)


def unpack_numbers(
    chosen: Target,
    files: tuple[str, str],
    numbers: Numbers,
    shape: tuple[int, ...],
    ready: Callable[[], Any],
    way: Way,
    verbose: int,
    type_: str,
) -> None:
    """Unpack codes of a file as the numbers that they stand for, of a type such as `f32`."""
    from layoutdsl.shell import npy
    from layoutdsl.shell.at_once import amounts, under_way

    source, destination = files
    given = npy.read(source)
    module, scales = ready(), scales_of(chosen, destination, numbers)
    refuse_scales(module, scales, shape, chosen.layout)
    with under_way("unpack", way, source, given.array) as progress:
        with notes(), npy.fitting(f"`{source}`"):
            tensor = module.unpack(given.array, shape, dtype=TYPES[type_], **scales)
        npy.write(destination, tensor, given, amounts(progress, destination, tensor))
    say_done("unpacked", given.array, tensor, verbose)


def refuse_scales(
    module: Any, scales: Mapping[str, Any], shape: tuple[int, ...], layout: Layout
) -> None:
    """Fail where these are no scale and zero point for tensors of a shape, if it is of the rank."""
    if len(shape) != layout.rank:
        return
    with usage():
        try:
            module.expect(scales["scale"], scales["zero_point"], shape)
        except TypeError as wrong:
            raise Failure(Exit.USAGE, str(wrong)) from None


def scales_of(chosen: Target, destination: str, numbers: Numbers) -> dict[str, Any]:
    """Return the numbers, or what the files of them hold."""
    assert numbers.scale is not None
    assert numbers.zero_point is not None
    return {
        "scale": _number(chosen, destination, "--scale", numbers.scale, float),
        "zero_point": _number(chosen, destination, "--zero-point", numbers.zero_point, int),
    }


def _number(
    chosen: Target, destination: str, option: str, written: str, kind: type[int] | type[float]
) -> Any:
    import numpy as np

    from layoutdsl.shell import npy

    try:
        return kind(written)
    except ValueError:
        pass
    if not written.endswith(".npy"):
        word = "an integer" if kind is int else "a number"
        message = f"`{written[:40]}` in {option} is not {word}, and no .npy file"
        raise Failure(Exit.USAGE, message)
    refuse_inputs(destination, written, chosen.place)
    given = npy.read(written)
    found = np.array(given.array)
    given.refuse_changed()
    return found
