"""The public door under mypy --strict, as a user of the installed packages runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import entrycache_fast
import entrycache_protocol
from entrycache import check
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from tests.protocol.typed_user import Mine
from tests.support import ROOT

USER = Path(__file__).with_name("typed_user.py")


@pytest.mark.long
def test_the_file_of_a_user_is_clean_under_strict(tmp_path: Path) -> None:
    shutil.copy(USER, tmp_path / "user.py")
    folders = {str(Path(package.__path__[0]).parent) for package in (entrycache_fast, entrycache_protocol)}
    where = os.pathsep.join([*sorted(folders), str(ROOT / "reference")])
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--config-file=", "user.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": where},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_that_file_is_a_conforming_subject() -> None:
    check(Mine, levels=["range"], examples=60)
    subject = resolve_subject(SubjectChoice(None, command=f"{sys.executable} {USER}"))
    assert subject.declaration.ops == {"insert", "exists", "clear"}
    subject.close()
