"""Planted violations of the levels manager, reads and cursors, each beside a twin: a clean trace that looks alike.

A story writes a trace into a script; where `planted` it breaks its rule and returns what an audit must find, else
the trace keeps every rule by a hair.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from script import MILLI, Place, Row, Script

Found = list[tuple[str, Row]]
Story = Callable[[Script, bool], Found]

STORIES: list[tuple[Story, dict[str, Any], str]] = []
"""Each story with the configuration of its script and its `threads`."""

SMALL: dict[str, Any] = {"max_size_bytes": 1000, "watermark": 0.5}


def story(threads: str = "one", **config: Any) -> Callable[[Story], Story]:
    """Enter a story into the list."""

    def enter(tell: Story) -> Story:
        STORIES.append((tell, config, threads))
        return tell

    return enter


def at(entry: int, ledger: int = 1, cache: str = "a") -> Place:
    return (cache, ledger, entry)


def wrong(planted: bool, *found: tuple[str, Row | None]) -> Found:
    """What is to be found, if it was planted."""
    return [(rule, row) for rule, row in found if planted and row is not None]


# --- trigger and settings


@story(**SMALL)
def pass_at_the_trigger(s: Script, planted: bool) -> Found:
    """Bytes exactly at the trigger run no pass; one byte above it, one does."""
    s.offer(at(0), 500)
    s.call().insert(at(1), 480 if planted else 481)
    begin = s.size_pass(s.bytes - s.target, "TRIGGER")
    return wrong(planted, ("R-TRIGGER-2", begin))


@story(**SMALL)
def no_pass_above_the_trigger(s: Script, planted: bool) -> Found:
    """One byte above the trigger needs a pass; at the trigger there is none."""
    s.offer(at(0), 500)
    last = s.call().insert(at(1), 481 if planted else 480)
    s.call().get(at(0))
    return wrong(planted, ("R-TRIGGER-2", last))


@story(**SMALL)
def too_little_asked_for(s: Script, planted: bool) -> Found:
    """A pass is to free all that is above the target."""
    for entry in range(4):
        s.offer(at(entry), 240)
    s.call().insert(at(9), 240)
    begin = s.size_pass(s.bytes - s.target - planted, "TRIGGER")
    return wrong(planted, ("R-TRIGGER-2", begin))


@story(**SMALL)
def pass_after_a_lookup(s: Script, planted: bool) -> Found:
    """A pass of origin TRIGGER stands right behind its INSERT; one of origin CALL may stand anywhere."""
    s.offer(at(0), 900)
    s.configure(max_size_bytes=800)
    s.call().get(at(0))
    begin = s.size_pass(s.bytes - s.target, "TRIGGER" if planted else "CALL")
    return wrong(planted, ("R-TRIGGER-2", begin))


@story(**SMALL)
def pass_after_a_duplicate(s: Script, planted: bool) -> Found:
    """What was rejected triggers nothing, however full the caches are."""
    s.offer(at(0), 900)
    s.configure(max_size_bytes=800)
    s.call()
    if planted:
        s.at("REJECT", at(0), cause="DUPLICATE", life=None)
    else:
        s.insert(at(1), 10)
    begin = s.size_pass(s.bytes - s.target, "TRIGGER")
    return wrong(planted, ("R-TRIGGER-3", begin))


@story(max_size_bytes=1000, watermark=1.0)
def nothing_above_the_target(s: Script, planted: bool) -> Found:
    """With a watermark above 0.98 the bytes may be above the trigger and have nothing to free."""
    s.offer(at(0), 500)
    s.call().insert(at(1), 500 if planted else 501)
    begin = s.size_pass(s.bytes - s.target, "TRIGGER")
    return wrong(planted, ("R-TRIGGER-8", begin))


@story(**SMALL)
def trigger_of_other_settings(s: Script, planted: bool) -> Found:
    """The thresholds are those of the last CONFIG, not of the one before."""
    s.offer(at(0), 400)
    s.configure(max_size_bytes=900, watermark=0.7)
    s.call().insert(at(1), 500)
    need = s.bytes - s.target
    begin = s.begin("SIZE", "TRIGGER", need)
    s.take(begin, need)
    end = s.end_pass(begin, need - 400)
    if planted:
        end["trigger_bytes"], end["target_bytes"] = 980, 500
    return wrong(planted, ("R-TRIGGER-1", end))


@story(max_size_bytes=1000, watermark=0.29)
def product_rounded(s: Script, planted: bool) -> Found:
    """1000 * 0.29 is 290 as decimals and 289 after the IEEE product."""
    begin = s.call().size_pass(7)
    begin["target_bytes"] = int(1000 * 0.29) + planted
    return wrong(planted, ("R-TRIGGER-1", begin))


@story(max_requeues=3)
def setting_of_before(s: Script, planted: bool) -> Found:
    """A pass uses the settings in force, not those of its entries' inserts."""
    s.offer(at(0))
    s.configure(max_requeues=1)
    begin = s.call().size_pass(5)
    if planted:
        begin["max_requeues"] = 3
    return wrong(planted, ("R-CONFIG-1", begin))


@story(eviction="manual", **SMALL)
def manual_insert_runs_a_pass(s: Script, planted: bool) -> Found:
    """With eviction manual the pass is a call of its own."""
    s.call().insert(at(0), 990)
    if not planted:
        s.call()
    begin = s.size_pass(s.bytes - s.target, "TRIGGER")
    return wrong(planted, ("R-TRIGGER-4", begin))


@story(eviction="manual", **SMALL)
def nobody_has_asked(s: Script, planted: bool) -> Found:
    """A scheduled pass runs once for what asked for it."""
    s.call().insert(at(0), 600)
    s.call().insert(at(1), 400)
    s.call().size_pass(s.bytes - s.target, "TRIGGER")
    s.call().insert(at(2), 570 if planted else 600)
    s.configure(max_size_bytes=900)
    begin = s.call().size_pass(s.bytes - s.target, "TRIGGER")
    return wrong(planted, ("R-TRIGGER-5", begin))


@story(ttl_nanos=50 * MILLI, **SMALL)
def cycle_with_another_time_to_live(s: Script, planted: bool) -> Found:
    """The cutoff of the periodic pass is that of the present time to live."""
    s.offer(at(0), 10)
    s.configure(ttl_nanos=20 * MILLI)
    s.now += 60 * MILLI
    begin = s.call().time_pass(s.now - (50 if planted else 20) * MILLI, "CYCLE")
    return wrong(planted, ("R-TRIGGER-6", begin))


@story(**SMALL)
def cycle_leaves_too_much(s: Script, planted: bool) -> Found:
    """What is still above the trigger after the time pass needs a size pass; what is not needs none."""
    s.offer(at(0), 600)
    s.offer(at(1), 300)
    s.configure(max_size_bytes=900 if planted else 919)
    s.call()
    begin = s.time_pass(s.now - s.config["ttl_nanos"], "CYCLE")
    s.call().get(at(0))
    return wrong(planted, ("R-TRIGGER-6", s.rows[begin["seq"] + 1]))


@story(**SMALL)
def cycle_without_need(s: Script, planted: bool) -> Found:
    """A cycle at the trigger ends with its time pass."""
    s.offer(at(0), 600)
    s.offer(at(1), 298)
    s.configure(max_size_bytes=917 if planted else 915)
    s.call()
    s.time_pass(s.now - s.config["ttl_nanos"], "CYCLE")
    begin = s.size_pass(s.bytes - s.target, "CYCLE")
    return wrong(planted, ("R-TRIGGER-6", begin))


@story(threads="many", **SMALL)
def more_left_than_came_in(s: Script, planted: bool) -> Found:
    """With several threads bytes come in during a pass; what is left above the target must be explained by them."""
    for entry in range(3):
        s.offer(at(entry), 300)
    s.call().insert(at(3), 300)
    need = s.bytes - s.target
    begin = s.begin("SIZE", "TRIGGER", need)
    need -= s.take(begin, need)
    s.insert(at(4), 130, call_id=len(s.rows))
    if planted:
        need -= 300
        begin["bound"] -= 300
        s.rows[begin["seq"] + 1]["bound"] -= 300
    while need > 0:
        need -= s.take(begin, need)
    end = s.end_pass(begin, need)
    return wrong(planted, ("R-TRIGGER-2", end))


# --- state


@story()
def clock_goes_back(s: Script, planted: bool) -> Found:
    """Two events may have one time; none has an earlier one."""
    s.offer(at(0))
    s.now -= int(planted)
    row = s.call().get(at(0))
    s.now += int(planted)
    return wrong(planted, ("R-STATE-6", row))


@story()
def event_within_a_pass(s: Script, planted: bool) -> Found:
    """With one thread a lookup stands before a pass or after it."""
    s.offer(at(0))
    s.offer(at(1))
    s.call()
    begin = s.begin("SIZE", "CALL", 5)
    s.take(begin, 5)
    if planted:
        row = s.get(at(1))
    s.end_pass(begin, -5)
    if not planted:
        row = s.get(at(1))
    return wrong(planted, ("R-STATE-4", row))


@story(threads="many")
def passes_overlap(s: Script, planted: bool) -> Found:
    """With several threads events stand within a pass, but never a second pass."""
    for entry in range(3):
        s.offer(at(entry))
    first = s.begin("SIZE", "CALL", 5)
    s.take(first, 5)
    s.call().get(at(2))
    if not planted:
        s.end_pass(first, -5)
    second = s.begin("SIZE", "CALL", 5)
    s.take(second, 5)
    s.end_pass(second, -5)
    if planted:
        s.end_pass(first, -5)
    return wrong(planted, ("R-STATE-4", second), ("R-STATE-4", s.rows[-1]))


@story()
def removed_outside_its_pass(s: Script, planted: bool) -> Found:
    """An entry leaves within the pass that takes it."""
    s.offer(at(0))
    s.call()
    begin = s.begin("TIME", "CALL", s.now + 1)
    end = s.end_pass(begin, s.now + 1, stamp_ns=None)
    if planted:
        s.take(begin, s.now + 1)
        s.rows[-1]["pass_id"] = begin["pass_id"]
    else:
        s.remove("CLEAR", at(0))
    end["bytes_after"] = end["manager_bytes"] = 10
    if not planted:
        end["stamp_ns"] = s.now + 1
        begin["bound"] = end["bound"] = s.now + 1
    else:
        end["stamp_ns"] = s.now + 1
    return wrong(planted, ("R-STATE-4", s.rows[-1]))


# --- counters


def _busy(s: Script) -> None:
    """Something for every counter."""
    s.offer(at(0), 400, 2)
    s.read([at(0), at(1)], 1)
    s.offer(at(2), 400, 1)
    s.offer(at(3), 500)
    s.metrics()
    s.cycle()
    s.call().size_pass(1)
    s.read([at(3), at(4)], 0)
    s.call().get(at(7))


def _told_wrong(rule: str, counter: str, by: int) -> None:
    @story(max_requeues=0, **SMALL)
    def counter_is_off(s: Script, planted: bool) -> Found:
        _busy(s)
        row = s.metrics(**({counter: s.counts.get(counter, s.bytes) + by} if planted else {}))
        s.metrics()
        return wrong(planted, (rule, row))

    counter_is_off.__name__ = f"{counter}_is_off"


for _rule, _counter, _by in (
    *(("R-METRICS-3", "inserted_entries", -1), ("R-METRICS-4", "evicted_entries", 1)),
    *(("R-METRICS-5", "eviction_cycles", 1), ("R-METRICS-6", "hit_entries", 1), ("R-METRICS-6", "hit_bytes", -400)),
    *(("R-METRICS-6", "miss_entries", -1), ("R-METRICS-6", "miss_bytes", 1), ("R-METRICS-7", "bytes", 100)),
):
    _told_wrong(_rule, _counter, _by)


@story(max_requeues=0, **SMALL)
def one_removal_is_not_counted(s: Script, planted: bool) -> Found:
    """From one removal on a counter is behind; it is told once, where it begins."""
    _busy(s)
    s.offer(at(5))
    s.call().remove("CLEAR", at(5))
    s.counts["evicted_entries"] -= int(planted)
    row = s.metrics()
    s.offer(at(6))
    s.metrics()
    return wrong(planted, ("R-METRICS-4", row))


# --- reads


@story()
def miss_while_cached(s: Script, planted: bool) -> Found:
    """A miss of a cached position; where the entry has left in between it is none."""
    life = s.offer(at(0))
    if not planted:
        s.call().remove("RANGE", at(0))
    row = s.call().row("MISS", cause="GET", cache="a", ledger_id=1, entry_id=0)
    assert life
    return wrong(planted, ("R-READ-1", row))


@story()
def hit_after_removal(s: Script, planted: bool) -> Found:
    """A hit of what has left; where it has come again it is one, of the new life."""
    old = s.offer(at(0))
    s.call().remove("RANGE", at(0))
    life = old["life"] if planted else s.offer(at(0))["life"]
    row = s.call().at("HIT", at(0), cause="GET", life=life, size_bytes=10)
    return wrong(planted, ("R-READ-1", row), ("R-STATE-8", row))


@story()
def hit_of_the_life_before(s: Script, planted: bool) -> Found:
    """A hit finds the entry that is cached now."""
    s.offer(at(0))
    s.offer(at(1))
    row = s.call().get(at(1), "READ")
    if planted:
        row["life"] = s.cached[at(0)]["life"]
    return wrong(planted, ("R-READ-7", row))


@story()
def miss_beside_a_reject(s: Script, planted: bool) -> Found:
    """A rejected duplicate shows that the entry was cached; where it was inserted after the miss all is well."""
    if planted:
        s.offer(at(0))
    row = s.call().row("MISS", cause="READ", cache="a", ledger_id=1, entry_id=0)
    if not planted:
        s.offer(at(0))
    s.call().at("REJECT", at(0), cause="DUPLICATE", life=None)
    return wrong(planted, ("R-READ-7", row))


@story()
def rejected_though_absent(s: Script, planted: bool) -> Found:
    """A duplicate is one of what is cached now, not of what was."""
    s.offer(at(0))
    if planted:
        s.call().remove("CLEAR", at(0))
    row = s.call().at("REJECT", at(0), cause="DUPLICATE", life=None)
    return wrong(planted, ("R-INSERT-1", row))


@story()
def inserted_twice(s: Script, planted: bool) -> Found:
    """A position is taken until its entry leaves."""
    first = s.offer(at(0))
    if not planted:
        s.call().remove("CLEAR", at(0))
    second = s.offer(at(0))
    if planted:  # the first is not forgotten
        s.call().row("REMOVE", cause="RANGE", cache="a", ledger_id=1, entry_id=0, life=first["life"], size_bytes=10)
        s.bytes -= 10
        s.rows[-1]["bytes_after"] = s.rows[-1]["manager_bytes"] = s.bytes
    return wrong(planted, ("R-INSERT-2", second), ("R-INVALIDATE-1", s.rows[-1]))


@story()
def fill_without_a_count(s: Script, planted: bool) -> Found:
    """A fill that nobody expects is not cached; an added entry may have no count."""
    s.call().get(at(0), "READ")
    row = s.insert(at(0), 100, None if planted else 1, cause="FILL")
    s.offer(at(1), 100)
    return wrong(planted, ("R-READ-9", row))


@story()
def fill_of_another_call(s: Script, planted: bool) -> Found:
    """A fill is of a position that its own call has missed."""
    s.call().get(at(0), "READ")
    if planted:
        s.call().get(at(1), "READ")
    row = s.insert(at(0), 100, 1, cause="FILL")
    return wrong(planted, ("R-READ-9", row))


@story()
def fills_of_two_counts(s: Script, planted: bool) -> Found:
    """The fills of one read carry one count; those of the next may carry another."""
    s.call().get(at(0), "READ")
    s.get(at(1), "READ")
    s.insert(at(0), 100, 2, cause="FILL")
    if not planted:
        s.call().get(at(1), "READ")
    row = s.insert(at(1), 100, 3, cause="FILL")
    return wrong(planted, ("R-READ-9", row))


@story()
def fills_that_descend(s: Script, planted: bool) -> Found:
    """The fills of one read ascend."""
    s.call().get(at(0), "READ")
    s.get(at(1), "READ")
    order = (1, 0) if planted else (0, 1)
    rows = [s.insert(at(entry), 100, 2, cause="FILL") for entry in order]
    return wrong(planted, ("R-READ-9", rows[1]))


@story()
def lookup_after_a_fill(s: Script, planted: bool) -> Found:
    """A read decides all its hits before it caches a fill; a reader that is named may read twice in a call."""
    cursor = None if planted else "c"
    s.cursor("ADD", "a", "c", (1, 0))
    s.call().get(at(0), "READ", cursor=cursor)
    s.insert(at(0), 100, 1, cause="FILL", cursor=cursor)
    row = s.get(at(1), "READ", cursor=cursor)
    return wrong(planted, ("R-READ-7", row))


@story()
def replay_fills(s: Script, planted: bool) -> Found:
    """What a single read has missed is not cached; a later read of it may be."""
    s.call().row("MISS", cause="REPLAY", cache="a", ledger_id=1, entry_id=0)
    if not planted:
        s.call().get(at(0), "READ")
    row = s.insert(at(0), 100, 1, cause="FILL")
    return wrong(planted, ("R-READ-10", row))


# --- counts


@story()
def delivery_takes_two(s: Script, planted: bool) -> Found:
    """A delivery takes 1; two deliveries take 2."""
    s.offer(at(0), 10, 3)
    s.call()
    row = s.done(at(0), by=-2 if planted else -1)
    if not planted:
        s.call().done(at(0))
    return wrong(planted, ("R-COUNT-1", row))


@story()
def delivery_is_lost(s: Script, planted: bool) -> Found:
    """A count that fell without a delivery shows when the entry leaves."""
    s.offer(at(0), 10, 3)
    s.call()
    if planted:
        s.cached[at(0)]["expected_reads"] = 2
    else:
        s.done(at(0))
    row = s.call().remove("CLEAR", at(0))
    return wrong(planted, ("R-COUNT-3", row))


@story()
def count_out_of_nothing(s: Script, planted: bool) -> Found:
    """An entry without a count never gets one."""
    s.offer(at(0), 10, None if planted else 0)
    s.cached[at(0)]["expected_reads"] = 0
    row = s.call().done(at(0))
    if planted:
        s.cached[at(0)]["expected_reads"] = None
    return wrong(planted, ("R-COUNT-3", row))


@story()
def expectation_of_two(s: Script, planted: bool) -> Found:
    """An expectation adds 1."""
    s.offer(at(0), 10, 1)
    s.call()
    row = s.done(at(0), "EXPECT", 2 if planted else 1)
    return wrong(planted, ("R-COUNT-2", row))


@story()
def delivery_of_a_departed_life(s: Script, planted: bool) -> Found:
    """A delivery may end after the entry has left, even where another is cached: it takes from the old count."""
    old = s.offer(at(0), 10, 3)
    s.call().remove("CLEAR", at(0))
    s.offer(at(0), 10, 5)
    row = s.call().at("READ_DONE", at(0), cause="DELIVERED", life=old["life"], expected_reads=4 if planted else 2)
    return wrong(planted, ("R-COUNT-1", row))


@story(threads="many")
def deliveries_that_overtake(s: Script, planted: bool) -> Found:
    """With several threads counts may be recorded out of order, but each once."""
    s.offer(at(0), 10, 4)
    s.cached[at(0)]["expected_reads"] = 4 if planted else 2
    first = s.call().at("READ_DONE", at(0), cause="DELIVERED", expected_reads=2)
    row = s.call().at("READ_DONE", at(0), cause="DELIVERED", expected_reads=2 if planted else 3)
    assert first
    s.cached[at(0)]["expected_reads"] = 2
    return wrong(planted, ("R-COUNT-1", row))


# --- cursors


@story()
def rank_before_the_move(s: Script, planted: bool) -> Found:
    """A fill carries the rank of its moment: a cursor that moved away in between counts no more."""
    s.cursor("ADD", "a", "slow", (1, 0))
    s.cursor("ADD", "a", "fast", (1, 5))
    s.cursor("ADD", "b", "other", (1, 0))
    s.cursor("MOVE", "a", "slow", (1, 9))
    fills = s.read([at(5)], 2 if planted else 1, "fast")
    return wrong(planted, ("R-CURSOR-7", fills[0]))


@story()
def rank_with_a_tie(s: Script, planted: bool) -> Found:
    """Cursors at the same position count, itself included; one that is not tracked does not."""
    s.cursor("ADD", "a", "one", (1, 5))
    s.cursor("ADD", "a", "two", (1, 5))
    s.cursor("ADD", "a", "lost", None)
    fills = s.read([at(5), at(6)], 3 if planted else 2, "one")
    return wrong(planted, ("R-CURSOR-7", fills[0]), ("R-CURSOR-7", fills[1]))


@story()
def rank_of_one_that_left(s: Script, planted: bool) -> Found:
    """A cursor that was removed counts no more, and a move does not bring it back."""
    s.cursor("ADD", "a", "one", (1, 1))
    s.cursor("ADD", "a", "two", (1, 5))
    s.cursor("REMOVE", "a", "one")
    s.cursor("MOVE", "a", "one", (1, 2))
    fills = s.read([at(5)], 2 if planted else 1, "two")
    return wrong(planted, ("R-CURSOR-7", fills[0]))


@story(evict_by_expected_reads=False)
def no_ranks_in_the_heap(s: Script, planted: bool) -> Found:
    """Without expected reads counts are no ranks, but still one a read."""
    s.cursor("ADD", "a", "one", (1, 1))
    s.call().get(at(5), "READ", cursor="one")
    row = s.insert(at(5), 100, 0 if planted else 7, cause="FILL", cursor="one")
    return wrong(planted, ("R-READ-9", row))


def _skip(s: Script, place: Place) -> Row:
    """An added entry that nobody wants."""
    return s.call().at("SKIP", place, cause="NOT_WANTED", size_bytes=10)


@story(grace_millis=50)
def grace_is_over(s: Script, planted: bool) -> Found:
    """In the last millisecond of the grace period an entry is cached, in the next one not."""
    s.now = 1_000 * MILLI + MILLI - 1
    s.cursor("ADD", "a", "c", (1, 0))
    s.cursor("REMOVE", "a", "c")
    s.now = (1_050 if planted else 1_049) * MILLI
    row = s.offer(at(0))
    s.now = 1_060 * MILLI
    _skip(s, at(1))
    return wrong(planted, ("R-CURSOR-11", row))


@story(grace_millis=50)
def skipped_in_grace(s: Script, planted: bool) -> Found:
    """Within the grace period, and while there is a member, nothing is skipped."""
    s.cursor("ADD", "a", "c", None)
    s.now += 60 * MILLI
    s.cursor("REMOVE", "a", "c")
    s.now += (49 if planted else 50) * MILLI
    row = _skip(s, at(1))
    s.now += 60 * MILLI
    s.cursor("ADD", "a", "c", None)
    s.offer(at(2))
    return wrong(planted, ("R-CURSOR-6", row))


@story(grace_millis=50)
def skipped_with_a_member(s: Script, planted: bool) -> Found:
    """A member that is not tracked is one all the same."""
    s.cursor("ADD", "a", "c", None)
    s.cursor("ADD", "a", "d", None)
    s.now += 60 * MILLI
    s.cursor("REMOVE", "a", "c")
    if not planted:
        s.cursor("REMOVE", "a", "d")
    s.now += 60 * MILLI
    row = _skip(s, at(1))
    return wrong(planted, ("R-CURSOR-11", row))


@story(grace_millis=50)
def reopening_starts_no_grace(s: Script, planted: bool) -> Found:
    """A cache that comes back has the grace period that it had."""
    s.cursor("ADD", "a", "c", None)
    s.cursor("REMOVE", "a", "c")
    s.call().row("CACHE_CLOSE", cache="a")
    s.now += 60 * MILLI
    s.opened.clear()
    row = s.offer(at(0)) if planted else s.call().row("CACHE_OPEN", cache="a")
    if not planted:
        s.opened.add("a")
    _skip(s, at(1))
    return wrong(planted, ("R-CURSOR-6", row))


@story(grace_millis=50)
def a_fill_is_not_asked(s: Script, planted: bool) -> Found:
    """What a read does not cache is no added entry: only that is held to the grace period."""
    s.cursor("ADD", "a", "c", (1, 0))
    if planted:
        row = _skip(s, at(1))
    else:
        s.call().get(at(1), "READ")
        row = s.at("SKIP", at(1), cause="NOT_WANTED", size_bytes=100)
    return wrong(planted, ("R-CURSOR-11", row))


@story(evict_by_expected_reads=False, grace_millis=50)
def no_grace_in_the_heap(s: Script, planted: bool) -> Found:
    """The heap container knows members only."""
    s.cursor("ADD", "a", "c", (1, 0))
    if planted:
        s.cursor("REMOVE", "a", "c")
    row = s.offer(at(0))
    if not planted:
        s.cursor("REMOVE", "a", "c")
    _skip(s, at(1))
    return wrong(planted, ("R-CURSOR-12", row))


# --- invalidation


def _five(s: Script) -> None:
    for entry in range(3):
        s.offer(at(entry))
    s.offer(at(0, 2))
    s.offer(at(1, cache="b"))


@story()
def ledger_is_not_empty(s: Script, planted: bool) -> Found:
    """All of the ledger leaves; other ledgers and caches stay."""
    _five(s)
    s.call()
    row = s.remove("LEDGER", at(0), at(1), *(() if planted else (at(2),)))
    if planted:
        s.call().get(at(2))
    s.call().get(at(0, 2))
    s.call().get(at(1, cache="b"))
    return wrong(planted, ("R-INVALIDATE-8", row))


@story()
def one_below_is_left(s: Script, planted: bool) -> Found:
    """All below the position leave, the one at it stays."""
    _five(s)
    s.call()
    row = s.remove("CURSOR", at(0), *(() if planted else (at(1),)), at(2))
    s.call().get(at(0, 2))
    return wrong(planted, ("R-INVALIDATE-7", row))


@story()
def closed_cache_holds_on(s: Script, planted: bool) -> Found:
    """A cache that was closed holds nothing until it is filled again."""
    _five(s)
    s.call()
    s.remove("CLOSE", at(0), at(1), *(() if planted else (at(2),)), at(0, 2))
    row = s.row("CACHE_CLOSE", cache="a")
    if planted:
        s.call().get(at(2))
    else:
        s.offer(at(2))
        s.call().get(at(2))
    return wrong(planted, ("R-INVALIDATE-9", row))


@story()
def cleared_in_part(s: Script, planted: bool) -> Found:
    """What came after the call is not its business."""
    _five(s)
    s.call()
    row = s.remove("CLEAR", at(0), at(1), at(2), *(() if planted else (at(0, 2),)))
    s.offer(at(1))
    s.call().get(at(1))
    return wrong(planted, ("R-INVALIDATE-4", row))


@story()
def hole_in_a_range(s: Script, planted: bool) -> Found:
    """A range may end before the last entry, but has no hole."""
    _five(s)
    s.call()
    row = s.remove("RANGE", at(0), at(2)) if planted else s.remove("RANGE", at(0), at(1))
    return wrong(planted, ("R-INVALIDATE-1", row))
