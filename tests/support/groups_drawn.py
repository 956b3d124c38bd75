"""Files of weights whose tensors are fields of records that nobody chose, and what comes of them.

Records are those of the library, and drawn ones. What they become is asked of `Record.every_bit`,
bit by bit; no code of ours that moves anything is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

import numpy as np
from random_records import elements, meant, right, shapes
from weights_drawn import Case, Tensor
from words_drawn import Drawn, held_by_words, words_for

import layoutdsl
from layoutdsl import Record
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.bands import undetermined, values_of_fields
from layoutdsl.language.meaning.elements import ElementType

KNOWN = ("Q4_0", "Q5_1", "Q8_0", "Q6_K", "Q3_K", "MXFP4", "NVFP4", "FbgemmMx4", "NV12", "YUY2")
HOLES = (("{i}.{p}", 4), ("model.layers.{i}.{p}_proj", 3), ("l{i}.{p}", 2), ("{p}", 2), ("m.x", 1))
"""Patterns, and how many tensors may fit each."""

MOST_BITS = 1 << 13


@dataclass(frozen=True)
class Made:
    """What a group becomes: its name, and the tensor of each field."""

    name: str
    record: Record
    values: Mapping[str, int]
    arrays: Mapping[str, np.ndarray]
    names: Mapping[str, str]
    words: Mapping[str, Drawn]

    @property
    def data(self) -> bytes:
        """The bytes of the record."""
        return meant(self.record, self.values, self.arrays).tobytes()


@dataclass(frozen=True)
class GroupCase(Case):
    """A file of weights, and groups for it."""

    made: tuple[Made, ...] = field(default=())

    def want(self) -> dict[str, bytes]:
        """The bytes that each tensor has to become."""
        gone = {name for each in self.made for name in each.names.values()}
        found = {each.name: each.data for each in self.tensors if each.name not in gone}
        return found | {each.name: each.data for each in self.made}


def drawn(
    draw: Random,
    forms: tuple[str, ...] = ("safetensors", "npz", "gguf"),
    drawn_records: float = 0.6,
) -> GroupCase:
    """Return some weights; their first record is drawn as often as that, and else known."""
    tensors, rules, made = list[Tensor](), list[str](), list[Made]()
    for number in range(draw.randint(1, 2)):
        share = 0 if number else drawn_records
        one, text, record = _record(draw, share)
        rules.append(text)
        text, some = _group(draw, number, one, record)
        rules.append(text)
        made += some
        tensors += [tensor for each in some for tensor in _tensors(each)]
    tensors.append(Tensor("other", "", "f32", (3,), draw.randbytes(12)))
    draw.shuffle(tensors)
    return GroupCase(draw.choice(forms), tuple(tensors), "\n".join(rules), tuple(made))


def _record(draw: Random, share: float) -> tuple[str, str, Record]:
    """How a record is called, its text, and what it means."""
    if draw.random() >= share:
        name = draw.choice(KNOWN)
        return name, "", layoutdsl.library_record(name)
    while True:
        found = right(draw)
        if found.numbers or not _can_be_made(found.record):
            continue
        return "A", found.text, found.record


def _can_be_made(record: Record) -> bool:
    return undetermined(record) is None and bool(_shapes(record, Random(0)))


def _shapes(record: Record, draw: Random) -> list[dict[str, int]]:
    """Shapes of whole bytes."""
    found = [each for each in shapes(record, draw, 6, MOST_BITS) if _is_whole(record, each)]
    return found or [each for each in _larger(record) if _is_whole(record, each)]


def _larger(record: Record) -> Iterator[dict[str, int]]:
    for rows, columns in ((2, 64), (3, 256), (2, 512)):
        try:
            yield record.bind((rows, columns))
        except ValueError:
            continue


def _is_whole(record: Record, values: Mapping[str, int]) -> bool:
    starts = [evaluate(part.in_bits.start, part.shape(values)) for part in record.parts]
    return record.size_bits_at(values) % 8 == 0 and all(each % 8 == 0 for each in starts)


def _group(draw: Random, number: int, called: str, record: Record) -> tuple[str, list[Made]]:
    pattern, most = draw.choice(HOLES)
    pattern = f"g{number}.{pattern}"
    holes = [each for each in ("i", "p") if f"{{{each}}}" in pattern]
    ways = ("{}.%s", "%s.{}", f"{number}_%s." + ".".join(f"{{{each}}}_x" for each in holes))
    sources = {
        each.name: draw.choice(ways[: 3 if holes else 2]) % each.name for each in record.fields
    }
    target = draw.choice(("made.{}", "blk{}.w", *(["{}"] * (draw.random() < 0.5))))
    if holes and draw.random() < 0.5:
        target = f"blk{number}." + ".".join(f"{{{each}}}" for each in reversed(holes))
    some = draw.sample([(i, p) for i in "07" for p in ("up", "q")], draw.randint(1, most))
    if holes == ["p"]:
        some = [("0", p) for p in {p for _, p in some}]
    fitted = sorted(some if holes else some[:1])
    values = [draw.choice(_shapes(record, draw)) for _ in fitted]
    words = _words(draw, number, record, values)
    said = [_source(name, source, words) for name, source in sources.items()]
    line = f'group "{pattern}" = {called}({", ".join(draw.sample(said, len(said)))}) as "{target}"'
    made = []
    for (i, p), shape in zip(fitted, values, strict=True):
        whole = _written(pattern, i, p, "")
        names = {name: _written(source, i, p, whole) for name, source in sources.items()}
        chosen = np.random.default_rng(draw.randrange(1 << 30))
        arrays = {
            each.name: elements(each.element, each.shape(shape), chosen) for each in record.fields
        }
        assert values_of_fields(record, {n: a.shape for n, a in arrays.items()}) == shape
        made.append(Made(_written(target, i, p, whole), record, shape, arrays, names, words))
    return "\n".join([*(each.text for each in words.values()), line]), made


def _words(
    draw: Random, number: int, record: Record, values: list[dict[str, int]]
) -> dict[str, Drawn]:
    """Fields that come in words, and how."""
    found = {}
    for each in record.fields:
        if each.element.item[0] != "b" and draw.random() < 0.4:
            shapes = [each.shape(some) for some in values]
            words = words_for(draw, f"W{number}_{each.name}", each.element, shapes)
            found |= {} if words is None else {each.name: words}
    return found


def _source(name: str, source: str, words: Mapping[str, Drawn]) -> str:
    packed = f" from words {words[name].word} of {words[name].name}" if name in words else ""
    return f'{name} = "{source}"{packed}'


def _written(text: str, i: str, p: str, whole: str) -> str:
    return text.replace("{}", whole).replace("{i}", i).replace("{p}", p)


def _tensors(made: Made) -> Iterator[Tensor]:
    for each in made.record.fields:
        array, name = made.arrays[each.name], made.names[each.name]
        words = made.words.get(each.name)
        if words is None:
            yield Tensor(name, "", type_of(each.element), array.shape, array.tobytes())
            continue
        layout = layoutdsl.parse(words.text)[words.name]
        data = held_by_words(layout, each.element, array)
        yield Tensor(name, "", words.word, words.shape(array.shape, each.element.bits), data)


def type_of(element: ElementType) -> str:
    """The type of a file whose items elements travel in."""
    kind, width = element.item
    if element.fills_item:
        return element.name
    return "bool" if kind == "b" else f"{kind}{8 * width}"
