"""Several pieces of work at once, so that no core waits for the last item of one of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple, TypeVar

from entrycache_evidence.forked import each
from entrycache_evidence.obtained import Told, nobody

R = TypeVar("R")


class Batch(NamedTuple):
    """Equal parts of a piece of work: what they are called, and what is to be called on each, dearest first."""

    what: str
    call: Callable[[Any], Any]
    items: Sequence[Any]


Work = Generator[Batch, list[Any], R]
"""A piece of work: it is sent what each of its batches has given, and returns what it was for."""


def broken(at: int, error: BrokenProcessPool) -> None:
    """A process was ended from outside, and nobody wants to go on without."""
    raise error


def together(
    works: Sequence[Work[R]],
    over: Callable[[int, R], None],
    told: Told = nobody,
    died: Callable[[int, BrokenProcessPool], None] = broken,
) -> None:
    """Do all of these; `over` hears the number of each that is over, and what it returned.

    All batches that wait are done by one set of processes, in the order of the works. Where one of the processes is
    ended from outside, each work that is not over goes on by itself, and `died` hears of the one in which it happens.
    """
    waiting: dict[int, Batch] = {}

    def go_on(at: int, given: list[Any] | None) -> None:
        try:
            batch = next(works[at]) if given is None else works[at].send(given)
            while not batch.items:
                batch = works[at].send([])
            waiting[at] = batch
        except StopIteration as end:
            over(at, end.value)

    for at in range(len(works)):
        go_on(at, None)
    while waiting:
        now = dict(sorted(waiting.items()))
        waiting.clear()
        done: set[int] = set()

        def ahead(at: int, given: list[Any], done: set[int] = done) -> None:
            done.add(at)
            go_on(at, given)

        try:
            _one_round(now, ahead, told, apart=False)
        except BrokenProcessPool:
            for at in [at for at in now if at not in done]:
                try:
                    _one_round({at: now[at]}, ahead, told, apart=True)
                except BrokenProcessPool as error:
                    died(at, error)


def _one_round(now: dict[int, Batch], go_on: Callable[[int, list[Any]], None], told: Told, apart: bool) -> None:
    """Every item of these batches; whoever has all of its own goes on."""
    tasks = [(at, item) for at, batch in now.items() for item in batch.items]
    given: dict[int, list[Any]] = {at: [] for at in now}
    found: list[Any] = []

    def heard(done: int) -> None:
        at = tasks[done - 1][0]
        given[at].append(found[-1])
        told(now[at].what, len(given[at]), len(now[at].items))
        if len(given[at]) == len(now[at].items):
            go_on(at, given[at])

    each(lambda task: now[task[0]].call(task[1]), tasks, heard, found, apart)


def whole(work: Work[R], told: Told = nobody) -> R:
    """What a piece of work returns, done by itself."""
    returned: list[R] = []
    together([work], lambda _, result: returned.append(result), told)
    return returned[0]


def at_once(what: str, call: Callable[[], R]) -> Work[R]:
    """Work that is one call."""
    (result,) = yield Batch(what, lambda _: call(), (None,))
    return result  # type: ignore[no-any-return]
