"""System `pulsar-pip430`: the broker entry cache of Apache Pulsar 4.1 and later.

Theory of operation. Four machines share one virtual clock, which only `advance` moves.

- A *cache* for each managed ledger: its entries by position. An entry has a size, a stamp (when it was inserted, or
  requeued last), a mark (accessed since then), a number of requeues, and a count of the reads still expected, or none.
- One *removal queue* for all caches: a slot for each entry, the oldest stamp at the head. An entry that leaves by a
  call leaves a dead slot behind.
- The *manager*: the bytes of all caches, the settings, the counters.
- A *container of active cursors* for each cache: who reads where. It only tells ranks, the slowest position and
  whether to cache what is added; no entry changes by it.

What one pass does. It takes slots from the head, and for each one the first line of the table in `decision` that
fits is carried out: a dead slot is dropped; at an entry that may stay the pass ends; an entry that was accessed, or
that expects reads and has requeues left, goes to the tail with a new stamp and without its mark; any other entry is
removed. A *time pass* ends at the first stamp that is not below its cutoff, a *size pass* when it has freed what it
was asked for, both when no slot is left. Every requeue uses up a mark or a part of a budget, so each pass ends.

Who triggers it. The periodic task (`cycle`): a time pass for what is older than the time to live, then a size pass
if the bytes are above the trigger. An insert that brings the bytes above the trigger, 0.98 of the limit: a size pass
down to the watermark, at once, or when `run_scheduled` says so. A caller, by `expire` and `evict`.

What a read does, in order. It looks every position up and marks what is cached; storage gives the rest; each of these
fills is inserted, with its own trigger, if somebody else is expected to read it; what was handed over is held until
it is released, and each release takes one from the count of an entry that is still cached.

What a step does, in order. `step` opens the cache that the event names, if it is new. The function of the operation
has four beats: GUARD, what is refused, and then nothing has changed; DECISION; EFFECT, the state after it; OUTCOME,
the answer, and beside it the rows of a trace.
"""

from __future__ import annotations

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
