"""The released stores behave as the table of docs/reference/kafka-listeners.md says."""

from __future__ import annotations

import re
from typing import cast

import pytest

from entrycache_conformance.java.releases import Release
from entrycache_protocol.errors import MissingPrerequisite
from tests.support.jvm.listener_table import NOT_ON_THE_PAGE, PAGE, RELEASES, Cells, cells, shown, table
from tests.support.jvm.params import newest_in_every_run


@pytest.fixture(scope="module", params=newest_in_every_run(RELEASES), ids=str)
def release(request: pytest.FixtureRequest) -> Release:
    return cast(Release, request.param)


@pytest.fixture(scope="module")
def found(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Cells:
    try:
        return cells(release, tmp_path_factory.mktemp("listeners"))
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))


def test_the_table_is_what_each_release_does(found: Cells) -> None:
    assert table(found) == shown()


def test_a_processor_that_does_nothing_breaks_nothing(found: Cells) -> None:
    idle = {place: marks for (op, place), marks in found.items() if op == NOT_ON_THE_PAGE}
    assert len(idle) > 1
    assert {mark for marks in idle.values() for mark in marks.values()} == {""}


def test_each_mark_is_explained_and_met(found: Cells) -> None:
    explained = set(re.findall(r"^- \*\*([A-Z])\*\* ", PAGE.read_text("utf-8"), re.MULTILINE))
    assert explained == set("".join(mark for marks in found.values() for mark in marks.values()))
