"""TLC on this machine: its jar by Maven, pinned by checksum, and a Java that runs it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java.build import JDK_OLDEST, Part, built
from entrycache_conformance.java.driver import verified
from entrycache_conformance.java.jdk import find_java

MODULE: Final = "tlc"
"""The part of the Maven project that names the jar."""


class Tools(NamedTuple):
    """A Java and the jar of TLC."""

    java: str
    jar: Path


def _keep(work: Path, result: Path) -> None:
    (work / MODULE / "target" / "lib").rename(result / "lib")
    (work / MODULE / "jars.lock").rename(result / "jars.lock")


@cache
def tools() -> Tools:
    """What runs TLC; its jar is resolved once.

    Raises:
        MissingPrerequisite: Java, Maven or the jar are not there.
    """
    part = Part(name=MODULE, what="jar of TLC", modules=(MODULE,), depends_on=("pom.xml", MODULE), keep=_keep)
    (jar,) = verified(built(part))
    return Tools(find_java(JDK_OLDEST).program, jar)
