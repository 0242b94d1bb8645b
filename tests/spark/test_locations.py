"""A trace that Spark locates gets the verdicts of its folder: by a scheme, a pattern, dated folders, or a table."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from entrycache_cli.main import main
from entrycache_protocol.errors import MissingPrerequisite, UsageError
from entrycache_spark.common.results import AuditResult
from entrycache_spark.folders import audit_folder
from entrycache_spark.locations import audit_location
from entrycache_spark.spark_backend import escape_path
from entrycache_trace.files import METADATA_NAME, is_spark_location
from tests.support.traces import plant

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return two brokers; one has an event with a wrong sum."""
    at = tmp_path_factory.mktemp("elsewhere")
    rows = plant.honest(at / "honest", 400, 4)["broker-0"]
    other = plant.renamed(rows, "b[1] 100%")
    plant.wrong_sum(other, random.Random(1))
    return plant.write(at / "tr[a]ce", rows + other)


@pytest.fixture(scope="module")
def dated(folder: Path) -> Path:
    """Return the same brokers, each in a dated folder."""
    at = folder.parent / "dated"
    for date, broker in zip(("2026-01-01", "2026-01-02"), sorted(folder.glob("broker=*")), strict=True):
        shutil.copytree(broker, at / f"date={date}" / broker.name)
    shutil.copy(folder / METADATA_NAME, at)
    return at


@pytest.fixture(scope="module")
def wanted(folder: Path) -> AuditResult:
    result = audit_folder(folder, "local")
    assert result.violations
    return result


def test_spark_finds_the_violations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("tr[a]ce", "s3a:x"):
        (tmp_path / name).mkdir()
    assert [name for name in ("s3a://b/t", "table:x", "tr?ce", tmp_path.as_uri()) if not is_spark_location(name)] == []
    assert [name for name in ("tr[a]ce", "s3a:x", "nothing", "c", str(tmp_path)) if is_spark_location(name)] == []


@pytest.mark.long
def test_it_is_judged_like_its_folder(
    spark_session: SparkSession, folder: Path, dated: Path, wanted: AuditResult, tmp_path: Path
) -> None:
    for where in (f"{dated}/date=*", f"{folder.parent}/tr\\[a\\]c?"):
        audited = audit_location(where, out=tmp_path)
        assert (audited.rules, audited.violations, audited.rows) == (wanted.rules, wanted.violations, wanted.rows), (
            where
        )
        assert audited.brokers == wanted.brokers
    assert (tmp_path / "violations.parquet").exists()
    part = audit_location(f"{dated}/date=2026-01-01", rules=["R-STATE-1"])
    assert (set(part.rules), set(part.brokers)) == ({"R-STATE-1"}, set(sorted(wanted.brokers)[:1]))


@pytest.mark.long
def test_a_table_is_judged_as_its_folder_is(
    spark_session: SparkSession, folder: Path, wanted: AuditResult, tmp_path: Path
) -> None:
    rows = spark_session.read.option("basePath", str(folder)).parquet(escape_path(str(folder)))
    rows.createOrReplaceGlobalTempView("elsewhere")
    try:
        metadata = folder / METADATA_NAME
        audited = audit_location("table:global_temp.elsewhere", metadata=metadata)
        assert (audited.rules, audited.violations) == (wanted.rules, wanted.violations)
        with pytest.raises(UsageError, match="a table does not say of which system"):
            audit_location("table:global_temp.elsewhere")
        with pytest.raises(UsageError, match="table:nowhere: cannot be read"):
            audit_location("table:nowhere", metadata=metadata)
    finally:
        spark_session.catalog.dropGlobalTempView("elsewhere")


@pytest.mark.long
def test_a_folder_without_a_trace_is_refused(spark_session: SparkSession, dated: Path, tmp_path: Path) -> None:
    for where, said in (
        (f"{dated}/none=*", "no such folder"),
        (f"{dated}/date=*/broker=*/nothing", "no such folder"),
        (tmp_path.as_uri(), f"no {METADATA_NAME} in it or above"),
    ):
        with pytest.raises(UsageError, match=said):
            audit_location(where)
    with pytest.raises(MissingPrerequisite, match="Spark does not read nosuch://x/y"):
        audit_location("nosuch://x/y")
    other = shutil.copytree(dated, tmp_path / "dated" / "b")
    shutil.copytree(dated, tmp_path / "dated" / "a")
    about = json.loads((other / METADATA_NAME).read_text())
    (other / METADATA_NAME).write_text(json.dumps({**about, "threads": "many"}))
    with pytest.raises(UsageError, match="say different things; audit each by itself"):
        audit_location(f"{tmp_path}/dated/?")


def test_the_command_reports_what_it_cannot_do(folder: Path, dated: Path) -> None:
    for arguments, said in (
        ((dated.as_uri(), "--backend", "local"), "--backend local reads folders of this machine"),
        ((dated.as_uri(), "--backend", "sql"), "--backend sql reads folders of this machine"),
        ((str(folder), "--metadata", str(folder / METADATA_NAME)), "--metadata is for a trace that Spark finds"),
    ):
        done = CliRunner().invoke(main, ["audit", *arguments])
        assert done.exit_code == 2 and said in done.stderr


@pytest.mark.long
def test_the_command(spark_session: SparkSession, dated: Path) -> None:
    done = CliRunner().invoke(main, ["audit", dated.as_uri(), "--json"])
    assert done.exit_code == 1 and json.loads(done.stdout)["rules"]["R-STATE-1"] == "violates"
