"""A class path in front of a release reports how many classes it replaces; one that replaces none is refused."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from entrycache_conformance.java.driver import build_driver, list_classes, released_command
from entrycache_conformance.java.releases import require_release
from entrycache_protocol.errors import MissingPrerequisite, UsageError

SUBJECT = "pulsar:4.2.4"
CLASS = "org/apache/bookkeeper/mledger/impl/cache/RangeCache.class"


@pytest.fixture(scope="module")
def released_jar() -> Path:
    try:
        return build_driver(require_release(SUBJECT)).tested_jar
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))


def folder_with(released_jar: Path, folder: Path, place: str) -> Path:
    with zipfile.ZipFile(released_jar) as jar:
        content = jar.read(CLASS)
    (folder / place / CLASS).parent.mkdir(parents=True)
    (folder / place / CLASS).write_bytes(content)
    return folder


NOTHING = r"replaces no class of managed-ledger-4\.2\.4\.jar, .* in which a class lies as org/apache/"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("empty folder", NOTHING),
        ("a level off", NOTHING),
        ("text called a jar", r"x\.jar is no jar and no folder of classes"),
        ("another jar", NOTHING),
    ],
)
def test_what_replaces_nothing_is_refused(kind: str, said: str, released_jar: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.jar"
    if kind == "empty folder":
        path.mkdir()
    elif kind == "a level off":
        folder_with(released_jar, path, "classes")
    elif kind == "text called a jar":
        path.write_text("no jar")
    else:
        with zipfile.ZipFile(path, "w") as jar:
            jar.writestr("org/example/Other.class", b"")
    with pytest.raises(UsageError, match=said):
        released_command(SUBJECT, str(path))


def test_what_replaces_some_says_how_many(
    released_jar: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_with(released_jar, tmp_path / "classes", ".")
    copy, others = shutil.copy(released_jar, tmp_path / "copy.jar"), len(list_classes(released_jar)) - 1
    released_command(SUBJECT, f"{folder}:{copy}")
    err = capsys.readouterr().err.splitlines()
    assert err[0] == f"entrycache: {folder}: 1 classes of managed-ledger-4.2.4.jar come from here"
    assert err[1] == f"entrycache: {copy}: {others} classes of managed-ledger-4.2.4.jar come from here"


def test_an_entry_that_those_before_hide_is_refused(released_jar: Path, tmp_path: Path) -> None:
    folder = folder_with(released_jar, tmp_path / "fix", ".")
    with pytest.raises(UsageError, match="fix: entries before it on the class path hold all its classes"):
        released_command(SUBJECT, f"{released_jar}:{folder}")


@pytest.mark.usefixtures("released_jar")
def test_without_one_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    released_command(SUBJECT)
    assert capsys.readouterr().err == ""
