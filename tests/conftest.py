"""What all tests share: one JVM a release, and skips. In CI a skip whose tool is there is a failure."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator

import pytest

from entrycache_conformance.subjects.resolve import Choice, resolve
from entrycache_protocol.errors import MissingPrerequisite
from entrycache_protocol.subject import Subject

TOOLS = ("java", "javac", "mvn", "node", "go")
"""A test may skip for want of one of these, and must name it in its reason."""


@pytest.fixture(scope="session")
def released_subject() -> Iterator[Callable[[str], Subject]]:
    """The subject that ``pulsar:4.2.4`` names, started when a test first asks for it, for all tests of this process."""
    started: dict[str, Subject] = {}

    def subject(name: str) -> Subject:
        if name not in started:
            try:
                started[name] = resolve(Choice(name, timeout_seconds=60))
            except MissingPrerequisite as missing:
                pytest.skip(str(missing))
        return started[name]

    yield subject
    for each in started.values():
        each.close()


def unexcused(reports: list[pytest.TestReport]) -> list[str]:
    """The skips that name no tool that is really missing."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    found = []
    for report in reports:
        reason = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not any(tool in reason for tool in missing):
            found.append(f"{report.nodeid}: {reason}")
    return found


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    terminalreporter.write_line(f"skipped tests: {len(skipped)}")
    for line in unexcused(skipped):
        terminalreporter.write_line(f"skipped though nothing is missing: {line}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    if os.environ.get("CI") and unexcused(skipped) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
