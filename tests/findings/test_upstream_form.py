"""The tests of the first three tiers, in upstream form, fail on the release and pass with the fix."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.java.driver import JavaTestClasspath, java_test_classpath
from entrycache_conformance.java.program import compile_sources, main_class
from entrycache_conformance.java.releases import Release, releases
from entrycache_conformance.java.upstream_form import upstream_form
from entrycache_protocol.errors import MissingPrerequisite
from tests.support.findings import GRAVE, TESTS, Page
from tests.support.jvm.fixes import release_of_fixes
from tests.support.jvm.maven import jar_from_maven
from tests.support.jvm.rocks import as_needed

JUNIT: Final = ("org.junit.platform:junit-platform-console-standalone:1.11.4:jar",)
TESTNG: Final = ("org.testng:testng:7.10.2:jar", "org.jcommander:jcommander:1.83:jar")
THROUGH_PUBLIC_API: Final = {page.name for page, path in TESTS if path.stem.endswith("TopologyTest")}
GRAVER: Final = [
    (page, path)
    for page, path in TESTS
    if page.tier in GRAVE and (path.stem.endswith("TopologyTest") or page.name not in THROUGH_PUBLIC_API)
]
"""The tests through public API if the page has one."""
SECONDS_MOST: Final = 120
OF_JUNIT: Final = ("kafka-streams", "bookkeeper")


def of(path: Path, page: Page) -> str:
    return upstream_form(path.read_text("utf-8"), page.system.family in OF_JUNIT)


@pytest.mark.parametrize(("page", "path"), GRAVER, ids=lambda one: one.stem if isinstance(one, Path) else "")
def test_the_form_has_a_test_and_ends_no_jvm(page: Page, path: Path) -> None:
    text = of(path, page)
    assert "@Test\n" in text
    assert "assert" in text
    assert not any(word in text for word in ("halt(", "void main(", "System.out", "javac"))


def test_every_page_of_the_first_tiers_has_a_test_in_the_form() -> None:
    assert {page.name for page, _ in GRAVER} == {page.name for page, _ in TESTS if page.tier in GRAVE}


def release_of(page: Page, path: Path) -> Release:
    """Return the release that fixes are made for or, if the test passes there, the newest on which it fails."""
    every = ((release_of_fixes(page),) if page.fixes else ()) + tuple(reversed(releases(page.system.family)))
    return next(release for release in every if page.fails(release, path.name))


def repaired_release(page: Page, path: Path, failing: Release) -> Release | None:
    """Return the newest release for the same Java on which the test passes, if there is one."""
    newer = (release for release in reversed(releases(page.system.family)) if release.java == failing.java)
    return next((release for release in newer if not page.fails(release, path.name)), None)


def ended(source: Path, tools: JavaTestClasspath, is_junit: bool) -> subprocess.CompletedProcess[str]:
    """Return the result of the launcher of JUnit or TestNG."""
    program = compile_sources([source], tools, source.parent / "out")
    if is_junit:
        main, arguments = "org.junit.platform.console.ConsoleLauncher", ("execute", "-c", main_class(source))
    else:
        main, arguments = (
            "org.testng.TestNG",
            ("-verbose", "2", "-d", str(source.parent / "report"), "-testclass", main_class(source)),
        )
    return program.run(main, *arguments, timeout_seconds=SECONDS_MOST)


@pytest.mark.long
@pytest.mark.parametrize(("page", "path"), GRAVER, ids=lambda one: one.stem if isinstance(one, Path) else "")
def test_upstream_s_form_fails_and_succeeds_with_the_fix(
    page: Page, path: Path, classes: Callable[[Page], Path], tmp_path: Path
) -> None:
    is_junit = page.system.family in OF_JUNIT
    try:
        jars = [str(jar_from_maven(artifact, tmp_path)) for artifact in (JUNIT if is_junit else TESTNG)]
        release = release_of(page, path)
        tools = as_needed([path], java_test_classpath(release.subject), tmp_path)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    source = tmp_path / path.name
    source.write_text(of(path, page), "utf-8")
    released = tools._replace(classpath=os.pathsep.join([tools.classpath, *jars]))
    failed = ended(source, released, is_junit)
    assert failed.returncode != 0
    assert "AssertionError" in failed.stdout or "AssertionFailedError" in failed.stdout, failed.stdout
    if not page.fixes and (mended_by := repaired_release(page, path, release)):
        other = as_needed([path], java_test_classpath(mended_by.subject), tmp_path)
        done = ended(source, other._replace(classpath=os.pathsep.join([other.classpath, *jars])), is_junit)
        assert done.returncode == 0, done.stdout
    if page.fixes and release == release_of_fixes(page):
        mended = released._replace(classpath=os.pathsep.join([str(classes(page)), released.classpath]))
        done = ended(source, mended, is_junit)
        assert done.returncode == 0, done.stdout
