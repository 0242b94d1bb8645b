"""Faults of level `manager`: trigger, periodic task, settings, invalidation, counters."""

from __future__ import annotations

from typing import Any, Final

from entrycache_fast import BrokerCache, Removal
from entrycache_fast.pulsar.store import Counters, Entry


class TriggerReached(BrokerCache):
    """An insert that reaches the trigger exactly runs a size pass."""

    def _set_thresholds(self) -> None:
        super()._set_thresholds()
        self.trigger_bytes -= 1


class TriggerTargetOfTrigger(BrokerCache):
    """The target is the watermark's share of the trigger instead of the limit."""

    def _set_thresholds(self) -> None:
        super()._set_thresholds()
        self.target_bytes = int(self.trigger_bytes * self.watermark)


class TriggerFreesWhatCame(BrokerCache):
    """A triggered pass frees as many bytes as the insert brought."""

    def _crossed(self) -> None:
        added = self._queue[-1].size_bytes
        if self.eviction == "manual" or not added or self.size_bytes <= self.target_bytes:
            super()._crossed()
            return
        self._counts.eviction_cycles += 1
        self._run_pass("SIZE", "TRIGGER", self._clock(), added)


class TriggerByDuplicate(BrokerCache):
    """A duplicate insert triggers a size pass where the bytes are above the trigger."""

    def _reject(self, cached: Entry, size_bytes: int) -> bool:
        super()._reject(cached, size_bytes)
        if self.size_bytes > self.trigger_bytes:
            self._crossed()
        return False


class TriggerFlagClearedByCycle(BrokerCache):
    """A cycle clears the flag of the scheduled pass."""

    def cycle(self) -> Removal:
        """Clear it."""
        done = super().cycle()
        self._scheduled = False
        return done


class TriggerFlagStays(BrokerCache):
    """A run_scheduled that finds nothing to free any more leaves the flag set."""

    def run_scheduled(self) -> Removal:
        """Clear the flag only if the pass runs."""
        before = self._scheduled
        done = super().run_scheduled()
        self._scheduled = before and done == (0, 0)
        return done


class TriggerTellsWhatStayed(BrokerCache):
    """An insert whose entry the triggered pass removes answers that it was not added."""

    def insert(
        self,
        cache: str,
        ledger: int,
        entry: int,
        size_bytes: int,
        value: object = None,
        expected_reads: int | None = None,
    ) -> bool:
        """Look whether it is still there."""
        done = super().insert(cache, ledger, entry, size_bytes, value, expected_reads)
        return done and self._find(cache, ledger, entry) is not None


class TriggerFreesAtLeastOne(BrokerCache):
    """A size pass runs where the bytes are above the trigger but not above the target."""

    def _crossed(self) -> None:
        if self.eviction == "inline" and self.size_bytes <= self.target_bytes:
            self._run_pass("SIZE", "TRIGGER", self._clock(), 1)
        else:
            super()._crossed()


class TriggerCycleSizeFirst(BrokerCache):
    """A cycle runs its size pass before its time pass."""

    def cycle(self) -> Removal:
        """Turn the order."""
        relieved = self._relieve("CYCLE")
        expired = super().cycle()
        return Removal(relieved.entries + expired.entries, relieved.size_bytes + expired.size_bytes)


class TriggerCycleTellsSizeOnly(BrokerCache):
    """A cycle answers what its size pass removed, not what its time pass did."""

    def cycle(self) -> Removal:
        """Forget the time pass."""
        cutoff = self._cutoff(self._clock(), self.ttl_nanos)
        self._run_pass("TIME", "CYCLE", self._clock(), cutoff)
        return self._relieve("CYCLE")


class TriggerCycleFirstTtl(BrokerCache):
    """A cycle expires by the time to live of the start, whatever was configured since."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._first_ttl_nanos = self.ttl_nanos

    def cycle(self) -> Removal:
        """Use the old time to live."""
        now, self.ttl_nanos = self.ttl_nanos, self._first_ttl_nanos
        try:
            return super().cycle()
        finally:
            self.ttl_nanos = now


class ConfigShrinksAtOnce(BrokerCache):
    """A configure that lowers the limit runs a size pass at once."""

    def configure(self, **settings: Any) -> None:
        """Look whether it is crossed now."""
        super().configure(**settings)
        if self.size_bytes > self.trigger_bytes:
            self._crossed()


class ConfigTriggerForgotten(BrokerCache):
    """A configure that changes the limit leaves the trigger as it was."""

    def configure(self, **settings: Any) -> None:
        """Keep the trigger."""
        trigger_bytes = self.trigger_bytes
        super().configure(**settings)
        self.trigger_bytes = trigger_bytes


class ConfigOthersReset(BrokerCache):
    """A configure puts a limit that it does not name back to where it began."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._first_max_size_bytes = self.max_size_bytes

    def configure(self, *, max_size_bytes: int | None = None, **others: Any) -> None:
        """Name it always, where there is a limit."""
        first = self._first_max_size_bytes or None
        super().configure(max_size_bytes=first if max_size_bytes is None else max_size_bytes, **others)


class InvalidateBeforeIncluded(BrokerCache):
    """An invalidate_before removes the entry at the position too."""

    def invalidate_before(self, cache: str, position: tuple[int, int]) -> Removal:
        """Go one further."""
        return super().invalidate_before(cache, (position[0], position[1] + 1))


class InvalidateLedgerFirstOnly(BrokerCache):
    """An invalidate_ledger leaves the last entry of the ledger."""

    def invalidate_ledger(self, cache: str, ledger: int) -> Removal:
        """Exclude the end."""
        home = self._open(cache).ledgers.get(ledger)
        last = max((number for number in home), default=0) if home else 0
        return self.remove_range(cache, (ledger, 0), (ledger, last), False)


class InvalidateLedgerKeepsBytes(BrokerCache):
    """An invalidate_ledger does not take what it removed from the bytes of the manager."""

    def invalidate_ledger(self, cache: str, ledger: int) -> Removal:
        """Put the bytes back."""
        removed = super().invalidate_ledger(cache, ledger)
        self.size_bytes += removed.size_bytes
        return removed


class MetricsEvictIsACycle(BrokerCache):
    """An evict counts as an eviction cycle."""

    def evict(self, size_bytes: int) -> Removal:
        """Count it."""
        done = super().evict(size_bytes)
        self._counts.eviction_cycles += 1
        return done


class MetricsClearNotCounted(BrokerCache):
    """What a clear removes is not counted as evicted."""

    _uncounted = 0

    def clear(self, cache: str) -> Removal:
        """Remember what is to be left out."""
        done = super().clear(cache)
        self._uncounted += done.entries
        return done

    def metrics(self) -> Counters:
        """Leave it out."""
        shown = super().metrics()
        return shown._replace(evicted_entries=shown.evicted_entries - self._uncounted)


class MetricsStartAgain(BrokerCache):
    """Asking for the counters starts the one of eviction cycles again."""

    def metrics(self) -> Counters:
        """Start it again."""
        shown = super().metrics()
        self._counts.eviction_cycles = 0
        return shown


MANAGER: Final[dict[str, type[BrokerCache]]] = {
    "trigger-reached": TriggerReached,
    "trigger-target-of-trigger": TriggerTargetOfTrigger,
    "trigger-frees-what-came": TriggerFreesWhatCame,
    "trigger-by-duplicate": TriggerByDuplicate,
    "trigger-flag-cleared-by-cycle": TriggerFlagClearedByCycle,
    "trigger-flag-stays": TriggerFlagStays,
    "trigger-tells-what-stayed": TriggerTellsWhatStayed,
    "trigger-frees-at-least-one": TriggerFreesAtLeastOne,
    "trigger-cycle-size-first": TriggerCycleSizeFirst,
    "trigger-cycle-tells-size-only": TriggerCycleTellsSizeOnly,
    "trigger-cycle-first-ttl": TriggerCycleFirstTtl,
    "config-shrinks-at-once": ConfigShrinksAtOnce,
    "config-trigger-forgotten": ConfigTriggerForgotten,
    "config-others-reset": ConfigOthersReset,
    "invalidate-before-included": InvalidateBeforeIncluded,
    "invalidate-ledger-first-only": InvalidateLedgerFirstOnly,
    "invalidate-ledger-keeps-bytes": InvalidateLedgerKeepsBytes,
    "metrics-evict-is-a-cycle": MetricsEvictIsACycle,
    "metrics-clear-not-counted": MetricsClearNotCounted,
    "metrics-start-again": MetricsStartAgain,
}
"""The faults of this level."""
