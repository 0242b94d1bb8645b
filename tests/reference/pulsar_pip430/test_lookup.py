import pytest

from entrycache_evidence.pulsar_pip430.runs import A, B, at, play
from entrycache_reference.pulsar_pip430.ops import Advance, Clear, Exists, Get, GetRange, Insert
from entrycache_reference.pulsar_pip430.outcomes import Existing, Hit, Hits

FIVE = tuple(Insert(A, at(n), n, token=10 + n) for n in (4, 2, 0, 1, 3))


@pytest.mark.rule("R-READ-1")
@pytest.mark.parametrize("size", [0, 1])
def test_r_read_1__a_cached_entry_of_any_size_is_hit_with_its_payload(size):
    assert play(Insert(A, at(0), size, token=7), Get(A, at(0))).last == Hit(True, (7,))


@pytest.mark.rule("R-READ-1")
def test_r_read_1__an_absent_position_is_missed():
    run = play(Insert(A, at(0), 1), Get(A, at(1)), Get(B, at(0)), Get(A, at(0, 2)), Clear(A), Get(A, at(0)))
    assert [run.outcomes[index] for index in (1, 2, 3, 5)] == [Hit(False)] * 4


@pytest.mark.rule("R-READ-2")
def test_r_read_2__a_hit_marks_the_entry_and_nothing_else():
    run = play(Insert(A, at(0), 1, 1), Insert(A, at(1), 1), Advance(1), Get(A, at(0)))
    assert run.entry(0) == run.states[1].caches[A].entries[at(0)]._replace(accessed=True)
    assert not run.entry(1).accessed
    assert run.queue() == [0, 1]


@pytest.mark.rule("R-READ-3")
@pytest.mark.parametrize(
    ("first", "last", "entries"),
    [(1, 3, (1, 2, 3)), (0, 4, (0, 1, 2, 3, 4)), (-1, 0, (0,)), (4, 9, (4,)), (2, 2, (2,)), (5, 9, ())],
)
def test_r_read_3__both_ends_belong_to_the_range(first, last, entries):
    run = play(*FIVE, GetRange(A, at(first), at(last)))
    tokens = tuple(10 + n for n in entries) or None
    assert run.last == Hits(tuple(at(n) for n in entries), tokens)


@pytest.mark.rule("R-READ-3")
def test_r_read_3__a_range_spans_ledgers_in_order():
    run = play(Insert(A, at(0, 2), 1), Insert(A, at(9, 1), 1), GetRange(A, at(0, 1), at(0, 2)))
    assert run.last == Hits((at(9, 1), at(0, 2)))


@pytest.mark.rule("R-READ-4")
def test_r_read_4__the_entries_found_are_marked_and_no_other():
    run = play(*FIVE, Insert(B, at(2), 1), GetRange(A, at(1), at(3)))
    assert [run.entry(n).accessed for n in range(5)] == [False, True, True, True, False]
    assert not run.entry(2, B).accessed


@pytest.mark.rule("R-READ-5")
def test_r_read_5__reversed_bounds_find_and_mark_nothing():
    run = play(*FIVE, GetRange(A, at(3), at(2)))
    assert run.last == Hits(())
    assert run.after == run.before


@pytest.mark.rule("R-READ-6")
@pytest.mark.parametrize("size", [0, 1])
def test_r_read_6__exists_exactly_what_is_cached(size):
    run = play(Insert(A, at(1), size), Exists(A, at(1)), Exists(A, at(0)), Exists(A, at(2)), Exists(B, at(1)))
    assert run.outcomes[1:] == (Existing(True), Existing(False), Existing(False), Existing(False))
