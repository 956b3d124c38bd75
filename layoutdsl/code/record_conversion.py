"""From the buffer of one record to that of another, field by field."""

from __future__ import annotations

from layoutdsl.code.numpy.support import _Array
from layoutdsl.code.record import Bytes, RecordModule
from layoutdsl.language.meaning.model import Shape


class RecordConversion:
    """What turns buffers of one record into those of another: the fields lie in between.

    Raises:
        ValueError: the two records do not have the same fields, each with one type.
    """

    def __init__(self, source: RecordModule, target: RecordModule) -> None:
        self.source, self.target = source, target
        mine, theirs = (
            {each.name: each.element for each in module.record.fields}
            for module in (source, target)
        )
        for name in dict.fromkeys((*mine, *theirs)):
            for held, module in ((mine, source), (theirs, target)):
                if name not in held:
                    raise ValueError(f"record `{module.record.name}` has no field `{name}`")
            if mine[name] != theirs[name]:
                types = f"{mine[name].name} in one record, and {theirs[name].name} in the other"
                raise ValueError(f"`{name}` is of {types}")

    def __repr__(self) -> str:
        return f"<conversion of {self.source.record.name} to {self.target.record.name}>"

    def __call__(
        self, src: _Array, shape: Shape, out: _Array | None = None, threads: int = 1
    ) -> Bytes:
        """Return the bytes of the second record that hold the fields of the first.

        Args:
            src: the bytes of the first record.
            shape: of the first record.
            out: the bytes to write; new without it.
            threads: how many may work at once, 1 to 256.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        fields = self.source.unpack(src, shape, threads)._asdict()
        values = self.source.record.bind(shape)
        wanted = self.target.record.frame.symbols
        known = {name: values[name] for name in wanted if name in values}
        return self.target.pack(
            out, threads, known if len(known) == len(wanted) else None, **fields
        )
