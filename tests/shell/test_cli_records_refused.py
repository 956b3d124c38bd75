"""What records do not take on the command line, and the verbs that take no records."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_shell import Shell, shell
from record_texts import SPEC, spec

__all__ = ["shell", "spec"]

USES = [
    ("pack my.layout:Block in.npz out.npy --fill 1", "--fill is for layouts, and `Block` is a"),
    ("pack my.layout:Block in.npz out.npy --word u32", "--word is for layouts, and `Block` is a"),
    ("pack my.layout:Block in.npz out.npy --bytes", "--bytes is for layouts, and `Block` is a"),
    ("pack my.layout:Block - out.npy --mem 1M", "a standard stream cannot be processed in pieces"),
    ("pack my.layout:Block in.npz - --jobs 2", "a standard stream cannot be processed in pieces"),
    ("pack my.layout:Block in.npz o.npy --progress json", "--progress is for layouts, and `Block`"),
    ("pack my.layout:Block in.npz out.npy --raw f32", "`Block` is a record, and its buffer holds"),
    ("pack my.layout:Block in.npz", "missing argument `OUT.npy`"),
    ("pack my.layout:Plain in.npz", "missing argument `OUT.npy`"),
    ("pack my.layout:Block in.npz out.npy --field d=d.npy", "`in.npz` and --field both name the"),
    ("pack my.layout:Block out.npy --field d=d.npy", "the field `q` of `Block` is missing"),
    ("pack my.layout:Block out.npy --field x=d.npy", "record `Block` has no field `x`; it has `d`"),
    ("pack my.layout:Block out.npy --field d", "`d` in --field names no file"),
    (
        "pack my.layout:Block out.npy --field d=d.npy --field d=e.npy",
        "--field names `d` twice",
    ),
    ("pack my.layout:Plain out.npy --field d=d.npy", "--field is for records, and `Plain` is a"),
    ("unpack my.layout:Block in.npy out.npz", "--shape is missing"),
    ("unpack my.layout:Block in.npy out.npz --shape 1,64 --word u8", "--word is for layouts, and"),
    ("convert my.layout:Block my.layout:Turned a b --shape 1,32 --axes a", "--axes is for layouts"),
    ("convert my.layout:Block my.layout:Turned a b --shape 1,32 --fill 1", "--fill is for layouts"),
    (
        "convert my.layout:Block my.layout:Plain a b --shape 1,32",
        "`Block` is a record, and `Plain`",
    ),
    (
        "convert my.layout:Plain my.layout:Block a b --shape 1,32",
        "`Block` is a record, and `Plain`",
    ),
    ("pack my.layout:Open in.npz out.npy", "`Open` has open parameters"),
    ("cost my.layout:Block my.layout:Plain", "`Block` is a record, and is not compared with"),
    ("cost my.layout:Block --of f32", "--of is for layouts, and `Block` is a record"),
    ("cost my.layout:Block --shape 1,33", "record `Block` is defined where K%32 == 0, not at"),
    ("where my.layout:Block --shape 1,32 --index 0,0", "--index names no field of the record"),
    ("where my.layout:Block --shape 1,32 --index x:0,0", "record `Block` has no field `x`"),
    ("where my.layout:Block --shape 1,32 --index q:r=0,k=0", "--index of a record has numbers"),
    ("where my.layout:Block --shape 1,32 --index q:0", "`q` takes 2 indices, not 1"),
    ("where my.layout:Block --shape 1,32 --index q:0,32", "index 32 of `q` is outside 0..31"),
    ("where my.layout:Block --shape 1,32 --index q:0,0 --bit 4", "bit 4 is outside 0..3 of u4"),
    ("where my.layout:Plain --shape 1,1 --index 0,0 --bit 0", "--bit is for records, and `Plain`"),
    ("at my.layout:Block --shape 1,32 3", "`Block` is a record, and told byte by byte"),
    ("at my.layout:Block --shape 1,32", "`Block` is a record, and told byte by byte"),
    ("at my.layout:Block --shape 1,32 --byte 18", "byte 18 is outside the buffer of 18 bytes"),
    ("at my.layout:Block --shape 1,32 --byte -1", "byte -1 is outside the buffer of 18 bytes"),
    ("at my.layout:Block --shape 1,32 --byte 0 --bit 8", "bit 8 is outside 0..7 of a byte"),
    ("at my.layout:Plain --shape 1,1 --byte 0", "--byte is for records, and `Plain` is none"),
    ("at my.layout:Plain --shape 1,1", "missing argument `OFFSET`"),
    ("where wrong.layout --shape 1,32 --index q:0,0", "`wrong.layout` has `Shared`, `Nowhere`,"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("line", "message"), USES, ids=[line for line, _ in USES])
def test_a_wrong_command_line(spec: Shell, line: str, message: str) -> None:
    ended = spec(*line.split())
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"error: {message}")


OTHERS = (
    "formula {}",
    "formula {} --as cuda",
    "formula {} --as latex",
    "diff {} NCHW",
    "diff NCHW {}",
    "identify {}",
    "translate {} --to all",
    "bench {} --shape 1,32",
    "probe mine.py:f --against {} --shape 1,32",
)


@pytest.mark.parametrize("line", OTHERS)
@pytest.mark.parametrize("named", ["my.layout:Block", "Q4_0", "one.layout"])
def test_verbs_that_take_no_records(spec: Shell, line: str, named: str) -> None:
    Path("mine.py").write_text("def f(x):\n    return x\n")
    Path("one.layout").write_text(SPEC[: SPEC.index("record Turned")])
    name = {"my.layout:Block": "Block", "Q4_0": "Q4_0", "one.layout": "Block"}[named]
    ended = spec(*line.format(named).split())
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        f"error: `{name}` is a record, and a layout is needed\n"
        "  = help: `prove`, `pack`, `unpack`, `convert`, `generate`, `where`, `at` and `cost` "
        "take records\n"
    )


@pytest.mark.parametrize(
    "verb", ["prove", "pack", "unpack", "convert", "where", "at", "cost", "list"]
)
def test_help_teaches_a_record(shell: Shell, verb: str) -> None:
    assert "Q4_0" in shell(verb, "--help").out
