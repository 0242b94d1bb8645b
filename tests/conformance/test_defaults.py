"""Defaults of a subject: runs leave settings out, and a wrong default is found, replayed and counted."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Sequence
from itertools import islice
from typing import Any, ClassVar

import pytest

from entrycache import Refuse, Subject
from entrycache_conformance import generate, levels
from entrycache_conformance.judge import Coverage, judge_case
from entrycache_conformance.resolve import PythonSubject
from entrycache_conformance.search import OMITTING_ONE_TO, find_failure, profile_case_count
from entrycache_conformance.systems import SYSTEMS, reference
from entrycache_protocol.case import Case, case_from_json, case_to_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_protocol.wire import encode_request

MILLISECOND = 1_000_000


class Graceful(Subject):
    """A cache of which only the grace period exists: it caches while it has readers, and for a while afterwards."""

    system = "pulsar-pip430"
    settings = ("ttl_nanos", "grace_millis")
    limits: ClassVar[dict[str, Any]] = {"max_size": 100}
    factor: ClassVar[int] = 2

    def __init__(self, config: dict[str, Any]) -> None:
        ttl = config.get("ttl_nanos", 1_000_000_000)
        self.grace = config.get("grace_millis", self.factor * ttl // MILLISECOND)
        self.now = 0
        self.start: dict[str, int] = {}
        self.members: dict[str, set[str]] = {}

    def insert(self, cache: str, pos: Any, size: int, expected_reads: int | None = None) -> dict[str, bool]:
        if size < 0:
            raise Refuse
        self.start.setdefault(cache, self.now)
        there = self.members.setdefault(f"entries of {cache}", set())
        before = len(there)
        there.add(str(pos))
        return {"inserted": len(there) > before}

    def advance(self, nanos: int) -> None:
        if nanos < 0:
            raise Refuse
        self.now += nanos

    def cursor_add(self, cache: str, cursor: str, pos: Any) -> None:
        self.start.setdefault(cache, self.now)
        self.members.setdefault(cache, set()).add(cursor)

    def cursor_remove(self, cache: str, cursor: str) -> dict[str, bool]:
        self.start.setdefault(cache, self.now)
        if cursor not in self.members.get(cache, ()):
            return {"removed": False}
        self.members[cache].discard(cursor)
        self.start[cache] = self.now
        return {"removed": True}

    def should_cache(self, cache: str) -> dict[str, bool]:
        start = self.start.setdefault(cache, self.now)
        late = self.now // MILLISECOND - start // MILLISECOND >= self.grace
        return {"should_cache": bool(self.members.get(cache)) or not late}


class ThreeTimes(Graceful):
    """The same with a wrong default of the grace period."""

    factor = 3


class Demanding(Graceful):
    """The same without a default of the time to live."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.ttl = config["ttl_nanos"]


def search(subject: type[Subject], workload: Any, examples: int = 60) -> Any:
    tested = PythonSubject(subject)
    menu = tested.declaration.system.cases.menu(tested.declaration.ops, "cursors")
    coverage = Coverage()
    return find_failure(tested, menu, examples, 0, coverage, workload=workload).failure, coverage


@pytest.mark.long
def test_a_wrong_default_is_found_only_by_runs_without_the_setting() -> None:
    assert search(ThreeTimes, None)[0] is None
    failing = search(ThreeTimes, generate.OMITTED_SETTINGS)[0].failing
    assert "grace_millis" in failing.case.omitted
    tested = PythonSubject(ThreeTimes)
    read = case_from_json(json.loads(json.dumps(case_to_json(failing.case))), SYSTEMS)
    assert (read.omitted, read.config) == (failing.case.omitted, failing.case.config)
    assert judge_case(tested, read).difference is not None
    assert judge_case(tested, dataclasses.replace(read, omitted=())).difference is None


class FollowsTheTtl(Graceful):
    """The same, whose default grace period follows each change of the time to live."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.is_default = "grace_millis" not in config

    def configure(self, ttl_nanos: int | None = None, **others: Any) -> None:
        if any(part is not None and part < 0 for part in (ttl_nanos, others.get("max_requeues"))):
            raise Refuse
        if others.get("max_size_bytes") == 0 or not 0 <= (others.get("watermark") or 0) <= 1:
            raise Refuse
        if self.is_default and ttl_nanos is not None:
            self.grace = self.factor * ttl_nanos // MILLISECOND


def test_r_config_4__a_default_that_follows_a_later_change_is_found_by_every_search() -> None:
    failing = search(FollowsTheTtl, None, 200)[0].failing
    assert failing.case.omitted == ("grace_millis",)


def test_the_right_default_conforms_and_is_counted() -> None:
    failure, coverage = search(Graceful, generate.OMITTED_SETTINGS)
    assert failure is None
    assert coverage.defaults["grace_millis"] >= 3


def test_a_missing_default_is_named_and_a_subject_may_have_none() -> None:
    failing = search(Demanding, generate.OMITTED_SETTINGS)[0].failing
    assert "config.get('ttl_nanos', DEFAULT)" in failing.difference.failed.message
    declared = PythonSubject(type("Demanding", (Demanding,), {"limits": {"defaults": False}})).declaration
    assert generate.omittable_settings(declared) == ()


def all_omitted(declaration: Declaration, level: str, count: int) -> Coverage:
    """Return the coverage of cases of the reference that leave settings out."""
    menu = declaration.system.cases.menu(declaration.system.ops_up_to(level), level)
    source, coverage = random.Random(3), Coverage()
    for _ in range(count):
        coverage.add_all(generate.record_case(source, declaration, menu, generate.OMITTED_SETTINGS, None).coverage)
    return coverage


@pytest.mark.long
@pytest.mark.parametrize(
    ("system", "level", "names"),
    [
        pytest.param(
            *("pulsar-pip430", "cursors"),
            {"max_size_bytes", "watermark", "ttl_nanos", "extend_recently_accessed", "grace_millis"}
            | {"evict_by_expected_reads", "storage_entry_size", "eviction"},
            marks=pytest.mark.long,
        ),
        ("pulsar-legacy", "all", {"max_size_bytes", "watermark", "ttl_nanos", "eviction"}),
        ("pulsar-segmented", "all", {"max_size_bytes", "segments", "mode"}),
        ("kafka-streams", "cache", {"max_size_bytes", "reentry_budget"}),
    ],
)
def test_each_default_decides_some_runs(system: str, level: str, names: set[str]) -> None:
    declaration = Declaration(SYSTEMS[system], frozenset(SYSTEMS[system].ops))
    decided = all_omitted(declaration, level, 180).defaults
    assert {name for name, count in decided.items() if count} >= names
    assert decided.keys() == set(generate.omittable_settings(declaration))


class WrongDefault:
    """The reference of a system with another default of one setting."""

    def __init__(self, system: str, setting: str, value: Any) -> None:
        self.inner = reference.reference_subject(SYSTEMS[system])
        self.setting, self.value = setting, value

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def play(self, cases: Sequence[Case]) -> list[Any]:
        return self.inner.play([self.misread(case) if self.setting in case.omitted else case for case in cases])

    def misread(self, case: Case) -> Case:
        return dataclasses.replace(case, config=dataclasses.replace(case.config, **{self.setting: self.value}))


WRONG_DEFAULTS = [
    ("pulsar-pip430", "range", "max_size_bytes", 67_108_864),
    ("pulsar-pip430", "queue", "max_requeues", 1),
    ("pulsar-pip430", "queue", "ttl_nanos", 2_000_000_000),
    ("pulsar-pip430", "queue", "extend_recently_accessed", False),
    ("pulsar-pip430", "manager", "max_size_bytes", 268_435_456),
    ("pulsar-pip430", "manager", "watermark", 0.45),
    ("pulsar-pip430", "reads", "storage_entry_size", 200),
    ("pulsar-legacy", "all", "max_size_bytes", 268_435_456),
    ("pulsar-legacy", "all", "watermark", 0.45),
    ("pulsar-legacy", "all", "ttl_nanos", 500_000_000),
    ("pulsar-segmented", "all", "max_size_bytes", 67_108_864),
    ("pulsar-segmented", "all", "segments", 4),
    ("kafka-streams", "cache", "max_size_bytes", 20_971_520),
    ("kafka-streams", "cache", "max_size_bytes", 5_242_880),
    ("kafka-streams", "cache", "reentry_budget", 16),
]


@pytest.mark.long
@pytest.mark.parametrize(("system", "level", "setting", "value"), WRONG_DEFAULTS)
def test_a_wrong_default_is_found_by_the_cases_of_profile_ci(system: str, level: str, setting: str, value: Any) -> None:
    subject = WrongDefault(system, setting, value)
    count = profile_case_count(levels.PROFILES["ci"].examples, OMITTING_ONE_TO)
    menu = SYSTEMS[system].cases.menu(SYSTEMS[system].ops_up_to(level), level)
    failure = find_failure(subject, menu, count, 0, Coverage(), workload=generate.OMITTED_SETTINGS).failure
    assert failure is not None
    assert setting in failure.failing.case.omitted


@pytest.mark.long
def test_a_level_below_the_minimum_names_the_default() -> None:
    declaration = PythonSubject(Graceful).declaration
    profile = levels.Profile(200, 1, 1, 1)
    assert levels.find_undecided_defaults(declaration, "cursors", profile, {}) == ["grace_millis"]
    assert levels.find_undecided_defaults(declaration, "cursors", profile, {"grace_millis": 1}) == []
    assert levels.find_undecided_defaults(declaration, "cursors", levels.PROFILES["dev"], {}) == []
    assert levels.PROFILES["ci"].default_minimum == 3


def test_a_request_leaves_the_settings_out_and_a_wrong_file_is_refused() -> None:
    declaration = PythonSubject(Graceful).declaration
    menu = declaration.system.cases.menu(declaration.ops, "cursors")
    cases = generate.make_seeded_cases(declaration, menu, 40, 0, generate.OMITTED_SETTINGS)
    for case in islice((generated.case for generated in cases), 20):
        line = encode_request(case, 1, declaration)
        assert all(
            (f'"{name}"' not in line.split('"steps"')[0]) is (name in case.omitted) for name in declaration.sent_keys
        )
    value = {"system": "pulsar-pip430", "config": {"ttl_nanos": 5}, "steps": [], "omitted": ["ttl_nanos"]}
    with pytest.raises(UsageError, match="omits ttl_nanos, and its config has another value"):
        case_from_json(value, SYSTEMS)
    with pytest.raises(UsageError, match="expected settings"):
        case_from_json({**value, "omitted": ["speed"]}, SYSTEMS)
