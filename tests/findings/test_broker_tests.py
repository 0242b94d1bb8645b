"""Java tests that need the class path of a whole broker."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.brokers.parts import broker_jars, releases_of
from entrycache_conformance.java.classpath import JavaTestClasspath, joined
from entrycache_conformance.java.jdk import find_java
from entrycache_conformance.java.program import compile_and_run
from entrycache_protocol.errors import MissingPrerequisite
from tests.support.findings import FINDINGS
from tests.support.jvm.maven import jar_from_maven

pytestmark = pytest.mark.long
"""A broker has 250 MB of jars."""
MOCKS: Final = "org.apache.pulsar:testmocks:4.0.8:jar"
JAVA: Final = 17
SECONDS_MOST: Final = 120


def ended(finding: str, name: str, release: str, folder: Path, *more: Path) -> subprocess.CompletedProcess[str]:
    """How a test of a finding ends beside a broker."""
    try:
        jars = broker_jars("pulsar", release).broker
        java = find_java(JAVA, compiler=True)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    tools = JavaTestClasspath(java.program, str(java.tool("javac")), joined([*jars, *more]), None, ())
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


@pytest.mark.parametrize("release", releases_of("pulsar"))
def test_settings_of_the_time_in_the_cache_are_ignored_at_start(release: str, tmp_path: Path) -> None:
    done = ended("extend-ttl-ignored-at-start", "ExtendTtlIgnoredTest", release, tmp_path)
    assert done.returncode == 1
    assert done.stdout.endswith("MaxTimes: expected 9, got 5\n")
