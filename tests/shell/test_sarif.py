"""What `check` and `prove` say to code scanning and to the runners of GitHub, against the text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from cli_shell import Shell, shell
from texts import GOLDEN

from layoutdsl import LayoutError, load

__all__ = ["shell"]

FAULTY = sorted((GOLDEN / "diagnostics").glob("*.layout"))

SPEC = """\
# ä line of rémarks, with a 𝄞 that takes two words of UTF-16
layout A(n, c) = [n, c/16, c%16]
layout Blind<k>(n) = [n]

prove A == n*C + c   # 𝄞
prove A fits int32 where N <= 8,
  C <= 8
refute A fits int32 where N <= 8, C <= 8
"""


def log(shell: Shell, *words: str, code: int) -> dict[str, Any]:
    """The only run of a log that is valid, and that sarif-tools reads."""
    ended = shell(*words, "--format", "sarif")
    assert ended.code == code, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    validated(found)
    (run,) = found["runs"]
    assert run["invocations"][0]["exitCode"] == code
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [rules[each["ruleIndex"]] for each in run["results"]] == [
        each["ruleId"] for each in run["results"]
    ]
    return dict(run)


@pytest.mark.parametrize(
    ("site", "link"),
    [
        ("", "file:///.*/grammar/errors.md#l202"),
        ("https://example.org/site/", "https://example.org/site/reference/errors.html#l202"),
        ("built/site", "file:///.*/built/site/reference/errors.html#l202"),
    ],
)
def test_a_fault_is_linked_to_what_explains_it(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, site: str, link: str
) -> None:
    monkeypatch.setenv("LAYOUTDSL_DOCS", site)
    Path("a.layout").write_text("layout A(n, c) = [n, c/16, c%8]", encoding="utf-8")
    run = log(shell, "check", "a.layout", code=2)
    (rule,) = run["tool"]["driver"]["rules"]
    assert re.fullmatch(link, rule["helpUri"])


def validated(found: dict[str, Any]) -> None:
    try:
        from sarif_pydantic import Sarif
    except ModuleNotFoundError:
        return
    kept = Sarif.model_validate(found).model_dump(mode="json", by_alias=True, exclude_none=True)
    assert _missing(found, kept) == []


def test_a_log_that_is_not_valid_is_noticed(shell: Shell) -> None:
    pytest.importorskip("sarif_pydantic")
    Path("a.layout").write_text(SPEC, encoding="utf-8")
    found = json.loads(shell("prove", "a.layout", "--format", "sarif").out)
    validated(found)
    for key, value in (("message", None), ("level", "fatal"), ("locations", [1])):
        wrong = json.loads(json.dumps(found))
        wrong["runs"][0]["results"][0][key] = value
        with pytest.raises(ValueError, match="validation error"):
            validated(wrong)


def _missing(one: Any, other: Any, at: str = "") -> list[str]:
    """What a reading by the schema did not keep, because the schema does not know it."""
    if isinstance(one, dict) and isinstance(other, dict):
        loose = ("properties", "partialFingerprints", "$schema")
        return [
            each
            for key, value in one.items()
            if key not in loose
            for each in _missing(value, other.get(key), f"{at}/{key}")
        ]
    if isinstance(one, list) and isinstance(other, list):
        pairs = enumerate(zip(one, other, strict=True))
        return [each for n, pair in pairs for each in _missing(*pair, f"{at}/{n}")]
    return [] if one == other else [f"{at}: {one!r}, read as {other!r}"]


def cut(text: str, region: dict[str, int]) -> tuple[int, int]:
    """The half-open run of characters of a region, counted in code points from 1."""
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    start = starts[region["startLine"] - 1] + region["startColumn"] - 1
    return start, starts[region["endLine"] - 1] + region["endColumn"] - 1


def shown(located: dict[str, Any]) -> str:
    """The text at a place."""
    at = located["physicalLocation"]
    text = Path(unquote(at["artifactLocation"]["uri"])).read_bytes().decode("utf-8-sig")
    start, end = cut(text, at["region"])
    return text[start:end]


def test_claims(shell: Shell) -> None:
    Path("my spec.layout").write_text(SPEC, encoding="utf-8")
    run = log(shell, "prove", "my spec.layout", code=1)
    found = [(each["ruleId"], each["level"]) for each in run["results"]]
    assert found == [("L213", "warning"), ("refuted", "error"), ("proved", "error")]
    doubt, refuted, proved = run["results"]
    assert shown(doubt["locations"][0]) == "k"
    assert shown(refuted["locations"][0]) == "prove A == n*C + c"
    assert shown(refuted["relatedLocations"][0]) == "A"
    assert refuted["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 2
    assert "  at shape N=" in refuted["message"]["text"]
    assert shown(proved["locations"][0]) == "refute A fits int32 where N <= 8, C <= 8"
    assert run["properties"]["claims"] == {"proved": 3, "refuted": 1, "proved, not refuted": 1}
    assert run["columnKind"] == "unicodeCodePoints"


def test_a_fingerprint_stays_where_lines_move(shell: Shell) -> None:
    def prints(text: str) -> list[str]:
        Path("a.layout").write_text(text, encoding="utf-8")
        results = log(shell, "prove", "a.layout", code=1)["results"]
        return [each["partialFingerprints"]["claim/v1"] for each in results[1:]]

    assert prints(SPEC) == prints("\n\n" + SPEC)
    assert len(set(prints(SPEC))) == 2


def test_a_narrower_claim_stands_where_the_wider_one_does(shell: Shell) -> None:
    Path("a.layout").write_text(SPEC, encoding="utf-8")
    run = log(shell, "prove", "a.layout:A", "--where", "N <= 4", code=1)
    assert [shown(each["locations"][0])[:12] for each in run["results"]] == [
        "prove A == n",
        "refute A fit",
    ]


def test_all_is_well(shell: Shell) -> None:
    assert log(shell, "prove", "demo.layout:NCHW16c", code=0)["results"] == []
    assert log(shell, "check", "demo.layout", code=0)["results"] == []
    assert log(shell, "prove", "NCHW16c", code=0)["results"] == []


@pytest.mark.slow
def test_what_is_undecided_is_a_warning(shell: Shell) -> None:
    Path("odd.layout").write_text("layout Squares(i, j: 2) = [(i*i + j)%1000003, j]\n")
    result = log(shell, "prove", "odd.layout", code=3)["results"][0]
    assert (result["ruleId"], result["level"]) == ("undecided", "warning")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "odd.layout"
    assert place["region"]["startLine"] == 1
    ended = shell("prove", "odd.layout", "--format", "github")
    assert ended.code == 3
    assert ended.out.startswith("::warning file=odd.layout,line=1,endLine=1,col=8,endColumn=15,")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", FAULTY, ids=lambda path: path.stem)
def test_every_fault_lies_where_it_was_found(
    path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    try:
        diagnostics = [said for told in load(path.name).warnings.values() for said in told]
    except LayoutError as failure:
        diagnostics = list(failure.diagnostics)
    faulty = any(each.severity == "error" for each in diagnostics)
    run = log(shell, "check", path.name, code=2 if faulty else 0)
    text = path.read_bytes().decode("utf-8-sig")
    for each, result in zip(diagnostics, run["results"], strict=True):
        assert result["ruleId"] == each.code
        assert result["message"]["text"].startswith(each.message)
        assert shown(result["locations"][0]) == each.primary.span.text
        others = [shown(other) for other in result.get("relatedLocations", [])]
        assert others == [other.span.text for other in each.others]
        assert ("fixes" in result) is (each.mend is not None)
        if each.mend is not None:
            ((change,),) = [fix["artifactChanges"] for fix in result["fixes"]]
            (replacement,) = change["replacements"]
            start, end = cut(text, replacement["deletedRegion"])
            mended = text[:start] + replacement["insertedContent"]["text"] + text[end:]
            assert mended == each.mend.mended


def test_faults_of_several_files_are_told_together(shell: Shell) -> None:
    Path("one.layout").write_text("layout A(n) = [n]\nlayout A(n) = [n,, n]\n")
    Path("two.layout").write_text("layout B(n) = [n,, n]\n")
    run = log(shell, "check", "one.layout", "demo.layout", "two.layout", code=2)
    uris = [each["locations"][0]["physicalLocation"]["artifactLocation"] for each in run["results"]]
    assert uris == [{"uri": f"{n}.layout", "uriBaseId": "%SRCROOT%"} for n in ("one", "two")]
    ended = shell("check", "two.layout", "one.layout")
    assert ended.code == 2
    assert ended.err.index("two.layout") < ended.err.index("one.layout")
    assert shell("prove", "one.layout", "two.layout").err.count("error[L101]") == 2


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("prove", "nope.layout"), 4),
        (("prove", "-"), 2),
        (("prove", "demo.layout", "--where", "Q < 1"), 2),
        (("prove", "--no-such"), 2),
        (("check",), 2),
    ],
)
def test_what_cannot_be_done_is_a_log_too(shell: Shell, words: tuple[str, ...], code: int) -> None:
    run = log(shell, *words, code=code)
    notified = run["invocations"][0].get("toolExecutionNotifications", [])
    assert len(notified) + len(run["results"]) >= 1
    assert run["invocations"][0]["executionSuccessful"] is not bool(notified)


def test_the_standard_input_has_no_place(shell: Shell) -> None:
    ended = shell("check", "-", "--format", "sarif", stdin=b"layout A(n) = [n,,n]\n")
    (result,) = json.loads(ended.out)["runs"][0]["results"]
    assert "locations" not in result
    assert "fixes" not in result
    said = shell("check", "-", "--format", "github", stdin=b"layout A(n) = [n,,n]\n").out
    assert said.startswith("::error title=L101::expected")


def test_annotations(shell: Shell) -> None:
    Path("a,b.layout").write_text(SPEC, encoding="utf-8")
    ended = shell("prove", "a,b.layout", "--format", "github")
    assert (ended.code, ended.err) == (1, "")
    first, second, third, summary = ended.out.splitlines()
    assert first == (
        "::warning file=a%2Cb.layout,line=3,endLine=3,col=14,endColumn=15,title=L213::"
        "the parameter `k` is not used%0Ahelp: remove it"
    )
    assert second.startswith(
        "::error file=a%2Cb.layout,line=5,endLine=5,col=1,endColumn=19,title=refuted::refuted: the"
    )
    assert "%0A  = claim: prove A == n*C + c%0A  = replay: " in second
    assert third.startswith("::error file=a%2Cb.layout,line=8,endLine=8,col=1,endColumn=41,")
    assert re.fullmatch(r"3 proved, 1 refuted, 1 proved, not refuted  \(.*\)", summary)


def test_a_claim_over_several_lines_has_no_columns(shell: Shell) -> None:
    Path("a.layout").write_text("layout A(n) = [n]\nprove A fits int8\n  where N <= 999\n")
    said = shell("prove", "a.layout", "--format", "github").out
    assert said.startswith("::error file=a.layout,line=2,endLine=3,title=refuted::")


def test_json_is_a_form_like_others(shell: Shell) -> None:
    one, other = (shell("check", "demo.layout", *words) for words in (["--json"], JSON))
    assert one == other
    assert shell("check", "demo.layout", "--json", "--format", "sarif").code == 2


JSON = ["--format", "json"]


def test_tools_read_it(shell: Shell) -> None:
    loader = pytest.importorskip("sarif.loader")
    Path("a.layout").write_text(SPEC, encoding="utf-8")
    Path("found.sarif").write_text(shell("prove", "a.layout", "--format", "sarif").out)
    (run,) = loader.load_sarif_file("found.sarif").runs
    assert run.get_tool_name() == "layoutdsl"
    assert [(each["Location"], each["Line"]) for each in run.get_records()]
    counted = run.get_report().get_issue_count_for_severity
    assert [counted(each) for each in ("error", "warning", "note")] == [2, 1, 0]


def test_several_files_are_one_after_the_other(shell: Shell) -> None:
    Path("two.layout").write_text("layout B<k>(n) = [n]\n")
    found = json.loads(shell("check", "demo.layout", "two.layout", "--json").out)
    assert [each["name"] for each in found["layouts"]][-2:] == ["Manual", "B"]
    assert [each["code"] for each in found["diagnostics"]] == ["L213"]
    said = shell("check", "demo.layout", "two.layout").out.splitlines()
    assert [line for line in said if line.endswith(".layout:")] == ["demo.layout:", "two.layout:"]
