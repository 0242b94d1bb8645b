"""The released stores behave as the table of docs/reference/kafka-listeners.md says."""

from __future__ import annotations

import re
from typing import cast

import pytest

from entrycache_conformance.java.releases import Release
from entrycache_protocol.errors import MissingPrerequisite
from tests.support.jvm.listener_table import (
    NOT_ON_THE_PAGE,
    PAGE,
    RELEASES,
    Consequences,
    committed_table,
    read_consequences,
    table,
)
from tests.support.jvm.params import newest_in_every_run


@pytest.fixture(scope="module", params=newest_in_every_run(RELEASES), ids=str)
def release(request: pytest.FixtureRequest) -> Release:
    return cast(Release, request.param)


@pytest.fixture(scope="module")
def consequences(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Consequences:
    try:
        return read_consequences(release, tmp_path_factory.mktemp("listeners"))
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))


@pytest.mark.long
def test_the_table_is_what_each_release_does(consequences: Consequences) -> None:
    assert table(consequences) == committed_table()


@pytest.mark.long
def test_a_processor_that_does_nothing_breaks_nothing(consequences: Consequences) -> None:
    idle = {place: marks for (op, place), marks in consequences.items() if op == NOT_ON_THE_PAGE}
    assert len(idle) > 1
    assert {mark for marks in idle.values() for mark in marks.values()} == {""}


def test_each_mark_is_explained_and_met(consequences: Consequences) -> None:
    explained = set(re.findall(r"^- \*\*([A-Z])\*\* ", PAGE.read_text("utf-8"), re.MULTILINE))
    assert explained == set("".join(mark for marks in consequences.values() for mark in marks.values()))
