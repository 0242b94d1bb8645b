"""Errors that a user can cause or has to know of; each says in one line what is wrong and what to do."""

from __future__ import annotations

from typing import ClassVar


class EntrycacheError(Exception):
    """An error with a message for a person and an exit code for a script."""

    exit_code: ClassVar[int] = 2


class UsageError(EntrycacheError):
    """Wrong usage or unusable input (exit 2)."""

    exit_code = 2


class Unwritten(UsageError):
    """A file could not be written (exit 2, after what was found has been said)."""


class BrokenSubject(EntrycacheError):
    """The implementation under test does not speak the protocol (exit 3)."""

    exit_code = 3


class NotAgain(BrokenSubject):
    """It could be started once, and not again (exit 3, where nothing was found before)."""


class MissingPrerequisite(EntrycacheError):
    """A tool or library that this command needs is not there (exit 4)."""

    exit_code = 4


class OurError(AssertionError):
    """The suite contradicts itself: an error of ours, never the subject's (exit 70)."""
