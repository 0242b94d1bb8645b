"""From what a user names to a subject."""

from __future__ import annotations

import shlex
import sys
from typing import NamedTuple

from entrycache_conformance.subjects import reference
from entrycache_conformance.subjects.child import Child
from entrycache_conformance.subjects.in_process import InProcess
from entrycache_conformance.subjects.jvm import is_released, released_command
from entrycache_conformance.systems.kafka_streams import fast as streams_fast
from entrycache_conformance.systems.pulsar_pip430 import fast
from entrycache_faults.fast import EXHIBITS
from entrycache_faults.fast.planted import Planted
from entrycache_faults.fast.streams import STREAM_EXHIBITS
from entrycache_faults.reference.kafka_streams.threads import THREAD_FAULTS
from entrycache_protocol.errors import UsageError
from entrycache_protocol.subject import Subject
from entrycache_protocol.system import system_named
from entrycache_reference import kafka_streams


class Choice(NamedTuple):
    """What the command line says of the subject."""

    name: str | None
    command: str | None = None
    classpath: str | None = None
    system: str | None = None
    timeout_seconds: float = 10.0


NAMES = "reference, fast, pulsar:4.2.4, kafka-streams:4.3.1, or an exhibit (entrycache museum lists them)"
"""The subjects that have a name of their own."""


def in_process(name: str, system: str | None = None) -> InProcess | None:
    """The subject of this process that has this name, if any; one that has several is of Pulsar's without a system.

    Raises:
        UsageError: there is no such system.
    """
    if name == "reference":
        return reference.reference() if system is None else reference.reference(system_named(system).name)
    if name in THREAD_FAULTS:
        return reference.reference(kafka_streams.NAME, name, THREAD_FAULTS[name])
    if name in STREAM_EXHIBITS or (name == "fast" and system == kafka_streams.NAME):
        planted = STREAM_EXHIBITS.get(name, Planted())
        offered = {kafka_streams.NAME: streams_fast.SHARED_DECLARATION if name == "fast" else streams_fast.DECLARATION}
        opened = streams_fast.open_shared if name == "fast" else None
        return InProcess(name, lambda config: streams_fast.open_streams(config, *planted), offered, opened)
    if name == "fast" or name in EXHIBITS:
        cache_type = EXHIBITS.get(name, fast.BrokerCache)
        offer = {"pulsar-pip430": fast.DECLARATION}
        return InProcess(name, lambda config: fast.open_fast(config, cache_type), offer)
    return None


def resolve(choice: Choice) -> Subject:
    """The subject that is meant; the caller closes it.

    Exhibits run behind the protocol, because some of them never answer.

    Raises:
        UsageError: no such subject, or options that do not go together.
        MissingPrerequisite: what the subject needs is not there.
        BrokenSubject: it does not start.
    """
    name = choice.name or "fast"
    if choice.command is not None:
        if choice.classpath is not None:
            raise UsageError("--command and --classpath do not go together")
        argv = _argv(choice.command)
        return Child(argv, choice.system, choice.timeout_seconds, choice.name)
    if is_released(name):
        argv = released_command(name, choice.classpath)
        return Child(argv, choice.system, choice.timeout_seconds, name, prerequisites=True)
    if choice.classpath is not None:
        raise UsageError(f"--classpath goes with a released jar such as pulsar:4.2.4, not with {name!r}")
    if name in EXHIBITS or name in STREAM_EXHIBITS or name in THREAD_FAULTS:
        argv = [sys.executable, "-m", "entrycache_cli", "serve", name]
        return Child(argv, choice.system, choice.timeout_seconds, name)
    subject = in_process(name, choice.system)
    if subject is None:
        raise UsageError(f"unknown subject {name!r}; expected {NAMES}, or --command CMD")
    if choice.system is not None and choice.system != subject.declaration.system.name:
        offered = subject.declaration.system.name
        raise UsageError(f"{name} does not offer {choice.system!r}; it offers: {offered}")
    return subject


def _argv(command: str) -> list[str]:
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--command cannot be read: {error}") from None
    if not argv:
        raise UsageError("--command is empty; expected a program and its arguments")
    return argv
