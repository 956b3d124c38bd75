"""Programs that XLA's compiler for TPUs compiles without a TPU, and the shapes in what it prints.

It needs `pip install jax libtpu`. `python -m tests.xla_programs v5e:2x2` prints the shapes of a
topology, one a line.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import Any

TYPES = ["float32", "bfloat16", "int8", "bool", "int4", "float8_e4m3fn", "int32", "uint16", "uint4"]
SHAPES = [
    (),
    (1,),
    (5,),
    (130,),
    (5000,),
    (2, 1),
    (3, 5),
    (1, 300),
    (4, 130),
    (300, 400),
    (17, 1),
    (2, 3, 5),
    (8, 1, 130),
    (2, 7, 8, 130),
    (1, 56, 56, 3),
    (2, 3, 4, 5, 6),
    (2, 2, 1, 9, 128),
]
_SHAPE = re.compile(
    r"(?<![\w.%])(?:pred|bf16|[suf]\d+[a-z0-9]*|c\d+)\[[^\]\s]*\](?:\{[^{}]*\})?", re.ASCII
)
_ENTRY = re.compile(r"entry_computation_layout=\{\((\S+)\)->")


def shapes_in(text: str) -> set[str]:
    """Every shape of an array in a text of HLO."""
    return set(_SHAPE.findall(text))


def argument_in(text: str) -> str:
    """The shape of the only argument of a program."""
    found = _ENTRY.search(text)
    assert found is not None
    return found[1]


def topology(name: str) -> Any:
    """Return the devices of a topology, of which none has to be there.

    Raises:
        ImportError, RuntimeError: a package is missing, or does not start here.
    """
    os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
    os.environ.setdefault("ALLOW_MULTIPLE_LIBTPU_LOAD", "1")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import libtpu  # noqa: F401  jax looks for it
    from jax.experimental import topologies

    return topologies.get_topology_desc(platform="tpu", topology_name=name)


def compiled(device: Any) -> Iterator[tuple[str, int | None]]:
    """Yield the text of each program, and the bytes of its argument where it has only one."""
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.sharding import SingleDeviceSharding

    where = SingleDeviceSharding(device)

    def made(function: Any, *arguments: tuple[tuple[int, ...], str]) -> tuple[str, int | None]:
        given = [jax.ShapeDtypeStruct(s, kind, sharding=where) for s, kind in arguments]
        program = jax.jit(function).lower(*given).compile()
        size = program.memory_analysis().argument_size_in_bytes
        return program.as_text(), size if len(given) == 1 else None

    def attention(q: Any, k: Any, v: Any) -> Any:
        scores = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k), -1)
        return jnp.einsum("bhqk,bhkd->bhqd", scores, v)

    for kind in TYPES:
        for shape in SHAPES:
            yield made(lambda x: x[...], (shape, kind))
            if len(shape) > 1:
                yield made(lambda x: jnp.transpose(x) == x.ravel()[0], (shape, kind))
    for kind in ("float32", "bfloat16"):
        yield made(lambda a, b: jax.nn.relu(a @ b), ((300, 400), kind), ((400, 7), kind))
        yield made(attention, *[((2, 8, 128, 64), kind)] * 3)
        yield made(lambda x: jnp.sort(x, axis=-1), ((37, 1000), kind))
        yield made(lambda x: lax.top_k(x, 5), ((37, 1000), kind))
        yield made(lambda x: jnp.cumsum(x, axis=0), ((37, 1000), kind))
        yield made(jax.grad(lambda y: jnp.sum(jnp.tanh(y @ y.T))), ((256, 128), kind))
        yield made(lambda x, i: x[i], ((5000, 64), kind), ((33,), "int32"))
        yield made(lambda x: lax.scan(lambda c, y: (c + y, c * y), x[0], x), ((20, 33, 70), kind))
        yield made(lambda x: x.reshape(77, 9).T, ((7, 9, 11), kind))


if __name__ == "__main__":
    for each in sorted(
        set().union(*(shapes_in(text) for text, _ in compiled(topology(sys.argv[1]).devices[0])))
    ):
        print(each)
