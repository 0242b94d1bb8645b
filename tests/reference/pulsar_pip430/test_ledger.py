import pytest

from entrycache_evidence.pulsar_pip430.runs import REFUSED, A, B, H, at, play
from entrycache_reference import pulsar_pip430
from entrycache_reference.pulsar_pip430 import laws, ops
from entrycache_reference.pulsar_pip430.config import (
    DeletedAcks,
    DueEverything,
    Invalidation,
    Replay,
    Variants,
    ZeroReads,
)
from entrycache_reference.pulsar_pip430.ops import (
    Ack,
    Append,
    CursorOpen,
    CursorRead,
    CursorReset,
    CursorSeek,
    CursorState,
    Dispatcher,
    MarkDelete,
    ReplayAdd,
    ReplayRead,
)
from entrycache_reference.pulsar_pip430.outcomes import (
    Appended,
    CursorAt,
    Members,
    Ranked,
    Removed,
    Served,
    Used,
)
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CursorName, Position

C, D = CursorName("c"), CursorName("d")
HEAP = {"evict_by_expected_reads": False}
UNCACHED = {"grace_millis": 0}
MANUAL = {**HEAP, "invalidation": Invalidation.MANUAL}
RUN = ops.RunInvalidations(A)


def two(entry):
    """Return a position of the second ledger."""
    return Position(2, entry)


def appends(number, size=10):
    return [Append(A, at(entry), size) for entry in range(number)]


def opened(cursor=C, pos=None, durable=True):
    return CursorOpen(A, cursor, at(0) if pos is None else pos, durable)


def state_of(cursor=C):
    return CursorState(A, cursor)


@pytest.mark.rule("R-LEDGER-1")
def test_r_ledger_1__an_appended_entry_carries_the_number_of_active_cursors():
    steps = [*appends(1), opened(C), opened(D), Append(A, at(1), 7)]
    assert play(*steps).last == Appended(True, 2)
    assert play(*steps, **HEAP).last == Appended(True, None)
    assert play(*appends(1), **UNCACHED).last == Appended(False, None)
    assert play(*steps, max_size_bytes=0).last == Appended(False, None)


@pytest.mark.rule("R-LEDGER-2")
def test_r_ledger_2__a_rollover_moves_the_cursors_that_have_consumed_a_ledger():
    steps = [*appends(2), opened(C), opened(D), MarkDelete(A, C, at(1)), MarkDelete(A, D, at(0)), Append(A, two(0), 1)]
    assert play(*steps, state_of(C)).last == CursorAt(two(0), two(-1), True)
    assert play(*steps, state_of(D)).last == CursorAt(at(1), at(0), True)


@pytest.mark.rule("R-LEDGER-3")
def test_r_ledger_3__a_read_goes_over_ledgers_and_past_acknowledged_entries():
    steps = [*appends(3), Append(A, two(0), 5), Append(A, two(1), 5), opened(), Ack(A, C, at(1))]
    run = play(*steps, CursorRead(A, C, 3))
    assert run.last.hits == (at(0), at(2), two(0))
    assert play(*steps, CursorRead(A, C, 3), state_of()).last.read == two(1)
    assert play(*steps, CursorRead(A, C, 9), state_of()).last.read == two(2)


@pytest.mark.rule("R-LEDGER-3")
def test_r_ledger_3__a_ledger_that_is_gone_is_passed_over():
    steps = [*appends(1), opened(), Append(A, two(0), 5), ops.DeleteLedger(A, 1), CursorRead(A, C, 5)]
    assert play(*steps).last.hits == (two(0),)


@pytest.mark.rule("R-LEDGER-4")
def test_r_ledger_4__a_read_of_nothing_moves_behind_what_is_acknowledged():
    steps = [*appends(2), opened(pos=at(1)), Ack(A, C, at(1)), CursorRead(A, C, 3)]
    assert play(*steps).last == Served((), (), ())
    assert play(*steps, state_of()).last == CursorAt(at(2), at(-1), True)


@pytest.mark.rule("R-LEDGER-5")
def test_r_ledger_5__hits_are_found_before_a_fill_can_evict_them():
    steps = [*appends(1), opened(), Append(A, at(1), 10), CursorRead(A, C, 2)]
    assert play(*steps, max_size_bytes=20, **UNCACHED).last == Served((at(1),), (at(0),), (1, 0))


@pytest.mark.rule("R-LEDGER-6")
def test_r_ledger_6__fills_are_cached_in_order_with_the_rank_of_the_reader():
    run = play(*appends(2), opened(C), opened(D), CursorRead(A, C, 2), **UNCACHED)
    assert run.queue() == [0, 1]
    assert [run.entry(entry).expected_reads for entry in (0, 1)] == [1, 1]


@pytest.mark.rule("R-LEDGER-7")
def test_r_ledger_7__the_rank_is_that_before_the_move():
    run = play(*appends(2), opened(C), opened(D, at(1)), CursorRead(A, C, 2, H), **UNCACHED)
    assert [run.entry(entry).expected_reads for entry in (0, 1)] == [1, 1]


@pytest.mark.rule("R-LEDGER-8")
def test_r_ledger_8__a_replay_leaves_out_what_is_acknowledged_and_caches_nothing():
    steps = [*appends(3), opened(pos=at(1)), MarkDelete(A, C, at(0)), ReplayRead(A, C, (at(1), at(0)))]
    run = play(*steps, **UNCACHED)
    assert run.last == Served((), (at(1),), (1,))
    assert run.find(1) is None
    assert play(*steps, state_of(), **UNCACHED).last.read == at(2)


@pytest.mark.rule("R-LEDGER-8")
def test_r_ledger_8__a_grouped_replay_caches_the_positions_between_with_count_0():
    variants = Variants(replay=Replay.GROUPED, zero_reads=ZeroReads.COUNTED)
    run = play(*appends(12), opened(), ReplayRead(A, C, (at(0), at(2), at(11)), H), variants=variants, **UNCACHED)
    assert run.last == Served((), (at(0), at(2), at(11)), (0, 2, 11))
    assert run.queue() == [0, 1, 2, 11]
    assert [run.entry(entry).expected_reads for entry in (0, 1, 2, 11)] == [1, 0, 1, 1]


@pytest.mark.rule("R-LEDGER-9")
def test_r_ledger_9__a_release_takes_one_and_a_departure_none():
    steps = [*appends(1), opened(C), opened(D), Append(A, at(1), 7), CursorRead(A, C, 9, H)]
    assert play(*steps).entry(1).expected_reads == 2
    assert play(*steps, ops.Release(H)).entry(1).expected_reads == 1
    assert play(*steps, ops.CursorClose(A, D)).entry(1).expected_reads == 2
    assert play(*steps, CursorReset(A, C, at(0))).entry(1).expected_reads == 2


@pytest.mark.rule("R-LEDGER-9")
@pytest.mark.parametrize(("dispatcher", "left"), [(Dispatcher.KEY_SHARED, 1), (Dispatcher.SHARED, 0)])
def test_r_ledger_9__a_replay_of_key_shared_is_expected(dispatcher, left):
    steps = [*appends(1), opened(C), Append(A, at(1), 7), CursorRead(A, C, 9, H), ReplayAdd(H, at(1), dispatcher)]
    run = play(*steps)
    assert run.entry(1).expected_reads == left
    assert [held.slot.pos for held in run.after.holds[H]] == [at(0)]


@pytest.mark.rule("R-LEDGER-10")
def test_r_ledger_10__a_mark_delete_goes_on_over_acknowledged_neighbours():
    steps = [*appends(4), opened(), Ack(A, C, at(1)), Ack(A, C, at(2)), MarkDelete(A, C, at(0)), state_of()]
    assert play(*steps).last == CursorAt(at(3), at(2), True)


@pytest.mark.rule("R-LEDGER-11")
def test_r_ledger_11__an_acknowledgement_with_a_gap_before_it_is_remembered():
    steps = [*appends(3), opened(), Ack(A, C, at(1))]
    assert play(*steps, state_of()).last.mark_delete == at(-1)
    assert play(*steps, CursorRead(A, C, 9)).last.hits == (at(0), at(2))
    assert play(*steps, Ack(A, C, at(0)), state_of()).last.mark_delete == at(1)


@pytest.mark.rule("R-LEDGER-12")
@pytest.mark.parametrize(("between", "cached"), [(1, 1), (0, 0)])
def test_r_ledger_12__a_cursor_is_flagged_if_enough_others_have_nearly_its_backlog(between, cached):
    backlogs = {"min_backlog_cursors": 1, "min_backlog_entries": 2, "max_backlog_between": between}
    steps = [*appends(2), opened(C), opened(D, at(1)), opened(CursorName("e"), at(0), False), ops.CheckBacklogs(A)]
    run = play(*steps, CursorRead(A, C, 1), **HEAP, **backlogs)
    assert len(run.queue()) == cached


@pytest.mark.rule("R-LEDGER-12")
@pytest.mark.parametrize(("variant", "cached"), [(DeletedAcks.FORGOTTEN, 0), (DeletedAcks.SUBTRACTED, 1)])
def test_r_ledger_12__an_acknowledged_entry_of_a_deleted_ledger_is_no_part_of_a_backlog(variant, cached):
    """C acknowledges an entry of the second of three ledgers, which is deleted: both cursors have 2 entries to read."""
    backlogs = {"min_backlog_cursors": 1, "min_backlog_entries": 0, "max_backlog_between": 0}
    ledgers = [ops.Append(A, Position(ledger, 0), 10) for ledger in (1, 2, 3)]
    steps = [*ledgers, opened(C, Position(1, 0)), Ack(A, C, Position(2, 0)), ops.DeleteLedger(A, 2)]
    others = [opened(D, Position(3, 0)), ops.CheckBacklogs(A)]
    run = play(*steps, *others, CursorRead(A, D, 1), **HEAP, **backlogs, variants=Variants(deleted_acks=variant))
    assert len(run.queue()) == cached


@pytest.mark.rule("R-LEDGER-13")
def test_r_ledger_13__with_expected_reads_a_cursor_drops_nothing():
    steps = [*appends(2), opened(C), CursorRead(A, C, 2), ops.Deactivate(A, C), ops.Usage(A)]
    assert play(*steps).last == Used(2, 20)


@pytest.mark.rule("R-LEDGER-14")
def test_r_ledger_14__what_lies_below_the_slowest_cursor_is_dropped():
    steps = [*appends(1), opened(C), opened(D), Append(A, at(1), 7), Append(A, at(2), 7), CursorRead(A, C, 9)]
    assert play(*steps, ops.Usage(A), **HEAP).last == Used(2, 14)
    assert play(*steps, CursorSeek(A, D, at(2)), ops.Usage(A), **HEAP).last == Used(1, 7)
    assert play(*steps, ops.Deactivate(A, D), ops.Usage(A), **HEAP).last == Used(0, 0)


@pytest.mark.rule("R-LEDGER-14")
@pytest.mark.parametrize(
    ("moves", "left"),
    [
        ([], Removed(0, 0)),
        ([CursorSeek(A, C, at(2))], Removed(1, 10)),
        ([CursorSeek(A, C, at(2)), CursorSeek(A, C, at(0))], Removed(1, 10)),
        ([CursorRead(A, C, 2), CursorRead(A, C, 1)], Removed(2, 20)),
        ([ops.Deactivate(A, C), ops.Activate(A, C), CursorSeek(A, C, at(1))], Removed(2, 20)),
        ([ops.Evict(99), CursorSeek(A, C, at(2)), Append(A, at(3), 10)], Removed(0, 0)),
    ],
    ids=["nothing due", "due", "lower", "higher", "everything", "no bytes"],
)
def test_r_ledger_14__an_invalidation_that_waits_for_a_call_is_the_highest_that_was_due(moves, left):
    run = play(*appends(1), opened(), Append(A, at(1), 10), Append(A, at(2), 10), *moves, RUN, RUN, **MANUAL)
    assert (run.outcomes[-2], run.last) == (left, Removed(0, 0))
    assert play(RUN, **MANUAL).last == REFUSED


@pytest.mark.rule("R-LEDGER-14")
@pytest.mark.parametrize(("variant", "left"), [(DueEverything.HIGHEST, 20), (DueEverything.REPLACED, 10)])
def test_r_ledger_14__a_later_invalidation_takes_the_place_of_everything_in_a_variant(variant, left):
    moves = [ops.Deactivate(A, C), ops.Activate(A, C), CursorSeek(A, C, at(2)), RUN]
    steps = [*appends(1), opened(), Append(A, at(1), 10), Append(A, at(2), 10), *moves]
    assert play(*steps, **MANUAL, variants=Variants(due_everything=variant)).last.bytes == left


@pytest.mark.rule("R-LEDGER-15")
@pytest.mark.parametrize("last", [opened(D, at(3), False), ops.Activate(A, D)])
def test_r_ledger_15__a_cursor_that_becomes_active_drops_nothing(last):
    steps = [*appends(1), opened(C, at(1)), opened(D, at(1)), ops.Deactivate(A, D), Append(A, at(1), 0)]
    closed = [] if isinstance(last, ops.Activate) else [ops.CursorClose(A, D)]
    more = [CursorRead(A, C, 1), Append(A, at(2), 7), *closed, CursorSeek(A, D, at(3)), last]
    assert play(*steps, *more, ops.Usage(A), **HEAP).last == Used(2, 7)


@pytest.mark.rule("R-LEDGER-16")
def test_r_ledger_16__with_both_flags_ranks_are_those_of_mark_delete_positions():
    steps = [*appends(2), opened(C), opened(D), CursorRead(A, C, 2)]
    assert play(*steps, ops.CursorRank(A, D), evict_by_mark_deleted=True).last == Ranked(2)
    assert play(*steps, ops.CursorRank(A, D)).last == Ranked(1)
    assert play(*steps, MarkDelete(A, C, at(1)), ops.Usage(A), evict_by_mark_deleted=True).last == Used(2, 20)


@pytest.mark.rule("R-LEDGER-17")
def test_r_ledger_17__a_rollover_drops_nothing_and_a_deletion_that_ledger():
    steps = [*appends(2), opened(C), Append(A, two(0), 5)]
    assert play(*steps, ops.Usage(A)).last == Used(3, 25)
    assert play(*steps, ops.DeleteLedger(A, 1)).last == Removed(2, 20)
    assert play(*steps, ops.DeleteLedger(A, 1), state_of()).last.read == at(0)
    assert play(*steps, ops.DeleteLedger(A, 2)).last == REFUSED


@pytest.mark.rule("R-LEDGER-18")
def test_r_ledger_18__hits_and_misses_count_what_was_appended():
    counters = play(*appends(1), opened(C), Append(A, at(1), 7), CursorRead(A, C, 2), ops.Metrics(), **UNCACHED).last
    assert (counters.hit_entries, counters.hit_bytes) == (1, 7)
    assert (counters.miss_entries, counters.miss_bytes) == (1, 10)


@pytest.mark.rule("R-LEDGER-19")
def test_r_ledger_19__the_fills_of_a_cursor_that_is_not_active_are_not_cached():
    steps = [*appends(2), opened(C), ops.Deactivate(A, C), CursorRead(A, C, 2)]
    assert play(*steps, **UNCACHED).last.fills == (at(0), at(1))
    assert play(*steps, ops.Usage(A), **UNCACHED).last == Used(0, 0)


@pytest.mark.rule("R-LEDGER-20")
def test_r_ledger_20__managed_ledgers_share_no_cursor():
    steps = [*appends(1), Append(B, two(0), 1), opened(C), CursorOpen(B, C, two(0)), ops.Deactivate(A, C)]
    assert play(*steps, ops.Cursors(B)).last == Members(1)
    assert play(*steps, ops.Cursors(A)).last == Members(0)


@pytest.mark.rule("R-LEDGER-20")
@pytest.mark.parametrize(
    "steps",
    [
        [*appends(1), ops.Insert(A, at(5), 1)],
        [*appends(1), ops.Read(A, at(0), at(0), 1)],
        [*appends(1), ops.CursorAdd(A, C, at(0))],
        [ops.Insert(A, at(0), 1), *appends(1)],
        [ops.Insert(A, at(0), 1), opened()],
        [opened()],
        [*appends(1), Append(B, at(0), 1)],
        [*appends(1), Append(A, at(2), 1)],
        [*appends(1), Append(A, at(1), -1)],
    ],
)
def test_r_ledger_20__what_a_cache_does_not_take_is_refused(steps):
    assert play(*steps).last == REFUSED


@pytest.mark.parametrize(
    "step",
    [
        CursorRead(A, C, 0),
        CursorRead(A, D, 1),
        CursorSeek(A, C, at(9)),
        CursorReset(A, C, two(0)),
        MarkDelete(A, C, at(2)),
        Ack(A, C, at(-1)),
        opened(C),
        opened(D, at(9)),
        ReplayRead(A, C, ()),
        ReplayRead(A, C, (at(7),)),
        ReplayAdd(H, at(0), Dispatcher.SHARED),
        ops.DeleteLedger(A, 1),
        ops.Activate(A, D),
        ops.CursorClose(A, D),
        state_of(D),
    ],
)
def test_arguments_that_name_nothing_are_refused(step):
    assert play(*appends(2), opened(C), step).last == REFUSED


@pytest.mark.rule("R-LEDGER-20")
@pytest.mark.parametrize("step", [CursorRead(A, C, 1), opened(C), Ack(A, C, at(0)), *appends(1)])
def test_r_ledger_20__a_step_in_the_wrong_place_fires_that_rule_alone(step):
    config = pulsar_pip430.Config()
    state = pulsar_pip430.step(pulsar_pip430.initial(config), ops.Insert(A, at(0), 1), config).state
    done = pulsar_pip430.step(state, step, config)
    checked, counted = {}, {}
    laws.broken(config, state, step, done, checked)
    laws.count_fired(config, state, step, done, counted)
    assert (done.outcome, checked, counted) == (REFUSED, {Rule.LEDGER_20: 1}, {Rule.LEDGER_20: 1})
