import pytest

from entrycache_evidence.pulsar_pip430.runs import A, at, play
from entrycache_reference.pulsar_pip430.config import RequeueBudget, SizePassRounds, Variants
from entrycache_reference.pulsar_pip430.ops import Advance, Evict, Expire, Get, Insert, MarkRead
from entrycache_reference.pulsar_pip430.outcomes import Removed

PASS = (Advance(1), Expire(0))
READ = (Get(A, at(0)), *PASS)


@pytest.mark.rule("R-REQUEUE-1")
@pytest.mark.parametrize("max_requeues", [0, 1, 2])
@pytest.mark.parametrize("reads", [None, 1])
def test_r_requeue_1__an_accessed_entry_stays_whatever_its_count_and_budget(max_requeues, reads):
    run = play(Insert(A, at(0), 1, reads), *READ * 4, max_requeues=max_requeues)
    assert run.entry(0).requeues == 4
    assert [row.cause for row in run.rows if row.op == "REQUEUE"] == ["ACCESSED"]


@pytest.mark.rule("R-REQUEUE-1")
def test_r_requeue_1__an_entry_that_was_not_accessed_does_not():
    assert play(Insert(A, at(0), 1), *READ, *PASS).queue() == []


@pytest.mark.rule("R-REQUEUE-2")
@pytest.mark.parametrize("passes", [1, 2])
def test_r_requeue_2__expected_reads_keep_an_entry_while_its_budget_lasts(passes):
    run = play(Insert(A, at(0), 1, 1), *PASS * passes, max_requeues=2)
    assert run.entry(0).requeues == passes
    assert [row.cause for row in run.rows if row.op == "REQUEUE"] == ["EXPECTED_READS"]


@pytest.mark.rule("R-REQUEUE-3")
@pytest.mark.parametrize("max_requeues", [0, 1, 2])
def test_r_requeue_3__with_the_budget_used_up_the_entry_leaves(max_requeues):
    run = play(Insert(A, at(0), 1, 9), *PASS * (max_requeues + 1), max_requeues=max_requeues)
    assert run.last == Removed(1, 1)


@pytest.mark.rule("R-REQUEUE-3")
def test_r_requeue_3__more_requeues_than_the_budget_by_access_leave_none():
    run = play(Insert(A, at(0), 1, 9), *READ * 3, *PASS, max_requeues=1)
    assert run.last == Removed(1, 1)


@pytest.mark.rule("R-REQUEUE-4")
@pytest.mark.parametrize("extend", [True, False])
def test_r_requeue_4__a_requeued_entry_is_restamped_and_unmarked(extend):
    run = play(Insert(A, at(0), 1, 1), Get(A, at(0)), Advance(6), Expire(0), extend_recently_accessed=extend)
    assert (run.entry(0).stamp_nanos, run.entry(0).accessed) == (6, False)


@pytest.mark.rule("R-REQUEUE-5")
def test_r_requeue_5__both_causes_and_both_passes_use_one_budget():
    run = play(Insert(A, at(0), 1, 1), *READ, Advance(1), Insert(A, at(1), 1), Evict(1), max_requeues=2)
    assert run.entry(0).requeues == 2
    assert run.queue() == [0]
    run = play(Insert(A, at(0), 1, 1), *READ, *PASS, *PASS, max_requeues=2)
    assert run.last == Removed(1, 1)


@pytest.mark.rule("R-REQUEUE-5")
def test_r_requeue_5__the_variant_split_counts_expected_reads_only():
    split = Variants(RequeueBudget.SPLIT)
    run = play(Insert(A, at(0), 1, 1), *READ, *PASS, *PASS, max_requeues=2, variants=split)
    assert run.entry(0).requeues == 2


@pytest.mark.rule("R-REQUEUE-6")
@pytest.mark.parametrize("max_requeues", [0, 1, 3])
def test_r_requeue_6__expected_reads_never_lift_the_count_above_the_budget(max_requeues):
    run = play(Insert(A, at(0), 1, 9), *PASS * 5, max_requeues=max_requeues)
    lifted = [row.requeues for done in run.steps for row in done.rows if row.op == "REQUEUE"]
    assert lifted == list(range(1, max_requeues + 1))


@pytest.mark.rule("R-REQUEUE-7")
def test_r_requeue_7__without_the_setting_access_keeps_nothing():
    run = play(Insert(A, at(0), 1), *READ, extend_recently_accessed=False)
    assert run.last == Removed(1, 1)
    run = play(Insert(A, at(0), 1, 1), *READ, extend_recently_accessed=False)
    assert [row.cause for row in run.rows if row.op == "REQUEUE"] == ["EXPECTED_READS"]


@pytest.mark.rule("R-REQUEUE-8")
@pytest.mark.parametrize(("deliveries", "stays"), [(0, True), (1, True), (2, False), (3, False)])
def test_r_requeue_8__a_count_of_0_or_below_expects_no_read(deliveries, stays):
    run = play(Insert(A, at(0), 1, 2), *[MarkRead(A, at(0))] * deliveries, *PASS)
    assert (run.find(0) is not None) == stays


@pytest.mark.rule("R-REQUEUE-9")
def test_r_requeue_9__a_size_pass_of_one_round_spares_each_slot_once():
    fill = [Insert(A, at(entry), 1, 9) for entry in range(3)]
    run = play(*fill, Evict(2), variants=Variants(size_pass_rounds=SizePassRounds.ONE), max_requeues=5)
    assert [row.op for row in run.rows[1:-1]] == ["REQUEUE"] * 3 + ["EVICT"] * 2
    assert run.queue() == [2]
