"""Make the calls of a trace once more, on a fast cache with other settings.

A `Driver` owns the cache and turns each `Call` into a call of the cache. Rows do not show all arguments of a call;
`ReaderHabits` fills the gaps from what the trace shows of its readers. `docs/how-to/simulate-settings.md` lists these
assumptions. Under the settings of the trace itself none of them is needed.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from entrycache_fast import BrokerCache, Row, StoredEntry
from entrycache_simulate.configs import complete_config
from entrycache_trace import pulsar_pip430_calls as calls
from entrycache_trace.pulsar_pip430_calls import Call, EntryPosition

DYNAMIC_SETTINGS: Final = ("max_size_bytes", "watermark", "ttl_nanos", "max_requeues", "extend_recently_accessed")
"""The settings that a running broker can change."""


class ReaderHabits:
    """The habits of the readers of a trace, needed when the simulated cache misses what the recorded one had."""

    def __init__(self, all_calls: Sequence[Call]) -> None:
        self.deliveries_follow = _deliveries_follow(all_calls)
        """True if a delivery immediately followed each lookup that hit a counted entry."""
        self.offers_on_demand = any(isinstance(call.event, calls.UncachedAdd) for call in all_calls)
        """True if the broker offers entries only when a cursor or the grace period wants them."""
        self._counts: dict[str, int] = {}
        self._tracked: dict[str, dict[str, tuple[int, int]]] = {}

    def follow_cursor(self, event: calls.Cursor) -> None:
        """Follow a cursor that was added, moved or removed."""
        tracked = self._tracked.setdefault(event.cache, {})
        if event.op == "CURSOR_REMOVE" or event.position is None:
            tracked.pop(event.cursor, None)
        else:
            tracked[event.cursor] = event.position

    def expected_reads(self, event: calls.Read) -> int:
        """Return the count of the fills of a read, from the trace or as an estimate.

        The estimate is the number of tracked cursors at or before the read if cursors are recorded, else the count of
        the last fill of that cache, else 1.
        """
        cache = event.first.cache
        if event.expected_reads is not None:
            self._counts[cache] = event.expected_reads
            return event.expected_reads
        tracked = self._tracked.get(cache)
        if tracked:
            at = (event.first.ledger, event.first.entry)
            return sum(position <= at for position in tracked.values())
        return self._counts.get(cache, 1)


def _deliveries_follow(all_calls: Sequence[Call]) -> bool:
    any_hit = False
    for call, after in zip(all_calls, (*all_calls[1:], None), strict=True):
        event = call.event
        if isinstance(event, calls.Lookup) and event.hit and event.counted:
            any_hit = True
            if (
                after is None
                or not isinstance(after.event, calls.Delivery)
                or after.event.positions != (event.position,)
            ):
                return False
    return any_hit


class Driver:
    """A fast cache, and the calls of one broker that are made on it."""

    def __init__(
        self,
        config: Mapping[str, Any],
        requeue_budget: str,
        on_row: Callable[[Row], None],
        recorded: Mapping[str, Any],
        requested: Collection[str] | None,
        habits: ReaderHabits,
    ) -> None:
        """Open an empty cache.

        `recorded` is the configuration of the trace. `requested` names the settings that the user gave; they keep
        their values when the trace changes them. None means that the trace runs under its own settings, and every
        recorded offer is made.
        """
        self._now_nanos = 0
        self._config = dict(config)
        self.cache = BrokerCache(
            **self._config,
            clock=lambda: self._now_nanos,
            on_row=on_row,
            storage=self._stored,
            requeue_budget="split" if requeue_budget == "split" else "shared",
        )
        self._sizes: Mapping[int, int] = {}
        self._counts_reads = self._config["evict_by_expected_reads"] or not recorded["evict_by_expected_reads"]
        self._own_ttl_nanos: int = recorded["ttl_nanos"]
        self._own = requested is None
        self._requested = requested or ()
        self._habits = habits
        self._inserted: dict[EntryPosition, int | None] = {}
        self._holds: dict[int, list[str]] = {}
        self._functions: dict[type[Any], Callable[[Any], object]] = {
            calls.Insert: self._insert,
            calls.UncachedAdd: self._add_uncached,
            calls.Lookup: self._look_up,
            calls.Read: self._read,
            calls.Release: self._release,
            calls.Delivery: self._deliver,
            calls.ExpectRead: lambda event: self.cache.expect_read(*event.position),
            calls.Expire: self._expire,
            calls.Evict: lambda event: self.cache.evict(event.size_bytes),
            calls.Cycle: lambda event: self.cache.cycle(),
            calls.RunScheduled: lambda event: self.cache.run_scheduled(),
            calls.Remove: self._remove,
            calls.Close: lambda event: self.cache.remove_cache(event.cache),
            calls.Cursor: self._cursor,
            calls.Configure: self._configure,
        }

    def make(self, call: Call) -> None:
        """Make one call."""
        self._now_nanos = call.ts_ns
        self._functions[type(call.event)](call.event)

    def _stored(self, cache: str, ledger: int, entry: int) -> StoredEntry:
        return StoredEntry(self._sizes.get(entry, self.cache.storage_entry_size), None)

    def _insert(self, event: calls.Insert) -> None:
        """Offer an entry. A refused offer does not show its count, so that of the first offer is used."""
        first = self._inserted.setdefault(event.position, event.expected_reads)
        count = first if event.refused and event.expected_reads is None else event.expected_reads
        if self._habits.offers_on_demand and not self._own and not self.cache.should_cache(event.position.cache):
            return
        self.cache.insert(*event.position, event.size_bytes, None, count if self._counts_reads else None)

    def _add_uncached(self, event: calls.UncachedAdd) -> None:
        """Offer an entry that nobody wanted if the simulated grace period wants it, with one read for each cursor."""
        name = event.position.cache
        if not self._own and self.cache.should_cache(name):
            count = self.cache.cursors(name) if self._counts_reads else None
            self.cache.insert(*event.position, event.size_bytes, None, count)

    def _look_up(self, event: calls.Lookup) -> None:
        if event.hit or not self._habits.deliveries_follow:
            self.cache.get(*event.position)
            return
        cached = self.cache.exists(*event.position)
        self.cache.get(*event.position)
        if cached:
            self.cache.mark_read(*event.position)

    def _read(self, event: calls.Read) -> None:
        self._sizes = event.sizes
        count = self._habits.expected_reads(event)
        cache, ledger, entry = event.first
        last = (ledger, event.last_entry)
        hold = None
        if event.hold is not None:
            parts = self._holds.setdefault(event.hold, [])
            hold = f"read {event.hold}.{len(parts)}"
            parts.append(hold)
        self.cache.read(cache, (ledger, entry), last, count if self._counts_reads else 0, hold)

    def _release(self, event: calls.Release) -> None:
        for hold in self._holds.pop(event.hold):
            self.cache.release(hold)

    def _deliver(self, event: calls.Delivery) -> None:
        for place in event.positions:
            self.cache.mark_read(*place)

    def _expire(self, event: calls.Expire) -> None:
        own = event.older_than_nanos == self._own_ttl_nanos
        self.cache.expire(None if own else event.older_than_nanos)

    def _remove(self, event: calls.Remove) -> None:
        cache, ledger, entry = event.last
        if event.cause == "CLEAR":
            self.cache.clear(cache)
        elif event.cause == "LEDGER":
            self.cache.invalidate_ledger(cache, ledger)
        elif event.cause == "CURSOR":
            self.cache.invalidate_before(cache, (ledger, entry + 1))
        else:
            self.cache.remove_range(cache, event.first[1:], (ledger, entry), True)

    def _cursor(self, event: calls.Cursor) -> None:
        self._habits.follow_cursor(event)
        if event.op == "CURSOR_ADD":
            self.cache.cursor_add(event.cache, event.cursor, event.position)
        elif event.op == "CURSOR_MOVE":
            self.cache.cursor_move(event.cache, event.cursor, event.position)
        else:
            self.cache.cursor_remove(event.cache, event.cursor)

    def _configure(self, event: calls.Configure) -> None:
        dynamic = {key: event.config[key] for key in DYNAMIC_SETTINGS if key in event.config}
        new_config = complete_config({**self._config, **dynamic}, "a CONFIG of the trace")
        changed = {
            key: new_config[key] for key in DYNAMIC_SETTINGS if key in event.config and key not in self._requested
        }
        self._own_ttl_nanos = new_config["ttl_nanos"] if "ttl_nanos" in event.config else self._own_ttl_nanos
        if 0 in {self.cache.max_size_bytes, changed.get("max_size_bytes")}:
            changed.pop("max_size_bytes", None)
        self.cache.configure(**changed)
