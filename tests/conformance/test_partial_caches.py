"""Caches that are less than a whole system: each key of a declaration that says so, in generation and in judging."""

from __future__ import annotations

import json
from collections import OrderedDict
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pytest
from jsonschema import Draft202012Validator

from entrycache import Refuse, Subject
from entrycache_conformance import replay
from entrycache_conformance.judge import Coverage
from entrycache_conformance.levels import Profile
from entrycache_conformance.report import WITH_EXCEPTIONS, build_report
from entrycache_conformance.resolve import PythonSubject
from entrycache_conformance.run import Options, conform
from entrycache_protocol import codec
from entrycache_protocol.case import Case
from entrycache_protocol.errors import BrokenSubject, UsageError, Verdict
from entrycache_protocol.server import ClassAnswerer
from tests.support import ROOT
from tests.support.differences import cases_of, declaration_of, first_difference


class Lru(Subject):
    """A least-recently-used cache whose limit counts entries, without dirty entries and a zero limit."""

    system = "kafka-streams"
    settings = ("max_size_bytes",)
    limits: ClassVar[dict[str, Any]] = {"dirty": False, "namespaces": 1, "entry_size": 47, "zero_limit": False}
    arguments: ClassVar[dict[str, dict[str, str]]] = {
        "put": dict.fromkeys(("topic", "headers", "timestamp", "offset", "partition"), "never"),
        "get": {"key": "always"},
    }

    def __init__(self, config: dict[str, Any]) -> None:
        self.room = config.get("max_size_bytes", 10_485_760) // 47
        assert self.room > 0
        self.entries: OrderedDict[str, str] = OrderedDict()

    def put(self, ns: str, key: str, value: str) -> None:
        self.entries[key] = value
        self.entries.move_to_end(key)
        while len(self.entries) > self.room:
            self.entries.popitem(last=False)

    def get(self, ns: str, key: str) -> dict[str, Any]:
        if key in self.entries:
            self.entries.move_to_end(key)
        return {"hit": key in self.entries, "value": self.entries.get(key)}

    def usage(self, ns: str | None = None) -> dict[str, int]:
        return {"entries": len(self.entries), "bytes": 47 * len(self.entries)}

    def resize(self, max_size_bytes: int) -> None:
        assert max_size_bytes >= 47
        self.room = max_size_bytes // 47
        while len(self.entries) > self.room:
            self.entries.popitem(last=False)


class FifoLru(Lru):
    """An LRU cache that is none: a lookup does not count as a use."""

    def get(self, ns: str, key: str) -> dict[str, Any]:
        return {"hit": key in self.entries, "value": self.entries.get(key)}


class Log(Subject):
    """A log of one topic: it appends, and each topic has to be named."""

    system = "pulsar-pip430"
    settings = ()
    limits: ClassVar[dict[str, Any]] = {"append_only": True}
    arguments: ClassVar[dict[str, dict[str, str]]] = {
        "usage": {"cache": "always"},
        "insert": {"expected_reads": "never"},
    }

    def __init__(self, config: dict[str, Any]) -> None:
        self.topics: dict[str, dict[Any, int]] = {}

    def insert(self, cache: str, pos: tuple[int, int], size: int) -> dict[str, bool]:
        if size < 0:
            raise Refuse
        topic = self.topics.setdefault(cache, {})
        assert not topic or pos > max(topic), "not at the tail"
        topic[pos] = size
        return {"inserted": True}

    def get_range(self, cache: str, first: Any, last: Any) -> dict[str, Any]:
        return {"hits": [pos for pos in self.topics.get(cache, ()) if first <= pos <= last]}

    def usage(self, cache: str) -> dict[str, int]:
        topic = self.topics.get(cache, {})
        return {"entries": len(topic), "bytes": sum(topic.values())}


class Ttl(Subject):
    """A cache with a time to live, whose entries are gone as soon as they are too old."""

    system = "pulsar-pip430"
    settings = ("ttl_nanos",)
    fixed: ClassVar[dict[str, Any]] = {"extend_recently_accessed": False, "max_requeues": 0}
    limits: ClassVar[dict[str, Any]] = {"lazy_expiry": True, "namespaces": 1}
    arguments: ClassVar[dict[str, dict[str, str]]] = {"insert": {"expected_reads": "never"}}

    def __init__(self, config: dict[str, Any]) -> None:
        self.ttl = config.get("ttl_nanos", 1_000_000_000)
        self.now = 0
        self.entries: dict[Any, tuple[int, int]] = {}

    def insert(self, cache: str, pos: Any, size: int) -> dict[str, bool]:
        if size < 0:
            raise Refuse
        if pos in self._live():
            return {"inserted": False}
        self.entries[pos] = (size, self.now)
        return {"inserted": True}

    def get(self, cache: str, pos: Any) -> dict[str, bool]:
        return {"hit": pos in self._live()}

    def usage(self, cache: str | None = None) -> dict[str, int]:
        live = self._live()
        return {"entries": len(live), "bytes": sum(size for size, _ in live.values())}

    def advance(self, nanos: int) -> None:
        if nanos < 0:
            raise Refuse
        self.now += nanos

    def expire(self) -> None:
        """Nothing to do."""

    def _live(self) -> dict[Any, tuple[int, int]]:
        self.entries = {pos: kept for pos, kept in self.entries.items() if self.now - kept[1] <= self.ttl}
        return self.entries


class Silent(Subject):
    """A cache whose `insert` answers nothing, and whose `get` is wrong in that it never hits."""

    system = "pulsar-pip430"
    settings = ()
    uncompared: ClassVar[dict[str, list[str]]] = {"insert": ["inserted"]}

    def __init__(self, config: dict[str, Any]) -> None:
        self.entries: set[Any] = set()

    def insert(self, cache: str, pos: Any, size: int, expected_reads: int | None = None) -> None:
        if size < 0:
            raise Refuse
        self.entries.add((cache, pos))

    def exists(self, cache: str, pos: Any) -> dict[str, bool]:
        return {"exists": (cache, pos) in self.entries}


class Forgetful(Silent):
    """The same with a wrong answer that is compared."""

    def exists(self, cache: str, pos: Any) -> dict[str, bool]:
        return {"exists": (cache, pos) in self.entries and pos[1] != 1}


@pytest.mark.parametrize("subject", [Lru, Log, Ttl, Silent])
def test_a_partial_cache_answers_as_the_reference(subject: type[Subject]) -> None:
    assert first_difference(subject) is None


@pytest.mark.parametrize("subject", [FifoLru, Forgetful])
def test_a_wrong_partial_cache_does_not(subject: type[Subject]) -> None:
    assert first_difference(subject) is not None


@pytest.mark.long
def test_it_conforms_with_exceptions_that_name_the_keys(tmp_path: Path) -> None:
    report = conform(PythonSubject(Silent), Options(("range",), Profile(100, 1, 1), 0, 0.0, tmp_path))
    assert (report.verdict, report.headline) == (Verdict.CONFORMS, WITH_EXCEPTIONS)
    assert "insert: inserted" in {one.what for one in report.exceptions}
    declared = {
        one.what
        for subject in (Lru, Log, Ttl)
        for one in build_report(PythonSubject(subject), Coverage(), {}, ()).exceptions
    }
    expected = {
        "limits.dirty = False",
        "limits.namespaces = 1",
        "limits.entry_size = 47",
        "limits.zero_limit = False",
        "limits.append_only = True",
        "limits.lazy_expiry = True",
        "usage: cache always sent",
        "insert: expected_reads never sent",
        "put: topic, headers, timestamp, offset, partition, dirty never sent",
        "expire: bytes, entries",
    }
    assert expected <= declared


@pytest.mark.parametrize("subject", [Lru, Log, Ttl, Silent])
def test_smoke_plays_what_the_cache_takes(subject: type[Subject]) -> None:
    results = {result.op: result.verdict for result in replay.run_smoke_cases(PythonSubject(subject))}
    declaration = PythonSubject(subject).declaration
    assert {results[op] for op in declaration.ops - declaration.uncompared_ops()} <= {"passed", "not offered"}
    assert {results[op] for op in declaration.uncompared_ops()} <= {"not compared"}
    assert "passed" in results.values()


@pytest.mark.parametrize("subject", [Lru, Log, Ttl, Silent])
def test_the_schema_of_a_declaration_takes_them(subject: type[Subject]) -> None:
    schema = json.loads((ROOT / "spec" / subject.system / "start.schema.json").read_text("utf-8"))
    offer = json.loads(json.dumps(ClassAnswerer(subject).start_answer))["systems"][subject.system]
    assert Draft202012Validator(schema).is_valid(offer)
    assert not Draft202012Validator(schema).is_valid({**offer, "arguments": {"get": {"size": "never"}}})
    assert not Draft202012Validator(schema).is_valid({**offer, "uncompared": {"get": ["size"]}})


def test_sizes_are_drawn_near_those_that_a_subject_names() -> None:
    sizes = {op.size for case in cases_of(changed(Log, sizes=(4_096,))) for op in writes(case)}
    assert {4_095, 4_096, 4_097} <= sizes
    values = {len(op.value or "") for case in cases_of(changed(Lru, sizes=(500,), limits={})) for op in writes(case)}
    assert 500 in values


def changed(subject: type[Subject], **attributes: Any) -> type[Subject]:
    """Return the class with another declaration."""
    return type(subject.__name__, (subject,), attributes)


@pytest.mark.parametrize(
    "subject",
    [
        changed(Lru, limits={**Lru.limits, "dirty": True}),
        changed(Lru, limits={**Lru.limits, "namespaces": 2}),
        changed(Lru, limits={"dirty": False, "namespaces": 1}),
        changed(Lru, limits={**Lru.limits, "zero_limit": True}),
        changed(Lru, arguments={}),
        changed(Log, limits={}),
        changed(Log, arguments={}),
        changed(Ttl, limits={"namespaces": 1}),
        changed(Silent, uncompared={}),
    ],
)
def test_without_one_key_it_fails(subject: type[Subject]) -> None:
    try:
        failed = first_difference(subject) is not None
    except (BrokenSubject, UsageError):
        failed = True
    assert failed


INSERT = {"op": "insert", "cache": "a", "size": 1}


def writes(case: Case) -> list[Any]:
    return [op for op in case.steps if op.name in {"put", "insert"}]


@pytest.mark.long
def test_cases_are_made_within_the_limits_and_not_left_out() -> None:
    lru, log, ttl = cases_of(Lru), cases_of(Log), cases_of(Ttl)
    assert not any(op.dirty or op.value is None or op.topic for case in lru for op in writes(case))
    assert all(len({op.ns for op in writes(case)}) <= 1 for case in lru)
    assert min(case.config.max_size_bytes for case in lru) == 47
    for case in log:
        tails: dict[str, Any] = {}
        for op in writes(case):
            assert op.size < 0 or op.pos > tails.get(op.cache, (-1, -1))
            tails[op.cache] = (
                max(op.pos, tails.get(op.cache, op.pos)) if op.size >= 0 else tails.get(op.cache, (-1, -1))
            )
    assert not any(op.name == "usage" and not isinstance(op.cache, str) for case in log for op in case.steps)
    for case in ttl:
        names = [op.name for op in case.steps]
        assert all(after == "expire" for before, after in pairwise(names) if before == "advance")
    for cases in (lru, log, ttl):
        assert sum(len(writes(case)) for case in cases) > 300


def test_a_case_outside_the_limits_is_refused_with_the_reason() -> None:
    declaration = declaration_of(Log)
    ops = declaration.system.ops
    inserts = [codec.decode_op(ops, {**INSERT, "pos": pos}) for pos in ([1, 5], [1, 4])]
    reason = declaration.unsupported_reason(declaration.base_config(), inserts)
    assert reason == "step 1 of the case: it inserts at [1, 4], not above [1, 5], and the subject appends only"
    usage = codec.decode_op(ops, {"op": "usage"})
    assert "needs cache of usage" in declaration.unsupported_reason(declaration.base_config(), (usage,))
    lazy = declaration_of(Ttl)
    steps = [codec.decode_op(ops, step) for step in ({"op": "advance", "nanos": 1}, {"op": "usage"})]
    assert "expires entries by itself" in lazy.unsupported_reason(lazy.base_config(), steps)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"arguments": {"put": {"size": "never"}}}, "put.size, which kafka-streams does not have"),
        ({"arguments": {"put": {"key": "never"}}}, "'never', and put needs it"),
        ({"arguments": {"put": {"dirty": False}}}, "expected 'always' or 'never'"),
        ({"uncompared": {"put": ["answer"]}}, "put.answer, which kafka-streams does not have"),
        ({"sizes": [-1]}, "expected an array of sizes"),
    ],
)
def test_a_mistake_in_these_keys_is_named(attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(BrokenSubject, match=message):
        declaration_of(changed(Lru, **attributes))


CONTRADICTIONS = [
    (
        Lru,
        {"zero_limit": False},
        {"fixed": {"max_size_bytes": 0}},
        "max_size_bytes is 0, and limits.zero_limit is false",
    ),
    (Lru, {"max_limit": 100}, {"fixed": {"max_size_bytes": 200}}, "max_size_bytes is 200, and limits.max_limit is 100"),
    (Lru, {"max_limit": 46, "entry_size": 47}, {}, "entry_size is 47, and limits.max_limit is 46"),
    (Lru, {"max_size": 50, "entry_size": 60}, {}, "entry_size is 60, and limits.max_size is 50"),
    (
        Lru,
        {"entry_size": 47, "zero_limit": False},
        {"fixed": {"max_size_bytes": 46}},
        "entry_size is 47, and fixed.max_size_bytes is 46",
    ),
    (Lru, {"max_size": 50}, {"sizes": [51]}, "sizes is 51, and limits.max_size is 50"),
    (
        Lru,
        {"dirty": False},
        {"arguments": {"put": {"dirty": "always"}}},
        "put.dirty is 'always', and limits say 'never'",
    ),
    (Ttl, {"lazy_expiry": True}, {"expire": None}, "lazy_expiry is true, and ops does not name 'expire'"),
    (
        Ttl,
        {"lazy_expiry": True},
        {"arguments": {"expire": {"older_than_nanos": "always"}}},
        "older_than_nanos is 'always', and limits say 'never'",
    ),
    (Ttl, {"max_requeues": 1}, {"fixed": {"max_requeues": 2}}, "fixed.max_requeues is 2, and limits.max_requeues is 1"),
    (
        Log,
        {},
        {"introspection": ("bytes",), "uncompared": {"observe": ["bytes"]}},
        "introspection and uncompared.observe both name 'bytes'",
    ),
]
"""Declarations whose parts cannot both be true: the class, its limits, its other attributes, and the message."""


@pytest.mark.parametrize(("subject", "limits", "attributes", "message"), CONTRADICTIONS)
def test_a_declaration_that_contradicts_itself_is_refused_in_one_line(
    subject: type[Subject], limits: dict[str, Any], attributes: dict[str, Any], message: str
) -> None:
    own = {"settings": (), "arguments": {}, "fixed": {}, **attributes}
    with pytest.raises(BrokenSubject, match=message) as refused:
        declaration_of(changed(subject, limits=limits, **own))
    assert str(refused.value).startswith("the subject's start answer: ")
    assert "\n" not in str(refused.value)


def test_a_limit_stays_below_the_most_that_the_subject_takes() -> None:
    cases = cases_of(changed(Lru, limits={**Lru.limits, "max_limit": 1_000}))
    assert max(case.config.max_size_bytes for case in cases) == 1_000
    assert max(op.max_size_bytes for case in cases for op in case.steps if op.name == "resize") <= 1_000
