"""A large file of weights, made on the spot, packed and verified: memory, speed, and one bit.

    python tests/campaigns/weights.py --size 4G --mem 256M --jobs 2

It needs twice the size on the disk, in a folder of its own that it removes. Packing is timed
beside `cp` of the same file in the same run, both until the bytes are on the disk; memory is what
the system says the process had at most. It ends with 1 where a bound is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from time import perf_counter

UNITS = {"K": 10, "M": 20, "G": 30}
ROWS, COLUMNS = 4096, 4096
"""Of one BF16 tensor: 32 MiB."""

RULES = """\
layout Tiles(n, k) = [n/16, k/32, n%16, k%32]
tensor "**.q_proj.weight" = Tiles
tensor "**.up_proj.weight"(n, k) = [k/64, n, k%64]
tensor "**.down_proj.weight" = keep
"""
KINDS = ("q_proj", "up_proj", "down_proj")
OVER = 150 << 20
SHARE = 0.6


def size_of(text: str) -> int:
    found = re.fullmatch(r"(\d+)([KMG]?)", text)
    assert found, text
    return int(found[1]) << UNITS.get(found[2], 0)


def made(place: Path, size: int) -> None:
    """Write a file of BF16 tensors of about so many bytes; their bits are drawn."""
    each = 2 * ROWS * COLUMNS
    names = [f"model.layers.{n}.{KINDS[n % 3]}.weight" for n in range(max(size // each, 1))]
    header = {
        name: {
            "dtype": "BF16",
            "shape": [ROWS, COLUMNS],
            "data_offsets": [n * each, n * each + each],
        }
        for n, name in enumerate(names)
    }
    text = json.dumps(header).encode()
    draw = Random(0)
    block = draw.randbytes(1 << 22)
    with place.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for n in range(len(names) * each // len(block)):
            turn = n * 4099 % len(block)
            file.write(block[turn:] + block[:turn])
        file.flush()
        os.fsync(file.fileno())


def timed(line: list[str]) -> tuple[int, float, int]:
    """Run a program; return its exit code, its seconds, and the bytes of memory it had at most."""
    started = perf_counter()
    process = subprocess.Popen(line)
    _, status, used = os.wait4(process.pid, 0)
    return os.waitstatus_to_exitcode(status), perf_counter() - started, used.ru_maxrss << 10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="4G", type=size_of)
    parser.add_argument("--mem", default="256M", type=size_of)
    parser.add_argument("--jobs", default=2, type=int)
    parser.add_argument("--folder", default=None, help="where; it removes what it makes there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        os.chdir(folder)
        return campaign(given.size, given.mem, given.jobs)


def campaign(size: int, mem: int, jobs: int) -> int:
    model, packed = Path("model.safetensors"), Path("packed.safetensors")
    Path("rules.layout").write_text(RULES)
    made(model, size)
    bytes_ = model.stat().st_size
    ours = [sys.executable, "-m", "layoutdsl"]
    limits = ["--mem", str(mem), "--jobs", str(jobs)]
    small = Path("small.safetensors")
    made(small, 3 << 25)  # what is compiled is compiled now
    subprocess.run(
        [*ours, "pack", small, "--rules", "rules.layout", "-o", "s.safetensors"], check=True
    )
    _, copying, _ = timed(["sh", "-c", f"cp {model} copy && sync copy"])
    Path("copy").unlink()
    line = [*ours, "pack", str(model), "--rules", "rules.layout", "-o", str(packed), *limits]
    code, packing, peak = timed(line)
    assert code == 0, "it was not packed"
    against = [*ours, "verify", str(packed), "--against", str(model), *limits]
    code, verifying, seen = timed(against)
    assert code == 0, "it is not what it was made from"
    place = flipped(packed)
    asked = subprocess.run(against, capture_output=True, text=True, check=False)
    print(asked.stdout.strip())
    alone = subprocess.run(
        [*ours, "verify", str(packed)], capture_output=True, text=True, check=False
    )
    print(alone.stdout.strip())
    assert (asked.returncode, alone.returncode) == (1, 1), f"bit at {place} was not found"
    gigabytes = bytes_ / 1e9
    print(f"{gigabytes:.1f} GB, {mem >> 20} MiB for {jobs} jobs")
    print(f"  cp      {copying:6.1f} s  {gigabytes / copying:.2f} GB/s")
    print(f"  pack    {packing:6.1f} s  {gigabytes / packing:.2f} GB/s  {peak >> 20} MiB at most")
    print(
        f"  verify  {verifying:6.1f} s  {gigabytes / verifying:.2f} GB/s  {seen >> 20} MiB at most"
    )
    print(f"  {copying / packing:.2f} of cp; {(peak - mem) >> 20} MiB more than --mem")
    return 0 if copying / packing >= SHARE and peak <= mem + OVER else 1


def flipped(place: Path) -> int:
    """Change one bit of a tensor, late in the file; return where."""
    at = place.stat().st_size * 7 // 8 + 12345
    with place.open("r+b") as file:
        file.seek(at)
        (old,) = file.read(1)
        file.seek(at)
        file.write(bytes([old ^ 4]))
    return at


if __name__ == "__main__":
    sys.exit(main())
