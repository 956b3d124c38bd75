"""Work shared among processes, its results in order; a process that dies loses one piece of work.

It imports nothing of ours.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(slots=True)
class _Worker:
    process: Any
    ours: Connection
    piece: int | None = None

    def end(self) -> str:
        """Stop the process and say how it ended."""
        self.ours.close()
        self.process.join(1)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        return _ending(self.process.exitcode)


def shared(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    jobs: int,
    lost: Callable[[Item, str], Result],
    arrived: Callable[[int, Result], None] = lambda *_: None,
) -> Iterator[Result]:
    """Yield ``work(item)`` for each item, in their order.

    Args:
        work: done in a process of its own, so what it changes is lost.
        items: one piece of work each.
        jobs: processes at a time.
        lost: gives the result where the process died, from the item and how it ended.
        arrived: is told the number of an item and its result at once, whatever its turn is.

    Raises:
        RuntimeError: ``work`` raised; the message says what.
    """
    waiting = list(range(len(items)))[::-1]
    results: dict[int, Result] = {}
    workers: list[_Worker] = []
    try:
        for number in range(len(items)):
            while number not in results:
                idle = [each for each in workers if each.piece is None]
                while waiting and (idle or len(workers) < jobs):
                    worker = idle.pop() if idle else _started(work, items, workers)
                    worker.piece = waiting.pop()
                    _hand_over(worker)
                known = set(results)
                _collect(workers, items, results, lost)
                for found in sorted(results.keys() - known):
                    arrived(found, results[found])
            yield results.pop(number)
    finally:
        for each in workers:
            each.process.terminate()
        for each in workers:
            each.end()


def _started(work: Any, items: Any, workers: list[_Worker]) -> _Worker:
    import multiprocessing

    ours, theirs = multiprocessing.Pipe()
    inherited = [each.ours for each in workers]
    process = multiprocessing.Process(
        target=_serve, args=(theirs, [ours, *inherited], work, items), daemon=True
    )
    process.start()
    theirs.close()
    workers.append(_Worker(process, ours))
    return workers[-1]


def _hand_over(worker: _Worker) -> None:
    # Where it died, that its pipe is closed is found when its answer is waited for.
    with suppress(OSError):
        worker.ours.send(worker.piece)


def _collect(
    workers: list[_Worker], items: Any, results: dict[int, Any], lost: Callable[[Any, str], Any]
) -> None:
    from multiprocessing.connection import wait

    busy: dict[Any, _Worker] = {each.ours: each for each in workers if each.piece is not None}
    for ready in wait(list(busy)):
        worker = busy[ready]
        assert worker.piece is not None
        try:
            result, failure = worker.ours.recv()
        except (EOFError, OSError):
            workers.remove(worker)
            results[worker.piece] = lost(items[worker.piece], worker.end())
            continue
        if failure:
            raise RuntimeError(failure)
        results[worker.piece] = result
        worker.piece = None


def _serve(theirs: Connection, others: list[Connection], work: Any, items: Any) -> None:
    """Do the pieces that come by number, until no more come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    for each in others:  # held open here, they would hide from us that the parent is gone
        each.close()
    while True:
        try:
            piece = theirs.recv()
        except EOFError:
            return
        try:
            answer = (work(items[piece]), "")
        except Exception as failure:
            answer = (None, f"{type(failure).__name__}: {failure}")
        try:
            theirs.send(answer)
        except OSError:  # the parent was killed; there is nobody to tell
            return


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            return f"it was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"it was ended by signal {-code}"
    return f"it ended with code {code}"
