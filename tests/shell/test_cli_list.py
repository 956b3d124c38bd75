"""`layoutdsl list`: what the library has, searched by what stands at each entry."""

from __future__ import annotations

import json
import re

import pytest
from cli_shell import Shell, shell

from layoutdsl import commands
from layoutdsl.language.texts import resources
from layoutdsl.shell.listing import entries

__all__ = ["shell"]

FAMILIES = resources.library_families()
ENTRIES = [each for file, text in FAMILIES for each in entries(file, text)]


def named(listed: str) -> list[str]:
    return re.findall(r"^  (?:table |record )?(\w+)", listed, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("NCHW16c", ["NCHW16c", "nChw16c"]),
        ("wgmma", ["WgmmaD", "WgmmaRow"]),
        ("WGMMA", ["WgmmaD", "WgmmaRow"]),
        ("onednn OIhw16o16i", ["OIhw16i16o"]),  # in a claim
        ("gguf u2", ["GgufQ2_K", "Q2_K", "TQ2_0"]),
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
    assert named(listed) == [each.name for each in ENTRIES]
    heads = re.findall(r"^\w+$", listed, re.MULTILINE)
    assert heads == [file.removesuffix(".layout") for file, _ in FAMILIES]
    assert listed == shell("list", "--long", "--search", "").out


def test_an_entry_is_the_text_around_a_declaration() -> None:
    text = "# One.\n# Two.\nlayout A(n) = [n]\n\nprove A\n"
    more = "# Three.\ntable B(n)[k: N] = (n = k)\n"
    one, two = entries("demo.layout", f"# Head.\n\n{text}{more}")
    assert (one.kind, one.name, one.family, one.remark) == ("layout", "A", "demo", "One. Two.")
    assert (one.text, two.text) == (text, more)
    assert (two.kind, two.name, two.remark) == ("table", "B", "Three.")
    assert one.mentions(["PROVE", "demo"])
    assert not one.mentions(["prove", "table"])


@pytest.mark.parametrize("module", commands.library_families(), ids=lambda each: each.name)
def test_a_family_without_its_claims_declares_the_same(module: commands.Module) -> None:
    declared = commands.declared(module.name)
    assert dict(declared) == dict(module)
    assert declared.tables == module.tables
    assert declared.all_claims == ()
