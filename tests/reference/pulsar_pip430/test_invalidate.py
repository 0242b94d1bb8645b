import pytest

from entrycache_evidence.pulsar_pip430.runs import A, B, C, H, at, play
from entrycache_reference.pulsar_pip430.ops import (
    Advance,
    Clear,
    CursorAdd,
    Cursors,
    Evict,
    Insert,
    InvalidateBefore,
    InvalidateLedger,
    ReadOne,
    Release,
    RemoveCache,
    RemoveRange,
)
from entrycache_reference.pulsar_pip430.outcomes import Done, Members, Released, Removed

FIVE = tuple(Insert(A, at(n), 10 + n) for n in range(5))


def cached(run, cache=A):
    return [pos.entry for pos in sorted(run.after.caches[cache].entries)]


@pytest.mark.rule("R-INVALIDATE-1")
@pytest.mark.parametrize(
    ("first", "last", "left"),
    [(1, 3, [0, 3, 4]), (-1, 2, [2, 3, 4]), (3, 9, [0, 1, 2]), (5, 9, [0, 1, 2, 3, 4])],
)
def test_r_invalidate_1__the_range_is_removed_from_its_beginning(first, last, left):
    run = play(*FIVE, Insert(B, at(2), 1), RemoveRange(A, at(first), at(last), False))
    assert cached(run) == left
    assert cached(run, B) == [2]


@pytest.mark.rule("R-INVALIDATE-2")
@pytest.mark.parametrize(("inclusive", "left"), [(True, [0, 4]), (False, [0, 3, 4])])
def test_r_invalidate_2__the_end_leaves_only_if_included(inclusive, left):
    assert cached(play(*FIVE, RemoveRange(A, at(1), at(3), inclusive))) == left


@pytest.mark.rule("R-INVALIDATE-2")
@pytest.mark.parametrize(("inclusive", "removed"), [(True, Removed(1, 12)), (False, Removed(0, 0))])
def test_r_invalidate_2__a_range_of_one_position(inclusive, removed):
    assert play(*FIVE, RemoveRange(A, at(2), at(2), inclusive)).last == removed


@pytest.mark.rule("R-INVALIDATE-3")
@pytest.mark.parametrize("inclusive", [True, False])
def test_r_invalidate_3__reversed_bounds_remove_nothing(inclusive):
    run = play(*FIVE, RemoveRange(A, at(3), at(2), inclusive))
    assert run.last == Removed(0, 0)
    assert run.after == run.before


@pytest.mark.rule("R-INVALIDATE-4")
def test_r_invalidate_4__clear_empties_its_cache_and_no_other():
    run = play(*FIVE, Insert(A, at(0, 2), 1), Insert(A, at(9), 0), Insert(B, at(0), 1), Clear(A))
    assert cached(run) == []
    assert cached(run, B) == [0]


@pytest.mark.rule("R-INVALIDATE-5")
def test_r_invalidate_5__the_answer_counts_what_was_removed():
    assert play(*FIVE, RemoveRange(A, at(1), at(3), True)).last == Removed(3, 36)
    assert play(*FIVE, Clear(A)).last == Removed(5, 60)
    assert play(*FIVE, Clear(A), Clear(A)).last == Removed(0, 0)
    assert play(Clear(B), RemoveRange(B, at(0), at(9), True)).outcomes == (Removed(0, 0), Removed(0, 0))


@pytest.mark.rule("R-INVALIDATE-6")
def test_r_invalidate_6__the_slot_stays_dead_in_its_place():
    run = play(*FIVE, RemoveRange(A, at(1), at(2), True))
    assert run.queue() == [0, None, None, 3, 4]
    assert play(*FIVE, RemoveRange(A, at(1), at(2), True), Evict(11)).queue() == [4]


@pytest.mark.rule("R-INVALIDATE-7", "R-INVALIDATE-5")
def test_r_invalidate_7__everything_below_the_position_leaves():
    fill = [Insert(A, at(entry, ledger), 2) for ledger in (1, 2) for entry in (0, 1)]
    run = play(*fill, Insert(B, at(0), 1), InvalidateBefore(A, at(1, 2)))
    assert run.last == Removed(3, 6)
    assert list(run.after.caches[A].entries) == [at(1, 2)]
    assert list(run.after.caches[B].entries) == [at(0)]


@pytest.mark.rule("R-INVALIDATE-8", "R-INVALIDATE-5")
def test_r_invalidate_8__one_ledger_leaves():
    fill = [Insert(A, at(entry, ledger), 2) for ledger in (1, 2, 3) for entry in (0, 1)]
    run = play(*fill, Insert(B, at(0, 2), 1), InvalidateLedger(A, 2))
    assert run.last == Removed(2, 4)
    assert {pos.ledger for pos in run.after.caches[A].entries} == {1, 3}
    assert list(run.after.caches[B].entries) == [at(0, 2)]


@pytest.mark.rule("R-INVALIDATE-9")
def test_r_invalidate_9__a_removed_cache_keeps_cursors_grace_and_holds():
    fill = [Insert(A, at(0), 2, 3), Insert(B, at(0), 1), CursorAdd(A, C, at(0)), ReadOne(A, at(0), H), Advance(5)]
    run = play(*fill, RemoveCache(A), Cursors(A), Release(H))
    assert run.outcomes[5:] == (Done(), Members(1), Released(1))
    assert not run.after.caches[A].entries
    assert run.after.caches[A].grace_start_nanos == 0
    assert list(run.after.caches[B].entries) == [at(0)]


@pytest.mark.rule("R-INVALIDATE-9")
def test_r_invalidate_9__an_unknown_cache_is_no_error():
    assert play(RemoveCache(A)).last == Done()
