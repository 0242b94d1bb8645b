"""The pages of findings, read from docs/findings, and the page that lists them by release."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java.releases import Release, release_versions
from tests.support import ROOT

FINDINGS: Final = ROOT / "docs" / "findings"
OBSERVATION: Final = "observation"
TIERS: Final = {
    "1": "1. Data lost or wrong",
    "2": "2. A hang, or memory without a bound",
    "3": "3. A wrong answer at an edge",
    "4": "4. Counts, metrics, settings",
    OBSERVATION: "Observations",
}
"""The headings of the index, by what a page says of itself."""
GRAVE: Final = ("1", "2", "3")
"""The tiers whose pages have every part that a maintainer needs."""


class System(NamedTuple):
    """Facts that the pages of one system share."""

    family: str
    releases: tuple[str, ...]
    user: str
    """Whom a consequence concerns: the name of that part of a page."""


PAGE_SYSTEMS: Final = {
    "pulsar-pip430": System("pulsar", release_versions("pulsar"), "For a broker"),
    "pulsar-legacy": System("pulsar-legacy", release_versions("pulsar-legacy"), "For a broker"),
    "kafka-streams": System("kafka-streams", release_versions("kafka-streams"), "For a topology"),
    "pulsar-segmented": System("bookkeeper", release_versions("bookkeeper"), "For a bookie"),
}


FAMILY_TITLES: Final = {
    "pulsar": "Pulsar",
    "pulsar-legacy": "Pulsar",
    "kafka-streams": "Kafka Streams",
    "bookkeeper": "BookKeeper",
}


class Page(NamedTuple):
    """The table of a finding's page."""

    name: str
    title: str
    tier: str
    system: System
    fails_on: tuple[str, ...]
    """The releases with a driver of their own on which it fails: none for a finding that older ones have."""
    holds_on: tuple[str, ...]
    otherwise: dict[str, tuple[str, ...]]
    """Files of the page that fail on other releases than the page as a whole."""
    not_run: tuple[str, ...]
    text: str
    failing: str
    """The cell of all releases on which it fails."""

    def fails(self, release: Release, file: str = "") -> bool:
        """Return whether a file of the page fails on a release."""
        return release.version in self.otherwise.get(file, self.fails_on)

    def section(self, name: str) -> str:
        """The text of one part; empty where there is none."""
        match = re.search(rf"^\*\*{name}\.\*\* (.*)$", self.text, re.MULTILINE)
        return match[1] if match else ""

    @property
    def fixes(self) -> tuple[Path, ...]:
        """The patches that mend it: those of other findings that it needs first, then its own."""
        links = re.findall(r"\]\(([^)]*fix\.patch)\)", self.section("Fix"))
        return tuple((FINDINGS / self.name / link).resolve() for link in sorted(links, key=lambda link: link[0] != "."))


def read_page(folder: Path) -> Page:
    """The page of a folder."""
    text = (folder / "README.md").read_text("utf-8")
    cells = dict(re.findall(r"^\| ([A-Z][a-z ]+) \| (.*) \|$", text, re.MULTILINE))
    system = PAGE_SYSTEMS[cells["System"]]

    def named(cell: str) -> tuple[str, ...]:
        return tuple(release for release in system.releases if release in re.split(r"[,:;] ", cell))

    groups = (part.split(": ") for part in cells.get("Otherwise", "").split("; ") if part)
    otherwise = {file: named(releases) for files, releases in groups for file in files.split(", ")}
    title = text.splitlines()[0].removeprefix("# ")
    fails, holds = named(cells["Fails on"]), named(cells["Holds on"])
    not_run = named(cells.get("Not run on", ""))
    return Page(folder.name, title, cells["Tier"], system, fails, holds, otherwise, not_run, text, cells["Fails on"])


PAGES: Final = tuple(read_page(page.parent) for page in sorted(FINDINGS.glob("*/README.md")))
CASES: Final = tuple((page, path) for page in PAGES for path in sorted((FINDINGS / page.name).glob("*.json")))
TESTS: Final = tuple((page, path) for page in PAGES for path in sorted((FINDINGS / page.name).glob("*Test.java")))
HARMS: Final = tuple((page, path) for page in PAGES for path in sorted((FINDINGS / page.name).glob("harm/*Test.java")))
"""Java tests of what a fix may break: they conform on the release and with the fix."""

RELEASES_PAGE: Final = FINDINGS / "releases.md"


def render_releases_page() -> str:
    """Return the page that lists the findings of each release, the gravest group first."""
    parts = [
        "# Findings by release",
        "The findings that were shown to fail on each release, in groups, the gravest group first. "
        "[The index](README.md) tells how each was shown. "
        "`python -m tests.support.findings` writes this page.",
    ]
    for system in PAGE_SYSTEMS.values():
        for release in reversed(system.releases):
            parts.append(f"## {FAMILY_TITLES[system.family]} {release}")
            for tier, heading in TIERS.items():
                rows = [
                    page for page in PAGES if (page.system, page.tier) == (system, tier) and release in page.fails_on
                ]
                links = [f"- [{page.title}]({page.name}/README.md)" for page in rows]
                parts += [f"### {heading.lstrip('1234. ')}", "\n".join(links)] if links else []
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    RELEASES_PAGE.write_text(render_releases_page(), "utf-8")
