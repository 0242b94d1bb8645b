"""Random runs, and the comparison of the fast cache with the reference, step by step.

Kept apart from the suite's own generator and judge on purpose: a fault there cannot hide one here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from entrycache_conformance.subjects.fast import BrokerCache, open_fast
from entrycache_fast import Row
from entrycache_reference.pulsar_pip430 import initial, ops, step
from entrycache_reference.pulsar_pip430.config import Config, RequeueBudget, Variants
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

Draw = Callable[[int, int], int]
"""An integer between two bounds, both included."""


def make_config(draw: Draw) -> Config:
    return Config(
        max_size_bytes=(100, 1_000, 134_217_728, 0)[draw(0, 3) if draw(0, 3) == 3 else 0],
        watermark=(0.9, 0.5, 0.0, 1.0)[draw(0, 3)],
        ttl_nanos=(3, 0, 10)[draw(0, 2)],
        max_requeues=(1, 0, 2, 5)[draw(0, 3)],
        extend_recently_accessed=draw(0, 2) < 2,
        variants=Variants((RequeueBudget.SHARED, RequeueBudget.SPLIT)[draw(0, 1)]),
    )


def make_op(draw: Draw, number: int, entries: int) -> ops.Op:
    """One operation; small names and numbers, so that operations meet; `number` serves as a payload."""

    def cache() -> CacheName:
        return CacheName("abc"[draw(0, 2)])

    def pos(least: int = 0) -> Position:
        return Position(draw(least, 2), draw(least, entries))

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
        (2, lambda: ops.Advance(draw(-1, 5))),
        (2, lambda: ops.Expire((ABSENT, 0, 1, 5, -1)[draw(0, 4)])),
        (2, lambda: ops.Evict(draw(0, 20))),
        (1, lambda: ops.MarkRead(cache(), pos())),
        (1, lambda: ops.ExpectRead(cache(), pos())),
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
    """Outcomes, rows and every so often the whole state are those of the reference; invariants hold."""
    caches: list[BrokerCache] = []

    class Kept(BrokerCache):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            caches.append(self)

    rows: list[Row] = []
    traced = open_fast(config, Kept, rows.append)
    silent = open_fast(config)
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
            assert silent(ops.Observe()) == observed, (number, op)
            caches[0]._check()
