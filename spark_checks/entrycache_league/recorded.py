"""The requests of a recorded trace: the calls that it shows, as `entrycache trace simulate` gets them back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from entrycache_league.requests import ADD, EXPECT, PASSED, READ, Event, Requests, requests_of
from entrycache_simulate import calls
from entrycache_simulate.calls import Call, Place
from entrycache_simulate.drive import Habits
from entrycache_simulate.run import Broker, read_brokers


def read_trace(directory: Path, progress: Callable[[str], None] = lambda text: None) -> list[Requests]:
    """The requests of each broker of a trace.

    Raises:
        UsageError: no readable trace of `pulsar-pip430`, or nobody reads in it.
    """
    _, brokers = read_brokers(directory, progress)
    return [requests_of(f"{directory.name} {broker.name}", _Reader(broker).events()) for broker in brokers]


class _Reader:
    """Turns calls into requests. Sizes that no row tells are those that the configuration has for storage."""

    def __init__(self, broker: Broker) -> None:
        self._calls = broker.calls
        self._habits = Habits(broker.calls)
        self._unknown_bytes: int = broker.config["storage_entry_size"]
        self._sizes: dict[Place, int] = {}
        self._cursors: dict[str, dict[str, tuple[int, int]]] = {}

    def events(self) -> Iterator[Event]:
        """The requests in order."""
        for call in self._calls:
            yield from self._of(call)

    def _of(self, call: Call) -> Iterator[Event]:
        event = call.event
        if isinstance(event, calls.Insert) and not event.refused:
            self._sizes.setdefault(event.place, event.size_bytes)
            yield self._event(call, ADD, event.place, event.expected_reads or 0)
        elif isinstance(event, calls.Unwanted):
            self._sizes.setdefault(event.place, event.size_bytes)
        elif isinstance(event, calls.Lookup):
            asked = calls.Read(event.place, event.place.entry, None, {}, None)
            yield self._event(call, READ, event.place, self._habits.read(asked))
        elif isinstance(event, calls.Read):
            yield from self._read(call, event)
        elif isinstance(event, calls.Expected):
            yield self._event(call, EXPECT, event.place, 0)
        elif isinstance(event, calls.Cursor):
            yield from self._moved(call, event)

    def _event(self, call: Call, kind: int, place: Place, count: int, number: int | None = None) -> Event:
        size_bytes = self._sizes.get(place, self._unknown_bytes)
        return Event(call.ts_ns, kind, place.cache, place[1:], size_bytes, count, number)

    def _read(self, call: Call, event: calls.Read) -> Iterator[Event]:
        count = self._habits.read(event)
        for entry in range(event.first.entry, event.last_entry + 1):
            place = event.first._replace(entry=entry)
            if entry in event.sizes:
                self._sizes.setdefault(place, event.sizes[entry])
            yield self._event(call, READ, place, count, call.seq)

    def _moved(self, call: Call, event: calls.Cursor) -> Iterator[Event]:
        """All cursors are past what lies below the slowest, where it has changed; the last one leaves all behind."""
        self._habits.cursor(event)
        tracked = self._cursors.setdefault(event.cache, {})
        before = min(tracked.values(), default=None)
        if event.op == "CURSOR_REMOVE" or event.position is None:
            tracked.pop(event.cursor, None)
        else:
            tracked[event.cursor] = event.position
        slowest = min(tracked.values(), default=None)
        if slowest != before:
            yield Event(call.ts_ns, PASSED, event.cache, (1 << 62, 0) if slowest is None else slowest)
