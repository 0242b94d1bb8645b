"""The same rows in other files, orders and partitions get the same answer; missing files are named in one line."""

from __future__ import annotations

import logging
import random
import re
import socket
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from py4j import clientserver, java_gateway
from py4j.clientserver import ClientServerConnection
from pyspark.sql import SparkSession

from entrycache_cli.commands import audit as cli
from entrycache_cli.main import main
from entrycache_protocol.errors import MissingPrerequisite
from entrycache_spark.common.results import merge_brokers
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.duckdb_backend import DuckDbBackend
from entrycache_spark.folders import SPARK_METHODS, audit_folder
from entrycache_spark.plan import evaluate_in_sql
from entrycache_spark.spark_backend import PY4J_LOGGERS, get_session, is_worth_logging, silence_py4j
from entrycache_trace.files import list_parts, read_metadata
from tests.support.traces import plant
from tests.support.traces.layout import split


@pytest.fixture(scope="module")
def violating(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("layout")
    base = plant.honest(folder / "honest", 1_500, 4)["broker-0"]
    rows = plant.renamed(base, "clean")
    for make in (plant.wrong_order, plant.stale_head, plant.wrong_sum, plant.double_removal):
        own = plant.renamed(base, make.__name__)
        make(own, random.Random(1))
        rows += own
    return plant.write(folder / "trace", rows)


@pytest.mark.long  # random traces are split and read by threads in every run
def test_duckdb_and_replay_ignore_files_orders_and_threads(tmp_path: Path, violating: Path) -> None:
    wanted = audit_folder(violating, "local")
    assert len(wanted.violations) >= 4
    for files in (1, 3, 7):
        trace = split(violating, tmp_path / str(files), files, files)
        assert audit_folder(trace, "local") == wanted
        assert audit_folder(trace, "replay").rules == wanted.rules
        for threads in (1, 2, 5):
            backend = DuckDbBackend(list_parts(trace), threads)
            findings = merge_brokers(evaluate_in_sql(backend, read_metadata(trace), all_rules()))
            backend.close()
            reported = {(row.rule, row.broker, row.seq) for item in findings.values() for row in item.violations}
            assert reported == {(row.rule, row.broker, row.seq) for row in wanted.violations}


@pytest.mark.long
@pytest.mark.parametrize("backend", SPARK_METHODS)
def test_spark_ignores_files_orders_and_partitions(
    tmp_path: Path, violating: Path, spark_session: object, monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    from entrycache_spark import spark_backend, tasks

    assert spark_session
    rules = ["R-EVICT-8", "R-STATE-1"]
    wanted = audit_folder(violating, "local", rules=rules)
    assert len(wanted.violations) >= 2
    result = audit_folder(violating, backend, rules=rules)
    assert result == wanted
    # One or two partitions before, one for a thousand rows now.
    monkeypatch.setattr(spark_backend, "ROWS_PER_SHUFFLE_TASK", 1_000)
    monkeypatch.setattr(tasks, "ROWS_PER_TASK", 1_000)
    monkeypatch.setattr(tasks.rule_files, "MAX_KEPT_ROWS", 0)
    assert audit_folder(split(violating, tmp_path / "split", 3, 3), backend, rules=rules) == result


@pytest.mark.parametrize(
    ("backend", "module"), [("spark", "pyspark"), ("local", "duckdb"), ("local", "sqlglot"), ("replay", None)]
)
def test_a_missing_library_is_one_line(
    tmp_path: Path, violating: Path, monkeypatch: pytest.MonkeyPatch, backend: str, module: str | None
) -> None:
    for name in ("pyspark", "duckdb", "sqlglot") if module is None else (module,):
        for loaded in [
            module_name for module_name in sys.modules if module_name == name or module_name.startswith(f"{name}.")
        ]:
            monkeypatch.setitem(sys.modules, loaded, None)
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("spark_backend", "tasks", "duckdb_backend"):
        monkeypatch.delitem(sys.modules, f"entrycache_spark.{name}", raising=False)
    arguments = [str(violating), "--backend", backend, "--out", str(tmp_path / "out"), "--json"]
    done = CliRunner().invoke(cli.audit, arguments)
    if module is None:
        assert done.exit_code == 1
        return
    assert isinstance(done.exception, MissingPrerequisite)
    assert done.exception.exit_code == 4
    message = str(done.exception)
    assert f"needs the Python package {module}" in message
    assert "\n" not in message


def test_no_java_is_one_line(violating: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyspark = pytest.importorskip("pyspark.sql")
    monkeypatch.setattr(pyspark.SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    done = CliRunner().invoke(main, ["audit", str(violating), "--out", str(tmp_path / "out")])
    assert done.exit_code == 4
    assert "no java on PATH" in done.output
    assert "Traceback" not in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_a_stopped_command_leaves_no_traceback_of_py4j(caplog: pytest.LogCaptureFixture) -> None:
    """As when the JVM ends with the command: py4j logs its errors to loggers of its own and to the root."""
    for name in PY4J_LOGGERS:
        logging.getLogger(name).removeFilter(is_worth_logging)
    jvm, listens = socket.socket(), socket.create_server(("127.0.0.1", 0))
    jvm.connect(listens.getsockname())
    jvm.close()
    connection = ClientServerConnection.__new__(ClientServerConnection)
    connection.is_connected, connection.initiated_from_client = True, True
    connection.stream, connection.socket = jvm, jvm
    connection.shutdown_socket(0, 0)
    assert [record.name for record in caplog.records] == ["py4j.clientserver"]
    caplog.clear()
    silence_py4j()
    try:
        connection.is_connected = True
        connection.shutdown_socket(0, 0)
        at_root = logging.LogRecord("root", logging.ERROR, java_gateway.__file__, 1, "KeyboardInterrupt", (), None)
        at_root.exc_info = (KeyboardInterrupt, KeyboardInterrupt(), None)
        logging.getLogger().handle(at_root)
        logging.getLogger().error("of somebody else", exc_info=ValueError())
        assert [record.msg for record in caplog.records] == ["of somebody else"]
    finally:
        listens.close()
        for name in PY4J_LOGGERS:
            logging.getLogger(name).removeFilter(is_worth_logging)
    written = "".join(Path(module.__file__).read_text("utf-8") for module in (java_gateway, clientserver))
    assert set(re.findall(r"getLogger\(\"(.*?)\"\)", written)) <= {"py4j", *PY4J_LOGGERS}


def test_a_command_stopped_while_spark_starts_leaves_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """The audit waits for a master that does not answer."""
    root = logging.getLogger()

    def starts(self: SparkSession.Builder) -> None:
        assert is_worth_logging in root.filters
        raise KeyboardInterrupt

    root.removeFilter(is_worth_logging)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", starts)
    with pytest.raises(KeyboardInterrupt):
        get_session("yarn")
