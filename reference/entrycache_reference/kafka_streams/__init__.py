"""System `kafka-streams`: the record cache of a stream thread in Apache Kafka Streams.

Theory of operation. Three machines, one inside the other; there is no clock.

- The *cache of the thread* (`ThreadCache`): a limit in bytes, the total of all namespaces, the thread's counters.
- A *named cache* (`NamedCache`) for each namespace: its entries by key, the order of use from most recent to eldest,
  the dirty keys in the order of their writes, one listener, counters. An entry without a value is a tombstone.
- A *caching store*: a named cache whose listener is the store itself, with a store below it and a processor
  downstream.

What a write does, in order. The entry becomes the most recent one of its namespace, a dirty one also the last of the
dirty keys. Then `maybe_evict`: while the total is above the limit and this namespace holds entries, its eldest is
evicted. Only the namespace that was written to pays, and the new entry may be what goes.

What an eviction does. A clean eldest entry is dropped, and nobody is told. A dirty one is flushed with all other
dirty entries of its namespace.

What a flush does, in order. The entries are gathered, the evicted one first, the others in the order of their
writes. They become clean, and the evicted one leaves the cache, before the listener is called, once, with all of
them. Afterwards the tombstones among them are dropped, unless their key was written again meanwhile. Without a
listener, or with one that throws, everything stays as it was.

Who triggers it. A write above the limit; `evict`; `flush`, as a commit does; `resize` to a smaller limit, which
evicts one eldest entry of each namespace in turn until the total is within it.

What a call does. A listener may use the cache: its steps are performed inside the call, on the state of that moment,
and may evict, flush and call again, within `reentry_budget` calls a step. A caching store as the listener first
writes everything to the store below, then forwards entry by entry, and downstream may again take steps.

What a step does, in order. `step` hands the event to the function of its operation, with the configuration and the
environment: who performs a step inside a call, and who takes what a store's namespace flushes. What is done meanwhile
gathers in `State.under_way`; at the end it becomes the outcome and the rows, and is empty again.
"""

from __future__ import annotations

from entrycache_reference.kafka_streams.config import Config, Variants
from entrycache_reference.kafka_streams.state import Row, State, Step, initial
from entrycache_reference.kafka_streams.step import step

NAME = "kafka-streams"

__all__ = ["NAME", "Config", "Row", "State", "Step", "Variants", "initial", "step"]
