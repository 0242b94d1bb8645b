"""Java tests that are public clients of a running Kafka broker."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.brokers.jars import build_broker_jars
from entrycache_conformance.java.build import find_java
from entrycache_conformance.java.driver import java_test_classpath
from entrycache_conformance.java.program import compile_and_run
from entrycache_conformance.java.releases import Release, releases
from entrycache_protocol.errors import MissingPrerequisite
from tests.support.findings import FINDINGS, PAGES, Page
from tests.support.jvm.fixes import release_of_fixes
from tests.support.jvm.kafka_broker import BROKER, Kafka, run_kafka
from tests.support.jvm.rocks import with_rocks

JAVA: Final = 17
SECONDS_MOST: Final = 240
SCENARIOS: Final = {
    "kafka-commit-leaves-writes": (
        "after a close the copy is 1",
        "after a sudden end the copy is null",
        "expected 1 both times",
    ),
    "kafka-empty-windows-wipe-task": (
        "with a window on the disk a clean restart restores records of the counts: 0",
        "without a window on the disk a clean restart restores records of the counts: 10",
        "expected 0 both times",
    ),
    "kafka-foreign-key-join-keeps-row": (
        "with a pause are sent: [1=ann, 1=null]",
        "without a pause are sent: [1=ann]",
        "expected [1=ann, 1=null] both times",
    ),
    "kafka-join-buffer-restored-wrong": (
        "after a restart on the same disk are joined: [kept]",
        "after a restart on an empty disk are joined: [other]",
        "expected [kept]",
    ),
    "kafka-timed-out-commit-skips-records": (
        "without a standstill: counts {0@0=1, 0@100=1, 0@200=1, 1@0=1, 1@100=1, 1@200=1}",
        "with a commit that timed out: counts",
        "expected {0@0=1, 0@100=1, 0@200=1, 1@0=1, 1@100=1, 1@200=1}",
    ),
}
"""The pages with a test for clients, and how the lines of its output begin if it fails."""
PLAYED: Final = [page for page in PAGES if page.name in SCENARIOS]
NAMED: Final = "kafka-timed-out-commit-skips-records"
"""The page whose releases rest on this test alone."""
FAILING: Final = [
    (page, release)
    for page in PLAYED
    for release in releases("kafka-streams")
    if page.fails(release)
    and (page.name == NAMED or release in (release_of_fixes(page), releases("kafka-streams")[-1]))
]


def source_of(page: Page) -> Path:
    """Return the test of a page."""
    (path,) = (FINDINGS / page.name / "broker").glob("*BrokerTest.java")
    return path


def test_every_test_for_clients_of_a_kafka_broker_is_played() -> None:
    assert {path.parent.parent.name for path in FINDINGS.glob("*/broker/*BrokerTest.java")} == SCENARIOS.keys()


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """Run a broker for all tests of this module."""
    try:
        jars = build_broker_jars("kafka-streams", BROKER)
        java = find_java(JAVA, compiler=True)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    with run_kafka(java.program, jars, tmp_path_factory.mktemp("kafka") / "broker") as broker:
        yield broker


def ended(
    page: Page, release: Release, kafka: Kafka, folder: Path, front: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Return the result of a test on a release; `front` are classes in front of it."""
    try:
        tools = with_rocks(java_test_classpath(release.subject), folder)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    if front is not None:
        tools = tools._replace(classpath=os.pathsep.join([str(front), tools.classpath]))
    arguments = (kafka.servers, kafka.process) if page.name == NAMED else (kafka.servers,)
    return compile_and_run(source_of(page), tools, folder / "out", *arguments, timeout_seconds=SECONDS_MOST)


@pytest.mark.long
@pytest.mark.parametrize(("page", "release"), FAILING, ids=lambda one: one.name if isinstance(one, Page) else str(one))
def test_a_running_client_shows_it(page: Page, release: Release, kafka: Kafka, tmp_path: Path) -> None:
    done = ended(page, release, kafka, tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    for line, begins in zip(done.stdout.splitlines(), SCENARIOS[page.name], strict=True):
        assert line.startswith(begins)


@pytest.mark.long
@pytest.mark.parametrize("page", PLAYED, ids=lambda page: page.name)
def test_a_running_client_with_the_fix_conforms(
    page: Page, classes: Callable[[Page], Path], kafka: Kafka, tmp_path: Path
) -> None:
    done = ended(page, release_of_fixes(page), kafka, tmp_path, classes(page))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[0] == SCENARIOS[page.name][0]
    assert done.stdout.splitlines()[-1] == "conforms"
