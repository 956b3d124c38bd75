"""Random graphs planned, proved, run and checked, and a changed certificate of each refused.

    python tests/campaigns/propagated_graphs.py --first 0 --count 2000 [--share 1/2] [--into DIR]

Each graph goes to three targets: channels last, blocks of 16 channels, and operators of ONNX alone.
Nodes and outputs are held against the original graph by onnxruntime. A line for each target says
how many graphs were wrong, how many plans are not proved minimal, and how many changed certificates
and changed models were taken nonetheless. A dual in which a number was changed may still prove the
same bound, as there are many; those are counted by themselves, and are no fault.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

import onnx

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from propagate_fuzz import random_model

from layoutdsl import UnfitModelError, check_model, propagate
from layoutdsl.graphs.checking.warrant import KEY

TARGETS: dict[str, dict[str, Any]] = {
    "NHWC": {"engine": "nhwc"},
    "NCHW16c": {"engine": "blocked16"},
    "plain": {"prefer": {"Conv": "NCHW"}, "emit": "plain"},
}


def cost(draw: Random, said: dict[str, Any]) -> None:
    said["cost"] += draw.choice((-1, 1, 1000))


def bound(draw: Random, said: dict[str, Any]) -> None:
    said["bound"] += draw.choice((-1, 1, 1000))


def dual(draw: Random, said: dict[str, Any]) -> None:
    """One number of the dual, by one, or by much."""
    row = str(draw.randrange(said["rows"]))
    said["dual"][row] = said["dual"].get(row, 0) + draw.choice((-1000, -1, 1, 1000))


def rows(draw: Random, said: dict[str, Any]) -> None:
    said["rows"] += draw.choice((-1, 1))


def chosen(draw: Random, said: dict[str, Any]) -> None:
    """Another way to run a node, which may be none."""
    said["chosen"][draw.randrange(len(said["chosen"]))] += draw.choice((-1, 1, 7))


def rules(draw: Random, said: dict[str, Any]) -> None:
    text = list(said["rules"])
    text[draw.randrange(len(text))] = "-"
    said["rules"] = "".join(text)


CHANGES: tuple[Callable[[Random, dict[str, Any]], None], ...] = (
    cost, bound, dual, rows, chosen, rules,
)  # fmt: skip


def model_changed(draw: Random, model: Any) -> str:
    """Change one thing of a model, and return what."""
    weights = [each for each in model.graph.initializer if len(each.raw_data)]
    match draw.randrange(3):
        case 0 if weights:
            tensor = draw.choice(weights)
            data = bytearray(tensor.raw_data)
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
            tensor.raw_data = bytes(data)
            return "bit of a weight"
        case 1:
            node = draw.choice(model.graph.node)
            node.op_type = "Neg" if node.op_type != "Neg" else "Abs"
            return "operator"
        case _:
            said = [each for node in model.graph.node for each in node.metadata_props]
            entry = draw.choice(said)
            entry.value = f"{entry.value}0"
            return "metadata"


def taken(out: Path, source: Path) -> bool:
    """Whether a changed model is taken for what was planned."""
    try:
        return check_model(out, source).holds
    except UnfitModelError:
        return False


def tried(seed: int, target: str, folder: Path) -> dict[str, Any]:
    """What became of a graph."""
    draw, source, out = Random(f"{seed} {target}"), folder / "model.onnx", folder / "out.onnx"
    onnx.save(random_model(seed), source)
    found = propagate(source, **TARGETS[target])
    said = {"seed": seed, "target": target, "status": found.status}
    said |= {"minimal": found.figures.minimal, "undecided": len(found.theorems.undecided)}
    if found.status == "refuted":
        return said | {"wrong": str((found.theorems.refuted, found.verified))}
    found.write(out)
    if not check_model(out, source).holds:
        return said | {"wrong": "its own certificate is refused"}
    model = onnx.load(out)
    entry = next(each for each in model.metadata_props if each.key == KEY)
    before, change = entry.value, draw.choice(CHANGES)
    certificate = json.loads(before)
    change(draw, certificate)
    entry.value = json.dumps(certificate, sort_keys=True)
    out.write_bytes(model.SerializeToString())
    said |= {"change": change.__name__, "taken": taken(out, source)}
    entry.value = before
    said["other change"] = model_changed(draw, model)
    out.write_bytes(model.SerializeToString())
    return said | {"other taken": taken(out, source)}


def all_tried(seeds: Iterable[int], lines: Path) -> None:
    """Add a line of JSON for each graph and target; those that are there stay."""
    known = set()
    if lines.exists():
        known = {(each["seed"], each["target"]) for each in read(lines)}
    with tempfile.TemporaryDirectory() as folder, lines.open("a") as out:
        for seed in seeds:
            for target in (each for each in TARGETS if (seed, each) not in known):
                try:
                    said = tried(seed, target, Path(folder))
                except Exception:  # a fault of ours is what is looked for
                    said = {"seed": seed, "target": target, "wrong": traceback.format_exc()}
                out.write(json.dumps(said) + "\n")
                out.flush()


def read(lines: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.read_text().splitlines()]


def told(found: list[dict[str, Any]]) -> None:
    """Print a line for each target, and whatever is wrong."""
    for target in TARGETS:
        own = [each for each in found if each["target"] == target]
        count = Counter[str]()
        for each in own:
            count["wrong"] += "wrong" in each
            count["not proved minimal"] += not each.get("minimal", True)
            count["undecided"] += bool(each.get("undecided"))
            again = each.get("change") == "dual"
            count["other duals of the same bound"] += each.get("taken", False) and again
            count["certificates taken"] += each.get("taken", False) and not again
            count["models taken"] += each.get("other taken", False)
        print(f"{target}: {len(own)} graphs, " + ", ".join(f"{k} {n}" for k, n in count.items()))
    for each in found:
        taken = each.get("taken") and each["change"] != "dual"
        if "wrong" in each or taken or each.get("other taken"):
            print(json.dumps(each))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--first", type=int, default=0)
    asked.add_argument("--count", type=int, default=2000)
    asked.add_argument("--share", default="1/1", help="K/N: seeds of this process")
    asked.add_argument("--into", type=Path, default=Path())
    asked.add_argument("--tell", action="store_true", help="print what is there, and run nothing")
    said = asked.parse_args()
    part, parts = map(int, said.share.split("/"))
    if not said.tell:
        seeds = range(said.first + part - 1, said.first + said.count, parts)
        all_tried(seeds, said.into / f"graphs-{part}-{parts}.jsonl")
    told([each for lines in sorted(said.into.glob("graphs-*.jsonl")) for each in read(lines)])


if __name__ == "__main__":
    main()
