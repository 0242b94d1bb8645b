"""Java tests that need the class path of a whole broker."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.brokers.jars import BrokerJars, broker_releases, build_broker_jars
from entrycache_conformance.brokers.pulsar import BrokerPlan, run_standalone
from entrycache_conformance.java.build import NO_MAVEN, Java, find_java
from entrycache_conformance.java.driver import JavaTestClasspath, java_test_classpath, join_classpath
from entrycache_conformance.java.program import compile_and_run
from entrycache_protocol.errors import MissingPrerequisite
from tests.support.findings import FINDINGS, PAGES, Page
from tests.support.jvm.fixes import release_of_fixes
from tests.support.jvm.maven import COPY, jar_from_maven, require_pinned
from tests.support.jvm.upstream_tests import POMS

pytestmark = pytest.mark.long
"""True if the jars of a broker, 250 MB, are wanted."""
MOCKS: Final = "org.apache.pulsar:testmocks:4.0.8:jar"
JAVA: Final = 17
NEWEST: Final = "5.0.1"
"""A release of which not every jar is served."""
NEWEST_JAVA: Final = 21
SECONDS_MOST: Final = 120
SCENARIO_SECONDS_MOST: Final = 240
HEAP: Final = "heap-removal-breaks-order"
ALL_MESSAGES: Final = "message 1, message 2, message 3, message 4, message 5"
CONTROL: Final = f"a deleted, then d: f, which has acknowledged nothing, receives [{ALL_MESSAGES}]"


def tools_of(release: str, folder: Path) -> tuple[BrokerJars, Java]:
    """Return the jars of a broker, and a Java that runs them."""
    if release == NEWEST:
        return newest_broker_jars(folder / "jars"), find_java(NEWEST_JAVA, compiler=True)
    return build_broker_jars("pulsar", release), find_java(JAVA, compiler=True)


def ended(finding: str, name: str, release: str, folder: Path, *more: Path) -> subprocess.CompletedProcess[str]:
    """Return the result of a finding's test with a broker."""
    try:
        jars, java = tools_of(release, folder)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    tools = JavaTestClasspath(java.program, str(java.tool("javac")), join_classpath([*jars.broker, *more]), None, ())
    path = FINDINGS / finding / "broker" / f"{name}.java"
    return compile_and_run(path, tools, folder, timeout_seconds=SECONDS_MOST)


def test_a_subscription_that_has_acknowledged_nothing_loses_an_entry(tmp_path: Path) -> None:
    try:
        mocks = jar_from_maven(MOCKS, tmp_path)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    done = ended("heap-removal-breaks-order", "LostEntryTest", "4.2.4", tmp_path / "out", mocks)
    assert done.returncode == 1
    assert "f reads [entry 2, entry 3, entry 4, entry 5]" in done.stdout
    assert done.stdout.endswith("expected 5 entries, the first one is lost\n")


@pytest.mark.parametrize("release", broker_releases("pulsar"))
def test_settings_of_the_time_in_the_cache_are_ignored_at_start(release: str, tmp_path: Path) -> None:
    done = ended("extend-ttl-ignored-at-start", "ExtendTtlIgnoredTest", release, tmp_path)
    assert done.returncode == 1
    assert done.stdout.endswith("MaxTimes: expected 9, got 5\n")


def test_settings_of_the_time_in_the_cache_are_kept_at_start_by_the_newest(tmp_path: Path) -> None:
    done = ended("extend-ttl-ignored-at-start", "ExtendTtlIgnoredTest", NEWEST, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("conforms\n")


def output_lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the output of the program, which is between log lines of the clients."""
    return [line for line in done.stdout.splitlines() if not line[:4].isdigit()]


def newest_broker_jars(folder: Path) -> BrokerJars:
    """Return the jars of a broker of 5.0.1: those that are served, and those of 5.0.0-M1 for what is not."""
    mvn = shutil.which("mvn")
    if mvn is None:
        raise MissingPrerequisite(NO_MAVEN)
    argv = [mvn, "-B", "-q", "-f", str(POMS / f"pulsar-broker-{NEWEST}"), COPY, f"-DoutputDirectory={folder}"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingPrerequisite(f"mvn could not resolve the broker of {NEWEST}: {done.stdout[:200]}")
    own = sorted(folder.glob("*.jar"))
    for jar in own:
        require_pinned(jar)
    driver = map(Path, java_test_classpath(f"pulsar:{NEWEST}").classpath.split(os.pathsep))
    own += [jar for jar in driver if jar.name.startswith("bookkeeper-") and jar.name.endswith("-4.18.2.jar")]
    neighbour = build_broker_jars("pulsar", "5.0.0-M1")
    replaced = {artifact_of(jar) for jar in own}
    return neighbour._replace(broker=(*own, *(jar for jar in neighbour.broker if artifact_of(jar) not in replaced)))


def artifact_of(jar: Path) -> str:
    """Return the name of a jar without its version."""
    return re.split(r"-(?=\d)", jar.name)[0]


def with_clients(release: str, folder: Path, front: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Return the result of public clients of a running broker; `front` are classes in front of the broker's own."""
    try:
        jars, java = tools_of(release, folder)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    tools = JavaTestClasspath(java.program, str(java.tool("javac")), join_classpath(jars.broker), None, ())
    path = FINDINGS / HEAP / "broker" / "LostMessageTest.java"
    serving = BrokerJars(jars.recorder, jars.clients, (*([front] if front else []), *jars.broker))
    with run_standalone(java.program, serving, BrokerPlan("none"), folder, None, lambda line: None) as broker:
        addresses = (broker.addresses.service, broker.addresses.web)
        done = compile_and_run(path, tools, folder / "out", *addresses, timeout_seconds=SCENARIO_SECONDS_MOST)
        broker.stop()
    return done


@pytest.mark.parametrize("release", (*broker_releases("pulsar"), NEWEST))
def test_a_running_broker_loses_a_message_that_nobody_has_acknowledged(release: str, tmp_path: Path) -> None:
    done = with_clients(release, tmp_path)
    assert done.returncode == 1, done.stderr
    lost, control, last = output_lines(done)
    assert lost.endswith(f"receives [{ALL_MESSAGES.removeprefix('message 1, ')}]")
    assert (control, last) == (CONTROL, "lost: 1")


def test_a_running_broker_with_the_fix_loses_none(classes: Callable[[Page], Path], tmp_path: Path) -> None:
    page = next(page for page in PAGES if page.name == HEAP)
    done = with_clients(release_of_fixes(page).version, tmp_path, classes(page))
    assert done.returncode == 0, done.stdout + done.stderr
    assert output_lines(done)[1:] == [CONTROL, "conforms"]
