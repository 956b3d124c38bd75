"""How many transforms TVM leaves where convolutions are asked to be in NHWC: a line for each model.

    python tests/campaigns/tvm_layouts.py MODEL...

A model of ONNX is read by TVM's own importer, and `relax.transform.ConvertLayout` carries NHWC
through it. What is counted is `permute_dims` of whatever is no weight, and the bytes that these
read and write. Weights are permuted once, and are not counted, as in the table of ours.

Source: apache-tvm 0.27, `tvm.relax.transform.ConvertLayout`, `tvm.relax.frontend.onnx`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from math import prod
from typing import Any

MOVES = frozenset({"relax.permute_dims", "relax.layout_transform"})


def read(place: str) -> Any:
    """Return a model as a module of TVM, whose weights are parameters of `main`."""
    import onnx
    from tvm import relax
    from tvm.relax.frontend.onnx import from_onnx

    model = onnx.load(place)
    if min(each.version for each in model.opset_import) < 13:
        model = onnx.version_converter.convert_version(model, 13)
    weights = {each.name for each in model.graph.initializer}
    shapes = {
        each.name: [extent.dim_value for extent in each.type.tensor_type.shape.dim]
        for each in model.graph.input
        if each.name not in weights
    }
    module = from_onnx(model, shape_dict=shapes, keep_params_in_input=True)
    return relax.frontend.detach_params(module)[0]


def moves(module: Any) -> Iterator[int]:
    """Yield the bytes that each move of a value reads and writes."""
    from tvm import relax

    main = module["main"]
    known = set(main.params[int(main.attrs["num_input"]) :])
    for binding in (each for block in main.body.blocks for each in block.bindings):
        call = binding.value
        if all(each in known for each in relax.analysis.free_vars(call)):
            known.add(binding.var)
        elif isinstance(call, relax.Call) and getattr(call.op, "name", "") in MOVES:
            yield 2 * 4 * prod(int(each) for each in binding.var.ty.shape.values)


def main() -> None:
    """Print what TVM leaves of each model that is named."""
    import tvm
    from tvm import relax

    print(f"apache-tvm {tvm.__version__}")
    for place in sys.argv[1:]:
        try:
            wanted = {"relax.nn.conv2d": ["NHWC", "OHWI"]}
            made = relax.transform.ConvertLayout(wanted)(relax.transform.Normalize()(read(place)))
            found = list(moves(relax.transform.Normalize()(made)))
        except Exception as error:  # whatever the importer does not take
            print(f"{place}: {type(error).__name__}: {str(error).strip().splitlines()[-1][:200]}")
            continue
        print(f"{place}: {len(found)} transforms, {sum(found) / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main()
