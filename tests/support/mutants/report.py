"""The table at the end of a campaign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from .judge import Judgement

SLOWEST = 5


def failed(judged: Iterable[Judgement]) -> bool:
    """Whether plain integers contradict a verdict, or an original is not proved."""
    return any(
        each.wrong or (each.mutant.kind == "original" and each.verdict != "equal")
        for each in judged
    )


def as_json(each: Judgement) -> dict[str, Any]:
    mutant = each.mutant
    return {
        "base": mutant.base,
        "form": mutant.form,
        "kind": mutant.kind,
        "text": mutant.text,
        "verdict": each.verdict,
        "sound": each.sound,
        "reason": each.reason,
        "wrong": each.wrong,
        "checked": dict(each.checked),
        "seconds": round(each.seconds, 3),
    }


def table(base: list[Judgement], found: list[Judgement], seconds: float) -> str:
    judged = [each for each in found if each.verdict != "refused"]
    checks = sum((each.checked for each in [*base, *found]), Counter[str]())
    lines = [
        f"{len(judged)} mutants, and {len(found) - len(judged)} texts that diagnostics refused",
        "",
        *_rows("by kind", judged, lambda each: each.mutant.kind),
        "",
        *_rows("by form", judged, lambda each: each.mutant.form),
        "",
        *_sound(judged),
        "",
        f"{len(base)} formulas unchanged, of which proved: "
        f"{sum(each.verdict == 'equal' for each in base)}",
        f"counterexamples replayed in plain integers: {checks['replayed']}; of which no smaller "
        f"shape exists, looked at one by one: {checks['least']}",
        f"shapes tried by brute force after a proof: {checks['shapes']}",
        f"contradictions: {sum(bool(each.wrong) for each in [*base, *found])}",
        f"time: {seconds:.0f} s; one mutant {1e3 * _median(judged):.0f} ms (median)",
        "",
        "slowest:",
        *(_line(each) for each in sorted(judged, key=lambda e: -e.seconds)[:SLOWEST]),
    ]
    for title, chosen in _lists(base, judged).items():
        lines += ["", f"{title}: {len(chosen)}", *map(_line, chosen)]
    return "\n".join(lines)


def _lists(base: list[Judgement], judged: list[Judgement]) -> dict[str, list[Judgement]]:
    return {
        "formulas unchanged that were not proved": [e for e in base if e.verdict != "equal"],
        "undecided, whether equal": [e for e in judged if e.verdict == "undecided"],
        "undecided, whether sound": [e for e in judged if e.sound == "undecided"],
        "contradicted by plain integers": [e for e in [*base, *judged] if e.wrong],
    }


def _rows(title: str, judged: list[Judgement], key: Callable[[Judgement], str]) -> list[str]:
    verdicts = ("different", "equal", "undecided")
    lines = [f"{title:<20}" + "".join(f"{each:>12}" for each in verdicts)]
    counted = Counter((key(each), each.verdict) for each in judged)
    counted.update(("all", each.verdict) for each in judged)
    names = [*sorted({name for name, _ in counted} - {"all"}), "all"]
    return lines + [
        f"  {name:<18}" + "".join(f"{counted[name, each]:>12}" for each in verdicts)
        for name in names
    ]


def _sound(judged: list[Judgement]) -> list[str]:
    counted = Counter(each.sound for each in judged if each.sound)
    words = ", ".join(f"{counted[each]} {each}" for each in ("proved", "refuted", "undecided"))
    return [f"layouts as such, sound or not: {words}"]


def _median(judged: list[Judgement]) -> float:
    times = sorted(each.seconds for each in judged)
    return times[len(times) // 2] if times else 0.0


def _line(each: Judgement) -> str:
    mutant = each.mutant
    said = mutant.text if mutant.form == "layout" else f"{mutant.base} == {mutant.text}"
    words = "; ".join([*each.wrong, *([each.reason] if each.reason else [])])
    return f"  {each.seconds:5.2f} s  {said}  [{mutant.kind}; {mutant.form}] {words}".rstrip()
