import pytest

from entrycache_evidence.pulsar_legacy.stress import REFUSED, A, B, at, build_inserts, play
from entrycache_reference.pulsar_legacy.config import SingleLookup, Variants
from entrycache_reference.pulsar_legacy.ops import (
    Advance,
    CacheView,
    Clear,
    Done,
    EvictCache,
    Existing,
    Exists,
    Expire,
    Get,
    GetRange,
    Hit,
    Hits,
    Insert,
    InvalidateBefore,
    InvalidateLedger,
    Observe,
    Observed,
    Read,
    ReadOne,
    RemoveCache,
    Removed,
    RemoveRange,
    Served,
    Usage,
    Used,
)


@pytest.mark.rule("L-STATE-1")
def test_l_state_1__sums_follow_inserts_and_removals():
    run = play(*build_inserts(A, 3, 4), *build_inserts(B, 5), EvictCache(A, 1))
    assert (run.after.size_bytes, run.after.caches[A].size_bytes, run.after.caches[B].size_bytes) == (9, 4, 5)


@pytest.mark.rule("L-STATE-2")
def test_l_state_2__only_the_clock_moves():
    run = play(*build_inserts(A, 3), Advance(5))
    assert (run.last, run.after) == (Done(), run.before._replace(now_nanos=5))


@pytest.mark.rule("L-STATE-4")
@pytest.mark.parametrize("query", [Get(A, at(0)), GetRange(A, at(0), at(1)), Exists(A, at(0)), Usage(), Observe()])
def test_l_state_4__a_lookup_renews_no_stamp(query):
    run = play(*build_inserts(A, 3), Advance(5), query)
    assert run.after == run.before
    assert play(*build_inserts(A, 3), Advance(5), query, Expire(A, 5)).last == Removed(1, 3)


@pytest.mark.rule("L-READ-1")
def test_l_read_1__a_hit_carries_its_payload():
    assert play(Insert(A, at(0), 0, 42), Get(A, at(0))).last == Hit(True, (42,))
    assert play(*build_inserts(A, 0), Get(A, at(0))).last == Hit(True)
    assert play(*build_inserts(A, 0), Get(B, at(0))).last == Hit(False)


@pytest.mark.rule("L-READ-2")
def test_l_read_2__both_ends_belong_to_a_range():
    filled = [Insert(A, at(2), 1, 42), Insert(A, at(0), 1, 40)]
    assert play(*filled, GetRange(A, at(0), at(2))).last == Hits((at(0), at(2)), (40, 42))
    assert play(*filled, GetRange(A, at(2), at(0))).last == Hits(())


@pytest.mark.rule("L-READ-3")
def test_l_read_3__exists_looks_into_one_cache():
    assert play(*build_inserts(A, 1), Exists(A, at(0))).last == Existing(True)
    assert play(*build_inserts(A, 1), Exists(B, at(0))).last == Existing(False)


@pytest.mark.rule("L-READ-4")
def test_l_read_4__a_range_is_served_whole_or_not_at_all():
    filled = [Insert(A, at(0), 1, 40), Insert(A, at(1), 1, 41)]
    run = play(*filled, Read(A, at(0), at(1)))
    assert (run.last, run.after) == (Served((at(0), at(1)), (), (40, 41)), run.before)
    assert play(*filled, Read(A, at(1), at(2))).last == Served((), (at(1), at(2)), (1, 2))


@pytest.mark.rule("L-READ-5")
def test_l_read_5__each_fill_is_an_insert_of_its_own():
    run = play(*build_inserts(A, 7), Read(A, at(0), at(2)))
    entries = run.after.caches[A].entries
    assert {pos.entry: (entry.size_bytes, entry.token) for pos, entry in entries.items()} == {
        0: (7, None),
        1: (100, 1),
        2: (100, 2),
    }


@pytest.mark.rule("L-READ-5")
def test_l_read_5__a_cached_position_of_the_range_requests_a_pass():
    run = play(*build_inserts(A, 100), Read(A, at(0), at(1)), max_size_bytes=100)
    assert run.held() == [1]


@pytest.mark.rule("L-READ-6")
def test_l_read_6__a_single_read_changes_nothing():
    full = {"max_size_bytes": 10}
    run = play(*build_inserts(A, 10), ReadOne(A, at(1)), **full)
    assert (run.last, run.after) == (Served((), (at(1),), (1,)), run.before)
    assert play(Insert(A, at(0), 10, 40), ReadOne(A, at(0)), **full).last == Served((at(0),), (), (40,))


@pytest.mark.rule("L-STATE-3")
@pytest.mark.parametrize("wrong", [Read(A, at(1), at(0)), Read(A, at(0), at(0, 2))])
def test_l_state_3__a_range_lies_in_one_ledger_and_in_order(wrong):
    run = play(*build_inserts(A, 1, 2), wrong)
    assert (run.last, run.after) == (REFUSED, run.before)


@pytest.mark.rule("L-INVALIDATE-1")
def test_l_invalidate_1__the_end_of_a_range_is_removed_on_request():
    assert play(*build_inserts(A, 1, 1, 1), RemoveRange(A, at(0), at(1), False)).held() == [1, 2]
    assert play(*build_inserts(A, 1, 1, 1), RemoveRange(A, at(0), at(1), True)).held() == [2]
    assert play(*build_inserts(A, 1, 1), RemoveRange(A, at(1), at(0), True)).held() == [0, 1]


@pytest.mark.rule("L-INVALIDATE-2")
def test_l_invalidate_2__one_cache_is_cleared():
    run = play(*build_inserts(A, 1, 0), *build_inserts(B, 1), Clear(A))
    assert (run.held(A), run.held(B)) == ([], [0])


@pytest.mark.rule("L-INVALIDATE-3")
def test_l_invalidate_3__the_entry_at_the_position_stays():
    assert play(*build_inserts(A, 1, 1, 1), InvalidateBefore(A, at(1))).held() == [1, 2]


@pytest.mark.rule("L-INVALIDATE-4")
@pytest.mark.parametrize(("ledger", "left"), [(1, [7]), (2, [0, 1]), (-1, [0, 1, 7])])
def test_l_invalidate_4__one_ledger_is_removed(ledger, left):
    assert play(*build_inserts(A, 1, 1), Insert(A, at(7, 2), 1), InvalidateLedger(A, ledger)).held() == left


@pytest.mark.rule("L-INVALIDATE-5")
def test_l_invalidate_5__a_removed_name_comes_back_empty():
    run = play(*build_inserts(A, 1, 1), *build_inserts(B, 1), RemoveCache(A))
    assert (run.last, run.held(A), run.held(B)) == (Done(), [], [0])
    assert play(*build_inserts(A, 1, 1), RemoveCache(A), Insert(A, at(5), 1)).held() == [5]


@pytest.mark.rule("L-METRICS-1")
def test_l_metrics_1__usage_sums_one_cache_or_all():
    filled = [*build_inserts(A, 3, 4), *build_inserts(B, 5)]
    queries = [Usage(A), Usage(), Usage(B), Usage("c")]
    assert [play(*filled, one).last for one in queries] == [Used(2, 7), Used(3, 12), Used(1, 5), Used(0, 0)]


@pytest.mark.rule("L-METRICS-2")
def test_l_metrics_2__observe_shows_every_cache_that_holds_entries():
    run = play(*build_inserts(B, 0), Insert(A, at(1), 3), Insert(A, at(0), 4), Advance(5), Observe())
    assert run.last == Observed(5, 7, {A: CacheView(7, (at(0), at(1))), B: CacheView(0, (at(0),))})


@pytest.mark.rule("L-LIVENESS-2")
def test_l_liveness_2__an_unknown_cache_has_an_answer():
    queries = [Usage(A), Get(A, at(0)), Clear(A), Expire(A), RemoveCache(A)]
    assert [play(one).last for one in queries] == [Used(0, 0), Hit(False), Removed(0, 0), Removed(0, 0), Done()]


@pytest.mark.rule("L-READ-7")
def test_l_read_7__a_lookup_by_object_finds_no_entry():
    by_object = {"variants": Variants(single_lookup=SingleLookup.OBJECT)}
    cached = Insert(A, at(0), 100, 42)
    assert play(cached, Get(A, at(0)), **by_object).last == Hit(False)
    assert play(cached, ReadOne(A, at(0)), **by_object).last == Served((), (at(0),), (0,))
    assert play(cached, Exists(A, at(0)), **by_object).last == Existing(True)
    assert play(cached, Read(A, at(0), at(0)), **by_object).last == Served((at(0),), (), (42,))
