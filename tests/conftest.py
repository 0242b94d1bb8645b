"""What all tests share: a skip is counted, and in CI a skip whose tool is there is a failure."""

from __future__ import annotations

import os
import shutil

import pytest

TOOLS = ("java", "javac", "mvn", "node", "go")
"""A test may skip for want of one of these, and must name it in its reason."""


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
