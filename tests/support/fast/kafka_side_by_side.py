"""Random runs of `kafka-streams`, and the comparison of its fast cache with the reference, step by step.

The generator is the suite's, the comparison is not: rows and invariants are looked at too.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from entrycache_conformance.systems.kafka_streams.fast_cache import Adapter
from entrycache_conformance.systems.kafka_streams.generation import make_op
from entrycache_conformance.systems.kafka_streams.workload import (
    LEVEL_OF,
    WEIGHTS,
    WORKLOADS,
    Aim,
    WorkloadProfile,
    menu,
)
from entrycache_evidence.kafka_streams.refinement import abstract_state, comparable_state
from entrycache_fast.kafka import CachingStore, Row, ThreadCache
from entrycache_reference.kafka_streams import Config, initial, ops, step
from entrycache_reference.kafka_streams.ops import LEVELS
from entrycache_reference.kafka_streams.outcomes import Unanswered

LIMITS = (0, 50, 100, 150, 20_000_000)


def runs(
    source: random.Random, profile: WorkloadProfile, level: str, count: int, steps: int
) -> Iterator[tuple[Config, list[Any]]]:
    """Runs whose limits are lowered with several namespaces too."""
    traits = WORKLOADS[profile]
    for _ in range(count):
        stores = source.choice(traits.stores) if level != "cache" else 0
        names = tuple(name for name in WEIGHTS if LEVEL_OF[name] in LEVELS[: LEVELS.index(level) + 1 if stores else 1])
        aim = Aim(source.randint, traits, names, source.choice(traits.namespaces), stores)
        config = Config(source.choice(traits.max_sizes), source.choice((8, 8, 1, 2, 0)))
        state = initial(config)
        run: list[Any] = []
        weighted = menu(names)
        for _ in range(steps):
            lowers = source.random() < 0.05
            op = ops.Resize(source.choice(LIMITS)) if lowers else make_op(aim, source.choice(weighted), state)
            run.append(op)
            state = step(state, op, config).state
        yield config, run


def reference_form(row: Row) -> tuple[Any, ...]:
    """A row in the form of the reference's, without its rule."""
    key = None if row.key is None else row.key.decode("utf-8", "surrogatepass")
    return (*row[:4], key, *row[5:])


def assert_equal(config: Config, run: Sequence[Any], cache_type: type[ThreadCache] = ThreadCache) -> None:
    """Outcomes, rows and all that is kept are the reference's, with and without a callback; the invariants hold."""
    rows: list[Row] = []
    traced = Adapter(cache_type(config.max_size_bytes, rows.append), CachingStore, config.reentry_budget)
    silent = Adapter(cache_type(config.max_size_bytes), CachingStore, config.reentry_budget)
    state = initial(config)
    for number, op in enumerate(run):
        rows.clear()
        expected = step(state, op, config)
        state = expected.state
        outcomes = [traced.step(op), silent.step(op)]
        if not isinstance(expected.outcome.answer, Unanswered):
            assert outcomes == [expected.outcome] * 2, (number, op)
        assert [reference_form(row) for row in rows] == [tuple(row)[1:] for row in expected.rows], (number, op)
        for instance in (traced, silent):
            assert abstract_state(instance) == comparable_state(state), (number, op)
