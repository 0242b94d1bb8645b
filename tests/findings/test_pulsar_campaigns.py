"""The programs of docs/campaigns/pulsar-jvm show only what findings explain; seeded faults are caught."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache_conformance.java.driver import java_test_classpath
from entrycache_conformance.java.releases import newest_release, releases
from entrycache_protocol.errors import MissingPrerequisite
from tests.support.findings import PAGES
from tests.support.jvm.pulsar_campaigns import (
    CAMPAIGN,
    EXPLAINED,
    FAULTS,
    HOLDS_ON,
    PLANS,
    RESULTS,
    THE_CALLBACK_HAS_THEM,
    differences,
    play,
    play_fault,
    sees,
)

COMMITTED: Final[dict[str, Any]] = json.loads(RESULTS.read_text("utf-8"))
SUBJECTS: Final = [release.subject for release in releases("pulsar")]
OF_THREADS: Final = {"CacheThreads", "ContainerThreads"}
"""Programs whose thread schedules vary, so that their results may differ from run to run."""


def explained(program: str) -> set[str]:
    """Return the findings that a program may show."""
    return {finding for finding in EXPLAINED[program].values() if finding != THE_CALLBACK_HAS_THEM}


@pytest.mark.parametrize("program", PLANS)
def test_the_committed_run_is_of_every_release_and_met_nothing_but_findings(program: str) -> None:
    runs = COMMITTED["programs"][program]
    assert list(runs) == SUBJECTS
    page = (CAMPAIGN / "README.md").read_text("utf-8")
    for subject, run in runs.items():
        assert differences(program, subject, run["met"]) == []
        played = sum(one.get("worlds", one.get("histories")) for one in run["runs"])
        findings = {EXPLAINED[program][what] for what in run["met"] if what in EXPLAINED[program]}
        cell = ", ".join(f"[{one}](../../findings/{one}/README.md)" for one in sorted(findings & explained(program)))
        assert f"| {program} | {subject} | {played:,} | {cell or 'nothing'} |" in page


def test_what_explains_is_a_finding_of_the_releases_that_are_said() -> None:
    pages = {page.name: page for page in PAGES}
    for program in PLANS:
        for name in explained(program):
            holds = tuple(f"pulsar:{version}" for version in pages[name].holds_on)
            assert holds == HOLDS_ON.get(name, ()), name


def test_a_finding_that_a_release_does_not_have_explains_nothing_there() -> None:
    differing = {"active: ends": 1}
    assert differences("ContainerThreads", SUBJECTS[0], differing) == []
    assert differences("ContainerThreads", SUBJECTS[-1], differing) == ["active: ends"]


def test_every_check_has_a_seeded_fault_that_was_seen() -> None:
    assert {fault.stem for fault in FAULTS} == COMMITTED["faults"].keys()
    assert all(one["seen"] for one in COMMITTED["faults"].values())
    assert {name.partition("--")[0] for name in COMMITTED["faults"]} == PLANS.keys()


@pytest.mark.long
def test_the_limiter_does_on_the_newest_release_what_it_did(tmp_path: Path) -> None:
    try:
        result = play("Limiter", java_test_classpath(newest_release("pulsar").subject), 300, tmp_path)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    assert differences("Limiter", SUBJECTS[-1], result["met"]) == []
    assert result["met"]["plain: idle"] > 0


@pytest.mark.long
@pytest.mark.parametrize("program", PLANS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_program_meets_nothing_but_findings(program: str, subject: str, tmp_path: Path) -> None:
    try:
        result = play(program, java_test_classpath(subject), PLANS[program].few, tmp_path, first_seed=1_000_000)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    assert differences(program, subject, result["met"]) == [], result["examples"]
    if program not in OF_THREADS:
        assert {EXPLAINED[program][what] for what in result["met"] if what in EXPLAINED[program]} >= explained(program)


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.stem)
def test_a_seeded_fault_is_seen(fault: Path, tmp_path: Path) -> None:
    try:
        observed = play_fault(fault, tmp_path)["met"]
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    assert sees(fault, observed), observed
