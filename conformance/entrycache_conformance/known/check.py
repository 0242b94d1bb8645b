"""Replaying each known failure: whether it still fails, and in the same way."""

from __future__ import annotations

import dataclasses
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from entrycache_conformance.explain import explain
from entrycache_conformance.judge import Coverage, judge, play, trajectory
from entrycache_conformance.known.entry import Entry
from entrycache_conformance.known.running import Running, is_about, is_about_another
from entrycache_conformance.replay import fit
from entrycache_conformance.subjects.narrowed import Narrowed
from entrycache_protocol.errors import UsageError
from entrycache_protocol.failure import expected_json, got_json
from entrycache_protocol.strict_json import same_json
from entrycache_protocol.subject import Skipped, UnderTest
from entrycache_protocol.text import compact
from entrycache_reference.rules import Rule


class State(Enum):
    """What has become of a known failure."""

    FAILS = "fails as known"
    PASSES = "passes"
    DIFFERS = "differs"
    MATCHES_NOTHING = "matches nothing"
    ANOTHER = "another subject"


PROBLEMS = frozenset({State.PASSES, State.DIFFERS, State.MATCHES_NOTHING})
"""The states that fail a run."""


class Checked(NamedTuple):
    """A known failure, its state, why, and what it would say if it were written today (as far as that is known)."""

    entry: Entry
    state: State
    detail: str
    rule: str
    expected: Any
    got: Any

    @property
    def line(self) -> str:
        """One line for a person."""
        return f"{self.entry.label} {self.state.value}{': ' if self.detail else ''}{self.detail}"


def check(entry: Entry, folder: Path, subject: UnderTest, run: Running) -> Checked:
    """Replay one entry, if it is about this run."""
    if not is_about(entry, run):
        if is_about_another(entry):
            return _same(entry, State.ANOTHER, "")
        here = f"{' or '.join(sorted(run.names))} {run.version} ({run.system})"
        versions = ", ".join(entry.versions)
        detail = f"it is about {entry.subject} {versions} ({entry.system}), and this is {here}; correct or remove it"
        return _same(entry, State.MATCHES_NOTHING, detail)
    if entry.rule not in {rule.value for rule in Rule}:
        return _same(entry, State.MATCHES_NOTHING, "there is no such rule; correct or remove it")
    try:
        case = entry.read_case(folder)
        for played in (*case.earlier, case):
            fit(played, _without_limits(subject))
    except UsageError as error:
        return _same(entry, State.MATCHES_NOTHING, f"its case cannot be played: {error}")
    steps = trajectory(case, Coverage())
    answer = play(subject, case)
    if isinstance(answer, Skipped):
        return _same(entry, State.MATCHES_NOTHING, f"the subject declined its case: {answer.reason}")
    difference = judge(case, steps, answer, subject.declaration)
    if difference is None:
        return _same(entry, State.PASSES, "its case does as the rules say; remove the entry")
    got, expected = got_json(case.system, difference), expected_json(case.system, difference)
    rules = [rule.value for rule in explain(subject, case, steps, difference)]
    wrong = []
    if not same_answer(got, entry.got):
        wrong.append(f"the answer is {compact(got)}, the entry says {compact(entry.got)}")
    if not same_json(expected, entry.expected):
        wrong.append(f"the rules say {compact(expected)}, the entry says {compact(entry.expected)}")
    if entry.rule not in rules:
        wrong.append(f"it breaks {', '.join(rules)}, the entry says {entry.rule}")
    rule = entry.rule if entry.rule in rules else rules[0]
    state = State.DIFFERS if wrong else State.FAILS
    return Checked(entry, state, "; ".join(wrong), rule, expected, got)


def _without_limits(subject: UnderTest) -> UnderTest:
    """The subject without the limits that keep searches away from what is known."""
    return Narrowed(subject, dataclasses.replace(subject.declaration, limits=None))


def same_answer(one: Any, other: Any) -> bool:
    """Whether two answers are the same; of runs that failed only how they failed counts, not the message."""
    if type(one) is dict and type(other) is dict and "failed" in one and "failed" in other:
        return bool(one["failed"] == other["failed"])
    return same_json(one, other)


def _same(entry: Entry, state: State, detail: str) -> Checked:
    return Checked(entry, state, detail, entry.rule, entry.expected, entry.got)
