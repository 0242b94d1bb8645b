"""System `kafka-streams`: the record cache of a stream thread in Apache Kafka Streams.

Theory of operation. Three machines stand one inside the other; there is no clock.

- The *cache of the thread* (`ThreadCache`) has a limit in bytes, the total of all namespaces, and the thread's
  counters.
- A *named cache* (`NamedCache`) serves each namespace. It holds entries by key, the order of use from most recent to
  eldest, the dirty keys in the order of their writes, one listener, and counters. An entry without a value is a
  tombstone.
- A *caching store* is a named cache whose listener is the store itself. It has an underlying store, and a processor
  downstream. Views and queries merge the two; a closed store has neither.

A write makes its entry the most recent one of its namespace; a dirty entry also becomes the last dirty key. Then
`maybe_evict` runs: while the total is above the limit and this namespace holds entries, its eldest entry is evicted.
Only the namespace that was written to pays, and the new entry itself may be evicted.

An eviction drops a clean eldest entry without a call. It flushes a dirty eldest entry together with all other dirty
entries of the namespace.

A flush gathers the entries: the evicted one first, the others in the order of their writes. It marks them clean and
removes the evicted one, and then calls the listener once with all of them. Afterwards it drops the tombstones among
them, unless their key was written again meanwhile. Without a listener, or if the listener throws, the namespace stays
as it was.

Four things trigger evictions and flushes: a write above the limit, `evict`, `flush` (as a commit does), and `resize` to
a smaller limit, which evicts one eldest entry of each namespace in turn until the total is within the limit.

A listener may use the cache. Its steps are performed inside the call, on the state of that moment; they may evict,
flush and call again, within `reentry_budget` calls per step. A caching store writes all entries to its underlying store
and then forwards them one by one; the processor downstream may again take steps.

`step` passes the event to the function of its operation, with the configuration and the environment. The environment
performs steps inside calls and receives the entries that a store's namespace flushes. `State.in_progress` collects what
happens during the step; at the end it becomes the outcome and the rows, and is empty again.
"""

from entrycache_reference.kafka_streams.config import Config, Variants
from entrycache_reference.kafka_streams.state import Row, State, Step, initial
from entrycache_reference.kafka_streams.step import step

NAME = "kafka-streams"

__all__ = ["NAME", "Config", "Row", "State", "Step", "Variants", "initial", "step"]
