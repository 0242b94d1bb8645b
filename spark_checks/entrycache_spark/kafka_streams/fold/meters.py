"""What METRICS and END tell, beside what was counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from entrycache_spark.kafka_streams.fold import words as w
from entrycache_spark.loops.words import flag
from entrycache_trace.compiled import Array

NEVER_FALL: Final = ("puts", "gets", "evicts", "flushes")


class Sums(NamedTuple):
    """What was counted since the start, and of a namespace since it was closed last."""

    puts: int
    lookups: int
    evicts: int
    sure_evicts: int
    flushes: int
    shrinks: int
    entries: int
    overwrites: int
    misses: int
    sure_misses: int
    hits: int


class Meters:
    """The counters of the thread that were told last: they never fall."""

    def __init__(self) -> None:
        self._most: dict[str, int] = {}

    def told(self, seq: int, told: Mapping[str, int], sums: Sums, flags: Array) -> None:
        """The counters of the thread."""
        for name in NEVER_FALL:
            value = told.get(name)
            if value is None:
                continue
            most = self._most.setdefault(name, value)
            if value < most:
                flag(flags, w.COUNTS_HOLD, seq)
            self._most[name] = max(most, value)
        evicts = told.get("evicts", sums.evicts)
        if (
            told.get("puts", sums.puts) != sums.puts
            or told.get("gets", 0) > sums.lookups
            or evicts < sums.sure_evicts
            or (sums.shrinks == 0 and evicts > sums.evicts)
            or told.get("flushes", sums.flushes) < sums.flushes
        ):
            flag(flags, w.COUNTS_HOLD, seq)

    def told_of_space(self, seq: int, told: Mapping[str, int], sums: Sums, flags: Array) -> None:
        """The counters of a namespace."""
        misses = told.get("misses", sums.misses)
        if (
            told.get("overwrites", sums.overwrites) != sums.overwrites
            or told.get("hits", sums.hits) != sums.hits
            or misses > sums.misses
            or misses < sums.sure_misses
        ):
            flag(flags, w.OWN_COUNTS_HOLD, seq)

    def told_end(self, seq: int, told: Mapping[str, int], sums: Sums, after: int, flags: Array) -> None:
        """An END."""
        if told.get("bytes", after) != after or told.get("entries", sums.entries) != sums.entries:
            flag(flags, w.SUMS_HOLD, seq)
