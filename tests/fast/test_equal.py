"""The fast cache has the answers, the rows and the state of the reference."""

from __future__ import annotations

import random

import pytest

from entrycache_fast import Row
from entrycache_fast.pulsar import passes, store
from entrycache_reference.pulsar_pip430 import Row as ReferenceRow
from tests.support.fast.side_by_side import assert_equal, make_run


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run housekeeping all the time that usually waits for large numbers."""
    monkeypatch.setattr(passes, "DEAD_SLACK", 1)
    monkeypatch.setattr(store, "BLOCK_LENGTH", 2)
    monkeypatch.setattr(store, "MAX_SINGLE_INSERTS", 1)
    monkeypatch.setattr(store, "ORDER_SLACK", 0)


def test_rows_have_the_columns_of_the_reference_but_its_rule() -> None:
    assert Row._fields == ReferenceRow._fields[1:]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 4))])
def test_equal__thousands_of_short_runs(seed: int) -> None:
    draw = random.Random(seed).randint
    for _ in range(400):
        assert_equal(*make_run(draw, draw(1, 60)))


@pytest.mark.usefixtures("tight")
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_equal__with_housekeeping_all_the_time(seed: int) -> None:
    draw = random.Random(1_000 + seed).randint
    for _ in range(400):
        assert_equal(*make_run(draw, draw(1, 60)))


def test_equal__long_runs_over_many_positions() -> None:
    draw = random.Random(7).randint
    for _ in range(6):
        assert_equal(*make_run(draw, 1_500, entries=200), observed_each=50)
