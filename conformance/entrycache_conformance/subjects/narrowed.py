"""A subject of which a run asks otherwise than it offers: fewer operations, settings that stay, no masks."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from entrycache_protocol.case import Case, config_to_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_protocol.history import History
from entrycache_protocol.subject import Answer, HistoryAnswer, UnderTest


class Narrowed:
    """The same subject with another declaration; what is sent to it is decided by its own."""

    def __init__(self, subject: UnderTest, declaration: Declaration) -> None:
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


def without(subject: UnderTest, ops: frozenset[str]) -> Narrowed:
    """The subject without some of its operations."""
    declaration = subject.declaration
    return Narrowed(subject, dataclasses.replace(declaration, ops=declaration.ops - ops))


def pinned(subject: UnderTest, config: Mapping[str, Any], source: Path) -> Narrowed:
    """The subject with these settings in every run; those that none of its operations show are left out.

    Raises:
        UsageError: the subject has one of them fixed to something else, or cannot be told it.
    """
    declaration = subject.declaration
    system = declaration.system
    levels = {system.ops[name].level for name in declaration.ops}
    shows_at = system.cases.shows_at
    config = {key: value for key, value in config.items() if key not in shows_at or shows_at[key] & levels}
    has = config_to_json(system, declaration.base_config())
    for key, value in config.items():
        there = has[key]
        if declaration.varies(key) or there == value:
            continue
        why = (
            f"has {key} fixed to {there!r}" if key in declaration.fixed else f"cannot be told {key} (it has {there!r})"
        )
        raise UsageError(f"{subject.name} {why}, but {source} makes it {value!r}")
    return Narrowed(subject, dataclasses.replace(declaration, fixed={**declaration.fixed, **config}))


ALL: Final = "all"
"""In place of a finding: every one that the subject names."""

SEVERAL: Final = ", "
"""Between the findings that one limit or variant stands for."""


def unmasked(subject: UnderTest, findings: Sequence[str], others: Collection[str] = ()) -> Narrowed:
    """The subject held to the norm where these findings stand: their limits, variants and fixed settings are off.

    `others`: findings that may be asked for though nothing masks them.

    Raises:
        UsageError: the subject masks no such finding.
    """
    declaration = subject.declaration
    named = sorted({finding for behind in declaration.findings.values() for finding in behind.split(SEVERAL)})
    for finding in findings:
        if finding not in (*named, *others, ALL):
            raise UsageError(f"{subject.name} masks no finding {finding!r}; it masks: {', '.join(named) or 'none'}")
    masks: dict[str, set[str]] = {"variants": set(), "limits": set(), "fixed": set()}
    off = {mask for mask, behind in declaration.findings.items() if {*behind.split(SEVERAL), ALL} & set(findings)}
    for mask in off:
        kind, _, name = mask.partition(".")
        masks[kind].add(name)
    return Narrowed(
        subject,
        dataclasses.replace(
            declaration,
            variants=_as_norm(declaration.variants or declaration.system.model.variants(), masks["variants"]),
            limits=_as_norm(declaration.limits, masks["limits"]),
            fixed={key: value for key, value in declaration.fixed.items() if key not in masks["fixed"]},
            findings={mask: behind for mask, behind in declaration.findings.items() if mask not in off},
        ),
    )


def _as_norm(values: Any, names: Collection[str]) -> Any:
    norm = type(values)()
    return dataclasses.replace(values, **{name: getattr(norm, name) for name in names})
