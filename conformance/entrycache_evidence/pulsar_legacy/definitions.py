"""The definitions of `pulsar-legacy`: the result of each operation, computed in another way than the reference does.

The content is one flat table by cache and position, and every sum is computed anew. `DEFINITIONS` gives the table after
each operation, `ROWS` the rows of a step, made of the tables before and after it. `is_defined` compares a step and its
parts with both. A definition is checked only if no law of a rule is broken. If the step differs, the rule of the
operation is reported as broken.

A row about an entry shows the bytes left after it. The share of each cache in a pass is not shown.
"""

from collections.abc import Callable, Iterator
from itertools import accumulate
from math import trunc
from operator import attrgetter
from typing import Any, Final, NamedTuple

from entrycache_evidence.pulsar_legacy.frame import BETWEEN_PARTS, MAY_CHANGE, changes_outside
from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.config import Config, Eviction, SingleLookup
from entrycache_reference.pulsar_legacy.laws.law import content, is_refusable
from entrycache_reference.pulsar_legacy.state import Entry, Row, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

Table = dict[tuple[CacheName, Position], Entry]
SIZE_BYTES: Final = attrgetter("size_bytes")


class DefinedState(NamedTuple):
    """The content after a step: the clock, the entries, and the amount of a scheduled pass."""

    now_nanos: int
    table: Table
    scheduled_bytes: int | None


def total_bytes(table: Table, name: CacheName | None = None) -> int:
    """Return the bytes of all entries, or of one cache."""
    if name is None:
        return sum(map(SIZE_BYTES, table.values()))
    return sum([entry.size_bytes for (cache, _), entry in table.items() if cache == name])


def remove_where(table: Table, name: CacheName, leaves: Callable[[Position], bool]) -> Table:
    """Return the table without those entries of one cache."""
    return {place: entry for place, entry in table.items() if place[0] != name or not leaves(place[1])}


def free_bytes(table: Table, name: CacheName, need_bytes: int) -> Table:
    """Return the table without the lowest entries of a cache: an entry leaves if those below it are not enough."""
    own = sorted((pos, entry.size_bytes) for (cache, pos), entry in table.items() if cache == name)
    below = dict(zip([pos for pos, _ in own], accumulate([size for _, size in own], initial=0), strict=False))
    return remove_where(table, name, lambda pos: below[pos] < need_bytes)


def shares_of(table: Table, need_bytes: int) -> list[tuple[CacheName, int]]:
    """Return the share of each cache that gives.

    A cache gives if the larger ones, and those of equal size before it by name, hold less than half of all bytes.
    """
    bytes_of: dict[CacheName, int] = {}
    for (name, _), entry in table.items():
        bytes_of[name] = bytes_of.get(name, 0) + entry.size_bytes
    ranked = sorted(bytes_of, key=lambda name: (-bytes_of[name], name))
    half = trunc(total_bytes(table) * 0.5)
    before = accumulate([bytes_of[name] for name in ranked], initial=0)
    chosen = [name for name, larger in zip(ranked, before, strict=False) if larger < half]
    whole = float(sum(bytes_of[name] for name in chosen))
    shares = [(name, trunc(need_bytes * (float(bytes_of[name]) / whole))) for name in chosen]
    return [(name, share) for name, share in shares if share > 0]


def free_by_givers(table: Table, need_bytes: int) -> list[tuple[CacheName, int, Table]]:
    """Return the caches that give, one after another, each with its share and the table after it."""
    results: list[tuple[CacheName, int, Table]] = []
    for name, share in shares_of(table, need_bytes):
        table = free_bytes(table, name, share)
        results.append((name, share, table))
    return results


def evict_bytes(table: Table, need_bytes: int) -> Table:
    """Return the table after a size pass over all caches."""
    return [table, *(after for _, _, after in free_by_givers(table, need_bytes))][-1]


def triggered_bytes(config: Config, pre: DefinedState) -> int | None:
    """Return the amount of the pass that an insert requests; None: it requests none."""
    size_bytes = total_bytes(pre.table)
    if size_bytes > trunc(config.max_size_bytes * 0.98) and pre.scheduled_bytes is None:
        return size_bytes - trunc(config.max_size_bytes * config.watermark)
    return None


def run_trigger(config: Config, pre: DefinedState, need_bytes: int | None) -> DefinedState:
    """Return the content after the pass that an insert requests."""
    if need_bytes is None:
        return pre
    if config.eviction is Eviction.MANUAL:
        return pre._replace(scheduled_bytes=need_bytes)
    return pre._replace(table=evict_bytes(pre.table, need_bytes) if need_bytes > 0 else pre.table)


def is_taken(config: Config, pre: DefinedState, after_trigger: DefinedState, event: ops.Insert) -> bool:
    """Return whether an insert is accepted, given the state before its pass and the one after it."""
    return total_bytes(pre.table) < config.max_size_bytes and (event.cache, event.pos) not in after_trigger.table


def define_insert(config: Config, pre: DefinedState, event: ops.Insert) -> DefinedState:
    """Return the content after an insert."""
    after_trigger = run_trigger(config, pre, triggered_bytes(config, pre))
    if not is_taken(config, pre, after_trigger, event):
        return after_trigger
    entry = Entry(event.size, pre.now_nanos, None if event.token is ABSENT else event.token)
    return after_trigger._replace(table={**after_trigger.table, (event.cache, event.pos): entry})


def cutoff_of(config: Config, pre: DefinedState, event: ops.Expire) -> int:
    """Return the latest stamp that is old."""
    return pre.now_nanos - (config.ttl_nanos if event.older_than_nanos is ABSENT else event.older_than_nanos)


def define_expire(config: Config, pre: DefinedState, event: ops.Expire) -> DefinedState:
    """Return the content without the entries below the first one younger than the cutoff."""
    latest = cutoff_of(config, pre, event)
    young = [
        pos for (cache, pos), entry in pre.table.items() if cache == event.cache and not entry.stamp_nanos <= latest
    ]
    first = min(young, default=None)
    return pre._replace(table=remove_where(pre.table, event.cache, lambda pos: first is None or pos < first))


def positions_of_read(event: ops.Read) -> list[Position]:
    """Return the positions of a read."""
    return [Position(event.first.ledger, entry) for entry in range(event.first.entry, event.last.entry + 1)]


def offers_of_read(pre: DefinedState, event: ops.Read) -> list[ops.Insert]:
    """Return the positions that a read offers to the cache: none if all are cached, else each."""
    positions = positions_of_read(event)
    if all((event.cache, pos) in pre.table for pos in positions):
        return []
    return [ops.Insert(event.cache, pos, 100, pos.entry) for pos in positions]


def define_read(config: Config, pre: DefinedState, event: ops.Read) -> DefinedState:
    """Return the content after every offer of a read was inserted."""
    after = pre
    for offer in offers_of_read(pre, event):
        after = define_insert(config, after, offer)
    return after


LEAVES: Final[dict[type[ops.Op], Callable[[Any, Position], bool]]] = {
    ops.RemoveRange: lambda event, pos: (
        event.first <= pos <= event.last and (event.last_inclusive or pos != event.last)
    ),
    ops.Clear: lambda event, pos: True,
    ops.InvalidateBefore: lambda event, pos: pos < event.pos,
    ops.InvalidateLedger: lambda event, pos: pos.ledger == event.ledger,
    ops.RemoveCache: lambda event, pos: True,
}
"""The entries of a cache that leave by a call."""


def define_removal(config: Config, pre: DefinedState, event: Any) -> DefinedState:
    """Return the content after a removal by a call."""
    leaves = LEAVES[type(event)]
    return pre._replace(table=remove_where(pre.table, event.cache, lambda pos: leaves(event, pos)))


def define_run_scheduled(config: Config, pre: DefinedState, event: ops.RunScheduled) -> DefinedState:
    """Return the content after the scheduled pass has run."""
    need = pre.scheduled_bytes or 0
    return DefinedState(pre.now_nanos, evict_bytes(pre.table, need) if need > 0 else pre.table, None)


DEFINITIONS: Final[dict[type[ops.Op], Callable[[Config, DefinedState, Any], DefinedState]]] = {
    ops.Insert: define_insert,
    ops.Advance: lambda config, pre, event: pre._replace(now_nanos=pre.now_nanos + event.nanos),
    ops.Expire: define_expire,
    ops.Evict: lambda config, pre, event: pre._replace(table=evict_bytes(pre.table, event.bytes)),
    ops.EvictCache: lambda config, pre, event: pre._replace(table=free_bytes(pre.table, event.cache, event.bytes)),
    ops.RunScheduled: define_run_scheduled,
    ops.Read: define_read,
    **dict.fromkeys(LEAVES, define_removal),
}
"""The content after each operation that changes something."""


def content_of(state: State) -> DefinedState:
    """Return the clock, the entries and the scheduled amount of a state."""
    return DefinedState(state.now_nanos, content(state), state.scheduled_bytes)


def define_operation(config: Config, pre: DefinedState, event: ops.Op) -> DefinedState:
    """Return the content after an operation."""
    define = DEFINITIONS.get(type(event))
    return pre if define is None or is_refusable(event) else define(config, pre, event)


# The rows of a step.


class RowLabels(NamedTuple):
    """The kind of a row: its rule, its operation and its cause."""

    rule: Rule
    op: str
    cause: str


Rows = Iterator[Row]


def position_row(
    labels: RowLabels, pre: DefinedState, cache: CacheName, pos: Position, sums: int | None = None, **columns: Any
) -> Row:
    """Return a row about a position, with these bytes, or those of this content."""
    sums = total_bytes(pre.table) if sums is None else sums
    row = Row(*labels, pre.now_nanos, sums, cache=cache, ledger_id=pos[0], entry_id=pos[1], manager_bytes=sums)
    return row._replace(**columns)


def entry_row(labels: RowLabels, pre: DefinedState, cache: CacheName, pos: Position, sums: int | None = None) -> Row:
    """Return a row about a cached entry, with these bytes, or those of this content."""
    size, stamp, _ = pre.table[cache, pos]
    return position_row(labels, pre, cache, pos, sums, size_bytes=size, stamp_ns=stamp)


def gone_rows(labels: RowLabels, pre: DefinedState, after: Table) -> Rows:
    """Return a row for each entry that has left, ascending."""
    remaining = total_bytes(pre.table)
    for place in sorted(pre.table.keys() - after.keys()):
        remaining -= pre.table[place].size_bytes
        yield entry_row(labels, pre, *place, remaining)


def pass_row(labels: RowLabels, origin: str, now: DefinedState, number: int, cache: CacheName | None = None) -> Row:
    """Return the row of the beginning or the end of a pass.

    The end of a pass over one cache shows the stamp of its lowest position.
    """
    there = [(pos, entry.stamp_nanos) for (name, pos), entry in now.table.items() if name == cache]
    stamp = min(there)[1] if there and labels.op == "PASS_END" else None
    sums = total_bytes(now.table)
    row = Row(*labels, now.now_nanos, sums, origin, cache, bound=number, stamp_ns=stamp)
    return row._replace(manager_bytes=sums)


def with_thresholds(row: Row, config: Config) -> Row:
    """Return the row of a size pass with its two thresholds."""
    limit = config.max_size_bytes
    return row._replace(trigger_bytes=trunc(limit * 0.98), target_bytes=trunc(limit * config.watermark))


def evict_rows(config: Config, pre: DefinedState, need_bytes: int, origin: str) -> Rows:
    """Return the rows of a size pass over all caches: the evictions of each cache between two rows."""
    begin = pass_row(RowLabels(Rule.L_EVICT_3, "PASS_BEGIN", "SIZE"), origin, pre, need_bytes)
    yield with_thresholds(begin, config)
    for _, _, after in free_by_givers(pre.table, need_bytes):
        yield from gone_rows(RowLabels(Rule.L_EVICT_1, "EVICT", "SIZE"), pre, after)
        pre = pre._replace(table=after)
    end = pass_row(RowLabels(Rule.L_EVICT_5, "PASS_END", "SIZE"), origin, pre, need_bytes)
    yield with_thresholds(end, config)


def evict_cache_rows(config: Config, pre: DefinedState, event: ops.EvictCache, within: type[ops.Op] | None) -> Rows:
    """Return the rows of a size pass over one cache."""
    after = pre._replace(table=free_bytes(pre.table, event.cache, event.bytes))
    begin, end = (RowLabels(rule, op, "SIZE") for rule, op in zip(EVICTS, PASS_ROWS, strict=True))
    yield with_thresholds(pass_row(begin, "CALL", pre, event.bytes, event.cache), config)
    yield from gone_rows(RowLabels(Rule.L_EVICT_1, "EVICT", "SIZE"), pre, after.table)
    yield with_thresholds(pass_row(end, "CALL", after, event.bytes, event.cache), config)


PASS_ROWS: Final = ("PASS_BEGIN", "PASS_END")
EVICTS: Final = (Rule.L_EVICT_1, Rule.L_EVICT_2)


def expire_rows(config: Config, pre: DefinedState, event: ops.Expire, within: type[ops.Op] | None) -> Rows:
    """Return the rows of a time pass."""
    after, latest = define_operation(config, pre, event), cutoff_of(config, pre, event)
    yield pass_row(RowLabels(Rule.L_EXPIRE_1, "PASS_BEGIN", "TIME"), "CALL", pre, latest, event.cache)
    yield from gone_rows(RowLabels(Rule.L_EXPIRE_1, "EVICT", "TIME"), pre, after.table)
    yield pass_row(RowLabels(Rule.L_EXPIRE_2, "PASS_END", "TIME"), "CALL", after, latest, event.cache)


def insert_rows(config: Config, pre: DefinedState, event: ops.Insert, within: type[ops.Op] | None) -> Rows:
    """Return the rows of an insert: those of its pass, and of its answer."""
    need_bytes = triggered_bytes(config, pre)
    if need_bytes is not None and need_bytes > 0 and config.eviction is Eviction.INLINE:
        yield from evict_rows(config, pre, need_bytes, "TRIGGER")
    after_trigger, cause = run_trigger(config, pre, need_bytes), "FILL" if within is ops.Read else "ADD"
    if is_taken(config, pre, after_trigger, event):
        after = define_insert(config, pre, event)
        row = entry_row(RowLabels(Rule.L_INSERT_1, "INSERT", cause), after, event.cache, event.pos)
        yield row._replace(stamp_ns=None, new_stamp_ns=pre.now_nanos)
    else:
        is_full = not total_bytes(pre.table) < config.max_size_bytes
        labels = (
            RowLabels(Rule.L_INSERT_3, "SKIP", "FULL") if is_full else RowLabels(Rule.L_INSERT_2, "REJECT", "DUPLICATE")
        )
        yield position_row(labels, after_trigger, event.cache, event.pos, size_bytes=event.size)


def get_rows(config: Config, pre: DefinedState, event: ops.Get, within: type[ops.Op] | None) -> Rows:
    """Return the row of a hit or a miss."""
    if is_hit(config, pre, event):
        yield entry_row(RowLabels(Rule.L_READ_1, "HIT", "GET"), pre, event.cache, event.pos)
    else:
        yield position_row(RowLabels(Rule.L_READ_1, "MISS", "GET"), pre, event.cache, event.pos)


def is_hit(config: Config, pre: DefinedState, event: ops.Get | ops.ReadOne) -> bool:
    """Return whether a single position is found."""
    by_position = config.variants.single_lookup is SingleLookup.POSITION
    return by_position and (event.cache, event.pos) in pre.table


def range_rows(config: Config, pre: DefinedState, event: ops.GetRange, within: type[ops.Op] | None) -> Rows:
    """Return a hit for each position of the range that is cached, ascending."""
    for cache, pos in sorted(pre.table):
        if cache == event.cache and event.first <= pos <= event.last:
            yield entry_row(RowLabels(Rule.L_READ_2, "HIT", "GET"), pre, cache, pos)


def read_rows(config: Config, pre: DefinedState, event: ops.Read, within: type[ops.Op] | None) -> Rows:
    """Return only hits, or only misses and the rows of each insert, ascending."""
    missed = offers_of_read(pre, event)
    for entry in range(event.first[1], event.last[1] + 1):
        pos = Position(event.first[0], entry)
        if missed:
            yield position_row(RowLabels(Rule.L_READ_5, "MISS", "READ"), pre, event.cache, pos)
        else:
            yield entry_row(RowLabels(Rule.L_READ_4, "HIT", "READ"), pre, event.cache, pos)
    for offer in missed:
        yield from insert_rows(config, pre, offer, ops.Read)
        pre = define_insert(config, pre, offer)


def read_one_rows(config: Config, pre: DefinedState, event: ops.ReadOne, within: type[ops.Op] | None) -> Rows:
    """Return the row of a hit, or of a miss and an entry that is not cached."""
    if is_hit(config, pre, event):
        yield entry_row(RowLabels(Rule.L_READ_4, "HIT", "READ"), pre, event.cache, event.pos)
        return
    yield position_row(RowLabels(Rule.L_READ_6, "MISS", "READ"), pre, event.cache, event.pos)
    yield position_row(RowLabels(Rule.L_READ_6, "SKIP", "NOT_WANTED"), pre, event.cache, event.pos, size_bytes=100)


def removal_rows(config: Config, pre: DefinedState, event: Any, within: type[ops.Op] | None) -> Rows:
    """Return a row for each entry that has left."""
    rule, cause = REMOVAL_LABELS[ops.RemoveCache if within is ops.RemoveCache else type(event)]
    yield from gone_rows(RowLabels(rule, "REMOVE", cause), pre, define_operation(config, pre, event).table)


REMOVAL_LABELS: Final[dict[type[ops.Op], tuple[Rule, str]]] = {
    ops.RemoveRange: (Rule.L_INVALIDATE_1, "RANGE"),
    ops.Clear: (Rule.L_INVALIDATE_2, "CLEAR"),
    ops.InvalidateBefore: (Rule.L_INVALIDATE_3, "CURSOR"),
    ops.InvalidateLedger: (Rule.L_INVALIDATE_4, "LEDGER"),
    ops.RemoveCache: (Rule.L_INVALIDATE_5, "CLOSE"),
}


def pass_rows(config: Config, pre: DefinedState, event: ops.Evict, within: type[ops.Op] | None) -> Rows:
    """Return the rows of a size pass that was called or triggered."""
    yield from evict_rows(config, pre, event.bytes, "CALL" if within is None else "TRIGGER")


def scheduled_rows(config: Config, pre: DefinedState, event: ops.RunScheduled, within: type[ops.Op] | None) -> Rows:
    """Return the rows of the scheduled pass, if it has to free anything."""
    if (pre.scheduled_bytes or 0) > 0:
        yield from evict_rows(config, pre, pre.scheduled_bytes or 0, "TRIGGER")


ROWS: Final[dict[type[ops.Op], Callable[[Config, DefinedState, Any, type[ops.Op] | None], Rows]]] = {
    ops.Insert: insert_rows,
    ops.Get: get_rows,
    ops.GetRange: range_rows,
    ops.Expire: expire_rows,
    ops.Evict: pass_rows,
    ops.EvictCache: evict_cache_rows,
    ops.RunScheduled: scheduled_rows,
    ops.Read: read_rows,
    ops.ReadOne: read_one_rows,
    **dict.fromkeys(LEAVES, removal_rows),
}
"""The rows of each operation that writes any."""


def rows_of_operation(config: Config, pre: DefinedState, event: ops.Op, within: type[ops.Op] | None) -> tuple[Row, ...]:
    """Return the rows of an operation, alone or `within` another; a refused one has none."""
    build_rows = ROWS.get(type(event))
    return () if build_rows is None or is_refusable(event) else tuple(build_rows(config, pre, event, within))


# The whole definition.


def parts_of(config: Config, pre: DefinedState, event: Any) -> list[ops.Op]:
    """Return the operations that an operation consists of."""
    kind = type(event)
    if is_refusable(event):
        return []
    if kind is ops.Evict:
        return [ops.EvictCache(*share) for share in shares_of(pre.table, event.bytes)]
    if kind is ops.Read:
        return [*offers_of_read(pre, event)]
    if kind is ops.RemoveCache:
        return [ops.Clear(event.cache)]
    need_bytes = pre.scheduled_bytes if kind is ops.RunScheduled else None
    if kind is ops.Insert and config.eviction is Eviction.INLINE:
        need_bytes = triggered_bytes(config, pre)
    return [ops.Evict(need_bytes)] if need_bytes is not None and need_bytes > 0 else []


def has_its_parts(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether a step has the parts of its operation, each starting from the state before it."""
    if [part.event for part in step.parts] != parts_of(config, content_of(pre), event):
        return False
    first = pre._replace(scheduled_bytes=None) if type(event) is ops.RunScheduled else pre
    remaining = [first, *(part.step.state for part in step.parts)]
    are_joined = [part.pre for part in step.parts] == remaining[:-1]
    return are_joined and (type(event) is ops.Evict or not step.givers)


def shows_caches_by_name(event: ops.Op, step: Step) -> bool:
    """Return whether `observe` shows the caches in the order of names."""
    caches = [*getattr(step.outcome, "caches", ())]
    return type(event) is not ops.Observe or caches == sorted(caches)


def is_defined(config: Config, pre: State, event: ops.Op, step: Step, within: type[ops.Op] | None = None) -> bool:
    """Return whether a step, alone or as a part `within` another, equals its definition."""
    if step.state is pre and type(event) not in DEFINITIONS and not step.rows and not step.parts:
        return shows_caches_by_name(event, step) and rows_of_operation(config, content_of(pre), event, within) == ()
    before, remaining = content_of(pre), content_of(step.state)
    return (
        define_operation(config, before, event) == remaining
        and total_bytes(remaining.table) == step.state.size_bytes
        and has_its_parts(config, pre, event, step)
        and rows_of_operation(config, before, event, within) == step.rows
    )


def check_definition(
    config: Config, pre: State, event: ops.Op, step: Step, within: type[ops.Op] | None = None
) -> tuple[Rule, ...]:
    """Return the rule of the first operation that differs from its definition or leaves its frame.

    Parts come before the step; a part is an operation `within` that of the step.
    """
    for part in step.parts:
        wrong = check_definition(config, part.pre, part.event, part.step, type(event))
        if wrong:
            return wrong
    right = is_defined(config, pre, event, step, within) and not changes_outside(pre, event, step)
    return () if right else (event.rule,)


__all__ = ["BETWEEN_PARTS", "MAY_CHANGE", "check_definition", "is_defined"]
