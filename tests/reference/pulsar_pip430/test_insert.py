import pytest

from entrycache_evidence.pulsar_pip430.runs import REFUSED, A, B, H, at, play
from entrycache_reference.pulsar_pip430.config import DuplicateCount, Variants, ZeroReads
from entrycache_reference.pulsar_pip430.ops import Advance, Evict, Expire, Get, Insert, ReadOne, Release
from entrycache_reference.pulsar_pip430.outcomes import Inserted, Removed
from entrycache_reference.vocabulary import ABSENT


@pytest.mark.rule("R-INSERT-1")
@pytest.mark.parametrize("size", [0, 1, 10])
def test_r_insert_1__a_new_entry_stands_at_the_tail_with_the_present_stamp(size):
    run = play(Insert(A, at(3), 1), Advance(7), Insert(A, at(1), size, token=5))
    entry = run.entry(1)
    assert run.last == Inserted(True)
    assert (entry.size_bytes, entry.stamp_nanos, entry.requeues, entry.accessed, entry.token) == (size, 7, 0, False, 5)
    assert run.queue() == [3, 1]


@pytest.mark.rule("R-INSERT-1")
def test_r_insert_1__the_same_position_of_another_cache_is_new():
    assert play(Insert(A, at(0), 1), Insert(B, at(0), 1)).outcomes == (Inserted(True), Inserted(True))


@pytest.mark.rule("R-INSERT-2")
def test_r_insert_2__duplicate_changes_nothing():
    run = play(Insert(A, at(0), 10, 1, 4), Get(A, at(0)), Insert(A, at(1), 1), Advance(9), Insert(A, at(0), 20, 5, 6))
    assert run.last == Inserted(False)
    assert run.after == run.before


@pytest.mark.rule("R-INSERT-2")
def test_r_insert_2__duplicate_does_not_prolong_a_life():
    run = play(Insert(A, at(0), 10), Advance(10), Insert(A, at(0), 10), Expire(5))
    assert run.last == Removed(1, 10)


@pytest.mark.rule("R-INSERT-2")
def test_r_insert_2__a_position_that_was_removed_is_no_duplicate():
    assert play(Insert(A, at(0), 10), Evict(1), Insert(A, at(0), 10)).last == Inserted(True)


@pytest.mark.rule("R-INSERT-3")
def test_r_insert_3__a_limit_of_0_caches_nothing():
    run = play(Insert(A, at(0), 1), Insert(A, at(0), 0), max_size_bytes=0)
    assert run.outcomes == (Inserted(False), Inserted(False))
    assert run.find(0) is None
    assert run.queue() == []


@pytest.mark.rule("R-INSERT-3")
def test_r_insert_3__a_limit_above_0_caches():
    assert play(Insert(A, at(0), 0), max_size_bytes=1).last == Inserted(True)


@pytest.mark.rule("R-INSERT-4")
@pytest.mark.parametrize("expected_reads", [ABSENT, None, 0, -1])
def test_r_insert_4__no_expected_reads_no_count(expected_reads):
    assert play(Insert(A, at(0), 1, expected_reads)).entry(0).expected_reads is None


@pytest.mark.rule("R-INSERT-5")
def test_r_insert_5__a_negative_size_is_refused():
    assert play(Insert(A, at(0), -1)).last == REFUSED
    assert play(Insert(A, at(0), -1), max_size_bytes=0).last == REFUSED


@pytest.mark.rule("R-INSERT-5")
def test_r_insert_5__size_0_is_not_refused():
    assert play(Insert(A, at(0), 0)).last == Inserted(True)


@pytest.mark.rule("R-INSERT-6")
@pytest.mark.parametrize("expected_reads", [1, 2, 2**31 - 1])
def test_r_insert_6__positive_expected_reads_are_the_count(expected_reads):
    assert play(Insert(A, at(0), 1, expected_reads)).entry(0).expected_reads == expected_reads


@pytest.mark.rule("R-INSERT-7")
def test_r_insert_7__counted_zero_reads_are_carried():
    variants = Variants(zero_reads=ZeroReads.COUNTED)
    run = play(Insert(A, at(0), 1, 0), Insert(A, at(1), 1, -1), Insert(A, at(2), 1), variants=variants)
    assert [run.entry(entry).expected_reads for entry in (0, 1, 2)] == [0, None, None]


@pytest.mark.rule("R-INSERT-8")
@pytest.mark.parametrize(("offered", "carried"), [(7, 7), (0, None), (None, None)])
def test_r_insert_8__a_duplicate_brings_its_count(offered, carried):
    events = [Insert(A, at(0), 1, 3), Get(A, at(0)), ReadOne(A, at(0), H), Insert(A, at(0), 9, offered), Release(H)]
    run = play(*events, variants=Variants(duplicate_count=DuplicateCount.REPLACED))
    assert run.outcomes[3] == Inserted(False)
    assert run.entry(0).expected_reads == carried
    assert (run.entry(0).size_bytes, run.entry(0).accessed) == (1, True)
