"""Settings of all tests: one JVM a release, how files are handed out, and skips.

A skip is counted, and in CI a skip whose tool is there is a failure. Files are handed to workers whole, the dear ones
first; what needs Spark goes to one worker, because there is one Spark session a process. Tests marked `long` are left
to `make test-all`, and how many they are is printed.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_protocol.errors import MissingPrerequisite
from entrycache_protocol.subject import TestedSubject
from tests.support.sandboxes import not_there

pytest_plugins = ("pytester",)

TOOLS = ("java", "javac", "mvn", "node", "go", "cargo", "python3.11", "python3.12", "python3.13", "python3.14")
"""A test may skip for want of one of these, or of a sandbox (tests/support/sandboxes.py), and its reason names it."""

SHARED_FOLDERS = ("tests/spark/",)
"""Folders whose files share what is dear to start."""

DEAR = (
    *SHARED_FOLDERS,
    "tests/faults/",
    "tests/findings/",
    "tests/evidence/",
    "tests/conformance/",
    "tests/cli/",
    "tests/packaging/",
    "tests/jvm/",
)
"""The slowest files, first: a slow file that begins last keeps one worker busy alone."""

NOT_LONG = "not long"
"""The marker expression of `make test`."""

LEFT_OUT = pytest.StashKey[int]()


@pytest.fixture(scope="session")
def released_subject() -> Iterator[Callable[[str], TestedSubject]]:
    """The subject that ``pulsar:4.2.4`` names, started when a test first asks for it, for all tests of this process."""
    started: dict[str, TestedSubject] = {}

    def subject(name: str) -> TestedSubject:
        if name not in started:
            try:
                started[name] = resolve_subject(SubjectChoice(name, timeout_seconds=60))
            except MissingPrerequisite as missing:
                pytest.skip(str(missing))
        return started[name]

    yield subject
    for each in started.values():
        each.close()


@pytest.fixture(autouse=True)
def _forget_test_subjects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A subject that a test wrote and named by `my_cache:MyCache` is not what the next test finds by that name."""
    before = set(sys.modules)
    yield
    folder = tmp_path_factory.getbasetemp()
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and folder in Path(file).parents:
            del sys.modules[name]


def unexcused(reports: list[pytest.TestReport]) -> list[str]:
    """The skips that name no tool that is really missing."""
    missing = [*(tool for tool in TOOLS if shutil.which(tool) is None), *(not_there() if reports else ())]
    messages = []
    for report in reports:
        reason = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not any(tool in reason for tool in missing):
            messages.append(f"{report.nodeid}: {reason}")
    return messages


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {folder: place for place, folder in enumerate(DEAR)}
    items.sort(
        key=lambda item: next((at for folder, at in places.items() if item.nodeid.startswith(folder)), len(DEAR))
    )


def pytest_deselected(items: list[pytest.Item]) -> None:
    for item in items:
        if item.config.option.markexpr == NOT_LONG and item.get_closest_marker("long"):
            item.config.stash[LEFT_OUT] = item.config.stash.get(LEFT_OUT, 0) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            folders = (folder for folder in SHARED_FOLDERS if nodeid.startswith(folder))
            return next(folders, None) or super()._split_scope(nodeid)

    return Scheduling(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """A worker is over: each has left out the same tests."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    terminalreporter.write_line(f"skipped tests: {len(skipped)}")
    for line in unexcused(skipped):
        terminalreporter.write_line(f"skipped though nothing is missing: {line}")
    left = terminalreporter.config.stash.get(LEFT_OUT, 0)
    if left:
        terminalreporter.write_line(f"long tests left to make test-all: {left}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left"] = session.config.stash.get(LEFT_OUT, 0)
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    if os.environ.get("CI") and unexcused(skipped) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
