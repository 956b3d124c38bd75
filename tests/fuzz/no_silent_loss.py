"""Layouts drawn anew, through every door by which tensors are packed: right, or refused.

    python -m tests.fuzz.no_silent_loss --count 10000 --seed 1 --jobs 2
    python -m tests.fuzz.no_silent_loss --count 500 --doors dask,file
    python -m tests.fuzz.no_silent_loss --count 1000 --unproved
    python -m tests.fuzz.no_silent_loss --seed 1 --only 4711

For each layout (`drawn_spellings`) it asks for a verdict, draws shapes at and beyond the numbers of
the text, and goes through some doors (`no_silent_doors`). At each a documented error is raised, or
the result is what plain integers say. Besides: a proved layout is right at every drawn shape, and
the counterexample of a refuted one is wrong there. It ends with 1 on a fault. With `--journal FILE`
a run that was interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import linecache
import multiprocessing
import os
import re
import shlex
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from math import prod
from multiprocessing.connection import Connection, wait
from pathlib import Path
from random import Random
from types import TracebackType

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "support"))  # where `mutants` is

from drawn_spellings import Drawn, drawn
from mutants import oracle
from no_silent_doors import (
    DOORS,
    MOST_SLOTS,
    UNPROVED,
    Loss,
    Meaning,
    Moved,
    Refusal,
    Subject,
    Trial,
    fits,
    meaning,
    quiet,
    reading_of,
)

import layoutdsl
from layoutdsl.code.validate import arrays as validating
from layoutdsl.proof.prover import check as prover
from layoutdsl.proof.refute import refute

SMALL, BORDER, LARGE = 300, 70_000, 1_300_000
"""Elements of a shape: one in full, one just beyond a number of the text, and one in a hundred."""
SILENCE = 400
"""Seconds after which a layout is taken for one that hangs."""
BLOCK = 40
"""Layouts of a process: what it keeps of them is given back."""
ASKED = 3
"""Doors of a layout, besides `compile(layout, "numpy")`."""
EVALUATIONS = 2000
"""Indices tried in search of a counterexample."""
EXACT = ("every coordinate stays within its extent", "every offset is in bounds", "injective")
"""Properties whose counterexample is replayed here."""
ENDED = re.compile(r"0x[0-9a-f]+|-?\b\d+\b|/tmp/\S+|`[^`]*`|[\[(][^])]*[])]")
"""What differs between messages that say the same."""


@dataclass(frozen=True)
class Options:
    """What is asked of layouts: which doors, and how many in a hundred are compiled to C."""

    doors: tuple[str, ...] = tuple(DOORS)
    native: int = 4
    undecided: bool = False
    shapes: int = 3


@dataclass(frozen=True)
class Fault:
    """A finding, with all that is needed to run it again."""

    number: int
    kind: str
    door: str
    verdict: str
    text: str
    shape: str
    message: str

    def told(self, seed: str) -> str:
        again = (
            f"python -m tests.fuzz.no_silent_loss --seed {shlex.quote(seed)} --only {self.number}"
        )
        head = f"{self.kind} [{self.door}, {self.verdict}] {self.message}"
        return "\n  ".join([head, self.text, f"at {self.shape}", again])


@dataclass
class Found:
    """What became of layouts."""

    counts: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)

    def add(self, other: Found) -> None:
        self.counts.update(other.counts)
        self.refusals.update(other.refusals)
        self.faults += other.faults


# --- One layout --------------------------------------------------------------


@contextmanager
def sooner() -> Iterator[None]:
    """Prove each claim and text of a layout once, and look for counterexamples among few shapes.

    Every door proves a layout anew where it is not proved. What is wrong at a drawn shape is known
    here without a search, and layouts that stay undecided are those that this campaign is about.
    """
    kept = prover.check, refute.EVALUATIONS, refute._hint, validating.validate
    known = lru_cache(maxsize=512)(kept[0])
    prover.check = lambda claim, progress=None: known(claim)  # noqa: ARG005
    refute.EVALUATIONS, refute._hint = EVALUATIONS, lambda *_: None
    validating.validate = lru_cache(maxsize=64)(kept[3])
    try:
        yield
    finally:
        prover.check, refute.EVALUATIONS, refute._hint, validating.validate = kept


def one(seed: str, number: int, options: Options) -> Found:
    """Draw a layout, and push it through its doors."""
    random, found = Random(f"{seed}:{number}"), Found()
    written = drawn(random)
    with tempfile.TemporaryDirectory(prefix="no-silent-loss-") as folder, quiet(), sooner():
        try:
            subject = subject_of(written.text, written.name)
        except (layoutdsl.LayoutError, KeyError):
            found.counts["texts refused"] += 1
            return found
        found.counts["layouts"] += 1
        found.counts[f"verdict {subject.verdict}"] += 1
        Runner(number, subject, written, random, options, found, Path(folder)).run()
    return found


def subject_of(text: str, name: str = "L", prove: bool = True) -> Subject:
    """The layout of a text, read twice, with its verdict."""
    layout = layoutdsl.parse(text)[name]
    with quiet():
        verdict = layoutdsl.prove(layout).status if prove else "undecided"
    return Subject(text, name, layout, reading_of(text, layout), verdict)


class Runner:
    """One layout: its shapes, its doors, and what was found."""

    def __init__(
        self, number: int, subject: Subject, written: Drawn, random: Random, options: Options,
        found: Found, folder: Path,
    ) -> None:  # fmt: skip
        self.number, self.subject, self.written, self.random = number, subject, written, random
        self.options, self.found, self.folder = options, found, folder
        numbers = re.findall(r"\d+", written.name)
        self.bound = dict(zip(subject.reading.parameters, map(int, numbers), strict=True))
        self.companion: Subject | None = None
        self.record: layoutdsl.Record | None = None

    def run(self) -> None:
        if self.subject.verdict == "refuted":
            self.replay()
        doors = [each for each in self.options.doors if each not in ("numpy", "native")]
        chosen = self.random.sample(doors, min(len(doors), ASKED))
        chosen = ["numpy", *chosen] if "numpy" in self.options.doors else chosen
        if "native" in self.options.doors and self.random.randrange(100) < self.options.native:
            chosen.append("native")
        if "convert" in chosen:
            self.companion = self.tried(lambda: subject_of(self.written.other, "M"), "convert")
        if "record" in chosen and self.written.record:
            self.record = self.tried(
                lambda: layoutdsl.parse(self.written.record).records["R"], "record"
            )
        shapes = list(self.shapes())
        if not shapes:
            self.found.counts["no shape"] += 1
        for values in shapes:
            self.at(values, chosen)
        if shapes and self.random.random() < 0.1:
            outside = {
                name: self.random.choice((1, 2, 3, 5, 50)) for name in self.subject.reading.symbols
            }
            outside |= self.bound
            if (
                not self.subject.defined(outside)
                and prod(self.subject.reading.shape(outside)) < SMALL
            ):
                self.through("numpy", outside, None)

    def tried(self, call: Callable[[], object], door: str) -> object:
        try:
            return call()
        except layoutdsl.LayoutError:
            self.found.counts[f"texts refused, {door}"] += 1
            return None

    def at(self, values: Mapping[str, int], doors: Sequence[str]) -> None:
        meant = meaning(self.subject.reading, values)
        self.found.counts["shapes"] += 1
        if meant is None:
            return
        if not meant.fault and meant.size > MOST_SLOTS:
            self.found.counts["shapes of too many slots"] += 1
            return
        self.found.counts["shapes, wrong there"] += bool(meant.fault)
        if meant.fault and self.subject.verdict == "proved":
            self.fault("false proof", "prove", values, meant.fault)
        self.spot(values, meant)
        large = prod(meant.shape) > 20_000
        for door in (
            doors if not large else [each for each in doors if each in ("numpy", *doors[1:2])]
        ):
            self.through(door, values, meant)

    def spot(self, values: Mapping[str, int], meant: Meaning) -> None:
        """Compare some offsets of the second reading with the definition."""
        layout, places = self.subject.layout, meant.held.nonzero()[0]
        if meant.fault or not len(places):
            return
        shape = [*meant.shape, *(values[name] for name in layout.parameters)]
        for at in {0, len(places) - 1, self.random.randrange(len(places))}:
            index = [int(i) for i in places[at : at + 1]]
            where = tuple(int(i) for i in _unravel(index[0], meant.shape))
            if layout.offset(where, shape) != meant.slots[at]:
                self.fault(
                    "meaning", "offset", values, f"{layout.offset(where, shape)} for {where}"
                )
        if layout.size(shape) != meant.size:
            self.fault("meaning", "size", values, f"{layout.size(shape)}, not {meant.size}")

    def through(self, door: str, values: Mapping[str, int], meant: Meaning | None) -> None:
        random = Random(f"{self.number} {door} {sorted(values.items())}")
        trial = Trial(self.subject, values, meant, random, self.folder, self.companion, self.record)
        if not fits(door, trial):
            return
        if self.options.undecided and self.subject.verdict != "undecided":
            return
        if self.subject.given and random.random() < 0.25:
            self.by_default(door, values, meant, random)
        label = f"{door}: "
        try:
            DOORS[door](trial)
        except Moved as moved:
            known = UNPROVED is None and moved.verdict == "undecided"
            self.found.counts[label + ("KNOWN undecided moved" if known else "fault")] += 1
            if not known:
                self.fault("silent loss", door, values, str(moved))
        except Loss as loss:
            self.found.counts[label + "fault"] += 1
            self.fault("loss", door, values, str(loss))
        except Refusal as refusal:
            self.refused(door, str(refusal))
        except Exception as error:  # it is sorted below
            if is_documented(error):
                self.refused(door, f"{type(error).__name__}: {error}")
            else:
                self.found.counts[label + "fault"] += 1
                where = traceback.extract_tb(error.__traceback__)[-1]
                place = f"{Path(where.filename).name}:{where.lineno}"
                self.fault("crash", door, values, f"{type(error).__name__}: {error} ({place})")
        else:
            self.found.counts[label + ("equal" if trial.compared else "nothing to do")] += 1
            if self.subject.verdict == "refuted" and trial.compared and door != "record":
                self.fault("refuted layout moved", door, values, "")

    def by_default(
        self, door: str, values: Mapping[str, int], meant: Meaning | None, random: Random
    ) -> None:
        """Without the keyword an undecided layout is refused, whatever the shape."""
        plain, other = (
            each and replace(each, verdict="not asked") for each in (self.subject, self.companion)
        )
        trial = Trial(plain, values, meant, random, self.folder, other, self.record)
        if not fits(door, trial):
            return
        try:
            DOORS[door](trial)
        except Loss as loss:
            self.fault("undecided is moved", door, values, str(loss))
        except Exception:
            self.found.counts[f"{door}: refused by default"] += 1
        else:
            if trial.compared and door != "record" and not self.proved_together(door):
                self.fault("undecided is moved", door, values, "without being asked to")

    def proved_together(self, door: str) -> bool:
        """Whether a conversion is proved in the range of shapes that both layouts have."""
        if door != "convert" or self.companion is None:
            return False
        pair = self.subject.layout, self.companion.layout
        where = tuple(condition for each in pair for condition in each.where)
        return all(layoutdsl.prove(replace(each, where=where)).passed for each in pair)

    def refused(self, door: str, message: str) -> None:
        self.found.counts[f"{door}: refused"] += 1
        short = ENDED.sub("_", message.splitlines()[0])[:110]
        self.found.refusals[f"{self.subject.verdict}, {door}: {short}"] += 1

    def fault(self, kind: str, door: str, values: Mapping[str, int], message: str) -> None:
        shape = ",".join(f"{name}={value}" for name, value in values.items())
        text = self.subject.text
        text += f"  ||  {self.written.other}" if door == "convert" else ""
        text += f"  ||  {self.written.record}" if door == "record" else ""
        self.found.faults.append(
            Fault(self.number, kind, door, self.subject.verdict, text, shape, message)
        )

    def replay(self) -> None:
        """The counterexample of a refuted layout is a shape at which it is wrong."""
        for checked in layoutdsl.prove(self.subject.layout).checked:
            for finding in checked.findings:
                example = getattr(finding, "example", None)
                if example is None or finding.property not in EXACT or not example.shape:
                    continue
                values = {**dict(example.shape), **self.bound}
                values = {name: values[name] for name in self.subject.reading.symbols}
                if prod(self.subject.reading.shape(values)) > LARGE:
                    continue
                meant = meaning(self.subject.reading, values)
                self.found.counts["counterexamples replayed"] += 1
                if not self.subject.defined(values) or (meant is not None and not meant.fault):
                    self.fault("false refutation", "prove", values, finding.property)

    # -- shapes

    def shapes(self) -> Iterator[dict[str, int]]:
        """A small shape, one at the borders of blocks, and one just beyond a number of the text."""
        reading, random = self.subject.reading, self.random
        near = oracle.borders((reading,), BORDER)
        far = beyond(self.subject.text)
        seen = set[tuple[int, ...]]()
        large = random.random() < 0.01
        for turn in range(self.options.shapes):
            for _ in range(10):
                values = {name: random.choice((1, 1, 2, 3, 4, 5, 7)) for name in reading.symbols}
                if turn == 1 and near:
                    chosen = [name for name in values if random.random() < 0.6]
                    values |= {name: random.choice(near[name]) for name in chosen}
                elif turn > 1 and values:
                    values = dict.fromkeys(values, random.choice((1, 1, 2)))
                    values[random.choice([*values])] = random.choice(far)
                values |= self.bound
                count = prod(reading.shape(values))
                most = (SMALL, 4000, LARGE if large else BORDER)[min(turn, 2)]
                if count <= most and self.subject.defined(values):
                    break
            else:
                continue
            if tuple(values.values()) not in seen:
                seen.add(tuple(values.values()))
                yield values


def _unravel(number: int, shape: Sequence[int]) -> Iterator[int]:
    for k in range(len(shape)):
        below = prod(shape[k + 1 :])
        yield number // below
        number %= below


def beyond(text: str) -> list[int]:
    """Extents at and just beyond the numbers of a text, and beyond their products."""
    numbers = {int(each) for each in re.findall(r"(?<![a-zA-Z])\d+", text)} - {0}
    numbers |= {1 << each for each in numbers if each < 17 and ">>" in text}
    products = {a * b for a in numbers for b in numbers}
    found = {n + step for n in numbers | products for step in (-1, 0, 1, 2)}
    found |= {2 * n + 1 for n in numbers}
    return sorted(n for n in found if 0 < n <= LARGE) or [1, 2, 9]


def is_documented(error: BaseException) -> bool:
    """Whether an error is one that the product raises on purpose, in its own words."""
    kinds = (layoutdsl.LayoutError, layoutdsl.CompilerError, ValueError, TypeError)
    if not isinstance(error, kinds) or not str(error).strip():
        return False
    last: TracebackType | None = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None:
        return False
    name = last.tb_frame.f_code.co_filename
    line = linecache.getline(name, last.tb_lineno).strip()
    if name.startswith("<layoutdsl.generated"):  # its text is in no file
        return True
    ours = "layoutdsl" in name or "generated_module" in name
    return ours and (line.startswith("raise") or "raise" in _statement(name, last.tb_lineno))


def _statement(name: str, line: int) -> str:
    """The lines just above one: a `raise` may go over several."""
    return "\n".join(linecache.getline(name, each) for each in range(max(1, line - 3), line + 1))


# --- Many layouts ------------------------------------------------------------


def campaign(count: int, seed: str, options: Options, first: int = 0) -> Found:
    """Run layouts in this process, one after the other."""
    found = Found()
    for number in range(first, first + count):
        found.add(one(seed, number, options))
    return found


def _work(pipe: Connection, seed: str, numbers: Sequence[int], options: Options) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Where a door leaves the target open, C would be compiled meanwhile for most layouts.
    native = Random(f"{seed}:{numbers[0]}").randrange(100) < 5 * options.native
    if native:
        options = replace(options, native=20)
    else:
        os.environ["CC"] = os.devnull
        options = replace(options, native=0)
    for number in numbers:
        pipe.send((number, None))
        pipe.send((number, one(seed, number, options)))
    pipe.close()


@dataclass
class Worker:
    """A process, and what it is doing."""

    process: multiprocessing.process.BaseProcess
    pipe: Connection
    numbers: list[int]
    at: int = -1
    heard: float = 0.0


def in_processes(  # noqa: C901
    numbers: Sequence[int], seed: str, options: Options, jobs: int,
    tell: Callable[[int, Found], None],
) -> None:  # fmt: skip
    """Run layouts in other processes; one that dies or hangs is a fault of its layout."""
    context = multiprocessing.get_context("fork")
    blocks = [list(numbers[k : k + BLOCK]) for k in range(0, len(numbers), BLOCK)][::-1]
    workers = list[Worker]()

    def start(block: list[int]) -> None:
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(there, seed, block, options))
        process.start()
        there.close()
        workers.append(Worker(process, here, block, heard=time.monotonic()))

    def end(worker: Worker, kind: str) -> None:
        """Take a worker away, and go on behind the layout that it was at."""
        workers.remove(worker)
        worker.process.kill()
        worker.process.join()
        left = worker.numbers
        if kind and left:
            fault = Fault(left[0], kind, "?", "?", drawn(Random(f"{seed}:{left[0]}")).text, "?", "")
            tell(left[0], Found(faults=[fault]))
            left = left[1:]
        if left:
            blocks.append(left)

    try:
        while blocks or workers:
            while blocks and len(workers) < jobs:
                start(blocks.pop())
            ready = wait([each.pipe for each in workers], timeout=1)
            for worker in list(workers):
                if worker.pipe in ready:
                    try:
                        number, found = worker.pipe.recv()
                    except EOFError:
                        worker.process.join()
                        end(
                            worker,
                            "" if not worker.numbers else f"died of {worker.process.exitcode}",
                        )
                        continue
                    worker.heard = time.monotonic()
                    if found is not None:
                        worker.numbers.remove(number)
                        tell(number, found)
                elif time.monotonic() - worker.heard > SILENCE:
                    end(worker, f"hangs for {SILENCE} s")
    finally:
        for worker in workers:
            worker.process.kill()


# --- The command -------------------------------------------------------------


def told(found: Found, seed: str, seconds: float) -> str:
    """The table: layouts, verdicts, shapes, what each door did, refusals, and the faults."""
    counts = found.counts
    general = [name for name in counts if ": " not in name]
    rows = [f"{counts[name]:8} {name}" for name in sorted(general)]
    doors = sorted({name.split(": ")[0] for name in counts if ": " in name})
    columns = (
        "equal",
        "refused",
        "refused by default",
        "nothing to do",
        "KNOWN undecided moved",
        "fault",
    )
    rows.append(f"\n{'door':10}" + "".join(f"{each:>23}" for each in columns))
    rows += [
        f"{door:10}" + "".join(f"{counts[f'{door}: {each}']:23}" for each in columns)
        for door in doors
    ]
    rows.append("\nrefused, most often first:")
    rows += [f"{count:8} {name}" for name, count in found.refusals.most_common(60)]
    rows.append(f"\n{len(found.faults)} faults in {seconds:.0f} s")
    rows += [each.told(seed) for each in found.faults]
    return "\n".join(rows)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.no_silent_loss",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--count", type=int, default=200, help="layouts")
    parser.add_argument(
        "--seed", default="1", help="any text; layouts of a seed are the same in every run"
    )
    parser.add_argument("--first", type=int, default=0, help="the number of the first layout")
    parser.add_argument("--only", type=int, help="run the layout of this number alone")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--doors", default=",".join(DOORS), help="those that are tried")
    parser.add_argument("--native", type=int, default=4, help="of a hundred layouts, compiled to C")
    parser.add_argument(
        "--unproved",
        action="store_true",
        help="ask only of undecided layouts that they are refused, or exact with the keyword",
    )
    parser.add_argument("--journal", type=Path, help="goes on with what this file says is done")
    return parser.parse_args()


def main() -> int:
    given = arguments()
    doors = tuple(each for each in given.doors.split(",") if each)
    if unknown := [each for each in doors if each not in DOORS]:
        print(f"there is no door {unknown[0]}; known are {', '.join(DOORS)}", file=sys.stderr)
        return 2
    options = Options(doors, given.native, given.unproved)
    numbers = (
        [given.only]
        if given.only is not None
        else list(range(given.first, given.first + given.count))
    )
    found, begun = Found(), time.monotonic()
    done = read_journal(given.journal, given.seed, found) if given.journal else set()
    journal = given.journal.open("a") if given.journal else None

    def tell(number: int, some: Found) -> None:
        found.add(some)
        if journal:
            line = {"seed": given.seed, "number": number, "counts": some.counts}
            line |= {"refusals": some.refusals, "faults": [asdict(each) for each in some.faults]}
            journal.write(f"{json.dumps(line)}\n")
            journal.flush()
        for fault in some.faults:
            print(fault.told(given.seed), file=sys.stderr, flush=True)
        if found.counts["layouts"] % 200 == 0:
            spent = time.monotonic() - begun
            print(f"{found.counts['layouts']} layouts, {spent:.0f} s", file=sys.stderr, flush=True)

    left = [each for each in numbers if each not in done]
    try:
        if given.only is not None:
            tell(given.only, one(given.seed, given.only, options))
        else:
            in_processes(left, given.seed, options, given.jobs, tell)
    except KeyboardInterrupt:
        print("interrupted: what was done is told", file=sys.stderr)
    print(told(found, given.seed, time.monotonic() - begun))
    return 1 if found.faults else 0


def read_journal(path: Path, seed: str, found: Found) -> set[int]:
    """Add what a journal says was found; return the numbers that are done."""
    done = set[int]()
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # the run was killed while it was written
        if entry["seed"] == seed and entry["number"] not in done:
            done.add(entry["number"])
            faults = [Fault(**each) for each in entry["faults"]]
            found.add(Found(Counter(entry["counts"]), Counter(entry["refusals"]), faults))
    return done


if __name__ == "__main__":
    sys.exit(main())
