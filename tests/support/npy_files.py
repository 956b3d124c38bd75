"""`.npy` files of all kinds, sound and not: what tests and campaigns feed to readers.

`numpy.load` says what a file holds, where it says anything; it is asked for no more than that.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

SHAPE = (2, 5, 3, 2)

TYPES: tuple[Any, ...] = (
    *("|u1", "<i2", ">i4", "<f4", ">f8", "<c8", "|b1", "|V3", "|S5", "<U2", "<M8[ns]", ">m8[3s]"),
    *("<f2", "=f4", "<f16", "|O", "|S0", "|V0", "<U0", "T", "a3", "float32", "int", "f", "u3"),
    *("<f4,<i2", "(2,)<f4", "i4, O", "<M8[", "<M8[0s]", "U99999999999", "S2147483647", ">", ""),
    [("a", "<i4"), ("b", ">f8")],
    [("a", "<i4"), ("", "|V4"), ("b", "<f8", (2, 2))],
    [(("title", "name"), "<i4")],
    [("\u00e4", "<i4")],
    [("\u4e00", "<i4")],
    [("a", "|O")],
    [("a", [("b", [("c", "<i2")])])],
    [("a", "<i4"), ("a", "<i4")],
    [("a",)],
    [("a", "<i4", (-1,))],
    [("a", "<i4", (99999999, 99999999, 99999999))],
    [],
    ("<f4", (2,)),
    (),
    7,
    None,
    {"names": ["a"], "formats": ["<i4"]},
)

SHAPES: tuple[Any, ...] = (
    *(SHAPE, (), (3,), (0,), (2, 0, 3, 2), (0, 5, 3, 2), (1,) * 4, (1,) * 33, (1,) * 65, (2,) * 70),
    *((-2, -5, 3, 2), (-1,), (2, 5, 3, -2), (True, 5, 3, 2), (2.0, 5, 3, 2), "2532", [2, 5, 3, 2]),
    *((2**31, 2**31, 2, 1), (2**63, 1, 1, 1), (2**64 + 2, 5, 3, 2), (10**30, 0, 1, 1), 60, None),
    *((0, 2**62, 2**62, 4), (2**62, 2**62, 0, 2), (0, 10**40, 1, 1), (2**32, 2**32, 1, 1), (1j, 2)),
)

ORDERS: tuple[Any, ...] = (False, False, False, True, True, 0, 1, None, "False")

VERSIONS = ((1, 0), (1, 0), (2, 0), (3, 0), (0, 0), (1, 1), (4, 0), (9, 0), (255, 255))

TEXTS = (
    *(
        "",
        " ",
        "\n",
        "{}",
        "()",
        "None",
        "7",
        "{1: 2, 'a': 3}",
        "{[]: 1}",
        "{{}: 1}",
        "\0",
        "'",
        "{'",
    ),
    *(
        "(" * 9000,
        "[" * 9000,
        "{1:" * 3000,
        "-" * 9000 + "1",
        "not " * 2000 + "1",
        "1if 1else " * 900,
    ),
    *("[" * 50 + "]" * 50, "lambda: 0", "__import__('os').mkdir('exploded')", "f'{1}'", "'a' 'b'"),
    *("{'descr': __import__('os').mkdir('exploded'), 'fortran_order': False, 'shape': (1,), }",),
    *("  {'descr': '<f4',\n 'fortran_order': False,\n    'shape': (1,), \n  }}\n  x", "9" * 9000),
    *(
        "'\\777'",
        "'\\N{BULLET}'",
        "'\\x'",
        "'\\u12'",
        "b'x'",
        "0x10",
        "1_000",
        "1e9",
        "# x",
        "\\\n1",
    ),
)


def header(
    text: str | bytes, version: tuple[int, int] = (1, 0), length: int | None = None
) -> bytes:
    """What a file starts with whose header is this text."""
    data = (
        text.encode("utf-8" if version >= (3, 0) else "latin-1", "replace")
        if isinstance(text, str)
        else text
    )
    width = 2 if version[0] < 2 else 4
    said = (len(data) if length is None else length) % 256**width
    return b"\x93NUMPY" + bytes(version) + said.to_bytes(width, "little") + data


def spelled(descr: Any, order: Any, shape: Any, draw: Random) -> str:
    """The text of a header: as numpy writes it, as others do, or as nobody does."""
    said = {"descr": descr, "fortran_order": order, "shape": shape}
    match draw.randrange(12):
        case 0:
            said = dict(reversed(said.items()))
        case 1:
            said.pop(draw.choice(list(said)))
        case 2:
            said[draw.choice(("extra", 7, ()))] = draw.choice((None, "x"))  # type: ignore[index]
        case 3:
            return repr(said).replace("'", '"')
        case 4:
            return repr(said).replace(" ", draw.choice(("", "  ", "\t", "\n", "\f", "\r\n")))
        case 5:
            return repr(said).replace(", ", "L, ").replace(")", "L)")
        case 6:
            return draw.choice(TEXTS)
    return repr(said)


def drawn(draw: Random) -> bytes:
    """A file: mostly sound in most of its parts, and then perhaps damaged."""
    is_usual = draw.random() < 0.5
    descr = draw.choice(TYPES[:12] if is_usual else TYPES)
    shape = SHAPE if is_usual else draw.choice(SHAPES)
    order = draw.choice(ORDERS[:5] if is_usual else ORDERS)
    version = draw.choice(VERSIONS[:4] if is_usual else VERSIONS)
    text = spelled(descr, order, shape, draw)
    if draw.random() < 0.8:
        text = text + " " * (-(len(text) + 11) % 64) + "\n"
    length = (
        draw.choice((0, 1, 2**16 - 1, 2**31 - 1, 2**32 - 1, 200)) if draw.random() < 0.05 else None
    )
    data = header(text, version, length) + draw.randbytes(_size(descr, shape))
    if draw.random() < 0.3:
        data = damaged(data, draw)
    return data


def _size(descr: Any, shape: Any) -> int:
    """The bytes of the items, where these are some."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            width = np.lib.format.descr_to_dtype(descr).itemsize
        count = int(np.prod(np.array(shape, dtype=object)))
    except Exception:
        return 240
    return width * count if 0 <= width * count < 10_000 else 240


def damaged(data: bytes, draw: Random) -> bytes:
    """The same with a few bytes changed, left out or added."""
    found = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 5))):
        at = draw.randrange(min(len(found), 200) + 1)
        match draw.randrange(5):
            case 0 if at < len(found):
                found[at] ^= 1 << draw.randrange(8)
            case 1 if at < len(found):
                found[at] = draw.choice(b"\0\xff '{}()[],:0123456789-TF<>|=\n\\L")
            case 2:
                del found[at : at + draw.choice((1, 4, 50, 1000))]
            case 3:
                found[at:at] = draw.randbytes(draw.choice((1, 3)))
            case 4:
                found += draw.randbytes(draw.choice((1, 7, 64)))
    return bytes(found)


def some(seed: int, count: int) -> Iterator[bytes]:
    """Files by their numbers; the same seed and count give the same files."""
    return (drawn(Random(f"{seed} {number}")) for number in range(count))


def by_numpy(data: bytes) -> np.ndarray | None:
    """What numpy reads; nothing where it refuses, or fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.load(io.BytesIO(data), allow_pickle=False)  # type: ignore[no-any-return]
        except (Exception, RecursionError, MemoryError):
            return None
