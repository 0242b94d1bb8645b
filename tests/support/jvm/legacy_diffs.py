"""The part of docs/reference/behaviour-diffs.md about releases before PIP-430, by `entrycache diff` of their jars.

`python -m tests.support.jvm.legacy_diffs` writes it anew.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from entrycache_conformance.campaign.behaviour import BehaviourDifference, find_behaviour_differences, to_markdown
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from tests.support import ROOT

PAGE: Final = ROOT / "docs" / "reference/behaviour-diffs.md"
BEGIN: Final = "<!-- before PIP-430: begin -->\n"
END: Final = "<!-- before PIP-430: end -->\n"


class Pair(NamedTuple):
    """Two releases, and how many cases they are asked."""

    before: str
    after: str
    cases: int

    def find_differences(self, cases: int | None = None) -> list[BehaviourDifference]:
        """Return the differences in the later release's answers, over this many cases."""
        one, other = resolve_subject(SubjectChoice(self.before)), resolve_subject(SubjectChoice(self.after))
        try:
            return find_behaviour_differences(one, other, 1, cases or self.cases, lambda done, find_differences: None)
        finally:
            one.close()
            other.close()

    def text(self) -> str:
        """Return the output of `entrycache diff` for them, under headings of the page."""
        command = f"entrycache diff {self.before} {self.after} --seed 1 --cases {self.cases}"
        page = to_markdown((self.before, self.after), self.find_differences(), command).removeprefix(
            "# Behaviour diffs\n\n"
        )
        return page.replace("\n## ", "\n### ")


PAIRS: Final = (Pair("pulsar:3.3.6", "pulsar:4.0.0", 60), Pair("pulsar:3.3.6", "pulsar:4.0.8", 400))


def part(text: str) -> str:
    """That part of the page, without its marks."""
    return text.partition(BEGIN)[2].partition(END)[0]


def render_diffs() -> str:
    """The same, as the jars answer now."""
    return "\n".join(pair.text() for pair in PAIRS)


if __name__ == "__main__":
    page = PAGE.read_text("utf-8")
    PAGE.write_text(page.replace(BEGIN + part(page) + END, BEGIN + render_diffs() + END), "utf-8")
