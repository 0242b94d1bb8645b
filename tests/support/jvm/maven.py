"""Single jars from Maven Central, each held to its checksum."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from entrycache_conformance.java.build import NO_MAVEN
from entrycache_protocol.errors import MissingPrerequisite
from tests.support import ROOT

LOCK: Final = ROOT / "docs" / "findings" / "jars.lock"
"""The checksums."""
COPY: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"


def jar_from_maven(artifact: str, folder: Path) -> Path:
    """A jar, ``group:artifact:version:jar[:classifier]``, brought by Maven into a folder.

    Raises:
        MissingPrerequisite: Maven or the jar is not there, or it is not the pinned one.
    """
    fetched = _fetch(artifact)
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(fetched, folder / fetched.name))


@cache
def _fetch(artifact: str) -> Path:
    """Bring a jar into a folder of this process: many tests ask for the same one, and Maven starts once for it."""
    mvn = shutil.which("mvn")
    if mvn is None:
        raise MissingPrerequisite(NO_MAVEN)
    folder = Path(_folder().name)
    argv = [mvn, "-B", "-q", COPY, f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    _, name, version, _, *classifier = artifact.split(":")
    jar = folder / f"{'-'.join((name, version, *classifier))}.jar"
    if not jar.is_file():
        raise MissingPrerequisite(f"mvn could not resolve {artifact}: {done.stdout[:200]}")
    require_pinned(jar)
    return jar


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return the folder of the fetched jars, which goes with the process."""
    return tempfile.TemporaryDirectory()


def require_pinned(jar: Path) -> None:
    """Compare a jar with its checksum.

    Raises:
        MissingPrerequisite: it is not the pinned one.
    """
    pinned = {name: digest for digest, name in (line.split() for line in LOCK.read_text("utf-8").splitlines())}
    if hashlib.sha256(jar.read_bytes()).hexdigest() != pinned[jar.name]:
        raise MissingPrerequisite(f"{jar.name} is not the one that {LOCK.name} pins")
