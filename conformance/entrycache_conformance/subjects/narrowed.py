"""A subject of which a run asks less than it offers: fewer operations, or settings that stay as they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from entrycache_conformance.case import Case
from entrycache_conformance.declaration import Declaration
from entrycache_conformance.history import History
from entrycache_conformance.subjects.subject import Answer, HistoryAnswer, Subject
from entrycache_reference.errors import UsageError


class Narrowed:
    """The same subject with a narrower declaration; what is sent to it is decided by its own."""

    def __init__(self, subject: Subject, declaration: Declaration) -> None:
        self.subject = subject
        self._declaration = declaration

    @property
    def name(self) -> str:
        """How reports call it."""
        return self.subject.name

    @property
    def declaration(self) -> Declaration:
        """What a run may ask."""
        return self._declaration

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        """The answers, one a case, in order."""
        return self.subject.play(cases)

    def play_histories(self, histories: Sequence[History]) -> list[HistoryAnswer]:
        """The answers, one a history, in order."""
        return self.subject.play_histories(histories)

    def close(self) -> None:
        """Let go of the subject."""
        self.subject.close()


def without(subject: Subject, ops: frozenset[str]) -> Narrowed:
    """The subject without some of its operations."""
    declaration = subject.declaration
    return Narrowed(subject, dataclasses.replace(declaration, ops=declaration.ops - ops))


CURSORS: Final = frozenset({"grace_millis", "evict_by_expected_reads", "evict_by_mark_deleted"})
"""Settings that show in operations of the levels `cursors` and `ledger` only."""


def pinned(subject: Subject, config: Mapping[str, Any], source: Path) -> Narrowed:
    """The subject with these settings in every run; those that none of its operations show are left out.

    Raises:
        UsageError: the subject has one of them fixed to something else, or cannot be told it.
    """
    declaration = subject.declaration
    has = declaration.base_config()
    shown = declaration.ops & {name for name, op in declaration.system.ops.items() if op.level in {"cursors", "ledger"}}
    config = {key: value for key, value in config.items() if shown or key not in CURSORS}
    for key, value in config.items():
        there = getattr(has, "effective_grace_millis" if key == "grace_millis" else key)
        if declaration.varies(key) or there == value:
            continue
        why = (
            f"has {key} fixed to {there!r}" if key in declaration.fixed else f"cannot be told {key} (it has {there!r})"
        )
        raise UsageError(f"{subject.name} {why}, but {source} makes it {value!r}")
    return Narrowed(subject, dataclasses.replace(declaration, fixed={**declaration.fixed, **config}))
