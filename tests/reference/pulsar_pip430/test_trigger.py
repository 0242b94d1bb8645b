import pytest

from entrycache_evidence.pulsar_pip430.runs import A, B, at, play
from entrycache_reference.pulsar_pip430.config import Eviction
from entrycache_reference.pulsar_pip430.ops import Advance, Clear, Configure, Cycle, Evict, Get, Insert, RunScheduled
from entrycache_reference.pulsar_pip430.outcomes import Inserted, Removed

MANUAL = Eviction.MANUAL


def filled(entries, size=1):
    return [Insert(A, at(entry), size) for entry in range(entries)]


def size_pass(run):
    """The first row of the last step's size pass."""
    return next((row for row in run.rows if row.op == "PASS_BEGIN" and row.cause == "SIZE"), None)


@pytest.mark.rule("R-TRIGGER-1")
@pytest.mark.parametrize(
    ("limit", "watermark", "trigger", "target"),
    [(100, 0.9, 98, 90), (100, 0.57, 98, 56), (10, 0.9, 9, 9), (50, 0.5, 49, 25), (7, 0.0, 6, 0)],
)
def test_r_trigger_1__thresholds_are_truncated_products_of_doubles(limit, watermark, trigger, target):
    run = play(*filled(trigger + 1), max_size_bytes=limit, watermark=watermark)
    first = size_pass(run)
    assert (first.trigger_bytes, first.target_bytes, first.bound) == (trigger, target, trigger + 1 - target)


@pytest.mark.rule("R-TRIGGER-2")
def test_r_trigger_2__an_insert_above_the_trigger_frees_down_to_the_target():
    run = play(*filled(10), max_size_bytes=10, watermark=0.5)
    assert (size_pass(run).bound, size_pass(run).origin) == (5, "TRIGGER")
    assert run.queue() == [5, 6, 7, 8, 9]


@pytest.mark.rule("R-TRIGGER-2")
def test_r_trigger_2__an_insert_that_comes_to_the_trigger_runs_nothing():
    run = play(*filled(9), max_size_bytes=10, watermark=0.5)
    assert size_pass(run) is None
    assert len(run.queue()) == 9


@pytest.mark.rule("R-TRIGGER-2")
def test_r_trigger_2__a_limit_that_was_raised_or_lowered_counts_at_once():
    run = play(*filled(6), Configure(max_size_bytes=5), Insert(B, at(0), 0), max_size_bytes=10, watermark=0.5)
    assert size_pass(run).bound == 4
    run = play(*filled(9), Configure(max_size_bytes=20), Insert(B, at(0), 1), max_size_bytes=10, watermark=0.5)
    assert size_pass(run) is None


@pytest.mark.rule("R-TRIGGER-3")
@pytest.mark.parametrize("eviction", list(Eviction))
def test_r_trigger_3__a_duplicate_triggers_nothing(eviction):
    run = play(*filled(6), Configure(max_size_bytes=5), Insert(A, at(0), 9), max_size_bytes=10, eviction=eviction)
    assert run.last == Inserted(False)
    assert run.after == run.before
    assert size_pass(run) is None


@pytest.mark.rule("R-TRIGGER-4")
def test_r_trigger_4__an_insert_sets_the_flag_and_removes_nothing():
    run = play(*filled(10), max_size_bytes=10, eviction=MANUAL)
    assert run.after.is_scheduled
    assert len(run.queue()) == 10


@pytest.mark.rule("R-TRIGGER-4")
@pytest.mark.parametrize(
    "event", [Cycle(), Evict(9), Clear(A), Configure(max_size_bytes=100), Insert(A, at(0), 1), Insert(B, at(0), 1)]
)
def test_r_trigger_4__nothing_but_run_scheduled_clears_the_flag(event):
    run = play(*filled(10), event, Advance(1), max_size_bytes=10, eviction=MANUAL)
    assert run.after.is_scheduled


@pytest.mark.rule("R-TRIGGER-5")
def test_r_trigger_5__the_pass_uses_the_present_sizes():
    run = play(*filled(12), Evict(1), RunScheduled(), max_size_bytes=10, watermark=0.5, eviction=MANUAL)
    assert run.last == Removed(6, 6)
    assert not run.after.is_scheduled


@pytest.mark.rule("R-TRIGGER-5")
def test_r_trigger_5__a_pass_with_nothing_to_free_clears_the_flag():
    run = play(*filled(10), Evict(1), RunScheduled(), max_size_bytes=10, eviction=MANUAL)
    assert run.last == Removed(0, 0)
    assert not run.after.is_scheduled
    assert size_pass(run) is None


@pytest.mark.rule("R-TRIGGER-5")
@pytest.mark.parametrize("eviction", list(Eviction))
def test_r_trigger_5__without_the_flag_nothing_runs(eviction):
    run = play(*filled(9), Configure(max_size_bytes=5), RunScheduled(), max_size_bytes=10, eviction=eviction)
    assert run.last == Removed(0, 0)
    assert run.after == run.before


@pytest.mark.rule("R-TRIGGER-6")
@pytest.mark.parametrize("eviction", list(Eviction))
def test_r_trigger_6__cycle_expires_first_and_frees_what_is_still_over(eviction):
    events = [Insert(A, at(0), 4), Advance(5), Insert(A, at(1), 3), Insert(A, at(2), 3), Configure(max_size_bytes=5)]
    run = play(*events, Cycle(), ttl_nanos=4, watermark=0.6, eviction=eviction)
    assert [row.cause for row in run.rows if row.op == "PASS_BEGIN"] == ["TIME", "SIZE"]
    assert run.queue() == [2]
    assert size_pass(run).bound == 3


@pytest.mark.rule("R-TRIGGER-6")
def test_r_trigger_6__cycle_runs_no_size_pass_if_the_time_pass_was_enough():
    run = play(*filled(9), Advance(5), Configure(max_size_bytes=5), Cycle(), max_size_bytes=10, ttl_nanos=4)
    assert size_pass(run) is None
    assert run.last == Removed(9, 9)


@pytest.mark.rule("R-TRIGGER-7")
def test_r_trigger_7__cycle_answers_what_both_passes_removed():
    events = [Insert(A, at(0), 4), Advance(5), Insert(A, at(1), 3), Insert(A, at(2), 3), Configure(max_size_bytes=5)]
    assert play(*events, Cycle(), ttl_nanos=4, watermark=0.6).last == Removed(2, 7)


@pytest.mark.rule("R-TRIGGER-8")
@pytest.mark.parametrize("last", [Insert(B, at(0), 1), Cycle()])
def test_r_trigger_8__above_the_trigger_but_not_above_the_target_nothing_runs(last):
    run = play(*filled(9), Insert(A, at(9), 1), last, max_size_bytes=11, watermark=1.0)
    assert all(step.outcome == Inserted(True) for step in run.steps[:10])
    assert run.after.counts.eviction_cycles == 0
    assert size_pass(run) is None


@pytest.mark.rule("R-TRIGGER-8")
def test_r_trigger_8__not_even_a_scheduled_pass_runs():
    run = play(*filled(11), RunScheduled(), max_size_bytes=11, watermark=1.0, eviction=MANUAL)
    assert run.before.is_scheduled
    assert run.last == Removed(0, 0)
    assert size_pass(run) is None


@pytest.mark.rule("R-TRIGGER-9")
def test_r_trigger_9__an_entry_larger_than_the_limit_comes_and_goes():
    run = play(Insert(A, at(0), 11), max_size_bytes=10)
    assert run.last == Inserted(True)
    assert run.find(0) is None
    assert [row.op for row in run.rows if row.op in {"INSERT", "EVICT"}] == ["INSERT", "EVICT"]


@pytest.mark.rule("R-TRIGGER-9")
def test_r_trigger_9__a_large_entry_goes_even_after_requeues_of_older_ones():
    run = play(Insert(A, at(0), 5), Get(A, at(0)), Insert(A, at(1), 6), max_size_bytes=10, watermark=0.5)
    assert run.last == Inserted(True)
    assert run.queue() == [0]
