from dataclasses import replace

import pytest

from entrycache_evidence.pulsar_legacy.stress import REFUSED, A, B, at, build_inserts, play
from entrycache_reference.pulsar_legacy.ops import Advance, Clear, Evict, EvictCache, Expire, Insert, Removed
from entrycache_reference.vocabulary import CacheName

C = CacheName("c")
D = CacheName("d")


@pytest.mark.rule("L-EVICT-1")
def test_l_evict_1__the_lowest_positions_leave_whatever_their_age():
    run = play(Insert(A, at(2), 5), Insert(A, at(0), 3), Insert(A, at(1), 2), EvictCache(A, 4))
    assert (run.last, run.held()) == (Removed(2, 5), [2])
    assert play(*build_inserts(A, 3, 2), EvictCache(A, 99)).last == Removed(2, 5)
    assert play(EvictCache(A, 1)).last == Removed(0, 0)


@pytest.mark.rule("L-EVICT-2")
def test_l_evict_2__a_pass_stops_when_it_has_freed_enough():
    assert play(*build_inserts(A, 3, 0, 1), EvictCache(A, 3)).held() == [1, 2]
    assert play(*build_inserts(A, 0, 3, 0), EvictCache(A, 1)).held() == [2]


@pytest.mark.rule("L-EVICT-3")
def test_l_evict_3__caches_are_taken_until_they_hold_half():
    assert play(*build_inserts(B, 3), *build_inserts(A, 3, 3), Evict(4)).steps[-1].givers == (A,)
    assert play(*build_inserts(A, 5), *build_inserts(B, 5), Evict(4)).steps[-1].givers == (A,)
    assert play(*build_inserts(A, 4), *build_inserts(B, 3), *build_inserts(C, 3), Evict(4)).steps[-1].givers == (A, B)
    assert play(*build_inserts(A, 1), Evict(1)).last == Removed(0, 0)
    assert play(Evict(1)).last == Removed(0, 0)


@pytest.mark.rule("L-EVICT-3")
def test_l_evict_3__a_new_entry_leaves_and_an_old_one_stays():
    run = play(*build_inserts(B, 3), Advance(9), *build_inserts(A, 7), Evict(1))
    assert (run.held(A), run.held(B)) == ([], [0])


@pytest.mark.rule("L-EVICT-4")
def test_l_evict_4__of_equal_caches_the_first_by_name_gives():
    run = play(*build_inserts(C, 4), *build_inserts(B, 4), *build_inserts(A, 4), Evict(8))
    assert run.steps[-1].givers == (A, B)
    assert run.held(C) == [0]


@pytest.mark.rule("L-EVICT-5")
def test_l_evict_5__shares_are_truncated_products_of_doubles():
    filled = [
        *build_inserts(A, *[1] * 15),
        *build_inserts(B, *[1] * 7),
        *build_inserts(C, *[1] * 7),
        *build_inserts(D, *[1] * 3),
    ]
    run = play(*filled, Evict(22))
    assert (run.last, run.held(A), run.held(B)) == (Removed(21, 21), [14], [])
    none = play(*build_inserts(A, 5, 5), *build_inserts(B, 8), *build_inserts(C, 8), Evict(1))
    assert none.last == Removed(0, 0)


@pytest.mark.rule("L-EXPIRE-1")
def test_l_expire_1__an_entry_at_the_cutoff_is_old():
    run = play(*build_inserts(A, 3, 3), Advance(5), Insert(A, at(2), 3), Expire(A, 5))
    assert (run.last, run.held()) == (Removed(2, 6), [2])


@pytest.mark.rule("L-EXPIRE-2")
def test_l_expire_2__an_old_entry_behind_a_young_one_stays():
    run = play(Insert(A, at(1), 3), Advance(5), Insert(A, at(0), 3), Expire(A, 5))
    assert (run.last, run.held()) == (Removed(0, 0), [0, 1])


@pytest.mark.rule("L-EXPIRE-3")
@pytest.mark.parametrize(("age", "left"), [({}, [0]), ({"older_than_nanos": 0}, []), ({"older_than_nanos": 4}, [])])
def test_l_expire_3__an_absent_age_means_the_time_to_live(age, left):
    assert play(*build_inserts(A, 3), Advance(4), Expire(A, **age), ttl_nanos=5).held() == left


@pytest.mark.rule("L-EXPIRE-3")
def test_l_expire_3__a_cutoff_before_the_beginning_finds_nothing():
    assert play(*build_inserts(A, 3), Expire(A, 1)).held() == [0]


@pytest.mark.rule("L-LIVENESS-1")
def test_l_liveness_1__a_pass_takes_an_entry_once():
    for done in (Expire(A, 0), EvictCache(A, 9), Evict(9)):
        rows = play(*build_inserts(A, 1, 2), done).steps[-1].rows
        assert [row.entry_id for row in rows if row.op == "EVICT"] == [0, 1]


@pytest.mark.rule("L-STATE-3")
@pytest.mark.parametrize(
    "wrong", [Evict(0), Evict(-1), EvictCache(B, 0), Expire(A, -1), Advance(-1), Insert(A, at(9), -1)]
)
def test_l_state_3__a_refused_step_changes_nothing(wrong):
    run = play(*build_inserts(A, 1, 2), wrong)
    assert (run.last, run.after) == (REFUSED, run.before)


@pytest.mark.rule("L-STATE-5")
@pytest.mark.parametrize("removing", [Clear(A), EvictCache(A, 9), Expire(A, 0)])
def test_l_state_5__entries_without_bytes_are_counted_too(removing):
    assert play(*build_inserts(A, 1, 0), *build_inserts(B, 5), removing).last == Removed(2, 1)
    assert play(*build_inserts(B, 5), replace(removing)).last == Removed(0, 0)
