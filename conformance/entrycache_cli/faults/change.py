"""Released jars with one instruction changed each: what a conformance run must find.

A change keeps every length, so no offset, no stack map and no constant of the class file moves.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from entrycache_conformance.java.classpath import jar_under_test


class Change(NamedTuple):
    """Bytes of one class that occur once there, and the bytes to put in their place."""

    subject: str
    """The release whose jar is changed."""
    class_name: str
    """With its folders."""
    instructions: bytes
    """A regular expression; what its group ``new`` matches is replaced."""
    new: bytes
    what: str = ""
    """What is wrong then, for the page of faults; empty: it does not stand there."""
    levels: tuple[str, ...] = ()
    """The levels at which the page has it looked for."""


def write_changed_jars(out: Path, changes: Mapping[str, Change]) -> dict[str, Path]:
    """The changed jars by name; those that stand in the folder already are taken as they are."""
    return {name: write_changed_jar(change, out / f"{name}.jar") for name, change in changes.items()}


def write_changed_jar(change: Change, jar: Path) -> Path:
    """The released jar with one class changed."""
    if not jar.exists():
        jar.parent.mkdir(parents=True, exist_ok=True)
        scratch = jar.with_suffix(".part")
        with (
            zipfile.ZipFile(jar_under_test(change.subject)) as released,
            zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED) as changed,
        ):
            for name in released.namelist():
                content = released.read(name)
                if name == f"{change.class_name}.class":
                    content = _changed(content, change)
                changed.writestr(name, content)
        scratch.replace(jar)
    return jar


def _changed(content: bytes, change: Change) -> bytes:
    found = list(re.finditer(change.instructions, content, re.DOTALL))
    if len(found) != 1 or len(found[0]["new"]) != len(change.new):
        raise ValueError(f"{len(found)} places in {change.class_name} for {change.instructions!r}, expected one")
    start, end = found[0].span("new")
    return content[:start] + change.new + content[end:]
