"""Fixtures and hooks of all tests: one JVM for each release, the order of files, and the rules of skips.

Skips are counted. In CI, a skip whose tool is installed is a failure. A worker runs the whole of a file, and expensive
files start first. All files that need Spark go to one worker, because a process has one Spark session. All tests of one
fix of a finding go to one worker, which compiles the fix. `make test` leaves out the tests marked `long`, which
`make test-all` runs, and prints their number.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from entrycache_cli.__main__ import COLLECT_AFTER
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_evidence.core.marked_tests import MARK, RULE_ID
from entrycache_protocol.errors import MissingPrerequisite
from entrycache_protocol.subject import TestedSubject
from tests.support.sandboxes import not_there

pytest_plugins = ("pytester",)

TOOLS = ("java", "javac", "mvn", "node", "go", "cargo", "python3.11", "python3.12", "python3.13", "python3.14")
"""Tools that a test may lack, besides a sandbox (tests/support/sandboxes.py); the reason of its skip names it."""

ONE_WORKER = ("tests/spark/",)
"""Folders whose files share an expensive start, and so a worker."""

FIX_TEST = re.compile(r"tests/findings/test_(?:fixes|upstream_tests)\.py::\w+\[(.+)\]")
"""The tests about the fix of one page, which they name."""

DEAR = (
    *ONE_WORKER,
    "tests/faults/",
    "tests/findings/",
    "tests/evidence/",
    "tests/conformance/",
    "tests/cli/",
    "tests/packaging/",
    "tests/jvm/",
)
"""Folders in the order in which their files start. An expensive file that starts last keeps one worker busy alone."""

NOT_LONG = "not long"
"""The marker expression of `make test`."""

LONG_TESTS = pytest.StashKey[int]()


@pytest.fixture(scope="session")
def released_subject() -> Iterator[Callable[[str], TestedSubject]]:
    """Return a function that opens a subject such as ``pulsar:4.2.4`` once for all tests of this process."""
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
def _forget_modules_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Forget the modules that a test wrote, so that the next test can import its own `my_cache`."""
    before = set(sys.modules)
    yield
    folder = tmp_path_factory.getbasetemp()
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and folder in Path(file).parents:
            del sys.modules[name]


def unexcused(reports: list[pytest.TestReport]) -> list[str]:
    """Return the skips that name no tool that is really missing."""
    missing = [*(tool for tool in TOOLS if shutil.which(tool) is None), *(not_there() if reports else ())]
    messages = []
    for report in reports:
        reason = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not any(tool in reason for tool in missing):
            messages.append(f"{report.nodeid}: {reason}")
    return messages


def pytest_configure(config: pytest.Config) -> None:
    """With ``-k R-EVICT-3`` and no path, collect only the files whose tests are marked with that rule, if any."""
    rule = str(config.option.keyword)
    if RULE_ID.fullmatch(rule) and config.args == config.getini("testpaths"):
        tests = config.rootpath / "tests"
        marked = [str(path) for path in sorted(tests.rglob("test_*.py")) if rule in marked_rules(path)]
        config.args = marked or [str(tests / "reference")]


def marked_rules(path: Path) -> set[str]:
    return {rule for marked in MARK.findall(path.read_text("utf-8")) for rule in RULE_ID.findall(marked)}


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let ``-k`` select a test by the ids of its rules."""
    for mark in item.iter_markers("rule"):
        item.extra_keyword_matches.update(mark.args)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {folder: place for place, folder in enumerate(DEAR)}
    items.sort(
        key=lambda item: next((at for folder, at in places.items() if item.nodeid.startswith(folder)), len(DEAR))
    )


def pytest_collection_finish() -> None:
    """Keep thousands of collected tests out of every search for cycles, and search as seldom as the command does."""
    gc.set_threshold(COLLECT_AFTER, 20)
    gc.freeze()


def pytest_deselected(items: list[pytest.Item]) -> None:
    for item in items:
        if item.config.option.markexpr == NOT_LONG and item.get_closest_marker("long"):
            item.config.stash[LONG_TESTS] = item.config.stash.get(LONG_TESTS, 0) + 1


def fix_scope(nodeid: str) -> str | None:
    """Return the page of a test that is about a page's fix: one worker compiles the fix, once."""
    page = FIX_TEST.match(nodeid)
    return page and page[1]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            folders = (folder for folder in ONE_WORKER if nodeid.startswith(folder))
            return next(folders, None) or fix_scope(nodeid) or super()._split_scope(nodeid)

    return Scheduling(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """Copy the number of long tests from a finished worker; all workers leave out the same tests."""
    node.config.stash[LONG_TESTS] = getattr(node, "workeroutput", {}).get("left", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    terminalreporter.write_line(f"skipped tests: {len(skipped)}")
    for line in unexcused(skipped):
        terminalreporter.write_line(f"skipped though nothing is missing: {line}")
    left = terminalreporter.config.stash.get(LONG_TESTS, 0)
    if left:
        terminalreporter.write_line(f"long tests left to make test-all: {left}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left"] = session.config.stash.get(LONG_TESTS, 0)
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    if os.environ.get("CI") and unexcused(skipped) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
