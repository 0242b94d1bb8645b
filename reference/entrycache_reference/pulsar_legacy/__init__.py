"""System `pulsar-legacy`: the broker entry cache of Apache Pulsar 4.0 and before.

Theory of operation. Three machines share one virtual clock, which only `advance` moves.

- A *cache* for each managed ledger: its entries in the order of their positions, each with its size and a stamp, when
  it was inserted. A lookup leaves no mark.
- The *manager*: the bytes of all caches, and at most one size pass that is scheduled, with its amount.
- The *policy*: it divides what a size pass is to free among the largest caches.

What one pass does. A *time pass* (`expire`) looks at one cache: it removes from the lowest position up, and ends at
the first entry that is younger than its cutoff, whatever lies behind that. A *size pass* (`evict`) looks at all: caches
by bytes, the largest first, are taken until they hold half of all bytes; each of them gives its share of the amount,
from its lowest position up (`evict_cache`). So order by position stands for order by age, and a new entry of a large
cache leaves before an old one of a small cache.

Who triggers it. An insert that finds the bytes above the trigger, 0.98 of the limit, as they are *before* it: it asks
for a size pass of what lies above the watermark, at once, or when `run_scheduled` says so, with the amount of the
moment in which it was asked for. The same reading of the bytes decides whether the insert is taken at all: at the
limit and above it is not. A caller, by `expire`, `evict` and `evict_cache`.

What a read does. A range is served from the cache only if every position of it is cached; otherwise all of it comes
from storage, and each entry is offered to the cache like any other insert.

What a step does, in order. The function of the operation has four beats: GUARD, what is refused, and then nothing has
changed; DECISION; EFFECT, the state after it; OUTCOME, the answer, and beside it the rows of a trace.
"""

from __future__ import annotations

from entrycache_reference.pulsar_legacy.config import Config, Variants
from entrycache_reference.pulsar_legacy.state import Row, State, Step, initial
from entrycache_reference.pulsar_legacy.step import step

NAME = "pulsar-legacy"

__all__ = ["NAME", "Config", "Row", "State", "Step", "Variants", "initial", "step"]
