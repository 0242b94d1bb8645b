"""The campaign of promises finds the known failures of a release and explains all; the protocol shows them too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from entrycache_conformance.campaign import kafka_streams as promises
from entrycache_conformance.java.releases import newest_release
from entrycache_conformance.judge import Coverage, judge, run_reference
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import case_from_json
from entrycache_protocol.errors import MissingPrerequisite, UsageError
from entrycache_protocol.subject import TestedSubject

SUBJECT = newest_release("kafka-streams").subject
WORLDS, LONGEST = 250, 40
NOT_IN_THE_PROTOCOL = {"reverse view"}
"""The store finding that the protocol has no operation for: the reverse view."""


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    try:
        return promises.run_promise_campaign([SUBJECT], 5, WORLDS, LONGEST)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))


@pytest.mark.long
def test_every_broken_promise_is_explained_and_every_finding_is_met(record: dict[str, Any]) -> None:
    assert record["differences"] == []
    findings = {
        each for cell in record["subjects"][0]["cells"] for b in cell["broken"].values() for each in b["findings"]
    }
    assert findings == {finding for known in promises.KNOWN_BREAKS for finding in known.findings}


@pytest.mark.long
def test_listeners_that_only_query_break_nothing(record: dict[str, Any]) -> None:
    quiet = [cell for cell in record["subjects"][0]["cells"] if cell["op"] in {"range", "flush"}]
    assert len(quiet) == 16
    assert [cell["broken"] for cell in quiet] == [{}] * len(quiet)
    assert all(cell["steps"] > WORLDS for cell in quiet)


def test_a_broken_promise_that_no_finding_explains_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = {"level": "cache", "op": "put"}
    assert promises.explaining_findings(cell, "total")
    monkeypatch.setattr(promises, "KNOWN_BREAKS", ())
    assert promises.explaining_findings(cell, "total") == ()


def test_the_protocol_shows_what_the_program_found(
    record: dict[str, Any], released_subject: Callable[[str], TestedSubject]
) -> None:
    subject = released_subject(SUBJECT)
    broken_cases = [
        (cell["op"], promise, case_from_json(broken["shortest"], SYSTEMS))
        for cell in record["subjects"][0]["cells"]
        for promise, broken in cell["broken"].items()
        if promise not in NOT_IN_THE_PROTOCOL and cell["op"] not in {"resize", "mixed"}
    ]
    answers = subject.play([case for _, _, case in broken_cases])
    assert [
        (op, promise)
        for (op, promise, case), answer in zip(broken_cases, answers, strict=True)
        if judge(case, run_reference(case, Coverage()), answer, subject.declaration) is None
    ] == []


def test_a_subject_that_is_no_released_jar_is_refused() -> None:
    with pytest.raises(UsageError, match=f"fast.*{SUBJECT}"):
        promises.run_promise_campaign(["fast"], 1, 1)
