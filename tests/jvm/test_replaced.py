"""A class path in front of a release says how many classes it replaces; one that replaces none is refused."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from entrycache_conformance.java.driver import driver
from entrycache_conformance.java.releases import release_of
from entrycache_conformance.java.replaced import classes
from entrycache_conformance.subjects.jvm import released_command
from entrycache_protocol.errors import MissingPrerequisite, UsageError

SUBJECT = "pulsar:4.2.4"
CLASS = "org/apache/bookkeeper/mledger/impl/cache/RangeCache.class"


@pytest.fixture(scope="module")
def tested() -> Path:
    try:
        return driver(release_of(SUBJECT)).tested_jar
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))


def folder_with(tested: Path, folder: Path, place: str) -> Path:
    with zipfile.ZipFile(tested) as jar:
        content = jar.read(CLASS)
    (folder / place / CLASS).parent.mkdir(parents=True)
    (folder / place / CLASS).write_bytes(content)
    return folder


@pytest.mark.parametrize("kind", ["empty folder", "a level off", "text called a jar", "another jar"])
def test_what_replaces_nothing_is_refused(kind: str, tested: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.jar"
    if kind == "empty folder":
        path.mkdir()
    elif kind == "a level off":
        folder_with(tested, path, "classes")
    elif kind == "text called a jar":
        path.write_text("no jar")
    else:
        with zipfile.ZipFile(path, "w") as jar:
            jar.writestr("org/example/Other.class", b"")
    with pytest.raises(UsageError, match=r"is no jar|replaces no class of managed-ledger-4\.2\.4\.jar"):
        released_command(SUBJECT, str(path))


def test_what_replaces_some_says_how_many(tested: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_with(tested, tmp_path / "classes", ".")
    copy, others = shutil.copy(tested, tmp_path / "copy.jar"), len(classes(tested)) - 1
    released_command(SUBJECT, f"{folder}:{copy}")
    err = capsys.readouterr().err.splitlines()
    assert err[0] == f"entrycache: {folder}: 1 classes of managed-ledger-4.2.4.jar come from here"
    assert err[1] == f"entrycache: {copy}: {others} classes of managed-ledger-4.2.4.jar come from here"


def test_without_one_nothing_is_said(tested: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tested
    released_command(SUBJECT)
    assert capsys.readouterr().err == ""
