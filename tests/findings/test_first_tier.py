"""Each page of the first tier has every part that a maintainer needs, or says why not."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.support.findings import FINDINGS, PAGES, Page

WORDS_MOST: Final = 200
"""Of the text of an issue."""
NOT_SMALL: Final = "None that is small"
"""How a page begins to say why it has no fix."""
FIRST: Final = [page for page in PAGES if page.tier == "1"]


def lacks(page: Page) -> list[str]:
    """The parts that a page lacks."""
    issue = FINDINGS / page.name / "ISSUE.md"
    text = issue.read_text("utf-8") if issue.exists() else ""
    has_fix = page.section("Fix").startswith(NOT_SMALL) or (page.fixes and all(patch.is_file() for patch in page.fixes))
    parts = {
        "Since": page.section("Since"),
        "Contract": page.section("Contract"),
        "Fix": has_fix,
        "ISSUE.md": text.startswith("# ") and len(text.split()) <= WORDS_MOST,
        "Versions in ISSUE.md": all(release in text for release in page.fails_on[-1:]),
    }
    return [name for name, there in parts.items() if not there]


@pytest.mark.parametrize("page", FIRST, ids=lambda page: page.name)
def test_a_page_of_the_first_tier_has_every_part(page: Page) -> None:
    assert lacks(page) == []


def test_the_index_says_which_page_has_which_part() -> None:
    index = (FINDINGS / "README.md").read_text("utf-8")
    for page in FIRST:
        row = next(line for line in index.splitlines() if line.startswith(f"| {page.name} |"))
        assert f"[ISSUE.md]({page.name}/ISSUE.md)" in row
        for patch in page.fixes:
            assert f"({patch.relative_to(FINDINGS)})" in row
        assert re.search(r"(JUnit 5|TestNG): \[", row)
        assert ("none that is small" in row) is not bool(page.fixes)


def test_a_page_that_lacks_a_part_is_seen() -> None:
    page = FIRST[0]
    assert lacks(page._replace(text=page.text.replace("**Since.**", "**When.**"))) == ["Since"]
    assert lacks(page._replace(text=page.text.replace("fix.patch", "other.patch"))) == ["Fix"]
    assert "ISSUE.md" in lacks(page._replace(name="cursor-nodes-retained"))
