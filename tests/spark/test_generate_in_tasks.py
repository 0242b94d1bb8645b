"""Spark's tasks write the same trace as this process, byte for byte."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from click.testing import CliRunner

from entrycache_cli.main import main
from entrycache_spark import locations

ARGUMENTS = ["trace", "generate", "tail-fanout", "--events", "300", "--brokers", "3", "--seed", "5"]


def digests(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.long
def test_the_trace_is_byte_for_byte_the_same(spark_session: object, tmp_path: Path) -> None:
    for name, more in (("here", []), ("tasks", ["--master", "local[2]"])):
        done = CliRunner().invoke(main, [*ARGUMENTS, *more, "--out", str(tmp_path / name)])
        assert done.exit_code == 0, done.output
    assert len(digests(tmp_path / "here")) == 4
    assert digests(tmp_path / "here") == digests(tmp_path / "tasks")


@pytest.mark.long
def test_a_folder_that_is_not_empty_is_refused(spark_session: object, tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "broker=b").write_text("in the way")
    done = CliRunner().invoke(main, [*ARGUMENTS, "--master", "local[2]", "--out", str(tmp_path / "t")])
    assert done.exit_code == 2 and done.stderr.startswith(f"entrycache: {tmp_path / 't'}")


@pytest.mark.long
def test_a_task_that_fails_is_one_line(spark_session: object) -> None:
    done = CliRunner().invoke(main, [*ARGUMENTS, "--master", "local[2]", "--out", "/proc/nowhere"])
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "cannot write /proc/nowhere/broker=" in done.stderr


@pytest.mark.long
def test_a_folder_that_is_not_shared_is_reported(
    spark_session: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locations, "list_parts", lambda directory: ())
    done = CliRunner().invoke(main, [*ARGUMENTS, "--master", "local[2]", "--out", str(tmp_path / "t")])
    assert done.exit_code == 2 and " 0 of them are here; expected a folder that this" in done.stderr
