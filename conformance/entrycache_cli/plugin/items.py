"""The tests of the plugin: one for each rule and level, one for each entry of the known failures, and state machines.

`collect_tests` starts the subject and adds the tests. The first test that runs makes one run of the suite
(`SharedRun`), and every test reads its own verdict from that report. With pytest-xdist the workers share the run:
`run_once` lets one process make it and the others read its result from a file. `Checks` is the fixture `entrycache`,
which checks a class in the process of the test.
"""

import fcntl
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from entrycache_cli.commands.options import definition_for
from entrycache_cli.plugin import EXCEPTION, NODE_PREFIX
from entrycache_cli.report import content, run_text, terminal
from entrycache_conformance import resolve, run
from entrycache_conformance.check import check
from entrycache_conformance.known import EntryState, KnownFailure, KnownReport, conform_with_known, read_known_failures
from entrycache_conformance.levels import PROFILES, find_rule_levels, select_levels
from entrycache_conformance.report import RuleReport, RunReport
from entrycache_protocol import errors, server

Answer = KnownReport | Exception
"""The result of a run for all tests: its report, or the error that prevented it."""


def shared_folder(config: pytest.Config) -> Path | None:
    """Return the folder that the workers of this session share; return None if there is one process only."""
    if not hasattr(config, "workerinput"):
        return None
    return Path(config.getoption("basetemp")).parent


def run_once(place: Path | None, make: Callable[[], Answer]) -> Answer:
    """Return the result of `make`, which one of the processes that share a folder calls; the others read its result."""
    if place is None:
        return make()
    result_file = place / "entrycache-run"
    with (place / "entrycache-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if result_file.exists():
            loaded: Answer = pickle.loads(result_file.read_bytes())  # this session has written it
            return loaded
        answer = make()
        result_file.write_bytes(pickle.dumps(_without_cases(answer)))
        return answer


def _without_cases(answer: Answer) -> Answer:
    """Return the answer without failing cases, which stand in files."""
    if isinstance(answer, Exception):
        return answer
    report = replace(answer.report, failures=tuple(replace(each, source=None) for each in answer.report.failures))
    return KnownReport(report, answer.checked, ())


class SharedRun:
    """The subject of a session, its tests, and the report of its run."""

    def __init__(self, requested: Mapping[str, str], place: Path | None = None) -> None:
        """Start the subject; `place`: the folder that several processes share, which make one run together.

        Raises:
            EntrycacheError: there is no such subject, level, profile or file, or it does not start.
        """
        self._place = place
        self._profile, self.seed = requested["profile"] or "dev", parse_seed(requested["seed"])
        if self._profile not in PROFILES:
            raise errors.UsageError(f"unknown profile {self._profile!r}; expected one of: {', '.join(PROFILES)}")
        self._failures = Path(requested["failures"] or "entrycache-failures")
        self._known = Path(requested["known"]) if requested["known"] else None
        self.entries: tuple[KnownFailure, ...] = () if self._known is None else read_known_failures(self._known)
        name, command, system = (requested[key] or None for key in ("subject", "command", "system"))
        self._choice = resolve.SubjectChoice(name, command, None, system)
        self.subject = resolve.resolve_subject(self._choice)
        levels = [level for part in requested["levels"].split(",") if (level := part.strip())]
        try:
            self.levels = select_levels(self.subject.declaration, levels)
        except errors.UsageError:
            self.subject.close()
            raise
        self._answer: KnownReport | Exception | None = None

    def machine(self, level: str) -> Any:
        """Return the state machine of a level; its subject is one of its own."""
        from entrycache_conformance.state_machine import build_state_machine  # noqa: PLC0415 - slow to import

        name, command, _, system = self._choice[:4]
        return build_state_machine(name, system, level, None, command, self._failures)

    def machine_levels(self) -> list[str]:
        """Return the levels that a state machine can test."""
        declaration = self.subject.declaration
        return [level for level in self.levels if declaration.system.own_ops(level) & declaration.ops]

    def rules(self) -> dict[str, list[str]]:
        """Return for each level the rules that the subject's operations can check there."""
        declaration = self.subject.declaration
        order = [*declaration.system.levels, *self.levels]
        level_rule = find_rule_levels(declaration.system).items()
        return {
            level: [
                rule
                for rule, first in level_rule
                if (first.level == level if not first.ops else set(first.ops) & declaration.ops)
                and order.index(first.level) <= order.index(level)
                and bool(first.ops) == (level in declaration.system.levels)
            ]
            for level in self.levels
        }

    def report(self, levels: frozenset[str]) -> KnownReport:
        """Return the report of these levels; the first call makes it.

        Raises:
            EntrycacheError: the subject is broken; each test raises it again.
        """
        if self._answer is None:
            requested = tuple(level for level in self.levels if level in levels)
            self._answer = run_once(self._place, lambda: self._run_or_error(requested))
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    def _run_or_error(self, levels: tuple[str, ...]) -> KnownReport | Exception:
        try:
            return self._run(levels)
        except Exception as error:
            return error

    def _run(self, levels: tuple[str, ...]) -> KnownReport:
        definition = definition_for(self.subject)
        options = run.Options(levels, PROFILES[self._profile], self.seed, 0.0, self._failures, definition=definition)
        metadata = content.run_metadata(self.subject, self._profile, self.seed, 0.0)

        def whole(report: RunReport) -> RunReport:
            return content.add_metadata(report, metadata, self._choice)

        if self._known is None:
            known_report = KnownReport(run.conform(self.subject, options), (), ())
        else:
            known_report = conform_with_known(self.subject, options, self.entries, self._known.parent, lambda *_: None)
        self.subject.close()  # it refuses a subject that answers more than was asked
        return known_report._replace(report=whole(known_report.report))


def parse_seed(text: str) -> int:
    """Return the requested seed, or 0.

    Raises:
        UsageError: it is not a whole number.
    """
    try:
        return int(text or "0")
    except ValueError:
        raise errors.UsageError(f"the seed is {text!r}; expected a whole number") from None


RUNNING: Final = pytest.StashKey[SharedRun]()


class RuleViolated(Exception):
    """The error of a test whose rule is broken; its text is for people."""


class LevelGroup(pytest.Collector):
    """The parent of all tests of a level."""

    def collect(self) -> list[pytest.Item]:
        """Return no tests, because they do not come from a file."""
        return []


class OwnTest(pytest.Item):
    """A test whose failure is reported without a traceback."""

    def __init__(self, *, running: SharedRun, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.running = running

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **kwargs: Any) -> Any:
        """Return the table of the failure, or one line for a broken subject."""
        if isinstance(excinfo.value, RuleViolated | errors.EntrycacheError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, *args, **kwargs)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the place of the test, which is in no file."""
        return self.path, None, self.nodeid

    def levels(self) -> frozenset[str]:
        """Return the levels of all tests that were selected."""
        return frozenset(item.level for item in self.session.items if isinstance(item, RuleTest))


class RuleTest(OwnTest):
    """The test of a rule at a level."""

    def __init__(self, *, level: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.level = level

    def runtest(self) -> None:
        """Pass if the rule conforms, and skip the test if the rule was not decided.

        A failure that no test of its level is about, such as a step that never ends, fails each of them.
        """
        known_report = self.running.report(self.levels())
        report = known_report.report
        self.user_properties += [(EXCEPTION, line) for line in content.exception_lines(report.exceptions)]
        tested = set(self.running.rules()[self.level])
        unnamed = [one for one in report.failures if one.level == self.level and not tested & set(one.rules)]
        if unnamed:
            raise RuleViolated("\n".join(content.failure_text(one) for one in content.deduplicate(unnamed)))
        level = report.levels[self.level]
        level_rule = level.rules.get(self.name)
        if level_rule is not None and level_rule.verdict is errors.Verdict.VIOLATES:
            raise RuleViolated(
                "\n".join(
                    _failure_of_rule(one, self.name, self.level) for one in content.deduplicate(report.failures)
                ).strip()
            )
        for checked in known_report.checked:
            if checked.state is EntryState.FAILS and checked.rule == self.name:
                pytest.xfail(checked.entry.reason)
        if (
            level_rule is None
            or level_rule.verdict is errors.Verdict.NOTHING_CHECKED
            or level.verdict is errors.Verdict.NOTHING_CHECKED
        ):
            failed_rules = [one.rules[0] for one in report.failures if one.level == self.level]
            why = f"the search of this level ended at a failure of {failed_rules[0]}: " if failed_rules else ""
            unchecked = RuleReport(0, errors.Verdict.NOTHING_CHECKED) if level_rule is None else level_rule
            pytest.skip(f"{why}{unchecked.unchecked_reason}")


class MachineTest(OwnTest):
    """The test of a level by a state machine of Hypothesis."""

    def __init__(self, *, level: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.level = level

    def runtest(self) -> None:
        """Run the machine of the level.

        Raises:
            RuleViolated: an answer differs, or none was compared; the text is that of Hypothesis and ours.
        """
        from hypothesis import seed, stateful  # noqa: PLC0415 - slow to import

        machine = self.running.machine(self.level)
        try:
            stateful.run_state_machine_as_test(seed(self.running.seed)(machine), settings=machine.TestCase.settings)
            machine.require_comparisons()
        except AssertionError as error:
            raise RuleViolated("\n".join([str(error), *getattr(error, "__notes__", ())])) from None


class KnownTest(OwnTest):
    """The test of a known failure, which is expected to fail exactly as its entry says."""

    def __init__(self, *, entry: KnownFailure, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.entry = entry

    def runtest(self) -> None:
        """Fail if the entry is not true any more."""
        (checked,) = (one for one in self.running.report(self.levels()).checked if one.entry == self.entry)
        if checked.state is EntryState.FAILS:
            pytest.xfail(self.entry.reason)
        if checked.state is EntryState.ANOTHER:
            pytest.skip("it is about another subject")
        raise RuleViolated(checked.line)


def _failure_of_rule(distinct: content.DistinctFailure, rule: str, level: str) -> str:
    """Return the text of a failure of a rule at a level, in full at the level that found it first."""
    failure = distinct.failure
    if rule not in failure.rules or level not in {one.level for one in (failure, *distinct.also)}:
        return ""
    if level != failure.level:
        return f"the failure that was found at level {failure.level} first\n{content.failure_text(distinct)}"
    if failure.table is None:
        return content.failure_text(distinct)
    out = terminal.make_console()
    with out.capture() as captured:
        out.print(run_text.failure_table(failure.table))
    rest = [line for line in content.failure_text(distinct).splitlines() if not line.startswith((" ", ">", "config "))]
    return captured.get() + "\n".join(rest[1:])


def collect_tests(session: pytest.Session, requested: Mapping[str, str]) -> list[pytest.Item]:
    """Return the tests of a subject.

    Raises:
        UsageError: the options are wrong; pytest ends with its exit code for wrong usage.
    """
    try:
        running = SharedRun(requested, shared_folder(session.config))
    except errors.EntrycacheError as error:
        raise pytest.UsageError(f"entrycache: {error}") from None
    session.config.add_cleanup(running.subject.close)
    tests: list[pytest.Item] = []
    for level, rules in running.rules().items():
        group = _group(session, level)
        tests += [RuleTest.from_parent(group, name=rule, level=level, running=running) for rule in rules]
    machines = _group(session, "stateful")
    for level in running.machine_levels() if requested["stateful"] else ():
        tests.append(MachineTest.from_parent(machines, name=level, level=level, running=running))
    known = _group(session, "known")
    for entry in running.entries:
        tests.append(KnownTest.from_parent(known, name=f"{entry.number}-{entry.rule}", entry=entry, running=running))
    return tests


def _group(session: pytest.Session, name: str) -> LevelGroup:
    new_group: LevelGroup = LevelGroup.from_parent(session, name=name, nodeid=f"{NODE_PREFIX}{name}")
    return new_group


class Checks(NamedTuple):
    """The seed and the folder for case files from the command line of pytest; "" stands for 0 and for no folder."""

    seed: str
    failures: str

    def __call__(self, subject: type[server.Subject], levels: Sequence[str] | None = None, examples: int = 400) -> None:
        """Check a class; see `entrycache.check`.

        Raises:
            AssertionError: the class breaks a rule, or nothing was checked.
            EntrycacheError: the class is not a subject.
        """
        __tracebackhide__ = True
        check(subject, levels, examples, parse_seed(self.seed), Path(self.failures) if self.failures else None)
