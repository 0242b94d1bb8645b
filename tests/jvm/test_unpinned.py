"""Versions that have no folder, and jars by their paths: the driver, the libraries and the variants are found."""

from __future__ import annotations

import dataclasses
import shutil
import zipfile
from pathlib import Path

import pytest

from entrycache_conformance import resolve, unpinned
from entrycache_conformance.java import driver, releases
from entrycache_evidence.kafka_streams.runs import RELEASED
from entrycache_protocol.errors import MissingPrerequisite, UsageError
from entrycache_reference.kafka_streams import Variants
from tests.conformance.kafka_streams.test_variants import following

SUBJECT = "kafka-streams:4.3.1"
NAMES = {name: str(value.value) for name, value in dataclasses.asdict(RELEASED).items()}


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("pulsar:4.0.6", ["pulsar:4.0.0", "pulsar:4.0.8"]),
        ("pulsar:4.1.0", ["pulsar:4.0.8", "pulsar:4.2.4"]),
        ("kafka-streams:3.5.2", ["kafka-streams:3.9.2"]),
        ("kafka-streams:99.0.0-rc1", ["kafka-streams:4.3.1"]),
    ],
)
def test_the_closest_release_comes_first(subject: str, expected: list[str]) -> None:
    assert [release.subject for release in releases.closest_releases(subject)] == expected


def test_what_is_no_version_is_one_clear_line() -> None:
    with pytest.raises(UsageError, match=r"^pulsar:new: 'new' is no version; expected one with three numbers; known: "):
        releases.closest_releases("pulsar:new")


@pytest.mark.parametrize(
    "follows", [Variants(), RELEASED, dataclasses.replace(RELEASED, delete_read=Variants().delete_read)]
)
@pytest.mark.parametrize("declared", [{}, NAMES], ids=["none", "those-of-the-releases"])
def test_the_variants_are_found_whatever_the_driver_declares(follows: Variants, declared: dict[str, str]) -> None:
    fitted = unpinned.fit_variants(following(follows, **declared))
    assert (fitted.declaration.variants or Variants()) == follows


def _write_jar(path: Path, *names: str, properties: str = "") -> Path:
    with zipfile.ZipFile(path, "w") as jar:
        for name in names:
            jar.writestr(name, "")
        if properties:
            jar.writestr("META-INF/maven/org.apache.pulsar/managed-ledger/pom.properties", properties)
    return path


def test_a_jar_is_identified_by_its_classes_and_version(tmp_path: Path) -> None:
    ledger = "org/apache/bookkeeper/mledger/impl/cache/RangeCache.class"
    stated = _write_jar(tmp_path / "build.jar", ledger, properties="groupId=x\nversion=4.2.5-SNAPSHOT\n")
    assert unpinned.identify_jar(stated) == "pulsar:4.2.5"
    streams = "org/apache/kafka/streams/state/internals/ThreadCache.class"
    assert unpinned.identify_jar(_write_jar(tmp_path / "kafka-streams-4.4.0.jar", streams)) == "kafka-streams:4.4.0"
    with pytest.raises(UsageError, match=r"mine\.jar does not say its version; expected it in the name, as in "):
        unpinned.identify_jar(_write_jar(tmp_path / "mine.jar", streams))
    with pytest.raises(UsageError, match=r"other\.jar holds no class of a known cache; expected a jar of org\.apache"):
        unpinned.identify_jar(_write_jar(tmp_path / "other.jar", "a/B.class"))


def test_the_jar_of_a_path_runs_with_the_driver_of_its_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jar = tmp_path / "kafka-streams-4.3.1.jar"
    try:
        shutil.copy(driver.jar_under_test(SUBJECT), jar)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    subject = resolve.resolve_subject(resolve.SubjectChoice(str(jar)))
    try:
        assert subject.declaration.variants == RELEASED
        assert subject.declaration.implementation["version"] == "4.3.1"
    finally:
        subject.close()
    line = capsys.readouterr().err.splitlines()[-1]
    assert f"{jar} runs with the driver of kafka-streams 4.3.1; variants: undelivered_eviction=lost, " in line


def test_maven_resolves_another_version_and_its_lock_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    oldest, newer, *_ = releases.releases("kafka-streams")
    try:
        driver.build_driver(oldest), driver.build_driver(newer)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    built = unpinned.resolve_jars(newer.subject, oldest)
    assert built.tested_jar.name == newer.tested_jar
    digest = next(line.split()[0] for line in newer.lock.read_text("utf-8").splitlines() if newer.tested_jar in line)
    assert f"{newer.subject} is not pinned; its jars are\n" in (text := capsys.readouterr().err)
    assert f"{digest}  {newer.tested_jar}\n" in text
