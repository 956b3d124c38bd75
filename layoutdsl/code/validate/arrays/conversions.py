"""That the text of a module turns one layout's buffers into another's, for every shape. Trusted.

`convert` moves views of one buffer to views of the other. These are read as loops over elements,
and the theorems of C conversions are proved of them: each slot of the target is written, with the
element that both layouts have there or with the fill, and nothing else is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from layoutdsl.code.loops import tree
from layoutdsl.code.validate.arrays.fills import Fills
from layoutdsl.code.validate.arrays.matching import CONVERSIONS, conversion_fills, parsed
from layoutdsl.code.validate.arrays.shapes import box_of, check_physical_shapes
from layoutdsl.code.validate.arrays.statements import Environment, Kind
from layoutdsl.code.validate.arrays.theorems import sealed, shown
from layoutdsl.code.validate.arrays.views import View, whole
from layoutdsl.code.validate.loops import both_sides
from layoutdsl.code.validate.outcome import NotValidated, Validated
from layoutdsl.code.validate.seals import seal, spelled
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.certificate import Certificate
from layoutdsl.proof.statements.terms import NotExpressible


def validate_conversion(
    text: str, source: Layout, target: Layout, *, texts: tuple[str, str]
) -> Validated | NotValidated:
    """Return whether the text of a module was shown to turn one layout's buffers into another's.

    Args:
        text: of a module with `convert`.
        source: the layout that is read, without open parameters.
        target: the layout that is written, over the same axes and in the same range of shapes.
        texts: what the module has to quote of both.
    """
    try:
        _check_layouts(source, target)
        module = parsed(text, CONVERSIONS)
        if tuple(module.constants.get(name) for name in ("SOURCE", "TARGET")) != texts:
            raise Meaningless("SOURCE or TARGET is another text")
        reader = ConversionReader(module, target, source=source)
        reader.check_shapes()
        found = shown(reader, (source, target), "convert", reader.convert)
    except (Meaningless, NotExpressible, NoProof) as reason:
        return NotValidated(str(reason))
    except (RecursionError, MemoryError, ValueError) as reason:
        return NotValidated(f"the text is too large to be read: {reason}")
    if isinstance(found, NotValidated):
        return found
    proved, questions = found
    certificate = Certificate(proved)
    bound = seal(sealed(text), "convert", *map(spelled, (source, target)), certificate.hash)
    return Validated(bound, len(proved), questions, (("convert", certificate),))


def _check_layouts(source: Layout, target: Layout) -> None:
    """Refuse layouts of which something else would have to be shown."""
    if source.axes != target.axes or source.where != target.where:
        raise Meaningless("the layouts take different tensors")
    if source.element != target.element:
        raise Meaningless("the layouts hold different elements")
    for each in (source, target):
        if each.domain or each.copies or each.bit_of is not None or each.interface is not None:
            raise Meaningless("a layout does not store each element once, as it is")


@dataclass(slots=True)
class ConversionReader(Fills):
    """Reads a module that converts; `layout` is the one that is written.

    Attributes:
        source: the layout that is read.
    """

    source: Layout = field(kw_only=True)
    _extents: ClassVar[Mapping[Kind, str]] = {"fills": "shape", "views": "shape"}
    _filled = "target"
    _used = frozenset({"src", "shape", "out", "fill", "read", "written", "target", "item", "part"})

    def check_shapes(self) -> None:
        """Refuse another function than `physical_shapes` of both layouts.

        Raises:
            Meaningless: it is another one.
        """
        function = self.module["physical_shapes"]
        check_physical_shapes(function, self.source, self.layout, self.same)

    def convert(self, joins: bool) -> tree.Node:
        """Return what `convert` does with elements, as a tree of loops.

        Args:
            joins: loops over axes that both sides have as one are one.

        Raises:
            Meaningless: something is not known.
        """
        self.slices = []
        fused = both_sides((self.source, self.layout), "convert").normal.fused if joins else ()
        self._fused = tuple(each for each, _ in fused)
        fills = conversion_fills(self.module, self.layout)
        source = whole(tree.SOURCE, box_of(self.source))
        target = whole(tree.TARGET, box_of(self.layout))
        nodes = self._fills(fills, target)
        function = self._mover("_views", "views")
        env: Environment = {"source": source, "target": target}
        for given, values in self._run(function.body, env, ()):
            match values:
                case [View(buffer=tree.SOURCE) as part, View(buffer=tree.TARGET) as slots]:
                    nodes.append(self._stored(slots, part, given))
                case _:
                    raise Meaningless("`_views` yields something else than two views")
        return nodes[0] if len(nodes) == 1 else tree.Seq(tuple(nodes))
