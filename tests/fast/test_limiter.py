"""The limiter of reads, as a library."""

from __future__ import annotations

import doctest
from typing import Any

import pytest

from entrycache import Refuse, Subject, check
from entrycache_fast import limiter
from entrycache_fast.limiter import Decision, ReadLimiter


def test_the_example_of_the_module_is_true():
    assert doctest.testmod(limiter) == (0, 5)


def test_a_request_times_out_and_the_next_one_is_served():
    now = [0]
    permits = ReadLimiter(10, timeout_millis=2, clock=lambda: now[0])
    assert [permits.acquire("a", 4), permits.acquire("b", 8)] == [4, None]
    now[0] = 1_000_000
    assert (permits.acquire("c", 5), permits.expire()) == (None, [])
    now[0] = 2_000_000
    assert permits.expire() == [Decision("b", 0), Decision("c", 5)]
    assert (permits.free, permits.waiting) == (1, 0)


def test_a_full_queue_refuses():
    permits = ReadLimiter(10, queue_size=1)
    assert [permits.acquire(name, 10) for name in "abc"] == [10, None, 0]


@pytest.mark.parametrize("settings", [(-1,), (1, -1), (1, 1, 0)])
def test_wrong_settings_are_named(settings: tuple[int, ...]):
    with pytest.raises(ValueError, match="expected a limit"):
        ReadLimiter(*settings)


def test_wrong_calls_are_named():
    permits = ReadLimiter(1)
    permits.acquire("a", 1)
    with pytest.raises(ValueError, match="another name"):
        permits.acquire("a", 1)
    with pytest.raises(ValueError, match="at least 1 permit"):
        permits.acquire("b", 0)
    with pytest.raises(ValueError, match="no permits"):
        permits.give_back("b")
    with pytest.raises(ValueError, match="is off"):
        ReadLimiter(0).acquire("a", 1)


class OnlyALimiter(Subject):
    """A limiter, and nothing else of a cache."""

    system = "pulsar-pip430"
    settings = ("max_reads_in_flight_bytes", "acquire_timeout_millis", "acquire_queue")

    def __init__(self, config: Any) -> None:
        self._now = 0
        defaults = {"max_reads_in_flight_bytes": 0, "acquire_timeout_millis": 60_000, "acquire_queue": 50_000}
        self._permits = ReadLimiter(*(defaults | dict(config)).values(), clock=lambda: self._now)

    def acquire(self, id: str, permits: int) -> Any:
        try:
            return {"permits": self._permits.acquire(id, permits)}
        except ValueError as error:
            raise Refuse from error

    def give_back(self, id: str) -> Any:
        try:
            return self._answer(self._permits.give_back(id))
        except ValueError as error:
            raise Refuse from error

    def limiter(self) -> Any:
        return {"free": self._permits.free, "waiting": self._permits.waiting}

    def advance(self, nanos: int) -> Any:
        if nanos < 0:
            raise Refuse
        self._now += nanos
        return self._answer(self._permits.expire())

    def _answer(self, decisions: list[Decision]) -> Any:
        return {"granted": [list(decision) for decision in decisions]} if decisions else {}


class PassesOver(OnlyALimiter):
    """A limiter that grants a small request although others wait."""

    def acquire(self, id: str, permits: int) -> Any:
        fits = self._permits.waiting and permits <= self._permits.free and id not in self._permits._names
        if not fits or id in self._permits._out or permits < 1:
            return super().acquire(id, permits)
        return {"permits": self._permits._grant(id, permits)}


def test_a_subject_that_is_only_a_limiter_conforms():
    check(OnlyALimiter, examples=150)


def test_a_limiter_that_passes_others_over_is_named_by_its_rule():
    with pytest.raises(AssertionError, match="R-LIMIT-2"):
        check(PassesOver, examples=150)
