import pytest

from entrycache_evidence.pulsar_pip430.runs import REFUSED, A, H, at, play
from entrycache_reference.pulsar_pip430.config import CountFloor, Variants
from entrycache_reference.pulsar_pip430.ops import (
    Advance,
    Clear,
    Evict,
    ExpectRead,
    Get,
    Insert,
    InvalidateLedger,
    MarkRead,
    Read,
    ReadOne,
    Release,
    RemoveCache,
)
from entrycache_reference.pulsar_pip430.outcomes import Counted, Released, Served
from entrycache_reference.vocabulary import HoldName

OTHER = HoldName("other")


@pytest.mark.rule("R-COUNT-1")
def test_r_count_1__a_delivery_takes_one_below_0_too():
    run = play(Insert(A, at(0), 1, 1), *[MarkRead(A, at(0))] * 3)
    assert run.outcomes[1:] == (Counted(0), Counted(-1), Counted(-2))
    assert run.entry(0).expected_reads == -2


@pytest.mark.rule("R-COUNT-2")
def test_r_count_2__an_expected_delivery_adds_one_from_below_0_too():
    run = play(Insert(A, at(0), 1, 1), MarkRead(A, at(0)), MarkRead(A, at(0)), *[ExpectRead(A, at(0))] * 3)
    assert run.outcomes[3:] == (Counted(0), Counted(1), Counted(2))
    assert run.entry(0).expected_reads == 2


@pytest.mark.rule("R-COUNT-3")
@pytest.mark.parametrize("op", [MarkRead, ExpectRead])
@pytest.mark.parametrize("pos", [at(0), at(1)])
def test_r_count_3__an_entry_without_a_count_never_gets_one(op, pos):
    run = play(Insert(A, at(0), 1), op(A, pos))
    assert run.last == Counted(None)
    assert run.after == run.before


@pytest.mark.rule("R-COUNT-4")
@pytest.mark.parametrize("op", [MarkRead, ExpectRead])
@pytest.mark.parametrize("lookups", [(), (Get(A, at(0)),)])
def test_r_count_4__counting_changes_nothing_else(op, lookups):
    run = play(Insert(A, at(0), 1, 3), Insert(A, at(1), 1), *lookups, Advance(5), op(A, at(0)))
    before = run.before.caches[A].entries[at(0)]
    assert run.entry(0) == before._replace(expected_reads=run.entry(0).expected_reads)
    assert run.after.queue == run.before.queue


@pytest.mark.rule("R-COUNT-5")
def test_r_count_5__a_read_without_a_hold_releases_at_once():
    run = play(Insert(A, at(0), 1, 5), Insert(A, at(1), 1), Read(A, at(0), at(2), 3), ReadOne(A, at(0)))
    assert [run.entry(entry).expected_reads for entry in (0, 1, 2)] == [3, None, 2]


@pytest.mark.rule("R-COUNT-5")
def test_r_count_5__a_held_read_counts_at_its_release():
    run = play(Insert(A, at(0), 1, 5), Read(A, at(0), at(1), 3, H), Get(A, at(0)), Release(H))
    assert [run.before.caches[A].entries[at(entry)].expected_reads for entry in (0, 1)] == [5, 3]
    assert [run.entry(entry).expected_reads for entry in (0, 1)] == [4, 2]


@pytest.mark.rule("R-COUNT-5")
def test_r_count_5__each_hold_counts_separately():
    run = play(Insert(A, at(0), 1, 5), ReadOne(A, at(0), H), ReadOne(A, at(0), OTHER), Release(H), Release(OTHER))
    assert run.entry(0).expected_reads == 3


@pytest.mark.rule("R-COUNT-6")
@pytest.mark.parametrize("leaving", [Clear(A), Evict(9), InvalidateLedger(A, 1), RemoveCache(A)])
def test_r_count_6__a_release_takes_nothing_from_a_later_entry(leaving):
    run = play(
        Insert(A, at(0), 1, 1), ReadOne(A, at(0), H), leaving, Insert(A, at(0), 1, 7), Release(H), max_requeues=0
    )
    assert run.last == Released(1)
    assert run.entry(0).expected_reads == 7


@pytest.mark.rule("R-COUNT-6")
def test_r_count_6__a_release_takes_nothing_for_an_uncached_fill():
    run = play(ReadOne(A, at(0), H), Insert(A, at(0), 1, 7), Release(H))
    assert run.entry(0).expected_reads == 7


@pytest.mark.rule("R-COUNT-7")
def test_r_count_7__a_release_frees_the_name_and_answers_the_number_held():
    run = play(Insert(A, at(0), 1, 5), Read(A, at(0), at(2), 0, H), Release(H), Release(H), Read(A, at(0), at(0), 0, H))
    assert run.outcomes[2:4] == (Released(3), REFUSED)
    assert run.last == Served((at(0),), ())


@pytest.mark.rule("R-COUNT-8")
def test_r_count_8__with_a_floor_a_count_stays_at_0():
    variants = Variants(count_floor=CountFloor.ZERO)
    events = [Insert(A, at(0), 1, 1), MarkRead(A, at(0)), MarkRead(A, at(0)), ReadOne(A, at(0)), ExpectRead(A, at(0))]
    run = play(*events, variants=variants)
    assert run.outcomes[1:3] == (Counted(0), Counted(0))
    assert run.last == Counted(1)
