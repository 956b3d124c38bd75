"""Print the figures that `docs/proofs.md` quotes: proofs, code, start-up, packing.

Run it as ``python tests/support/figures.py``, or with sections:
``python tests/support/figures.py pieces``. Times are medians of
interleaved rounds on this machine; read them as ratios.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from layoutdsl import Claim
from layoutdsl import commands as api
from layoutdsl.code.arrays import generate_views
from layoutdsl.code.validate.arrays import validate
from layoutdsl.code.validate.outcome import Validated
from layoutdsl.files.pieces import runs, sums
from layoutdsl.language.meaning.claims import Sound
from layoutdsl.language.texts import resources
from layoutdsl.proof.kernel import certificate
from layoutdsl.proof.kernel.question import PREAMBLE
from layoutdsl.proof.kernel.solver import program
from layoutdsl.proof.prover.check import check
from layoutdsl.proof.prover.verdict import Proved

ROUNDS = 7


def seconds(work: Callable[[], object]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def proofs() -> None:
    """Time to prove each library layout, questions, and the slowest question."""
    layouts = [api.library(name) for name in api.library_names()]
    claims = [Claim("prove", each, Sound(), (), each.name) for each in layouts]
    times: dict[str, list[float]] = {claim.text: [] for claim in claims}
    questions: dict[str, int] = {}
    for _ in range(ROUNDS):
        for claim in claims:
            start = time.perf_counter()
            found = check(claim)
            times[claim.text].append(time.perf_counter() - start)
            assert found.status == "proved", claim.text
            proved = [each for each in found.findings if isinstance(each, Proved)]
            questions[claim.text] = sum(each.queries for each in proved)
    medians = {name: statistics.median(each) for name, each in times.items()}
    worst = max(medians, key=lambda name: medians[name])
    print(f"library layouts proved        {len(claims)}, each for all shapes")
    median, most = statistics.median(medians.values()), max(questions.values())
    print(f"  median                      {median * 1e3:.0f} ms")
    print(f"  worst                       {medians[worst] * 1e3:.0f} ms ({worst})")
    print(f"  all of them                 {sum(medians.values()):.2f} s on one core")
    print(f"  questions                   {sum(questions.values())}, at most {most} for one")
    slowest()


def validations() -> None:
    """Time to show of each library layout's module that its text does what the layout means."""
    layouts = [api.library(name) for name in api.library_names()]
    texts = {
        each: generate_views(each, source="", certificate=None).text
        for each in layouts
        if not each.parameters
    }
    times: dict[str, list[float]] = {each.name: [] for each in texts}
    theorems = questions = 0
    for turn in range(ROUNDS):
        for layout, text in texts.items():
            start = time.perf_counter()
            found = validate(text, layout, source="")
            times[layout.name].append(time.perf_counter() - start)
            assert isinstance(found, Validated), layout.name
            theorems += found.theorems if turn == 0 else 0
            questions += found.questions if turn == 0 else 0
    medians = {name: statistics.median(each) for name, each in times.items()}
    worst = max(medians, key=lambda name: medians[name])
    print(f"library modules validated     {len(texts)}, each for all shapes")
    print(f"  NCHW16c                     {medians['NCHW16c'] * 1e3:.0f} ms")
    print(f"  worst                       {medians[worst] * 1e3:.0f} ms ({worst})")
    print(f"  all of them                 {sum(medians.values()):.2f} s on one core")
    print(f"  theorems, questions         {theorems}, {questions}")


def slowest() -> None:
    """Time every question of the library on its own, in one solver process."""
    asked: list[str] = []
    real = certificate.ask
    try:
        certificate.ask = lambda questions: (asked.extend(questions), real(questions))[1]  # type: ignore[assignment]
        for name in api.library_names():
            check(Claim("prove", api.library(name), Sound(), (), name))
    finally:
        certificate.ask = real
    with subprocess.Popen(
        [program(), "-smt2", "-in"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as z3:
        assert z3.stdin is not None
        assert z3.stdout is not None
        z3.stdin.write(PREAMBLE)
        times = []
        for question in asked:
            start = time.perf_counter()
            z3.stdin.write(f"(push 1)\n{question}(check-sat)\n(pop 1)\n")
            z3.stdin.flush()
            assert z3.stdout.readline() in ("unsat\n", "sat\n")  # a try that fails is asked too
            times.append(time.perf_counter() - start)
        z3.stdin.close()
    print(f"  one question                {statistics.median(times) * 1e3:.2f} ms, ", end="")
    print(f"slowest {max(times) * 1e3:.1f} ms")


def evidence() -> None:
    """The committed certificates, checked again by each solver; proving by several processes."""
    subjects = tuple(
        each
        for family in api.library_families()
        for each in api.subjects(family, None, family.name.removesuffix(".layout"))
    )
    folder = resources.folder("proofs")
    files = [each for each in Path(str(folder)).rglob("*.*") if each.suffix in (".json", ".smt2")]
    size = sum(each.stat().st_size for each in files)
    print(f"certificates                  {len(files) // 2}, {size / 1e6:.2f} MB")
    by_checker = () if api.missing_checker() else ((),)
    for solvers in (("z3",), ("cvc5",), ("z3", "cvc5"), *by_checker):
        start, cpu = time.perf_counter(), _used()
        found = list(api.recheck(subjects, folder, solvers))
        assert all(each.status == "confirmed" for each in found), solvers
        words = f"{time.perf_counter() - start:.1f} s, {_used() - cpu:.1f} s of processor"
        print(f"  recheck by {' and '.join(solvers) or 'layoutdsl-check':<17}{words}")
    claims = [claim for each in subjects for claim in each.claims]
    for jobs in (1, 2):
        spent = seconds(lambda jobs=jobs: list(api.timed_checks(claims, None, jobs)))  # type: ignore[misc]
        print(f"  prove all claims, {jobs} jobs    {spent:.1f} s ({len(claims)} claims)")


def _used() -> float:
    """Seconds of processor time of this process and those that it waited for."""
    return sum(os.times()[:4])


def growth() -> None:
    """Time to prove layouts of more and more axes, each cut in two."""
    for rank in (3, 6, 12):
        axes = [f"x{number}" for number in range(rank)]
        body = [part for end in ("/4", "%4") for part in (f"{axis}{end}" for axis in axes)]
        text = f"layout L({', '.join(axes)}) = [{', '.join(body)}]"
        claim = api.claims_of(api.parse(text))[0]
        spent = statistics.median(seconds(lambda c=claim: check(c)) for _ in range(ROUNDS))  # type: ignore[misc]
        print(f"prove {2 * rank:>2} coordinates          {spent * 1e3:.0f} ms")


def start_up() -> None:
    """Whole processes, from start to exit."""
    where = ["where", "NCHW16c", "--shape", "2,20,3,4", "--index", "1,17,2,3"]
    commands: dict[str, tuple[list[str], str]] = {
        "python -c pass": ([], ""),
        "layoutdsl --help": (["--help"], ""),
        "layoutdsl check, syntax error": (["check", "-"], "layout X(n) = [n"),
        "layoutdsl where": (where, ""),
        "layoutdsl prove NCHW16c": (["prove", "NCHW16c"], ""),
        "layoutdsl tour": (["tour"], ""),
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, (arguments, text) in commands.items():
            module = ["-m", "layoutdsl", *arguments] if arguments else ["-c", "pass"]
            command = [sys.executable, *module]
            start = time.perf_counter()
            subprocess.run(command, input=text, text=True, capture_output=True, check=False)
            times[name].append(time.perf_counter() - start)
    for name, each in times.items():
        print(f"{name:<30}{statistics.median(each) * 1e3:.0f} ms")


def packing() -> None:
    """NCHW16c (8,256,56,56) f32: a plain copy, ours, and np.pad + transpose, interleaved."""
    module = api.compile(api.library("NCHW16c"))
    tensor = np.random.default_rng(0).random((8, 256, 56, 56), dtype=np.float32)
    out = np.empty(module.physical_shape(tensor.shape), np.float32)
    plain = np.empty_like(tensor)

    def padded() -> None:
        n, c, h, w = tensor.shape
        full = np.pad(tensor, ((0, 0), (0, -c % 16), (0, 0), (0, 0)))
        blocked = full.reshape(n, -(-c // 16), 16, h, w)
        np.copyto(out, blocked.transpose(0, 1, 3, 4, 2))

    works = {
        "copy": lambda: np.copyto(plain, tensor),
        "pack": lambda: module.pack(tensor, out=out),
        "np.pad": padded,
    }
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(3 * ROUNDS):
        for name, work in works.items():
            times[name].append(seconds(work))
    copy, pack, pad = (statistics.median(times[name]) for name in ("copy", "pack", "np.pad"))
    print(f"pack NCHW16c (8,256,56,56) f32 {copy / pack:.2f} of a plain copy, ", end="")
    print(f"{pad / pack:.1f} times as fast as np.pad + transpose")


def pieces() -> None:
    """Processor seconds of `pack_file` for 256 MB, with checksums and without, and looked at."""
    layout, shape = api.library("NCHW16c"), (16, 100, 200, 200)

    def by_sha(_: str) -> sums.Sum:
        return lambda array: sha256(array.reshape(-1).view(np.uint8).data).hexdigest()

    kinds = {"without": lambda _: sums.unsummed, "with": sums.summing, "by sha256": by_sha}
    memory = "/dev/shm"  # where no disk is waited for
    times: dict[str, list[float]] = {name: [] for name in (*kinds, "looked at")}
    with TemporaryDirectory(dir=memory if Path(memory).is_dir() else None) as folder:
        source, target = Path(folder, "in.npy"), Path(folder, "out.npy")
        np.save(source, np.random.default_rng(0).random(shape, dtype=np.float32))

        def used(look: Callable[[np.ndarray], None] = lambda _: None) -> float:
            start = time.process_time()
            with suppress(KeyboardInterrupt):
                api.pack_file(layout, source, target, look=look)
            return time.process_time() - start

        for _ in range(ROUNDS):
            for name, kind in kinds.items():
                runs.summing = kind
                times[name].append(used())
            runs.summing, looks = sums.summing, [0]

            def stop(_: np.ndarray, looks: list[int] = looks) -> None:
                looks[0] += 1
                if looks[0] == 112:  # of 112 pieces
                    raise KeyboardInterrupt

            used(stop)
            times["looked at"].append(used())
    best = {name: min(each) for name, each in times.items()}
    words = ", ".join(f"{best[name]:.2f} s {name}" for name in kinds)
    print(f"pack_file, checksums          {words}")
    print(f"  a killed run, looked at     {best['looked at']:.2f} s")


def sizes() -> None:
    """Lines of each package."""
    for folder in sorted(each for each in resources.PACKAGE.iterdir() if each.is_dir()):
        files = [*folder.rglob("*.py")]
        lines = sum(len(each.read_text(encoding="utf-8").splitlines()) for each in files)
        if files:
            print(f"  {folder.name:<27} {lines} lines in {len(files)} files")


SECTIONS = (sizes, proofs, evidence, growth, validations, start_up, packing, pieces)

if __name__ == "__main__":
    asked = set(sys.argv[1:])
    for section in SECTIONS:
        if not asked or section.__name__ in asked:
            section()
