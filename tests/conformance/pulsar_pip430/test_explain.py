"""The first rule that explains a failure is the one that the broken cache breaks first.

Each cache has one realistic error in a line of the sample adapter or of the fast cache.
"""

from __future__ import annotations

from typing import Any

import pytest

from entrycache import Subject
from entrycache_conformance.explain import explain_difference
from entrycache_conformance.judge import Coverage, judge_case, run_reference
from entrycache_conformance.resolve import PythonSubject
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.pulsar_pip430 import fast_cache
from entrycache_fast import BrokerCache, Removal
from entrycache_fast.pulsar.store import Entry
from entrycache_protocol.case import case_from_json
from entrycache_protocol.subject import InProcessSubject, TestedSubject
from tests.support import ROOT

TEMPLATE = ROOT / "conformance/entrycache_cli/templates/adapters/python/my_cache.py.txt"

A = {"cache": "a", "pos": [1, 0]}


def insert(size: int, **arguments: Any) -> dict[str, Any]:
    return {"op": "insert", **A, "size": size, **arguments}


def explain_first(subject: TestedSubject, config: dict[str, Any], steps: list[dict[str, Any]]) -> str:
    """Return the first rule that explains why the subject fails in this case."""
    case = case_from_json({"system": "pulsar-pip430", "config": config, "steps": steps}, SYSTEMS)
    difference = judge_case(subject, case).difference
    assert difference is not None
    return explain_difference(subject, case, run_reference(case, Coverage()), difference)[0].value


def altered_adapter(line: str, other: str) -> TestedSubject:
    """Return the sample adapter with one line changed."""
    source = TEMPLATE.read_text(encoding="utf-8")
    assert source.count(line) == 1
    names: dict[str, Any] = {"__name__": "altered"}
    exec(source.replace(line, other), names)
    return PythonSubject(names["MyCache"])


REFUSAL = "self.disabled or pos in entries:\n            return"


@pytest.mark.parametrize(
    ("line", "other", "step", "rule"),
    [
        (
            REFUSAL,
            "self.disabled or (pos in entries and not entries.update({pos: size})):\n            return",
            insert(2),
            "R-INSERT-2",
        ),
        ("if last_inclusive or pos < last", "if pos < last", None, "R-INVALIDATE-2"),
        ("list(self.caches.get(cache, {})))", "[])", {"op": "clear", "cache": "a"}, "R-INVALIDATE-4"),
    ],
)
def test_the_adapter(line: str, other: str, step: dict[str, Any] | None, rule: str) -> None:
    removal = {"op": "remove_range", "cache": "a", "first": [1, 0], "last": [1, 0], "last_inclusive": True}
    steps = [insert(1), step or removal, {"op": "observe"}]
    assert explain_first(altered_adapter(line, other), {}, steps) == rule


class DuplicateReplacesSize(BrokerCache[Any]):
    def _reject(self, cached: Entry, size_bytes: int) -> bool:
        cached.size_bytes = size_bytes
        return super()._reject(cached, size_bytes)


class SizePassUncounted(BrokerCache[Any]):
    def _relieve(self, origin: Any) -> Removal:
        cycles = self._counts.eviction_cycles
        done = super()._relieve(origin)
        self._counts.eviction_cycles = cycles
        return done


class CycleUpToTheTrigger(BrokerCache[Any]):
    """The size pass of `cycle` runs although the bytes are exactly at the trigger."""

    def cycle(self) -> Removal:
        self.trigger_bytes -= 1
        done = super().cycle()
        self._set_thresholds()
        return done


class TriggerRounded(BrokerCache[Any]):
    def _set_thresholds(self) -> None:
        super()._set_thresholds()
        self.trigger_bytes = round(self.max_size_bytes * 0.98)


class TargetRounded(BrokerCache[Any]):
    def _set_thresholds(self) -> None:
        super()._set_thresholds()
        self.target_bytes = round(self.max_size_bytes * self.watermark)


class ExpiresByTheFirstTtl(BrokerCache[Any]):
    def expire(self, older_than_nanos: int | None = None) -> Removal:
        return super().expire(1_000_000_000 if older_than_nanos is None else older_than_nanos)


class MarksWholeReadsOnly(BrokerCache[Any]):
    """The hits of a read that also has fills are not marked as accessed."""

    def read(self, cache: str, first: Any, last: Any, expected_reads: int, hold: str | None = None) -> Any:
        marks = [(entry, entry.accessed) for home in self._caches.values() for entry in home.everything()]
        done = super().read(cache, first, last, expected_reads, hold)
        for entry, accessed in marks if done.fills else ():
            entry.accessed = accessed
        return done


METRICS = {"op": "metrics"}
FIRST_TTL = ({"op": "configure", "ttl_nanos": 0}, insert(1), {"op": "advance", "nanos": 1}, {"op": "expire"})
READ = {"op": "read", "cache": "a", "first": [1, 0], "last": [1, 1], "expected_reads": 1}


@pytest.mark.parametrize(
    ("cache", "config", "steps", "rule"),
    [
        (DuplicateReplacesSize, {}, [insert(1), insert(2), {"op": "observe"}], "R-INSERT-2"),
        (SizePassUncounted, {"max_size_bytes": 100}, [insert(100), METRICS], "R-METRICS-5"),
        (CycleUpToTheTrigger, {"max_size_bytes": 10, "watermark": 0.5}, [insert(9), {"op": "cycle"}], "R-TRIGGER-6"),
        (TriggerRounded, {"max_size_bytes": 10}, [insert(10), {"op": "observe"}], "R-TRIGGER-1"),
        (TargetRounded, {"max_size_bytes": 10, "watermark": 0.98}, [insert(10), {"op": "observe"}], "R-TRIGGER-1"),
        (ExpiresByTheFirstTtl, {}, [*FIRST_TTL], "R-EXPIRE-3"),
        (MarksWholeReadsOnly, {"storage_entry_size": 10}, [insert(1), READ, {"op": "observe"}], "R-READ-7"),
    ],
)
def test_the_fast_cache(
    cache: type[BrokerCache[Any]], config: dict[str, Any], steps: list[dict[str, Any]], rule: str
) -> None:
    subject = InProcessSubject(
        "broken",
        SYSTEMS["pulsar-pip430"],
        lambda given: fast_cache.open_cache(given, cache),
        fast_cache.DECLARATION,
    )
    assert explain_first(subject, config, steps) == rule


class WrongTable(Subject):
    """A table of pending reads that ends other reads than it should when its first ask fails."""

    system = "pulsar-pip430"
    ended: tuple[str, ...] = ()

    def __init__(self, config: dict[str, Any]) -> None:
        self.sent = 0

    def fetch(self, read: str, first: Any, last: Any) -> dict[str, Any]:
        if self.sent and tuple(last)[1] < 2:
            return {}
        begin = 2 if self.sent else first[1]
        self.sent += 1
        return {"asked": [{"ask": self.sent - 1, "ledger": 1, "first": begin, "last": last[1]}]}

    def storage_answer(self, ask: int, answer: Any) -> dict[str, Any]:
        return {"done": [{"read": read, "error": "read-failed"} for read in self.ended]}


@pytest.mark.parametrize(("last", "ended", "rule"), [(3, ("a", "b"), "R-INFLIGHT-8"), (1, ("a",), "R-INFLIGHT-6")])
def test_a_failed_answer_that_ends_the_wrong_reads(last: int, ended: tuple[str, ...], rule: str) -> None:
    steps = [
        {"op": "fetch", "read": "a", "first": [1, 0], "last": [1, 1]},
        {"op": "fetch", "read": "b", "first": [1, 0], "last": [1, last]},
        {"op": "storage_answer", "ask": 0, "answer": "fail"},
    ]
    assert explain_first(PythonSubject(type("Table", (WrongTable,), {"ended": ended})), {}, steps) == rule


def test_texts_show_permits_and_asks() -> None:
    steps = [{"op": "acquire", "id": "a", "permits": 3}, {"op": "acquire", "id": "b", "permits": 8}]
    steps += [{"op": "fetch", "read": "c", "first": [1, 0], "last": [1, 1]}]
    config = {"max_reads_in_flight_bytes": 10}
    case = case_from_json({"system": "pulsar-pip430", "config": config, "steps": steps}, SYSTEMS)
    state = run_reference(case, Coverage())[-1].state
    texts = case.system.text.at_level
    assert texts["limits"].state(state) == "permits: 7 free\na has 3\nb waits for 8"
    assert texts["pending"].state(state) == "ask 0 (1,0-1): c"
