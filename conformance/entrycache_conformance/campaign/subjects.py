"""The subjects of a campaign: which ones, of which artifact, and what all of them take."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import entrycache_fast
from entrycache_conformance.java.classpath import jar_under_test
from entrycache_conformance.java.releases import examples
from entrycache_conformance.subjects.child import Child
from entrycache_conformance.subjects.jvm import is_released, released_command
from entrycache_conformance.subjects.resolve import in_process
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_protocol.in_process import InProcess

SILENT_SECONDS: Final = 120
"""A child that says nothing for so long is ended, and the campaign with it."""


def open_subject(name: str, system: str | None = None) -> Child | InProcess:
    """The subject of that name, one of ours or a released jar; `system`: which one of ours is to play.

    Raises:
        UsageError: there is no such subject.
    """
    if is_released(name):
        return Child(released_command(name), timeout_seconds=SILENT_SECONDS, name=name, prerequisites=True)
    subject = in_process(name, system)
    if subject is None:
        raise UsageError(f"unknown subject {name!r}; a campaign takes fast, or released jars such as {examples()[0]}")
    return subject


def artifact_of(name: str) -> dict[str, str]:
    """What a subject was played from, with its checksum: its jar, or our package."""
    if is_released(name):
        jar = jar_under_test(name)
        return {"jar": jar.name, "sha256": hashlib.sha256(jar.read_bytes()).hexdigest()}
    return {"package": "entrycache_fast", "sha256": digest_of(entrycache_fast.__path__[0])}


def common(subjects: Sequence[Child | InProcess]) -> Declaration:
    """What all of them take: their common operations and settings, under the narrowest of their limits.

    Raises:
        UsageError: two of them follow different variants, or not all of them carry payload.
    """
    first = subjects[0].declaration
    merged = first
    for subject in subjects[1:]:
        other = subject.declaration
        same = (other.system, other.variants, other.payload, other.fixed, other.introspection)
        if same != (first.system, first.variants, first.payload, first.fixed, first.introspection):
            raise UsageError(f"{subjects[0].name} and {subject.name} are not alike; give each a campaign of its own")
        merged = dataclasses.replace(
            merged,
            ops=merged.ops & other.ops,
            config=merged.sent_keys & other.sent_keys,
            limits=merged.limits.narrowest(other.limits),
        )
    return merged


def digest_of(folder: str) -> str:
    """One checksum of all Python sources in a folder."""
    content = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*.py")):
        content.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return content.hexdigest()
