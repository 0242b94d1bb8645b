"""The level of threads: whether a subject takes histories, and the rule that silence breaks."""

from __future__ import annotations

from typing import Final

from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_protocol.subject import Failed, Trouble
from entrycache_protocol.system import AnySystem, Histories
from entrycache_reference.rules import Rule

LEVEL: Final = "concurrent"
DEADLOCK: Final = "deadlock:"
"""How the message of an errored history begins that the subject itself has found to wait for ever."""


def promises_of(system: AnySystem) -> Histories:
    """What is promised in histories of that system.

    Raises:
        UsageError: it has no such level.
    """
    if system.histories is None:
        raise UsageError(f"{system.name} has no level {LEVEL}")
    return system.histories


def offers(declaration: Declaration) -> bool:
    """Whether a subject takes histories."""
    return declaration.system.histories is not None and declaration.limits.threads > 1


def is_proved(failed: Failed) -> bool:
    """Whether a history that failed needs no second time: the subject found a deadlock, or a step threw."""
    return failed.trouble is Trouble.ERRORED


def is_deadlock(failed: Failed) -> bool:
    """Whether the subject has found its threads to wait for each other."""
    return failed.trouble is Trouble.ERRORED and failed.message.startswith(DEADLOCK)


def rule_of(promises: Histories, failed: Failed) -> Rule:
    """The rule that a history without an answer breaks."""
    throws = failed.trouble is Trouble.ERRORED and not is_deadlock(failed)
    return promises.throws if throws and "does not end" not in failed.message else promises.ends
