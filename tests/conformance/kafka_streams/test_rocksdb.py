"""The caching stores of a release conform over the released stores on RocksDB as they do over those in memory."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.java.driver import released_command
from entrycache_conformance.judge import judge_case
from entrycache_conformance.levels import Profile
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.run import Options, conform
from entrycache_protocol.case import Case
from entrycache_protocol.errors import MissingPrerequisite
from entrycache_protocol.subject import TestedSubject
from entrycache_reference.kafka_streams import ops, view_ops
from tests.support.jvm.maven import jar_from_maven
from tests.support.jvm.rocks import VERSIONS

RELEASE: Final = "4.3.1"
SEED: Final = 41
EXAMPLES: Final = 60


@pytest.fixture(scope="module")
def on_rocksdb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestedSubject]:
    try:
        java, *options = released_command(f"kafka-streams:{RELEASE}")
        folder = tmp_path_factory.mktemp("rocksdb")
        jar = jar_from_maven(f"org.rocksdb:rocksdbjni:{VERSIONS[RELEASE]}:jar", folder)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    options[options.index("-cp") + 1] += f"{os.pathsep}{jar}"
    command = shlex.join([java, "-Dentrycache.below=rocksdb", f"-Djava.io.tmpdir={folder}", *options])
    subject = resolve_subject(SubjectChoice(None, command=command, system="kafka-streams", timeout_seconds=60))
    yield subject
    subject.close()
    assert [path for path in folder.iterdir() if path.is_dir()] == []


@pytest.mark.long
@pytest.mark.parametrize("level", ["views", "windows"])
def test_stores_on_rocksdb_conform(level: str, on_rocksdb: TestedSubject, tmp_path: Path) -> None:
    report = conform(on_rocksdb, Options((level,), Profile(EXAMPLES, 0, 0), SEED, 0.0, tmp_path)).to_json()
    assert (report["verdict"], report["failures"]) == ("conforms", [])
    assert report["levels"][level]["examples"] >= EXAMPLES


FLUSHED: Final = (
    ops.StorePut("s", "x", "1"),
    ops.StoreFlush("s"),
    *(ops.StorePut("s", "x", None), view_ops.ViewOpen("v", "s", None, None)),
    *(ops.StoreFlush("s"), view_ops.ViewNext("v")),
)
"""A key is deleted before a view is opened, and the deletion is flushed under the view."""


@pytest.mark.long
def test_a_deletion_that_is_flushed_under_a_view_uncovers_its_key(on_rocksdb: TestedSubject) -> None:
    declared = on_rocksdb.declaration
    case = Case(declared.system, declared.base_config(), FLUSHED)
    assert "deletes a key under an open view" in declared.unsupported_reason(case.config, case.steps)
    difference = judge_case(on_rocksdb, case).difference
    assert difference is not None
    assert (difference.at, difference.got) == (len(FLUSHED) - 1, {"entry": ["x", "1"]})


@pytest.mark.long
def test_the_driver_names_rocksdb_and_offers_no_count(on_rocksdb: TestedSubject) -> None:
    declaration = on_rocksdb.declaration
    assert declaration.implementation["name"] == "Apache Kafka Streams over RocksDB"
    assert "store_count" not in declaration.ops
