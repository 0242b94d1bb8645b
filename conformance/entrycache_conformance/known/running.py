"""Which subject a run is about, and whether an entry is about it, about another one, or about none."""

from __future__ import annotations

from fnmatch import fnmatchcase
from importlib.metadata import version
from typing import NamedTuple

from entrycache_conformance.java.releases import versions
from entrycache_conformance.known.entry import Entry
from entrycache_conformance.subjects.resolve import is_ours
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.subject import UnderTest


class Running(NamedTuple):
    """The subject under test under each of its names, its version ("" where it says none), and the system."""

    names: frozenset[str]
    version: str
    system: str


def running(subject: UnderTest) -> Running:
    """What a run is about."""
    implementation = subject.declaration.implementation
    said = str(implementation.get("version") or "")
    name, _, after = subject.name.partition(":")
    names = {subject.name, str(implementation.get("name") or subject.name)}
    if after and after == said:
        names.add(name)
    return Running(frozenset(names), said, subject.declaration.system.name)


def is_about(entry: Entry, run: Running) -> bool:
    """Whether an entry is about this run's subject, in this version."""
    return entry.system == run.system and entry.subject in run.names and _covers(entry, run.version)


def is_about_another(entry: Entry) -> bool:
    """Whether an entry is about another subject that this suite can run by its name."""
    if entry.system not in SYSTEMS:
        return False
    if is_ours(entry.subject):
        return _covers(entry, version("entrycache"))
    name, _, release = entry.subject.partition(":")
    jvm = SYSTEMS[entry.system].jvm
    if jvm is None or name != jvm.called:
        return False
    return any(_covers(entry, one) for one in versions(jvm.name) if release in {"", one})


def _covers(entry: Entry, said: str) -> bool:
    """Whether `versions`, which may hold * and ?, names a version."""
    return any(fnmatchcase(said, pattern) for pattern in entry.versions)
