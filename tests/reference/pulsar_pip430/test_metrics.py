import pytest

from entrycache_evidence.pulsar_pip430.runs import A, B, at, play
from entrycache_reference.pulsar_pip430.config import Eviction
from entrycache_reference.pulsar_pip430.ops import (
    Advance,
    Clear,
    Configure,
    Cycle,
    Evict,
    Exists,
    Expire,
    Get,
    Insert,
    InvalidateBefore,
    Metrics,
    Read,
    ReadOne,
    RemoveCache,
    RemoveRange,
    RunScheduled,
    Usage,
)
from entrycache_reference.pulsar_pip430.outcomes import Counters, Used

TWO = (Insert(A, at(0), 3), Insert(A, at(1), 0), Insert(B, at(0), 5))


@pytest.mark.rule("R-METRICS-1")
def test_r_metrics_1__usage_of_one_cache():
    assert play(*TWO, Usage(A)).last == Used(2, 3)
    assert play(*TWO, Usage(B)).last == Used(1, 5)


@pytest.mark.rule("R-METRICS-1")
def test_r_metrics_1__usage_of_an_unknown_cache():
    assert play(Usage(A)).last == Used(0, 0)


@pytest.mark.rule("R-METRICS-2")
def test_r_metrics_2__usage_of_all_counts_entries_not_slots():
    assert play(*TWO, Usage()).last == Used(3, 8)
    assert play(*TWO, Clear(A), Usage()).last == Used(1, 5)
    assert play(Usage()).last == Used(0, 0)


def counters(run):
    return run.after.counts


@pytest.mark.rule("R-METRICS-3")
def test_r_metrics_3__inserts_and_fills_count_once_each():
    run = play(Insert(A, at(0), 1), Insert(A, at(0), 1), Insert(A, at(1), -1), Read(A, at(0), at(2), 1))
    assert counters(run).inserted_entries == 3


@pytest.mark.rule("R-METRICS-4")
@pytest.mark.parametrize(
    "leaving",
    [Evict(2), Expire(0), Clear(A), RemoveRange(A, at(0), at(1), True), InvalidateBefore(A, at(2)), RemoveCache(A)],
)
def test_r_metrics_4__every_kind_of_removal_counts(leaving):
    run = play(Insert(A, at(0), 1), Insert(A, at(1), 1), Advance(1), leaving, leaving)
    assert counters(run).evicted_entries == 2


@pytest.mark.rule("R-METRICS-5")
def test_r_metrics_5__only_size_passes_for_the_limit_are_cycles():
    fill = [Insert(A, at(entry), 1) for entry in range(10)]
    assert counters(play(*fill, max_size_bytes=10)).eviction_cycles == 1
    assert counters(play(*fill, Evict(2), Expire(0), Cycle(), max_size_bytes=20)).eviction_cycles == 0
    lower = [Configure(max_size_bytes=5), Cycle(), Cycle()]
    assert counters(play(*fill, *lower, max_size_bytes=20)).eviction_cycles == 1
    flagged = play(*fill, RunScheduled(), RunScheduled(), max_size_bytes=10, eviction=Eviction.MANUAL)
    assert counters(flagged).eviction_cycles == 1


@pytest.mark.rule("R-METRICS-6")
def test_r_metrics_6__reads_count_hits_and_misses_position_by_position():
    fill = [Insert(A, at(0), 5), Insert(A, at(3), 6), Get(A, at(0)), Get(A, at(9)), Exists(A, at(0))]
    run = play(*fill, Read(A, at(0), at(4), 0), ReadOne(A, at(3)), ReadOne(A, at(9)), storage_entry_size=7)
    assert counters(run)[3:] == (3, 17, 4, 28)


@pytest.mark.rule("R-METRICS-7")
def test_r_metrics_7__metrics_reports_all_counters_and_changes_nothing():
    run = play(Insert(A, at(0), 5), Insert(A, at(1), 6), Evict(1), Read(A, at(0), at(1), 0), Metrics(), Metrics())
    assert run.last == run.outcomes[-2] == Counters(2, 1, 0, 1, 6, 1, 100, 6)
    assert run.after == run.before
