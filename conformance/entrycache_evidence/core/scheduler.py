"""Do independent pieces of work in several processes, so that no core waits for the last item of one of them.

A piece of work is a generator, `Work`. It yields a `Batch` of equal items, receives their results, and returns its own
result. `run_together` collects the waiting batches of all works, runs them in one set of forked processes by
`map_in_processes`, and sends each work its results. Functions and items are inherited by the fork, so only results are
pickled.
"""

import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import Any, NamedTuple, TypeVar

from entrycache_conformance.subjects.processes import initialize_fork
from entrycache_evidence.core.results import Progress, no_progress

T = TypeVar("T")
R = TypeVar("R")

_task: dict[str, Any] = {}
"""The function and its items in a child process. A child inherits them, so only results are pickled."""


def map_in_processes(
    call: Callable[[T], R],
    items: Sequence[T],
    progress: Callable[[int], None] = lambda _: None,
    results: list[R] | None = None,
    separate: bool = False,
) -> list[R]:
    """Call a function on each item in several processes, and return the results in order.

    `progress` receives the number of finished items; each result is appended to `results` first. A single item or a
    single core needs no other process, unless `separate` asks for one.

    Raises:
        concurrent.futures.process.BrokenProcessPool: one of the processes was ended from outside.
    """
    workers = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1, len(items))
    results = [] if results is None else results
    if (workers < 2 and not (separate and items)) or not hasattr(os, "fork"):
        for item in items:
            results.append(call(item))
            progress(len(results))
        return results
    others = set(active_children())
    with ProcessPoolExecutor(workers, get_context("fork"), _initialize_child, (call, items)) as pool:
        try:
            # Not `map`: it cancels the rest, and a pool without processes cannot end what is cancelled.
            for future in [pool.submit(_run_item, at) for at in range(len(items))]:
                results.append(future.result())
                progress(len(results))
        except BaseException:
            # Otherwise the children would first finish their items, which may never end.
            for child in set(active_children()) - others:
                child.kill()
            raise
    return results


def _initialize_child(call: Callable[[Any], Any], items: Sequence[Any]) -> None:
    initialize_fork()
    _task.update(call=call, items=items)


def _run_item(at: int) -> Any:
    return _task["call"](_task["items"][at])


# --- Several works at once


class Batch(NamedTuple):
    """Equal parts of a piece of work: a name, a function and its arguments, the most expensive first."""

    what: str
    call: Callable[[Any], Any]
    items: Sequence[Any]


Work = Generator[Batch, list[Any], R]
"""A piece of work: a generator that yields batches, receives their results and returns its own result."""


def raise_pool_error(at: int, error: BrokenProcessPool) -> None:
    """Raise the error of a process that was ended from outside."""
    raise error


def run_together(
    works: Sequence[Work[R]],
    finished: Callable[[int, R], None],
    progress: Progress = no_progress,
    failed: Callable[[int, BrokenProcessPool], None] = raise_pool_error,
) -> None:
    """Do several pieces of work at once; `finished` receives the number and the result of each that is finished.

    One set of processes does all waiting batches, in the order of the works. If a process is ended from outside, each
    unfinished work is run alone, and `failed` receives the number of the one that fails.
    """
    waiting: dict[int, Batch] = {}

    def go_on(at: int, results_of: list[Any] | None) -> None:
        try:
            batch = next(works[at]) if results_of is None else works[at].send(results_of)
            while not batch.items:
                batch = works[at].send([])
            waiting[at] = batch
        except StopIteration as end:
            finished(at, end.value)

    for at in range(len(works)):
        go_on(at, None)
    while waiting:
        now = dict(sorted(waiting.items()))
        waiting.clear()
        done: set[int] = set()

        def ahead(at: int, results_of: list[Any], done: set[int] = done) -> None:
            done.add(at)
            go_on(at, results_of)

        try:
            _run_round(now, ahead, progress, separate=False)
        except BrokenProcessPool:
            for at in [at for at in now if at not in done]:
                try:
                    _run_round({at: now[at]}, ahead, progress, separate=True)
                except BrokenProcessPool as error:
                    failed(at, error)


def _run_round(
    now: dict[int, Batch], go_on: Callable[[int, list[Any]], None], progress: Progress, separate: bool
) -> None:
    """Run every item of these batches; each work goes on as soon as its own items are done."""
    tasks = [(at, item) for at, batch in now.items() for item in batch.items]
    results_of: dict[int, list[Any]] = {at: [] for at in now}
    results: list[Any] = []

    def receive(done: int) -> None:
        at = tasks[done - 1][0]
        results_of[at].append(results[-1])
        progress(now[at].what, len(results_of[at]), len(now[at].items))
        if len(results_of[at]) == len(now[at].items):
            go_on(at, results_of[at])

    map_in_processes(lambda task: now[task[0]].call(task[1]), tasks, receive, results, separate)


def run_alone(work: Work[R], progress: Progress = no_progress) -> R:
    """Run one piece of work by itself and return its result."""
    returned: list[R] = []
    run_together([work], lambda _, result: returned.append(result), progress)
    return returned[0]


def single_call(what: str, call: Callable[[], R]) -> Work[R]:
    """Wrap a single call as a piece of work."""
    (result,) = yield Batch(what, lambda _: call(), (None,))
    return result  # type: ignore[no-any-return]
