"""A fix in front of its release: the page's tests and cases conform, and so does a run without waivers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.judge import Coverage, judge, run_reference
from entrycache_conformance.levels import PROFILES
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.run import Options, conform
from entrycache_conformance.subjects.wrappers import NarrowedSubject, lift_waivers
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import Case, read_case
from entrycache_protocol.errors import Verdict
from tests.support.findings import CASES, HARMS, PAGES, TESTS, Page
from tests.support.jvm.fixes import release_of_fixes
from tests.support.jvm.mains import Ended, run_as_it_is, run_in_front

pytestmark = pytest.mark.long
"""The tests are long: Maven fetches the sources, and each fix is compiled."""
FIXED: Final = [page for page in PAGES if page.fixes]
PLAYED: Final = {page.name for page, _ in CASES}
HARMED: Final = {page.name for page, _ in HARMS}
"""The pages with a test of the harm that their fix might do."""
LEVELS: Final = {"pulsar": ("cursors",), "kafka-streams": ("cache", "store")}
"""Operations that exercise the rules of the fixed findings."""


def findings_fixed(page: Page) -> list[str]:
    """Return the finding of the page, and the findings whose fixes it needs."""
    return [page.name, *(patch.parent.name for patch in page.fixes if patch.parent.name != page.name)]


def with_remaining_variants(case: Case, held: NarrowedSubject) -> Case:
    """Return the case under the variants that are still on: other defects of the release stay."""
    return replace(case, config=replace(case.config, variants=held.declaration.variants or case.config.variants))


@pytest.mark.parametrize("page", FIXED, ids=lambda page: page.name)
def test_the_tests_of_a_page_conform_with_its_fix(page: Page, classes: Callable[[Page], Path], tmp_path: Path) -> None:
    release = release_of_fixes(page)
    for path in [path for one, path in TESTS if one is page]:
        assert run_in_front(path, release, classes(page), tmp_path / path.stem) == Ended(0, "conforms\n"), path


@pytest.mark.parametrize(("page", "path"), HARMS, ids=lambda one: one.stem if isinstance(one, Path) else "")
def test_a_fix_does_not_break_what_the_release_does_right(
    page: Page, path: Path, classes: Callable[[Page], Path], tmp_path: Path
) -> None:
    release = release_of_fixes(page)
    assert run_as_it_is(path, release, tmp_path / "released") == Ended(0, "conforms\n")
    assert run_in_front(path, release, classes(page), tmp_path / "fixed") == Ended(0, "conforms\n")


@pytest.mark.parametrize("page", [page for page in FIXED if page.name in PLAYED], ids=lambda page: page.name)
def test_a_run_conforms_with_the_fix_and_without_the_waivers(
    page: Page, classes: Callable[[Page], Path], tmp_path: Path
) -> None:
    subject = resolve_subject(
        SubjectChoice(release_of_fixes(page).subject, classpath=str(classes(page)), timeout_seconds=60)
    )
    held = lift_waivers(subject, findings_fixed(page))
    try:
        for path in [path for one, path in CASES if one is page]:
            case = with_remaining_variants(read_case(path, SYSTEMS), held)
            assert judge(case, run_reference(case, Coverage()), held.play([case])[0], held.declaration) is None
        options = Options(LEVELS[page.system.family], PROFILES["dev"], 0, 0.0, tmp_path)
        assert conform(held, options, lambda *_: None).verdict is Verdict.CONFORMS
    finally:
        held.close()


@pytest.mark.parametrize("page", [page for page in FIXED if page.name in HARMED], ids=lambda page: page.name)
def test_every_level_conforms_on_the_classes_of_a_fix_that_might_do_harm(
    page: Page, classes: Callable[[Page], Path], tmp_path: Path
) -> None:
    release = release_of_fixes(page)
    subject = resolve_subject(SubjectChoice(release.subject, classpath=str(classes(page)), timeout_seconds=60))
    try:
        options = Options(tuple(subject.declaration.system.levels), PROFILES["ci"], 0, 0.0, tmp_path)
        assert conform(subject, options, lambda *_: None).verdict is Verdict.CONFORMS
    finally:
        subject.close()
