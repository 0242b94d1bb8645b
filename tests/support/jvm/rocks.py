"""RocksDB beside a release of Kafka Streams, for the programs that have stores on disk: a driver does without."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from entrycache_conformance.java.driver import JavaTestClasspath
from tests.support.jvm.maven import jar_from_maven

VERSIONS: Final = {"3.9.2": "7.9.2", "4.0.0": "9.7.3", "4.2.2": "10.1.3", "4.3.1": "10.1.3", "4.4.0": "10.1.3"}
"""That of each release; a release without a driver takes its neighbour's."""
NEEDED: Final = "their dependencies, RocksDB too."
"""The text at the head of a test that needs it."""
_RELEASE: Final = re.compile(r"kafka-streams-(\d+\.\d+\.\d+)\.jar")


def with_rocks(tools: JavaTestClasspath, folder: Path) -> JavaTestClasspath:
    """The class path of a release, with its RocksDB.

    Raises:
        MissingPrerequisite: Maven or the jar is not there.
    """
    version = _RELEASE.findall(tools.classpath)[-1]
    jar = jar_from_maven(f"org.rocksdb:rocksdbjni:{VERSIONS[version]}:jar", folder)
    return tools._replace(classpath=os.pathsep.join([tools.classpath, str(jar)]))


def needs_rocks(path: Path) -> bool:
    """Return whether a test says that it needs it."""
    return NEEDED in path.read_text("utf-8")


def as_needed(paths: Iterable[Path], tools: JavaTestClasspath, folder: Path) -> JavaTestClasspath:
    """The same where one of these tests says that it needs it.

    Raises:
        MissingPrerequisite: Maven or the jar is not there.
    """
    return with_rocks(tools, folder) if any(map(needs_rocks, paths)) else tools
