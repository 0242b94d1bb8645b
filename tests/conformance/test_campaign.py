"""Campaigns find failures, keep a short case of each, and give the same result twice."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from entrycache_conformance.campaign import run as campaign_module
from entrycache_conformance.campaign.behaviour import (
    BehaviourDifference,
    describe_left_out,
    find_behaviour_differences,
    to_markdown,
)
from entrycache_conformance.campaign.pulsar_pip430 import MODULE, ContainerSetting, run_program
from entrycache_conformance.campaign.run import CampaignPlan, are_same_outcomes, open_subject, run_campaign
from entrycache_conformance.java.program import build_program
from entrycache_conformance.java.releases import newest_release
from entrycache_conformance.resolve import PythonSubject, open_in_process
from entrycache_conformance.subjects.child import Child
from entrycache_protocol.errors import BrokenSubject, MissingPrerequisite, UsageError
from entrycache_protocol.server import Refuse, Skip, Subject
from tests.support.command import run

FAULT = "count-stops-at-zero"
"""A seeded fault of the fast cache."""


def plan(folder: Path, cases: int) -> CampaignPlan:
    return CampaignPlan("default", None, 7, 60, cases, None, 1, folder)


def test_a_campaign_of_the_fast_cache_meets_no_difference(tmp_path: Path) -> None:
    first = run_campaign([open_subject("fast")], plan(tmp_path, 20), lambda cases, steps: None).json
    again = run_campaign([open_subject("fast")], plan(tmp_path, 20), lambda cases, steps: None).json
    assert first["differences"] == []
    assert first["judged_steps"] == 20 * 60
    assert first["laws"]["rules"]
    assert {**first, "cpu_seconds": 0} == {**again, "cpu_seconds": 0}


def test_an_answer_that_a_promise_allows_is_no_difference(
    released_subject: Callable[[str], Child], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An open view of a release shows what the store held when it was opened; the reference's own shows the newest."""
    release = released_subject(newest_release("kafka-streams").subject)
    own: list[bool] = []
    compare = campaign_module.are_same_outcomes
    monkeypatch.setattr(
        campaign_module, "are_same_outcomes", lambda *outcomes: own.append(compare(*outcomes)) or own[-1]
    )
    monkeypatch.setattr(campaign_module, "confirm_difference", lambda *_: pytest.fail("a difference"))
    done = run_campaign([release], plan(tmp_path, 10)._replace(level="views"), lambda cases, steps: None).json
    assert own.count(False) > 0
    assert (done["level"], done["judged_steps"], done["differences"]) == ("views", 10 * 60, [])


@pytest.mark.parametrize("level", ["nosuch", "concurrent"])
def test_a_level_without_cases_is_refused(level: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"no cases of level '{level}'; expected one of: cache, store, views, windows"):
        run_campaign([open_subject("fast", "kafka-streams")], plan(tmp_path, 1)._replace(level=level), lambda *_: None)


@pytest.mark.parametrize("level", [None, "ledger"])
def test_a_profile_of_some_levels_is_refused_at_others(level: str | None, tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="seeks-in-reads belongs to some levels; give --level one of: inflight, limits"
    ):
        run_campaign(
            [open_subject("fast")],
            plan(tmp_path, 1)._replace(workload="seeks-in-reads", level=level),
            lambda cases, steps: None,
        )


@pytest.mark.long
def test_a_campaign_finds_a_seeded_fault_and_keeps_a_short_case(tmp_path: Path) -> None:
    campaign = run_campaign([open_subject(FAULT)], plan(tmp_path, 200), lambda cases, steps: None)
    assert len(campaign.kept) == 1
    assert Path(campaign.kept[0].file).exists()
    assert len(campaign.kept[0].case.steps) <= 8


@pytest.mark.long
def test_a_campaign_on_a_child_finds_the_same(tmp_path: Path) -> None:
    """Send six runs before the first answer is read."""
    serve = [sys.executable, "-m", "entrycache_cli", "serve", FAULT]
    records = []
    for subject in (open_subject(FAULT), Child(serve, timeout_seconds=60, name=FAULT)):
        try:
            campaign = run_campaign([subject], plan(tmp_path, 200), lambda cases, steps: None)
        finally:
            subject.close()
        records.append({**campaign.json, "cpu_seconds": 0, "subjects": 0})
    assert records[0] == records[1]
    assert records[0]["differences"]


@pytest.mark.parametrize(
    ("program", "seconds", "said"),
    [
        ("sys.stdin.readline()", 60, r"silent: the process ended \(exit code 0\)"),
        ("print('yes', flush=True); time.sleep(99)", 60, "answered a line that is not JSON: 'yes'"),
        ("time.sleep(99)", 0.5, r"silent: no answer within the time-out \(0\.5 s\)"),
    ],
)
def test_a_child_that_does_not_answer_ends_a_campaign(program: str, seconds: float, said: str) -> None:
    start = json.dumps(open_in_process("fast").start_answer)
    source = f"import sys, time; sys.stdin.readline(); print({start!r}, flush=True); {program}"
    child = Child([sys.executable, "-c", source], timeout_seconds=60, name="silent")
    with child.limit_time(seconds), pytest.raises(BrokenSubject, match=said):
        child.send("{}\n")
        child.receive()
    child.close()


def test_a_campaign_that_judges_nothing_is_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "record.json"
    code, _, err = run(capsys, "campaign", "fast", "--cpu-seconds", "0.000000001", "--out", str(out))
    assert (code, out.exists()) == (2, False)
    assert "nothing was checked: no step was judged" in err


def test_messages_and_empty_payloads_are_not_compared_and_all_else_is() -> None:
    assert are_same_outcomes([{"hit": False}], [{"hit": False, "tokens": []}])
    assert are_same_outcomes([{"error": "illegal-argument"}], [{"error": "illegal-argument", "message": "why"}])
    assert not are_same_outcomes([{"hit": True}], [{"hit": True, "tokens": [1]}])
    assert not are_same_outcomes([{"hit": False}], [{"hit": True}])
    assert not are_same_outcomes([{}], [{}, {}])


@pytest.mark.long
def test_a_behaviour_diff_shows_a_seeded_fault() -> None:
    fast = open_in_process("fast")
    broken = open_in_process(FAULT)
    assert fast is not None
    assert broken is not None
    assert find_behaviour_differences(fast, fast, 1, 4, lambda cases, differences: None) == []
    differences = find_behaviour_differences(fast, broken, 1, 40, lambda cases, differences: None)
    assert differences
    assert min(len(one.case.steps) for one in differences) <= 8


class Stored(Subject):
    """A cache that keeps positions."""

    system = "pulsar-pip430"
    settings = ()

    def __init__(self, config: Any) -> None:
        self.held: set[Any] = set()

    def insert(self, cache: str, pos: Any, size: int, expected_reads: Any = None) -> dict[str, Any]:
        if size < 0:
            raise Refuse
        inserted = (cache, pos) not in self.held
        self.held.add((cache, pos))
        return {"inserted": inserted}

    def get(self, cache: str, pos: Any) -> dict[str, Any]:
        return {"hit": (cache, pos) in self.held}


class Skipping(Stored):
    def insert(self, cache: str, pos: Any, size: int, expected_reads: Any = None) -> dict[str, Any]:
        raise Skip("not today")

    def get(self, cache: str, pos: Any) -> dict[str, Any]:
        raise Skip("not today")


class Raising(Stored):
    def get(self, cache: str, pos: Any) -> dict[str, Any]:
        raise RuntimeError("no answer")


class OnlyExists(Subject):
    system = "pulsar-pip430"
    settings = ()

    def __init__(self, config: Any) -> None:
        pass

    def exists(self, cache: str, pos: Any) -> dict[str, Any]:
        return {"exists": False}


class Blind(Stored):
    uncompared: ClassVar = {"get": ["hit"]}

    def get(self, cache: str, pos: Any) -> dict[str, Any]:
        return {"hit": False}


def behaviour(one: type[Subject], other: type[Subject]) -> list[BehaviourDifference]:
    return find_behaviour_differences(PythonSubject(one), PythonSubject(other), 1, 10, lambda cases, differences: None)


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (Stored, Skipping, r"nothing was compared: 10 of 10 cases were not compared \(skipped: not today\)"),
        (Raising, Raising, r"nothing was compared: 10 of 10 cases were not compared \(neither subject answered\)"),
        (Stored, OnlyExists, "the subjects have no operation in common"),
    ],
)
def test_subjects_of_which_nothing_is_compared_do_not_answer_alike(
    one: type[Subject], other: type[Subject], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        behaviour(one, other)


def test_a_subject_that_fails_does_not_answer_as_one_that_answers() -> None:
    for one, other, side in ((Stored, Raising, "after"), (Raising, Stored, "before")):
        (difference,) = behaviour(one, other)
        assert getattr(difference, side)["message"] == "RuntimeError: no answer"
        assert len(difference.case.steps) == 1


def test_parts_that_a_subject_does_not_compare_are_no_difference_and_are_named() -> None:
    assert behaviour(Stored, Blind) == []
    names, declared = ("Stored", "Blind"), (PythonSubject(Stored).declaration, PythonSubject(Blind).declaration)
    left_out = describe_left_out(names, *declared)
    assert left_out == ["uncompared get: hit"]
    assert describe_left_out(names, declared[0], declared[0]) == []
    page = to_markdown(names, [], "entrycache diff", left_out)
    assert "No difference was found in what was compared." in page
    assert "- uncompared get: hit" in page.splitlines()


class Counting(Subject):
    """A class of one operation, which decides nothing alone."""

    system = "pulsar-pip430"
    settings = ()

    def __init__(self, config: Any) -> None:
        pass

    def usage(self) -> dict[str, Any]:
        return {"bytes": 0, "entries": 0}


def test_a_diff_without_central_operations_compares_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for other in ("Counting", "Stored"):
        code, _, err = run(capsys, "diff", f"{__name__}:Counting", f"{__name__}:{other}", "--cases", "2")
        assert (code, "nothing was compared" in err or "no operation in common" in err) == (2, True), err


def test_a_diff_names_the_operations_of_one_subject_alone(capsys: pytest.CaptureFixture[str]) -> None:
    run_diff = ("diff", "fast", f"{__name__}:Stored", "--cases", "2")
    code, out, _ = run(capsys, *run_diff)
    assert (code, "operations of `fast` alone: ack, acquire" in out) == (0, True), out
    exceptions = json.loads(run(capsys, *run_diff, "--json")[1])["exceptions"]
    assert exceptions[0].startswith("operations of `fast` alone: ack, acquire")


@pytest.mark.long
@pytest.mark.parametrize(
    ("setting", "lifted"), [(ContainerSetting("active", 12, 8), "ties"), (ContainerSetting("heap", 40, 12), "")]
)
def test_the_container_campaign_finds_what_the_limits_hide(setting: ContainerSetting, lifted: str) -> None:
    try:
        program = build_program(newest_release("pulsar", "map").subject, MODULE)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    limits = frozenset({lifted} - {""})
    assert run_program(program, setting, 1, 50, limits)["differences"] > 0
    within = setting._replace(cursors=5) if setting.container == "heap" else setting
    assert run_program(program, within, 1, 50, frozenset())["differences"] == 0
