import pytest

from entrycache_evidence.pulsar_legacy.stress import A, B, at, build_inserts, play
from entrycache_reference.pulsar_legacy.config import Eviction
from entrycache_reference.pulsar_legacy.ops import Advance, Insert, Inserted, Removed, RemoveRange, RunScheduled
from entrycache_reference.pulsar_legacy.state import Entry

TEN = {"max_size_bytes": 10, "watermark": 0.5}
HUNDRED = {"max_size_bytes": 100, "watermark": 0.5}
BOTH = pytest.mark.parametrize("eviction", list(Eviction))


@pytest.mark.rule("L-INSERT-1")
def test_l_insert_1__an_accepted_entry_is_stamped_with_the_present():
    run = play(Advance(7), Insert(A, at(0), 3, 42))
    assert (run.last, run.after.caches[A].entries[at(0)]) == (Inserted(True), Entry(3, 7, 42))


@pytest.mark.rule("L-INSERT-2")
def test_l_insert_2__the_first_entry_of_a_position_stays():
    run = play(Insert(A, at(0), 3, 42), Advance(7), Insert(A, at(0), 9, 43))
    assert (run.last, run.after) == (Inserted(False), run.before)


@BOTH
@pytest.mark.rule("L-INSERT-3")
def test_l_insert_3__at_the_limit_no_entry_is_accepted_even_after_a_pass(eviction):
    run = play(*build_inserts(A, 5, 5), Insert(B, at(0), 1), eviction=eviction, **TEN)
    assert (run.last, run.held(B)) == (Inserted(False), [])
    assert run.held(A) == ([1] if eviction is Eviction.INLINE else [0, 1])


@pytest.mark.rule("L-INSERT-3")
def test_l_insert_3__a_limit_of_0_accepts_no_entry():
    assert play(Insert(A, at(0), 0), max_size_bytes=0).last == Inserted(False)


@pytest.mark.rule("L-INSERT-4")
def test_l_insert_4__only_the_bytes_before_the_insert_count():
    run = play(*build_inserts(A, 9, 1_000), **TEN)
    assert (run.last, run.after.size_bytes) == (Inserted(True), 1_009)


@pytest.mark.rule("L-INSERT-5")
def test_l_insert_5__an_entry_that_the_own_pass_evicts_is_inserted_anew():
    run = play(*build_inserts(A, 60, 39), Advance(7), Insert(A, at(0), 2), **HUNDRED)
    assert run.last == Inserted(True)
    assert run.after.caches[A].entries == {at(1): Entry(39, 0, None), at(0): Entry(2, 7, None)}


@pytest.mark.rule("L-TRIGGER-1")
@pytest.mark.parametrize(
    ("limit", "watermark", "trigger", "share"),
    [(100, 0.9, 98, 90), (100, 0.57, 98, 56), (1_000, 0.5, 980, 500), (50, 0.5, 49, 25), (7, 0.0, 6, 0)],
)
def test_l_trigger_1__thresholds_are_truncated_products_of_doubles(limit, watermark, trigger, share):
    config = {"max_size_bytes": limit, "watermark": watermark, "eviction": Eviction.MANUAL}
    assert play(*build_inserts(A, trigger, 0), **config).after.scheduled_bytes is None
    assert play(*build_inserts(A, trigger + 1, 0), **config).after.scheduled_bytes == trigger + 1 - share


@pytest.mark.rule("L-TRIGGER-2")
def test_l_trigger_2__the_bytes_before_the_insert_decide():
    run = play(*build_inserts(A, 5, 4, 3), **TEN)
    assert run.held() == [0, 1, 2]
    run = play(*build_inserts(A, 49, 50, 3), **HUNDRED)
    assert run.held() == [1, 2]
    assert play(*build_inserts(A, 49, 49, 3), **HUNDRED).held() == [0, 1, 2]


@pytest.mark.rule("L-TRIGGER-3")
def test_l_trigger_3__a_manual_pass_waits():
    run = play(*build_inserts(A, 49, 50, 3), eviction=Eviction.MANUAL, **HUNDRED)
    assert (run.held(), run.after.scheduled_bytes) == ([0, 1, 2], 49)


@pytest.mark.rule("L-TRIGGER-4")
def test_l_trigger_4__the_first_amount_counts():
    filled = build_inserts(A, 49, 50, 40)
    late = play(*filled, Insert(A, at(3), 1), eviction=Eviction.MANUAL, **HUNDRED)
    assert late.after.scheduled_bytes == 49
    gone = play(*filled, RemoveRange(A, at(0), at(9), True), eviction=Eviction.MANUAL, **HUNDRED)
    assert gone.after.scheduled_bytes == 49


@pytest.mark.rule("L-TRIGGER-5")
def test_l_trigger_5__a_late_pass_frees_the_amount_of_its_request():
    calls = [*build_inserts(A, 49, 50, 0), RemoveRange(A, at(0), at(0), True)]
    run = play(*calls, RunScheduled(), eviction=Eviction.MANUAL, **HUNDRED)
    assert (run.last, run.after.scheduled_bytes) == (Removed(1, 50), None)
    again = play(*calls, RunScheduled(), RunScheduled(), eviction=Eviction.MANUAL, **HUNDRED)
    assert (again.last, again.after) == (Removed(0, 0), again.before)


@pytest.mark.rule("L-TRIGGER-6")
def test_l_trigger_6__a_pass_with_nothing_to_free_is_scheduled_and_does_nothing():
    config = {"max_size_bytes": 100, "watermark": 1.0}
    assert play(*build_inserts(A, 99, 0), **config).held() == [0, 1]
    waiting = play(*build_inserts(A, 99, 0), eviction=Eviction.MANUAL, **config)
    assert waiting.after.scheduled_bytes == -1
    run = play(*build_inserts(A, 99, 0), RunScheduled(), eviction=Eviction.MANUAL, **config)
    assert (run.last, run.held(), run.after.scheduled_bytes) == (Removed(0, 0), [0, 1], None)


@BOTH
@pytest.mark.rule("L-TRIGGER-7")
def test_l_trigger_7__a_duplicate_and_a_full_cache_request_a_pass_too(eviction):
    for sizes, config in (((49, 50), HUNDRED), ((5, 5), TEN)):
        run = play(*build_inserts(A, *sizes), Insert(A, at(1), 1), eviction=eviction, **config)
        assert run.last == Inserted(False)
        assert (run.held() == [1]) is (eviction is Eviction.INLINE)
        assert (run.after.scheduled_bytes is None) is (eviction is Eviction.INLINE)
