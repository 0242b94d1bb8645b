"""The master of an audit: SPARK_REMOTE is honoured, and what a server or a worker lacks is one line."""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from entrycache_cli.main import main
from entrycache_protocol.errors import MissingPrerequisite, UsageError
from entrycache_spark import spark_backend, tasks
from entrycache_trace.files import list_parts
from tests.support.traces import plant


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a trace, in a process without a session."""
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    return plant.write(tmp_path / "trace", plant.honest(tmp_path / "honest", 20, 1)["broker-0"])


@pytest.fixture
def silent_port() -> int:
    """Return a port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_a_master_that_does_not_answer_is_one_line_at_once(
    scheme: str, trace: Path, silent_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{scheme}://127.0.0.1:{silent_port}"
    if scheme == "sc":
        monkeypatch.setenv("SPARK_REMOTE", url)
    done = CliRunner().invoke(main, ["audit", str(trace), *(["--master", url] if scheme == "spark" else [])])
    assert done.exit_code == 4, done.output
    (line,) = done.stderr.splitlines()
    assert f"no Spark answers at {url}" in line
    assert "Connection refused" in line


@pytest.mark.parametrize(
    ("seconds", "error", "said"), [("0.1", MissingPrerequisite, "Java 17"), ("x", UsageError, "'x'")]
)
def test_an_audit_does_not_wait_for_executors_for_ever(
    seconds: str, error: type[Exception], said: str, spark_session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A local session has a driver and no executor, as a cluster has whose workers cannot start one."""
    monkeypatch.setenv("ENTRYCACHE_EXECUTOR_SECONDS", seconds)
    with pytest.raises(error, match=said) as refused:
        spark_backend.wait_for_executor(spark_session, "spark://host:7077")
    assert "\n" not in str(refused.value)
    monkeypatch.setenv("ENTRYCACHE_EXECUTOR_SECONDS", "0")
    spark_backend.wait_for_executor(spark_session, "spark://host:7077")


@pytest.mark.parametrize("url", ["spark://127.0.0.1:{0},127.0.0.1:{1}", "sc://127.0.0.1:{1}/;user_id=me"])
def test_a_master_that_listens_is_taken(url: str, silent_port: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        spark_backend.check_master_answers(url.format(silent_port, listener.getsockname()[1]))
    for other in ("local[2]", "yarn", "k8s://https://host:443"):  # Spark itself asks these
        spark_backend.check_master_answers(other)


def test_a_master_beside_the_remote_is_refused(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost")
    done = CliRunner().invoke(main, ["audit", str(trace), "--master", "local[1]"])
    assert done.exit_code == 2
    assert "--master local[1] and SPARK_REMOTE=sc://localhost name two servers" in done.stderr


def test_the_remote_replaces_the_default_master(monkeypatch: pytest.MonkeyPatch, trace: Path) -> None:
    urls: list[str] = []
    session = SimpleNamespace(range=lambda rows: SimpleNamespace(count=lambda: rows))

    class Builder:
        def remote(self, url: str) -> Builder:
            urls.append(url)
            return self

        def getOrCreate(self) -> Any:
            return session

    monkeypatch.setattr(SparkSession, "builder", Builder())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"sc://127.0.0.1:{listener.getsockname()[1]}"
        monkeypatch.setenv("SPARK_REMOTE", url)
        assert spark_backend.get_session() is session
    assert urls == [url]


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (
            "..\nModuleNotFoundError: No module named 'duckdb'\n..",
            MissingPrerequisite,
            "lacks the Python package duckdb",
        ),
        ('java.io.IOException: Cannot run program "/nowhere/python3": error=2', MissingPrerequisite, "no program /now"),
        ("[PYTHON_VERSION_MISMATCH] 3.9 and 3.11\nat ..", MissingPrerequisite, "another Python"),
        ("x\njava.lang.UnsupportedClassVersionError: y\nat ..", MissingPrerequisite, "Java 17 or later"),
        ("Master removed our application: FAILED\nat ..", MissingPrerequisite, "see the logs of its workers"),
        ("anything else\nat ..", UsageError, "cannot be evaluated (anything else)"),
    ],
)
def test_what_a_worker_lacks_is_one_line(text: str, kind: type[Exception], said: str) -> None:
    error = spark_backend.describe_task_failure(RuntimeError(text))
    assert type(error) is kind
    assert said in str(error)
    assert "\n" not in str(error)


def test_a_relative_path_is_absolute_where_a_task_reads_it(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trace.parent)
    paths: list[Path] = []

    def group(groups: list[tasks.TaskGroup], question: tasks.AuditRequest) -> Any:
        paths.extend(part.path for group in groups for part in group.parts)
        raise KeyError

    monkeypatch.setattr(tasks, "group_task", group)
    spark = SimpleNamespace(conf={"spark.master": "local[1]"})
    request = tasks.AuditRequest(None, ())  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        tasks.evaluate_in_tasks(spark, list_parts(Path(trace.name)), request)  # type: ignore[arg-type]
    assert paths
    assert all(path.is_absolute() and path.parents[1].samefile(trace) for path in paths)
