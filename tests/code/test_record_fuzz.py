"""Random records against the definition of every bit: their texts, verdicts, modules, evidence.

What is proved must be right at every shape that is tried, and what is refuted wrong at the shape
that is named; what a module packs is what the definition says, byte by byte. The rest of it:
`pytest -m campaign -k random_records -s`.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import random_records as drawing
from functions_built import C
from random_records import Drawn, Values, drawn, elements, faults, free, meant, pair, shapes

import layoutdsl
from layoutdsl import (
    Checked,
    LayoutError,
    Record,
    RefusedError,
    UnprovedError,
    UnvalidatedError,
    commands,
)
from layoutdsl.code.numpy import record as record_moves
from layoutdsl.language.declaration import record_declaration, record_lines
from layoutdsl.language.syntax.parser import parse
from layoutdsl.language.syntax.printer import print_declaration
from layoutdsl.language.texts.source import Source
from layoutdsl.proof.evidence import Subject, recheck, record, subjects
from layoutdsl.proof.evidence.manifest import Manifest, read_manifest
from layoutdsl.proof.kernel.solver import Z3

Array = np.ndarray[Any, Any]
WORDS = {
    "every part has a shape of its own": "defined",
    "parts have a buffer of the same size": "size",
    "regions lie one after the other": "after",
    "no bit is held twice": "apart",
    "every bit of every element is held once": "whole",
}
"""The fault that plain integers report, for each property that fails."""
PIECES = (1, 16, 64, 1 << 20)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """That a record is moved and not proved is said, and is no fault here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def record_of(text: str) -> Record:
    return layoutdsl.parse(text).records["A"]


def verdict(record: Record) -> Checked:
    (found,) = layoutdsl.prove(record).checked
    return found


# Texts.


def check_text(found: Drawn) -> None:
    """A text is printed and read as the same, and so is a meaning."""
    tree = parse(Source("a", found.text))
    printed = "\n".join(map(print_declaration, tree.declarations))
    assert parse(Source("b", printed)) == tree, found.text
    meaning = found.opened
    for text in (record_declaration(meaning), record_lines(meaning)):
        assert record_of(text) == meaning, text
    for number, name in enumerate(meaning.frame.symbols):
        assert name in meaning.parameters or number < len(meaning.axes)


@pytest.mark.slow
def test_texts_of_random_records_are_read_again() -> None:
    random = Random(0)
    for _ in range(40):
        check_text(drawn(random))


# Verdicts.


def check_verdict(found: Drawn, random: Random, most: int) -> Checked:
    """What is found of a record is held against plain integers."""
    made = found.opened if random.random() < 0.5 else found.record
    checked = verdict(made)
    tried = [(each, faults(made, each)) for each in shapes(made, random, 5, most)]
    wrong = [(dict(each), what) for each, what in tried if what]
    if checked.status == "proved":
        assert not wrong, (found.text, wrong[0])
    for each in checked.findings:
        if hasattr(each, "example"):
            there = faults(made, dict(each.example.shape))
            assert there, (found.text, each)
            assert WORDS.get(each.property) in (*there, None), (found.text, each, there)
    return checked


def verdicts(seed: int, count: int, most: int) -> Counter[str]:
    """Check so many, and count what came out; undecided are told by what was undecided."""
    random, found = Random(seed), Counter[str]()
    for _ in range(count):
        each = drawn(random)
        checked = check_verdict(each, random, most)
        changed = "changed" if each.kind.endswith("changed") else "right"
        found[f"{checked.status}, {changed}"] += 1
        if checked.status == "undecided":
            reasons = [f for f in checked.findings if hasattr(f, "reason")]
            first = f"{reasons[0].property.rpartition(': ')[2]}: {reasons[0].reason[:70]}"
            found[f"    undecided: {first}"] += 1
    return found


@pytest.mark.slow
def test_verdicts_on_random_records_are_those_of_plain_integers() -> None:
    found = verdicts(1, 5, 1000)
    assert found["proved, right"] >= 2
    assert found["undecided, right"] <= 2


# Modules.


def spread(array: Array, random: Random) -> Array:
    """The same numbers, in memory of another order."""
    if array.ndim == 0 or random.random() < 0.3:
        return array
    match random.randrange(3):
        case 0:
            room = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
            room[..., ::2] = array
            return room[..., ::2]
        case 1:
            return np.ascontiguousarray(array[::-1])[::-1]
        case _:
            return np.asfortranarray(array)


def bytes_of(array: Array) -> bytes:
    return np.ascontiguousarray(array).tobytes()


def check_at(made: Record, module: Any, values: Values, random: Random) -> str:
    """What a module does at one shape is what is meant, in whatever memory; says what it was."""
    seed = np.random.default_rng(random.randrange(10**6))
    fields = {each.name: elements(each.element, each.shape(values), seed) for each in made.fields}
    given = {name: spread(each, random) for name, each in fields.items()}
    if made.size_bits(values) % 8:
        with pytest.raises(ValueError, match="fill no whole bytes"):
            module.pack(shape=values, **given)
        return "no whole bytes"
    try:
        shape = module.shape_of(**given)
        assert shape == values
        derived = random.random() < 0.5
    except ValueError as reason:
        if "give `shape`" not in str(reason):
            raise
        derived = False
    box, threads, out = module.physical_shape(values), random.choice((1, 1, 2, 3)), None
    match random.randrange(3):
        case 0:
            out = np.full(box, 0xA5, "u1")
        case 1:
            out = np.full((*box[:-1], 2 * box[-1]), 0xA5, "u1")[..., ::2]
    packed = module.pack(out, threads, None if derived else values, **given)
    assert packed.shape == box
    assert out is None or packed is out
    wanted = meant(made, values, fields)
    assert bytes_of(packed) == wanted.tobytes(), dict(values)
    noise = seed.integers(0, 256, len(wanted)).astype("u1") & free(made, values)
    source = (wanted | noise).reshape(box if random.random() < 0.5 else -1)
    back = module.unpack(spread(source, random), values, threads)._asdict()
    for name, each in fields.items():
        assert (back[name].dtype, back[name].shape) == (each.dtype, each.shape), name
        assert bytes_of(back[name]) == bytes_of(each), (name, dict(values))
    return "derived" if derived else "shape given"


def check_module(
    found: Drawn, target: Any, random: Random, set_piece: Callable[[int], None], most: int
) -> Counter[str]:
    """Compile a record, and hold what it moves against the definition at some shapes."""
    made, counts = found.record, Counter[str]()
    try:
        module = layoutdsl.compile(made, target)
    except (RefusedError, UnprovedError):
        return Counter(["refused"])
    except UnvalidatedError as reason:
        print(f"{reason}\n{found.text}")
        return Counter(["not validated"])
    for values in shapes(made, random, 4, most):
        assert not faults(made, values), (found.text, values)
        set_piece(random.choice(PIECES))
        try:
            counts[check_at(made, module, values, random)] += 1
        except Exception as wrong:
            raise AssertionError(f"{found.text}\n{dict(values)} {found.numbers}") from wrong
    return counts


@pytest.fixture
def set_piece(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Set how much is moved at a time."""
    return lambda size: monkeypatch.setattr(record_moves, "_PIECE", size)


def modules(
    seed: int, count: int, target: Any, set_piece: Callable[[int], None], most: int
) -> Counter[str]:
    random, counts = Random(seed), Counter[str]()
    for _ in range(count):
        counts += check_module(drawn(random), target, random, set_piece, most)
    return counts


@pytest.mark.slow
def test_modules_of_random_records_move_every_bit_where_it_is_meant(
    set_piece: Callable[[int], None],
) -> None:
    found = modules(10, 2, "numpy", set_piece, 1000)
    assert found["derived"] + found["shape given"] >= 2
    assert found["not validated"] == 0


@pytest.mark.slow
@pytest.mark.skipif(C is None, reason="there is no C compiler")
def test_compiled_modules_of_random_records(set_piece: Callable[[int], None]) -> None:
    assert modules(3, 4, "native", set_piece, 4000)["refused"] < 4


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(20))
def test_many_random_records(block: int, set_piece: Callable[[int], None]) -> None:
    """Each of them as text, its verdict, and its module."""
    random, found, seed = Random(10**6 + block), Counter[str](), 10**6 * (block + 1)
    for _ in range(100):
        check_text(drawn(random))
    found += verdicts(seed, 100, 20_000)
    found += modules(seed, 100, "numpy", set_piece, 20_000)
    for name, count in sorted(found.items()):
        print(f"{count:6} {name}")
    assert found["undecided, right"] <= 15
    assert found["not validated"] <= 3


# Conversions.


def check_pair(seed: int, random: Random, target: Any) -> int:
    """What is converted is what is unpacked and packed again; returns at how many shapes."""
    one, other = (each.record for each in pair(seed))
    try:
        convert = layoutdsl.convert(one, other, compiled=target)
    except UnvalidatedError:
        return 0
    done = 0
    for values in shapes(one, random, 3, 3000):
        try:
            other.bind(values)
            wholes = not one.size_bits(values) % 8 and not other.size_bits(values) % 8
        except ValueError:
            continue  # the range of the other is narrower
        if not wholes:
            continue
        seed_ = np.random.default_rng(seed)
        fields = {e.name: elements(e.element, e.shape(values), seed_) for e in one.fields}
        source, wanted = meant(one, values, fields), meant(other, values, fields)
        noise = seed_.integers(0, 256, len(source)).astype("u1") & free(one, values)
        found = convert(source | noise, values)
        assert bytes_of(found) == wanted.tobytes(), (one, other, values)
        out = np.full(found.shape, 0xA5, "u1")
        assert convert(source, values, out, 2) is out
        assert bytes_of(out) == wanted.tobytes()
        done += 1
    return done


@pytest.mark.slow
def test_random_records_are_converted() -> None:
    assert check_pair(3, Random(1), "numpy") > 0


@pytest.mark.campaign
def test_many_random_records_are_converted() -> None:
    random = Random(5)
    done = [check_pair(seed, random, "numpy") for seed in range(150)]
    print(f"{sum(done)} shapes of {len(done)} pairs")
    assert sum(map(bool, done)) > 100


# Arguments that do not fit.

PLAIN = """record A(r, k) = {
    d(r, b: K/8) = [r, b, 0 : 4] of f16
    q(r, k) = [r, k/8, 4 + k%4 : 8, k%8/4] of u4
} where K % 8 == 0"""


def fields_of(shape: tuple[int, int] = (3, 16)) -> dict[str, Array]:
    rows, columns = shape
    return {"d": np.ones((rows, columns // 8), "f2"), "q": np.full((rows, columns), 5, "u1")}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        (
            {"q": np.zeros((3, 16), "i8")},
            TypeError,
            "`q`: the array has to be of dtype uint8, not int64",
        ),
        (
            {"d": np.zeros((3, 2), "u2")},
            TypeError,
            "`d`: the array has to be of dtype float16, not uint16",
        ),
        ({"q": [[1]]}, TypeError, "`q` is a list, not a numpy array"),
        ({"q": np.full((3, 16), 16, "u1")}, ValueError, "16 is outside 0 to 15"),
        ({"q": np.zeros((3, 8), "u1")}, ValueError, "has the shape"),
        ({"q": np.zeros((3, 12), "u1")}, ValueError, "has the shape"),
        ({"q": np.zeros((16,), "u1")}, ValueError, "`q` has 1 dimensions, and takes 2"),
        ({"q": np.zeros((0, 16), "u1")}, ValueError, "has the shape"),
        ({"d": np.zeros((0, 2), "f2")}, ValueError, "must be >= 1"),
        ({"x": np.zeros((3, 16), "u1")}, ValueError, "has no field `x`; it has `d`, `q`"),
        ({"shape": (3, 8)}, ValueError, "has the shape"),
        ({"shape": (3, 12)}, ValueError, "is defined where"),
        ({"shape": (3,)}, ValueError, "1 were given"),
        ({"threads": 0}, ValueError, "`threads` is 0, not 1 to 256"),
        ({"threads": "2"}, TypeError, "`threads` is a str, not an int"),
        ({"out": np.zeros(7, "u1")}, ValueError, "`out` has shape"),
        ({"out": np.zeros((3, 2, 8), "i1")}, ValueError, "`out` holds int8, not uint8"),
        ({"out": bytearray(48)}, TypeError, "`out` is a bytearray"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    change: dict[str, Any], kind: type[Exception], said: str
) -> None:
    module: Any = layoutdsl.compile(record_of(PLAIN), "numpy")
    out = np.full((3, 2, 8), 0xA5, "u1")
    with pytest.raises(kind, match=said):
        module.pack(**{"out": out, **fields_of(), **change})
    assert (out == 0xA5).all()


def test_a_field_is_missing_and_buffers_do_not_fit() -> None:
    module: Any = layoutdsl.compile(record_of(PLAIN), "numpy")
    fields, out = fields_of(), np.full((3, 2, 8), 0xA5, "u1")
    with pytest.raises(ValueError, match="the field `d` of `A` is missing"):
        module.pack(out, q=fields["q"])
    out.flags.writeable = False
    with pytest.raises(ValueError, match="`out` is read-only"):
        module.pack(out, **fields)
    assert (out == 0xA5).all()
    memory = np.zeros(4 * 48, "u1")
    inside = memory[:48].reshape(3, 16)
    with pytest.raises(ValueError, match="`out` overlaps `q`"):
        module.pack(memory[16:64].reshape(3, 2, 8), d=fields["d"], q=inside)
    packed = module.pack(**fields)
    for wrong, kind, said in (
        (packed[:2], ValueError, r"`src` has the shape \(2, 2, 8\), and has to have \(3, 2, 8\)"),
        (packed.reshape(-1)[:-1], ValueError, "`src` has the shape"),
        (packed.view("i1"), TypeError, "`src` holds int8"),
        (packed.tobytes(), TypeError, "`src` is a bytes"),
    ):
        with pytest.raises(kind, match=said):
            module.unpack(wrong, (3, 16))
    for joined in (packed.reshape(3, 16), packed.reshape(48)):  # gguf-py joins the last axes
        found = module.unpack(joined, (3, 16))
        assert np.array_equal(found.d, fields["d"])
        assert np.array_equal(found.q, fields["q"])
    for shape, threads, kind in (((3, 12), 1, ValueError), ((3,), 1, ValueError),
                                 ((3, 16), 0, ValueError), ((3, 16), None, TypeError)):  # fmt: skip
        with pytest.raises(kind):
            module.unpack(packed, shape, threads)


@pytest.mark.slow
def test_many_ask_a_module_at_once() -> None:
    """Of more shapes than it keeps."""
    module: Any = layoutdsl.compile(record_of(PLAIN), "numpy")
    shapes_ = [(rows, 8) for rows in range(1, 1 + 3 * record_moves._JOBS)]
    wanted = {shape: module.pack(**fields_of(shape)).tobytes() for shape in shapes_}

    def ask(seed: int) -> bool:
        random = Random(seed)
        chosen = random.choices(shapes_, k=60)
        return all(module.pack(**fields_of(s)).tobytes() == wanted[s] for s in chosen)

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(ask, range(6)))
    assert len(module._moves._jobs) <= record_moves._JOBS + 6


@pytest.mark.parametrize("name", ["out", "threads", "shape", "in", "lambda"])
def test_fields_that_python_cannot_name_are_refused(name: str) -> None:
    with pytest.raises(LayoutError):
        record_of(f"record A(r) = {{ {name}(r) = [r] of u8 }}")


# Evidence.


def written(text: str, folder: Path) -> tuple[Subject, ...]:
    module = commands.parse(text)
    claims = commands.claims_of(module)
    found = {each.text: layoutdsl.prove([each]).checked[0] for each in claims}
    made = subjects(claims)
    commands.write_files(folder, commands.lemma_files())
    for each in made:
        commands.write_files(folder, record(each, [found[c.text] for c in each.claims]).files)
    return made


def confirmed(made: tuple[Subject, ...], folder: Path) -> bool:
    return all(each.status == "confirmed" for each in recheck(made, folder, [Z3], lambda _: None))


def without_a_theorem(manifest: Manifest, random: Random) -> Manifest:
    (entry,) = manifest.entries
    number = random.randrange(len(entry.proofs))
    return with_proofs(manifest, (*entry.proofs[:number], *entry.proofs[number + 1 :]))


def with_proofs(manifest: Manifest, proofs: Any) -> Manifest:
    (entry,) = manifest.entries
    return replace(manifest, entries=(replace(entry, proofs=proofs),))


def exchanged(manifest: Manifest, random: Random) -> Manifest:
    """A theorem of a part in place of that of another part."""
    (entry,) = manifest.entries
    by_name = {theorem.name: (theorem, proof) for theorem, proof in entry.proofs}
    pairs = [
        (name, f"p{number}.{name.partition('.')[2]}")
        for name in by_name
        for number in range(9)
        if name.startswith("p") and "." in name and not name.startswith(f"p{number}.")
    ]
    pairs = [
        (one, other)
        for one, other in pairs
        if other in by_name
        and replace(by_name[one][0], name="") != replace(by_name[other][0], name="")
    ]
    one, other = random.choice(pairs)
    changed = {one: by_name[other], other: by_name[one]}
    renamed = {
        name: (replace(theorem, name=name), proof) for name, (theorem, proof) in changed.items()
    }
    return with_proofs(
        manifest,
        tuple(renamed.get(theorem.name, (theorem, proof)) for theorem, proof in entry.proofs),
    )


def proved_records(seed: int, count: int) -> Iterator[Drawn]:
    random = Random(seed)
    while count:
        found = drawing.right(random)
        if len(found.opened.parts) in range(2, 6) and verdict(found.opened).status == "proved":
            count -= 1
            yield found


def check_evidence(found: Drawn, folder: Path, random: Random) -> None:
    made = written(f"{found.text}\nprove A", folder)
    assert confirmed(made, folder), found.text
    (mine,) = [each for each in made if each.file == "A"]
    place = folder / mine.manifest
    text = place.read_text()
    manifest = read_manifest(text)
    for change in (without_a_theorem, exchanged):
        place.write_text(change(manifest, random).text)
        assert not confirmed(made, folder), (found.text, change)
    place.write_text(text)
    assert confirmed(made, folder)


@pytest.mark.slow
def test_evidence_of_a_random_record_stands_and_changes_are_noticed(tmp_path: Path) -> None:
    for found in proved_records(4, 1):
        check_evidence(found, tmp_path, Random(1))


@pytest.mark.campaign
def test_evidence_of_many_random_records(tmp_path: Path) -> None:
    for number, found in enumerate(proved_records(5, 40)):
        (tmp_path / str(number)).mkdir()
        check_evidence(found, tmp_path / str(number), Random(number))
