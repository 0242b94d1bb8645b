"""The next run removes the temporary files of a killed run, and leaves those in use alone."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from entrycache_conformance.java import build
from entrycache_protocol.errors import MissingPrerequisite, WriteError
from entrycache_protocol.files import (
    PARTIAL_FILES,
    SCRATCH_FOLDERS,
    PartialFile,
    atomic_path,
    scratch_folder,
    write_text,
)
from entrycache_trace.files import PartWriter


def killed_in(work: Callable[[], object]) -> None:
    """Run an action in a process that dies at once, as by `kill -9`."""
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def begin_file(path: Path) -> None:
    with atomic_path(path) as partial:
        partial.write_text("half of i")
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_partial_file_goes_when_the_next_is_written(tmp_path: Path) -> None:
    write_text(tmp_path / "file", "whole")
    killed_in(lambda: begin_file(tmp_path / "file"))
    assert len(list(tmp_path.glob(PARTIAL_FILES))) == 1
    assert (tmp_path / "file").read_text() == "whole"
    held = PartialFile(tmp_path)
    write_text(tmp_path / "other", "text")
    assert list(tmp_path.glob(PARTIAL_FILES)) == [held.path]
    held.end()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "other"]


def test_a_partial_part_of_a_trace_goes_with_the_next_part(tmp_path: Path) -> None:
    killed_in(lambda: PartWriter(tmp_path, "b"))
    assert len(list((tmp_path / "broker=b").glob(PARTIAL_FILES))) == 1
    PartWriter(tmp_path, "b", 1).close()
    assert [path.name for path in (tmp_path / "broker=b").iterdir()] == ["part-00001.parquet"]


def begin_folder(parent: Path) -> None:
    with scratch_folder(parent) as folder:
        (folder / "in").mkdir()
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_scratch_folder_goes_when_the_next_is_made(tmp_path: Path) -> None:
    killed_in(lambda: begin_folder(tmp_path))
    (left,) = tmp_path.iterdir()
    with scratch_folder(tmp_path) as one, scratch_folder(tmp_path) as two:
        assert not left.exists()
        assert set(tmp_path.glob(SCRATCH_FOLDERS)) == {one, two}
    assert list(tmp_path.iterdir()) == []


PART = build.BuildPart("driver", "driver", (), (), lambda work, result: None)


def test_the_next_build_removes_the_leftovers_of_a_killed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENTRYCACHE_CACHE", str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda name: None)
    (tmp_path / "jvm").mkdir()
    killed_in(lambda: begin_folder(tmp_path / "jvm"))
    assert len(list((tmp_path / "jvm").glob(SCRATCH_FOLDERS))) == 1
    with pytest.raises(MissingPrerequisite, match="mvn"):
        build.build_part(PART)
    assert list((tmp_path / "jvm").glob(SCRATCH_FOLDERS)) == []


def test_a_build_on_a_full_disk_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("ENTRYCACHE_CACHE", str(tmp_path))
    monkeypatch.setattr(build, "_build_into", full)
    with pytest.raises(WriteError, match=r"cannot write .*driver-.*: No space left on device"):
        build.build_part(PART)
