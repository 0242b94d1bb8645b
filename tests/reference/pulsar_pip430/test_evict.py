import pytest

from entrycache_evidence.pulsar_pip430.runs import REFUSED, A, B, at, play
from entrycache_reference.pulsar_pip430.ops import Advance, Evict, Expire, Get, Insert, MarkRead, RemoveRange
from entrycache_reference.pulsar_pip430.outcomes import Removed

THREE = (Insert(A, at(0), 10), Insert(A, at(1), 10), Insert(A, at(2), 10))


def remove_entry(entry):
    return RemoveRange(A, at(entry), at(entry), True)


@pytest.mark.rule("R-EVICT-1")
def test_r_evict_1__dead_slots_are_dropped_when_a_pass_comes_to_them():
    run = play(*THREE, remove_entry(0), remove_entry(1), Advance(1), Expire(5))
    assert run.before.queue[:2] == (None, None)
    assert run.queue() == [2]


@pytest.mark.rule("R-EVICT-1")
def test_r_evict_1__a_size_pass_that_has_enough_still_drops_them():
    run = play(*THREE, remove_entry(1), Evict(10))
    assert run.queue() == [2]
    assert run.last == Removed(1, 10)


@pytest.mark.rule("R-EVICT-1")
def test_r_evict_1__a_dead_slot_behind_the_halting_head_stays():
    assert play(*THREE, remove_entry(1), Expire(5)).queue() == [0, None, 2]


@pytest.mark.rule("R-EVICT-2")
def test_r_evict_2__the_halting_head_and_the_rest_stay_as_they_were():
    run = play(*THREE, Get(A, at(1)), Get(A, at(2)), Evict(10))
    assert run.queue() == [1, 2]
    for entry in (1, 2):
        assert run.entry(entry) == run.before.caches[A].entries[at(entry)]


@pytest.mark.rule("R-EVICT-3")
@pytest.mark.parametrize("cause", [Evict(1), Expire(0)])
def test_r_evict_3__an_entry_without_expected_reads_is_removed(cause):
    assert play(Insert(A, at(0), 10), Advance(1), cause).last == Removed(1, 10)
    assert play(Insert(A, at(0), 10, 1), MarkRead(A, at(0)), Advance(1), cause).last == Removed(1, 10)


@pytest.mark.rule("R-EVICT-3")
def test_r_evict_3__an_entry_with_expected_reads_is_not_removed():
    assert play(Insert(A, at(0), 10, 1), Advance(1), Expire(0)).last == Removed(0, 0)


@pytest.mark.rule("R-EVICT-4")
@pytest.mark.parametrize(("need", "freed"), [(1, 10), (9, 10), (10, 10), (11, 20), (30, 30), (31, 30)])
def test_r_evict_4__frees_the_requested_bytes_or_everything(need, freed):
    assert play(*THREE, Evict(need)).last == Removed(freed // 10, freed)


@pytest.mark.rule("R-EVICT-4")
def test_r_evict_4__requeues_do_not_protect_against_need():
    run = play(Insert(A, at(0), 10, 5), Get(A, at(0)), Evict(10))
    assert run.last == Removed(1, 10)


@pytest.mark.rule("R-EVICT-5")
def test_r_evict_5__stops_as_soon_as_it_has_enough():
    run = play(*THREE, Insert(A, at(3), 0), Evict(20))
    assert run.last == Removed(2, 20)
    assert run.queue() == [2, 3]


@pytest.mark.rule("R-EVICT-5")
def test_r_evict_5__takes_an_empty_entry_that_stands_before_the_last_needed_one():
    run = play(Insert(A, at(0), 0), Insert(A, at(1), 5), Evict(1))
    assert run.last == Removed(2, 5)


@pytest.mark.rule("R-EVICT-6")
def test_r_evict_6__nothing_to_free_is_refused():
    assert play(*THREE, Evict(0)).last == REFUSED
    assert play(*THREE, Evict(-1)).last == REFUSED
    assert play(*THREE, Evict(1)).last == Removed(1, 10)


@pytest.mark.rule("R-EVICT-7")
def test_r_evict_7__dead_and_requeued_slots_are_not_counted():
    run = play(*THREE, remove_entry(0), Get(A, at(1)), Advance(1), Expire(0))
    assert run.last == Removed(1, 10)
    assert run.queue() == [1]


@pytest.mark.rule("R-EVICT-8")
def test_r_evict_8__requeued_entries_follow_the_rest_in_the_order_they_were_taken():
    run = play(*THREE, Get(A, at(0)), Get(A, at(1)), Advance(9), Insert(B, at(7), 1), Advance(1), Expire(5))
    assert run.queue() == [7, 0, 1]


@pytest.mark.rule("R-EVICT-8")
def test_r_evict_8__all_caches_stand_in_one_queue():
    run = play(Insert(B, at(9), 10), Insert(A, at(0), 10), Insert(B, at(1), 10), Evict(20))
    assert run.queue() == [1]
