"""System `pulsar-legacy`: the broker entry cache of Apache Pulsar 4.0 and before.

Theory of operation. Three machines share one virtual clock, which only `advance` moves.

- A *cache* for each managed ledger holds its entries in the order of their positions, each with its size and a stamp:
  the time of its insert. A lookup leaves no mark.
- The *manager* holds the bytes of all caches, and at most one scheduled size pass with its amount.
- The *policy* divides the amount of a size pass among the largest caches.

A *time pass* (`expire`) works on one cache. It removes entries from the lowest position up and ends at the first entry
that is younger than its cutoff, whatever lies behind that entry. A *size pass* (`evict`) works on all caches. It takes
caches by bytes, the largest first, until they hold half of all bytes. Each of them gives its share of the amount, from
its lowest position up (`evict_cache`). So the order of positions stands for the order of age, and a new entry of a
large cache leaves before an old one of a small cache.

An insert triggers a size pass if the bytes before it are above the trigger, 0.98 of the limit. The pass has to free
what lies above the watermark. It runs at once, or when `run_scheduled` says so, with the amount of the moment of the
request. The same reading of the bytes decides whether the insert is accepted: at the limit and above it is not. A
caller triggers passes by `expire`, `evict` and `evict_cache`.

A read of a range is served from the cache only if every position of it is cached. Otherwise all of it comes from
storage, and each entry is offered to the cache like any other insert.

The function of an operation has four parts. GUARD refuses a step, and then nothing has changed. DECISION decides.
EFFECT makes the state after the step. OUTCOME makes the answer, and beside it the rows of a trace.
"""

from entrycache_reference.pulsar_legacy.config import Config, Variants
from entrycache_reference.pulsar_legacy.state import Row, State, Step, initial
from entrycache_reference.pulsar_legacy.step import step

NAME = "pulsar-legacy"

__all__ = ["NAME", "Config", "Row", "State", "Step", "Variants", "initial", "step"]
