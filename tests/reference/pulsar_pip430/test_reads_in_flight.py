"""Reads by cursors that overlap in time: level `inflight`."""

import dataclasses
import random

import pytest

from entrycache_conformance import generate
from entrycache_conformance.systems import system_named
from entrycache_conformance.systems.reference import reference_subject
from entrycache_evidence.pulsar_pip430.runs import REFUSED, A, at, play
from entrycache_protocol.system import seeded_draw
from entrycache_reference.pulsar_pip430 import config, initial, laws, ops, pending_reads, step
from entrycache_reference.pulsar_pip430.ops import (
    Ack,
    Append,
    CursorOpen,
    CursorReset,
    CursorState,
    Deactivate,
    MarkDelete,
    ReadBegin,
    Release,
    ReplayBegin,
    StorageAnswer,
    StorageAnswerKind,
)
from entrycache_reference.pulsar_pip430.outcomes import CursorAt, EndedRead, InFlight, ReadError, Refused, SentAsk
from entrycache_reference.vocabulary import ABSENT, CursorName, HoldName, Position, ReadName

C, D = CursorName("c"), CursorName("d")
F, G = ReadName("f"), ReadName("g")
HELD_STORAGE = {"storage": config.Storage.HELD, "grace_millis": 0}
FAILED = ReadError.READ_FAILED
ALL, FAIL, BUSY = StorageAnswerKind.ALL, StorageAnswerKind.FAIL, StorageAnswerKind.BUSY


def two(entry):
    """Return a position of the second ledger."""
    return Position(2, entry)


def uncached(number):
    """Append entries that are not cached, and open both cursors before them."""
    return [*(Append(A, at(entry), 10) for entry in range(number)), CursorOpen(A, C, at(0)), CursorOpen(A, D, at(0))]


def half_cached():
    """Append 1:0, which is not cached, and 1:1, which is, with the count 1."""
    return [Append(A, at(0), 10), CursorOpen(A, C, at(0)), Append(A, at(1), 10)]


def read(cursor, name, most):
    return ReadBegin(A, cursor, name, most)


def ended(name, *entries, error=None):
    return EndedRead(name, None if error else tuple(entries), error)


@pytest.mark.rule("R-INFLIGHT-1")
def test_r_inflight_1__a_read_of_a_cursor_is_open_until_its_answer():
    run = play(*uncached(1), read(C, F, 1), StorageAnswer(0, ALL), StorageAnswer(0, ALL), **HELD_STORAGE)
    assert run.outcomes[-3:] == (
        InFlight((SentAsk(0, 1, 0, 0, A),)),
        InFlight(None, (ended(F, at(0)),)),
        REFUSED,
    )


@pytest.mark.rule("R-LEDGER-3")
@pytest.mark.parametrize(("variant", "last"), [(config.AckedWindow.PASSED, 4), (config.AckedWindow.RUN_PASSED, 5)])
def test_r_ledger_3__a_window_of_acknowledged_entries_is_passed_over(variant, last):
    """Three entries are acknowledged, and two are wanted: the second window begins at the third of them, or behind."""
    acks = [Ack(A, C, at(entry)) for entry in (2, 1)]
    steps = [*uncached(6), read(C, F, 1), StorageAnswer(0, ALL), Ack(A, C, at(3)), *acks, read(C, G, 2)]
    done = play(*steps, **HELD_STORAGE, variants=config.Variants(acked_window=variant)).last
    assert done == InFlight((SentAsk(1, 1, 4, last, A),))


@pytest.mark.rule("R-INFLIGHT-2")
def test_r_inflight_2__a_chunk_is_cut_at_what_is_asked_for():
    run = play(*uncached(4), read(C, F, 2), read(D, G, 4), StorageAnswer(1, ALL), StorageAnswer(0, ALL), **HELD_STORAGE)
    assert run.outcomes[-3].sent_asks == (SentAsk(1, 1, 2, 3, A),)
    assert run.last == InFlight(None, (ended(F, at(0), at(1)), ended(G, at(0), at(1), at(2), at(3))))


@pytest.mark.rule("R-INFLIGHT-2")
@pytest.mark.parametrize(("variant", "ask"), [(config.InnerAsk.FIRST, 0), (config.InnerAsk.LONGEST, 2)])
def test_r_inflight_2__a_gap_waits_for_one_of_the_asks_between_its_ends(variant, ask):
    """Asks of 1, 2, 2 and 1 entries are open between the ends of a range of 11."""
    asks = [
        (None, 0, 0),
        (0, 1, 1),
        (None, 2, 2),
        (1, 3, 4),
        (None, 5, 5),
        (2, 6, 7),
        (None, 8, 8),
        (3, 9, 9),
        (None, 10, 10),
    ]
    own = config.Config(variants=config.Variants(inner_ask=variant))
    assert pending_reads.piece_to_join(tuple(pending_reads.Piece(*each) for each in asks), own).ask == ask
    at_end = (*asks[:-1], (4, 10, 10))
    assert pending_reads.piece_to_join(tuple(pending_reads.Piece(*each) for each in at_end), own).ask == 4


@pytest.mark.rule("R-INFLIGHT-3")
def test_r_inflight_3__the_count_is_that_of_the_asker_when_storage_answers():
    steps = [*uncached(1), read(C, F, 1), ops.Deactivate(A, D), StorageAnswer(0, ALL)]
    assert play(*steps, **HELD_STORAGE).entry(0).expected_reads == 1
    assert play(*steps[:-2], StorageAnswer(0, ALL), **HELD_STORAGE).entry(0).expected_reads == 2
    run = play(*steps[:-2], ops.Deactivate(A, C), StorageAnswer(0, ALL), **HELD_STORAGE)
    assert run.find(0) is None


@pytest.mark.rule("R-INFLIGHT-3")
def test_r_inflight_3__a_replay_is_not_cached():
    run = play(*uncached(1), ReplayBegin(A, C, F, (at(0),)), StorageAnswer(0, ALL), **HELD_STORAGE)
    assert run.last == InFlight(None, (ended(F, at(0)),))
    assert run.find(0) is None


@pytest.mark.rule("R-INFLIGHT-4")
def test_r_inflight_4__who_joins_takes_from_the_same_count():
    steps = [*uncached(1), read(C, F, 1), read(D, G, 1), StorageAnswer(0, ALL)]
    assert play(*steps, Release(HoldName("g")), **HELD_STORAGE).entry(0).expected_reads == 1
    assert play(*steps, Release(HoldName("g")), Release(HoldName("f")), **HELD_STORAGE).entry(0).expected_reads == 0


@pytest.mark.rule("R-INFLIGHT-5")
def test_r_inflight_5__what_was_acknowledged_meanwhile_is_left_out():
    steps = [*uncached(3), read(C, F, 3), Ack(A, C, at(1)), Ack(A, C, at(2)), StorageAnswer(0, ALL)]
    assert play(*steps, **HELD_STORAGE).last == InFlight(None, (ended(F, at(0)),))
    assert play(*steps, CursorState(A, C), **HELD_STORAGE).last.read == at(3)


@pytest.mark.rule("R-INFLIGHT-5")
def test_r_inflight_5__a_chunk_with_two_gaps_waits_for_both():
    steps = [*half_cached(), Append(A, at(2), 10), ops.Deactivate(A, C), Append(A, at(3), 10), ops.Activate(A, C)]
    run = play(*steps, read(C, F, 4), StorageAnswer(1, ALL), StorageAnswer(0, ALL), **HELD_STORAGE)
    assert run.outcomes[-3].sent_asks == (SentAsk(0, 1, 0, 0, A), SentAsk(1, 1, 3, 3, A))
    assert run.outcomes[-2] == InFlight()
    assert run.last.done == (ended(F, at(0), at(1), at(2), at(3)),)


@pytest.mark.rule("R-INFLIGHT-6")
def test_r_inflight_6__after_a_read_error_a_cursor_asks_anew():
    steps = [*uncached(2), read(C, F, 1), read(D, G, 2)]
    busy = play(*steps, StorageAnswer(0, BUSY), read(C, ReadName("h"), 1), read(D, ReadName("i"), 1), **HELD_STORAGE)
    assert busy.outcomes[-2].sent_asks == (SentAsk(2, 1, 0, 0, A),)
    failed = play(*steps, StorageAnswer(1, FAIL), read(C, ReadName("h"), 1), **HELD_STORAGE)
    assert failed.last == REFUSED


@pytest.mark.rule("R-INFLIGHT-7")
def test_r_inflight_7__a_range_with_hits_is_read_once_more_as_a_whole():
    steps = [*half_cached(), read(C, F, 2), StorageAnswer(0, FAIL)]
    assert play(*steps, **HELD_STORAGE).last.sent_asks == (SentAsk(1, 1, 0, 1, A),)
    assert play(*steps, StorageAnswer(1, ALL), **HELD_STORAGE).last.done == (ended(F, at(0), at(1)),)
    assert play(*steps, StorageAnswer(1, BUSY), **HELD_STORAGE).last.done == (ended(F, error=FAILED),)


@pytest.mark.rule("R-INFLIGHT-8")
def test_r_inflight_8__a_cut_chunk_waits_for_its_other_part():
    run = play(
        *uncached(2), read(C, F, 1), read(D, G, 2), StorageAnswer(0, BUSY), StorageAnswer(1, ALL), **HELD_STORAGE
    )
    assert run.outcomes[-2].done == (ended(F, error=FAILED),)
    assert run.last.done == (ended(G, error=FAILED),)


@pytest.mark.rule("R-INFLIGHT-9")
def test_r_inflight_9__what_is_given_back_takes_nothing():
    steps = [*half_cached(), read(C, F, 2), StorageAnswer(0, FAIL)]
    assert play(*steps, **HELD_STORAGE).entry(1).expected_reads == 1
    counted = config.Variants(failed_read=config.FailedRead.COUNTED)
    assert play(*steps, **HELD_STORAGE, variants=counted).entry(1).expected_reads == 0


@pytest.mark.rule("R-INFLIGHT-10")
def test_r_inflight_10__a_read_ends_with_its_earlier_chunks():
    steps = [Append(A, at(0), 10), Append(A, two(0), 10), CursorOpen(A, C, at(0)), read(C, F, 2)]
    run = play(
        *steps, StorageAnswer(0, ALL), StorageAnswer(1, FAIL), read(C, G, 1), StorageAnswer(2, FAIL), **HELD_STORAGE
    )
    assert run.outcomes[-3].done == (ended(F, at(0)),)
    assert run.last.done == (ended(G, error=FAILED),)


@pytest.mark.rule("R-INFLIGHT-10")
def test_r_inflight_10__a_replay_fails_as_a_whole_when_all_has_come():
    steps = [*uncached(2), ReplayBegin(A, C, F, (at(0), at(1)))]
    run = play(*steps, StorageAnswer(0, FAIL), StorageAnswer(1, ALL), **HELD_STORAGE)
    assert run.outcomes[-2] == InFlight()
    assert run.last.done == (ended(F, error=FAILED),)


@pytest.mark.rule("R-INFLIGHT-10")
def test_r_inflight_10__a_replay_gives_back_at_once_when_an_answer_leaves_out_what_it_wants():
    steps = [*uncached(6), read(C, F, 4), ReplayBegin(A, D, G, (at(1), at(3), at(5)))]
    run = play(*steps, StorageAnswer(0, 2), StorageAnswer(1, ALL), **HELD_STORAGE)
    assert HoldName("g") not in run.states[-2].holds
    assert run.last.done == (ended(G, error=FAILED),)
    held, states = config.Config(storage=config.Storage.HELD), run.states
    assert laws.broken(held, states[-3], StorageAnswer(0, 2), run.steps[-2], {}) == ()


@pytest.mark.rule("R-INFLIGHT-11")
def test_r_inflight_11__a_chunk_ends_before_its_first_hole():
    steps = [*uncached(3), read(D, F, 2), read(C, G, 3), StorageAnswer(1, ALL), StorageAnswer(0, 1)]
    run = play(*steps, **HELD_STORAGE)
    assert run.last == InFlight((SentAsk(2, 1, 1, 1, A),))
    assert run.after.holds[HoldName("g")][0].slot.pos == at(0)
    assert len(run.after.holds[HoldName("g")]) == 2
    last = play(*steps, StorageAnswer(2, ALL), **HELD_STORAGE).last
    assert last.done == (ended(F, at(0), at(1)), ended(G, at(0), at(1), at(2)))


@pytest.mark.rule("R-INFLIGHT-11")
def test_r_inflight_11__as_it_comes_a_hole_is_delivered():
    steps = [*uncached(3), read(D, F, 2), read(C, G, 3), StorageAnswer(1, ALL), StorageAnswer(0, 1)]
    last = play(*steps, **HELD_STORAGE, variants=config.Variants(short_answer=config.ShortAnswer.AS_IT_COMES)).last
    assert last.done == (ended(G, at(0), at(2)),)


def lookups_after_a_short_answer():
    """Return steps after which a chunk with a hole, and its last entry given, is looked up and found in the cache."""
    sizes = (2, 30, 30, 3, 0, 0)
    e, third, other = CursorName("e"), ReadName("h"), ReadName("i")
    return (
        {},
        [
            *(Append(A, at(entry), size) for entry, size in enumerate(sizes)),
            *(CursorOpen(A, cursor, at(entry)) for cursor, entry in ((C, 1), (D, 0))),
            *(read(D, F, 2), StorageAnswer(0, ALL), read(C, G, 4), read(D, third, 5), StorageAnswer(1, FAIL)),
            *(CursorOpen(A, e, at(4)), StorageAnswer(3, 2), read(e, other, 5), StorageAnswer(4, 1)),
            *(StorageAnswer(6, ALL), StorageAnswer(2, ALL), StorageAnswer(5, ALL)),
        ],
    )


def replay_with_a_hole():
    """Return steps after which one of two ranges of a replay is answered, and lacks an entry in its middle."""
    sizes = (2, 5, 7, 30, 1)
    appends = [Append(A, at(entry), size) for entry, size in enumerate(sizes)]
    replay = ReplayBegin(A, C, G, (two(0), at(4), at(3), at(1)))
    return (
        {
            "grace_millis": None,
            "max_size_bytes": 20,
            "evict_by_expected_reads": False,
            "eviction": config.Eviction.MANUAL,
            "variants": config.Variants(replay=config.Replay.GROUPED),
        },
        [
            *(*appends[:2], CursorOpen(A, C, at(1), False), appends[2], CursorOpen(A, D, at(0), False), appends[3]),
            *(read(D, F, 5), appends[4], Append(A, two(0), 1), StorageAnswer(0, BUSY)),
            *(ops.Cycle(), replay, StorageAnswer(1, 3), StorageAnswer(2, ALL)),
        ],
    )


@pytest.mark.rule("R-INFLIGHT-3", "R-INFLIGHT-4", "R-INFLIGHT-11")
@pytest.mark.parametrize("make", [lookups_after_a_short_answer, replay_with_a_hole])
def test_r_inflight_11__the_laws_take_what_follows_a_short_answer(make):
    """Rarely a law called these steps wrong: what a short answer leaves out is looked up again, or lost."""
    settings, steps = make()
    own = config.Config(**{**HELD_STORAGE, **settings})
    state = initial(own)
    for event in steps:
        done = step(state, event, own)
        assert laws.broken(own, state, event, done, {}) == (), event
        state = done.state


@pytest.mark.rule("R-INFLIGHT-12")
def test_r_inflight_12__a_cursor_whose_read_is_out_is_marked_and_not_reset():
    steps = [*uncached(3), read(C, F, 1), MarkDelete(A, C, at(1)), CursorReset(A, C, at(0))]
    assert play(*steps, **HELD_STORAGE).last == REFUSED
    assert play(*steps, ops.DeleteLedger(A, 1), **HELD_STORAGE).last == REFUSED
    assert play(*steps, StorageAnswer(0, ALL), CursorState(A, C), **HELD_STORAGE).last == CursorAt(at(2), at(1), True)


def test_what_an_open_read_has_got_is_not_released():
    steps = [*half_cached(), read(C, F, 2), Release(HoldName("f"))]
    assert play(*steps, **HELD_STORAGE).last == REFUSED


@pytest.mark.parametrize(("tail_ties", "most"), [(True, 4), (False, 3)])
def test_a_managed_ledger_has_few_cursors_where_ties_at_the_tail_are_avoided(tail_ties, most):
    system = system_named("pulsar-pip430")
    declaration = reference_subject(system).declaration
    declaration = dataclasses.replace(declaration, limits=dataclasses.replace(declaration.limits, tail_ties=tail_ties))
    menu, numbers = system.cases.menu(list(system.ops_up_to("inflight")), "inflight"), set()
    for seed in range(40):
        run = generate.make_case(seeded_draw(random.Random(seed)), declaration, menu, None)
        if run.case.config.evict_by_expected_reads:
            numbers |= {len(managed.cursors) for done in run.steps for managed in done.state.managed.values()}
    assert max(numbers) == most


GROUPED = config.Variants(
    replay=config.Replay.GROUPED,
    zero_reads=config.ZeroReads.COUNTED,
    duplicate_count=config.DuplicateCount.REPLACED,
    count_floor=config.CountFloor.ZERO,
)


@pytest.mark.parametrize("variants", [config.Variants(), GROUPED], ids=["norm", "5.0.1"])
def test_reads_that_are_answered_in_order_are_those_at_once(variants):
    system = system_named("pulsar-pip430")
    declaration = dataclasses.replace(reference_subject(system).declaration, variants=variants)
    menu, compared = system.cases.menu(list(system.ops_up_to("ledger")), "ledger"), 0
    for seed in range(40):
        case = generate.make_case(seeded_draw(random.Random(seed)), declaration, menu, None).case
        plain = dataclasses.replace(case.config, evict_by_mark_deleted=False)
        held = dataclasses.replace(plain, storage=config.Storage.HELD)
        one, other = initial(plain), initial(held)
        for op in case.steps:
            given = step(one, op, plain)
            done, one = given.outcome, given.state
            if isinstance(op, ops.CursorRead | ops.ReplayRead):
                other, ends = read_in_order(other, op, held)
                if isinstance(done, Refused):
                    assert ends is None
                    continue
                assert ends == tuple(sorted((*done.hits, *done.fills)))
                compared += 1
            else:
                given = step(other, op, held)
                other = given.state
                assert done == given.outcome
            assert one._replace(pending=other.pending) == other
    print(f"{compared} reads")
    assert compared > 50


def read_in_order(state, op, held):
    """Begin the read, answer all that it asks in order, and release it if it has no hold."""
    name = ReadName("T" if op.hold is ABSENT else op.hold)
    is_read = isinstance(op, ops.CursorRead)
    begin = ReadBegin(op.cache, op.cursor, name, op.max_entries) if is_read else None
    done = step(state, begin or ReplayBegin(op.cache, op.cursor, name, op.positions), held)
    if done.outcome == REFUSED:
        return state, None
    while done.state.pending.asks:
        done = step(done.state, StorageAnswer(min(done.state.pending.asks), ALL), held)
    entries = done.outcome.done[0].entries
    released = step(done.state, Release(HoldName(name)), held) if op.hold is ABSENT and entries else done
    return released.state, entries


@pytest.mark.rule("R-INFLIGHT-6")
def test_an_ask_of_a_cache_that_the_last_active_cursor_clears_is_joined_by_nobody():
    begin = [*half_cached(), CursorOpen(A, D, at(0)), Deactivate(A, D), read(D, F, 1)]
    settings = {**HELD_STORAGE, "evict_by_expected_reads": False}
    sent = InFlight((SentAsk(0, 1, 0, 0, A),))
    assert play(*begin, read(C, G, 1), **settings).outcomes[-2:] == (sent, InFlight())
    again = play(*begin, Deactivate(A, C), read(C, G, 1), **settings)
    assert again.outcomes[-1] == InFlight((SentAsk(1, 1, 0, 0, A),))


@pytest.mark.rule("R-LEDGER-20")
@pytest.mark.parametrize(
    "op", [ops.Clear(A), ops.InvalidateLedger(A, 1), ops.RemoveCache(A), ops.DeleteLedger(A, 1), ops.Configure(0)]
)
def test_r_ledger_20__no_call_clears_a_managed_cache_whose_asks_are_open(op):
    run = play(
        *half_cached(), Append(A, two(0), 10), CursorOpen(A, D, at(0)), read(D, F, 1), op, read(C, G, 1), **HELD_STORAGE
    )
    assert run.outcomes[-2:] == (REFUSED, InFlight())


CUTS = 251
"""So many parts were nested too deep for an interpreter that allows a thousand calls."""


@pytest.mark.rule("R-INFLIGHT-2")
def test_r_inflight_2__a_read_is_cut_at_hundreds_of_open_asks():
    settings = config.Config(**HELD_STORAGE)
    begin = play(*uncached(1), **HELD_STORAGE).states[-1]
    managed = begin.managed[A]._replace(sizes={1: (10,) * (2 * CUTS)})
    state = begin._replace(managed={A: managed})
    others = tuple(at(2 * number + 1) for number in range(CUTS))
    state = step(state, ReplayBegin(A, C, F, others), settings).state
    done = step(state, read(D, G, 2 * CUTS), settings)
    assert [ask.first for ask in done.outcome.sent_asks] == [2 * number for number in range(CUTS)]
    for number in (CUTS - 1, 2 * CUTS - 1):
        done = step(done.state, StorageAnswer(number, ALL), settings)
        assert done.outcome.done is None
    assert [one.slot.pos for one in done.state.holds[HoldName("g")]] == [at(2 * CUTS - 1), at(2 * CUTS - 2)]
