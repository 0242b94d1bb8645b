"""docs/reference/behaviour-diffs.md says where the releases before PIP-430 differ from each other."""

from __future__ import annotations

import pytest

from entrycache_conformance.java.driver import released_command
from entrycache_protocol.errors import MissingPrerequisite
from tests.support.jvm.legacy_diffs import PAGE, PAIRS, part, render_diffs


@pytest.fixture(autouse=True)
def jars() -> None:
    for subject in {name for pair in PAIRS for name in (pair.before, pair.after)}:
        try:
            released_command(subject)
        except MissingPrerequisite as missing:
            pytest.skip(str(missing))


@pytest.mark.long
def test_a_few_cases_tell_the_release_that_differs_and_only_that() -> None:
    by_object, equal_pair = (pair.find_differences(4) for pair in PAIRS)
    assert [one.label for one in by_object] == ["`single_lookup` position becomes object"]
    assert equal_pair == []
    assert "### `single_lookup` position becomes object" in part(PAGE.read_text("utf-8"))


@pytest.mark.long
def test_the_page_says_what_the_jars_answer() -> None:
    assert part(PAGE.read_text("utf-8")) == render_diffs()
