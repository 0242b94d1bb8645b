"""Random runs, and the comparison of the fast cache with the reference, step by step.

Kept apart from the suite's own generator and judge on purpose: a fault there cannot hide one here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from entrycache_conformance.systems.pulsar_pip430.fast_cache import open_cache
from entrycache_evidence.pulsar_pip430.refinement import abstract_state, comparable_state
from entrycache_fast import Row
from entrycache_reference.pulsar_pip430 import initial, ops, step
from entrycache_reference.pulsar_pip430.config import Config, Eviction, RequeueBudget, Variants
from entrycache_reference.vocabulary import ABSENT, CacheName, CursorName, HoldName, Position

Draw = Callable[[int, int], int]
"""An integer between two bounds, both included."""


def make_config(draw: Draw) -> Config:
    return Config(
        max_size_bytes=(40, 100, 1_000, 0)[draw(0, 3) if draw(0, 3) == 3 else draw(0, 1)],
        watermark=(0.9, 0.5, 0.0, 1.0, 0.99, 1)[draw(0, 5)],
        ttl_nanos=(3, 0, 10, 1_000_000)[draw(0, 3)],
        max_requeues=(1, 0, 2, 5)[draw(0, 3)],
        extend_recently_accessed=draw(0, 2) < 2,
        evict_by_expected_reads=draw(0, 3) > 0,
        evict_by_mark_deleted=draw(0, 3) == 0,
        grace_millis=(None, 0, 1, 2)[draw(0, 3)],
        storage_entry_size=(1, 3, 10, 50)[draw(0, 3)],
        eviction=(Eviction.INLINE, Eviction.MANUAL)[draw(0, 1)],
        variants=Variants((RequeueBudget.SHARED, RequeueBudget.SPLIT)[draw(0, 1)]),
    )


def make_op(draw: Draw, number: int, entries: int) -> ops.Op:
    """One operation; small names and numbers, so that operations meet; `number` serves as a payload."""

    def cache() -> CacheName:
        return CacheName("aaabc"[draw(0, 4)])

    def pos(least: int = 0) -> Position:
        return Position(draw(least, 2), draw(least, entries))

    def cursor() -> CursorName:
        return CursorName(f"cursor-{draw(0, 4 + entries // 4)}")

    def hold() -> HoldName:
        return HoldName("xyz"[draw(0, 2)])

    def read() -> ops.Read:
        first = pos()
        last = Position(first.ledger, first.entry + draw(0, 4)) if draw(0, 9) else pos()
        return ops.Read(cache(), first, last, draw(-1, 3), hold() if draw(0, 2) else ABSENT)

    def configure() -> ops.Configure:
        return ops.Configure(
            (ABSENT, ABSENT, 30, 100, 0, -1)[draw(0, 5)],
            (ABSENT, ABSENT, 0.5, 1, 0.0, 1.5)[draw(0, 5)],
            (ABSENT, ABSENT, 3, 0, 2_000_000, -1)[draw(0, 5)],
            (ABSENT, ABSENT, 0, 1, 3, -1)[draw(0, 5)],
            (ABSENT, ABSENT, True, False)[draw(0, 3)],
        )

    makers: tuple[tuple[int, Callable[[], ops.Op]], ...] = (
        (
            6,
            lambda: ops.Insert(
                cache(),
                pos(),
                draw(-1, 9),
                (ABSENT, 1, 2, 3, None, 0, -1)[draw(0, 6)],
                number if draw(0, 2) else ABSENT,
            ),
        ),
        (2, lambda: ops.Get(cache(), pos())),
        (2, lambda: ops.GetRange(cache(), pos(-1), pos(-1))),
        (1, lambda: ops.Exists(cache(), pos())),
        (2, lambda: ops.RemoveRange(cache(), pos(-1), pos(-1), draw(0, 1) == 1)),
        (1, lambda: ops.Clear(cache())),
        (1, lambda: ops.Usage(cache() if draw(0, 1) else ABSENT)),
        (2, lambda: ops.Advance(draw(-1, 5) if draw(0, 3) else draw(0, 3) * 500_000)),
        (2, lambda: ops.Expire((ABSENT, 0, 1, 5, -1)[draw(0, 4)])),
        (2, lambda: ops.Evict(draw(0, 20))),
        (1, lambda: ops.MarkRead(cache(), pos())),
        (1, lambda: ops.ExpectRead(cache(), pos())),
        (1, ops.Cycle),
        (2, ops.RunScheduled),
        (1, configure),
        (1, lambda: ops.InvalidateBefore(cache(), pos(-1))),
        (1, lambda: ops.InvalidateLedger(cache(), draw(-1, 3))),
        (1, lambda: ops.RemoveCache(cache())),
        (1, ops.Metrics),
        (5, read),
        (2, lambda: ops.ReadOne(cache(), pos(), hold() if draw(0, 2) else ABSENT)),
        (3, lambda: ops.Release(hold())),
        (4, lambda: ops.CursorAdd(cache(), cursor(), pos(-1) if draw(0, 4) else None)),
        (4, lambda: ops.CursorMove(cache(), cursor(), pos(-1) if draw(0, 4) else None)),
        (1, lambda: ops.CursorRemove(cache(), cursor())),
        (2, lambda: ops.CursorRank(cache(), cursor())),
        (1, lambda: ops.Slowest(cache())),
        (1, lambda: ops.Cursors(cache())),
        (1, lambda: ops.ShouldCache(cache())),
    )
    at = draw(1, sum(weight for weight, _ in makers))
    for weight, make in makers:
        at -= weight
        if at <= 0:
            return make()
    raise AssertionError


def make_run(draw: Draw, steps: int, entries: int = 4) -> tuple[Config, list[ops.Op]]:
    return make_config(draw), [make_op(draw, number, entries) for number in range(steps)]


def assert_equal(config: Config, run: Sequence[ops.Op], observed_each: int = 1) -> None:
    """Outcomes, rows and every so often all that the cache holds are the reference's; its invariants hold."""
    rows: list[Row] = []
    traced = open_cache(config, on_row=rows.append)
    silent = open_cache(config)
    state = initial(config)
    for number, op in enumerate(run):
        rows.clear()
        expected = step(state, op, config)
        state = expected.state
        outcome = traced(op)
        assert outcome == expected.outcome, (number, op)
        assert type(outcome) is type(expected.outcome), (number, op)
        assert silent(op) == outcome, (number, op)
        assert [tuple(row) for row in rows] == [tuple(row)[1:] for row in expected.rows], (number, op)
        if number % observed_each == 0:
            observed = step(state, ops.Observe(), config).outcome
            assert traced(ops.Observe()) == observed, (number, op)
            for instance in (traced, silent):
                assert abstract_state(instance.adapter) == comparable_state(state), (number, op)
    assert traced.leaked() == 0
    assert silent.leaked() == 0
