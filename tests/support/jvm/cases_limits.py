"""Level `limits`, worked out by hand from the protocol, for the released limiter with its two variants."""

from __future__ import annotations

from typing import Any, Final

from tests.support.jvm.driver import Step
from tests.support.jvm.steps import DONE, REFUSED, Case

TEN: Final = {"max_reads_in_flight_bytes": 10, "acquire_timeout_millis": 2}
WAIT: Final[Step] = {"op": "advance", "nanos": 1_000_000}


def acquire(name: str, permits: int) -> Step:
    return {"op": "acquire", "id": name, "permits": permits}


def give_back(name: str) -> Step:
    return {"op": "give_back", "id": name}


def request(name: str, permits: int, granted: int | None) -> tuple[Step, Step]:
    return acquire(name, permits), {"permits": granted}


def state(free: int, waiting: int) -> tuple[Step, Step]:
    return {"op": "limiter"}, {"free": free, "waiting": waiting}


def decided(*pairs: list[Any]) -> Step:
    return {"granted": list(pairs)}


CASES: Final[dict[str, Case]] = {
    "permits are served from the head, and nobody in the queue is passed over": (
        TEN,
        [
            request("a", 10, 10),
            request("b", 4, None),
            request("c", 3, None),
            request("d", 5, None),
            request("e", 1, None),
            (give_back("a"), decided(["b", 4], ["c", 3])),
            state(3, 2),
            (give_back("b"), decided(["d", 5], ["e", 1])),
            state(1, 0),
            (give_back("b"), REFUSED),
        ],
    ),
    "a request that fits overtakes those that wait": (
        TEN,
        [request("a", 6, 6), request("b", 8, None), request("c", 4, 4), (acquire("b", 1), REFUSED), state(0, 1)],
    ),
    "a request above the limit takes all of it": (
        TEN,
        [request("a", 25, 10), request("b", 11, None), (give_back("a"), decided(["b", 10])), (give_back("b"), DONE)],
    ),
    "a full queue refuses": (
        TEN | {"acquire_queue": 1},
        [request("a", 10, 10), request("b", 1, None), request("c", 1, 0), state(0, 1), (acquire("d", 0), REFUSED)],
    ),
    "a request times out, and the one behind it is not served before permits come back": (
        TEN,
        [
            request("a", 4, 4),
            request("b", 8, None),
            (WAIT, DONE),
            request("c", 6, 6),
            request("d", 5, None),
            (give_back("c"), DONE),
            (WAIT, decided(["b", 0])),
            state(6, 1),
            (give_back("a"), decided(["d", 5])),
        ],
    ),
    "without a limit there are no permits": ({}, [(acquire("a", 1), REFUSED), state(0, 0)]),
}
