"""The table of releases agrees with the pages and with a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from entrycache_conformance.java.releases import releases
from entrycache_protocol.errors import MissingPrerequisite
from tests.support.findings import FINDINGS, Page
from tests.support.jvm.since import (
    CANNOT,
    CONFORMS,
    FAILS,
    FURTHER,
    SINCE,
    called,
    graver,
    outcomes_on,
    page_of,
    record,
    versions_run,
)

MEASURED = record()


def versions_with_other_outcome(page: Page, path: Path, row: Mapping[str, str]) -> list[str]:
    """Return the releases of the page's own system for which a row contradicts the page."""
    return [
        release.version
        for release in releases(page.system.family)
        if row[release.version] != (FAILS if page.fails(release, path.name) else CONFORMS)
    ]


@pytest.mark.parametrize(("page", "path"), graver(), ids=lambda one: one.stem if isinstance(one, Path) else "")
def test_the_row_of_a_test_says_what_its_page_says(page: Page, path: Path) -> None:
    row = MEASURED[f"{page.name}/{path.name}"]
    assert list(row) == versions_run(called(page))
    assert set(row.values()) <= {FAILS, CONFORMS, CANNOT}
    assert versions_with_other_outcome(page, path, row) == []


def test_the_table_is_as_it_is_written_and_has_no_other_rows() -> None:
    assert SINCE.read_text("utf-8") == page_of(MEASURED)
    assert MEASURED.keys() == {f"{page.name}/{path.name}" for page, path in graver()}


def test_a_row_that_says_something_else_is_seen() -> None:
    page, path = graver()[0]
    row = MEASURED[f"{page.name}/{path.name}"]
    version = releases(page.system.family)[0].version
    turned = {**row, version: CONFORMS if row[version] == FAILS else FAILS}
    assert versions_with_other_outcome(page, path, turned) == [version]


@pytest.mark.long
@pytest.mark.parametrize("subject", FURTHER)
def test_a_release_without_a_driver_ends_as_the_table_says(subject: str, tmp_path: Path) -> None:
    name, _, version = subject.partition(":")
    ours = {file: row[version] for file, row in MEASURED.items() if version in row and versions_run(name) == list(row)}
    for said in (FAILS, CONFORMS):
        path = FINDINGS / next(file for file in sorted(ours) if ours[file] == said)
        try:
            assert outcomes_on(subject, [path], tmp_path / said) == {path: said}
        except MissingPrerequisite as missing:
            pytest.skip(str(missing))
