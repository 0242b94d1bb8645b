"""The driver of the released record cache of Kafka Streams, on cases worked out by hand from the protocol."""

from __future__ import annotations

import json
import subprocess
from typing import Any, Final

import pytest
from jvm_driver import Step, talk

from entrycache_conformance.subjects.jvm import released_command
from entrycache_conformance.subjects.jvm_build import versions
from entrycache_protocol.errors import MissingPrerequisite, UsageError

NODE: Final = 47
"""Bytes of a key and a value of one byte each, with an empty topic and no headers."""


def _put(key: str, value: str | None = "v", ns: str = "n", **more: Any) -> Step:
    return {"op": "put", "ns": ns, "key": key, "value": value, **more}


def _at(op: str, ns: str = "n", **more: Any) -> Step:
    return {"op": op, "ns": ns, **more}


def _flushed(*entries: list[Any], inner: list[Step] | None = None, ns: str = "n") -> Step:
    return {"ns": ns, "entries": list(entries), "inner": inner or []}


def _of(lru: list[str], dirty: list[str], **counts: int) -> Step:
    return {"hits": 0, "misses": 0, "overwrites": 0, "flushes": 0, **counts, "dirty": dirty, "lru": lru}


def _usage(entries: int) -> Step:
    return {"entries": entries, "bytes": entries * NODE, "tracked": entries * NODE}


USAGE: Final[Step] = {"op": "usage"}
STORE_GET: Final[Step] = {"op": "store_get", "store": "s", "key": "a"}
LISTEN: Final[Step] = {"op": "listen", "ns": "n"}

CASES: dict[str, tuple[Step, list[tuple[Step, Step]]]] = {
    "sizes": (
        {},
        [
            (_put("k"), {}),
            (USAGE, _usage(1)),
            (_put("k", None, topic="\U0001f600", headers=[["h", "é"]]), {}),
            (_at("usage"), {"entries": 1, "bytes": NODE - 1 + 2 + 3}),
        ],
    ),
    "a clean put over a dirty key": (
        {},
        [
            (_put("k", dirty=True), {}),
            (_put("k", "w"), {"error": "illegal-state"}),
            (_at("get", key="k"), {"hit": True, "value": "v"}),
            ({"op": "metrics"}, {"puts": 2, "gets": 1, "evicts": 0, "flushes": 0}),
            (_at("metrics"), _of(["k"], ["k"], hits=1)),
        ],
    ),
    "an eviction writes every dirty entry, the eldest first": (
        {"max_size_bytes": 3 * NODE},
        [
            (LISTEN, {}),
            (_put("c", dirty=True, timestamp=5), {}),
            (_put("b"), {}),
            (_put("a", dirty=True), {}),
            (_put("d"), {"flushed": [_flushed(["c", "v", {"timestamp": 5}], ["a", "v"])]}),
            (USAGE, _usage(3)),
            (_at("all"), {"entries": [["a", "v"], ["b", "v"], ["d", "v"]]}),
            ({"op": "metrics"}, {"puts": 4, "gets": 0, "evicts": 1, "flushes": 0}),
        ],
    ),
    "steps of a listener run inside its call, within the budget": (
        {"reentry_budget": 1},
        [
            ({**LISTEN, "on_flush": [_put("x", dirty=True), _at("flush"), _at("get", key="x")]}, {}),
            (_put("k", dirty=True), {}),
            (
                _at("flush"),
                {"flushed": [_flushed(["k", "v"], inner=[{}, {}, {"hit": True, "value": "v"}]), _flushed(["x", "v"])]},
            ),
        ],
    ),
    "a listener that fails": (
        {},
        [
            (_put("k", dirty=True), {}),
            (_at("flush"), {"error": "illegal-argument"}),
            ({**LISTEN, "fails": 1}, {}),
            (_at("flush"), {"error": "listener-failed", "flushed": [_flushed(["k", "v"])]}),
        ],
    ),
    "lookups": (
        {},
        [
            (_at("get", key="k"), {"hit": False, "value": None}),
            (_put("a", None), {}),
            (_at("get", key="a"), {"hit": True, "value": None}),
            (_at("put_if_absent", key="a", value="w"), {"present": True, "existing": None}),
            (_at("put_if_absent", key="b", value="w"), {"present": False, "existing": None}),
            (_at("range", **{"from": None, "to": "b", "to_inclusive": False}), {"entries": [["a", None]]}),
            (_at("reverse_range", **{"from": "a", "to": None}), {"entries": [["b", "w"], ["a", None]]}),
            (_at("reverse_all"), {"entries": [["b", "w"], ["a", None]]}),
            (_at("delete", key="b"), {"present": True, "value": "w"}),
            (_at("delete", key="b"), {"present": False, "value": None}),
            (_at("get", key=None), {"hit": False, "value": None}),
            (_at("metrics", "absent"), _of([], [])),
        ],
    ),
    "what empties a cache": (
        {},
        [
            (_at("put_all", entries=[{"key": "a", "value": "v"}, {"key": "b", "value": "v"}]), {}),
            (_at("evict"), {}),
            (_at("metrics"), _of(["b"], [])),
            (USAGE, _usage(1)),
            ({"op": "resize", "max_size_bytes": 0}, {}),
            (USAGE, _usage(0)),
            ({"op": "resize", "max_size_bytes": 1000}, {}),
            (_put("a"), {}),
            (_at("clear"), {}),
            (_put("a"), {}),
            (_at("close"), {}),
            (USAGE, _usage(0)),
            ({"op": "metrics"}, {"puts": 4, "gets": 0, "evicts": 1, "flushes": 0}),
        ],
    ),
    "a store, below it and downstream": (
        {},
        [
            (
                {
                    "op": "on_forward",
                    "store": "s",
                    "key": "a",
                    "steps": [{"op": "store_get", "store": "s", "key": "a"}],
                },
                {},
            ),
            ({"op": "store_put", "store": "s", "key": "a", "value": "v"}, {}),
            (STORE_GET, {"value": "v"}),
            ({"op": "store_inner", "store": "s"}, {"entries": []}),
            ({"op": "store_all", "store": "s"}, {"entries": [["a", "v"]]}),
            (_at("usage", "s"), {"entries": 1, "bytes": NODE}),
            (
                {"op": "store_flush", "store": "s"},
                {"forwarded": [{"store": "s", "key": "a", "value": "v", "inner": [{"value": "v"}]}]},
            ),
            ({"op": "store_inner", "store": "s"}, {"entries": [["a", "v"]]}),
            ({"op": "store_delete", "store": "s", "key": "a"}, {"value": "v"}),
            ({"op": "store_range", "store": "s", "from": "a", "to": None}, {"entries": []}),
            (
                {"op": "store_flush", "store": "s"},
                {"forwarded": [{"store": "s", "key": "a", "value": None, "inner": [{"value": None}]}]},
            ),
            ({"op": "store_inner", "store": "s"}, {"entries": []}),
        ],
    ),
    "shares": (
        {},
        [
            ({"op": "share", "total_bytes": 100, "threads": 3, "global_thread": False}, {"bytes": 33}),
            ({"op": "share", "total_bytes": 100, "threads": 3, "global_thread": True}, {"bytes": 25}),
            ({"op": "share", "total_bytes": 100, "threads": 0, "global_thread": True}, {"bytes": 100}),
        ],
    ),
}

ENDLESS: Final[list[Step]] = [
    {**LISTEN, "on_flush": [_put("x", dirty=True)]},
    _put("k", dirty=True),
    _at("flush"),
    {"op": "resize", "max_size_bytes": 0},
]
"""The put inside the flush is counted twice in the total, so that all evictions together do not reach the new limit."""


@pytest.fixture(params=versions("kafka-streams"))
def released(request: pytest.FixtureRequest) -> list[str]:
    try:
        return released_command(f"kafka-streams:{request.param}")
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))


def _run(number: int, config: Step, steps: list[Step]) -> Step:
    return {"cmd": "run", "id": number, "system": "kafka-streams", "config": config, "steps": steps}


def _told(outcome: Step) -> Step:
    return {key: part for key, part in outcome.items() if key != "message"}


def test_the_released_jar_answers_by_the_protocol(released: list[str]) -> None:
    requests = [_run(i, config, [step for step, _ in steps]) for i, (config, steps) in enumerate(CASES.values())]
    start, *answers = talk(released, {"cmd": "start", "version": 1}, *requests)
    got = {name: [_told(each) for each in answer["outcomes"]] for name, answer in zip(CASES, answers, strict=True)}
    assert got == {name: [expected for _, expected in steps] for name, (_, steps) in CASES.items()}
    system = start["systems"]["kafka-streams"]
    assert f"(kafka-streams-{start['implementation']['version']}.jar)" in start["implementation"]["source"]
    assert {step["op"] for _, steps in CASES.values() for step, _ in steps} == set(system["ops"])


def test_a_step_that_never_ends_is_answered_and_ends_the_process(released: list[str]) -> None:
    requests = [_run(1, {}, [USAGE]), _run(2, {}, ENDLESS), _run(3, {}, [USAGE])]
    text = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run(released, input=text, capture_output=True, text=True, timeout=60, check=False)
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first == {"id": 1, "outcomes": [_usage(0)]}
    assert (second["id"], second["errored"]["step"]) == (2, 3)
    assert second["errored"]["message"].startswith("the step does not end: ")
    assert done.returncode == 1


def test_an_unknown_release_is_one_clear_line() -> None:
    with pytest.raises(UsageError, match=r"^there is no driver for Kafka Streams 1\.0; known: 3\.9\.2, 4\."):
        released_command("kafka-streams:1.0")
