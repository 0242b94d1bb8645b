"""What the rows of a pass say, in closed form: the turns of the slots that it took, between its beginning and end."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws.defined.passes import (
    Placed,
    Reach,
    Turn,
    is_touched,
    reach,
    turns,
    uses_budget,
)
from entrycache_reference.pulsar_pip430.laws.law import cached, refusable
from entrycache_reference.pulsar_pip430.laws.thresholds import target_of, trigger_of
from entrycache_reference.pulsar_pip430.ops import Evict, Expire
from entrycache_reference.pulsar_pip430.state import Row, State, Step
from entrycache_reference.rules import Rule


def pass_rows(config: Config, pre: State, event: Expire | Evict, step: Step, origin: str) -> tuple[Row, ...]:
    """The rows of the pass that runs in this state; `origin`: who asked for it."""
    if refusable(config, pre, event):
        return ()
    done = reach(config, pre, event)
    taken = list(turns(pre, done))
    sizes = [0 if one is None or turn != one.leaves else one.entry.size_bytes for turn, one in taken]
    freed = list(accumulate(sizes, initial=0))
    rows = [
        _taken(config, pre, event, done, turn, one, (freed[at], freed[at + 1])) for at, (turn, one) in enumerate(taken)
    ]
    return (_begin(pre, event, done, origin), *rows, _end(pre, event, done, step, origin, freed[-1]))


def _bound(event: Expire | Evict, done: Reach, freed: int) -> int:
    """A cutoff stays, a need shrinks by what was freed."""
    return done.bound - freed if type(event) is Evict else done.bound


def _common(pre: State, event: Expire | Evict, done: Reach, rule: Rule, op: str, freed: tuple[int, int]) -> Row:
    """What every row of a pass shows; `freed`: before it and after it."""
    total = pre.size_bytes - freed[1]
    return Row(
        rule,
        op,
        "SIZE" if type(event) is Evict else "TIME",
        pre.now_nanos,
        total,
        bound=_bound(event, done, freed[0]),
        max_requeues=pre.settings.max_requeues,
        extend_accessed=pre.settings.extend_recently_accessed,
        manager_bytes=total,
    )


def _of_pass(row: Row, pre: State, event: Expire | Evict, origin: str) -> Row:
    """A row about the pass as a whole: of a size pass also its thresholds."""
    if type(event) is Expire:
        return row._replace(origin=origin)
    return row._replace(origin=origin, trigger_bytes=trigger_of(pre), target_bytes=target_of(pre))


def _begin(pre: State, event: Expire | Evict, done: Reach, origin: str) -> Row:
    rule = Rule.EVICT_4 if type(event) is Evict else Rule.EXPIRE_1
    return _of_pass(_common(pre, event, done, rule, "PASS_BEGIN", (0, 0)), pre, event, origin)


def _end(pre: State, event: Expire | Evict, done: Reach, step: Step, origin: str, freed: int) -> Row:
    """The end: at the head that is left, whose stamp it shows, or because nothing is left."""
    queue = step.state.queue
    head = cached(step.state, queue[0].cache, queue[0].pos) if queue and queue[0] is not None else None
    empty = Rule.EVICT_4 if type(event) is Evict else Rule.EXPIRE_2
    rule = Rule.EVICT_2 if head is not None else empty
    row = _of_pass(_common(pre, event, done, rule, "PASS_END", (freed, freed)), pre, event, origin)
    return row if head is None else row._replace(stamp_ns=head.stamp_nanos)


def _taken(
    config: Config,
    pre: State,
    event: Expire | Evict,
    done: Reach,
    turn: Turn,
    one: Placed | None,
    freed: tuple[int, int],
) -> Row:
    """A slot that was taken: dropped, removed, or put at the tail."""
    if one is None:
        return _common(pre, event, done, Rule.EVICT_1, "TOMBSTONE", freed)
    entry, touched = one.entry, is_touched(pre, one.entry)
    requeues = entry.requeues + uses_budget(config, entry, touched, turn.round)
    is_awaited = entry.expected_reads is not None and entry.expected_reads > 0
    rule = Rule.REQUEUE_3 if is_awaited and requeues >= pre.settings.max_requeues else Rule.EVICT_3
    of_entry: dict[str, Any] = {
        "cache": one.slot.cache,
        "ledger_id": one.slot.pos.ledger,
        "entry_id": one.slot.pos.entry,
        "size_bytes": entry.size_bytes,
        "expected_reads": entry.expected_reads,
        "requeues": requeues,
        "accessed": entry.accessed if turn.round == 0 else False,
        "stamp_ns": entry.stamp_nanos if turn.round == 0 else pre.now_nanos,
    }
    if turn == one.leaves:
        return _common(pre, event, done, rule, "EVICT", freed)._replace(**of_entry)
    is_for_access = touched and turn.round == 0
    rule = Rule.REQUEUE_1 if is_for_access else Rule.REQUEUE_2
    of_entry["requeues"] = entry.requeues + uses_budget(config, entry, touched, turn.round + 1)
    of_entry["new_stamp_ns"] = pre.now_nanos
    cause = "ACCESSED" if is_for_access else "EXPECTED_READS"
    return _common(pre, event, done, rule, "REQUEUE", freed)._replace(cause=cause, **of_entry)
