"""System `pulsar-pip430`: the broker entry cache of Apache Pulsar 4.1 and later.

Theory of operation. Four machines share one virtual clock, which only `advance` moves.

- A *cache* for each managed ledger holds its entries by position. An entry has a size, a stamp (the time of its insert
  or last requeue), a mark (accessed since then), a number of requeues, and a count of expected reads, or none.
- One *removal queue* for all caches holds a slot for each entry, the oldest stamp at the head. An entry that a call
  removes leaves a dead slot behind.
- The *manager* holds the bytes of all caches, the settings and the counters.
- A *container of active cursors* for each cache knows which cursor reads where. It answers ranks, the slowest position
  and whether to cache a new entry; it changes no entry.

What one pass does. A pass takes slots from the head. For each slot, the first matching line of the table in `decision`
decides. A dead slot is dropped. At an entry that may stay, the pass ends. An entry that was accessed, or that expects
reads and has requeues left, goes to the tail with a new stamp and without its mark. Any other entry is removed. A *time
pass* ends at the first stamp that is not below its cutoff. A *size pass* ends when it has freed enough bytes. Both end
when no slot is left. Every requeue uses up a mark or a part of a budget, so each pass ends.

Who triggers a pass. The periodic task (`cycle`) runs a time pass for entries older than the time to live, then a size
pass if the bytes are above the trigger. An insert that brings the bytes above the trigger, 0.98 of the limit, asks for
a size pass down to the watermark. That pass runs at once, or when `run_scheduled` is called. A caller runs a pass by
`expire` or `evict`.

What a read does, in order. It looks up every position and marks the cached ones. Storage gives the rest. If another
reader is expected, each of these fills is inserted, with its own trigger. The read holds what it handed over until the
hold is released. Each release takes one from the count of an entry that is still cached.

What a managed ledger does. `append` adds entries to ledgers, caches them while a cursor is active, and rolls over. A
cursor reads chunk after chunk, over the ends of ledgers and past acknowledged entries, through the cache. Its rank is
the count of its fills. Without ranks, what all active cursors have passed is dropped.

What a step does, in order. `step` opens the cache that the event names, if it is new. The function of the operation has
four parts: GUARD refuses bad arguments and changes nothing; DECISION chooses; EFFECT is the new state; OUTCOME is the
answer, together with the rows of a trace.

Where to find what. `config` holds settings and variants, `ops` the operations, `outcomes` the answers, `state` the
state, `change` the smallest changes and rows. `entries`, `passes`, `manager`, `cursors`, `storage_reads`, `ledger` and
`ledger_cursors` hold one family of operations each, `decision` the table, `step` the dispatch, and `laws` the rules as
checks.
"""

from entrycache_reference.pulsar_pip430.config import Config, Settings, Variants
from entrycache_reference.pulsar_pip430.decision import DECISION, decide
from entrycache_reference.pulsar_pip430.state import Row, State, Step, initial
from entrycache_reference.pulsar_pip430.step import step

NAME = "pulsar-pip430"

__all__ = [
    "DECISION",
    "NAME",
    "Config",
    "Row",
    "Settings",
    "State",
    "Step",
    "Variants",
    "decide",
    "initial",
    "step",
]
