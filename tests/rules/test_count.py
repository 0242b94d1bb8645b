import pytest

from entrycache_conformance.rulebook.scenario import A, at, play
from entrycache_reference.pulsar_pip430.ops import Advance, ExpectRead, Get, Insert, MarkRead
from entrycache_reference.pulsar_pip430.outcomes import Counted


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
def test_r_count_3__what_carries_no_count_never_gets_one(op, pos):
    run = play(Insert(A, at(0), 1), op(A, pos))
    assert run.last == Counted(None)
    assert run.after == run.before


@pytest.mark.rule("R-COUNT-4")
@pytest.mark.parametrize("op", [MarkRead, ExpectRead])
@pytest.mark.parametrize("looks", [(), (Get(A, at(0)),)])
def test_r_count_4__counting_changes_nothing_else(op, looks):
    run = play(Insert(A, at(0), 1, 3), Insert(A, at(1), 1), *looks, Advance(5), op(A, at(0)))
    before = run.before.caches[A].entries[at(0)]
    assert run.entry(0) == before._replace(expected_reads=run.entry(0).expected_reads)
    assert run.after.queue == run.before.queue
