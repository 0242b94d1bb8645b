import pytest

from entrycache_evidence.pulsar_pip430.runs import REFUSED, A, B, C, D, at, play
from entrycache_reference.pulsar_pip430.ops import (
    Advance,
    CursorAdd,
    CursorMove,
    CursorRank,
    CursorRemove,
    Cursors,
    Exists,
    Insert,
    RemoveCache,
    ShouldCache,
    Slowest,
)
from entrycache_reference.pulsar_pip430.outcomes import CursorRemoved, Done, Members, Ranked, SlowestAt, Wanted
from entrycache_reference.vocabulary import CursorName, Position

BOTH = pytest.mark.parametrize("active", [True, False])
MS = 1_000_000


def members(run, cache=A):
    return dict(run.after.caches[cache].members)


@pytest.mark.rule("R-CURSOR-1")
@BOTH
@pytest.mark.parametrize("pos", [at(3), Position(-1, -1), None])
def test_r_cursor_1__a_new_cursor_is_a_member_tracked_or_not(active, pos):
    run = play(CursorAdd(A, D, at(1)), CursorAdd(A, C, pos), evict_by_expected_reads=active)
    assert run.last == Done()
    assert members(run) == {D: at(1), C: pos}


@pytest.mark.rule("R-CURSOR-2")
@BOTH
@pytest.mark.parametrize("before", [at(5), None])
@pytest.mark.parametrize("pos", [at(3), None])
def test_r_cursor_2__adding_a_member_gives_it_another_position(active, before, pos):
    run = play(CursorAdd(A, C, before), CursorAdd(A, D, at(1)), CursorAdd(A, C, pos), evict_by_expected_reads=active)
    assert members(run) == {C: pos, D: at(1)}


@pytest.mark.rule("R-CURSOR-3")
@BOTH
@pytest.mark.parametrize("pos", [at(1), at(9), Position(0, 7), None])
def test_r_cursor_3__a_member_moves_up_and_down_and_becomes_untracked(active, pos):
    run = play(CursorAdd(A, C, at(5)), CursorMove(A, C, pos), evict_by_expected_reads=active)
    assert run.last == Done()
    assert members(run) == {C: pos}


@pytest.mark.rule("R-CURSOR-3")
def test_r_cursor_3__the_active_container_tracks_a_moved_member_again():
    run = play(CursorAdd(A, C, None), CursorMove(A, C, at(2)), CursorRank(A, C))
    assert run.last == Ranked(1)


@pytest.mark.rule("R-CURSOR-4")
@BOTH
def test_r_cursor_4__an_unknown_cursor_does_not_move(active):
    run = play(CursorAdd(A, C, at(5)), CursorMove(A, D, at(1)), evict_by_expected_reads=active)
    assert run.last == Done()
    assert members(run) == {C: at(5)}


@pytest.mark.rule("R-CURSOR-5")
@BOTH
@pytest.mark.parametrize("pos", [at(5), None])
def test_r_cursor_5__removing_answers_whether_it_was_a_member(active, pos):
    run = play(CursorAdd(A, C, pos), CursorRemove(A, C), CursorRemove(A, C), evict_by_expected_reads=active)
    assert run.outcomes[1:] == (CursorRemoved(True), CursorRemoved(False))
    assert members(run) == {}


@pytest.mark.rule("R-CURSOR-6")
@pytest.mark.parametrize("opening", [Exists(A, at(0)), Insert(A, at(0), 1), CursorAdd(A, C, None)])
def test_r_cursor_6__the_first_step_that_names_a_cache_starts_its_grace_period(opening):
    run = play(Advance(7), opening, Advance(5), Insert(A, at(1), 1), CursorAdd(A, C, at(0)), CursorMove(A, C, None))
    assert run.after.caches[A].grace_start_nanos == 7


@pytest.mark.rule("R-CURSOR-6")
@pytest.mark.parametrize("pos", [at(5), None])
def test_r_cursor_6__removing_one_of_several_members_restarts_the_grace_period(pos):
    run = play(CursorAdd(A, C, pos), CursorAdd(A, D, at(1)), Advance(7), CursorRemove(A, C))
    assert run.after.caches[A].grace_start_nanos == 7


@pytest.mark.rule("R-CURSOR-6")
@pytest.mark.parametrize("event", [CursorRemove(A, D), CursorRemove(B, C), RemoveCache(A)])
def test_r_cursor_6__nothing_else_restarts_the_grace_period(event):
    run = play(CursorAdd(A, C, at(5)), Advance(7), event, Advance(1), Exists(A, at(0)))
    assert run.after.caches[A].grace_start_nanos == 0


@pytest.mark.rule("R-CURSOR-7")
def test_r_cursor_7__a_rank_counts_those_at_or_before_it():
    names = [CursorName(name) for name in "pqrstu"]
    places = [at(1), at(2), at(2), at(3), None, Position(0, 9)]
    adds = [CursorAdd(A, name, pos) for name, pos in zip(names, places, strict=True)]
    run = play(*adds, CursorAdd(B, C, at(0)), *[CursorRank(A, name) for name in (*names, C)])
    assert run.outcomes[7:] == tuple(map(Ranked, (2, 4, 4, 5, 0, 1, 0)))


@pytest.mark.rule("R-CURSOR-8")
def test_r_cursor_8__the_heap_knows_no_ranks():
    run = play(CursorAdd(A, C, at(5)), CursorRank(A, C), CursorRank(B, C), evict_by_expected_reads=False)
    assert run.outcomes[1:] == (REFUSED, REFUSED)
    assert B not in run.after.caches


@pytest.mark.rule("R-CURSOR-9")
@BOTH
def test_r_cursor_9__the_slowest_is_the_lowest_tracked_position(active):
    adds = [CursorAdd(A, C, at(5)), CursorAdd(A, D, at(2)), CursorAdd(A, CursorName("e"), None), CursorAdd(B, C, at(0))]
    run = play(Slowest(A), *adds, Slowest(A), CursorMove(A, D, None), Slowest(A), evict_by_expected_reads=active)
    assert run.outcomes[0] == SlowestAt(None)
    assert run.outcomes[5] == SlowestAt(at(2))
    assert run.last == SlowestAt(at(5))


@pytest.mark.rule("R-CURSOR-10")
@BOTH
def test_r_cursor_10__members_count_tracked_or_not(active):
    run = play(CursorAdd(A, C, at(5)), CursorAdd(A, D, None), CursorAdd(B, C, None), Cursors(A), Cursors(B))
    assert run.outcomes[3:] == (Members(2), Members(1))


@pytest.mark.rule("R-CURSOR-11")
@pytest.mark.parametrize(
    ("start", "later", "wanted"),
    [(0, 2 * MS - 1, True), (0, 2 * MS, False), (MS - 1, MS, True), (MS - 1, MS + 1, False), (MS, 2 * MS - 1, True)],
)
def test_r_cursor_11__the_grace_period_is_counted_in_whole_milliseconds(start, later, wanted):
    run = play(Advance(start), Exists(A, at(0)), Advance(later), ShouldCache(A), grace_millis=2)
    assert run.last == Wanted(wanted)


@pytest.mark.rule("R-CURSOR-11")
@pytest.mark.parametrize(("grace_millis", "member"), [(0, True), (0, False), (5, True)])
def test_r_cursor_11__one_member_is_enough_to_cache(grace_millis, member):
    adds = [CursorAdd(A, C, None)] if member else []
    run = play(*adds, Advance(9 * MS), ShouldCache(A), grace_millis=grace_millis)
    assert run.last == Wanted(member)


@pytest.mark.rule("R-CURSOR-12")
def test_r_cursor_12__the_heap_knows_no_grace_period():
    run = play(ShouldCache(A), CursorAdd(A, C, None), ShouldCache(A), evict_by_expected_reads=False, grace_millis=9)
    assert run.outcomes == (Wanted(False), Done(), Wanted(True))


@pytest.mark.rule("R-CURSOR-13")
def test_r_cursor_13__the_heap_does_not_track_a_moved_member():
    events = [CursorAdd(A, C, None), CursorMove(A, C, at(5)), Slowest(A), CursorAdd(A, C, at(5)), Slowest(A)]
    run = play(*events, evict_by_expected_reads=False)
    assert (run.outcomes[2], run.last) == (SlowestAt(None), SlowestAt(at(5)))


@pytest.mark.rule("R-CURSOR-14")
@BOTH
@pytest.mark.parametrize(
    "event",
    [CursorAdd(A, D, at(1)), CursorMove(A, C, None), CursorRemove(A, C), Slowest(A), Cursors(A), ShouldCache(A)],
)
def test_r_cursor_14__cursors_leave_entries_alone(active, event):
    fill = [Insert(A, at(0), 1, 1), Insert(B, at(0), 1), CursorAdd(A, C, at(1)), CursorAdd(B, C, at(1)), Advance(1)]
    run = play(*fill, event, evict_by_expected_reads=active)
    before, after = run.before, run.after
    assert after._replace(caches=before.caches) == before
    assert after.caches[A].entries == before.caches[A].entries
    assert after.caches[B] == before.caches[B]
    if type(event) in {Slowest, Cursors, ShouldCache}:
        assert after == before
