"""Seeded faults that only several threads show: the shared reference with one lock too few, too late or too many.

Each class replaces `SharedReference`. A fault that needs two threads to meet gives the other threads a turn in the
middle.
"""

import dataclasses
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from threading import Lock, get_ident
from typing import Any, Final

from entrycache_faults.reference.kafka_streams.entries import seeded_thread_fault
from entrycache_reference.kafka_streams import ops, outcomes, state
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.step import step
from entrycache_reference.kafka_streams.threads import history
from entrycache_reference.rules import Rule

TURNS: Final = 40
NO_LIMIT: Final = 10_485_760

WRITES: Final = (ops.Put, ops.PutIfAbsent)


SHARED: Final = "threads.history.SharedReference"
"""The place of the cache for several threads."""


def give_way() -> None:
    """Let the other threads continue for a while."""
    for _ in range(TURNS):
        time.sleep(0)


def answered(outcome: outcomes.Outcome, answer: outcomes.Answer) -> outcomes.Outcome:
    """Return the outcome with another answer."""
    return dataclasses.replace(outcome, answer=answer)


@seeded_thread_fault(Rule.K_CONCURRENCY_5, SHARED)
class UnlockedWrite(history.SharedReference):
    """A write reads the state outside the lock.

    A write reads the state without the lock: what others write meanwhile is overwritten.
    """

    def __call__(self, op: Any) -> outcomes.Outcome:
        """Perform a step."""
        if not isinstance(op, WRITES):
            return super().__call__(op)
        before = self.state
        give_way()
        done = step(before, op, self.config)
        self.state = done.state
        return done.outcome


@seeded_thread_fault(Rule.K_CONCURRENCY_2, SHARED)
class LateTotal(history.SharedReference):
    """The running total is changed outside the lock.

    The running total is changed after the lock is given back: an update is lost.
    """

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.total_bytes = 0

    def __call__(self, op: Any) -> outcomes.Outcome:
        """Perform a step."""
        with self.lock:
            before = state.total_bytes(self.state)
            done = step(self.state, op, self.config)
            self.state = done.state
            change = state.total_bytes(self.state) - before
        if change:
            total = self.total_bytes
            give_way()
            self.total_bytes = total + change
        answer = done.outcome.answer
        if isinstance(answer, outcomes.Used) and not isinstance(op.ns, str):
            return answered(done.outcome, dataclasses.replace(answer, tracked=self.total_bytes))
        return done.outcome


@seeded_thread_fault(Rule.K_CONCURRENCY_1, SHARED)
class CrossedLocks(history.SharedReference):
    """Two flushes take two locks in two orders.

    Each namespace has a lock; a flush takes its own, and then that of each namespace that its listener uses.
    """

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.locks: defaultdict[str, Lock] = defaultdict(Lock)

    def __call__(self, op: Any) -> outcomes.Outcome:
        """Perform a step."""
        with ExitStack() as locks_held:
            for ns in self._namespaces(op) if isinstance(op, (*WRITES, ops.Flush)) else ():
                locks_held.enter_context(self.locks[ns])
                give_way()
            return super().__call__(op)

    def _namespaces(self, op: Any) -> Iterator[str]:
        space = self.state.spaces.get(op.ns)
        listener = None if space is None else space.listener
        inner = [] if listener is None else [getattr(each, "ns", op.ns) for each in listener.steps]
        yield from dict.fromkeys((op.ns, *inner))


@seeded_thread_fault(Rule.K_CONCURRENCY_3, SHARED)
class LostCounts(history.SharedReference):
    """Gets are counted outside the lock.

    The thread's gets are counted outside the lock.
    """

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.gets = 0

    def __call__(self, op: Any) -> outcomes.Outcome:
        """Perform a step."""
        if isinstance(op, ops.Get):
            gets = self.gets
            give_way()
            self.gets = gets + 1
        outcome = super().__call__(op)
        if isinstance(outcome.answer, outcomes.ThreadCounters):
            return answered(outcome, dataclasses.replace(outcome.answer, gets=self.gets))
        return outcome


@seeded_thread_fault(Rule.K_CONCURRENCY_4, SHARED)
class HandedOverTwice(history.SharedReference):
    """A flush gathers its entries outside the lock.

    A flush gathers what is dirty without the lock: two flushes hand over the same.
    """

    def __call__(self, op: Any) -> outcomes.Outcome:
        """Perform a step."""
        if not isinstance(op, ops.Flush):
            return super().__call__(op)
        gathered = step(self.state, op, self.config).outcome
        give_way()
        super().__call__(op)
        return gathered


@seeded_thread_fault(Rule.K_CONCURRENCY_6, SHARED)
class OwnCopies(history.SharedReference):
    """A thread reads what it saw last.

    A thread reads what it saw when it wrote last.
    """

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.copies: dict[int, state.State] = {}

    def __call__(self, op: Any) -> outcomes.Outcome:
        """Perform a step."""
        copy = self.copies.get(get_ident())
        if isinstance(op, ops.Get) and copy is not None:
            give_way()
            super().__call__(op)
            return step(copy, op, self.config).outcome
        outcome = super().__call__(op)
        self.copies[get_ident()] = self.state
        return outcome


@seeded_thread_fault(Rule.K_CONCURRENCY_7, SHARED)
class LimitLookedAtFirst(history.SharedReference):
    """A write looks for room outside the lock.

    A write asks whether there is room before it takes the lock, and evicts only where there was none.
    """

    def __call__(self, op: Any) -> outcomes.Outcome:
        """Perform a step."""
        if not isinstance(op, WRITES):
            return super().__call__(op)
        limit = self.state.max_size_bytes
        alone = step(state.initial(Config(max_size_bytes=NO_LIMIT)), op, self.config).state
        has_room = state.total_bytes(self.state) + state.total_bytes(alone) <= limit
        give_way()
        if not has_room:
            return super().__call__(op)
        with self.lock:
            done = step(self.state._replace(max_size_bytes=NO_LIMIT), op, self.config)
            self.state = done.state._replace(max_size_bytes=limit)
            return done.outcome


THREAD_SUBJECTS: Final[dict[str, type[history.SharedReference]]] = {
    "threads-copies-are-old": OwnCopies,
    "threads-count-lost": LostCounts,
    "threads-handed-over-twice": HandedOverTwice,
    "threads-limit-looked-at-first": LimitLookedAtFirst,
    "threads-locks-crossed": CrossedLocks,
    "threads-total-late": LateTotal,
    "threads-write-unlocked": UnlockedWrite,
}
"""The subjects with a fault that only histories show, by name."""
