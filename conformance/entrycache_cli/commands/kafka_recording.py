"""Record Kafka Streams: an application with its KRaft broker, and the rows of stores in a played case.

`trace record --broker --system kafka-streams` records an application. In a played case the reference reports the rows
of its cache alone. `play_stores` steps a model of it whose functions report what a store does (`StoreReport`) in the
order in which it does it: what it writes to the underlying store, what it forwards, and what its views answer. Our fast
cache reports the rows of its cache; `play_fast_stores` adds those of its stores (`ReportingAdapter`).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, Final

from entrycache_cli.commands.record import Players, RecordedBroker, RecordingRun, record_run
from entrycache_conformance.brokers.kafka_streams import Application, run_application
from entrycache_conformance.systems.kafka_streams.fast_cache import Adapter, AnyStore, Downstream, name_packed, to_text
from entrycache_fast.kafka import CachingStore, Row, SessionStore, ThreadCache, Window, WindowStore
from entrycache_faults.model import Model, Place
from entrycache_protocol.case import Case
from entrycache_protocol.errors import InternalError, UsageError
from entrycache_reference.kafka_streams import NAME, change, ops, outcomes, stores, view_ops, windows
from entrycache_reference.kafka_streams.state import Event, Node, State, Store, space_of, total_bytes
from entrycache_reference.vocabulary import ABSENT
from entrycache_trace.formats.kafka_streams import STORE_OPS, StoreRow


def record_application(release: str, plan: Application, out: Path, say: Callable[[str], None]) -> int:
    """Run an application of a release beside its broker, and write its trace; return the number of events.

    Raises:
        UsageError: the run fails, or `out` is not empty.
        MissingPrerequisite: Java, Maven or a jar is missing.
    """

    def run(given: RecordingRun) -> None:
        agent = f"{given.agent},broker=streams"
        run_application(given.java, given.jars, plan, given.folder, agent, given.say)

    return record_run("kafka-streams", release, out, say, run)


def _record(release: str, preset: str | None, messages: int | None, out: Path, say: Callable[[str], None]) -> int:
    if preset is not None:
        raise UsageError("--preset is of Pulsar brokers; an application has none")
    plan = Application() if messages is None else Application(messages=messages)
    return record_application(release, plan, out, say)


# The rows of a played case.

Played = tuple[Any, Sequence[Any]]
"""The outcome of a step, and its rows."""

PACKAGE: Final = "entrycache_reference.kafka_streams"


def play_stores(case: Case) -> list[Played]:
    """Play a case on the reference and return the outcome and the rows of each step, those of its stores too."""
    report = StoreReport()
    model = report.model
    state = model.initial(case.config)
    played: list[Played] = []
    for op in case.steps:
        done = model.step(state, op, case.config)
        rows = report.take()
        if [row.op for row in rows if row.op not in STORE_OPS] != [row.op for row in done.rows]:
            raise InternalError(f"{op}: the reported rows are not those of the step")
        played.append((done.outcome, rows))
        state = done.state
    return played


class StoreReport:
    """A model of the reference that reports the rows of caching stores beside those of the cache.

    `handed` holds, for each store that is taking entries, its name and these entries by key, the innermost store last.
    """

    def __init__(self) -> None:
        self._rows: list[Any] = []
        self._total_bytes = 0
        self._handed: list[tuple[str, Mapping[str, Node]]] = []
        observers: dict[Place, object] = {
            "state.with_event": self._event,
            "stores.receive": self._receive,
            "stores.write_below": self._write_below,
            "stores.forward_entry": self._forward,
            "stores.ensure_store": self._ensure,
            "stores.list_merged_view": self._merged_view,
            "views.store_open": self._open,
            "views.store_close": self._close,
            "views.list_view": self._view,
            "views.list_windows": self._windows,
            "views.view_open": self._open_view,
            "views.view_next": self._next,
        }
        self.model = Model(PACKAGE, observers)
        self._of: dict[str, Any] = {str(place): self.model.unreplaced(str(place)) for place in observers}

    def take(self) -> list[Any]:
        """Return the rows since the last call."""
        rows, self._rows = self._rows, []
        return rows

    def _add(self, op: str, cause: str | None, store: str, **more: Any) -> None:
        self._rows.append(StoreRow(op, cause, self._total_bytes, store, **more))

    def _event(self, state: State, event: Event) -> State:
        self._total_bytes = event.total_bytes
        row, node = change.build_row(event), event.node
        listener = None if event.ns is None else space_of(state, event.ns).listener
        if event.op == "PUT" and node is not None and listener is not None and listener.of_store:
            cause = "DELETE" if node.value is None else "VALUE"
            entry = (row.ns, row.key, row.size_bytes, row.dirty)
            self._rows.append(StoreRow("PUT", cause, row.bytes_after, *entry, write=node.write))
        else:
            self._rows.append(row)
        after: State = self._of["state.with_event"](state, event)
        return after

    def _receive(self, state: State, name: str, entries: Sequence[tuple[str, Node]], *rest: Any) -> State:
        self._handed.append((name, dict(entries)))
        after: State = self._of["stores.receive"](state, name, entries, *rest)
        self._handed.pop()
        return after

    def _write_below(self, store: Store, key: str, value: str | None, config: Any) -> Store:
        after: Store = self._of["stores.write_below"](store, key, value, config)
        if not change.is_expired(after, key):
            name, entries = self._handed[-1]
            cause = "DELETE" if value is None else "PUT"
            self._add("BELOW", cause, name, key=key, text=value, write=entries[key].write)
        return after

    def _forward(self, state: State, name: str, key: str, node: Node, *rest: Any) -> State:
        if stores.taking_store(state, name).settings.listens:
            old = stores.old_value(state, name, key)
            cause, before = "DELETE" if node.value is None else "VALUE", None if old is ABSENT else old
            self._add("FORWARD", cause, name, key=key, text=node.value, old=before, write=node.write)
        after: State = self._of["stores.forward_entry"](state, name, key, node, *rest)
        return after

    def _add_open(self, state: State, name: str) -> None:
        store = stores.store_of(state, name)
        self._add("STORE_OPEN", None, name, kind=store.settings.kind, value=format_settings(store))

    def _ensure(self, state: State, name: str) -> State:
        after: State = self._of["stores.ensure_store"](state, name)
        if name not in state.stores:
            self._add_open(after, name)
        return after

    def _open(self, state: State, event: view_ops.StoreOpen, *rest: Any) -> tuple[State, outcomes.Answer]:
        after, answer = self._of["views.store_open"](state, event, *rest)
        if isinstance(answer, outcomes.Done):
            self._add_open(after, event.store)
        return after, answer

    def _close(self, state: State, event: view_ops.StoreClose, *rest: Any) -> tuple[State, outcomes.Answer]:
        is_open = stores.store_of(state, event.store).is_open
        result: tuple[State, outcomes.Answer] = self._of["views.store_close"](state, event, *rest)
        if is_open:
            self._total_bytes = total_bytes(result[0])
            self._add("STORE_CLOSE", None, event.store)
        return result

    def _add_view(self, store: str, backward: bool, arguments: Mapping[str, Any], view: str | None = None) -> None:
        cause = "BACKWARD" if backward else "FORWARD"
        self._add("VIEW", cause, store, value=json.dumps(arguments, sort_keys=True), view=view)

    def _add_entries(self, store: str, backward: bool, names: Sequence[str], view: str | None = None) -> None:
        for name in names:
            self._add("VIEW_ENTRY", "BACKWARD" if backward else "FORWARD", store, key=name, view=view)

    def _merged_view(
        self, state: State, name: str, first: str | None, last: str | None, config: Any
    ) -> tuple[State, outcomes.Answer]:
        there = self._ensure(state, name)
        self._add_view(name, False, name_bounds({"from": first, "to": last}))
        after, answer = self._of["stores.list_merged_view"](there, name, first, last, config)
        self._add_entries(name, False, [key for key, _ in answer.entries])
        return after, answer

    def _view(self, state: State, event: Any, backward: bool, config: Any) -> tuple[State, outcomes.Answer]:
        there = self._ensure(state, event.store)
        self._add_view(event.store, backward, range_of(event))
        after, answer = self._of["views.list_view"](there, event, backward, config)
        self._add_entries(event.store, backward, [key for key, _ in answer.entries])
        return after, answer

    def _windows(self, state: State, event: Any, config: Any) -> tuple[State, outcomes.Answer]:
        self._add_view(event.store, event.backward, range_of(event))
        after, answer = self._of["views.list_windows"](state, event, config)
        kind = stores.store_of(state, event.store).settings.kind
        self._add_entries(event.store, event.backward, [name_of(kind, event, entry) for entry in answer.entries])
        return after, answer

    def _open_view(self, state: State, event: view_ops.ViewOpen, *rest: Any) -> tuple[State, outcomes.Answer]:
        after, answer = self._of["views.view_open"](state, event, *rest)
        if isinstance(answer, outcomes.Done):
            self._add_view(event.store, event.backward, range_of(event), event.view)
        return after, answer

    def _next(self, state: State, event: view_ops.ViewNext, *rest: Any) -> tuple[State, outcomes.Answer]:
        after, answer = self._of["views.view_next"](state, event, *rest)
        if isinstance(answer, outcomes.NextEntry) and answer.entry is not None:
            opened = state.views[event.view].range
            kind = stores.store_of(state, opened.store).settings.kind
            self._add_entries(opened.store, opened.backward, [name_of(kind, opened, answer.entry)], event.view)
        return after, answer


def format_settings(store: Store) -> str:
    """Return the settings of a store as its STORE_OPEN row holds them."""
    settings = {**store.settings._asdict(), "old_values": store.old_values}
    if settings.pop("kind") is view_ops.StoreKind.KEY_VALUE:
        del settings["retention"], settings["segment_interval"]
    numbers = {key: int(part) if isinstance(part, bool) else part for key, part in settings.items()}
    return json.dumps({key: getattr(part, "value", part) for key, part in numbers.items()}, sort_keys=True)


def range_of(event: Any) -> dict[str, Any]:
    """Return the range of a view as its row holds it."""
    named = {field.name.rstrip("_"): getattr(event, field.name) for field in fields(event)}
    return name_bounds({name: value for name, value in named.items() if name not in {"store", "view"}})


BOUNDS_OF_SESSIONS: Final = {"earliest_end": "time_from", "latest_start": "time_to"}
"""The names that the bounds of a view of sessions have in a trace, where they are those of windows."""


def name_bounds(bounds: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bounds that are given: keys in hexadecimal digits, and the names of a trace."""
    return {
        BOUNDS_OF_SESSIONS.get(name, name): value.encode("utf-8", "surrogatepass").hex()
        if isinstance(value, str)
        else value
        for name, value in bounds.items()
        if value is not ABSENT and value is not None
    }


def name_of(kind: view_ops.StoreKind, event: Any, entry: Sequence[Any]) -> str:
    """Return the name of an entry of a view under which it is cached."""
    *place, _ = entry
    if kind is view_ops.StoreKind.KEY_VALUE:
        return str(place[0])
    if kind is view_ops.StoreKind.WINDOW and event.key is not ABSENT:
        place = [event.key, *place]
    return change.name_window(kind, change.Window(place[0], place[1], place[-1]))


# The rows of the fast cache.

VIEWS: Final = (
    *(ops.StoreRange, ops.StoreAll, view_ops.StoreView, view_ops.StoreQueryRange),
    *(view_ops.WindowView, view_ops.SessionView),
)
"""The operations that answer a view at once."""


def play_fast_stores(case: Case) -> list[Played]:
    """Play a case on our fast cache and return the outcome and the rows of each step, those of its stores too."""
    adapter = ReportingAdapter(case.config)
    return [(adapter.step(op), adapter.take()) for op in case.steps]


class ReportedBelow(dict[bytes, bytes]):
    """The content of an underlying store. It reports each value that it gets, and each key that it loses.

    A store that nobody listens to writes the tombstones of unknown keys too.
    """

    def __init__(self, report: Callable[[bytes, bytes | None], None], owed: set[bytes], listens: bool) -> None:
        super().__init__()
        self._report = report
        self._owed = owed
        self._listens = listens

    def __setitem__(self, key: bytes, value: bytes) -> None:
        """Write a value."""
        super().__setitem__(key, value)
        self._report(key, value)

    def pop(self, key: bytes, *default: Any) -> Any:
        """Remove a key."""
        is_written = key in self or key in self._owed or not self._listens
        value = super().pop(key, *default)
        if is_written:
            self._report(key, None)
        return value


class ReportingAdapter(Adapter):
    """The fast cache with the rows of its stores beside those of its cache."""

    def __init__(self, config: Any) -> None:
        self._rows: list[Any] = []
        self._below: list[StoreRow] = []
        self._opened: list[AnyStore] = []
        self._view_ranges: dict[str, view_ops.ViewOpen] = {}
        super().__init__(ThreadCache(config.max_size_bytes, self._add_row), CachingStore, config.reentry_budget)
        self.commands[view_ops.StoreClose] = self._close
        self.questions[view_ops.ViewOpen] = self._open_view
        self.questions[view_ops.ViewNext] = self._next
        for op in VIEWS:
            self.questions[op] = partial(self._view, self.questions[op])

    def take(self) -> list[Any]:
        """Return the rows since the last call."""
        self._add_below()
        rows, self._rows = self._rows, []
        return rows

    def _add_below(self) -> None:
        """Add the rows of what was written below; the cache reports the flush of it afterwards."""
        written, self._below = self._below, []
        self._rows += [row._replace(bytes_after=self.cache.size_bytes) for row in written]

    def _add_row(self, row: Row) -> None:
        """Add a row of the cache; in the namespace of a store its key has a name, and a write its kind."""
        if row.op not in ("FLUSH", "EVICT") or row.cause == "FAILED":
            self._add_below()
        if row.ns not in self.stores or row.key is None:
            self._rows.append(row)
            return
        cause = row.cause
        if row.op == "PUT" and self.cache.has_listener(row.ns, self.stores[row.ns]._receive):
            entry = self.cache.peek(row.ns, row.key)
            cause = "VALUE" if entry is not None and entry.value is not None else "DELETE"
        named = name_packed(self.stores[row.ns], row.key)
        self._rows.append(StoreRow(row.op, cause, row.bytes_after, row.ns, named, row.size_bytes, row.dirty, row.value))

    def _add(self, op: str, cause: str | None, store: str, **more: Any) -> None:
        self._add_below()
        self._rows.append(StoreRow(op, cause, self.cache.size_bytes, store, **more))

    def make_store(self, op: view_ops.StoreOpen) -> AnyStore:
        """Return a new store that reports what it writes below."""
        store = super().make_store(op)
        settings = windows.settings_of(op)
        self._opened.append(store)
        self._add(
            "STORE_OPEN",
            None,
            op.store,
            kind=settings.kind,
            value=format_settings(Store(old_values=op.old_values, settings=settings)),
        )

        def below(packed: bytes, value: bytes | None) -> None:
            # What has expired leaves without being written.
            if isinstance(store, CachingStore) or not store.is_expired(store.unpack(packed).end):
                cause, key = "DELETE" if value is None else "PUT", name_packed(store, packed)
                self._below.append(StoreRow("BELOW", cause, 0, op.store, key=key, text=value))

        store.underlying = ReportedBelow(below, store.owed, settings.listens)
        return store

    def forward(self, name: str, downstream: Downstream, window: Window, value: bytes | None, *rest: Any) -> None:
        """Report a forwarded entry, and forward it."""
        (old, times), cause = rest, "DELETE" if value is None else "VALUE"
        key = to_text(window.key) + ("@" + "-".join(map(str, times.values())) if times else "")
        self._add("FORWARD", cause, name, key=key, text=value, old=old[0] if old else None)
        super().forward(name, downstream, window, value, *rest)

    def _close(self, op: view_ops.StoreClose) -> None:
        store = self.any_store(op.store)
        try:
            store.close()
        finally:
            if store in self._opened and not store.is_open:
                self._opened.remove(store)
                self._add("STORE_CLOSE", None, op.store)

    def _view(self, question: Callable[[Any], outcomes.Answer], op: Any) -> outcomes.Answer:
        answer = question(op)
        is_committed = getattr(op, "isolation", ABSENT) is view_ops.Isolation.COMMITTED
        if isinstance(answer, outcomes.Listing | outcomes.WindowListing) and not is_committed:
            self._add_view(op)
            self._add_entries(op, answer.entries)
        return answer

    def _open_view(self, op: view_ops.ViewOpen) -> outcomes.Answer:
        answer = self.view_open(op)
        if isinstance(answer, outcomes.Done):
            self._view_ranges[op.view] = op
            self._add_view(op, op.view)
        return answer

    def _next(self, op: view_ops.ViewNext) -> outcomes.Answer:
        answer = self.view_next(op)
        if isinstance(answer, outcomes.NextEntry) and answer.entry is not None:
            self._add_entries(self._view_ranges[op.view], [answer.entry], op.view)
        return answer

    def _add_view(self, op: Any, view: str | None = None) -> None:
        value = json.dumps(range_of(op), sort_keys=True)
        self._add("VIEW", direction_of(op), op.store, value=value, view=view)

    def _add_entries(self, op: Any, entries: Sequence[Any], view: str | None = None) -> None:
        store = self.stores[op.store]
        kind = next(kind for kind, of in KINDS_OF_STORES.items() if isinstance(store, of))
        for entry in entries:
            self._add("VIEW_ENTRY", direction_of(op), op.store, key=name_of(kind, op, entry), view=view)


KINDS_OF_STORES: Final = {
    view_ops.StoreKind.WINDOW: WindowStore,
    view_ops.StoreKind.SESSION: SessionStore,
    view_ops.StoreKind.KEY_VALUE: CachingStore,
}


def direction_of(op: Any) -> str:
    """Return the cause of the rows of a view."""
    return "BACKWARD" if getattr(op, "backward", False) else "FORWARD"


PLAYERS: Final[Mapping[str, Players]] = {NAME: Players(play_stores, play_fast_stores)}
"""The players of cases by system: a system has some if its traces have rows that the steps of its reference lack."""

BROKER = RecordedBroker("kafka-streams", "4.3.1", _record)
