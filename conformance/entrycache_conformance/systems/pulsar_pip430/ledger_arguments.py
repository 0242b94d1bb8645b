"""The arguments of the operations on managed ledgers, of requests for permits, and of reads that overlap in time.

Managed ledgers have cache names of their own, so that other operations leave them alone, and a few cursors each. Half
of the positions are at a cursor or next to one. The others are entries of any ledger that is there, the next append,
or places that are refused. Requests ask for as much as is free, or as there is, and for one more or less. A fetch
begins near an end of what is asked for already. Boundary cases have other names, ledgers and entries: they coincide if
a part of them is lost.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from entrycache_conformance.systems.pulsar import take_names
from entrycache_conformance.systems.pulsar_pip430.entry_arguments import SMALL_SIZES, Aim, hold_of
from entrycache_conformance.systems.pulsar_pip430.workload import LedgerNames
from entrycache_protocol.system import Draw, choose
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Replay, ShortAnswer, Storage
from entrycache_reference.pulsar_pip430.state import Ask, ManagedLedger, RangeRequest, State
from entrycache_reference.vocabulary import ABSENT, INTEGER_MAX, CacheName, CursorName, Position, ReadName, RequestName

LEDGERS_BEFORE: Final = (0, 2**31 - 2, 2**32 - 2, 255, 65_534, 2**53 - 1_000)
"""Numbers next to which the ledgers of boundary cases begin."""

BOUNDARY_LEDGERS: Final = (
    ((1, 1_000), (1, 1_000), (2, 0)),
    ((1, 2**32), (1, 2**32), (2, 0)),
    ((1, 2**16), (1, 2**16), (2, 0)),
    ((1, 250), (1, 250), (2**32 + 1, 250)),
    ((9, 65_530), (10, 65_530), (10, 65_530)),
    ((2**31 - 1, 2**31 - 6), (2**31, 2**31 - 6), (2**31, 2**31 - 6)),
    ((1, 2**32 - 6), (1, 2**32 - 6), (257, 2**32 - 6)),
    ((1, 11), (1, 11), (11, 1)),
)
"""Ledgers that boundary cases fetch, each with an entry near which its reads begin: they coincide if they become one
number, a shorter one, or a text.
"""

BOUNDARY_APPENDS: Final = (256 + 1, 65_536 + 1, 255, 65_535, 128, 32_768)
"""Sizes that are others in a shorter integer. None is so large that a managed ledger begins a new ledger by itself."""

MOST_ENTRIES: Final = (1, 2, 3, 1, 5, 9, 0)


def draw_boundary_names(draw: Draw) -> LedgerNames:
    """Return names and ledgers that coincide if a part of them is lost."""
    usual = LedgerNames()
    return LedgerNames(
        (usual.caches[0], CacheName(choose(draw, ("M", "m1", "n")))),
        tuple(map(CursorName, take_names(draw, len(usual.cursors), usual.cursors))),
        tuple(map(RequestName, take_names(draw, len(usual.requests), usual.requests))),
        tuple(map(ReadName, take_names(draw, len(usual.reads), usual.reads))),
        choose(draw, BOUNDARY_LEDGERS),
        choose(draw, LEDGERS_BEFORE),
    )


def managed_cache(aim: Aim) -> CacheName:
    """Return mostly the first managed cache; the other one shows what belongs to one alone."""
    names = aim.names.caches if aim.declaration.limits.namespaces is None else aim.caches
    at = aim.draw(0, 4)
    return names[-1] if at == 4 else names[0]


def managed_of(state: State, cache: CacheName) -> ManagedLedger:
    """Return a managed ledger, or an empty one if there is none of that name."""
    return state.managed.get(cache, ManagedLedger({1: ()}, frozenset()))


def entries_of(managed: ManagedLedger) -> list[Position]:
    """Return the positions of all entries that are there, ascending."""
    return [Position(ledger, entry) for ledger, sizes in sorted(managed.sizes.items()) for entry in range(len(sizes))]


def next_append(managed: ManagedLedger) -> Position:
    """Return the position of the next append."""
    ledger = max(managed.sizes)
    return Position(ledger, len(managed.sizes[ledger]))


def opened_cursor(aim: Aim, state: State, cache: CacheName) -> CursorName:
    """Return mostly a cursor that is open."""
    opened = sorted(managed_of(state, cache).cursors)
    at = aim.draw(0, 5 * len(opened) + len(aim.names.cursors) - 1)
    return opened[at % len(opened)] if at < 5 * len(opened) else aim.names.cursors[at % len(aim.names.cursors)]


def entry_of(aim: Aim, state: State, cache: CacheName) -> Position:
    """Return mostly an entry that is there, half of them near a cursor."""
    managed = managed_of(state, cache)
    there = entries_of(managed)
    kind = aim.draw(0, 9)
    if kind == 9 or not there:
        return next_append(managed)
    near = [pos for cursor in managed.cursors.values() for pos in (cursor.read, cursor.mark_delete)]
    if kind >= 5 and near:
        at = choose(aim.draw, tuple(sorted(near)))
        close = Position(at.ledger, at.entry + (0, 1, 2, 0, 1)[kind - 5])
        return close if close in there else there[-1]
    return there[aim.draw(0, len(there) - 1)]


def place_of(aim: Aim, state: State, cache: CacheName) -> Position:
    """Return mostly a valid position, sometimes the next append."""
    return next_append(managed_of(state, cache)) if aim.draw(0, 4) == 4 else entry_of(aim, state, cache)


def appended_size(aim: Aim) -> int:
    """Return the size of an entry, seldom one that is refused."""
    sizes = BOUNDARY_APPENDS if aim.has_boundary_values and aim.draw(0, 1) == 1 else SMALL_SIZES[:-1]
    size: int = choose(aim.draw, (*sizes, *SMALL_SIZES))
    return min(aim.max_size, size)


def append(aim: Aim, state: State) -> ops.Append:
    """Append mostly at the next position; some begin a new ledger, one in five by default, and a few are refused."""
    cache = managed_cache(aim)
    kind = aim.draw(0, 19)
    managed = managed_of(state, cache)
    if kind == 19:
        return ops.Append(cache, Position(aim.draw(1, 3), aim.draw(0, 1)), appended_size(aim))
    if kind >= 19 - aim.rollovers or cache not in state.managed:
        ids = [number for other in state.managed.values() for number in other.ids]
        return ops.Append(
            cache, Position(max(ids, default=aim.names.ledgers_before) + aim.draw(1, 2), 0), appended_size(aim)
        )
    return ops.Append(cache, next_append(managed), appended_size(aim))


FEW_CURSORS: Final = 3
"""The number of tracked cursors at which 4.2.4 builds the list of cursors anew after each move."""


def cursor_names(aim: Aim) -> tuple[CursorName, ...]:
    """Return the names of cursors that a case opens: without `tail_ties`, too few for a wrong rank at the tail."""
    is_limited = aim.config.evict_by_expected_reads and not aim.limits.tail_ties
    return aim.names.cursors[:FEW_CURSORS] if is_limited else aim.names.cursors


def cursor_open(aim: Aim, state: State) -> ops.CursorOpen:
    """Open a cursor under mostly a free name."""
    cache = managed_cache(aim)
    names = cursor_names(aim)
    free = [name for name in names if name not in managed_of(state, cache).cursors]
    at = aim.draw(0, 5 * len(free) + len(names) - 1)
    name = free[at % len(free)] if at < 5 * len(free) else names[at % len(names)]
    return ops.CursorOpen(cache, name, place_of(aim, state, cache), aim.draw(0, 2) < 2)


def cursor_read(aim: Aim, state: State) -> Any:
    """Read a few entries, or all; while storage is held, mostly begin to."""
    cache = managed_cache(aim)
    if aim.config.storage is Storage.HELD and aim.offers("read_begin") and aim.draw(0, 9):
        return read_begin(aim, state)
    return ops.CursorRead(cache, opened_cursor(aim, state, cache), choose(aim.draw, MOST_ENTRIES), hold_of(aim, state))


def replay_add(aim: Aim, state: State) -> ops.ReplayAdd:
    """Ask mostly for a replay of what is held of a managed ledger."""
    held = [
        (name, one.slot.pos)
        for name, positions in state.holds.items()
        for one in positions
        if one.slot.cache in state.managed
    ]
    dispatcher = (ops.Dispatcher.KEY_SHARED, ops.Dispatcher.SHARED)[aim.draw(0, 1)]
    at = aim.draw(0, 4 * len(held))
    hold, pos = held[at % len(held)] if at < 4 * len(held) else (aim.holds[0], Position(1, 0))
    return ops.ReplayAdd(hold, pos, dispatcher)


def replay_read(aim: Aim, state: State) -> Any:
    """Replay a few positions; while storage is held, mostly begin to."""
    cache = managed_cache(aim)
    if aim.config.storage is Storage.HELD and aim.offers("replay_begin") and aim.draw(0, 9):
        return replay_begin(aim, state)
    number = (2, 1, 3, 5)[aim.draw(0, 3)]
    positions = tuple(entry_of(aim, state, cache) for _ in range(number))
    return ops.ReplayRead(cache, opened_cursor(aim, state, cache), positions, hold_of(aim, state))


def check_backlogs(aim: Aim, state: State) -> Any:
    """Check the backlogs; where they count, mostly after cursors were placed at the thresholds."""
    cache = managed_cache(aim)
    config = aim.config
    counts = not config.evict_by_expected_reads and config.min_backlog_cursors > 0
    names_all = "append", "cursor_open", "cursor_reset", "deactivate", "cursor_read", "activate", "usage"
    if not counts or cache not in state.managed or config.storage is Storage.HELD or not aim.offers(*names_all):
        return ops.CheckBacklogs(cache)
    if aim.draw(0, 3) == 0:
        return ops.CheckBacklogs(cache)
    aim.pending_ops = backlogs_at_thresholds(aim, state.managed[cache], cache)[::-1]
    return aim.pending_ops.pop()


MOST_NEW_ENTRIES: Final = 10
"""The most entries that are appended to bring a backlog to its threshold."""


def backlogs_at_thresholds(aim: Aim, managed: ManagedLedger, cache: CacheName) -> list[Any]:
    """Return steps that show whether a cursor is flagged whose backlog is at a threshold.

    As many cursors as one needs beside it have backlogs that differ by about as much as they may. No cursor is active,
    so only what a flagged cursor reads comes into the cache, which is empty. That stays when the cursor becomes active
    behind it.
    """
    config = aim.config
    there = entries_of(managed)
    length = config.min_backlog_entries + (0, -1, 1)[aim.draw(0, 2)]
    other = length + (0, config.max_backlog_between, config.max_backlog_between + 1)[aim.draw(0, 2)]
    if not 0 < length <= other <= len(there) + MOST_NEW_ENTRIES:
        return [ops.CheckBacklogs(cache)]
    end = next_append(managed)
    new_entries = [end._replace(entry=end.entry + at) for at in range(other - len(there))]
    there += new_entries
    durable = [name for name in cursor_names(aim) if name not in managed.cursors or managed.cursors[name].is_durable]
    names = durable[: config.min_backlog_cursors + 1]
    new = [name for name in names if name not in managed.cursors]
    starts = [there[-length if at == 0 else -other] for at in range(len(names))]
    return [
        *(ops.Append(cache, pos, min(1, aim.max_size)) for pos in new_entries),
        *(ops.CursorOpen(cache, name, there[0]) for name in new),
        *(ops.Deactivate(cache, name) for name in sorted({*managed.cursors, *new})),
        *(ops.CursorReset(cache, name, start) for name, start in zip(names, starts, strict=True)),
        ops.CheckBacklogs(cache),
        *(ops.CursorRead(cache, name, 1, ABSENT) for name in names[:1]),
        ops.Usage(cache),
        *(ops.Activate(cache, name) for name in names[:1]),
        ops.Usage(cache),
    ]


def delete_ledger(aim: Aim, state: State) -> ops.DeleteLedger:
    """Delete mostly a ledger that is there, the oldest first."""
    cache = managed_cache(aim)
    ledgers = sorted(managed_of(state, cache).sizes)
    return ops.DeleteLedger(cache, (*ledgers, ledgers[-1] + 1)[aim.draw(0, len(ledgers))])


def run_invalidations(aim: Aim, state: State) -> Any:
    """Run what is due; if nothing waits for that, mostly seek, which may make it due."""
    cache = managed_cache(aim)
    if managed_of(state, cache).due is None and aim.offers("cursor_seek") and aim.draw(0, 3):
        return ops.CursorSeek(cache, opened_cursor(aim, state, cache), place_of(aim, state, cache))
    return ops.RunInvalidations(cache)


def _of_cursor(op: Callable[[CacheName, CursorName], Any], aim: Aim, state: State) -> Any:
    cache = managed_cache(aim)
    return op(cache, opened_cursor(aim, state, cache))


def _at_entry(op: Callable[[CacheName, CursorName, Position], Any], aim: Aim, state: State) -> Any:
    cache = managed_cache(aim)
    return op(cache, opened_cursor(aim, state, cache), entry_of(aim, state, cache))


def _at_place(op: Callable[[CacheName, CursorName, Position], Any], aim: Aim, state: State) -> Any:
    cache = managed_cache(aim)
    return op(cache, opened_cursor(aim, state, cache), place_of(aim, state, cache))


LEDGER_MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "append": append,
    "cursor_open": cursor_open,
    "cursor_read": cursor_read,
    "cursor_seek": partial(_at_place, ops.CursorSeek),
    "cursor_reset": partial(_at_place, ops.CursorReset),
    "mark_delete": partial(_at_entry, ops.MarkDelete),
    "ack": partial(_at_entry, ops.Ack),
    "activate": partial(_of_cursor, ops.Activate),
    "deactivate": partial(_of_cursor, ops.Deactivate),
    "cursor_close": partial(_of_cursor, ops.CursorClose),
    "replay_add": replay_add,
    "replay_read": replay_read,
    "delete_ledger": delete_ledger,
    "check_backlogs": check_backlogs,
    "run_invalidations": run_invalidations,
    "cursor_state": partial(_of_cursor, ops.CursorState),
}


# Permits.


def acquire(aim: Aim, state: State) -> Any:
    """Ask for permits under mostly a free name; where cursors take them, mostly begin to read."""
    if aim.config.storage is Storage.HELD and aim.offers("read_begin", "replay_begin") and aim.draw(0, 19):
        return replay_begin(aim, state) if aim.draw(0, 3) == 3 else read_begin(aim, state)
    used = {*state.limiter.out, *(request.name for request in state.limiter.waiting)}
    free = [name for name in aim.names.requests if name not in used]
    at = aim.draw(0, 12)
    name = free[at % len(free)] if free and at < 12 else aim.names.requests[at % len(aim.names.requests)]
    limit = aim.config.max_reads_in_flight_bytes
    some = (1, state.limiter.free, 2, limit, state.limiter.free + 1, limit // 2, limit + 1, limit - 1, 3, 0)
    permits: int = choose(aim.draw, some)
    return ops.Acquire(name, min(permits, INTEGER_MAX))


def give_back(aim: Aim, state: State) -> Any:
    """Give back mostly what is out; where cursors take permits, mostly release a read or let storage answer."""
    if aim.config.storage is Storage.HELD and aim.offers("read_begin", "storage_answer") and aim.draw(0, 19):
        held = [name for name in state.holds if ReadName(name) not in state.pending.of_cursors]
        if held and aim.offers("release") and (state.limiter.waiting or aim.draw(0, 1)):
            return ops.Release(held[aim.draw(0, len(held) - 1)])
        return storage_answer(aim, state)
    out = [name for name in state.limiter.out if not isinstance(name, RangeRequest)]
    at = aim.draw(0, 6 * len(out) + 1)
    return ops.GiveBack(out[at % len(out)] if at < 6 * len(out) else aim.names.requests[at % len(aim.names.requests)])


LIMIT_MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "acquire": acquire,
    "give_back": give_back,
    "limiter": lambda aim, state: ops.LimiterState(),
}


# Pending reads.

FETCH_LENGTHS: Final = (3, 1, 2, 5, 8, 12)


def free_read(aim: Aim, state: State) -> ReadName:
    """Return mostly a name that no open read has."""
    free = [name for name in aim.names.reads if name not in state.pending.reads]
    at = aim.draw(0, 12)
    return free[at % len(free)] if free and at < 12 else aim.names.reads[at % len(aim.names.reads)]


def fetch(aim: Aim, state: State) -> ops.Fetch:
    """Fetch a range; most of them begin next to an end of what is asked for, and one in twenty is refused."""
    ledger, base = choose(aim.draw, aim.names.fetched)
    ends = [end for ask in state.pending.asks.values() if ask.ledger == ledger for end in (ask.first, ask.last)]
    kind = aim.draw(0, 19)
    start = base + aim.draw(0, 11)
    if ends and kind < 14:
        start = max(0, ends[aim.draw(0, len(ends) - 1)] + aim.draw(-2, 2))
    first = Position(ledger, start)
    last = Position(ledger, start + choose(aim.draw, FETCH_LENGTHS) - 1)
    if kind == 18:
        last = Position(ledger + 1, last.entry)
    elif kind == 19:
        first, last = last, first
    return ops.Fetch(free_read(aim, state), first, last)


ANSWERS: Final = (
    *(ops.StorageAnswerKind.ALL,) * 5,
    *(ops.StorageAnswerKind.FAIL,) * 2,
    ops.StorageAnswerKind.BUSY,
)


def storage_answer(aim: Aim, state: State) -> Any:
    """Answer mostly an ask that is open, in any order; one in four with fewer entries, if it asks for several.

    Where storage is held and no ask of a cursor is open, mostly a read begins.
    """
    begins = aim.config.storage is Storage.HELD and aim.offers("read_begin")
    if begins and not state.pending.asks and aim.draw(0, 19):
        return read_begin(aim, state)
    if begins and (steps := overtake_read(aim, state)):
        aim.pending_ops = steps[::-1]
        return aim.pending_ops.pop()
    return answer_one(aim, state)


def overtake_read(aim: Aim, state: State) -> list[Any]:
    """Return steps that mark more as deleted than a read will bring, and answer it then; mostly none."""
    if not aim.offers("mark_delete", "cursor_state"):
        return []
    reads = [(name, read) for name, read in state.pending.of_cursors.items() if read.most is not None and read.wanted]
    if not reads or aim.draw(0, 11) < 11:
        return []
    name, read = reads[aim.draw(0, len(reads) - 1)]
    lowest = max(read.wanted[-1], state.managed[read.cache].cursors[read.cursor].mark_delete)
    behind = [pos for pos in entries_of(state.managed[read.cache]) if pos > lowest]
    if not behind:
        return []
    asks = [number for number, ask in state.pending.asks.items() if any(waiter.read == name for waiter in ask.waiting)]
    return [
        ops.MarkDelete(read.cache, read.cursor, behind[aim.draw(0, len(behind) - 1)]),
        *(ops.StorageAnswer(number, ops.StorageAnswerKind.ALL) for number in asks),
        ops.CursorState(read.cache, read.cursor),
    ]


def stops_a_replay(aim: Aim, state: State, ask: Ask) -> bool:
    """Return whether a short answer may leave a replay without an end.

    Under these variants a replay of a group is never answered if an entry is missing from a range with hits (finding
    short-answer-delivers-null). The reference ends it, so such cases are not made.
    """
    variants = aim.config.variants
    if variants.replay is Replay.SINGLE or variants.short_answer is ShortAnswer.UNBROKEN:
        return False
    opened = state.pending.of_cursors
    return any(waiter.read in opened and opened[waiter.read].most is None for waiter in ask.waiting)


def answer_one(aim: Aim, state: State) -> ops.StorageAnswer:
    """Answer an ask."""
    opened = list(state.pending.asks)
    at = aim.draw(0, 8 * len(opened))
    number = opened[at % len(opened)] if at < 8 * len(opened) else state.pending.sent
    ask = state.pending.asks.get(number)
    kind = aim.draw(0, 7)
    if (
        ask is not None
        and aim.limits.takes_answers(aim.config)
        and not stops_a_replay(aim, state, ask)
        and kind >= (6 if ask.cache is None else 5)
        and (ask.cache is None or ask.first < ask.last)
    ):
        return ops.StorageAnswer(number, aim.draw(int(kind < 7), max(1, ask.last - ask.first) + int(kind == 7)))
    return ops.StorageAnswer(number, ANSWERS[aim.draw(0, len(ANSWERS) - 1)])


# Reads in flight.


def open_read(aim: Aim, state: State) -> ReadName:
    """Return mostly a name that neither an open read nor a hold has."""
    used = {*state.pending.of_cursors, *state.holds}
    free = [name for name in aim.names.reads if name not in used]
    at = aim.draw(0, 15)
    return free[at % len(free)] if free and at < 15 else aim.names.reads[at % len(aim.names.reads)]


def idle_cursor(aim: Aim, state: State, cache: CacheName, is_replay: bool) -> CursorName:
    """Return mostly a cursor that has no open read of that kind."""
    opened = state.pending.of_cursors.values()
    busy = {read.cursor for read in opened if read.cache == cache and (read.most is None) is is_replay}
    idle = [name for name in sorted(managed_of(state, cache).cursors) if name not in busy]
    at = aim.draw(0, 8 * len(idle))
    return idle[at % len(idle)] if at < 8 * len(idle) else opened_cursor(aim, state, cache)


FEW_ENTRIES: Final = 6
"""The number of entries from which there is enough to read."""


def missing_first(aim: Aim, state: State, cache: CacheName, cursor: CursorName) -> Any:
    """Return what a reader of a managed cache lacks: entries, cursors, or something left to read; mostly None."""
    if not aim.offers("append", "cursor_open", "cursor_reset") or aim.draw(0, 9) == 9:
        return None
    if cache not in state.managed:
        return ops.Append(cache, first_place(state), appended_size(aim)) if cache not in state.caches else None
    managed = state.managed[cache]
    there = entries_of(managed)
    if len(there) < FEW_ENTRIES and aim.draw(0, 4):
        return ops.Append(cache, next_append(managed), appended_size(aim))
    if len(managed.cursors) < (1, 2, 3)[aim.draw(0, 2)]:
        free = [name for name in cursor_names(aim) if name not in managed.cursors]
        return ops.CursorOpen(cache, free[0], there[aim.draw(0, min(2, len(there) - 1))], aim.draw(0, 2) < 2)
    held = [name for name in state.holds if ReadName(name) not in state.pending.of_cursors]
    if len(held) > HOLDS_MOST and aim.offers("release"):
        return ops.Release(held[0])
    opened = state.pending.of_cursors.values()
    answers = state.pending.asks and aim.offers("storage_answer")
    if answers and any(read.cursor == cursor for read in opened) and aim.draw(0, 3):
        return answer_one(aim, state)
    reader = managed.cursors.get(cursor)
    if reader is not None and reader.read > there[-1] and aim.draw(0, 3):
        return ops.CursorReset(cache, cursor, there[aim.draw(0, len(there) - 1)])
    return None


HOLDS_MOST: Final = 2
"""The number of holds above which one of them is released before another read begins."""


def first_place(state: State) -> Position:
    """Return the first position of a ledger that no managed cache has had."""
    return Position(max((number for other in state.managed.values() for number in other.ids), default=0) + 1, 0)


READ_LENGTHS: Final = (3, 2, 5, 4, 9, 1, 0)


def read_begin(aim: Aim, state: State) -> Any:
    """Begin to read a few entries, or all; where something is missing for that, make it first."""
    cache = managed_cache(aim)
    cursor = idle_cursor(aim, state, cache, False)
    if (missing := missing_first(aim, state, cache, cursor)) is not None:
        return missing
    if aim.config.storage is Storage.AT_ONCE and aim.offers("cursor_read") and aim.draw(0, 9):
        return ops.CursorRead(cache, cursor, choose(aim.draw, MOST_ENTRIES), hold_of(aim, state))
    return ops.ReadBegin(cache, cursor, open_read(aim, state), choose(aim.draw, READ_LENGTHS))


def replay_begin(aim: Aim, state: State) -> Any:
    """Begin to replay a few positions, if there are any."""
    cache = managed_cache(aim)
    cursor = idle_cursor(aim, state, cache, True)
    if (missing := missing_first(aim, state, cache, cursor)) is not None:
        return missing
    number = (2, 1, 3, 5)[aim.draw(0, 3)]
    positions = tuple(entry_of(aim, state, cache) for _ in range(number))
    if aim.config.storage is Storage.AT_ONCE and aim.offers("replay_read") and aim.draw(0, 9):
        return ops.ReplayRead(cache, cursor, positions, hold_of(aim, state))
    return ops.ReplayBegin(cache, cursor, open_read(aim, state), positions)


PENDING_MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "fetch": fetch,
    "read_begin": read_begin,
    "replay_begin": replay_begin,
    "storage_answer": storage_answer,
}
