"""Seeded faults and changed jars are caught in at most eight steps, by their rule.

The long run starts a process for each of them. Every other run searches one seeded fault for each group of the page in
this process, without the one that never answers: tests/conformance/hostile has hanging subjects. That the rule of every
seeded fault is named on its case is in tests/conformance/test_search.py, and `rules --check` holds each to its law.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable, Set
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from entrycache_conformance.resolve import SubjectChoice, open_in_process, resolve_subject
from entrycache_conformance.systems import SYSTEMS
from entrycache_dev.pages import faults
from entrycache_faults.model import load_catalogue
from entrycache_protocol.subject import TestedSubject
from entrycache_reference.rules import Rule
from tests.conftest import NOT_LONG
from tests.support.requested import requested_names

STEPS_MOST = 8
OF_LEDGERS, STEPS_MOST_OF_LEDGERS = {"ledger", "inflight", "limits"}, 11
"""The levels whose cases need a ledger, cursors, entries and reads, and the most steps of such a case."""

LONGER_CASES = {"ledger-backlog-counts-itself": 13, "limit-overtakes": 16}
"""The cases in which shrinking cannot lower a threshold of a backlog, nor swap reads by cursors for plain requests."""


ALSO_FITS = {
    "cursor-added-twice": {"R-CURSOR-2"},
    "streams-nested-counted-twice": {"K-METRICS-1"},
    "streams-deleted-stays-below": {"K-STORE-2"},
}
"""Further rules that fit faults whose traces show in several ways."""

JAR_RULES = {
    "time-cutoff-included": "R-EXPIRE-1",
    "size-one-entry-too-many": "R-EVICT-5",
    "requeue-keeps-accessed": "R-REQUEUE-4",
    "removal-keeps-size": "R-STATE-1",
    "overflow-at-the-limit": "K-EVICT-5",
    "rewritten-key-keeps-its-turn": "K-PUT-3",
    "tombstones-stay-after-a-flush": "K-FLUSH-9",
    "flag-not-counted": "K-SIZE-1",
    "range-below-without-its-first-key": "K-STORE-8",
    "tombstone-does-not-hide": "K-STORE-8",
    "legacy-cutoff-is-young": "L-EXPIRE-1",
    "legacy-one-entry-too-many": "L-EVICT-2",
    "legacy-half-exceeded": "L-EVICT-3",
    "legacy-smallest-first": "L-EVICT-3",
    "legacy-share-of-everything": "L-EVICT-5",
    "legacy-asked-at-the-trigger": "L-TRIGGER-2",
    "legacy-taken-at-the-limit": "L-INSERT-3",
}
"""The rule that each change breaks, under the variants of its release."""


SHORT_JARS = {"overflow-at-the-limit"}
"""The changed jar of every run; tests/jvm has changed jars of the other families."""


SPINS = "liveness-mark-survives-requeue"
"""The fault that never answers and keeps a core busy for eight seconds a try, almost as long as all others together."""


def in_every_run() -> set[str]:
    """Return the first seeded fault of each system; the others are for the long run."""
    parts = (
        [names for part, _, names, level in faults.GROUPS if part is each and level != LONG_LEVEL]
        for each in faults.FAULTS
    )
    return {min({*names[0]} - {SPINS}) for names in parts}


LONG_LEVEL = "inflight"
"""The level that no such search of every run looks at: shrinking one of its cases takes longer than all the others."""


def params(names: Iterable[str], short: Set[str]) -> list[ParameterSet]:
    return [pytest.param(name, marks=() if name in short else pytest.mark.long) for name in names]


FAULTS = pytest.mark.parametrize("name", params(faults.NAMES, in_every_run()))
CHANGED = pytest.mark.parametrize("name", params(JAR_RULES, SHORT_JARS))


def in_this_process(choice: SubjectChoice) -> TestedSubject:
    """Open the subject in this process, which is quicker; a subject that never answers stays behind the protocol."""
    assert choice.name is not None
    subject = None if choice.name in SILENT else open_in_process(choice.name)
    return subject or resolve_subject(choice)


@pytest.fixture(scope="module")
def caught(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, faults.CaughtFault]:
    folder, requested = tmp_path_factory.mktemp("faults"), requested_names(request, "caught")
    names = [name for name in faults.NAMES if name in requested]
    start = in_this_process if request.config.option.markexpr == NOT_LONG else resolve_subject
    return {fault.name: fault for fault in faults.catch_seeded_faults(folder, names, start)}


@pytest.fixture(scope="module")
def jars(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[faults.CaughtFault, Path]]:
    if shutil.which("mvn") is None or shutil.which("javac") is None:
        pytest.skip("mvn or javac is missing")
    folder = tmp_path_factory.mktemp("jars")
    return {
        fault.name: (fault, path) for fault, path in faults.catch_changed_jars(folder, requested_names(request, "jars"))
    }


@pytest.mark.long
@FAULTS
def test_a_seeded_fault_is_caught_shrunk_and_named(name: str, caught: dict[str, faults.CaughtFault]) -> None:
    fault = caught[name]
    most = STEPS_MOST_OF_LEDGERS if faults.LEVEL[name][1] in OF_LEDGERS else STEPS_MOST
    assert len(fault.case.steps) <= LONGER_CASES.get(name, most)
    assert (set(load_catalogue(SYSTEMS)[name].rules) | ALSO_FITS.get(name, set())) & set(fault.rules)


@pytest.mark.long
@CHANGED
def test_a_changed_jar_is_caught_shrunk_and_named(name: str, jars: dict[str, tuple[faults.CaughtFault, Path]]) -> None:
    fault, _ = jars[name]
    assert len(fault.case.steps) <= STEPS_MOST
    assert JAR_RULES[name] in fault.rules


SILENT = {
    SPINS,
    "requeue-keeps-accessed",
    "overflow-at-the-limit",
    "tombstones-stay-after-a-flush",
}
"""The faults that also leave steps without an answer; how far such a case is shrunk depends on a clock."""


@FAULTS
def test_the_committed_result_is_that_of_a_run(name: str, caught: dict[str, faults.CaughtFault]) -> None:
    hold_record_to(caught[name])


@pytest.mark.long
@CHANGED
def test_the_committed_result_is_that_of_the_changed_jar(
    name: str, jars: dict[str, tuple[faults.CaughtFault, Path]]
) -> None:
    hold_record_to(jars[name][0])


def hold_record_to(fault: faults.CaughtFault) -> None:
    committed = faults.read_records()[fault.jar, fault.name]
    if fault.name not in SILENT:
        assert committed == faults.fault_record(fault), f"run python -m entrycache_dev.pages.faults {fault.name}"


def test_every_fault_has_one_committed_result_and_the_page_shows_all() -> None:
    records = faults.read_records()
    assert tuple(records) == faults.KEYS
    assert len(faults.RESULTS.read_text("utf-8").splitlines()) == len(records)
    page = faults.render_page(records)
    assert page.count("\n### ") == len(records)
    record = records["", "count-stops-at-zero"]
    assert f"\n0  {record['steps'][0]}\n1  {record['steps'][1]}\n" in page
    assert f"Step {record['step']}: expected `{record['expected']}`, got `{record['got']}`.\n" in page


def test_each_rule_of_managed_ledgers_and_limits_is_named_first_by_a_fault() -> None:
    named = {record["rules"][0] for record in faults.read_records().values()}
    families = ("R-LEDGER-", "R-INFLIGHT-", "R-LIMIT-")
    assert {rule.value for rule in Rule if rule.value.startswith(families)} <= named


@pytest.mark.long
@CHANGED
def test_the_java_test_fails_on_the_changed_jar_and_passes_on_the_released_one(
    name: str, jars: dict[str, tuple[faults.CaughtFault, Path]], tmp_path: Path
) -> None:
    from entrycache_conformance.java.driver import java_test_classpath
    from entrycache_conformance.java.program import CLASS_NAME, compile_and_run

    fault, jar = jars[name]
    replay = [sys.executable, "-m", "entrycache_cli", "replay", str(fault.file), "--as", "java"]
    source = tmp_path / f"{CLASS_NAME}.java"
    source.write_text(subprocess.run(replay, capture_output=True, text=True, check=True).stdout, encoding="utf-8")
    subject = faults.CHANGES[name].subject
    codes, texts = [], []
    for classpath in (str(jar), None):
        tools = java_test_classpath(subject, classpath)
        done = compile_and_run(source, tools, tmp_path, options=tools.options, timeout_seconds=60)
        codes.append(done.returncode)
        texts.append(done.stdout + done.stderr)
    assert codes == [1, 0], texts
    assert "expected" in texts[0]
    assert "conforms" in texts[1]
