"""The limit is kept: triggers, the periodic task, settings that change, counters."""

from __future__ import annotations

from typing import Literal

from entrycache_fast.pulsar import row as rows
from entrycache_fast.pulsar.passes import Passes
from entrycache_fast.pulsar.settings import check_numbers, check_watermark
from entrycache_fast.pulsar.views import Counters, Removed


class Managed(Passes):
    """What the owner calls from time to time."""

    def cycle(self) -> Removed:
        """Run a time pass, then a size pass if the bytes are still above the trigger; what both removed."""
        now_nanos = self._clock()
        expired = self._run_pass("TIME", "CYCLE", now_nanos, self._cutoff(now_nanos, self.ttl_nanos))
        relieved = self._relieve("CYCLE")
        return Removed(expired.entries + relieved.entries, expired.size_bytes + relieved.size_bytes)

    def run_scheduled(self) -> Removed:
        """Run the size pass that an insert has asked for, by the sizes of this moment."""
        if not self._scheduled:
            return Removed(0, 0)
        self._scheduled = False
        return self._relieve("TRIGGER")

    def configure(
        self,
        *,
        max_size_bytes: int | None = None,
        watermark: float | None = None,
        ttl_nanos: int | None = None,
        max_requeues: int | None = None,
        extend_recently_accessed: bool | None = None,
    ) -> None:
        """Change settings; None leaves one as it is. It removes nothing by itself.

        Caching is neither disabled nor enabled by this: a limit of 0 is refused, and any limit where the
        cache was made with 0.
        """
        check_numbers(max_size_bytes=max_size_bytes, ttl_nanos=ttl_nanos, max_requeues=max_requeues)
        check_watermark(watermark)
        if max_size_bytes is not None:
            if max_size_bytes == 0 or self.max_size_bytes == 0:
                raise ValueError(f"max_size_bytes cannot change from {self.max_size_bytes} to {max_size_bytes}")
            self.max_size_bytes = max_size_bytes
        if watermark is not None:
            self.watermark = watermark
        if ttl_nanos is not None:
            self.ttl_nanos = ttl_nanos
        if max_requeues is not None:
            self.max_requeues = max_requeues
        if extend_recently_accessed is not None:
            self.extend_recently_accessed = extend_recently_accessed
        self._set_thresholds()
        if self._on_row is not None:
            self._on_row(rows.value_row("CONFIG", self._clock(), self.size_bytes, self._settings()))

    def metrics(self) -> Counters:
        """The counters since the start."""
        counts = self._counts
        shown = Counters(
            counts.evicted_entries + self._live(),
            counts.evicted_entries,
            counts.eviction_cycles,
            counts.hit_entries,
            counts.hit_bytes,
            counts.miss_entries,
            counts.miss_bytes,
            self.size_bytes,
        )
        if self._on_row is not None:
            value = dict(zip(METRICS, shown, strict=True))
            self._on_row(rows.value_row("METRICS", self._clock(), self.size_bytes, value))
        return shown

    def _settings(self) -> dict[str, object]:
        """The settings in force, as rows tell them."""
        return {name: getattr(self, name) for name in SETTINGS}

    def _crossed(self) -> None:
        """An insert has left the bytes above the trigger."""
        if self.eviction == "inline":
            self._relieve("TRIGGER")
        else:
            self._scheduled = True

    def _relieve(self, origin: Literal["TRIGGER", "CYCLE"]) -> Removed:
        """Run a size pass down to the target, if the bytes are above the trigger and above the target."""
        over_bytes = self.size_bytes - self.target_bytes
        if self.size_bytes <= self.trigger_bytes or over_bytes <= 0:
            return Removed(0, 0)
        self._counts.eviction_cycles += 1
        return self._run_pass("SIZE", origin, self._clock(), over_bytes)


SETTINGS = (
    "max_size_bytes",
    "watermark",
    "ttl_nanos",
    "max_requeues",
    "extend_recently_accessed",
    "evict_by_expected_reads",
    "evict_by_mark_deleted",
    "grace_millis",
    "storage_entry_size",
    "eviction",
)
"""The settings that a CONFIG row tells."""

METRICS = (*Counters._fields[:-1], "bytes")
"""The counters as a METRICS row calls them."""
