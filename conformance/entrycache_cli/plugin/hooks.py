"""The hooks that pytest calls, and the fixture `entrycache`.

pytest imports this module wherever the suite is installed, so it imports nothing of the suite but a name until a
subject or the fixture is used. The tests themselves are in `entrycache_cli.plugin.items`.
"""

from typing import Any, Final

import pytest

from entrycache_cli.plugin import EXCEPTION, NODE_PREFIX

OPTIONS: Final = {
    "subject": "Hold SUBJECT to the rules, a test a rule and level: a name, or MODULE:CLASS of a Subject.",
    "command": "Likewise a program that speaks the protocol on stdin and stdout.",
    "system": "The system, where a subject offers several.",
    "levels": "Levels, with commas; default: all that it offers something of.",
    "profile": "How long to run: dev, ci or nightly (default: dev).",
    "seed": "The seed of all choices (default: 0).",
    "known": "Failures that are known (TOML): an entry is a test that is expected to fail.",
    "failures": "The folder for case files (default: entrycache-failures).",
    "stateful": "Also run a state machine of Hypothesis at each level; its profile says how long.",
}

FLAGS: Final = ("stateful",)
"""Options without a value."""

FIXTURE_OPTIONS: Final = ("seed", "failures")
"""Options that have an effect without a subject too."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options to the command line and to the ini file."""
    group = parser.getgroup("entrycache", "conformance of a cache")
    for name, text in OPTIONS.items():
        flag = {"action": "store_const", "const": "yes"} if name in FLAGS else {}
        group.addoption(f"--entrycache-{name}", dest=f"entrycache_{name}", default=None, help=text, **flag)
        parser.addini(f"entrycache_{name}", text, default="")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse options without a subject, because a CI job that lost its subject would test nothing and pass."""
    given = {name: value for name in OPTIONS if (value := config.getoption(f"entrycache_{name}")) is not None}
    for name in sorted(given.keys() & {"subject", "command"}):
        if not str(given[name]).strip():
            raise pytest.UsageError(f"entrycache: --entrycache-{name} is empty; expected what it holds to the rules")
    alone = sorted(given.keys() - {"subject", "command", *FIXTURE_OPTIONS})
    if alone and not (option_value(config, "subject") or option_value(config, "command")):
        raise pytest.UsageError(f"entrycache: --entrycache-{alone[0]} goes with --entrycache-subject or -command")
    if (option_value(config, "subject") or option_value(config, "command")) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(DecidedTests(), "entrycache-decided-tests")


class DecidedTests:
    """The tests of a session's subject: how many ran, and how many of them decided something.

    A session in which all of them were skipped has checked nothing, and fails. So does one whose command line names a
    subject and leaves out all of its tests by -k or -m. With pytest-xdist the workers send their reports to the process
    that has this object.
    """

    def __init__(self) -> None:
        self.ran = 0
        self.decided = 0
        self.failed_session = False
        self.exceptions: dict[str, None] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the report of a test of the subject; a known failure that still fails is decided too."""
        if report.nodeid.startswith(NODE_PREFIX) and report.when == "call":
            self.ran += 1
            self.exceptions |= {str(text): None for name, text in report.user_properties if name == EXCEPTION}
            self.decided += not report.skipped or hasattr(report, "wasxfail")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a session that would pass although no test of the subject decided anything."""
        undecided = not self.decided if self.ran else _leaves_out(session.config)
        if undecided and session.exitstatus == pytest.ExitCode.OK:
            self.failed_session = True
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what the verdicts do not cover, and why the session fails."""
        for line in self.exceptions:
            terminalreporter.write_line(f"entrycache: conforms at best with an exception: {line}")
        if self.failed_session:
            reason = f"all {self.ran} tests of the subject were skipped; see -rs"
            reason = reason if self.ran else "-k or -m left out all tests of the subject"
            terminalreporter.write_line(f"entrycache: nothing was checked: {reason}", red=True)


def _leaves_out(config: pytest.Config) -> bool:
    """Return whether the command line both names a subject and leaves out tests."""
    named = config.getoption("entrycache_subject") or config.getoption("entrycache_command")
    return bool(named and (config.option.keyword or config.option.markexpr) and not config.option.collectonly)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the tests of the subject, before -k and -m leave some out."""
    requested = {name: option_value(config, name) for name in OPTIONS}
    if requested["subject"] or requested["command"]:
        from entrycache_cli.plugin.items import collect_tests  # noqa: PLC0415 -- see above

        items += collect_tests(session, requested)


def option_value(config: pytest.Config, name: str) -> str:
    """Return the value of the command line, or of the ini file, or ""."""
    given = config.getoption(f"entrycache_{name}")
    return str(config.getini(f"entrycache_{name}")) if given is None else str(given)


@pytest.fixture
def entrycache(request: pytest.FixtureRequest) -> Any:
    """Return a function that checks a `Subject` class in the process of the test: `entrycache(MyCache,
    levels=["range"])`.
    """
    from entrycache_cli.plugin.items import Checks  # noqa: PLC0415 -- see above

    config = request.config
    return Checks(option_value(config, "seed"), option_value(config, "failures"))
