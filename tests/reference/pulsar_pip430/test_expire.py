import pytest

from entrycache_evidence.pulsar_pip430.runs import REFUSED, A, at, play
from entrycache_reference.pulsar_pip430.ops import Advance, Expire, Get, Insert
from entrycache_reference.pulsar_pip430.outcomes import Removed

AGES = (Insert(A, at(0), 1), Advance(1), Insert(A, at(1), 1), Advance(1), Insert(A, at(2), 1), Advance(3))
"""Entries 0, 1 and 2, now 5, 4 and 3 old."""


@pytest.mark.rule("R-EXPIRE-1")
@pytest.mark.parametrize(("older_than", "left"), [(3, [2]), (4, [1, 2]), (5, [0, 1, 2]), (2, [])])
def test_r_expire_1__an_entry_as_old_as_the_cutoff_stays(older_than, left):
    assert play(*AGES, Expire(older_than)).queue() == left


@pytest.mark.rule("R-EXPIRE-1")
def test_r_expire_1__a_young_accessed_entry_is_not_requeued():
    run = play(*AGES, Get(A, at(0)), Expire(5))
    assert run.entry(0).accessed
    assert run.entry(0).requeues == 0


@pytest.mark.rule("R-EXPIRE-2")
def test_r_expire_2__no_expired_entry_stands_at_the_head_afterwards():
    run = play(*AGES, Get(A, at(0)), Get(A, at(1)), Expire(3))
    assert run.queue() == [2, 0, 1]
    assert run.entry(2).stamp_nanos >= run.after.now_nanos - 3


@pytest.mark.rule("R-EXPIRE-3")
@pytest.mark.parametrize(("ttl", "removed"), [(2, 3), (3, 2), (4, 1), (5, 0)])
def test_r_expire_3__without_an_age_the_time_to_live_decides(ttl, removed):
    run = play(*AGES, Expire(), ttl_nanos=ttl)
    assert run.last == Removed(removed, removed)
    assert run.rows[0].bound == 5 - ttl


@pytest.mark.rule("R-EXPIRE-4")
def test_r_expire_4__a_negative_age_is_refused_and_0_is_not():
    assert play(*AGES, Expire(-1)).last == REFUSED
    assert play(*AGES, Expire(0)).last == Removed(3, 3)


@pytest.mark.rule("R-EXPIRE-5")
@pytest.mark.parametrize(("age", "removed"), [(0, 3), (3, 2), (6, 0), (2**53 - 1, 0)])
def test_r_expire_5__the_age_decides_whatever_the_time_to_live(age, removed):
    run = play(*AGES, Expire(age), ttl_nanos=4)
    assert run.last == Removed(removed, removed)
    assert run.rows[0].bound == 5 - age
