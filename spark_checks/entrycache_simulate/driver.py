"""Making the calls of a trace once more, on a fast cache with other settings.

What the rows do not show is assumed; `docs/how-to/simulate-settings.md` lists it. Under the trace's own settings none
of these assumptions is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from entrycache_fast import BrokerCache, Row, StoredEntry
from entrycache_simulate.configs import complete_config
from entrycache_trace import pulsar_pip430_calls
from entrycache_trace.pulsar_pip430_calls import Call, EntryPosition

DYNAMIC_SETTINGS: Final = ("max_size_bytes", "watermark", "ttl_nanos", "max_requeues", "extend_recently_accessed")
"""The settings that a running broker can change."""


class ReaderHabits:
    """What a trace shows of its readers: asked for where a simulated cache misses what the recorded one had."""

    def __init__(self, all_calls: Sequence[Call]) -> None:
        self.deliveries_follow = _deliveries_follow(all_calls)
        """Whether each lookup that hit a counted entry was followed at once by its delivery."""
        self.asks = any(isinstance(call.event, pulsar_pip430_calls.UncachedAdd) for call in all_calls)
        """Whether entries are offered only when a cursor, or the grace period, wants them."""
        self._counts: dict[str, int] = {}
        self._tracked: dict[str, dict[str, tuple[int, int]]] = {}

    def cursor(self, event: pulsar_pip430_calls.Cursor) -> None:
        """A cursor has moved."""
        tracked = self._tracked.setdefault(event.cache, {})
        if event.op == "CURSOR_REMOVE" or event.position is None:
            tracked.pop(event.cursor, None)
        else:
            tracked[event.cursor] = event.position

    def read(self, event: pulsar_pip430_calls.Read) -> int:
        """The count of the fills of a read: what the trace says, else what it lets expect.

        That is the number of tracked cursors at or before the read, where cursors are recorded, else the count of the
        last fill of that cache, else 1.
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
    seen = False
    for call, after in zip(all_calls, (*all_calls[1:], None), strict=True):
        event = call.event
        if isinstance(event, pulsar_pip430_calls.Lookup) and event.hit and event.counted:
            seen = True
            if (
                after is None
                or not isinstance(after.event, pulsar_pip430_calls.Delivery)
                or after.event.places != (event.place,)
            ):
                return False
    return seen


class Driver:
    """A fast cache that is given the calls of one broker."""

    def __init__(
        self,
        config: Mapping[str, Any],
        requeue_budget: str,
        on_row: Callable[[Row], None],
        recorded: Mapping[str, Any],
        asked: Collection[str] | None,
        habits: ReaderHabits,
    ) -> None:
        """Open an empty cache.

        `recorded` is the configuration of the trace. `asked` names the settings that were asked for, which stay as they
        are when the trace changes them; None: none was, and what the trace offered is offered.
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
        self._own = asked is None
        self._asked = asked or ()
        self._habits = habits
        self._inserted: dict[EntryPosition, int | None] = {}
        self._holds: dict[int, list[str]] = {}
        self._functions: dict[type[Any], Callable[[Any], object]] = {
            pulsar_pip430_calls.Insert: self._insert,
            pulsar_pip430_calls.UncachedAdd: self._unwanted,
            pulsar_pip430_calls.Lookup: self._look_up,
            pulsar_pip430_calls.Read: self._read,
            pulsar_pip430_calls.Release: self._released,
            pulsar_pip430_calls.Delivery: self._delivered,
            pulsar_pip430_calls.ExpectRead: lambda event: self.cache.expect_read(*event.place),
            pulsar_pip430_calls.Expire: self._expire,
            pulsar_pip430_calls.Evict: lambda event: self.cache.evict(event.size_bytes),
            pulsar_pip430_calls.Cycle: lambda event: self.cache.cycle(),
            pulsar_pip430_calls.RunScheduled: lambda event: self.cache.run_scheduled(),
            pulsar_pip430_calls.Remove: self._remove,
            pulsar_pip430_calls.Close: lambda event: self.cache.remove_cache(event.cache),
            pulsar_pip430_calls.Cursor: self._cursor,
            pulsar_pip430_calls.Configure: self._configure,
        }

    def make(self, call: Call) -> None:
        """Make one call."""
        self._now_nanos = call.ts_ns
        self._functions[type(call.event)](call.event)

    def _stored(self, cache: str, ledger: int, entry: int) -> StoredEntry:
        return StoredEntry(self._sizes.get(entry, self.cache.storage_entry_size), None)

    def _insert(self, event: pulsar_pip430_calls.Insert) -> None:
        """An offer that was refused does not say its count: that of the first offer is taken."""
        first = self._inserted.setdefault(event.place, event.expected_reads)
        count = first if event.refused and event.expected_reads is None else event.expected_reads
        if self._habits.asks and not self._own and not self.cache.should_cache(event.place.cache):
            return
        self.cache.insert(*event.place, event.size_bytes, None, count if self._counts_reads else None)

    def _unwanted(self, event: pulsar_pip430_calls.UncachedAdd) -> None:
        """Under other settings the grace period may be longer: then it is cached like others, one read a cursor."""
        name = event.place.cache
        if not self._own and self.cache.should_cache(name):
            count = self.cache.cursors(name) if self._counts_reads else None
            self.cache.insert(*event.place, event.size_bytes, None, count)

    def _look_up(self, event: pulsar_pip430_calls.Lookup) -> None:
        if event.hit or not self._habits.deliveries_follow:
            self.cache.get(*event.place)
            return
        found = self.cache.exists(*event.place)
        self.cache.get(*event.place)
        if found:
            self.cache.mark_read(*event.place)

    def _read(self, event: pulsar_pip430_calls.Read) -> None:
        self._sizes = event.sizes
        count = self._habits.read(event)
        cache, ledger, entry = event.first
        last = (ledger, event.last_entry)
        hold = None
        if event.hold is not None:
            parts = self._holds.setdefault(event.hold, [])
            hold = f"read {event.hold}.{len(parts)}"
            parts.append(hold)
        self.cache.read(cache, (ledger, entry), last, count if self._counts_reads else 0, hold)

    def _released(self, event: pulsar_pip430_calls.Release) -> None:
        for hold in self._holds.pop(event.hold):
            self.cache.release(hold)

    def _delivered(self, event: pulsar_pip430_calls.Delivery) -> None:
        for place in event.places:
            self.cache.mark_read(*place)

    def _expire(self, event: pulsar_pip430_calls.Expire) -> None:
        own = event.older_than_nanos == self._own_ttl_nanos
        self.cache.expire(None if own else event.older_than_nanos)

    def _remove(self, event: pulsar_pip430_calls.Remove) -> None:
        cache, ledger, entry = event.last
        if event.cause == "CLEAR":
            self.cache.clear(cache)
        elif event.cause == "LEDGER":
            self.cache.invalidate_ledger(cache, ledger)
        elif event.cause == "CURSOR":
            self.cache.invalidate_before(cache, (ledger, entry + 1))
        else:
            self.cache.remove_range(cache, event.first[1:], (ledger, entry), True)

    def _cursor(self, event: pulsar_pip430_calls.Cursor) -> None:
        self._habits.cursor(event)
        if event.op == "CURSOR_ADD":
            self.cache.cursor_add(event.cache, event.cursor, event.position)
        elif event.op == "CURSOR_MOVE":
            self.cache.cursor_move(event.cache, event.cursor, event.position)
        else:
            self.cache.cursor_remove(event.cache, event.cursor)

    def _configure(self, event: pulsar_pip430_calls.Configure) -> None:
        given = {key: event.config[key] for key in DYNAMIC_SETTINGS if key in event.config}
        said = complete_config({**self._config, **given}, "a CONFIG of the trace")
        changed = {key: said[key] for key in DYNAMIC_SETTINGS if key in event.config and key not in self._asked}
        self._own_ttl_nanos = said["ttl_nanos"] if "ttl_nanos" in event.config else self._own_ttl_nanos
        if 0 in {self.cache.max_size_bytes, changed.get("max_size_bytes")}:
            changed.pop("max_size_bytes", None)
        self.cache.configure(**changed)
