"""A step and its parts: which parts there are, in which order, and that the rows of the step are theirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config, ZeroReads
from entrycache_reference.pulsar_pip430.laws.defined.answers import positions
from entrycache_reference.pulsar_pip430.laws.defined.pass_rows import pass_rows
from entrycache_reference.pulsar_pip430.laws.defined.rows import OWN, Said, about, opening, told
from entrycache_reference.pulsar_pip430.laws.law import entries_of, refusable
from entrycache_reference.pulsar_pip430.state import Row, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

READS: Final = (ops.Read, ops.ReadOne)
PASSES: Final = (ops.Expire, ops.Evict)

LOOKS: Final = frozenset(
    {ops.Exists, ops.Usage, ops.Observe, ops.CursorRank, ops.Slowest, ops.Cursors, ops.ShouldCache}
)
"""The operations that only look: they change nothing, and tell nothing but their answer."""

SAID: Final[dict[tuple[type[ops.Op], type[ops.Op]], Said]] = {
    (ops.Read, ops.Get): (Rule.READ_7, "READ"),
    (ops.ReadOne, ops.Get): (Rule.READ_7, "READ"),
    (ops.Read, ops.Insert): (None, "FILL"),
    (ops.RemoveCache, ops.Clear): (Rule.INVALIDATE_9, "CLOSE"),
}
"""The rule and the cause of the rows of a part, by the operation of the step and that of the part."""

ORIGIN: Final[dict[type[ops.Op], str]] = {
    ops.Expire: "CALL",
    ops.Evict: "CALL",
    ops.Cycle: "CYCLE",
    ops.Insert: "TRIGGER",
    ops.Read: "TRIGGER",
    ops.RunScheduled: "TRIGGER",
}
"""Who asks for a pass, by the operation of the step."""


def wants_fills(config: Config, event: ops.Op) -> bool:
    """Whether what storage gives is offered to the cache; where caching is off it is, and is not taken."""
    if type(event) is not ops.Read:
        return False
    least = 0 if config.variants.zero_reads is ZeroReads.COUNTED else 1
    return event.expected_reads >= least or config.max_size_bytes == 0


def parts_of_read(config: Config, pre: State, event: Any, step: Step) -> Iterator[ops.Op]:
    """The lookups of what is cached, the offers of what is not, then the deliveries of what is cached by then."""
    wanted = positions(event)
    before = entries_of(pre, event.cache)
    yield from (ops.Get(event.cache, pos) for pos in wanted if pos in before)
    if wants_fills(config, event):
        for pos in wanted:
            if pos not in before:
                size = config.storage_entry_size
                yield ops.Insert(event.cache, pos, size, event.expected_reads, pos.entry)
    if event.hold is ABSENT:
        states = [part.step.state for part in step.parts if type(part.event) is not ops.MarkRead]
        kept = entries_of(states[-1] if states else pre, event.cache)
        yield from (ops.MarkRead(event.cache, pos) for pos in wanted if pos in kept)


def parts_of(config: Config, pre: State, event: Any, step: Step) -> list[ops.Op]:
    """The operations that a step consists of, size passes left out: when one is due is a matter of the trigger."""
    kind = type(event)
    if refusable(config, pre, event):
        return []
    if kind in READS:
        return list(parts_of_read(config, pre, event, step))
    if kind is ops.Release:
        held = [one.slot for one in pre.holds[event.hold] if one.is_cached]
        return [ops.MarkRead(cache, pos) for cache, pos in held]
    if kind is ops.RemoveCache:
        return [ops.Clear(event.cache)]
    if kind is ops.Cycle:
        return [ops.Expire()]
    return [event] if step.parts and kind is ops.Insert else []


def has_its_parts(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Whether a step consists of these operations, in this order."""
    if not step.parts and type(event) not in COMPOSED:
        return True
    told_of = [part.event for part in step.parts if type(part.event) is not ops.Evict]
    return told_of == parts_of(config, pre, event, step)


COMPOSED: Final = frozenset({*READS, ops.Release, ops.RemoveCache, ops.Cycle})
"""The operations that consist of others."""


def own_rows(config: Config, pre: State, event: Any, step: Step, whole: ops.Op) -> tuple[Row, ...]:
    """The rows of a step without parts, or of one part, within the step of an operation."""
    if type(event) in PASSES:
        return pass_rows(config, pre, event, step, ORIGIN[type(whole)])
    return told(config, pre, event, step, SAID.get((type(whole), type(event)), OWN))


def rows_of_read(config: Config, pre: State, event: Any, step: Step) -> Iterator[Row]:
    """Every position as it was looked up, ascending; then the fills; then the deliveries."""
    parts = [(part.event, row) for part in step.parts for row in part.step.rows]
    hits = {one.pos: row for one, row in parts if type(one) is ops.Get}
    wanted = positions(event)
    yield from (hits.get(pos) or about(Rule.READ_8, "MISS", "READ", pre, event.cache, pos) for pos in wanted)
    if wants_fills(config, event):
        yield from (row for one, row in parts if type(one) is ops.Insert or type(one) is ops.Evict)
    else:
        rule = Rule.READ_9 if type(event) is ops.Read else Rule.READ_10
        size = config.storage_entry_size
        fills = [pos for pos in wanted if pos not in hits]
        yield from (about(rule, "SKIP", "NOT_WANTED", pre, event.cache, pos, size) for pos in fills)
    yield from deliveries(step)


def deliveries(step: Step) -> Iterator[Row]:
    """The rows of what was handed over and is given back."""
    for part in step.parts:
        if type(part.event) is ops.MarkRead:
            yield from (row._replace(rule=Rule.COUNT_5) for row in part.step.rows)


def rows_of_parts(config: Config, pre: State, event: Any, step: Step) -> Iterator[Row]:
    """The rows of a step that consists of others."""
    if type(event) in READS:
        yield from rows_of_read(config, pre, event, step)
    elif type(event) is ops.Release:
        yield from deliveries(step)
    else:
        yield from (row for part in step.parts for row in part.step.rows)
    if type(event) is ops.RemoveCache:
        yield opening(step.state, event.cache)._replace(rule=Rule.INVALIDATE_9, op="CACHE_CLOSE")


def rows_follow(config: Config, pre: State, event: Any, step: Step, opens: bool) -> bool:
    """Whether the rows of a step and of its parts say what was done; `opens`: it opens the cache that it names."""
    first = (opening(pre, event.cache),) if opens else ()
    if not step.parts and (type(event) not in COMPOSED or refusable(config, pre, event)):
        return step.rows == (*first, *own_rows(config, pre, event, step, event))
    return step.rows == (*first, *rows_of_parts(config, pre, event, step)) and all(
        part.step.rows == own_rows(config, part.pre, part.event, part.step, event) for part in step.parts
    )
