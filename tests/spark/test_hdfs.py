"""A trace in HDFS gets the verdicts of its folder: real name and data nodes, and a real Spark."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from entrycache_protocol.errors import UsageError
from entrycache_spark.folders import audit_folder
from entrycache_spark.locations import audit_location
from tests.support.jvm.maven import jar_from_maven
from tests.support.traces import plant

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HADOOP: Final = "3.5.0"
ARTIFACTS: Final = (
    *(f"org.apache.hadoop:hadoop-client-{part}:{HADOOP}:jar" for part in ("api", "runtime", "minicluster")),
    *("org.slf4j:slf4j-api:1.7.36:jar", "commons-logging:commons-logging:1.3.0:jar"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return two brokers; one has an event with a wrong sum."""
    at = tmp_path_factory.mktemp("hdfs")
    rows = plant.honest(at / "honest", 400, 4)["broker-0"]
    other = plant.renamed(rows, "b")
    plant.wrong_sum(other, random.Random(1))
    return plant.write(at / "trace", rows + other)


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[str]:
    """Return the URI of a file system that has the folder as `/traces/date=2026-01-01`."""
    jars = [jar_from_maven(artifact, folder.parent / "jars") for artifact in ARTIFACTS]
    path, own = ":".join(map(str, jars)), folder.parent / "dfs"
    source = Path(__file__).parent / "Hdfs.java"
    java = shutil.which("java")
    assert java is not None
    argv = [java, "-Xmx512m", "-cp", path, str(source), str(own), str(folder), "/traces/date=2026-01-01"]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as running:
        assert running.stdout is not None
        said = running.stdout.readline()
        assert said.startswith("up hdfs://"), said
        yield said.removeprefix("up ").strip()
        running.communicate("\n")


@pytest.mark.long
def test_it_is_judged_like_its_folder(spark_session: SparkSession, folder: Path, cluster: str) -> None:
    wanted = audit_folder(folder, "local")
    assert wanted.violations
    for where in ("/traces/date=2026-01-01", "/traces/date=*"):
        result = audit_location(cluster + where)
        assert (result.rules, result.violations, result.rows) == (wanted.rules, wanted.violations, wanted.rows), where
    with pytest.raises(UsageError, match="no such folder"):
        audit_location(f"{cluster}/nothing")


@pytest.mark.long
def test_a_missing_cluster_is_named(spark_session: SparkSession) -> None:
    with pytest.raises(UsageError, match=r"hdfs://localhost:1/x: cannot be read \(java.net.ConnectException"):
        audit_location("hdfs://localhost:1/x")
