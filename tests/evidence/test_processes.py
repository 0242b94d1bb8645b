"""Test work in several processes: results come in order, and errors come with their part."""

from __future__ import annotations

import os
import threading
import time
from multiprocessing import active_children

import pytest

from entrycache_evidence.core import scheduler


def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)


def test_results_come_in_order_from_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    two_cores(monkeypatch)
    unpicklable = [lambda number=number: number for number in range(20)]
    results = scheduler.map_in_processes(lambda item: (item(), os.getpid()), unpicklable)
    assert [number for number, _ in results] == list(range(20))
    assert os.getpid() not in {process for _, process in results}


def test_one_item_needs_no_process() -> None:
    assert scheduler.map_in_processes(lambda item: os.getpid(), [1]) == [os.getpid()]
    assert scheduler.map_in_processes(lambda item: item, []) == []


def test_an_error_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    two_cores(monkeypatch)
    with pytest.raises(ZeroDivisionError):
        scheduler.map_in_processes(lambda item: 1 // item, [1, 0, 2])


def test_an_endless_part_is_ended_after_an_error_of_another_part(monkeypatch: pytest.MonkeyPatch) -> None:
    two_cores(monkeypatch)
    errors: list[object] = []
    monkeypatch.setattr(threading, "excepthook", errors.append)
    before = set(active_children())
    with pytest.raises(ZeroDivisionError):
        scheduler.map_in_processes(lambda seconds: 1 // (time.sleep(seconds) or seconds), [1, 0, *[3600] * 20])
    assert set(active_children()) <= before
    assert errors == []


def test_an_interrupt_ends_the_processes_without_an_error_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    two_cores(monkeypatch)
    errors: list[object] = []
    monkeypatch.setattr(threading, "excepthook", errors.append)

    def interrupt(done: int) -> None:
        raise KeyboardInterrupt

    before = set(active_children())
    with pytest.raises(KeyboardInterrupt):
        scheduler.map_in_processes(time.sleep, [0.0, *[0.3] * 20], interrupt)
    assert set(active_children()) <= before
    assert errors == []
