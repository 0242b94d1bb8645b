"""One run for all workers of pytest-xdist: the first that needs it makes it, the others wait and read it."""

from __future__ import annotations

import fcntl
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from entrycache_cli.definition import definition_for
from entrycache_cli.report.content import DistinctFailure, add_metadata, deduplicate, failure_text, run_metadata
from entrycache_cli.report.run_text import failure_table
from entrycache_cli.report.terminal import make_console
from entrycache_conformance.check import check
from entrycache_conformance.known import EntryState, KnownFailure, KnownReport, conform_with_known, read_known_failures
from entrycache_conformance.levels import PROFILES, find_rule_levels, select_levels
from entrycache_conformance.report import RunReport
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.run import Options, conform
from entrycache_protocol.author import Subject
from entrycache_protocol.errors import EntrycacheError, UsageError, Verdict

Answer = KnownReport | Exception
"""What a run gives all tests: its report, or why there is none."""


def shared_folder(config: pytest.Config) -> Path | None:
    """The folder that the workers of this session share; None where there is one process only."""
    if not hasattr(config, "workerinput"):
        return None
    return Path(config.getoption("basetemp")).parent


def run_once(place: Path | None, make: Callable[[], Answer]) -> Answer:
    """What `make` gives, in one of the processes that share this folder; the others read what it has left there."""
    if place is None:
        return make()
    kept = place / "entrycache-run"
    with (place / "entrycache-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if kept.exists():
            found: Answer = pickle.loads(kept.read_bytes())  # this session has written it
            return found
        answer = make()
        kept.write_bytes(pickle.dumps(_without_cases(answer)))
        return answer


def _without_cases(answer: Answer) -> Answer:
    """The answer without the failing cases, which stand in files."""
    if isinstance(answer, Exception):
        return answer
    report = replace(answer.report, failures=tuple(replace(each, found=None) for each in answer.report.failures))
    return KnownReport(report, answer.checked, ())


# --- running
# One run of the suite that all tests of a session share: it begins with the first of them.


class SharedRun:
    """The subject of a session, the tests there are of it, and the report once there is one."""

    def __init__(self, asked: Mapping[str, str], place: Path | None = None) -> None:
        """Start the subject; `place`: the folder that several processes share, which make one run together.

        Raises:
            EntrycacheError: there is no such subject, level, profile or file, or it does not start.
        """
        self._place = place
        self._profile, self._seed = asked["profile"] or "dev", parse_seed(asked["seed"])
        if self._profile not in PROFILES:
            raise UsageError(f"unknown profile {self._profile!r}; expected one of: {', '.join(PROFILES)}")
        self._failures = Path(asked["failures"] or "entrycache-failures")
        self._known = Path(asked["known"]) if asked["known"] else None
        self.entries: tuple[KnownFailure, ...] = () if self._known is None else read_known_failures(self._known)
        name, command, system = (asked[key] or None for key in ("subject", "command", "system"))
        self._choice = SubjectChoice(name, command, None, system)
        self.subject = resolve_subject(self._choice)
        levels = [level for part in asked["levels"].split(",") if (level := part.strip())]
        try:
            self.levels = select_levels(self.subject.declaration, levels)
        except UsageError:
            self.subject.close()
            raise
        self._answer: KnownReport | Exception | None = None

    def rules(self) -> dict[str, list[str]]:
        """Of each level the rules that can be met there with what the subject offers."""
        declaration = self.subject.declaration
        order = [*declaration.system.levels, *self.levels]
        met = find_rule_levels(declaration.system).items()
        return {
            level: [
                rule
                for rule, first in met
                if (first.level == level if not first.ops else set(first.ops) & declaration.ops)
                and order.index(first.level) <= order.index(level)
                and bool(first.ops) == (level in declaration.system.levels)
            ]
            for level in self.levels
        }

    def report(self, levels: frozenset[str]) -> KnownReport:
        """The report of these levels, made once.

        Raises:
            EntrycacheError: the subject is broken; for each test anew.
        """
        if self._answer is None:
            asked = tuple(level for level in self.levels if level in levels)
            self._answer = run_once(self._place, lambda: self._tried(asked))
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    def _tried(self, levels: tuple[str, ...]) -> KnownReport | Exception:
        try:
            return self._run(levels)
        except Exception as error:
            return error

    def _run(self, levels: tuple[str, ...]) -> KnownReport:
        definition = definition_for(self.subject)
        options = Options(levels, PROFILES[self._profile], self._seed, 0.0, self._failures, definition=definition)
        told = run_metadata(self.subject, self._profile, self._seed, 0.0)

        def whole(report: RunReport) -> RunReport:
            return add_metadata(report, told, self._choice)

        if self._known is None:
            return KnownReport(whole(conform(self.subject, options)), (), ())
        knowing = conform_with_known(self.subject, options, self.entries, self._known.parent, lambda *_: None)
        return knowing._replace(report=whole(knowing.report))


def parse_seed(text: str) -> int:
    """The seed that is asked for; 0 where none is.

    Raises:
        UsageError: it is no whole number.
    """
    try:
        return int(text or "0")
    except ValueError:
        raise UsageError(f"the seed is {text!r}; expected a whole number") from None


# --- items
# The tests: one a rule and level, one an entry of the known failures.

NAME: Final = "entrycache"
RUNNING: Final = pytest.StashKey[SharedRun]()


class RuleViolated(Exception):
    """A rule is broken; the text is what a person is shown."""


class LevelGroup(pytest.Collector):
    """What all tests of a level stand below."""

    def collect(self) -> list[pytest.Item]:
        """They are not collected from a file."""
        return []


class OwnTest(pytest.Item):
    """One test of ours: its failure is told without a traceback."""

    def __init__(self, *, running: SharedRun, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.running = running

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **kwargs: Any) -> Any:
        """The table; of a subject that is broken one line."""
        if isinstance(excinfo.value, RuleViolated | EntrycacheError):
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
            raise RuleViolated(
                "\n".join(_failure_of_rule(one, self.name, self.level) for one in deduplicate(report.failures)).strip()
            )
        for checked in knowing.checked:
            if checked.state is EntryState.FAILS and checked.rule == self.name:
                pytest.xfail(checked.entry.reason)
        if met is None or met.verdict is Verdict.NOTHING_CHECKED or level.verdict is Verdict.NOTHING_CHECKED:
            ended = [one.rules[0] for one in report.failures if one.level == self.level]
            why = f"the search of this level ended at a failure of {ended[0]}: " if ended else ""
            pytest.skip(f"{why}it fired in {0 if met is None else met.fired} judged steps, too few to say anything")


class KnownTest(OwnTest):
    """An entry of the known failures: it is expected to fail just as it says."""

    def __init__(self, *, entry: KnownFailure, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.entry = entry

    def runtest(self) -> None:
        """Fail where the entry is not true any more."""
        (checked,) = (one for one in self.running.report(self.levels()).checked if one.entry == self.entry)
        if checked.state is EntryState.FAILS:
            pytest.xfail(self.entry.reason)
        if checked.state is EntryState.ANOTHER:
            pytest.skip("it is about another subject")
        raise RuleViolated(checked.line)


def _failure_of_rule(told: DistinctFailure, rule: str, level: str) -> str:
    """A failure of that rule at that level, whole where it was found first."""
    failure = told.failure
    if rule not in failure.rules or level not in {one.level for one in (failure, *told.also)}:
        return ""
    if level != failure.level:
        return f"the failure that was found at level {failure.level} first\n{failure_text(told)}"
    if failure.table is None:
        return failure_text(told)
    out = make_console()
    with out.capture() as captured:
        out.print(failure_table(failure.table))
    rest = [line for line in failure_text(told).splitlines() if not line.startswith((" ", ">", "config "))]
    return captured.get() + "\n".join(rest[1:])


def collect_tests(session: pytest.Session, asked: Mapping[str, str]) -> list[pytest.Item]:
    """The tests of a subject.

    Raises:
        UsageError: of pytest, which ends with its exit code for wrong usage.
    """
    try:
        running = SharedRun(asked, shared_folder(session.config))
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


def _group(session: pytest.Session, name: str) -> LevelGroup:
    made: LevelGroup = LevelGroup.from_parent(session, name=name, nodeid=f"{NAME}::{name}")
    return made


# --- fixture
# The fixture: a class of an author, judged where the test runs.


class Checks(NamedTuple):
    """What the command line of pytest says of checks: the seed, and the folder for case files; empty: 0, and none."""

    seed: str
    failures: str

    def __call__(self, subject: type[Subject], levels: Sequence[str] | None = None, examples: int = 400) -> None:
        """See `entrycache.check`.

        Raises:
            AssertionError: it breaks a rule, or nothing was checked.
            EntrycacheError: the class is no subject.
        """
        __tracebackhide__ = True
        check(subject, levels, examples, parse_seed(self.seed), Path(self.failures) if self.failures else None)
