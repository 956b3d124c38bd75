"""Writes the binary files of `inputs/`: `python -m tests.net.inputs`. Its texts are by hand.

Everything counts: no random numbers, whose generators change. The files are committed, so that a
record depends on no package that writes them.
"""

from __future__ import annotations

import json
import struct
from math import prod
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "inputs"


def counted(shape: tuple[int, ...], dtype: str, below: int = 97) -> np.ndarray:
    """Items that differ from their neighbours along every axis."""
    return (np.arange(prod(shape)) * 7919 % below).reshape(shape).astype(dtype)


def tensors() -> dict[str, np.ndarray]:
    """A file of weights: matrices for tiles, words of GPTQ, groups, and some that are kept."""
    found = {f"m.{n}.q.weight": counted((40, 50), "f2", 1000 + n) for n in range(2)}
    found["m.up.weight"] = counted((8, 70), "i4")
    found["m.qweight"] = counted((16, 64), "i4", 2**31)
    found["m.norm"] = counted((5,), "f4")
    found["g.0.d"] = counted((3, 2), "f2")
    found["g.0.q"] = counted((3, 64), "u1", 16)
    found["bias"] = counted((), "f4")
    return found


WORDS = (("u8", "u1", (2, 2)), ("i8", "i1", (2, 2)), ("u16", "u2", (2,)), ("i16", "i2", (2,)),
         ("u32", "u4", ()))  # fmt: skip
ARRAYS = {
    "x.npy": counted((2, 20, 3, 4), "f4"),
    "bytes.npy": counted((2, 20, 3, 4), "u1"),
    "halves.npy": counted((2, 20, 3, 4), "f2"),
    "words.npy": counted((2, 20, 3, 4), "u2"),
    "longs.npy": counted((2, 20, 3, 4), "i8"),
    "big.npy": counted((2, 20, 3, 4), ">f4"),
    "flat.npy": counted((480,), "f4"),
    "scalar.npy": counted((), "f4"),
    "empty.npy": counted((0, 20, 3, 4), "f4"),
    "nibbles.npy": counted((8, 16), "u1", 16),
    "wide.npy": counted((8, 16), "u1", 97),
    "gptq.npy": counted((16, 64), "u1", 16),
    "crouton.npy": counted((1, 9, 9, 33), "u1"),
    "real.npy": counted((1, 9, 9, 33), "f4", 250) / np.float32(10),
    "scales.npy": counted((33,), "f4", 31) / np.float32(100) + np.float32(0.01),
    "zeros.npy": counted((33,), "u1"),
    "matrix.npy": counted((6, 5), "f4"),
    "bits.npy": counted((4, 8), "u1", 2),
    "kv.npy": counted((1, 20, 1, 2), "f4"),
    "nhwc.npy": counted((2, 3, 4, 20), "f4"),
    # Words of AWQ, each 8 x 16 numbers of four bits: any words are some of them.
    **{f"awq_{kind}.npy": counted((8, 2, *more), dtype, 2**31) for kind, dtype, more in WORDS},
    "awq_u64.npy": counted((8, 1), "u8", 2**61),
    "awq_i64.npy": counted((8, 1), "i8", 2**61),
    "q4_0.npy": counted((2, 2, 18), "u1"),
    "fields_d.npy": counted((2, 2), "f2"),
    "fields_q.npy": counted((2, 64), "u1", 16),
}
FIELDS = {"d": ARRAYS["fields_d.npy"], "q": ARRAYS["fields_q.npy"]}
ARCHIVES = {
    "fields.npz": FIELDS,
    "fields_short.npz": {"d": FIELDS["d"]},
    "fields_more.npz": {**FIELDS, "more": FIELDS["d"]},
    "fields_wrong.npz": {"d": FIELDS["d"][:1], "q": FIELDS["q"]},
    "q6k.npz": {
        "q": counted((2, 256), "u1", 64),
        "scale": counted((2, 16), "i1"),
        "d": counted((2, 1), "f2"),
    },
    "model.npz": tensors(),
    "model_other.npz": {**tensors(), "m.norm": counted((6,), "f4")},
}


def safetensors(found: dict[str, np.ndarray]) -> bytes:
    kinds = {"f2": "F16", "f4": "F32", "i4": "I32", "u1": "U8"}
    header, data = {}, b""
    for name, array in found.items():
        span = [len(data), len(data) + array.nbytes]
        kind = kinds[array.dtype.str[1:]]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": span}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def index(found: dict[str, np.ndarray]) -> bytes:
    """An index of one shard, which is `model.safetensors`."""
    total = sum(array.nbytes for array in found.values())
    homes = dict.fromkeys(found, "model.safetensors")
    said = {"metadata": {"total_size": total}, "weight_map": homes}
    return (json.dumps(said, indent=2, sort_keys=True) + "\n").encode()


def gguf(found: dict[str, np.ndarray]) -> bytes:
    kinds = {"f4": 0, "f2": 1, "i4": 26}

    def word(text: str) -> bytes:
        return struct.pack("<Q", len(text)) + text.encode()

    key = word("general.architecture") + struct.pack("<I", 8) + word("net")
    head = b"GGUF" + struct.pack("<IQQ", 3, len(found), 1) + key
    data = b""
    for name, array in found.items():
        head += word(name) + struct.pack("<I", array.ndim)
        head += struct.pack(f"<{array.ndim}Q", *array.shape[::-1])
        head += struct.pack("<IQ", kinds[array.dtype.str[1:]], len(data))
        data += array.tobytes() + b"\0" * (-array.nbytes % 32)
    return head + b"\0" * (-len(head) % 32) + data


def network(*, open_batch: bool = False) -> bytes:
    """A model of ONNX: two convolutions, a residue, a pool and a matrix."""
    from onnx import TensorProto, helper, numpy_helper

    shapes = {"w1": (20, 3, 3, 3), "b1": (20,), "w2": (20, 20, 1, 1), "w3": (7, 20), "b3": (7,)}
    weights = [
        numpy_helper.from_array(counted(shape, "f4", 31) / np.float32(64) - np.float32(0.25), name)
        for name, shape in shapes.items()
    ]
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["a"], name="first", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["r"], name="relu"),
        helper.make_node("Conv", ["r", "w2"], ["c"], name="second"),
        helper.make_node("Add", ["c", "r"], ["d"], name="residue"),
        helper.make_node("GlobalAveragePool", ["d"], ["g"], name="mean"),
        helper.make_node("Flatten", ["g"], ["f"], name="flat"),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["y"], name="matrix", transB=1),
    ]
    batch = "N" if open_batch else 2
    ends = (("x", [batch, 3, 8, 8]), ("y", [batch, 7]))
    given, taken = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends
    )
    graph = helper.make_graph(nodes, "net", [given], [taken], weights)
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()


def main() -> None:
    for name, array in ARRAYS.items():
        np.save(FOLDER / name, array)
    np.save(FOLDER / "fortran.npy", np.asfortranarray(ARRAYS["x.npy"]))
    for name, arrays in ARCHIVES.items():
        np.savez(FOLDER / name, **arrays)
    floats = {key: each for key, each in tensors().items() if each.dtype.str[1:] != "u1"}
    whole = (FOLDER / "x.npy").read_bytes()
    made = {
        "model.safetensors": safetensors(tensors()),
        "model.safetensors.index.json": index(tensors()),
        "model.gguf": gguf({key: each for key, each in floats.items() if each.ndim}),
        "net.onnx": network(),
        "open.onnx": network(open_batch=True),
        "raw.bin": ARRAYS["x.npy"].tobytes(),
        "short.bin": ARRAYS["x.npy"].tobytes()[:-3],
        "broken.npy": whole[:-100],
        "longer.npy": whole + b"more",
        "header.npy": whole.replace(b"'shape'", b"'shapf'"),
        "object.npy": whole.replace(b"'<f4'", b"'|O' "),
        "zip.npz": (FOLDER / "fields.npz").read_bytes()[:-60],
        "broken.safetensors": safetensors(tensors())[:-10],
        "header.safetensors": safetensors(tensors()).replace(b'"F16"', b'"F61"'),
        "broken.gguf": gguf({"m.norm": tensors()["m.norm"]})[:40],
        "broken.onnx": network()[:400],
    }
    for name, data in made.items():
        (FOLDER / name).write_bytes(data)


if __name__ == "__main__":
    main()
