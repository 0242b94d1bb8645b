import pytest

from entrycache_conformance.rulebook.scenario import A, B, at, play
from entrycache_reference.pulsar_pip430.ops import Clear, Insert, Usage
from entrycache_reference.pulsar_pip430.outcomes import Used

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
