"""Test that several pieces of work share processes, and that the failure of one spares the others."""

from __future__ import annotations

import os
import signal
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import pytest

from entrycache_evidence.core.scheduler import Batch, Work, run_alone, run_together, single_call


def squared(numbers: list[int]) -> Work[int]:
    """Sum squares in two batches, the second of which uses the results of the first."""
    squares = yield Batch("squares", lambda number: number * number, numbers)
    assert (yield Batch("nothing", repr, ())) == []
    doubled = yield Batch("doubled", lambda square: (square * 2, os.getpid()), squares)
    return sum(number for number, _ in doubled) // 2


def dies() -> Work[int]:
    """Return work whose process ends early."""
    yield Batch("dies", lambda _: os.kill(os.getpid(), signal.SIGKILL), (0,))
    raise AssertionError


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)


def test_each_work_returns_its_result_and_each_batch_is_reported() -> None:
    over: dict[int, int] = {}
    progress_calls: list[tuple[str, int, int]] = []
    run_together(
        [squared([1, 2]), single_call("one", lambda: 7), squared([])],
        over.__setitem__,
        lambda *it: progress_calls.append(it),
    )
    assert over == {0: 5, 1: 7, 2: 0}
    assert progress_calls == [("squares", 1, 2), ("squares", 2, 2), ("one", 1, 1), ("doubled", 1, 2), ("doubled", 2, 2)]


def test_the_items_of_several_works_are_done_by_one_set_of_processes() -> None:
    over: dict[int, Any] = {}
    run_together([single_call(str(number), os.getpid) for number in range(12)], over.__setitem__)
    assert len(set(over.values())) <= 2
    assert os.getpid() not in over.values()


def test_where_a_process_dies_the_other_works_go_on() -> None:
    over: dict[int, int] = {}
    died: list[int] = []
    run_together([dies(), squared([3, 4]), dies()], over.__setitem__, failed=lambda at, _: died.append(at))
    assert (over, sorted(died)) == ({1: 25}, [0, 2])
    with pytest.raises(BrokenProcessPool):
        run_together([squared([1]), dies()], over.__setitem__)


def test_an_error_of_one_ends_all() -> None:
    with pytest.raises(ZeroDivisionError):
        run_together([squared([1, 2, 3]), single_call("wrong", lambda: 1 // 0)], lambda *_: None)
    with pytest.raises(ZeroDivisionError):
        run_alone(single_call("wrong", lambda: 1 // 0))
