"""Our fast cache of `kafka-streams` as a subject.

`Adapter` turns operations into calls of the cache and results into outcomes, without any cache logic. It records the
calls of listeners and the forwarded entries of a step, and performs the steps inside calls within the reentry budget.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, Final, NamedTuple, TypeVar

from entrycache_conformance.systems.kafka_streams import wire
from entrycache_conformance.systems.reference import all_fault_subjects, fault_subjects
from entrycache_fast.kafka import (
    CachingStore,
    ClosedStoreError,
    Context,
    DirtyEntry,
    DirtyKeyError,
    NoListenerError,
    OpenView,
    OpenWindows,
    Row,
    SessionStore,
    ThreadCache,
    Window,
    WindowStore,
    Write,
)
from entrycache_faults.fast.kafka_streams import FAULTS as CACHE_FAULTS
from entrycache_faults.reference.kafka_streams.subjects import SUBJECTS
from entrycache_faults.reference.kafka_streams.threads import THREAD_SUBJECTS
from entrycache_protocol.system import LocalSubject
from entrycache_reference.kafka_streams import ops, outcomes, view_ops
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.outcomes import Answer, Call, ErrorKind, Failed, Forward, Outcome
from entrycache_reference.kafka_streams.view_ops import RETENTION_MS, SEGMENT_INTERVAL_MS, StoreKind, Underlying
from entrycache_reference.vocabulary import ABSENT, Absent

DONE: Final = outcomes.Done()
REFUSED: Final = Failed(ErrorKind.ILLEGAL_STATE)


class WrongStoreError(Exception):
    """An operation on a store of another kind, or with arguments that name no session or no view."""


class ListenerFailedError(Exception):
    """The error that a listener throws by request of the case."""


ERRORS: Final[dict[type[Exception], Failed]] = {
    DirtyKeyError: REFUSED,
    ClosedStoreError: REFUSED,
    WrongStoreError: REFUSED,
    NoListenerError: Failed(ErrorKind.ILLEGAL_ARGUMENT),
    ListenerFailedError: Failed(ErrorKind.LISTENER_FAILED),
}
"""The answer for each error of the cache."""


def to_bytes(text: str) -> bytes:
    """Return a text as the cache takes it."""
    return text.encode("utf-8", "surrogatepass")


def to_bytes_or_none(text: str | None) -> bytes | None:
    """Return a text as the cache takes it; None stays None."""
    return None if text is None else to_bytes(text)


def to_text(content: bytes) -> str:
    """Return bytes of the cache as a text."""
    return content.decode("utf-8", "surrogatepass")


def to_text_or_none(content: bytes | None) -> str | None:
    """Return bytes of the cache as a text; None stays None."""
    return None if content is None else to_text(content)


def list_answer(items: Sequence[tuple[bytes, bytes | None]]) -> Answer:
    """Return keys with their values as an answer."""
    return outcomes.Listing(tuple((to_text(key), to_text_or_none(value)) for key, value in items))


def to_write(write: ops.Put | ops.PutIfAbsent | ops.Write) -> Write:
    """Return a write as the cache takes it."""
    parts = (write.timestamp, write.offset, write.partition)
    context = Context(*(None if part is ABSENT else part for part in parts))
    headers = [(name, to_bytes(content)) for name, content in write.headers]
    return Write(to_bytes(write.key), to_bytes_or_none(write.value), write.dirty, write.topic, headers, context)


AnyStore = CachingStore | WindowStore | SessionStore

Kind = TypeVar("Kind", bound=AnyStore)

TIMES: Final = ("time_from", "time_to", "earliest_end", "latest_start")


def of_kind(store: AnyStore | None, kind: type[Kind]) -> Kind:
    """Return a store of this kind.

    Raises:
        WrongStoreError: it is of another one.
    """
    if not isinstance(store, kind):
        raise WrongStoreError
    return store


def is_given(op: view_ops.ViewOpen | view_ops.WindowView | view_ops.SessionView, *names: str) -> bool:
    """Return whether one of these arguments is given."""
    return any(getattr(op, name, ABSENT) is not ABSENT for name in names)


def bound_of(bound: str | None | Absent) -> bytes | None:
    """Return a bound of keys as the cache takes it; None: unbounded."""
    return None if bound is ABSENT else to_bytes_or_none(bound)


def range_of(op: Any, times: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of a view of windows or of sessions, which has these times.

    Raises:
        WrongStoreError: it has a key and bounds, or an argument of another kind of view.
    """
    has_both = op.key is not ABSENT and is_given(op, "from_", "to")
    is_wrong = is_given(op, *(name for name in TIMES if name not in times))
    if has_both or is_wrong or getattr(op, "prefix", None) is not None:
        raise WrongStoreError
    keys = {"key": bound_of(op.key), "first": bound_of(op.from_), "last": bound_of(op.to)}
    return {**keys, **{name: getattr(op, name) for name in times if is_given(op, name)}, "backward": op.backward}


def session_range(op: view_ops.ViewOpen | view_ops.SessionView) -> dict[str, Any]:
    """Return the arguments of a view of sessions.

    Raises:
        WrongStoreError: it has no key and no bounds.
    """
    if not is_given(op, "key", "from_", "to"):
        raise WrongStoreError
    return range_of(op, TIMES[2:])


def session_of(op: Any) -> tuple[bytes, int, int]:
    """Return the session of an operation.

    Raises:
        WrongStoreError: it ends before it starts.
    """
    if op.start > op.end:
        raise WrongStoreError
    return to_bytes(op.key), op.start, op.end


def entry_of(store: object, window: Window, value: bytes, has_key: bool) -> Any:
    """Return a window or a session with its value as an answer has it; a view of one key leaves the key out."""
    if isinstance(store, SessionStore):
        return (to_text(window.key), window.start, window.end, to_text(value))
    return (window.start, to_text(value)) if has_key else (to_text(window.key), window.start, to_text(value))


def name_packed(store: AnyStore | None, key: bytes) -> str:
    """Return the name of a key, of a window or of a session that a store has packed; without a store it is a key."""
    if store is None or isinstance(store, CachingStore):
        return to_text(key)
    window = store.unpack(key)
    return f"{to_text(window.key)}@{window.start}" + (f"-{window.end}" if isinstance(store, SessionStore) else "")


class Downstream(NamedTuple):
    """The steps to perform at each key that one store forwards, and how many of its next forwards throw."""

    steps: dict[bytes, Sequence[ops.Op]]
    failing: dict[bytes, int]


class Adapter:
    """The operations as calls of the cache. `called` counts the calls of the current step."""

    def __init__(self, cache: ThreadCache, store_type: type[CachingStore], reentry_budget: int) -> None:
        self.cache = cache
        self.store_type = store_type
        self.reentry_budget = reentry_budget
        self.stores: dict[str, AnyStore] = {}
        self.views: dict[str, OpenView | OpenWindows] = {}
        self.downstream: dict[str, Downstream] = {}
        self.called = 0
        self.calls: list[Call] = []
        self.forwards: list[Forward] = []
        self.commands = {**self._commands(), **self._view_commands(), **self._window_commands()}
        self.questions = {**self._questions(), **self._view_questions(), **self._window_questions()}

    def step(self, op: ops.Op) -> Outcome:
        """Return the outcome of one operation, with the calls that were made during it."""
        answer = self.perform(op)
        calls, forwards = tuple(self.calls), tuple(self.forwards)
        self.called, self.calls, self.forwards = 0, [], []
        return Outcome(answer, calls, forwards)

    def perform(self, op: ops.Op) -> Answer:
        """Perform one operation, as a step or inside a call."""
        try:
            question = self.questions.get(type(op))
            if question is not None:
                return question(op)
            self.commands[type(op)](op)
        except tuple(ERRORS) as error:
            return ERRORS[type(error)]
        return DONE

    def performed(self, steps: Sequence[ops.Op]) -> tuple[Answer, ...]:
        """Perform the steps of one call, if the budget of the current step allows."""
        self.called += 1
        return () if self.called > self.reentry_budget else tuple([self.perform(op) for op in steps])

    def listen(self, op: ops.Listen) -> None:
        """Set a listener; every `listen` makes a new one."""
        steps = () if op.on_flush is ABSENT else op.on_flush
        fails = 0 if op.fails is ABSENT else op.fails

        def listener(handed: list[DirtyEntry]) -> None:
            nonlocal fails
            at = len(self.calls)
            entries = [
                outcomes.Handed(to_text(key), to_text_or_none(entry.value), outcomes.Context(*entry.context))
                for key, entry in handed
            ]
            self.calls.append(Call(op.ns, tuple(entries)))
            if fails:
                fails -= 1
                self.called += 1
                raise ListenerFailedError
            self.calls[at] = replace(self.calls[at], inner=self.performed(steps))

        self.cache.listen(op.ns, listener)

    def store(self, name: str) -> CachingStore:
        """Return the store of keys of that name, made at its first use.

        Raises:
            WrongStoreError: it is of another kind.
        """
        return of_kind(self.any_store(name), CachingStore)

    def any_store(self, name: str) -> AnyStore:
        """Return the store of that name; at its first use one of keys is made."""
        if name not in self.stores:
            self.stores[name] = self.make_store(view_ops.StoreOpen(name))
        return self.stores[name]

    def make_store(self, op: view_ops.StoreOpen) -> AnyStore:
        """Return a new store with nothing below it."""
        name = op.store
        downstream = self.downstream[name] = Downstream({}, {})
        if op.kind is ABSENT or op.kind is StoreKind.KEY_VALUE:

            def forward_key(key: bytes, value: bytes | None, *old: bytes | None) -> None:
                self.forward(name, downstream, Window(key, 0, 0), value, old, {})

            plain, with_old = self.listeners(op, forward_key)
            return self.store_type(self.cache, name, {}, plain, with_old)
        is_window = op.kind is StoreKind.WINDOW

        def forward_window(window: Window, value: bytes | None, *old: bytes | None) -> None:
            times = {"start": window.start} if is_window else {"start": window.start, "end": window.end}
            self.forward(name, downstream, window, value, old, times)

        plain, with_old = self.listeners(op, forward_window)
        retention = RETENTION_MS if op.retention is ABSENT else op.retention
        interval = SEGMENT_INTERVAL_MS if op.segment_interval is ABSENT else op.segment_interval
        timed = WindowStore if is_window else SessionStore
        return timed(
            self.cache, name, {}, retention, interval if op.below is Underlying.SEGMENTS else 1, plain, with_old
        )

    @staticmethod
    def listeners(op: view_ops.StoreOpen, listener: Callable[..., None]) -> tuple[Any, Any]:
        """Return the listener of a store as one without or with old values; a store may have none."""
        if op.listens is False:
            return None, None
        return (None, listener) if op.old_values else (listener, None)

    def forward(
        self,
        name: str,
        downstream: Downstream,
        window: Window,
        value: bytes | None,
        old: tuple[bytes | None, ...],
        times: Mapping[str, int],
    ) -> None:
        """Record one forwarded entry and perform the steps that are set for its key."""
        at = len(self.forwards)
        before = to_text_or_none(old[0]) if old else ABSENT
        self.forwards.append(Forward(name, to_text(window.key), to_text_or_none(value), (), before, **times))
        if downstream.failing.get(window.key, 0):
            downstream.failing[window.key] -= 1
            self.called += 1
            raise ListenerFailedError
        inner = self.performed(downstream.steps.get(window.key, ()))
        self.forwards[at] = replace(self.forwards[at], inner=inner)

    def open_store(self, name: str) -> AnyStore:
        """Return the store of that name if it is not closed.

        Raises:
            ClosedStoreError: it is closed.
        """
        store = self.any_store(name)
        store.require_open()
        return store

    def _commands(self) -> dict[type[Any], Callable[[Any], None]]:
        """Return the methods of the operations that answer nothing."""
        cache = self.cache
        return {
            ops.Put: lambda op: cache.put(op.ns, *to_write(op)),
            ops.PutAll: lambda op: cache.put_all(op.ns, map(to_write, op.entries)),
            ops.Listen: self.listen,
            ops.Flush: lambda op: cache.flush(op.ns),
            ops.Evict: lambda op: cache.evict(op.ns),
            ops.Clear: lambda op: cache.clear(op.ns),
            ops.Close: lambda op: cache.close(op.ns),
            ops.Resize: lambda op: cache.resize(op.max_size_bytes),
            ops.StorePut: lambda op: self.store(op.store).put(to_bytes(op.key), to_bytes_or_none(op.value)),
            ops.StoreFlush: lambda op: self.any_store(op.store).flush(),
            ops.OnForward: self.on_forward,
        }

    def _questions(self) -> dict[type[Any], Callable[[Any], Answer]]:
        """Return the methods of the operations that answer something."""
        cache = self.cache
        return {
            ops.PutIfAbsent: self.put_if_absent,
            ops.Get: self.get,
            ops.Delete: self.delete,
            ops.Range: lambda op: list_answer(
                cache.range(op.ns, to_bytes_or_none(op.from_), to_bytes_or_none(op.to), op.to_inclusive)
            ),
            ops.ReverseRange: lambda op: list_answer(
                cache.reverse_range(op.ns, to_bytes_or_none(op.from_), to_bytes_or_none(op.to))
            ),
            ops.All: lambda op: list_answer(cache.range(op.ns)),
            ops.ReverseAll: lambda op: list_answer(cache.reverse_range(op.ns)),
            ops.Usage: self.usage,
            ops.Metrics: self.metrics,
            ops.StoreGet: lambda op: outcomes.Value(to_text_or_none(self.store(op.store).get(to_bytes(op.key)))),
            ops.StoreDelete: lambda op: outcomes.Value(to_text_or_none(self.store(op.store).delete(to_bytes(op.key)))),
            ops.StoreRange: lambda op: list_answer(
                self.store(op.store).range(to_bytes_or_none(op.from_), to_bytes_or_none(op.to))
            ),
            ops.StoreAll: lambda op: list_answer(self.store(op.store).range()),
            ops.StoreInner: self.store_inner,
            ops.Share: lambda op: outcomes.Shared(cache.share(op.total_bytes, op.threads, op.global_thread)),
        }

    def _view_commands(self) -> dict[type[Any], Callable[[Any], None]]:
        """Return the methods of the operations of level `views` that answer nothing."""
        return {
            view_ops.StorePutAll: lambda op: self.store(op.store).put_all(
                [(to_bytes(key), to_bytes_or_none(value)) for key, value in op.entries]
            ),
            view_ops.StoreClear: lambda op: self.any_store(op.store).clear(),
            view_ops.FailForward: self.fail_forward,
            view_ops.StoreClose: lambda op: self.any_store(op.store).close(),
            view_ops.ViewClose: self.view_close,
        }

    def _view_questions(self) -> dict[type[Any], Callable[[Any], Answer]]:
        """Return the methods of the operations of level `views` that answer something."""
        return {
            view_ops.StoreOpen: self.store_open,
            view_ops.StoreView: self.store_view,
            view_ops.ViewOpen: self.view_open,
            view_ops.ViewNext: self.view_next,
            view_ops.StorePutIfAbsent: lambda op: outcomes.Value(
                to_text_or_none(self.store(op.store).put_if_absent(to_bytes(op.key), to_bytes_or_none(op.value)))
            ),
            view_ops.StoreCount: lambda op: outcomes.Counted(self.store(op.store).count()),
            view_ops.StoreQuery: lambda op: outcomes.Value(
                to_text_or_none(self.store(op.store).query(to_bytes(op.key), op.skip_cache))
            ),
            view_ops.StoreQueryRange: lambda op: list_answer(
                self.store(op.store).range(to_bytes_or_none(op.from_), to_bytes_or_none(op.to))
            ),
        }

    def store_open(self, op: view_ops.StoreOpen) -> Answer:
        """Open a store with nothing below it; one that is open is refused."""
        if op.store in self.stores and self.stores[op.store].is_open:
            return REFUSED
        self.stores[op.store] = self.make_store(op)
        return DONE

    def store_view(self, op: view_ops.StoreView) -> Answer:
        """Return a view; a prefix stands alone."""
        bounds = to_bytes_or_none(op.from_), to_bytes_or_none(op.to)
        if op.prefix is not None and (op.backward or bounds != (None, None)):
            return REFUSED
        store = self.store(op.store)
        if op.isolation is view_ops.Isolation.COMMITTED:
            return list_answer(store.read_committed(*bounds, op.backward, to_bytes_or_none(op.prefix)))
        if op.prefix is not None:
            return list_answer(store.prefix_scan(to_bytes(op.prefix)))
        return list_answer(store.reverse_range(*bounds) if op.backward else store.range(*bounds))

    def view_open(self, op: view_ops.ViewOpen) -> Answer:
        """Open a view; a prefix stands alone, and a name is free once the store of its view is closed."""
        if op.view in self.views and self.views[op.view].store.is_open:
            return REFUSED
        store = self.stores.get(op.store)
        if isinstance(store, WindowStore):
            self.views[op.view] = store.open_view(**range_of(op, TIMES[:2]))
        elif isinstance(store, SessionStore):
            self.views[op.view] = store.open_view(**session_range(op))
        else:
            self.views[op.view] = self.open_key_view(op)
        return DONE

    def open_key_view(self, op: view_ops.ViewOpen) -> OpenView:
        """Open a view of keys.

        Raises:
            WrongStoreError: it has a prefix and bounds, one key, or times.
        """
        bounds = bound_of(op.from_), bound_of(op.to)
        if (op.prefix is not None and (op.backward or bounds != (None, None))) or is_given(op, "key", *TIMES):
            raise WrongStoreError
        return self.store(op.store).open_view(*bounds, op.backward, to_bytes_or_none(op.prefix))

    def view_next(self, op: view_ops.ViewNext) -> Answer:
        """Return the next entry of a view, or its end."""
        view = self.open_view(op.view)
        if isinstance(view, OpenWindows):
            window = view.next()
            return outcomes.NextEntry(None if window is None else entry_of(view.store, *window, view.of_one_key))
        entry = view.next()
        return outcomes.NextEntry(None if entry is None else (to_text(entry[0]), to_text_or_none(entry[1])))

    def view_close(self, op: view_ops.ViewClose) -> None:
        """Close a view."""
        self.open_view(op.view)
        del self.views[op.view]

    def open_view(self, name: str) -> OpenView | OpenWindows:
        """Return the open view of that name.

        Raises:
            ClosedStoreError: there is none, or its store is closed.
        """
        if name not in self.views:
            raise ClosedStoreError(f"no view {name!r} is open")
        self.views[name].store.require_open()
        return self.views[name]

    def _window_commands(self) -> dict[type[Any], Callable[[Any], None]]:
        """Return the methods of the operations of level `windows` that answer nothing."""
        return {
            view_ops.WindowPut: lambda op: self.windows(op.store).put(
                to_bytes(op.key), op.start, to_bytes_or_none(op.value)
            ),
            view_ops.SessionPut: lambda op: self.sessions(op.store).put(*session_of(op), to_bytes_or_none(op.value)),
            view_ops.SessionRemove: lambda op: self.sessions(op.store).remove(*session_of(op)),
        }

    def _window_questions(self) -> dict[type[Any], Callable[[Any], Answer]]:
        """Return the methods of the operations of level `windows` that answer something."""
        return {
            view_ops.WindowGet: lambda op: outcomes.Value(
                to_text_or_none(self.windows(op.store).get(to_bytes(op.key), op.start))
            ),
            view_ops.SessionGet: lambda op: outcomes.Value(
                to_text_or_none(self.sessions(op.store).get(*session_of(op)))
            ),
            view_ops.WindowView: lambda op: self.list_windows(
                op.store, self.windows(op.store).fetch(**range_of(op, TIMES[:2])), op.key is not ABSENT
            ),
            view_ops.SessionView: lambda op: self.list_windows(
                op.store, self.sessions(op.store).find(**session_range(op)), False
            ),
        }

    def windows(self, name: str) -> WindowStore:
        """Return the store of windows of that name; raise WrongStoreError if there is none."""
        return of_kind(self.stores.get(name), WindowStore)

    def sessions(self, name: str) -> SessionStore:
        """Return the store of sessions of that name; raise WrongStoreError if there is none."""
        return of_kind(self.stores.get(name), SessionStore)

    def list_windows(self, name: str, entries: Sequence[tuple[Window, bytes]], has_key: bool) -> Answer:
        """Return windows with their values as an answer. Sessions that end together stand by their start."""
        listing = [entry_of(self.stores[name], *entry, has_key) for entry in entries]
        is_of_sessions = isinstance(self.stores[name], SessionStore)
        return outcomes.WindowListing(tuple(wire.order_sessions(listing) if is_of_sessions else listing))

    def store_inner(self, op: ops.StoreInner) -> Answer:
        """Return the content of an underlying store."""
        store = self.open_store(op.store)
        if isinstance(store, CachingStore):
            return list_answer(sorted(store.underlying.items()))
        return self.list_windows(op.store, store.list_underlying(), False)

    def put_if_absent(self, op: ops.PutIfAbsent) -> Answer:
        """Offer a write and return the previous value."""
        entry = self.cache.put_if_absent(op.ns, *to_write(op))
        return outcomes.Offered(entry is not None, None if entry is None else to_text_or_none(entry.value))

    def get(self, op: ops.Get) -> Answer:
        """Look a key up; a tombstone is a hit."""
        entry = self.cache.get(op.ns, to_bytes_or_none(op.key))
        return outcomes.Lookup(entry is not None, None if entry is None else to_text_or_none(entry.value))

    def delete(self, op: ops.Delete) -> Answer:
        """Delete a key and return the previous value."""
        entry = self.cache.delete(op.ns, to_bytes(op.key))
        return outcomes.Deleted(entry is not None, None if entry is None else to_text_or_none(entry.value))

    def usage(self, op: ops.Usage) -> Answer:
        """Return the usage of one namespace, or of all with the running total."""
        if op.ns is ABSENT:
            used = self.cache.usage()
            return outcomes.Used(used.entries, used.size_bytes, self.cache.size_bytes)
        return outcomes.Used(*self.cache.usage(op.ns))

    def metrics(self, op: ops.Metrics) -> Answer:
        """Return the counters of the thread, or of one namespace."""
        if op.ns is ABSENT:
            return outcomes.ThreadCounters(*self.cache.thread_counters())
        counters = self.cache.counters(op.ns)
        keys = (
            tuple(name_packed(self.stores.get(op.ns), key) for key in keys)
            for keys in (counters.dirty, counters.recent)
        )
        return outcomes.NamespaceCounters(*counters[:4], *keys)

    def on_forward(self, op: ops.OnForward) -> None:
        """Set the downstream steps of a key from now on."""
        self.open_store(op.store)
        self.downstream[op.store].steps[to_bytes(op.key)] = op.steps

    def fail_forward(self, op: view_ops.FailForward) -> None:
        """Let the next forwards of a key throw."""
        self.open_store(op.store)
        self.downstream[op.store].failing[to_bytes(op.key)] = op.n


DECLARATION: Final[dict[str, Any]] = {
    "ops": [op.name for op in ops.OPS],
    "introspection": ["dirty", "lru", "tracked"],
    "limits": {"isolation_reads": True},
}
"""The offer of the fast cache as in a start answer: every key of the configuration varies."""


def open_cache(
    config: Config,
    cache_type: type[ThreadCache] = ThreadCache,
    store_type: type[CachingStore] = CachingStore,
    on_row: Callable[[Row], None] | None = None,
) -> Callable[[ops.Op], Outcome]:
    """Open an empty instance: a function from an operation to its outcome."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 5_000))  # forwards within forwards, up to a budget of 64
    return Adapter(cache_type(config.max_size_bytes, on_row), store_type, config.reentry_budget).step


def open_shared(config: Config) -> Callable[[ops.Op], Outcome]:
    """Open an empty instance that several threads may call, one step after another under a lock."""
    step = open_cache(config)
    lock = Lock()

    def alone(op: ops.Op) -> Outcome:
        with lock:
            return step(op)

    return alone


FAST: Final = LocalSubject(
    {**DECLARATION, "limits": {"threads": 8, "isolation_reads": True}},
    open_cache,
    open_shared,
    open_with_rows=lambda config, on_row: open_cache(config, on_row=on_row),
)
"""The fast cache as a subject; behind a lock it takes histories."""


FAULTS: Final = all_fault_subjects(fault_subjects(SUBJECTS, DECLARATION), DECLARATION, open_cache, CACHE_FAULTS)
"""The seeded faults as subjects by name: those of the reference, and those of the fast cache."""

THREAD_FAULT_OPENERS: Final = dict(THREAD_SUBJECTS)
"""The functions that open a faulty reference for several threads, by the name of the fault."""


__all__ = ["DECLARATION", "FAST", "CachingStore", "ThreadCache", "open_cache", "open_shared"]
