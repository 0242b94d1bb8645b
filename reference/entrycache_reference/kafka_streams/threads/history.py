"""The record of a history and its facts, and the reference as a cache for several threads.

`Record` holds the steps of all clients. `derive_facts` lists every performed operation, also those inside calls of
listeners, every entry that a listener got, and every write. `SharedReference` performs one step after another under one
lock; its answers are one possible answer of many.
"""

from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Any, Final, NamedTuple

from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.change import size_bytes
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.outcomes import ErrorKind, Outcome
from entrycache_reference.kafka_streams.state import State, initial
from entrycache_reference.kafka_streams.step import step
from entrycache_reference.rules import HistoryStep, Rule, rule

BEFORE: Final = -1
"""The number of the client that owns the steps before the threads start."""


class Record(NamedTuple):
    """A whole history: the steps before the threads (client -1), of each client, and after them (client `clients`).

    `introspection`: which of `dirty`, `lru` and `tracked` the outcomes report.
    """

    config: Config
    clients: int
    events: tuple[HistoryStep, ...]
    introspection: frozenset[str] = frozenset({"dirty", "lru", "tracked"})

    @property
    def final_steps(self) -> tuple[HistoryStep, ...]:
        """The steps after the threads, in order."""
        return tuple(event for event in self.events if event.client == self.clients)


class PerformedOperation(NamedTuple):
    """An operation that was performed, in a step of its own or inside a call of a listener (`inner`)."""

    op: Any
    answer: Mapping[str, Any]
    event: HistoryStep
    inner: bool


class HandedEntry(NamedTuple):
    """One entry that a listener got."""

    ns: str
    key: str
    value: str | None
    event: HistoryStep


class Write(NamedTuple):
    """One entry that was written; `value` None: a tombstone."""

    ns: str
    key: str
    value: str | None
    dirty: bool
    size_bytes: int
    done: PerformedOperation


class Facts(NamedTuple):
    """The facts of a record. `complete`: every performed operation is known, also inside calls of listeners."""

    record: Record
    done: tuple[PerformedOperation, ...]
    handed: tuple[HandedEntry, ...]
    writes: tuple[Write, ...]
    complete: bool

    def of(self, *types: type[Any]) -> Iterator[PerformedOperation]:
        """Return the performed operations of these types."""
        return (done for done in self.done if isinstance(done.op, types))

    @property
    def limits(self) -> tuple[int, ...]:
        """Every limit that was ever effective."""
        return (self.record.config.max_size_bytes, *(done.op.max_size_bytes for done in self.of(ops.Resize)))

    @property
    def overflows(self) -> bool:
        """True if the total can ever have been above the limit."""
        return sum(write.size_bytes for write in self.writes) > min(self.limits)


def derive_facts(record: Record) -> Facts:
    """Return the facts of a record."""
    listeners: dict[str, Sequence[Any]] = {}
    complete = True
    for event in record.events:
        if isinstance(event.op, ops.Listen):
            steps = event.op.on_flush if isinstance(event.op.on_flush, tuple) else ()
            listeners[event.op.ns] = steps
            nested = any(isinstance(step, ops.Listen | ops.Close) for step in steps)
            complete = complete and event.client == BEFORE and not nested and not isinstance(event.op.fails, int)
        if type(event.op).level != "cache":
            complete = False
    done: list[PerformedOperation] = []
    handed: list[HandedEntry] = []
    for event in record.events:
        done.append(PerformedOperation(event.op, event.outcome, event, False))
        for call in event.outcome.get("flushed", ()):
            handed += [HandedEntry(call["ns"], entry[0], entry[1], event) for entry in call["entries"]]
            inside = listeners.get(call["ns"], ())
            done += [
                PerformedOperation(op, answer, event, True) for op, answer in zip(inside, call["inner"], strict=False)
            ]
    complete = complete and not any(_leaves_open(each, record.clients) for each in done)
    writes = tuple(write for each in done for write in list_writes(each))
    return Facts(record, tuple(done), tuple(handed), writes, complete)


def _leaves_open(done: PerformedOperation, clients: int) -> bool:
    """Return whether a refusal leaves open which changes were made.

    A closed namespace refuses a write, which leaves nothing open while the threads run.
    """
    refused = done.answer.get("error")
    is_final = done.event.client == clients
    return refused is not None and (
        refused != ErrorKind.ILLEGAL_STATE.value or is_final or isinstance(done.op, ops.Delete)
    )


def list_writes(done: PerformedOperation) -> Iterator[Write]:
    """Return the entries that an operation wrote."""
    op, answer = done.op, done.answer
    if "error" in answer:
        return
    if isinstance(op, ops.Put) or (isinstance(op, ops.PutIfAbsent) and not answer["present"]):
        yield _build_write(op.ns, op, done)
    elif isinstance(op, ops.PutAll):
        for entry in op.entries:
            yield _build_write(op.ns, entry, done)


def _build_write(ns: str, entry: Any, done: PerformedOperation) -> Write:
    size = size_bytes(entry.key, entry.value, entry.topic, entry.headers)
    return Write(ns, entry.key, entry.value, entry.dirty, size, done)


# The reference for several threads.


class SharedReference:
    """One cache for several threads."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.state: State = initial(config)
        self.lock = Lock()

    def __call__(self, op: Any) -> Outcome:
        """Perform a step."""
        return perform_alone(self, op)


@rule(Rule.K_CONCURRENCY_1)
def perform_alone(shared: SharedReference, op: Any) -> Outcome:
    """Perform a step while no other thread is in one; a thread that waits is never waited for."""
    with shared.lock:
        done = step(shared.state, op, shared.config)
        shared.state = done.state
        return done.outcome
