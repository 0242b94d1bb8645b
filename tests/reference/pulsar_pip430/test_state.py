import pytest

from entrycache_evidence.pulsar_pip430.runs import REFUSED, A, B, at, play
from entrycache_reference.pulsar_pip430.ops import (
    Advance,
    Clear,
    Evict,
    Exists,
    Expire,
    Get,
    GetRange,
    Insert,
    MarkRead,
    Observe,
    RemoveRange,
    Usage,
)
from entrycache_reference.pulsar_pip430.outcomes import Decided
from entrycache_reference.pulsar_pip430.state import Slot


def sums_agree(state):
    for cache in state.caches.values():
        assert cache.size_bytes == sum(entry.size_bytes for entry in cache.entries.values())
    assert state.size_bytes == sum(cache.size_bytes for cache in state.caches.values())


@pytest.mark.rule("R-STATE-1")
def test_r_state_1__bytes_follow_every_insert_and_removal():
    run = play(
        Insert(A, at(0), 10), Insert(B, at(0), 0), Insert(A, at(1), 7), Insert(A, at(1), 9),
        Evict(10), Insert(A, at(2), 5), RemoveRange(A, at(1), at(1), True), Clear(A), Clear(B),
    )  # fmt: skip
    for state in run.states:
        sums_agree(state)
    assert [state.size_bytes for state in run.states] == [0, 10, 10, 17, 17, 7, 12, 5, 0, 0]


@pytest.mark.rule("R-STATE-2")
def test_r_state_2__a_removed_position_leaves_no_live_slot():
    run = play(Insert(A, at(0), 1), RemoveRange(A, at(0), at(0), True), Insert(A, at(0), 1))
    assert run.queue().count(0) == 1


@pytest.mark.rule("R-STATE-2")
def test_r_state_2__same_position_in_two_caches_has_two_slots():
    run = play(Insert(A, at(0), 1), Insert(B, at(0), 1))
    assert run.after.queue == (Slot(A, at(0)), Slot(B, at(0)))


@pytest.mark.rule("R-STATE-3")
def test_r_state_3__stamps_never_fall_from_head_to_tail():
    run = play(
        Insert(A, at(5), 1), Advance(1), Insert(B, at(0), 1), Advance(1), Insert(A, at(1), 1), Advance(1),
        Get(A, at(5)), Expire(1), RemoveRange(A, at(1), at(1), True),
    )  # fmt: skip
    stamps = [
        state.caches[slot.cache].entries[slot.pos].stamp_nanos
        for state in run.states[-1:]
        for slot in state.queue
        if slot is not None
    ]
    assert stamps == sorted(stamps)
    assert max(stamps) <= run.after.now_nanos
    assert run.queue() == [None, 5]


@pytest.mark.rule("R-STATE-3")
def test_r_state_3__a_removal_leaves_the_order_of_the_others():
    fill = [(A, 0), (B, 0), (A, 1), (A, 2)]
    events = [event for cache, entry in fill for event in (Insert(cache, at(entry), 1), Advance(1))]
    run = play(*events, RemoveRange(A, at(2), at(2), True))
    assert run.queue() == [0, 0, 1, None]
    assert [slot.cache for slot in run.after.queue if slot is not None] == [A, B, A]


@pytest.mark.rule("R-STATE-4")
@pytest.mark.parametrize("nanos", [0, 1, 10**15])
def test_r_state_4__only_the_clock_moves(nanos):
    run = play(Insert(A, at(0), 1, 1), Advance(5), Advance(nanos), ttl_nanos=3)
    assert run.after == run.before._replace(now_nanos=5 + nanos)
    assert run.last == Decided()


@pytest.mark.rule("R-STATE-5")
@pytest.mark.parametrize("refused", [Insert(B, at(0), -1), Advance(-1), Expire(-1), Evict(0), Evict(-1)])
def test_r_state_5__a_refused_step_changes_nothing(refused):
    run = play(Insert(A, at(0), 1), Get(A, at(0)), Advance(9), refused)
    assert run.last == REFUSED
    assert run.after == run.before
    assert B not in run.after.caches
    assert run.rows == ()


@pytest.mark.rule("R-STATE-6")
def test_r_state_6__negative_time_is_refused_and_zero_is_not():
    assert play(Advance(-1)).last == REFUSED
    assert play(Advance(0)).last == Decided()


@pytest.mark.rule("R-STATE-7")
@pytest.mark.parametrize("query", [Exists(A, at(0)), Usage(A), Usage(), Observe()])
def test_r_state_7__observing_changes_nothing(query):
    run = play(Insert(A, at(0), 1), query)
    assert run.after == run.before
    assert not run.entry(0).accessed


@pytest.mark.rule("R-STATE-8")
@pytest.mark.parametrize("removal", [RemoveRange(A, at(0), at(9), True), Clear(A), Evict(2)])
def test_r_state_8__one_row_for_each_entry_that_leaves(removal):
    run = play(Insert(A, at(0), 1), Insert(A, at(1), 1), removal)
    assert [row.entry_id for row in run.rows if row.op in {"REMOVE", "EVICT"}] == [0, 1]
    again = play(Insert(A, at(0), 1), Insert(A, at(1), 1), removal, removal)
    assert not [row for row in again.rows if row.op in {"REMOVE", "EVICT"}]


@pytest.mark.rule("R-STATE-8")
def test_r_state_8__a_dead_slot_does_not_take_the_next_entry_at_its_position():
    run = play(
        Insert(A, at(0), 1), RemoveRange(A, at(0), at(0), True), Insert(A, at(1), 1), Insert(A, at(0), 1), Evict(1)
    )
    assert run.queue() == [0]


@pytest.mark.rule("R-STATE-9")
@pytest.mark.parametrize(
    "names",
    [Insert(A, at(0), 1), Get(A, at(0)), GetRange(A, at(0), at(1)), Exists(A, at(0)), Usage(A), Clear(A),
     RemoveRange(A, at(0), at(1), True), MarkRead(A, at(0))],
)  # fmt: skip
def test_r_state_9__the_first_step_that_names_a_cache_opens_it(names):
    run = play(names, names)
    assert [A in state.caches for state in run.states] == [False, True, True]
    assert [row.op for done in run.steps for row in done.rows].count("CACHE_OPEN") == 1


@pytest.mark.rule("R-STATE-9")
def test_r_state_9__a_step_that_names_no_cache_opens_none():
    assert play(Usage(), Observe(), Expire(), Evict(1)).after.caches == {}


@pytest.mark.rule("R-STATE-5")
def test_r_state_5__a_refused_pass_leaves_dead_slots_too():
    run = play(Insert(A, at(0), 1), Insert(A, at(1), 1), RemoveRange(A, at(0), at(0), True), Evict(0))
    assert run.last == REFUSED
    assert run.queue() == [None, 1]
