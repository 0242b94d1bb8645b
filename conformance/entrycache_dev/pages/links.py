"""Links of Markdown pages: lead them to the pages of the site, and link what has an address elsewhere.

`Site` knows which pages only the site has. `rewrite_links` adjusts the links of one page, and collects the files that
the page needs. `link_names` links proposals, pull requests, issues and released sources where a page names them.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from entrycache_evidence.core.rule_registry import link_source

LINK: Final = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<to>[^()\s]+)\)")
FENCED: Final = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
EXTERNAL_LINK: Final = re.compile(r"[a-z]+:|#")
"""A link that leaves the checkout, or leads to a place of its own page."""


@dataclass(frozen=True)
class Site:
    """The pages and pictures that no file of the checkout holds.

    `rendered` maps a file of the checkout to the page that is rendered from it: a link to the file leads to the page.
    """

    root: Path
    names: frozenset[str] = frozenset()
    rendered: Mapping[str, str] = field(default_factory=dict)

    def locate_page(self, path: Path, page: Path) -> Path | None:
        """Return the page of the site that a link from `page` to this path leads to, if no file holds that page."""
        name = os.path.relpath(path, self.root)
        name = self.rendered.get(name, name)
        return self.root / name if name in self.names and self.root / name != page else None


def rewrite_links(text: str, page: Path, site: Site, linked: set[Path]) -> str:
    """Return the text with adjusted links, and add the linked files to `linked`.

    A link to a folder leads to its README. If there is none, or if a file's name has no suffix, the link becomes plain
    text.
    """

    def put_right(match: re.Match[str]) -> str:
        if EXTERNAL_LINK.match(match["to"]):
            return match[0]
        to, mark, anchor = match["to"].partition("#")
        path = Path(os.path.normpath(page.parent / to))
        if (rendered := site.locate_page(path, page)) is not None:
            return f"{match['image']}[{match['text']}]({os.path.relpath(rendered, page.parent)}{mark}{anchor})"
        if path.is_file() and not path.suffix:
            return match["text"]  # the generator takes it for a folder
        if path.is_dir():
            path /= "README.md"
            if not path.is_file():
                return match["text"]
            to = f"{to.rstrip('/')}/README.md"
        if path.is_file() and path.is_relative_to(site.root):
            linked.add(path)
        return f"{match['image']}[{match['text']}]({to}{mark}{anchor})"

    parts = FENCED.split(text)
    return "".join(part if at % 2 else LINK.sub(put_right, part) for at, part in enumerate(parts))


# --- Names that have an address

SOURCE_LINE: Final = re.compile(r"^(\*Source\.\* )(.+)$", re.MULTILINE)

PULSAR: Final = "https://github.com/apache/pulsar"
KAFKA: Final = "https://github.com/apache/kafka"

ADDRESSES: Final = (
    (r"PIP-430\b", f"{PULSAR}/blob/master/pip/pip-430.md"),
    (r"PIP-174\b", f"{PULSAR}/issues/15954"),
    (r"KAFKA-(?P<key>\d+)\b", "https://issues.apache.org/jira/browse/KAFKA-{key}"),
    (r"(?:apache/(?:kafka|pulsar) )?(?:pull request|PR) (?P<pull>\d{4,5})\b", "{project}/pull/{pull}"),
    (r"managed-ledger (?P<ledger>\d[\w.-]*\d)", PULSAR + "/tree/v{ledger}/managed-ledger"),
    (r"kafka-streams (?P<streams>\d[\w.]*\d)", KAFKA + "/tree/{streams}/streams"),
)
"""Patterns of names, each with its address. The first naming on a page becomes a link."""

NAMES: Final = re.compile("|".join(f"(?P<name{at}>{pattern})" for at, (pattern, _) in enumerate(ADDRESSES)))

UNTOUCHED: Final = re.compile(
    r"^(?:```|~~~).*?^(?:```|~~~)\s*?$|^#.*?$|^    .*?$|`[^`\n]+`|!?\[(?:[^\[\]]|\[[^\]]*\])*\]\([^()\s]+\)|<[^<>\n]+>|https?://\S+",
    re.MULTILINE | re.DOTALL,
)
"""Code, headings, links and elements: no name in them becomes a link."""


def link_names(text: str, page: str = "") -> str:
    """Return the page with links: all *Source.* lines of rules, and the first naming of each name elsewhere.

    A pull request on a page whose path or own name says "kafka" is one of apache/kafka, any other one of apache/pulsar.
    """
    linked: set[str] = set()
    parts, at = [], 0

    def link(name: re.Match[str]) -> str:
        return _link_name(name, linked, KAFKA if "kafka" in f"{page} {name[0]}" else PULSAR)

    text = SOURCE_LINE.sub(lambda line: line[1] + _link_source_line(line[2]), text)
    for untouched in UNTOUCHED.finditer(text):
        parts += [NAMES.sub(link, text[at : untouched.start()]), untouched[0]]
        at = untouched.end()
    return "".join([*parts, NAMES.sub(link, text[at:])])


def _link_name(name: re.Match[str], linked: set[str], project: str) -> str:
    address = next(address for at, (_, address) in enumerate(ADDRESSES) if name[f"name{at}"])
    address = address.format(project=project, **name.groupdict())
    if address in linked:
        return name[0]
    linked.add(address)
    return f"[{name[0]}]({address})"


def _link_source_line(source: str) -> str:
    if LINK.search(source):
        return source
    pieces = ((text, address, f"`{text}`" in source) for text, address in link_source(source))
    return "".join(
        f"[{f'`{text}`' if is_code else text}]({address})" if address else text for text, address, is_code in pieces
    )
