"""What a difference says of itself: experiments with the subject, and the first step inside a call that differs."""

from __future__ import annotations

from typing import Any

import pytest

from entrycache_conformance.subjects.resolve import Choice, resolve
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.kafka_streams.evidence import inner_rule, is_right_one_by_one, measures_otherwise
from entrycache_protocol.case import Case, from_json
from entrycache_protocol.subject import Subject
from entrycache_reference.rules import Rule

LISTEN = {"op": "listen", "ns": "a", "on_flush": [{"op": "all", "ns": "a"}, {"op": "metrics"}]}
PUT = {"op": "put", "ns": "a", "key": "x", "value": "1", "dirty": True}


def made(*steps: Any) -> Case:
    return from_json({"system": "kafka-streams", "config": {"max_size_bytes": 0}, "steps": list(steps)}, SYSTEMS)


def opened(name: str) -> Subject:
    return resolve(Choice(name, system="kafka-streams"))


@pytest.mark.parametrize(("name", "wrong"), [("fast", False), ("streams-headers-in-bytes", True)])
def test_a_size_is_measured_where_nothing_else_can_be_wrong(name: str, wrong: bool) -> None:
    assert measures_otherwise(opened(name), made(LISTEN, PUT | {"headers": [["é", "1"]]})) is wrong


def test_without_a_write_nothing_is_measured() -> None:
    assert not measures_otherwise(opened("streams-headers-in-bytes"), made(LISTEN))


@pytest.mark.parametrize(
    ("name", "right"), [("streams-batch-all-or-nothing", True), ("streams-clean-over-dirty", False)]
)
def test_a_batch_is_to_blame_where_its_writes_alone_are_right(name: str, right: bool) -> None:
    entries = [{"key": "x", "value": "1", "dirty": dirty} for dirty in (True, False)]
    case = made({"op": "resize", "max_size_bytes": 1000}, {"op": "put_all", "ns": "a", "entries": entries})
    assert is_right_one_by_one(opened(name), case) is right


def test_without_a_batch_none_is_to_blame() -> None:
    assert not is_right_one_by_one(opened("fast"), made(PUT))


def flushed(puts: int, ns: str = "a") -> dict[str, Any]:
    inner = [{"entries": []}, {"puts": puts, "gets": 0, "evicts": 0, "flushes": 0}]
    return {"flushed": [{"ns": ns, "entries": [["x", "1"]], "inner": inner}]}


@pytest.mark.parametrize(("op", "rule"), [("put", Rule.K_PUT_1), ("put_if_absent", Rule.K_PUT_8)])
def test_a_counter_seen_inside_a_call_names_its_rule(op: str, rule: Rule) -> None:
    assert inner_rule(made(LISTEN, PUT | {"op": op}), 1, flushed(1), flushed(0)) is rule


def test_a_call_that_performs_nothing_breaks_the_budget() -> None:
    silent = {"flushed": [flushed(1)["flushed"][0] | {"inner": []}]}
    assert inner_rule(made(LISTEN, PUT), 1, flushed(1), silent) is Rule.K_LISTEN_3


def test_other_calls_say_nothing_of_what_is_inside() -> None:
    assert inner_rule(made(LISTEN, PUT), 1, flushed(1), flushed(0, ns="b")) is None
    assert inner_rule(made(LISTEN, PUT), 1, flushed(1), flushed(1)) is None
