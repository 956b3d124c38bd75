"""`layoutdsl list`: what the library has, searched by what stands at each entry."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_shell import Shell, shell

import layoutdsl

__all__ = ["shell"]

FAMILIES = {
    place.stem: place.read_text(encoding="utf-8")
    for place in sorted(Path(layoutdsl.__file__).parent.rglob("library/*.layout"))
}
DECLARED = re.compile(r"^(?:layout|table|record) +(\w+)", re.MULTILINE)


def named(listed: str) -> list[str]:
    return re.findall(r"^  (?:table |record )?(\w+)", listed, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("NCHW16c", ["NCHW16c", "nChw16c"]),
        ("wgmma", ["WgmmaD", "WgmmaRow"]),
        ("WGMMA", ["WgmmaD", "WgmmaRow"]),
        ("onednn OIhw16o16i", ["OIhw16i16o"]),  # in a claim
        ("gguf u2", ["GgufQ2_K", "Q2_0", "Q2_K", "TQ2_0"]),
        ("ascend int8", ["FractalNzInt8"]),
        ("cute f16", ["GmmaKSw128", "GmmaKSw64", "GmmaKSw32"]),
        ("pull request 2900", ["AiterScales"]),
        ("MaceArgument", ["MaceArgument", "MaceArgumentTable"]),
    ],
)
def test_search(shell: Shell, words: str, names: list[str]) -> None:
    assert named(shell("list", "--search", words).out) == names
    found = json.loads(shell("list", "--search", words, "--json").out)
    assert {each["name"] for kind in found.values() for each in kind} == set(names)


def test_a_search_that_finds_nothing_says_so(shell: Shell) -> None:
    found = shell("list", "--search", "onednn zebra")
    assert (found.code, found.out) == (0, "")
    assert found.err == "note: nothing in the library mentions `onednn zebra`\n"
    assert json.loads(shell("list", "--search", "zebra", "--json").out) == {
        "layouts": [],
        "tables": [],
        "records": [],
    }


def test_the_whole_list_has_every_entry_below_its_family(shell: Shell) -> None:
    listed = shell("list", "--long").out
    assert named(listed) == [name for text in FAMILIES.values() for name in DECLARED.findall(text)]
    heads = re.findall(r"^\w+$", listed, re.MULTILINE)
    assert heads == [*FAMILIES]
    assert listed == shell("list", "--long", "--search", "").out


def test_an_entry_is_the_text_around_a_declaration(shell: Shell) -> None:
    """A remark above, the declaration and the claims below belong to it, and nothing else."""
    for words, names in (
        ("right as it is printed P[i, 0]", ["MaceArgumentTable"]),  # the remark above
        ("inverts MaceArgument", ["MaceArgumentTable"]),  # the claim below
        ("MaceArgument keeps aligns pixel", ["MaceArgument"]),  # all claims, and the remark
        ("MaceArgument pixel inverts", []),  # of two entries, and of none alone
    ):
        assert named(shell("list", "--search", words).out) == names, words


@pytest.mark.slow
def test_what_is_listed_without_reading_claims_is_what_is_declared(shell: Shell) -> None:
    listed = json.loads(shell("list", "--json").out)
    module = layoutdsl.library_module()
    kinds = {"layouts": module.layouts, "tables": module.tables, "records": module.records}
    for kind, declared in kinds.items():
        assert {each["name"] for each in listed[kind]} == set(declared)
    for each in listed["layouts"]:
        assert str(layoutdsl.parse(each["text"])[each["name"]]) == str(module[each["name"]])
