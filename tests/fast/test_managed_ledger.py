"""The managed ledgers of the fast cache, as a library and beside the reference."""

from __future__ import annotations

import doctest
import random
from collections.abc import Callable
from typing import Any

import pytest

from entrycache_conformance.systems.pulsar_pip430.fast_cache import open_cache
from entrycache_fast import BrokerCache, Position, Row, managed_ledger
from entrycache_fast.limiter import ReadLimiter
from entrycache_fast.managed_cursors import AckedRuns
from entrycache_fast.managed_ledger import ManagedLedgers
from entrycache_fast.managed_reads import EndedRead, LedgerReads
from entrycache_fast.pending_reads import Ask
from entrycache_reference.pulsar_pip430 import initial, ops, step
from entrycache_reference.pulsar_pip430.config import Config, Invalidation, Storage
from entrycache_reference.vocabulary import ABSENT, CacheName, CursorName, HoldName, ReadName
from entrycache_reference.vocabulary import Position as At


def test_the_example_of_the_module_is_true() -> None:
    assert doctest.testmod(managed_ledger) == (0, 9)


def held_ledgers(limit: int = 0) -> tuple[BrokerCache[str], ManagedLedgers[str]]:
    """Return four entries of ledger 1 that are not cached, with two cursors at the first one."""
    cache: BrokerCache[str] = BrokerCache(grace_millis=0, clock=lambda: 0)
    ledgers = ManagedLedgers(cache, is_held=True, limiter=ReadLimiter(limit, clock=lambda: 0))
    for entry in range(4):
        ledgers.append("t", 1, entry, 36)
    for cursor in ("c", "d"):
        ledgers.open_cursor("t", cursor, (1, 0))
    return cache, ledgers


@pytest.mark.rule("R-INFLIGHT-2", "R-INFLIGHT-4")
def test_r_inflight_4__two_cursors_share_an_ask_and_the_count_of_its_fills() -> None:
    cache, ledgers = held_ledgers()
    assert ledgers.begin_read("t", "c", "first", 4).asks == [("t", Ask(0, 1, 0, 3))]
    assert ledgers.begin_read("t", "d", "second", 2).asks == []
    ended = ledgers.answer(0, ["a", "b", "c", "d"]).ended
    assert ended[1] == EndedRead("second", [(Position(1, 0), "a"), (Position(1, 1), "b")])
    assert [slot.expected_reads for slot in cache.observe().queue] == [2, 2, 2, 2]
    assert (ledgers.release("first")[0], ledgers.release("second")[0]) == (4, 2)
    assert [slot.expected_reads for slot in cache.observe().queue] == [0, 0, 1, 1]


@pytest.mark.rule("R-INFLIGHT-11")
def test_r_inflight_11__a_read_whose_cursor_was_moved_to_the_end_ends_if_nothing_came() -> None:
    """The short answer has nothing for "second"; "first" goes on."""
    _, ledgers = held_ledgers()
    ledgers.begin_read("t", "c", "first", 4)
    ledgers.seek("t", "d", (1, 1))
    ledgers.begin_read("t", "d", "second", 4)
    ledgers.seek("t", "d", (1, 4))
    progress = ledgers.answer(0, ["a"])
    assert ([ask for _, ask in progress.asks], progress.ended) == ([Ask(1, 1, 1, 3)], [EndedRead("second", [])])


@pytest.mark.rule("R-LIMIT-5")
def test_r_limit_5__a_release_lets_the_next_read_begin() -> None:
    _, ledgers = held_ledgers(limit=400)
    assert len(ledgers.begin_read("t", "c", "first", 4).asks) == 1
    assert ledgers.begin_read("t", "d", "second", 1).asks == []
    ledgers.answer(0, list("abcd"))
    assert [one.name for one in ledgers.release("first")[1].ended] == ["second"]


def test_a_shutdown_ends_every_read() -> None:
    _, ledgers = held_ledgers(limit=400)
    ledgers.begin_read("t", "c", "first", 4)
    ledgers.begin_read("t", "d", "second", 1)
    assert {one.name: one.entries for one in ledgers.end_reads().ended} == {"first": None, "second": None}
    assert ledgers.asks == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ledgers: ledgers.append("t", 1, 6, 1), "not the next entry"),
        (lambda ledgers: ledgers.append("new", 1, 0, 1), "not the next entry"),
        (lambda ledgers: ledgers.append("plain", 9, 0, 1), "in use and not managed"),
        (lambda ledgers: ledgers.open_cursor("t", "c", (1, 0)), "expected another name"),
        (lambda ledgers: ledgers.seek("t", "c", (1, 9)), "no entry"),
        (lambda ledgers: ledgers.seek("none", "c", (1, 0)), "no managed ledger"),
        (lambda ledgers: ledgers.ack("t", "none", (1, 0)), "no cursor"),
        (lambda ledgers: ledgers.ack("t", "c", (1, 4)), "no entry"),
        (lambda ledgers: ledgers.delete_ledger("t", 1), "can be deleted"),
        (lambda ledgers: ledgers.read("t", "c", 1), "storage is held"),
        (lambda ledgers: ledgers.begin_read("t", "c", "r", 0), "above 0"),
        (lambda ledgers: ledgers.begin_replay("t", "c", "r", []), "at least one"),
        (lambda ledgers: ledgers.answer(7, ["a"]), "no ask 7"),
        (lambda ledgers: ledgers.replay_add("r", (1, 0), False), "is not open"),
    ],
)
def test_a_wrong_call_is_named_and_changes_nothing(call: Callable[[ManagedLedgers[str]], Any], message: str) -> None:
    cache, ledgers = held_ledgers()
    cache.usage("plain")
    before = (cache.observe(), cache.names, ledgers.names, ledgers.cursor_state("t", "c"))
    with pytest.raises(ValueError, match=message):
        call(ledgers)
    assert (cache.observe(), cache.names, ledgers.names, ledgers.cursor_state("t", "c")) == before


def test_runs_of_acknowledged_entries_equal_a_set() -> None:
    draw = random.Random(3).randint
    for _ in range(100):
        runs, entries = AckedRuns(), set()
        for _ in range(30):
            at = Position(draw(1, 2), draw(0, 9))
            if draw(0, 9) == 0:
                runs.forget_up_to(at)
                entries = {each for each in entries if each > at}
            elif at not in entries:
                runs.add(*at)
                entries.add(at)
            end = runs.run_end(*at)
            assert (end is not None) == (at in entries)
            if end is not None:
                assert Position(at.ledger, end + 1) not in entries
                assert all(Position(at.ledger, entry) in entries for entry in range(at.entry, end + 1))
            later = [each.entry for each in entries if each.ledger == at.ledger and each >= at]
            assert runs.count_from(*at) == len(later)
            first = runs.first_run()
            assert (None if first is None else first[0]) == min(entries, default=None)


def managed_run(draw: Callable[[int, int], int], is_held: bool) -> tuple[Config, list[Callable[[Any], ops.Op]]]:
    """Make a configuration, and steps as functions of the present state of the reference."""
    config = Config(
        max_size_bytes=(60, 1_000, 0)[draw(0, 2)],
        evict_by_expected_reads=draw(0, 1) == 1,
        evict_by_mark_deleted=not is_held and draw(0, 2) == 0,
        grace_millis=(0, 1)[draw(0, 1)],
        storage=Storage.HELD if is_held else Storage.AT_ONCE,
        min_backlog_cursors=1,
        min_backlog_entries=2,
        max_backlog_between=2,
        max_reads_in_flight_bytes=(0, 200, 400)[draw(0, 2)] if is_held else 0,
        acquire_timeout_millis=2,
        acquire_queue=2,
        invalidation=list(Invalidation)[draw(0, 1)],
    )
    cache = CacheName("m")

    def pos(state: Any) -> At:
        sizes = state.managed[cache].sizes if cache in state.managed else {1: ()}
        ledger = list(sizes)[draw(0, len(sizes) - 1)]
        return At(ledger, draw(0, len(sizes[ledger])))

    def append(state: Any) -> ops.Op:
        sizes = state.managed[cache].sizes if cache in state.managed else {0: ()}
        ledger = max(sizes)
        begins = not sizes[ledger] or draw(0, 4) == 0
        return ops.Append(cache, At(ledger + 1, 0) if begins else At(ledger, len(sizes[ledger])), draw(0, 20))

    def cursor() -> CursorName:
        return CursorName("xyz"[draw(0, 2)])

    def hold() -> HoldName:
        return HoldName("hijk"[draw(0, 3)])

    def read(state: Any) -> ops.Op:
        if is_held:
            return ops.ReadBegin(cache, cursor(), ReadName(hold()), draw(1, 6))
        return ops.CursorRead(cache, cursor(), draw(1, 6), hold() if draw(0, 2) else ABSENT)

    def replay(state: Any) -> ops.Op:
        positions = tuple(pos(state) for _ in range(draw(1, 3)))
        if is_held:
            return ops.ReplayBegin(cache, cursor(), ReadName(hold()), positions)
        return ops.ReplayRead(cache, cursor(), positions, hold() if draw(0, 2) else ABSENT)

    def answer(state: Any) -> ops.Op:
        asks = list(state.pending.asks) or [0]
        kinds = ops.StorageAnswerKind
        given = (kinds.ALL, kinds.ALL, kinds.FAIL, kinds.BUSY, draw(1, 3))[draw(0, 4)]
        return ops.StorageAnswer(asks[draw(0, len(asks) - 1)], given)

    makers: list[Callable[[Any], ops.Op]] = [
        *[append] * 5,
        *[read] * 6,
        *[replay] * 2,
        *[answer if is_held else read] * 6,
        *[lambda state: ops.Release(hold())] * 3,
        *[lambda state: ops.CursorOpen(cache, cursor(), pos(state), draw(0, 2) > 0)] * 4,
        *[lambda state: ops.Ack(cache, cursor(), pos(state))] * 3,
        lambda state: ops.MarkDelete(cache, cursor(), pos(state)),
        lambda state: ops.CursorSeek(cache, cursor(), pos(state)),
        lambda state: ops.CursorReset(cache, cursor(), pos(state)),
        lambda state: ops.Deactivate(cache, cursor()),
        lambda state: ops.Activate(cache, cursor()),
        lambda state: ops.CursorClose(cache, cursor()),
        lambda state: ops.ReplayAdd(hold(), pos(state), list(ops.Dispatcher)[draw(0, 1)]),
        lambda state: ops.DeleteLedger(cache, pos(state).ledger),
        lambda state: ops.CheckBacklogs(cache),
        lambda state: ops.RunInvalidations(cache),
        lambda state: ops.Advance(draw(0, 3) * 700_000),
        lambda state: ops.Evict(draw(1, 20)),
        lambda state: ops.Insert(cache, pos(state), 1),
        lambda state: ops.CursorState(cache, cursor()),
        ops.LimiterState if is_held else ops.Metrics,
    ]
    return config, [append, *(makers[draw(0, len(makers) - 1)] for _ in range(50))]


def play_beside_the_reference(seed: int, is_held: bool, runs: int) -> None:
    """Play random runs on the fast cache and on the reference; every answer, row and state is the same."""
    draw = random.Random(seed).randint
    for _ in range(runs):
        config, makers = managed_run(draw, is_held)
        rows: list[Row] = []
        state, fast = initial(config), open_cache(config, on_row=rows.append)
        for make in makers:
            op = make(state) if make is not ops.LimiterState and make is not ops.Metrics else make()  # type: ignore[call-arg]
            expected = step(state, op, config)
            state = expected.state
            rows.clear()
            assert fast(op) == expected.outcome, op
            assert [tuple(row) for row in rows] == [tuple(row)[1:] for row in expected.rows], op
            for query in (ops.Observe(), ops.Metrics(), ops.LimiterState()):
                assert fast(query) == step(state, query, config).outcome, (op, query)
        assert fast.leaked() == 0


@pytest.mark.parametrize("is_held", [False, True], ids=["at-once", "held"])
def test_random_runs_equal_the_reference(is_held: bool) -> None:
    play_beside_the_reference(5, is_held, 60)


@pytest.mark.parametrize(
    ("is_held", "name", "fault"),
    [
        (False, "_count", lambda self, reader: 1),
        (False, "_run_invalidation", lambda self, home: setattr(home, "due", None) or (0, 0)),
        (True, "_count", lambda self, reader: 1),
        (True, "_free", lambda self, permits: None),
    ],
)
def test_a_fault_is_noticed_beside_the_reference(
    is_held: bool, name: str, fault: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LedgerReads, name, fault)
    with pytest.raises(AssertionError):
        play_beside_the_reference(5, is_held, 60)
