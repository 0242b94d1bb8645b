"""The tests: one a rule and level, one an entry of the known failures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache_cli.plugin.running import Running
from entrycache_cli.plugin.shared import place_of
from entrycache_cli.report.failure_table import shown_table
from entrycache_cli.report.terminal import console
from entrycache_cli.report.told_once import Told, body, told_once
from entrycache_conformance.known.check import State
from entrycache_conformance.known.entry import Entry
from entrycache_protocol.errors import EntrycacheError
from entrycache_protocol.verdict import Verdict

NAME: Final = "entrycache"
RUNNING: Final = pytest.StashKey[Running]()


class Violated(Exception):
    """A rule is broken; the text is what a person is shown."""


class Group(pytest.Collector):
    """What all tests of a level stand below."""

    def collect(self) -> list[pytest.Item]:
        """They are not collected from a file."""
        return []


class OwnTest(pytest.Item):
    """One test of ours: its failure is told without a traceback."""

    def __init__(self, *, running: Running, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.running = running

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **kwargs: Any) -> Any:
        """The table; of a subject that is broken one line."""
        if isinstance(excinfo.value, Violated | EntrycacheError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, *args, **kwargs)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where the test stands: in no file."""
        return self.path, None, self.nodeid

    def levels(self) -> frozenset[str]:
        """The levels of all tests that were not left out."""
        return frozenset(item.level for item in self.session.items if isinstance(item, RuleTest))


class RuleTest(OwnTest):
    """A rule at a level."""

    def __init__(self, *, level: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.level = level

    def runtest(self) -> None:
        """Pass where it conforms; what was not decided is skipped."""
        knowing = self.running.report(self.levels())
        report = knowing.report
        level = report.levels[self.level]
        met = level.rules.get(self.name)
        if met is not None and met.verdict is Verdict.VIOLATES:
            raise Violated("\n".join(_text(one, self.name, self.level) for one in told_once(report.failures)).strip())
        for checked in knowing.checked:
            if checked.state is State.FAILS and checked.rule == self.name:
                pytest.xfail(checked.entry.reason)
        if met is None or met.verdict is Verdict.NOTHING_CHECKED or level.verdict is Verdict.NOTHING_CHECKED:
            ended = [one.rules[0] for one in report.failures if one.level == self.level]
            why = f"the search of this level ended at a failure of {ended[0]}: " if ended else ""
            pytest.skip(f"{why}it fired in {0 if met is None else met.fired} judged steps, too few to say anything")


class KnownTest(OwnTest):
    """An entry of the known failures: it is expected to fail just as it says."""

    def __init__(self, *, entry: Entry, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.entry = entry

    def runtest(self) -> None:
        """Fail where the entry is not true any more."""
        (checked,) = (one for one in self.running.report(self.levels()).checked if one.entry == self.entry)
        if checked.state is State.FAILS:
            pytest.xfail(self.entry.reason)
        if checked.state is State.ANOTHER:
            pytest.skip("it is about another subject")
        raise Violated(checked.line)


def _text(told: Told, rule: str, level: str) -> str:
    """A failure of that rule at that level, whole where it was found first."""
    failure = told.failure
    if rule not in failure.rules or level not in {one.level for one in (failure, *told.also)}:
        return ""
    if level != failure.level:
        return f"the failure that was found at level {failure.level} first\n{body(told)}"
    if failure.table is None:
        return body(told)
    out = console()
    with out.capture() as captured:
        out.print(shown_table(failure.table))
    rest = [line for line in body(told).splitlines() if not line.startswith((" ", ">", "config "))]
    return captured.get() + "\n".join(rest[1:])


def tests_of(session: pytest.Session, asked: Mapping[str, str]) -> list[pytest.Item]:
    """The tests of a subject.

    Raises:
        UsageError: of pytest, which ends with its exit code for wrong usage.
    """
    try:
        running = Running(asked, place_of(session.config))
    except EntrycacheError as error:
        raise pytest.UsageError(f"entrycache: {error}") from None
    session.config.add_cleanup(running.subject.close)
    tests: list[pytest.Item] = []
    for level, rules in running.rules().items():
        group = _group(session, level)
        tests += [RuleTest.from_parent(group, name=rule, level=level, running=running) for rule in rules]
    known = _group(session, "known")
    for entry in running.entries:
        tests.append(KnownTest.from_parent(known, name=f"{entry.number}-{entry.rule}", entry=entry, running=running))
    return tests


def _group(session: pytest.Session, name: str) -> Group:
    made: Group = Group.from_parent(session, name=name, nodeid=f"{NAME}::{name}")
    return made
