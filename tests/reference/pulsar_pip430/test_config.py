import pytest

from entrycache_evidence.pulsar_pip430.runs import REFUSED, A, at, play
from entrycache_reference.pulsar_pip430.config import Eviction
from entrycache_reference.pulsar_pip430.ops import Advance, Configure, Insert, ShouldCache
from entrycache_reference.pulsar_pip430.outcomes import Done, Wanted


@pytest.mark.rule("R-CONFIG-1")
@pytest.mark.parametrize(
    "change",
    [
        {"max_size_bytes": 7},
        {"watermark": 0},
        {"watermark": 1},
        {"ttl_nanos": 0},
        {"max_requeues": 0},
        {"extend_recently_accessed": False},
        {"ttl_nanos": 3, "max_requeues": 9},
        {},
    ],
)
def test_r_config_1__only_named_settings_change(change):
    first = {"max_size_bytes": 8, "watermark": 0.25, "ttl_nanos": 5, "max_requeues": 2}
    run = play(Configure(**first), Configure(**change))
    assert run.last == Done()
    assert run.after.settings == run.before.settings._replace(**change)


@pytest.mark.rule("R-CONFIG-2", "R-STATE-5")
@pytest.mark.parametrize(
    "wrong",
    [
        {"max_size_bytes": 0},
        {"max_size_bytes": -1},
        {"watermark": -0.1},
        {"watermark": 1.1},
        {"ttl_nanos": -1},
        {"max_requeues": -1},
    ],
)
def test_r_config_2__one_wrong_setting_changes_none(wrong):
    run = play(Insert(A, at(0), 1), Configure(**{"ttl_nanos": 3, "max_requeues": 9, **wrong}))
    assert run.last == REFUSED
    assert run.after == run.before


@pytest.mark.rule("R-CONFIG-2")
def test_r_config_2__a_run_without_a_limit_refuses_a_new_one():
    assert play(Configure(max_size_bytes=5), max_size_bytes=0).last == REFUSED
    assert play(Configure(ttl_nanos=5), max_size_bytes=0).last == Done()


@pytest.mark.rule("R-CONFIG-3")
@pytest.mark.parametrize("eviction", list(Eviction))
def test_r_config_3__a_lower_limit_evicts_nothing_by_itself(eviction):
    run = play(*[Insert(A, at(entry), 1) for entry in range(9)], Configure(max_size_bytes=2), eviction=eviction)
    assert run.after == run.before._replace(settings=run.after.settings)
    assert run.after.size_bytes == 9


@pytest.mark.rule("R-CONFIG-4")
@pytest.mark.parametrize(("ttl_nanos", "present"), [(2_000_000, 0), (0, 2_000_000)])
def test_r_config_4__the_default_grace_period_follows_the_first_ttl(ttl_nanos, present):
    events = [Insert(A, at(0), 1), Configure(ttl_nanos=present), Advance(3_000_000)]
    assert play(*events, ShouldCache(A), ttl_nanos=ttl_nanos).last == Wanted(ttl_nanos > 0)
    assert play(*events, Advance(1_000_000), ShouldCache(A), ttl_nanos=ttl_nanos).last == Wanted(False)
