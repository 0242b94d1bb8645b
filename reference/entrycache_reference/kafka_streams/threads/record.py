"""The record of a history, and what follows from it at once: who did what, and what was handed over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from entrycache_reference.judged import Event
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.outcomes import ErrorKind
from entrycache_reference.kafka_streams.size import size_bytes

BEFORE: Final = -1
"""The number of the client that the steps before the threads belong to."""


class Record(NamedTuple):
    """A whole history: what came before (client -1), each client's steps, what came after (client `clients`).

    `introspection`: which of `dirty`, `lru` and `tracked` the outcomes tell.
    """

    config: Config
    clients: int
    events: tuple[Event, ...]
    introspection: frozenset[str] = frozenset({"dirty", "lru", "tracked"})

    @property
    def at_rest(self) -> tuple[Event, ...]:
        """The steps after the threads, in their order."""
        return tuple(event for event in self.events if event.client == self.clients)


class Done(NamedTuple):
    """An operation that was performed, in a step of its own or inside a call of a listener (`inner`)."""

    op: Any
    answer: Mapping[str, Any]
    event: Event
    inner: bool


class Handed(NamedTuple):
    """One entry that a listener got."""

    ns: str
    key: str
    value: str | None
    event: Event


class Write(NamedTuple):
    """One entry that was written; `value` None: a tombstone."""

    ns: str
    key: str
    value: str | None
    dirty: bool
    size_bytes: int
    done: Done


class Facts(NamedTuple):
    """What a record says. `complete`: everything that was done is known, also inside calls of listeners."""

    record: Record
    done: tuple[Done, ...]
    handed: tuple[Handed, ...]
    writes: tuple[Write, ...]
    complete: bool

    def of(self, *types: type[Any]) -> Iterator[Done]:
        """What was done of these operations."""
        return (done for done in self.done if isinstance(done.op, types))

    @property
    def limits(self) -> tuple[int, ...]:
        """Every limit that was ever in force."""
        return (self.record.config.max_size_bytes, *(done.op.max_size_bytes for done in self.of(ops.Resize)))

    @property
    def overflows(self) -> bool:
        """Whether the total can ever have been above the limit."""
        return sum(write.size_bytes for write in self.writes) > min(self.limits)


def facts_of(record: Record) -> Facts:
    """What a record says."""
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
    done: list[Done] = []
    handed: list[Handed] = []
    for event in record.events:
        done.append(Done(event.op, event.outcome, event, False))
        for call in event.outcome.get("flushed", ()):
            handed += [Handed(call["ns"], entry[0], entry[1], event) for entry in call["entries"]]
            inside = listeners.get(call["ns"], ())
            done += [Done(op, answer, event, True) for op, answer in zip(inside, call["inner"], strict=False)]
    complete = complete and not any(_hides(each, record.clients) for each in done)
    writes = tuple(write for each in done for write in writes_of(each))
    return Facts(record, tuple(done), tuple(handed), writes, complete)


def _hides(done: Done, clients: int) -> bool:
    """Whether a refusal leaves open what was done, or what is there at rest; a closed namespace refuses a write."""
    refused = done.answer.get("error")
    at_rest = done.event.client == clients
    return refused is not None and (
        refused != ErrorKind.ILLEGAL_STATE.value or at_rest or isinstance(done.op, ops.Delete)
    )


def writes_of(done: Done) -> Iterator[Write]:
    """The entries that an operation wrote."""
    op, answer = done.op, done.answer
    if "error" in answer:
        return
    if isinstance(op, ops.Put) or (isinstance(op, ops.PutIfAbsent) and not answer["present"]):
        yield _write(op.ns, op, done)
    elif isinstance(op, ops.PutAll):
        for entry in op.entries:
            yield _write(op.ns, entry, done)


def _write(ns: str, entry: Any, done: Done) -> Write:
    size = size_bytes(entry.key, entry.value, entry.topic, entry.headers)
    return Write(ns, entry.key, entry.value, entry.dirty, size, done)
