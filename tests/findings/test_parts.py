"""Each page of the first three tiers has every part that a maintainer needs, or says why not."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.support import ROOT
from tests.support.findings import FINDINGS, GRAVE, PAGES, Page
from tests.support.jvm.since import FAILS, record

WORDS_MOST: Final = 300
"""The parts of the text of an issue."""
NOT_SMALL: Final = "None that is small"
"""The beginning of the sentence that says why a page has no fix."""
LAST: Final = ("Since", "Contract", "Fix")
"""The parts at the end of a page."""
GRAVER: Final = [page for page in PAGES if page.tier in GRAVE]
MEASURED: Final = record()
DECISIONS: Final = FINDINGS.parent / "decisions" / "findings.md"
WHY: Final = "../../decisions/findings.md#why-a-finding-has-no-case"
REASON: Final = re.compile(rf"^\| Case \| none: \[(\w+)\]\({re.escape(WHY)}\) \|$", re.MULTILINE)


def failing(page: Page) -> list[str]:
    """Return the releases on which a test of the page failed, the oldest first.

    A page whose tests all need a broker has no row in the table of releases.
    """
    rows = [row for file, row in MEASURED.items() if file.startswith(f"{page.name}/")]
    if not rows:
        return list(page.fails_on)
    return [version for version in rows[0] if any(row[version] == FAILS for row in rows)]


def lacks(page: Page) -> list[str]:
    """Return the parts that a page lacks."""
    issue = FINDINGS / page.name / "ISSUE.md"
    text = issue.read_text("utf-8") if issue.exists() else ""
    since = page.section("Since")
    has_fix = page.section("Fix").startswith(NOT_SMALL) or (page.fixes and all(patch.is_file() for patch in page.fixes))
    parts = {
        "Since": failing(page) and failing(page)[0].rpartition(".")[0] in page.section("Since"),
        "Every release": all(re.search(rf"(?<![\d.]){re.escape(one)}(?![.\d]*\d)", since) for one in failing(page)),
        "Order": [at for at, _ in sorted(enumerate(LAST), key=lambda part: page.text.find(f"**{part[1]}.**"))]
        == [0, 1, 2],
        "Links": not re.search(r"(?<![(<])https?://", page.text),
        "Contract": page.section("Contract"),
        "Fix": has_fix,
        "ISSUE.md": text.startswith("# ") and len(text.split()) <= WORDS_MOST,
        "Versions in ISSUE.md": all(release in text for release in failing(page)),
    }
    return [name for name, there in parts.items() if not there]


def reasons_table() -> str:
    """Return the table of reasons for which findings have no case."""
    return DECISIONS.read_text("utf-8").partition("## Why a finding has no case")[2].partition("\n## ")[0]


@pytest.mark.parametrize("page", GRAVER, ids=lambda page: page.name)
def test_a_page_of_the_first_tiers_has_every_part(page: Page) -> None:
    assert lacks(page) == []


def test_the_index_says_which_page_has_which_part() -> None:
    index = (FINDINGS / "README.md").read_text("utf-8")
    for page in GRAVER:
        row = next(line for line in index.splitlines() if line.startswith(f"| {page.name} |"))
        assert f"[ISSUE.md]({page.name}/ISSUE.md)" in row
        for patch in page.fixes:
            assert f"({patch.relative_to(FINDINGS)})" in row
        assert re.search(r"(JUnit 5|TestNG|a whole broker): \[", row)
        assert ("none that is small" in row) is not bool(page.fixes)


def test_a_page_that_lacks_a_part_is_seen() -> None:
    page = next(page for page in GRAVER if page.name == "copied-entry-keeps-foreign-metadata")
    assert lacks(page._replace(text=page.text.replace("**Since.**", "**When.**"))) == ["Since", "Every release"]
    assert lacks(page._replace(text=page.text.replace("5.0.0-M1; ", "; "))) == ["Every release"]
    assert lacks(page._replace(text=f"{page.text}https://elsewhere")) == ["Links"]
    moved = page.text.replace("**Contract.**", "**Later.**") + "\n**Contract.** Said last."
    assert lacks(page._replace(text=moved)) == ["Order"]
    assert lacks(page._replace(text=page.text.replace("fix.patch", "other.patch"))) == ["Fix"]
    assert "ISSUE.md" in lacks(page._replace(name="grace-period-cannot-be-set"))
    assert "Since" in lacks(page._replace(text=page.text.replace("4.2", "4.9")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_a_case_or_says_why_not(page: Page) -> None:
    index = (FINDINGS / "README.md").read_text("utf-8")
    row = next(line for line in index.splitlines() if f"]({page.name}/README.md) |" in line)
    reasons = REASON.findall(page.text)
    if list((FINDINGS / page.name).glob("*.json")):
        assert reasons == []
        assert f"| [case.json]({page.name}/case.json) |" in row
    else:
        (reason,) = reasons
        assert f"\n| {reason} | " in reasons_table()
        assert f"| none: {reason} |" in row


def test_every_reason_for_no_case_is_some_page_s() -> None:
    table = reasons_table()
    reasons = set(re.findall(r"^\| (\w+) \|", table, re.MULTILINE)) - {"reason"}
    assert reasons == {reason for page in PAGES for reason in REASON.findall(page.text)}


def test_the_readme_and_the_index_name_the_same_three_that_matter_most() -> None:
    link = re.compile(r"^- .*?\]\((?:docs/findings/)?([\w-]+)/README\.md\)", re.MULTILINE)
    readme, index = ((folder / "README.md").read_text("utf-8") for folder in (ROOT, FINDINGS))
    parts = (readme.partition("## What it found")[2], index.partition("matter most to users:")[2])
    named = [link.findall(part)[:3] for part in parts]
    assert named[0] == named[1]
    assert len(set(named[0])) == 3
