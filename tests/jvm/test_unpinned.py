"""Versions that have no folder, and jars by their paths: the driver, the libraries and the variants are found."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner

from entrycache_cli.main import main
from entrycache_conformance import replay, resolve, unpinned
from entrycache_conformance.finding_cases import findings_folder
from entrycache_conformance.java import driver, releases
from entrycache_conformance.subjects import child
from entrycache_evidence.kafka_streams.runs import RELEASED
from entrycache_protocol.errors import MissingPrerequisite, UsageError, Verdict
from entrycache_reference.kafka_streams import Variants
from entrycache_reference.kafka_streams.config import ViewTombstone
from tests.conformance.kafka_streams.test_variants import following
from tests.findings.test_repaired import DEFECT, Release

SUBJECT = "kafka-streams:4.3.1"
NAMES = {name: str(value.value) for name, value in dataclasses.asdict(RELEASED).items()}


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("pulsar:4.0.6", ["pulsar:4.0.0", "pulsar:4.0.8"]),
        ("pulsar:4.1.0", ["pulsar:4.0.8", "pulsar:4.2.4"]),
        ("pulsar:4.2.1", ["pulsar:4.2.4", "pulsar:4.0.8"]),
        ("kafka-streams:4.3.0", ["kafka-streams:4.3.1", "kafka-streams:4.2.2"]),
        ("kafka-streams:3.5.2", ["kafka-streams:3.9.2"]),
        ("kafka-streams:99.0.0-rc1", ["kafka-streams:4.4.0"]),
    ],
)
def test_the_closest_release_comes_first(subject: str, expected: list[str]) -> None:
    assert [release.subject for release in releases.closest_releases(subject)] == expected


def test_what_is_no_version_is_one_clear_line() -> None:
    with pytest.raises(UsageError, match=r"^pulsar:new: 'new' is no version; expected one with three numbers; known: "):
        releases.closest_releases("pulsar:new")


@pytest.mark.long
@pytest.mark.parametrize(
    "follows",
    [
        pytest.param(Variants(), marks=pytest.mark.long),
        RELEASED,
        pytest.param(dataclasses.replace(RELEASED, delete_read=Variants().delete_read), marks=pytest.mark.long),
        pytest.param(Variants(view_tombstone=ViewTombstone.DROPPED), marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("declared", [{}, NAMES], ids=["none", "those-of-the-releases"])
def test_the_variants_are_found_whatever_the_driver_declares(follows: Variants, declared: dict[str, str]) -> None:
    declaration = unpinned.find_variants(following(follows, **declared))
    assert (declaration.variants or Variants()) == follows


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


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of a released jar, as a local build would be."""
    copy = tmp_path_factory.mktemp("build") / "kafka-streams-4.3.1.jar"
    try:
        shutil.copy(driver.jar_under_test(SUBJECT), copy)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    return copy


@pytest.mark.long
def test_the_jar_of_a_path_runs_with_the_driver_of_its_version(jar: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subject = resolve.resolve_subject(resolve.SubjectChoice(str(jar)))
    try:
        assert subject.declaration.variants == RELEASED
        assert subject.declaration.implementation["version"] == "4.3.1"
    finally:
        subject.close()
    line = capsys.readouterr().err.splitlines()[-1]
    assert f"{jar} runs with the driver of kafka-streams 4.3.1; variants: undelivered_eviction=lost, " in line


@pytest.mark.long
def test_serve_speaks_the_protocol_for_a_jar_and_declares_its_variants(jar: Path) -> None:
    served = child.Child([sys.executable, "-m", "entrycache_cli", "serve", str(jar)], timeout_seconds=60)
    try:
        assert served.declaration.variants == RELEASED
        assert replay.smoke_verdict(replay.run_smoke_cases(served)) is Verdict.CONFORMS
    finally:
        served.close()
    calls = subprocess.run(
        [sys.executable, "-m", "entrycache_cli", "serve", str(jar), "--calls"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert re.search(r"^get +ThreadCache\.get$", calls.stdout, re.MULTILINE)


@pytest.mark.long
def test_a_campaign_plays_a_jar_and_records_its_checksum(jar: Path) -> None:
    done = CliRunner().invoke(main, ["campaign", str(jar), "--cases", "2", "--steps", "50", "--json"])
    assert done.exit_code == 0, done.output
    (subject,) = json.loads(done.stdout)["subjects"]
    assert subject["artifact"] == {"jar": jar.name, "sha256": hashlib.sha256(jar.read_bytes()).hexdigest()}
    assert subject["variants"]["undelivered_eviction"] == "lost"


@pytest.mark.parametrize("workload", ["promises", "containers"])
def test_a_campaign_with_its_own_program_asks_for_a_pinned_release(jar: Path, workload: str) -> None:
    done = CliRunner().invoke(main, ["campaign", str(jar), "--workload", workload])
    assert done.exit_code == 2
    assert re.search(r"are not played; give a pinned release such as \S+$", done.stderr.strip())


@pytest.mark.parametrize("name", ["the jar", "kafka-streams:4.1.2"])
def test_a_java_test_is_printed_for_versions_without_a_folder(jar: Path, name: str) -> None:
    case = findings_folder() / "kafka-older-value-written-last" / "case.json"
    name = str(jar) if name == "the jar" else name
    done = CliRunner().invoke(main, ["replay", str(case), name, "--as", "java"])
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("package org.apache.kafka.streams.state.internals;")
    assert f"put the classes of {name} there" in done.stderr


@pytest.mark.parametrize(("own", "repaired"), [(Variants(), True), (DEFECT, False)])
def test_changed_classes_that_repair_a_finding_are_held_to_the_specification(own: Variants, repaired: bool) -> None:
    subject = Release(own)
    lifted = unpinned.lift_repaired(cast(child.Child, subject)).declaration
    assert lifted.variants == (Variants() if repaired else DEFECT)
    assert lifted.findings == subject.declaration.findings


DELETED_KEY_SHOWN = "kafka-view-shows-deleted"
"""The finding that the releases before 3.9.1 have."""


@pytest.mark.long
@pytest.mark.parametrize("version", ["3.5.2", "3.7.2", "3.8.1", "3.9.0", "3.9.2"])
def test_a_release_without_a_folder_gets_a_true_verdict(version: str, tmp_path: Path) -> None:
    """Its finding is waived by a variant; without the waiver, its case breaks the rule."""
    path = findings_folder() / DELETED_KEY_SHOWN / "case.json"
    done = CliRunner().invoke(main, ["replay", str(path), f"kafka-streams:{version}"])
    if done.exit_code == MissingPrerequisite.exit_code:
        pytest.skip(done.stderr)
    is_older = version != "3.9.2"
    assert done.exit_code == is_older, done.stderr
    assert ("K-STORE-8 is broken at step 3" in done.stdout) is is_older
    assert ("view_tombstone=dropped" in done.stderr) is is_older
    line = ["conform", f"kafka-streams:{version}", "--level", "store", "--failures", str(tmp_path), "--json"]
    result = json.loads(CliRunner().invoke(main, line).stdout)
    assert result["verdict"] == "conforms"
    unmasked = CliRunner().invoke(main, [*line, "--unmask", DELETED_KEY_SHOWN])
    assert unmasked.exit_code == is_older
    assert [each["finding"] for each in json.loads(unmasked.stdout)["failures"]] == [DELETED_KEY_SHOWN] * is_older


PULSAR_VERDICTS = {
    "3.0.7": (3, "which managed-ledger-3.0.7.jar lacks"),
    "3.3.5": (0, "runs with the driver of pulsar-legacy 3.3.6"),
    "4.0.1": (0, "runs with the driver of pulsar-legacy 4.0.0; variants: single_lookup=object"),
    "4.0.6": (0, "runs with the driver of pulsar-legacy 4.0.8; variants: none"),
    "4.0.7": (0, "runs with the driver of pulsar-legacy 4.0.8; variants: none"),
    "4.1.0": (4, "org.apache.pulsar:managed-ledger:jar:4.1.0, which the class path of pulsar:4.1.0 needs"),
}
"""The exit code of `smoke` on each further version of Pulsar that was asked for, and what its last line says."""


@pytest.mark.long
@pytest.mark.parametrize("version", PULSAR_VERDICTS)
def test_every_version_of_pulsar_gets_a_true_verdict_or_one_line(version: str) -> None:
    if (missing := driver.missing_prerequisite(releases.require_release("pulsar:4.0.8"))) or not has_network():
        pytest.skip(missing or "Maven Central does not answer")
    code, ending = PULSAR_VERDICTS[version]
    done = CliRunner().invoke(main, ["smoke", f"pulsar:{version}"])
    assert (done.exit_code, ending in done.stderr.splitlines()[-1]) == (code, True), done.stderr


def has_network() -> bool:
    """Return whether a version that Maven serves can be had here."""
    with contextlib.suppress(MissingPrerequisite):
        return bool(unpinned.jar_under_test("pulsar:4.0.7"))
    return False


@pytest.mark.long
def test_maven_resolves_another_version_and_locks_it() -> None:
    oldest, newer, *_ = releases.releases("kafka-streams")
    try:
        driver.build_driver(oldest), driver.build_driver(newer)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    built = unpinned.resolve_jars(newer.subject, oldest)
    assert built.tested_jar.name == newer.tested_jar
    digest = next(line.split()[0] for line in newer.lock.read_text("utf-8").splitlines() if newer.tested_jar in line)
    assert f"{digest}  {newer.tested_jar}\n" in built.lock.read_text("utf-8")
